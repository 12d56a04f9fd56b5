"""`paddle.audio`: windows, spectrograms, wave files, and data sets of recordings."""
from importlib import import_module
from typing import TYPE_CHECKING, Any

from wherry_audio import backends, features, functional
from wherry_audio.backends import info, load, save

if TYPE_CHECKING:
    from wherry_audio import datasets

__all__ = ["backends", "datasets", "features", "functional", "info", "load", "save"]

__version__ = "0.3.0"


def __getattr__(name: str) -> Any:
    """Imports data sets, which need NumPy, when they are first used."""
    if name == "datasets":
        return import_module(f"{__name__}.datasets")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
