"""Covariance, correlation and Vandermonde matrices; slices of bounded norm; vector products along an axis."""
from __future__ import annotations

from typing import Any

from wherry_tensor import _core, ops
from wherry_tensor._core import Tensor
from wherry_tensor.arguments import flag, integer, one_axis, real_number, refused, require_tensor, write
from wherry_tensor.errors import InvalidArgumentError, InvalidTypeError
from wherry_tensor.functions.linalg import lengths_along
from wherry_tensor.sizes import is_unknown, largest
from wherry_tensor.spellings import spelled

__all__ = ["corrcoef", "cov", "renorm", "renorm_", "vander", "vecdot"]


def cov(
    x: Tensor,
    rowvar: bool = True,
    ddof: bool = True,
    fweights: Tensor | None = None,
    aweights: Tensor | None = None,
    name: str | None = None,
) -> Tensor:
    """The covariance matrix of variables, each of which is a row of observations.

    Args:
        x: `[n]` or `[n, m]`, float32 or float64.
        rowvar: rows are variables; else columns are.
        ddof: divide by the number of observations less 1, else by their number.
        fweights: `[m]`, how often each observation was made; not negative.
        aweights: `[m]`, what each observation weighs; not negative.

    Shape:
        `[n, m]` to `[n, n]`; `[m]` to `[]`.

    Raises:
        ValueError: `x` has more than two axes or none, or weights do not fit or are negative.
        TypeError: `x` is not a Tensor, or not floating (also a ValueError).

    Source:
        `paddle.linalg.cov`.

    Examples:
        >>> print(wherry.linalg.cov(wherry.to_tensor([[1.0, 2.0, 3.0], [3.0, 2.0, 1.0]])).tolist())
        [[1.0, -1.0], [-1.0, 1.0]]
    """
    return _cov("cov", x, flag(rowvar, "cov", "rowvar"), flag(ddof, "cov", "ddof"), fweights, aweights)


def _cov(op_name: str, x: Any, rowvar: bool, ddof: bool, fweights: Any = None, aweights: Any = None) -> Tensor:
    require_tensor(x, op_name)
    if x.ndim not in (1, 2):
        raise InvalidArgumentError(
            f"{op_name}: `x` is not a vector or matrix of observations. Got shape {x.shape}, expected [m] or [n, m]. Reshape x."
        )
    if x.dtype.name not in ("float32", "float64", "complex64", "complex128"):
        raise InvalidTypeError(
            f"{op_name}: `x` must be floating or complex. Got dtype {x.dtype.name}, expected float32 or float64. "
            f"Cast x with astype('float32')."
        )
    single = x.ndim == 1
    if single:
        x = ops.unsqueeze(x, axes=(0,))
    elif not rowvar:
        x = ops.transpose(x, perm=(1, 0))
    count = x.shape[1]
    weights = None
    for name, given in ("fweights", fweights), ("aweights", aweights):
        if given is None:
            continue
        checked = ops.cast(_weights(op_name, name, given, count), dtype=x.dtype)
        weights = checked if weights is None else weights * checked
    if weights is None:
        mean = ops.reduce_mean(x, axes=(1,), keepdim=True)
        centred = weighted = x - mean
        left: Any = largest(count - int(ddof), 0)
        divisor: Any = left.tensor(x.dtype) if is_unknown(left) else _core.scalar(left, x.dtype)
    else:
        total = ops.reduce_sum(weights, axes=(0,), keepdim=False)
        mean = ops.reduce_sum(x * weights, axes=(1,), keepdim=True) / total
        lost: Any = float(ddof)
        if ddof and aweights is not None:
            importance = ops.cast(aweights, dtype=x.dtype)
            lost = ops.reduce_sum(weights * importance, axes=(0,), keepdim=False) / total
        divisor = total - lost
        centred = x - mean
        weighted = centred * weights
    other = ops.conj(weighted) if x.dtype.is_complex else weighted
    out = ops.matmul(centred, other, transpose_x=False, transpose_y=True) / divisor
    return ops.reshape(out, shape=()) if single else out


def _weights(op_name: str, name: str, weights: Any, count: int) -> Tensor:
    require_tensor(weights, op_name, name)
    if weights.ndim != 1 or not (is_unknown(weights.shape[0]) or is_unknown(count) or weights.shape[0] == count):
        raise InvalidArgumentError(
            f"{op_name}: `{name}` is not one number for each observation. Got shape {weights.shape}, expected [{count}]. "
            f"Leave it out where all weigh the same."
        )
    if not _core.is_symbolic(weights) and weights.size and float(weights.astype("float64").min().item()) < 0:
        raise InvalidArgumentError(
            f"{op_name}: `{name}` has negative numbers. Got {weights.tolist()}, expected 0 or more. Drop those observations."
        )
    return weights


def corrcoef(x: Tensor, rowvar: bool = True, name: str | None = None) -> Tensor:
    """The correlation matrix (Pearson's) of variables, each of which is a row of observations.

    Args:
        x: `[m]` or `[n, m]`, float32 or float64.
        rowvar: rows are variables; else columns are.

    Shape:
        `[n, m]` to `[n, n]`; `[m]` to `[]`.

    Raises:
        ValueError: `x` has more than two axes, or none.
        TypeError: `x` is not a Tensor, or not floating (also a ValueError).

    Source:
        `paddle.linalg.corrcoef`.

    Examples:
        >>> x = wherry.to_tensor([[1.0, 2.0, 3.0], [3.0, 2.0, 1.0]])
        >>> wherry.linalg.corrcoef(x).numpy().round(4).tolist()
        [[1.0, -1.0], [-1.0, 1.0]]
    """
    covariance = _cov("corrcoef", x, flag(rowvar, "corrcoef", "rowvar"), True)
    if covariance.ndim == 0:
        return covariance / covariance
    variances = ops.diagonal(covariance, offset=0, axis1=0, axis2=1)
    lengths = ops.sqrt(ops.real(variances) if x.dtype.is_complex else variances)
    lengths = ops.cast(lengths, dtype=covariance.dtype) if x.dtype.is_complex else lengths
    out = covariance / ops.unsqueeze(lengths, axes=(0,)) / ops.unsqueeze(lengths, axes=(1,))
    if x.dtype.is_complex:
        return out
    return ops.clip(out, _core.scalar(-1, out.dtype), _core.scalar(1, out.dtype))


def vander(x: Tensor, n: int | None = None, increasing: bool = False, name: str | None = None) -> Tensor:
    """The Vandermonde matrix: powers of a vector as columns.

    Args:
        x: `[m]`, of numbers.
        n: how many powers; None is m.
        increasing: from power 0 up, else down to it.

    Shape:
        `[m]` to `[m, n]`.

    Raises:
        TypeError: `x` is not a Tensor (also a ValueError).
        ValueError: `x` is not a vector, or `n` is negative or above 65536.

    Source:
        `paddle.vander`.

    Examples:
        >>> print(wherry.vander(wherry.to_tensor([1, 2, 3]), 3).tolist())
        [[1, 1, 1], [4, 2, 1], [9, 3, 1]]
    """
    require_tensor(x, "vander")
    if x.ndim != 1:
        raise InvalidArgumentError(f"vander: `x` is not a vector. Got shape {x.shape}, expected [m]. Flatten it.")
    count = x.shape[0] if n is None else integer(n, "vander", "n")
    if count < 0:
        raise InvalidArgumentError(f"vander: `n` is negative. Got n={n}, expected 0 or more. Leave it out for {x.shape[0]}.")
    if count > 2**16:  # a call for each power
        raise InvalidArgumentError(f"vander: too many powers. Got {count} columns, expected at most {2**16}. Use x ** k for single ones.")
    if count == 0:
        return ops.full(shape=(x.shape[0], 0), value=0, dtype=x.dtype)
    column = ops.unsqueeze(x, axes=(1,))
    powers = [ops.full_like(column, value=1, dtype=x.dtype)]
    for _ in range(count - 1):
        powers.append(ops.multiply(powers[-1], column))
    return ops.concat(*(powers if flag(increasing, "vander", "increasing") else reversed(powers)), axis=1)


def renorm(x: Tensor, p: float, axis: int, max_norm: float) -> Tensor:
    """Each slice along an axis, scaled down to the norm `max_norm` where its norm is larger.

    Args:
        x: float32 or float64, rank 1 or more.
        p: which norm, not negative.
        axis: slices are `x[i]` along this axis, in `[-rank, rank)`.
        max_norm: the largest norm that stays.

    Shape:
        `[...]` to `[...]`.

    Raises:
        ValueError: the axis is out of range, or `p` or `max_norm` is negative.
        TypeError: `x` is not a Tensor, or not floating (also a ValueError).

    Source:
        `paddle.renorm`.

    Examples:
        >>> x = wherry.to_tensor([[3.0, 4.0], [0.3, 0.4]])
        >>> wherry.renorm(x, 2.0, 0, 1.0).numpy().round(4).tolist()
        [[0.6..., 0.8...], [0.3..., 0.4...]]
    """
    return _renorm("renorm", x, p, axis, max_norm)


def renorm_(x: Tensor, p: float, axis: int, max_norm: float) -> Tensor:
    """`renorm` that writes into `x`.

    Shape:
        `[...]` to `[...]`.

    Raises:
        TypeError: `x` is not a Tensor of float32 or float64, or an argument is not a number (also a ValueError).
        ValueError: `p` or `max_norm` is negative, the axis is out of range, or `x` is a leaf that asks for gradients.

    Examples:
        >>> x = wherry.to_tensor([[3.0, 4.0]])
        >>> wherry.renorm_(x, 2.0, 0, 2.5).tolist()
        [[1.5, 2.0]]
    """
    return write(x, _renorm("renorm_", x, p, axis, max_norm), "renorm_")


def _renorm(op_name: str, x: Any, p: Any, axis: Any, max_norm: Any) -> Tensor:
    require_tensor(x, op_name)
    if x.dtype.name not in ("float32", "float64"):
        raise InvalidTypeError(
            f"{op_name}: `x` must be floating. Got dtype {x.dtype.name}, expected float32 or float64. "
            f"Cast x with astype('float32')."
        )
    at = one_axis(integer(axis, op_name, "axis"), x.ndim, op_name)
    power, most = real_number(p, op_name, "p"), real_number(max_norm, op_name, "max_norm")
    if power < 0 or most < 0:
        raise InvalidArgumentError(
            f"{op_name}: `p` or `max_norm` is negative. Got p={p} and max_norm={max_norm}, expected 0 or more. Check the order of arguments."
        )
    others = tuple(i for i in range(x.ndim) if i != at)
    lengths = lengths_along(x, power, others, True) if others else ops.abs(x)
    bound = _core.scalar(most, x.dtype)
    longer = ops.greater_than(lengths, bound)
    one = ops.full_like(lengths, value=1, dtype=x.dtype)
    return x * ops.where(longer, bound / ops.where(longer, lengths, one), one)


def vecdot(x: Tensor, y: Tensor, axis: int = -1, name: str | None = None) -> Tensor:
    """The inner products of vectors along an axis: sums of `conj(x) * y`.

    Args:
        x: any number dtype.
        y: the dtype of `x`; broadcasts with it.
        axis: where the vectors lie, in `[-rank, rank)` of what both broadcast to.

    Shape:
        `[..., n]` and `[..., n]` to `[...]`.

    Raises:
        TypeError: an argument is not a Tensor, or the dtypes differ (also a ValueError).
        ValueError: the shapes do not broadcast, or an axis is out of range.

    Source:
        `paddle.linalg.vecdot` of Paddle 3.

    Examples:
        >>> print(wherry.linalg.vecdot(wherry.to_tensor([[1.0, 2.0]]), wherry.to_tensor([[3.0, 4.0]])).tolist())
        [11.0]
    """
    require_tensor(x, "vecdot")
    require_tensor(y, "vecdot", "y")
    if x.dtype is not y.dtype:
        raise refused("vecdot", TypeError(), x=x, y=y)
    products = ops.multiply(ops.conj(x) if x.dtype.is_complex else x, y)
    at = one_axis(axis, products.ndim, "vecdot")
    return ops.reduce_sum(products, axes=(at,), keepdim=False)


spelled(globals())
