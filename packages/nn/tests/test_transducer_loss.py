"""The loss of recurrent transducers against the sum over all ways, and its gradient."""
import itertools
import math

import numpy as np
import pytest

import wherry_tensor as wt
from wherry_autograd import grad
from wherry_nn import RNNTLoss
from wherry_nn.functional import log_softmax, rnnt_loss
from wherry_tensor.arguments import at_hand

RNG = np.random.default_rng(0)


def every_way(scores, label, steps, blank):
    """The probability of the label: over all orders of reading and writing, in which the last act is a blank."""
    total = 0.0
    for when in itertools.combinations(range(steps - 1 + len(label)), len(label)):
        t = u = 0
        logarithm = 0.0
        for act in range(steps - 1 + len(label)):
            if act in when:
                logarithm += scores[t, u, label[u]]
                u += 1
            else:
                logarithm += scores[t, u, blank]
                t += 1
        total += math.exp(logarithm + scores[steps - 1, len(label), blank])
    return -math.log(total)


def drawn(*shape):
    x = wt.to_tensor(RNG.normal(size=shape), stop_gradient=False)
    return x, log_softmax(x)


LABEL = wt.to_tensor([[1, 2, 4], [3, 4, 0], [2, 0, 0]], "int32")
STEPS, LENGTHS = wt.to_tensor([4, 3, 1], "int32"), wt.to_tensor([3, 2, 0], "int32")


@pytest.mark.parametrize("blank", [0, 3])
def test_the_loss_is_that_of_all_ways(blank):
    _, scores = drawn(3, 4, 4, 5)
    filled = wt.where(wt.arange(3) < LENGTHS.unsqueeze(1), LABEL, wt.full([3, 3], -7, "int32"))
    loss = rnnt_loss(scores, filled, STEPS, LENGTHS, blank, 0.0, "none")
    expected = [
        every_way(scores[b].numpy(), LABEL[b, : LENGTHS[b].item()].tolist(), STEPS[b].item(), blank) for b in range(3)
    ]
    np.testing.assert_allclose(loss.numpy(), expected, rtol=1e-9)
    np.testing.assert_allclose(rnnt_loss(scores, LABEL, STEPS, LENGTHS, blank).item(), np.mean(expected), rtol=1e-9)
    np.testing.assert_allclose(RNNTLoss(blank, reduction="sum")(scores, LABEL, STEPS, LENGTHS).item(), np.sum(expected), rtol=1e-9)


def test_gradients_and_theirs_are_those_of_the_loss():
    x, _ = drawn(3, 4, 4, 5)
    direction, step = wt.to_tensor(RNG.normal(size=x.shape)), 1e-5

    def slope(values):
        (slopes,) = grad(rnnt_loss(log_softmax(values), LABEL, STEPS, LENGTHS, 0, 0.0, "sum"), values, create_graph=True)
        return slopes

    def loss(values):
        return rnnt_loss(log_softmax(values), LABEL, STEPS, LENGTHS, 0, 0.0, "sum").item()

    np.testing.assert_allclose(
        (slope(x) * direction).sum().item(), (loss(x + step * direction) - loss(x - step * direction)) / (2 * step), rtol=1e-6
    )
    (second,) = grad((slope(x) * direction).sum(), x)
    expected = (slope(x + step * direction).numpy() - slope(x - step * direction).numpy()) / (2 * step)
    np.testing.assert_allclose(second.numpy(), expected, rtol=1e-5, atol=1e-8)
    assert not slope(x)[2, 1:].numpy().any(), "what lies beyond the lengths has no gradient"


def test_fast_emission_favours_symbols_in_the_gradient_alone():
    scores = wt.to_tensor(RNG.normal(size=(3, 4, 4, 5)), stop_gradient=False)
    plain, fast = (rnnt_loss(scores, LABEL, STEPS, LENGTHS, 0, favour, "sum") for favour in (0.0, 0.5))
    assert plain.item() == fast.item()
    ratio = grad(fast, scores)[0].numpy() / np.where(grad(plain, scores)[0].numpy() == 0, np.nan, grad(plain, scores)[0].numpy())
    assert np.allclose(ratio[..., 0][~np.isnan(ratio[..., 0])], 1.0) and np.allclose(ratio[..., 1:][~np.isnan(ratio[..., 1:])], 1.5)


def test_other_dtypes():
    _, scores = drawn(3, 4, 4, 5)
    exact = rnnt_loss(scores, LABEL, STEPS, LENGTHS, reduction="none").numpy()
    for dtype, tolerance in (("float32", 1e-5), ("float16", 1e-2)):
        loss = rnnt_loss(scores.astype(dtype), LABEL.astype("int64"), STEPS, LENGTHS, reduction="none")
        assert loss.dtype.name == dtype
        np.testing.assert_allclose(loss.astype("float64").numpy(), exact, rtol=tolerance)


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"reduction": "x"}, "reduction"),
        ({"input": wt.zeros([3, 4, 5])}, "shapes do not fit"),
        ({"label": wt.zeros([3, 4], "int32")}, r"shapes do not fit.*label \[3, 4\]"),
        ({"label": wt.zeros([3, 3])}, "label has the wrong dtype. Got float32"),
        ({"blank": 5}, "blank is out of range"),
        ({"input_lengths": wt.to_tensor([5, 1, 1])}, "input_lengths do not fit. Got 5, expected 1 to 4"),
        ({"input_lengths": wt.to_tensor([0, 1, 1])}, "input_lengths do not fit. Got 0"),
        ({"label_lengths": wt.to_tensor([4, 1, 1])}, "label_lengths do not fit. Got 4, expected 0 to 3"),
        ({"label": wt.full([3, 3], 5, "int32")}, "a symbol is out of range. Got 5"),
    ],
)
def test_what_does_not_fit_is_named(change, match):
    if match.endswith("Got 0") and not at_hand(change["input_lengths"]):
        pytest.skip("lengths that lie on a device are not read; no steps at all are then taken for the last one")
    late = match.endswith("Got 5") and not at_hand(change["label"])  # then a kernel finds it
    with pytest.raises(IndexError if late else ValueError, match="index 5 .*out of range" if late else match):
        rnnt_loss(**{"input": wt.zeros([3, 4, 4, 5]), "label": LABEL, "input_lengths": STEPS, "label_lengths": LENGTHS, **change})
