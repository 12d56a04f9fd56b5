"""What tests of several layers share."""
import sys
from pathlib import Path

import numpy as np
import pytest

import wherry_tensor as wt

sys.path.insert(0, str(Path(__file__).parent))  # for windows


@pytest.fixture
def check_gradient():
    """Compare gradients of `function(*arrays)` with central differences, in float64.

    The function must have no random part and no kink within `step` of the values.
    """

    def check(function, *arrays, step=1e-6, atol=1e-6):
        arrays = [np.asarray(array, dtype=np.float64) for array in arrays]
        tensors = [wt.to_tensor(array, stop_gradient=False) for array in arrays]
        out = function(*tensors)
        # One weight for each result, so that no error hides in a sum.
        weight = np.cos(np.arange(out.size)).reshape(out.shape)
        (out * wt.to_tensor(weight)).sum().backward()

        def value(*changed):
            return float((function(*(wt.to_tensor(one) for one in changed)).numpy() * weight).sum())

        for i, (array, tensor) in enumerate(zip(arrays, tensors)):
            expected = np.zeros_like(array)
            for at in np.ndindex(array.shape):
                ends = []
                for sign in 1, -1:
                    moved = array.copy()
                    moved[at] += sign * step
                    ends.append(value(*arrays[:i], moved, *arrays[i + 1 :]))
                expected[at] = (ends[0] - ends[1]) / (2 * step)
            # Differences of float64 values near 1 with a step of 1e-6 have about 10 digits.
            np.testing.assert_allclose(tensor.grad.numpy(), expected, rtol=1e-6, atol=atol, err_msg=f"input {i}")

    return check
