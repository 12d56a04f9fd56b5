"""Arguments that came with Paddle 3, where a call with the older ones says the same: `round(x, decimals=2)`, `var(x, correction=0)`, ...

Loaded when a call first has an argument that its function does not know.
"""
from __future__ import annotations

from typing import Any

from wherry_tensor import ops
from wherry_tensor._core import Tensor
from wherry_tensor.arguments import flag, integer, number, real_number, require_tensor, to_dtype
from wherry_tensor.dtype import as_dtype
from wherry_tensor.errors import InvalidArgumentError, UnimplementedError, short
from wherry_tensor.spellings import Call, added

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
        from wherry_tensor.arguments import axes_of

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
    from wherry_tensor.functions.joining import matrix_transpose

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
    from wherry_tensor.functions.positions import take_along_axis

    return call.replaced("sorted_sequence", lambda sequence: take_along_axis(sequence, require_tensor(sorter, "searchsorted", "sorter"), -1))


@added("mode", ("median", "nanmedian"))
def _lower_median(call: Call, mode: Any) -> Call:
    if mode == "avg":
        return call
    if mode != "min":
        raise InvalidArgumentError(
            f"{call.owner}: unknown mode. Got {short(mode)}, expected 'avg' or 'min'. 'avg' is the mean of the two in the middle."
        )
    from wherry_tensor import compat

    x, axis, keepdim = (_given(call, name, default) for name, default in (("x", None), ("axis", None), ("keepdim", False)))
    return call._replace(function=getattr(compat, call.owner), args=(x, axis, keepdim), kwargs={})


@added("weight", ("histogram",))
@added("density", ("histogram",))
def _weighted(call: Call, value: Any) -> Call:
    if value is None or value is False:
        return call
    from wherry_tensor.functions.products import histogram_of_weights

    name = "weight" if isinstance(value, Tensor) else "density"
    return call._replace(function=histogram_of_weights, kwargs={**call.kwargs, name: value}, names=(*call.names, name))
