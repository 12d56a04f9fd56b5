"""`paddle.vision.models`."""
# ruff: noqa: F403  its own list says what
import importlib as _importlib
import sys as _sys

from wherry import _absent
from wherry_vision.models import *
from wherry_vision.models import __all__ as __all__

# The files of Paddle's models: programs take blocks from them, as in `from paddle.vision.models.resnet import BottleneckBlock`.
for _name in (
    "alexnet", "densenet", "googlenet", "inceptionv3", "lenet", "mobilenetv1", "mobilenetv2", "mobilenetv3", "resnet", "shufflenetv2", "squeezenet",
    "vgg",
):  # fmt: skip
    _module = _sys.modules[f"{__name__}.{_name}"] = _importlib.import_module(f"wherry_vision.models.{_name}")
    if _name not in __all__:  # alexnet and googlenet are functions
        globals()[_name] = _module

_absent.explain(__name__)
