"""CTC: long sequences in float32, and numbers that are none."""
import numpy as np
import pytest

import wherry_tensor
from wherry_tensor import ops


def ctc(log_probs, labels, times, lengths, dtype="float32", norm_by_times=False):
    """The loss and its gradient."""
    inputs = [wherry_tensor.to_tensor(log_probs.astype(dtype)), *(wherry_tensor.to_tensor(np.asarray(a)) for a in (labels, times, lengths))]
    attrs = dict(blank=0, norm_by_times=norm_by_times)
    loss, alpha = ops.ctc_loss(*inputs, **attrs)
    ones = wherry_tensor.to_tensor(np.ones(loss.shape, dtype))
    return loss.numpy(), ops.ctc_loss_vjp(ones, *inputs, alpha, **attrs).numpy()


def test_float32_keeps_its_digits_over_a_thousand_steps():
    rng = np.random.default_rng(1)
    x = rng.standard_normal((1000, 3, 30)) * 4
    x -= np.log(np.exp(x).sum(axis=2, keepdims=True))
    labels, times, lengths = rng.integers(1, 30, (3, 200)), [1000, 900, 410], [200, 150, 200]
    loss, slope = ctc(x, labels, times, lengths)
    exact, exact_slope = ctc(x, labels, times, lengths, "float64")
    np.testing.assert_allclose(loss, exact, rtol=1e-6)
    # Plain float32 logarithms, near -4000 here, would be off by some 5e-3.
    np.testing.assert_allclose(slope, exact_slope, atol=1e-4)
    np.testing.assert_allclose(slope.sum(axis=2), -(np.arange(1000)[:, None] < times).astype(float), rtol=1e-6)


def test_a_path_that_was_improbable_for_long_is_found():
    # The label needs symbol 2 at the end, where alone it can be; all the time before, symbol 1 looks better.
    x = np.full((50, 1, 3), -2000.0)
    x[:-1, 0, 1] = x[-1, 0, 2] = 0
    loss, slope = ctc(x, [[1, 2]], [50], [2])
    assert loss.tolist() == [0]
    np.testing.assert_array_equal(slope[:, 0].argmin(axis=1), [1] * 49 + [2])


@pytest.mark.parametrize("value", [np.nan, -np.inf])
def test_numbers_that_are_none_stay_in_their_example(value):
    x = np.log(np.full((4, 2, 3), 1 / 3))
    x[1, 0] = value
    loss, slope = ctc(x, [[1], [2]], [4, 4], [1, 1])
    whole, whole_slope = ctc(x[:, 1:], [[2]], [4], [1])
    assert np.isnan(loss[0]) if np.isnan(value) else loss[0] == 0  # a step that nothing can pass: no path at all
    assert loss[1] == whole[0]
    np.testing.assert_array_equal(slope[:, 1:], whole_slope)
