"""Reductions and scans along axes."""
import math

from wherry_tensor import ops
from wherry_tensor._core import bool_, float32, float64, int64
from wherry_tensor.ops.declare import Meta, decompose, infer, op
from wherry_tensor.ops.shapes import (
    UNKNOWN,
    bools,
    complexes,
    element_count,
    floats,
    integers,
    merge_size,
    reduced_shape,
    require_axis,
    require_dtype,
    require_one_dtype,
    require_same_shape,
    same_size,
    show,
)
from wherry_tensor.sizes import is_unknown

INT_MAX = 2**63 - 1

# `axes` is sorted, non-negative and free of repeats by the time an op sees it; () reduces nothing.
# The sum, mean and product of no elements are 0, NaN and 1; an extreme of none is refused.
reduce_sum = op("reduce_sum", "x", axes=tuple, keepdim=bool)  # bool and int sum in int64, and give it
reduce_mean = op("reduce_mean", "x", axes=tuple, keepdim=bool)  # of integers: truncated, as in Paddle
reduce_prod = op("reduce_prod", "x", axes=tuple, keepdim=bool)
reduce_max = op("reduce_max", "x", axes=tuple, keepdim=bool)  # NaN wins, in every extreme
reduce_min = op("reduce_min", "x", axes=tuple, keepdim=bool)
reduce_amax = op("reduce_amax", "x", axes=tuple, keepdim=bool)  # tied maxima share one cotangent,
reduce_amin = op("reduce_amin", "x", axes=tuple, keepdim=bool)  # where max gives each the whole
reduce_all = op("reduce_all", "x", axes=tuple, keepdim=bool)
reduce_any = op("reduce_any", "x", axes=tuple, keepdim=bool)
logsumexp = op("logsumexp", "x", axes=tuple, keepdim=bool)
# Divides by n - correction, or by n where that is not positive: one value varies by 0, as in Paddle.
variance = op("variance", "x", axes=tuple, keepdim=bool, correction=int)
squared_l2_norm = op("squared_l2_norm", "x")  # of all elements, 0-d
l2_norm = op("l2_norm", "x", axes=tuple, keepdim=bool)  # the root of the sum of squares

# The distance of each row of x [..., m, d] to each of y [..., n, d], [..., m, n]; p is 1, 2 or infinite.
cdist = op("cdist", "x, y", p=float)
cdist_vjp = op("cdist_vjp", "ct, out, x, y", p=float)  # the cotangent of x; 0 from rows that are equal

# Position of the first extreme value along one axis, int64. NaN loses against any number, as in
# Paddle; where all are NaN the position is 0.
argmax = op("argmax", "x", axis=int, keepdim=bool)
argmin = op("argmin", "x", axis=int, keepdim=bool)

# Scans keep the shape.
cumsum = op("cumsum", "x", axis=int, reverse=bool)
cumprod = op("cumprod", "x", axis=int)
logcumsumexp = op("logcumsumexp", "x", axis=int)
cummax = op("cummax", "x", axis=int, outputs="values, indices")  # indices int64, of the last among ties; NaN wins
cummin = op("cummin", "x", axis=int, outputs="values, indices")
# y[i] = a[i] * y[i - 1] + b[i] from y = 0 before the first; `reverse` runs from the last to the first.
linear_scan = op("linear_scan", "a, b", axis=int, reverse=bool)


# Shape rules.


@infer.rule(reduce_sum)
def infer_reduce_sum(x, *, axes, keepdim):
    require_axis("reduce_sum", axes, x.shape, "axes")
    return Meta(reduced_shape(x.shape, axes, keepdim), int64 if x.dtype in integers + bools else x.dtype)


@infer.rule(reduce_mean)
def infer_reduce_mean(x, *, axes, keepdim):
    return _reduced("reduce_mean", x, axes, keepdim, integers + complexes + floats)


@infer.rule(reduce_prod)
def infer_reduce_prod(x, *, axes, keepdim):
    return _reduced("reduce_prod", x, axes, keepdim, integers + complexes + floats)


@infer.rule(reduce_max)
def infer_reduce_max(x, *, axes, keepdim):
    return _extreme("reduce_max", x, axes, keepdim)


@infer.rule(reduce_min)
def infer_reduce_min(x, *, axes, keepdim):
    return _extreme("reduce_min", x, axes, keepdim)


@infer.rule(reduce_amax)
def infer_reduce_amax(x, *, axes, keepdim):
    return _extreme("reduce_amax", x, axes, keepdim)


@infer.rule(reduce_amin)
def infer_reduce_amin(x, *, axes, keepdim):
    return _extreme("reduce_amin", x, axes, keepdim)


@infer.rule(reduce_all)
def infer_reduce_all(x, *, axes, keepdim):
    require_axis("reduce_all", axes, x.shape, "axes")
    return Meta(reduced_shape(x.shape, axes, keepdim), bool_)


@infer.rule(reduce_any)
def infer_reduce_any(x, *, axes, keepdim):
    require_axis("reduce_any", axes, x.shape, "axes")
    return Meta(reduced_shape(x.shape, axes, keepdim), bool_)


@infer.rule(logsumexp)
def infer_logsumexp(x, *, axes, keepdim):
    return _reduced("logsumexp", x, axes, keepdim, floats)


@infer.rule(variance)
def infer_variance(x, *, axes, keepdim, correction):
    return _reduced("variance", x, axes, keepdim, floats)


@infer.rule(squared_l2_norm)
def infer_squared_l2_norm(x):
    require_dtype("squared_l2_norm", "x", x.dtype, floats)
    return Meta((), x.dtype)


@infer.rule(l2_norm)
def infer_l2_norm(x, *, axes, keepdim):
    return _reduced("l2_norm", x, axes, keepdim, floats)


@infer.rule(cdist)
def infer_cdist(x, y, *, p):
    dtype = require_one_dtype("cdist", x=x.dtype, y=y.dtype)
    require_dtype("cdist", "x", dtype, floats)
    if p not in (1, 2, math.inf):
        raise ValueError(f"cdist: no kernel has this order. Got p={p}, expected 1, 2 or inf. Use wherry.cdist, which composes the others.")
    if len(x.shape) < 2 or len(x.shape) != len(y.shape) or not all(map(same_size, (*x.shape[:-2], x.shape[-1]), (*y.shape[:-2], y.shape[-1]))):
        raise ValueError(
            f"cdist: these are not rows of one length. Got x of shape {show(x.shape)} and y of shape {show(y.shape)}, expected "
            f"[..., m, d] and [..., n, d] with equal leading axes. Broadcast or transpose one of them."
        )
    return Meta((*map(merge_size, x.shape[:-2], y.shape[:-2]), x.shape[-2], y.shape[-2]), dtype)


@infer.rule(cdist_vjp)
def infer_cdist_vjp(ct, out, x, y, *, p):
    distances = infer_cdist(x, y, p=p)
    for name, meta in ("ct", ct), ("out", out):
        require_one_dtype("cdist_vjp", **{name: meta.dtype, "x": x.dtype})
        require_same_shape("cdist_vjp", name, meta.shape, "the distances", distances.shape)
    return x


@infer.rule(argmax)
def infer_argmax(x, *, axis, keepdim):
    return Meta(_extreme("argmax", x, (axis,), keepdim).shape, int64)


@infer.rule(argmin)
def infer_argmin(x, *, axis, keepdim):
    return Meta(_extreme("argmin", x, (axis,), keepdim).shape, int64)


@infer.rule(cumsum)
def infer_cumsum(x, *, axis, reverse):
    return _scanned("cumsum", x, axis, integers + complexes + floats)


@infer.rule(cumprod)
def infer_cumprod(x, *, axis):
    return _scanned("cumprod", x, axis, integers + complexes + floats)


@infer.rule(logcumsumexp)
def infer_logcumsumexp(x, *, axis):
    return _scanned("logcumsumexp", x, axis, floats)


@infer.rule(cummax)
def infer_cummax(x, *, axis):
    values = _scanned("cummax", x, axis, integers + floats)
    return values, Meta(values.shape, int64)


@infer.rule(cummin)
def infer_cummin(x, *, axis):
    values = _scanned("cummin", x, axis, integers + floats)
    return values, Meta(values.shape, int64)


@infer.rule(linear_scan)
def infer_linear_scan(a, b, *, axis, reverse):
    dtype = require_one_dtype("linear_scan", a=a.dtype, b=b.dtype)
    shape = require_same_shape("linear_scan", "a", a.shape, "b", b.shape)
    return _scanned("linear_scan", Meta(shape, dtype), axis, complexes + floats)


def _reduced(op_name, x, axes, keepdim, allowed):
    require_dtype(op_name, "x", x.dtype, allowed)
    require_axis(op_name, axes, x.shape, "axes")
    return Meta(reduced_shape(x.shape, axes, keepdim), x.dtype)


def _extreme(op_name, x, axes, keepdim):
    out = _reduced(op_name, x, axes, keepdim, bools + integers + floats)
    # Complex numbers have no order, and no elements have no extreme; a result without elements may.
    if 0 not in out.shape and any(x.shape[axis] == 0 for axis in axes):
        raise ValueError(
            f"{op_name}: an empty axis has no extreme value. "
            f"Got shape {show(x.shape)} to reduce along axes {list(axes)}, expected at least one element there. "
            f"Check that the data is not empty first, or reduce other axes."
        )
    return out


def _scanned(op_name, x, axis, allowed):
    require_dtype(op_name, "x", x.dtype, allowed)
    require_axis(op_name, axis, x.shape)
    return x


# Decompositions.


@decompose.rule(reduce_prod)
def decompose_reduce_prod(x, *, axes, keepdim):
    out = x
    for axis in axes:
        # A one in front: the product of nothing.
        one = ops.full_like(reduce_sum(out, axes=(axis,), keepdim=True), value=1, dtype=x.dtype)
        products = cumprod(ops.concat(one, out, axis=axis), axis=axis)
        out = ops.slice(products, axes=(axis,), starts=(-1,), ends=(INT_MAX,), steps=(1,))
    return ops.copy(out if keepdim else ops.squeeze(out, axes=axes))


@decompose.rule(reduce_min)
def decompose_reduce_min(x, *, axes, keepdim):
    # Reverses the order without loss: the bits of integers, the sign of floats.
    turned = ops.negative if x.dtype.is_floating else ops.bitwise_not
    return turned(reduce_max(turned(x), axes=axes, keepdim=keepdim))


@decompose.rule(reduce_all)
def decompose_reduce_all(x, *, axes, keepdim):
    return ops.logical_not(reduce_sum(ops.logical_not(x), axes=axes, keepdim=keepdim))


@decompose.rule(reduce_any)
def decompose_reduce_any(x, *, axes, keepdim):
    nonzero = ops.logical_not(ops.logical_not(x))
    return ops.logical_not(ops.logical_not(reduce_sum(nonzero, axes=axes, keepdim=keepdim)))


@decompose.rule(argmax)
def decompose_argmax(x, *, axis, keepdim):
    return _position_of_extreme(x, axis, keepdim, reduce_max)


@decompose.rule(argmin)
def decompose_argmin(x, *, axis, keepdim):
    return _position_of_extreme(x, axis, keepdim, reduce_min)


def _position_of_extreme(x, axis, keepdim, extreme):
    if x.dtype.is_floating:
        # NaN would win the reduction and must lose, so the worst number replaces it.
        worst = -math.inf if extreme is reduce_max else math.inf
        numbers = ops.where(ops.isnan(x), ops.full(shape=(), value=worst, dtype=x.dtype), x)
    else:
        numbers = x
    best = ops.equal(x, extreme(numbers, axes=(axis,), keepdim=True))  # never where x is NaN
    none = ops.full(shape=(), value=INT_MAX, dtype=int64)
    first = reduce_min(ops.where(best, positions(x, axis), none), axes=(axis,), keepdim=keepdim)
    return ops.where(ops.equal(first, none), ops.full_like(first, value=0, dtype=int64), first)  # all NaN: 0


@decompose.rule(logcumsumexp)
def decompose_logcumsumexp(x, *, axis):
    # Sums relative to the largest value so far, which are rescaled where it grows.
    wide = widened(x)
    largest, _ = cummax(wide, axis=axis)
    before = ops.slice(
        ops.concat(_head(largest, axis), largest, axis=axis), axes=(axis,), starts=(0,), ends=(-1,), steps=(1,)
    )
    # Infinities are equal to themselves and have no difference: exp(0) stands for theirs.
    decay = ops.exp(_difference(before, largest))
    scaled = linear_scan(decay, ops.exp(_difference(wide, largest)), axis=axis, reverse=False)
    return ops.cast(_log_beside(scaled, largest), dtype=x.dtype)


def _head(x, axis):
    return ops.slice(x, axes=(axis,), starts=(0,), ends=(1,), steps=(1,))


def _difference(x, y):
    return ops.where(ops.equal(x, y), ops.full_like(x, value=0, dtype=x.dtype), x - y)


def _log_beside(total, largest):
    return ops.where(ops.isfinite(largest), ops.log(total) + largest, largest)


@decompose.rule(cummin)
def decompose_cummin(x, *, axis):
    turned = ops.negative if x.dtype.is_floating else ops.bitwise_not
    values, indices = cummax(turned(x), axis=axis)
    return turned(values), indices


@decompose.rule(reduce_mean)
def decompose_reduce_mean(x, *, axes, keepdim):
    if x.dtype.is_integer:
        # Through float64, because an integer quotient is floored elsewhere and truncated here.
        total = ops.cast(reduce_sum(x, axes=axes, keepdim=keepdim), dtype=float64)
        mean = ops.trunc(total / count_of(x, axes, total.dtype, keepdim))
        # Of nothing it is 0: there is no NaN among integers.
        return ops.cast(ops.where(ops.isnan(mean), ops.full_like(mean, value=0, dtype=float64), mean), dtype=x.dtype)
    wide = widened(x)
    total = reduce_sum(wide, axes=axes, keepdim=keepdim)
    return ops.cast(total / count_of(x, axes, wide.dtype, keepdim), dtype=x.dtype)


@decompose.rule(reduce_amax)
def decompose_reduce_amax(x, *, axes, keepdim):
    return reduce_max(x, axes=axes, keepdim=keepdim)


@decompose.rule(reduce_amin)
def decompose_reduce_amin(x, *, axes, keepdim):
    return reduce_min(x, axes=axes, keepdim=keepdim)


@decompose.rule(logsumexp)
def decompose_logsumexp(x, *, axes, keepdim):
    wide = widened(x)
    if any(x.shape[axis] == 0 for axis in axes):  # nothing to shift by: the logarithm of 0
        return ops.cast(ops.log(reduce_sum(wide, axes=axes, keepdim=keepdim)), dtype=x.dtype)
    largest = largest_of(wide, axes)
    # Shifting by the maximum keeps exp from overflowing. An infinite one must not be subtracted:
    # inf - inf is NaN, where the answer is that infinity itself.
    shift = ops.where(ops.isfinite(largest), largest, ops.full_like(largest, value=0, dtype=wide.dtype))
    total = reduce_sum(ops.exp(wide - shift), axes=axes, keepdim=True)
    out = ops.log(total) + shift
    return ops.cast(out if keepdim else ops.squeeze(out, axes=axes), dtype=x.dtype)


@decompose.rule(variance)
def decompose_variance(x, *, axes, keepdim, correction):
    wide = widened(x)
    # Two passes: the mean of squares minus the square of the mean loses every digit where the mean
    # is large.
    centred = wide - reduce_mean(wide, axes=axes, keepdim=True)
    total = reduce_sum(ops.square(centred), axes=axes, keepdim=keepdim)
    return ops.cast(total / count_of(x, axes, wide.dtype, keepdim, correction), dtype=x.dtype)


@decompose.rule(squared_l2_norm)
def decompose_squared_l2_norm(x):
    total = reduce_sum(ops.square(widened(x)), axes=tuple(range(len(x.shape))), keepdim=False)
    return ops.cast(total, dtype=x.dtype)


@decompose.rule(l2_norm)
def decompose_l2_norm(x, *, axes, keepdim):
    return ops.cast(ops.sqrt(reduce_sum(ops.square(widened(x)), axes=axes, keepdim=keepdim)), dtype=x.dtype)


@decompose.rule(cdist)
def decompose_cdist(x, y, *, p):
    distance, axes = row_differences(widened(x), widened(y)), (x.ndim,)
    if p == 2:
        out = l2_norm(distance, axes=axes, keepdim=False)
    else:
        out = (reduce_sum if p == 1 else reduce_max)(ops.abs(distance), axes=axes, keepdim=False)
    return ops.cast(out, dtype=x.dtype)


@decompose.rule(cdist_vjp)
def decompose_cdist_vjp(ct, out, x, y, *, p):
    rank = x.ndim
    difference = row_differences(widened(x), widened(y))
    weight, distance = (ops.unsqueeze(widened(each), axes=(rank,)) for each in (ct, out))
    if p == 2:
        none = ops.equal(distance, ops.full_like(distance, value=0, dtype=distance.dtype))
        weight = weight / (distance + ops.cast(none, dtype=distance.dtype))  # equal rows have differences of 0
    else:
        if p != 1:
            weight = weight * ops.cast(ops.equal(ops.abs(difference), distance), dtype=weight.dtype)
        difference = ops.sign(difference)
    return ops.cast(reduce_sum(weight * difference, axes=(rank - 1,), keepdim=False), dtype=x.dtype)


# Helpers of decompositions and gradient rules.


def row_differences(x, y):
    """Of each row of `x` and each of `y`, `[..., m, n, d]`."""
    return ops.subtract(ops.unsqueeze(x, axes=(x.ndim - 1,)), ops.unsqueeze(y, axes=(y.ndim - 2,)))



def count(x, axis):
    """The size of `axis` of `x` as a tensor, int64 and 0-d."""
    n = x.shape[axis]
    return n.tensor() if is_unknown(n) else ops.full(shape=(), value=n, dtype=int64)


def positions(x, axis):
    """0, 1, 2, ... along `axis` of `x`, int64, in a shape that broadcasts against it."""
    along = ops.arange(start=0, step=1, length=x.shape[axis], dtype=int64)
    return ops.unsqueeze(along, axes=tuple(range(1, x.ndim - axis)))


def widened(x):
    """`x` in the dtype that arithmetic on it uses: float32 where it has 16 bits."""
    return ops.cast(x, dtype=float32) if x.dtype.is_floating and x.dtype.itemsize == 2 else x


def largest_of(x, axes):
    """reduce_max of floats with keepdim; where a size is unknown, -inf stands for that of nothing."""
    for axis in axes:
        if x.shape[axis] == UNKNOWN:
            floor = ops.full_like(reduce_sum(x, axes=(axis,), keepdim=True), value=-math.inf, dtype=x.dtype)
            x = ops.concat(x, floor, axis=axis)
    return reduce_max(x, axes=axes, keepdim=True)


def count_of(x, axes, dtype, keepdim=True, correction=0):
    """How many elements `axes` of `x` hold, less `correction` if that leaves a positive number.

    A Python float, or a tensor of `dtype` that counts where a size is unknown.
    """
    n = element_count(tuple(x.shape[axis] for axis in axes))
    if n != UNKNOWN:
        # 0.0 on purpose where there is nothing: Python would refuse x / 0, a tensor gives NaN.
        return float(n - correction if n > correction else n)
    n = reduce_sum(ops.full_like(x, value=1, dtype=dtype), axes=axes, keepdim=keepdim)
    return ops.where(n > correction, n - correction, n) if correction else n


for _op in (reduce_sum, reduce_max):
    decompose.exempt(_op, "a reduction that the rest is built of")
for _op in (cumsum, cumprod, cummax, linear_scan):
    decompose.exempt(_op, "a scan: the number of its steps depends on a size")
