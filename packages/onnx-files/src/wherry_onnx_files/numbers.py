"""Whole numbers that are known while a file is read, or known as sizes: what shapes are computed from."""
from __future__ import annotations

from typing import Any

import numpy as np

from wherry_tensor import _core, ops
from wherry_tensor._core import DType, Tensor, from_buffer, int64
from wherry_tensor.sizes import Size

__all__ = ["Numbers", "is_known", "numbers_of", "same"]

_MOST = 4096  # elements of a tensor that is looked at as numbers


class Numbers:
    """An integer tensor as an array of objects, each an int or a Size.

    Attributes:
        array: of dtype object.
        dtype: of the tensor that it stands for.
    """

    __slots__ = ("array", "dtype")

    def __init__(self, array: Any, dtype: DType = int64) -> None:
        self.array, self.dtype = np.asarray(array, object), dtype

    @property
    def known(self) -> bool:
        """Whether there is no Size among them."""
        return all(is_known(n) for n in self.array.flat)

    def tensor(self) -> Tensor:
        """The tensor that it stands for, made by ops where sizes are open."""
        if self.known:
            return from_buffer(np.ascontiguousarray(self.array.astype(self.dtype.name)).reshape(self.array.shape))  # type: ignore[no-any-return]
        parts = [n.tensor(self.dtype) if type(n) is Size else _core.scalar(int(n), self.dtype) for n in self.array.flat]
        flat = ops.concat(*(ops.reshape(x, shape=(1,)) for x in parts), axis=0)
        return ops.reshape(flat, shape=self.array.shape)


def is_known(n: Any) -> bool:
    """Whether it is a number, not a Size."""
    return type(n) is not Size


def same(a: Any, b: Any) -> bool:
    """Whether two sizes are known to be the same, also where they are open."""
    if type(a) is not Size or type(b) is not Size:
        return type(a) is not Size and type(b) is not Size and bool(a == b)
    if a is b:
        return True
    first, second = a.source, b.source
    if first[0] != second[0] or len(first) != len(second):
        return False
    if first[0] in ("axis", "value"):
        return first[1] is second[1] and first[2:] == second[2:]
    return same(first[1], second[1]) and same(first[2], second[2])


def numbers_of(x: Any) -> np.ndarray | None:
    """A value as an array of ints and Sizes; None where it is not integers that are known."""
    if isinstance(x, Numbers):
        return x.array
    if not isinstance(x, Tensor) or _core.is_symbolic(x) or x.dtype.name not in ("int64", "int32") or x.size > _MOST:
        return None
    flat = x.numpy()
    out = np.empty(flat.shape, object)
    out.flat[:] = [int(n) for n in flat.flat]
    return out
