"""Padding: by a value and by mirroring."""
import numpy as np
import pytest

import wherry_tensor as w
from compared import array, equal
from wherry_tensor import to_tensor


@pytest.mark.parametrize(("mode", "numpys"), [("reflect", "reflect"), ("replicate", "edge"), ("circular", "wrap")])
def test_pad_by_mirroring(mode, numpys):
    a = array(2, 3, 4, 5)
    x = to_tensor(a)
    equal(w.pad(x, [1, 2, 3, 0], mode), np.pad(a, [(0, 0), (0, 0), (3, 0), (1, 2)], numpys))
    equal(w.pad(x, [1, 2, 0, 1], mode, data_format="NHWC"), np.pad(a, [(0, 0), (0, 1), (1, 2), (0, 0)], numpys))


def test_pad_with_a_value():
    a = array(2, 3, 4)
    x = to_tensor(a)
    equal(w.pad(x, [0, 1, 2, 0, 1, 1], value=7), np.pad(a, [(0, 1), (2, 0), (1, 1)], constant_values=7))
    equal(w.pad(x, [1, 2], data_format="NCL"), np.pad(a, [(0, 0), (0, 0), (1, 2)]))
    equal(w.pad(x, [1, 2], data_format="NLC"), np.pad(a, [(0, 0), (1, 2), (0, 0)]))


@pytest.mark.parametrize(
    ("call", "error", "match"),
    [
        (lambda x: w.pad(x, [1, 1, 1]), ValueError, "shape \\[2, 3\\]"),
        (lambda x: w.pad(x, [1, 1], "xyz"), ValueError, "'xyz'"),
        (lambda x: w.pad(x.unsqueeze(0), [3, 0], "reflect", data_format="NCL"), ValueError, "less than 3"),
    ],
)
def test_bad_input_is_refused(call, error, match):
    with pytest.raises(error, match=match):
        call(to_tensor([[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]))


@pytest.mark.parametrize("mode, numpys", [("reflect", "reflect"), ("replicate", "edge"), ("circular", "wrap")])
@pytest.mark.parametrize("counts", [[1, 1, 1, 1], [1, 2, 0, 3], [3, 0, 2, 2], [0, 0, 1, 0], [15, 15, 31, 31], [-1, 2, 1, -1]])
@pytest.mark.parametrize("dtype", ["float32", "int64", "bool", "complex64", "float16"])
def test_large_images_are_padded_with_their_own_elements(mode, numpys, counts, dtype):
    numbers = (np.random.default_rng(0).random((8, 16, 32, 16)) * 100).astype(dtype)  # as many elements as are padded in one pass
    left, right, top, bottom = counts
    expected = np.pad(numbers, [(0, 0), (0, 0), (max(top, 0), max(bottom, 0)), (max(left, 0), max(right, 0))], mode=numpys)
    expected = expected[:, :, max(-top, 0) : expected.shape[2] - max(-bottom, 0), max(-left, 0) : expected.shape[3] - max(-right, 0)]
    x = to_tensor(numbers)
    np.testing.assert_array_equal(w.pad(x, counts, mode).numpy(), expected)
    np.testing.assert_array_equal(x.numpy(), numbers)
    last = w.pad(to_tensor(numbers.transpose(0, 2, 3, 1)), counts, mode, data_format="NHWC").numpy()
    np.testing.assert_array_equal(last, expected.transpose(0, 2, 3, 1))
