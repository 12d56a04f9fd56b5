"""`Size`: a shape that counts its elements, as `x.shape` is in Paddle 3 and PyTorch."""
from __future__ import annotations

from collections.abc import Iterable
from typing import Any, SupportsIndex, overload

__all__ = ["Size"]


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
