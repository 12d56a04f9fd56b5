"""Initializers with given values: one number, or all of them."""
from __future__ import annotations

import math
import warnings
from typing import Any

from wherry_nn.initializer.initializer import Initializer
from wherry_tensor import _core, ops
from wherry_tensor._core import Tensor
from wherry_tensor.arguments import fitted, numpy_module, to_dtype
from wherry_tensor.errors import AssertedTypeError, InvalidArgumentError, short
from wherry_tensor.functions.creation import to_tensor

__all__ = ["Assign", "Constant"]


class Constant(Initializer):
    """Constant initializer: fills with one number.

    Args:
        value: the number.

    Shape:
        Any, `[...]`.

    Raises:
        ValueError: `value` is not a number.

    Source:
        `paddle.nn.initializer.Constant`.

    Examples:
        >>> print(wherry.create_parameter([1, 2], "float32", attr=wherry.nn.initializer.Constant(2.0)).numpy())
        [[2. 2.]]
    """

    def __init__(self, value: float = 0.0) -> None:
        if not isinstance(value, (int, float)):
            try:
                value = float(value)  # a NumPy number, a tensor of one element
            except (TypeError, ValueError):
                raise InvalidArgumentError(
                    f"Constant: value is not a number. Got value={short(value)}, expected a float. Use Assign for several values."
                ) from None
        self.value = value

    def forward(self, param: Tensor, block: Any = None) -> None:
        value = fitted(self.value, param.dtype, "Constant")
        ops.full.into((param,), shape=tuple(param.shape), value=value, dtype=param.dtype)


class Assign(Initializer):
    """Assign initializer: fills with given values.

    Args:
        value: a list, tuple, NumPy array or Tensor with as many elements as the parameter. It is cast to
            the parameter's dtype.

    Raises:
        TypeError: `value` is none of these (also a ValueError and an AssertionError).
        ValueError: when a parameter of a static program is filled: it has another number of elements. Other parameters take
            the shape of the value, with a warning.

    Source:
        `paddle.nn.initializer.Assign`. Paddle gives the parameter the shape of the value, whatever shape the
        layer asked for; here the layer's shape holds where the number of elements is the same.

    Examples:
        >>> print(wherry.create_parameter([1, 2], "float32", attr=wherry.nn.initializer.Assign([[1.0, 2.0]])).numpy())
        [[1. 2.]]
    """

    def __init__(self, value: Any, name: str | None = None) -> None:
        numpy = numpy_module()
        if not (isinstance(value, (list, tuple, Tensor)) or (numpy is not None and isinstance(value, numpy.ndarray))):
            raise AssertedTypeError(
                f"Assign: value does not hold numbers. Got {short(value)} ({type(value).__name__}), expected a list, tuple, NumPy array "
                f"or Tensor. Use Constant for one number."
            )
        self.value = value

    def forward(self, param: Tensor, block: Any = None) -> None:
        given = self.value if isinstance(self.value, Tensor) else to_tensor(self.value)
        if given.size != math.prod(param.shape):
            text = f"Assign: the value does not fit the parameter. Got shape {given.shape}, expected {param.shape}."
            if _core.is_symbolic(param):
                raise InvalidArgumentError(f"{text} Give as many values as the parameter has.")
            # Programs for Paddle do so by mistake, and run: there the value decides.
            warnings.warn(f"{text} The parameter takes the shape of the value, as in Paddle. Say that shape.", stacklevel=2)
            stopped = param.stop_gradient
            _core.rebind(param, ops.copy(to_dtype(given.detach(), param.dtype)))
            param.stop_gradient = stopped
            return
        ops.copy.into((param,), to_dtype(ops.reshape(given, tuple(param.shape)), param.dtype))
