"""Calls that Paddle 2's functions understand once they are written otherwise: `round(x, decimals=2)`, `x.gather(1, index)`, ...

Declared for `spellings`, which knows nothing of functions.
"""
from __future__ import annotations

from typing import Any

from wherry_tensor import compat, ops
from wherry_tensor._core import Tensor
from wherry_tensor.arguments import axes_of, flag, integer, number, one_axis, real_number, require_tensor, to_dtype
from wherry_tensor.device import device_code
from wherry_tensor.dtype import as_dtype
from wherry_tensor.errors import InvalidArgumentError, UnimplementedError, short
from wherry_tensor.functions import inplace, math, positions
from wherry_tensor.functions.joining import matrix_transpose
from wherry_tensor.functions.positions import take_along_axis
from wherry_tensor.functions.products import histogram_of_weights
from wherry_tensor.methods import on_device
from wherry_tensor.spellings import NEW, Call, added, listed

__all__: list[str] = []


def _given(call: Call, name: str, default: Any = None) -> Any:
    """An argument of the function, as the call has it."""
    if name in call.kwargs:
        return call.kwargs[name]
    at = call.names.index(name)
    return call.args[at] if at < len(call.args) else default


@added("stable", ("argsort", "sort"))
@added("sorted", ("unique",))
@added("generator", ("random_",))
@added("output_size", ("repeat_interleave",))
def _without_effect(call: Call, value: Any) -> Call:
    """Equal values keep their order, unique ones are sorted, and a number of results follows from the others: nothing changes."""
    return call


@added("dump_backward_graph_path", ("backward", "grad"))
def _dump(call: Call, path: Any) -> Call:
    if path is not None:
        raise UnimplementedError(f"{call.owner}: graphs are not drawn. Got dump_backward_graph_path={short(path)}, expected None. Leave it out.")
    return call


@added("decimals", ("round", "round_"))
def _decimals(call: Call, decimals: Any) -> Call:
    digits = integer(decimals, call.owner, "decimals")
    if digits:
        factor = 10.0**digits
        call = call.replaced("x", lambda x: x * factor if not call.owner.endswith("_") else x.scale_(factor))
        call.after.insert(0, lambda result: result / factor if not call.owner.endswith("_") else result.scale_(1.0 / factor))
    return call


@added("dtype", ("mean", "norm"))
def _in_dtype(call: Call, dtype: Any) -> Call:
    if dtype is None:
        return call
    wanted = as_dtype(dtype, call.owner)
    return call.replaced("x", lambda x: to_dtype(require_tensor(x, call.owner), wanted))


@added("correction", ("std", "var"))
def _correction(call: Call, correction: Any) -> Call:
    less = real_number(correction, call.owner, "correction")
    call.kwargs["unbiased"] = less == 1
    if less not in (0, 1):
        x, axis = require_tensor(_given(call, "x"), call.owner), _given(call, "axis", call.kwargs.get("dim"))
        n = 1
        for i in axes_of(axis, x.ndim, call.owner):
            n *= x.shape[i]
        factor = n / max(n - less, 0.0) if n > less else float("inf")
        call.after.insert(0, lambda result: result * (factor if call.owner == "var" else factor**0.5))
    return call


@added("alpha", ("index_add", "index_add_"))
def _scaled_value(call: Call, alpha: Any) -> Call:
    factor = number(alpha, call.owner, "alpha")
    if "source" in call.kwargs:
        call.kwargs["value"] = call.kwargs.pop("source")
    return call if factor == 1 else call.replaced("value", lambda value: value * factor)


@added("source", ("index_add", "index_add_"))
def _source(call: Call, source: Any) -> Call:
    call.kwargs["value"] = source
    return call


@added("p", ("bernoulli",))
def _chance(call: Call, p: Any) -> Call:
    if p is None:
        return call
    chance = real_number(p, call.owner, "p")
    return call.replaced("x", lambda x: ops.full_like(require_tensor(x, call.owner), value=chance, dtype=x.dtype))


@added("left", ("solve",))
def _left(call: Call, left: Any) -> Call:
    if flag(left, call.owner, "left"):
        return call
    call = call.replaced("x", matrix_transpose).replaced("y", matrix_transpose)  # x A = b is A' x' = b'
    call.after.insert(0, matrix_transpose)
    return call


@added("side", ("searchsorted",))
def _side(call: Call, side: Any) -> Call:
    if side is not None:
        if side not in ("left", "right"):
            raise InvalidArgumentError(f"searchsorted: unknown side. Got {short(side)}, expected 'left' or 'right'. 'left' is the default.")
        call.kwargs["right"] = side == "right"
    return call


@added("sorter", ("searchsorted",))
def _sorter(call: Call, sorter: Any) -> Call:
    if sorter is None:
        return call
    return call.replaced("sorted_sequence", lambda sequence: take_along_axis(sequence, require_tensor(sorter, "searchsorted", "sorter"), -1))


@added("mode", ("median", "nanmedian"))
def _lower_median(call: Call, mode: Any) -> Call:
    if mode == "avg":
        return call
    if mode != "min":
        raise InvalidArgumentError(
            f"{call.owner}: unknown mode. Got {short(mode)}, expected 'avg' or 'min'. 'avg' is the mean of the two in the middle."
        )
    x, axis, keepdim = (_given(call, name, default) for name, default in (("x", None), ("axis", None), ("keepdim", False)))
    return call._replace(function=getattr(compat, call.owner), args=(x, axis, keepdim), kwargs={})


@added("weight", ("histogram",))
@added("density", ("histogram",))
def _weighted(call: Call, value: Any) -> Call:
    if value is None or value is False:
        return call
    name = "weight" if isinstance(value, Tensor) else "density"
    return call._replace(function=histogram_of_weights, kwargs={**call.kwargs, name: value}, names=(*call.names, name))


@listed("transpose", "transpose_")
def _two_axes(call: Call, at: int) -> Call:
    """`x.transpose(0, 1)` exchanges two axes."""
    if len(call.args) != at + 2:
        return call._replace(args=(*call.args[:at], list(call.args[at:])))
    x, axes = call.args[0], call.args[at:]
    return call._replace(args=(x, _exchanged(x, axes[0], axes[1], call.owner)))


def _exchanged(x: Any, a: Any, b: Any, op_name: str) -> list[int]:
    order = list(range(require_tensor(x, op_name).ndim))
    if not order:
        return order
    i, j = (one_axis(axis, len(order), op_name) for axis in (a, b))
    order[i], order[j] = order[j], order[i]
    return order


@added("dim0", ("transpose", "transpose_"))
def _named_axes(call: Call, dim0: Any) -> Call:
    x = call.args[0] if call.args else call.kwargs.get("x", call.kwargs.get("input"))
    call.kwargs["perm"] = _exchanged(x, dim0, call.kwargs.pop("dim1", -1), call.owner)
    return call


@listed("gather", "index_add", "index_add_", "index_select", "scatter", "scatter_")
def _axis_first(call: Call, at: int) -> Call:
    """PyTorch's order: the axis, then positions, then values."""
    x, axis, index, *rest = call.args
    if not isinstance(index, Tensor) or isinstance(axis, Tensor):  # positions are not an axis: Paddle's order
        return call
    if call.owner in ("index_select", "index_add", "index_add_"):
        return call._replace(args=(x, index, axis, *rest))
    return _along(call, x, axis, index, *rest)


def _along(call: Call, x: Any, axis: Any, index: Any, source: Any = None) -> Call:
    """Elements at positions of an index of the rank of `x`, along one axis: PyTorch's `gather` and `scatter`."""
    if call.owner == "gather":
        return call._replace(function=positions.take_along_axis, args=(x, index, axis, False))
    if source is None:
        source = call.kwargs.pop("src", call.kwargs.pop("value", None))
    reduce = {"reduce": call.kwargs.pop("reduce")} if "reduce" in call.kwargs else {}
    function = positions.put_along_axis_ if call.owner.endswith("_") else positions.put_along_axis
    return call._replace(function=function, args=(x, index, source, axis), kwargs={**call.kwargs, **reduce, "broadcast": False})


@added("dim", ("gather", "scatter", "scatter_"))
def _along_named(call: Call, dim: Any) -> Call:
    given = dict(zip(("x", "index", "source"), call.args))
    for name, others in {"x": ("input", "x"), "index": ("index",), "source": ("src", "value")}.items():
        for other in others:
            if other in call.kwargs:
                given[name] = call.kwargs.pop(other)
    return _along(call._replace(args=()), given.get("x"), dim, given.get("index"), given.get("source"))


@added("device", [*NEW, "tensor", "as_tensor", "asarray"])
def _device(call: Call, device: Any) -> Call:
    if device is None:
        return call
    code = device_code(device, call.owner)
    call.after.insert(0, lambda result: on_device(result, code))
    return call


@added("alpha", ("add", "add_", "subtract", "subtract_"))
def _alpha(call: Call, alpha: Any) -> Call:
    """`x + alpha * y`."""
    factor = number(alpha, call.owner, "alpha")
    if factor == 1:
        return call
    if "other" in call.kwargs:
        call.kwargs["y"] = call.kwargs.pop("other")
    return call.replaced("y", lambda y: y * factor)


@added("rounding_mode", ("divide", "divide_"))
def _rounding_mode(call: Call, mode: Any) -> Call:
    if mode is None:
        return call
    if mode not in ("floor", "trunc"):
        raise InvalidArgumentError(
            f"{call.owner}: rounding_mode is unknown. Got {short(mode)}, expected None, 'trunc' or 'floor'. 'floor' rounds toward minus infinity."
        )
    in_place = call.owner.endswith("_")
    if mode == "floor":
        return call._replace(function=inplace.floor_divide_ if in_place else math.floor_divide)
    toward_zero = inplace.trunc_ if in_place else math.trunc
    call.after.insert(0, lambda result: result if result.dtype.is_integer else toward_zero(result))  # integers are cut already
    return call
