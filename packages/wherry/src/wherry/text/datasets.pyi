"""Stub of wherry.text.datasets, written by tools/stubs.py: where each public name comes from."""
from wherry_text.datasets.conll05 import Conll05st as Conll05st
from wherry_text.datasets.imdb import Imdb as Imdb
from wherry_text.datasets.imikolov import Imikolov as Imikolov
from wherry_text.datasets.movielens import Movielens as Movielens
from wherry_text.datasets.uci_housing import UCIHousing as UCIHousing
from wherry_text.datasets.wmt14 import WMT14 as WMT14
from wherry_text.datasets.wmt16 import WMT16 as WMT16
__all__: list[str]
