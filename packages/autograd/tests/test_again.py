"""Outputs that later ops compute once more in place of keeping them."""
import gc

import numpy as np
import pytest

from small_tensors import make, total
from wherry_autograd import grad, saved_tensors_hooks
from wherry_tensor import _core, ops

LARGE = 512  # of LARGE x LARGE: large enough that it is worth the while


def values(seed, *shape):
    return (np.random.default_rng(seed).standard_normal(shape) * 0.1).astype("float32")


def leaf(seed, *shape):
    return make(values(seed, *shape), requires_grad=True)


def activations():
    return [
        lambda x: ops.gelu(x, approximate=False), ops.silu, ops.mish, ops.hardswish,
        lambda x: ops.leaky_relu(x, negative_slope=0.1), lambda x: ops.softplus(x, beta=1.0, threshold=20.0),
    ]


def held_by(function):
    """Bytes that what `function` returned keeps beyond itself."""
    gc.collect()
    before = _core.memory_stats()["allocated"]
    out = function()
    held = _core.memory_stats()["allocated"] - before
    return held - out.size * 4


@pytest.mark.parametrize("activation", activations())
def test_an_activation_between_products_is_not_kept_and_the_gradients_are_the_same(activation):
    def gradients(held):
        x, first, second = leaf(0, LARGE, LARGE), leaf(1, LARGE, LARGE), leaf(2, LARGE, LARGE)
        middle = activation(ops.linear(x, first, None))
        out = ops.linear(middle, second, None)
        if not held:
            del middle
        total(out).backward()
        return [t.grad.numpy() for t in (x, first, second)]

    with saved_tensors_hooks(lambda x: x, lambda x: x):  # what goes through hooks is kept
        expected = gradients(True)
    for got in (gradients(False), gradients(True)):
        assert all((a == b).all() for a, b in zip(got, expected))
    x, first, second = leaf(0, LARGE, LARGE), leaf(1, LARGE, LARGE), leaf(2, LARGE, LARGE)
    size = LARGE * LARGE * 4
    assert held_by(lambda: ops.linear(activation(ops.linear(x, first, None)), second, None)) < 1.5 * size


def test_a_layer_norm_before_a_product_is_not_kept():
    x, scale, bias, weight = leaf(0, LARGE, LARGE), leaf(1, LARGE), leaf(2, LARGE), leaf(3, LARGE, LARGE)
    of = lambda: ops.linear(ops.layer_norm(x, scale, bias, epsilon=1e-5, begin_axis=1)[0], weight, None)  # noqa: E731
    assert held_by(of) < 0.1 * LARGE * LARGE * 4
    with saved_tensors_hooks(lambda x: x, lambda x: x):
        total(of()).backward()
    expected = [t.grad.numpy().copy() for t in (x, scale, bias, weight)]
    for t in (x, scale, bias, weight):
        t.grad = None
    total(of()).backward()
    assert all((t.grad.numpy() == e).all() for t, e in zip((x, scale, bias, weight), expected))


def test_what_was_changed_in_place_is_kept_as_it_is():
    x, weight = leaf(0, LARGE, LARGE), leaf(1, LARGE, LARGE)
    before = _core.set_grad_mode(False)
    middle = ops.silu(make(x.numpy()))
    ops.multiply.into((middle,), middle, make(2.0))
    _core.set_grad_mode(before)
    plain = middle.numpy()

    middle = ops.silu(x * 1.0)
    _core.set_grad_mode(False)
    ops.multiply.into((middle,), middle, make(2.0))  # past the tape
    _core.set_grad_mode(before)
    out = ops.linear(middle, weight, None)
    (got,) = grad(total(out), weight)
    np.testing.assert_allclose(got.numpy(), np.repeat(plain.sum(0)[:, None], LARGE, 1), rtol=1e-3, atol=1e-3)


def test_a_change_of_what_it_is_computed_from_is_an_error():
    x, weight = leaf(0, LARGE, LARGE), leaf(1, LARGE, LARGE)
    inner = x * 1.0
    out = ops.linear(ops.silu(inner), weight, None)
    before = _core.set_grad_mode(False)
    ops.multiply.into((inner,), inner, make(2.0))
    _core.set_grad_mode(before)
    with pytest.raises(RuntimeError, match="what its input 0 is computed from, input 0 of 'silu', was modified in place"):
        total(out).backward()


def test_second_derivatives_go_through_what_was_computed_again():
    def second(hooks):
        x, weight = leaf(0, LARGE, LARGE), leaf(1, LARGE, LARGE)
        middle = ops.silu(x)
        out = ops.linear(middle, weight, None)
        (g,) = grad(total(out * out), weight, create_graph=True)
        return [t.numpy() for t in grad(total(g * g), [x, middle, weight])]

    with saved_tensors_hooks(lambda x: x, lambda x: x):
        expected = second(True)
    for a, b in zip(second(False), expected):
        np.testing.assert_array_equal(a, b)


def test_a_second_output_outlives_the_walk_through_the_first():
    x, first, second = leaf(0, LARGE, LARGE), leaf(1, LARGE, LARGE), leaf(2, LARGE, LARGE)
    middle = ops.silu(x)
    one, other = ops.linear(middle, first, None), ops.linear(middle, second, None)
    (a,) = grad(total(one), first)
    (b,) = grad(total(other), second)
    assert (a.numpy() == b.numpy()).all()
