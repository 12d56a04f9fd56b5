"""Gradient rules of activation functions.

Those of the fused gradients (`relu_vjp`, ...) make second derivatives work.
"""
import math

from wherry_autograd.rules import vjp
from wherry_tensor import ops


@vjp.rule(ops.relu)
def vjp_relu(ct, out, _x):
    return ops.relu_vjp(ct, out)


@vjp.rule(ops.relu6)
def vjp_relu6(ct, out, _x):
    return _inside(ct, out, 0.0, 6.0)


@vjp.rule(ops.leaky_relu, again=True)
def vjp_leaky_relu(ct, _out, x, *, negative_slope):
    return ops.piecewise_vjp(ct, x, low=-math.inf, high=0.0, below=negative_slope, tilt=0.0, inside=negative_slope, above=1.0)


@vjp.rule(ops.prelu)
def vjp_prelu(ct, _out, x, weight):
    positive = x > 0.0
    return ops.where(positive, ct, ct * weight), ops.where(positive, _zero(ct), ct * x)


# On their curved side these are a * exp(x) - a, whose slope is the value plus a.


@vjp.rule(ops.elu)
def vjp_elu(ct, out, x, *, alpha):
    return ops.where(x > 0.0, ct, ct * (out + alpha))


@vjp.rule(ops.selu)
def vjp_selu(ct, out, x, *, scale, alpha):
    return ops.where(x > 0.0, ct * scale, ct * (out + scale * alpha))


@vjp.rule(ops.celu)
def vjp_celu(ct, out, x, *, alpha):
    return ops.where(x > 0.0, ct, ct * (out * (1.0 / alpha) + 1.0))


@vjp.rule(ops.gelu, again=True)
def vjp_gelu(ct, _out, x, *, approximate):
    return ops.gelu_vjp(ct, x, approximate=approximate)


@vjp.rule(ops.sigmoid)
def vjp_sigmoid(ct, out, _x):
    return ops.sigmoid_vjp(ct, out)


@vjp.rule(ops.log_sigmoid)
def vjp_log_sigmoid(ct, _out, x):
    return ct * ops.sigmoid(ops.negative(x))


@vjp.rule(ops.silu, again=True)
def vjp_silu(ct, _out, x):
    return ops.silu_vjp(ct, x)


@vjp.rule(ops.mish, again=True)
def vjp_mish(ct, _out, x):
    t = ops.tanh(ops.softplus(x, beta=1.0, threshold=20.0))
    return ct * (t + x * ops.sigmoid(x) * (1.0 - ops.square(t)))


@vjp.rule(ops.softplus, again=True)
def vjp_softplus(ct, _out, x, *, beta, threshold):
    scaled = x if beta == 1.0 else x * beta
    slope = ct * ops.sigmoid(scaled)
    # From 18 on the sigmoid is 1 itself in all floats but float64.
    return slope if threshold >= 18.0 and x.dtype.itemsize < 8 else ops.where(scaled > threshold, ct, slope)


@vjp.rule(ops.softsign)
def vjp_softsign(ct, _out, x):
    return ct / ops.square(ops.abs(x) + 1.0)


@vjp.rule(ops.hardtanh)
def vjp_hardtanh(ct, _out, x, *, min, max):
    return _inside(ct, x, min, max)


@vjp.rule(ops.hardsigmoid)
def vjp_hardsigmoid(ct, out, _x, *, slope, offset):
    return _inside(ct, out, 0.0, 1.0, slope)


@vjp.rule(ops.hardswish, again=True)
def vjp_hardswish(ct, _out, x):
    return ops.piecewise_vjp(ct, x, low=-3.0, high=3.0, below=0.0, tilt=1.0 / 3.0, inside=0.5, above=1.0)


@vjp.rule(ops.hardshrink)
def vjp_hardshrink(ct, out, _x, *, threshold):
    return _where(out != 0.0, ct)


@vjp.rule(ops.softshrink)
def vjp_softshrink(ct, out, _x, *, threshold):
    return _where(out != 0.0, ct)


@vjp.rule(ops.tanhshrink)
def vjp_tanhshrink(ct, out, x):
    return ct * ops.square(x - out)


@vjp.rule(ops.thresholded_relu)
def vjp_thresholded_relu(ct, _out, x, *, threshold):
    return _where(x > threshold, ct)


@vjp.rule(ops.stanh)
def vjp_stanh(ct, out, _x, *, scale_a, scale_b):
    if not scale_b:  # the output does not determine the tangent then, and nothing depends on it
        return ops.full_like(ct, value=0.0, dtype=ct.dtype)
    return ops.tanh_vjp(ct, out * (1.0 / scale_b)) * (scale_a * scale_b)


# Gradients of the fused gradients. gelu_vjp and silu_vjp inherit that of their decompositions.


@vjp.rule(ops.relu_vjp)
def vjp_relu_vjp(ct, _out, _ct, out):
    return ops.relu_vjp(ct, out), None


@vjp.rule(ops.sigmoid_vjp)
def vjp_sigmoid_vjp(ct, _out, inner, out, *, needs):
    return ops.sigmoid_vjp(ct, out), ct * inner * (1.0 - (out + out)) if needs[1] else None


@vjp.rule(ops.tanh_vjp)
def vjp_tanh_vjp(ct, _out, inner, out, *, needs):
    return ops.tanh_vjp(ct, out), ct * inner * (out * -2.0) if needs[1] else None


# Helpers.


def _zero(x):
    return ops.full(shape=(), value=0, dtype=x.dtype)


def _inside(ct, x, low, high, slope=1.0):
    """ct times the slope, where x lies between the bounds."""
    return ops.piecewise_vjp(ct, x, low=low, high=high, below=0.0, tilt=0.0, inside=slope, above=0.0)


def _where(condition, ct):
    return ops.where(condition, ct, _zero(ct))
