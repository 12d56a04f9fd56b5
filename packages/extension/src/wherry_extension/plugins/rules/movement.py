"""Data movement: transposing, slicing, joining, padding."""
from wherry_extension.plugins.column import serves
from wherry_extension.plugins.programs import Declined
from wherry_tensor import ops
from wherry_tensor.ops.shapes import floats


@serves(ops.concat, "concat")
def plugin_concat(w, out, *xs, axis):
    w.call("concat", [x for x in xs if x.shape != (0,) or len(out.shape) == 1], axis, out)


@serves(ops.pad, "pad")
def plugin_pad(w, out, x, *, paddings, value):
    w.call("pad", x, list(paddings), value, out)


@serves(ops.flip, "flip")
def plugin_flip(w, out, x, *, axes):
    w.call("flip", x, list(axes), out)


@serves(ops.roll, "roll")
def plugin_roll(w, out, x, *, shifts, axes):
    w.call("roll", x, list(shifts), list(axes), out)


def _triangle(op, name):
    @serves(op, name)
    def rule(w, out, x, *, diagonal):
        w.call(name, x, diagonal, out)


_triangle(ops.tril, "tril")
_triangle(ops.triu, "triu")


@serves(ops.slice_put, "set_value_with_tensor")
def plugin_slice_put(w, out, x, value, *, axes, starts, ends, steps):
    if any(step < 0 for step in steps):
        raise Declined("versions count backwards differently")
    w.call("set_value_with_tensor", x, value, list(starts), list(ends), list(steps), list(axes), [], [], out)


@serves(ops.arange, "arange", first=False)
def plugin_arange(w, out, *, start, step, length, dtype):
    # A half step short of the next number, where rounding could let one more in.
    end = start + step * (length - 0.5 if dtype in floats else length)
    w.call("arange", start, end, step, out, dtype=dtype)


@serves(ops.eye, "eye", first=False)
def plugin_eye(w, out, *, rows, columns, dtype):
    w.call("eye", rows, columns, dtype, out, dtype=dtype)
