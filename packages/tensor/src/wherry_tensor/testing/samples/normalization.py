"""Samples and references of normalizations, softmax, cross entropy and attention."""
import numpy as np

from wherry_tensor import ops
from wherry_tensor.testing import bad, case, spec

# Softmax.


def _softmax(x, axis):
    if x.shape[axis] == 0:
        return x
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


def _log_softmax(x, axis):
    if x.shape[axis] == 0:
        return x
    shifted = x - x.max(axis=axis, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(axis=axis, keepdims=True))


def _softmax_cases(rng):
    yield case(rng.standard_normal((3, 4)), axis=1)
    yield case(rng.standard_normal((3, 4)), axis=0)
    yield case(rng.standard_normal((2, 3, 5)), axis=1)
    yield case(rng.standard_normal((2, 1)), axis=1)
    yield case(rng.standard_normal((2, 0)), axis=1)
    yield case(rng.standard_normal((0, 2)), axis=1)
    yield case(rng.standard_normal((3, 300)) * 4, axis=1, differentiable=False)
    yield case(rng.standard_normal((5, 4, 300)), axis=1, differentiable=False)
    yield case(rng.standard_normal((1, 5000)), axis=1, differentiable=False)
    yield case(np.array([[1000.0, 1000, -1000], [-1000, -1000, -1000]]), axis=1, differentiable=False)
    yield case(np.array([[-np.inf, 1, 2], [-np.inf, -np.inf, -np.inf], [np.nan, 1, 2]]), axis=1, differentiable=False)
    yield bad(np.zeros((2, 3)), axis=2, error=ValueError, match=r"axis 2 is out of range for shape \[2, 3\]")
    yield bad(np.zeros(3, np.int64), axis=0, error=TypeError, match="has dtype int64")


@spec(ops.softmax, reference=_softmax)
def spec_softmax(rng):
    yield from _softmax_cases(rng)


@spec(ops.log_softmax, reference=_log_softmax)
def spec_log_softmax(rng):
    yield from _softmax_cases(rng)


def _softmax_vjp_cases(rng, function):
    for shape, axis in ((3, 4), 1), ((3, 4), 0), ((2, 3, 5), 1), ((2, 300), 1), ((3, 2, 270), 1), ((2, 0), 1):
        yield case(rng.standard_normal(shape), function(rng.standard_normal(shape), axis), axis=axis)
    yield bad(np.zeros(2), np.zeros(3), axis=0, error=ValueError, match="must have one shape")


@spec(ops.softmax_vjp, reference=lambda ct, out, axis: (ct - (ct * out).sum(axis=axis, keepdims=True)) * out)
def spec_softmax_vjp(rng):
    yield from _softmax_vjp_cases(rng, _softmax)


@spec(
    ops.log_softmax_vjp, reference=lambda ct, out, axis: ct - np.exp(out) * ct.sum(axis=axis, keepdims=True),
    tolerance={"float32": (1e-5, 1e-5), "float16": (5e-3, 5e-3)},  # sums of 300 cotangents pass near 0
)
def spec_log_softmax_vjp(rng):
    yield from _softmax_vjp_cases(rng, _log_softmax)


# layer_norm. Its values are near 1 and pass 0: tolerances are absolute.

_NORM = {"float32": (1e-5, 2e-5), "float16": (5e-3, 5e-3), "bfloat16": (4e-2, 4e-2)}


def _layer_norm(x, scale, bias, epsilon, begin_axis):
    axes = tuple(range(begin_axis, x.ndim))
    mean = x.mean(axis=axes, keepdims=True)
    rstd = 1 / np.sqrt(((x - mean) ** 2).mean(axis=axes, keepdims=True) + epsilon)
    out = (x - mean) * rstd * (1 if scale is None else scale) + (0 if bias is None else bias)
    return out, mean.reshape(x.shape[:begin_axis]), rstd.reshape(x.shape[:begin_axis])


@spec(ops.layer_norm, reference=_layer_norm, tolerance=_NORM)
def spec_layer_norm(rng):
    for shape, begin in ((3, 5), 1), ((2, 3, 4), 1), ((2, 3, 4), 2), ((4,), 0), ((5, 1), 1), ((40, 130), 1), ((0, 3), 1):
        for scaled, biased in (True, True), (True, False), (False, True), (False, False):
            yield case(
                rng.standard_normal(shape) * 2 + 1,
                rng.standard_normal(shape[begin:]) if scaled else None,
                rng.standard_normal(shape[begin:]) if biased else None,
                # A single value varies by nothing: its slope is 1 / sqrt(epsilon).
                epsilon=0.1 if shape[-1] == 1 else 1e-2, begin_axis=begin, differentiable=np.prod(shape) < 100,
            )
    x = np.zeros((2, 3))
    yield bad(x, np.zeros(2), None, epsilon=1e-5, begin_axis=1, error=ValueError, match=r"`scale`.*\[2\] and \[3\]")
    yield bad(x, None, None, epsilon=1e-5, begin_axis=2, error=ValueError, match="begin_axis 2 is out of range")
    yield bad(x, np.zeros(3, np.float32), None, epsilon=1e-5, begin_axis=1, error=TypeError, match="`scale` has dtype float32")


def _normal_ct(ct, scale, normal, rstd, axes):
    c = ct if scale is None else ct * scale
    along = (c * normal).mean(axis=axes, keepdims=True)
    return (c - c.mean(axis=axes, keepdims=True) - normal * along) * rstd


def _layer_norm_vjp(ct, x, scale, mean, rstd, begin_axis):
    axes, leading = tuple(range(begin_axis, x.ndim)), tuple(range(begin_axis))
    spread = (*mean.shape, *[1] * len(axes))
    normal = (x - mean.reshape(spread)) * rstd.reshape(spread)
    return _normal_ct(ct, scale, normal, rstd.reshape(spread), axes), (ct * normal).sum(axis=leading), ct.sum(axis=leading)


@spec(ops.layer_norm_vjp, reference=_layer_norm_vjp, cast=(0, 1, 2), dtypes="float32 float64", tolerance={"float32": (1e-4, 1e-4)})
def spec_layer_norm_vjp(rng):
    for dtype in "float64", "float32":
        for shape, begin in ((3, 5), 1), ((2, 3, 4), 1), ((2, 3, 4), 2), ((200, 40), 1), ((0, 3), 1):
            for scaled in True, False:
                x = rng.standard_normal(shape)
                _, mean, rstd = _layer_norm(x, None, None, 1e-2, begin)
                yield case(
                    rng.standard_normal(shape), x, rng.standard_normal(shape[begin:]) if scaled else None,
                    mean.astype(dtype), rstd.astype(dtype), begin_axis=begin, dtypes=dtype,
                    differentiable=np.prod(shape) < 100,
                )


# group_norm.


def _parts(x, groups):
    return x.reshape(x.shape[0], groups, x.shape[1] // groups, *x.shape[2:])


def _per_part(values, parts):
    return None if values is None else values.reshape(1, *parts.shape[1:3], *[1] * (parts.ndim - 3))


def _group_norm(x, scale, bias, epsilon, groups):
    parts = _parts(x, groups)
    out, mean, rstd = _layer_norm(parts, _per_part(scale, parts), _per_part(bias, parts), epsilon, 2)
    return out.reshape(x.shape), mean, rstd


_GROUPED = ((2, 4), 2), ((2, 4, 3), 2), ((3, 4, 2, 3), 1), ((2, 3, 2, 2), 3), ((3, 12, 17, 5), 4), ((0, 4, 3), 2)


@spec(ops.group_norm, reference=_group_norm, tolerance=_NORM)
def spec_group_norm(rng):
    for shape, groups in _GROUPED:
        for scaled, biased in (True, True), (True, False), (False, True), (False, False):
            yield case(
                rng.standard_normal(shape) * 2 + 1, rng.standard_normal(shape[1]) if scaled else None,
                rng.standard_normal(shape[1]) if biased else None, epsilon=1e-1, groups=groups, differentiable=np.prod(shape) < 100,
            )
    x = np.zeros((2, 6, 3))
    yield bad(x, np.zeros(4), None, epsilon=1e-5, groups=2, error=ValueError, match=r"`scale`.*\[4\] and \[6\]")
    yield bad(x, None, None, epsilon=1e-5, groups=4, error=ValueError, match="groups does not divide the channels. Got groups=4")
    yield bad(np.zeros(3), None, None, epsilon=1e-5, groups=1, error=ValueError, match="needs a batch and a channel")


def _group_norm_vjp(ct, x, scale, mean, rstd, groups):
    parts, c = _parts(x, groups), _parts(ct, groups)
    axes, others = tuple(range(2, parts.ndim)), (0, *range(3, parts.ndim))
    spread = (*mean.shape, *[1] * len(axes))
    normal = (parts - mean.reshape(spread)) * rstd.reshape(spread)
    x_ct = _normal_ct(c, _per_part(scale, parts), normal, rstd.reshape(spread), axes)
    return x_ct.reshape(x.shape), (c * normal).sum(axis=others).reshape(-1), c.sum(axis=others).reshape(-1)


@spec(ops.group_norm_vjp, reference=_group_norm_vjp, cast=(0, 1, 2), dtypes="float32 float64", tolerance={"float32": (1e-4, 1e-4)})
def spec_group_norm_vjp(rng):
    for dtype in "float64", "float32":
        for shape, groups in _GROUPED:
            x = rng.standard_normal(shape)
            _, mean, rstd = _group_norm(x, None, None, 1e-1, groups)
            for scaled in True, False:
                yield case(
                    rng.standard_normal(shape), x, rng.standard_normal(shape[1]) if scaled else None,
                    mean.astype(dtype), rstd.astype(dtype), groups=groups, dtypes=dtype, differentiable=np.prod(shape) < 100,
                )


# batch_norm.


def _channel_axes(x, data_format):
    channel = 1 if data_format == "NCHW" else x.ndim - 1
    return tuple(axis for axis in range(x.ndim) if axis != channel)


def _spread(values, axes):
    return None if values is None else np.expand_dims(values, axes)


def _batch_norm_infer(x, mean, variance, scale, bias, epsilon, data_format):
    axes = _channel_axes(x, data_format)
    mean, variance, scale, bias = (_spread(each, axes) for each in (mean, variance, scale, bias))
    out = (x - mean) / np.sqrt(variance + epsilon)
    return out * (1 if scale is None else scale) + (0 if bias is None else bias)


def _batch_norm(x, scale, bias, epsilon, data_format):
    axes = _channel_axes(x, data_format)
    mean, variance = x.mean(axis=axes), x.var(axis=axes)
    return _batch_norm_infer(x, mean, variance, scale, bias, epsilon, data_format), mean, variance


_IMAGES = ((4, 3), "NCHW"), ((4, 3, 5), "NCHW"), ((2, 3, 2, 3), "NCHW"), ((4, 3), "NHWC"), ((2, 3, 2, 3), "NHWC")
_LARGE_IMAGES = ((3, 4, 30, 31), "NCHW"), ((3, 35, 5, 9), "NCHW"), ((3, 12, 13, 5), "NHWC"), ((200, 40), "NCHW")


def _normalized(rng):
    for shape, data_format in _IMAGES + _LARGE_IMAGES:
        channels = shape[1 if data_format == "NCHW" else -1]
        for scaled, biased in (True, True), (False, False), (True, False):
            yield case(
                rng.standard_normal(shape) * 2 + 1,
                rng.standard_normal(channels) if scaled else None,
                rng.standard_normal(channels) if biased else None,
                epsilon=1e-2, data_format=data_format, differentiable=np.prod(shape) < 100,
            )


@spec(ops.batch_norm, reference=_batch_norm, tolerance=_NORM)
def spec_batch_norm(rng):
    yield from _normalized(rng)
    x = np.zeros((2, 3, 4))
    yield bad(x, np.zeros(4), None, epsilon=1e-5, data_format="NCHW", error=ValueError, match=r"`scale`.*\[4\] and \[3\]")
    yield bad(x, None, None, epsilon=1e-5, data_format="CHW", error=ValueError, match="unknown data_format. Got 'CHW'")
    yield bad(np.zeros(3), None, None, epsilon=1e-5, data_format="NCHW", error=ValueError, match="needs a batch and a channel")


@spec(ops.batch_norm_infer, reference=_batch_norm_infer, cast=(0, 3, 4), dtypes="float64 float32", tolerance=_NORM)
def spec_batch_norm_infer(rng):
    for dtype in "float64", "float32":
        for shape, data_format in _IMAGES + _LARGE_IMAGES:
            channels = shape[1 if data_format == "NCHW" else -1]
            for affine in True, False:
                yield case(
                    rng.standard_normal(shape), rng.standard_normal(channels).astype(dtype),
                    (rng.random(channels) + 0.5).astype(dtype),
                    rng.standard_normal(channels) if affine else None, rng.standard_normal(channels) if affine else None,
                    epsilon=1e-2, data_format=data_format, dtypes=dtype, differentiable=np.prod(shape) < 100,
                )


def _batch_norm_vjp(ct, x, scale, mean, variance, epsilon, data_format):
    axes = _channel_axes(x, data_format)
    rstd = _spread(1 / np.sqrt(variance + epsilon), axes)
    normal = (x - _spread(mean, axes)) * rstd
    return _normal_ct(ct, _spread(scale, axes), normal, rstd, axes), (ct * normal).sum(axis=axes), ct.sum(axis=axes)


@spec(ops.batch_norm_vjp, reference=_batch_norm_vjp, cast=(0, 1, 2), dtypes="float64 float32", tolerance={"float32": (1e-4, 1e-4)})
def spec_batch_norm_vjp(rng):
    for dtype in "float64", "float32":
        for shape, data_format in _IMAGES + _LARGE_IMAGES:
            x = rng.standard_normal(shape)
            _, mean, variance = _batch_norm(x, None, None, 1e-2, data_format)
            for scaled in True, False:
                yield case(
                    rng.standard_normal(shape), x, rng.standard_normal(mean.shape) if scaled else None,
                    mean.astype(dtype), variance.astype(dtype), epsilon=1e-2, data_format=data_format, dtypes=dtype,
                    differentiable=np.prod(shape) < 100,
                )


def _batch_norm_relu(x, scale, bias, epsilon, data_format):
    out, mean, variance = _batch_norm(x, scale, bias, epsilon, data_format)
    return np.maximum(out, 0), mean, variance


@spec(ops.batch_norm_relu, reference=_batch_norm_relu, tolerance=_NORM)
def spec_batch_norm_relu(rng):
    yield from _normalized(rng)
    yield bad(np.zeros((2, 3, 4)), None, np.zeros(4), epsilon=1e-5, data_format="NCHW", error=ValueError, match=r"`bias`.*\[4\] and \[3\]")
    yield bad(np.zeros(3), None, None, epsilon=1e-5, data_format="NCHW", error=ValueError, match="needs a batch and a channel")


def _batch_norm_relu_vjp(ct, x, scale, bias, mean, variance, epsilon, data_format):
    out = _batch_norm_infer(x, mean, variance, scale, bias, epsilon, data_format)
    return _batch_norm_vjp(np.where(out > 0, ct, 0), x, scale, mean, variance, epsilon, data_format)


@spec(
    ops.batch_norm_relu_vjp, reference=_batch_norm_relu_vjp, cast=(0, 1, 2, 3), dtypes="float64 float32", tolerance={"float32": (1e-4, 1e-4)},
)
def spec_batch_norm_relu_vjp(rng):
    for dtype in "float64", "float32":
        for shape, data_format in _IMAGES + _LARGE_IMAGES:
            x = rng.standard_normal(shape)
            _, mean, variance = _batch_norm(x, None, None, 1e-2, data_format)
            for scaled, biased in (True, True), (False, False), (True, False):
                yield case(
                    rng.standard_normal(shape), x, rng.standard_normal(mean.shape) if scaled else None,
                    rng.standard_normal(mean.shape) if biased else None, mean.astype(dtype), variance.astype(dtype), epsilon=1e-2,
                    data_format=data_format, dtypes=dtype, differentiable=np.prod(shape) < 100,
                )
    x, given = np.zeros((2, 3, 4)), (np.zeros(3), np.ones(3))
    yield bad(x, x, None, np.zeros(4), *given, epsilon=1e-5, data_format="NCHW", error=ValueError, match=r"`bias`.*\[4\] and \[3\]")
    yield bad(x[:1], x, None, None, *given, epsilon=1e-5, data_format="NCHW", error=ValueError, match="batch_norm_relu_vjp: ")


# dropout. What is drawn is settled by the decomposition: the same numbers as bernoulli.


@spec(ops.dropout)
def spec_dropout(rng):
    for shape in (), (3, 4), (0, 2), (5, 1000):
        for upscale in True, False:
            yield case(rng.standard_normal(shape), p=0.25, upscale=upscale)
    yield case(np.array([1, np.inf, np.nan]), p=1.0, upscale=True, differentiable=False)
    yield case(np.array([1, np.inf, 2.0]), p=0.0, upscale=True, differentiable=False)
    yield bad(np.zeros(2), p=1.5, upscale=True, error=ValueError, match="Got p=1.5, expected 0 <= p <= 1")


# What is kept is rounded before the sum, which may take most of it away.
@spec(ops.dropout_add, tolerance={"float16": (2e-3, 4e-3), "bfloat16": (1.6e-2, 3.2e-2)})
def spec_dropout_add(rng):
    for shape in (), (3, 4), (0, 2), (5, 1001):
        for upscale in True, False:
            yield case(rng.standard_normal(shape), rng.standard_normal(shape), p=0.25, upscale=upscale)
    yield case(np.array([1, np.inf, np.nan]), np.array([1, -np.inf, -0.0]), p=1.0, upscale=True, differentiable=False)
    yield case(np.array([1, np.inf, 2.0]), np.array([-1, -np.inf, np.nan]), p=0.0, upscale=True, differentiable=False)
    yield bad(np.zeros(2), np.zeros(2), p=-0.5, upscale=True, error=ValueError, match="dropout_add: p is not a probability. Got p=-0.5")
    yield bad(np.zeros((2, 3)), np.zeros(3), p=0.5, upscale=True, error=ValueError, match=r"\[2, 3\].*\[3\]")


@spec(
    ops.dropout_vjp, cast=(0,),
    reference=lambda ct, mask, scale: np.where(mask != 0, ct * scale, 0),
)
def spec_dropout_vjp(rng):
    for shape in (), (3, 4), (0, 2), (7, 33):
        yield case(rng.standard_normal(shape), rng.integers(0, 2, shape).astype(np.uint8), scale=1.25)


# Cross entropy.


def _target(logits, label, soft_label, ignore_index, axis):
    if soft_label:
        return label
    classes = np.expand_dims(np.arange(logits.shape[axis]), tuple(a for a in range(logits.ndim) if a != axis))
    return ((label == classes) & (label != ignore_index)).astype(logits.dtype)


def _label_weight(target, weight, axis):
    if weight is None:
        return 1.0
    weight = np.expand_dims(weight, tuple(a for a in range(target.ndim) if a != axis))
    return (target * weight).sum(axis=axis, keepdims=True)


def _cross_entropy(logits, label, weight, soft_label, ignore_index, axis):
    target = _target(logits, label, soft_label, ignore_index, axis)
    each = np.where(target == 0, 0, target * _log_softmax(logits, axis))
    loss = -each.sum(axis=axis, keepdims=True) * _label_weight(target, weight, axis)
    return loss, _softmax(logits, axis)


def _cross_entropy_vjp(ct, softmax, label, weight, soft_label, ignore_index, axis):
    target = _target(softmax, label, soft_label, ignore_index, axis)
    mass = target.sum(axis=axis, keepdims=True)
    return (softmax * mass - target) * ct * _label_weight(target, weight, axis)


def _labelled(rng, shape, axis, soft, weighted):
    logits = rng.standard_normal(shape)
    lead = (*shape[:axis], 1, *shape[axis + 1:])
    if soft:
        label = _softmax(rng.standard_normal(shape), axis)
    else:
        label = rng.integers(0, shape[axis], lead)
        if label.size > 2:
            label.flat[1] = -100
    return logits, label, rng.random(shape[axis]) + 0.5 if weighted else None, lead


_LABELLED = ((3, 5), 1), ((3, 5), 0), ((2, 4, 3), 1), ((1, 1), 1), ((0, 3), 1), ((20, 300), 1), ((2, 5, 300), 1)


@spec(ops.cross_entropy, reference=_cross_entropy, grad_of=(0, 2), tolerance={"float16": (3e-3, 3e-3)})
def spec_cross_entropy(rng):
    for shape, axis in _LABELLED:
        for soft in False, True:
            for weighted in False, True:
                logits, label, weight, _ = _labelled(rng, shape, axis, soft, weighted)
                yield case(
                    logits, label, weight, soft_label=soft, ignore_index=-100, axis=axis,
                    differentiable=np.prod(shape) < 100,
                )
    hard = {"soft_label": False, "ignore_index": 1, "axis": 1}
    yield case(np.array([[1.0, 2], [3, 4]]), np.array([[1], [0]], np.intc), None, **hard)  # ignores a class
    yield case(np.array([[1.0, 2], [3, 4]]), np.array([[1], [0]], np.uint8), None, **hard)
    yield case(np.array([[1000.0, -1000], [-np.inf, 0]]), np.array([[0], [0]]), None, differentiable=False, **hard)
    hidden = np.array([[0.5, -np.inf, 1, 0], [-np.inf, 2, -1, -np.inf]])  # where a soft label has no mass nothing is lost
    yield case(hidden, np.array([[0.25, 0, 0.75, 0], [0, 0.5, 0.5, 0]]), None, differentiable=False, **{**hard, "soft_label": True})
    x = np.zeros((2, 3), np.float32)
    hard["ignore_index"] = -100
    yield bad(x, np.array([[0], [3]]), None, error=IndexError, match=r"label 3 \(element 1\).*expected each label in \[0, 3\)", **hard)
    yield bad(x, np.array([[-1], [0]]), None, error=IndexError, match="label -1", **hard)
    yield bad(x, np.array([0, 1]), None, error=ValueError, match=r"expected a label of shape \[2, 1\]", **hard)
    yield bad(x, np.array([[0.0], [1.0]]), None, error=TypeError, match="`label` has dtype float64", **hard)
    yield bad(x, np.array([[0], [1]]), np.ones(2, np.float32), error=ValueError, match=r"`weight` needs one number for each class.*\[2\]", **hard)


@spec(
    ops.cross_entropy_vjp, reference=_cross_entropy_vjp, grad_of=(0, 1),
    tolerance={"float16": (3e-3, 3e-3)},
)
def spec_cross_entropy_vjp(rng):
    for shape, axis in _LABELLED:
        for soft in False, True:
            for weighted in False, True:
                logits, label, weight, lead = _labelled(rng, shape, axis, soft, weighted)
                yield case(
                    rng.standard_normal(lead), _softmax(logits, axis), label, weight, soft_label=soft,
                    ignore_index=-100, axis=axis, differentiable=np.prod(shape) < 100,
                )


# Attention.


def attention_weights(q, k, v, mask, scale, causal):
    scores = q @ np.swapaxes(k, 2, 3) * scale
    if mask is not None:
        scores = np.where(mask, scores, -np.inf) if mask.dtype == bool else scores + mask
    if causal:
        queries, keys = scores.shape[2:]
        scores = np.where(np.arange(keys) <= np.arange(queries)[:, None] + keys - queries, scores, -np.inf)
    top = scores.max(axis=3, keepdims=True, initial=-np.inf)
    e = np.exp(scores - np.where(np.isfinite(top), top, 0))
    total = e.sum(axis=3, keepdims=True)
    p = np.where(total > 0, e / np.where(total > 0, total, 1), 0)
    lse = np.log(total) + np.where(np.isfinite(top), top, 0)
    return p @ v, lse[..., 0], p


def attended_inputs(rng):
    for (batch, heads, queries, keys, width, value_width), mask in [
        ((1, 1, 1, 1, 1, 1), None),
        ((2, 2, 3, 4, 3, 2), None),
        ((1, 2, 4, 3, 2, 3), "bool"),
        ((2, 1, 3, 5, 4, 4), "added"),
        ((2, 1, 3, 5, 4, 4), "row"),
        ((1, 2, 150, 300, 20, 9), None),
        ((1, 1, 70, 70, 33, 16), "bool"),
        ((1, 1, 64, 78, 16, 16), None),  # the diagonal of causal ones ends one key beside tiles of 16 queries
        ((1, 2, 0, 3, 2, 2), None),
        ((1, 2, 3, 0, 2, 2), None),
    ]:
        for causal in False, True:
            q = rng.standard_normal((batch, heads, queries, width))
            k = rng.standard_normal((batch, heads, keys, width))
            v = rng.standard_normal((batch, heads, keys, value_width))
            m = None
            if mask == "bool":
                m = rng.random((queries, keys)) > 0.3
                m[0] = False  # a query that sees nothing
            elif mask == "added":
                m = rng.standard_normal((batch, 1, queries, keys))
            elif mask == "row":
                m = rng.standard_normal((1, 1, 1, keys))
            yield (q, k, v, m), {"scale": 0.5, "causal": causal}


@spec(
    ops.attention, reference=lambda *inputs, **attrs: attention_weights(*inputs, **attrs)[:2],
    grad_through=(0,), tolerance={"float32": (1e-5, 1e-5), "float16": (3e-3, 3e-3), "bfloat16": (2e-2, 2e-2)},
)
def spec_attention(rng):
    for inputs, attrs in attended_inputs(rng):
        yield case(*inputs, **attrs, differentiable=0 < inputs[0].size < 100 and inputs[1].size > 0)
    q = np.zeros((1, 2, 3, 4))
    yield bad(q, q, np.zeros((1, 2, 5, 4)), None, scale=1.0, causal=False, error=ValueError, match="do not fit together")
    yield bad(q, q, q, np.zeros((4, 3)), scale=1.0, causal=False, error=ValueError, match="`mask` does not broadcast")
    yield bad(q, q, q, np.zeros((3, 3), np.int64), scale=1.0, causal=False, error=TypeError, match="`mask` has dtype int64")
    yield bad(q[0], q, q, None, scale=1.0, causal=False, error=ValueError, match="`q` has 3 axes")


def _attention_vjp(ct, q, k, v, mask, out, lse, scale, causal):
    _, _, p = attention_weights(q, k, v, mask, scale, causal)
    scores_ct = p * (ct @ np.swapaxes(v, 2, 3) - (ct * out).sum(axis=3, keepdims=True)) * scale
    return scores_ct @ k, np.swapaxes(scores_ct, 2, 3) @ q, np.swapaxes(p, 2, 3) @ ct


@spec(
    ops.attention_vjp, reference=_attention_vjp, cast=(0, 1, 2, 3, 5), dtypes="float64 float32",
    grad_of=(0,),  # lse and out are functions of q, k and v: alone they have no meaning to vary
    second_order=False, tolerance={"float32": (1e-4, 1e-4)},
)
def spec_attention_vjp(rng):
    for dtype in "float64", "float32":
        for inputs, attrs in attended_inputs(rng):
            q, k, v, mask = inputs
            out, lse, _ = attention_weights(*inputs, **attrs)
            if mask is not None and mask.dtype != bool:
                mask = mask.astype(dtype)
            yield case(
                rng.standard_normal(out.shape), q, k, v, mask, out, lse.astype(dtype), **attrs, dtypes=dtype,
                differentiable=0 < q.size < 100 and k.size > 0,
            )


# Halves of an axis.


def _glu(x, axis):
    first, second = np.split(x, 2, axis)
    return first / (1 + np.exp(-second))


def _glu_vjp(ct, x, axis):
    first, second = np.split(x, 2, axis)
    gate = 1 / (1 + np.exp(-second))
    return np.concatenate([ct * gate, ct * first * gate * (1 - gate)], axis)


_HALVED = ((2,), 0), ((3, 8), 1), ((4, 5), 0), ((2, 6, 3), 1), ((0, 4), 1), ((3, 0), 1), ((2, 9000), 1), ((300, 34), 1)


@spec(ops.glu, reference=_glu)
def spec_glu(rng):
    for shape, axis in _HALVED:
        yield case(rng.standard_normal(shape) * 3, axis=axis, differentiable=0 not in shape and len(shape) * max(shape) < 30)
    yield case(np.array([1.0, 2, np.inf, 3, -80, 80, 0, np.nan]), axis=0, differentiable=False)
    yield bad(np.zeros((2, 3)), axis=1, error=ValueError, match="the axis cannot be halved")
    yield bad(np.zeros((2, 3)), axis=2, error=ValueError, match="out of range")


@spec(ops.glu_vjp, reference=_glu_vjp, tolerance={"float16": (5e-3, 2e-3), "bfloat16": (4e-2, 2e-2)})
def spec_glu_vjp(rng):
    for shape, axis in _HALVED:
        half = tuple(n // 2 if i == axis else n for i, n in enumerate(shape))
        small = 0 not in shape and len(shape) * max(shape) < 30
        yield case(rng.standard_normal(half), rng.standard_normal(shape) * 3, axis=axis, differentiable=small)
