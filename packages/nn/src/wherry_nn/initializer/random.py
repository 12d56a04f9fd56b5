"""Random initializers; they use the generator that `paddle.seed` seeds."""
from __future__ import annotations

import math
from typing import Any

from wherry_nn.initializer.initializer import Initializer, calculate_gain, fans, require_floating
from wherry_tensor import ops
from wherry_tensor._core import Tensor, float32, float64
from wherry_tensor.arguments import number, real_number, require_tensor, to_dtype
from wherry_tensor.errors import AssertedArgumentError, InvalidArgumentError

__all__ = [
    "KaimingNormal",
    "KaimingUniform",
    "Normal",
    "Orthogonal",
    "TruncatedNormal",
    "Uniform",
    "XavierNormal",
    "XavierUniform",
]


def _fill_uniform(param: Tensor, low: float, high: float, initializer: Initializer) -> None:
    require_floating(param, initializer)
    ops.uniform.into((param,), shape=tuple(param.shape), min=float(low), max=float(high), dtype=param.dtype)


def _fill_normal(param: Tensor, mean: float, std: float, initializer: Initializer) -> None:
    require_floating(param, initializer)
    ops.normal.into((param,), shape=tuple(param.shape), mean=float(mean), std=float(std), dtype=param.dtype)


class Uniform(Initializer):
    """Uniform initializer: fills with numbers from `[low, high)`.

    Args:
        low, high: the bounds.

    Shape:
        Any, `[...]`; float16, bfloat16, float32 or float64.

    Raises:
        TypeError: a bound is not a number; when a parameter is filled: it is not floating (also a ValueError).
        ValueError: `low` is greater than `high` (also an AssertionError).

    Source:
        `paddle.nn.initializer.Uniform`.

    Examples:
        >>> weight = wherry.create_parameter([3, 4], "float32", attr=wherry.nn.initializer.Uniform(0.5, 1.0))
        >>> bool((weight >= 0.5).all())
        True
    """

    def __init__(self, low: float = -1.0, high: float = 1.0, name: str | None = None) -> None:
        self.low, self.high = real_number(low, "Uniform", "low"), real_number(high, "Uniform", "high")
        if self.low > self.high:
            raise AssertedArgumentError(
                f"Uniform: low is greater than high. Got low={low} and high={high}, expected low <= high. "
                f"Exchange them."
            )

    def forward(self, param: Tensor, block: Any = None) -> None:
        _fill_uniform(param, self.low, self.high, self)


class Normal(Initializer):
    """Normal initializer: fills with normally distributed numbers.

    Args:
        mean, std: mean and standard deviation.

    Shape:
        Any, `[...]`; float16, bfloat16, float32 or float64.

    Raises:
        TypeError: an argument is not a number; when a parameter is filled: it is not floating (also a ValueError).

    Source:
        `paddle.nn.initializer.Normal`.

    Examples:
        >>> weight = wherry.create_parameter([100, 100], "float32", attr=wherry.nn.initializer.Normal(1.0, 0.1))
        >>> abs(float(weight.mean()) - 1.0) < 0.01
        True
    """

    def __init__(self, mean: float = 0.0, std: float = 1.0, name: str | None = None) -> None:
        self.mean, self.std = number(mean, "Normal", "mean"), number(std, "Normal", "std")

    def forward(self, param: Tensor, block: Any = None) -> None:
        _fill_normal(param, self.mean, self.std, self)


class TruncatedNormal(Initializer):
    """Truncated normal initializer: no number is further from the mean than two standard deviations.

    Args:
        mean, std: mean and standard deviation of the distribution before its tails are cut.

    Shape:
        Any, `[...]`; float16, bfloat16, float32 or float64.

    Raises:
        TypeError: an argument is not a number; when a parameter is filled: it is not floating (also a ValueError).

    Source:
        `paddle.nn.initializer.TruncatedNormal`.

    Examples:
        >>> weight = wherry.create_parameter([30, 30], "float32", attr=wherry.nn.initializer.TruncatedNormal())
        >>> float(weight.abs().max()) <= 2.0
        True
    """

    def __init__(self, mean: float = 0.0, std: float = 1.0, name: str | None = None) -> None:
        self.mean, self.std = number(mean, "TruncatedNormal", "mean"), number(std, "TruncatedNormal", "std")

    def forward(self, param: Tensor, block: Any = None) -> None:
        require_floating(param, self)
        # By inverting the distribution function: erf(z / sqrt(2)) is uniform for a normal z, and stays
        # so, on a shorter interval, when z is restricted to [-2, 2].
        bound = math.erf(2.0 / math.sqrt(2.0))
        dtype = param.dtype if param.dtype is float64 else float32
        z = ops.uniform(tuple(param.shape), -bound, bound, dtype).erfinv() * math.sqrt(2.0)
        z = z.clip(-2.0, 2.0)  # erfinv of the rounded bound lies a rounding error outside
        ops.copy.into((param,), to_dtype(z * self.std + self.mean, param.dtype))


class _Xavier(Initializer):
    def __init__(self, fan_in: float | None = None, fan_out: float | None = None, name: str | None = None) -> None:
        self.fan_in = _fan(fan_in, self, "fan_in")
        self.fan_out = _fan(fan_out, self, "fan_out")

    def std(self, param: Tensor) -> float:
        """The standard deviation of the numbers that fill `param`."""
        fan_in, fan_out = fans(require_tensor(param, type(self).__name__, "param").shape)
        total = (fan_in if self.fan_in is None else self.fan_in) + (fan_out if self.fan_out is None else self.fan_out)
        if total == 0:
            raise InvalidArgumentError(
                f"{type(self).__name__}: fan_in and fan_out are both 0. Got shape {param.shape}, expected a positive sum. "
                f"Leave them out to take them from the shape."
            )
        return math.sqrt(2.0 / total)


class XavierUniform(_Xavier):
    """Xavier (Glorot) uniform initializer: fills with numbers from `[-x, x)`, where `x` is `sqrt(6 / (fan_in + fan_out))`.

    Signals and gradients then keep their size from layer to layer. The default for weights.

    Args:
        fan_in: inputs of each output; None takes it from the shape of the parameter.
        fan_out: outputs of each input, likewise.

    Shape:
        `[in, out]`, or `[out, in, *kernel]`.

    Raises:
        TypeError: an argument is not a number; when a parameter is filled: it is not floating (also a ValueError).
        ValueError: an argument is negative; when a parameter is filled: `fan_in` and `fan_out` are 0.

    Source:
        `paddle.nn.initializer.XavierUniform`; Glorot & Bengio (2010), Understanding the difficulty of
        training deep feedforward neural networks.

    Examples:
        >>> weight = wherry.create_parameter([2, 4], "float32", attr=wherry.nn.initializer.XavierUniform())
        >>> float(weight.abs().max()) <= 1.0  # sqrt(6 / (2 + 4))
        True
    """

    def forward(self, param: Tensor, block: Any = None) -> None:
        bound = math.sqrt(3.0) * self.std(param)
        _fill_uniform(param, -bound, bound, self)


class XavierNormal(_Xavier):
    """Xavier (Glorot) normal initializer: standard deviation `sqrt(2 / (fan_in + fan_out))`, mean 0.

    Args:
        fan_in: inputs of each output; None takes it from the shape of the parameter.
        fan_out: outputs of each input, likewise.

    Shape:
        `[in, out]`, or `[out, in, *kernel]`.

    Raises:
        TypeError: an argument is not a number; when a parameter is filled: it is not floating (also a ValueError).
        ValueError: an argument is negative; when a parameter is filled: `fan_in` and `fan_out` are 0.

    Source:
        `paddle.nn.initializer.XavierNormal`.

    Examples:
        >>> weight = wherry.create_parameter([100, 100], "float32", attr=wherry.nn.initializer.XavierNormal())
        >>> abs(float(weight.std()) - 0.1) < 0.01
        True
    """

    def forward(self, param: Tensor, block: Any = None) -> None:
        _fill_normal(param, 0.0, self.std(param), self)


class _Kaiming(Initializer):
    def __init__(self, fan_in: float | None = None, negative_slope: float = 0.0, nonlinearity: str = "relu") -> None:
        self.fan_in = _fan(fan_in, self, "fan_in")
        self.negative_slope = negative_slope
        self.nonlinearity = nonlinearity
        calculate_gain(nonlinearity, negative_slope)  # raises now for an unknown nonlinearity

    def std(self, param: Tensor) -> float:
        """The standard deviation of the numbers that fill `param`."""
        require_tensor(param, type(self).__name__, "param")
        fan_in = fans(param.shape)[0] if self.fan_in is None else self.fan_in
        if fan_in == 0:
            raise ZeroDivisionError(  # Paddle's class
                f"{type(self).__name__}: fan_in is 0. Got shape {param.shape}, expected a positive number of inputs. "
                f"Leave fan_in out to take it from the shape."
            )
        return calculate_gain(self.nonlinearity, self.negative_slope) / math.sqrt(fan_in)


class KaimingUniform(_Kaiming):
    """Kaiming (He) uniform initializer: fills with numbers from `[-x, x)`, where `x` is `gain * sqrt(3 / fan_in)`.

    Signals then keep their size through layers with ReLU.

    Args:
        fan_in: inputs of each output; None takes it from the shape of the parameter.
        negative_slope: of "leaky_relu".
        nonlinearity: what follows the layer; `calculate_gain` lists the names.

    Shape:
        `[in, out]`, or `[out, in, *kernel]`.

    Raises:
        TypeError: `fan_in` or the slope is not a number; when a parameter is filled: it is not floating (also a ValueError).
        ValueError: unknown nonlinearity, or `fan_in` is negative.
        ZeroDivisionError: when a parameter is filled: `fan_in` is 0.

    Source:
        `paddle.nn.initializer.KaimingUniform`; He, Zhang, Ren & Sun (2015), Delving deep into rectifiers.

    Examples:
        >>> weight = wherry.create_parameter([6, 4], "float32", attr=wherry.nn.initializer.KaimingUniform())
        >>> float(weight.abs().max()) <= 1.0  # sqrt(6 / 6)
        True
    """

    def forward(self, param: Tensor, block: Any = None) -> None:
        bound = math.sqrt(3.0) * self.std(param)
        _fill_uniform(param, -bound, bound, self)


class KaimingNormal(_Kaiming):
    """Kaiming (He) normal initializer: standard deviation `gain / sqrt(fan_in)`, mean 0.

    Args:
        fan_in: inputs of each output; None takes it from the shape of the parameter.
        negative_slope: of "leaky_relu".
        nonlinearity: what follows the layer; `calculate_gain` lists the names.

    Shape:
        `[in, out]`, or `[out, in, *kernel]`.

    Raises:
        TypeError: `fan_in` or the slope is not a number; when a parameter is filled: it is not floating (also a ValueError).
        ValueError: unknown nonlinearity, or `fan_in` is negative.
        ZeroDivisionError: when a parameter is filled: `fan_in` is 0.

    Source:
        `paddle.nn.initializer.KaimingNormal`.

    Examples:
        >>> weight = wherry.create_parameter([200, 100], "float32", attr=wherry.nn.initializer.KaimingNormal())
        >>> abs(float(weight.std()) - 0.1) < 0.01
        True
    """

    def forward(self, param: Tensor, block: Any = None) -> None:
        _fill_normal(param, 0.0, self.std(param), self)


def _fan(value: float | None, initializer: Initializer, name: str) -> float | None:
    if value is None:
        return None
    found = real_number(value, type(initializer).__name__, name)
    if found < 0:
        raise InvalidArgumentError(
            f"{type(initializer).__name__}: {name} is negative. Got {value}, expected a number >= 0. "
            f"Leave it out to take it from the shape."
        )
    return found


class Orthogonal(Initializer):
    """Orthogonal initializer: fills with a random orthogonal matrix times a gain.

    A parameter of more axes is taken as a matrix of `shape[0]` rows. The rows are orthogonal and of
    length `gain`, or the columns where there are fewer of them.

    Args:
        gain: the length of each row or column.

    Shape:
        `[rows, ...]`, two axes or more.

    Raises:
        TypeError: `gain` is not a number; when a parameter is filled: it is not floating (also a ValueError).
        ValueError: when a parameter is filled: it has less than two axes (also an AssertionError).

    Source:
        `paddle.nn.initializer.Orthogonal`; Saxe, McClelland & Ganguli (2014), Exact solutions to the
        nonlinear dynamics of learning in deep linear neural networks.

    Examples:
        >>> weight = wherry.create_parameter([2, 2], "float32", attr=wherry.nn.initializer.Orthogonal())
        >>> bool(wherry.allclose(weight @ weight.T, wherry.eye(2), atol=1e-6))
        True
    """

    def __init__(self, gain: float = 1.0, name: str | None = None) -> None:
        self.gain = number(gain, "Orthogonal", "gain")

    def forward(self, param: Tensor, block: Any = None) -> None:
        require_floating(param, self)
        shape = param.shape
        if len(shape) < 2:
            raise AssertedArgumentError(
                f"Orthogonal: only a matrix can be orthogonal. Got shape {shape}, expected two axes or more. "
                f"Use another initializer for vectors."
            )
        rows, columns = shape[0], math.prod(shape[1:])
        few, many = min(rows, columns), max(rows, columns)
        # The factor Q of a Gaussian matrix, of which R's diagonal is positive, has the uniform distribution (Mezzadri 2007).
        drawn = ops.normal((many, few), 0.0, 1.0, param.dtype if param.dtype is float64 else float32)
        q, r = ops.qr(drawn, complete=False)
        diagonal = ops.diagonal(r, offset=0, axis1=0, axis2=1)
        vectors = ops.where(diagonal < 0, -q, q)
        matrix = (vectors.T if rows <= columns else vectors) * self.gain
        ops.copy.into((param,), to_dtype(matrix.reshape(shape), param.dtype))
