"""Arrays to try functions on, and comparing with NumPy."""
import numpy as np


def array(*shape, seed=0, dtype="float64"):
    return np.random.default_rng(seed).integers(-9, 10, shape).astype(dtype)


def equal(ours, theirs):
    np.testing.assert_array_equal(ours.numpy(), theirs)
    assert ours.shape == list(np.shape(theirs))
