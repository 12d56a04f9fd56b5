"""Models for images."""
from wherry_vision.models.lenet import LeNet

__all__ = ["LeNet"]
