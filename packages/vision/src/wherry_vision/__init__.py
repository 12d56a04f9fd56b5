"""`paddle.vision`: models, image transforms, and reading images."""
# ruff: noqa: F403, F405  each module lists its names
from wherry_vision import image, models, transforms
from wherry_vision.image import *
from wherry_vision.models import *
from wherry_vision.transforms import *

__all__ = ["image", "models", "transforms"]
__all__ += image.__all__
__all__ += models.__all__
__all__ += transforms.__all__
__version__ = "0.1.0"
