"""Losses: values from their definitions, gradients, reductions, extreme inputs, 16-bit floats, errors."""
import itertools
import math
from functools import partial

import numpy as np
import pytest

import wherry_nn as nn
import wherry_nn.functional as F
import wherry_tensor as wt
from wherry_autograd import grad
from wherry_tensor.errors import InvalidArgumentError, InvalidTypeError

rng = np.random.default_rng(7)
REDUCTIONS = ["mean", "sum", "none"]


def softmax(x, axis=-1):
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def reduced(loss, reduction):
    return {"mean": np.mean, "sum": np.sum, "none": np.asarray}[reduction](loss)


def leaf(array, dtype=None):
    x = wt.to_tensor(array, dtype=dtype)
    x.stop_gradient = False
    return x


def close(found, expected, **tolerance):
    assert found.shape == list(np.shape(expected))
    np.testing.assert_allclose(found.numpy(), expected, **{"rtol": 1e-9, "atol": 1e-12, **tolerance})


# Class labels.

# logits, axis
CLASSES = [((5, 4), -1), ((5, 4), 1), ((4, 5), 0), ((2, 4, 3), 1), ((4,), 0), ((2, 3, 2, 4), -1), ((2, 4, 2, 2), 1), ((0, 4), 1)]


def classified(x, label, weight, ignore_index, reduction, axis):
    """Cross entropy of hard labels, example by example."""
    rows = np.moveaxis(x, axis, -1).reshape(-1, x.shape[axis])
    loss, factor = np.zeros(len(rows)), np.zeros(len(rows))
    for i, (row, c) in enumerate(zip(rows, label.ravel())):
        if c != ignore_index:
            factor[i] = 1 if weight is None else weight[c]
            loss[i] = -np.log(softmax(row)[c]) * factor[i]
    if reduction == "mean":
        return loss.sum() / (factor.sum() or 1)
    return loss.sum() if reduction == "sum" else loss.reshape(label.shape)


@pytest.mark.parametrize(("shape", "axis"), CLASSES)
@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize("weighted", [False, True])
def test_cross_entropy_of_hard_labels(shape, axis, reduction, weighted, check_gradient):
    x = rng.normal(size=shape)
    label = rng.integers(0, shape[axis], [n for i, n in enumerate(shape) if i != axis % len(shape)])
    weight = rng.random(shape[axis]) + 0.5 if weighted else None
    for ignore_index in -100, 2:
        expected = classified(x, label, weight, ignore_index, reduction, axis)
        arguments = dict(weight=None if weight is None else wt.to_tensor(weight), ignore_index=ignore_index, reduction=reduction,
                         axis=axis)
        close(F.cross_entropy(wt.to_tensor(x), wt.to_tensor(label), **arguments), expected)
        close(nn.CrossEntropyLoss(**arguments)(wt.to_tensor(x), wt.to_tensor(label)), expected)
        # With the axis of classes kept as size 1, "none" keeps it too.
        column = wt.to_tensor(np.expand_dims(label, axis))
        close(F.cross_entropy(wt.to_tensor(x), column, **arguments),
              np.expand_dims(expected, axis) if reduction == "none" else expected)
        # Of probabilities.
        close(F.cross_entropy(wt.to_tensor(softmax(x, axis)), wt.to_tensor(label), use_softmax=False, **arguments), expected)
        if x.size:
            arguments["label"] = wt.to_tensor(label)
            check_gradient(partial(F.cross_entropy, **arguments), x)
            check_gradient(partial(F.cross_entropy, use_softmax=False, **arguments), softmax(x, axis))


@pytest.mark.parametrize(("shape", "axis"), [case for case in CLASSES if 0 not in case[0]])
@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("smoothing", [0.0, 0.3])
def test_cross_entropy_of_soft_labels(shape, axis, reduction, weighted, smoothing, check_gradient):
    x, label = rng.normal(size=shape), softmax(rng.normal(size=shape), axis)
    weight = rng.random(shape[axis]) + 0.5 if weighted else None
    smooth = label * (1 - smoothing) + smoothing / shape[axis]
    loss = -(smooth * np.log(softmax(x, axis))).sum(axis=axis, keepdims=True)
    factor = np.ones_like(loss)
    if weighted:
        factor = (smooth * np.moveaxis(np.broadcast_to(weight, np.moveaxis(x, axis, -1).shape), -1, axis)).sum(axis=axis, keepdims=True)
    expected = (loss * factor).sum() / factor.sum() if reduction == "mean" else reduced(loss * factor, reduction)
    arguments = dict(soft_label=True, reduction=reduction, axis=axis, label_smoothing=smoothing,
                     weight=None if weight is None else wt.to_tensor(weight))
    close(F.cross_entropy(wt.to_tensor(x), wt.to_tensor(label), **arguments), expected)
    close(F.cross_entropy(wt.to_tensor(softmax(x, axis)), wt.to_tensor(label), use_softmax=False, **arguments), expected)
    check_gradient(lambda x: F.cross_entropy(x, wt.to_tensor(label), **arguments), x)


def test_smoothed_hard_labels_are_soft_labels_and_ignored_ones_count_nothing():
    x, label = wt.to_tensor(rng.normal(size=(4, 3))), np.array([2, -100, 0, 1])
    kept = [0, 2, 3]
    soft = np.eye(3)[label[kept]]
    for reduction in REDUCTIONS:
        for weight in None, wt.to_tensor([0.5, 1.0, 2.0], dtype="float64"):
            arguments = dict(reduction=reduction, weight=weight, label_smoothing=0.2)
            expected = F.cross_entropy(x[kept], wt.to_tensor(soft), soft_label=True, **arguments).numpy()
            found = F.cross_entropy(x, wt.to_tensor(label), **arguments)
            if reduction == "none":
                assert found.shape == [4, 1] and found.numpy()[1] == 0
                found = found[kept]
            close(found, expected)
            close(F.cross_entropy(x, wt.to_tensor(label[:, None]), **arguments)[kept if reduction == "none" else ...], expected)
    images = wt.to_tensor(rng.normal(size=(2, 3, 4)))
    labels = wt.to_tensor(rng.integers(0, 3, (2, 4)))
    close(F.cross_entropy(images, labels, axis=1, label_smoothing=0.2),
          F.cross_entropy(images.transpose([0, 2, 1]), labels, label_smoothing=0.2).numpy())


@pytest.mark.parametrize("dtype", ["int8", "int16", "int32", "uint8", "float32", "float64", "bool"])
def test_labels_may_have_any_dtype(dtype):
    x, label = wt.to_tensor(rng.normal(size=(3, 4))), wt.to_tensor([1, 0, 1])
    expected = F.cross_entropy(x, label).item()
    assert F.cross_entropy(x, label.astype(dtype)).item() == expected
    log_probability = F.log_softmax(x)
    assert F.nll_loss(log_probability, label.astype(dtype)).item() == pytest.approx(expected)


def test_mean_of_nothing_is_zero():
    x, label = leaf(rng.normal(size=(3, 4))), wt.to_tensor([-100, -100, -100])
    for loss in F.cross_entropy(x, label), F.cross_entropy(x, label, wt.ones([4], "float64")), F.nll_loss(x, label):
        assert loss.item() == 0
        loss.backward()
        assert (x.grad.numpy() == 0).all()
    assert F.cross_entropy(wt.zeros([0, 4]), wt.zeros([0], "int64")).item() == 0


@pytest.mark.parametrize("reduction", REDUCTIONS)
def test_gradients_flow_into_weights_of_classes(reduction, check_gradient):
    x, weight, label = rng.normal(size=(5, 3)), rng.random(3) + 0.5, wt.to_tensor([0, 2, 2, -100, 1])
    check_gradient(lambda x, w: F.cross_entropy(x, label, w, reduction=reduction), x, weight)
    check_gradient(lambda x, w: F.nll_loss(x, label, w, reduction=reduction), x, weight)


def test_labels_are_data():
    x = rng.normal(size=(5, 3))
    soft = leaf(softmax(x))
    for use_softmax in True, False:
        F.cross_entropy(leaf(softmax(x)), soft, soft_label=True, use_softmax=use_softmax).backward()
        assert soft.grad is None and not soft.stop_gradient


def test_cross_entropy_has_second_derivatives(check_gradient):
    x, label = rng.normal(size=(3, 4)), wt.to_tensor([0, 3, 1])

    def slope(x):
        return grad(F.cross_entropy(x, label), x, create_graph=True)[0] if not x.stop_gradient else slope(leaf(x.numpy())).detach()

    check_gradient(slope, x)


def test_extreme_logits_are_exact():
    x = leaf(np.array([[1e4, -1e4, 0.0], [-1e30, 1e30, 0.0], [50.0, 0.0, 0.0]]), "float32")
    label = wt.to_tensor([1, 1, 0])
    close(F.cross_entropy(x, label, reduction="none"), [2e4, 0, 2 * math.exp(-50)], rtol=1e-5, atol=1e-20)
    F.cross_entropy(x, label, reduction="sum").backward()
    np.testing.assert_allclose(x.grad.numpy()[:2], [[1, -1, 0], [0, 0, 0]])
    masked = leaf(np.array([[-np.inf, 0.0, 1.0]]), "float32")  # a class that cannot be
    loss = F.cross_entropy(masked, wt.to_tensor([2]))
    loss.backward()
    close(loss, math.log1p(math.exp(-1)), rtol=1e-6)
    assert np.isfinite(masked.grad.numpy()).all()
    assert F.cross_entropy(masked, wt.to_tensor([0])).item() == math.inf


def test_probability_zero():
    p = leaf([[0.0, 1.0, 0.0]])
    F.cross_entropy(p, wt.to_tensor([1]), use_softmax=False).backward()
    assert p.grad.numpy().tolist() == [[0, -1, 0]]  # the zeros of other classes do not matter
    assert F.cross_entropy(p, wt.to_tensor([0]), use_softmax=False).item() == math.inf
    q = leaf([[0.0, 1.0, 0.0]])
    loss = F.cross_entropy(q, wt.to_tensor([[0.0, 1.0, 0.0]]), soft_label=True, use_softmax=False)
    loss.backward()
    assert loss.item() == 0 and q.grad.numpy().tolist() == [[0, -1, 0]]


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_16_bit_logits_lose_only_the_rounding_of_the_result(dtype):
    x = wt.to_tensor(rng.normal(size=(64, 40)) * 20, dtype=dtype)
    exact = x.astype("float64")
    label, step = wt.to_tensor(rng.integers(0, 40, 64)), 2**-11 if dtype == "float16" else 2**-8
    weight = wt.to_tensor(rng.random(40), dtype="float32")  # a wider weight is rounded to the dtype of the logits
    for reduction in REDUCTIONS:
        found = F.cross_entropy(x, label, reduction=reduction)
        assert found.dtype is x.dtype
        close(found.astype("float64"), F.cross_entropy(exact, label, reduction=reduction).numpy(), rtol=3 * step, atol=1e-4)
        found = F.cross_entropy(x, label, weight, reduction=reduction)
        wide = weight.astype(dtype).astype("float64")
        close(found.astype("float64"), F.cross_entropy(exact, label, wide, reduction=reduction).numpy(), rtol=4 * step, atol=1e-4)
    # 70000 labels cannot be counted in float16, whose largest number is 65504.
    many = F.cross_entropy(wt.zeros([70000, 2], dtype), wt.zeros([70000], "int64"))
    assert many.item() == pytest.approx(math.log(2), rel=step)


def test_softmax_with_cross_entropy_returns_both(check_gradient):
    x, label = rng.normal(size=(3, 4)), np.array([[1], [3], [-100]])
    loss, probability = F.softmax_with_cross_entropy(wt.to_tensor(x), wt.to_tensor(label), return_softmax=True)
    close(probability, softmax(x))
    expected = classified(x, label, None, -100, "none", 1)
    close(loss, expected)
    close(F.softmax_with_cross_entropy(wt.to_tensor(x), wt.to_tensor(label[:, 0])), expected)
    close(F.softmax_with_cross_entropy(wt.to_tensor(x.T), wt.to_tensor(label.T), axis=0), expected.T)
    soft = wt.to_tensor(softmax(rng.normal(size=(3, 4))), dtype="float32")  # cast to the dtype of the logits
    close(F.softmax_with_cross_entropy(wt.to_tensor(x), soft, soft_label=True),
          -(soft.numpy() * np.log(softmax(x))).sum(axis=1, keepdims=True), rtol=1e-6)
    check_gradient(lambda x: wt.concat(list(F.softmax_with_cross_entropy(x, wt.to_tensor(label), return_softmax=True)), 1), x)


@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize("shape", [(5, 4), (2, 4, 3), (2, 4, 3, 2), (2, 4, 1, 2, 2), (0, 4)])
def test_nll_loss_takes_log_probabilities_along_axis_1(shape, reduction, check_gradient):
    x = np.log(softmax(rng.normal(size=shape), 1))
    label = rng.integers(0, 4, (shape[0], *shape[2:]))
    for weight, ignore_index in itertools.product((None, rng.random(4) + 0.5), (-100, 1)):
        arguments = dict(weight=None if weight is None else wt.to_tensor(weight), ignore_index=ignore_index, reduction=reduction)
        expected = classified(x, label, weight, ignore_index, reduction, 1)
        close(F.nll_loss(wt.to_tensor(x), wt.to_tensor(label), **arguments), expected)
        close(nn.NLLLoss(**arguments)(wt.to_tensor(x), wt.to_tensor(label)), expected)
    if x.size and x.ndim < 4:
        check_gradient(lambda x: F.nll_loss(x, wt.to_tensor(label), reduction=reduction), x)


# Losses of one element each: function, layer, arguments, inputs, definition, which inputs get gradients.

X, Y, Z = (rng.normal(size=(4, 3)) for _ in range(3))
P, SOFT = sigmoid(Y), rng.random((4, 3))
YES = (rng.random((4, 3)) > 0.5).astype(float)
W = rng.random(3) + 0.5
COUNT = rng.integers(0, 5, (4, 3)).astype(float)


def binary(p, y):
    return -y * np.log(p) - (1 - y) * np.log(1 - p)


def huber(delta):
    return lambda x, y: np.where(abs(x - y) < delta, (x - y) ** 2 / 2, delta * (abs(x - y) - delta / 2))


def focal(alpha, gamma):
    def loss(x, y):
        p = sigmoid(x)
        right = p * y + (1 - p) * (1 - y)
        return (alpha * y + (1 - alpha) * (1 - y)) * (1 - right) ** gamma * binary(p, y)

    return loss


def stirling(n):
    return np.where(n > 1, n * np.log(np.maximum(n, 1)) - n + np.log(2 * np.pi * np.maximum(n, 1)) / 2, 0)


def normal(x, y, v):
    return (np.log(v) + (x - y) ** 2 / v) / 2


ELEMENTS = [
    (F.mse_loss, nn.MSELoss, {}, (X, Y), lambda x, y: (x - y) ** 2, 2),
    (F.mse_loss, nn.MSELoss, {}, (X, Y[0]), lambda x, y: (x - y) ** 2, 2),
    (F.l1_loss, nn.L1Loss, {}, (X, Y), lambda x, y: abs(x - y), 2),
    (F.l1_loss, nn.L1Loss, {}, (X[:, :1], Y), lambda x, y: abs(x - y), 2),
    (F.smooth_l1_loss, nn.SmoothL1Loss, {}, (X * 2, Y), huber(1), 2),
    (F.smooth_l1_loss, nn.SmoothL1Loss, dict(delta=0.3), (X, Y), huber(0.3), 2),
    (F.binary_cross_entropy, nn.BCELoss, {}, (P, YES), binary, 1),
    (F.binary_cross_entropy, nn.BCELoss, dict(weight=W), (P, SOFT), lambda p, y: binary(p, y) * W, 1),
    (F.binary_cross_entropy_with_logits, nn.BCEWithLogitsLoss, {}, (X, YES), lambda x, y: binary(sigmoid(x), y), 1),
    (F.binary_cross_entropy_with_logits, nn.BCEWithLogitsLoss, dict(weight=W), (X, SOFT),
     lambda x, y: binary(sigmoid(x), y) * W, 1),
    (F.binary_cross_entropy_with_logits, nn.BCEWithLogitsLoss, dict(pos_weight=W), (X, SOFT),
     lambda x, y: -W * y * np.log(sigmoid(x)) - (1 - y) * np.log(sigmoid(-x)), 1),
    (F.sigmoid_focal_loss, None, {}, (X, YES), focal(0.25, 2), 1),
    (F.sigmoid_focal_loss, None, dict(alpha=0.7, gamma=0.5), (X, SOFT),
     lambda x, y: (0.7 * y + 0.3 * (1 - y)) * (sigmoid(x) * (1 - y) + sigmoid(-x) * y) ** 0.5 * binary(sigmoid(x), y), 1),
    (F.sigmoid_focal_loss, None, dict(normalizer=np.array([4.0])), (X, YES), lambda x, y: focal(0.25, 2)(x, y) / 4, 1),
    (F.kl_div, nn.KLDivLoss, {}, (np.log(P), SOFT), lambda x, y: y * (np.log(y) - x), 1),
    (F.kl_div, nn.KLDivLoss, {}, (np.log(P), YES), lambda x, y: -y * x, 1),  # 0 log 0 is 0
    (F.poisson_nll_loss, nn.PoissonNLLLoss, {}, (X, COUNT), lambda x, y: np.exp(x) - y * x, 1),
    (F.poisson_nll_loss, nn.PoissonNLLLoss, dict(log_input=False, full=True, epsilon=1e-3), (P, COUNT),
     lambda x, y: x - y * np.log(x + 1e-3) + stirling(y), 1),
    (F.gaussian_nll_loss, nn.GaussianNLLLoss, {}, (X, Y, P), normal, 3),
    (F.gaussian_nll_loss, nn.GaussianNLLLoss, dict(full=True), (X, Y, P[:, :1]),
     lambda x, y, v: normal(x, y, v) + np.log(2 * np.pi) / 2, 3),
    (F.gaussian_nll_loss, nn.GaussianNLLLoss, {}, (X, Y, P[:, 0]), lambda x, y, v: normal(x, y, v[:, None]), 3),
]


@pytest.mark.parametrize(("function", "layer", "arguments", "inputs", "definition", "differentiable"), ELEMENTS)
@pytest.mark.parametrize("reduction", REDUCTIONS)
def test_element_wise_losses(function, layer, arguments, inputs, definition, differentiable, reduction, check_gradient):
    arguments = {name: wt.to_tensor(value) if isinstance(value, np.ndarray) else value for name, value in arguments.items()}
    expected = reduced(definition(*inputs), reduction)
    tensors = [wt.to_tensor(array) for array in inputs]
    close(function(*tensors, reduction=reduction, **arguments), expected)
    if layer is not None:
        close(layer(reduction=reduction, **arguments)(*tensors), expected)
    check_gradient(lambda *x: function(*x, *tensors[differentiable:], reduction=reduction, **arguments), *inputs[:differentiable])


@pytest.mark.parametrize(("function", "layer", "arguments", "inputs", "definition", "differentiable"), ELEMENTS)
@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32"])
def test_element_wise_losses_keep_the_dtype(function, layer, arguments, inputs, definition, differentiable, dtype):
    arguments = {name: wt.to_tensor(value, dtype=dtype) if isinstance(value, np.ndarray) else value for name, value in arguments.items()}
    x, *others = (leaf(array, dtype) for array in inputs)
    found = function(x, *others, reduction="none", **arguments)
    assert found.dtype.name == dtype
    rounded = [t.astype("float64").numpy() for t in (x, *others)]
    tolerance = {"float16": 2e-2, "bfloat16": 0.15, "float32": 1e-5}[dtype]
    np.testing.assert_allclose(found.astype("float64").numpy(), definition(*rounded), rtol=tolerance, atol=tolerance)
    found.sum().backward()
    assert x.grad.dtype.name == dtype


# What has a range of its own.


def test_binary_cross_entropy_ends_its_logarithms_at_100():
    p = leaf([0.0, 1.0, 0.0, 1.0])
    loss = F.binary_cross_entropy(p, wt.to_tensor([1.0, 0.0, 0.0, 1.0]), reduction="none")
    assert loss.numpy().tolist() == [100, 100, 0, 0]
    loss.sum().backward()
    assert np.isfinite(p.grad.numpy()).all() and p.grad.numpy()[2:].tolist() == [0, 0]
    with pytest.raises(ValueError, match=r"element 1 is not a probability\. Got 1\.5"):
        F.binary_cross_entropy(wt.to_tensor([0.0, 1.5]), wt.zeros([2]))
    assert math.isnan(F.binary_cross_entropy(wt.to_tensor([math.nan]), wt.zeros([1])).item())


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
@pytest.mark.parametrize("pos_weight", [None, 3.0])
def test_binary_cross_entropy_of_extreme_logits(dtype, pos_weight):
    x = leaf([30000.0, -30000.0, 30000.0, -30000.0, -8.0], dtype)
    weight = None if pos_weight is None else wt.to_tensor(pos_weight, dtype=dtype)
    w = pos_weight or 1.0
    loss = F.binary_cross_entropy_with_logits(x, wt.to_tensor([0, 0, 1, 1, 0]), pos_weight=weight, reduction="none")
    expected = np.array([30000, 0, 0, 30000 * w, math.exp(-8)])
    if dtype == "float16" and w == 3:
        expected[3] = math.inf  # beyond the dtype
    np.testing.assert_allclose(loss.astype("float64").numpy(), expected, rtol=1e-2)
    loss[wt.to_tensor([0, 1, 2, 4])].sum().backward()
    np.testing.assert_allclose(x.grad.astype("float64").numpy(), [1, 0, 0, 0, math.exp(-8)], rtol=1e-2, atol=1e-30)


def test_focal_loss_keeps_the_digits_of_sure_answers():
    x = leaf([40.0, -40.0, 200.0], "float32")
    loss = F.sigmoid_focal_loss(x, wt.to_tensor([1, 0, 1]), reduction="none", gamma=1.0)
    close(loss, [0.25 * math.exp(-80), 0.75 * math.exp(-80), 0], rtol=1e-5, atol=0)
    loss.sum().backward()
    assert np.isfinite(x.grad.numpy()).all()


def test_kl_div_of_the_batch_and_of_what_is_not_positive():
    x, y = leaf(np.log(softmax(X))), wt.to_tensor(softmax(Y))
    expected = (softmax(Y) * (np.log(softmax(Y)) - x.numpy())).sum() / 4
    close(F.kl_div(x, y, "batchmean"), expected)
    close(nn.KLDivLoss("batchmean")(x, y), expected)
    label = leaf([-1.0, 0.0, 1.0], "float64")
    z = leaf([-math.inf, -math.inf, -2.0], "float64")
    F.kl_div(z, label, "sum").backward()
    assert z.grad.numpy().tolist() == [0, 0, -1] and label.grad is None
    close(F.kl_div(wt.to_tensor(-1.0), wt.to_tensor(1.0), "batchmean"), 1.0)


def test_kinks_have_the_gradient_zero():
    for function in F.l1_loss, F.smooth_l1_loss, F.mse_loss:
        x = leaf(X)
        function(x, wt.to_tensor(X), "sum").backward()
        assert (x.grad.numpy() == 0).all()


def test_variance_below_epsilon_counts_as_epsilon():
    v = leaf([[0.0, 1e-9]], "float64")
    loss = F.gaussian_nll_loss(wt.zeros([1, 2], "float64"), wt.ones([1, 2], "float64"), v, epsilon=0.5, reduction="none")
    close(loss, np.full((1, 2), (math.log(0.5) + 2) / 2))
    loss.sum().backward()
    close(v.grad, np.full((1, 2), (1 / 0.5 - 1 / 0.25) / 2))


def test_log_loss(check_gradient):
    close(F.log_loss(wt.to_tensor(P), wt.to_tensor(YES)), -YES * np.log(P + 1e-4) - (1 - YES) * np.log(1 - P + 1e-4))
    check_gradient(lambda p: F.log_loss(p, wt.to_tensor(YES), 0.1), P)


def test_square_error_cost_promotes():
    out = F.square_error_cost(wt.to_tensor(X, dtype="float32"), wt.to_tensor(Y))
    assert out.dtype is wt.float64
    close(out, (X.astype("float32") - Y) ** 2)
    assert F.mse_loss(wt.to_tensor([1, 5]), wt.to_tensor([4, 5]), "sum").item() == 9  # integers are fine


@pytest.mark.parametrize("shape", [(4, 3), (3, 2, 2, 5)])
def test_dice_loss_is_one_minus_the_overlap(shape, check_gradient):
    x, label = softmax(rng.normal(size=shape)), rng.integers(0, shape[-1], (*shape[:-1], 1))
    hot = np.eye(shape[-1])[label[..., 0]]
    axes = tuple(range(1, len(shape)))
    expected = (1 - 2 * (x * hot).sum(axes) / (x.sum(axes) + hot.sum(axes) + 0.5)).mean()
    close(F.dice_loss(wt.to_tensor(x), wt.to_tensor(label), epsilon=0.5), expected)
    check_gradient(lambda x: F.dice_loss(x, wt.to_tensor(label)), x)


# Trees.


def path_of(c, classes):
    """Nodes and branches from the leaf to the root of a complete tree."""
    number, nodes, branches = c + classes, [], []
    while number > 1:
        nodes.append(number // 2 - 1)
        branches.append(number % 2)
        number //= 2
    return nodes, branches


@pytest.mark.parametrize("classes", [2, 3, 6, 8, 9])
def test_hsigmoid_loss_asks_each_node_on_the_way(classes, check_gradient):
    x, weight, bias = rng.normal(size=(classes, 4)), rng.normal(size=(classes - 1, 4)), rng.normal(size=(classes - 1, 1))
    paths = [path_of(c, classes) for c in range(classes)]
    longest = max(len(nodes) for nodes, _ in paths)
    expected = []
    for row, (nodes, branches) in zip(x, paths):
        product = weight[nodes] @ row + bias[nodes, 0]
        each = np.log1p(np.exp(product)) - np.array(branches) * product
        expected.append(each.sum() + (longest - len(nodes)) * math.log(2))  # Paddle's constant
    label = wt.to_tensor(np.arange(classes))
    close(F.hsigmoid_loss(wt.to_tensor(x), label, classes, wt.to_tensor(weight), wt.to_tensor(bias)), np.array(expected)[:, None])
    check_gradient(lambda x, w, b: F.hsigmoid_loss(x, label, classes, w, b), x, weight, bias)
    # The same tree as one's own, with the label as [N, 1] and the bias as [nodes].
    table, code = (np.full((classes, longest + 1), -1) for _ in range(2))
    for c, (nodes, branches) in enumerate(paths):
        table[c, : len(nodes)], code[c, : len(nodes)] = nodes, branches
    own = F.hsigmoid_loss(
        wt.to_tensor(x), label.unsqueeze(1), classes, wt.to_tensor(weight), wt.to_tensor(bias[:, 0]),
        wt.to_tensor(table), wt.to_tensor(code),
    )
    close(own, np.array(expected)[:, None] + math.log(2))


def test_hsigmoid_products_end_at_40_and_keep_their_gradient():
    x = leaf([[1000.0]])
    loss = F.hsigmoid_loss(x, wt.to_tensor([0]), 2, wt.ones([1, 1]))
    loss.backward()
    assert loss.item() == 40 and x.grad.item() == 1


def test_hsigmoid_layer_holds_a_row_for_each_node():
    layer = nn.HSigmoidLoss(3, 6)
    assert {name: p.shape for name, p in layer.named_parameters()} == {"weight": [5, 3], "bias": [5, 1]}
    assert layer(wt.ones([2, 3]), wt.to_tensor([[0], [5]])).shape == [2, 1]
    own = nn.HSigmoidLoss(3, 6, bias_attr=False, is_custom=True)
    assert own.weight.shape == [6, 3] and own.bias is None
    assert own(wt.ones([1, 3]), wt.to_tensor([0]), wt.to_tensor([[5, -1]]), wt.to_tensor([[1, -1]])).shape == [1, 1]


# Sequences. (Values and gradients of the op have their samples in wherry-tensor.)


def ways(label, steps, blank, classes):
    """All paths of so many steps that give `label`: without repetitions, then without blanks."""
    for path in itertools.product(range(classes), repeat=steps):
        if [c for c, _ in itertools.groupby(path) if c != blank] == list(label):
            yield path


@pytest.mark.parametrize("blank", [0, 2])
def test_ctc_loss_sums_over_all_paths(blank, check_gradient):
    x = rng.normal(size=(4, 3, 3))
    symbols = [c for c in range(3) if c != blank]
    labels = np.array([[symbols[0], symbols[0]], [symbols[1], symbols[0]], [symbols[1], 77]])  # 77 lies beyond its length
    times, lengths = np.array([4, 3, 2]), np.array([2, 2, 1])
    p = softmax(x)
    each = np.array([
        -np.log(sum(np.prod([p[t, b, c] for t, c in enumerate(path)]) for path in ways(labels[b, : lengths[b]], times[b], blank, 3)))
        for b in range(3)
    ])
    arguments = [wt.to_tensor(value) for value in (labels, times, lengths)]
    for reduction, expected in ("none", each), ("sum", each.sum()), ("mean", (each / lengths).mean()):
        close(F.ctc_loss(wt.to_tensor(x), *arguments, blank, reduction), expected)
        close(nn.CTCLoss(blank, reduction)(wt.to_tensor(x), *arguments), expected)
        names = ("labels", "input_lengths", "label_lengths")
        check_gradient(partial(F.ctc_loss, blank=blank, reduction=reduction, **dict(zip(names, arguments))), x)
    # Lengths and labels may have other dtypes; logits that are log probabilities already give the same.
    narrow = [value.astype("int32") for value in arguments]
    close(F.ctc_loss(wt.to_tensor(np.log(p)), *narrow, blank, "none"), each)


def test_ctc_divides_gradients_by_times():
    x, labels, lengths = rng.normal(size=(4, 2, 3)), wt.to_tensor([[1], [2]]), wt.to_tensor([1, 1])
    times = wt.to_tensor([4, 2])
    grads = []
    for norm_by_times in False, True:
        leaf_x = leaf(x)
        loss = nn.CTCLoss(reduction="sum")(leaf_x, labels, times, lengths, norm_by_times)
        loss.backward()
        grads.append((loss.item(), leaf_x.grad.numpy()))
    assert grads[0][0] == grads[1][0]
    np.testing.assert_allclose(grads[1][1], grads[0][1] / np.array([4, 2])[:, None])


def test_ctc_of_impossible_and_empty_labels():
    x = leaf(rng.normal(size=(2, 3, 3)))
    labels, times, lengths = wt.to_tensor([[1, 1], [1, 2], [1, 1]]), wt.to_tensor([2, 1, 2]), wt.to_tensor([2, 2, 0])
    loss = F.ctc_loss(x, labels, times, lengths, reduction="none")
    p = softmax(x.numpy())
    close(loss, [0, 0, -math.log(p[0, 2, 0] * p[1, 2, 0])])
    assert math.isfinite(F.ctc_loss(x, labels, times, lengths).item())  # no division by the length 0
    loss.sum().backward()
    assert (x.grad.numpy()[:, :2] == 0).all()


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_ctc_of_long_and_sure_sequences_stays_finite(dtype):
    # The network is sure of blanks all the time, and the label takes every second step.
    logits = np.zeros((400, 1, 3))
    logits[:, :, 0] = 60
    x = leaf(logits, dtype)
    labels = wt.to_tensor(np.tile([1, 2], 100)[None])
    loss = F.ctc_loss(x, labels, wt.to_tensor([400]), wt.to_tensor([200]), reduction="none")
    # 200 symbols, each 60 beside the blank; nearly all of the choices of their steps cost no more.
    count = math.lgamma(401) - 2 * math.lgamma(201)
    np.testing.assert_allclose(loss.astype("float64").numpy(), [200 * 60 - count], rtol=1e-2 if dtype[-2:] == "16" else 1e-3)
    loss.backward()
    got = x.grad.astype("float64").numpy()
    assert np.isfinite(got).all()
    np.testing.assert_allclose(got.sum(), 0, atol=0.5 if dtype[-2:] == "16" else 1e-3)
    np.testing.assert_allclose(got[:, 0, 0].sum(), 200, rtol=1e-2)


@pytest.mark.parametrize("norm_by_times", [False, True])
@pytest.mark.parametrize("reduction", ["none", "sum", "mean"])
@pytest.mark.parametrize("blank", [0, 1, 3])
def test_gradients_of_ctc_have_derivatives(blank, reduction, norm_by_times):
    classes = [c for c in range(4) if c != blank]
    # Repeated symbols, a label without symbols, one that no path gives, an example without steps.
    labels = [[classes[0], classes[0], classes[1]], [classes[2], classes[1], 9], [9, 9, 9], [classes[0]] * 3, [9, 9, 9]]
    arguments = [wt.to_tensor(np.array(v)) for v in (labels, [6, 5, 3, 4, 0], [3, 2, 0, 3, 0])]
    x, direction, weight = rng.normal(size=(6, 5, 4)), rng.normal(size=(6, 5, 4)), wt.to_tensor(rng.normal(size=5))

    def slope(values, create_graph=False):
        at = leaf(values)
        loss = F.ctc_loss(at, *arguments, blank, reduction, norm_by_times)
        (found,) = grad((loss * weight).sum() if reduction == "none" else loss, at, create_graph=create_graph)
        return at, found

    at, found = slope(x, create_graph=True)
    (second,) = grad((found * wt.to_tensor(direction)).sum(), at)
    for _ in range(5):
        move = rng.normal(size=x.shape)
        difference = (slope(x + 1e-5 * move)[1].numpy() - slope(x - 1e-5 * move)[1].numpy()) / 2e-5
        np.testing.assert_allclose((second.numpy() * move).sum(), (difference * direction).sum(), rtol=1e-6, atol=1e-8)


def test_third_derivative_of_ctc_is_refused():
    x = leaf(rng.normal(size=(3, 1, 3)))
    loss = F.ctc_loss(x, wt.to_tensor([[1]]), wt.to_tensor([3]), wt.to_tensor([1]))
    (slope,) = grad(loss, x, create_graph=True)
    (second,) = grad((slope * slope).sum(), x, create_graph=True)
    with pytest.raises(NotImplementedError, match="its second derivative has no derivative"):
        second.sum().backward()


# Errors.

ONE = wt.ones([2, 3])
LABEL = wt.to_tensor([0, 1])


@pytest.mark.parametrize(
    ("call", "error", "match"),
    [
        (lambda: F.cross_entropy(ONE, LABEL, reduction="avg"), InvalidArgumentError, "reduction='avg'"),
        (lambda: F.cross_entropy(ONE, LABEL + 2), IndexError, r"label 3 \(element 1\) is out of range"),
        (lambda: F.cross_entropy(ONE, LABEL - 1), IndexError, "label -1"),
        (lambda: F.cross_entropy(ONE, LABEL, axis=2), ValueError, r"axis 2 is out of range"),
        (lambda: F.cross_entropy(ONE, LABEL, axis=0), ValueError, r"expected a label of shape \[1, 3\]"),
        (lambda: F.cross_entropy(ONE, LABEL[:1]), ValueError, r"expected a label of shape \[2, 1\]"),
        (lambda: F.cross_entropy(ONE, LABEL, wt.ones([2])), ValueError, "one number for each class"),
        (lambda: F.cross_entropy(ONE, LABEL, soft_label=True), ValueError, "label"),
        (lambda: F.cross_entropy(ONE, ONE, soft_label=True, ignore_index=1), ValueError, "ignore_index does not go with soft labels"),
        (lambda: F.cross_entropy(ONE, ONE[:1], soft_label=True, use_softmax=False), ValueError, r"expected \[2, 3\]"),
        (lambda: F.cross_entropy(ONE, LABEL, label_smoothing=1.5), ValueError, r"a number in \[0, 1\]"),
        (lambda: F.cross_entropy(ONE, LABEL + 2, label_smoothing=0.5), IndexError, "cross_entropy: value 3"),
        (lambda: F.cross_entropy(ONE, LABEL[:1], label_smoothing=0.5), ValueError, r"expected a label of \[2, 1\]"),
        (lambda: F.cross_entropy(None, LABEL), InvalidTypeError, "'input' must be a Tensor. Got None"),
        (lambda: F.cross_entropy(ONE, [0, 1]), InvalidTypeError, "'label' must be a Tensor. Got list"),
        (lambda: F.cross_entropy(ONE, LABEL, [1, 1, 1]), InvalidTypeError, "'weight' must be a Tensor"),
        (lambda: F.cross_entropy(ONE.astype("int64"), LABEL), InvalidTypeError, "is not floating. Got dtype int64"),
        (lambda: F.cross_entropy(ONE, LABEL.astype("complex64")), InvalidTypeError, "`label` has dtype complex64"),
        (lambda: F.cross_entropy(ONE.astype("int64"), ONE, soft_label=True), InvalidTypeError, "is not floating"),
        (lambda: F.cross_entropy(ONE, LABEL, ignore_index=None), InvalidTypeError, "'ignore_index' must be one integer"),
        (lambda: F.nll_loss(ONE, LABEL, ignore_index=0.5), InvalidTypeError, "'ignore_index' must be one integer"),
        (lambda: F.cross_entropy(ONE, LABEL, wt.ones([2]), use_softmax=False), ValueError, r"expected \[3\]"),
        (lambda: F.cross_entropy(ONE, ONE, wt.ones([2]), soft_label=True), ValueError, r"expected \[3\]"),
        (lambda: F.softmax_with_cross_entropy(ONE.astype("int64"), LABEL), InvalidTypeError, "logits is not floating"),
        (lambda: F.softmax_with_cross_entropy(ONE, LABEL, axis=5), ValueError, "axis 5 is out of range"),
        (lambda: F.softmax_with_cross_entropy(ONE.numpy(), LABEL), InvalidTypeError, "'logits' must be a Tensor"),
        (lambda: F.nll_loss(ONE[0], LABEL[0]), ValueError, r"classes are in axis 1.*Got shape \[3\]"),
        (lambda: F.nll_loss(ONE, LABEL + 2), IndexError, "label 3"),
        (lambda: F.nll_loss(ONE, LABEL + 2), ValueError, "label 3"),
        (lambda: F.nll_loss(ONE, LABEL, wt.ones([2])), ValueError, "one number for each class"),
        (lambda: F.nll_loss(ONE, LABEL, reduction="max"), ValueError, "reduction='max'"),
        (lambda: F.binary_cross_entropy(ONE, ONE[0]), ValueError, "must have (one|the same) shape"),
        (lambda: F.binary_cross_entropy(ONE.astype("int64"), ONE), InvalidTypeError, "has dtype int64"),
        (lambda: F.binary_cross_entropy(ONE, None), InvalidTypeError, "'label' must be a Tensor"),
        (lambda: F.binary_cross_entropy(ONE, ONE, reduction=None), ValueError, "reduction=None"),
        (lambda: F.binary_cross_entropy_with_logits(ONE, ONE[0]), ValueError, "must have (one|the same) shape"),
        (lambda: F.binary_cross_entropy_with_logits(ONE, ONE[0], pos_weight=ONE), ValueError, "logit and label must have the same shape"),
        (lambda: F.binary_cross_entropy_with_logits(ONE, ONE, pos_weight=2.0), InvalidTypeError, "'pos_weight' must be a Tensor"),
        (lambda: F.binary_cross_entropy_with_logits(ONE.astype("int64"), ONE), InvalidTypeError, "int64"),
        (lambda: F.binary_cross_entropy_with_logits(ONE, ONE, weight=wt.ones([2])), ValueError, "broadcast"),
        (lambda: F.binary_cross_entropy(ONE, ONE.astype("complex64")), InvalidTypeError, "a complex number is not a label"),
        (lambda: F.kl_div(ONE, ONE.astype("complex64")), InvalidTypeError, "a complex number is not a label"),
        (lambda: F.smooth_l1_loss(ONE.astype("int64"), ONE.astype("int64")), InvalidTypeError, "is not floating"),
        (lambda: F.mse_loss(ONE, wt.ones([2, 2])), ValueError, "do not broadcast"),
        (lambda: F.mse_loss(ONE, LABEL), InvalidTypeError, "'input' and 'label' must have one dtype. Got float32 and int64"),
        (lambda: F.mse_loss(ONE.numpy(), ONE), InvalidTypeError, "'input' must be a Tensor. Got ndarray"),
        (lambda: F.mse_loss(ONE, ONE, "median"), ValueError, "reduction='median'"),
        (lambda: F.l1_loss(ONE, 1.0), InvalidTypeError, "'label' must be a Tensor"),
        (lambda: F.smooth_l1_loss(ONE, ONE[0]), ValueError, "input and label must have the same shape"),
        (lambda: F.smooth_l1_loss(ONE, ONE, delta=-1), ValueError, "delta=-1"),
        (lambda: F.smooth_l1_loss(ONE, ONE, delta=math.nan), ValueError, "delta=nan"),
        (lambda: F.kl_div(ONE, ONE[0]), ValueError, "must have (one|the same) shape"),
        (lambda: F.kl_div(ONE, ONE, "batch"), ValueError, "'batchmean'"),
        (lambda: F.log_loss(ONE, ONE[:1]), ValueError, "must have (one|the same) shape"),
        (lambda: F.sigmoid_focal_loss(ONE, ONE, wt.ones([2])), ValueError, "normalizer is one number"),
        (lambda: F.sigmoid_focal_loss(ONE, ONE, wt.ones([1, 1])), ValueError, "normalizer is one number"),
        (lambda: F.sigmoid_focal_loss(ONE, ONE, 2.0), InvalidTypeError, "'normalizer' must be a Tensor"),
        (lambda: F.sigmoid_focal_loss(ONE, ONE[0]), ValueError, "logit and label must have the same shape"),
        (lambda: F.poisson_nll_loss(ONE, ONE, epsilon=0), ValueError, "above 0"),
        (lambda: F.gaussian_nll_loss(ONE, ONE, ONE[0]), ValueError, "the variance does not fit"),
        # Values are looked at where the host can see them.
        (lambda: F.gaussian_nll_loss(ONE.cpu(), ONE.cpu(), -ONE.cpu()), ValueError, "a variance is negative"),
        (lambda: F.dice_loss(ONE, LABEL), AssertionError, r"expected \[2, 1\]"),
        (lambda: F.dice_loss(ONE, LABEL.unsqueeze(1).astype("float32")), AssertionError, "numbers of classes"),
        (lambda: F.dice_loss(wt.zeros([0, 3]), wt.zeros([0, 1], "int64")), AssertionError, "the input is empty"),
        (lambda: F.hsigmoid_loss(ONE, LABEL, 1, wt.ones([0, 3])), ValueError, "num_classes=1"),
        (lambda: F.hsigmoid_loss(ONE, LABEL + 4, 5, wt.ones([4, 3])), IndexError, r"labels in \[0, 5\)"),
        (lambda: F.hsigmoid_loss(ONE, LABEL, 5, wt.ones([5, 3])), ValueError, r"expected \[4, 3\]"),
        (lambda: F.hsigmoid_loss(ONE, LABEL, 5, wt.ones([4, 3]), wt.ones([5])), ValueError, r"expected \[4, 1\]"),
        (lambda: F.hsigmoid_loss(ONE, LABEL, 5, wt.ones([4, 3]), path_table=LABEL), ValueError, "only one of"),
        (lambda: F.hsigmoid_loss(ONE, LABEL, 5, wt.ones([4, 3]), None, LABEL, LABEL), ValueError, "path_table does not describe"),
        (lambda: F.hsigmoid_loss(ONE, LABEL, 5, wt.ones([4, 3]), None, wt.full([2, 1], 9, "int64"), wt.ones([2, 1], "int64")),
         IndexError, "a node without a row"),
        (lambda: F.hsigmoid_loss(ONE, ONE[:, 0], 5, wt.ones([4, 3])), InvalidTypeError, "numbers of classes"),
        (lambda: F.ctc_loss(ONE, LABEL, LABEL, LABEL), ValueError, "three axes"),
        (lambda: F.ctc_loss(wt.ones([4, 2, 3]), LABEL, LABEL, LABEL), ValueError, "`labels` has 1 axes"),
        (lambda: F.ctc_loss(wt.ones([4, 2, 3]), ONE, LABEL, LABEL), InvalidTypeError, "labels has the wrong dtype. Got float32"),
        (lambda: F.ctc_loss(wt.ones([4, 2, 3], "int64"), ONE, LABEL, LABEL), InvalidTypeError, "log_probs has the wrong dtype"),
        (lambda: F.ctc_loss(wt.ones([4, 2, 3]), wt.ones([2, 2], "int64"), LABEL + 4, LABEL), ValueError, "input_lengths"),
        (lambda: F.ctc_loss(wt.ones([4, 2, 3]), wt.ones([2, 2], "int64"), LABEL, LABEL + 2), ValueError, "label_lengths"),
        (lambda: F.ctc_loss(wt.ones([4, 2, 3]), wt.ones([2, 2], "int64"), LABEL, LABEL, blank=1), ValueError, "other than blank=1"),
        (lambda: F.ctc_loss(wt.ones([4, 2, 3]), wt.ones([2, 2], "int64"), LABEL, LABEL, blank=3), ValueError, "blank=3"),
        (lambda: F.ctc_loss(wt.ones([4, 2, 3]), wt.ones([2, 2], "int64"), LABEL, LABEL[:1]), ValueError, "the batch sizes of the inputs differ"),
        (lambda: nn.HSigmoidLoss(3, 1), ValueError, "must not be less than 2"),
        (lambda: nn.HSigmoidLoss(0, 4), AssertionError, "feature_size=0"),
        (lambda: nn.PoissonNLLLoss(epsilon=-1), ValueError, "above 0"),
    ],
)
def test_wrong_arguments_are_refused(call, error, match):
    with pytest.raises(error, match=match):
        call()


@pytest.mark.parametrize(
    "layer",
    [nn.BCELoss, nn.BCEWithLogitsLoss, nn.CTCLoss, nn.CrossEntropyLoss, nn.GaussianNLLLoss, nn.KLDivLoss, nn.L1Loss, nn.MSELoss,
     nn.NLLLoss, nn.PoissonNLLLoss, nn.SmoothL1Loss],
)
def test_layers_know_their_reductions_and_show_no_settings(layer):
    assert repr(layer()) == f"{layer.__name__}()"
    assert not layer().state_dict()
    with pytest.raises(ValueError, match=f"{layer.__name__}: there is no such reduction"):
        layer(reduction="average")


def test_soft_cross_entropy_needs_an_axis_of_classes():
    with pytest.raises(InvalidArgumentError, match=r"cross_entropy: 'input' has the wrong number of axes. Got shape \[\]"):
        F.cross_entropy(wt.ones([]), wt.ones([]), soft_label=True, label_smoothing=0.1)


def test_a_label_of_another_rank_is_told_in_the_words_of_cross_entropy():
    with pytest.raises(ValueError, match=r"cross_entropy: .* Got a label of shape \[2\] for input of shape \[2, 3, 4\], expected \[2, 3\]"):
        F.cross_entropy(wt.rand([2, 3, 4]), wt.zeros([2], "int64"))
