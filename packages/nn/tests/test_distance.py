"""Distances between vectors."""
import math

import numpy as np
import pytest

import wherry_nn as nn
import wherry_nn.functional as F
import wherry_tensor as wt

rng = np.random.default_rng(0)


@pytest.mark.parametrize("p", [1, 2, 3.5, math.inf])
@pytest.mark.parametrize("keepdim", [False, True])
def test_pairwise_distance_is_the_norm_of_the_difference(p, keepdim, check_gradient):
    x, y = rng.normal(size=(4, 3)), rng.normal(size=(4, 3))
    expected = np.linalg.norm(x - y + 1e-6, ord=p, axis=-1, keepdims=keepdim)
    np.testing.assert_allclose(F.pairwise_distance(wt.to_tensor(x), wt.to_tensor(y), p, keepdim=keepdim).numpy(), expected)
    np.testing.assert_allclose(nn.PairwiseDistance(p, keepdim=keepdim)(wt.to_tensor(x), wt.to_tensor(y)).numpy(), expected)
    check_gradient(lambda x, y: F.pairwise_distance(x, y, p, keepdim=keepdim), x, y)


def test_pairwise_distance_broadcasts_and_promotes():
    out = F.pairwise_distance(wt.ones([2, 3]), wt.zeros([3], "float64"), epsilon=0.0)
    assert out.dtype is wt.float64
    np.testing.assert_allclose(out.numpy(), [math.sqrt(3)] * 2)
    assert F.pairwise_distance(wt.ones([3]), wt.zeros([3])).shape == []


def test_equal_vectors_have_a_finite_gradient():
    for epsilon in 1e-6, 0.0:
        x = wt.ones([2, 3])
        x.stop_gradient = False
        F.pairwise_distance(x, wt.ones([2, 3]), epsilon=epsilon).sum().backward()
        assert np.isfinite(x.grad.numpy()).all()


def test_pairwise_distance_refuses():
    with pytest.raises(TypeError, match="Got int64 and int64"):
        F.pairwise_distance(wt.to_tensor([1]), wt.to_tensor([1]))
    with pytest.raises(ValueError, match="'y' must be a Tensor"):
        F.pairwise_distance(wt.ones([2]), [1.0])
    with pytest.raises(ValueError, match="broadcast"):
        F.pairwise_distance(wt.ones([2]), wt.ones([3]))


def test_repr_is_paddles():
    assert repr(nn.PairwiseDistance()) == "PairwiseDistance(p=2.0)"
    assert repr(nn.PairwiseDistance(1, 2.0, True, "d")) == "PairwiseDistance(p=1, epsilon=2.0, keepdim=True, name=d)"
