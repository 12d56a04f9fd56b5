"""Samples of activation functions."""
import math

import numpy as np

from wherry_tensor import ops
from wherry_tensor.testing import bad, case, spec

specials = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 60.0, -60.0])


def away_from(rng, kinks, *shape, low=-4.0, high=4.0):
    """Values between low and high, none near a kink and no two of them close."""
    n = int(np.prod(shape))
    values = low + (np.arange(n) + 0.5) * ((high - low) / n)
    for kink in kinks:
        near = abs(values - kink) < 0.02
        values[near] += 0.05
    return rng.permutation(values).reshape(shape)


def sigmoid(x):
    return np.where(x < 0, np.exp(np.minimum(x, 0)) / (1 + np.exp(np.minimum(x, 0))), 1 / (1 + np.exp(-np.maximum(x, 0))))


def log1pexp(x):
    return np.maximum(x, 0) + np.log1p(np.exp(-abs(x)))


erf = np.vectorize(math.erf, otypes=[float])


def normal_cdf(x):
    return np.vectorize(lambda v: 0.5 * math.erfc(-v / math.sqrt(2)), otypes=[float])(x)


def keep_nan(x, y):
    return np.where(np.isnan(x), x, y)


def _activation(op, reference, kinks=(), extra=specials, **attrs):
    dtypes = "floats ints" if op.name == "relu" else "floats"

    @spec(op, reference=reference, dtypes=dtypes)
    def samples(rng):
        yield case(away_from(rng, kinks, 3, 7), **attrs)
        yield case(away_from(rng, kinks, 70, low=-9.0, high=9.0), **attrs)
        yield case(np.array(0.7), **attrs)
        yield case(np.zeros((0, 3)), **attrs)
        if extra is not None:
            yield case(extra, differentiable=False, **attrs)
        yield bad(np.zeros(3, bool), error=TypeError, match=f"{op.name}.*bool", **attrs)

    samples.__name__ = f"spec_{op.name}"


# Infinity has no value where a function is a product (0 times infinity).
finite = np.array([np.nan, 0.0, -0.0, 60.0, -60.0])

_activation(ops.relu, lambda x: np.where(x > 0, x, 0), (0,))  # NaN becomes 0, as in Paddle
_activation(ops.relu6, lambda x: np.clip(x, 0, 6), (0, 6))
_activation(ops.leaky_relu, lambda x, negative_slope: np.where(x > 0, x, x * negative_slope), (0,), negative_slope=0.01)
_activation(ops.elu, lambda x, alpha: np.where(x > 0, x, alpha * np.expm1(x)), (0,), alpha=1.5)
_activation(ops.selu, lambda x, scale, alpha: scale * np.where(x > 0, x, alpha * np.expm1(x)), (0,), scale=1.05, alpha=1.67)
_activation(ops.celu, lambda x, alpha: np.where(x > 0, x, alpha * np.expm1(x / alpha)), (0,), alpha=1.5)
_activation(ops.sigmoid, sigmoid)
_activation(ops.log_sigmoid, lambda x: -log1pexp(-x))
_activation(ops.silu, lambda x: x * sigmoid(x), extra=finite)
_activation(ops.mish, lambda x: x * np.tanh(log1pexp(x)), extra=finite)
_activation(ops.softsign, lambda x: x / (1 + abs(x)), (0,))  # its second derivative jumps
_activation(ops.hardtanh, lambda x, min, max: np.clip(x, min, max), (-1, 2), min=-1.0, max=2.0)
_activation(ops.hardsigmoid, lambda x, slope, offset: np.clip(x * slope + offset, 0, 1), (-2.5, 2.5), slope=0.2, offset=0.5)
_activation(ops.hardswish, lambda x: x * np.clip(x + 3, 0, 6) / 6, (-3, 3), extra=finite)
_activation(ops.hardshrink, lambda x, threshold: keep_nan(x, np.where(abs(x) > threshold, x, 0)), (-0.5, 0.5), threshold=0.5)
_activation(ops.softshrink, lambda x, threshold: keep_nan(x, np.sign(x) * np.maximum(abs(x) - threshold, 0)), (-0.5, 0.5), threshold=0.5)
_activation(ops.tanhshrink, lambda x: x - np.tanh(x))
_activation(ops.thresholded_relu, lambda x, threshold: keep_nan(x, np.where(x > threshold, x, 0)), (1,), threshold=1.0)
_activation(ops.stanh, lambda x, scale_a, scale_b: scale_b * np.tanh(scale_a * x), scale_a=0.67, scale_b=1.7159)


@spec(ops.softplus, reference=lambda x, beta, threshold: np.where(x * beta > threshold, x, log1pexp(x * beta) / beta))
def spec_softplus(rng):
    yield case(away_from(rng, (), 3, 7), beta=1.0, threshold=20.0)
    yield case(away_from(rng, (), 70, low=-30, high=30), beta=0.7, threshold=9.0)
    yield case(specials, beta=2.0, threshold=20.0, differentiable=False)
    yield case(np.array(0.7), beta=1.0, threshold=20.0)
    yield case(np.zeros((0, 3)), beta=1.0, threshold=20.0)


@spec(ops.prelu, reference=lambda x, weight: np.where(x > 0, x, x * weight))
def spec_prelu(rng):
    yield case(away_from(rng, (0,), 3, 7), np.array([0.25]))
    yield case(away_from(rng, (0,), 2, 3, 5), np.array([0.1, 0.2, 0.3]).reshape(3, 1))
    yield case(np.zeros((0, 3)), np.array(0.25))
    yield bad(np.zeros(3), np.zeros(2), error=ValueError, match=r"prelu.*\[3\].*\[2\]")


def gelu_slope(x):
    return np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)


def gelu(x, approximate):
    return 0.5 * x * (1 + np.tanh(gelu_slope(x))) if approximate else x * normal_cdf(x)


@spec(ops.gelu, reference=gelu)
def spec_gelu(rng):
    for approximate in (False, True):
        yield case(away_from(rng, (), 3, 7), approximate=approximate)
        yield case(away_from(rng, (), 70, low=-9, high=9), approximate=approximate)
        yield case(np.array(0.7), approximate=approximate)
        yield case(np.zeros((0, 3)), approximate=approximate)
        yield case(np.array([np.nan, np.inf, 60.0, -60.0, 0.0]), approximate=approximate, differentiable=False)


# Fused gradients.


def _gradient(op, reference, low, high, **attrs):
    kinks = (0,) if op.name == "relu_vjp" else ()

    @spec(op, reference=reference, dtypes="floats ints" if op.name == "relu_vjp" else "floats")
    def samples(rng):
        yield case(away_from(rng, (), 3, 7), away_from(rng, kinks, 3, 7, low=low, high=high), **attrs)
        yield case(away_from(rng, (), 70), away_from(rng, kinks, 70, low=low, high=high), **attrs)
        yield case(np.array(0.7), np.array(0.4), **attrs)
        yield case(np.zeros((0, 3)), np.zeros((0, 3)), **attrs)
        yield bad(np.zeros(3), np.zeros(3, np.float32), error=TypeError, match=f"{op.name}.*float64.*float32", **attrs)

    samples.__name__ = f"spec_{op.name}"


def gelu_vjp(ct, x, approximate):
    if approximate:
        t = np.tanh(gelu_slope(x))
        return ct * (0.5 * (1 + t) + 0.5 * x * (1 - t**2) * np.sqrt(2 / np.pi) * (1 + 3 * 0.044715 * x**2))
    return ct * (normal_cdf(x) + x * np.exp(-0.5 * x**2) / np.sqrt(2 * np.pi))


_gradient(ops.relu_vjp, lambda ct, out: np.where(out > 0, ct, 0), -2, 2)
_gradient(ops.sigmoid_vjp, lambda ct, out: ct * out * (1 - out), 0, 1)
_gradient(ops.tanh_vjp, lambda ct, out: ct * (1 - out**2), -1, 1)
_gradient(ops.silu_vjp, lambda ct, x: ct * sigmoid(x) * (1 + x * (1 - sigmoid(x))), -6, 6)


def piecewise_vjp(ct, x, low, high, below, tilt, inside, above):
    return ct * np.where(x < high, np.where(x > low, tilt * x + inside, below), above)


@spec(ops.piecewise_vjp, reference=piecewise_vjp)
def spec_piecewise_vjp(rng):
    tilted, level = dict(below=0.0, tilt=1 / 3, inside=0.5, above=1.0), dict(below=0.25, tilt=0.0, inside=2.0, above=0.0)
    for slopes in (tilted, level):
        for shape in ((3, 7), (70,), ()):
            yield case(away_from(rng, (), *shape), away_from(rng, (-1, 2), *shape, low=-3, high=4), low=-1.0, high=2.0, **slopes)
        yield case(np.zeros((0, 3)), np.zeros((0, 3)), low=-1.0, high=2.0, **slopes)
    yield case(np.ones(6), np.array([-1.0, 2.0, np.nan, np.inf, -np.inf, 0.0]), low=-1.0, high=2.0, **tilted | {"tilt": 0.0}, differentiable=False)
    yield case(np.ones(3), np.array([-np.inf, -2.0, 0.0]), low=-np.inf, high=0.0, **level, differentiable=False)


@spec(ops.gelu_vjp, reference=gelu_vjp)
def spec_gelu_vjp(rng):
    for approximate in (False, True):
        yield case(away_from(rng, (), 3, 7), away_from(rng, (), 3, 7), approximate=approximate)
        yield case(away_from(rng, (), 70), away_from(rng, (), 70, low=-6, high=6), approximate=approximate)
        yield case(np.zeros((0, 3)), np.zeros((0, 3)), approximate=approximate)
