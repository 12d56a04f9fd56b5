"""`paddle.incubate.optimizer.functional`: minima of functions."""
from wherry import _absent
from wherry_train.optimizer.lbfgs import minimize_bfgs, minimize_lbfgs

__all__ = ["minimize_bfgs", "minimize_lbfgs"]

_absent.explain(__name__)
