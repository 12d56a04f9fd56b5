"""Samples and references of losses."""
import numpy as np

from wherry_tensor import ops
from wherry_tensor.testing import bad, case, spec


def _weights(label, weight, ignore_index):
    """The weight of each label, 0 where it is ignored."""
    kept = label.astype(np.int64) != ignore_index
    safe = np.where(kept, label, 0).astype(np.int64)
    return np.where(kept, 1.0 if weight is None else weight[safe], 0.0), safe


def _nll_loss(x, label, weight, ignore_index, axis):
    factor, safe = _weights(label, weight, ignore_index)
    return np.where(factor == 0, 0, -np.take_along_axis(x, safe, axis) * factor)


def _nll_loss_vjp(ct, label, weight, like, ignore_index, axis):
    factor, safe = _weights(label, weight, ignore_index)
    out = np.zeros(like.shape, ct.dtype)
    np.put_along_axis(out, safe, -ct * factor, axis)
    return out


def _label_mean(loss, label, weight, ignore_index):
    factor, _ = _weights(label, weight, ignore_index)
    total = factor.sum()
    return np.where(label == ignore_index, 0, loss).sum() / (total or 1.0), total


def _label_mean_vjp(ct, total, label, ignore_index):
    return np.where(label == ignore_index, 0, ct / (total or 1.0))


def _log(x):
    with np.errstate(divide="ignore"):
        return np.maximum(np.log(x), -100)


def _binary_cross_entropy(x, label):
    return -label * _log(x) - (1 - label) * _log(1 - x)


def _binary_cross_entropy_vjp(ct, x, label):
    return ct * (x - label) / np.maximum(x * (1 - x), 1e-12)


def _binary_cross_entropy_logits(logits, label):
    return np.logaddexp(0, logits) * (1 - label) + np.logaddexp(0, -logits) * label


def _binary_cross_entropy_logits_vjp(ct, logits, label):
    return ct * (np.exp(-np.logaddexp(0, -logits)) - label)


_SHAPES = ((3, 5), 1), ((3, 5), 0), ((2, 4, 3), 1), ((1, 1), 1), ((0, 3), 1), ((2, 5, 300), 1), ((200, 3), 1)


def _labelled(rng, shape, axis, weighted):
    label = rng.integers(0, shape[axis], (*shape[:axis], 1, *shape[axis + 1:]))
    if label.size > 2:
        label.flat[1] = -100
    return label, rng.random(shape[axis]) + 0.5 if weighted else None


@spec(ops.nll_loss, reference=_nll_loss, grad_of=(0, 2))
def spec_nll_loss(rng):
    for shape, axis in _SHAPES:
        for weighted in False, True:
            label, weight = _labelled(rng, shape, axis, weighted)
            yield case(rng.standard_normal(shape), label, weight, ignore_index=-100, axis=axis,
                       differentiable=np.prod(shape) < 100)
    x, hard = np.zeros((2, 3), np.float32), {"ignore_index": 1, "axis": 1}
    yield case(np.array([[1.0, 2], [3, 4]]), np.array([[1], [0]], np.uint8), None, **hard)
    yield bad(x, np.array([[0], [3]]), None, error=IndexError, match=r"nll_loss: label 3 \(element 1\)", **hard)
    yield bad(x, np.array([0, 1]), None, error=ValueError, match=r"expected a label of shape \[2, 1\]", **hard)
    yield bad(x, np.array([[0], [1]]), np.ones(2, np.float32), error=ValueError, match="`weight` needs one number", **hard)


@spec(ops.nll_loss_vjp, reference=_nll_loss_vjp, grad_of=(0, 2))
def spec_nll_loss_vjp(rng):
    for shape, axis in _SHAPES:
        for weighted in False, True:
            label, weight = _labelled(rng, shape, axis, weighted)
            yield case(rng.standard_normal(label.shape), label, weight, np.zeros(shape), ignore_index=-100, axis=axis,
                       differentiable=np.prod(shape) < 100)


@spec(ops.label_mean, reference=_label_mean, grad_of=(0, 2))
def spec_label_mean(rng):
    for size in (3,), (2, 1, 4), (0,), (), (40000,):
        for weighted in False, True:
            label = rng.integers(0, 5, size)
            if label.size > 2:
                label.flat[1] = -100
            yield case(rng.random(size) + 0.5, label, rng.random(5) + 0.5 if weighted else None, ignore_index=-100,
                       differentiable=label.size < 100)
    yield case(np.array([1.0, 2.0]), np.array([3, 3]), None, ignore_index=3)  # nothing is left
    yield case(np.array([1.0, 2.0]), np.array([1, 0], np.uint8), np.array([2.0, 0.5]), ignore_index=-100)
    loss = np.zeros(2, np.float32)
    yield bad(loss, np.array([0, 4]), np.ones(3, np.float32), ignore_index=-1, error=IndexError, match="label 4")
    yield bad(loss, np.zeros(3, np.int64), None, ignore_index=-1, error=ValueError, match="`loss` and `label`")
    yield bad(loss, np.zeros(2, np.int64), np.ones((2, 2), np.float32), ignore_index=-1, error=ValueError, match="one number for each class")


@spec(ops.label_mean_vjp, reference=_label_mean_vjp, grad_of=(0, 1), cast=(0,), dtypes="float64")
def spec_label_mean_vjp(rng):
    for size in (3,), (2, 1, 4), (0,), (), (300,):
        label = rng.integers(0, 5, size)
        yield case(rng.standard_normal(()), np.array(2.5), label, ignore_index=1)
    yield case(rng.standard_normal(()), np.array(0.0), np.array([1, 1]), ignore_index=1, differentiable=False)


_PAIRS = (), (3,), (2, 0), (3, 5, 7), (40, 33)
_HALF = {"float16": (3e-3, 3e-3), "bfloat16": (3e-2, 3e-2)}  # log(1 - x) of a rounded x


@spec(ops.binary_cross_entropy, reference=_binary_cross_entropy, grad_of=(0,), tolerance=_HALF)
def spec_binary_cross_entropy(rng):
    for shape in _PAIRS:
        yield case(rng.random(shape) * 0.8 + 0.1, rng.random(shape))
    yield case(np.array([0.0, 1, 0, 1]), np.array([0.0, 1, 1, 0]), differentiable=False)
    yield bad(np.array([0.5, 1.5]), np.zeros(2), error=ValueError, match=r"element 1 is not a probability. Got 1.5")
    yield bad(np.array([-0.5, np.nan]), np.zeros(2), error=ValueError, match=r"element 0 is not a probability. Got -0.5")
    yield bad(np.zeros(2), np.zeros(3), error=ValueError, match="`label` and `x` must have one shape")


@spec(ops.binary_cross_entropy_vjp, reference=_binary_cross_entropy_vjp, tolerance=_HALF)
def spec_binary_cross_entropy_vjp(rng):
    for shape in _PAIRS:
        yield case(rng.standard_normal(shape), rng.random(shape) * 0.8 + 0.1, rng.random(shape))
    yield case(np.ones(4), np.array([0.0, 1, 0, 1]), np.array([0.0, 1, 1, 0]), differentiable=False, dtypes="float64 float32")


@spec(ops.binary_cross_entropy_logits, reference=_binary_cross_entropy_logits, grad_of=(0,), tolerance=_HALF)
def spec_binary_cross_entropy_logits(rng):
    for shape in _PAIRS:
        yield case(rng.standard_normal(shape) * 4, rng.random(shape))
    yield case(np.array([1000.0, -1000, 1000, -1000, 0, -20]), np.array([0.0, 0, 1, 1, 0.5, 0]), differentiable=False)
    yield bad(np.zeros(2), np.zeros(2, np.float32), error=TypeError, match="different dtypes")


@spec(ops.binary_cross_entropy_logits_vjp, reference=_binary_cross_entropy_logits_vjp, tolerance=_HALF)
def spec_binary_cross_entropy_logits_vjp(rng):
    for shape in _PAIRS:
        yield case(rng.standard_normal(shape), rng.standard_normal(shape) * 4, rng.random(shape))
    yield case(np.ones(4), np.array([1000.0, -1000, 1000, -1000]), np.array([0.0, 0, 1, 1]), differentiable=False)


def _smooth_l1_loss(x, y, delta):
    distance = np.abs(x - y)
    return np.where(distance < delta, distance**2 / 2, delta * (distance - delta / 2))


# Differences of rounded halves: what counts is the error beside the values, not beside their difference.
_DIFFERENCES = {"float16": (3e-3, 3e-3), "bfloat16": (2e-2, 2e-2)}


@spec(ops.smooth_l1_loss, reference=_smooth_l1_loss, tolerance=_DIFFERENCES)
def spec_smooth_l1_loss(rng):
    for shape in _PAIRS:
        yield case(rng.standard_normal(shape) * 2, rng.standard_normal(shape), delta=1.0)
    yield case(np.array([0.0, 1, 3, -3]), np.array([0.0, 0.5, 0, 0]), delta=0.25, differentiable=False)
    yield case(np.array([np.inf, np.nan, -1e4]), np.zeros(3), delta=2.0, differentiable=False)
    yield bad(np.zeros(2), np.zeros(3), delta=1.0, error=ValueError, match="`y` and `x` must have one shape")


@spec(ops.smooth_l1_loss_vjp, reference=lambda ct, x, y, delta: ct * np.clip(x - y, -delta, delta), tolerance=_DIFFERENCES)
def spec_smooth_l1_loss_vjp(rng):
    for shape in _PAIRS:
        yield case(rng.standard_normal(shape), rng.standard_normal(shape) * 2, rng.standard_normal(shape), delta=1.0)


def _difference_loss(x, y, kind, delta, mean):
    d = np.abs(x - y)
    near = np.minimum(d, delta)
    loss = d * d if kind == "squared" else d if kind == "absolute" else near * (d - near / 2)
    if mean:
        return loss.mean() if loss.size else np.array(np.nan, x.dtype)
    return loss.sum()


def _difference_loss_vjp(ct, x, y, kind, delta, mean):
    d = x - y
    slope = 2 * d if kind == "squared" else np.sign(d) if kind == "absolute" else np.clip(d, -delta, delta)
    return slope * ct / (max(d.size, 1) if mean else 1)


@spec(ops.difference_loss, reference=_difference_loss, tolerance={"float16": (5e-3, 5e-3), "bfloat16": (2e-2, 2e-2)})
def spec_difference_loss(rng):
    for kind in "squared", "absolute", "smooth":
        for shape in _PAIRS:
            small = 0 not in shape and shape != (40, 33)
            for mean in (False, True) if small else (0 not in shape,):
                yield case(rng.standard_normal(shape), rng.standard_normal(shape), kind=kind, delta=0.5, mean=mean, differentiable=small)
        yield case(rng.standard_normal(20001), rng.standard_normal(20001), kind=kind, delta=0.5, mean=True, differentiable=False)
        yield case(np.array([1.0, np.inf, 2]), np.zeros(3), kind=kind, delta=0.5, mean=False, differentiable=False)
        yield case(np.array([1.0, np.nan, 2]), np.zeros(3), kind=kind, delta=0.5, mean=True, differentiable=False)
    yield bad(np.zeros(2), np.zeros(3), kind="squared", delta=0.0, mean=True, error=ValueError, match="`y` and `x` must have one shape")
    yield bad(np.zeros(2), np.zeros(2), kind="cubed", delta=0.0, mean=True, error=ValueError, match="unknown kind")


@spec(ops.difference_loss_vjp, reference=_difference_loss_vjp, tolerance=_DIFFERENCES)
def spec_difference_loss_vjp(rng):
    for kind in "squared", "absolute", "smooth":
        for shape in _PAIRS:
            yield case(rng.standard_normal(()), rng.standard_normal(shape), rng.standard_normal(shape), kind=kind, delta=0.5,
                       mean=len(shape) != 1, differentiable=shape not in ((2, 0), (40, 33)))
        yield case(np.array(2.0), np.array([0.0, -0.0, np.nan, np.inf]), np.zeros(4), kind=kind, delta=0.5, mean=False, differentiable=False)


def _kl_div(x, label):
    with np.errstate(all="ignore"):
        return np.where(label > 0, label * (np.log(label) - x), 0)


@spec(ops.kl_div, reference=_kl_div, grad_of=(0,), tolerance=_DIFFERENCES)
def spec_kl_div(rng):
    for shape in _PAIRS:
        yield case(rng.standard_normal(shape), rng.random(shape) + 0.1)
    yield case(np.array([-np.inf, 1.0, -2.0]), np.array([0.0, -1.0, 1.0]))
    yield bad(np.zeros(2), np.zeros(2, np.float32), error=TypeError, match="different dtypes")
