"""Stub of wherry.text, written by tools/stubs.py: where each public name comes from."""
from wherry.text import datasets as datasets
from wherry_text.datasets.conll05 import Conll05st as Conll05st
from wherry_text.datasets.imdb import Imdb as Imdb
from wherry_text.datasets.imikolov import Imikolov as Imikolov
from wherry_text.datasets.movielens import Movielens as Movielens
from wherry_text.datasets.uci_housing import UCIHousing as UCIHousing
from wherry_text.datasets.wmt14 import WMT14 as WMT14
from wherry_text.datasets.wmt16 import WMT16 as WMT16
from wherry_text.viterbi import ViterbiDecoder as ViterbiDecoder
from wherry_text.viterbi import viterbi_decode as viterbi_decode
__all__: list[str]
