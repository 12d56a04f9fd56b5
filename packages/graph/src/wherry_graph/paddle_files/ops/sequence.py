"""Sequences: masks by length, labels that are not aligned."""
import wherry_nn.functional as F
import wherry_tensor as api
from wherry_graph.paddle_files.column import paddle, reads
from wherry_tensor import ops


@reads("sequence_mask", out="Y")
def read_sequence_mask(o):
    from wherry_graph.paddle_files.reading import number_of

    longest = o.maybe("MaxLenTensor")
    most = o.integer("maxlen", -1) if longest is None else number_of(longest)
    if type(most) is int and most < 0:
        most = number_of(api.max(o.x("X")).astype("int64"))
    return F.sequence_mask(o.x("X"), most, o.dtype("out_dtype", "int64"))


paddle.exempt(ops.ctc_loss, "Paddle's operator takes logits, and keeps what its gradient needs in another form")
paddle.exempt(ops.ctc_loss_vjp, "Paddle's operator takes logits, and keeps what its gradient needs in another form")
