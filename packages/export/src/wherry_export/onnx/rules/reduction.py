"""Reductions and scans."""
from __future__ import annotations

from wherry_export.onnx.column import LOOP, cannot, to_onnx
from wherry_export.onnx.writer import onnx_type
from wherry_tensor import ops
from wherry_tensor._core import bool_, int32, int64


def _reduction(op, kind):
    @to_onnx.rule(op)
    def onnx_reduction(g, x, *, axes, keepdim):
        if x.dtype is bool_:
            narrow = g.reduce(kind, g.cast(x, int32), axes, keepdim)
            return g.op("Cast", narrow, to=onnx_type(bool_)) if kind in ("ReduceMax", "ReduceMin") else g.cast(narrow, int64)
        return g.reduce(kind, x, axes, keepdim)


for _name, _kind in {
    "reduce_mean": "ReduceMean", "reduce_prod": "ReduceProd", "reduce_max": "ReduceMax", "reduce_min": "ReduceMin",
    "reduce_amax": "ReduceMax", "reduce_amin": "ReduceMin", "logsumexp": "ReduceLogSumExp",
}.items():
    _reduction(getattr(ops, _name), _kind)


@to_onnx.rule(ops.reduce_sum)
def onnx_reduce_sum(g, x, *, axes, keepdim):
    if x.dtype is bool_ or not x.is_floating:
        return g.reduce("ReduceSum", g.cast(x, int64), axes, keepdim)
    return g.reduce("ReduceSum", x, axes, keepdim)


@to_onnx.rule(ops.reduce_any)
def onnx_reduce_any(g, x, *, axes, keepdim):
    # Counted: of no values the largest is not defined, their number is 0.
    truths = g.op("Cast", g.cast(x, bool_), to=onnx_type(int32))
    return g.cast(g.reduce("ReduceSum", truths, axes, keepdim), bool_)


@to_onnx.rule(ops.reduce_all)
def onnx_reduce_all(g, x, *, axes, keepdim):
    falsehoods = g.op("Cast", g.op("Not", g.cast(x, bool_)), to=onnx_type(int32))
    return g.op("Not", g.cast(g.reduce("ReduceSum", falsehoods, axes, keepdim), bool_))


def _position(op, kind):
    @to_onnx.rule(op)
    def onnx_position(g, x, *, axis, keepdim):
        return g.op(kind, g.cast(x, int32) if x.dtype is bool_ else x, axis=axis, keepdims=int(keepdim))


_position(ops.argmax, "ArgMax")
_position(ops.argmin, "ArgMin")


@to_onnx.rule(ops.cumsum)
def onnx_cumsum(g, x, *, axis, reverse):
    if x.dtype is bool_ or (not x.is_floating and x.dtype is not int64):
        x = g.cast(x, int64)
    return g.op("CumSum", x, g.constant(axis, "int64"), reverse=int(reverse))


for _name in ("cumprod", "cummax", "linear_scan"):
    cannot(getattr(ops, _name), LOOP)
