"""Matrix products."""
import math

from wherry_extension.plugins.column import serves
from wherry_tensor import ops


@serves(ops.matmul, "matmul")
def plugin_matmul(w, out, x, y, *, transpose_x, transpose_y):
    w.call("matmul", x, y, bool(transpose_x), bool(transpose_y), out)


@serves(ops.linear, "matmul")
def plugin_linear(w, out, x, weight, bias=None):
    rows = math.prod(x.shape[:-1])
    x, flat = x.reshape(rows, x.shape[-1]), out.reshape(rows, out.shape[-1])
    product = flat if bias is None else w.memory(out.dtype, flat.shape)
    w.call("matmul", x, weight, False, False, product)
    if bias is not None:
        w.call("add", product, w.expanded(bias, flat.shape), flat)
