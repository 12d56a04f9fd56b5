import numpy as np
import pytest

import wherry_tensor as w

NAN, INF = float("nan"), float("inf")
COMPARISONS = {
    "equal": np.equal, "not_equal": np.not_equal, "less_than": np.less, "less_equal": np.less_equal,
    "greater_than": np.greater, "greater_equal": np.greater_equal,
}
LOGICAL = {"logical_and": np.logical_and, "logical_or": np.logical_or, "logical_xor": np.logical_xor}
BITWISE = {"bitwise_and": np.bitwise_and, "bitwise_or": np.bitwise_or, "bitwise_xor": np.bitwise_xor}


@pytest.mark.parametrize("name", COMPARISONS)
@pytest.mark.parametrize("dtype", ["bool", "uint8", "int64", "float16", "float32", "float64"])
def test_comparisons_are_numpys(name, dtype):
    a, b = np.array([[0], [1], [2]], dtype), np.array([0, 1], dtype)
    out = getattr(w, name)(w.to_tensor(a), w.to_tensor(b))
    assert out.dtype is w.bool_
    assert out.tolist() == COMPARISONS[name](a, b).tolist()


def test_comparisons_with_nan_are_false():
    x = w.to_tensor([NAN])
    assert [getattr(w, name)(x, x).item() for name in COMPARISONS] == [False, True, False, False, False, False]


@pytest.mark.parametrize("name", LOGICAL)
def test_logical_functions_take_any_dtype(name):
    a, b = np.array([0, 1, 2, 0]), np.array([0, 0, 3, 4])
    for dtype in ("bool", "int64", "float32"):
        out = getattr(w, name)(w.to_tensor(a.astype(dtype)), w.to_tensor(b.astype(dtype)))
        assert (out.dtype, out.tolist()) == (w.bool_, LOGICAL[name](a, b).tolist())
    assert w.logical_not(w.to_tensor([0.0, 2.0])).tolist() == [True, False]


@pytest.mark.parametrize("name", BITWISE)
@pytest.mark.parametrize("dtype", ["bool", "uint8", "int8", "int16", "int32", "int64"])
def test_bitwise_functions_are_numpys(name, dtype):
    a, b = np.array([0, 1, 5, 7]).astype(dtype), np.array([1, 3, 3, 0]).astype(dtype)
    assert getattr(w, name)(w.to_tensor(a), w.to_tensor(b)).tolist() == BITWISE[name](a, b).tolist()
    assert w.bitwise_not(w.to_tensor(a)).tolist() == np.invert(a).tolist()


@pytest.mark.parametrize("name", [*LOGICAL, *BITWISE])
def test_out_takes_the_result(name):
    x, out = w.to_tensor([True, False]), w.to_tensor([False, False])
    assert getattr(w, name)(x, x, out=out) is out
    assert out.tolist() == getattr(w, name)(x, x).tolist()


@pytest.mark.parametrize("name", [*COMPARISONS, *LOGICAL, *BITWISE, "isclose", "allclose", "equal_all"])
def test_bad_arguments_are_refused(name):
    function, x = getattr(w, name), w.ones([2], "int64")
    for wrong in (None, [1, 2], "a"):
        with pytest.raises(TypeError, match=r"Got"):
            function(x, wrong)
        with pytest.raises(TypeError, match=r"Got"):
            function(wrong, x)
    with pytest.raises(ValueError, match=r"one dtype. Got int64 and int32"):
        function(x, w.ones([2], "int32"))


@pytest.mark.parametrize("name", [*COMPARISONS, *LOGICAL, *BITWISE, "isclose", "allclose"])
def test_shapes_that_do_not_broadcast_are_refused(name):
    with pytest.raises(ValueError, match=r"\[2\] and \[3\]"):
        getattr(w, name)(w.ones([2], "int64"), w.ones([3], "int64"))


def test_only_equal_takes_numbers_as_in_paddle():
    assert w.equal(w.to_tensor([1, 2]), 2).tolist() == [False, True]
    with pytest.raises(ValueError, match=r"'y' must be a Tensor"):
        w.less_than(w.to_tensor([1, 2]), 2)


def test_bitwise_functions_refuse_floats():
    for name in BITWISE:
        with pytest.raises(TypeError, match=r"float32"):
            getattr(w, name)(w.ones([1]), w.ones([1]))
    with pytest.raises(TypeError, match=r"float32"):
        w.bitwise_not(w.ones([1]))


def test_tests_of_numbers():
    x = w.to_tensor([1.0, NAN, INF, -INF])
    assert w.isnan(x).tolist() == [False, True, False, False]
    assert w.isinf(x).tolist() == [False, False, True, True]
    assert w.isfinite(x).tolist() == [True, False, False, False]
    assert w.isfinite(w.to_tensor([1])).tolist() == [True]
    for name in ("isnan", "isinf", "isfinite", "logical_not", "bitwise_not", "is_empty"):
        with pytest.raises(ValueError, match=r"must be a Tensor"):
            getattr(w, name)(None)


def test_isclose_is_numpys():
    a = np.array([1.0, 1.0, NAN, INF, INF, -INF, 0.0])
    b = np.array([1.000001, 1.1, NAN, INF, 1.0, INF, 1e-9])
    for equal_nan in (False, True):
        out = w.isclose(w.to_tensor(a), w.to_tensor(b), equal_nan=equal_nan)
        assert out.tolist() == np.isclose(a, b, equal_nan=equal_nan).tolist()
    assert w.isclose(w.to_tensor([1.0]), w.to_tensor([1.1]), 0.2).item() is True
    assert w.isclose(w.to_tensor([2**62]), w.to_tensor([-(2**62)])).item() is False
    with pytest.raises(TypeError, match=r"rtol"):
        w.isclose(w.ones([1]), w.ones([1]), "a")


def test_allclose_and_equal_all_are_zero_dimensional():
    x = w.to_tensor([1.0, 2.0])
    assert (w.allclose(x, x).shape, w.allclose(x, x).item()) == ([], True)
    assert w.equal_all(x, x).item() is True
    assert w.equal_all(x, w.to_tensor([1.0])).item() is False


def test_where():
    condition = w.to_tensor([True, False])
    assert w.where(condition, w.to_tensor([1, 2]), w.to_tensor([3, 4])).tolist() == [1, 4]
    assert w.where(condition, 1, 0).dtype is w.int64
    assert w.where(condition, w.to_tensor([1.0, 2.0]), 0.0).dtype is w.float64
    assert w.where(condition, w.ones([1]), w.ones([2, 1])).shape == [2, 2]
    assert condition.where(w.ones([2]), w.zeros([2])).tolist() == [1.0, 0.0]


def test_where_takes_numbers_for_a_condition_only_where_it_broadcasts():
    condition = w.to_tensor([0.5, -1.0, 0.0])
    assert w.where(condition, w.ones([3]), w.zeros([1])).tolist() == [1.0, 1.0, 0.0]
    with pytest.raises(TypeError, match="condition must be bool"):
        w.where(condition, w.ones([3]), w.zeros([3]))


def test_where_without_values_gives_positions():
    (rows,) = w.where(w.to_tensor([False, True, True]))
    assert rows.flatten().tolist() == [1, 2]


def test_where_refuses_bad_arguments():
    x = w.ones([2])
    with pytest.raises(ValueError, match=r"either both or neither"):
        w.where(w.to_tensor([True, False]), x)
    with pytest.raises(ValueError, match=r"condition must be bool"):
        w.where(w.to_tensor([1, 0]), x, x)
    with pytest.raises(ValueError, match=r"one dtype"):
        w.where(w.to_tensor([True, False]), x, w.ones([2], "int64"))
    with pytest.raises(TypeError, match=r"'condition' must be a Tensor"):
        w.where([True], x, x)


def test_questions():
    assert w.is_tensor(w.ones([1])) and not w.is_tensor([1])
    assert w.is_empty(w.zeros([0, 2])).item() is True
    assert w.ones([1]).is_tensor()
