"""`paddle.device`: which devices there are, and the current one."""
from importlib import import_module as _import_module

from wherry import _absent
from wherry_tensor.device import *  # noqa: F403
from wherry_tensor.device import __all__ as __all__

_import_module("wherry.device.cuda")  # in place of the star's `cuda`, so that it can be imported by this name

_absent.explain(__name__)
