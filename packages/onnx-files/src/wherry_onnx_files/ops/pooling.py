"""Pooling. A window is a product of ranges, so maxima and sums go along one axis after the other where the image ops do not serve."""
import numpy as np

from wherry_onnx_files.column import reads
from wherry_onnx_files.numbers import is_known
from wherry_onnx_files.ops.convolution import paddings_of, window_of
from wherry_onnx_files.ops.elementwise import scalar
from wherry_onnx_files.ops.indexing import index_of
from wherry_tensor import _core, ops


class Window:
    """The windows of a node along each spatial axis.

    Attributes:
        counts: how many there are, numbers or Sizes.
        before: what the input is padded with in front.
        after: what it is padded with after, so that the last window ends there; it may be negative.
        pads: what the node itself pads after.
    """

    def __init__(self, o, x):
        self.kernel, self.strides, self.dilations = window_of(o, x)
        self.before, self.pads = paddings_of(o, x, self.kernel, self.strides, self.dilations)
        ceil = o.flag("ceil_mode") and o.text("auto_pad", "NOTSET") in ("NOTSET", "")
        self.counts, self.after = [], []
        for n, k, s, d, b, a in zip(x.shape[2:], self.kernel, self.strides, self.dilations, self.before, self.pads):
            span = d * (k - 1) + 1
            if not is_known(n):
                if ceil and s > 1:
                    raise o.open_size("how many windows there are")
                self.counts.append((n + (b + a - span)) // s + 1)
                self.after.append(a)
                continue
            room = n + b + a - span
            if room < 0 and not ceil:
                raise o.bad(f"its window of {span} is larger than {n + b + a}", "a window that fits")
            count = (-(-room // s) if ceil else room // s) + 1
            if ceil and (count - 1) * s >= n + b:
                count -= 1  # it would begin in the padding
            self.counts.append(count)
            self.after.append((count - 1) * s + span - n - b)
        self.plain = all(d == 1 for d in self.dilations) and all(b < k and a < k for b, a, k in zip(self.before, self.after, self.kernel))

    def padded(self, x, value):
        """The input with what its windows reach beyond it."""
        pairs = [n for both in zip(self.before, self.after) for n in both]
        return ops.pad(x, paddings=(0, 0, 0, 0, *pairs), value=value) if any(pairs) else x

    def reduced(self, x, reduce):
        """`reduce` along one axis of all windows after the other."""
        for i, (count, k, s, d) in enumerate(zip(self.counts, self.kernel, self.strides, self.dilations)):
            first = ops.arange(start=0, step=s, length=count, dtype=_core.int64)
            at = ops.add(ops.unsqueeze(first, axes=(1,)), index_of(np.arange(k)[None] * d))
            x = reduce(ops.gather(x, at, axis=i + 2), (i + 3,))
        return x

    def image(self, x):
        """One or two spatial axes as an image, with kernel, strides and paddings of that."""
        flat = len(self.kernel) == 1
        lead = [1] if flat else []
        pads = [n for both in zip(self.before, self.after) for n in both]
        return (
            ops.unsqueeze(x, axes=(2,)) if flat else x,
            {"kernel": (*lead, *self.kernel), "strides": (*lead, *self.strides), "paddings": (*([0, 0] if flat else []), *pads)},
        )

    def fits(self, x):
        """Whether the image ops serve it."""
        return self.plain and len(self.kernel) < 3 and x.dtype.is_floating and all(type(n) is int and n >= 0 for n in self.after)


@reads("MaxPool")
def read_max_pool(o):
    x = o.x(0)
    window = Window(o, x)
    if o.n_out < 2 or not o.node.outputs[1]:
        if window.fits(x):
            image, attrs = window.image(x)
            out = ops.max_pool2d(image, **attrs, ceil_mode=False, data_format="NCHW")[0]
            return ops.squeeze(out, axes=(2,)) if len(window.kernel) == 1 else out
        dtype = x.dtype
        if dtype.name in ("uint8", "int8", "float16", "bfloat16"):
            x = ops.cast(x, dtype=_core.int32 if not dtype.is_floating else _core.float32)
        least = -np.inf if x.dtype.is_floating else -(2.0**31)
        out = window.reduced(window.padded(x, float(least)), lambda y, axes: ops.reduce_max(y, axes=axes, keepdim=False))
        return out if out.dtype is dtype else ops.cast(out, dtype=dtype)
    return _max_with_places(o, x, window)


def _max_with_places(o, x, window):
    """The maxima, and where each stands in the whole input."""
    spatial = [int(n) for n in x.shape[2:] if is_known(n)]
    if len(spatial) != x.ndim - 2:
        raise o.open_size("where the maxima stand")
    o.bound(int(np.prod([*window.counts, *window.kernel], dtype=object)), 1 << 26, "the number of elements of all windows")
    o.bound(int(np.prod(spatial, dtype=object)), 1 << 26, "the size of a plane")
    order = "F" if o.integer("storage_order") else "C"
    flat = np.arange(int(np.prod(spatial)), dtype=np.int64).reshape(spatial, order=order)
    places = []
    for i, (count, k, s, d, b) in enumerate(zip(window.counts, window.kernel, window.strides, window.dilations, window.before)):
        at = np.arange(count)[:, None] * s + np.arange(k)[None] * d - b
        shape = [1] * (2 * len(spatial))
        shape[i], shape[len(spatial) + i] = at.shape
        places.append((at.reshape(shape), spatial[i]))
    inside = np.ones((), bool)
    index = []
    for at, n in places:
        inside = inside & (at >= 0) & (at < n)
        index.append(np.clip(at, 0, n - 1))
    shape = inside.shape
    row_major = np.ravel_multi_index(np.broadcast_arrays(*index), spatial) if len(index) > 1 else index[0]
    outs, taps = int(np.prod(window.counts)), int(np.prod(window.kernel))
    row_major, inside = np.broadcast_to(row_major, shape).reshape(outs, taps), inside.reshape(outs, taps)
    numbers = np.broadcast_to(flat.reshape(-1)[row_major], row_major.shape)
    dtype = x.dtype
    planes = ops.reshape(x, shape=(x.shape[0], x.shape[1], int(np.prod(spatial))))
    if dtype.name in ("uint8", "int8", "float16"):
        planes = ops.cast(planes, dtype=_core.float32)
    taken = ops.gather(planes, index_of(row_major), axis=2)
    mask = _core.from_buffer(np.ascontiguousarray(inside))
    taken = ops.where(mask, taken, scalar(taken, float("-inf")))
    best = ops.argmax(taken, axis=3, keepdim=True)
    out = ops.squeeze(ops.take_along_axis(taken, best, axis=3), axes=(3,))
    table = ops.broadcast_to(index_of(numbers[None, None]), shape=tuple(taken.shape))
    at = ops.squeeze(ops.take_along_axis(table, best, axis=3), axes=(3,))
    n, c = x.shape[0], x.shape[1]
    plane = ops.arange(start=0, step=int(np.prod(spatial)), length=n * c, dtype=_core.int64)
    at = ops.add(at, ops.reshape(plane, shape=(n, c, 1)))
    shape = (n, c, *window.counts)
    out, at = ops.reshape(out, shape=shape), ops.reshape(at, shape=shape)
    return (out if out.dtype is dtype else ops.cast(out, dtype=dtype)), at


@reads("AveragePool")
def read_average_pool(o):
    x = o.x(0)
    window = Window(o, x)
    include = o.flag("count_include_pad")
    if window.fits(x) and window.after == window.pads:
        image, attrs = window.image(x)
        out = ops.avg_pool2d(image, **attrs, ceil_mode=False, exclusive=not include, divisor=None, data_format="NCHW")
        return ops.squeeze(out, axes=(2,)) if len(window.kernel) == 1 else out
    sums = window.reduced(window.padded(x, 0.0), lambda y, axes: ops.reduce_sum(y, axes=axes, keepdim=False))
    counts = np.ones(())
    for i, (n, count, k, s, d, b, a) in enumerate(
        zip(x.shape[2:], window.counts, window.kernel, window.strides, window.dilations, window.before, window.pads)
    ):
        if not is_known(n):
            raise o.open_size("how many elements a window has")
        at = np.arange(count)[:, None] * s + np.arange(k)[None] * d - b
        inside = (at >= -b) & (at < n + a) if include else (at >= 0) & (at < n)
        shape = [1] * len(window.kernel)
        shape[i] = count
        counts = counts * inside.sum(1).reshape(shape)
    return ops.divide(sums, ops.cast(_core.from_buffer(np.ascontiguousarray(np.maximum(counts, 1))), dtype=sums.dtype))


@reads("LpPool")
def read_lp_pool(o):
    x, p = o.x(0), o.integer("p", 2)
    window = Window(o, x)
    powers = ops.power(ops.abs(x), scalar(x, p))
    sums = window.reduced(window.padded(powers, 0.0), lambda y, axes: ops.reduce_sum(y, axes=axes, keepdim=False))
    return ops.power(sums, scalar(sums, 1 / p))


def _spatial(x):
    return tuple(range(2, x.ndim))


@reads("GlobalAveragePool")
def read_global_average_pool(o):
    x = o.x(0)
    if x.ndim == 4 and x.dtype.is_floating:
        return ops.adaptive_avg_pool2d(x, output_size=(1, 1), data_format="NCHW")  # which passes know
    return ops.reduce_mean(x, axes=_spatial(x), keepdim=True)


reads("GlobalMaxPool")(lambda o: ops.reduce_max(o.x(0), axes=_spatial(o.x(0)), keepdim=True))


@reads("GlobalLpPool")
def read_global_lp_pool(o):
    x, p = o.x(0), o.integer("p", 2)
    sums = ops.reduce_sum(ops.power(ops.abs(x), scalar(x, p)), axes=_spatial(x), keepdim=True)
    return ops.power(sums, scalar(sums, 1 / p))


@reads("MaxUnpool")
def read_max_unpool(o):
    x, at = o.x(0), o.x(1)
    kernel, strides, dilations = window_of(o, x)
    before, after = paddings_of(o, x, kernel, strides, dilations)
    natural = [(n - 1) * s + k - b - a for n, s, k, b, a in zip(x.shape[2:], strides, kernel, before, after)]
    shape = list(x.shape[:2]) + natural
    target = o.sizes(2, "the shape") if o.has(2) else shape
    if not all(is_known(n) for n in (*target, *shape)):
        raise o.open_size("the shape of the result")
    total = int(np.prod(shape))
    flat = ops.full(shape=(total,), value=0, dtype=x.dtype)
    out = ops.put_along_axis(flat, ops.reshape(at, shape=(-1,)), ops.reshape(x, shape=(-1,)), axis=0, reduce="assign")
    out = ops.reshape(out, shape=tuple(shape))
    if list(target) == shape:
        return out
    return ops.pad(out, paddings=tuple(n for m, s in zip(target, shape) for n in (0, m - s)), value=0.0)
