"""Weights of 8 or 4 bits for activations in floats: `paddle.nn.quant`, and layers that hold such weights."""
from __future__ import annotations

import copy
from typing import Any

import numpy as np

from wherry_autograd import no_grad
from wherry_nn.layer import Layer
from wherry_nn.layers.common import Linear
from wherry_nn.parameter import Parameter
from wherry_quant.arguments import require_layer
from wherry_quant.files.weights import QuantizedWeight
from wherry_quant.recurrent import is_recurrent, round_weights
from wherry_tensor import _core, ops
from wherry_tensor._core import Tensor
from wherry_tensor.arguments import among, real_number, require_tensor, to_dtype
from wherry_tensor.dtype import as_dtype
from wherry_tensor.errors import InvalidArgumentError, InvalidTypeError, UnimplementedError, short
from wherry_tensor.functions.creation import to_tensor, zeros_like
from wherry_tensor.ops.quantized import packed_linear_weight
from wherry_tensor.ops.weight_only import packed_int4, packed_int8

__all__ = ["WeightOnlyLinear", "llm_int8_linear", "quantize_weights", "weight_dequantize", "weight_only_linear", "weight_quantize"]

_ALGORITHMS = {"weight_only_int8": 8, "weight_only_int4": 4, "llm.int8": 8}
_FLOATS = (_core.float16, _core.bfloat16, _core.float32)


def weight_quantize(x: Tensor, algo: str = "weight_only_int8", arch: int | None = None) -> tuple[Tensor, Tensor]:
    """A weight of 8 or 4 bits and its scales, one for each output.

    Args:
        x: `[in, out]`, float16, bfloat16 or float32.
        algo: "weight_only_int8", "weight_only_int4" (two numbers in a byte) or "llm.int8".
        arch: accepted for compatibility: there is one order of numbers here, on every device.

    Returns:
        The whole numbers, int8, and scales of the dtype of `x`: the largest magnitude of each column by 127 (by 7 for 4 bits). Paddle also
        changes the order of the whole numbers for a GPU.

    Shape:
        `[in, out]` to `[out, in]`, or `[out / 2, in]` for 4 bits, the even output in the low bits; and `[out]`.

    Raises:
        TypeError: `x` is not a matrix of floats.
        ValueError: `algo` is not known, or the number of outputs is odd for 4 bits.

    Source:
        `paddle.nn.quant.weight_quantize`.

    Examples:
        >>> weight = wherry.to_tensor([[1.0, -0.5], [-0.25, 0.1]])
        >>> q, scale = wherry.nn.quant.weight_quantize(weight)
        >>> print(q.numpy(), (scale * 127).numpy())
        [[ 127  -32]
         [-127   25]] [1.  0.5]
    """
    bits = _bits("weight_quantize", algo)
    if not isinstance(x, Tensor) or x.dtype not in _FLOATS or x.ndim != 2:
        raise InvalidTypeError(
            f"weight_quantize: not a matrix of floats. Got {_got(x)}, expected [in, out] in float16, bfloat16 or float32."
        )
    if bits == 4 and x.shape[1] % 2:
        raise InvalidArgumentError(
            f"weight_quantize: two outputs share a byte. Got {x.shape[1]} outputs, expected an even number. Use weight_only_int8."
        )
    high = 127 if bits == 8 else 7
    with no_grad():
        values = x.astype("float32").numpy()
        scale = (np.abs(values).max(0) / np.float32(high)).astype(np.float32)
        q = np.clip(np.rint(values / np.where(scale > 0, scale, 1)), -high, high).astype(np.int8).T
        if bits == 4:
            q = (q[0::2] & 15 | q[1::2] << 4).astype(np.int8)
        return to_tensor(np.ascontiguousarray(q)), to_tensor(scale).astype(x.dtype)


def weight_dequantize(x: Tensor, scale: Tensor, algo: str = "weight_only_int8", out_dtype: Any = "float16") -> Tensor:
    """The floats that a weight of 8 or 4 bits stands for.

    Args:
        x: what `weight_quantize` gave.
        scale: its scales.
        algo: the one that it was given.
        out_dtype: of the result.

    Shape:
        `[out, in]` (`[out / 2, in]` for 4 bits) and `[out]` to `[in, out]`.

    Raises:
        TypeError: `x` is not int8.
        ValueError: `algo` is not known, or the scales do not fit.

    Source:
        `paddle.nn.quant.weight_dequantize`.

    Examples:
        >>> q, scale = wherry.nn.quant.weight_quantize(wherry.to_tensor([[1.0, -0.5], [-0.25, 0.125]]))
        >>> print(wherry.nn.quant.weight_dequantize(q, scale, out_dtype="float32").numpy().round(2))
        [[ 1.   -0.5 ]
         [-0.25  0.13]]
    """
    q = _whole("weight_dequantize", x, scale, _bits("weight_dequantize", algo))
    dtype = as_dtype(out_dtype, "weight_dequantize")
    return ops.dequantize_linear(q, scale.astype("float32"), None, axis=1, group=None, dtype=_core.float32).astype(dtype)  # type: ignore[no-any-return]


def weight_only_linear(
    x: Tensor, weight: Tensor, bias: Tensor | None = None, weight_scale: Tensor | None = None, weight_dtype: str = "int8", arch: int | None = None
) -> Tensor:
    """Linear transformation by a weight of 8 or 4 bits, which is dequantized on the way and never stands in memory as floats.

    Args:
        x: `[..., in]`, float16, bfloat16 or float32.
        weight: what `weight_quantize` gave: `[out, in]`, or `[out / 2, in]` for int4.
        bias: `[out]`.
        weight_scale: `[out]`.
        weight_dtype: "int8" or "int4".
        arch: accepted for compatibility.

    Shape:
        `[..., in]` to `[..., out]`.

    Raises:
        TypeError: `x` is not a tensor of floats, or `weight` is not int8.
        ValueError: `weight_dtype` is not known, or shapes do not fit.

    Source:
        `paddle.nn.quant.weight_only_linear`.

    Examples:
        >>> q, scale = wherry.nn.quant.weight_quantize(wherry.eye(4))
        >>> print(wherry.nn.quant.weight_only_linear(wherry.to_tensor([[1.0, 2.0, 3.0, 4.0]]), q, weight_scale=scale).numpy())
        [[1. 2. 3. 4.]]
    """
    if not among(weight_dtype, ("int8", "int4")):
        raise InvalidArgumentError(
            f"weight_only_linear: the weight has other bits. Got weight_dtype={short(weight_dtype)}, expected 'int8' or 'int4'."
        )
    bits = 8 if weight_dtype == "int8" else 4
    _require_input("weight_only_linear", x)
    packed = _packed(weight, lambda: _whole("weight_only_linear", weight, weight_scale, bits), f"only{bits}", packed_int8 if bits == 8 else _four)
    _require_scale("weight_only_linear", weight, weight_scale, bits)
    scale = ops.reshape(weight_scale, shape=(1, -1))
    return ops.weight_only_linear(x, packed, scale, None, _as("weight_only_linear", bias, x), group=0)  # type: ignore[no-any-return]


def llm_int8_linear(
    x: Tensor, weight: Tensor, bias: Tensor | None = None, weight_scale: Tensor | None = None, threshold: float = 6.0
) -> Tensor:
    """Linear transformation in int8, where inputs with large values are multiplied in floats.

    Each row of `x` is rounded to 8 bits, except its columns in which any magnitude is above the threshold.

    Args:
        x: `[..., in]`, float16, bfloat16 or float32.
        weight: `[out, in]` int8, by `weight_quantize(..., algo="llm.int8")`.
        bias: `[out]`.
        weight_scale: `[out]`.
        threshold: the largest magnitude of a column that is rounded.

    Shape:
        `[..., in]` to `[..., out]`.

    Raises:
        TypeError: `x` is not a tensor of floats, or `weight` is not int8.
        ValueError: shapes do not fit.

    Source:
        `paddle.nn.quant.llm_int8_linear`; Dettmers et al., LLM.int8() (2022).

    Examples:
        >>> q, scale = wherry.nn.quant.weight_quantize(wherry.eye(4), algo="llm.int8")
        >>> print(wherry.nn.quant.llm_int8_linear(wherry.to_tensor([[1.0, 2.0, 4.0, 100.0]]), q, weight_scale=scale).numpy().round(2))
        [[  1.01   2.02   4.   100.  ]]
    """
    _require_input("llm_int8_linear", x)
    whole = _packed(weight, lambda: _whole("llm_int8_linear", weight, weight_scale, 8), "rows", packed_linear_weight)
    _require_scale("llm_int8_linear", weight, weight_scale, 8)
    scale = weight_scale.astype("float32")  # type: ignore[union-attr]
    wide = x.astype("float32")
    axes = tuple(range(x.ndim - 1))
    largest = ops.reduce_max(ops.abs(wide), axes=axes, keepdim=True)
    large = ops.greater_than(largest, to_tensor(real_number(threshold, "llm_int8_linear", "threshold")))
    inside = ops.where(large, zeros_like(wide), wide)
    shift = None if bias is None else to_dtype(require_tensor(bias, "llm_int8_linear", "bias"), _core.float32)
    out = ops.quantized_linear(
        inside, whole, scale, shift, None, x_zero_point=0, residual_scale=1.0, residual_zero_point=0,
        activation="none", out_scale=None, out_zero_point=0, low=None, high=None, dtype=_core.float32,
    )
    outside = ops.where(large, wide, zeros_like(wide))
    only = _packed(weight, lambda: _whole("llm_int8_linear", weight, weight_scale, 8), "only8", packed_int8)
    return (out + ops.weight_only_linear(outside, only, ops.reshape(scale, shape=(1, -1)), None, None, group=0)).astype(x.dtype)  # type: ignore[no-any-return]


class WeightOnlyLinear(Layer):
    """A Linear layer whose weight has 8 or 4 bits, with scales for each output or for groups of inputs.

    Args:
        weight: whole numbers with scales.
        bias: `[out]`, or None.
        dtype: of the inputs.

    Shape:
        `[..., in]` to `[..., out]`.

    Examples:
        >>> net = wherry.nn.Sequential(wherry.nn.Linear(64, 8))
        >>> small = wherry.quant.quantize_weights(net, bits=4, group_size=32)
        >>> small
        Sequential(
          (0): WeightOnlyLinear(in_features=64, out_features=8, bits=4, group_size=32)
        )
    """

    def __init__(self, weight: QuantizedWeight, bias: Tensor | None = None, dtype: Any = "float32") -> None:
        super().__init__(dtype=dtype)
        if not isinstance(weight, QuantizedWeight):
            raise InvalidTypeError(
                f"WeightOnlyLinear: not whole numbers with scales. Got {short(weight)} ({type(weight).__name__}), expected a QuantizedWeight."
            )
        rows, columns = weight.shape
        if weight.order is not None:
            raise UnimplementedError(
                "WeightOnlyLinear: rows of a group are not neighbours. Got a weight with an order (g_idx), expected one without. "
                "Take its floats: numpy()."
            )
        group = 0 if len(weight.scales) == 1 else weight.group
        if group % 8:
            raise UnimplementedError(f"WeightOnlyLinear: groups are of eights of rows. Got group_size={group}, expected a multiple of 8.")
        self._four = weight.codes.dtype == np.uint8
        pack = packed_int4 if self._four else packed_int8
        self.in_features, self.out_features, self.bits, self.group_size = rows, columns, weight.bits, group
        self.weight = Parameter(pack(to_tensor(weight.codes)), trainable=False)
        self.weight_scale = Parameter(to_tensor(weight.scales.astype(np.float32)), trainable=False)
        zeros = None if weight.zeros is None else to_tensor(weight.zeros.astype(weight.codes.dtype))
        self.zero_point = None if zeros is None else Parameter(zeros, trainable=False)
        self.bias = None if bias is None else Parameter(bias.detach().astype(dtype))

    @staticmethod
    def from_linear(layer: Linear, bits: int = 8, group_size: int = 0) -> WeightOnlyLinear:
        """The layer of a Linear one, by rounding to nearest.

        Args:
            layer: it.
            bits: 8 or 4.
            group_size: inputs that share a scale; 0 for all.
        """
        weight: Any = layer.weight
        return WeightOnlyLinear(rounded_weight(weight.astype("float32").numpy(), bits, group_size), layer.bias)  # type: ignore[arg-type]

    def forward(self, input: Tensor) -> Tensor:
        return ops.weight_only_linear(  # type: ignore[no-any-return]
            input, self.weight, self.weight_scale, self.zero_point, _as("WeightOnlyLinear", self.bias, input), group=self.group_size
        )

    def extra_repr(self) -> str:
        return f"in_features={self.in_features}, out_features={self.out_features}, bits={self.bits}, group_size={self.group_size}"


def rounded_weight(values: np.ndarray[Any, Any], bits: int, group_size: int = 0) -> QuantizedWeight:
    """A weight `[in, out]` rounded to nearest, symmetric around 0, with scales by the largest magnitude of each group."""
    if bits not in (4, 8):
        raise InvalidArgumentError(f"weights of few bits: only 8 and 4. Got bits={bits}, expected 8 or 4.")
    rows = len(values)
    group = group_size or rows
    if group < 1 or (group_size and group_size % 8):
        raise InvalidArgumentError(f"weights of few bits: groups are of eights of rows. Got group_size={group_size}, expected 0 or a multiple of 8.")
    high = 127 if bits == 8 else 7
    scales = np.stack([np.abs(values[i : i + group]).max(0) for i in range(0, rows, group)]).astype(np.float32) / np.float32(high)
    spread = np.repeat(np.where(scales > 0, scales, 1), group, axis=0)[:rows]
    q = np.clip(np.rint(values / spread), -high, high)
    return QuantizedWeight.symmetric(q, scales, bits, group)


def quantize_weights(model: Layer, bits: int = 8, group_size: int = 0, inplace: bool = False) -> Layer:
    """Put a WeightOnlyLinear in the place of every Linear layer; with 8 bits and no groups, LSTM and GRU layers keep their weights in int8 too.

    Args:
        model: it.
        bits: 8 or 4.
        group_size: inputs that share a scale, a multiple of 8; 0 for all of an output. With 4 bits, 32 to 128.
        inplace: change this model.

    Returns:
        The model with small weights. It answers, and does not train.

    Raises:
        TypeError: not a layer.
        ValueError: bits or groups that there are not.

    Examples:
        >>> net = wherry.nn.Sequential(wherry.nn.Linear(64, 64), wherry.nn.ReLU(), wherry.nn.Linear(64, 8))
        >>> small = wherry.quant.quantize_weights(net, bits=8)
        >>> x = wherry.randn([2, 64])
        >>> float((small(x) - net(x)).abs().max()) < 0.05
        True
    """
    require_layer(model, "quantize_weights")
    holder = {"model": model if inplace else copy.deepcopy(model)}
    _replace(holder, bits, group_size)
    return holder["model"]


def _replace(layers: dict[str, Any], bits: int, group_size: int) -> None:
    for name, layer in list(layers.items()):
        if type(layer) is Linear:
            layers[name] = WeightOnlyLinear.from_linear(layer, bits, group_size)
        elif is_recurrent(layer) and bits == 8 and group_size == 0:
            round_weights(layer)
        elif layer is not None:
            _replace(layer._sub_layers, bits, group_size)


def _bits(what: str, algo: Any) -> int:
    if not among(algo, _ALGORITHMS):
        raise InvalidArgumentError(f"{what}: this way of rounding is not known. Got algo={short(algo)}, expected one of {', '.join(_ALGORITHMS)}.")
    return _ALGORITHMS[algo]


def _whole(what: str, x: Tensor, scale: Tensor | None, bits: int) -> Tensor:
    """Whole numbers `[in, out]` in int8."""
    if not isinstance(x, Tensor) or x.dtype is not _core.int8 or x.ndim != 2:
        raise InvalidTypeError(
            f"{what}: not whole numbers of a weight. Got {_got(x)}, expected int8 [out, in], as weight_quantize gives them."
        )
    _require_scale(what, x, scale, bits)
    q = x.numpy()
    if bits == 4:
        low, high = (q << 4).astype(np.int8) >> 4, q >> 4
        q = np.stack([low, high], axis=1).reshape(-1, q.shape[1])
    return to_tensor(np.ascontiguousarray(q.T))


def _four(q: Tensor) -> Tensor:
    return packed_int4(ops.cast(q + 8, dtype=_core.uint8))  # type: ignore[no-any-return]


def _packed(weight: Tensor, whole: Any, key: str, pack: Any) -> Tensor:
    """The weight in the order of a kernel, kept with it until somebody writes it."""
    owner: Any = weight
    kept: tuple[Any, dict[str, Tensor]] | None = getattr(owner, "_in_order", None)
    version = getattr(weight, "inplace_version", None)
    if kept is None or kept[0] != version:
        kept = (version, {})
    if key not in kept[1]:
        with no_grad():
            kept[1][key] = pack(whole())
        owner._in_order = kept
    return kept[1][key]


def _require_scale(what: str, weight: Tensor, scale: Any, bits: int) -> None:
    out = weight.shape[0] * (2 if bits == 4 else 1)
    if not isinstance(scale, Tensor) or not scale.dtype.is_floating or list(scale.shape) != [out]:
        raise InvalidArgumentError(
            f"{what}: the scales do not fit. Got {_got(scale)}, expected floats of shape [{out}], as weight_quantize gives them."
        )


def _require_input(what: str, x: Any) -> None:
    if not isinstance(x, Tensor) or x.dtype not in _FLOATS or not x.ndim:
        raise InvalidTypeError(f"{what}: x is not a tensor of floats. Got {_got(x)}, expected [..., in] in float16, bfloat16 or float32.")


def _got(x: Any) -> str:
    return f"{x.dtype.name} of shape {x.shape}" if isinstance(x, Tensor) else short(x)


def _as(what: str, bias: Tensor | None, x: Tensor) -> Tensor | None:
    return None if bias is None else to_dtype(require_tensor(bias, what, "bias"), x.dtype)
