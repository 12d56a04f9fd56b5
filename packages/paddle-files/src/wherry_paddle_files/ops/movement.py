"""Data movement: reshaping, slicing, joining, padding."""
import math

import wherry_nn.functional as F
import wherry_program.program.control as flow
import wherry_tensor as api
from wherry_paddle_files.column import reads, writes
from wherry_paddle_files.numbers import number_of
from wherry_paddle_files.undefined import is_undefined, mark_undefined
from wherry_paddle_files.writing import longs
from wherry_tensor import ops
from wherry_tensor.sizes import Size, has_sizes, is_unknown

_FAR = 2**31 - 1  # the attributes of the operators have 32 bits


def _near(n):
    return -1 if type(n) is Size else max(-_FAR, min(_FAR, n))


# Views.


_FLATTENED = ("float32", "float64", "uint8", "int8", "int16", "int32", "int64")  # of these Paddle has a kernel for programs


@writes(ops.reshape)
def write_reshape(w, x, *, shape):
    sizes = w.outs[0].sizes
    if x.shape.count(-1) == sizes.count(-1) == 1 and x.dtype in _FLATTENED:
        # Of a batch without rows, too, which `reshape2` refuses.
        for start in range(len(sizes)):
            stop = start + x.ndim - len(sizes)
            merged = x.shape[start : stop + 1]
            if start <= stop and (*x.shape[:start], -1 if -1 in merged else math.prod(merged), *x.shape[stop + 1 :]) == sizes:
                attrs = {"start_axis": start, "stop_axis": stop}
                return w("flatten_contiguous_range", {"X": w.held(x)}, attrs, ("Out", "~XShape"), shape=sizes)
    return w.reshape(x, shape)


@reads("reshape2", "reshape")
def read_reshape(o):
    x = o.x("X")
    shape = o.shape("shape", "ShapeTensor", "Shape")
    return api.reshape(x, shape)


@reads("flatten_contiguous_range")
def read_flatten_contiguous_range(o):
    return api.flatten(o.x("X"), o.integer("start_axis", 1), o.integer("stop_axis", 1))


@reads("flatten2", "flatten")
def read_flatten(o):
    x, axis = o.x("X"), o.integer("axis", 1)
    rows, columns = 1, 1
    for i, n in enumerate(x.shape):
        if i < axis % (x.ndim + 1):
            rows = rows * n
        else:
            columns = columns * n
    return api.reshape(x, [rows, columns])


@writes(ops.transpose)
def write_transpose(w, x, *, perm):
    return w("transpose2", {"X": x}, {"axis": list(perm)}, ("Out", "~XShape"))


@reads("transpose2", "transpose")
def read_transpose(o):
    return api.transpose(o.x("X"), o.integers("axis"))


def _spreadable(w, x, rank):
    """`x` with one axis at least, if the result has some: oneDNN, in Paddle's predictor, does not spread a tensor without any."""
    return x if x.ndim or not rank else w.reshape(x, [1])


@writes(ops.broadcast_to)
def write_broadcast_to(w, x, *, shape):
    if w.filled(x) is not None and not x.dtype.startswith("complex"):
        return w.constant(w.filled(x), x.dtype, shape)
    plain = [-1 if type(n) is Size else n for n in shape]
    more = {}
    if not _keeps(w.outs[0].made_by.inputs[0], shape):
        more, _ = w.shape_inputs("expand_shapes_tensor", shape)
    return w("expand_v2", {"X": _spreadable(w, x, len(shape)), **more}, {"shape": plain}, shape=plain)


def _keeps(x, shape):
    """Whether each open size of `shape` is that of the same axis of `x`: there -1 says it, and nothing is computed."""
    first = len(shape) - x.ndim
    for axis, n in enumerate(shape):
        if type(n) is Size:
            if n.source[0] != "axis" or axis < first:
                return False
            (there, there_axis), (here, here_axis) = _before_unsqueeze(*n.source[1:]), _before_unsqueeze(x, axis - first)
            if there is not here or there_axis != here_axis:
                return False
    return True


def _before_unsqueeze(x, axis):
    """The tensor that has this axis, and which it is there."""
    while x.made_by is not None and x.made_by.op is ops.unsqueeze and axis not in x.made_by.attr("axes"):
        axis -= sum(a < axis for a in x.made_by.attr("axes"))
        x = x.made_by.inputs[0]
    return x, axis


@reads("expand_v2")
def read_expand(o):
    return api.expand(o.x("X"), o.shape("shape", "expand_shapes_tensor", "Shape"))


@reads("expand_as_v2")
def read_expand_as(o):
    like = o.maybe("Y")
    return api.expand(o.x("X"), o.integers("target_shape")) if like is None else api.expand_as(o.x("X"), like)


@reads("tile")
def read_tile(o):
    return api.tile(o.x("X"), o.shape("repeat_times", "repeat_times_tensor", "RepeatTimes"))


@reads("broadcast_tensors")
def read_broadcast_tensors(o):
    return {"Out": api.broadcast_tensors(o.xs("X"))}


def _bounds(w, slot, values):
    if not has_sizes(tuple(values)):
        return {}
    return {slot: [w.size(_near(n) if type(n) is not Size else n) for n in values]}


@writes(ops.slice)
def write_slice(w, x, *, axes, starts, ends, steps):
    known = not has_sizes(starts) and not has_sizes(ends)
    given = {"Input": x} | _bounds(w, "StartsTensorList", starts) | _bounds(w, "EndsTensorList", ends)
    attrs = {"axes": list(axes), "starts": [_near(n) for n in starts], "ends": [_near(n) for n in ends]}
    if all(n == 1 for n in steps):
        return w("slice", given, attrs | {"infer_flags": [1 if known else -1] * len(axes), "decrease_axis": []})
    if not known:
        return NotImplemented
    if any(step < 0 and -_FAR < end < 0 and x.shape[axis] < 0 for axis, end, step in zip(axes, ends, steps)):
        return NotImplemented
    attrs["ends"] = [_end_of(x, axis, end, step) for axis, end, step in zip(axes, ends, steps)]
    return w("strided_slice", given, attrs | {"strides": list(steps), "infer_flags": [1] * len(axes), "decrease_axis": []})


def _end_of(x, axis, end, step):
    """The end of a slice. With a negative step, -1 makes Paddle's operator include the first element."""
    size = x.shape[axis]
    if step > 0 or end >= 0:
        return _near(end)
    return -1 if end < -(size if size >= 0 else _FAR - 1) else end + size


@reads("slice")
def read_slice(o):
    x = o.x("Input")
    if getattr(x, "is_array", False):
        return flow.array_read(x, _index_of(o), o.out().tensor.dims)
    starts = o.shape("starts", "StartsTensorList", "StartsTensor")
    return _sliced(o, x, lambda x, axes, starts, ends, _steps: api.slice(x, axes, starts, ends), starts, [1] * len(starts))


def _sliced(o, x, cut, starts, steps):
    """Slice, and drop the axes that are indexed by a number."""
    axes, drop = [n % x.ndim for n in o.integers("axes")], {n % x.ndim for n in o.integers("decrease_axis")}
    parts = list(zip(axes, starts, o.shape("ends", "EndsTensorList", "EndsTensor"), steps))
    kept = [part for part in parts if part[0] not in drop]
    if kept:
        x = cut(x, *map(list, zip(*kept)))
    for axis, start, *_ in sorted((part for part in parts if part[0] in drop), key=lambda part: -part[0]):
        x = ops.select(x, axis=axis, index=start)
    return x


def _index_of(o):
    starts = o.shape("starts", "StartsTensorList", "StartsTensor")
    return starts[0].tensor() if type(starts[0]) is Size else api.full([], starts[0], "int64")


@reads("strided_slice")
def read_strided_slice(o):
    x = o.x("Input")
    starts = o.shape("starts", "StartsTensorList", "StartsTensor")
    return _sliced(o, x, _strided, starts, o.shape("strides", "StridesTensorList", "StridesTensor"))


def _strided(x, axes, starts, ends, steps):
    """Of a slice that goes backward, an end of -1 takes the first place too, and one before the first does not."""
    known = [(end, step, x.shape[axis]) for axis, end, step in zip(axes, ends, steps)]
    ends = [
        end if type(end) is Size or step > 0 else -_FAR if end == -1 else 0 if type(size) is not Size and end < -size else end
        for end, step, size in known
    ]
    return api.strided_slice(x, axes, starts, ends, steps)


@writes(ops.select)
def write_select(w, x, *, axis, index):
    if type(index) is Size:
        one = w.size(index)
        end = w("scale", {"X": one}, {"scale": 1.0, "bias": 1.0, "bias_after_scale": True})
        given = {"Input": x, "StartsTensorList": [one], "EndsTensorList": [end]}
        return w("slice", given, {"axes": [axis], "starts": [-1], "ends": [-1], "infer_flags": [-1], "decrease_axis": [axis]})
    attrs = {"axes": [axis], "starts": [index], "ends": [_FAR if index == -1 else index + 1], "infer_flags": [1], "decrease_axis": [axis]}
    return w("slice", {"Input": x}, attrs)


@writes(ops.squeeze)
def write_squeeze(w, x, *, axes):
    if not axes:
        return w("assign", {"X": x})
    return w("squeeze2", {"X": x}, {"axes": list(axes)}, ("Out", "~XShape"))


@writes(ops.squeeze_ones)
def write_squeeze_ones(w, x, *, axes):
    out = w("squeeze2", {"X": x}, {"axes": []}, ("Out", "~XShape"))
    out.loose = True
    return out


@reads("squeeze2", "squeeze")
def read_squeeze(o):
    x, axes = o.x("X"), o.integers("axes")
    for axis in range(x.ndim) if o.attr("op_role") is not None or not axes else ():  # files of ours say nothing of roles: there it has to be 1
        if is_unknown(x.shape[axis]) and (not axes or axis in axes or axis - x.ndim in axes):
            o.reader.note_rank(x, axis, one=bool(axes))
    return api.squeeze(x, axes) if axes else ops.squeeze(x, axes=tuple(a for a, n in enumerate(x.shape) if not is_unknown(n) and n == 1))


@writes(ops.unsqueeze)
def write_unsqueeze(w, x, *, axes):
    if not axes:
        return w("assign", {"X": x})
    return w("unsqueeze2", {"X": x}, {"axes": list(axes)}, ("Out", "~XShape"))


@reads("unsqueeze2", "unsqueeze")
def read_unsqueeze(o):
    return api.unsqueeze(o.x("X"), o.shape("axes", "AxesTensorList", "AxesTensor"))


@writes(ops.diagonal)
def write_diagonal(w, x, *, offset, axis1, axis2):
    wide = "float32" if x.dtype == "float16" else x.dtype  # which the operator has on GPUs only
    return w.cast(w("diagonal", {"Input": w.cast(x, wide)}, {"offset": offset, "axis1": axis1, "axis2": axis2}), x.dtype)


@reads("diagonal")
def read_diagonal(o):
    return api.diagonal(o.x("Input"), o.integer("offset"), o.integer("axis1"), o.integer("axis2", 1))


@reads("diag_v2")
def read_diag(o):
    return api.diag(o.x("X"), o.integer("offset"), o.number("padding_value"))


@writes(ops.diagonal_vjp)
def write_diagonal_vjp(w, ct, like, *, offset, axis1, axis2):
    """`diag_embed` makes the smallest matrix that has this diagonal; others are written as the decomposition."""
    sizes, side = w.outs[0].sizes, ct.shape[-1] + abs(offset)
    if ct.shape[-1] < 0 or sizes[axis1] != side or sizes[axis2] != side:
        return NotImplemented
    return w("diag_embed", {"Input": ct}, {"offset": offset, "dim1": axis1, "dim2": axis2}, shape=sizes)


@reads("diag_embed")
def read_diag_embed(o):
    return api.diag_embed(o.x("Input"), o.integer("offset"), o.integer("dim1", -2), o.integer("dim2", -1))


@reads("trace")
def read_trace(o):
    x, offset, first, second = o.x("Input"), o.integer("offset"), o.integer("axis1"), o.integer("axis2", 1)
    # Paddle's operator takes axes in the other order with the other offset; `trace` here is NumPy's.
    return api.trace(x, -offset if first % x.ndim > second % x.ndim else offset, first, second)


@writes(ops.as_complex)
def write_as_complex(w, x):
    return w("as_complex", {"X": x}, dtype=w.outs[0].dtype)


@writes(ops.as_real)
def write_as_real(w, x):
    return w("as_real", {"X": x}, dtype=w.outs[0].dtype)


reads("as_complex")(lambda o: api.as_complex(o.x("X")))
reads("as_real")(lambda o: api.as_real(o.x("X")))


# To the shape of another tensor.


def _shape(w, like):
    return w("shape", {"Input": like}, dtype="int32", shape=(like.ndim,))


@writes(ops.shape_of)
def write_shape_of(w, x):
    return w.cast(_shape(w, x), w.outs[0].dtype)


reads("shape")(lambda o: api.shape(o.x("Input")))
reads("size")(lambda o: api.numel(o.x("Input")))
reads("is_empty")(lambda o: api.is_empty(o.x("X")))


@writes(ops.reshape_like)
def write_reshape_like(w, x, like):
    if -1 not in like.shape:
        return w.reshape(x, like.shape)
    return w("reshape2", {"X": x, "Shape": _shape(w, like)}, {"shape": list(like.shape)}, ("Out", "~XShape"), shape=like.shape)


@writes(ops.broadcast_like)
def write_broadcast_like(w, x, like):
    x = _spreadable(w, x, like.ndim)
    if -1 not in like.shape:
        return w("expand_v2", {"X": x}, {"shape": list(like.shape)}, shape=like.shape)
    return w("expand_v2", {"X": x, "Shape": _shape(w, like)}, {"shape": list(like.shape)}, shape=like.shape)


@writes(ops.unreduce_like)
def write_unreduce_like(w, x, like, *, axes, keepdim):
    if not keepdim and axes:
        sizes = tuple(1 if i in axes else n for i, n in enumerate(like.shape))
        x = w("unsqueeze2", {"X": x}, {"axes": list(axes)}, ("Out", "~XShape"), shape=sizes)
    return write_broadcast_like(w, x, like)


# Copies.


@writes(ops.copy)
def write_copy(w, x):
    return w("assign", {"X": x})


@writes(ops.copy_to)
def write_copy_to(w, x, *, device, source):
    return w("assign", {"X": x})


@reads("assign", "share_data", "memcpy", "memcpy_h2d", "memcpy_d2h")
def read_assign(o):
    x = o.x("X")
    if getattr(x, "is_array", False):
        return x
    return mark_undefined(ops.copy(x)) if is_undefined(x) else ops.copy(x)


@writes(ops.concat)
def write_concat(w, *xs, axis):
    rank = len(w.outs[0].sizes)
    kept = [x for x in xs if x.ndim == rank and x.shape != (0,)] or list(xs)
    if len(kept) > 1 and all(x is kept[0] for x in kept):  # Paddle's process ends in `concat` where a batch has no rows
        return w("tile", {"X": kept[0]}, {"repeat_times": [len(kept) if i == axis else 1 for i in range(rank)]}, shape=w.outs[0].sizes)
    return w("concat", {"X": kept}, {"axis": axis})


@reads("concat")
def read_concat(o):
    axis = o.maybe("AxisTensor")
    return api.concat(o.xs("X"), o.integer("axis") if axis is None else number_of(axis))


@reads("stack", out="Y")
def read_stack(o):
    return api.stack(o.xs("X"), o.integer("axis"))


@reads("unstack", "unbind")
def read_unbind(o):
    x, axis, slot = o.x("X"), o.integer("axis"), "Y" if o.type == "unstack" else "Out"
    count = len(o.desc.output(slot))
    if not -x.ndim <= axis < x.ndim or (type(x.shape[axis]) is not Size and x.shape[axis] != count):
        raise o.bad(f"it takes shape {x.shape} apart along axis {axis}, into {count}", "one result for each place")
    return {slot: [ops.select(x, axis=axis % x.ndim, index=i) for i in range(count)]}


@reads("split")
def read_split(o):
    axis = o.maybe("AxisTensor")
    axis = o.integer("axis") if axis is None else number_of(axis)
    sections = o.shape("sections", "SectionsTensorList", "")
    count = len(o.desc.output("Out"))
    if (len(sections) or o.integer("num")) != count:
        raise o.bad(f"it has {count} results for {len(sections) or o.integer('num')} parts", "one for each part")
    return {"Out": api.split(o.x("X"), sections or count, axis)}


@writes(ops.pad)
def write_pad(w, x, *, paddings, value):
    if has_sizes(paddings) or any(n < 0 for n in paddings) or not paddings or x.ndim > 6:
        return NotImplemented
    pairs = [*zip(paddings[::2], paddings[1::2])]
    if x.dtype != "float32" or x.ndim > 5 or (x.ndim == 5 and any(pairs[0])) or not any(paddings):
        return w("pad", {"X": x}, {"paddings": list(paddings), "pad_value": float(value)})
    # In Paddle's predictor (oneDNN) `pad` pads other axes, or ends the process. What it has for volumes pads three of five axes.
    before = 5 - x.ndim
    out = w("unsqueeze2", {"X": x}, {"axes": list(range(before))}, ("Out", "~XShape"), shape=[1] * before + list(x.shape)) if before else x
    sizes, pairs = list(out.shape), [(0, 0)] * before + pairs
    for layout, first in (("NCDHW", 2), ("NDHWC", 1)):
        padded = pairs[first : first + 3]
        if any(map(any, padded)):
            pairs[first : first + 3] = [(0, 0)] * 3
            sizes[first : first + 3] = [n if n < 0 else n + sum(pair) for n, pair in zip(sizes[first : first + 3], padded, strict=True)]
            attrs = {"paddings": [n for pair in reversed(padded) for n in pair], "mode": "constant", "value": float(value), "data_format": layout}
            out = w("pad3d", {"X": out}, attrs, shape=sizes)
    return w("squeeze2", {"X": out}, {"axes": list(range(before))}, ("Out", "~XShape"), shape=w.outs[0].sizes) if before else out


@reads("pad")
def read_pad(o):
    return ops.pad(o.x("X"), paddings=tuple(o.integers("paddings")), value=o.number("pad_value"))


@reads("pad3d", "pad2d")
def read_pad_nd(o):
    given = o.maybe("Paddings")
    paddings = o.integers("paddings") if given is None else o.shape("paddings", "", "Paddings")
    if o.type == "pad2d":  # top, bottom, left, right
        paddings = [*paddings[2:], *paddings[:2]]
    value = o.number("value" if o.type == "pad3d" else "pad_value")
    mode = {"edge": "replicate"}.get(o.text("mode", "constant"), o.text("mode", "constant"))
    return F.pad(o.x("X"), paddings, mode, value, o.text("data_format", "NCDHW" if o.type == "pad3d" else "NCHW"))


@writes(ops.flip)
def write_flip(w, x, *, axes):
    if not axes:
        return w("assign", {"X": x})
    return w("flip", {"X": x}, {"axis": list(axes)})


@reads("flip", "reverse")
def read_flip(o):
    return api.flip(o.x("X"), o.integers("axis"))


@writes(ops.roll)
def write_roll(w, x, *, shifts, axes):
    if has_sizes(shifts):
        return NotImplemented
    if not axes:
        return w("assign", {"X": x})
    return w("roll", {"X": x}, {"shifts": longs(shifts), "axis": longs(axes)})


@reads("roll")
def read_roll(o):
    return api.roll(o.x("X"), o.shape("shifts", "", "ShiftsTensor"), o.integers("axis") or None)


@writes(ops.repeat_interleave)
def write_repeat_interleave(w, x, *, repeats, axis):
    if has_sizes(repeats) or repeats < 1:
        return NotImplemented
    return w("repeat_interleave", {"X": x}, {"Repeats": repeats, "dim": axis})


@reads("repeat_interleave")
def read_repeat_interleave(o):
    repeats = o.maybe("RepeatsTensor")
    return api.repeat_interleave(o.x("X"), o.integer("Repeats") if repeats is None else repeats, o.integer("dim"))


@writes(ops.tril)
def write_tril(w, x, *, diagonal):
    return w("tril_triu", {"X": x}, {"diagonal": _near(diagonal), "lower": True})


@writes(ops.triu)
def write_triu(w, x, *, diagonal):
    return w("tril_triu", {"X": x}, {"diagonal": _near(diagonal), "lower": False})


@reads("tril_triu")
def read_tril_triu(o):
    return (api.tril if o.flag("lower", True) else api.triu)(o.x("X"), o.integer("diagonal"))


@reads("meshgrid")
def read_meshgrid(o):
    return {"Out": api.meshgrid(o.xs("X"))}


@reads("set_value")
def read_set_value(o):
    x = ops.copy(o.x("Input"))
    value = o.maybe("ValueTensor")
    if value is None:
        value = o.attr("values", [])
        value = api.reshape(api.to_tensor(list(value), dtype=x.dtype), o.integers("shape", [len(value)]))
    axes = o.integers("axes")
    bounds = [o.shape(f"{name}s", f"{name.capitalize()}sTensorList", "") for name in ("start", "end", "step")]
    index = [slice(None)] * x.ndim
    for axis, start, end, step in zip(axes, *bounds):
        size = x.shape[axis]
        start = None if step < 0 and start == 2**63 - 1 else start
        if step < 0 and type(size) is not Size and end < -size:
            end = None
        index[axis] = slice(start, end, step)
    for axis in o.integers("decrease_axes"):
        index[axis] = index[axis].start
    for axis in sorted(o.integers("none_axes")):
        index.insert(axis, None)
    x[tuple(index)] = value
    return x


@reads("crop")
def read_crop(o):
    """The shape is that of `Y` where it is given."""
    x, like, start = o.x("X"), o.maybe("Y"), o.maybe("Offsets")
    sizes = o.integers("shape") if like is None else like.shape
    return api.crop(x, sizes or None, start if start is not None else o.integers("offsets") or None)


@reads("crop_tensor")
def read_crop_tensor(o):
    return api.crop(o.x("X"), o.shape("shape", "ShapeTensor", "Shape"), o.shape("offsets", "OffsetsTensor", "Offsets"))


@reads("pixel_shuffle")
def read_pixel_shuffle(o):
    return F.pixel_shuffle(o.x("X"), o.integer("upscale_factor", 1), o.text("data_format", "NCHW"))


@reads("pixel_unshuffle")
def read_pixel_unshuffle(o):
    return F.pixel_unshuffle(o.x("X"), o.integer("downscale_factor", 1), o.text("data_format", "NCHW"))


@reads("channel_shuffle")
def read_channel_shuffle(o):
    return F.channel_shuffle(o.x("X"), o.integer("groups", 1), o.text("data_format", "NCHW"))


@reads("shuffle_channel")
def read_shuffle_channel(o):
    return F.channel_shuffle(o.x("X"), o.integer("group", 1))


@reads("temporal_shift")
def read_temporal_shift(o):
    return F.temporal_shift(o.x("X"), o.integer("seg_num"), o.number("shift_ratio", 0.25), None, o.text("data_format", "NCHW"))


def _small(o, *names):
    """Check the sizes of kernels, each element of which is a part of the program: a damaged file may have any numbers."""
    for name in names:
        count = 1
        for n in o.integers(name):
            count *= max(n, 1)
        if count > 1 << 12:
            raise o.bad(f"attribute {name!r} is {o.integers(name)}", "at most 4096 places")


@reads("unfold", out="Y")
def read_unfold(o):
    _small(o, "kernel_sizes")
    return F.unfold(o.x("X"), o.integers("kernel_sizes"), o.integers("strides"), o.integers("paddings"), o.integers("dilations"))


@reads("fold", out="Y")
def read_fold(o):
    _small(o, "kernel_sizes")
    names = ("output_sizes", "kernel_sizes", "strides", "paddings", "dilations")
    return F.fold(o.x("X"), *map(o.integers, names))


# Operators that Paddle calls in eager mode and its programs can hold.

reads("as_strided", out="out")(lambda o: api.as_strided(o.x("input"), o.integers("dims"), o.integers("stride"), o.integer("offset")))
reads("tensor_unfold", out="out")(lambda o: api.unfold(o.x("input"), o.integer("axis"), o.integer("size"), o.integer("step")))
reads("view_dtype", out="out")(lambda o: api.view(o.x("input"), o.dtype("dtype")))
reads("view_shape", out="out")(lambda o: api.reshape(o.x("input"), o.integers("dims")))

