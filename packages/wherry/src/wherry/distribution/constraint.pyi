"""Stub of wherry.distribution.constraint, written by tools/stubs.py: where each public name comes from."""
from wherry_distribution.constraint import Constraint as Constraint
from wherry_distribution.constraint import Positive as Positive
from wherry_distribution.constraint import Range as Range
from wherry_distribution.constraint import Real as Real
from wherry_distribution.constraint import Simplex as Simplex
from wherry_distribution.constraint import positive as positive
from wherry_distribution.constraint import real as real
from wherry_distribution.constraint import simplex as simplex
__all__: list[str]
