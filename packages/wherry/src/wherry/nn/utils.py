"""`paddle.nn.utils`."""
# ruff: noqa: F403  its own list says what
from wherry import _absent
from wherry_nn.utils import *
from wherry_nn.utils import __all__ as __all__

_absent.explain(__name__)
