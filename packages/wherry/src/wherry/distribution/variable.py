"""`paddle.distribution.variable`: kinds of random variables."""
# ruff: noqa: F403  its own list says what
from wherry import _absent
from wherry_distribution.variable import *
from wherry_distribution.variable import __all__ as __all__

_absent.explain(__name__)
