"""`paddle.incubate.autograd`: derivatives of functions."""
# ruff: noqa: F403  its own list says what
from wherry import _absent
from wherry_autograd.incubate import *
from wherry_autograd.incubate import __all__ as __all__

_absent.explain(__name__)
