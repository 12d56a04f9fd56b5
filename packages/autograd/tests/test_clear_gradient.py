"""Cleared gradients: zeros for whoever looks, and no work for the next backward."""
import numpy as np
import pytest

import wherry_tensor as wt
from wherry_autograd import grad
from wherry_tensor import _core


@pytest.fixture
def x():
    return wt.to_tensor([1.0, 2.0], stop_gradient=False)


def test_a_cleared_gradient_is_zero(x):
    (x * 3).sum().backward()
    x.clear_gradient()
    assert x.grad.tolist() == [0.0, 0.0] and x.grad.dtype is x.dtype and not x.grad.stop_gradient
    assert x.grad is x.grad
    x.clear_grad()
    np.testing.assert_array_equal(x.gradient(), [0.0, 0.0])


def test_backward_begins_anew_after_it(x):
    for _ in range(3):
        (x * 3).sum().backward()
        assert x.grad.tolist() == [3.0, 3.0]
        x.clear_gradient()
    (x * 2).sum().backward()
    (x * 3).sum().backward()
    assert x.grad.tolist() == [5.0, 5.0]


def test_backward_adds_to_zeros_that_somebody_has_looked_at(x):
    (x * 3).sum().backward()
    x.clear_gradient()
    zeros = x.grad
    (x * 2).sum().backward()
    assert x.grad is zeros and zeros.tolist() == [2.0, 2.0]


def test_who_holds_the_gradient_or_a_view_of_it_sees_the_zeros(x):
    (x * 3).sum().backward()
    held = x.grad
    x.clear_gradient()
    assert held.tolist() == [0.0, 0.0] and x.grad is held
    (x * 3).sum().backward()
    view = x.grad[:1]
    x.clear_gradient()
    assert view.tolist() == [0.0]


def test_without_a_gradient_nothing_happens(x):
    x.clear_gradient()
    assert x.grad is None
    (x * 3).sum().backward()
    x.clear_gradient(False)
    assert x.grad is None
    x.clear_gradient()
    assert x.grad is None


def test_a_new_or_forgotten_gradient_takes_the_place_of_zeros(x):
    (x * 3).sum().backward()
    x.clear_gradient()
    x.grad = None
    assert x.grad is None
    (x * 3).sum().backward()
    x.clear_gradient()
    x.grad = wt.ones([2])
    assert x.grad.tolist() == [1.0, 1.0]


def test_many_at_once():
    tensors = [wt.ones([n]) for n in (1, 2, 3)]
    for t in tensors[:2]:
        t.stop_gradient = False
        (t * 2).sum().backward()
    _core.clear_gradients(tensors)
    assert [t.grad is None or t.grad.tolist() for t in tensors] == [[0.0], [0.0, 0.0], True]
    _core.clear_gradients(tensors, False)
    assert [t.grad for t in tensors] == [None] * 3


def test_a_cleared_gradient_of_a_transposed_leaf():
    x = wt.ones([2, 3]).transpose([1, 0])
    x.stop_gradient = False
    (x * 2).sum().backward()
    x.clear_gradient()
    assert x.grad.shape == [3, 2] and x.grad.tolist() == [[0.0] * 2] * 3


# Layers that serve the forward pass alone.


class Counting:
    """An outer layer that counts the ops it sees."""

    def __init__(self, forward_only):
        self.forward_only = forward_only
        self.seen = []

    def __call__(self, op, inputs, attrs):
        self.seen.append(op.name)
        return op.apply(inputs, attrs)


@pytest.mark.parametrize("forward_only", [True, False])
def test_backward_goes_past_layers_of_the_forward_pass(x, forward_only):
    layer, other = Counting(forward_only), Counting(False)
    _core.push_layer(other, "outer")
    _core.push_layer(layer, "outer")
    try:
        y = (x.exp() * x).sum()
        forward = len(layer.seen)
        y.backward()
        assert (len(layer.seen) > forward) == (not forward_only)
        assert len(other.seen) > forward
        grad((x * x).sum(), x)
        before = len(layer.seen)
        x.exp()
        assert len(layer.seen) == before + 1  # back in its place
    finally:
        _core.pop_layer(layer, "outer")
        _core.pop_layer(other, "outer")


def test_a_failing_backward_brings_the_layer_back(x):
    layer = Counting(True)

    def fail(ct):
        raise ValueError("on purpose")

    x.register_hook(fail)
    _core.push_layer(layer, "outer")
    try:
        with pytest.raises(ValueError, match="on purpose"):
            (x * 2).sum().backward()
        before = len(layer.seen)
        x.exp()
        assert len(layer.seen) == before + 1
    finally:
        _core.pop_layer(layer, "outer")
