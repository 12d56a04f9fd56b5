"""Resizing and sampling of images. The op is written as its decomposition, since its positions are data."""
import wherry_nn.functional as F
from wherry_paddle_files.column import reads, writes
from wherry_paddle_files.ops.indexing import write_gather
from wherry_tensor import ops

_LARGEST = 1 << 16  # places along an axis, for each of which a table has an entry: a file that was damaged may say anything

_modes = {"bilinear": "bilinear", "nearest": "nearest", "bicubic": "bicubic", "linear": "linear", "trilinear": "trilinear"}


@writes(ops.resample)
def write_resample(w, x, index, weight, *, axis):
    """In float32 what is of float16: Paddle resizes images of it on a CPU, but has no products there."""
    if index.shape[1] == 1 and w.filled(weight) == 1:
        return write_gather(w, x, w.reshape(index, [index.shape[0]]), axis=axis)
    if x.dtype != "float16" or not index.shape[1]:
        return NotImplemented
    wide, weight, total = w.cast(x, "float32"), w.cast(weight, "float32"), None
    count = index.shape[0]
    shape = [*x.shape[:axis], count, *x.shape[axis + 1 :]]
    for k in range(index.shape[1]):
        column = {"axes": [1], "starts": [k], "ends": [k + 1], "decrease_axis": [1]}
        places, share = (w("slice", {"Input": one}, column, shape=[count]) for one in (index, weight))
        part = w("gather", {"X": wide, "Index": places}, {"axis": axis}, shape=shape)
        share = w.reshape(share, [count] + [1] * (x.ndim - 1 - axis))
        part = w("elementwise_mul", {"X": part, "Y": share}, {"axis": -1})
        total = part if total is None else w("elementwise_add", {"X": total, "Y": part}, {"axis": -1})
    return w.cast(total, "float16")


@writes(ops.resample_vjp)
def write_resample_vjp(w, ct, index, weight, like, *, axis):
    """Sums of whole slices, of which `fold` is made. Those of weights are written as the decomposition, which oneDNN refuses here."""
    if w.filled(weight) != 1 or index.shape[1] != 1:
        return NotImplemented
    zeros = w("fill_any_like", {"X": like}, {"value": 0.0, "dtype": -1}, dtype=ct.dtype)
    return w("index_add", {"X": zeros, "Index": w.reshape(index, [index.shape[0]]), "AddValue": ct}, {"axis": axis})


@reads(*(f"{mode}_interp{version}" for mode in _modes for version in ("_v2", "")))
def read_interp(o):
    x, mode = o.x("X"), o.type.split("_")[0]
    layout = o.text("data_layout", "NCHW")
    rank = x.ndim - 2
    fixed = [o.integer(name, -1) for name in ("out_d", "out_h", "out_w")][3 - rank :]
    size = o.shape("none", "SizeTensor", "OutSize") or (fixed if all(n > 0 for n in fixed) else None)
    sides = [n for n in (*(size or ()), *x.shape[1:]) if type(n) is int]
    if any(n > _LARGEST for n in sides):
        raise o.bad(f"it resizes shape {x.shape} to {size}", f"sides up to {_LARGEST}")
    scale = o.attr("scale", None)
    factor = o.maybe("Scale")
    if size is None and factor is not None:
        scale = factor
    elif isinstance(scale, list):
        scale = [float(n) for n in scale] or None
    if size is not None:
        scale = None
    elif any(isinstance(n, float) and not 0 < n <= 1024 for n in (scale if isinstance(scale, list) else [scale])):
        raise o.bad(f"attribute 'scale' is {scale}", "at most 1024")
    names = {1: "NCW", 2: "NCHW", 3: "NCDHW"} if layout.startswith("NC") else {1: "NWC", 2: "NHWC", 3: "NDHWC"}
    align = o.flag("align_corners") and mode != "nearest"
    return F.interpolate(x, size, scale, mode, align, o.integer("align_mode", 1), names[rank])


@reads("grid_sampler", out="Output")
def read_grid_sampler(o):
    return F.grid_sample(o.x("X"), o.x("Grid"), o.text("mode", "bilinear"), o.text("padding_mode", "zeros"), o.flag("align_corners", True))


@reads("affine_grid", out="Output")
def read_affine_grid(o):
    return F.affine_grid(o.x("Theta"), o.shape("output_shape", "", "OutputShape"), o.flag("align_corners", True))
