"""`paddle.audio.features`."""
# ruff: noqa: F403  its own list says what
from wherry import _absent
from wherry_audio.features import *
from wherry_audio.features import __all__ as __all__

_absent.explain(__name__)
