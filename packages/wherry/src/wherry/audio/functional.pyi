"""Stub of wherry.audio.functional, written by tools/stubs.py: where each public name comes from."""
from wherry_audio.functional import compute_fbank_matrix as compute_fbank_matrix
from wherry_audio.functional import create_dct as create_dct
from wherry_audio.functional import fft_frequencies as fft_frequencies
from wherry_audio.functional import hz_to_mel as hz_to_mel
from wherry_audio.functional import mel_frequencies as mel_frequencies
from wherry_audio.functional import mel_to_hz as mel_to_hz
from wherry_audio.functional import power_to_db as power_to_db
from wherry_audio.windows import get_window as get_window
__all__: list[str]
