"""Stub of wherry.vision.image, written by tools/stubs.py: where each public name comes from."""
from wherry_vision.image import get_image_backend as get_image_backend
from wherry_vision.image import image_load as image_load
from wherry_vision.image import set_image_backend as set_image_backend
__all__: list[str]
