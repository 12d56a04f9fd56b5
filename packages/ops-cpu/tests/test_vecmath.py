"""Accuracy of the float32 functions: at most 2 ulp over the whole range, for every instruction set.

The reference is NumPy in float64. By default every 4097th float32 is tried, a step that shares no
factor with the powers of two; WHERRY_WHOLE_RANGE=1 tries them all, which takes some hours.
"""
import math
import os
import subprocess
import sys

import numpy as np
import pytest

import wherry_tensor
from wherry_ops_cpu import supported_isas
from wherry_tensor import ops

WHOLE_RANGE = os.environ.get("WHERRY_WHOLE_RANGE") == "1"
STEP = 1 if WHOLE_RANGE else 4097
CHUNK = 1 << 20

erf = np.vectorize(math.erf, otypes=[np.float64])
erfc = np.vectorize(math.erfc, otypes=[np.float64])


def sigmoid(x):
    e = np.exp(-np.abs(x))
    return np.where(x < 0, e, 1.0) / (1.0 + e)


def acosh(x):
    # The C library that NumPy has in WebAssembly finds numbers below -1.
    return np.arccosh(np.where(x < 1, np.nan, x))


def erfinv(x):
    # Winitzki's formula, good to 0.002, and Halley's steps; beyond 1/2 on erfc, because 1 - x has the digits.
    size = np.abs(x)
    inside = np.where(size < 1, size, 0.5)
    log = np.log1p(-inside * inside)
    b = 2 / (math.pi * 0.147) + log / 2
    y = np.sqrt(-log / 0.147 / (np.sqrt(b * b - log / 0.147) + b))
    for _ in range(3):
        excess = np.where(inside < 0.5, erf(y) - inside, 1 - inside - erfc(y))
        step = excess * math.sqrt(math.pi) / 2 * np.exp(y * y)
        y = y - step / (1 + y * step)
    return np.where(size < 1, np.copysign(y, x), np.where(size == 1, np.copysign(np.inf, x), np.nan))


def lgamma(x):
    pole = (x <= 0) & (x == np.floor(x))
    return np.where(pole, np.inf, np.vectorize(math.lgamma, otypes=[np.float64])(np.where(pole, 1, x)))


def polygamma(n, x):
    """digamma (n = 0) or its derivative (n = 1) of positive numbers: the recurrence and the asymptotic series."""
    total = np.zeros_like(x)
    for _ in range(16):
        small = x < 16
        total = np.where(small, total - 1 / x if n == 0 else total + 1 / (x * x), total)
        x = np.where(small, x + 1, x)
    z = 1 / x
    s = z * z
    if n == 0:
        return total + np.log(x) - z / 2 - s * (1 / 12 - s * (1 / 120 - s * (1 / 252 - s * (1 / 240 - s / 132))))
    return total + z + s / 2 + z * s * (1 / 6 - s * (1 / 30 - s * (1 / 42 - s * (1 / 30 - s * 5 / 66))))


REFERENCES = {
    "sqrt": np.sqrt, "exp": np.exp, "expm1": np.expm1, "log": np.log, "log2": np.log2, "log10": np.log10,
    "log1p": np.log1p, "sin": np.sin, "cos": np.cos, "tan": np.tan, "asin": np.arcsin, "acos": np.arccos,
    "atan": np.arctan, "sinh": np.sinh, "cosh": np.cosh, "tanh": np.tanh, "asinh": np.arcsinh, "acosh": acosh,
    "atanh": np.arctanh, "erf": erf, "erfinv": erfinv, "sigmoid": sigmoid, "lgamma": lgamma,
}


def chunks():
    for start in range(0, 1 << 32, STEP * CHUNK):
        stop = min(start + STEP * CHUNK, 1 << 32)
        yield np.arange(start, stop, STEP, dtype=np.uint64).astype(np.uint32).view(np.float32)


def ulp_errors(got, exact):
    """The distance to the exact value in units of the last place of float32, subnormal ones included."""
    with np.errstate(all="ignore"):
        exponent = np.maximum(np.frexp(np.abs(exact))[1], -125)
        error = np.abs(got.astype(np.float64) - exact) / np.ldexp(1.0, exponent - 24)
        rounded = exact.astype(np.float32)
        # One of the two may round to infinity where the other stops just below.
        largest = float(np.finfo(np.float32).max)
        edge = np.minimum(np.abs(exact), np.abs(got.astype(np.float64))) >= largest * (1 - 2.0**-23)
    special = ~np.isfinite(rounded) | ~np.isfinite(got)
    same = (got == rounded) | (np.isnan(got) & np.isnan(rounded))
    return np.where(special, np.where(same | edge, 0.0, np.inf), error)


def test_erfinv_in_double_is_turned_round_by_erf():
    tail = 1 - np.ldexp(1.0, -np.arange(1, 54))
    x = np.concatenate([np.linspace(-0.9999, 0.9999, 4001), tail, -tail, np.ldexp(1.0, -np.arange(1, 1000, 37)), [0.5, 0.99329, 1 - 2e-8]])
    y = ops.erfinv(wherry_tensor.to_tensor(x)).numpy()
    size, out = np.abs(x), np.abs(y)
    slope = 2 / math.sqrt(math.pi) * np.exp(-out * out)
    off = np.where(size < 0.5, erf(out) - size, 1 - size - erfc(out)) / slope
    assert np.abs(off / np.where(out > 0, out, 1)).max() < 8 * 2.0**-52  # erf and exp of the C library, a few roundings each


@pytest.mark.parametrize("name", REFERENCES)
def test_function_is_within_2_ulp_of_float64(name):
    worst, at = 0.0, None
    for x in chunks():
        got = getattr(ops, name)(wherry_tensor.to_tensor(x)).numpy()
        with np.errstate(all="ignore"):
            exact = REFERENCES[name](x.astype(np.float64))
        errors = ulp_errors(got, exact)
        if errors.max() > worst:
            worst, at = errors.max(), x[errors.argmax()]
    print(f"{name}: {worst:.3f} ulp at {at!r}")
    assert worst <= 2, f"{name}({at!r}) is {worst} ulp off"


@pytest.mark.parametrize("n", [0, 1])
def test_digamma_and_its_derivative_are_within_2_ulp_of_float64(n):
    near_root = np.float32(1.4616321).view(np.int32) + np.arange(-3000, 3000, dtype=np.int32)
    for x in [*(x[x > 0] for x in chunks()), near_root.view(np.float32)]:
        given = wherry_tensor.to_tensor(x)
        got = (ops.digamma(given) if n == 0 else ops.polygamma(given, n=1)).numpy()
        with np.errstate(all="ignore"):
            errors = ulp_errors(got, polygamma(n, x.astype(np.float64)))
        assert errors.max() <= 2, f"polygamma({n}, {x[errors.argmax()]!r}) is {errors.max()} ulp off"


@pytest.mark.parametrize("n", [0, 1])
def test_digamma_and_its_derivative_below_zero_by_reflection(n):
    x = np.random.default_rng(6).uniform(-30, 0, 100_000).astype(np.float32)
    x = x[np.abs(x - np.rint(x)) > 2.0**-12]
    given, wide = wherry_tensor.to_tensor(x), x.astype(np.float64)
    got = (ops.digamma(given) if n == 0 else ops.polygamma(given, n=1)).numpy()
    turn = np.pi * (wide - np.rint(wide))
    there = polygamma(n, 1 - wide)
    exact = there - np.pi / np.tan(turn) if n == 0 else (np.pi / np.sin(turn)) ** 2 - there
    errors = ulp_errors(got, exact)
    assert errors.max() <= 2, f"polygamma({n}, {x[errors.argmax()]!r}) is {errors.max()} ulp off"


def test_gamma_functions_below_zero_and_at_infinity():
    x = np.array([-0.5, -1.5, -2, 0, np.inf, 0.5], np.float32)
    log = math.log
    expected = {
        "lgamma": [log(2 * math.sqrt(math.pi)), log(4 / 3 * math.sqrt(math.pi)), np.inf, np.inf, np.inf, log(math.pi) / 2],
        "digamma": [0.0364899739785765, 0.7031566406452432, np.nan, np.nan, np.inf, -1.9635100260214235],
        "trigamma": [math.pi**2 / 2 + 4, math.pi**2 / 2 + 4 + 4 / 9, np.inf, np.inf, 0, math.pi**2 / 2],
    }
    for dtype, digits in (("float32", 24), ("float64", 40), ("bfloat16", 8)):
        given = ops.cast(wherry_tensor.to_tensor(x), dtype=getattr(wherry_tensor, dtype))
        found = {"lgamma": ops.lgamma(given), "digamma": ops.digamma(given), "trigamma": ops.polygamma(given, n=1)}
        for name, values in found.items():
            got = ops.cast(values, dtype=wherry_tensor.float64).numpy()
            np.testing.assert_allclose(got, expected[name], rtol=2.0 ** (1 - digits), err_msg=f"{name} of {dtype}")


def pairs(rng):
    """Bases and exponents: any bits, moderate numbers, whole exponents, and all pairs of special values."""
    n = 200_000
    yield rng.integers(0, 1 << 32, n, np.uint32).view(np.float32), rng.integers(0, 1 << 32, n, np.uint32).view(np.float32)
    base = np.ldexp(rng.uniform(1, 2, n), rng.integers(-30, 30, n)).astype(np.float32) * rng.choice([-1, 1], n).astype(np.float32)
    yield base, rng.uniform(-12, 12, n).astype(np.float32)
    yield base, rng.integers(-20, 20, n).astype(np.float32)
    special = np.array([0, -0.0, 1, -1, 2, -2, 3, -3, 0.5, -0.5, 1e-40, -1e-40, 3e38, -3e38, 16777217, np.inf, -np.inf, np.nan], np.float32)
    x, y = np.meshgrid(special, special)
    yield x.reshape(-1), y.reshape(-1)


@pytest.mark.parametrize("name, reference", [("power", np.power), ("atan2", np.arctan2)])
def test_function_of_two_is_within_2_ulp_of_float64(name, reference):
    for x, y in pairs(np.random.default_rng(5)):
        got = getattr(ops, name)(wherry_tensor.to_tensor(x), wherry_tensor.to_tensor(y)).numpy()
        with np.errstate(all="ignore"):
            exact = reference(x.astype(np.float64), y.astype(np.float64))
        errors = ulp_errors(got, exact)
        at = errors.argmax()
        assert errors[at] <= 2, f"{name}({x[at]!r}, {y[at]!r}) is {got[at]!r}, expected {exact[at]!r}"


def gelu(x):
    return x * 0.5 * erfc(-x / math.sqrt(2))


# gelu from -6.5 on: below, its values are near 0 in absolute terms only.
@pytest.mark.parametrize("dtype, digits, least", [("float16", 11, -14), ("bfloat16", 8, -126)])
@pytest.mark.parametrize("name, reference, lowest", [
    ("exp", np.exp, -np.inf), ("tanh", np.tanh, -np.inf), ("sigmoid", sigmoid, -np.inf), ("silu", lambda x: x * sigmoid(x), -np.inf),
    ("gelu", gelu, -6.5),
])
def test_function_of_16_bits_is_within_an_eighth_of_an_ulp_before_it_is_rounded(name, reference, lowest, dtype, digits, least):
    bits = np.arange(1 << 16, dtype=np.uint32)
    values = (bits << 16).view(np.float32) if dtype == "bfloat16" else bits.astype(np.uint16).view(np.float16).astype(np.float32)
    x = values[(np.abs(values) < np.inf) & (values > lowest)]
    given = ops.cast(wherry_tensor.to_tensor(x), dtype=getattr(wherry_tensor, dtype))
    attrs = {"approximate": False} if name == "gelu" else {}
    got = ops.cast(getattr(ops, name)(given, **attrs), dtype=wherry_tensor.float32).numpy().astype(np.float64)
    with np.errstate(all="ignore"):
        exact = reference(x.astype(np.float64))
    assert not np.isnan(got).any()
    inside = np.abs(got) < np.inf
    largest = 65504.0 if dtype == "float16" else float(np.finfo(np.float32).max)
    assert (np.abs(exact[~inside]) >= largest * (1 - 2.0**-digits)).all()
    unit = np.ldexp(1.0, np.maximum(np.frexp(np.abs(exact[inside]))[1] - 1, least) - digits + 1)
    errors = np.abs(got[inside] - exact[inside]) / unit
    at = errors.argmax()
    print(f"{name} of {dtype}: {errors[at]:.3f} ulp")
    assert errors[at] <= 0.625, f"{name}({x[inside][at]!r}) is {got[inside][at]!r}, expected {exact[inside][at]!r}"


def test_the_logarithm_of_gamma_is_a_positive_0_at_1_and_2():
    x = np.array([1, 2] * 20, np.float32)
    for dtype in ("float32", "float64", "float16", "bfloat16"):
        found = ops.cast(ops.lgamma(ops.cast(wherry_tensor.to_tensor(x), dtype=getattr(wherry_tensor, dtype))), dtype=wherry_tensor.float32).numpy()
        assert not found.any() and not np.signbit(found).any()


@pytest.mark.parametrize("name", ["exp", "tanh", "erf", "sigmoid", "log", "sin", "gelu", "lgamma", "digamma"])
def test_a_value_does_not_depend_on_where_it_stands(name):
    # The last elements of an array, and those that a thread's part begins with, take other ways.
    x = np.random.default_rng(2).standard_normal(67).astype(np.float32)
    attrs = {"approximate": False} if name == "gelu" else {}
    whole = getattr(ops, name)(wherry_tensor.to_tensor(x), **attrs).numpy()
    for n in range(1, 40):
        part = getattr(ops, name)(wherry_tensor.to_tensor(x[:n].copy()), **attrs).numpy()
        assert part.tobytes() == whole[:n].tobytes()


@pytest.mark.skipif("WHERRY_CPU_ISA" in os.environ, reason="this is the inner run")
@pytest.mark.parametrize("isa", supported_isas()[1:])
def test_other_instruction_sets_are_as_accurate(isa):
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", __file__]
    run = subprocess.run(command, env={**os.environ, "WHERRY_CPU_ISA": isa}, capture_output=True, text=True)
    assert run.returncode == 0, run.stdout[-3000:]


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_lengths_of_complex_numbers_neither_overflow_nor_vanish(dtype):
    real = np.float32 if dtype == "complex64" else np.float64
    info, rng = np.finfo(real), np.random.default_rng(0)
    exponents = rng.integers(info.minexp - info.nmant, info.maxexp, 20000)
    x = np.ldexp(rng.uniform(0.5, 1, 20000), exponents).astype(real)
    y = np.ldexp(rng.uniform(0.5, 1, 20000), np.clip(exponents + rng.integers(-80, 80, 20000), -1100, info.maxexp - 1)).astype(real)
    corners = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, info.tiny, info.smallest_subnormal, info.max / 2], real)
    x, y = np.concatenate([x, np.repeat(corners, len(corners))]), np.concatenate([y, np.tile(corners, len(corners))])
    with np.errstate(over="ignore"):
        expected = np.array([math.hypot(a, b) for a, b in zip(x, y)]).astype(real)
    z = np.empty(x.shape, dtype)
    z.real, z.imag = x, y
    found = wherry_tensor.abs(wherry_tensor.to_tensor(z)).numpy()
    np.testing.assert_array_equal(np.isnan(found), np.isnan(expected))
    np.testing.assert_array_equal(np.isinf(found), np.isinf(expected))
    some = np.isfinite(expected)
    assert (np.abs(found[some] - expected[some]) <= np.spacing(expected[some])).all()
