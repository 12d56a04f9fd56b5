"""Weights in the files of a bundle: as they are, in 16 bits, or in 8 bits with a factor for each channel.

The page widens them when it loads, and computes in float32; what is smaller is the download. Those of 8 bits that convolutions read stay as they are
(see int8.py).
"""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import wherry_tensor as api
from wherry_export.web.int8 import packed
from wherry_export.web.program import Weight
from wherry_tensor._core import Tensor
from wherry_tensor.errors import short

__all__ = ["PRECISIONS", "Stored", "bytes_of", "stored"]

PRECISIONS = ("float32", "float16", "int8")
FEWEST = 256  # elements of a tensor that is stored smaller
SHARD = 8 << 20  # bytes: files of this size load side by side, and one that changes is fetched alone
ALIGNED = 16


class Stored:
    """A weight as a bundle has it.

    Attributes:
        weight: the weight.
        facts: what core.js reads, but for its place.
        data: its bytes.
        values: what the page computes with.
    """

    def __init__(self, weight: Weight, precision: str) -> None:
        self.weight = weight
        tensor = weight.tensor.detach()
        if tensor.dtype.name == "bfloat16":
            raise NotImplementedError(f"web: weights in bfloat16 are not stored. Got '{weight.name}', expected float32. Cast the model first.")
        self.facts: dict[str, Any] = {
            "id": weight.id, "name": weight.name, "dtype": tensor.dtype.code, "shape": list(tensor.shape), "encoding": "raw",
        }
        self.values: Tensor = tensor
        self.data = bytes_of(tensor)
        if tensor.dtype.name != "float32" or tensor.size < FEWEST or precision == "float32" or not api.all(api.isfinite(tensor)):
            return
        if precision == "float16":
            half = tensor.astype("float16")
            if not api.all(api.isfinite(half)):
                return  # too large for 16 bits
            self.facts["encoding"], self.data, self.values = "float16", bytes_of(half), half.astype("float32")
        elif tensor.ndim >= 2:
            axes = channel_axes(weight, tensor.ndim)
            scales = api.max(api.abs(tensor), axis=[i for i in range(tensor.ndim) if i not in axes], keepdim=True) / 127
            scales = api.where(scales == 0, api.ones_like(scales), scales)
            quantized = api.clip(api.round(tensor / scales), -127, 127).astype("int8")
            self.values = quantized.astype("float32") * scales
            if weight.is_quantized:
                self.facts["encoding"], self.data = "packed", packed(quantized, scales)
                return
            padding = -quantized.size % 4
            self.facts |= {"encoding": "int8", "axes": list(axes), "scales": quantized.size + padding}
            self.data = bytes_of(quantized) + bytes(padding) + bytes_of(scales)

    @property
    def is_smaller(self) -> bool:
        """Whether it is stored in fewer bits than its dtype has."""
        return bool(self.facts["encoding"] != "raw")


def bytes_of(tensor: Tensor) -> bytes:
    """The numbers of a tensor, row by row."""
    return bytes(memoryview(tensor.detach()))


def channel_axes(weight: Weight, rank: int) -> tuple[int, ...]:
    """The axes of a weight along which its outputs lie: each has a factor of its own."""
    for op, position in weight.users:
        if op.endswith("conv2d_blocked") and position == 1:
            return 0, rank - 1  # blocks, and lanes of a block
        if "conv" in op and position == 1:
            return (1 if "transpose" in op else 0,)
        if op in ("matmul", "linear", "addmm") and position >= 1:
            return (rank - 1,)
    return (0,) if rank != 2 or any(op in ("embedding", "gather") for op, _ in weight.users) else (1,)


def stored(weights: Sequence[Weight], precision: str) -> tuple[list[Stored], list[bytes]]:
    """Weights in a precision, with their places noted, and the files that hold them.

    Raises:
        ValueError: `precision` is unknown.
    """
    if precision not in PRECISIONS:
        raise ValueError(f"web: there is no such precision. Got {short(precision)}, expected one of {', '.join(PRECISIONS)}.")
    found, shards = [Stored(weight, precision) for weight in weights], [bytearray()]
    for one in found:
        if shards[-1] and len(shards[-1]) + len(one.data) > SHARD:
            shards.append(bytearray())
        shards[-1] += bytes(-len(shards[-1]) % ALIGNED)
        one.facts |= {"shard": len(shards) - 1, "offset": len(shards[-1]), "bytes": len(one.data)}
        shards[-1] += one.data
    return found, [bytes(shard) for shard in shards if shard]
