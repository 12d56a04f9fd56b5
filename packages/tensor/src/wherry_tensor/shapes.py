"""`Size`, a shape that counts its elements, as `x.shape` is in Paddle 3; and `Count`, a number of elements that can be called for the shape."""
from __future__ import annotations

from collections.abc import Iterable
from typing import Any, SupportsIndex, overload

from wherry_tensor import _core
from wherry_tensor.errors import short

__all__ = ["Count", "Size"]


class Size(list[int]):
    """A list of sizes. `x.shape` is one under `set_flags({"FLAGS_paddle_version": "3.3"})`.

    Args:
        sizes: ints.

    Source:
        `paddle.Size`.

    Examples:
        >>> wherry.Size([2, 3]).numel(), wherry.Size([2, 3]) == (2, 3)
        (6, True)
    """

    __hash__ = None  # type: ignore[assignment]

    def numel(self) -> int:
        """The number of elements of a tensor of this shape. Source: `paddle.Size.numel`."""
        total = 1
        for n in self:
            total *= n
        return total

    def __repr__(self) -> str:
        return f"paddle.Size({super().__repr__()})"

    def __eq__(self, other: object) -> bool:
        return super().__eq__(list(other) if isinstance(other, tuple) else other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __add__(self, other: Any) -> Size:  # type: ignore[override]
        return Size([*self, *other])

    def __radd__(self, other: Iterable[int]) -> Size:
        return Size([*other, *self])

    @overload
    def __getitem__(self, index: SupportsIndex) -> int: ...
    @overload
    def __getitem__(self, index: slice) -> Size: ...
    def __getitem__(self, index: Any) -> Any:
        found = super().__getitem__(index)
        return Size(found) if isinstance(index, slice) else found


class Count(int):
    """What `x.size` is: the number of elements, and, called as PyTorch's method, `x.size()` the sizes of the axes and `x.size(0)` one of them."""

    shape: list[int]  # the core sets it

    def __call__(self, *axis: Any, **named: Any) -> Any:
        return self.sizes(self.shape, *axis, **named)

    def __reduce__(self) -> Any:
        return int, (int(self),)

    @staticmethod
    def sizes(shape: list[int], *axis: Any, **named: Any) -> Any:
        """All sizes, or that of one axis."""
        given = [*axis, *(named[name] for name in named if name in ("dim", "axis"))]
        if len(given) > 1 or len(given) != len(axis) + len(named):
            raise TypeError("size: got other arguments, expected x.size() for all axes, or x.size(axis) for one.")
        if not given or given[0] is None:
            return shape
        try:
            return shape[given[0].__index__()]
        except (AttributeError, TypeError):
            raise TypeError(f"size: the axis is not a whole number. Got {short(given[0])}, expected an int, as in x.size(0).") from None
        except IndexError:
            raise IndexError(
                f"size: there is no such axis. Got {given[0]} for shape {shape}, expected one in [{-len(shape)}, {len(shape)})."
            ) from None


_core.set_count_class(Count)
