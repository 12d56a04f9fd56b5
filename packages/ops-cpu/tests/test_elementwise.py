"""Element-wise kernels over results that no cache holds."""
import numpy as np

import wherry_tensor as w
from wherry_tensor import ops


def test_results_past_the_caches_are_written_whole():
    """They are stored past the caches in whole vectors; rows begin anywhere in one here, and the last vectors are partial."""
    rng = np.random.default_rng(0)
    x, row, column = (rng.standard_normal(shape).astype("float32") for shape in ((6501, 1003), (1003,), (6501, 1)))
    left, right, below = w.to_tensor(x), w.to_tensor(row), w.to_tensor(column)
    assert np.array_equal((left + right).numpy(), x + row)
    assert np.array_equal((left * below).numpy(), x * column)
    assert np.array_equal((left - left.flip(0)).numpy(), x - x[::-1])
    assert np.array_equal(ops.add(left, left).numpy(), x + x)
    frame = np.zeros((6503, 1008), "float32")
    inner = w.to_tensor(frame)
    inner[1:6502, 3:1006] = left + right
    inner[1:6502, 3:1006].multiply_(left)
    expected = frame.copy()
    expected[1:6502, 3:1006] = (x + row) * x
    assert np.array_equal(inner.numpy(), expected)
