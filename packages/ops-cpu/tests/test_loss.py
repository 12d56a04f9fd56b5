"""Kernels of losses: sums of many labels, and what a wrong number says."""
import numpy as np
import pytest

import wherry_tensor
from wherry_tensor import ops


def test_means_of_many_labels_do_not_lose_digits():
    n = 3_000_000  # a float32 sum of tenths would be off in its fourth digit
    loss = wherry_tensor.to_tensor(np.full(n, 0.1, np.float32))
    label = np.zeros(n, np.int64)
    label[::3] = -100
    mean, total = ops.label_mean(loss, wherry_tensor.to_tensor(label), None, ignore_index=-100)
    assert total.item() == 2_000_000
    assert mean.item() == np.float32(0.1)


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "int32", "int64"])
def test_labels_of_every_width_are_read(dtype):
    label = wherry_tensor.to_tensor(np.array([[1], [0], [2]], dtype))
    x = wherry_tensor.to_tensor(-np.arange(9, dtype=np.float32).reshape(3, 3))
    loss = ops.nll_loss(x, label, None, ignore_index=2, axis=1)
    assert loss.numpy().ravel().tolist() == [1, 3, 0]
    mean, total = ops.label_mean(loss, label, None, ignore_index=2)
    assert (mean.item(), total.item()) == (2, 2)


def test_a_number_that_is_no_probability_is_named():
    x = np.full(100_000, 0.5, np.float32)
    x[[70_000, 90_000]] = -0.25, 2
    x[5] = np.nan  # NaN is let through: the loss shows it
    with pytest.raises(ValueError, match=r"element 70000 is not a probability\. Got -0\.25"):
        ops.binary_cross_entropy(wherry_tensor.to_tensor(x), wherry_tensor.to_tensor(x))
