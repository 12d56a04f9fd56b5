"""Gradient rules for interpolation along one axis."""
from wherry_autograd.rules import vjp
from wherry_tensor import ops


@vjp.rule(ops.resample)
def vjp_resample(ct, _out, x, index, weight, *, axis, needs):
    x_ct = ops.resample_vjp(ct, index, weight, x, axis=axis) if needs[0] else None
    return x_ct, None, weight_cotangent(ct, x, index, axis) if needs[2] else None


@vjp.rule(ops.resample_vjp, keep_for={"ct": "weight"})
def vjp_resample_vjp(ct, _out, inner, index, weight, _like, *, axis, needs):
    inner_ct = ops.resample(ct, index, weight, axis=axis) if needs[0] else None
    return inner_ct, None, weight_cotangent(inner, ct, index, axis) if needs[2] else None, None


def weight_cotangent(ct, x, index, axis):
    """The cotangent of the weights: the product of the result's cotangent and the element, summed over all other axes."""
    others = tuple(other for other in range(len(x.shape)) if other != axis)
    columns = []
    for k in range(index.shape[1]):
        picked = ops.gather(x, ops.select(index, axis=1, index=k), axis=axis)
        columns.append(ops.unsqueeze(ops.reduce_sum(ct * picked, axes=others, keepdim=False), axes=(1,)))
    if not columns:
        return ops.full(shape=tuple(index.shape), value=0, dtype=x.dtype)
    return ops.concat(*columns, axis=1)
