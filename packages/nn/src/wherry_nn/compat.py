"""Layers and their functions as PyTorch has them: weights of `Linear` are `[out_features, in_features]`, `softmax` and `pad` name axes otherwise."""
from __future__ import annotations

from typing import Any

from wherry_nn import functional as F
from wherry_nn.layer import Layer
from wherry_tensor import _core
from wherry_tensor._core import Tensor
from wherry_tensor.arguments import flag, integer, integers_of, require_rank, require_tensor
from wherry_tensor.errors import InvalidArgumentError, short
from wherry_tensor.explained import explained
from wherry_tensor.functions import linalg, movement
from wherry_tensor.spellings import spelled

__all__ = ["Linear", "Softmax", "linear", "pad", "softmax"]


def softmax(input: Tensor, dim: int | None = None, dtype: Any = None, *, out: Tensor | None = None) -> Tensor:
    """Softmax with the arguments of PyTorch.

    Args:
        input: floating.
        dim: the axis; None: 0 for 0, 1 or 3 axes, and otherwise 1.
        dtype: cast `input` to it first.
        out: the tensor that becomes the result.

    Shape:
        `[...]` to the same.

    Raises:
        TypeError: `input` is not a floating Tensor (also a ValueError).
        ValueError: the axis is out of range.

    Source:
        `paddle.compat.nn.functional.softmax`, which is `paddle.softmax` as well.

    Examples:
        >>> wherry.softmax(wherry.zeros([2, 4]), dim=1)[0].tolist()
        [0.25, 0.25, 0.25, 0.25]
    """
    require_tensor(input, "softmax", "input")
    axis = (0 if input.ndim in (0, 1, 3) else 1) if dim is None else dim
    result = F.softmax(input, axis, dtype)
    return result if out is None else _core.rebind(require_tensor(out, "softmax", "out"), result)


def linear(input: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """`input @ weight' + bias`, with the layout of PyTorch.

    Args:
        input: floating.
        weight: `[out_features, in_features]`.
        bias: `[out_features]`.

    Shape:
        `[..., in_features]` to `[..., out_features]`.

    Raises:
        TypeError: an argument is not a Tensor (also a ValueError).
        ValueError: the sizes do not fit.

    Source:
        `paddle.compat.nn.functional.linear`.

    Examples:
        >>> wherry.compat.nn.functional.linear(wherry.ones([1, 2]), wherry.ones([3, 2])).tolist()
        [[2.0, 2.0, 2.0]]
    """
    out = linalg.matmul(input, require_rank(weight, "linear", 1, 2, "weight"), transpose_y=weight.ndim == 2)
    return out if bias is None else out + bias


def pad(input: Tensor, pad: Any, mode: str = "constant", value: float | None = 0.0) -> Tensor:
    """Padding with the order of PyTorch: pairs from the last axis on.

    Args:
        input: numbers.
        pad: `[left, right, top, bottom, ...]`, two numbers for each of the last axes.
        mode: "constant", "reflect", "replicate" or "circular".
        value: what "constant" adds.

    Shape:
        each size grows by its two numbers.

    Raises:
        TypeError: `input` is not a Tensor (also a ValueError).
        ValueError: the numbers do not fit, or the mode is unknown.

    Source:
        `paddle.compat.nn.functional.pad`.

    Examples:
        >>> wherry.compat.nn.functional.pad(wherry.ones([1, 2]), [1, 0]).tolist()
        [[0.0, 1.0, 1.0]]
    """
    require_tensor(input, "pad", "input")
    counts = list(integers_of(pad, "pad", "pad"))
    if len(counts) % 2 or len(counts) > 2 * input.ndim:
        raise InvalidArgumentError(
            f"pad: the numbers do not fit. Got pad={short(counts)} for shape {input.shape}, expected two for each of the last axes."
        )
    number = 0.0 if value is None else value
    if mode == "constant":
        pairs = [(0, 0)] * (input.ndim - len(counts) // 2) + list(zip(counts[::2], counts[1::2]))[::-1]
        return F.pad(input, [n for pair in pairs for n in pair], "constant", number)
    lacking = len(counts) // 2 + 2 - input.ndim
    x = movement.unsqueeze(input, list(range(lacking))) if lacking > 0 else input
    layout = {3: "NCL", 4: "NCHW", 5: "NCDHW"}.get(x.ndim, "NCHW")
    out = F.pad(x, counts, mode, number, layout)
    return movement.squeeze(out, list(range(lacking))) if lacking > 0 else out


class Linear(Layer):
    """A linear layer with the layout of PyTorch.

    Args:
        in_features, out_features: sizes.
        bias: whether something is added.
        device, dtype: of the parameters; None: the current ones.

    Attributes:
        weight: `[out_features, in_features]`.
        bias: `[out_features]`, or None.

    Shape:
        `[..., in_features]` to `[..., out_features]`.

    Raises:
        TypeError: a size is not an int (also a ValueError).

    Source:
        `paddle.compat.nn.Linear`.

    Examples:
        >>> wherry.compat.nn.Linear(2, 3).weight.shape
        [3, 2]
    """

    def __init__(self, in_features: int, out_features: int, bias: bool = True, device: Any = None, dtype: Any = None) -> None:
        from wherry_nn.initializer import Uniform

        super().__init__()
        self.in_features, self.out_features = integer(in_features, "Linear", "in_features"), integer(out_features, "Linear", "out_features")
        bound = self.in_features**-0.5 if self.in_features > 0 else 0.0
        draw = Uniform(-bound, bound)
        self.weight: Any = self.create_parameter([self.out_features, self.in_features], dtype=dtype, default_initializer=draw)
        has_bias = flag(bias, "Linear", "bias")
        self.bias = self.create_parameter([self.out_features], dtype=dtype, is_bias=True, default_initializer=draw) if has_bias else None
        if device is not None:
            self.to(device=device)

    def forward(self, input: Tensor) -> Tensor:
        return linear(input, self.weight, self.bias)

    def extra_repr(self) -> str:
        return f"in_features={self.in_features}, out_features={self.out_features}, bias={self.bias is not None}"


class Softmax(Layer):
    """Softmax along an axis, with the argument of PyTorch.

    Args:
        dim: the axis; None as `softmax`.

    Shape:
        `[...]` to the same.

    Raises:
        ValueError: when called: the axis is out of range.

    Source:
        `paddle.compat.nn.Softmax`.

    Examples:
        >>> wherry.compat.nn.Softmax(1)(wherry.zeros([1, 2])).tolist()
        [[0.5, 0.5]]
    """

    def __init__(self, dim: int | None = None) -> None:
        super().__init__()
        self.dim = dim

    def forward(self, input: Tensor) -> Tensor:
        return softmax(input, self.dim)

    def extra_repr(self) -> str:
        return f"dim={self.dim}"


explained(globals())
spelled(globals())
