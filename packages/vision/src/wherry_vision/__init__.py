"""`paddle.vision`: models and image transforms."""
from wherry_vision import models, transforms

__all__ = ["models", "transforms"]
__version__ = "0.1.0"
