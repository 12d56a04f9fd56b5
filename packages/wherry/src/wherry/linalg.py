"""`paddle.linalg`."""
from typing import TYPE_CHECKING

from wherry_tensor.functions import factorization as _factorization
from wherry_tensor.functions import linalg as _linalg
from wherry_tensor.functions.factorization import *  # noqa: F403
from wherry_tensor.functions.linalg import *  # noqa: F403
from wherry_tensor.functions.matrices import corrcoef, cov, vecdot

__all__ = [*_factorization.__all__, *_linalg.__all__, "corrcoef", "cov", "vecdot"]

if not TYPE_CHECKING:  # checkers find misspelled names themselves
    from wherry._absent import looked_up as _looked_up

    __getattr__ = _looked_up(__name__)
