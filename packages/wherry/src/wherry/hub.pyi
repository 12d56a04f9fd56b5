"""Stub of wherry.hub, written by tools/stubs.py: where each public name comes from."""
from typing import Any
from wherry_train.hub import help as help
from wherry_train.hub import list as list
from wherry_train.hub import load as load
__all__: Any
