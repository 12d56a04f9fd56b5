"""`paddle.nn.quant`: not implemented.

The names exist so that a program fails where it calls them, with the reason, and not where it imports them. All of them came after Paddle 2.3.
"""
from __future__ import annotations

from typing import Any, NoReturn

from wherry_nn.layer import Layer
from wherry_tensor._core import Tensor
from wherry_tensor.errors import UnimplementedError

__all__ = ["Stub", "llm_int8_linear", "weight_dequantize", "weight_only_linear", "weight_quantize"]


class Stub(Layer):
    """Not implemented: a place in `forward` whose values a quantizer observes.

    Raises:
        NotImplementedError: always.

    Source:
        `paddle.nn.quant.Stub` (Paddle 2.5).

    Examples:
        >>> wherry.nn.quant.Stub()
        Traceback (most recent call last):
            ...
        wherry_tensor.errors.UnimplementedError: (Unimplemented) Stub: quantization is not implemented. ...
    """

    def __init__(self, observer: Any = None) -> None:
        super().__init__()
        _missing("Stub", "leave it out: without a quantizer it returns its input. nn.Identity() can hold the place")


def llm_int8_linear(
    x: Tensor, weight: Tensor, bias: Tensor | None = None, weight_scale: Tensor | None = None, threshold: float = 6.0
) -> Tensor:
    """Not implemented: linear transformation with an int8 weight, and outliers of `x` in 16 bits.

    Raises:
        NotImplementedError: always.

    Source:
        `paddle.nn.quant.llm_int8_linear` (Paddle 2.6), which needs a GPU.

    Examples:
        >>> wherry.nn.quant.llm_int8_linear(wherry.ones([1, 2]), wherry.ones([2, 2], "int8"))
        Traceback (most recent call last):
            ...
        wherry_tensor.errors.UnimplementedError: (Unimplemented) llm_int8_linear: quantization is not implemented. ...
    """
    _missing("llm_int8_linear", "use nn.functional.linear with a float16 or bfloat16 weight")


def weight_dequantize(
    x: Tensor, scale: Tensor, algo: str = "weight_only_int8", out_dtype: Any = "float16"
) -> Tensor:
    """Not implemented: a floating weight from one of 8 or 4 bits.

    Raises:
        NotImplementedError: always.

    Source:
        `paddle.nn.quant.weight_dequantize` (Paddle 2.6), which needs a GPU.

    Examples:
        >>> wherry.nn.quant.weight_dequantize(wherry.ones([2, 2], "int8"), wherry.ones([2]))
        Traceback (most recent call last):
            ...
        wherry_tensor.errors.UnimplementedError: (Unimplemented) weight_dequantize: quantization is not implemented. ...
    """
    _missing("weight_dequantize", "keep the floating weight; for int8 values write x.astype('float32') * scale")


def weight_only_linear(
    x: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    weight_scale: Tensor | None = None,
    weight_dtype: str = "int8",
    arch: int | None = None,
) -> Tensor:
    """Not implemented: linear transformation with a weight of 8 or 4 bits.

    Raises:
        NotImplementedError: always.

    Source:
        `paddle.nn.quant.weight_only_linear` (Paddle 2.6), which needs a GPU.

    Examples:
        >>> wherry.nn.quant.weight_only_linear(wherry.ones([1, 2]), wherry.ones([2, 2], "int8"))
        Traceback (most recent call last):
            ...
        wherry_tensor.errors.UnimplementedError: (Unimplemented) weight_only_linear: quantization is not implemented. ...
    """
    _missing("weight_only_linear", "use nn.functional.linear with a float16 or bfloat16 weight")


def weight_quantize(x: Tensor, algo: str = "weight_only_int8", arch: int | None = None) -> tuple[Tensor, Tensor]:
    """Not implemented: a weight of 8 or 4 bits and its scales.

    Raises:
        NotImplementedError: always.

    Source:
        `paddle.nn.quant.weight_quantize` (Paddle 2.6), which needs a GPU.

    Examples:
        >>> wherry.nn.quant.weight_quantize(wherry.ones([2, 2]))
        Traceback (most recent call last):
            ...
        wherry_tensor.errors.UnimplementedError: (Unimplemented) weight_quantize: quantization is not implemented. ...
    """
    _missing("weight_quantize", "use weights of 16 bits, as amp.decorate makes them")


def _missing(name: str, instead: str) -> NoReturn:
    raise UnimplementedError(
        f"{name}: quantization is not implemented. Got a call, expected none until a quantization package exists. "
        f"Instead, {instead}."
    )
