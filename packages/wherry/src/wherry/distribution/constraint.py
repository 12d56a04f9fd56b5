"""`paddle.distribution.constraint`: what values a random variable may take."""
# ruff: noqa: F403  its own list says what
from wherry import _absent
from wherry_distribution.constraint import *
from wherry_distribution.constraint import __all__ as __all__

_absent.explain(__name__)
