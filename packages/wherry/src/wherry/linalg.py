"""`paddle.linalg`."""
from wherry import _absent
from wherry_tensor.functions import factorization as _factorization
from wherry_tensor.functions import linalg as _linalg
from wherry_tensor.functions import norms as _norms
from wherry_tensor.functions.factorization import *  # noqa: F403
from wherry_tensor.functions.joining import matrix_transpose
from wherry_tensor.functions.linalg import *  # noqa: F403
from wherry_tensor.functions.matrices import corrcoef, cov, vecdot
from wherry_tensor.functions.norms import *  # noqa: F403
from wherry_tensor.functions.positions import diagonal

__all__ = [*_factorization.__all__, *_linalg.__all__, *_norms.__all__, "corrcoef", "cov", "diagonal", "matrix_transpose", "vecdot"]

_absent.explain(__name__)
