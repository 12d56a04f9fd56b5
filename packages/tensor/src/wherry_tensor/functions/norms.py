"""Norms by their own names, and what stands on factorizations that are there: `matrix_norm`, `cholesky_inverse`, `lu_solve`, `ormqr`, ..."""
from __future__ import annotations

from typing import Any

from wherry_tensor import ops
from wherry_tensor._core import Tensor
from wherry_tensor.arguments import flag, integer, integers_of, one_axis, require_rank, require_tensor, to_dtype
from wherry_tensor.dtype import as_dtype
from wherry_tensor.errors import InvalidArgumentError, short
from wherry_tensor.functions import creation, factorization, linalg, movement, reduction
from wherry_tensor.spellings import spelled

__all__ = ["cholesky_inverse", "lu_solve", "matrix_norm", "ormqr", "svd_lowrank", "svdvals", "vector_norm"]


def vector_norm(
    x: Tensor, p: float = 2.0, axis: Any = None, keepdim: bool = False, name: str | None = None, *, dtype: Any = None
) -> Tensor:
    """The p-norm of vectors: of all elements, or along axes.

    Args:
        x: floating or complex.
        p: any number, also infinite; 0 counts the elements that are not 0.
        axis: one axis or several; None takes all elements.
        keepdim: keep each reduced axis with size 1.
        dtype: cast `x` to it first.

    Shape:
        `[..., n, ...]` to `[..., ...]`, or `[..., 1, ...]` with `keepdim`.

    Raises:
        TypeError: `x` is not a Tensor, or of integers (also a ValueError).
        ValueError: an axis is out of range.

    Source:
        `paddle.linalg.vector_norm`.

    Examples:
        >>> wherry.linalg.vector_norm(wherry.to_tensor([[3.0, 4.0]])).item()
        5.0
    """
    require_tensor(x, "vector_norm")
    if dtype is not None:
        x = to_dtype(x, as_dtype(dtype, "vector_norm"))
    rank = x.ndim
    axes = sorted({one_axis(a, rank, "vector_norm") for a in integers_of(axis if isinstance(axis, (list, tuple)) else [axis], "vector_norm", "axis")}) \
        if axis is not None else list(range(rank))
    others = [a for a in range(rank) if a not in axes]
    flat = movement.reshape(movement.transpose(x, [*others, *axes]) if rank else x, [*(x.shape[a] for a in others), -1])
    out = linalg.norm(flat, float(p), -1)
    return movement.reshape(out, [1 if a in axes else n for a, n in enumerate(x.shape)]) if flag(keepdim, "vector_norm", "keepdim") else out


def matrix_norm(x: Tensor, p: Any = "fro", axis: Any = (-2, -1), keepdim: bool = False, name: str | None = None) -> Tensor:
    """The norm of matrices along two axes.

    Args:
        x: floating or complex, at least two axes.
        p: "fro" (the root of the sum of squares), "nuc" (the sum of singular values), 2 and -2 (the largest and smallest singular value),
            1 and -1 (of sums of columns), inf and -inf (of sums of rows).
        axis: the two axes.
        keepdim: keep them with size 1.

    Shape:
        `[..., m, n]` to `[...]`, or `[..., 1, 1]` with `keepdim`.

    Raises:
        TypeError: `x` is not a Tensor (also a ValueError).
        ValueError: `p` is unknown, or the axes are not two.

    Source:
        `paddle.linalg.matrix_norm`.

    Examples:
        >>> wherry.linalg.matrix_norm(wherry.to_tensor([[3.0, 0.0], [0.0, 4.0]]), p="nuc").item()
        7.0
    """
    require_rank(x, "matrix_norm", 2, 99)
    axes = [one_axis(a, x.ndim, "matrix_norm") for a in integers_of(axis, "matrix_norm", "axis")]
    if len(axes) != 2 or axes[0] == axes[1]:
        raise InvalidArgumentError(f"matrix_norm: a matrix has two axes. Got axis={short(axis)}, expected two different ones. Use vector_norm for others.")
    if p not in ("fro", "nuc", 1, -1, 2, -2, float("inf"), -float("inf")):
        raise InvalidArgumentError(f"matrix_norm: unknown p. Got {short(p)}, expected 'fro', 'nuc', 1, -1, 2, -2, inf or -inf. Use vector_norm for others.")
    matrices = movement.moveaxis(x, axes, [-2, -1])
    size = ops.abs(matrices)
    if p == "fro":
        out = vector_norm(matrices, 2.0, (-2, -1))
    elif p in ("nuc", 2, -2):
        values = svdvals(matrices)
        out = reduction.sum(values, -1) if p == "nuc" else reduction.amax(values, -1) if p == 2 else reduction.amin(values, -1)
    else:
        sums = reduction.sum(size, -2 if p in (1, -1) else -1)
        out = reduction.amax(sums, -1) if p > 0 else reduction.amin(sums, -1)
    return movement.unsqueeze(out, sorted(axes)) if flag(keepdim, "matrix_norm", "keepdim") else out


def svdvals(x: Tensor, name: str | None = None) -> Tensor:
    """The singular values of matrices, the largest first.

    Shape:
        `[..., m, n]` to `[..., min(m, n)]`.

    Raises:
        TypeError: `x` is not a floating or complex Tensor (also a ValueError).
        ValueError: it has less than two axes.

    Source:
        `paddle.linalg.svdvals`.

    Examples:
        >>> print(wherry.linalg.svdvals(wherry.to_tensor([[3.0, 0.0], [0.0, 4.0]])).numpy())
        [4. 3.]
    """
    return factorization.svd(x)[1]


def cholesky_inverse(x: Tensor, upper: bool = False, name: str | None = None) -> Tensor:
    """The inverse of a positive definite matrix, of which `x` is the Cholesky factor.

    Args:
        x: the factor.
        upper: whether it is the upper one.

    Shape:
        `[n, n]` to `[n, n]`.

    Raises:
        TypeError: `x` is not a floating Tensor (also a ValueError).
        ValueError: it is not square.

    Source:
        `paddle.linalg.cholesky_inverse`.

    Examples:
        >>> wherry.linalg.cholesky_inverse(wherry.to_tensor([[2.0]])).tolist()
        [[0.25]]
    """
    require_rank(x, "cholesky_inverse", 2, 99)
    identity = movement.broadcast_to(creation.eye(x.shape[-1], dtype=x.dtype), x.shape)
    return factorization.cholesky_solve(identity, x, upper)


def lu_solve(b: Tensor, lu: Tensor, pivots: Tensor, trans: str = "N", name: str | None = None) -> Tensor:
    """The solution of linear equations whose matrix was factorized by `lu`.

    Args:
        b: the right sides.
        lu, pivots: what `lu` gave.
        trans: "N" for A x = b, "T" for the transposed matrix, "C" for the conjugate of that.

    Shape:
        `[..., n, k]` with `[..., n, n]` and `[..., n]` to `[..., n, k]`.

    Raises:
        TypeError: an argument is not a Tensor (also a ValueError).
        ValueError: the shapes do not fit, or `trans` is unknown.

    Source:
        `paddle.linalg.lu_solve`.

    Examples:
        >>> a, b = wherry.to_tensor([[2.0, 1.0], [1.0, 3.0]]), wherry.to_tensor([[3.0], [4.0]])
        >>> print(wherry.linalg.lu_solve(b, *wherry.linalg.lu(a)).numpy())
        [[1.]
         [1.]]
    """
    require_rank(b, "lu_solve", 2, 99, "b")
    require_rank(lu, "lu_solve", 2, 99, "lu")
    if trans not in ("N", "T", "C"):
        raise InvalidArgumentError(f"lu_solve: unknown trans. Got {short(trans)}, expected 'N', 'T' or 'C'. Use 'N' for A x = b.")
    if b.shape[-2] != lu.shape[-1]:
        raise InvalidArgumentError(
            f"lu_solve: the sizes do not fit. Got b of shape {b.shape} and lu of {lu.shape}, expected as many rows as the matrix has. Use unsqueeze."
        )
    p, lower, upper = factorization.lu_unpack(lu, pivots)
    solve = factorization.triangular_solve
    if trans == "N":
        y = solve(lower, linalg.matmul(p, b, transpose_x=True), upper=False, unitriangular=True)
        return solve(upper, y, upper=True)
    if trans == "C" and lu.dtype.is_complex:
        lower, upper = ops.conj(lower), ops.conj(upper)
    y = solve(upper, b, upper=True, transpose=True)
    y = solve(lower, y, upper=False, transpose=True, unitriangular=True)
    return linalg.matmul(p, y)


def ormqr(x: Tensor, tau: Tensor, y: Tensor, left: bool = True, transpose: bool = False, name: str | None = None) -> Tensor:
    """The product of a matrix with the orthogonal one that Householder reflectors describe.

    Args:
        x: reflectors in the columns below the diagonal, as `householder_product` takes them.
        tau: their factors.
        y: the other matrix.
        left: whether the orthogonal matrix stands on the left.
        transpose: whether it is transposed (for complex numbers: its adjoint).

    Shape:
        `[..., m, k]`, `[..., k]` and `[..., k, n]`, or `[..., m, n]`, to `[..., m, n]`; with `left=False` `y` is `[..., n, k]` or `[..., n, m]`.

    Raises:
        TypeError: an argument is not a Tensor (also a ValueError).
        ValueError: the shapes do not fit.

    Source:
        `paddle.linalg.ormqr`.

    Examples:
        >>> x, tau = wherry.to_tensor([[0.0], [0.0]]), wherry.to_tensor([2.0])
        >>> print(wherry.linalg.ormqr(x, tau, wherry.to_tensor([[3.0], [5.0]])).numpy())
        [[-3.]
         [ 5.]]
    """
    require_rank(x, "ormqr", 2, 99)
    require_rank(y, "ormqr", 2, 99, "y")
    m, k = x.shape[-2:]
    # As in Paddle the first k columns of the orthogonal matrix, or all m where that is what fits: reflectors that do nothing stand for the others.
    if m > k and y.shape[-2 if left else -1] == m:
        nothing = creation.zeros([*x.shape[:-1], m - k], x.dtype)
        x = movement.concat([x, nothing], -1)
        tau = movement.concat([require_tensor(tau, "ormqr", "tau"), creation.zeros([*tau.shape[:-1], m - k], tau.dtype)], -1)
    q = factorization.householder_product(x, tau)
    if flag(transpose, "ormqr", "transpose"):
        q = ops.conj(q) if q.dtype.is_complex else q
        order = [*range(q.ndim - 2), q.ndim - 1, q.ndim - 2]
        q = movement.transpose(q, order)
    return linalg.matmul(q, y) if flag(left, "ormqr", "left") else linalg.matmul(y, q)


def svd_lowrank(
    x: Tensor, q: int | None = None, niter: int = 2, M: Tensor | None = None, name: str | None = None
) -> tuple[Tensor, Tensor, Tensor]:
    """The largest singular values of a matrix and their vectors, by random projection.

    Args:
        x: floating.
        q: how many; None: the least of 6 and the sizes.
        niter: steps of subspace iteration.
        M: subtracted from `x` first, where it is given.

    Shape:
        `[..., m, n]` to `[..., m, q]`, `[..., q]` and `[..., n, q]`.

    Raises:
        TypeError: `x` is not a floating Tensor (also a ValueError).
        ValueError: `q` or `niter` is out of range.

    Source:
        `paddle.linalg.svd_lowrank`; Halko, Martinsson and Tropp (2011), algorithm 5.1.

    Examples:
        >>> u, s, v = wherry.linalg.svd_lowrank(wherry.eye(4), q=2)
        >>> u.shape, s.shape, v.shape
        ([4, 2], [2], [4, 2])
    """
    require_rank(x, "svd_lowrank", 2, 99)
    least = min(x.shape[-2:])
    count = min(6, least) if q is None else integer(q, "svd_lowrank", "q")
    if not 0 <= count <= least:
        raise InvalidArgumentError(f"svd_lowrank: q is out of range. Got {count} for x of shape {x.shape}, expected an int in [0, {least}]. Leave it out.")
    return factorization.pca_lowrank(x if M is None else x - require_tensor(M, "svd_lowrank", "M"), count, False, niter)


spelled(globals())
