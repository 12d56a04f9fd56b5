"""`paddle.optimizer`."""
# ruff: noqa: F403  its own list says what
from importlib import import_module as _import_module

from wherry import _absent
from wherry_train.optimizer import *
from wherry_train.optimizer import __all__ as __all__

_absent.explain(__name__)
_import_module("wherry.optimizer.lr")  # in place of the star's `lr`
