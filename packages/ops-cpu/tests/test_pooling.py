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


@pytest.mark.parametrize("dtype, error", [("float32", 1e-6), ("float64", 1e-13), ("bfloat16", 1e-2)])
@pytest.mark.parametrize("width", [1, 3, 7, 16, 19, 40, 131, 2100])
@pytest.mark.parametrize("kernel, step, border, exclusive", [(2, 2, 0, True), (3, 2, 1, True), (3, 2, 1, False), (3, 1, 1, False), (4, 3, 2, True)])
def test_averages_of_rows_of_every_width(dtype, error, width, kernel, step, border, exclusive):
    x = wherry_tensor.to_tensor(np.round(rng.standard_normal((1, 2, 6, width)) * 8) / 8).astype(dtype)
    if width + 2 * border < kernel:
        return
    out = ops.avg_pool2d(x, (kernel, kernel), (step, step), (border,) * 4, False, exclusive, None, "NCHW").astype("float64").numpy()
    padded = np.pad(x.astype("float64").numpy(), [(0, 0), (0, 0), (border, border), (border, border)])
    ones = np.pad(np.ones((6, width)), border, constant_values=0 if exclusive else 1)
    for i, j in np.ndindex(out.shape[2:]):
        at = np.s_[i * step : i * step + kernel, j * step : j * step + kernel]
        np.testing.assert_allclose(out[:, :, i, j], padded[(..., *at)].sum((2, 3)) / ones[at].sum(), rtol=error, atol=error)


def test_infinity_and_nan_stay_in_their_windows():
    x = np.ones((1, 1, 4, 40), np.float32)
    x[0, 0, 1, 3], x[0, 0, 2, 39] = np.inf, np.nan
    out = ops.avg_pool2d(wherry_tensor.to_tensor(x), (2, 2), (2, 2), (0, 0, 0, 0), False, True, None, "NCHW").numpy()[0, 0]
    expected = np.ones((2, 20), np.float32)
    expected[0, 1], expected[1, 19] = np.inf, np.nan
    np.testing.assert_array_equal(out, expected)


def test_no_adaptive_window_gives_a_gradient_of_zeros():
    x = wherry_tensor.to_tensor(np.ones((2, 3, 4, 5), np.float32))
    out = ops.adaptive_avg_pool2d(x, (0, 0), "NCHW")
    assert (ops.adaptive_avg_pool2d_vjp(out, x, "NCHW").numpy() == 0).all()
