"""Stub of wherry.audio.backends, written by tools/stubs.py: where each public name comes from."""
from wherry_audio.backends import AudioInfo as AudioInfo
from wherry_audio.backends import get_current_backend as get_current_backend
from wherry_audio.backends import info as info
from wherry_audio.backends import list_available_backends as list_available_backends
from wherry_audio.backends import load as load
from wherry_audio.backends import save as save
from wherry_audio.backends import set_backend as set_backend
__all__: list[str]
