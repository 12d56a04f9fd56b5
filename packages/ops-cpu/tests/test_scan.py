"""What the samples cannot say about scans: rows that are turned a few at a time, and the bits of a row alone."""
import numpy as np
import pytest

import wherry_tensor
from wherry_tensor import ops

rng = np.random.default_rng(0)


def _of(x, dtype):
    x = wherry_tensor.to_tensor(x).astype(dtype)
    return x, x.astype("float64").numpy()


def _recurrence(a, b):
    out, state = np.zeros_like(b), np.zeros(b.shape[:-1])
    for k in range(b.shape[-1]):
        out[..., k] = state = a[..., k] * state + b[..., k]
    return out


@pytest.mark.parametrize("dtype, error", [("float32", 1e-5), ("float64", 1e-12), ("float16", 2e-3), ("bfloat16", 1e-2)])
@pytest.mark.parametrize("shape", [(4, 1), (5, 7), (16, 16), (3, 11, 37), (70, 100), (0, 4), (4, 0)])
def test_rows_of_any_number_and_length(dtype, error, shape):
    (x, x64), (y, y64) = (_of(rng.standard_normal(shape), dtype) for _ in range(2))
    axis, backwards = len(shape) - 1, np.s_[..., ::-1]
    for out, expected in (
        (ops.cumsum(x, axis, False), np.cumsum(x64, -1)),
        (ops.cumsum(x, axis, True), np.cumsum(x64[backwards], -1)[backwards]),
        (ops.cumprod(x, axis), np.cumprod(x64, -1)),
        (ops.linear_scan(x, y, axis=axis, reverse=False), _recurrence(x64, y64)),
        (ops.linear_scan(x, y, axis=axis, reverse=True), _recurrence(x64[backwards], y64[backwards])[backwards]),
    ):
        np.testing.assert_allclose(out.astype("float64").numpy(), expected, rtol=error, atol=error)


@pytest.mark.parametrize("dtype", ["float32", "float64", "bfloat16"])
def test_a_row_alone_has_the_bits_of_one_among_others(dtype):
    x, _ = _of(rng.standard_normal((37, 333)), dtype)
    for scan in (lambda x: ops.cumsum(x, 1, False), lambda x: ops.cumprod(x, 1)):
        alone = [scan(x[i : i + 1]).astype("float64").numpy()[0] for i in range(37)]
        np.testing.assert_array_equal(scan(x).astype("float64").numpy(), alone)


def test_infinity_and_nan_stay_in_their_rows():
    x = np.ones((20, 40), np.float32)
    x[3, 5], x[4, 5:7], x[5, 0] = np.nan, (np.inf, -np.inf), 0
    total, product = (out.numpy() for out in (ops.cumsum(wherry_tensor.to_tensor(x), 1, False), ops.cumprod(wherry_tensor.to_tensor(x), 1)))
    with np.errstate(invalid="ignore"):
        np.testing.assert_array_equal(total, np.cumsum(x, 1))
        np.testing.assert_array_equal(product, np.cumprod(x, 1))
    b = wherry_tensor.to_tensor(np.ones((20, 4), np.float32))
    a = wherry_tensor.to_tensor(np.full((20, 4), np.inf, np.float32))
    assert ops.linear_scan(a, b, axis=1, reverse=False).numpy()[:, 0].tolist() == [1] * 20  # the first factor meets nothing
