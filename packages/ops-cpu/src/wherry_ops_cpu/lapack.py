"""Kernels of the family `linalg` that iterate and are not in csrc/eigen.cc: NumPy's LAPACK computes them.

Threads are the business of the BLAS that NumPy brings along. Parts of a batch in threads of ours were slower (up to a hundred
times where other processes run): two callers of that library wait for each other's threads.
"""
from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from wherry_tensor import _core, ops

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, Any]
    Arrays = tuple[Array, ...]


def _converged(op_name: str, compute: Callable[..., Any], outputs: Arrays, x: Array) -> None:
    import numpy as np

    if x.size == 0:
        return
    finite = bool(np.isfinite(x).all())  # asked first: LAPACK may go round for ever with infinite values
    try:
        results = compute(x) if finite else None
    except np.linalg.LinAlgError:
        results = None
    if results is None:
        raise ValueError(
            f"{op_name}: the iteration did not converge. Got a matrix of shape {list(x.shape[-2:])} "
            f"{'whose values are all finite' if finite else 'with values that are not finite'}, expected finite values of "
            f"moderate size. {'Scale it, or use float64' if finite else 'Look for NaN and infinity before the call'}."
        )
    for out, result in zip(outputs, results if isinstance(results, tuple) else (results,), strict=True):
        out[...] = result


def svd(outputs: Arrays, x: Array, *, full_matrices: bool) -> None:
    """u, s and vh of x = u diag(s) vh."""
    import numpy as np

    def compute(part: Array) -> Arrays:
        return tuple(np.linalg.svd(part, full_matrices=full_matrices))

    if 0 in x.shape[-2:]:  # LAPACK takes no empty matrix; its bases are those of the whole space
        for out in (outputs[0], outputs[2]):
            out[...] = np.eye(*out.shape[-2:])
        return
    _converged("svd", compute, outputs, x)


def eigh(outputs: Arrays, x: Array, *, upper: bool) -> None:
    """Eigenvalues, ascending, and eigenvectors of Hermitian matrices."""
    import numpy as np

    _converged("eigh", lambda part: tuple(np.linalg.eigh(part, UPLO="U" if upper else "L")), outputs, x)


def eigvalsh(outputs: Arrays, x: Array, *, upper: bool) -> None:
    """Eigenvalues of Hermitian matrices, ascending."""
    import numpy as np

    _converged("eigvalsh", lambda part: np.linalg.eigvalsh(part, UPLO="U" if upper else "L"), outputs, x)


def eig(outputs: Arrays, x: Array) -> None:
    """Eigenvalues and eigenvectors of any square matrices, complex."""
    import numpy as np

    _converged("eig", lambda part: tuple(np.linalg.eig(part)), outputs, x)


def eigvals(outputs: Arrays, x: Array) -> None:
    """Eigenvalues of any square matrices, complex, in the order of Paddle, which hands LAPACK the rows as columns."""
    import numpy as np

    _converged("eigvals", lambda part: np.linalg.eigvals(np.swapaxes(part, -1, -2)), outputs, x)


# Numerators of the Pade approximants of exp, and the 1-norms up to which each is exact to float64's precision.
_PADE = (
    (0.015, (120.0, 60.0, 12.0, 1.0)),
    (0.25, (30240.0, 15120.0, 3360.0, 420.0, 30.0, 1.0)),
    (0.95, (17297280.0, 8648640.0, 1995840.0, 277200.0, 25200.0, 1512.0, 56.0, 1.0)),
    (2.1, (17643225600.0, 8821612800.0, 2075673600.0, 302702400.0, 30270240.0, 2162160.0, 110880.0, 3960.0, 90.0, 1.0)),
)
_LAST_BOUND = 5.4
_LAST = (
    64764752532480000.0, 32382376266240000.0, 7771770303897600.0, 1187353796428800.0, 129060195264000.0, 10559470521600.0,
    670442572800.0, 33522128640.0, 1323241920.0, 40840800.0, 960960.0, 16380.0, 182.0, 1.0,
)


def matrix_exp(outputs: Arrays, x: Array) -> None:
    """exp of square matrices: halved until a quotient of polynomials is exact enough, then squared as often.

    Higham, "The Scaling and Squaring Method for the Matrix Exponential Revisited" (2005). Float32 is computed in float64.
    """
    import numpy as np

    if x.size == 0:
        return
    (out,) = outputs
    wide = np.result_type(x.dtype, np.float64)
    for place in np.ndindex(x.shape[:-2]):
        a = x[place].astype(wide)
        norm = float(np.abs(a).sum(axis=-2).max())
        if not np.isfinite(norm):
            out[place] = np.nan
            continue
        halvings = max(0, int(np.ceil(np.log2(norm / _LAST_BOUND)))) if norm > _LAST_BOUND else 0
        a = a / 2.0**halvings
        weights = next((w for bound, w in _PADE if norm <= bound), _LAST)
        square = a @ a
        power = np.eye(a.shape[-1], dtype=wide)
        even, odd = weights[0] * power, weights[1] * power
        for i in range(2, len(weights), 2):
            power = power @ square
            even = even + weights[i] * power
            odd = odd + weights[i + 1] * power
        odd = a @ odd
        result = np.linalg.solve(even - odd, even + odd)
        for _ in range(halvings):
            result = result @ result
        out[place] = result


def register() -> None:
    """Make these functions the kernels of the cpu."""
    complex_dtypes = (_core.complex64, _core.complex128)
    all_dtypes = (_core.float32, _core.float64, *complex_dtypes)
    dtypes = {  # the others are in csrc/eigen.cc
        svd: (_core.float64, *complex_dtypes), eigh: complex_dtypes, eigvalsh: complex_dtypes,
        eig: all_dtypes, eigvals: all_dtypes, matrix_exp: all_dtypes,
    }
    for kernel, served in dtypes.items():
        _core.register_python_kernel("cpu", getattr(ops, kernel.__name__), served, kernel)
