"""L1Decay and L2Decay: gradients of penalties, and how they print."""
import numpy as np
import pytest

import wherry_tensor as wt
from wherry_nn import WeightDecayRegularizer
from wherry_train.regularizer import L1Decay, L2Decay


@pytest.mark.parametrize(
    ("penalty", "expected"), [(L1Decay(0.5), [0.5, -0.5, 0.0]), (L2Decay(0.5), [1.0, -1.5, 0.0])]
)
def test_the_gradient_of_a_penalty(penalty, expected):
    param = wt.to_tensor([2.0, -3.0, 0.0])
    assert penalty(param, wt.zeros([3])).tolist() == expected
    wide = penalty(param, wt.zeros([3], "float64"))
    assert wide.dtype.name == "float64" and wide.tolist() == expected
    assert isinstance(penalty, WeightDecayRegularizer)


def test_they_print_as_in_paddle():
    assert (str(L1Decay(0.1)), str(L2Decay(1e-4)), str(L2Decay())) == (
        "L1Decay, coeff=0.100000", "L2Decay, coeff=0.000100", "L2Decay, coeff=0.000000",
    )


@pytest.mark.parametrize("kind", [L1Decay, L2Decay])
def test_the_coefficient_is_a_number(kind):
    with pytest.raises(TypeError, match="the coefficient must be a number. Got 'a'"):
        kind("a")
    with pytest.raises(AssertionError, match="coeff is missing"):
        kind(None)
    np.testing.assert_allclose(kind(np.float32(0.5))._coeff, 0.5)
