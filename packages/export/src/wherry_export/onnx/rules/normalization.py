"""Softmax and normalization."""
from __future__ import annotations

import numpy as np

from wherry_export.onnx.column import to_onnx
from wherry_tensor import ops


def _along(op, kind):
    @to_onnx.rule(op)
    def onnx_along(g, x, *, axis):
        if g.opset >= 13 or axis == x.rank - 1:
            return g.op(kind, x, axis=axis)
        # Before opset 13 everything from `axis` on was one row.
        perm = [*(a for a in range(x.rank) if a != axis), axis]
        turned = g.op(kind, g.transpose(x, perm), axis=x.rank - 1)
        return g.transpose(turned, list(np.argsort(perm)))


_along(ops.softmax, "Softmax")
_along(ops.log_softmax, "LogSoftmax")


@to_onnx.rule(ops.layer_norm)
def onnx_layer_norm(g, x, scale, bias, *, epsilon, begin_axis):
    if g.opset < 17 or any(g.wanted[1:]) or scale is None or x.dtype is not scale.dtype:
        return NotImplemented
    return g.op("LayerNormalization", x, scale, bias, axis=begin_axis, epsilon=epsilon), None, None


@to_onnx.rule(ops.batch_norm_infer)
def onnx_batch_norm_infer(g, x, mean, variance, scale, bias, *, epsilon, data_format):
    channels = mean.shape[0]
    if channels < 0 or x.dtype is not mean.dtype:
        return NotImplemented
    scale = g.constant(np.ones(channels, x.dtype.name)) if scale is None else scale
    bias = g.constant(np.zeros(channels, x.dtype.name)) if bias is None else bias
    last = data_format == "NHWC" and x.rank > 2
    there = [0, x.rank - 1, *range(1, x.rank - 1)]
    out = g.op("BatchNormalization", g.transpose(x, there) if last else x, scale, bias, mean, variance, epsilon=epsilon)
    return g.transpose(out, [0, *range(2, x.rank), 1]) if last else out
