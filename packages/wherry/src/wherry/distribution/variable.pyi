"""Stub of wherry.distribution.variable, written by tools/stubs.py: where each public name comes from."""
from wherry_distribution.variable import Independent as Independent
from wherry_distribution.variable import Positive as Positive
from wherry_distribution.variable import Real as Real
from wherry_distribution.variable import Stack as Stack
from wherry_distribution.variable import Variable as Variable
from wherry_distribution.variable import positive as positive
from wherry_distribution.variable import real as real
__all__: list[str]
