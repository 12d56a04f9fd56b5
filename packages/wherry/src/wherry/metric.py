"""`paddle.metric`."""
# ruff: noqa: F403  its own list says what
from wherry import _absent
from wherry_train.metric import *
from wherry_train.metric import __all__ as __all__

_absent.explain(__name__)
