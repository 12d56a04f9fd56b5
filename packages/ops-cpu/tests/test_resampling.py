"""What the samples cannot say about resampling: lines that are turned a block at a time, signs of zeros, bits on any number of threads."""
import numpy as np
import pytest

import wherry_tensor
from wherry_tensor import ops

rng = np.random.default_rng(0)


def _t(x, dtype):
    return wherry_tensor.to_tensor(np.asarray(x)).astype(dtype)


@pytest.mark.parametrize("dtype, error", [("float32", 1e-5), ("float64", 1e-12), ("float16", 2e-2), ("bfloat16", 1e-1)])
@pytest.mark.parametrize("lines", [7, 8, 33, 70])
@pytest.mark.parametrize("places, results", [(5, 1), (17, 40), (70, 33)])
def test_lines_of_any_number_are_sums_of_their_places(dtype, error, lines, places, results):
    index, weight = rng.integers(0, places, (results, 3)), np.round(rng.standard_normal((results, 3)) * 4) / 4
    x, ct = (_t(np.round(rng.standard_normal(shape) * 8) / 8, dtype) for shape in ((lines, places), (lines, results)))
    x64, ct64 = x.astype("float64").numpy(), ct.astype("float64").numpy()
    out = ops.resample(x, wherry_tensor.to_tensor(index), _t(weight, dtype), 1).astype("float64").numpy()
    np.testing.assert_allclose(out, (x64[:, index] * weight).sum(-1), rtol=error, atol=error)
    matrix = np.zeros((results, places))
    np.add.at(matrix, (np.arange(results)[:, None], index), weight)
    back = ops.resample_vjp(ct, wherry_tensor.to_tensor(index), _t(weight, dtype), x, 1).astype("float64").numpy()
    np.testing.assert_allclose(back, ct64 @ matrix, rtol=error, atol=4 * error)


@pytest.mark.parametrize("lines", [3, 20])
@pytest.mark.parametrize("row", [1, 19])
def test_one_place_by_a_weight_of_1_keeps_its_sign(lines, row):
    x = np.zeros((lines, 4, row), np.float32)
    x[:, ::2] = -0.0
    out = ops.resample(_t(x, "float32"), _t([[2], [1]], "int64"), _t([[1.0], [1.0]], "float32"), 1).numpy()
    assert np.signbit(out).tolist() == np.broadcast_to([[[True], [False]]], (lines, 2, row)).tolist()


def test_every_number_of_threads_gives_the_same_bits():
    before = wherry_tensor.get_num_threads()
    x, index = _t(rng.standard_normal((600, 50)), "float32"), _t(rng.integers(0, 50, (99, 4)), "int64")
    weight, found = _t(rng.standard_normal((99, 4)), "float32"), []
    try:
        for count in (1, 2, 5):
            wherry_tensor.set_num_threads(count)
            out = ops.resample(x, index, weight, 1)
            found.append((out.numpy().tobytes(), ops.resample_vjp(out, index, weight, x, 1).numpy().tobytes()))
    finally:
        wherry_tensor.set_num_threads(before)
    assert found[0] == found[1] == found[2]
