"""Samples and references of images in blocks of channels: those of `convolution` on planes, and back."""
import math

import numpy as np

from wherry_tensor import ops
from wherry_tensor.ops.blocked import ACTIVATIONS, _transforms
from wherry_tensor.testing import bad, case, spec
from wherry_tensor.testing.samples.convolution import _SUMS, _conv2d, _max_pool2d, _padded

_ERF = np.vectorize(math.erf, otypes=[float])
_BEHIND = {
    "none": lambda x: x, "relu": lambda x: np.maximum(x, 0), "relu6": lambda x: np.clip(x, 0, 6), "sigmoid": lambda x: 1 / (1 + np.exp(-x)),
    "silu": lambda x: x / (1 + np.exp(-x)), "hardswish": lambda x: x * np.clip(x + 3, 0, 6) / 6,
    "gelu": lambda x: x * (1 + _ERF(x / np.sqrt(2))) / 2, "tanh": np.tanh,
}


def _planes(x):
    n, blocks, h, w, lanes = x.shape
    return x.transpose(0, 1, 4, 2, 3).reshape(n, blocks * lanes, h, w)


def _blocks(x):
    n, channels, h, w = x.shape
    return x.reshape(n, channels // 16, 16, h, w).transpose(0, 1, 3, 4, 2)


def _ended(out, bias, residual, activation):
    out = _blocks(out)
    out = out if bias is None else out + bias.reshape(-1, 1, 1, 16)
    return _BEHIND[activation](out if residual is None else out + residual)


def _plain(weight):
    if weight.ndim == 5:
        m, kh, kw, channels, lanes = weight.shape
        return weight.transpose(0, 4, 3, 1, 2).reshape(m * lanes, channels, kh, kw)
    m, n, kh, kw, inside, out = weight.shape
    weight, inside = np.pad(weight, ((0, 0),) * 4 + ((0, 16 - inside), (0, 0))), 16
    return weight.transpose(0, 5, 1, 4, 2, 3).reshape(m * out, n * inside, kh, kw)


def _conv2d_blocked(x, weight, bias, residual, strides, paddings, dilations, activation):
    planes = x if x.ndim == 4 else _planes(x)
    return _ended(_conv2d(planes, _plain(weight), None, strides, paddings, dilations, 1, "NCHW"), bias, residual, activation)


def _winograd_conv2d_blocked(x, weight, bias, residual, paddings, activation):
    x = _padded(_planes(x), paddings)
    height, width = x.shape[2] - 2, x.shape[3] - 2
    x = np.pad(x, ((0, 0), (0, 0), (0, -height % 4), (0, -width % 4)))
    inputs, _, outputs = map(np.array, _transforms())
    _, m, n, inside, out = weight.shape
    matrix = weight.transpose(0, 2, 3, 1, 4).reshape(6, 6, n * inside, m * out)
    result = np.zeros((x.shape[0], m * out, height + -height % 4, width + -width % 4))
    for y, z in np.ndindex(result.shape[2] // 4, result.shape[3] // 4):
        tile = np.einsum("ai,bj,ncij->abnc", inputs, inputs, x[:, :, 4 * y : 4 * y + 6, 4 * z : 4 * z + 6]) @ matrix
        result[:, :, 4 * y : 4 * y + 4, 4 * z : 4 * z + 4] = np.einsum("ia,jb,abnc->ncij", outputs, outputs, tile)
    return _ended(result[:, :, :height, :width], bias, residual, activation)


def _depthwise_conv2d_blocked(x, weight, bias, residual, strides, paddings, dilations, activation):
    plain = weight.transpose(0, 3, 1, 2).reshape(-1, 1, *weight.shape[1:3])
    return _ended(_conv2d(_planes(x), plain, None, strides, paddings, dilations, len(plain), "NCHW"), bias, residual, activation)


def _max_pool2d_blocked(x, kernel, strides, paddings, ceil_mode):
    return _blocks(_max_pool2d(_planes(x), kernel, strides, paddings, ceil_mode, "NCHW")[0])


def _window(strides=(1, 1), paddings=(0, 0, 0, 0), dilations=(1, 1)):
    return dict(strides=strides, paddings=paddings, dilations=dilations)


# Batch, blocks (or channels of planes) before and after, height and width, window: past all sizes of tiles.
_DENSE = [
    (1, 1, 1, (1, 1), (1, 1), _window()),
    (2, 1, 3, (9, 13), (1, 1), _window()),
    (1, 3, 2, (7, 7), (1, 1), _window(strides=(2, 2))),
    (1, 2, 1, (5, 4), (1, 1), _window(paddings=(1, 0, 0, 1))),
    (2, 2, 3, (15, 29), (3, 3), _window(paddings=(1, 1, 1, 1))),
    (1, 1, 2, (7, 7), (3, 3), _window(paddings=(1, 1, 1, 1))),
    (1, 1, 1, (12, 21), (3, 2), _window(strides=(2, 3), paddings=(0, 1, 2, 0))),
    (1, 1, 2, (9, 8), (3, 3), _window(strides=(1, 2), paddings=(2, 2, 2, 2), dilations=(2, 2))),
    (1, 1, 1, (11, 14), (1, 5), _window(strides=(3, 1), paddings=(0, 0, 2, 2), dilations=(1, 2))),
    (0, 1, 2, (5, 5), (3, 3), _window(paddings=(1, 1, 1, 1))),
]
_PLANES = [
    (1, 3, 2, (23, 30), (7, 7), _window(strides=(2, 2), paddings=(3, 3, 3, 3))),
    (2, 1, 1, (8, 17), (3, 3), _window(paddings=(1, 1, 1, 1))),
    (1, 4, 3, (6, 15), (1, 1), _window()),
    (1, 3, 1, (9, 10), (3, 2), _window(strides=(2, 3), dilations=(2, 1))),
]


def _convolutions(rng, cases, weight_shape, planes=False):
    for i, (n, before, behind, size, kernel, window) in enumerate(cases):
        x = rng.standard_normal((n, before, *size) if planes else (n, before, *size, 16))
        weight = rng.standard_normal(weight_shape(before, behind, *kernel)) / np.sqrt(before * kernel[0] * kernel[1])
        yield i, x, weight, rng.standard_normal(behind * 16), window


def _all_behind(rng, i, reference, x, weight, bias, attrs, **options):
    """The case with one activation after the other, with and without bias and residual."""
    options = {"differentiable": i == 0, **options}
    activation = ("none", *ACTIVATIONS)[i % 8]
    residual = None
    if i % 2:
        residual = rng.standard_normal(reference(x, weight, None, None, **attrs, activation="none").shape)
    return case(x, weight, bias if i % 3 else None, residual, **attrs, activation=activation, **options)


@spec(ops.conv2d_blocked, reference=_conv2d_blocked, tolerance=_SUMS)
def spec_conv2d_blocked(rng):
    blocked = lambda before, behind, kh, kw: (behind, before, kh, kw, 16, 16)  # noqa: E731
    planes = lambda before, behind, kh, kw: (behind, kh, kw, before, 16)  # noqa: E731
    for i, x, weight, bias, window in _convolutions(rng, _DENSE, blocked):
        yield _all_behind(rng, i, _conv2d_blocked, x, weight, bias, window)
    for i in range(2):  # of the only block the first channels alone
        x, weight = rng.standard_normal((2, 1, 6, 9, 16)), rng.standard_normal((3, 1, 1 + 2 * i, 1 + i, 6, 16)) / 4
        yield _all_behind(rng, i, _conv2d_blocked, x, weight, rng.standard_normal(48), _window(), differentiable=False)
    for i, x, weight, bias, window in _convolutions(rng, _PLANES, planes, planes=True):
        yield _all_behind(rng, i + 1, _conv2d_blocked, x, weight, bias, window)
    x, weight, plain = np.zeros((1, 1, 5, 5, 16)), np.zeros((2, 1, 3, 3, 16, 16)), dict(**_window(), activation="none")
    yield bad(x[..., 0], weight, None, None, **plain, error=ValueError, match="not in order.* kh, kw, channels, 16")
    yield bad(x[..., :8], weight, None, None, **plain, error=ValueError, match="not an image in blocks")
    yield bad(x, weight[..., :8], None, None, **plain, error=ValueError, match="blocks of another size")
    yield bad(np.zeros((1, 2, 5, 5, 16)), np.zeros((2, 2, 3, 3, 8, 16)), None, None, **plain, error=ValueError, match="blocks of another size")
    yield bad(x, weight[0], None, None, **plain, error=ValueError, match="not in order")
    yield bad(np.zeros((1, 2, 5, 5, 16)), weight, None, None, **plain, error=ValueError, match="expected 1 along axis 1")
    yield bad(x, weight, np.zeros(16), None, **plain, error=ValueError, match=r"expected \[32\]")
    yield bad(x, weight, None, x, **plain, error=ValueError, match="residual")
    yield bad(x, weight, None, None, **{**plain, "activation": "elu"}, error=ValueError, match="'elu'")
    yield bad(x, weight, None, None, **{**plain, "dilations": (3, 1)}, error=ValueError, match="dilation 3")


@spec(ops.winograd_conv2d_blocked, reference=_winograd_conv2d_blocked, tolerance=_SUMS)
def spec_winograd_conv2d_blocked(rng):
    sizes = [(1, 1, 1, (4, 4)), (2, 2, 3, (9, 13)), (1, 3, 2, (7, 7)), (1, 1, 2, (3, 2)), (0, 1, 1, (5, 5)), (5, 2, 1, (13, 14)),
             (1, 2, 2, (40, 6)), (3, 1, 4, (16, 8)), (2, 1, 1, (8, 8))]
    for i, (n, before, behind, size) in enumerate(sizes):
        paddings = ((1, 1, 1, 1), (0, 2, 1, 0), (2, 2, 2, 2))[i % 3]
        x = rng.standard_normal((n, before, *size, 16))
        weight = rng.standard_normal((36, behind, before, 16, 16)) / (10 * np.sqrt(before))
        bias = rng.standard_normal(behind * 16)
        yield _all_behind(rng, i, _winograd_conv2d_blocked, x, weight, bias, dict(paddings=paddings))
    x, plain = np.zeros((1, 1, 5, 5, 16)), dict(paddings=(1, 1, 1, 1), activation="none")
    yield bad(x, np.zeros((9, 1, 1, 16, 16)), None, None, **plain, error=ValueError, match="not transformed")
    yield bad(x, np.zeros((36, 1, 2, 16, 16)), None, None, **plain, error=ValueError, match="expected 2 along axis 1")


@spec(ops.depthwise_conv2d_blocked, reference=_depthwise_conv2d_blocked, tolerance=_SUMS)
def spec_depthwise_conv2d_blocked(rng):
    same3, same5 = dict(paddings=(1, 1, 1, 1)), dict(paddings=(2, 2, 2, 2))
    cases = [
        (1, 1, 1, (4, 4), (3, 3), _window(**same3)),
        (2, 3, 3, (9, 33), (3, 3), _window(**same3)),
        (1, 2, 2, (15, 31), (3, 3), _window(strides=(2, 2), **same3)),
        (1, 1, 1, (7, 7), (3, 3), _window(strides=(2, 1))),
        (1, 2, 2, (9, 19), (5, 5), _window(strides=(2, 2), **same5)),
        (1, 1, 1, (8, 18), (5, 5), _window(**same5)),
        (1, 1, 1, (9, 9), (3, 3), _window(dilations=(2, 2), **same5)),
        (1, 1, 1, (1, 1), (3, 3), _window(**same3)),
        (0, 1, 1, (5, 5), (3, 3), _window(**same3)),
        (1, 1, 1, (3, 2), (3, 5), _window(strides=(3, 3), paddings=(0, 1, 4, 2))),
    ]
    for i, x, weight, bias, window in _convolutions(rng, cases, lambda before, _behind, kh, kw: (before, kh, kw, 16)):
        yield _all_behind(rng, i, _depthwise_conv2d_blocked, x, weight, bias, window)
    yield bad(np.zeros((1, 1, 5, 5, 16)), np.zeros((2, 3, 3, 16)), None, None, **_window(), activation="none", error=ValueError,
              match="expected 2 along axis 1")


@spec(ops.max_pool2d_blocked, reference=_max_pool2d_blocked)
def spec_max_pool2d_blocked(rng):
    for shape, kernel, strides, paddings, ceil_mode in [
        ((2, 2, 9, 13, 16), (3, 3), (2, 2), (1, 1, 1, 1), False),
        ((1, 1, 7, 8, 16), (2, 3), (1, 2), (0, 1, 1, 0), True),
        ((0, 1, 4, 4, 16), (2, 2), (2, 2), (0, 0, 0, 0), False),
    ]:
        x = rng.permutation(int(np.prod(shape))).reshape(shape)
        yield case(x, kernel=kernel, strides=strides, paddings=paddings, ceil_mode=ceil_mode, differentiable=False)
    special = np.full((1, 1, 2, 4, 16), np.nan)
    special[0, 0, 1, 1:, :8] = np.array([[-np.inf], [2], [3]])
    yield case(special, kernel=(2, 2), strides=(2, 2), paddings=(0, 0, 0, 0), ceil_mode=False, differentiable=False, dtypes="float64 float32")
    yield bad(np.zeros((1, 1, 5, 5)), kernel=(2, 2), strides=(2, 2), paddings=(0, 0, 0, 0), ceil_mode=False, error=ValueError,
              match="not an image in blocks")
