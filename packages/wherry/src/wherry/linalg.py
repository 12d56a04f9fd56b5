"""`paddle.linalg`."""
from wherry import _absent
from wherry_tensor.functions import factorization as _factorization
from wherry_tensor.functions import linalg as _linalg
from wherry_tensor.functions.factorization import *  # noqa: F403
from wherry_tensor.functions.linalg import *  # noqa: F403
from wherry_tensor.functions.matrices import corrcoef, cov, vecdot

__all__ = [*_factorization.__all__, *_linalg.__all__, "corrcoef", "cov", "vecdot"]

_absent.explain(__name__)
