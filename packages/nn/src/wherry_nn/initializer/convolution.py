"""Initializers for kernels of convolutions: identity and bilinear upsampling."""
from __future__ import annotations

import math
from typing import Any

from wherry_nn.initializer.initializer import Initializer
from wherry_tensor import ops
from wherry_tensor._core import Tensor
from wherry_tensor.arguments import fitted, to_dtype
from wherry_tensor.errors import AssertedArgumentError, AssertedTypeError, InvalidArgumentError, short
from wherry_tensor.functions.creation import to_tensor

__all__ = ["Bilinear", "Dirac"]


class Dirac(Initializer):
    """Dirac initializer: fills the kernel of a convolution so that it passes its input channels on unchanged.

    Output channels beyond the number of input channels are zero.

    Args:
        groups: into how many groups the output channels are divided; each passes the inputs on.

    Shape:
        `[out, in, *kernel]` with a kernel of one to three axes.

    Raises:
        TypeError: `groups` is not an int (also a ValueError and an AssertionError).
        ValueError: `groups` is not positive; when a parameter is filled: it has another number of axes, or
            its first axis is not divisible by `groups` (also an AssertionError).

    Source:
        `paddle.nn.initializer.Dirac`.

    Examples:
        >>> weight = wherry.zeros([1, 1, 3])
        >>> wherry.nn.initializer.Dirac()(weight)
        >>> print(weight.numpy())
        [[[0. 1. 0.]]]
    """

    def __init__(self, groups: int = 1, name: str | None = None) -> None:
        if isinstance(groups, bool) or not isinstance(groups, int):
            raise AssertedTypeError(f"Dirac: groups is not an int. Got {short(groups)}, expected an int > 0. Leave it out for 1.")
        if groups <= 0:
            raise AssertedArgumentError(f"Dirac: groups must be positive. Got {groups}, expected an int > 0. Leave it out for 1.")
        self.groups = groups

    def forward(self, param: Tensor, block: Any = None) -> None:
        shape = param.shape
        if len(shape) not in (3, 4, 5):
            raise AssertedArgumentError(
                f"Dirac: the parameter is not a kernel of a convolution. Got shape {shape}, expected 3, 4 or 5 axes: "
                f"[out, in, *kernel]. Use Orthogonal for matrices."
            )
        if shape[0] % self.groups:
            raise AssertedArgumentError(
                f"Dirac: the output channels do not divide into groups. Got {shape[0]} channels and groups={self.groups}, "
                f"expected a divisor of {shape[0]}. Take the groups of the convolution."
            )
        per_group, kernel = shape[0] // self.groups, shape[2:]
        centre = 0
        for size in kernel:
            centre = centre * size + size // 2
        inner = math.prod(kernel)
        outer = shape[1] * inner
        step = outer + inner  # from weight[i, i, centre] to the next i
        values = ops.full((math.prod(shape),), fitted(0, param.dtype, "Dirac"), param.dtype)
        for group in range(self.groups):
            first = group * per_group * outer + centre
            count = min(per_group, shape[1])
            values[first : first + (count - 1) * step + 1 : step] = 1
        ops.copy.into((param,), ops.reshape(values, tuple(shape)))


class Bilinear(Initializer):
    """Bilinear upsampling: fills the kernel of a transposed convolution so that it enlarges images by interpolation.

    To enlarge by a factor `f`: a square kernel of size `2 * f - f % 2`, stride `f`, padding
    `ceil((f - 1) / 2)`, and as many groups as channels.

    Shape:
        `[channels, 1, size, size]`, or any of four axes whose last two are equal.

    Raises:
        ValueError: when a parameter is filled: it has another shape.

    Source:
        `paddle.nn.initializer.Bilinear`.

    Examples:
        >>> weight = wherry.zeros([1, 1, 4, 4])
        >>> wherry.nn.initializer.Bilinear()(weight)
        >>> print(weight[0, 0, 0].numpy())
        [0.0625  0.28125 0.375   0.15625]
    """

    def forward(self, param: Tensor, block: Any = None) -> None:
        shape = param.shape
        if len(shape) != 4 or shape[2] != shape[3]:
            raise InvalidArgumentError(
                f"Bilinear: the kernel is not square. Got shape {shape}, expected four axes of which the last two are equal. "
                f"Give the convolution kernel_size={shape[-1] if shape else 4}."
            )
        size = shape[3]
        factor = math.ceil(size / 2)
        centre = (2 * factor - 1 - factor % 2) / (2.0 * factor)

        def weight(at: float) -> float:
            return 1 - abs(at / factor - centre)

        # Paddle divides the position without rounding down, so that y changes within a row. It looks wrong and is kept, so
        # that the same program computes the same numbers.
        kernel = [weight(i % size) * weight(i / size % size) for i in range(size * size)]
        values = to_dtype(to_tensor(kernel, dtype="float64"), param.dtype)
        ops.copy.into((param,), ops.broadcast_to(ops.reshape(values, (size, size)), tuple(shape)))
