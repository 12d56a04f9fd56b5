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
