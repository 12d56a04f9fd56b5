"""`paddle.vision.transforms.functional`."""
# ruff: noqa: F403  its own list says what
from typing import TYPE_CHECKING

from wherry_vision.transforms.functional import *

if not TYPE_CHECKING:  # checkers cannot follow a list that is computed
    from wherry_vision.transforms.functional import __all__ as __all__
