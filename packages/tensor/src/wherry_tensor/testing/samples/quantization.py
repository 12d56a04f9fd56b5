"""Samples and references of integers that stand for floats."""
import numpy as np

from wherry_tensor import _core, ops
from wherry_tensor.testing import bad, case, spec

_WHOLE = dict(axis=None, group=None)
_BITS8 = dict(low=-128, high=127, dtype=_core.int8)


def _spread(scale, x, axis, group):
    if axis is None or scale is None:
        return 0 if scale is None else scale.reshape(())
    if group is None:
        return scale.reshape((-1,) + (1,) * (x.ndim - 1 - axis))
    return np.repeat(scale, group, axis)[(slice(None),) * axis + (slice(x.shape[axis]),)]


def _steps(x, scale, zero_point, axis, group, low, high):
    zero = _spread(zero_point, x, axis, group)
    q = np.rint(x / _spread(scale, x, axis, group)) + zero
    return np.where(np.isnan(q), low, np.clip(q, low, high)), zero


def _quantize_linear(x, scale, zero_point, axis, group, low, high, dtype):
    return _steps(x, scale, zero_point, axis, group, low, high)[0]


def _dequantize_linear(x, scale, zero_point, axis, group, dtype):
    return (x.astype(np.int64) - _spread(zero_point, x, axis, group)) * _spread(scale, x, axis, group)


def _fake_quantize(x, scale, zero_point, axis, group, low, high):
    q, zero = _steps(x, scale, zero_point, axis, group, low, high)
    return (q - zero) * _spread(scale, x, axis, group)


# Quarters of a step, so that ties are met and every dtype holds them.
def _quarters(rng, shape, width=40):
    return rng.integers(-width, width, shape) / 4


def _placed(rng):
    """Inputs and where their scales lie."""
    x = _quarters(rng, (3, 5, 4))
    yield x, np.array(0.5), np.array(3, np.int8), _WHOLE
    yield x, np.array([0.25]), None, _WHOLE
    for axis in range(3):
        n = x.shape[axis]
        yield x, 2.0 ** rng.integers(-2, 2, n), rng.integers(-5, 5, n).astype(np.int8), dict(axis=axis, group=None)
        for group in 2, 3, 8:
            shape = (*x.shape[:axis], -(-n // group), *x.shape[axis + 1:])
            yield x, 2.0 ** rng.integers(-2, 2, shape), rng.integers(-3, 3, shape).astype(np.intc), dict(axis=axis, group=group)
    yield np.zeros((2, 0)), np.array(1.0), None, _WHOLE
    yield np.zeros((0, 3)), np.ones(3), None, dict(axis=1, group=None)
    yield np.array(1.25), np.array(0.5), np.array(-1, np.int8), _WHOLE
    yield _quarters(rng, 70), np.ones(70), None, dict(axis=0, group=None)
    yield _quarters(rng, (9, 67)), 2.0 ** rng.integers(-1, 1, 67), rng.integers(0, 9, 67).astype(np.uint8), dict(axis=1, group=None)
    yield _quarters(rng, (2, 70, 3)), 2.0 ** rng.integers(-1, 1, (2, 3, 3)), None, dict(axis=1, group=32)


_EDGES = np.array([np.nan, np.inf, -np.inf, 300.0, -300.0, 0.5, 1.5, 2.5, -0.5, -1.5, -0.0, 127.5, -128.5, 60000.0, 1e-7, -60000.0])


@spec(ops.quantize_linear, reference=_quantize_linear, differentiable=False)
def spec_quantize_linear(rng):
    for x, scale, zero, where in _placed(rng):
        yield case(x, scale, zero, **where, **_BITS8)
    for low, high, dtype in (0, 255, _core.uint8), (-127, 127, _core.int8), (-8, 7, _core.int8), (-30000, 30000, _core.int16):
        yield case(_quarters(rng, (4, 33)) * 8, np.array(0.5), None, **_WHOLE, low=low, high=high, dtype=dtype)
        yield case(_EDGES, np.array(1.0), np.array([low + 2])[0].reshape(()).astype(np.intc), **_WHOLE, low=low, high=high, dtype=dtype)
    yield case(_EDGES, np.array(2.0**-14), None, **_WHOLE, **_BITS8)
    x = np.zeros((2, 3), np.float32)
    one = np.ones((), np.float32)
    yield bad(x.astype(np.intc), one, None, **_WHOLE, **_BITS8, error=TypeError, match="`x` has dtype int32")
    yield bad(x, one.astype(np.float64), None, **_WHOLE, **_BITS8, error=TypeError, match="`scale` has dtype float64")
    yield bad(x, np.ones(2, np.float32), None, **_WHOLE, **_BITS8, error=ValueError, match=r"scale of shape \[2\] .* expected \[\] or \[1\]")
    yield bad(x, np.ones(2, np.float32), None, axis=1, group=None, **_BITS8, error=ValueError, match=r"axis=1, expected \[3\]")
    yield bad(x, np.ones((2, 3), np.float32), None, axis=1, group=2, **_BITS8, error=ValueError, match=r"group=2, expected \[2, 2\]")
    yield bad(x, np.ones(2, np.float32), None, axis=2, group=None, **_BITS8, error=ValueError, match="axis 2 is out of range")
    yield bad(x, one, None, axis=None, group=2, **_BITS8, error=ValueError, match="groups need an axis")
    yield bad(x, np.ones((2, 3), np.float32), None, axis=1, group=0, **_BITS8, error=ValueError, match="a group has no places")
    yield bad(x, one, np.zeros(2, np.int8), **_WHOLE, **_BITS8, error=ValueError, match="different shapes")
    yield bad(x, one, one, **_WHOLE, **_BITS8, error=TypeError, match="`zero_point` has dtype float32")
    yield bad(x, one, None, **_WHOLE, low=-129, high=127, dtype=_core.int8, error=ValueError, match="-128 <= low < high <= 127")
    yield bad(x, one, None, **_WHOLE, low=3, high=3, dtype=_core.uint8, error=ValueError, match="not a range of uint8")
    yield bad(x, one, None, **_WHOLE, low=0, high=3, dtype=_core.int64, error=TypeError, match="`dtype` has dtype int64")


@spec(ops.dequantize_linear, reference=_dequantize_linear, dtypes="int8 uint8 int16 int32", cast=(0,), differentiable=False)
def spec_dequantize_linear(rng):
    for x, scale, zero, where in _placed(rng):
        for dtype in (_core.float32, _core.float64) if x.ndim == 3 else (_core.float32, _core.float16, _core.bfloat16):
            yield case(np.abs(np.rint(4 * x)).astype(np.int64), scale.astype(np.float32), zero, **where, dtype=dtype)
    yield case(rng.integers(-128, 128, (3, 40)), np.array(0.37, np.float32), np.array(5, np.int8), **_WHOLE, dtype=_core.float32)
    yield case(rng.integers(-(2**31), 2**31, (3, 40)), np.array(0.37), np.array(0), **_WHOLE, dtype=_core.float64)
    yield bad(np.zeros(3, np.float32), np.array(1.0), None, **_WHOLE, dtype=_core.float32, error=TypeError, match="`x` has dtype float32")
    yield bad(np.zeros(3, np.int8), np.array(1.0), None, **_WHOLE, dtype=_core.float32, error=TypeError, match="`scale` has dtype float64")
    yield bad(np.zeros(3, np.int8), np.array(1.0), None, **_WHOLE, dtype=_core.int32, error=TypeError, match="`dtype` has dtype int32")


@spec(ops.fake_quantize, reference=_fake_quantize, differentiable=False)  # its gradient is not that of its steps: autograd tests it
def spec_fake_quantize(rng):
    for x, scale, zero, where in _placed(rng):
        yield case(x, scale, zero, **where, low=-128, high=127)
        yield case(x, scale, None, **where, low=-8, high=7)
    yield case(_EDGES, np.array(1.0), np.array(7, np.uint8), **_WHOLE, low=0, high=255)
    yield bad(np.zeros(3), np.array(1.0), None, **_WHOLE, low=-1, high=40000, error=ValueError, match="not a range of int16")
    yield bad(np.zeros(3), np.array(1.0), None, **_WHOLE, low=0, high=70000, error=ValueError, match="not a range of 16 bits")


def _requantize(x, scale, bias, axis, zero_point, low, high, dtype):
    sums = x if bias is None else x + _spread(bias, x, axis, None)
    q = np.rint(sums.astype(np.float32) * _spread(scale, x, axis, None).astype(np.float32)) + zero_point
    return np.clip(q, low, high)


@spec(ops.requantize, reference=_requantize, dtypes="int32", cast=(0,), differentiable=False)
def spec_requantize(rng):
    sums = rng.integers(-40000, 40000, (3, 5, 70))
    one = np.array(1 / 256, np.float32)
    yield case(sums, one, None, axis=None, zero_point=0, **_BITS8)
    yield case(sums, one, np.array(300, np.intc), axis=None, zero_point=100, low=0, high=255, dtype=_core.uint8)
    for axis in range(3):
        n = sums.shape[axis]
        scale, bias = (2.0 ** rng.integers(-9, -6, n)).astype(np.float32), rng.integers(-900, 900, n).astype(np.intc)
        yield case(sums, scale, bias, axis=axis, zero_point=-3, **_BITS8)
    yield case(sums * 40000, one, None, axis=None, zero_point=0, low=-32768, high=32767, dtype=_core.int16)
    yield case(np.zeros((0, 2), np.int64), one, None, axis=None, zero_point=0, **_BITS8)
    x = np.zeros((2, 3), np.intc)
    yield bad(x.astype(np.int64), one, None, axis=None, zero_point=0, **_BITS8, error=TypeError, match="`x` has dtype int64")
    yield bad(x, one, np.zeros(2, np.intc), axis=None, zero_point=0, **_BITS8, error=ValueError, match="`bias` does not fit `x`")
    yield bad(x, one, one, axis=None, zero_point=0, **_BITS8, error=TypeError, match="`bias` has dtype float32")
    yield bad(x, one, None, axis=None, zero_point=128, **_BITS8, error=ValueError, match="zero_point is out of range")


def _pack_int4(x):
    half = np.pad(x.astype(np.uint8) & 15, [(0, 0)] * (x.ndim - 1) + [(0, x.shape[-1] % 2)])
    return half[..., ::2] | half[..., 1::2] << 4


def _unpack_int4(x, size, signed):
    out = np.stack([x & 15, x >> 4], -1).reshape(*x.shape[:-1], 2 * x.shape[-1])[..., :size]
    return (out ^ 8).astype(np.int8) - 8 if signed else out


@spec(ops.pack_int4, reference=_pack_int4, dtypes="int8 uint8", differentiable=False)
def spec_pack_int4(rng):
    for shape in (6,), (3, 7), (2, 3, 128), (1,), (0,), (2, 0), (0, 5):
        yield case(rng.integers(-8, 8, shape), dtypes="int8")
        yield case(rng.integers(0, 16, shape), dtypes="uint8")
    yield bad(np.zeros(3, np.int16), error=TypeError, match="`x` has dtype int16")
    yield bad(np.array(1, np.int8), error=ValueError, match="0-d")


@spec(ops.unpack_int4, reference=_unpack_int4, dtypes="uint8", differentiable=False)
def spec_unpack_int4(rng):
    for shape, size in ((3,), 6), ((3,), 5), ((2, 4), 7), ((2, 3, 64), 128), ((0,), 0), ((0, 2), 3):
        for signed in False, True:
            yield case(rng.integers(0, 256, shape), size=size, signed=signed)
    yield bad(np.zeros(3, np.uint8), size=7, signed=True, error=ValueError, match="size=7 .* expected a last axis of 4")
    yield bad(np.zeros(3, np.uint8), size=-1, signed=True, error=ValueError, match="expected a last axis of 0")
    yield bad(np.zeros(3, np.int8), size=6, signed=True, error=TypeError, match="`x` has dtype int8")


# Every value of a byte as float8 e4m3fn. Each half of them is in order, but for NaN, the last.
_EIGHTHS = np.arange(128)
_FP8 = np.where(_EIGHTHS < 8, _EIGHTHS / 512, (8 + _EIGHTHS % 8) * 2.0 ** (_EIGHTHS // 8 - 10))
_FP8[127] = np.nan


def _quantize_fp8(x):
    size = np.minimum(np.abs(x.astype(np.float64)), 448)
    above = np.searchsorted(_FP8[:127], size).clip(1, 126)
    low, high = size - _FP8[above - 1], _FP8[above] - size
    code = np.where((low < high) | ((low == high) & (above % 2 == 1)), above - 1, above)
    return np.where(np.isnan(x), 127, code + 128 * np.signbit(x)).astype(np.uint8)


def _dequantize_fp8(x, dtype):
    return _FP8[x & 127] * np.where(x > 127, -1.0, 1.0)


@spec(ops.quantize_fp8, reference=_quantize_fp8, dtypes="float16 bfloat16 float32 float64", differentiable=False)
def spec_quantize_fp8(rng):
    yield case(_FP8[:127])
    yield case(-(_FP8[:126] + _FP8[1:127]) / 2)  # ties
    yield case(np.array([-0.0, 0.0, np.inf, -np.inf, np.nan, 449.0, -3e4, 2.0**-14]))
    yield case(rng.standard_normal((3, 5, 7)) * 30)
    yield case(np.zeros((0, 3)))
    yield bad(np.zeros(3, np.intc), error=TypeError, match="`x` has dtype int32")


@spec(ops.dequantize_fp8, reference=_dequantize_fp8, dtypes="uint8", differentiable=False)
def spec_dequantize_fp8(rng):
    for dtype in _core.float32, _core.float64, _core.float16, _core.bfloat16:
        yield case(np.arange(256).astype(np.uint8), dtype=dtype)
    yield case(rng.integers(0, 256, (3, 5)).astype(np.uint8), dtype=_core.float32)
    yield case(np.zeros((2, 0), np.uint8), dtype=_core.float32)
    yield bad(np.zeros(3, np.int8), dtype=_core.float32, error=TypeError, match="`x` has dtype int8")
    yield bad(np.zeros(3, np.uint8), dtype=_core.int8, error=TypeError, match="`dtype` has dtype int8")
