"""Gradient rules for activation functions.

Those with kinks take the derivative that Paddle takes at the kink.
"""
from wherry_autograd.rules import vjp
from wherry_tensor import ops


def _constant(like, value):
    return ops.full_like(like, value=value, dtype=like.dtype)


def _pass_where(condition, ct):
    return ops.where(condition, ct, _constant(ct, 0))


@vjp.rule(ops.relu)
def vjp_relu(ct, out, _x):
    return ops.relu_vjp(ct, out)


@vjp.rule(ops.sigmoid)
def vjp_sigmoid(ct, out, _x):
    return ops.sigmoid_vjp(ct, out)


@vjp.rule(ops.gelu)
def vjp_gelu(ct, _out, x, *, approximate):
    return ops.gelu_vjp(ct, x, approximate=approximate)


@vjp.rule(ops.silu)
def vjp_silu(ct, _out, x):
    return ops.silu_vjp(ct, x)


@vjp.rule(ops.relu6)
def vjp_relu6(ct, out, _x):
    return _pass_where(ops.logical_and(out > 0.0, out < 6.0), ct)


@vjp.rule(ops.leaky_relu)
def vjp_leaky_relu(ct, _out, x, *, negative_slope):
    return ops.where(x > 0.0, ct, ct * negative_slope)


@vjp.rule(ops.prelu)
def vjp_prelu(ct, _out, x, weight, *, needs):
    positive = x > 0.0
    return (ops.where(positive, ct, ct * weight) if needs[0] else None,
            ops.where(positive, _constant(ct, 0), ct * x) if needs[1] else None)


@vjp.rule(ops.elu)
def vjp_elu(ct, _out, x, *, alpha):
    return ops.where(x > 0.0, ct, ct * (ops.exp(x) * alpha))


@vjp.rule(ops.selu)
def vjp_selu(ct, _out, x, *, scale, alpha):
    return ops.where(x > 0.0, ct * scale, ct * (ops.exp(x) * (scale * alpha)))


@vjp.rule(ops.celu)
def vjp_celu(ct, _out, x, *, alpha):
    return ops.where(x > 0.0, ct, ct * ops.exp(x / alpha))


@vjp.rule(ops.log_sigmoid)
def vjp_log_sigmoid(ct, _out, x):
    return ct * ops.sigmoid(ops.negative(x))


@vjp.rule(ops.mish)
def vjp_mish(ct, _out, x):
    t = ops.tanh(ops.softplus(x, beta=1.0, threshold=20.0))
    return ct * (t + x * ops.sigmoid(x) * (1.0 - t * t))


@vjp.rule(ops.softplus)
def vjp_softplus(ct, _out, x, *, beta, threshold):
    return ops.where(x * beta > threshold, ct, ct * ops.sigmoid(x * beta))


@vjp.rule(ops.softsign)
def vjp_softsign(ct, _out, x):
    d = ops.abs(x) + 1.0
    return ct / (d * d)


@vjp.rule(ops.hardtanh)
def vjp_hardtanh(ct, _out, x, *, min, max):
    return _pass_where(ops.logical_and(x > min, x < max), ct)


@vjp.rule(ops.hardsigmoid)
def vjp_hardsigmoid(ct, out, _x, *, slope, offset):
    return _pass_where(ops.logical_and(out > 0.0, out < 1.0), ct * slope)


@vjp.rule(ops.hardswish)
def vjp_hardswish(ct, _out, x):
    inner = ct * (x * (1 / 3) + 0.5)
    return ops.where(x >= 3.0, ct, _pass_where(x > -3.0, inner))


@vjp.rule(ops.hardshrink)
def vjp_hardshrink(ct, _out, x, *, threshold):
    return _pass_where(ops.abs(x) > threshold, ct)


@vjp.rule(ops.softshrink)
def vjp_softshrink(ct, _out, x, *, threshold):
    return _pass_where(ops.abs(x) > threshold, ct)


@vjp.rule(ops.tanhshrink)
def vjp_tanhshrink(ct, _out, x):
    t = ops.tanh(x)
    return ct * (t * t)


@vjp.rule(ops.thresholded_relu)
def vjp_thresholded_relu(ct, _out, x, *, threshold):
    return _pass_where(x > threshold, ct)


@vjp.rule(ops.stanh)
def vjp_stanh(ct, _out, x, *, scale_a, scale_b):
    t = ops.tanh(x * scale_a)
    return ct * ((1.0 - t * t) * (scale_a * scale_b))


# Gradients of the fused gradients.


@vjp.rule(ops.relu_vjp)
def vjp_relu_vjp(ct, _out, _ct, out):
    return ops.relu_vjp(ct, out), None


@vjp.rule(ops.sigmoid_vjp)
def vjp_sigmoid_vjp(ct, _out, inner, out, *, needs):
    return (ops.sigmoid_vjp(ct, out) if needs[0] else None,
            ct * inner * (1.0 - out * 2.0) if needs[1] else None)


@vjp.rule(ops.tanh_vjp)
def vjp_tanh_vjp(ct, _out, inner, out, *, needs):
    return ops.tanh_vjp(ct, out) if needs[0] else None, ct * inner * out * -2.0 if needs[1] else None
