"""Transforms of images, as functions and as objects."""
# ruff: noqa: F401, F403, F405  each module lists its names
from wherry_vision.transforms import base, color, functional, geometric
from wherry_vision.transforms.base import *
from wherry_vision.transforms.color import *
from wherry_vision.transforms.functional import *
from wherry_vision.transforms.geometric import *

__all__ = []
__all__ += base.__all__
__all__ += color.__all__
__all__ += functional.__all__
__all__ += geometric.__all__
