"""Losses with margins: values from their definitions, gradients, edges, errors."""
import math

import numpy as np
import pytest

import wherry_nn as nn
import wherry_nn.functional as F
import wherry_tensor as wt
from wherry_tensor.errors import InvalidTypeError

rng = np.random.default_rng(11)
REDUCTIONS = ["mean", "sum", "none"]
X, Y, Z = (rng.normal(size=(5, 3)) for _ in range(3))
SIGN = np.array([[1.0, -1, 1], [-1, 1, 1], [1, 1, -1], [-1, -1, 1], [1, -1, -1]])
W = rng.random(3) + 0.5
CLASS = np.array([0, 2, 1, 1, 2])


def leaf(array, dtype=None):
    x = wt.to_tensor(array, dtype=dtype)
    x.stop_gradient = False
    return x


def hinge(x):
    return np.maximum(x, 0)


def norm(x, p):
    return np.linalg.norm(x + 1e-6, ord=p, axis=-1)


def cosine(x, y):
    return (x * y).sum(-1) / np.sqrt((x * x).sum(-1) * (y * y).sum(-1))


def nearest_rival(power, margin, weight):
    def loss(x, label):
        right = x[np.arange(5), label][:, None]
        each = hinge(margin - right + x) ** power
        each[np.arange(5), label] = 0
        return each.sum(1) / 3 * (1 if weight is None else weight[label])

    return loss


def triplet(p, margin, swap):
    def loss(x, y, z):
        far = norm(x - z, p)
        if swap:
            far = np.minimum(far, norm(y - z, p))
        return hinge(norm(x - y, p) - far + margin)

    return loss


def one_sided(x, y, label):
    return np.where(label == 1, 1 - cosine(x, y), np.where(label == -1, hinge(cosine(x, y) - 0.1), 0))


# function, layer, arguments, inputs, definition, how many inputs get gradients
LOSSES = [
    (F.margin_ranking_loss, nn.MarginRankingLoss, {}, (X, Y, SIGN), lambda x, y, s: hinge(-s * (x - y)), 2),
    (F.margin_ranking_loss, nn.MarginRankingLoss, dict(margin=0.4), (X, Y[0], SIGN[0]), lambda x, y, s: hinge(0.4 - s * (x - y)), 2),
    (F.hinge_embedding_loss, nn.HingeEmbeddingLoss, {}, (X, SIGN), lambda x, s: np.where(s == 1, x, hinge(1 - x)), 1),
    (F.hinge_embedding_loss, nn.HingeEmbeddingLoss, dict(margin=0.3), (X, SIGN[0] * [1, 0, 1]),
     lambda x, s: np.where(s == 1, x, 0), 1),  # other labels cost nothing
    (F.soft_margin_loss, nn.SoftMarginLoss, {}, (X, SIGN), lambda x, s: np.log1p(np.exp(-s * x)), 1),
    (F.multi_label_soft_margin_loss, nn.MultiLabelSoftMarginLoss, {}, (X, SIGN > 0),
     lambda x, y: np.log1p(np.exp(np.where(y, -x, x))).mean(1), 1),
    (F.multi_label_soft_margin_loss, nn.MultiLabelSoftMarginLoss, dict(weight=W), (X, SIGN > 0),
     lambda x, y: (W * np.log1p(np.exp(np.where(y, -x, x)))).mean(1), 1),
    (F.multi_margin_loss, nn.MultiMarginLoss, {}, (X, CLASS), nearest_rival(1, 1, None), 1),
    (F.multi_margin_loss, nn.MultiMarginLoss, dict(p=2, margin=0.7, weight=W), (X, CLASS), nearest_rival(2, 0.7, W), 1),
    (F.cosine_embedding_loss, nn.CosineEmbeddingLoss, dict(margin=0.1), (X, Y, np.array([1, -1, -1, 0, -1])), one_sided, 2),
    (F.cosine_embedding_loss, nn.CosineEmbeddingLoss, dict(margin=0.1), (X[0], Y[0], np.array([1])), one_sided, 2),
    (F.triplet_margin_loss, nn.TripletMarginLoss, {}, (X, Y, Z), triplet(2, 1, False), 3),
    (F.triplet_margin_loss, nn.TripletMarginLoss, dict(margin=3.0, p=1, swap=True), (X, Y, Z), triplet(1, 3, True), 3),
    (F.triplet_margin_with_distance_loss, nn.TripletMarginWithDistanceLoss, dict(swap=True), (X, Y, Z), triplet(2, 1, True), 3),
    (F.triplet_margin_with_distance_loss, nn.TripletMarginWithDistanceLoss,
     dict(distance_function=lambda x, y: (x - y).abs().sum(-1), margin=2.0), (X, Y, Z),
     lambda x, y, z: hinge(abs(x - y).sum(-1) - abs(x - z).sum(-1) + 2), 3),
]


@pytest.mark.parametrize(("function", "layer", "arguments", "inputs", "definition", "differentiable"), LOSSES)
@pytest.mark.parametrize("reduction", REDUCTIONS)
def test_losses_follow_their_definitions(function, layer, arguments, inputs, definition, differentiable, reduction, check_gradient):
    arguments = {name: wt.to_tensor(value) if isinstance(value, np.ndarray) else value for name, value in arguments.items()}
    expected = {"mean": np.mean, "sum": np.sum, "none": np.asarray}[reduction](definition(*inputs))
    tensors = [wt.to_tensor(array) for array in inputs]
    for found in function(*tensors, reduction=reduction, **arguments), layer(reduction=reduction, **arguments)(*tensors):
        assert found.shape == list(np.shape(expected)) or (reduction == "none" and found.size == expected.size == 1)
        np.testing.assert_allclose(found.numpy().reshape(np.shape(expected)), expected, rtol=1e-9, atol=1e-11)
    check_gradient(lambda *x: function(*x, *tensors[differentiable:], reduction=reduction, **arguments), *inputs[:differentiable])


@pytest.mark.parametrize(("function", "layer", "arguments", "inputs", "definition", "differentiable"), LOSSES)
@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_losses_keep_the_dtype(function, layer, arguments, inputs, definition, differentiable, dtype):
    if any(isinstance(value, np.ndarray) for value in arguments.values()):
        arguments = {k: wt.to_tensor(v) if isinstance(v, np.ndarray) else v for k, v in arguments.items()}  # wider: rounded
    floating = [leaf(array, dtype) for array in inputs[:differentiable]]
    others = [wt.to_tensor(array) for array in inputs[differentiable:]]
    found = function(*floating, *others, reduction="none", **arguments)
    assert found.dtype.name == dtype
    exact = definition(*(x.astype("float64").numpy() for x in floating), *inputs[differentiable:])
    step = 2e-2 if dtype == "float16" else 0.15
    np.testing.assert_allclose(found.astype("float64").numpy().reshape(exact.shape), exact, rtol=step, atol=step)


def test_soft_margins_of_extreme_scores_are_finite():
    for function, no in (F.soft_margin_loss, -1.0), (F.multi_label_soft_margin_loss, 0.0):
        x = leaf([[300.0, -300.0, 300.0]])
        loss = function(x, wt.to_tensor([[1.0, 1.0, no]]), reduction="sum")
        loss.backward()
        assert loss.item() == pytest.approx(600 if no else 200)
        assert np.isfinite(x.grad.numpy()).all()


def test_embeddings_of_zeros_have_finite_gradients():
    for function, label in (F.cosine_embedding_loss, [wt.ones([2])]), (F.triplet_margin_loss, [wt.zeros([2, 3])]):
        x, y = leaf(np.zeros((2, 3))), leaf(np.zeros((2, 3)))
        function(x, y, *label).backward()
        assert np.isfinite(x.grad.numpy()).all() and np.isfinite(y.grad.numpy()).all()


# Softmax with margins.


def with_margins(x, label, m1, m2, m3, scale):
    x = x.copy()
    rows = np.arange(len(x))
    x[rows, label] = np.cos(m1 * np.arccos(x[rows, label]) + m2) - m3
    e = np.exp(scale * x - (scale * x).max(1, keepdims=True))
    p = e / e.sum(1, keepdims=True)
    return -np.log(p[rows, label])[:, None], p


@pytest.mark.parametrize("margins", [(1.0, 0.5, 0.0), (1.0, 0.0, 0.35), (1.3, 0.2, 0.1), (1.0, 0.0, 0.0)])
@pytest.mark.parametrize("reduction", [*REDUCTIONS, None])
def test_margin_cross_entropy(margins, reduction, check_gradient):
    x = np.tanh(X)
    m1, m2, m3 = margins
    arguments = dict(margin1=m1, margin2=m2, margin3=m3, scale=8.0, reduction=reduction)
    loss, p = with_margins(x, CLASS, m1, m2, m3, 8.0)
    expected = {"mean": np.mean, "sum": np.sum}.get(reduction, np.asarray)(loss)
    for label in wt.to_tensor(CLASS), wt.to_tensor(CLASS[:, None].astype("int32")):
        found, softmax = F.margin_cross_entropy(wt.to_tensor(x), label, return_softmax=True, **arguments)
        assert found.shape == list(np.shape(expected))
        np.testing.assert_allclose(found.numpy(), expected, rtol=1e-9)
        np.testing.assert_allclose(softmax.numpy(), p, rtol=1e-9)
    check_gradient(lambda x: F.margin_cross_entropy(x, wt.to_tensor(CLASS), **arguments), x)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_cosines_at_and_beyond_one_have_finite_gradients(dtype):
    x = leaf(np.array([[1.0, 0.2], [-1.0, 0.1], [1.001, 0.5]]), dtype)
    loss = F.margin_cross_entropy(x, wt.to_tensor([0, 0, 0]))
    loss.backward()
    assert math.isfinite(loss.item()) and np.isfinite(x.grad.astype("float64").numpy()).all()


# N pairs.


@pytest.mark.parametrize("labels", [[0, 1, 2, 3, 4], [0, 1, 0, 2, 1]])
def test_npair_loss(labels, check_gradient):
    labels = np.array(labels)
    same = (labels[:, None] == labels).astype(float)
    share = same / same.sum(1, keepdims=True)
    products = X @ Y.T
    log_p = products - np.log(np.exp(products).sum(1, keepdims=True))
    row = -(share * log_p).sum(1, keepdims=True)
    expected = (share * row).sum(0).mean() + 0.25 * 0.1 * ((X**2).sum(1).mean() + (Y**2).sum(1).mean())
    for dtype in "int64", "float32":
        found = F.npair_loss(wt.to_tensor(X), wt.to_tensor(Y), wt.to_tensor(labels, dtype=dtype), l2_reg=0.1)
        np.testing.assert_allclose(found.item(), expected)
    check_gradient(lambda x, y: F.npair_loss(x, y, wt.to_tensor(labels)), X, Y)


# Errors.

ONE = wt.ones([2, 3])
LABEL = wt.to_tensor([0, 1])


@pytest.mark.parametrize(
    ("call", "error", "match"),
    [
        (lambda: F.margin_ranking_loss(ONE, ONE, wt.ones([2])), ValueError, "broadcast"),
        (lambda: F.margin_ranking_loss(ONE.astype("int64"), ONE, ONE), InvalidTypeError, "is not floating"),
        (lambda: F.margin_ranking_loss(ONE, 1.0, ONE), InvalidTypeError, "'other' must be a Tensor"),
        (lambda: F.hinge_embedding_loss(ONE, wt.ones([2])), ValueError, "broadcast"),
        (lambda: F.soft_margin_loss(ONE, ONE[0]), ValueError, "must have the same shape"),
        (lambda: F.multi_label_soft_margin_loss(ONE, ONE[0]), ValueError, "must have the same shape"),
        (lambda: F.multi_margin_loss(ONE, LABEL[:1]), ValueError, r"expected \[N, classes\] and \[N\]"),
        (lambda: F.multi_margin_loss(ONE, LABEL + 3), IndexError, "multi_margin_loss: label 3"),
        (lambda: F.multi_margin_loss(ONE, LABEL + 3), ValueError, "label 3"),
        (lambda: F.multi_margin_loss(ONE, LABEL, weight=wt.ones([2])), ValueError, r"expected \[3\]"),
        (lambda: F.multi_margin_loss(ONE, ONE[:, 0]), InvalidTypeError, "numbers of classes"),
        (lambda: F.cosine_embedding_loss(ONE, ONE[:1], LABEL), ValueError, "shapes do not fit"),
        (lambda: F.cosine_embedding_loss(ONE[0], ONE[0], LABEL), ValueError, "shapes do not fit"),
        (lambda: F.cosine_embedding_loss(ONE[None], ONE[None], LABEL), ValueError, "shapes do not fit"),
        (lambda: nn.CosineEmbeddingLoss(margin=2), ValueError, r"\[-1, 1\]"),
        (lambda: F.triplet_margin_loss(ONE, ONE, ONE[0]), ValueError, r"Got negative of shape \[3\]"),
        (lambda: F.triplet_margin_loss(ONE, ONE, ONE, margin=-1), ValueError, "margin=-1"),
        (lambda: F.triplet_margin_loss(ONE, None, ONE), InvalidTypeError, "'positive' must be a Tensor"),
        # Values are looked at where the host can see them.
        (lambda: F.triplet_margin_with_distance_loss(*[ONE.cpu()] * 3, lambda x, y: (x - y).sum(-1) - 1), ValueError, "negative numbers"),
        (lambda: F.npair_loss(ONE, ONE[:1], LABEL), ValueError, "shapes do not fit"),
        (lambda: F.margin_cross_entropy(ONE, LABEL[:1]), ValueError, "do not fit"),
        (lambda: F.margin_cross_entropy(ONE, LABEL + 3), IndexError, "label 3"),
        (lambda: F.margin_cross_entropy(ONE, ONE[:, 0]), InvalidTypeError, "numbers of classes"),
        (lambda: F.margin_cross_entropy(ONE, LABEL, reduction="avg"), ValueError, "'none' or None"),
        (lambda: F.margin_cross_entropy(ONE, LABEL, group=type("Group", (), {"nranks": 2})()), NotImplementedError, "one process"),
    ],
)
def test_wrong_arguments_are_refused(call, error, match):
    with pytest.raises(error, match=match):
        call()


@pytest.mark.parametrize(
    "layer",
    [nn.CosineEmbeddingLoss, nn.HingeEmbeddingLoss, nn.MarginRankingLoss, nn.MultiLabelSoftMarginLoss, nn.MultiMarginLoss,
     nn.SoftMarginLoss, nn.TripletMarginLoss, nn.TripletMarginWithDistanceLoss],
)
def test_layers_know_their_reductions_and_show_no_settings(layer):
    assert repr(layer()) == f"{layer.__name__}()"
    with pytest.raises(ValueError, match=f"{layer.__name__}: there is no such reduction"):
        layer(reduction="average")
