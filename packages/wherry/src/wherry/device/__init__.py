"""`paddle.device`: which devices there are, and the current one."""
from importlib import import_module as _import_module
from typing import TYPE_CHECKING

from wherry_tensor.device import *  # noqa: F403
from wherry_tensor.device import __all__ as __all__

_import_module("wherry.device.cuda")  # in place of the star's `cuda`, so that it can be imported by this name

if not TYPE_CHECKING:  # checkers find misspelled names themselves
    from wherry._absent import looked_up as _looked_up

    __getattr__ = _looked_up(__name__)
