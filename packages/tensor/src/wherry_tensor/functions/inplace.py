"""In-place forms: `exp_` writes what `exp` returns into its first argument, and returns that.

Where no gradient is asked for, the op writes straight into the tensor. Where one is, the function
reads a copy, so that what it keeps for the backward pass is not what gets overwritten. In static mode
nothing is written: `exp_` is `exp`.
"""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from wherry_tensor import _core, ops
from wherry_tensor._core import Op, Tensor
from wherry_tensor.arguments import fitted, number, require_writable, write
from wherry_tensor.functions import creation, logic, math, reduction, special
from wherry_tensor.spellings import spelled
from wherry_tensor.static_builder import described


def inplace_form(
    function: Callable[..., Tensor], op: Op | None = None, retype: bool = False, source: str = "paddle.Tensor"
) -> Callable[..., Tensor]:
    """`function_`, which writes the result of `function` into its first argument.

    Args:
        function: takes the tensor first.
        op: the op that is all of `function` when the other arguments are tensors of the same dtype.
        retype: whether the tensor may take another dtype.
        source: where Paddle has it, for the docstring.
    """
    name = function.__name__ + "_"
    first = function.__code__.co_varnames[0]

    def inplace(x: Any = None, *args: Any, **kwargs: Any) -> Tensor:
        if x is None:
            x = kwargs.pop(first, None)
        if type(x) is not Tensor and described(x):
            return function(x, *args, **kwargs)
        if op is not None and not kwargs and isinstance(x, Tensor) and x.stop_gradient:
            if not args or (isinstance(args[0], Tensor) and args[0].dtype is x.dtype and args[0].stop_gradient):
                try:
                    return op.into((x,), x, *args)
                except (TypeError, ValueError):
                    pass  # the longer way says what is wrong
        require_writable(x, name)
        source = x
        if any(isinstance(given, Tensor) and not given.stop_gradient for given in (x, *args, *kwargs.values())):
            source = ops.copy(x)  # recorded: the old values may be needed
            args = tuple(source if arg is x else arg for arg in args)
        return write(x, function(source, *args, **kwargs), name, retype)

    inplace.__name__ = inplace.__qualname__ = name
    inplace.__module__ = function.__module__ if source != "paddle.Tensor" else __name__
    inplace.__wrapped__ = function  # type: ignore[attr-defined]  # inspect.signature and help() read it
    inplace.__doc__ = _docstring(function, name, retype, source)
    return inplace


def _docstring(function: Callable[..., Tensor], name: str, retype: bool, source: str) -> str:
    """The docstring of an in-place form: what `function` says of its arguments and errors, and its example, in place."""
    said = {}
    for part in (function.__doc__ or "").split("\n\n"):
        title, _, lines = part.strip().partition(":\n")
        indent = len(lines) - len(lines.lstrip())  # 4 from Python 3.13 on, 8 before
        said[title] = [f"    {line[indent:]}" for line in lines.rstrip().split("\n") if line]
    first, *others = function.__code__.co_varnames[:2]
    refused = said.get("Raises", [])
    if not retype:
        refused = [*refused, f"    TypeError: the result has another dtype than `{first}` (also a ValueError)."]
    sections = {
        "Args": said.get("Args", []),
        "Shape": [f"    `[...]` to the same: `{first}` keeps its shape{', to which `y` broadcasts' if others == ['y'] else ''}."],
        "Raises": [*refused, f"    ValueError: the result has another shape than `{first}`, or `{first}` is a leaf that asks for gradients."],
        "Source": [f"    `{source}.{name}`."],
        "Examples": [line.replace(f".{function.__name__}(", f".{name}(") for line in said.get("Examples", [])],
    }
    text = "".join("\n".join(["\n", f"{title}:", *lines]) for title, lines in sections.items() if lines)
    return f"In-place form of `{function.__name__}`: writes the result into the first argument and returns it.{text}\n"


# One tensor.
abs_ = inplace_form(math.abs, ops.abs)
acos_ = inplace_form(math.acos, ops.acos)
acosh_ = inplace_form(math.acosh, ops.acosh)
asin_ = inplace_form(math.asin, ops.asin)
asinh_ = inplace_form(math.asinh, ops.asinh)
atan_ = inplace_form(math.atan, ops.atan)
atanh_ = inplace_form(math.atanh, ops.atanh)
ceil_ = inplace_form(math.ceil, ops.ceil)
cos_ = inplace_form(math.cos, ops.cos)
cosh_ = inplace_form(math.cosh, ops.cosh)
digamma_ = inplace_form(math.digamma, ops.digamma)
erf_ = inplace_form(math.erf, ops.erf)
erfinv_ = inplace_form(math.erfinv, ops.erfinv)
exp_ = inplace_form(math.exp, ops.exp)
expm1_ = inplace_form(math.expm1, ops.expm1)
floor_ = inplace_form(math.floor, ops.floor)
frac_ = inplace_form(math.frac)
i0_ = inplace_form(special.i0, ops.i0)
lgamma_ = inplace_form(math.lgamma, ops.lgamma)
log_ = inplace_form(math.log, ops.log)
log10_ = inplace_form(math.log10, ops.log10)
log1p_ = inplace_form(math.log1p, ops.log1p)
log2_ = inplace_form(math.log2, ops.log2)
logit_ = inplace_form(math.logit)
multigammaln_ = inplace_form(math.multigammaln)
nan_to_num_ = inplace_form(math.nan_to_num)
neg_ = inplace_form(math.neg, ops.negative)
polygamma_ = inplace_form(special.polygamma)
reciprocal_ = inplace_form(math.reciprocal, ops.reciprocal)
round_ = inplace_form(math.round, ops.round)
rsqrt_ = inplace_form(math.rsqrt, ops.rsqrt)
sigmoid_ = inplace_form(math.sigmoid, ops.sigmoid)
sin_ = inplace_form(math.sin, ops.sin)
sinh_ = inplace_form(math.sinh, ops.sinh)
sqrt_ = inplace_form(math.sqrt, ops.sqrt)
square_ = inplace_form(math.square, ops.square)
tan_ = inplace_form(math.tan, ops.tan)
tanh_ = inplace_form(math.tanh, ops.tanh)
trunc_ = inplace_form(math.trunc, ops.trunc)

# Two tensors.
add_ = inplace_form(math.add, ops.add)
divide_ = inplace_form(math.divide, ops.divide)
floor_divide_ = inplace_form(math.floor_divide, ops.floor_divide)
gcd_ = inplace_form(math.gcd, ops.gcd)
hypot_ = inplace_form(math.hypot)
lcm_ = inplace_form(math.lcm, ops.lcm)
ldexp_ = inplace_form(math.ldexp)
multiply_ = inplace_form(math.multiply, ops.multiply)
pow_ = inplace_form(math.pow, ops.power)
remainder_ = inplace_form(math.remainder, ops.remainder)
mod_ = remainder_
floor_mod_ = remainder_
subtract_ = inplace_form(math.subtract, ops.subtract)

# Tensors and numbers.
clip_ = inplace_form(math.clip)
lerp_ = inplace_form(math.lerp)
scale_ = inplace_form(math.scale)

# Comparison and logic: x becomes bool.
equal_ = inplace_form(logic.equal, retype=True)
greater_equal_ = inplace_form(logic.greater_equal, retype=True)
greater_than_ = inplace_form(logic.greater_than, retype=True)
less_equal_ = inplace_form(logic.less_equal, retype=True)
less_than_ = inplace_form(logic.less_than, retype=True)
logical_and_ = inplace_form(logic.logical_and, retype=True)
logical_not_ = inplace_form(logic.logical_not, retype=True)
logical_or_ = inplace_form(logic.logical_or, retype=True)
logical_xor_ = inplace_form(logic.logical_xor, retype=True)
not_equal_ = inplace_form(logic.not_equal, retype=True)
bitwise_and_ = inplace_form(logic.bitwise_and, ops.bitwise_and)
bitwise_not_ = inplace_form(logic.bitwise_not, ops.bitwise_not)
bitwise_or_ = inplace_form(logic.bitwise_or, ops.bitwise_or)
bitwise_xor_ = inplace_form(logic.bitwise_xor, ops.bitwise_xor)

# Copies, triangles, scans.
tril_ = inplace_form(creation.tril)
triu_ = inplace_form(creation.triu)
cumprod_ = inplace_form(reduction.cumprod)


def cumsum_(x: Tensor, axis: int | None = None, dtype: Any = None, name: str | None = None) -> Tensor:
    """In-place form of `cumsum`: writes the result into `x` and returns it.

    Without `axis`, `x` becomes one axis of all elements, as in Paddle.

    Shape:
        `[...]` to the same; without `axis`, to `[n]` for n elements.

    Raises:
        TypeError: `x` is not a Tensor or `axis` not an int (also a ValueError), or `dtype` is not a known dtype.
        IndexError: the axis is out of range.
        ValueError: `x` is a leaf that asks for gradients.

    Source:
        `paddle.Tensor.cumsum_`.

    Examples:
        >>> print(wherry.to_tensor([1.0, 2.0]).cumsum_().numpy())
        [1. 3.]
    """
    if described(x):
        return reduction.cumsum(x, axis, dtype)
    require_writable(x, "cumsum_")
    out = reduction.cumsum(x if x.stop_gradient else ops.copy(x), axis, dtype)
    if axis is None and out.shape != x.shape:
        return _core.rebind(x, out)
    return write(x, out, "cumsum_", retype=True)


def where_(condition: Tensor, x: Any = None, y: Any = None, name: str | None = None) -> Tensor:
    """In-place form of `where`: writes the result into `x` and returns it.

    Shape:
        `condition` and `y` broadcast to the shape of `x`, which stays.

    Raises:
        TypeError: `x` is not a Tensor, `condition` not a bool Tensor, or the result has another dtype than `x` (also a
            ValueError).
        ValueError: `y` is not given, the shapes do not broadcast to that of `x`, or `x` is a leaf that asks for gradients.

    Source:
        `paddle.where_`.

    Examples:
        >>> x = wherry.to_tensor([1, 2])
        >>> print(wherry.where_(wherry.to_tensor([True, False]), x, wherry.to_tensor([3, 4])).numpy())
        [1 4]
    """
    require_writable(x, "where_")
    return write(x, logic.where(condition, x if x.stop_gradient else ops.copy(x), y), "where_")


def fill_(x: Tensor, value: Any) -> Tensor:
    """Fill `x` with one number, in place.

    Shape:
        `[...]` to the same: `x` keeps its shape.

    Raises:
        TypeError: `x` is not a Tensor (also a ValueError), or `value` is neither an int nor a float.
        ValueError: the dtype has no such number, or `x` is a leaf that asks for gradients.

    Source:
        `paddle.Tensor.fill_`.

    Examples:
        >>> print(wherry.zeros([2]).fill_(3).numpy())
        [3. 3.]
    """
    require_writable(x, "fill_")
    if isinstance(value, Tensor) or not isinstance(value, (int, float)):
        raise TypeError(
            f"fill_: The type of 'value' must be int or float. Got {type(value).__name__}, expected a number. "
            f"Use x.set_value(...) or x[...] = value for tensors."
        )
    number(value, "fill_", "value")
    return ops.full.into((x,), shape=tuple(x.shape), value=fitted(value, x.dtype, "fill_"), dtype=x.dtype)


def zero_(x: Tensor) -> Tensor:
    """Fill `x` with 0, in place.

    Shape:
        `[...]` to the same: `x` keeps its shape.

    Raises:
        TypeError: `x` is not a Tensor (also a ValueError).
        ValueError: `x` is a leaf that asks for gradients.

    Source:
        `paddle.Tensor.zero_`.

    Examples:
        >>> print(wherry.ones([2]).zero_().numpy())
        [0. 0.]
    """
    return fill_(x, 0)


__all__ = [name for name, value in list(globals().items()) if name.endswith("_") and not name.startswith("_")]


spelled(globals())
