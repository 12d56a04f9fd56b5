"""`paddle.incubate.autotune`."""
from wherry import _absent
from wherry_train.autotune import set_config

__all__ = ["set_config"]

_absent.explain(__name__)
