"""What the samples cannot say about pooling: rows of every width, ties, NaN and infinity at every place of a window."""
import numpy as np
import pytest

import wherry_tensor
from wherry_tensor import ops

rng = np.random.default_rng(0)


def _of(shape, dtype):
    """Values with many ties, zeros of both signs, infinities and NaN."""
    x = rng.integers(-3, 4, shape).astype(np.float64)
    x[rng.random(shape) < 0.1] = -0.0
    for value in (np.nan, np.inf, -np.inf):
        x[rng.random(shape) < 0.1] = value
    x[:, 1:2] = np.nan  # planes of nothing else
    return wherry_tensor.to_tensor(x).astype(dtype), x


def _largest(x, rows, columns):
    """The first maximum of each window in row-major order, where NaN loses; of NaN alone the lowest float and -1."""
    lowest = np.finfo(np.float32).min
    values, places = (np.empty((*x.shape[:2], len(rows), len(columns)), kind) for kind in (float, int))
    for n, c, i, j in np.ndindex(values.shape):
        best, place = lowest, -1
        for y in range(*rows[i]):
            for z in range(*columns[j]):
                value = x[n, c, y, z]
                if value > best or (place < 0 and value == value):
                    best, place = value, y * x.shape[3] + z
        values[n, c, i, j], places[n, c, i, j] = best, place
    return values, places


def _check(out, expected):
    (values, places), (expected_values, expected_places) = (out, expected)
    np.testing.assert_array_equal(places.numpy(), expected_places)
    found = values.astype("float64").numpy()
    known = expected_places >= 0
    np.testing.assert_array_equal(found[known], expected_values[known])
    np.testing.assert_array_equal(np.signbit(found[known]), np.signbit(expected_values[known]))
    assert (found[~known] < -1e38).all()


@pytest.mark.parametrize("dtype", ["float32", "float64", "bfloat16"])
@pytest.mark.parametrize("width", [1, 3, 7, 16, 19, 40, 67, 131])
@pytest.mark.parametrize("kernel, step, border", [(2, 2, 0), (3, 2, 1), (3, 1, 1), (2, 1, 0), (3, 3, 1), (5, 4, 2)])
def test_the_first_of_equal_maxima_wins(dtype, width, kernel, step, border):
    x, values = _of((1, 3, 6, width), dtype)
    if width + 2 * border < kernel:
        return
    ranges = []
    for size in (6, width):
        starts = range(-border, size + border - kernel + 1, step)
        ranges.append([(max(a, 0), min(a + kernel, size)) for a in starts])
    out = ops.max_pool2d(x, (kernel, kernel), (step, step), (border,) * 4, False, "NCHW")
    _check(out, _largest(values, *ranges))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("sizes", [(1, 1), (2, 7), (3, 5), (6, 12), (6, 24), (5, 23)])
def test_adaptive_windows(dtype, sizes):
    x, values = _of((2, 3, 6, 24), dtype)
    ranges = [[(i * n // count, -(-(i + 1) * n // count)) for i in range(count)] for n, count in zip((6, 24), sizes, strict=True)]
    _check(ops.adaptive_max_pool2d(x, sizes, "NCHW"), _largest(values, *ranges))
