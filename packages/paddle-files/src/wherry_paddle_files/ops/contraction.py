"""Matrix products."""
import wherry_nn.functional as F
import wherry_tensor as api
from wherry_paddle_files.column import reads, writes
from wherry_tensor import ops


@writes(ops.matmul)
def write_matmul(w, x, y, *, transpose_x, transpose_y):
    if x.ndim == y.ndim == 1:  # of which Paddle's predictor (oneDNN) makes shape [1]
        return w("dot", {"X": x, "Y": y}, shape=())
    return w("matmul_v2", {"X": x, "Y": y}, {"trans_x": transpose_x, "trans_y": transpose_y})


@writes(ops.linear)
def write_linear(w, x, weight, bias):
    out = w("matmul_v2", {"X": x, "Y": weight}, {"trans_x": False, "trans_y": False}, shape=w.outs[0].sizes)
    return out if bias is None else w("elementwise_add", {"X": out, "Y": bias}, {"axis": -1})


@reads("matmul_v2")
def read_matmul(o):
    return api.matmul(o.x("X"), o.x("Y"), o.flag("trans_x"), o.flag("trans_y"))


@reads("matmul")
def read_old_matmul(o):
    out = api.matmul(o.x("X"), o.x("Y"), o.flag("transpose_X"), o.flag("transpose_Y"))
    alpha = o.number("alpha", 1.0)
    return out if alpha == 1.0 else out * alpha


def rows_of(x, axes):
    """x as a matrix whose rows are its first `axes` axes together."""
    rows, columns = 1, 1
    for i, n in enumerate(x.shape):
        if i < axes:
            rows = rows * n
        else:
            columns = columns * n
    return api.reshape(x, [rows, columns])


@reads("mul")
def read_mul(o):
    x, y = o.x("X"), o.x("Y")
    left, right = o.integer("x_num_col_dims", 1), o.integer("y_num_col_dims", 1)
    out = ops.matmul(
        x if x.ndim == 2 and left == 1 else rows_of(x, left), y if y.ndim == 2 and right == 1 else rows_of(y, right), transpose_x=False,
        transpose_y=False,
    )
    return out if x.ndim == left + 1 and y.ndim == right + 1 and left == right == 1 else api.reshape(out, [*x.shape[:left], *y.shape[right:]])


reads("bmm")(lambda o: api.bmm(o.x("X"), o.x("Y")))
reads("mv")(lambda o: api.mv(o.x("X"), o.x("Vec")))
reads("dot")(lambda o: api.dot(o.x("X"), o.x("Y")))
reads("kron")(lambda o: api.kron(o.x("X"), o.x("Y")))
reads("cross")(lambda o: api.cross(o.x("X"), o.x("Y"), o.integer("dim", 9)))
reads("einsum")(lambda o: api.einsum(o.text("equation"), *o.xs("Operands")))


@reads("bilinear_tensor_product")
def read_bilinear(o):
    return F.bilinear(o.x("X"), o.x("Y"), o.x("Weight"), o.maybe("Bias"))


@reads("addmm")
def read_addmm(o):
    return api.addmm(o.x("Input"), o.x("X"), o.x("Y"), o.number("Beta", 1.0), o.number("Alpha", 1.0))
