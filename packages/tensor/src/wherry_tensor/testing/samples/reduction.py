"""Samples and references of reductions and scans."""
import numpy as np

from wherry_tensor import ops
from wherry_tensor.testing import bad, case, spec


def _reductions(rng, *, empty=True, values=None):
    """Calls that reach every path: rows, columns, middle axes, everything, nothing, one element."""
    draw = values or (lambda shape: rng.standard_normal(shape))
    yield case(draw((3, 4)), axes=(0, 1), keepdim=False)
    yield case(draw((3, 4)), axes=(1,), keepdim=False)
    yield case(draw((3, 4)), axes=(0,), keepdim=True)
    yield case(draw((2, 3, 4)), axes=(1,), keepdim=False)
    yield case(draw((2, 3, 4)), axes=(0, 2), keepdim=True)
    yield case(draw((2, 1, 3)), axes=(), keepdim=False)
    yield case(draw((2, 1, 3)), axes=(1,), keepdim=False)
    yield case(draw(()), axes=(), keepdim=True)
    yield case(draw((5, 70)), axes=(1,), keepdim=False)
    yield case(draw((70, 5)), axes=(0,), keepdim=False)
    yield case(draw((0, 3)), axes=(1,), keepdim=False)
    if empty:
        yield case(draw((3, 0, 2)), axes=(1,), keepdim=False, differentiable=False)
        yield case(draw((0,)), axes=(0,), keepdim=True, differentiable=False)


def _bad_axes(x):
    yield bad(x, axes=(2,), keepdim=False, error=ValueError, match=r"axes 2 is out of range for shape \[3, 4\]")
    yield bad(x, axes=(-1,), keepdim=False, error=ValueError, match=r"expected each in \[0, 2\)")


def _large(rng):
    # More elements than one block, one thread's share and one strip of columns.
    x = rng.standard_normal((300, 1100))
    for axes in (0,), (1,), (0, 1):
        yield case(x, axes=axes, keepdim=False, differentiable=False, dtypes="float32 float64")
    yield case(
        rng.standard_normal((3, 20000, 2)), axes=(1,), keepdim=False, differentiable=False, dtypes="float32 float64"
    )


def _untied(rng):
    return lambda shape: rng.permutation(max(1, int(np.prod(shape)))).reshape(shape) / 4.0 if 0 not in shape else np.zeros(shape)


def _sum_reference(x, axes, keepdim):
    total = np.int64 if x.dtype.kind in "iub" else x.dtype
    return x.sum(axis=axes, keepdims=keepdim, dtype=total)


# Sums of a thousand half values differ by one rounding of the sum, values near 0 by more than that.
@spec(ops.reduce_sum, reference=_sum_reference, dtypes="all", tolerance={"float32": (1e-5, 1e-4)})
def spec_reduce_sum(rng):
    yield from _reductions(rng, values=lambda shape: rng.integers(-3, 4, shape) + 0.0)
    yield from _reductions(rng)
    yield from _large(rng)
    yield case(np.array([[3, 4], [5, 6]]), axes=(0,), keepdim=False)
    yield case(np.array([100] * 5), axes=(0,), keepdim=False)  # beyond int8 and uint8
    yield case(np.array([[True, True], [False, True]]), axes=(1,), keepdim=False)
    yield case(np.array([[1 + 2j, 3], [4j, 5]]), axes=(0,), keepdim=False)
    yield case(np.array([np.inf, -np.inf, 1]), axes=(0,), keepdim=False, differentiable=False)
    yield case(np.array([np.nan, 1]), axes=(0,), keepdim=False, differentiable=False)
    yield from _bad_axes(np.zeros((3, 4), np.float32))


def _mean_reference(x, axes, keepdim):
    if x.size == 0 and x.dtype.kind in "iu":
        return np.zeros_like(x.sum(axis=axes, keepdims=keepdim))  # no NaN among integers
    mean = x.mean(axis=axes, keepdims=keepdim) if axes else x
    return np.trunc(mean) if x.dtype.kind in "iu" else mean


@spec(ops.reduce_mean, reference=_mean_reference, dtypes="floats complex ints", tolerance={"float32": (1e-5, 1e-5)})
def spec_reduce_mean(rng):
    yield from _reductions(rng, empty=False)
    yield case(np.zeros((3, 0, 2)), axes=(1,), keepdim=False, differentiable=False, dtypes="floats")  # NaN
    yield case(np.array([], np.int64), axes=(0,), keepdim=True, dtypes="ints")
    yield from _large(rng)
    yield case(np.array([[1, 2], [4, 5], [2, 2]]), axes=(0,), keepdim=False)
    yield case(np.array([[-1, -2]]), axes=(1,), keepdim=False, dtypes="int64 int32 int16 int8")  # -1: truncated
    yield case(np.array([[1 + 2j, 3], [4j, 5]]), axes=(1,), keepdim=True)
    yield bad(np.zeros(3, bool), axes=(0,), keepdim=False, error=TypeError, match="reduce_mean: `x` has dtype bool")
    yield from _bad_axes(np.zeros((3, 4), np.float32))


@spec(
    ops.reduce_prod, dtypes="floats complex ints",
    reference=lambda x, axes, keepdim: x.prod(axis=axes, keepdims=keepdim, dtype=x.dtype),
)
def spec_reduce_prod(rng):
    yield from _reductions(rng, values=lambda shape: rng.choice([-1.5, -1.0, 0.5, 1.0, 1.25], shape))
    # Zeros: one, two in a row of factors, all; the derivative there is that of the others' product.
    yield case(np.array([[2.0, 0, 3], [0, 0, 5], [1, 2, 4]]), axes=(1,), keepdim=False)
    yield case(np.array([[2.0, 0, 3], [0, 4, 5]]), axes=(0, 1), keepdim=False)
    yield case(np.array([[1, 2], [3, -4]]), axes=(0, 1), keepdim=False, dtypes="int64 int32 int16 int8")
    yield case(np.array([5, 7]), axes=(0,), keepdim=True)
    yield case(np.array([[1 + 2j, 3], [4j, 5]]), axes=(0,), keepdim=False)
    yield bad(np.zeros(3, bool), axes=(0,), keepdim=False, error=TypeError, match="reduce_prod: `x` has dtype bool")


def _extremes(rng, op):
    yield from _reductions(rng, empty=False, values=_untied(rng))
    # Steps of one half and few of them, so that half types can tell neighbours apart.
    yield case(rng.permutation(1500).reshape(3, 500) - 700.0, axes=(1,), keepdim=False, differentiable=False)
    yield case(rng.permutation(1500).reshape(500, 3) - 700.0, axes=(0,), keepdim=False, differentiable=False)
    yield case(np.array([[3, -4, 5], [-1, 0, 2]]), axes=(1,), keepdim=False)
    yield case(np.array([[3, 4, 250]]), axes=(1,), keepdim=False)
    yield case(np.array([[True, False], [False, False]]), axes=(1,), keepdim=False)
    yield case(np.array([[1, np.nan, 3], [np.nan, 1, 2], [1, 2, np.nan], [1, 2, 3]]), axes=(1,), keepdim=False, differentiable=False)
    yield case(np.array([[1, np.nan, 3], [np.nan, 1, 2]]).repeat(40, 1), axes=(1,), keepdim=False, differentiable=False)
    yield case(np.array([[1, np.nan, 3], [np.nan, 1, 2]]), axes=(0,), keepdim=False, differentiable=False)
    yield case(np.array([[-np.inf, -np.inf], [np.inf, 1]]), axes=(1,), keepdim=True, differentiable=False)
    yield bad(np.zeros((2, 0)), axes=(1,), keepdim=False, error=ValueError, match="an empty axis has no extreme")
    yield bad(np.zeros(2, np.complex64), axes=(0,), keepdim=False, error=TypeError, match="has dtype complex64")
    yield from _bad_axes(np.zeros((3, 4), np.float32))


def _extreme_reference(function):
    return lambda x, axes, keepdim: function(x, axis=axes, keepdims=keepdim)


# Ties have no derivative to compare with; packages/autograd/tests has theirs.
@spec(ops.reduce_max, reference=_extreme_reference(np.max), dtypes="floats ints bool")
def spec_reduce_max(rng):
    yield from _extremes(rng, ops.reduce_max)


@spec(ops.reduce_min, reference=_extreme_reference(np.min), dtypes="floats ints bool")
def spec_reduce_min(rng):
    yield from _extremes(rng, ops.reduce_min)


@spec(ops.reduce_amax, reference=_extreme_reference(np.max), dtypes="floats ints bool")
def spec_reduce_amax(rng):
    yield from _extremes(rng, ops.reduce_amax)


@spec(ops.reduce_amin, reference=_extreme_reference(np.min), dtypes="floats ints bool")
def spec_reduce_amin(rng):
    yield from _extremes(rng, ops.reduce_amin)


def _truths(rng):
    yield from _reductions(rng, values=lambda shape: rng.integers(0, 2, shape) + 0.0)
    yield case(np.array([[True, False], [True, True]]), axes=(1,), keepdim=False)
    yield case(np.array([[1, 0, 2], [3, 4, 5]]), axes=(1,), keepdim=False)
    yield case(np.array([[0.0, -0.0, 0.0], [np.nan, np.inf, 1]]), axes=(1,), keepdim=True)
    yield case(np.array([1j, 0]), axes=(0,), keepdim=False)
    yield case(rng.random((2, 5000)) > 1e-4, axes=(1,), keepdim=False)


@spec(
    ops.reduce_all, reference=lambda x, axes, keepdim: (x != 0).all(axis=axes, keepdims=keepdim),
    dtypes="all", differentiable=False,
)
def spec_reduce_all(rng):
    yield from _truths(rng)


@spec(
    ops.reduce_any, reference=lambda x, axes, keepdim: (x != 0).any(axis=axes, keepdims=keepdim),
    dtypes="all", differentiable=False,
)
def spec_reduce_any(rng):
    yield from _truths(rng)


def _logsumexp_reference(x, axes, keepdim):
    top = x.max(axis=axes, keepdims=True, initial=-np.inf)
    shift = np.where(np.isfinite(top), top, 0)
    out = np.log(np.exp(x - shift).sum(axis=axes, keepdims=True)) + shift
    return out if keepdim else out.squeeze(axis=axes)


@spec(ops.logsumexp, reference=_logsumexp_reference)
def spec_logsumexp(rng):
    yield from _reductions(rng)
    yield from _large(rng)
    yield case(np.array([[1000.0, 1000.0], [-1000, -1000]]), axes=(1,), keepdim=False, differentiable=False)
    # Paddle gives NaN for infinities; the limit is known, so it is given.
    yield case(
        np.array([[-np.inf, -np.inf], [np.inf, 1], [-np.inf, 1], [np.nan, 1]]), axes=(1,), keepdim=False,
        differentiable=False,
    )
    yield bad(np.zeros(3, np.int64), axes=(0,), keepdim=False, error=TypeError, match="has dtype int64")


def _variance_reference(x, axes, keepdim, correction):
    n = int(np.prod([x.shape[axis] for axis in axes]))
    total = ((x - x.mean(axis=axes, keepdims=True)) ** 2).sum(axis=axes, keepdims=keepdim) if axes else x * 0
    return total / (n - correction if n > correction else n)


# A mean of 1000 leaves float32 four digits of a variance near 1.
@spec(ops.variance, reference=_variance_reference, tolerance={"float32": (1e-4, 1e-5), "float16": (5e-3, 1e-3)})
def spec_variance(rng):
    for correction in 0, 1:
        for each in _reductions(rng):
            yield case(*each.inputs, correction=correction, **each.attrs, differentiable=each.differentiable)
    for each in _large(rng):
        yield case(*each.inputs, correction=1, **each.attrs, differentiable=False, dtypes=each.dtypes)
    yield case(np.array([5.0]), axes=(0,), keepdim=False, correction=1, differentiable=False)  # 0, as in Paddle
    yield case(rng.standard_normal((3, 50)) + 1000, axes=(1,), keepdim=False, correction=1, dtypes="float32 float64")


@spec(ops.squared_l2_norm, reference=lambda x: (x * x).sum())
def spec_squared_l2_norm(rng):
    for shape in (), (0,), (7,), (3, 4), (90, 70):
        yield case(rng.standard_normal(shape))


def _l2_norm(x, axes, keepdim):
    return np.sqrt((x * x).sum(axis=axes, keepdims=keepdim))


@spec(ops.l2_norm, reference=_l2_norm)
def spec_l2_norm(rng):
    yield from _reductions(rng, values=lambda shape: rng.standard_normal(shape) + 3)  # without a corner at 0 nearby
    yield from _large(rng)
    yield case(np.array([[np.inf, 1], [np.nan, 1], [0, 0]]), axes=(1,), keepdim=True, differentiable=False)
    yield bad(np.zeros(3, np.int64), axes=(0,), keepdim=False, error=TypeError, match="has dtype int64")


def _cdist(x, y, p):
    distance = np.abs(x[..., :, None, :] - y[..., None, :, :])
    if p == 1:
        return distance.sum(-1)
    return np.sqrt((distance * distance).sum(-1)) if p == 2 else distance.max(-1, initial=0)


def _cdist_vjp(ct, out, x, y, p):
    difference = x[..., :, None, :] - y[..., None, :, :]
    if p == 2:
        weight = np.divide(ct, out, out=np.zeros_like(out), where=out != 0)
        return (weight[..., None] * difference).sum(-2)
    hit = 1 if p == 1 else np.abs(difference) == out[..., None]
    return (ct[..., None] * np.sign(difference) * hit).sum(-2)


# [..., m, d] and [..., n, d]: parts of tiles and vectors, several of both, and more values than are summed at once.
_ROWS = ((3, 2), (5, 2)), ((2, 3, 4), (2, 1, 4)), ((1, 1), (1, 1)), ((0, 3), (4, 3)), ((3, 2, 5), (3, 0, 5)), (
    (9, 33), (35, 33)
), ((2, 17, 70), (2, 68, 70)), ((70, 300), (3, 300))


@spec(ops.cdist, reference=_cdist, tolerance={"float16": (3e-3, 3e-3), "bfloat16": (2e-2, 2e-2)})
def spec_cdist(rng):
    for x, y in _ROWS:
        for p in 1.0, 2.0, np.inf:
            yield case(rng.standard_normal(x), rng.standard_normal(y), p=p, differentiable=x[-1] < 6)
    for p in 1.0, 2.0, np.inf:
        yield case(np.array([[1, np.nan], [np.inf, 1]]), np.array([[1.0, 2]]), p=p, differentiable=False)
    yield bad(np.zeros((2, 3)), np.zeros((2, 4)), p=2.0, error=ValueError, match="not rows of one length")
    yield bad(np.zeros((2, 3)), np.zeros((2, 3)), p=3.0, error=ValueError, match="no kernel has this order")


@spec(ops.cdist_vjp, reference=_cdist_vjp, tolerance={"float32": (1e-5, 1e-4), "float16": (5e-3, 5e-2), "bfloat16": (4e-2, 0.5)})
def spec_cdist_vjp(rng):
    for x, y in _ROWS:
        for p in 1.0, 2.0, np.inf:
            a, b = rng.integers(-9, 9, x) / 4, rng.integers(-9, 9, y) / 4
            out = _cdist(a, b, p)
            if p == 2:
                out = np.ceil(out)  # a number in every dtype
            yield case(rng.standard_normal(out.shape), out, a, b, p=p, differentiable=False)


def _positions(rng):
    yield case(rng.permutation(12).reshape(3, 4) / 4.0, axis=1, keepdim=False)
    yield case(rng.permutation(12).reshape(3, 4) / 4.0, axis=0, keepdim=True)
    yield case(rng.permutation(24).reshape(2, 3, 4) / 4.0, axis=1, keepdim=False)
    yield case(rng.integers(0, 3, (4, 1200)) * 1.0, axis=1, keepdim=False)  # ties: the first counts
    yield case(rng.integers(0, 3, (9, 300)) * 1.0, axis=0, keepdim=False)
    yield case(np.array([[3, 1, 3], [1, 1, 0]]), axis=1, keepdim=False)
    yield case(np.array([False, True, True]), axis=0, keepdim=False)
    yield case(np.array([[1, np.nan, 3], [np.nan, 2, 1], [np.nan, np.nan, -np.inf]]), axis=1, keepdim=False)
    yield case(np.array([[1, np.nan, 3], [np.nan, 2, 1], [np.nan, 5, -np.inf]]), axis=0, keepdim=False)
    yield case(np.full((2, 3), np.nan), axis=1, keepdim=False)
    yield case(np.zeros((0, 3)), axis=1, keepdim=False)
    yield bad(np.zeros((2, 0)), axis=1, keepdim=False, error=ValueError, match="an empty axis has no extreme")
    yield bad(np.zeros((2, 3)), axis=2, keepdim=False, error=ValueError, match="out of range")


def _position_reference(function, worst):
    def reference(x, axis, keepdim):
        # NaN loses against any number, so it is replaced by what always loses; infinities first make room.
        if x.dtype.kind == "f":
            x = np.where(np.isinf(x), np.sign(x) * 1e300, x)
            x = np.where(np.isnan(x), worst, x)
        return function(x, axis=axis, keepdims=keepdim)

    return reference


@spec(ops.argmax, reference=_position_reference(np.argmax, -np.inf), dtypes="floats ints bool", differentiable=False)
def spec_argmax(rng):
    yield from _positions(rng)


@spec(ops.argmin, reference=_position_reference(np.argmin, np.inf), dtypes="floats ints bool", differentiable=False)
def spec_argmin(rng):
    yield from _positions(rng)


# Scans.


def _scans(rng, **attrs):
    yield case(rng.standard_normal((3, 4)), axis=1, **attrs)
    yield case(rng.standard_normal((3, 4)), axis=0, **attrs)
    yield case(rng.standard_normal((2, 3, 4)), axis=1, **attrs)
    yield case(rng.standard_normal((1,)), axis=0, **attrs)
    yield case(rng.standard_normal((2, 0, 3)), axis=1, **attrs)
    yield case(rng.standard_normal((4, 600)), axis=1, **attrs, differentiable=False)
    yield case(rng.standard_normal((6, 600)), axis=0, **attrs, differentiable=False)


def _cumsum_reference(x, axis, reverse):
    return np.flip(np.cumsum(np.flip(x, axis), axis, dtype=x.dtype), axis) if reverse else np.cumsum(x, axis, dtype=x.dtype)


@spec(
    ops.cumsum, reference=_cumsum_reference, dtypes="floats complex ints",
    tolerance={"float32": (1e-5, 1e-5)},  # partial sums pass near 0
)
def spec_cumsum(rng):
    for reverse in False, True:
        yield from _scans(rng, reverse=reverse)
        yield case(np.array([[1, 2, 3], [4, 5, 6]]), axis=1, reverse=reverse)
        yield case(np.array([[1 + 2j, 3], [4j, 5]]), axis=0, reverse=reverse)
    yield bad(np.zeros((2, 3)), axis=2, reverse=False, error=ValueError, match="out of range")
    yield bad(np.zeros(3, bool), axis=0, reverse=False, error=TypeError, match="has dtype bool")


@spec(ops.cumprod, reference=lambda x, axis: np.cumprod(x, axis, dtype=x.dtype), dtypes="floats complex ints")
def spec_cumprod(rng):
    yield from _scans(rng)
    yield case(np.array([2.0, 0, 3, 0, 5]), axis=0)
    yield case(np.array([[0.0, 2, 3], [4, 0, 0]]), axis=1)
    yield case(np.array([[1, 2, 3], [4, 5, 1]]), axis=1)
    yield case(np.array([[1 + 2j, 3], [4j, 5]]), axis=0)


@spec(ops.logcumsumexp, reference=lambda x, axis: np.logaddexp.accumulate(x, axis))
def spec_logcumsumexp(rng):
    yield from _scans(rng)
    yield case(np.array([-900.0, 900, 900, -900]), axis=0, differentiable=False)
    yield case(np.array([-np.inf, -np.inf, 1, 2]), axis=0, differentiable=False)
    yield case(np.array([1, np.inf, 2, np.nan, 1]), axis=0, differentiable=False)


def _record_reference(better):
    def reference(x, axis):
        rows = np.moveaxis(x, axis, -1)
        values, indices = rows.copy(), np.zeros(rows.shape, np.int64)
        for row in np.ndindex(rows.shape[:-1]):
            at = 0
            for k in range(rows.shape[-1]):
                value, record = rows[row][k], rows[row][at]
                if value != value or (record == record and better(value, record)):
                    at = k
                values[row][k], indices[row][k] = rows[row][at], at
        return np.moveaxis(values, -1, axis), np.moveaxis(indices, -1, axis)

    return reference


def _records(rng):
    untied = _untied(rng)
    yield case(untied((3, 5)), axis=1)
    yield case(untied((3, 5)), axis=0)
    yield case(untied((2, 4, 3)), axis=1)
    yield case(np.zeros((2, 0)), axis=1)
    yield case(np.array([1.0, 3, 3, 2]), axis=0, differentiable=False)
    yield case(np.array([1, 3, 3, np.nan, 5, np.nan, 0]), axis=0, differentiable=False)
    yield case(np.array([[3, 1, 4], [1, 5, 9]]), axis=1)


@spec(ops.cummax, reference=_record_reference(lambda x, y: x >= y), dtypes="floats ints")
def spec_cummax(rng):
    yield from _records(rng)


@spec(ops.cummin, reference=_record_reference(lambda x, y: x <= y), dtypes="floats ints")
def spec_cummin(rng):
    yield from _records(rng)


def _linear_scan_reference(a, b, axis, reverse):
    a, b = np.moveaxis(a, axis, 0), np.moveaxis(b, axis, 0)
    out, y = np.zeros_like(b), np.zeros_like(b[:1]).sum(0)
    for k in range(len(b))[:: -1 if reverse else 1]:
        y = a[k] * y + b[k]
        out[k] = y
    return np.moveaxis(out, 0, axis)


@spec(ops.linear_scan, reference=_linear_scan_reference, dtypes="floats complex")
def spec_linear_scan(rng):
    for reverse in False, True:
        for shape, axis in ((3, 4), 1), ((3, 4), 0), ((2, 3, 4), 1), ((1,), 0), ((2, 0), 1):
            yield case(rng.standard_normal(shape), rng.standard_normal(shape), axis=axis, reverse=reverse)
        yield case(np.array([1j, 2, 1 - 1j]), np.array([1, 2j, 3 + 0j]), axis=0, reverse=reverse)
    yield bad(np.zeros(2), np.zeros(3), axis=0, reverse=False, error=ValueError, match="must have one shape")
