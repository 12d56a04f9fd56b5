"""`paddle.hub`: models of a folder or a repository."""
# ruff: noqa: F403  its own list says what
from wherry import _absent
from wherry_train.hub import *
from wherry_train.hub import __all__ as __all__

_absent.explain(__name__)
