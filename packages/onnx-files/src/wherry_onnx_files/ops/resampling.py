"""Resizing, and sampling at places that are data."""
import itertools
import math

import numpy as np

from wherry_onnx_files.column import reads
from wherry_onnx_files.elements import tensor_of_array
from wherry_onnx_files.numbers import is_known, same
from wherry_onnx_files.ops.elementwise import round_even, scalar
from wherry_onnx_files.ops.indexing import index_of
from wherry_tensor import _core, ops

_LARGEST = 1 << 16  # places along an axis, for each of which a table has an entry: a file that was damaged may say anything


@reads("Upsample")
def read_upsample(o):
    x = o.x(0)
    scales = [float(n) for n in o.array(1, "the scales")] if o.has(1) else o.floats_of("scales")
    if scales is None:
        scales = [1.0, 1.0, o.number("height_scale"), o.number("width_scale")]
    sizes = [math.floor(n * s) for n, s in zip(_known(o, x), scales)]
    return resized(o, x, range(x.ndim), sizes, scales, "linear" if o.text("mode", "nearest") == "linear" else "nearest", "asymmetric", None)


def _known(o, x):
    if not all(is_known(n) for n in x.shape):
        raise o.open_size("the sizes that it resizes")
    return [int(n) for n in x.shape]


# In one piece: the forms in which a node says what it resizes to.
@reads("Resize")
def read_resize(o):
    x = o.x(0)
    mode, axes = o.text("mode", "nearest"), [axis % x.ndim for axis in o.ints_of("axes", list(range(x.ndim)))]
    if o.version < 11:
        scales = [float(n) for n in o.array(1, "the scales")]
        where, roi = "asymmetric", None
        sizes = None
    else:
        where = o.text("coordinate_transformation_mode", "half_pixel")
        roi = [float(n) for n in o.array(1, "the region").reshape(-1)] if o.has(1) and where == "tf_crop_and_resize" else None
        scales = [float(n) for n in o.array(2, "the scales").reshape(-1)] if o.has(2) else None
        sizes = o.sizes(3, "the sizes") if o.has(3) else None
        scales = scales or None
    if scales is not None and all(s == 1 for s in scales) and where != "tf_crop_and_resize":
        return x
    counts = [x.shape[axis] for axis in axes]
    if len(scales if scales is not None else sizes or []) != len(axes):
        raise o.bad(f"it has scales {scales} and sizes {sizes}", f"{len(axes)} of one of them")
    pairs = []
    for i, n in enumerate(counts):  # what stays may be open
        keeps = scales[i] == 1 if scales is not None else same(sizes[i], n)
        if not keeps and not (is_known(n) and (sizes is None or is_known(sizes[i]))):
            raise o.open_size("the sizes that it resizes")
        pairs.append(keeps)
    if scales is None:
        scales = [1.0 if keeps else m / n for keeps, n, m in zip(pairs, counts, sizes)]
        policy = o.text("keep_aspect_ratio_policy", "stretch")
        if policy in ("not_larger", "not_smaller"):
            scale = (min if policy == "not_larger" else max)(m / n for n, m in zip(counts, sizes))
            scales = [scale] * len(axes)
            sizes = [math.floor(scale * n + 0.5) for n in counts]
    else:
        sizes = [n if keeps else math.floor(n * s) for keeps, n, s in zip(pairs, counts, scales)]
    return resized(o, x, axes, sizes, scales, mode, where, roi)


def resized(o, x, axes, sizes, scales, mode, where, roi):
    """`x` with other sizes along some axes, one after the other."""
    dtype = x.dtype
    wide = dtype if dtype.name in ("float32", "float64") else _core.float32
    beyond = None
    if where == "tf_crop_and_resize" and roi is None:
        raise o.bad("it resizes a region and has none", "input 1")
    for i, (axis, size, scale) in enumerate(zip(axes, sizes, scales)):
        n = x.shape[axis]
        region = (roi[i], roi[i + len(axes)]) if roi is not None else (0.0, 1.0)
        if same(size, n) and scale == 1 and region == (0.0, 1.0):
            continue
        if not 0 < size <= _LARGEST or not 0 < n <= _LARGEST or not 0 < scale <= _LARGEST:
            raise o.bad(f"it resizes axis {axis} from {n} to {size}", f"sides up to {_LARGEST}")
        at = _places(o, where, n, size, scale, region)
        if roi is not None:
            outside = (at < 0) | (at > n - 1)
            shape = [1] * x.ndim
            shape[axis] = size
            beyond = outside.reshape(shape) if beyond is None else beyond | outside.reshape(shape)
        if mode == "nearest":
            x = ops.gather(x, index_of(np.clip(_nearest(o, at), 0, n - 1)), axis=axis)
            continue
        index, weight = _taps(o, mode, at, n, scale)
        x = x if x.dtype is wide else ops.cast(x, dtype=wide)
        x = ops.resample(x, index_of(index), tensor_of_array(weight.astype(wide.name), 1), axis=axis)
    if beyond is not None and beyond.any():
        fill = scalar(x, o.number("extrapolation_value"))
        x = ops.where(_core.from_buffer(np.ascontiguousarray(np.broadcast_to(beyond, tuple(x.shape)))), fill, x)
    if x.dtype is dtype:
        return x
    return ops.cast(x if dtype.is_floating else round_even(x), dtype=dtype)


def _places(o, where, n, size, scale, region):
    i = np.arange(size, dtype=np.float64)
    if where == "asymmetric":
        return i / scale
    if where == "align_corners":
        return i * ((n - 1) / (n * scale - 1)) if size > 1 and n * scale != 1 else np.zeros(size)
    if where == "pytorch_half_pixel":
        return (i + 0.5) / scale - 0.5 if n * scale > 1 else np.full(size, -0.5)
    if where == "half_pixel":
        return (i + 0.5) / scale - 0.5
    if where == "half_pixel_symmetric":
        whole = n * scale
        return n / 2 * (1 - size / whole) + (i + 0.5) / scale - 0.5
    if where == "tf_half_pixel_for_nn":
        return (i + 0.5) / scale
    if where == "tf_crop_and_resize":
        start, end = region
        if size > 1:
            return start * (n - 1) + i * (end - start) * (n - 1) / (n * scale - 1)
        return np.full(size, (start + end) * (n - 1) / 2)
    raise o.bad(f"its coordinate_transformation_mode is {where!r}", "one of the format's")


def _nearest(o, at):
    how = o.text("nearest_mode", "round_prefer_floor") if o.type == "Resize" and o.version >= 11 else "floor"
    if how == "floor":
        found = np.floor(at)
    elif how == "ceil":
        found = np.ceil(at)
    elif how == "round_prefer_ceil":
        found = np.floor(at + 0.5)
    else:
        found = np.ceil(at - 0.5)
    return found.astype(np.int64)


def _taps(o, mode, at, n, scale):
    """The elements that each place is a weighted sum of, and their weights."""
    cubic = mode == "cubic"
    a = o.number("cubic_coeff_a", -0.75)
    stretch = max(1.0, 1 / scale) if o.flag("antialias") else 1.0
    reach = (2 if cubic else 1) * stretch
    first = np.floor(at - reach).astype(np.int64) + 1
    index = first[:, None] + np.arange(int(np.ceil(2 * reach)))[None]
    distance = np.abs(at[:, None] - index) / stretch
    weight = _keys(distance, a) if cubic else np.maximum(1 - distance, 0)
    if o.flag("exclude_outside"):
        weight = np.where((index < 0) | (index >= n), 0, weight)
    if stretch != 1 or o.flag("exclude_outside"):
        weight = weight / weight.sum(1, keepdims=True)
    return np.clip(index, 0, n - 1), weight


def _keys(d, a):
    """Keys (1981)."""
    near = ((a + 2) * d - (a + 3)) * d * d + 1
    far = ((a * d - 5 * a) * d + 8 * a) * d - 4 * a
    return np.where(d <= 1, near, np.where(d < 2, far, 0))


# Sampling.


@reads("AffineGrid")
def read_affine_grid(o):
    theta, size = o.x(0), o.sizes(1, "the size")
    corners = o.flag("align_corners")
    spatial = size[2:]
    rank = len(spatial)
    o.bound(int(np.prod([n for n in spatial if is_known(n)], dtype=object)), 1 << 24, "the number of points")
    axes = []
    for n in reversed(spatial):
        if not is_known(n):
            raise o.open_size("the size of the grid")
        i = np.arange(n, dtype=np.float64)
        axes.append((2 * i / (n - 1) - 1 if n > 1 else np.zeros(1)) if corners else (2 * i + 1) / n - 1)
    # Coordinates count from the last axis: x, y, z.
    grids = np.meshgrid(*reversed(axes), indexing="ij")
    points = np.stack([*reversed(grids), np.ones(spatial)], axis=-1).reshape(-1, rank + 1)
    table = ops.cast(_core.from_buffer(np.ascontiguousarray(points)), dtype=theta.dtype)
    out = ops.matmul(ops.unsqueeze(table, axes=(0,)), theta, transpose_x=False, transpose_y=True)
    return ops.reshape(out, shape=(theta.shape[0], *spatial, rank))


# In one piece: the taps of all axes, each combined with each.
@reads("GridSample")
def read_grid_sample(o):
    x, grid = o.x(0), o.x(1)
    mode, border = o.text("mode", "linear"), o.text("padding_mode", "zeros")
    mode = {"bilinear": "linear", "bicubic": "cubic"}.get(mode, mode)
    if mode not in ("linear", "nearest", "cubic") or border not in ("zeros", "border", "reflection"):
        raise o.bad(f"its mode is {mode!r} and its padding {border!r}", "linear, nearest or cubic, and zeros, border or reflection")
    corners = o.flag("align_corners")
    rank = x.ndim - 2
    o.bound(rank, 3, "the number of spatial axes")
    sizes = [x.shape[2 + i] for i in range(rank)]
    if not all(is_known(n) for n in sizes):
        raise o.open_size("the sizes that it samples")
    grid = grid if grid.dtype is x.dtype or not x.dtype.is_floating else ops.cast(grid, dtype=x.dtype)
    places = []
    for i, n in enumerate(sizes):
        at = ops.select(grid, axis=grid.ndim - 1, index=rank - 1 - i)
        scaled = ops.multiply(ops.add(at, scalar(at, 1)), scalar(at, (n - 1) / 2 if corners else n / 2))
        places.append(scaled if corners else ops.subtract(scaled, scalar(at, 0.5)))
    if mode != "cubic":
        places = [_inside(at, n, border, corners) for at, n in zip(places, sizes)]
    choices = [_samples(at, mode) for at in places]
    flat = ops.reshape(x, shape=(x.shape[0], x.shape[1], int(np.prod(sizes))))
    total = None
    for taps in itertools.product(*choices):
        index = weight = valid = None
        for (at, w), n in zip(taps, sizes):
            if mode == "cubic":
                at = _inside(at, n, border, corners)
            whole = ops.cast(at, dtype=_core.int64)
            zero, last = _core.scalar(0, _core.int64), _core.scalar(n - 1, _core.int64)
            fits = ops.logical_and(ops.greater_equal(whole, zero), ops.less_equal(whole, last))
            whole = ops.minimum(ops.maximum(whole, zero), last)
            index = whole if index is None else ops.add(ops.multiply(index, _core.scalar(n, _core.int64)), whole)
            weight = w if weight is None else w if w is None else ops.multiply(weight, w)
            valid = fits if valid is None else ops.logical_and(valid, fits)
        points = tuple(index.shape)
        count = 1
        for n in points[1:]:
            count = n * count
        at = ops.broadcast_to(ops.reshape(index, shape=(points[0], 1, count)), shape=(points[0], x.shape[1], count))
        part = ops.reshape(ops.take_along_axis(flat, at, axis=2), shape=(points[0], x.shape[1], *points[1:]))
        part = ops.where(ops.unsqueeze(valid, axes=(1,)), part, scalar(part, 0))
        if weight is not None:
            part = ops.multiply(part, ops.unsqueeze(weight, axes=(1,)))
        total = part if total is None else ops.add(total, part)
    return total


def _samples(at, mode):
    """The whole places near a place along one axis, with their weights."""
    if mode == "nearest":
        return [(round_even(at), None)]
    down = ops.floor(at)
    rest = ops.subtract(at, down)
    if mode == "linear":
        return [(down, ops.subtract(scalar(at, 1), rest)), (ops.add(down, scalar(at, 1)), rest)]
    return [(ops.add(down, scalar(at, k)), _cubic(rest, k)) for k in (-1, 0, 1, 2)]


def _cubic(rest, k):
    a = -0.75
    d = ops.abs(ops.subtract(rest, scalar(rest, k)))

    def polynomial(*coefficients):
        out = scalar(d, coefficients[0])
        for c in coefficients[1:]:
            out = ops.add(ops.multiply(out, d), scalar(d, c))
        return out

    return polynomial(a + 2, -(a + 3), 0, 1) if k in (0, 1) else polynomial(a, -5 * a, 8 * a, -4 * a)


def _inside(at, n, border, corners):
    """A place within an axis, as the padding has it."""
    if border == "border":
        return ops.minimum(ops.maximum(at, scalar(at, 0)), scalar(at, n - 1))
    if border == "reflection":
        low, span = (0.0, n - 1.0) if corners else (-0.5, float(n))
        if span == 0:
            return ops.full_like(at, value=0, dtype=at.dtype)
        moved = ops.remainder(ops.subtract(at, scalar(at, low)), scalar(at, 2 * span))
        moved = ops.add(ops.minimum(moved, ops.subtract(scalar(at, 2 * span), moved)), scalar(at, low))
        return ops.minimum(ops.maximum(moved, scalar(at, 0)), scalar(at, n - 1))
    return at
