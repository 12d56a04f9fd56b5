"""Element-wise kernels over results that no cache holds, and over inputs that lie otherwise than the result."""
import numpy as np
import pytest

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


@pytest.mark.parametrize("shape, order", [
    ((1024, 130), (1, 0)), ((7, 300), (1, 0)), ((8, 8), (1, 0)), ((9, 33, 70), (2, 1, 0)), ((3, 65, 40, 2), (0, 2, 3, 1)), ((5, 66, 31), (1, 0, 2)),
])
@pytest.mark.parametrize("dtype", ["float32", "float64", "int64", "int16", "int8", "bool", "complex128"])
def test_inputs_along_another_axis_than_the_result(dtype, shape, order):
    """They are turned tile by tile."""
    rng = np.random.default_rng(0)
    x, y = (rng.integers(0, 100, shape).astype(dtype) for _ in range(2))
    turned, other = (w.to_tensor(a).transpose(order) for a in (x, y))
    straight = w.to_tensor(np.ascontiguousarray(y.transpose(order)))
    a, b = x.transpose(order), y.transpose(order)
    assert np.array_equal(ops.not_equal(turned, other).numpy(), a != b)
    assert np.array_equal(ops.cast(turned, dtype=w.complex128).numpy(), a.astype("complex128"))
    assert np.array_equal(ops.where(ops.not_equal(turned, straight), turned, other).numpy(), np.where(a != b, a, b))
    if dtype != "bool":
        assert np.array_equal((turned + other).numpy(), a + b)
        assert np.array_equal((straight - turned).numpy(), b - a)
        assert np.array_equal((turned * straight[0]).numpy(), a * b[0])
        straight.subtract_(turned)
        assert np.array_equal(straight.numpy(), b - a)
