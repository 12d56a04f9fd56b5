"""Samples and references of the convolution of volumes.

The references take the taps of the window one by one, on channels first.
"""
import numpy as np

from wherry_tensor import ops
from wherry_tensor.testing import bad, case, spec

# As those of conv2d: what counts is the error beside the size of the summands. In 16 bits each tap
# along the depth of the transposed convolution is rounded once more.
_SUMS = {"float32": (1e-5, 2e-4), "float16": (5e-3, 4e-2), "bfloat16": (4e-2, 3e-1)}


def _first(x, data_format):
    return x if data_format == "NCDHW" else x.transpose(0, 4, 1, 2, 3)


def _back(x, data_format):
    return x if data_format == "NCDHW" else x.transpose(0, 2, 3, 4, 1)


def _taps(size, strides, dilations, kernel):
    """For each tap of a window: its place, and the inputs that it meets, as slices."""
    for place in np.ndindex(*kernel):
        yield (..., *place), (..., *(
            slice(tap * d, tap * d + (n - 1) * s + 1, s)
            for tap, d, n, s in zip(place, dilations, size, strides, strict=True)
        ))


def _padded(x, paddings):
    return np.pad(x, ((0, 0), (0, 0), paddings[:2], paddings[2:4], paddings[4:]))


def _conv3d(x, weight, bias, strides, paddings, dilations, groups, data_format):
    x = _padded(_first(x, data_format), paddings)
    kernel = weight.shape[2:]
    size = tuple((x.shape[2 + a] - dilations[a] * (kernel[a] - 1) - 1) // strides[a] + 1 for a in range(3))
    out = np.zeros((x.shape[0], weight.shape[0], *size))
    shape = (x.shape[0], groups, x.shape[1] // groups, *size)
    windows = weight.reshape(groups, weight.shape[0] // groups, *weight.shape[1:])
    for tap, met in _taps(size, strides, dilations, kernel):
        out += np.einsum("ngcdhw,gmc->ngmdhw", x[met].reshape(shape), windows[tap]).reshape(out.shape)
    return _back(out if bias is None else out + bias[:, None, None, None], data_format)


def _conv3d_input_vjp(ct, weight, like, strides, paddings, dilations, groups, data_format):
    ct = _first(ct, data_format)
    padded = _padded(np.zeros(_first(like, data_format).shape), paddings)
    split = ct.reshape(ct.shape[0], groups, ct.shape[1] // groups, *ct.shape[2:])
    windows = weight.reshape(groups, weight.shape[0] // groups, *weight.shape[1:])
    for tap, met in _taps(ct.shape[2:], strides, dilations, weight.shape[2:]):
        padded[met] += np.einsum("ngmdhw,gmc->ngcdhw", split, windows[tap]).reshape(padded[met].shape)
    inside = (slice(b, n - a) for b, a, n in zip(paddings[::2], paddings[1::2], padded.shape[2:], strict=True))
    return _back(padded[(..., *inside)], data_format)


def _conv3d_transpose(x, weight, bias, strides, paddings, dilations, groups, output_size, data_format):
    like = np.zeros((x.shape[0], weight.shape[1] * groups, *output_size))
    out = _conv3d_input_vjp(_first(x, data_format), weight, like, strides, paddings, dilations, groups, "NCDHW")
    return _back(out if bias is None else out + bias[:, None, None, None], data_format)


def _conv3d_weight_vjp(ct, x, weight, strides, paddings, dilations, groups, data_format):
    ct, x = _first(ct, data_format), _padded(_first(x, data_format), paddings)
    out = np.zeros(weight.shape)
    split = ct.reshape(ct.shape[0], groups, ct.shape[1] // groups, *ct.shape[2:])
    for tap, met in _taps(ct.shape[2:], strides, dilations, weight.shape[2:]):
        inputs = x[met].reshape(x.shape[0], groups, x.shape[1] // groups, *ct.shape[2:])
        out[tap] = np.einsum("ngmdhw,ngcdhw->gmc", split, inputs).reshape(weight.shape[:2])
    return out


def _window(strides=(1, 1, 1), paddings=(0,) * 6, dilations=(1, 1, 1), groups=1, data_format="NCDHW"):
    return dict(strides=strides, paddings=paddings, dilations=dilations, groups=groups, data_format=data_format)


_SHAPES = [  # x (channels first), weight, window
    ((2, 2, 3, 4, 3), (3, 2, 3, 3, 3), _window(paddings=(1,) * 6)),
    ((1, 2, 4, 3, 3), (2, 2, 2, 1, 2), _window()),
    ((1, 2, 5, 4, 4), (2, 2, 2, 2, 2), _window(strides=(2, 1, 2), paddings=(1, 0, 0, 1, 1, 1))),
    ((1, 2, 6, 3, 5), (2, 2, 2, 3, 2), _window(strides=(3, 1, 1), dilations=(2, 1, 3), paddings=(0, 1, 0, 0, 0, 0))),
    ((1, 4, 3, 3, 4), (6, 2, 3, 2, 2), _window(paddings=(1, 1, 0, 0, 0, 0), groups=2)),
    ((2, 3, 2, 3, 3), (3, 1, 2, 2, 2), _window(groups=3)),
    ((1, 2, 3, 3, 3), (2, 2, 1, 1, 1), _window(strides=(2, 2, 2))),
    ((0, 2, 3, 3, 3), (2, 2, 2, 2, 2), _window()),
]


def _convolutions(rng):
    """x, weight, bias, cotangent of the output, window."""
    for x_shape, weight_shape, window in _SHAPES:
        x, weight = rng.standard_normal(x_shape), rng.standard_normal(weight_shape)
        bias, ct = rng.standard_normal(weight_shape[0]), rng.standard_normal(_conv3d(x, weight, None, **window).shape)
        for data_format in "NCDHW", "NDHWC":
            yield (
                np.ascontiguousarray(_back(x, data_format)), weight, bias, np.ascontiguousarray(_back(ct, data_format)),
                {**window, "data_format": data_format},
            )


@spec(ops.conv3d, reference=_conv3d, tolerance=_SUMS)
def spec_conv3d(rng):
    for i, (x, weight, bias, _, window) in enumerate(_convolutions(rng)):
        yield case(x, weight, bias if i % 3 else None, **window)
    x, weight = np.zeros((1, 4, 5, 5, 5)), np.zeros((6, 2, 3, 3, 3))
    yield bad(x, weight, None, **_window(), error=ValueError, match=r"Got 4 channels, .* expected 2 \* 1 = 2 channels")
    yield bad(x, np.zeros((6, 4, 7, 3, 3)), None, **_window(), error=ValueError, match=r"window of 7 .* over 5")
    yield bad(x, weight, np.zeros(5), **_window(groups=2), error=ValueError, match=r"`bias` .* expected \[6\]")
    yield bad(x[0], weight, None, **_window(groups=2), error=ValueError, match="not a batch of volumes")
    yield bad(x, weight[0], None, **_window(groups=2), error=ValueError, match="not a set of windows")
    yield bad(x, weight, None, **_window(groups=2, strides=(1, 1)), error=ValueError, match="expected 3 ints")
    yield bad(x, weight, None, **_window(groups=2, paddings=(0, 0, 0, 0)), error=ValueError, match="front, back, top")
    yield bad(x, weight, None, **_window(groups=2, data_format="NCHW"), error=ValueError, match="'NCDHW' or 'NDHWC'")


@spec(ops.conv3d_input_vjp, reference=_conv3d_input_vjp, tolerance=_SUMS)
def spec_conv3d_input_vjp(rng):
    for x, weight, _, ct, window in _convolutions(rng):
        yield case(ct, weight, x, **window)
    yield bad(np.zeros((1, 3, 5, 5, 5)), np.zeros((3, 2, 3, 3, 3)), np.zeros((1, 2, 5, 5, 5)), **_window(), error=ValueError,
              match=r"Got \[1, 3, 5, 5, 5\] and \[1, 3, 3, 3, 3\]")


@spec(ops.conv3d_weight_vjp, reference=_conv3d_weight_vjp, tolerance=_SUMS)
def spec_conv3d_weight_vjp(rng):
    for x, weight, _, ct, window in _convolutions(rng):
        yield case(ct, x, weight, **window)
    yield bad(np.zeros((1, 3, 5, 5, 5)), np.zeros((1, 2, 5, 5, 5)), np.zeros((3, 2, 3, 3, 3)), **_window(), error=ValueError,
              match=r"Got \[1, 3, 5, 5, 5\] and \[1, 3, 3, 3, 3\]")


@spec(ops.conv3d_transpose, reference=_conv3d_transpose, tolerance=_SUMS)
def spec_conv3d_transpose(rng):
    for i, (x, weight, _, ct, window) in enumerate(_convolutions(rng)):
        size = _first(x, window["data_format"]).shape[2:]
        bias = rng.standard_normal(weight.shape[1] * window["groups"])
        yield case(ct, weight, bias if i % 3 else None, **window, output_size=size)
    x, weight = np.zeros((1, 3, 5, 5, 5)), np.zeros((3, 2, 3, 3, 3))
    strided = _window(strides=(2, 2, 2))
    yield case(rng.standard_normal(x.shape), rng.standard_normal(weight.shape), None, **strided, output_size=(12, 11, 12))
    yield bad(x, weight, None, **strided, output_size=(13, 11, 11), error=ValueError, match=r"expected a depth in \[11, 13\)")
    yield bad(x[:, :2], weight, None, **_window(), output_size=(7, 7, 7), error=ValueError, match="Got 2 channels")
