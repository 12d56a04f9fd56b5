"""Stub of wherry.signal, written by tools/stubs.py: where each public name comes from."""
from wherry_tensor.functions.signal import frame as frame
from wherry_tensor.functions.signal import istft as istft
from wherry_tensor.functions.signal import overlap_add as overlap_add
from wherry_tensor.functions.signal import stft as stft
__all__: list[str]
