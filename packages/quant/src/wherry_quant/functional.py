"""Operations as layers, so that quantization can name them: `paddle.nn.quant.add` and its like."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import wherry_tensor as api
from wherry_nn.layer import Layer
from wherry_tensor._core import Tensor

__all__ = ["FloatFunctionalLayer", "add", "concat", "divide", "flatten", "matmul", "multiply", "reshape", "subtract", "transpose"]


class FloatFunctionalLayer(Layer):
    """A layer without parameters that applies an operation, such as `paddle.nn.quant.add`.

    `QuantConfig.add_type_config(paddle.nn.quant.add, activation=...)` observes what such layers get, as it does for others.

    Shape:
        As of the operation.

    Source:
        `paddle.nn.quant.FloatFunctionalLayer`.

    Examples:
        >>> plus = wherry.nn.quant.add()
        >>> plus(wherry.ones([2]), wherry.ones([2])).tolist()
        [2.0, 2.0]
    """

    _operation: Callable[..., Tensor]

    def forward(self, *inputs: Any, **options: Any) -> Tensor:
        return type(self)._operation(*inputs, **options)


def _layer(name: str) -> type[FloatFunctionalLayer]:
    described = {"__doc__": f"`paddle.{name}` as a layer.", "__module__": __name__, "_operation": staticmethod(getattr(api, name))}
    return type(name, (FloatFunctionalLayer,), described)


add, subtract, multiply, divide = (_layer(name) for name in ("add", "subtract", "multiply", "divide"))
reshape, transpose, concat, flatten, matmul = (_layer(name) for name in ("reshape", "transpose", "concat", "flatten", "matmul"))
