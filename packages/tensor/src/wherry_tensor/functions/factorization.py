"""Matrix factorizations, systems of equations, determinants, eigenvalues and ranks.

Matrices are the last two axes; those before them are a batch, and of two arguments the batches broadcast.
"""
from __future__ import annotations

import math
from typing import Any

from wherry_tensor import _core, ops
from wherry_tensor._core import Tensor, float32, float64, int32, is_symbolic
from wherry_tensor.arguments import flag, integer, real_number, refused, require_tensor
from wherry_tensor.errors import AssertedArgumentError, InvalidArgumentError, InvalidTypeError, short
from wherry_tensor.functions.linalg import norm
from wherry_tensor.ops.shapes import real_dtype
from wherry_tensor.sizes import Size, is_unknown, largest, smallest
from wherry_tensor.spellings import spelled

__all__ = [
    "cholesky",
    "cholesky_solve",
    "cond",
    "det",
    "eig",
    "eigh",
    "eigvals",
    "eigvalsh",
    "householder_product",
    "inv",
    "inverse",
    "lstsq",
    "lu",
    "lu_unpack",
    "matrix_exp",
    "matrix_power",
    "matrix_rank",
    "pca_lowrank",
    "pinv",
    "qr",
    "slogdet",
    "solve",
    "svd",
    "triangular_solve",
]


# ---- reading matrices ---------------------------------------------------------------------------


def _require_matrix(x: Any, op_name: str, name: str = "x") -> Tensor:
    require_tensor(x, op_name, name)
    if x.ndim < 2:
        raise InvalidArgumentError(
            f"{op_name}: `{name}` is not a matrix. Got shape {x.shape}, expected [..., m, n]. Add axes with unsqueeze."
        )
    if not (x.dtype.is_complex or x.dtype in (float32, float64)):
        raise InvalidTypeError(
            f"{op_name}: `{name}` has dtype {x.dtype.name}. Got {x.dtype.name}, expected float32, float64, complex64 or "
            f"complex128. Cast it with astype('float32')."
        )
    return x


def _require_square(x: Any, op_name: str, name: str = "x") -> Tensor:
    rows, columns = _require_matrix(x, op_name, name).shape[-2:]
    if not (rows == -1 or columns == -1 or rows == columns):
        raise InvalidArgumentError(
            f"{op_name}: `{name}` is not square. Got shape {x.shape}, expected [..., n, n]. "
            f"For other matrices there are svd, qr, pinv and lstsq."
        )
    return x


def _adjoint(x: Tensor) -> Tensor:
    rank = x.ndim
    turned = ops.transpose(x, perm=(*range(rank - 2), rank - 1, rank - 2))
    return ops.conj(turned) if x.dtype.is_complex else turned


def _product(x: Tensor, y: Tensor) -> Tensor:
    return ops.matmul(x, y, transpose_x=False, transpose_y=False)


def _slice(x: Tensor, axis: int, start: int, stop: int) -> Tensor:
    return ops.slice(x, axes=(x.ndim + axis,), starts=(start,), ends=(stop,), steps=(1,))


def _one_batch(op_name: str, x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    """Both with the batch that theirs broadcast to."""
    if x.dtype is not y.dtype:
        raise refused(op_name, TypeError(), x=x, y=y)
    if x.shape[:-2] == y.shape[:-2]:
        return x, y
    # Sizes may be unknown: the batch of a sum says what it is.
    batch = tuple(ops.add(_corner(x), _corner(y)).shape)
    return (
        ops.broadcast_to(x, shape=(*batch, *x.shape[-2:])),
        ops.broadcast_to(y, shape=(*batch, *y.shape[-2:])),
    )


def _corner(x: Tensor) -> Tensor:
    """A tensor of the batch's shape, whatever it holds."""
    return ops.reduce_sum(x, axes=(x.ndim - 2, x.ndim - 1), keepdim=False)


def _uplo(value: Any, op_name: str) -> bool:
    if value not in ("L", "U"):
        raise InvalidArgumentError(
            f"{op_name}: UPLO is unknown. Got UPLO={short(value)}, expected 'L' or 'U'. Leave it out for the lower one."
        )
    return bool(value == "U")


def _real(x: Tensor) -> Any:
    return real_dtype.get(x.dtype, x.dtype)


def _epsilon(x: Tensor) -> float:
    return 2.0**-23 if _real(x) is float32 else 2.0**-52


def _rounding(x: Tensor) -> Tensor:
    """The share of the largest singular value that rounding leaves of none, by the longer side: shape [1], since oneDNN refuses [] in files."""
    longest, kind = largest(*x.shape[-2:]), _real(x)
    if isinstance(longest, Size):
        return ops.full(shape=(1,), value=_epsilon(x), dtype=kind) * ops.reshape(longest.tensor(kind), shape=(1,))
    return ops.full(shape=(1,), value=_epsilon(x) * longest, dtype=kind)


# ---- systems of equations -----------------------------------------------------------------------


def cholesky(x: Tensor, upper: bool = False, name: str | None = None) -> Tensor:
    """The Cholesky factor of Hermitian positive definite matrices.

    Args:
        x: `[..., n, n]`, float32, float64 or complex. Only the half that `upper` names is read.
        upper: give U with `x = U^H U` instead of L with `x = L L^H`.

    Shape:
        `[..., n, n]` to `[..., n, n]`.

    Raises:
        ValueError: a matrix is not square, or not positive definite.
        TypeError: `x` is not a Tensor, or of another dtype (also a ValueError).

    Source:
        `paddle.linalg.cholesky`.

    Examples:
        >>> print(wherry.linalg.cholesky(wherry.to_tensor([[4.0, 2.0], [2.0, 5.0]])).tolist())
        [[2.0, 0.0], [1.0, 2.0]]
    """
    return ops.cholesky(_require_square(x, "cholesky"), upper=flag(upper, "cholesky", "upper"))


def cholesky_solve(x: Tensor, y: Tensor, upper: bool = False, name: str | None = None) -> Tensor:
    """The solution of `A z = x`, where `y` is the Cholesky factor of A.

    Args:
        x: `[..., n, k]`, the right-hand side.
        y: `[..., n, n]`, what `cholesky` gave.
        upper: `y` is U with `A = U^H U`.

    Shape:
        `[..., n, k]` and `[..., n, n]` to `[..., n, k]`.

    Raises:
        ValueError: the sizes do not fit.
        TypeError: an argument is not a Tensor, or the dtypes differ (also a ValueError).

    Source:
        `paddle.linalg.cholesky_solve`.

    Examples:
        >>> factor = wherry.to_tensor([[2.0, 0.0], [1.0, 2.0]])
        >>> print(wherry.linalg.cholesky_solve(wherry.to_tensor([[8.0], [9.0]]), factor).tolist())
        [[1.375], [1.25]]
    """
    _require_matrix(x, "cholesky_solve")
    right, factor = _one_batch("cholesky_solve", x, _require_square(y, "cholesky_solve", "y"))
    lower = _adjoint(factor) if flag(upper, "cholesky_solve", "upper") else factor
    first = ops.triangular_solve(lower, right, upper=False, transpose=False, unitriangular=False)
    return ops.triangular_solve(_adjoint(lower), first, upper=True, transpose=False, unitriangular=False)


def solve(x: Tensor, y: Tensor, name: str | None = None) -> Tensor:
    """The solution of `x z = y`.

    Args:
        x: `[..., n, n]`, matrices that have an inverse; float32, float64 or complex.
        y: `[..., n, k]`, or vectors: `[n]`, or `[..., n]` with exactly the batch of `x`.

    Shape:
        `[..., n, n]` and `[..., n, k]` to `[..., n, k]`; vectors to vectors.

    Raises:
        ValueError: a matrix is singular, or the sizes do not fit.
        TypeError: an argument is not a Tensor, or the dtypes differ (also a ValueError).

    Source:
        `paddle.linalg.solve`; by LU factorization with row exchanges.

    Examples:
        >>> x = wherry.to_tensor([[3.0, 1.0], [1.0, 2.0]])
        >>> wherry.linalg.solve(x, wherry.to_tensor([9.0, 8.0])).numpy().round(4).tolist()
        [2.0, 3.0]
    """
    _require_square(x, "solve")
    require_tensor(y, "solve", "y")
    # An unknown size is that of another unknown one, as in a graph of Paddle.
    vector = y.ndim == 1 or (
        y.ndim == x.ndim - 1 and all(is_unknown(a) == is_unknown(b) and a == b for a, b in zip(y.shape, x.shape[:-1], strict=True))
    )
    if vector:
        y = ops.unsqueeze(y, axes=(y.ndim,))
    _require_matrix(y, "solve", "y")
    out = ops.solve(*_one_batch("solve", x, y))
    return ops.squeeze(out, axes=(out.ndim - 1,)) if vector else out


def triangular_solve(
    x: Tensor, y: Tensor, upper: bool = True, transpose: bool = False, unitriangular: bool = False, name: str | None = None
) -> Tensor:
    """The solution of `x z = y` for triangular `x`.

    Args:
        x: `[..., n, n]`; only one triangle is read.
        y: `[..., n, k]`, the dtype of `x`.
        upper: `x` is an upper triangle.
        transpose: solve with the transpose of `x` (for complex numbers too: without conjugation).
        unitriangular: take the diagonal of `x` for ones and do not read it.

    Shape:
        `[..., n, n]` and `[..., n, k]` to `[..., n, k]`.

    Raises:
        ValueError: the sizes do not fit.
        TypeError: an argument is not a Tensor, or the dtypes differ (also a ValueError).

    Source:
        `paddle.linalg.triangular_solve`.

    Examples:
        >>> x = wherry.to_tensor([[2.0, 1.0], [0.0, 4.0]])
        >>> print(wherry.linalg.triangular_solve(x, wherry.to_tensor([[4.0], [8.0]])).tolist())
        [[1.0], [2.0]]
    """
    op_name = "triangular_solve"
    _require_square(x, op_name)
    _require_matrix(y, op_name, "y")
    return ops.triangular_solve(
        *_one_batch(op_name, x, y),
        upper=flag(upper, op_name, "upper"),
        transpose=flag(transpose, op_name, "transpose"),
        unitriangular=flag(unitriangular, op_name, "unitriangular"),
    )


def inv(x: Tensor, name: str | None = None) -> Tensor:
    """The inverse of square matrices.

    Args:
        x: `[..., n, n]`, float32, float64 or complex.

    Shape:
        `[..., n, n]` to `[..., n, n]`.

    Raises:
        ValueError: a matrix is not square, or singular.
        TypeError: `x` is not a Tensor, or of another dtype (also a ValueError).

    Source:
        `paddle.linalg.inv`, `paddle.inverse`.

    Examples:
        >>> print(wherry.linalg.inv(wherry.to_tensor([[2.0, 0.0], [0.0, 4.0]])).tolist())
        [[0.5, 0.0], [0.0, 0.25]]
    """
    return ops.inverse(_require_square(x, "inv"))


inverse = inv


def pinv(x: Tensor, rcond: float | Tensor = 1e-15, hermitian: bool = False, name: str | None = None) -> Tensor:
    """The Moore-Penrose inverse, which exists for every matrix.

    Args:
        x: `[..., m, n]`, float32, float64 or complex.
        rcond: singular values up to `rcond` times the largest count as 0; a number, or a tensor that broadcasts to the
            batch. Not less than the precision of the dtype is used: 1.2e-7 for float32, 2.2e-16 for float64.
        hermitian: `x` equals its conjugate transpose, of which only the lower half is read.

    Shape:
        `[..., m, n]` to `[..., n, m]`.

    Raises:
        ValueError: `x` is not a matrix, or with `hermitian` not square.
        TypeError: `x` is not a Tensor, or of another dtype (also a ValueError).

    Source:
        `paddle.linalg.pinv`.

    Examples:
        >>> print(wherry.linalg.pinv(wherry.to_tensor([[2.0, 0.0], [0.0, 0.0]])).tolist())
        [[0.5, 0.0], [0.0, 0.0]]
    """
    hermitian = flag(hermitian, "pinv", "hermitian")
    (_require_square if hermitian else _require_matrix)(x, "pinv")
    batch = tuple(x.shape[:-2])
    if isinstance(rcond, Tensor):
        least = _core.scalar(_epsilon(x), _real(x))
        bound = ops.maximum(ops.cast(rcond, dtype=_real(x)), least)
        bound = ops.broadcast_to(bound, shape=batch) if tuple(bound.shape) != batch else bound
    else:
        bound = ops.full(shape=batch, value=max(real_number(rcond, "pinv", "rcond"), _epsilon(x)), dtype=_real(x))
    return ops.pinv(x, bound, hermitian=hermitian)


def lstsq(
    x: Tensor, y: Tensor, rcond: float | None = None, driver: str | None = None, name: str | None = None
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Least squares: the `z` that minimizes the norm of `x z - y`; the shortest one where several do.

    Args:
        x: `[..., m, n]`, float32 or float64.
        y: `[..., m, k]`, the dtype of `x`.
        rcond: singular values up to `rcond` times the largest count as 0; None is the precision of the dtype times
            `max(m, n)`.
        driver: "gels", "gelsy" (None), "gelsd" or "gelss": which of the results are given; all solve by singular values
            here.

    Returns:
        The solution `[..., n, k]`; the sums of squared residuals `[..., k]`, empty unless `m > n` and all ranks are n;
        the ranks `[...]`, int32, empty for "gels"; the singular values, empty but for "gelsd" and "gelss".

    Shape:
        `[..., m, n]` and `[..., m, k]` to `[..., n, k]`.

    Raises:
        TypeError: an argument is not a Tensor (also a ValueError).
        ValueError: the sizes do not fit, a dtype is neither float32 nor float64, or the driver is unknown.

    Source:
        `paddle.linalg.lstsq`.

    Examples:
        >>> x = wherry.to_tensor([[1.0, 0.0], [1.0, 1.0], [1.0, 2.0]])
        >>> line, _, rank, _ = wherry.linalg.lstsq(x, wherry.to_tensor([[1.0], [3.0], [5.0]]))
        >>> line.numpy().round(3).tolist(), rank.item()
        ([[1.0], [2.0]], 2)
    """
    require_tensor(x, "lstsq")
    require_tensor(y, "lstsq", "y")
    if driver not in (None, "gels", "gelsy", "gelsd", "gelss"):
        raise InvalidArgumentError(
            f"lstsq: unknown driver. Got driver={short(driver)}, expected 'gels', 'gelsy', 'gelsd', 'gelss' or None. "
            f"Leave it out."
        )
    if x.dtype is not y.dtype or x.dtype not in (float32, float64):
        raise InvalidArgumentError(
            f"lstsq: x and y need one floating dtype. Got {x.dtype.name} and {y.dtype.name}, expected float32 or float64 twice. "
            f"Cast both with astype('float32')."
        )
    _require_matrix(x, "lstsq")
    _require_matrix(y, "lstsq", "y")
    if not (x.shape[-2] == y.shape[-2] or -1 in (x.shape[-2], y.shape[-2])):
        raise InvalidArgumentError(
            f"lstsq: x and y have different numbers of rows. Got shapes {x.shape} and {y.shape}, expected [..., m, n] and "
            f"[..., m, k]. Transpose one of them."
        )
    x, y = _one_batch("lstsq", x, y)
    m, n = x.shape[-2:]
    bound = _rounding(x) if rcond is None else ops.full(shape=(1,), value=real_number(rcond, "lstsq", "rcond"), dtype=x.dtype)
    each = ops.broadcast_to(bound, shape=tuple(x.shape[:-2])) if x.ndim > 2 else ops.reshape(bound, shape=())
    solution = _product(ops.pinv(x, each, hermitian=False), y)
    none = ops.full(shape=(0,), value=0, dtype=x.dtype)
    values = ops.svd(x.detach(), full_matrices=False)[1]
    rank = _count_above(values, _slice(values, -1, 0, 1) * bound)
    residuals = none
    if isinstance(m, Size) and x.ndim == 2:  # all of them where m turns out to be larger, else none
        residuals = ops.reduce_sum(ops.square(_product(x, solution) - y), axes=(0,), keepdim=False)
        residuals = _slice(residuals, -1, 0, smallest(y.shape[1], largest(m - n, 0) * y.shape[1]))
    elif m > n and (is_symbolic(rank) or bool((rank == n).all().item())):
        residuals = ops.reduce_sum(ops.square(_product(x, solution) - y), axes=(x.ndim - 2,), keepdim=False)
    return (
        solution,
        residuals,
        ops.full(shape=(0,), value=0, dtype=int32) if driver == "gels" else rank,
        values if driver in ("gelsd", "gelss") else none,
    )


def _count_above(values: Tensor, bound: Tensor) -> Tensor:
    above = ops.cast(ops.greater_than(values, bound), dtype=_core.int64)
    return ops.cast(ops.reduce_sum(above, axes=(above.ndim - 1,), keepdim=False), dtype=int32)


def lu(x: Tensor, pivot: bool = True, get_infos: bool = False, name: str | None = None) -> Any:
    """The LU factorization with row exchanges, both factors in one matrix.

    Args:
        x: `[..., m, n]`, float32, float64 or complex.
        pivot: exchange rows; always, for the factorization of some matrices does not exist without.
        get_infos: give the third result too.

    Returns:
        L (without its diagonal of ones) and U in one matrix `[..., m, n]`; int32 pivots `[..., min(m, n)]`: row i was
        exchanged with row `pivots[i]`, counted from 1; and with `get_infos` int32 numbers `[...]` (`[1]` for one
        matrix), 0 or the first pivot that is 0, counted from 1. `lu_unpack` takes the first two.

    Shape:
        `[..., m, n]` to `[..., m, n]`, `[..., min(m, n)]` and `[...]`.

    Raises:
        ValueError: `pivot` is False, or `x` is not a matrix.
        TypeError: `x` is not a Tensor, or of another dtype (also a ValueError).

    Source:
        `paddle.linalg.lu`.

    Examples:
        >>> factors, pivots = wherry.linalg.lu(wherry.to_tensor([[1.0, 2.0], [2.0, 2.0]]))
        >>> print(factors.tolist(), pivots.tolist())
        [[2.0, 2.0], [0.5, 1.0]] [2, 2]
    """
    _require_matrix(x, "lu")
    if not flag(pivot, "lu", "pivot"):
        raise InvalidArgumentError(
            "lu: rows are exchanged on the cpu. Got pivot=False, expected True. Leave it out."
        )
    factors, pivots, info = ops.lu(x)
    if not flag(get_infos, "lu", "get_infos"):
        return factors, pivots
    return factors, pivots, ops.reshape(info, shape=(1,)) if x.ndim == 2 else info


def lu_unpack(
    x: Tensor, y: Tensor, unpack_ludata: bool = True, unpack_pivots: bool = True, name: str | None = None
) -> tuple[Tensor, Tensor, Tensor]:
    """The three matrices whose product was factorized by `lu`: `A = P L U`.

    Args:
        x: `[..., m, n]`, the factors that `lu` gave.
        y: `[..., min(m, n)]`, its pivots.
        unpack_ludata: give L and U; else they are empty.
        unpack_pivots: give P; else it is empty.

    Shape:
        `[..., m, n]` and `[..., k]` to `[..., m, m]`, `[..., m, k]` and `[..., k, n]`, `k = min(m, n)`.

    Raises:
        ValueError: the pivots are not those of `x`.
        TypeError: `x` is not a Tensor, or of another dtype (also a ValueError).

    Source:
        `paddle.linalg.lu_unpack`.

    Examples:
        >>> x = wherry.to_tensor([[1.0, 2.0], [2.0, 2.0]])
        >>> p, l, u = wherry.linalg.lu_unpack(*wherry.linalg.lu(x))
        >>> print((p @ l @ u).tolist())
        [[1.0, 2.0], [2.0, 2.0]]
    """
    _require_matrix(x, "lu_unpack")
    require_tensor(y, "lu_unpack", "y")
    m, n = x.shape[-2:]
    k = smallest(m, n)
    if y.ndim != x.ndim - 1 or not (is_unknown(k) or is_unknown(y.shape[-1]) or y.shape[-1] == k):
        raise InvalidArgumentError(
            f"lu_unpack: `y` does not belong to `x`. Got shapes {y.shape} and {x.shape}, expected [..., min(m, n)] and [..., m, n]. "
            f"Pass both results of lu."
        )
    p = lower = upper = ops.full(shape=(0,), value=0, dtype=x.dtype)
    if flag(unpack_pivots, "lu_unpack", "unpack_pivots"):
        order = ops.pivots_to_permutation(ops.cast(y, dtype=int32), rows=m)
        rows = ops.cast(ops.one_hot(order, num_classes=m), dtype=x.dtype)
        p = ops.transpose(rows, perm=(*range(rows.ndim - 2), rows.ndim - 1, rows.ndim - 2))
    if flag(unpack_ludata, "lu_unpack", "unpack_ludata"):
        left = _slice(x, -1, 0, k)
        lower = ops.tril(left, diagonal=-1) + ops.eye(rows=m, columns=k, dtype=x.dtype)
        upper = ops.triu(_slice(x, -2, 0, k), diagonal=0)
    return p, lower, upper


# ---- orthogonal factorizations ------------------------------------------------------------------


def qr(x: Tensor, mode: str = "reduced", name: str | None = None) -> Any:
    """The QR factorization: `x = q r` with orthonormal columns in q and an upper triangle r.

    Args:
        x: `[..., m, n]`, float32, float64 or complex.
        mode: "reduced" for q of `[..., m, min(m, n)]`, "complete" for `[..., m, m]`, "r" for r alone.

    Returns:
        q and r, or r.

    Shape:
        `[..., m, n]` to `[..., m, k]` and `[..., k, n]`.

    Raises:
        ValueError: `x` is not a matrix, or the mode is unknown.
        TypeError: `x` is not a Tensor, or of another dtype (also a ValueError).

    Source:
        `paddle.linalg.qr`; by reflections, so the diagonal of r may be negative.

    Examples:
        >>> q, r = wherry.linalg.qr(wherry.to_tensor([[3.0, 1.0], [4.0, 2.0]]))
        >>> (q @ r).numpy().round(3).tolist()
        [[3.0, 1.0], [4.0, 2.0]]
    """
    _require_matrix(x, "qr")
    if mode not in ("reduced", "complete", "r"):
        raise InvalidArgumentError(
            f"qr: unknown mode. Got mode={short(mode)}, expected 'reduced', 'complete' or 'r'. Leave it out for 'reduced'."
        )
    q, r = ops.qr(x, complete=mode == "complete")
    return r if mode == "r" else (q, r)


def householder_product(x: Tensor, tau: Tensor, name: str | None = None) -> Tensor:
    """The first columns of a product of Householder reflections `I - tau_i v_i v_i^H`.

    Args:
        x: `[..., m, n]` with `m >= n`: below the diagonal of column i stands v_i, which is 1 on the diagonal.
        tau: `[..., k]` with `k <= n`; the dtype of `x`.

    Shape:
        `[..., m, n]` and `[..., k]` to `[..., m, n]`.

    Raises:
        ValueError: the sizes do not fit (some of them also an AssertionError, as in Paddle).
        TypeError: an argument is not a Tensor, or the dtypes differ (also a ValueError).

    Source:
        `paddle.linalg.householder_product`.

    Examples:
        >>> x = wherry.to_tensor([[0.0], [1.0]])
        >>> print(wherry.linalg.householder_product(x, wherry.to_tensor([1.0])).tolist())
        [[0.0], [-1.0]]
    """
    op_name = "householder_product"
    _require_matrix(x, op_name)
    require_tensor(tau, op_name, "tau")
    if x.dtype is not tau.dtype:
        raise refused(op_name, TypeError(), x=x, tau=tau)
    m, n = x.shape[-2:]
    if m < n or tau.ndim != x.ndim - 1 or tau.shape[-1] > n or tau.shape[:-1] != x.shape[:-2]:
        raise AssertedArgumentError(
            f"{op_name}: x and tau are not Householder reflections. Got x of shape {x.shape} and tau of {tau.shape}, expected [..., m, n] with "
            f"m >= n, and [..., k] with k <= n. Transpose x, or take the tau that belongs to it."
        )
    vectors = ops.tril(x, diagonal=-1) + ops.eye(rows=m, columns=n, dtype=x.dtype)
    out = ops.broadcast_to(ops.eye(rows=m, columns=n, dtype=x.dtype), shape=tuple(x.shape))
    for i in reversed(range(tau.shape[-1])):
        v = _slice(vectors, -1, i, i + 1)
        factor = ops.unsqueeze(_slice(tau, -1, i, i + 1), axes=(tau.ndim,))
        out = out - factor * _product(v, _product(_adjoint(v), out))
    return out


def svd(x: Tensor, full_matrices: bool = False, name: str | None = None) -> tuple[Tensor, Tensor, Tensor]:
    """The singular value decomposition `x = u diag(s) vh`.

    Args:
        x: `[..., m, n]`, float32, float64 or complex.
        full_matrices: complete u and vh to square matrices.

    Returns:
        u; the singular values, from the largest down; and the conjugate transpose of v. Pairs of columns of u and rows
        of vh may be multiplied by -1 (or another number of length 1) without being wrong, so gradients are right for
        what does not depend on that choice.

    Shape:
        `[..., m, n]` to `[..., m, k]`, `[..., k]` and `[..., k, n]`, `k = min(m, n)`; with `full_matrices` to
        `[..., m, m]`, `[..., k]` and `[..., n, n]`.

    Raises:
        ValueError: `x` is not a matrix, or holds numbers that are not finite.
        TypeError: `x` is not a Tensor, or of another dtype (also a ValueError).

    Source:
        `paddle.linalg.svd`; LAPACK's divide and conquer.

    Examples:
        >>> u, s, vh = wherry.linalg.svd(wherry.to_tensor([[3.0, 0.0], [0.0, 5.0]]))
        >>> print(s.tolist())
        [5.0, 3.0]
    """
    return ops.svd(_require_matrix(x, "svd"), full_matrices=flag(full_matrices, "svd", "full_matrices"))


def pca_lowrank(
    x: Tensor, q: int | None = None, center: bool = True, niter: int = 2, name: str | None = None
) -> tuple[Tensor, Tensor, Tensor]:
    """Principal components: the `q` largest singular values of `x` and their vectors.

    Args:
        x: `[..., m, n]`, m observations of n values; float32 or float64.
        q: how many; None is `min(6, m, n)`.
        center: subtract the means of the columns first.
        niter: accepted for compatibility, not negative: the decomposition is exact here, not approached by chance.

    Returns:
        u, s and v (not its transpose): `x` is about `u diag(s) v^T`.

    Shape:
        `[..., m, n]` to `[..., m, q]`, `[..., q]` and `[..., n, q]`.

    Raises:
        ValueError: `q` is beyond `min(m, n)`, or `niter` is negative.
        TypeError: `x` is not a Tensor, or of another dtype (also a ValueError).

    Source:
        `paddle.linalg.pca_lowrank`.

    Examples:
        >>> x = wherry.to_tensor([[1.0, 2.0], [2.0, 4.0], [3.0, 6.0]])
        >>> u, s, v = wherry.linalg.pca_lowrank(x, q=1)
        >>> round(s.item(), 3), v.shape
        (3.162, [2, 1])
    """
    _require_matrix(x, "pca_lowrank")
    m, n = x.shape[-2:]
    count = min(6, m, n) if q is None else integer(q, "pca_lowrank", "q")
    if not 0 <= count <= min(m, n):
        raise InvalidArgumentError(
            f"pca_lowrank: q is out of range. Got q={q}, expected one in [0, {min(m, n)}], for x of shape {x.shape}. "
            f"Leave it out."
        )
    if integer(niter, "pca_lowrank", "niter") < 0:
        raise InvalidArgumentError(
            f"pca_lowrank: niter is negative. Got niter={niter}, expected 0 or more. Leave it out."
        )
    if flag(center, "pca_lowrank", "center"):
        x = x - ops.reduce_mean(x, axes=(x.ndim - 2,), keepdim=True)
    u, s, vh = ops.svd(x, full_matrices=False)
    return _slice(u, -1, 0, count), _slice(s, -1, 0, count), _slice(_adjoint(vh), -1, 0, count)


# ---- eigenvalues --------------------------------------------------------------------------------


def eig(x: Tensor, name: str | None = None) -> tuple[Tensor, Tensor]:
    """Eigenvalues and eigenvectors of square matrices.

    Args:
        x: `[..., n, n]`, float32, float64 or complex.

    Returns:
        The eigenvalues, in no particular order, and the vectors, of length 1, as columns; both complex. Each vector may
        be multiplied by a number of length 1, so gradients are right for what does not depend on that choice.

    Shape:
        `[..., n, n]` to `[..., n]` and `[..., n, n]`.

    Raises:
        ValueError: a matrix is not square, or not finite.
        TypeError: `x` is not a Tensor, or of another dtype (also a ValueError).

    Source:
        `paddle.linalg.eig`.

    Examples:
        >>> w, v = wherry.linalg.eig(wherry.to_tensor([[0.0, 1.0], [-1.0, 0.0]]))
        >>> sorted(w.numpy().imag.round(3).tolist())
        [-1.0, 1.0]
    """
    return ops.eig(_require_square(x, "eig"))


def eigvals(x: Tensor, name: str | None = None) -> Tensor:
    """Eigenvalues of square matrices, complex and in no particular order.

    Args:
        x: `[..., n, n]`, float32, float64 or complex.

    Shape:
        `[..., n, n]` to `[..., n]`.

    Raises:
        ValueError: a matrix is not square, or not finite.
        TypeError: `x` is not a Tensor, or of another dtype (also a ValueError).

    Source:
        `paddle.linalg.eigvals`.

    Examples:
        >>> w = wherry.linalg.eigvals(wherry.to_tensor([[2.0, 0.0], [0.0, 3.0]]))
        >>> sorted(w.numpy().real.tolist())
        [2.0, 3.0]
    """
    return ops.eigvals(_require_square(x, "eigvals"))


def eigh(x: Tensor, UPLO: str = "L", name: str | None = None) -> tuple[Tensor, Tensor]:
    """Eigenvalues and orthonormal eigenvectors of symmetric or Hermitian matrices.

    Args:
        x: `[..., n, n]`, float32, float64 or complex, equal to its conjugate transpose.
        UPLO: which half is read, "L" or "U".

    Returns:
        The eigenvalues, ascending and real, and the vectors as columns. Each vector may be multiplied by a number of
        length 1, so gradients are right for what does not depend on that choice.

    Shape:
        `[..., n, n]` to `[..., n]` and `[..., n, n]`.

    Raises:
        ValueError: a matrix is not square, or `UPLO` is neither 'L' nor 'U'.
        TypeError: `x` is not a Tensor, or of another dtype (also a ValueError).

    Source:
        `paddle.linalg.eigh`.

    Examples:
        >>> w, v = wherry.linalg.eigh(wherry.to_tensor([[2.0, 1.0], [1.0, 2.0]]))
        >>> w.numpy().round(4).tolist()
        [1.0, 3.0]
    """
    return ops.eigh(_require_square(x, "eigh"), upper=_uplo(UPLO, "eigh"))


def eigvalsh(x: Tensor, UPLO: str = "L", name: str | None = None) -> Tensor:
    """Eigenvalues of symmetric or Hermitian matrices, ascending and real.

    Args:
        x: `[..., n, n]`, float32, float64 or complex, equal to its conjugate transpose.
        UPLO: which half is read, "L" or "U".

    Shape:
        `[..., n, n]` to `[..., n]`.

    Raises:
        ValueError: a matrix is not square, or `UPLO` is neither 'L' nor 'U'.
        TypeError: `x` is not a Tensor, or of another dtype (also a ValueError).

    Source:
        `paddle.linalg.eigvalsh`.

    Examples:
        >>> wherry.linalg.eigvalsh(wherry.to_tensor([[2.0, 1.0], [1.0, 2.0]])).numpy().round(4).tolist()
        [1.0, 3.0]
    """
    return ops.eigvalsh(_require_square(x, "eigvalsh"), upper=_uplo(UPLO, "eigvalsh"))


# ---- numbers of matrices ------------------------------------------------------------------------


def det(x: Tensor, name: str | None = None) -> Tensor:
    """The determinant of square matrices.

    Args:
        x: `[..., n, n]`, float32, float64 or complex.

    Shape:
        `[..., n, n]` to `[...]`.

    Raises:
        ValueError: a matrix is not square.
        TypeError: `x` is not a Tensor, or of another dtype (also a ValueError).

    Source:
        `paddle.linalg.det`.

    Examples:
        >>> round(wherry.linalg.det(wherry.to_tensor([[1.0, 2.0], [3.0, 4.0]])).item(), 4)
        -2.0
    """
    return ops.det(_require_square(x, "det"))


def slogdet(x: Tensor, name: str | None = None) -> Tensor:
    """Sign of the determinant and logarithm of its absolute value, which overflows less easily than the determinant.

    Args:
        x: `[..., n, n]`, float32, float64 or complex.

    Returns:
        One tensor of both: the signs first, then the logarithms, -inf for a singular matrix.

    Shape:
        `[..., n, n]` to `[2, ...]`.

    Raises:
        ValueError: a matrix is not square.
        TypeError: `x` is not a Tensor, or of another dtype (also a ValueError).

    Source:
        `paddle.linalg.slogdet`.

    Examples:
        >>> wherry.linalg.slogdet(wherry.to_tensor([[1.0, 2.0], [3.0, 4.0]])).numpy().round(4).tolist()
        [-1.0, 0.693...]
    """
    sign, logarithm = ops.slogdet(_require_square(x, "slogdet"))
    parts = [ops.unsqueeze(one, axes=(0,)) for one in (sign, ops.cast(logarithm, dtype=x.dtype))]
    return ops.concat(*parts, axis=0)


def matrix_rank(
    x: Tensor, tol: float | Tensor | None = None, hermitian: bool = False, name: str | None = None, *, atol: float | Tensor | None = None,
    rtol: float | Tensor | None = None,
) -> Tensor:
    """The rank of matrices: how many singular values are above a bound.

    Args:
        x: `[..., m, n]`, float32, float64 or complex.
        tol: the bound, a number or a tensor that broadcasts with the batch; None is the precision of the dtype times the
            largest singular value times `max(m, n)`.
        hermitian: `x` equals its conjugate transpose; faster.
        atol, rtol: in place of `tol`, as in Paddle 3: the bound is the larger one of `atol` and `rtol` times the largest singular value. Without
            `rtol` that is `atol` alone, if it is above 0.

    Returns:
        int32.

    Shape:
        `[..., m, n]` to `[...]`.

    Raises:
        ValueError: `x` is not a matrix, or with `hermitian` not square.
        TypeError: `x` is not a Tensor, or of another dtype (also a ValueError).

    Source:
        `paddle.linalg.matrix_rank`.

    Examples:
        >>> print(wherry.linalg.matrix_rank(wherry.to_tensor([[1.0, 2.0], [2.0, 4.0]])).item())
        1
    """
    hermitian = flag(hermitian, "matrix_rank", "hermitian")
    (_require_square if hermitian else _require_matrix)(x, "matrix_rank")
    data = x.detach()
    values = ops.abs(ops.eigvalsh(data, upper=False)) if hermitian else ops.svd(data, full_matrices=False)[1]
    if tol is not None and (atol is not None or rtol is not None):
        raise InvalidArgumentError(
            "matrix_rank: one bound. Got tol and " + " and ".join(n for n, y in (("atol", atol), ("rtol", rtol)) if y is not None)
            + ", expected tol, or atol and rtol. Leave tol out."
        )

    def number(y: float | Tensor, what: str) -> Tensor:
        if isinstance(y, Tensor):
            return ops.unsqueeze(ops.cast(y, dtype=values.dtype), axes=(y.ndim,))
        return _core.scalar(real_number(y, "matrix_rank", what), values.dtype)

    if tol is not None:
        return _count_above(values, number(tol, "tol"))
    most = ops.reduce_max(values, axes=(values.ndim - 1,), keepdim=True) if values.shape[-1] else values
    usual = most * _rounding(x)
    least = None if atol is None else number(atol, "atol")
    if rtol is not None:
        bound = most * number(rtol, "rtol")
        bound = bound if least is None else ops.maximum(bound, least)
    else:
        bound = usual if least is None else ops.where(ops.greater_than(least, _core.scalar(0.0, values.dtype)), least, usual)
    return _count_above(values, bound)


def cond(x: Tensor, p: float | str | None = None, name: str | None = None) -> Tensor:
    """The condition number: the norm of a matrix times that of its inverse.

    Args:
        x: `[..., m, n]`; square for all norms but 2 and -2. float32, float64 or complex.
        p: None or 2 for the largest singular value over the smallest, -2 for its inverse; "fro", "nuc", 1, -1, inf and
            -inf for other norms.

    Shape:
        `[..., m, n]` to `[...]`.

    Raises:
        ValueError: the norm is unknown, or a matrix is not square where it has to be, or has no inverse.
        TypeError: `x` is not a Tensor, or of another dtype (also a ValueError).

    Source:
        `paddle.linalg.cond`.

    Examples:
        >>> print(wherry.linalg.cond(wherry.to_tensor([[4.0, 0.0], [0.0, 2.0]])).item())
        2.0
    """
    _require_matrix(x, "cond")
    if isinstance(p, bool) or p not in (None, 2, -2, "fro", "nuc", 1, -1, math.inf, -math.inf):
        raise InvalidArgumentError(
            f"cond: unknown norm. Got p={short(p)}, expected None, 2, -2, 'fro', 'nuc', 1, -1, inf or -inf. "
            f"Leave it out for 2."
        )
    last = (x.ndim - 2,)
    if p in (None, 2, -2):
        values = ops.svd(x, full_matrices=False)[1]
        most, least = (f(values, axes=last, keepdim=False) for f in (ops.reduce_max, ops.reduce_min))
        return least / most if p == -2 else most / least
    _require_square(x, "cond")
    return _matrix_norm(x, p) * _matrix_norm(ops.inverse(x), p)


def _matrix_norm(x: Tensor, p: Any) -> Tensor:
    rank = x.ndim
    if p == "nuc":
        return ops.reduce_sum(ops.svd(x, full_matrices=False)[1], axes=(rank - 2,), keepdim=False)
    sizes = ops.abs(x)
    if p == "fro":
        return norm(sizes, p="fro", axis=[-2, -1])
    sums = ops.reduce_sum(sizes, axes=(rank - 2 if p in (1, -1) else rank - 1,), keepdim=False)
    return (ops.reduce_max if p > 0 else ops.reduce_min)(sums, axes=(rank - 2,), keepdim=False)


# ---- powers -------------------------------------------------------------------------------------


def matrix_power(x: Tensor, n: int, name: str | None = None) -> Tensor:
    """The product of `n` copies of a square matrix; of its inverse where `n` is negative.

    Args:
        x: `[..., m, m]`, float32, float64 or complex.
        n: any integer; 0 gives the identity.

    Shape:
        `[..., m, m]` to `[..., m, m]`.

    Raises:
        ValueError: a matrix is not square; `n` is negative and a matrix singular; `n` is not an integer.
        TypeError: `x` is not a Tensor, or of another dtype (also a ValueError).

    Source:
        `paddle.linalg.matrix_power`; by squaring.

    Examples:
        >>> print(wherry.linalg.matrix_power(wherry.to_tensor([[1.0, 1.0], [0.0, 1.0]]), 5).tolist())
        [[1.0, 5.0], [0.0, 1.0]]
    """
    _require_square(x, "matrix_power")
    count = integer(n, "matrix_power", "n")
    if count == 0:
        zeros = ops.full_like(x, value=0, dtype=x.dtype)
        return zeros + ops.eye(rows=x.shape[-1], columns=x.shape[-1], dtype=x.dtype)
    base: Tensor = ops.inverse(x) if count < 0 else x
    count = abs(count)
    out: Tensor | None = None
    while True:
        if count & 1:
            out = base if out is None else _product(out, base)
        count >>= 1
        if not count and out is not None:
            return ops.copy(out) if out is x else out
        base = _product(base, base)


def matrix_exp(x: Tensor, name: str | None = None) -> Tensor:
    """The exponential of square matrices, `1 + x + x x / 2 + x x x / 6 + ...`.

    Args:
        x: `[..., n, n]`, float32, float64 or complex.

    Shape:
        `[..., n, n]` to `[..., n, n]`.

    Raises:
        ValueError: a matrix is not square.
        TypeError: `x` is not a Tensor, or of another dtype (also a ValueError).

    Source:
        `paddle.linalg.matrix_exp` of Paddle 3; scaling and squaring after Higham (2005).

    Examples:
        >>> print(wherry.linalg.matrix_exp(wherry.to_tensor([[0.0, 2.0], [0.0, 0.0]])).tolist())
        [[1.0, 2.0], [0.0, 1.0]]
    """
    return ops.matrix_exp(_require_square(x, "matrix_exp"))


spelled(globals())
