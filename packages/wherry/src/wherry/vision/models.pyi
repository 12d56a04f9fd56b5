"""Stub of wherry.vision.models, written by tools/stubs.py: where each public name comes from."""
from wherry_vision.models.lenet import LeNet as LeNet
__all__: list[str]
