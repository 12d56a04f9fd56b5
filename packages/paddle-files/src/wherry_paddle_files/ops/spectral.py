"""Fourier transforms, and frames of signals."""
import wherry_tensor as api
from wherry_paddle_files.column import reads, writes
from wherry_tensor import ops
from wherry_tensor.functions import fft, signal
from wherry_tensor.sizes import Size

# What Paddle calls a normalization depends on the direction: "backward" divides the backward transform alone.
_WRITTEN = {("none", True): "backward", ("none", False): "forward", ("n", True): "forward", ("n", False): "backward"}
_READ = {(name, forward): kind for (kind, forward), name in _WRITTEN.items()}
_COMPLEX = {"float32": "complex64", "float64": "complex128"}
_REAL = {kind: name for name, kind in _COMPLEX.items()}


def _attrs(axes, normalization, forward):
    return {"axes": list(axes), "normalization": _WRITTEN.get((normalization, forward), "ortho"), "forward": forward}


def _options(o):
    x, forward, said = o.x("X"), o.flag("forward", True), o.text("normalization", "backward")
    if said != "ortho" and (said, forward) not in _READ:
        raise o.bad(f"attribute 'normalization' is {said!r}", "'backward', 'forward' or 'ortho'")
    axes = tuple(axis % x.ndim for axis in o.integers("axes"))
    return x, {"axes": axes, "normalization": _READ.get((said, forward), "sqrt"), "forward": forward}


@writes(ops.fft_c2c)
def write_fft_c2c(w, x, *, axes, normalization, forward):
    return w("fft_c2c", {"X": x}, _attrs(axes, normalization, forward))


@reads("fft_c2c")
def read_fft_c2c(o):
    x, options = _options(o)
    return ops.fft_c2c(x, **options)


@writes(ops.fft_r2c)
def write_fft_r2c(w, x, *, axes, normalization, forward):
    shape = [n // 2 + 1 if i == axes[-1] and n >= 0 else n for i, n in enumerate(x.shape)]
    attrs = {**_attrs(axes, normalization, forward), "onesided": True}
    return w("fft_r2c", {"X": x}, attrs, dtype=_COMPLEX[x.dtype], shape=shape)


@reads("fft_r2c")
def read_fft_r2c(o):
    x, options = _options(o)
    if o.flag("onesided"):
        return ops.fft_r2c(x, **options)
    return ops.fft_c2c(api.cast(x, _COMPLEX[x.dtype.name]), **options)


@writes(ops.fft_c2r)
def write_fft_c2r(w, x, *, axes, normalization, forward, size):
    if type(size) is not int and not _of_the_whole(w, x, axes[-1], size):
        return NotImplemented  # the operator's size is an attribute
    shape = w.outs[0].sizes
    size = size if type(size) is int else 0
    attrs = {**_attrs(axes, normalization, forward), "last_dim_size": size}
    return w("fft_c2r", {"X": x}, attrs, dtype=_REAL[x.dtype], shape=shape)


def _of_the_whole(w, x, axis, size):
    """Whether a size is 2 (n - 1) for the n elements of the axis: what the operator takes where it is told nothing."""
    name, less, two = size.source if len(size.source) == 3 else (None, None, None)
    if name != "multiply" or two != 2 or type(less) is not Size or less.source[0] != "subtract" or less.source[2] != 1:
        return False
    n = less.source[1]
    return type(n) is Size and n.source[0] == "axis" and n.source[2] == axis and w.value(n.source[1]) is x


@reads("fft_c2r")
def read_fft_c2r(o):
    x, options = _options(o)
    if not options["axes"]:
        raise o.bad("it has no axes", "one or more")
    last = options["axes"][-1]
    size = o.integer("last_dim_size")
    if not size:
        return ops.fft_c2r(x, **options, size=2 * (x.shape[last] - 1))
    return ops.fft_c2r(fft.resized(x, last, size // 2 + 1, "fft_c2r"), **options, size=size)


@writes(ops.frame)
def write_frame(w, x, *, length, hop, leading):
    return w("frame", {"X": x}, {"frame_length": length, "hop_length": hop, "axis": 0 if leading else -1}, shape=w.outs[0].sizes)


@reads("frame")
def read_frame(o):
    return signal.frame(o.x("X"), o.integer("frame_length"), o.integer("hop_length"), o.integer("axis", -1))


@writes(ops.overlap_add)
def write_overlap_add(w, x, *, hop, leading):
    return w("overlap_add", {"X": x}, {"hop_length": hop, "axis": 0 if leading else -1}, shape=w.outs[0].sizes)


@reads("overlap_add")
def read_overlap_add(o):
    return signal.overlap_add(o.x("X"), o.integer("hop_length"), o.integer("axis", -1))
