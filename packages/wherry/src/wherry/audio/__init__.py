"""`paddle.audio`: windows, spectrograms, wave files, and data sets of recordings."""
from wherry import _absent
from wherry.audio import backends as backends
from wherry.audio import datasets as datasets
from wherry.audio import features as features
from wherry.audio import functional as functional
from wherry_audio import __all__ as __all__
from wherry_audio import info as info
from wherry_audio import load as load
from wherry_audio import save as save

_absent.explain(__name__)
