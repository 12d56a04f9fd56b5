"""Activations. Others are written as their decompositions."""
from __future__ import annotations

from wherry_export.onnx.column import to_onnx
from wherry_tensor import ops


@to_onnx.rule(ops.relu)
def onnx_relu(g, x):
    if not x.is_floating:  # Relu has whole numbers from opset 14 on, and ONNX Runtime no kernel for them
        return g.op("Max", x, g.number(0, x)) if g.opset >= 12 else NotImplemented
    return g.op("Relu", x)


@to_onnx.rule(ops.relu6)
def onnx_relu6(g, x):
    return g.op("Clip", x, g.number(0, x), g.number(6, x)) if x.is_floating else NotImplemented


@to_onnx.rule(ops.leaky_relu)
def onnx_leaky_relu(g, x, *, negative_slope):
    return g.op("LeakyRelu", x, alpha=negative_slope)


@to_onnx.rule(ops.elu)
def onnx_elu(g, x, *, alpha):
    return g.op("Elu", x, alpha=alpha)


@to_onnx.rule(ops.selu)
def onnx_selu(g, x, *, scale, alpha):
    return g.op("Selu", x, alpha=alpha, gamma=scale)


@to_onnx.rule(ops.sigmoid)
def onnx_sigmoid(g, x):
    return g.op("Sigmoid", x)


@to_onnx.rule(ops.silu)
def onnx_silu(g, x):
    return g.op("Mul", x, g.op("Sigmoid", x))


@to_onnx.rule(ops.gelu)
def onnx_gelu(g, x, *, approximate):
    if approximate:
        return NotImplemented
    half = g.op("Mul", x, g.number(0.5, x))
    return g.op("Mul", half, g.op("Add", g.op("Erf", g.op("Mul", x, g.number(0.5**0.5, x))), g.number(1, x)))


@to_onnx.rule(ops.softplus)
def onnx_softplus(g, x, *, beta, threshold):
    if beta != 1.0 or threshold < 20.0:
        return NotImplemented  # above 20 float32 shows no difference to x
    return g.op("Softplus", x)


@to_onnx.rule(ops.softsign)
def onnx_softsign(g, x):
    return g.op("Softsign", x)


@to_onnx.rule(ops.hardtanh)
def onnx_hardtanh(g, x, *, min, max):
    return g.op("Clip", x, g.number(min, x), g.number(max, x))


@to_onnx.rule(ops.hardsigmoid)
def onnx_hardsigmoid(g, x, *, slope, offset):
    return g.op("HardSigmoid", x, alpha=slope, beta=offset)


@to_onnx.rule(ops.hardswish)
def onnx_hardswish(g, x):
    return g.op("Mul", x, g.op("HardSigmoid", x, alpha=1 / 6, beta=0.5))


@to_onnx.rule(ops.thresholded_relu)
def onnx_thresholded_relu(g, x, *, threshold):
    return g.op("ThresholdedRelu", x, alpha=threshold)
