"""FLAGS_paddle_clip: values that Paddle 2.6.2 gave on a CPU, and gradients of numbers as they are."""
import math

import numpy as np
import pytest

import wherry_tensor as wt
from wherry_nn import functional as F
from wherry_tensor import flags

LEAST = math.exp(-64)


@pytest.fixture
def clip():
    flags.set_flags({"FLAGS_paddle_clip": True})
    yield
    flags.set_flags({"FLAGS_paddle_clip": False})


def test_no_number_lies_further_than_64_below_the_largest(clip):
    x = wt.to_tensor([[0.0, -70.0, -200.0], [0.0, 0.0, -70.0]])
    assert F.log_softmax(x)[0].tolist() == [0.0, -64.0, -64.0]
    np.testing.assert_allclose(F.log_softmax(x)[1].numpy(), [-math.log(2), -math.log(2), -64 - math.log(2)], rtol=1e-6)
    np.testing.assert_allclose(F.softmax(x).numpy(), [[1, LEAST, LEAST], [0.5, 0.5, LEAST / 2]], rtol=1e-5)
    np.testing.assert_allclose(F.log_softmax(x.T, axis=0).T.numpy(), F.log_softmax(x).numpy())


def test_losses_are_at_most_64(clip):
    x, wide = wt.to_tensor([[200.0, 0.0]]), wt.to_tensor([[200.0, 0.0]], dtype="float64")
    label = wt.to_tensor([1])
    assert float(F.cross_entropy(x, label)) == float(F.cross_entropy(wide, label)) == 64.0
    assert float(F.cross_entropy(x, wt.to_tensor([[0.5, 0.5]]), soft_label=True)) == 32.0
    loss, softmax = F.softmax_with_cross_entropy(x, label.unsqueeze(1), return_softmax=True)
    assert float(loss) == 64.0 and float(softmax[0, 1]) == pytest.approx(LEAST)


def test_gradients_are_those_of_the_numbers_as_they_are(clip):
    x = wt.to_tensor([[0.0, -70.0, -200.0]])
    x.stop_gradient = False
    F.cross_entropy(x, wt.to_tensor([1])).backward()
    np.testing.assert_allclose(x.grad.numpy(), [[1, -1, 0]], atol=1e-27)


@pytest.mark.parametrize("far", [-1e4, -1e30, -3.4e38])
def test_numbers_of_any_size_are_clipped(clip, far):
    x = wt.to_tensor([[0.5, far]])
    assert F.log_softmax(x).tolist() == [[0.0, -64.0]]


def test_minus_infinity_stays_without_a_gradient(clip):
    x = wt.to_tensor([[0.0, -math.inf], [-math.inf, -math.inf]])
    x.stop_gradient = False
    y = F.softmax(x)
    y[0].sum().backward()
    np.testing.assert_allclose(y[0].numpy(), [1, LEAST], rtol=1e-5)
    assert np.isfinite(x.grad[0].numpy()).all()


def test_numbers_that_are_close_are_the_same_with_and_without(clip):
    x = wt.to_tensor(np.random.default_rng(0).uniform(-31, 31, (4, 9)).astype("float32"))
    clipped = [F.softmax(x), F.log_softmax(x)]
    flags.set_flags({"FLAGS_paddle_clip": False})
    assert [y.tolist() for y in clipped] == [F.softmax(x).tolist(), F.log_softmax(x).tolist()]
    assert float(F.cross_entropy(wt.to_tensor([[200.0, 0.0]]), wt.to_tensor([1]))) == 200.0
