"""Gradients through x[index] and x[index] = value, whichever way the value is written."""
import numpy as np
import pytest

import wherry_autograd  # noqa: F401  installs backward
import wherry_tensor as w

INDICES = [
    0, (0, 1), slice(1, None), (slice(None), 1), (slice(None), slice(None, None, -2)), Ellipsis, (None, 1), (0, None, slice(1, 3)),
    [0, 1], ([0, 1], [1, 2]), (slice(None), [0, 2]), (1, [0, 2]), ([0, 1], slice(None), [1, 2]), (0, [1, 0], slice(1, 3)),
    np.array([True, False]), (slice(None), np.array([True, False, True])), np.arange(24).reshape(2, 3, 4) % 3 == 0,
]  # fmt: skip


def leaf(a):
    x = w.to_tensor(a)
    x.stop_gradient = False
    return x


@pytest.mark.parametrize("index", INDICES, ids=str)
def test_gradient_of_reading(index):
    a = np.arange(24.0).reshape(2, 3, 4)
    x = leaf(a)
    ct = np.random.default_rng(0).standard_normal(x[index].shape)
    (x[index] * w.to_tensor(ct)).sum().backward()
    expected = np.zeros_like(a)
    at = np.arange(24).reshape(2, 3, 4)[w_to_numpy(index)]
    np.add.at(expected.reshape(-1), at.ravel(), ct.ravel())
    np.testing.assert_allclose(x.grad.numpy(), expected)


def w_to_numpy(index):
    """NumPy puts the axis of a list that stands apart from an int first; as in Paddle we do not."""
    return index


@pytest.mark.parametrize("index", INDICES, ids=str)
def test_gradient_of_writing(index):
    a = np.arange(24.0).reshape(2, 3, 4)
    x, value = leaf(a), leaf(-np.random.default_rng(1).standard_normal(w.to_tensor(a)[index].shape))
    y = x * 2
    y[index] = value * 3
    ct = np.random.default_rng(0).standard_normal(a.shape)
    (y * w.to_tensor(ct)).sum().backward()
    at = np.arange(24).reshape(2, 3, 4)[index].ravel()
    written = np.isin(np.arange(24).reshape(2, 3, 4), at)
    np.testing.assert_allclose(x.grad.numpy(), np.where(written, 0, 2 * ct))
    np.testing.assert_allclose(value.grad.numpy().ravel(), 3 * ct.ravel()[at])
    np.testing.assert_allclose(y.numpy()[written], 3 * value.numpy().ravel()[np.argsort(at)])


def test_a_tensor_takes_part_once_a_value_that_does_is_written():
    x, value = w.zeros([3]), leaf(np.ones(1, "float32"))
    x[0:1] = value * 3
    assert not x.stop_gradient
    assert not x.is_leaf
    x.sum().backward()
    assert value.grad.tolist() == [3.0]


def test_a_broadcast_value_gets_the_sum():
    x, value = w.zeros([2, 3]), leaf(np.ones((), "float32"))
    x[w.to_tensor([True, False])] = value
    x[1, [0, 2]] = value
    x.sum().backward()
    assert value.grad.item() == 5.0


def test_leaves_that_ask_for_gradients_are_not_written():
    x = leaf(np.ones(3))
    for index in (0, [0], slice(None), np.array([True, False, True])):
        with pytest.raises(ValueError, match="inplace"):
            x[index] = 2
    with wherry_autograd.no_grad():
        x[0] = 2
    assert x.tolist() == [2, 1, 1]


def test_what_backward_needs_must_not_be_written():
    x = leaf(np.ones(3))
    y = x * 2
    z = y * y
    y[0] = 5.0
    with pytest.raises(RuntimeError, match="inplace|in place|version"):
        z.sum().backward()


def test_gradients_through_functions_on_positions():
    x = leaf(np.arange(6.0).reshape(2, 3))
    for function in (
        lambda t: w.index_sample(t, w.to_tensor([[0, 0], [2, 1]])),
        lambda t: w.put_along_axis(t, w.to_tensor([[0], [1]]), 5.0, 1, "mean"),
        lambda t: w.unfold(t, 1, 2, 1),
        lambda t: w.as_strided(t, [2, 2], [2, 1]),
        lambda t: w.select_scatter(t, t[0] * 2, 0, 1),
        lambda t: w.diagonal_scatter(t, w.diagonal(t) * 3),
        lambda t: w.mode(t)[0],
        lambda t: w.kthvalue(t, 2)[0],
        lambda t: w.einsum("ij,kj->ik", t, t),
        lambda t: w.norm(t, 3, 1),
        lambda t: w.cdist(t, t + 1),
        lambda t: w.tile(w.expand(t, [2, 2, 3]), [1, 2]),
        lambda t: w.tensordot(t, t, [[0], [0]]),
        lambda t: w.kron(t, t),
        lambda t: w.cross(t, t * 2 + 1),
    ):
        x.clear_gradient() if hasattr(x, "clear_gradient") else None
        x.grad = None
        out = function(x)
        ct = np.random.default_rng(0).standard_normal(out.shape)
        (out * w.to_tensor(ct)).sum().backward()
        expected = np.zeros((2, 3))
        base = x.numpy()
        for i in np.ndindex(2, 3):
            for sign in (1, -1):
                moved = base.copy()
                moved[i] += sign * 1e-5
                with wherry_autograd.no_grad():
                    expected[i] += sign * (function(w.to_tensor(moved)).numpy() * ct).sum() / 2e-5
        np.testing.assert_allclose(x.grad.numpy(), expected, rtol=1e-6, atol=1e-6)


def test_the_norm_of_zeros_has_gradient_zero():
    x = leaf(np.zeros(3))
    w.norm(x).backward()
    assert x.grad.tolist() == [0, 0, 0]


def test_in_place_shape_changes_keep_the_gradient():
    x = leaf(np.arange(6.0))
    y = x * 2
    w.reshape_(y, [2, 3])
    w.transpose_(y, [1, 0])
    w.unsqueeze_(y, 0)
    (y * w.to_tensor(np.arange(6.0).reshape(1, 3, 2))).sum().backward()
    assert x.grad.tolist() == [0, 4, 8, 2, 6, 10]
