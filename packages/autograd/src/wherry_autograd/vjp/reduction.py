"""Gradient rules for reductions and scans.

The cotangent of a reduction is spread over what was reduced with `unreduce_like`, which works
without knowing the sizes.
"""
from wherry_autograd.rules import not_differentiable, vjp
from wherry_tensor import ops
from wherry_tensor.ops.reduction import count_of


@vjp.rule(ops.reduce_sum)
def vjp_reduce_sum(ct, _out, _x, *, axes, keepdim):
    return ops.unreduce_like(ct, _x, axes=axes, keepdim=keepdim)


@vjp.rule(ops.reduce_mean)
def vjp_reduce_mean(ct, _out, _x, *, axes, keepdim):
    return ops.unreduce_like(ct / count_of(_x, axes, ct.dtype, keepdim), _x, axes=axes, keepdim=keepdim)


@vjp.rule(ops.reduce_prod)
def vjp_reduce_prod(ct, _out, x, *, axes, keepdim):
    # Product over an element's neighbours, from both sides, instead of out / x: right where x is 0,
    # and so is its own derivative. Axis by axis, with the partial products in between.
    partial = [x]
    for axis in axes:
        partial.append(ops.reduce_prod(partial[-1], axes=(axis,), keepdim=True))
    ct = ops.reshape_like(ct, partial[-1])
    for axis, factors in zip(reversed(axes), reversed(partial[:-1]), strict=True):
        before = _product_before(factors, axis)
        after = ops.flip(_product_before(ops.flip(factors, axes=(axis,)), axis), axes=(axis,))
        ct = ct * ops.conj(before * after)
    return ct


@vjp.rule(ops.reduce_max)
def vjp_reduce_max(ct, out, x, *, axes, keepdim):
    # Each tied maximum gets the whole cotangent, as in Paddle (amax splits it).
    return _at_extreme(ct, out, x, axes, keepdim)


@vjp.rule(ops.reduce_min)
def vjp_reduce_min(ct, out, x, *, axes, keepdim):
    return _at_extreme(ct, out, x, axes, keepdim)


@vjp.rule(ops.reduce_amax)
def vjp_reduce_amax(ct, out, x, *, axes, keepdim):
    return _shared_extreme(ct, out, x, axes, keepdim)


@vjp.rule(ops.reduce_amin)
def vjp_reduce_amin(ct, out, x, *, axes, keepdim):
    return _shared_extreme(ct, out, x, axes, keepdim)


def _at_extreme(ct, out, x, axes, keepdim):
    hit = ops.equal(x, ops.unreduce_like(out, x, axes=axes, keepdim=keepdim))
    return ops.where(hit, ops.unreduce_like(ct, x, axes=axes, keepdim=keepdim), _zeros_like(x))


def _shared_extreme(ct, out, x, axes, keepdim):
    hit = ops.cast(ops.equal(x, ops.unreduce_like(out, x, axes=axes, keepdim=keepdim)), dtype=x.dtype)
    share = ct / ops.reduce_sum(hit, axes=axes, keepdim=keepdim)
    return hit * ops.unreduce_like(share, x, axes=axes, keepdim=keepdim)


@vjp.rule(ops.logsumexp)
def vjp_logsumexp(ct, out, x, *, axes, keepdim):
    probability = ops.exp(_difference(x, ops.unreduce_like(out, x, axes=axes, keepdim=keepdim)))
    return probability * ops.unreduce_like(ct, x, axes=axes, keepdim=keepdim)


@vjp.rule(ops.variance)
def vjp_variance(ct, _out, x, *, axes, keepdim, correction):
    centred = x - ops.reduce_mean(x, axes=axes, keepdim=True)
    share = ct * 2.0 / count_of(x, axes, ct.dtype, keepdim, correction)
    return centred * ops.unreduce_like(share, x, axes=axes, keepdim=keepdim)


@vjp.rule(ops.squared_l2_norm)
def vjp_squared_l2_norm(ct, _out, x):
    return x * (ct * 2.0)


@vjp.rule(ops.l2_norm)
def vjp_l2_norm(ct, out, x, *, axes, keepdim):
    # The slope of a root is infinite at 0, where the gradient of a length is 0 and not NaN.
    none = ops.equal(out, ops.full_like(out, value=0, dtype=out.dtype))
    share = ops.where(none, out, ct / (out + ops.cast(none, dtype=out.dtype)))
    return x * ops.unreduce_like(share, x, axes=axes, keepdim=keepdim)


@vjp.rule(ops.cdist)
def vjp_cdist(ct, out, x, y, *, p, needs):
    rank = len(x.shape)
    turned = (*range(rank - 2), rank - 1, rank - 2)
    return (
        ops.cdist_vjp(ct, out, x, y, p=p) if needs[0] else None,
        ops.cdist_vjp(ops.transpose(ct, perm=turned), ops.transpose(out, perm=turned), y, x, p=p) if needs[1] else None,
    )


# Scans.


@vjp.rule(ops.cumsum)
def vjp_cumsum(ct, _out, _x, *, axis, reverse):
    return ops.cumsum(ct, axis=axis, reverse=not reverse)


@vjp.rule(ops.cumprod)
def vjp_cumprod(ct, _out, x, *, axis):
    # Element i is a factor of every out[k], k >= i: the product before it times
    #   ct[i] + x[i + 1] * (ct[i + 1] + x[i + 2] * (...)).
    # No division, so zeros need no care, in any order of derivative.
    x = ops.conj(x)
    return _product_before(x, axis) * ops.linear_scan(_shifted(x, axis, -1), ct, axis=axis, reverse=True)


@vjp.rule(ops.logcumsumexp)
def vjp_logcumsumexp(ct, out, x, *, axis):
    # Sum over k >= i of ct[k] * exp(x[i] - out[k]), as a scan whose factors exp(out[i] - out[i + 1])
    # are at most 1: exp(-out[k]) alone could overflow.
    decay = ops.exp(_difference(out, _shifted(out, axis, -1)))
    return ops.exp(_difference(x, out)) * ops.linear_scan(decay, ct, axis=axis, reverse=True)


@vjp.rule(ops.cummax, keep_outputs=("indices",))
def vjp_cummax(ct, out, _x, *, axis):
    return _to_record(ct, out, _x, axis)


@vjp.rule(ops.cummin, keep_outputs=("indices",))
def vjp_cummin(ct, out, _x, *, axis):
    return _to_record(ct, out, _x, axis)


def _to_record(ct, out, _x, axis):
    return ops.put_along_axis(_zeros_like(_x), out[1], ct[0], axis=axis, reduce="add")


@vjp.rule(ops.linear_scan)
def vjp_linear_scan(ct, out, a, _b, *, axis, reverse):
    # b[i] reaches out[i] and, through a, what comes after it: the same scan against its direction.
    step = 1 if reverse else -1
    b_ct = ops.linear_scan(ops.conj(_shifted(a, axis, step)), ct, axis=axis, reverse=not reverse)
    return b_ct * ops.conj(_shifted(out, axis, -step, 0)), b_ct


# Helpers.


def _zeros_like(x):
    return ops.full_like(x, value=0, dtype=x.dtype)


def _shifted(x, axis, by, fill=1):
    """`x` moved one place along `axis`, towards its end (1) or its beginning (-1), `fill` at the free place."""
    first, last = ((0, 1), (0, -1)) if by == 1 else ((-1, _END), (1, _END))
    place = ops.slice(x, axes=(axis,), starts=first[:1], ends=first[1:], steps=(1,))
    free = ops.full_like(place, value=fill, dtype=x.dtype)
    rest = ops.slice(x, axes=(axis,), starts=last[:1], ends=last[1:], steps=(1,))
    return ops.concat(free, rest, axis=axis) if by == 1 else ops.concat(rest, free, axis=axis)


_END = 2**62  # beyond any axis: slices stop at the end


def _product_before(x, axis):
    """At each place the product of all elements before it; 1 at the first."""
    return ops.cumprod(_shifted(x, axis, 1), axis=axis)


def _difference(x, y):
    """x - y for x <= y, and -inf where x is: not the NaN of -inf - -inf."""
    nothing = ops.equal(x, ops.full_like(x, value=-float("inf"), dtype=x.dtype))
    return ops.where(nothing, x, x - y)


not_differentiable(ops.reduce_all, "the result is bool")
not_differentiable(ops.reduce_any, "the result is bool")
not_differentiable(ops.argmax, "the result is a position")
not_differentiable(ops.argmin, "the result is a position")
