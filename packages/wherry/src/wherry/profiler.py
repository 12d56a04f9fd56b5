"""`paddle.profiler`: where the time of a program goes."""
# ruff: noqa: F403  its own list says what
from wherry import _absent
from wherry_train.profiler import *
from wherry_train.profiler import __all__ as __all__

_absent.explain(__name__)
