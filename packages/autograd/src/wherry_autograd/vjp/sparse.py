"""Gradient rules for message passing along edges and products with sparse matrices.

Cotangents run along the edges backwards: from targets to sources.
"""
from wherry_autograd.rules import not_differentiable, vjp
from wherry_tensor import ops
from wherry_tensor._core import int64


@vjp.rule(ops.edge_sum)
def vjp_edge_sum(ct, _out, _x, source, target, *, count, mean, sorted):
    if mean:
        arrived = ops.edge_sum(ops.full_like(target, value=1, dtype=int64), None, target, count=count, mean=False, sorted=sorted)
        arrived = ops.maximum(arrived, ops.full(shape=(), value=1, dtype=int64))
        ct = ct / ops.unsqueeze(ops.cast(arrived, dtype=ct.dtype), axes=tuple(range(1, ct.ndim)))
    return _backwards(ct, _x, source, target), None, None


@vjp.rule(ops.edge_extreme)
def vjp_edge_extreme(ct, out, x, source, target, *, count, largest, sorted):
    # Each of those that are the extreme gets the whole cotangent, as in Paddle.
    sent = x if source is None else ops.gather(x, source, axis=0)
    chosen = ops.cast(ops.equal(sent, ops.gather(out, target, axis=0)), dtype=ct.dtype)
    received = ops.gather(ct, target, axis=0) * chosen
    if source is None:
        return received, None, None
    return ops.edge_sum(received, None, source, count=x.shape[0], mean=False, sorted=False), None, None


@vjp.rule(ops.csr_matmul)
def vjp_csr_matmul(ct, _out, values, crows, cols, x):
    return ops.csr_sample(ct, x, crows, cols), None, None, _transposed(values, crows, cols, x, ct)


@vjp.rule(ops.csr_sample)
def vjp_csr_sample(ct, _out, x, y, crows, cols):
    return ops.csr_matmul(ct, crows, cols, y), _transposed(ct, crows, cols, y, x), None, None


not_differentiable(ops.csr_transpose, "places are integers")


def _backwards(ct, x, source, target):
    if source is None:
        return ops.gather(ct, target, axis=0)
    return ops.edge_sum(ct, target, source, count=x.shape[0], mean=False, sorted=False)


def _transposed(values, crows, cols, like, x):
    """The transposed matrix, with as many rows as `like`, times x."""
    crows, cols, order = ops.csr_transpose(crows, cols, columns=like.shape[0])
    return ops.csr_matmul(ops.gather(values, order, axis=0), crows, cols, x)

