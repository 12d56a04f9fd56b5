"""Samples and references of convolution and pooling.

The references walk over windows one by one, on channels first; `_first` and `_back` turn the other
layout around them.
"""
import numpy as np

from wherry_tensor import ops
from wherry_tensor.testing import bad, case, spec

# Sums of some hundred products of normal values pass zero, so what counts is the error beside the
# size of the summands. Winograd's transforms double the rounding error of 3x3 windows in float32.
_SUMS = {"float32": (1e-5, 2e-4), "float16": (5e-3, 2e-2), "bfloat16": (4e-2, 1.5e-1)}


def _first(x, data_format):
    return x if data_format == "NCHW" else x.transpose(0, 3, 1, 2)


def _back(x, data_format):
    return x if data_format == "NCHW" else x.transpose(0, 2, 3, 1)


def _padded(x, paddings):
    top, bottom, left, right = paddings
    return np.pad(x, ((0, 0), (0, 0), (top, bottom), (left, right)))


def _taps(size, strides, dilations, kernel):
    """For each tap of a window: its place, and the inputs that it meets, as a slice."""
    for i, j in np.ndindex(*kernel):
        yield i, j, (..., *(
            slice(tap * d, tap * d + (n - 1) * s + 1, s)
            for tap, d, n, s in zip((i, j), dilations, size, strides, strict=True)
        ))


def _conv2d(x, weight, bias, strides, paddings, dilations, groups, data_format):
    x = _padded(_first(x, data_format), paddings)
    kernel = weight.shape[2:]
    size = tuple((x.shape[2 + a] - dilations[a] * (kernel[a] - 1) - 1) // strides[a] + 1 for a in range(2))
    out = np.zeros((x.shape[0], weight.shape[0], *size))
    shape = (x.shape[0], groups, x.shape[1] // groups, *size)
    windows = weight.reshape(groups, weight.shape[0] // groups, *weight.shape[1:])
    for i, j, met in _taps(size, strides, dilations, kernel):
        out += np.einsum("ngchw,gmc->ngmhw", x[met].reshape(shape), windows[..., i, j]).reshape(out.shape)
    return _back(out if bias is None else out + bias[:, None, None], data_format)


def _conv2d_input_vjp(ct, weight, like, strides, paddings, dilations, groups, data_format):
    ct = _first(ct, data_format)
    n, channels, h, w = _first(like, data_format).shape
    top, bottom, left, right = paddings
    padded = np.zeros((n, channels, h + top + bottom, w + left + right))
    split = ct.reshape(n, groups, ct.shape[1] // groups, *ct.shape[2:])
    windows = weight.reshape(groups, weight.shape[0] // groups, *weight.shape[1:])
    for i, j, met in _taps(ct.shape[2:], strides, dilations, weight.shape[2:]):
        padded[met] += np.einsum("ngmhw,gmc->ngchw", split, windows[..., i, j]).reshape(padded[met].shape)
    return _back(padded[:, :, top : top + h, left : left + w], data_format)


def _conv2d_transpose(x, weight, bias, strides, paddings, dilations, groups, output_size, data_format):
    n = x.shape[0]
    like = np.zeros((n, weight.shape[1] * groups, *output_size))
    out = _conv2d_input_vjp(
        _first(x, data_format), weight, like, strides, paddings, dilations, groups, "NCHW"
    )
    return _back(out if bias is None else out + bias[:, None, None], data_format)


def _conv2d_weight_vjp(ct, x, weight, strides, paddings, dilations, groups, data_format):
    ct, x = _first(ct, data_format), _padded(_first(x, data_format), paddings)
    out = np.zeros(weight.shape)
    split = ct.reshape(ct.shape[0], groups, ct.shape[1] // groups, *ct.shape[2:])
    for i, j, met in _taps(ct.shape[2:], strides, dilations, weight.shape[2:]):
        inputs = x[met].reshape(x.shape[0], groups, x.shape[1] // groups, *ct.shape[2:])
        out[..., i, j] = np.einsum("ngmhw,ngchw->gmc", split, inputs).reshape(weight.shape[:2])
    return out


def _window(strides=(1, 1), paddings=(0, 0, 0, 0), dilations=(1, 1), groups=1, data_format="NCHW"):
    return dict(strides=strides, paddings=paddings, dilations=dilations, groups=groups, data_format=data_format)


def _same(size, **options):
    """A window that keeps the size of the image."""
    return _window(paddings=(size // 2,) * 4, **options)


# Shape of x (channels first), shape of weight, window; small ones are differentiated.
_SMALL = [
    ((2, 3, 5, 6), (4, 3, 3, 3), _same(3)),
    ((1, 2, 5, 5), (3, 2, 5, 5), _window()),
    ((2, 2, 5, 4), (3, 2, 1, 1), _window()),
    ((2, 2, 5, 4), (3, 2, 1, 1), _window(strides=(2, 2))),
    ((1, 3, 6, 7), (2, 3, 3, 2), _window(strides=(2, 1), paddings=(0, 1, 1, 0), dilations=(1, 2))),
    ((1, 4, 6, 6), (6, 2, 3, 3), _window(strides=(2, 2), paddings=(1, 1, 1, 1), groups=2)),
    ((2, 4, 5, 6), (4, 1, 3, 3), _same(3, groups=4)),
    ((1, 3, 7, 6), (6, 1, 3, 3), _same(3, strides=(2, 2), groups=3)),
    ((1, 3, 5, 6), (3, 1, 3, 2), _window(paddings=(2, 0, 1, 1), dilations=(2, 1), groups=3)),
    ((1, 4, 6, 6), (4, 2, 3, 3), _window(strides=(2, 2), paddings=(2, 2, 2, 2), dilations=(2, 2), groups=2)),
    ((1, 2, 7, 7), (2, 2, 2, 2), _window(strides=(3, 3))),  # windows that leave gaps
    ((2, 2, 1, 9), (3, 2, 1, 4), _window(strides=(1, 2), paddings=(0, 0, 2, 1))),  # one dimension
    ((0, 2, 5, 5), (3, 2, 3, 3), _same(3)),
    ((1, 2, 2, 2), (3, 2, 3, 3), _window(paddings=(2, 2, 2, 2))),  # windows that lie in the padding
]
# Each way to compute, past its tile sizes.
_LARGE = [
    ((2, 16, 13, 14), (20, 16, 3, 3), _same(3)),
    ((1, 40, 16, 17), (33, 40, 3, 3), _window(paddings=(1, 0, 0, 2))),
    ((9, 70, 5, 5), (130, 70, 3, 3), _same(3)),
    ((3, 20, 15, 15), (40, 20, 1, 1), _window()),
    ((1, 3, 40, 41), (8, 3, 7, 7), _window(strides=(2, 2), paddings=(3, 3, 3, 3))),
    ((2, 18, 10, 35), (18, 1, 3, 3), _same(3, groups=18)),
    ((2, 17, 19, 35), (17, 1, 5, 3), _window(strides=(2, 3), paddings=(2, 2, 1, 1), groups=17)),
    ((1, 1, 40, 40), (2, 1, 25, 25), _window(paddings=(5, 5, 5, 5))),
    ((1, 500, 3, 4), (9, 500, 1, 1), _window()),
    ((2, 12, 9, 9), (24, 4, 3, 3), _same(3, strides=(2, 2), groups=3)),
    ((4, 17, 33, 30), (18, 17, 3, 3), _same(3)),
    ((8, 6, 14, 14), (16, 6, 5, 5), _window()),
    ((9, 3, 9, 11), (7, 3, 3, 3), _window(paddings=(0, 2, 1, 0))),
    ((10, 2, 12, 13), (10, 2, 3, 2), _window(paddings=(2, 2, 1, 1), dilations=(2, 3))),
    ((8, 1, 6, 36), (6, 1, 4, 1), _window()),
]


def _convolutions(rng):
    """x, weight, bias, cotangent of the output, window and whether to differentiate."""
    for shapes, differentiable in (_SMALL, True), (_LARGE, False):
        for x_shape, weight_shape, window in shapes:
            x, weight = rng.standard_normal(x_shape), rng.standard_normal(weight_shape)
            bias = rng.standard_normal(weight_shape[0])
            ct = rng.standard_normal(_conv2d(x, weight, None, **window).shape)
            for data_format in "NCHW", "NHWC":
                yield (
                    np.ascontiguousarray(_back(x, data_format)), weight, bias,
                    np.ascontiguousarray(_back(ct, data_format)), {**window, "data_format": data_format}, differentiable,
                )


@spec(ops.conv2d, reference=_conv2d, tolerance=_SUMS)
def spec_conv2d(rng):
    for i, (x, weight, bias, _, window, differentiable) in enumerate(_convolutions(rng)):
        yield case(x, weight, bias if i % 3 else None, **window, differentiable=differentiable)
    x, weight = np.zeros((1, 4, 5, 5)), np.zeros((6, 2, 3, 3))
    yield bad(x, weight, None, **_window(), error=ValueError, match=r"Got 4 channels, .* expected 2 \* 1 = 2 channels")
    yield bad(x, np.zeros((5, 2, 3, 3)), None, **_window(groups=2), error=ValueError, match="groups do not divide the output")
    yield bad(x, np.zeros((6, 4, 7, 3)), None, **_window(), error=ValueError, match=r"window of 7 .* over 5 .* at most 5")
    yield bad(x, np.zeros((6, 4, 3, 3)), None, **_window(dilations=(3, 1)), error=ValueError, match="dilation 3")
    yield bad(x, weight, np.zeros(5), **_window(groups=2), error=ValueError, match=r"`bias` .* expected \[6\]")
    yield bad(x[0], weight, None, **_window(groups=2), error=ValueError, match="not a batch of images")
    yield bad(x, weight[0], None, **_window(groups=2), error=ValueError, match="not a set of windows")
    yield bad(x, weight, None, **_window(groups=2, strides=(0, 1)), error=ValueError, match="at least 1")
    yield bad(x, weight, None, **_window(groups=2, paddings=(-1, 0, 0, 0)), error=ValueError, match="none negative")
    yield bad(x, weight, None, **_window(groups=0), error=ValueError, match="groups must be positive")
    yield bad(x, weight, None, **_window(groups=2, data_format="NCWH"), error=ValueError, match="'NCHW' or 'NHWC'")
    yield bad(x.astype(np.int64), weight.astype(np.int64), None, **_window(groups=2), error=TypeError, match="int64")
    yield bad(x, weight.astype(np.float32), None, **_window(groups=2), error=TypeError, match="different dtypes")


@spec(ops.conv2d_input_vjp, reference=_conv2d_input_vjp, tolerance=_SUMS)
def spec_conv2d_input_vjp(rng):
    for x, weight, _, ct, window, differentiable in _convolutions(rng):
        yield case(ct, weight, x, **window, differentiable=differentiable)
    yield bad(np.zeros((1, 3, 5, 5)), np.zeros((3, 2, 3, 3)), np.zeros((1, 2, 5, 5)), **_window(), error=ValueError,
              match=r"Got \[1, 3, 5, 5\] and \[1, 3, 3, 3\]")


@spec(ops.conv2d_weight_vjp, reference=_conv2d_weight_vjp, tolerance=_SUMS)
def spec_conv2d_weight_vjp(rng):
    for x, weight, _, ct, window, differentiable in _convolutions(rng):
        yield case(ct, x, weight, **window, differentiable=differentiable)
    yield bad(np.zeros((1, 3, 5, 5)), np.zeros((1, 2, 5, 5)), np.zeros((3, 2, 3, 3)), **_window(), error=ValueError,
              match=r"Got \[1, 3, 5, 5\] and \[1, 3, 3, 3\]")


@spec(ops.conv2d_transpose, reference=_conv2d_transpose, tolerance=_SUMS)
def spec_conv2d_transpose(rng):
    for i, (x, weight, _, ct, window, differentiable) in enumerate(_convolutions(rng)):
        groups, data_format = window["groups"], window["data_format"]
        size = _first(x, data_format).shape[2:]
        bias = rng.standard_normal(weight.shape[1] * groups)
        yield case(ct, weight, bias if i % 3 else None, **window, output_size=size, differentiable=differentiable)
    x, weight = np.zeros((1, 3, 5, 5)), np.zeros((3, 2, 3, 3))
    strided = _window(strides=(2, 2))
    yield case(rng.standard_normal(x.shape), rng.standard_normal(weight.shape), None, **strided, output_size=(12, 11))
    yield bad(x, weight, None, **strided, output_size=(13, 11), error=ValueError, match=r"expected a height in \[11, 13\)")
    yield bad(x, weight, None, **strided, output_size=(11, 10), error=ValueError, match=r"expected a width in \[11, 13\)")
    yield bad(x, weight, None, **_window(groups=2), output_size=(7, 7), error=ValueError, match="divisible by groups")
    yield bad(x[:, :2], weight, None, **_window(), output_size=(7, 7), error=ValueError, match="Got 2 channels")
    yield bad(x, weight, np.zeros(3), **_window(), output_size=(7, 7), error=ValueError, match=r"expected \[2\]")


# Pooling. A window is where it begins and ends inside the input, and how many positions it counts.


def _fixed(size, count, kernel, stride, padding, exclusive):
    for i in range(count):
        begin, end = i * stride - padding, i * stride - padding + kernel
        first, last = min(size, max(begin, 0)), min(end, size)
        yield first, max(first, last), max(last - first, 0) if exclusive else min(end, size + padding) - begin


def _adaptive(size, count):
    for i in range(count):
        first, last = i * size // count, -((-(i + 1) * size) // count)
        yield first, last, last - first


def _count(size, kernel, stride, before, after, ceil_mode):
    return int((size + before + after - kernel + (stride - 1 if ceil_mode else 0)) / stride) + 1


def _fixed_windows(x, kernel, strides, paddings, ceil_mode, exclusive=True):
    windows = []
    for axis in range(2):
        size, before, after = x.shape[2 + axis], paddings[2 * axis], paddings[2 * axis + 1]
        count = _count(size, kernel[axis], strides[axis], before, after, ceil_mode)
        windows.append(list(_fixed(size, count, kernel[axis], strides[axis], before, exclusive)))
    return windows


def _max_windows(x, rows, columns):
    out = np.empty((*x.shape[:2], len(rows), len(columns)))
    mask = np.empty(out.shape, np.int32)
    for n, c, i, j in np.ndindex(*out.shape):
        best, place = np.finfo(np.float32).min, -1
        for y, z in np.ndindex(rows[i][1] - rows[i][0], columns[j][1] - columns[j][0]):
            y, z = y + rows[i][0], z + columns[j][0]
            value = x[n, c, y, z]
            if value > best or (place < 0 and value == value):
                best, place = value, y * x.shape[3] + z
        out[n, c, i, j], mask[n, c, i, j] = best, place
    return out, mask


def _max_pool2d(x, kernel, strides, paddings, ceil_mode, data_format):
    x = _first(x, data_format)
    out, mask = _max_windows(x, *_fixed_windows(x, kernel, strides, paddings, ceil_mode))
    return _back(out, data_format), _back(mask, data_format)


def _adaptive_max_pool2d(x, output_size, data_format):
    x = _first(x, data_format)
    out, mask = _max_windows(x, *(list(_adaptive(s, n)) for s, n in zip(x.shape[2:], output_size, strict=True)))
    return _back(out, data_format), _back(mask, data_format)


def _averages(x, rows, columns, divisor):
    out = np.empty((*x.shape[:2], len(rows), len(columns)))
    for i, (top, bottom, height) in enumerate(rows):
        for j, (left, right, width) in enumerate(columns):
            out[:, :, i, j] = x[:, :, top:bottom, left:right].sum((2, 3)) / (divisor or max(1, height * width))
    return out


def _shares(ct, like, rows, columns, divisor):
    out = np.zeros(like.shape)
    for i, (top, bottom, height) in enumerate(rows):
        for j, (left, right, width) in enumerate(columns):
            out[:, :, top:bottom, left:right] += ct[:, :, i, j, None, None] / (divisor or max(1, height * width))
    return out


def _avg_pool2d(x, kernel, strides, paddings, ceil_mode, exclusive, divisor, data_format):
    x = _first(x, data_format)
    return _back(_averages(x, *_fixed_windows(x, kernel, strides, paddings, ceil_mode, exclusive), divisor), data_format)


def _avg_pool2d_vjp(ct, like, kernel, strides, paddings, ceil_mode, exclusive, divisor, data_format):
    ct, like = _first(ct, data_format), _first(like, data_format)
    windows = _fixed_windows(like, kernel, strides, paddings, ceil_mode, exclusive)
    return _back(_shares(ct, like, *windows, divisor), data_format)


def _adaptive_windows(x, size):
    return (list(_adaptive(s, n)) for s, n in zip(x.shape[2:], size, strict=True))


def _adaptive_avg_pool2d(x, output_size, data_format):
    x = _first(x, data_format)
    return _back(_averages(x, *_adaptive_windows(x, output_size), None), data_format)


def _adaptive_avg_pool2d_vjp(ct, like, data_format):
    ct, like = _first(ct, data_format), _first(like, data_format)
    return _back(_shares(ct, like, *_adaptive_windows(like, ct.shape[2:]), None), data_format)


def _untied(rng, shape):
    """Values with gaps wider than the step of a difference."""
    return rng.permutation(int(np.prod(shape))).reshape(shape) / 8 - 2


# The last window lies beyond the image: the lowest number, or an average of 0.
_EMPTY_WINDOW = dict(kernel=(3, 2), strides=(2, 3), paddings=(1, 0, 0, 1), ceil_mode=True)
_POOLS = [
    ((2, 3, 5, 6), (2, 2), (2, 2), (0, 0, 0, 0), False),
    ((2, 3, 5, 6), (2, 2), (2, 2), (0, 0, 0, 0), True),
    ((1, 2, 5, 5), (3, 3), (2, 2), (1, 1, 1, 1), False),
    ((1, 2, 5, 5), (3, 3), (1, 1), (1, 1, 1, 1), False),
    ((1, 2, 7, 7), (3, 2), (2, 3), (1, 0, 0, 1), True),
    ((1, 1, 4, 4), (5, 5), (7, 7), (0, 0, 0, 0), False),  # too large by less than a stride: one window
    ((1, 2, 1, 7), (1, 3), (1, 2), (0, 0, 1, 1), False),  # one dimension
    ((0, 2, 4, 4), (2, 2), (2, 2), (0, 0, 0, 0), False),
]


def _pools(rng):
    for shape, kernel, strides, paddings, ceil_mode in _POOLS:
        x = _untied(rng, shape)
        for data_format in "NCHW", "NHWC":
            yield np.ascontiguousarray(_back(x, data_format)), dict(
                kernel=kernel, strides=strides, paddings=paddings, ceil_mode=ceil_mode, data_format=data_format
            )


def _bad_pools(**more):
    plain = dict(kernel=(2, 2), strides=(2, 2), paddings=(0, 0, 0, 0), ceil_mode=False, data_format="NCHW", **more)
    x = np.zeros((1, 2, 5, 5))
    yield bad(x, **{**plain, "kernel": (8, 2)}, error=ValueError, match="window is larger than the padded input")
    yield bad(x, **{**plain, "kernel": (0, 2)}, error=ValueError, match="at least 1")
    yield bad(x, **{**plain, "strides": (2, 0)}, error=ValueError, match="at least 1")
    yield bad(x, **{**plain, "paddings": (0, 0, -1, 0)}, error=ValueError, match="none negative")
    yield bad(x, **{**plain, "data_format": "HWC"}, error=ValueError, match="'NCHW' or 'NHWC'")
    yield bad(x[0], **plain, error=ValueError, match="not a batch of images")
    yield bad(x[:, :, :0], **plain, error=ValueError, match="larger than the padded input")
    yield bad(x.astype(np.int64), **plain, error=TypeError, match="int64")


@spec(ops.max_pool2d, reference=_max_pool2d)
def spec_max_pool2d(rng):
    for x, attrs in _pools(rng):
        yield case(x, **attrs)
    wide = dict(kernel=(3, 3), strides=(2, 2), paddings=(1, 1, 1, 1), ceil_mode=False)
    yield case(_untied(rng, (2, 40, 9, 30)) / 64, **wide, data_format="NCHW", differentiable=False, dtypes="float64 float32")
    yield case(_untied(rng, (2, 9, 30, 40)) / 64, **wide, data_format="NHWC", differentiable=False, dtypes="float64 float32")
    for data_format in "NCHW", "NHWC":
        yield case(_untied(rng, (1, 5, 5, 5)), **_EMPTY_WINDOW, data_format=data_format, differentiable=False,
                   dtypes="float64 float32")
    special = np.array([[0, np.nan, 1, 1], [-np.inf, -np.inf, 3, 3], [-np.inf, -np.inf, 2, np.nan], [5, 5, 5, 5.0]])
    for repeats, step in (1, 2), (11, 2), (11, 1):
        yield case(np.tile(special, repeats)[None, None], kernel=(1, 2), strides=(2, step), paddings=(0, 0, 0, 0),
                   ceil_mode=False, data_format="NCHW", differentiable=False)
    yield from _bad_pools()


@spec(ops.avg_pool2d, reference=_avg_pool2d)
def spec_avg_pool2d(rng):
    for i, (x, attrs) in enumerate(_pools(rng)):
        yield case(x, **attrs, exclusive=bool(i % 2), divisor=None)
        yield case(x, **attrs, exclusive=not i % 2, divisor=None)
        yield case(x, **attrs, exclusive=True, divisor=3)
    for exclusive in True, False:
        yield case(_untied(rng, (1, 5, 5, 5)), **_EMPTY_WINDOW, exclusive=exclusive, divisor=None, data_format="NCHW",
                   differentiable=False)
    yield case(rng.standard_normal((1, 1, 3, 2100)), kernel=(2, 3), strides=(1, 2), paddings=(0, 0, 1, 1), ceil_mode=False,
               exclusive=True, divisor=None, data_format="NCHW", differentiable=False)
    yield from _bad_pools(exclusive=True, divisor=None)
    yield bad(np.zeros((1, 2, 4, 4)), kernel=(2, 2), strides=(2, 2), paddings=(0, 0, 0, 0), ceil_mode=False, exclusive=True,
              divisor=0, data_format="NCHW", error=ValueError, match="divisor is zero")


@spec(ops.avg_pool2d_vjp, reference=_avg_pool2d_vjp)
def spec_avg_pool2d_vjp(rng):
    for i, (x, attrs) in enumerate(_pools(rng)):
        options = dict(exclusive=bool(i % 2), divisor=(None, 3)[i // 2 % 2])
        ct = rng.standard_normal(_avg_pool2d(x, **attrs, **options).shape)
        yield case(ct, x, **attrs, **options)
    yield case(rng.standard_normal((1, 1, 2, 1050)), np.zeros((1, 1, 3, 2100)), kernel=(2, 3), strides=(1, 2), paddings=(0, 0, 1, 1),
               ceil_mode=False, exclusive=True, divisor=None, data_format="NCHW", differentiable=False)
    yield bad(np.zeros((1, 1, 3, 3)), np.zeros((1, 1, 4, 4)), kernel=(2, 2), strides=(2, 2), paddings=(0, 0, 0, 0),
              ceil_mode=False, exclusive=True, divisor=None, data_format="NCHW", error=ValueError,
              match=r"Got \[1, 1, 3, 3\] and \[1, 1, 2, 2\]")


_ADAPTIVE = [((2, 3, 5, 6), (2, 3)), ((1, 2, 5, 4), (7, 2)), ((1, 2, 3, 3), (1, 1)), ((0, 2, 3, 3), (2, 2)), ((1, 20, 6, 7), (3, 3))]


@spec(ops.adaptive_avg_pool2d, reference=_adaptive_avg_pool2d)
def spec_adaptive_avg_pool2d(rng):
    for shape, size in _ADAPTIVE:
        x = rng.standard_normal(shape)
        for data_format in "NCHW", "NHWC":
            yield case(_back(x, data_format), output_size=size, data_format=data_format)
    yield bad(np.zeros((1, 2, 0, 3)), output_size=(1, 1), data_format="NCHW", error=ValueError, match="no positions to pool")
    yield bad(np.zeros((1, 2, 3, 3)), output_size=(1,), data_format="NCHW", error=ValueError, match="not a height and a width")


@spec(ops.adaptive_avg_pool2d_vjp, reference=_adaptive_avg_pool2d_vjp)
def spec_adaptive_avg_pool2d_vjp(rng):
    for shape, size in _ADAPTIVE:
        ct = rng.standard_normal((*shape[:2], *size))
        for data_format in "NCHW", "NHWC":
            yield case(_back(ct, data_format), _back(np.zeros(shape), data_format), data_format=data_format)
    yield bad(np.zeros((1, 2, 3, 3)), np.zeros((1, 3, 3, 3)), data_format="NCHW", error=ValueError,
              match="different batches or channels")


@spec(ops.adaptive_max_pool2d, reference=_adaptive_max_pool2d)
def spec_adaptive_max_pool2d(rng):
    for shape, size in _ADAPTIVE:
        x = _untied(rng, shape)
        for data_format in "NCHW", "NHWC":
            yield case(_back(x, data_format), output_size=size, data_format=data_format)
    yield bad(np.zeros((1, 2, 0, 3)), output_size=(1, 1), data_format="NCHW", error=ValueError, match="no positions to pool")


# Positions: each in its own plane.


def _max_pool2d_vjp(ct, mask, like, data_format):
    ct, mask = _first(ct, data_format), _first(mask, data_format)
    out = np.zeros(_first(like, data_format).shape)
    for n, c, i, j in np.ndindex(*ct.shape):
        if mask[n, c, i, j] >= 0:
            out[n, c].flat[mask[n, c, i, j]] += ct[n, c, i, j]
    return _back(out, data_format)


def _max_pool2d_take(x, mask, data_format):
    x, mask = _first(x, data_format), _first(mask, data_format)
    out = np.zeros(mask.shape)
    for n, c, i, j in np.ndindex(*mask.shape):
        if mask[n, c, i, j] >= 0:
            out[n, c, i, j] = x[n, c].flat[mask[n, c, i, j]]
    return _back(out, data_format)


def _max_unpool2d(x, index, output_size, data_format):
    x, index = _first(x, data_format), _first(index, data_format)
    out = np.zeros((*x.shape[:2], *output_size))
    for n, c, i, j in np.ndindex(*x.shape):
        out[n, c].flat[index[n, c, i, j]] = x[n, c, i, j]
    return _back(out, data_format)


def _positions(rng, shape, planes, least=-1):
    return rng.integers(least, planes, shape).astype(np.intc)


@spec(ops.max_pool2d_vjp, reference=_max_pool2d_vjp, cast=(0, 2))
def spec_max_pool2d_vjp(rng):
    for data_format in "NCHW", "NHWC":
        for n, c in (2, 3), (1, 70), (0, 2):
            ct = _back(rng.standard_normal((n, c, 3, 2)), data_format)
            like = _back(np.zeros((n, c, 4, 5)), data_format)
            yield case(ct, _positions(rng, ct.shape, 20), like, data_format=data_format)
            yield case(ct, _positions(rng, ct.shape, 20).astype(np.int64), like, data_format=data_format)
    ct = np.zeros((1, 1, 2, 2))
    yield bad(ct, np.array([[[[0, 20], [1, 2]]]], np.intc), np.zeros((1, 1, 4, 5)), data_format="NCHW", error=ValueError,
              match=r"position 20 .* expected positions in \[-1, 20\)")
    yield bad(ct, np.zeros((1, 1, 2, 3), np.intc), np.zeros((1, 1, 4, 5)), data_format="NCHW", error=ValueError,
              match="must have one shape")
    yield bad(ct, ct, np.zeros((1, 1, 4, 5)), data_format="NCHW", error=TypeError, match="float64")


@spec(ops.max_pool2d_take, reference=_max_pool2d_take)
def spec_max_pool2d_take(rng):
    for data_format in "NCHW", "NHWC":
        for n, c in (2, 3), (0, 2):
            mask = _positions(rng, _back(np.zeros((n, c, 3, 2)), data_format).shape, 20)
            yield case(_back(rng.standard_normal((n, c, 4, 5)), data_format), mask, data_format=data_format)
    yield bad(np.zeros((1, 1, 2, 2)), np.full((1, 1, 1, 1), 4, np.intc), data_format="NCHW", error=ValueError,
              match=r"position 4 .* expected positions in \[-1, 4\)")


@spec(ops.max_unpool2d, reference=_max_unpool2d)
def spec_max_unpool2d(rng):
    for data_format in "NCHW", "NHWC":
        for dtype in np.intc, np.int64:
            index = np.stack([rng.permutation(20)[:6] for _ in range(6)]).reshape(2, 3, 3, 2).astype(dtype)
            x = rng.standard_normal(index.shape)
            yield case(_back(x, data_format), _back(index, data_format), output_size=(4, 5), data_format=data_format)
    yield bad(np.zeros((1, 1, 1, 1)), np.full((1, 1, 1, 1), -1, np.intc), output_size=(2, 2), data_format="NCHW",
              error=ValueError, match=r"position -1 .* expected positions in \[0, 4\)")
