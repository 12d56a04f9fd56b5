"""Stub of wherry.audio.datasets, written by tools/stubs.py: where each public name comes from."""
from wherry_audio.datasets import AudioClassificationDataset as AudioClassificationDataset
from wherry_audio.datasets import ESC50 as ESC50
from wherry_audio.datasets import TESS as TESS
__all__: list[str]
