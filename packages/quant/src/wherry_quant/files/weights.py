"""A weight of few bits, wherever it came from: whole numbers, their scales and their zero points."""
from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from wherry_tensor.errors import InvalidArgumentError, InvalidTypeError

__all__ = ["QuantizedWeight"]

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class QuantizedWeight:
    """The weight of a linear map, `[in, out]`: `(codes - zeros) * scales`, with scales for groups of rows.

    Attributes:
        codes: `[in, out]` whole numbers, int8 (or uint8 of 0 to 15 for 4 bits).
        scales: `[groups, out]`, floats.
        zeros: `[groups, out]`, of the dtype of `codes`, or None for 0 (of uint8: 8).
        bits: 8 or 4, or what lies between and is kept in 8.
        group: rows of a group; the last one may have fewer.
        order: the group of each row, where rows of a group are not neighbours (`g_idx` of GPTQ); else None.
    """

    codes: Array
    scales: Array
    zeros: Array | None
    bits: int
    group: int
    order: Array | None = None

    @classmethod
    def symmetric(cls, q: Array, scales: Array, bits: int, group: int) -> QuantizedWeight:
        """Of numbers around 0 that are whole, in any dtype: as 8 or 4 bits keep them."""
        return cls((q + 8).astype(np.uint8) if bits == 4 else q.astype(np.int8), scales, None, bits, group)

    def __post_init__(self) -> None:
        for name in ("codes", "scales", "zeros", "order"):
            value = getattr(self, name)
            if not isinstance(value, np.ndarray) and (value is not None or name in ("codes", "scales")):
                raise InvalidTypeError(f"QuantizedWeight: {name} is not an array. Got {type(value).__name__}, expected a NumPy array.")
        if self.codes.ndim != 2:
            raise InvalidArgumentError(f"QuantizedWeight: codes are not a matrix. Got shape {list(self.codes.shape)}, expected [in, out].")
        rows, columns = self.codes.shape
        groups = len(self.scales) if self.order is not None else -(-rows // max(1, self.group))
        if self.group < 1 or self.scales.shape != (groups, columns) or (self.zeros is not None and self.zeros.shape != self.scales.shape):
            raise InvalidArgumentError(
                f"QuantizedWeight: scales and zero points are one for each group of rows and each column. Got codes {list(self.codes.shape)}, "
                f"scales {list(self.scales.shape)}, zeros {None if self.zeros is None else list(self.zeros.shape)} and group={self.group}, "
                f"expected {[groups, columns]}."
            )
        if self.order is not None and (self.order.shape != (rows,) or (rows and not 0 <= int(self.order.min()) <= int(self.order.max()) < groups)):
            raise InvalidArgumentError(
                f"QuantizedWeight: every row has a group. Got order {list(self.order.shape)}, expected {rows} numbers below {groups}."
            )

    @property
    def shape(self) -> tuple[int, int]:
        """`[in, out]`."""
        return self.codes.shape  # type: ignore[return-value]

    def numpy(self) -> Array:
        """The weight in float32, `[in, out]`."""
        rows = np.arange(len(self.codes)) // self.group if self.order is None else self.order
        whole = self.codes.astype(np.float32)
        if self.zeros is not None:
            whole -= self.zeros.astype(np.float32)[rows]
        elif self.codes.dtype == np.uint8:
            whole -= 8
        return np.asarray(whole * self.scales.astype(np.float32)[rows])
