"""`paddle.text`: Viterbi decoding, and data sets of language."""
from wherry_text import datasets
from wherry_text.datasets import WMT14, WMT16, Conll05st, Imdb, Imikolov, Movielens, UCIHousing
from wherry_text.viterbi import ViterbiDecoder, viterbi_decode

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

__version__ = "0.1.0"
