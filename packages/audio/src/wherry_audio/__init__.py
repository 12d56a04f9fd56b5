"""`paddle.audio`: windows, spectrograms, wave files, and data sets of recordings."""
from wherry_audio import backends, datasets, features, functional
from wherry_audio.backends import info, load, save

__all__ = ["backends", "datasets", "features", "functional", "info", "load", "save"]

__version__ = "0.1.0"
