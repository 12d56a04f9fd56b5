"""Stub of wherry.regularizer, written by tools/stubs.py: where each public name comes from."""
from wherry_train.regularizer import L1Decay as L1Decay
from wherry_train.regularizer import L2Decay as L2Decay
__all__: list[str]
