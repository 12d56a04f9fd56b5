"""Convolution and pooling of any rank as NumPy says them, window by window, on channels second."""
import math

import numpy as np


def values(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape)


def last(x):
    """Channels second to channels last."""
    return np.moveaxis(x, 1, -1)


def convolution(x, weight, bias, strides, pads, dilations, groups):
    kernel = weight.shape[2:]
    x = np.pad(x, ((0, 0), (0, 0), *pads))
    size = [(n - d * (k - 1) - 1) // s + 1 for n, k, s, d in zip(x.shape[2:], kernel, strides, dilations, strict=True)]
    out = np.zeros((x.shape[0], weight.shape[0], *size))
    per_in, per_out = x.shape[1] // groups, weight.shape[0] // groups
    for place in np.ndindex(*size):
        met = tuple(slice(p * s, p * s + d * (k - 1) + 1, d) for p, s, d, k in zip(place, strides, dilations, kernel, strict=True))
        for g in range(groups):
            part = x[(slice(None), slice(g * per_in, (g + 1) * per_in), *met)]
            own = weight[g * per_out : (g + 1) * per_out]
            out[(slice(None), slice(g * per_out, (g + 1) * per_out), *place)] = np.tensordot(
                part, own, (range(1, part.ndim), range(1, own.ndim))
            )
    return out + bias.reshape(-1, *(1 for _ in size))


def transposed_convolution(x, weight, bias, strides, pads, dilations, groups, size):
    """Each input adds its multiple of the window to a canvas, of which the padding is cut away."""
    kernel = weight.shape[2:]
    canvas = [n + before + after + d * (k - 1) + s for n, (before, after), k, s, d in zip(
        size, pads, kernel, strides, dilations, strict=True)]
    out = np.zeros((x.shape[0], weight.shape[1] * groups, *canvas))
    per_in, per_out = x.shape[1] // groups, weight.shape[1]
    for place in np.ndindex(*x.shape[2:]):
        met = tuple(slice(p * s, p * s + d * (k - 1) + 1, d) for p, s, d, k in zip(place, strides, dilations, kernel, strict=True))
        for g in range(groups):
            inputs = x[(slice(None), slice(g * per_in, (g + 1) * per_in), *place)]
            own = weight[g * per_in : (g + 1) * per_in]
            out[(slice(None), slice(g * per_out, (g + 1) * per_out), *met)] += np.tensordot(inputs, own, (1, 0))
    inside = tuple(slice(before, before + n) for (before, _), n in zip(pads, size, strict=True))
    return out[(..., *inside)] + bias.reshape(-1, *(1 for _ in size))


def fixed_windows(size, kernel, stride, before, after, ceil_mode=False):
    """(first, last, length with padding) of each window along one axis."""
    room = size + before + after - kernel
    for i in range((math.ceil if ceil_mode else math.floor)(room / stride) + 1):
        begin = i * stride - before
        end = min(begin + kernel, size + before)
        yield max(begin, 0), min(begin + kernel, size), end - begin


def adaptive_windows(size, count):
    for i in range(count):
        yield i * size // count, math.ceil((i + 1) * size / count), None


def pooling(x, axes, reduce):
    """reduce(window, elements with padding) over the product of the windows along each axis."""
    axes = [list(axis) for axis in axes]
    out = np.zeros((*x.shape[:2], *map(len, axes)))
    for place in np.ndindex(*map(len, axes)):
        found = [axis[i] for axis, i in zip(axes, place, strict=True)]
        window = x[(..., *(slice(first, end) for first, end, _ in found))]
        out[(..., *place)] = reduce(window.reshape(*x.shape[:2], -1), math.prod(length or 1 for _, _, length in found))
    return out


def first_maxima(x, axes):
    """The places of the maxima among the flattened positions of their channel."""
    places = np.broadcast_to(np.arange(math.prod(x.shape[2:])).reshape(x.shape[2:]), x.shape)
    axes = [list(axis) for axis in axes]
    out = np.zeros((*x.shape[:2], *map(len, axes)), np.int32)
    for place in np.ndindex(*map(len, axes)):
        met = (..., *(slice(axis[i][0], axis[i][1]) for axis, i in zip(axes, place, strict=True)))
        window = x[met].reshape(*x.shape[:2], -1)
        out[(..., *place)] = np.take_along_axis(
            places[met].reshape(window.shape), window.argmax(-1)[..., None], -1
        )[..., 0]
    return out
