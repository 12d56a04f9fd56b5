"""Stub of wherry.reader, written by tools/stubs.py: where each public name comes from."""
from wherry_train.reader import ComposeNotAligned as ComposeNotAligned
from wherry_train.reader import buffered as buffered
from wherry_train.reader import cache as cache
from wherry_train.reader import chain as chain
from wherry_train.reader import compose as compose
from wherry_train.reader import firstn as firstn
from wherry_train.reader import map_readers as map_readers
from wherry_train.reader import multiprocess_reader as multiprocess_reader
from wherry_train.reader import shuffle as shuffle
from wherry_train.reader import xmap_readers as xmap_readers
__all__: list[str]
