"""`paddle.text`: Viterbi decoding, and text data sets."""
from importlib import import_module
from typing import TYPE_CHECKING, Any

from wherry_text.viterbi import ViterbiDecoder, viterbi_decode

if TYPE_CHECKING:
    from wherry_text import datasets
    from wherry_text.datasets import WMT14, WMT16, Conll05st, Imdb, Imikolov, Movielens, UCIHousing

__all__ = [
    "WMT14",
    "WMT16",
    "Conll05st",
    "Imdb",
    "Imikolov",
    "Movielens",
    "UCIHousing",
    "ViterbiDecoder",
    "datasets",
    "viterbi_decode",
]

__version__ = "0.2.0"


def __getattr__(name: str) -> Any:
    """Imports data sets, which need NumPy, when they are first used."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = import_module(f"{__name__}.datasets")
    return found if name == "datasets" else getattr(found, name)
