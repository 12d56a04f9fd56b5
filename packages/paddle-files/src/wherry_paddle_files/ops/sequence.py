"""Sequences: masks by length, labels that are not aligned."""
import wherry_nn.functional as F
import wherry_tensor as api
from wherry_paddle_files.column import paddle, reads, writes
from wherry_paddle_files.numbers import number_of
from wherry_paddle_files.ops.indexing import size_of
from wherry_program.program.best_paths import best_paths
from wherry_tensor import ops


@reads("sequence_mask", out="Y")
def read_sequence_mask(o):
    longest = o.maybe("MaxLenTensor")
    most = o.integer("maxlen", -1) if longest is None else number_of(longest)
    if type(most) is int and most < 0:
        most = number_of(api.max(o.x("X")).astype("int64"))
    return F.sequence_mask(o.x("X"), most, o.dtype("out_dtype", "int64"))


@writes(ops.ctc_loss)
def write_ctc_loss(w, log_probs, labels, input_lengths, label_lengths, *, blank, norm_by_times):
    """Paddle's operator normalizes its input: for inputs that are not log probabilities, the normalization is undone."""
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


@writes(ops.gather_tree)
def write_gather_tree(w, ids, parents):
    return w("gather_tree", {"Ids": ids, "Parents": parents})


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


@reads("viterbi_decode", out="Path")
def read_viterbi_decode(o):
    lengths = o.x("Length").astype("int64")
    scores, paths = best_paths(o.x("Input"), o.x("Transition"), lengths, o.flag("include_bos_eos_tag", True))
    return {"Scores": scores, "Path": paths}


@reads("edit_distance")
def read_edit_distance(o):
    """Levenshtein's distance of token sequences, `[N, T]` with their lengths: one row of the table of distances after another."""
    given, wanted = o.x("Hyps"), o.x("Refs")
    n, rows, columns = given.shape[0], given.shape[1], wanted.shape[1]
    lengths = [o.maybe(slot) for slot in ("HypsLength", "RefsLength")]
    counts = [api.full([n], size, "int64") if x is None else api.cast(api.reshape(x, [-1]), "int64") for x, size in zip(lengths, (rows, columns))]
    places = api.arange(columns + 1, dtype="float32")
    table = [api.expand(places, [n, columns + 1])]
    for i in range(rows):
        cost = api.cast(api.not_equal(given[:, i : i + 1], wanted), "float32")
        above = table[-1] + 1.0
        reached = api.concat([above[:, :1], api.minimum(above[:, 1:], table[-1][:, :-1] + cost)], 1)
        table.append(api.cummin(reached - places, 1)[0] + places)  # insertions: the best place to the left, and one for each step from it
    at = api.stack([counts[0], api.arange(n, dtype="int64"), counts[1]], 1)
    distance = api.reshape(api.gather_nd(api.stack(table), at), [n, 1])
    if o.flag("normalized"):
        distance = distance / api.cast(api.reshape(counts[1], [n, 1]), "float32")
    return {"Out": distance, "SequenceNum": api.full([1], n, "int64")}
