"""`paddle.incubate.optimizer`: optimizers whose interface may still change."""
from wherry import _absent
from wherry.incubate.optimizer import functional
from wherry_train.optimizer.averages import LookAhead, ModelAverage
from wherry_train.optimizer.distributed import DistributedFusedLamb
from wherry_train.optimizer.lbfgs import LBFGS

__all__ = ["LBFGS", "DistributedFusedLamb", "LookAhead", "ModelAverage", "functional"]

_absent.explain(__name__)
