"""Python's operators: the dtypes they give are those that Paddle 2.6.2 was seen to give."""
import operator
import warnings

import numpy as np
import pytest

import wherry_tensor as w

REAL = ["uint8", "int8", "int16", "int32", "int64", "float16", "bfloat16", "float32", "float64"]
ARITHMETIC = {"+": operator.add, "-": operator.sub, "*": operator.mul}


def ones(dtype):
    return w.ones([2], dtype)


def dtype_of(function, *operands):
    return function(*operands).dtype.name


@pytest.mark.parametrize("symbol", ARITHMETIC)
@pytest.mark.parametrize("left", REAL)
@pytest.mark.parametrize("right", REAL)
def test_floats_meet_in_the_wider_dtype_and_integers_on_the_right_are_cast(symbol, left, right):
    floats = {"float16": 2, "bfloat16": 2, "float32": 4, "float64": 8}
    if left in floats and right in floats and left != right:
        both = {left, right}
        expected = "float32" if both == {"float16", "bfloat16"} else max(left, right, key=floats.get)
    else:
        expected = left
    if left in ("uint8", "int8") and right in floats:
        with pytest.raises(TypeError, match=f"{left} does not combine with floating numbers"):
            ARITHMETIC[symbol](ones(left), ones(right))
    else:
        assert dtype_of(ARITHMETIC[symbol], ones(left), ones(right)) == expected


@pytest.mark.parametrize("symbol", ["+", "-", "*"])
def test_casts_that_lose_fractions_warn_at_the_users_line(symbol):
    with pytest.warns(w.errors.LossyCastWarning, match=r"float32 numbers are cast to int64.*x.astype\('float32'\)") as seen:
        ARITHMETIC[symbol](ones("int64"), ones("float32"))
    assert seen[0].filename in (__file__, operator.__file__)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ARITHMETIC[symbol](ones("float32"), ones("int64"))
        ARITHMETIC[symbol](ones("int64"), ones("int32"))


def test_means_of_integers_warn():
    for dtype in ("int64", "bool"):
        with pytest.warns(w.errors.LossyCastWarning, match=f"the mean of {dtype} is of {dtype} too"):
            ones(dtype).mean()


@pytest.mark.parametrize("left", REAL)
@pytest.mark.parametrize("right", REAL)
def test_remainders_and_floors_take_the_dtype_of_the_left_operand(left, right):
    for function in (operator.floordiv, operator.mod, operator.pow):
        if left in ("uint8", "int8") and right.startswith(("float", "bfloat")) and function is not operator.floordiv:
            with pytest.raises(TypeError, match="does not combine with floating numbers"):
                function(ones(left), ones(right))
        else:
            assert dtype_of(function, ones(left), ones(right)) == left


@pytest.mark.parametrize("left", ["bool", "uint8", "int8", "int16", "int32", "int64"])
@pytest.mark.parametrize("right", ["bool", "int32", "float64"])
def test_integers_divide_in_float32(left, right):
    assert dtype_of(operator.truediv, ones(left), ones(right)) == "float32"


def test_floats_divide_and_multiply_as_matrices_in_the_dtype_of_the_left_one():
    assert dtype_of(operator.truediv, ones("float32"), ones("float64")) == "float32"
    assert dtype_of(operator.matmul, ones("float32"), ones("float64")) == "float32"
    assert dtype_of(operator.truediv, ones("complex64"), ones("float64")) == "complex128"
    assert dtype_of(operator.truediv, ones("float32"), ones("int64")) == "float32"


def test_floats_meet_complex_numbers_in_a_complex_dtype():
    assert dtype_of(operator.add, ones("float32"), ones("complex64")) == "complex64"
    assert dtype_of(operator.mul, ones("float64"), ones("complex64")) == "complex128"
    assert dtype_of(operator.mul, ones("complex64"), ones("int64")) == "complex64"


@pytest.mark.parametrize(
    "tensor, number, expected",
    [
        ("int64", 2, "int64"), ("int8", 2, "int8"), ("float16", 2, "float16"), ("bool", 2, "bool"),
        ("int64", 2.5, "float32"), ("bool", 2.5, "float32"), ("float64", 2.5, "float64"), ("bfloat16", 2.5, "bfloat16"),
        ("float32", True, "float32"), ("int32", True, "int32"), ("complex64", 2.5, "complex64"),
        ("float32", 1j, "complex64"), ("float64", 1j, "complex128"), ("complex64", 1j, "complex64"),
        ("int64", np.float64(2.5), "float32"), ("int64", np.float32(2.5), "int64"), ("float32", np.int64(2), "float32"),
    ],
)
def test_numbers_take_the_dtype_of_the_tensor_except_floats_beside_integers(tensor, number, expected):
    for function in (operator.mul, lambda a, b: operator.mul(b, a)):
        assert dtype_of(function, ones(tensor), number) == expected


def test_division_by_a_number_is_float32_for_integers_and_bools():
    assert (w.to_tensor([True, False]) / 2).tolist() == [0.5, 0.0]
    assert (w.to_tensor([1, 2]) / 2).tolist() == [0.5, 1.0]
    assert (2 / w.to_tensor([1, 4])).tolist() == [2.0, 0.5]


@pytest.mark.parametrize(
    "expression, expected",
    [
        ("t([1, 2]) + t([1.5, 2.5])", [2, 4]), ("t([1, 2]) < t([1.5, 2.5])", [False, False]),
        ("t([1, 2]) < 1.5", [True, False]), ("1.5 - t([1, 2])", [0.5, -0.5]), ("1 - t([1.5, 2])", [-0.5, -1.0]),
        ("t([7, -7]) // 2", [3, -4]), ("t([7, -7]) % 3", [1, 2]), ("t([7.5, -7.5]) % -3", [-1.5, -1.5]),
        ("t([7, -7]) // 2.5", [2.0, -3.0]), ("t([2, 3]) ** 2", [4, 9]), ("2 ** t([2, 3])", [4, 8]),
        ("t([2, 3]) ** 0.5", [2**0.5, 3**0.5]), ("7 // t([2, -2])", [3, -4]), ("7 % t([4, -4])", [3, -1]),
        ("t([True, False]) + 1", [True, True]), ("~t([True, False])", [False, True]), ("~t([1])", [-2]),
        ("t([5, 6]) & t([3, 3])", [1, 2]), ("t([5, 6]) | t([3, 3])", [7, 7]), ("t([5, 6]) ^ t([3, 3])", [6, 5]),
        ("3 & t([5, 6])", [1, 2]), ("t([1, 2]) @ t([3, 4])", 11), ("-t([1, -2])", [-1, 2]), ("abs(t([1, -2]))", [1, 2]),
        ("np.array([1.0, 2.0]) - t([1.5, 2.0])", [-0.5, 0.0]), ("np.float32(1.5) * t([1, 2])", [1, 2]),
        ("t([1, 2]) == 1.5", [False, False]), ("t(3) + t(2.5)", 5),
    ],
)
def test_operators_compute(expression, expected):
    result = eval(expression, {"t": w.to_tensor, "np": np, "abs": abs})
    assert isinstance(result, w.Tensor)
    np.testing.assert_allclose(np.array(result.tolist(), "float64"), np.array(expected, "float64"), rtol=1e-6)


def test_arrays_on_the_left_give_tensors():
    assert dtype_of(operator.sub, np.array([1.0]), ones("float32")) == "float64"
    assert dtype_of(operator.sub, np.array([1.0], "float32"), ones("int64")) == "int64"


@pytest.mark.parametrize("other", [None, [1, 2], (1, 2), "a", {}, object()])
@pytest.mark.parametrize("function", [operator.add, operator.eq, operator.truediv, operator.lt, operator.and_, operator.matmul])
def test_other_operands_are_refused_with_what_was_got(function, other):
    for kind in (TypeError, ValueError):
        with pytest.raises(kind, match=r"Got a tensor of int64 and .*expected"):
            function(w.to_tensor([1, 2]), other)


def test_comparing_with_none_says_how_to_test_for_it():
    with pytest.raises(ValueError, match=r"Test `x is None`"):
        w.to_tensor([1]) == None  # noqa: B015, E711


def test_bitwise_operators_want_one_integer_dtype():
    with pytest.raises(ValueError, match=r"Got int64 and int32"):
        w.to_tensor([1]) & w.to_tensor([1], "int32")
    with pytest.raises(TypeError, match=r"float32"):
        w.to_tensor([1.0]) & w.to_tensor([1.0])
    with pytest.raises(TypeError, match=r"float32"):
        ~w.to_tensor([1.0])


def test_shapes_that_do_not_broadcast_are_refused():
    with pytest.raises(ValueError, match=r"\[2\] and \[3\] do not broadcast"):
        w.ones([2]) + w.ones([3])


def test_integers_are_not_divided_by_zero():
    for function in (operator.floordiv, operator.mod):
        with pytest.raises(ValueError, match=r"zero"):
            function(w.to_tensor([5]), w.to_tensor([0]))


def test_integers_to_negative_powers_are_refused():
    with pytest.raises(ValueError, match=r"\*\* -1"):
        w.to_tensor([2]) ** -1


def test_augmented_assignment_makes_a_new_tensor_as_in_paddle():
    x = w.to_tensor([1.0, 2.0])
    before = x
    x += 1
    assert x is not before
    assert before.tolist() == [1.0, 2.0]
