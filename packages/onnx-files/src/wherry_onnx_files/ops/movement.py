"""Shapes and movement: what a tensor looks like, and where its elements stand."""
import numpy as np

import wherry_nn.functional as F
from wherry_onnx_files.column import reads
from wherry_onnx_files.numbers import Numbers, is_known, numbers_of, same
from wherry_onnx_files.ops.activation import flattened
from wherry_tensor import _core, ops
from wherry_tensor.sizes import Size

_FAR = (1 << 31) - 1


def object_array(values, shape=None):
    """An array of objects with these values, row by row."""
    values = list(values)
    out = np.empty(len(values), object)
    out[:] = values
    return out if shape is None else out.reshape(shape)


@reads("Shape", keeps=False)
def read_shape(o):
    shape = list(o.x(0).shape)
    start, end = o.integer("start"), o.integer("end", len(shape))
    return Numbers(object_array(shape[slice(*slice(start, end).indices(len(shape))[:2])]))


@reads("Size", keeps=False)
def read_size(o):
    count = 1
    for n in o.x(0).shape:
        count = n * count
    return Numbers(object_array([count], ()))


@reads("Reshape")
def read_reshape(o):
    keep_zero = o.flag("allowzero")
    if o.has(1) and not o.is_known(1) and o.numbers(1) is None and not keep_zero:
        return ops.reshape(o.x(0), shape=_computed_shape(o))
    target = o.sizes(1, "the shape") if o.has(1) else list(o.ints_of("shape", []))
    known = o.numbers(0)
    if known is not None and all(is_known(n) for n in target) and not any(n == 0 for n in target):
        return Numbers(known.reshape(target), o.value(0).dtype)
    x = o.x(0)
    shape = []
    for i, n in enumerate(target):
        if is_known(n) and n == 0 and not keep_zero:
            if i >= x.ndim:
                raise o.bad(f"its shape {target} keeps axis {i} of an input of rank {x.ndim}", "an axis that is there")
            n = x.shape[i]
        shape.append(n)
    return ops.reshape(x, shape=_one_open(x, shape))


def _computed_shape(o):
    """A shape that only a run knows, with the sizes of the input where it has 0."""
    x, target = o.x(0), ops.cast(o.x(1), dtype=_core.int64)
    if target.ndim != 1 or not is_known(target.shape[0]):
        raise o.needs(1, "the shape")
    n = min(int(target.shape[0]), x.ndim)
    have = ops.slice(ops.cast(ops.shape_of(x), dtype=_core.int64), axes=(0,), starts=(0,), ends=(n,), steps=(1,))
    if n < target.shape[0]:
        have = ops.pad(have, paddings=(0, int(target.shape[0]) - n), value=0.0)
    target = ops.where(ops.equal(target, _core.scalar(0, _core.int64)), have, target)
    return tuple(Size("value", ops.select(target, axis=0, index=i)) for i in range(int(target.shape[0])))


def _one_open(x, shape):
    """A shape whose -1 is a number, where the sizes that are open on both sides are the same."""
    if not any(is_known(n) and n == -1 for n in shape):
        return tuple(shape)
    count, rest = 1, list(x.shape)
    for n in shape:
        if is_known(n) and n == -1:
            continue
        if not is_known(n):
            at = next((i for i, m in enumerate(rest) if same(m, n)), None)
            if at is None:
                return tuple(shape)
            del rest[at]
        else:
            count *= n
    if all(is_known(n) for n in rest) and count > 0 and int(np.prod(rest, dtype=object)) % count == 0:
        return tuple(int(np.prod(rest, dtype=object)) // count if is_known(n) and n == -1 else n for n in shape)
    return tuple(shape)


@reads("Flatten")
def read_flatten(o):
    x = o.x(0)
    axis = o.integer("axis", 1)
    return flattened(x, axis if axis >= 0 else axis + x.ndim)


@reads("Squeeze")
def read_squeeze(o):
    axes = o.ints(1, "the axes") if o.has(1) else o.ints_of("axes")
    known = o.numbers(0)
    if known is not None:
        axes = [i for i, n in enumerate(known.shape) if n == 1] if axes is None else axes
        return Numbers(np.squeeze(known, tuple(axis % max(known.ndim, 1) for axis in axes)), o.value(0).dtype)
    x = o.x(0)
    if axes is None:
        if not all(is_known(n) for n in x.shape):
            raise o.open_size("which axes are 1")
        axes = [i for i, n in enumerate(x.shape) if n == 1]
    axes = tuple(sorted({axis % x.ndim for axis in axes})) if x.ndim else ()
    if any(is_known(x.shape[axis]) and x.shape[axis] != 1 for axis in axes):
        raise o.bad(f"it squeezes the axes {axes} of shape {list(x.shape)}", "axes of size 1")
    return ops.squeeze(x, axes=axes)


@reads("Unsqueeze")
def read_unsqueeze(o):
    axes = o.ints(1, "the axes") if o.has(1) else o.ints_of("axes", [])
    value = o.value(0)
    rank = (value.array.ndim if isinstance(value, Numbers) else value.ndim) + len(axes)
    places = tuple(sorted(axis % rank for axis in axes))
    known = o.numbers(0)
    if known is not None:
        for axis in places:
            known = np.expand_dims(known, axis)
        return Numbers(known, value.dtype)
    return ops.unsqueeze(o.x(0), axes=places)


@reads("Transpose")
def read_transpose(o):
    x = o.x(0)
    perm = tuple(axis % x.ndim for axis in o.ints_of("perm", list(range(x.ndim))[::-1]))
    return ops.transpose(x, perm=perm)


@reads("Concat")
def read_concat(o):
    parts = [numbers_of(o.value(i)) for i in range(len(o)) if o.has(i)]
    if parts and all(p is not None and p.ndim == 1 for p in parts):
        return Numbers(np.concatenate(parts), o.value(0).dtype)
    xs = o.xs()
    return ops.concat(*xs, axis=o.integer("axis", 1 if o.version < 4 else 0) % max(xs[0].ndim, 1))


@reads("Split")
def read_split(o):
    x = o.x(0)
    axis = o.integer("axis") % x.ndim
    n = x.shape[axis]
    sizes = (o.ints(1, "the sizes") if o.has(1) else None) if o.version >= 13 else o.ints_of("split")
    if sizes is None:
        count = o.integer("num_outputs", o.n_out)
        if not is_known(n):
            if count == 1:
                return (x,)
            raise o.open_size("the size that it splits")
        if count != o.n_out:
            raise o.bad(f"it splits into {count} and has {o.n_out} outputs", "as many")
        each = -(-n // count)
        sizes = [each] * (count - 1) + [n - each * (count - 1)]
    if min(sizes, default=0) < 0 or (is_known(n) and sum(sizes) != n):
        raise o.bad(f"it splits {n} into {sizes[:20]}", "sizes whose sum it is")
    ends = np.cumsum(sizes).tolist()
    known = o.numbers(0)
    if known is not None and known.ndim == 1:
        return tuple(Numbers(known[e - s : e], o.value(0).dtype) for s, e in zip(sizes, ends))
    return tuple(cut(x, axis, e - s, e) for s, e in zip(sizes, ends))


def cut(x, axis, start, end, step=1):
    """A part of one axis."""
    return ops.slice(x, axes=(axis,), starts=(start,), ends=(end,), steps=(step,))


@reads("Slice")
def read_slice(o):
    known = o.numbers(0)
    value = o.value(0)
    rank = value.array.ndim if isinstance(value, Numbers) else value.ndim
    if o.version < 10:
        starts, ends, axes, steps = o.ints_of("starts"), o.ints_of("ends"), o.ints_of("axes"), None
    else:
        starts, ends = o.sizes(1, "where it starts"), o.sizes(2, "where it ends")
        axes = o.ints(3, "the axes") if o.has(3) else None
        steps = o.ints(4, "the steps") if o.has(4) else None
    axes = [axis % rank for axis in (range(len(starts)) if axes is None else axes)]
    steps = [1] * len(axes) if steps is None else steps
    if not len(starts) == len(ends) == len(axes) == len(steps) or 0 in steps or len(set(axes)) != len(axes):
        raise o.bad(f"it slices the axes {axes} from {starts} to {ends} by {steps}", "one of each for each axis, steps other than 0")
    if known is not None and all(is_known(n) for n in (*starts, *ends)):
        at = [slice(None)] * rank
        for axis, start, end, step in zip(axes, starts, ends, steps):
            at[axis] = slice(start, None if step < 0 and end < -known.shape[axis] else end, step)
        return Numbers(known[tuple(at)], value.dtype)
    x = o.x(0)
    bounds = sorted(zip(axes, map(_near, starts), map(_near, ends), steps), key=lambda part: part[0])
    axes, starts, ends, steps = (tuple(part[i] for part in bounds) for i in range(4)) if bounds else ((), (), (), ())
    return ops.slice(x, axes=axes, starts=starts, ends=ends, steps=steps)


def _near(n):
    return n if type(n) is Size else max(-_FAR, min(_FAR, n))


@reads("Expand")
def read_expand(o):
    x, target = o.x(0), o.sizes(1, "the shape")
    rank = max(x.ndim, len(target))
    shape = [1] * (rank - x.ndim) + list(x.shape)
    target = [1] * (rank - len(target)) + list(target)
    out = []
    for have, want in zip(shape, target):
        if is_known(want) and want == 1:
            out.append(have)
        elif is_known(have) and have == 1:
            out.append(want)
        elif is_known(have):
            out.append(have)  # an open size that it fits is this one, or 1
        else:
            out.append(want if is_known(want) else have)
    return ops.broadcast_to(x, shape=tuple(out))


@reads("Tile")
def read_tile(o):
    x, repeats = o.x(0), o.sizes(1, "the repeats")
    if o.version < 6:
        axis = o.ints(2, "the axis")[0]
        repeats = [repeats[0] if i == axis else 1 for i in range(x.ndim)]
    if len(repeats) != x.ndim:
        raise o.bad(f"it has {len(repeats)} repeats", f"{x.ndim}, one for each axis")
    if all(is_known(n) and n == 1 for n in repeats):
        return x
    parts, wide, shape = [], [], []
    for n, k in zip(x.shape, repeats):
        parts += [1, n]
        wide += [k, n]
        shape.append(n * k)
    if len(parts) <= _core.MAX_RANK:
        return ops.reshape(ops.broadcast_to(ops.reshape(x, shape=tuple(parts)), shape=tuple(wide)), shape=tuple(shape))
    for axis, k in enumerate(repeats):
        if is_known(k) and k == 1:
            continue
        at = ops.remainder(_range(x.shape[axis] * k), _number(x.shape[axis]))
        x = ops.gather(x, at, axis=axis)
    return x


def _range(n):
    return ops.arange(start=0, step=1, length=n, dtype=_core.int64)


def _number(n):
    return _core.scalar(n, _core.int64) if is_known(n) else n.tensor(_core.int64)


@reads("Pad")
def read_pad(o):
    x = o.x(0)
    mode = o.text("mode", "constant")
    if o.version < 11:
        pads, value = o.ints_of("pads", o.ints_of("paddings", [])), o.number("value")
        axes = None
    else:
        pads = o.sizes(1, "the pads")
        value = o.scalar(2, "the value") if o.has(2) and mode == "constant" else 0
        axes = [axis % x.ndim for axis in o.ints(3, "the axes")] if o.has(3) else None
    axes = list(range(x.ndim)) if axes is None else axes
    if len(pads) != 2 * len(axes):
        raise o.bad(f"it has {len(pads)} pads", f"{2 * len(axes)}, two for each axis")
    before, after = [0] * x.ndim, [0] * x.ndim
    for i, axis in enumerate(axes):
        before[axis], after[axis] = pads[i], pads[i + len(axes)]
    if mode == "constant":
        if not x.dtype.is_floating and float(value) != 0 and abs(value) > 1 << 52:
            raise o.unsupported(f"the value {value}", "a number of 52 bits")
        if x.dtype.name == "bool":
            wide = ops.pad(ops.cast(x, dtype=_core.uint8), paddings=_pairs(before, after), value=float(value))
            return ops.cast(wide, dtype=x.dtype)
        return ops.pad(x, paddings=_pairs(before, after), value=float(value))
    for axis in axes:
        low, high, n = before[axis], after[axis], x.shape[axis]
        if not is_known(low) or not is_known(high):
            raise o.open_size("how much it pads")
        cuts = (max(-low, 0), max(-high, 0))
        if any(cuts):
            x = cut(x, axis, cuts[0], _FAR if not cuts[1] else -cuts[1])
            n = n - cuts[0] - cuts[1]
        low, high = max(low, 0), max(high, 0)
        if low or high:
            x = ops.gather(x, _places(o, mode, low, high, n), axis=axis)
    return x


def _pairs(before, after):
    return tuple(n for both in zip(before, after) for n in both)


def _places(o, mode, low, high, n):
    """Which element stands where, along an axis that is padded."""
    at = ops.subtract(_range(n + (low + high)), _core.scalar(low, _core.int64))
    count = _number(n)
    if mode == "edge":
        return ops.minimum(ops.maximum(at, _core.scalar(0, _core.int64)), ops.subtract(count, _core.scalar(1, _core.int64)))
    if mode == "wrap":
        return ops.remainder(at, count)
    if mode != "reflect":
        raise o.bad(f"its mode is {mode!r}", "constant, edge, reflect or wrap")
    if is_known(n) and n == 1:
        return ops.full_like(at, value=0, dtype=at.dtype)
    period = ops.multiply(_core.scalar(2, _core.int64), ops.subtract(count, _core.scalar(1, _core.int64)))
    at = ops.remainder(at, period)
    return ops.minimum(at, ops.subtract(period, at))


@reads("DepthToSpace")
def read_depth_to_space(o):
    x, b = o.x(0), o.integer("blocksize")
    n, c, h, w = x.shape
    if o.text("mode", "DCR") == "CRD":
        parts = ops.transpose(ops.reshape(x, shape=(n, c // (b * b), b, b, h, w)), perm=(0, 1, 4, 2, 5, 3))
    else:
        parts = ops.transpose(ops.reshape(x, shape=(n, b, b, c // (b * b), h, w)), perm=(0, 3, 4, 1, 5, 2))
    return ops.reshape(parts, shape=(n, c // (b * b), h * b, w * b))


@reads("SpaceToDepth")
def read_space_to_depth(o):
    x, b = o.x(0), o.integer("blocksize")
    n, c, h, w = x.shape
    parts = ops.reshape(x, shape=(n, c, h // b, b, w // b, b))
    if o.text("mode", "DCR") == "CRD":
        return ops.reshape(ops.transpose(parts, perm=(0, 1, 3, 5, 2, 4)), shape=(n, c * b * b, h // b, w // b))
    return ops.reshape(ops.transpose(parts, perm=(0, 3, 5, 1, 2, 4)), shape=(n, c * b * b, h // b, w // b))


@reads("Trilu")
def read_trilu(o):
    x = o.x(0)
    k = int(o.scalar(1, "the diagonal")) if o.has(1) else 0
    k = max(-_FAR, min(_FAR, k))
    if x.dtype.name == "bool":
        wide = ops.cast(x, dtype=_core.int32)
        return ops.cast(ops.triu(wide, diagonal=k) if o.flag("upper", True) else ops.tril(wide, diagonal=k), dtype=x.dtype)
    return ops.triu(x, diagonal=k) if o.flag("upper", True) else ops.tril(x, diagonal=k)


@reads("ReverseSequence")
def read_reverse_sequence(o):
    x, lengths = o.x(0), ops.cast(o.x(1), dtype=_core.int64)
    batch, time = o.integer("batch_axis", 1) % x.ndim, o.integer("time_axis", 0) % x.ndim
    steps = _range(x.shape[time])
    steps = ops.unsqueeze(steps, axes=(1,)) if time < batch else ops.unsqueeze(steps, axes=(0,))
    counts = ops.unsqueeze(lengths, axes=(0,)) if time < batch else ops.unsqueeze(lengths, axes=(1,))
    at = ops.where(ops.less_than(steps, counts), ops.subtract(ops.subtract(counts, _core.scalar(1, _core.int64)), steps), steps)
    shape = tuple(n if i in (batch, time) else 1 for i, n in enumerate(x.shape))
    at = ops.broadcast_to(ops.reshape(at, shape=shape), shape=tuple(x.shape))
    return ops.take_along_axis(x, at, axis=time)


@reads("CenterCropPad")
def read_center_crop_pad(o):
    x = o.x(0)
    target = o.ints(1, "the shape")
    axes = [axis % x.ndim for axis in o.ints_of("axes", list(range(x.ndim)))]
    for axis, want in zip(axes, target):
        have = x.shape[axis]
        if not is_known(have):
            raise o.open_size("the size that it crops")
        if have > want:
            start = (have - want) // 2
            x = cut(x, axis, start, start + want)
        elif have < want:
            before = (want - have) // 2
            pads = [0] * (2 * x.ndim)
            pads[2 * axis : 2 * axis + 2] = [before, want - have - before]
            x = ops.pad(x, paddings=tuple(pads), value=0.0)
    return x


@reads("Col2Im")
def read_col2im(o):
    x, image, block = o.x(0), o.ints(1, "the image"), o.ints(2, "the block")
    rank = len(image)
    dilations, pads = o.ints_of("dilations", [1] * rank), o.ints_of("pads", [0] * 2 * rank)
    strides = o.ints_of("strides", [1] * rank)
    if rank == 2:
        return F.fold(x, image, block, strides, [pads[0], pads[1], pads[2], pads[3]], dilations)
    return _summed_blocks(o, x, image, block, strides, pads, dilations)


def _summed_blocks(o, x, image, block, strides, pads, dilations):
    """Any rank: each column is added to where it comes from."""
    rank = len(image)
    padded = [n + pads[i] + pads[i + rank] for i, n in enumerate(image)]
    counts = [(n - d * (k - 1) - 1) // s + 1 for n, k, s, d in zip(padded, block, strides, dilations)]
    o.bound(int(np.prod(block, dtype=object) * np.prod(counts, dtype=object)), 1 << 24, "the number of places")
    places = np.zeros((int(np.prod(block)), int(np.prod(counts))), np.int64)
    for i, (k, m) in enumerate(zip(block, counts)):
        along = np.arange(k)[:, None] * dilations[i] + np.arange(m)[None] * strides[i]
        shape = [1] * (2 * rank)
        shape[i], shape[rank + i] = k, m
        full = np.broadcast_to(along.reshape(shape), [*block, *counts]).reshape(places.shape)
        places = places * padded[i] + full
    n = x.shape[0]
    channels = x.shape[1] // int(np.prod(block))
    flat = ops.reshape(x, shape=(n, channels, places.size))
    zeros = ops.full(shape=(n, channels, int(np.prod(padded))), value=0, dtype=x.dtype)
    index = _core.from_buffer(np.ascontiguousarray(places.reshape(-1)))
    out = ops.reshape(ops.index_add(zeros, index, flat, axis=2), shape=(n, channels, *padded))
    for i in range(rank):
        out = cut(out, i + 2, pads[i], pads[i] + image[i])
    return out
