"""Sequences: masks by length, labels that are not aligned."""
import wherry_nn.functional as F
import wherry_tensor as api
from wherry_graph.paddle_files.column import paddle, reads, writes
from wherry_graph.paddle_files.ops.indexing import size_of
from wherry_tensor import ops


@reads("sequence_mask", out="Y")
def read_sequence_mask(o):
    from wherry_graph.paddle_files.reading import number_of

    longest = o.maybe("MaxLenTensor")
    most = o.integer("maxlen", -1) if longest is None else number_of(longest)
    if type(most) is int and most < 0:
        most = number_of(api.max(o.x("X")).astype("int64"))
    return F.sequence_mask(o.x("X"), most, o.dtype("out_dtype", "int64"))


@writes(ops.ctc_loss)
def write_ctc_loss(w, log_probs, labels, input_lengths, label_lengths, *, blank, norm_by_times):
    """Paddle's operator normalizes what it is given: of what is no logarithm of probabilities, the sums are taken off again."""
    if w.used(1):
        return NotImplemented  # what the gradient needs has another form there
    given = {
        "Logits": log_probs, "Label": w.cast(labels, "int32"), "LogitsLength": w.cast(input_lengths, "int64"),
        "LabelLength": w.cast(label_lengths, "int64"),
    }
    steps, batch, _ = log_probs.shape
    loss = w("warpctc", given, {"blank": blank, "norm_by_times": norm_by_times}, ("Loss", "~WarpCTCGrad"), shape=(batch, 1))
    sums = w("logsumexp", {"X": log_probs}, {"axis": [2], "keepdim": False, "reduce_all": False}, shape=(steps, batch))
    places = w.reshape(w.count(steps if steps >= 0 else size_of(w, log_probs, 0)), (-1, 1))
    inside = w("less_than", {"X": places, "Y": w.reshape(given["LogitsLength"], (1, -1))}, {"axis": -1}, dtype="bool", shape=(steps, batch))
    sums = w("elementwise_mul", {"X": sums, "Y": w.cast(inside, sums.dtype)}, {"axis": -1})
    total = w("reduce_sum", {"X": sums}, {"dim": [0], "keep_dim": False, "reduce_all": False}, shape=(batch,))
    return w("elementwise_sub", {"X": w.reshape(loss, (batch,)), "Y": total}, {"axis": -1}), None


paddle.exempt(ops.ctc_loss_vjp, "Paddle's operator takes what its own loss kept for the gradient, which has another form")
paddle.exempt(ops.ctc_loss_curvature, "Paddle has no second derivative of this loss")


@reads("gather_tree")
def read_gather_tree(o):
    return F.gather_tree(o.x("Ids"), o.x("Parents"))


@reads("row_conv")
def read_row_conv(o):
    """Each step as the sum of itself and those that follow, each with its weights."""
    x, weights = o.x("X"), o.x("Filter")
    if x.ndim != 3:
        raise o.bad(f"its input has {x.ndim} axes", "[batch, time, features]")
    steps, ahead = x.shape[1], weights.shape[0]
    longer = F.pad(x, [0, 0, 0, ahead - 1, 0, 0]) if ahead > 1 else x
    return sum(longer[:, i : steps + i] * weights[i] for i in range(ahead))
