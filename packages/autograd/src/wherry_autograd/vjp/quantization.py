"""Gradient rules of quantization.

That of `fake_quantize` is what training with it uses and not the slope of its steps, which is zero. Bengio et al., "Estimating or Propagating
Gradients Through Stochastic Neurons" (2013), passes the cotangent straight through; the rule for the scale is that of Esser et al., "Learned Step
Size Quantization" (2020), without its factor.
"""
from wherry_autograd.rules import not_differentiable, vjp
from wherry_tensor import ops
from wherry_tensor.ops.quantization import computed_in, number, rounded, spread


@vjp.rule(ops.fake_quantize)
def vjp_fake_quantize(ct, _out, x, scale, zero_point, *, axis, group, low, high, needs):
    dtype = computed_in(x.dtype)
    each = ops.cast(spread(scale, x, axis, group), dtype=dtype)
    steps = ops.cast(x, dtype=dtype) / each
    whole = ops.round(rounded(steps))  # once more, for `round` has no slope when this is differentiated again
    least, most = number(float(low), dtype), number(float(high), dtype)
    if zero_point is not None:
        zero = ops.cast(spread(zero_point, x, axis, group), dtype=dtype)
        least, most = least - zero, most - zero
    # By comparisons that hold: NaN is outside.
    below, inside = whole < least, ops.logical_and(whole >= least, whole <= most)
    ct = ops.cast(ct, dtype=dtype)
    none = number(0.0, dtype)
    x_ct = ops.cast(ops.where(inside, ct, none), dtype=x.dtype) if needs[0] else None
    if not needs[1]:
        return x_ct, None, None
    slope = ops.where(inside, whole - steps, ops.where(below, least, most))
    return x_ct, _gathered(ct * slope, scale, axis, group), None


def _gathered(each, scale, axis, group):
    """The sum of what every scale was spread to."""
    if axis is None:
        return ops.reshape(ops.reduce_sum(each, axes=tuple(range(each.ndim)), keepdim=False), shape=tuple(scale.shape))
    if group is None:
        return ops.reduce_sum(each, axes=tuple(a for a in range(each.ndim) if a != axis), keepdim=False)
    n, groups = each.shape[axis], scale.shape[axis]
    if n != groups * group:
        paddings = [0] * (2 * each.ndim)
        paddings[2 * axis + 1] = groups * group - n
        each = ops.pad(each, paddings=tuple(paddings), value=0.0)
    apart = ops.reshape(each, shape=(*each.shape[:axis], groups, group, *each.shape[axis + 1:]))
    return ops.reduce_sum(apart, axes=(axis + 1,), keepdim=False)


not_differentiable(ops.quantize_linear, "gives integers; fake_quantize is what trains")
not_differentiable(ops.requantize, "gives integers")
not_differentiable(ops.pack_int4, "gives integers")
not_differentiable(ops.unpack_int4, "gives integers")
not_differentiable(ops.quantize_fp8, "gives integers")
not_differentiable(ops.dequantize_fp8, "takes integers")
