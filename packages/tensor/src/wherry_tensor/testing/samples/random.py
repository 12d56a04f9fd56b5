"""Samples of random draws.

The references draw too: Philox4x32-10 in plain NumPy, with the seed that the kit sets before every
call. So they check which words an element uses, which is what makes a seed mean the same on every
device. That the numbers look random is tested in the package of the kernels.
"""
import math

import numpy as np

from wherry_tensor import ops
from wherry_tensor._core import bfloat16, float16, float32, float64, int32, int64
from wherry_tensor.testing import bad, case, spec

SEED = 7  # what the kit seeds the generator with

_M0, _M1 = np.uint64(0xD2511F53), np.uint64(0xCD9E8D57)
_LOW, _HALF = np.uint64(0xFFFFFFFF), np.uint64(32)


def philox(counter, seed=SEED, attempt=0):
    """Four words for each counter, [..., 4]. Salmon, Moraes, Dror & Shaw (2011)."""
    counter, attempt = np.broadcast_arrays(np.asarray(counter, np.uint64), np.asarray(attempt, np.uint64))
    a, b = counter & _LOW, counter >> _HALF
    c, d = attempt & _LOW, attempt >> _HALF
    key = np.array([seed & 0xFFFFFFFF, seed >> 32], np.uint64)
    for _ in range(10):
        p, q = _M0 * a, _M1 * c
        a, b, c, d = (q >> _HALF) ^ b ^ key[0], q & _LOW, (p >> _HALF) ^ d ^ key[1], p & _LOW
        key = (key + np.array([0x9E3779B9, 0xBB67AE85], np.uint64)) & _LOW
    return np.stack([a, b, c, d], -1)


def words(n):
    """The first n words of a draw."""
    return philox(np.arange((n + 3) // 4)).reshape(-1)[:n]


def wide_words(n):
    """The first n words of 64 bits."""
    pairs = words(2 * n).reshape(n, 2)
    return pairs[:, 0] | pairs[:, 1] << _HALF


def unit(n, wide=False):
    """The first n values in [0, 1)."""
    return (wide_words(n) >> np.uint64(11)) * 2.0**-53 if wide else (words(n) >> np.uint64(8)) * 2.0**-24


_BITS = {"float16": 11, "bfloat16": 8, "float32": 24}


def _uniform(shape, min, max, dtype):
    n = math.prod(shape)
    if dtype == float64:
        u = unit(n, wide=True)
    else:
        bits = _BITS[dtype.name]
        u = (words(n) >> np.uint64(32 - bits)) * 2.0**-bits
    value = min + u * (max - min)
    wide = value.astype(np.float32).view(np.uint32)
    rounded = {  # of bfloat16 half to even, as of the others
        "bfloat16": lambda: (wide + 0x7FFF + (wide >> 16 & 1) & 0xFFFF0000).astype(np.uint32).view(np.float32),
    }.get(dtype.name, lambda: value.astype(dtype.name))()
    return np.where(rounded < max, value, min).reshape(shape)


@spec(ops.uniform, reference=_uniform, dtypes=("float32",))
def spec_uniform(rng):
    for dtype in (float16, bfloat16, float32, float64):
        yield case(shape=(3, 5), min=0.0, max=1.0, dtype=dtype)
    for dtype in (float32, float64):
        yield case(shape=(1001,), min=-2.0, max=3.5, dtype=dtype)
        yield case(shape=(), min=-2.0, max=3.5, dtype=dtype)
    yield case(shape=(20_001,), min=0.0, max=1.0, dtype=float32)  # on several threads
    yield case(shape=(0, 3), min=0.0, max=1.0, dtype=float32)
    for dtype, bits in ((float16, 10), (bfloat16, 7), (float32, 23)):
        yield case(shape=(65,), min=1.0, max=1.0 + 2.0**-bits, dtype=dtype)  # half of the draws would be rounded to max


def _normal(shape, mean, std, dtype):
    n = math.prod(shape)
    pairs = (n + 1) // 2
    if dtype == float64:
        u = unit(2 * pairs, wide=True).reshape(pairs, 2)
        first, second = u[:, 0] + 2.0**-53, u[:, 1]
    else:
        w = words(2 * pairs).reshape(pairs, 2)
        first = (w[:, 0] >> np.uint64(1)).astype(np.float32) * 2.0**-31 + 2.0**-33
        second = (w[:, 1] >> np.uint64(8)) * 2.0**-24
    radius, angle = np.sqrt(-2 * np.log(np.minimum(first, 1))), 2 * np.pi * second
    points = np.stack([radius * np.cos(angle), radius * np.sin(angle)], -1)
    return (mean + std * points.reshape(-1)[:n]).reshape(shape)


# The logarithm of a float32 near 1 keeps few digits; so do small radii.
@spec(ops.normal, reference=_normal, dtypes=("float64",), tolerance={"float32": (1e-5, 1e-5)})
def spec_normal(rng):
    for dtype in (float16, bfloat16, float32, float64):
        yield case(shape=(3, 5), mean=0.0, std=1.0, dtype=dtype)
    for dtype in (float32, float64):
        yield case(shape=(1001,), mean=-2.0, std=3.5, dtype=dtype)
        yield case(shape=(), mean=1.0, std=0.5, dtype=dtype)
    yield case(shape=(20_001,), mean=0.0, std=1.0, dtype=float32)
    yield case(shape=(0, 3), mean=0.0, std=1.0, dtype=float32)


def _scaled(bits, width, span):
    """floor(bits * span / 2^width), exactly."""
    return np.array([(int(b) * span) >> width for b in bits], dtype=object)


def _randint(shape, low, high, dtype):
    n = math.prod(shape)
    bits, width = (wide_words(n), 64) if dtype == int64 else (words(n), 32)
    return (low + _scaled(bits, width, high - low)).astype(np.int64).reshape(shape)


@spec(ops.randint, reference=_randint, dtypes=("float32",))
def spec_randint(rng):
    for dtype in (int32, int64):
        yield case(shape=(3, 5), low=0, high=10, dtype=dtype)
        yield case(shape=(1001,), low=-5, high=1000, dtype=dtype)
        yield case(shape=(), low=0, high=1, dtype=dtype)
    yield case(shape=(50,), low=-(2**62), high=2**62, dtype=int64)
    yield case(shape=(50,), low=-(2**31), high=2**31 - 1, dtype=int32)
    yield case(shape=(0, 3), low=0, high=3, dtype=int64)
    yield bad(shape=(3,), low=3, high=3, dtype=int64, error=ValueError, match="randint.*low=3.*high=3")


def _randperm(n, dtype):
    out = np.zeros(n, np.int64)
    for i, bits in enumerate(wide_words(n)):
        j = (int(bits) * (i + 1)) >> 64
        out[i] = out[j]
        out[j] = i
    return out


@spec(ops.randperm, reference=_randperm, dtypes=("float32",))
def spec_randperm(rng):
    for dtype in (int32, int64, float32, float64):
        yield case(n=10, dtype=dtype)
    yield case(n=1000, dtype=int64)
    yield case(n=1, dtype=int64)
    yield case(n=0, dtype=int64)


def _bernoulli(x):
    # The kit hands over float64; every probability below is exact in float32, and the words differ
    # between the widths, so only values whose outcome is certain are compared.
    return x


@spec(ops.bernoulli, reference=_bernoulli, differentiable=False)
def spec_bernoulli(rng):
    yield case(rng.integers(0, 2, (3, 7)) * 1.0)
    yield case(np.array(1.0))
    yield case(np.zeros((0, 3)))
    yield bad(np.array([0.5, 1.5]), error=IndexError, match="bernoulli.*1.5")
    yield bad(np.array([0.5, np.nan]), error=IndexError, match="bernoulli.*nan")


def _multinomial(x, num_samples, replacement):
    rows = x.reshape(-1, x.shape[-1])
    n = rows.shape[1]
    out = []
    if replacement:
        u = unit(len(rows) * num_samples, wide=True).reshape(len(rows), num_samples)
        for row, at in zip(rows, u):
            out.append(np.searchsorted(np.cumsum(row), at * row.sum(), side="right"))
    else:
        u = unit(rows.size, wide=True).reshape(rows.shape) + 2.0**-53
        with np.errstate(divide="ignore"):
            out = np.argsort(-np.log(u) / rows, axis=1, kind="stable")[:, :num_samples]
    return np.array(out, np.int64).reshape((*x.shape[:-1], num_samples)) if n else None


@spec(ops.multinomial, reference=_multinomial, differentiable=False)
def spec_multinomial(rng):
    weights = rng.integers(0, 5, (3, 6)) * 1.0
    weights[:, 2] = 3
    yield case(weights, num_samples=40, replacement=True)
    yield case(weights[0], num_samples=7, replacement=True)
    yield case(np.array([[0.5, 0.25, 0.125, 2.0, 1.0]]), num_samples=5, replacement=False)
    yield case(np.array([1.0, 0.0, 0.0, 2.0]), num_samples=2, replacement=False)
    yield bad(np.array([0.0, 1.0]), num_samples=2, replacement=False, error=ValueError, match="multinomial.*1 weights")
    yield bad(np.array([0.0, 0.0]), num_samples=1, replacement=True, error=ValueError, match="multinomial.*0 weights")
    yield bad(np.array([-1.0, 2.0]), num_samples=1, replacement=True, error=ValueError, match="multinomial.*-1")
    yield bad(np.ones(2), num_samples=3, replacement=False, error=ValueError, match="num_samples=3")
    yield bad(np.ones((2, 2, 2)), num_samples=1, replacement=True, error=ValueError, match=r"\[2, 2, 2\]")


def _poisson(x):
    return np.array([_draw_poisson(i, rate) for i, rate in enumerate(x.reshape(-1))]).reshape(x.shape)


def _draw_poisson(counter, rate):
    def pair(attempt):
        w = philox(counter, attempt=attempt)
        return [((int(w[i]) | int(w[i + 1]) << 32) >> 11) * 2.0**-53 for i in (0, 2)]

    if rate == 0:
        return 0.0
    if rate < 10:  # Knuth: how many uniforms until their product falls below exp(-rate)
        product, k, attempt = 1.0, 0, 0
        while True:
            for u in pair(attempt):
                product *= u
                if product <= math.exp(-rate):
                    return float(k)
                k += 1
            attempt += 1
    # Hoermann's PTRS (1993)
    b = 0.931 + 2.53 * math.sqrt(rate)
    a = -0.059 + 0.02483 * b
    inverse_alpha, v_r = 1.1239 + 1.1328 / (b - 3.4), 0.9277 - 3.6224 / (b - 2)
    for attempt in range(1000):
        u, v = pair(attempt)
        u -= 0.5
        us = 0.5 - abs(u)
        k = math.floor((2 * a / us + b) * u + rate + 0.43)
        if us >= 0.07 and v <= v_r:
            return float(k)
        if k < 0 or (us < 0.013 and v > us):
            continue
        bound = k * math.log(rate) - rate - math.lgamma(k + 1)
        if math.log(v) + math.log(inverse_alpha) - math.log(a / us**2 + b) <= bound:
            return float(k)
    raise AssertionError("1000 draws rejected")


@spec(ops.poisson, reference=_poisson, differentiable=False)
def spec_poisson(rng):
    yield case(np.array([[0.0, 0.5, 2.0, 9.5], [10.0, 30.0, 100.0, 150.0]]))
    yield case(np.full(70, 3.0))
    yield case(np.array(20.0))
    yield case(np.zeros((0, 3)))
    yield bad(np.array([1.0, -1.0]), error=ValueError, match="poisson.*-1")
    yield bad(np.array([np.nan]), error=ValueError, match="poisson.*nan")


def _log_standard_gamma(x):
    return np.array([_draw_log_gamma(i, shape) for i, shape in enumerate(x.reshape(-1))]).reshape(x.shape)


def _draw_log_gamma(counter, shape):
    def pair(attempt):
        w = philox(counter, attempt=attempt)
        return [((int(w[i]) | int(w[i + 1]) << 32) >> 11) * 2.0**-53 for i in (0, 2)]

    # Marsaglia & Tsang (2000)
    d = (shape + 1 if shape < 1 else shape) - 1 / 3
    c = 1 / math.sqrt(9 * d)
    for attempt in range(0, 2000, 2):
        (u, angle), (decides, boost) = pair(attempt), pair(attempt + 1)
        normal = math.sqrt(-2 * math.log(u + 2.0**-53)) * math.cos(2 * math.pi * angle)
        v = (1 + c * normal) ** 3
        if v > 0 and math.log(decides + 2.0**-53) < 0.5 * normal**2 + d - d * v + d * math.log(v):
            return math.log(d) + math.log(v) + (math.log(boost + 2.0**-53) / shape if shape < 1 else 0)
    raise AssertionError("1000 draws rejected")


@spec(ops.log_standard_gamma, reference=_log_standard_gamma, differentiable=False)
def spec_log_standard_gamma(rng):
    yield case(np.array([[0.0625, 0.5, 1.0, 1.5], [3.0, 10.0, 100.0, 0.25]]))
    yield case(np.full(70, 0.75))
    yield case(np.array(2.0))
    yield case(np.ones((0, 3)))
    yield bad(np.array([1.0, 0.0]), error=ValueError, match="log_standard_gamma.*= 0")
    yield bad(np.array([np.nan]), error=ValueError, match="log_standard_gamma.*nan")
