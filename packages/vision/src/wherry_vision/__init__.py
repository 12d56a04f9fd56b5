"""`paddle.vision`: models and image transforms."""
# ruff: noqa: F403  each module lists its names
from wherry_vision import models, transforms
from wherry_vision.models import LeNet

__all__ = ["LeNet", "models", "transforms"]
__version__ = "0.1.0"
