"""Losses."""
from wherry_onnx_files.column import reads
from wherry_onnx_files.ops.elementwise import scalar
from wherry_tensor import _core, ops


def _picked(o, logs, label, weight):
    """The loss of each place, reduced as the node says: `logs` are [N, C, ...]."""
    ignore = o.integer("ignore_index") if o.given("ignore_index") else None
    label = ops.cast(label, dtype=_core.int64)
    counts = None
    if ignore is not None:
        counts = ops.not_equal(label, _core.scalar(ignore, _core.int64))
        label = ops.where(counts, label, _core.scalar(0, _core.int64))
    loss = ops.squeeze(ops.negative(ops.take_along_axis(logs, ops.unsqueeze(label, axes=(1,)), axis=1)), axes=(1,))
    weights = None if weight is None else ops.reshape_like(ops.gather(weight, ops.reshape(label, shape=(-1,)), axis=0), label)
    if counts is not None:
        ones = ops.full_like(loss, value=1, dtype=loss.dtype) if weights is None else weights
        weights = ops.where(counts, ones, scalar(loss, 0))
    if weights is not None:
        loss = ops.multiply(loss, weights)
    reduction, axes = o.text("reduction", "mean"), tuple(range(loss.ndim))
    if reduction == "none":
        return loss
    total = ops.reduce_sum(loss, axes=axes, keepdim=False)
    if reduction == "sum":
        return total
    if weights is not None:
        return ops.divide(total, ops.reduce_sum(weights, axes=axes, keepdim=False))
    return ops.reduce_mean(loss, axes=axes, keepdim=False)


@reads("NegativeLogLikelihoodLoss")
def read_negative_log_likelihood_loss(o):
    return _picked(o, o.x(0), o.x(1), o.maybe(2))


@reads("SoftmaxCrossEntropyLoss")
def read_softmax_cross_entropy_loss(o):
    logs = ops.log_softmax(o.x(0), axis=1)
    return _picked(o, logs, o.x(1), o.maybe(2)), logs
