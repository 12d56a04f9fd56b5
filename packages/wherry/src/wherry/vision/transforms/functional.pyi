"""Stub of wherry.vision.transforms.functional, written by tools/stubs.py: where each public name comes from."""
from wherry_vision.transforms.functional import adjust_brightness as adjust_brightness
from wherry_vision.transforms.functional import adjust_contrast as adjust_contrast
from wherry_vision.transforms.functional import adjust_hue as adjust_hue
from wherry_vision.transforms.functional import affine as affine
from wherry_vision.transforms.functional import center_crop as center_crop
from wherry_vision.transforms.functional import crop as crop
from wherry_vision.transforms.functional import erase as erase
from wherry_vision.transforms.functional import hflip as hflip
from wherry_vision.transforms.functional import normalize as normalize
from wherry_vision.transforms.functional import pad as pad
from wherry_vision.transforms.functional import perspective as perspective
from wherry_vision.transforms.functional import resize as resize
from wherry_vision.transforms.functional import rotate as rotate
from wherry_vision.transforms.functional import to_grayscale as to_grayscale
from wherry_vision.transforms.functional import to_tensor as to_tensor
from wherry_vision.transforms.functional import vflip as vflip
__all__: list[str]
