"""Activation functions: nonlinearities of each element, and softmax along an axis.

Most pass `x` straight to the op of the same name. Where that refuses its arguments, `_again` converts numbers that
came as tensors or NumPy scalars, off the fast path.
"""
from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, TypeVar

from wherry_nn.functional._clipping import clipping
from wherry_tensor import flags, ops, paddle_random
from wherry_tensor._core import Op, Tensor, float32, float64, scalar
from wherry_tensor.arguments import checked, flag, integer, one_axis, real_number, refused, require_tensor, to_dtype
from wherry_tensor.dtype import as_dtype
from wherry_tensor.errors import AssertedArgumentError, InvalidArgumentError, InvalidTypeError, short
from wherry_tensor.functions.inplace import inplace_form, tanh_
from wherry_tensor.functions.math import sigmoid, tanh
from wherry_tensor.sizes import is_unknown, uneven
from wherry_tensor.spellings import spelled

__all__ = [
    "celu",
    "elu",
    "elu_",
    "gelu",
    "glu",
    "gumbel_softmax",
    "hardshrink",
    "hardsigmoid",
    "hardswish",
    "hardtanh",
    "hardtanh_",
    "leaky_relu",
    "leaky_relu_",
    "log_sigmoid",
    "log_softmax",
    "maxout",
    "mish",
    "prelu",
    "relu",
    "relu6",
    "relu_",
    "rrelu",
    "selu",
    "sigmoid",
    "silu",
    "softmax",
    "softmax_",
    "softplus",
    "softshrink",
    "softsign",
    "swish",
    "tanh",
    "tanh_",
    "tanhshrink",
    "thresholded_relu",
    "thresholded_relu_",
]


# ReLU and its relatives.


Function = TypeVar("Function", bound=Callable[..., Any])

_OF_EACH_ELEMENT = """
Args:
    x: floating.

Shape:
    `[...]` to the same.

Raises:
    TypeError: `x` is not a Tensor (also a ValueError), or has another dtype.

Source:
    `paddle.nn.functional.{name}`.

"""


def of_each_element(function: Function) -> Function:
    """Complete the docstring of a function of Paddle's that takes a floating tensor and gives one of its shape."""
    if function.__doc__ is not None:  # python -OO
        text = inspect.cleandoc(function.__doc__)  # Python 3.13 has done so
        shared = _OF_EACH_ELEMENT.lstrip("\n").format(name=function.__name__)
        if "\nSource:" in text:  # it says more than the name
            shared = shared.partition("Source:")[0]
        at = "Source:" if "\nSource:" in text else "Examples:"
        function.__doc__ = text.replace(f"\n{at}", f"\n{shared}{at}", 1)
    return function


def relu(x: Tensor, name: str | None = None) -> Tensor:
    """Rectified linear unit: max(x, 0) of each element. NaN becomes 0, as in Paddle.

    Args:
        x: floating or integer.

    Shape:
        `[...]` to the same.

    Raises:
        TypeError: `x` is not a Tensor (also a ValueError), or has another dtype.

    Source:
        `paddle.nn.functional.relu`.

    Examples:
        >>> print(wherry.nn.functional.relu(wherry.to_tensor([-2.0, 3.0])).numpy())
        [0. 3.]
    """
    try:
        return ops.relu(x)
    except TypeError as error:
        raise checked("relu", x, error) from None


@of_each_element
def relu6(x: Tensor, name: str | None = None) -> Tensor:
    """ReLU cut at 6: min(max(x, 0), 6) of each element.

    Examples:
        >>> print(wherry.nn.functional.relu6(wherry.to_tensor([-1.0, 0.3, 6.5])).numpy())
        [0.  0.3 6. ]
    """
    try:
        return ops.relu6(x)
    except TypeError as error:
        raise checked("relu6", x, error) from None


def leaky_relu(x: Tensor, negative_slope: float = 0.01, name: str | None = None) -> Tensor:
    """Leaky ReLU: `x` where it is positive, `negative_slope * x` elsewhere.

    Args:
        x: floating.
        negative_slope: a number.

    Shape:
        `[...]` to the same.

    Raises:
        TypeError: `x` is not a Tensor or `negative_slope` is not a number (also a ValueError), or `x` has another dtype.

    Source:
        `paddle.nn.functional.leaky_relu`.

    Examples:
        >>> print(wherry.nn.functional.leaky_relu(wherry.to_tensor([-2.0, 0.0, 1.0]), 0.5).numpy())
        [-1.  0.  1.]
    """
    try:
        return ops.leaky_relu(x, negative_slope)
    except TypeError as error:
        return _again("leaky_relu", ops.leaky_relu, error, x, negative_slope=negative_slope)


def rrelu(
    x: Tensor, lower: float = 1.0 / 8.0, upper: float = 1.0 / 3.0, training: bool = True, name: str | None = None
) -> Tensor:
    """Randomized leaky ReLU: `x` where it is not negative; elsewhere `x` times a slope drawn from [lower, upper)
    for each element.

    Args:
        x: floating.
        lower, upper: floats, 0 <= lower <= upper <= 1.
        training: False multiplies by the middle of the two instead.

    Shape:
        `[...]` to the same.

    Raises:
        TypeError: `x` is not a Tensor (also a ValueError), or has another dtype, or a bound is not a float.
        ValueError: the bounds are out of order.

    Source:
        `paddle.nn.functional.rrelu`; Xu et al. (2015).

    Examples:
        >>> print(wherry.nn.functional.rrelu(wherry.to_tensor([-2.0, 3.0]), 0.25, 0.75, training=False).numpy())
        [-1.  3.]
    """
    if not isinstance(lower, float) or not isinstance(upper, float):
        raise TypeError(
            f"rrelu: The lower and upper values must be float type. Got {short(lower)} and {short(upper)}, expected two floats. "
            f"Write 0.0 or 1.0."
        )
    if not 0 <= lower <= upper <= 1:
        raise InvalidArgumentError(
            f"rrelu: the bounds of the slope are out of order. Got lower={lower} and upper={upper}, expected "
            f"0 <= lower <= upper <= 1. Exchange them if they are swapped."
        )
    _require_floating(x, "rrelu")
    if not training or lower == upper:
        return leaky_relu(x, (lower + upper) / 2.0)
    return ops.prelu(x, ops.uniform(shape=tuple(x.shape), min=lower, max=upper, dtype=x.dtype))


def prelu(x: Tensor, weight: Tensor, data_format: str = "NCHW", name: str | None = None) -> Tensor:
    """Parametric ReLU: `x` where it is positive, `weight * x` elsewhere, with one weight for all or one for each
    channel.

    Args:
        x: floating. The channels are axis 1 or, with "NLC", "NHWC" and "NDHWC", the last one.
        weight: shape `[1]`, or `[channels]`; the dtype of `x`.
        data_format: "NC", "NCL", "NCHW", "NCDHW", "NLC", "NHWC" or "NDHWC".

    Shape:
        `[...]` to the same.

    Raises:
        TypeError: `x` or `weight` is not a Tensor, or their dtypes differ (also a ValueError).
        ValueError: the shape of `weight` does not fit (also an AssertionError), or there is no such `data_format`.

    Source:
        `paddle.nn.functional.prelu`.

    Examples:
        >>> x = wherry.to_tensor([[-4.0, -4.0], [4.0, 4.0]])
        >>> print(wherry.nn.functional.prelu(x, wherry.to_tensor([0.25, 0.5])).numpy())
        [[-1. -2.]
         [ 4.  4.]]
    """
    require_tensor(x, "prelu")
    require_tensor(weight, "prelu", "weight")
    rank = x.ndim
    if weight.ndim > 1:
        raise AssertedArgumentError(
            f"prelu: the weight has too many axes. Got weight of shape {weight.shape}, expected [1] or one value for each "
            f"channel. Flatten it."
        )
    if weight.size != 1:
        if data_format not in ("NC", "NCL", "NCHW", "NCDHW", "NLC", "NHWC", "NDHWC"):
            raise InvalidArgumentError(
                f"prelu: there is no such layout. data_format must be one of 'NC', 'NCL', 'NCHW', 'NCDHW', 'NLC', 'NHWC', "
                f"'NDHWC'. Got {short(data_format)}, expected one of them. 'NCHW' has its channels on axis 1."
            )
        channel = 1 if data_format[1] == "C" else rank - 1
        if rank < 2 or weight.ndim != 1 or x.shape[channel] != weight.shape[0]:
            raise AssertedArgumentError(
                f"prelu: the weight does not fit the channels. Got weight of shape {weight.shape} and x of shape {x.shape}, "
                f"expected {x.shape[channel] if rank >= 2 else 1} weight(s). Use a weight of shape [1] for all channels."
            )
        weight = ops.reshape(weight, tuple(weight.shape[0] if axis == channel else 1 for axis in range(rank)))
    elif rank == 0:
        weight = ops.reshape(weight, ())
    try:
        return ops.prelu(x, weight)
    except TypeError as error:
        raise refused("prelu", error, x=x, weight=weight) from None


def thresholded_relu(x: Tensor, threshold: float = 1.0, name: str | None = None) -> Tensor:
    """Thresholded ReLU: `x` where it exceeds `threshold`, 0 elsewhere.

    Args:
        x: floating.
        threshold: a number.

    Shape:
        `[...]` to the same.

    Raises:
        TypeError: `x` is not a Tensor or `threshold` is not a number (also a ValueError), or `x` has another dtype.

    Source:
        `paddle.nn.functional.thresholded_relu`.

    Examples:
        >>> print(wherry.nn.functional.thresholded_relu(wherry.to_tensor([2.0, 0.0, 1.0])).numpy())
        [2. 0. 0.]
    """
    try:
        return ops.thresholded_relu(x, threshold)
    except TypeError as error:
        return _again("thresholded_relu", ops.thresholded_relu, error, x, threshold=threshold)


# Exponential on the negative side.


def elu(x: Tensor, alpha: float = 1.0, name: str | None = None) -> Tensor:
    """Exponential linear unit (ELU): `x` where it is positive, `alpha * (exp(x) - 1)` elsewhere.

    Args:
        x: floating.
        alpha: a number.

    Shape:
        `[...]` to the same.

    Raises:
        TypeError: `x` is not a Tensor or `alpha` is not a number (also a ValueError), or `x` has another dtype.

    Source:
        `paddle.nn.functional.elu`; Clevert et al. (2015).

    Examples:
        >>> print(wherry.nn.functional.elu(wherry.to_tensor([-1.0, 6.0]), alpha=0.2).numpy())
        [-0.1264...  6.       ]
    """
    try:
        return ops.elu(x, alpha)
    except TypeError as error:
        return _again("elu", ops.elu, error, x, alpha=alpha)


def celu(x: Tensor, alpha: float = 1.0, name: str | None = None) -> Tensor:
    """Continuously differentiable ELU (CELU): `x` where it is positive, `alpha * (exp(x / alpha) - 1)` elsewhere:
    ELU with a slope of 1 at 0.

    Args:
        x: floating.
        alpha: a number other than 0.

    Shape:
        `[...]` to the same.

    Raises:
        TypeError: `x` is not a Tensor or `alpha` is not a number (also a ValueError), or `x` has another dtype.
        ZeroDivisionError: `alpha` is 0.

    Source:
        `paddle.nn.functional.celu`; Barron (2017).

    Examples:
        >>> print(wherry.nn.functional.celu(wherry.to_tensor([-1.0, 6.0]), alpha=0.2).numpy())
        [-0.1986...  6.       ]
    """
    if isinstance(alpha, (int, float)) and alpha == 0:
        raise ZeroDivisionError(
            f"celu: alpha cannot be 0 for celu, which divides by it. Got alpha={short(alpha)}, expected another number. "
            f"The limit for small alpha is relu."
        )
    try:
        return ops.celu(x, alpha)
    except TypeError as error:
        return _again("celu", ops.celu, error, x, alpha=alpha)


def selu(
    x: Tensor,
    scale: float = 1.0507009873554804934193349852946,
    alpha: float = 1.6732632423543772848170429916717,
    name: str | None = None,
) -> Tensor:
    """Scaled ELU (SELU): `scale` times ELU; with the default numbers, layers keep mean 0 and variance 1.

    Args:
        x: floating.
        scale: more than 1.
        alpha: not negative.

    Shape:
        `[...]` to the same.

    Raises:
        TypeError: `x` is not a Tensor (also a ValueError), or has another dtype.
        ValueError: `scale` or `alpha` is out of range.

    Source:
        `paddle.nn.functional.selu`; Klambauer et al. (2017).

    Examples:
        >>> print(wherry.nn.functional.selu(wherry.to_tensor([0.0, 1.0])).numpy())
        [0.       1.050701]
    """
    if not real_number(scale, "selu", "scale") > 1.0:
        raise InvalidArgumentError(
            f"selu: The scale must be greater than 1.0. Got scale={scale}, expected more than 1. Use elu for a scale of 1."
        )
    if real_number(alpha, "selu", "alpha") < 0:
        raise InvalidArgumentError(
            f"selu: The alpha must be no less than zero. Got alpha={alpha}, expected 0 or more. The usual value is 1.6733."
        )
    try:
        return ops.selu(x, scale, alpha)
    except TypeError as error:
        return _again("selu", ops.selu, error, x, scale=scale, alpha=alpha)


# Sigmoid, tanh and other smooth functions.


def gelu(x: Tensor, approximate: bool = False, name: str | None = None) -> Tensor:
    """Gaussian error linear unit (GELU): `x` times the probability that a standard normal variable is below `x`.

    Args:
        x: floating.
        approximate: True takes `0.5 * x * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x ** 3)))`, which differs by less
            than 0.0005.

    Shape:
        `[...]` to the same.

    Raises:
        TypeError: `x` is not a Tensor or `approximate` is not a bool (also a ValueError), or `x` has another dtype.

    Source:
        `paddle.nn.functional.gelu`; Hendrycks & Gimpel (2016).

    Examples:
        >>> print(wherry.nn.functional.gelu(wherry.to_tensor([-1.0, 0.5])).numpy())
        [-0.1586...  0.3457...]
    """
    try:
        return ops.gelu(x, approximate)
    except TypeError:
        require_tensor(x, "gelu")
        if type(approximate) is bool:
            raise  # about the dtype of x
        return ops.gelu(x, flag(approximate, "gelu", "approximate"))


@of_each_element
def silu(x: Tensor, name: str | None = None) -> Tensor:
    """SiLU (swish): `x * sigmoid(x)` of each element.

    Examples:
        >>> print(wherry.nn.functional.silu(wherry.to_tensor([0.0, 1.0])).numpy())
        [0.       0.7310...]
    """
    try:
        return ops.silu(x)
    except TypeError as error:
        raise checked("silu", x, error) from None


@of_each_element
def swish(x: Tensor, name: str | None = None) -> Tensor:
    """SiLU (swish): `x * sigmoid(x)` of each element: another name of `silu`.

    Source:
        `paddle.nn.functional.swish`; Ramachandran et al. (2017), with beta 1.

    Examples:
        >>> print(wherry.nn.functional.swish(wherry.to_tensor([-2.0, 0.0])).numpy())
        [-0.2384...  0.       ]
    """
    try:
        return ops.silu(x)
    except TypeError as error:
        raise checked("swish", x, error) from None


@of_each_element
def mish(x: Tensor, name: str | None = None) -> Tensor:
    """Mish: `x * tanh(softplus(x))` of each element.

    Source:
        `paddle.nn.functional.mish`; Misra (2019).

    Examples:
        >>> print(wherry.nn.functional.mish(wherry.to_tensor([-5.0, 0.0, 5.0])).numpy())
        [-0.0335...  0.         4.9995...]
    """
    try:
        return ops.mish(x)
    except TypeError as error:
        raise checked("mish", x, error) from None


def softplus(x: Tensor, beta: float = 1, threshold: float = 20, name: str | None = None) -> Tensor:
    """Softplus: `log(1 + exp(beta * x)) / beta`, a smooth form of relu; `x` itself where `beta * x` exceeds
    `threshold`.

    Args:
        x: floating.
        beta, threshold: numbers.

    Shape:
        `[...]` to the same.

    Raises:
        TypeError: `x` is not a Tensor, or an argument is not a number (also a ValueError), or `x` has another dtype.

    Source:
        `paddle.nn.functional.softplus`.

    Examples:
        >>> print(wherry.nn.functional.softplus(wherry.to_tensor([0.0, 30.0])).numpy())
        [ 0.6931... 30.       ]
    """
    try:
        return ops.softplus(x, beta, threshold)
    except TypeError as error:
        return _again("softplus", ops.softplus, error, x, beta=beta, threshold=threshold)


@of_each_element
def softsign(x: Tensor, name: str | None = None) -> Tensor:
    """Softsign: `x / (1 + |x|)` of each element.

    Examples:
        >>> print(wherry.nn.functional.softsign(wherry.to_tensor([-1.0, 3.0])).numpy())
        [-0.5   0.75]
    """
    try:
        return ops.softsign(x)
    except TypeError as error:
        raise checked("softsign", x, error) from None


@of_each_element
def log_sigmoid(x: Tensor, name: str | None = None) -> Tensor:
    """Logarithm of the sigmoid: `log(1 / (1 + exp(-x)))` of each element, safe from overflow.

    Examples:
        >>> print(wherry.nn.functional.log_sigmoid(wherry.to_tensor([0.0, -100.0])).numpy())
        [  -0.6931... -100.       ]
    """
    try:
        return ops.log_sigmoid(x)
    except TypeError as error:
        raise checked("log_sigmoid", x, error) from None


# Piecewise linear.


def hardtanh(x: Tensor, min: float = -1.0, max: float = 1.0, name: str | None = None) -> Tensor:
    """Hard tanh: `x` between `min` and `max`, and these bounds beyond them.

    Args:
        x: floating.
        min, max: numbers.

    Shape:
        `[...]` to the same.

    Raises:
        TypeError: `x` is not a Tensor or a bound is not a number (also a ValueError), or `x` has another dtype.

    Source:
        `paddle.nn.functional.hardtanh`.

    Examples:
        >>> print(wherry.nn.functional.hardtanh(wherry.to_tensor([-1.5, 0.3, 2.5])).numpy())
        [-1.   0.3  1. ]
    """
    try:
        return ops.hardtanh(x, min, max)
    except TypeError as error:
        return _again("hardtanh", ops.hardtanh, error, x, min=min, max=max)


def hardsigmoid(x: Tensor, slope: float = 0.1666667, offset: float = 0.5, name: str | None = None) -> Tensor:
    """Hard sigmoid: `slope * x + offset`, cut to [0, 1].

    Args:
        x: floating.
        slope, offset: numbers.

    Shape:
        `[...]` to the same.

    Raises:
        TypeError: `x` is not a Tensor, or an argument is not a number (also a ValueError), or `x` has another dtype.

    Source:
        `paddle.nn.functional.hardsigmoid`.

    Examples:
        >>> print(wherry.nn.functional.hardsigmoid(wherry.to_tensor([-4.0, 5.0, 0.0])).numpy())
        [0.  1.  0.5]
    """
    try:
        return ops.hardsigmoid(x, slope, offset)
    except TypeError as error:
        return _again("hardsigmoid", ops.hardsigmoid, error, x, slope=slope, offset=offset)


@of_each_element
def hardswish(x: Tensor, name: str | None = None) -> Tensor:
    """Hard swish: `x * relu6(x + 3) / 6` of each element.

    Source:
        `paddle.nn.functional.hardswish`; Howard et al. (2019).

    Examples:
        >>> print(wherry.nn.functional.hardswish(wherry.to_tensor([-4.0, 5.0, 3.0])).numpy())
        [-0.  5.  3.]
    """
    try:
        return ops.hardswish(x)
    except TypeError as error:
        raise checked("hardswish", x, error) from None


def hardshrink(x: Tensor, threshold: float = 0.5, name: str | None = None) -> Tensor:
    """Hard shrinkage: 0 between `-threshold` and `threshold`, `x` beyond.

    Args:
        x: floating.
        threshold: a number.

    Shape:
        `[...]` to the same.

    Raises:
        TypeError: `x` is not a Tensor or `threshold` is not a number (also a ValueError), or `x` has another dtype.

    Source:
        `paddle.nn.functional.hardshrink`.

    Examples:
        >>> print(wherry.nn.functional.hardshrink(wherry.to_tensor([-1.0, 0.3, 2.5])).numpy())
        [-1.   0.   2.5]
    """
    try:
        return ops.hardshrink(x, threshold)
    except TypeError as error:
        return _again("hardshrink", ops.hardshrink, error, x, threshold=threshold)


def softshrink(x: Tensor, threshold: float = 0.5, name: str | None = None) -> Tensor:
    """Soft shrinkage: `x` moved towards 0 by `threshold`, and 0 where that would cross it.

    Args:
        x: floating.
        threshold: not negative.

    Shape:
        `[...]` to the same.

    Raises:
        TypeError: `x` is not a Tensor (also a ValueError), or has another dtype.
        ValueError: `threshold` is negative.

    Source:
        `paddle.nn.functional.softshrink`.

    Examples:
        >>> print(wherry.nn.functional.softshrink(wherry.to_tensor([-1.0, 0.25, 1.5])).numpy())
        [-0.5  0.   1. ]
    """
    if real_number(threshold, "softshrink", "threshold") < 0:
        raise InvalidArgumentError(
            f"softshrink: The threshold must be no less than zero. Got threshold={threshold}, expected 0 or more. "
            f"It is how far values move towards 0."
        )
    try:
        return ops.softshrink(x, threshold)
    except TypeError as error:
        return _again("softshrink", ops.softshrink, error, x, threshold=threshold)


@of_each_element
def tanhshrink(x: Tensor, name: str | None = None) -> Tensor:
    """Tanh shrinkage: `x - tanh(x)` of each element.

    Examples:
        >>> print(wherry.nn.functional.tanhshrink(wherry.to_tensor([0.0, 1.0])).numpy())
        [0.       0.2384...]
    """
    try:
        return ops.tanhshrink(x)
    except TypeError as error:
        raise checked("tanhshrink", x, error) from None


# Softmax and others along an axis.


_softmax: Callable[..., Tensor] = ops.softmax
_log_softmax: Callable[..., Tensor] = ops.log_softmax


def _clip(wanted: Any) -> None:
    global _softmax, _log_softmax
    _softmax, _log_softmax = (clipping(op) if wanted else op for op in (ops.softmax, ops.log_softmax))


flags.when_set("FLAGS_paddle_clip", _clip)


def softmax(x: Tensor, axis: int = -1, dtype: Any = None, name: str | None = None) -> Tensor:
    """Softmax: `exp(x)` divided by its sum along `axis`, safe from overflow.

    Args:
        x: floating; any dtype where `dtype` is given.
        axis: in `[-rank, rank)`.
        dtype: a floating dtype to cast `x` to first.

    Returns:
        The shape of `x`; each line along `axis` sums to 1.

    Shape:
        `[...]` to the same.

    Raises:
        TypeError: `x` is not a Tensor or `axis` is not an int (also a ValueError), or `x` has another dtype.
        ValueError: `axis` is out of range.

    Source:
        `paddle.nn.functional.softmax`.

    Examples:
        >>> print(wherry.nn.functional.softmax(wherry.to_tensor([[0.0, 0.0], [1000.0, 0.0]])).numpy())
        [[0.5 0.5]
         [1.  0. ]]
    """
    return _normalized("softmax", _softmax, x, axis, dtype)


def log_softmax(x: Tensor, axis: int = -1, dtype: Any = None, name: str | None = None) -> Tensor:
    """Logarithm of `softmax`, computed without taking a logarithm of small numbers.

    Args:
        x: floating; any dtype where `dtype` is given.
        axis: in `[-rank, rank)`.
        dtype: a floating dtype to cast `x` to first.

    Shape:
        `[...]` to the same.

    Raises:
        TypeError: `x` is not a Tensor or `axis` is not an int (also a ValueError), or `x` has another dtype.
        ValueError: `axis` is out of range.

    Source:
        `paddle.nn.functional.log_softmax`.

    Examples:
        >>> print(wherry.nn.functional.log_softmax(wherry.to_tensor([1000.0, 0.0])).numpy())
        [    0. -1000.]
    """
    return _normalized("log_softmax", _log_softmax, x, axis, dtype)


def _normalized(op_name: str, op: Callable[..., Tensor], x: Tensor, axis: Any, dtype: Any) -> Tensor:
    if dtype is None and type(axis) is int and axis == -1 and isinstance(x, Tensor) and (rank := x.ndim):
        return op(x, rank - 1)
    require_tensor(x, op_name)
    if dtype is not None:
        x = to_dtype(x, as_dtype(dtype, op_name))
    rank = x.ndim
    axis = one_axis(axis, rank, op_name)
    if rank == 0:
        return ops.reshape(op(ops.reshape(x, (1,)), 0), ())
    return op(x, axis)


def gumbel_softmax(
    x: Tensor, temperature: float = 1.0, hard: bool = False, axis: int = -1, name: str | None = None
) -> Tensor:
    """Gumbel softmax: softmax of `x` plus Gumbel noise, a differentiable random choice along `axis`.

    Args:
        x: floating: logarithms of probabilities, up to a constant.
        temperature: positive; the smaller, the closer to one-hot.
        hard: True returns 1 for the largest and 0 for the others; the gradient stays that of the soft result.
        axis: in `[-rank, rank)`.

    Returns:
        The shape of `x`; each line along `axis` sums to 1.

    Shape:
        `[...]` to the same.

    Raises:
        TypeError: `x` is not a Tensor or `axis` is not an int (also a ValueError), or `x` has another dtype.
        ValueError: `axis` is out of range, or `temperature` is not positive.

    Source:
        `paddle.nn.functional.gumbel_softmax`; Jang, Gu & Poole (2016).

    Examples:
        >>> chosen = wherry.nn.functional.gumbel_softmax(wherry.zeros([3, 4]), hard=True)
        >>> print(chosen.sum(axis=-1).numpy())
        [1. 1. 1.]
    """
    _require_floating(x, "gumbel_softmax")
    temperature = real_number(temperature, "gumbel_softmax", "temperature")
    if not temperature > 0:
        raise InvalidArgumentError(
            f"gumbel_softmax: the temperature is not positive. Got temperature={temperature}, expected more than 0. "
            f"Use argmax for a choice without noise."
        )
    rank = x.ndim
    axis = one_axis(axis, rank, "gumbel_softmax")
    if rank == 0:
        return ops.reshape(gumbel_softmax(ops.reshape(x, (1,)), temperature, hard, 0), ())
    # From above 0, since log(0) is infinite; and not in 16 bits, where the last number below 1 may round up to 1.
    wide = float64 if x.dtype is float64 else float32
    if paddle_random.enabled():
        away = scalar(1e-5, wide)  # from 0, as in Paddle; it moves the noise by more than rounding
        u = ops.add(ops.uniform(shape=tuple(x.shape), min=0.0, max=1.0, dtype=wide), away)
        exponential = ops.add(ops.negative(ops.log(u)), away)
    else:
        exponential = ops.negative(ops.log(ops.uniform(shape=tuple(x.shape), min=1e-30, max=1.0, dtype=wide)))
    gumbel = to_dtype(ops.negative(ops.log(exponential)), x.dtype)
    soft = ops.softmax((x + gumbel) / temperature, axis)
    if not hard:
        return soft
    at = ops.argmax(soft, axis, True)
    zeros = ops.full_like(soft, value=0, dtype=soft.dtype)
    one = ops.full(shape=(), value=1, dtype=soft.dtype)
    chosen = ops.put_along_axis(zeros, at, ops.broadcast_to(one, tuple(at.shape)), axis, "assign")
    return soft + (chosen - soft).detach()


def glu(x: Tensor, axis: int = -1, name: str | None = None) -> Tensor:
    """Gated linear unit (GLU): the first half of `x` along `axis`, times the sigmoid of the second half.

    Args:
        x: floating; its size along `axis` is even.
        axis: in `[-rank, rank)`.

    Shape:
        `[..., 2 n, ...]` to `[..., n, ...]`.

    Raises:
        TypeError: `x` is not a Tensor or `axis` is not an int (also a ValueError), or `x` has another dtype.
        ValueError: `axis` is out of range, or the size along it is odd.

    Source:
        `paddle.nn.functional.glu`; Dauphin et al. (2016).

    Examples:
        >>> print(wherry.nn.functional.glu(wherry.to_tensor([3.0, 4.0, 0.0, 0.0])).numpy())
        [1.5 2. ]
    """
    require_tensor(x, "glu")
    shape = x.shape
    if not shape:
        raise InvalidArgumentError(
            "glu: a 0-d tensor has no halves. Got x of shape [], expected an axis of even size. Reshape x."
        )
    axis = one_axis(axis, len(shape), "glu")
    if uneven(shape[axis], 2):
        raise InvalidArgumentError(
            f"glu: the axis cannot be halved. Got size {shape[axis]} along axis {axis} of x of shape {shape}, expected an even "
            f"size. Choose another axis."
        )
    if not is_unknown(shape[axis]):
        try:
            return ops.glu(x, axis=axis)
        except TypeError as error:
            raise checked("glu", x, error) from None
    half = shape[axis] // 2
    first = ops.slice(x, (axis,), (0,), (half,), (1,))
    second = ops.slice(x, (axis,), (half,), (2 * half,), (1,))
    return first * sigmoid(second)


def maxout(x: Tensor, groups: int, axis: int = 1, name: str | None = None) -> Tensor:
    """Maxout: the largest of every `groups` neighbouring channels.

    Args:
        x: floating, 4-D.
        groups: at least 2; divides the number of channels.
        axis: where the channels are: 1, or 3 (also -1).

    Shape:
        `[N, C, H, W]` to `[N, C / groups, H, W]`, or `[N, H, W, C]` to `[N, H, W, C / groups]`.

    Raises:
        TypeError: `x` is not a Tensor or `groups` is not an int (also a ValueError).
        ValueError: `x` is not 4-D, there is no such axis, or `groups` does not divide the channels.

    Source:
        `paddle.nn.functional.maxout`; Goodfellow et al. (2013). Of equal values, the first gets the gradient.

    Examples:
        >>> x = wherry.to_tensor([1.0, 5.0, 4.0, 2.0]).reshape([1, 4, 1, 1])
        >>> print(wherry.nn.functional.maxout(x, groups=2).flatten().numpy())
        [5. 4.]
    """
    require_tensor(x, "maxout")
    groups, at = integer(groups, "maxout", "groups"), integer(axis, "maxout", "axis")
    shape = x.shape
    if len(shape) != 4 or at not in (1, 3, -1):
        raise InvalidArgumentError(
            f"maxout: it takes images with channels on axis 1 or 3. Got x of shape {shape} and axis={axis}, expected rank 4 "
            f"and an axis of 1, 3 or -1. Add axes of size 1 with unsqueeze."
        )
    at %= 4
    if groups < 2 or uneven(shape[at], groups):
        raise InvalidArgumentError(
            f"maxout: the channels cannot be grouped so. Got groups={groups} for {shape[at]} channels, expected a divisor of "
            f"them that is 2 or more. `groups` is how many channels share one result."
        )
    grouped = ops.reshape(x, (*shape[:at], shape[at] // groups, groups, *shape[at + 1 :]))
    # The position and not the maximum: of equal values only one may get the gradient.
    largest = ops.argmax(grouped, at + 1, True)
    return ops.squeeze(ops.take_along_axis(grouped, largest, at + 1), (at + 1,))


# In-place variants.

_SOURCE = "paddle.nn.functional"
relu_ = inplace_form(relu, ops.relu, source=_SOURCE)
elu_ = inplace_form(elu, source=_SOURCE)
hardtanh_ = inplace_form(hardtanh, source=_SOURCE)
leaky_relu_ = inplace_form(leaky_relu, source=_SOURCE)
thresholded_relu_ = inplace_form(thresholded_relu, source=_SOURCE)
softmax_ = inplace_form(softmax, retype=True, source=_SOURCE)


def _require_floating(x: Any, op_name: str) -> None:
    require_tensor(x, op_name)
    if not x.dtype.is_floating:
        raise InvalidTypeError(
            f"{op_name}: x is not floating. Got x of dtype {x.dtype.name}, expected a floating dtype. "
            f"Cast it with astype('float32')."
        )


def _again(op_name: str, op: Op, error: TypeError, x: Any, **numbers: Any) -> Tensor:
    """`op` once more, with numbers that came as tensors or NumPy scalars made into floats."""
    require_tensor(x, op_name)
    if all(type(value) in (float, int) for value in numbers.values()):
        raise error  # about the dtype of x
    return op(x, **{name: real_number(value, op_name, name) for name, value in numbers.items()})


spelled(globals(), ops_of={
    **{name: getattr(ops, name) for name in """hardswish log_sigmoid mish relu relu6 silu softsign tanhshrink""".split()},
    "swish": ops.silu,
})
