"""The gradients of fake quantization: straight through for what is quantized, of the learned step for scales."""
import numpy as np
import pytest

import wherry_autograd as autograd
from wherry_tensor import ops, to_tensor

_LOW, _HIGH = -8, 7


def _trainable(array):
    x = to_tensor(np.asarray(array, np.float64))
    x.stop_gradient = False
    return x


def _gradients(x, scale, zero, ct, axis, group):
    x, scale = _trainable(x), _trainable(scale)
    zero = None if zero is None else to_tensor(zero)
    y = ops.fake_quantize(x, scale, zero, axis=axis, group=group, low=_LOW, high=_HIGH)
    return tuple(g.numpy() for g in autograd.grad([y], [x, scale], [to_tensor(ct)]))


def _spread(scale, shape, axis, group):
    if axis is None:
        return np.broadcast_to(scale.reshape(()), shape)
    if group is None:
        return np.broadcast_to(scale.reshape((-1,) + (1,) * (len(shape) - 1 - axis)), shape)
    return np.repeat(scale, group, axis)[(slice(None),) * axis + (slice(shape[axis]),)]


@pytest.mark.parametrize(("axis", "group", "places"), [
    (None, None, ()), (None, None, (1,)), (0, None, (6,)), (1, None, (10,)), (1, 4, (6, 3)), (0, 2, (3, 10)),
])
@pytest.mark.parametrize("with_zero", [False, True])
def test_cotangents_pass_where_nothing_is_cut_and_scales_learn_from_their_elements(axis, group, places, with_zero):
    rng = np.random.default_rng(5)
    x, ct = 5 * rng.standard_normal((6, 10)), rng.standard_normal((6, 10))
    scale = rng.uniform(0.3, 0.9, places)
    zero = rng.integers(-3, 3, places).astype(np.int8) if with_zero else None
    x_ct, scale_ct = _gradients(x, scale, zero, ct, axis, group)
    # Element by element, as the paper says it.
    steps = _spread(scale, x.shape, axis, group)
    zeros = np.zeros(x.shape) if zero is None else _spread(zero.astype(float), x.shape, axis, group)
    expected_x, slope = np.zeros(x.shape), np.zeros(x.shape)
    for at in np.ndindex(*x.shape):
        q = np.rint(x[at] / steps[at]) + zeros[at]
        if q < _LOW:
            slope[at] = _LOW - zeros[at]
        elif q > _HIGH:
            slope[at] = _HIGH - zeros[at]
        else:
            slope[at] = q - zeros[at] - x[at] / steps[at]
            expected_x[at] = ct[at]
    assert 2 < (expected_x == 0).sum() < 58  # some of both kinds
    np.testing.assert_allclose(x_ct, expected_x)
    expected = np.zeros(places)
    for at in np.ndindex(*x.shape):
        where = {0: ()}.get(len(places), (0,)) if axis is None else (at[axis],) if group is None else tuple(
            i // group if a == axis else i for a, i in enumerate(at))
        expected[where] += ct[at] * slope[at]
    np.testing.assert_allclose(scale_ct, expected, rtol=1e-12)


def test_what_stands_for_no_number_gives_no_gradient():
    x_ct, _ = _gradients([np.nan, 1.0, np.inf, -np.inf], 1.0, None, np.ones(4), None, None)
    assert x_ct.tolist() == [0.0, 1.0, 0.0, 0.0]


def test_gradients_of_fake_quantization_differentiate_again():
    x, scale, ct = _trainable([0.3, 1.4, 90.0]), _trainable(0.5), _trainable([1.0, 2.0, 3.0])
    y = ops.fake_quantize(x, scale, None, axis=None, group=None, low=_LOW, high=_HIGH)
    (scale_ct,) = autograd.grad([y], [scale], [ct], create_graph=True)
    x_second, ct_second = autograd.grad([scale_ct], [x, ct])
    np.testing.assert_allclose(x_second.numpy(), [-1 / 0.5, -2 / 0.5, 0.0])
    np.testing.assert_allclose(ct_second.numpy(), [1 - 0.6, 3 - 2.8, 7.0])


def test_scales_of_a_weight_of_few_bits_have_gradients():
    rng = np.random.default_rng(6)
    x, weight = rng.standard_normal((5, 40)), rng.integers(-9, 9, (1, 40, 16)).astype(np.int8)
    zero = to_tensor(rng.integers(-3, 3, (2, 13)).astype(np.int8))
    scale = rng.uniform(0.5, 1.5, (2, 13))

    def product(scale):
        return ops.weight_only_linear(to_tensor(x), to_tensor(weight), scale, zero, None, group=32)

    given = _trainable(scale)
    ct = rng.standard_normal((5, 13))
    (found,) = autograd.grad([product(given)], [given], [to_tensor(ct)])
    for at in np.ndindex(2, 13):
        moved = scale.copy()
        moved[at] += 1.0
        slope = (ct * (product(to_tensor(moved)).numpy() - product(to_tensor(scale)).numpy())).sum()  # it is linear
        np.testing.assert_allclose(found.numpy()[at], slope, rtol=1e-9, atol=1e-9)
