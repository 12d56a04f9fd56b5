"""The loss of connectionist temporal classification (CTC), and the way back through a beam search."""
from wherry_tensor import ops
from wherry_tensor._core import float32, float64, int64
from wherry_tensor.ops.declare import Meta, decompose, infer, op
from wherry_tensor.ops.shapes import (
    UNKNOWN,
    floats,
    integers,
    merge_size,
    require_dtype,
    require_one_dtype,
    require_rank,
    require_same_shape,
    same_size,
    show,
)

# Connectionist temporal classification. log_probs [T, B, C], labels [B, L], both lengths [B]; loss [B],
# 0 where no path gives the label. alpha [B, T, 2 L + 1], float32 (float64 for float64), is what the
# gradient needs: the logarithms of the forward probabilities, of each step relative to the largest.
# norm_by_times divides the gradient (not the loss) by the input length.
ctc_loss = op("ctc_loss", "log_probs, labels, input_lengths, label_lengths", blank=int, norm_by_times=bool,
              outputs="loss, alpha")
ctc_loss_vjp = op("ctc_loss_vjp", "ct, log_probs, labels, input_lengths, label_lengths, alpha", blank=int,
                  norm_by_times=bool)
# The derivative of sum(vector * ctc_loss_vjp(...)) by log_probs: the second derivative of the loss, which is
# symmetric, times a vector [T, B, C]. alpha counts as what it was computed from.
ctc_loss_curvature = op("ctc_loss_curvature", "vector, ct, log_probs, labels, input_lengths, label_lengths, alpha", blank=int,
                        norm_by_times=bool)

# ids and parents are integers [T, B, beams]: the token that each beam took at each step, and the beam from which it came. The
# result holds the tokens of the sequence that ends in each beam of the last step.
gather_tree = op("gather_tree", "ids, parents")
_NO_BEAM = 2**31 - 1


@infer.rule(ctc_loss)
def infer_ctc_loss(log_probs, labels, input_lengths, label_lengths, *, blank, norm_by_times):
    batch, alpha = _sizes("ctc_loss", log_probs, labels, input_lengths, label_lengths, blank)
    return Meta((batch,), log_probs.dtype), alpha


@infer.rule(ctc_loss_vjp)
def infer_ctc_loss_vjp(ct, log_probs, labels, input_lengths, label_lengths, alpha, *, blank, norm_by_times):
    return _gradient("ctc_loss_vjp", ct, log_probs, labels, input_lengths, label_lengths, alpha, blank)


@infer.rule(ctc_loss_curvature)
def infer_ctc_loss_curvature(vector, ct, log_probs, labels, input_lengths, label_lengths, alpha, *, blank, norm_by_times):
    require_dtype("ctc_loss_curvature", "vector", vector.dtype, (log_probs.dtype,))
    require_same_shape("ctc_loss_curvature", "vector", vector.shape, "log_probs", log_probs.shape)
    return _gradient("ctc_loss_curvature", ct, log_probs, labels, input_lengths, label_lengths, alpha, blank)


def _gradient(op_name, ct, log_probs, labels, input_lengths, label_lengths, alpha, blank):
    batch, states = _sizes(op_name, log_probs, labels, input_lengths, label_lengths, blank)
    require_dtype(op_name, "ct", ct.dtype, (log_probs.dtype,))
    require_dtype(op_name, "alpha", alpha.dtype, (states.dtype,))
    require_same_shape(op_name, "ct", ct.shape, "the loss", (batch,))
    require_same_shape(op_name, "alpha", alpha.shape, "the states", states.shape)
    return log_probs


def _sizes(op_name, log_probs, labels, input_lengths, label_lengths, blank):
    """How many examples there are, and the meta of alpha."""
    require_dtype(op_name, "log_probs", log_probs.dtype, floats)
    require_rank(op_name, "log_probs", log_probs.shape, 3)
    require_rank(op_name, "labels", labels.shape, 2)
    for name, meta in ("labels", labels), ("input_lengths", input_lengths), ("label_lengths", label_lengths):
        require_dtype(op_name, name, meta.dtype, integers)
    steps, batch, classes = log_probs.shape
    for name, meta in ("input_lengths", input_lengths), ("label_lengths", label_lengths):
        require_rank(op_name, name, meta.shape, 1)
        batch = merge_size(batch, meta.shape[0])
    sizes = labels.shape[0], input_lengths.shape[0], label_lengths.shape[0]
    if not all(same_size(batch, size) for size in (log_probs.shape[1], *sizes)):
        raise ValueError(
            f"{op_name}: the batch sizes of the inputs differ. Got log_probs of shape {show(log_probs.shape)}, "
            f"labels of {show(labels.shape)}, lengths of {show(input_lengths.shape)} and {show(label_lengths.shape)}, "
            f"expected [T, B, C], [B, L], [B] and [B]. Time comes first in log_probs; transpose what has the batch first."
        )
    if blank < 0 or (classes != UNKNOWN and blank >= classes):
        raise ValueError(
            f"{op_name}: blank is not a class. Got blank={blank}, expected one in [0, {classes}), the size of the last axis of "
            f"log_probs. Count it among the classes."
        )
    states = UNKNOWN if labels.shape[1] == UNKNOWN else 2 * labels.shape[1] + 1
    return batch, Meta((batch, steps, states), float64 if log_probs.dtype == float64 else float32)


for _op in (ctc_loss, ctc_loss_vjp, ctc_loss_curvature):
    decompose.exempt(_op, "a recursion over time and labels whose steps depend on sizes and values")


@infer.rule(gather_tree)
def infer_gather_tree(ids, parents):
    require_dtype("gather_tree", "ids", ids.dtype, integers)
    require_one_dtype("gather_tree", ids=ids.dtype, parents=parents.dtype)
    require_rank("gather_tree", "ids", ids.shape, 3)
    require_same_shape("gather_tree", "parents", parents.shape, "ids", ids.shape)
    return ids


@decompose.rule(gather_tree)
def decompose_gather_tree(ids, parents):
    steps, _, beams = ids.shape
    if steps == UNKNOWN:
        raise ValueError(
            f"gather_tree: the way back is taken step by step here. Got ids of shape {show(ids.shape)}, expected a known size of axis 0, the "
            f"time. Fix the number of steps."
        )
    if not ids.size:
        return ops.copy(ids)
    parents = ops.cast(parents, dtype=int64)
    # A negative one would count from the end; the op that follows it refuses one that is too large.
    outside = _NO_BEAM if beams == UNKNOWN else beams
    parents = ops.where(ops.less_than(parents, ops.full(shape=(), value=0, dtype=int64)), ops.full(shape=(), value=outside, dtype=int64), parents)
    found = [ops.select(ids, axis=0, index=steps - 1)]
    beam = ops.select(parents, axis=0, index=steps - 1)
    for step in range(steps - 2, -1, -1):
        found.append(ops.take_along_axis(ops.select(ids, axis=0, index=step), beam, axis=1))
        beam = ops.take_along_axis(ops.select(parents, axis=0, index=step), beam, axis=1)
    return ops.concat(*(ops.unsqueeze(one, axes=(0,)) for one in reversed(found)), axis=0)
