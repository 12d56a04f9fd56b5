"""`paddle.device`: the available devices, and the current one."""
# ruff: noqa: F403, F405  its own list says what
from wherry import _absent
from wherry.device import cuda
from wherry_tensor.device import *
from wherry_tensor.device import __all__ as _names

__all__ = ["cuda", *_names]

_absent.explain(__name__)
