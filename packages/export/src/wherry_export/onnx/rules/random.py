"""Random numbers: from the runtime's own generator, so the same seed gives others there."""
from __future__ import annotations

import numpy as np

from wherry_export.onnx.column import cannot, to_onnx
from wherry_export.onnx.writer import onnx_type
from wherry_tensor import ops
from wherry_tensor._core import float32, float64


def _shaped(g, shape):
    return g.op("Expand", g.constant(np.float32(0)), g.shape(shape))


def _drawn(dtype):
    return float64 if dtype is float64 else float32


def _in(g, name, dtype):
    return name if dtype is _drawn(dtype) else g.cast(name, dtype)


@to_onnx.rule(ops.uniform)
def onnx_uniform(g, *, shape, min, max, dtype):
    return _in(g, g.op("RandomUniformLike", _shaped(g, shape), low=min, high=max, dtype=onnx_type(_drawn(dtype))), dtype)


@to_onnx.rule(ops.normal)
def onnx_normal(g, *, shape, mean, std, dtype):
    return _in(g, g.op("RandomNormalLike", _shaped(g, shape), mean=mean, scale=std, dtype=onnx_type(_drawn(dtype))), dtype)


@to_onnx.rule(ops.randint)
def onnx_randint(g, *, shape, low, high, dtype):
    return g.cast(g.op("Floor", g.op("RandomUniformLike", _shaped(g, shape), low=float(low), high=float(high), dtype=1)), dtype)


@to_onnx.rule(ops.bernoulli)
def onnx_bernoulli(g, x):
    drawn = g.op("RandomUniformLike", x, dtype=1)
    return g.cast(g.op("Less", drawn, g.cast(x, float32)), x.dtype)


for _name in ("randperm", "poisson", "log_standard_gamma", "multinomial"):
    cannot(getattr(ops, _name), "ONNX has no operator that draws so")
