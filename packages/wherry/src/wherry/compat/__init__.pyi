"""Stub of wherry.compat, written by tools/stubs.py: where each public name comes from."""
from wherry_tensor.compat import equal as equal
from wherry_tensor.compat import max as max
from wherry_tensor.compat import median as median
from wherry_tensor.compat import min as min
from wherry_tensor.compat import nanmedian as nanmedian
from wherry_tensor.compat import seed as seed
from wherry_tensor.compat import slogdet as slogdet
from wherry_tensor.compat import sort as sort
from wherry_tensor.compat import split as split
from wherry_tensor.compat import unique as unique
__all__: list[str]
