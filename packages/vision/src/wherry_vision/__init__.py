"""`paddle.vision`: models, image transforms, and reading images."""
# ruff: noqa: F403  models list their names
from importlib import import_module as _import_module

from wherry_vision import models
from wherry_vision.models import *

__version__ = "0.9.0"

# These modules are imported when one of their names is first used: they need NumPy, which models do not.
_LATER = {
    "datasets": "MNIST VOC2012 Cifar10 Cifar100 DatasetFolder FashionMNIST Flowers ImageFolder",
    "ops": "",
    "models.from_torch": "from_torch",
    "image": "get_image_backend image_load set_image_backend",
    "transforms": """
        BaseTransform BrightnessTransform CenterCrop ColorJitter Compose ContrastTransform Grayscale HueTransform
        Normalize Pad RandomAffine RandomCrop RandomErasing RandomHorizontalFlip RandomPerspective RandomResizedCrop RandomRotation
        RandomVerticalFlip Resize SaturationTransform ToTensor Transpose adjust_brightness adjust_contrast adjust_hue affine center_crop crop
        erase hflip normalize pad perspective resize rotate to_grayscale to_tensor vflip
    """,
}
_MODULE_OF = {name: module for module, names in _LATER.items() for name in names.split()}

__all__ = ["models", *models.__all__, *(name for name in _LATER if "." not in name), *_MODULE_OF]


def __getattr__(name: str) -> object:
    if name in _LATER:
        return _import_module(f"{__name__}.{name}")
    if name in _MODULE_OF:
        return getattr(_import_module(f"{__name__}.{_MODULE_OF[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
