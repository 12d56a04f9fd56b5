"""Text data sets, read from the files that their authors publish."""
from wherry_text.datasets.conll05 import Conll05st
from wherry_text.datasets.imdb import Imdb
from wherry_text.datasets.imikolov import Imikolov
from wherry_text.datasets.movielens import Movielens
from wherry_text.datasets.uci_housing import UCIHousing
from wherry_text.datasets.wmt14 import WMT14
from wherry_text.datasets.wmt16 import WMT16

__all__ = ["WMT14", "WMT16", "Conll05st", "Imdb", "Imikolov", "Movielens", "UCIHousing"]
