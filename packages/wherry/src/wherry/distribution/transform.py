"""`paddle.distribution.transform`: functions of random variables that know their inverses."""
# ruff: noqa: F403  its own list says what
from wherry import _absent
from wherry_distribution.transform import *
from wherry_distribution.transform import __all__ as __all__

_absent.explain(__name__)
