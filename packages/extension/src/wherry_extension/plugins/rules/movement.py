"""Elements in other places."""
from wherry_extension.plugins.column import serves
from wherry_tensor import ops


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
