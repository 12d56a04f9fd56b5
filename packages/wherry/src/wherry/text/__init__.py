"""`paddle.text`: Viterbi decoding, and data sets of language."""
from wherry import _absent
from wherry.text import datasets as datasets
from wherry_text import *  # noqa: F403
from wherry_text import __all__ as __all__

_absent.explain(__name__)
