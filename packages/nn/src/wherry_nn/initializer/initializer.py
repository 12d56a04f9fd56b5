"""Base of initializers, gains of nonlinearities, and global defaults."""
from __future__ import annotations

import math
from typing import Any

from wherry_autograd import no_grad
from wherry_tensor._core import Tensor
from wherry_tensor.arguments import require_tensor
from wherry_tensor.constructor_arguments import as_constructed
from wherry_tensor.errors import AssertedTypeError, InvalidArgumentError, InvalidTypeError, short

__all__ = ["Initializer", "calculate_gain", "default_initializer", "fans", "require_floating", "set_global_initializer"]


class Initializer:
    """Base of initializers: calling one fills a parameter. A subclass defines `forward(param, block=None)`, which writes to `param`.

    Shape:
        Parameters of any shape, `[...]`, unless the subclass needs another.

    Raises:
        TypeError: when called: the parameter is not a Tensor (also a ValueError).
        NotImplementedError: when called: the subclass does not define `forward`.

    Source:
        `paddle.nn.initializer.Initializer`.

    Examples:
        >>> x = wherry.zeros([2])
        >>> wherry.nn.initializer.Constant(3.0)(x)
        >>> print(x.numpy())
        [3. 3.]
    """

    def __repr__(self) -> str:
        return as_constructed(self)

    def __call__(self, param: Tensor, block: Any = None) -> None:
        """Write initial values to `param`. `block` has no effect."""
        require_tensor(param, type(self).__name__, "param")
        with no_grad():
            self.forward(param, block)

    def forward(self, param: Tensor, block: Any = None) -> None:
        """Write initial values to `param`; gradients are not recorded."""
        raise NotImplementedError(
            f"{type(self).__name__}: forward is not defined. Got a class without forward(self, param, block=None), "
            f"expected one that writes into param. Define it, or take one of nn.initializer."
        )


def require_floating(param: Tensor, initializer: Initializer) -> None:
    """Refuse to fill integers with random fractions."""
    if not param.dtype.is_floating:
        name = type(initializer).__name__
        raise InvalidTypeError(
            f"{name}: the parameter is not floating. Got dtype {param.dtype.name}, expected float16, bfloat16, float32 "
            f"or float64. Use Constant or Assign for integers."
        )


def fans(shape: list[int]) -> tuple[int, int]:
    """fan_in and fan_out: how many inputs each output depends on, and how many outputs each input reaches.

    A matrix is `[in, out]`, as in Linear; with more axes the shape is `[out, in, *kernel]`.
    """
    if not shape:
        return 1, 1
    if len(shape) == 1:
        return shape[0], shape[0]
    if len(shape) == 2:
        return shape[0], shape[1]
    positions = math.prod(shape[2:])
    return shape[1] * positions, shape[0] * positions


_GAINS = {
    "sigmoid": 1,
    "linear": 1,
    "conv1d": 1,
    "conv2d": 1,
    "conv3d": 1,
    "conv1d_transpose": 1,
    "conv2d_transpose": 1,
    "conv3d_transpose": 1,
    "tanh": 5.0 / 3,
    "relu": math.sqrt(2.0),
    "selu": 3.0 / 4,
}


def calculate_gain(nonlinearity: str, param: float | None = None) -> float:
    """Gain of a nonlinearity: the factor of the standard deviation with which signals keep their size.

    Args:
        nonlinearity: "sigmoid", "linear", "tanh", "relu", "leaky_relu", "selu", or a convolution, such
            as "conv2d" and "conv2d_transpose".
        param: the negative slope of "leaky_relu"; None is 0.01. Unused by the others.

    Raises:
        ValueError: another nonlinearity.
        TypeError: `param` is not a number (also a ValueError).

    Source:
        `paddle.nn.initializer.calculate_gain`.

    Examples:
        >>> wherry.nn.initializer.calculate_gain("tanh")
        1.6666666666666667
        >>> wherry.nn.initializer.calculate_gain("leaky_relu", 2.0)
        0.6324555320336759
    """
    if isinstance(nonlinearity, str) and nonlinearity == "leaky_relu":
        slope = 0.01 if param is None else param
        if isinstance(slope, bool) or not isinstance(slope, (int, float)):
            raise AssertedTypeError(
                f"calculate_gain: the negative slope must be a number. Got param={short(param)}, expected a float. "
                f"Leave it out for 0.01."
            )
        return math.sqrt(2.0 / (1.0 + slope**2))
    try:
        return _GAINS[nonlinearity]
    except (KeyError, TypeError):
        raise InvalidArgumentError(
            f"calculate_gain: unknown nonlinearity. Got {short(nonlinearity)}, expected one of {', '.join(_GAINS)}, leaky_relu. "
            f"Use 'linear' for a gain of 1."
        ) from None


_global: list[Initializer | None] = [None, None]


def set_global_initializer(weight_init: Initializer | None, bias_init: Initializer | None = None) -> None:
    """Set the initializers of all layers made from now on.

    They override the default of a layer, not the initializer in a ParamAttr.

    Args:
        weight_init: for all parameters that are not biases; None goes back to the defaults.
        bias_init: for biases, likewise.

    Raises:
        TypeError: an argument is not an initializer.

    Source:
        `paddle.nn.initializer.set_global_initializer`.

    Examples:
        >>> wherry.nn.initializer.set_global_initializer(wherry.nn.initializer.Constant(3.0))
        >>> print(wherry.create_parameter([1, 2], "float32").numpy())
        [[3. 3.]]
        >>> wherry.nn.initializer.set_global_initializer(None)
    """
    for name, value in ("weight_init", weight_init), ("bias_init", bias_init):
        if not (value is None or isinstance(value, Initializer)):
            raise AssertedTypeError(
                f"set_global_initializer: {name} is not an initializer. Got {short(value)} ({type(value).__name__}), expected an "
                f"object of nn.initializer, or None. Write {name}=nn.initializer.Constant(...) for a number."
            )
    _global[:] = weight_init, bias_init


def default_initializer(is_bias: bool) -> Initializer | None:
    """The initializer of `set_global_initializer` for such parameters, or None."""
    return _global[is_bias]
