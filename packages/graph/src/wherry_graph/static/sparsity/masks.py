"""Masks of n:m sparsity: of every m neighbouring weights at least n are zero, which matrix units of GPUs skip.

Along rows each group of m is decided by itself. In blocks of m times m the same holds of rows and columns, so that the transposed weight,
which the backward pass multiplies with, is sparse likewise. What is left over of a matrix is filled up with zeros for the decision.

Mishra et al., "Accelerating sparse deep neural networks" (2021).
"""
from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import Any

import numpy as np

from wherry_tensor._core import Tensor
from wherry_tensor.arguments import integer
from wherry_tensor.errors import AssertedTypeError, InvalidArgumentError, InvalidTypeError, short

__all__ = [
    "CheckMethod", "MaskAlgo", "calculate_density", "check_mask_1d", "check_mask_2d", "check_sparsity", "create_mask", "get_mask_1d",
    "get_mask_2d_best", "get_mask_2d_greedy",
]

_FAR = np.int64(2**60)  # more than any way costs
_STEPS = 2**40    # weights are compared as whole numbers up to this
_AT_ONCE = 2048   # blocks, whose ways stay in the cache


class MaskAlgo(Enum):
    """The algorithms for masks; each is named after its function.

    Source:
        `paddle.incubate.asp.MaskAlgo`.
    """

    MASK_1D = "get_mask_1d"
    MASK_2D_GREEDY = "get_mask_2d_greedy"
    MASK_2D_BEST = "get_mask_2d_best"


class CheckMethod(Enum):
    """The checks of sparsity; each is named after its function.

    Source:
        `paddle.incubate.asp.CheckMethod`.
    """

    CHECK_1D = "check_mask_1d"
    CHECK_2D = "check_mask_2d"

    @staticmethod
    def get_checking_method(mask_algo: MaskAlgo) -> CheckMethod:
        """The check for the masks of an algorithm."""
        return CheckMethod.CHECK_1D if mask_algo is MaskAlgo.MASK_1D else CheckMethod.CHECK_2D


def calculate_density(x: Any) -> float:
    """The part of the elements that is not zero.

    Args:
        x: an array or tensor.

    Raises:
        ValueError: it has no elements.

    Source:
        `paddle.incubate.asp.calculate_density`.

    Examples:
        >>> wherry.incubate.asp.calculate_density(np.array([[0, 1, 3, 0], [1, 1, 0, 1]]))
        0.625
    """
    array = _array(x, "calculate_density", "x")
    if not array.size:
        raise InvalidArgumentError(f"calculate_density: nothing has no density. Got shape {list(array.shape)}, expected an element or more.")
    return float(np.count_nonzero(array)) / array.size


def get_mask_1d(mat: Any, n: int, m: int) -> Any:
    """1 where a weight stays: of each `m` neighbours in a row the `n` of the smallest magnitude go; of equal ones the first.

    Args:
        mat: a matrix.
        n: how many of `m` are zero.
        m: the size of a group.

    Returns:
        An array of the shape and dtype of `mat`.

    Raises:
        ValueError: `mat` is not a matrix, or not `0 <= n <= m`.

    Source:
        `paddle.incubate.asp.get_mask_1d`.

    Examples:
        >>> wherry.incubate.asp.get_mask_1d(np.array([[0, 1, 5, 4], [2, 7, 3, 6]]), 2, 4).tolist()
        [[0, 0, 1, 1], [0, 1, 0, 1]]
    """
    mat, n, m = _checked(mat, n, m, "get_mask_1d")
    padded = _padded(mat, 1, m)
    groups = padded.reshape(-1, m)
    mask = np.ones_like(groups)
    np.put_along_axis(mask, np.argsort(groups, axis=1, kind="stable")[:, :n], 0, axis=1)
    return mask.reshape(padded.shape)[:, : mat.shape[1]].astype(mat.dtype)


def get_mask_2d_greedy(mat: Any, n: int, m: int) -> Any:
    """1 where a weight stays: in each block of `m` times `m` the largest ones, as long as `n` of each row and column stay zero.

    Args and Returns: as `get_mask_1d`.

    Raises:
        ValueError: `mat` is not a matrix, or not `0 <= n <= m`.

    Source:
        `paddle.incubate.asp.get_mask_2d_greedy`, which keeps `n` of each row and column, where they are not half of `m` too.

    Examples:
        >>> mat = np.array([[9, 8, 3, 7], [9, 2, 1, 10], [5, 1, 3, 6], [2, 4, 6, 1]])
        >>> wherry.incubate.asp.get_mask_2d_greedy(mat, 2, 4).tolist()
        [[1, 1, 0, 0], [1, 0, 0, 1], [0, 0, 1, 1], [0, 1, 1, 0]]
    """
    mat, n, m = _checked(mat, n, m, "get_mask_2d_greedy")
    blocks = _blocks(mat, m)
    every = np.arange(len(blocks))
    order = np.argsort(-blocks.reshape(-1, m * m), axis=1, kind="stable")
    mask, in_row, in_column = np.zeros(blocks.shape, bool), np.zeros((len(blocks), m), int), np.zeros((len(blocks), m), int)
    for place in order.T:  # the largest of all blocks at once, then the next ones
        row, column = np.divmod(place, m)
        stays = (in_row[every, row] < m - n) & (in_column[every, column] < m - n)
        mask[every, row, column] = stays
        in_row[every, row] += stays
        in_column[every, column] += stays
    return _matrix(mask, mat.shape, m).astype(mat.dtype)


def get_mask_2d_best(mat: Any, n: int, m: int) -> Any:
    """1 where a weight stays: in each block of `m` times `m` those with the largest sum of magnitudes, with `n` zeros in each row and column.

    Args and Returns: as `get_mask_1d`.

    Raises:
        ValueError: `mat` is not a matrix, or not `0 <= n <= m`.

    Source:
        `paddle.incubate.asp.get_mask_2d_best`, which compares sums with signs, so that large negative weights go, and tries all patterns.
        Here the largest flow of the smallest cost is found, from rows to columns, by augmenting paths: any `m` will do.

    Examples:
        >>> mat = np.array([[2, 8, 9, 9], [9, 1, 3, 9], [5, 6, 3, 9], [2, 4, 6, 9]])
        >>> int((mat * wherry.incubate.asp.get_mask_2d_best(mat, 2, 4)).sum())
        61
    """
    mat, n, m = _checked(mat, n, m, "get_mask_2d_best")
    blocks = np.nan_to_num(_blocks(mat, m))
    mask = np.zeros(blocks.shape, bool)
    for start in range(0, len(blocks), _AT_ONCE):
        mask[start : start + _AT_ONCE] = _best(blocks[start : start + _AT_ONCE], m - n)
    return _matrix(mask, mat.shape, m).astype(mat.dtype)


def _best(blocks: Any, keep: int) -> Any:
    """In each block, `keep` of each row and column with the largest sum."""
    count, m, _ = blocks.shape
    largest = np.maximum(blocks.max(axis=(1, 2), initial=0.0), np.finfo(np.float64).tiny)
    # Integers: a cycle of cost zero must not seem to gain something by rounding.
    gain = np.rint(blocks / largest[:, None, None] * _STEPS).astype(np.int64)
    every = np.arange(count)
    kept = np.zeros(blocks.shape, bool)
    rows_left, columns_left = np.full((count, m), keep), np.full((count, m), keep)
    for _ in range(keep * m):
        to_row, to_column = np.where(rows_left > 0, np.int64(0), _FAR), np.full((count, m), _FAR)
        row_before, column_before = np.zeros((count, m), int), np.full((count, m), -1)
        closer: Any = True
        while np.any(closer):  # ways of least cost: forth over weights that may be kept, back over those that are
            ways = to_row[:, :, None] + np.where(kept, _FAR, -gain)
            found = ways.min(axis=1)
            closer = found < to_column
            to_column, row_before = np.where(closer, found, to_column), np.where(closer, ways.argmin(axis=1), row_before)
            ways = to_column[:, None, :] + np.where(kept, gain, _FAR)
            found = ways.min(axis=2)
            closer = found < to_row
            to_row, column_before = np.where(closer, found, to_row), np.where(closer, ways.argmin(axis=2), column_before)
        column = np.where(columns_left > 0, to_column, _FAR).argmin(axis=1)
        columns_left[every, column] -= 1
        going = every
        while len(going):  # from the end of the way to its beginning
            row = row_before[going, column]
            kept[going, row, column] = True
            column = column_before[going, row]
            ends = column < 0
            rows_left[going[ends], row[ends]] -= 1
            going, row, column = going[~ends], row[~ends], column[~ends]
            kept[going, row, column] = False
    return kept


def check_mask_1d(mat: Any, n: int, m: int) -> bool:
    """Whether `n` of each `m` neighbours in a row are zero.

    Args:
        mat: a matrix.
        n: how many of `m` are zero.
        m: the size of a group.

    Raises:
        ValueError: `mat` is not a matrix, or not `0 <= n <= m`.

    Source:
        `paddle.incubate.asp.check_mask_1d`.

    Examples:
        >>> wherry.incubate.asp.check_mask_1d(np.array([[0, 1, 5, 4], [1, 0, 0, 1]]), 2, 4)
        False
    """
    mat, n, m = _checked(mat, n, m, "check_mask_1d")
    return bool((np.count_nonzero(_padded(mat, 1, m).reshape(-1, m), axis=1) <= m - n).all())


def check_mask_2d(mat: Any, n: int, m: int) -> bool:
    """Whether in each block of `m` times `m`, `n` of each row and of each column are zero.

    Args:
        mat: a matrix.
        n: how many of `m` are zero.
        m: the size of a block.

    Raises:
        ValueError: `mat` is not a matrix, or not `0 <= n <= m`.

    Source:
        `paddle.incubate.asp.check_mask_2d`.

    Examples:
        >>> wherry.incubate.asp.check_mask_2d(np.eye(4), 2, 4)
        True
    """
    mat, n, m = _checked(mat, n, m, "check_mask_2d")
    blocks = _blocks(mat, m)
    return all(bool((np.count_nonzero(blocks, axis=axis) <= m - n).all()) for axis in (1, 2))


_FUNCTIONS: dict[Enum, Callable[..., Any]] = {
    MaskAlgo.MASK_1D: get_mask_1d, MaskAlgo.MASK_2D_GREEDY: get_mask_2d_greedy, MaskAlgo.MASK_2D_BEST: get_mask_2d_best,
    CheckMethod.CHECK_1D: check_mask_1d, CheckMethod.CHECK_2D: check_mask_2d,
}


def create_mask(tensor: Any, func_name: MaskAlgo = MaskAlgo.MASK_1D, n: int = 2, m: int = 4) -> Any:
    """The mask of a weight of one to four axes: groups lie along its last axis, of four axes along the last but one.

    Args:
        tensor: an array.
        func_name: how.
        n: how many of `m` are zero.
        m: the size of a group.

    Returns:
        An array of its shape and dtype, of 0 and 1.

    Raises:
        TypeError: `func_name` is not a MaskAlgo (also an AssertionError).
        ValueError: there are more axes, or not `0 <= n <= m`.

    Source:
        `paddle.incubate.asp.create_mask`.

    Examples:
        >>> mask = wherry.incubate.asp.create_mask(np.array([0.5, -2.0, 1.0, 0.1]))
        >>> mask.tolist()
        [0.0, 1.0, 1.0, 0.0]
    """
    _require_kind(func_name, MaskAlgo, "create_mask")
    array = _array(tensor, "create_mask", "tensor")
    order, mat = _as_matrix(array, "create_mask")
    mask = _FUNCTIONS[func_name](mat, n, m)
    return mask.reshape([array.shape[i] for i in order]).transpose(np.argsort(order))


def check_sparsity(tensor: Any, func_name: CheckMethod = CheckMethod.CHECK_1D, n: int = 2, m: int = 4) -> bool:
    """Whether a weight of one to four axes has this sparsity. Arguments as `create_mask`.

    Raises:
        TypeError: `func_name` is not a CheckMethod (also an AssertionError).
        ValueError: there are more axes, or not `0 <= n <= m`.

    Source:
        `paddle.incubate.asp.check_sparsity`.

    Examples:
        >>> wherry.incubate.asp.check_sparsity(np.array([0.0, -2.0, 1.0, 0.0]))
        True
    """
    _require_kind(func_name, CheckMethod, "check_sparsity")
    return bool(_FUNCTIONS[func_name](_as_matrix(_array(tensor, "check_sparsity", "tensor"), "check_sparsity")[1], n, m))


def _as_matrix(array: Any, what: str) -> tuple[tuple[int, ...], Any]:
    """The order that its axes are brought to, and the matrix whose rows are grouped."""
    if not 1 <= array.ndim <= 4:
        raise InvalidArgumentError(
            f"{what}: The dimension of input tensor is not supported. Got {array.ndim} axes, expected 1 to 4. Reshape it to a matrix."
        )
    order = (0, 1, 3, 2) if array.ndim == 4 else tuple(range(array.ndim))
    return order, array.transpose(order).reshape(-1, array.shape[order[-1]])


def _require_kind(value: Any, kind: type[Enum], what: str) -> None:
    if not isinstance(value, kind):
        raise AssertedTypeError(
            f"{what}: func_name argument is only accepted as type {kind.__name__}. Got {short(value)} ({type(value).__name__}), expected "
            f"{', '.join(map(str, kind))}."
        )


def _array(x: Any, what: str, name: str) -> Any:
    array = x.numpy() if isinstance(x, Tensor) else np.asarray(x)
    if array.dtype.kind not in "fiub":
        raise InvalidTypeError(f"{what}: '{name}' holds numbers. Got {short(x)} ({type(x).__name__}), expected an array.")
    return array


def _checked(mat: Any, n: Any, m: Any, what: str) -> tuple[Any, int, int]:
    mat = _array(mat, what, "mat")
    n, m = integer(n, what, "n"), integer(m, what, "m")
    if mat.ndim != 2:
        raise InvalidArgumentError(f"{what}: 'mat' is a matrix. Got {mat.ndim} axes, expected 2. create_mask takes one to four.")
    if m < 1 or not 0 <= n <= m:
        raise InvalidArgumentError(f"{what}: n of m weights are zero. Got n={n}, m={m}, expected 0 <= n <= m and m above 0. Usual is 2 of 4.")
    return mat, n, m


def _padded(mat: Any, axes: int, m: int) -> Any:
    """Magnitudes, with zeros after the last `axes` axes up to multiples of `m`."""
    more = [(0, -size % m if i >= 2 - axes else 0) for i, size in enumerate(mat.shape)]
    return np.pad(np.abs(mat.astype(np.float64)), more)


def _blocks(mat: Any, m: int) -> Any:
    mat = _padded(mat, 2, m)
    return mat.reshape(mat.shape[0] // m, m, mat.shape[1] // m, m).transpose(0, 2, 1, 3).reshape(-1, m, m)


def _matrix(blocks: Any, shape: tuple[int, int], m: int) -> Any:
    rows, columns = (-(-size // m) for size in shape)
    return blocks.reshape(rows, columns, m, m).transpose(0, 2, 1, 3).reshape(rows * m, columns * m)[: shape[0], : shape[1]]
