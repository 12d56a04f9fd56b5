"""Gradients of reductions where central differences have nothing to compare with: ties and infinities."""
import numpy as np
import pytest

import wherry_autograd  # noqa: F401
import wherry_tensor
from wherry_tensor import ops


def _gradient(function, values):
    x = wherry_tensor.to_tensor(np.array(values, np.float64))
    x.stop_gradient = False
    function(x).backward()
    return x.grad.numpy().tolist()


@pytest.mark.parametrize("op", [ops.reduce_max, ops.reduce_min], ids=lambda op: op.name)
def test_each_tied_extreme_gets_the_whole_cotangent(op):
    sign = 1 if op is ops.reduce_max else -1
    assert _gradient(lambda x: op(x * sign, axes=(0,), keepdim=False) * sign, [1, 3, 3]) == [0, 1, 1]


@pytest.mark.parametrize("op", [ops.reduce_amax, ops.reduce_amin], ids=lambda op: op.name)
def test_tied_extremes_of_amax_share_the_cotangent(op):
    sign = 1 if op is ops.reduce_amax else -1
    assert _gradient(lambda x: op(x * sign, axes=(0,), keepdim=False) * sign, [1, 3, 3]) == [0, 0.5, 0.5]


def test_product_has_a_gradient_at_its_zeros():
    assert _gradient(lambda x: ops.reduce_prod(x, axes=(0,), keepdim=False), [2, 0, 3]) == [0, 6, 0]
    assert _gradient(lambda x: ops.reduce_prod(x, axes=(0,), keepdim=False), [2, 0, 0]) == [0, 0, 0]


def test_cumulative_product_has_a_gradient_at_its_zeros():
    def total(x):
        return ops.reduce_sum(ops.cumprod(x, axis=0), axes=(0,), keepdim=False)

    assert _gradient(total, [2, 0, 3, 0, 5]) == [1, 8, 0, 0, 0]


def test_last_of_tied_records_gets_the_cotangent_of_cummax():
    def total(x):
        return ops.reduce_sum(ops.cummax(x, axis=0)[0], axes=(0,), keepdim=False)

    assert _gradient(total, [1, 3, 3, 2]) == [1, 1, 2, 0]


def test_masked_places_get_no_gradient_from_log_sums():
    masked = [-np.inf, 1.0, 1.0]
    half = pytest.approx([0, 0.5, 0.5])
    assert _gradient(lambda x: ops.logsumexp(x, axes=(0,), keepdim=False), masked) == half
    last = {"axes": (0,), "starts": (2,), "ends": (3,), "steps": (1,)}
    assert _gradient(
        lambda x: ops.reduce_sum(ops.slice(ops.logcumsumexp(x, axis=0), **last), axes=(0,), keepdim=False), masked
    ) == half
