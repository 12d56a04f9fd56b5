"""Stub of wherry_audio, written by tools/stubs.py: where each public name comes from."""
from wherry_audio import backends as backends
from wherry_audio import datasets as datasets
from wherry_audio import features as features
from wherry_audio import functional as functional
from wherry_audio.backends import info as info
from wherry_audio.backends import load as load
from wherry_audio.backends import save as save
__all__: list[str]
__version__: str
