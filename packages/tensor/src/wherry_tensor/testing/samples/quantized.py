"""Samples and references of arithmetic on quantized tensors."""
import numpy as np

from wherry_tensor import _core, ops
from wherry_tensor.testing import bad, case, spec
from wherry_tensor.testing.samples.blocked import _BEHIND
from wherry_tensor.testing.samples.contraction import _swapped
from wherry_tensor.testing.samples.convolution import _back, _conv2d, _max_pool2d, _window

_GIVEN = dict(dtypes="float32", cast=(), differentiable=False)  # samples come in the dtypes that they are meant for


def _bytes(rng, shape, dtype=np.int8, narrow=False):
    limits = np.iinfo(dtype)
    x = rng.integers(limits.min + narrow, limits.max + 1, shape).astype(dtype)
    if x.size > 2:
        x.flat[0], x.flat[-1] = limits.max, limits.min + narrow  # what 16 bits of sums would not hold
    return x


def _matmul_int8(x, y, x_zero_point, y_zero_point, transpose_x, transpose_y):
    x, y = _swapped(x.astype(np.int64), transpose_x), _swapped(y.astype(np.int64), transpose_y)
    x = x if x_zero_point is None else x - x_zero_point.reshape(-1, 1)
    return np.matmul(x, y if y_zero_point is None else y - y_zero_point.astype(np.int64).reshape(1, -1))


@spec(ops.matmul_int8, reference=_matmul_int8, **_GIVEN)
def spec_matmul_int8(rng):
    plain = dict(transpose_x=False, transpose_y=False)
    for a in np.int8, np.uint8:
        for b in np.int8, np.uint8:
            yield case(_bytes(rng, (2, 3), a), _bytes(rng, (3, 4), b), None, None, **plain)
            yield case(_bytes(rng, (5, 70), a), _bytes(rng, (70, 33), b), np.array(9, a), np.array(77, b), **plain)
            yield case(_bytes(rng, (33, 130), a), _bytes(rng, (130, 50), b), _bytes(rng, 33, a), _bytes(rng, 50, b), **plain)
    for turned in dict(transpose_x=True, transpose_y=False), dict(transpose_x=False, transpose_y=True), dict(transpose_x=True, transpose_y=True):
        x, y = _bytes(rng, (40, 37), np.uint8), _bytes(rng, (37, 29))
        x, y = _swapped(x, turned["transpose_x"]), _swapped(y, turned["transpose_y"])
        yield case(x, y, np.array([128], np.uint8), None, **turned)
        yield case(np.stack([x, x]), y, _bytes(rng, 40, np.uint8), _bytes(rng, 29), **turned)
    # Batches, and sizes that fill no block.
    yield case(_bytes(rng, (2, 1, 3, 5)), _bytes(rng, (4, 5, 7)), None, None, **plain)
    yield case(_bytes(rng, (3, 5)), _bytes(rng, (2, 5, 17)), np.array(-3, np.int8), None, **plain)
    for m, k, n in (1, 1, 1), (1, 257, 16), (1, 64, 100), (13, 4, 16), (14, 66, 31), (29, 301, 48), (100, 19, 1):
        yield case(_bytes(rng, (m, k), np.uint8), _bytes(rng, (k, n)), np.array(130, np.uint8), None, **plain)
    for shape in ((0, 3), (3, 2)), ((2, 0), (0, 3)), ((2, 3), (3, 0)), ((0, 2, 3), (3, 4)):
        yield case(*(_bytes(rng, s) for s in shape), None, None, **plain)
    x, y = np.zeros((2, 3), np.int8), np.zeros((3, 4), np.int8)
    yield bad(x, y.astype(np.int16), None, None, **plain, error=TypeError, match="`y` has dtype int16")
    yield bad(x, y[0], None, None, **plain, error=ValueError, match="`y` is not a matrix")
    yield bad(x, y.T.copy(), None, None, **plain, error=ValueError, match="expected 3 and 4 to be equal")
    yield bad(x, y, np.zeros(3, np.int8), None, **plain, error=ValueError, match=r"`x_zero_point` does not fit .* one for each row")
    yield bad(x, y, None, np.zeros(4, np.uint8), **plain, error=TypeError, match="`y_zero_point` has dtype uint8")


def _conv2d_int8(x, weight, x_zero_point, weight_zero_point, strides, paddings, dilations, groups, data_format):
    x, weight = x.astype(np.float64), weight.astype(np.float64)
    x = x if x_zero_point is None else x - x_zero_point.reshape(())
    weight = weight if weight_zero_point is None else weight - weight_zero_point.astype(np.float64).reshape(-1, 1, 1, 1)
    return _conv2d(x, weight, None, strides, paddings, dilations, groups, data_format)


_WINDOWS = [  # shape of x (channels first), shape of weight, window
    ((2, 3, 5, 6), (4, 3, 3, 3), _window(paddings=(1, 1, 1, 1))),
    ((1, 3, 19, 23), (20, 3, 7, 7), _window(strides=(2, 2), paddings=(3, 3, 3, 3))),
    ((2, 8, 5, 4), (17, 8, 1, 1), _window()),
    ((1, 6, 9, 8), (16, 6, 1, 1), _window(strides=(2, 2))),
    ((1, 20, 6, 7), (33, 20, 3, 2), _window(strides=(2, 1), paddings=(0, 1, 1, 0), dilations=(1, 2))),
    ((1, 16, 9, 37), (32, 16, 3, 3), _window(paddings=(1, 1, 1, 1))),
    ((1, 5, 7, 7), (3, 5, 5, 5), _window(paddings=(4, 2, 1, 3))),
    ((0, 3, 5, 5), (4, 3, 3, 3), _window()),
]


@spec(ops.conv2d_int8, reference=_conv2d_int8, **_GIVEN)
def spec_conv2d_int8(rng):
    grouped = [
        ((1, 4, 6, 6), (6, 2, 3, 3), _window(strides=(2, 2), paddings=(1, 1, 1, 1), groups=2)),
        ((2, 5, 5, 6), (5, 1, 3, 3), _window(paddings=(1, 1, 1, 1), groups=5)),
    ]
    for number, (shape, windows, window) in enumerate(_WINDOWS + grouped):
        for data_format in "NCHW", "NHWC":
            a, b = [(np.uint8, np.int8), (np.int8, np.int8), (np.uint8, np.uint8)][number % 3]
            x, weight = _back(_bytes(rng, shape, a), data_format), _bytes(rng, windows, b)
            window = {**window, "data_format": data_format}
            yield case(x, weight, None, None, **window)
            yield case(x, weight, np.array(7, a), _bytes(rng, windows[0], b), **window)
            yield case(x, weight, np.array([100], a), np.array(3, b), **window)
    x, weight = np.zeros((1, 3, 5, 5), np.uint8), np.zeros((4, 3, 3, 3), np.int8)
    yield bad(x, weight[:, :2].copy(), None, None, **_window(), error=ValueError, match="expected 2 \\* 1 = 2 channels")
    yield bad(x, weight, np.zeros(3, np.uint8), None, **_window(), error=ValueError, match="`x_zero_point` does not fit")
    yield bad(x, weight, None, np.zeros(3, np.int8), **_window(), error=ValueError, match=r"expected \[\] or \[4\]")
    yield bad(x.astype(np.float32), weight, None, None, **_window(), error=TypeError, match="`x` has dtype float32")


# ---- with what stands after ----------------------------------------------------------------------


def _end(
    residual_scale=1.0, residual_zero_point=0, activation="none", out_scale=None, out_zero_point=0, low=None, high=None, dtype=_core.float32
):
    return dict(
        residual_scale=residual_scale, residual_zero_point=residual_zero_point, activation=activation, out_scale=out_scale,
        out_zero_point=out_zero_point, low=low, high=high, dtype=dtype,
    )


def _real(x, scale, zero):
    return (x.astype(np.int64) - zero).astype(np.float32) * np.float32(scale)


def _finished(sums, step, scale, bias, residual, residual_scale, residual_zero_point, **behind):
    if bias is not None and bias.dtype.kind == "i":
        sums, bias = sums + bias, None
    v = np.float32(sums)
    v = (v if step is None else v * step) * np.float32(scale)
    v = v if bias is None else v + np.float32(bias)
    if residual is not None:
        v = v + (_real(residual, residual_scale, residual_zero_point) if residual.dtype.kind in "iu" else np.float32(residual))
    return _ended(v, **behind)


def _ended(v, activation, out_scale, out_zero_point, low, high, dtype):
    v = _BEHIND[activation](v)
    if dtype.is_floating:
        return v
    least, largest = (0, 255) if dtype is _core.uint8 else (-128, 127)
    steps = v if out_scale is None else np.float32(v) * (np.float32(1) / np.float32(out_scale))
    return np.clip(np.rint(steps) + out_zero_point, least if low is None else low, largest if high is None else high)


def _behinds(rng, shape):
    """bias, residual, x_zero_point and what else stands after, for results of this shape."""
    out = shape[-1]
    whole = rng.integers(-3000, 3000, out).astype(np.intc)
    real = rng.standard_normal(out).astype(np.float32)
    image = rng.standard_normal(shape).astype(np.float32)
    yield None, None, 0, _end()
    yield whole, None, 3, _end(dtype=_core.int8, out_scale=0.125, out_zero_point=-5)
    yield real, image, 11, _end(activation="relu")
    yield whole, _bytes(rng, shape), 0, _end(0.03125, 4, "relu", 0.0625, 10, dtype=_core.uint8)
    yield real, _bytes(rng, shape, np.uint8), 2, _end(0.0625, 128, "relu6", 0.03125, 0, 0, 127, _core.uint8)
    yield None, image, 100, _end(dtype=_core.int8, low=-100, high=99)
    yield None, image.astype(np.float16), 5, _end(activation="gelu")
    yield real, None, 1, _end(activation="hardswish", dtype=_core.float16)


def _scale(rng, out):
    return (2.0 ** rng.integers(-11, -8, out)).astype(np.float32)


def _quantized_linear(x, weight, scale, bias, residual, x_zero_point, **behind):
    m, n, out, four = weight.shape
    plain = weight.transpose(1, 3, 0, 2).reshape(n * four, m * out)[: x.shape[-1], : scale.shape[0]].astype(np.int64)
    step = None
    if x.dtype.kind == "f":
        largest = np.maximum(np.abs(np.float32(x)).max(-1, keepdims=True, initial=0), np.float32(1e-30))
        step = largest / np.float32(127)
        x = np.clip(np.rint(np.float32(x) * (np.float32(127) / largest)), -127, 127)
    return _finished(np.matmul(x.astype(np.int64) - x_zero_point, plain), step, scale, bias, residual, **behind)


def _linear_weight(weight):
    inside, out = weight.shape
    n, m = -(-inside // 4), -(-out // 16)
    return np.pad(weight, ((0, n * 4 - inside), (0, m * 16 - out))).reshape(n, 4, m, 16).transpose(2, 0, 3, 1).copy()


def _conv_weight(weight):
    out, inside, *kernel = weight.shape
    n, m = -(-inside // 4), -(-out // 16)
    plain = np.pad(weight, ((0, m * 16 - out), (0, n * 4 - inside), (0, 0), (0, 0)))
    return plain.reshape(m, 16, n, 4, *kernel).transpose(0, 4, 5, 2, 1, 3).copy()


def _packed_matmul_int8(x, weight, sums, x_zero_point, weight_zero_point):
    m, n, out, four = weight.shape
    plain = weight.transpose(1, 3, 0, 2).reshape(n * four, m * out)[: x.shape[-1], : sums.shape[0]]
    return _matmul_int8(x, plain, x_zero_point, weight_zero_point, False, False)


@spec(ops.packed_matmul_int8, reference=_packed_matmul_int8, **_GIVEN)
def spec_packed_matmul_int8(rng):
    for shape, out in ((2, 3), 4), ((1, 64), 100), ((5, 70), 33), ((2, 3, 37), 16), ((14, 66), 31), ((0, 3), 2):
        plain = _bytes(rng, (shape[-1], out))
        weight, sums = _linear_weight(plain), plain.sum(0, dtype=np.intc)
        for a in np.int8, np.uint8:
            x = _bytes(rng, shape, a)
            yield case(x, weight, sums, None, None)
            yield case(x, weight, sums, np.array(9, a), np.array(-128, np.int8))
            yield case(x, weight, sums, _bytes(rng, shape[-2], a), _bytes(rng, out))
    x, weight, sums = np.zeros((2, 5), np.int8), np.zeros((1, 2, 16, 4), np.int8), np.zeros(3, np.intc)
    yield case(x[:, :0].copy(), weight[:, :0].copy(), sums, None, None)
    yield bad(x[:, :4].copy(), weight, sums, None, None, error=ValueError, match="`x` does not fit `weight`")
    yield bad(x[0], weight, sums, None, None, error=ValueError, match="`x` does not fit `weight`")
    yield bad(x, weight[0], sums, None, None, error=ValueError, match="packed_linear_weight puts it in order")
    yield bad(x, weight, np.zeros(17, np.intc), None, None, error=ValueError, match="`sums` does not fit `weight`")
    yield bad(x, weight, sums.astype(np.int64), None, None, error=TypeError, match="`sums` has dtype int64")
    yield bad(x, weight, sums, np.zeros(3, np.int8), None, error=ValueError, match="`x_zero_point` does not fit")
    yield bad(x, weight, sums, None, np.zeros((), np.uint8), error=TypeError, match="`weight_zero_point` has dtype uint8")


def _packed_conv2d_int8(x, weight, sums, x_zero_point, weight_zero_point, strides, paddings, dilations, data_format):
    m, kh, kw, n, out, four = weight.shape
    inside = x.shape[3 if data_format == "NHWC" else 1]
    plain = weight.transpose(0, 4, 3, 5, 1, 2).reshape(m * out, n * four, kh, kw)[: sums.shape[0], :inside]
    return _conv2d_int8(x, plain, x_zero_point, weight_zero_point, strides, paddings, dilations, 1, data_format)


@spec(ops.packed_conv2d_int8, reference=_packed_conv2d_int8, **_GIVEN)
def spec_packed_conv2d_int8(rng):
    for number, (shape, windows, window) in enumerate(_WINDOWS):
        plain = _bytes(rng, windows)
        weight, sums = _conv_weight(plain), plain.sum((1, 2, 3), dtype=np.intc)
        for data_format in "NCHW", "NHWC":
            a = (np.uint8, np.int8)[number % 2]
            x = _back(_bytes(rng, shape, a), data_format)
            window = {**_only(window, "strides", "paddings", "dilations"), "data_format": data_format}
            yield case(x, weight, sums, None, None, **window)
            yield case(x, weight, sums, np.array(7, a), _bytes(rng, windows[0]), **window)
            yield case(x, weight, sums, np.array([100], a), np.array(-125, np.int8), **window)
    x, weight, sums = np.zeros((1, 5, 5, 5), np.uint8), np.zeros((1, 3, 3, 2, 16, 4), np.int8), np.zeros(3, np.intc)
    yield bad(x[..., :4].copy(), weight, sums, None, None, **{**window, "data_format": "NHWC"}, error=ValueError, match="the channels of `x`")
    yield bad(x, weight[0], sums, None, None, **window, error=ValueError, match="packed_conv_weight puts it in order")
    yield bad(x, weight, sums[:0].copy(), None, None, **window, error=ValueError, match="`sums` does not fit `weight`")
    yield bad(x, weight, sums, np.zeros(3, np.uint8), None, **window, error=ValueError, match="`x_zero_point` does not fit")


# Activations other than relu are of other bits here and there.
_ENDS = {"float32": (1e-5, 1e-5), "float16": (2e-3, 2e-3)}


@spec(ops.quantized_linear, reference=_quantized_linear, tolerance=_ENDS, **_GIVEN)
def spec_quantized_linear(rng):
    for shape, out in ((3, 8), 16), ((2, 3, 70), 33), ((1, 130), 50), ((29, 33), 100), ((5,), 3), ((40, 64), 16):
        weight, scale = _linear_weight(_bytes(rng, (shape[-1], out), narrow=True)), _scale(rng, out)
        for a in np.uint8, np.int8:
            x = _bytes(rng, shape, a)
            for bias, residual, zero, behind in _behinds(rng, (*shape[:-1], out)):
                yield case(x, weight, scale, bias, residual, x_zero_point=zero, **behind)
        # Rows that are quantized on the way: quarters of a step, of which the largest has 127.
        for a in np.float32, np.float16:
            x = (rng.integers(-508, 509, shape) / 4).astype(a)
            x[..., 0] = 127
            yield case(x, weight, scale, None, None, x_zero_point=0, **_end())
            yield case(-x / 4, weight, scale, rng.standard_normal(out).astype(np.float32), None, x_zero_point=0, **_end(activation="relu"))
    yield case(np.zeros((2, 4), np.float32), weight[:, :1].copy(), scale, None, None, x_zero_point=0, **_end())
    yield case(np.zeros((0, 64), np.int8), weight, scale, None, None, x_zero_point=0, **_end())
    yield case(np.zeros((2, 0), np.int8), weight[:, :0].copy(), scale, None, None, x_zero_point=0, **_end(dtype=_core.int8))
    x, one = np.zeros((2, 64), np.int8), dict(x_zero_point=0)
    yield bad(x[:, :60].copy(), weight, scale, None, None, **one, **_end(), error=ValueError, match="`x` does not fit `weight`")
    yield bad(x, weight[0], scale, None, None, **one, **_end(), error=ValueError, match="packed_linear_weight puts it in order")
    yield bad(x, weight.astype(np.uint8), scale, None, None, **one, **_end(), error=TypeError, match="`weight` has dtype uint8")
    yield bad(x, weight, np.ones(17, np.float32), None, None, **one, **_end(), error=ValueError, match="`scale` does not fit `weight`")
    yield bad(x, weight, scale.astype(np.float64), None, None, **one, **_end(), error=TypeError, match="`scale` has dtype float64")
    yield bad(x, weight, scale, np.zeros(3, np.intc), None, **one, **_end(), error=ValueError, match="`bias` does not fit")
    yield bad(x, weight, scale, None, np.zeros((2, 3), np.int8), **one, **_end(), error=ValueError, match="`residual` and `the result`")
    yield bad(x, weight, scale, None, None, x_zero_point=128, **_end(), error=ValueError, match="x_zero_point is out of range")
    yield bad(x.astype(np.float32), weight, scale, None, None, x_zero_point=1, **_end(), error=ValueError, match="have no zero point")
    yield bad(x, weight, scale, None, None, **one, **_end(activation="cosh"), error=ValueError, match="activation='cosh'")
    for step in 0.0, -1.0, float("nan"), float("inf"):
        yield bad(x, weight, scale, None, None, **one, **_end(out_scale=step, dtype=_core.int8), error=ValueError, match="out_scale is not the size")
    yield bad(x, weight, scale, None, None, **one, **_end(low=5, high=4, dtype=_core.int8), error=ValueError, match="not a range of int8")
    yield bad(x, weight, scale, None, None, **one, **_end(out_zero_point=-1, dtype=_core.uint8), error=ValueError, match="out_zero_point=-1")


def _quantized_conv2d(x, weight, scale, bias, residual, strides, paddings, dilations, x_zero_point, **behind):
    m, kh, kw, n, out, four = weight.shape
    plain = weight.transpose(0, 4, 3, 5, 1, 2).reshape(m * out, n * four, kh, kw)[: scale.shape[0], : x.shape[3]]
    sums = _conv2d(x.astype(np.float64) - x_zero_point, plain.astype(np.float64), None, strides, paddings, dilations, 1, "NHWC")
    return _finished(sums.astype(np.int64), None, scale, bias, residual, **behind)


def _only(window, *names):
    return {name: window[name] for name in names}


@spec(ops.quantized_conv2d, reference=_quantized_conv2d, tolerance=_ENDS, **_GIVEN)
def spec_quantized_conv2d(rng):
    for shape, windows, window in _WINDOWS:
        out = windows[0]
        window = _only(window, "strides", "paddings", "dilations")
        weight = _conv_weight(_bytes(rng, windows, narrow=True))
        size = [(shape[2 + a] + sum(window["paddings"][2 * a : 2 * a + 2]) - window["dilations"][a] * (windows[2 + a] - 1) - 1)
                // window["strides"][a] + 1 for a in range(2)]
        for a in np.uint8, np.int8:
            x = _back(_bytes(rng, shape, a), "NHWC")
            for bias, residual, zero, behind in _behinds(rng, (shape[0], *size, out)):
                yield case(x, weight, _scale(rng, out), bias, residual, **window, x_zero_point=zero, **behind)
    x, scale = np.zeros((1, 5, 5, 5), np.int8), np.ones(3, np.float32)
    window = dict(strides=(1, 1), paddings=(0,) * 4, dilations=(1, 1), x_zero_point=0)
    weight = np.zeros((1, 3, 3, 2, 16, 4), np.int8)
    yield bad(x[..., :4].copy(), weight, scale, None, None, **window, **_end(), error=ValueError, match="the channels of `x` do not fit")
    yield bad(x, weight[0], scale, None, None, **window, **_end(), error=ValueError, match="packed_conv_weight puts it in order")
    yield bad(x[0], weight, scale, None, None, **window, **_end(), error=ValueError, match="`x` is not a batch of images")
    yield bad(x[:, :2].copy(), weight, scale, None, None, **window, **_end(), error=ValueError, match="window is larger")
    yield bad(x, weight, scale, None, None, **{**window, "strides": (0, 1)}, **_end(), error=ValueError, match="strides")
    yield bad(x.astype(np.float32), weight, scale, None, None, **window, **_end(), error=TypeError, match="`x` has dtype float32")


def _quantized_depthwise_conv2d(x, weight, scale, bias, residual, strides, paddings, dilations, x_zero_point, **behind):
    plain = weight.transpose(2, 0, 1)[:, None].astype(np.float64)
    sums = _conv2d(x.astype(np.float64) - x_zero_point, plain, None, strides, paddings, dilations, x.shape[3], "NHWC")
    return _finished(sums.astype(np.int64), None, scale, bias, residual, **behind)


@spec(ops.quantized_depthwise_conv2d, reference=_quantized_depthwise_conv2d, tolerance=_ENDS, **_GIVEN)
def spec_quantized_depthwise_conv2d(rng):
    windows = [
        ((2, 6, 5, 20), (3, 3), dict(strides=(1, 1), paddings=(1, 1, 1, 1), dilations=(1, 1))),
        ((1, 9, 11, 64), (3, 3), dict(strides=(2, 2), paddings=(1, 1, 1, 1), dilations=(1, 1))),
        ((1, 8, 8, 7), (5, 5), dict(strides=(1, 2), paddings=(2, 0, 1, 3), dilations=(1, 1))),
        ((1, 8, 9, 33), (3, 2), dict(strides=(1, 1), paddings=(0, 0, 0, 0), dilations=(2, 3))),
        ((1, 4, 4, 16), (1, 1), dict(strides=(1, 1), paddings=(0, 0, 0, 0), dilations=(1, 1))),
        ((0, 4, 4, 16), (3, 3), dict(strides=(1, 1), paddings=(0, 0, 0, 0), dilations=(1, 1))),
    ]
    for shape, kernel, window in windows:
        channels = shape[3]
        weight = _bytes(rng, (*kernel, channels), narrow=True)
        size = [(shape[1 + a] + sum(window["paddings"][2 * a : 2 * a + 2]) - window["dilations"][a] * (kernel[a] - 1) - 1)
                // window["strides"][a] + 1 for a in range(2)]
        for a in np.uint8, np.int8:
            for bias, residual, zero, behind in _behinds(rng, (shape[0], *size, channels)):
                yield case(_bytes(rng, shape, a), weight, _scale(rng, channels), bias, residual, **window, x_zero_point=zero, **behind)
    x, weight, scale = np.zeros((1, 5, 5, 5), np.int8), np.zeros((3, 3, 5), np.int8), np.ones(5, np.float32)
    window = dict(strides=(1, 1), paddings=(0,) * 4, dilations=(1, 1), x_zero_point=0)
    yield bad(x[..., :4].copy(), weight, scale, None, None, **window, **_end(), error=ValueError, match="expected 5 channels")
    yield bad(x, weight[0], scale, None, None, **window, **_end(), error=ValueError, match="packed_depthwise_weight puts it in order")
    yield bad(x, weight, scale[:4].copy(), None, None, **window, **_end(), error=ValueError, match="`weight` is not in order")


def _quantized_add(x, y, x_scale, x_zero_point, y_scale, y_zero_point, **behind):
    return _ended(_real(x, x_scale, x_zero_point) + _real(y, y_scale, y_zero_point), **behind)


@spec(ops.quantized_add, reference=_quantized_add, **_GIVEN)
def spec_quantized_add(rng):
    def end(**given):
        given = _end(**given)
        return {name: given[name] for name in given if not name.startswith("residual")}

    scales = dict(x_scale=0.0625, x_zero_point=3, y_scale=0.3, y_zero_point=100)
    for shape in (3, 5, 70), (0, 2), (), (256,):
        for a in np.uint8, np.int8:
            for b in np.uint8, np.int8:
                yield case(_bytes(rng, shape, a), _bytes(rng, shape, b), **scales, **end(dtype=_core.uint8, out_scale=0.4, out_zero_point=90))
                yield case(_bytes(rng, shape, a), _bytes(rng, shape, b), **scales, **end(dtype=_core.int8, activation="relu", low=-7, high=90))
        yield case(_bytes(rng, shape), _bytes(rng, shape), **scales, **end(activation="relu6"))
    x = np.zeros(3, np.int8)
    yield bad(x, np.zeros(4, np.int8), **scales, **end(), error=ValueError, match="must have one shape")
    yield bad(x, x.astype(np.int16), **scales, **end(), error=TypeError, match="`y` has dtype int16")
    yield bad(x, x, **{**scales, "y_zero_point": 128}, **end(), error=ValueError, match="y_zero_point is out of range")
    yield bad(x, x, **{**scales, "x_scale": 0.0}, **end(), error=ValueError, match="x_scale is not the size of a step")


def _quantized_max_pool2d(x, **window):
    return np.fmax(_max_pool2d(x.astype(np.float64), **window, data_format="NHWC")[0], np.iinfo(x.dtype).min)


@spec(ops.quantized_max_pool2d, reference=_quantized_max_pool2d, **_GIVEN)
def spec_quantized_max_pool2d(rng):
    for a in np.uint8, np.int8:
        for shape in (2, 7, 9, 5), (1, 12, 12, 64), (1, 9, 8, 33):
            x = _bytes(rng, shape, a)
            yield case(x, kernel=(3, 3), strides=(2, 2), paddings=(1, 1, 1, 1), ceil_mode=False)
            yield case(x, kernel=(2, 3), strides=(2, 1), paddings=(0, 1, 1, 0), ceil_mode=True)
            yield case(x, kernel=(1, 1), strides=(3, 2), paddings=(0, 0, 0, 0), ceil_mode=False)
    yield case(np.zeros((0, 4, 4, 3), np.int8), kernel=(2, 2), strides=(2, 2), paddings=(0, 0, 0, 0), ceil_mode=False)
    yield bad(np.zeros((1, 3, 3, 2), np.float32), kernel=(2, 2), strides=(1, 1), paddings=(0,) * 4, ceil_mode=False, error=TypeError,
              match="`x` has dtype float32")
    yield bad(np.zeros((1, 3, 3, 2), np.int8), kernel=(5, 5), strides=(1, 1), paddings=(0,) * 4, ceil_mode=False, error=ValueError,
              match="window is larger")


def _mapped_bytes(x, table):
    return table[x.astype(np.int64) - np.iinfo(x.dtype).min]


@spec(ops.mapped_bytes, reference=_mapped_bytes, **_GIVEN)
def spec_mapped_bytes(rng):
    for a in np.uint8, np.int8:
        every = np.arange(256).astype(a)
        for b in np.uint8, np.int8:
            table = _bytes(rng, (256,), b)
            for x in every, every.reshape(4, 64).T, _bytes(rng, (3, 5, 70), a), _bytes(rng, (2, 9000), a), _bytes(rng, (), a), _bytes(rng, (0, 2), a):
                yield case(x, table)
    yield bad(np.zeros(3, np.float32), np.zeros(256, np.int8), error=TypeError, match="`x` has dtype float32")
    yield bad(np.zeros(3, np.int8), np.zeros(256, np.float32), error=TypeError, match="`table` has dtype float32")
    yield bad(np.zeros(3, np.int8), np.zeros(255, np.int8), error=ValueError, match="does not say what each byte becomes")
