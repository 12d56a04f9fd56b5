"""Stub of wherry.audio.features, written by tools/stubs.py: where each public name comes from."""
from wherry_audio.features import LogMelSpectrogram as LogMelSpectrogram
from wherry_audio.features import MFCC as MFCC
from wherry_audio.features import MelSpectrogram as MelSpectrogram
from wherry_audio.features import Spectrogram as Spectrogram
__all__: list[str]
