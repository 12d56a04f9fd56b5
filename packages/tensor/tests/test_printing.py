"""The text of tensors, to the character what Paddle 2.6.2 prints for them."""
import textwrap

import numpy as np
import pytest

from wherry_tensor import arange, concat, full, linspace, ones, set_printoptions, to_tensor, zeros

NAN, INF = float("nan"), float("inf")


@pytest.fixture(autouse=True)
def default_options():
    yield
    set_printoptions(precision=8, threshold=1000, edgeitems=3, sci_mode=False, linewidth=80)


def body(x):
    """The text after the first line, without its bracket and indentation."""
    return textwrap.dedent(str(x).partition("\n")[2][:-1])


def test_first_line_names_shape_dtype_place_and_stop_gradient():
    x = to_tensor([[1.5, 2.0]], stop_gradient=False)
    assert repr(x) == (
        "Tensor(shape=[1, 2], dtype=float32, place=Place(cpu), stop_gradient=False,\n       [[1.50000000, 2.        ]])"
    )
    assert str(x) == repr(x) == f"{x}"


@pytest.mark.parametrize(
    ("value", "dtype", "text"),
    [
        (5.0, None, "5."),
        (5, None, "5"),
        (True, None, "True"),
        (1 + 2j, None, "(1+2j)"),
        (NAN, None, "nan"),
        (-INF, None, "-inf."),
        (1e-9, None, "0.00000000"),
        (1e30, None, "1000000015047466219876688855040."),
        ([], None, "[]"),
        ([1.0, 2.5], None, "[1.        , 2.50000000]"),
        ([1.0, -2.5], None, "[ 1.        , -2.50000000]"),
        ([1.0, NAN], None, "[1. , nan]"),
        ([NAN, INF], None, "[nan , inf.]"),
        ([INF, -INF, 1.5], None, "[ inf.     , -inf.     , 1.50000000]"),
        ([1e10, 1.5], None, "[10000000000., 1.50000000  ]"),
        ([0.1, 100.001], None, "[0.10000000  , 100.00099945]"),
        ([-0.0, 1.5], None, "[-0.       , 1.50000000]"),
        ([-0.0, -1.5, 1.0], None, "[ -0.       , -1.50000000,  1.        ]"),
        ([1 / 3], "float64", "[0.33333333]"),
        ([1 / 3], "float16", "[0.33325195]"),
        ([0.09960938, 0.19921875, -300.0], "bfloat16", "[0.09960938, 0.19921875, -300.     ]"),
        ([1, -2, 300], None, "[ 1 , -2 , 300]"),
        ([-1, 10000000000], None, "[-1         , 10000000000]"),
        ([True, False], None, "[True , False]"),
        ([1 + 2j, 3.5 - 4j], None, "[(1+2j)  , (3.5-4j)]"),
        ([2j, -1 - 1j], None, "[ 2j    , (-1-1j)]"),
        ([-0j, -1.0, 300.0], "complex64", "[ (-0-0j), (-1+0j) , (300+0j)]"),
        ([1.1 + 2.3j], None, "[(1.100000023841858+2.299999952316284j)]"),
        ([1.1 + 2.3j], "complex128", "[(1.1+2.3j)]"),
    ],
)
def test_elements(value, dtype, text):
    assert body(to_tensor(value, dtype)) == text


def test_rows_and_blocks():
    assert body(to_tensor([[1, -2], [300, 4]])) == "[[ 1 , -2 ],\n [300,  4 ]]"
    assert body(arange(8).reshape([2, 2, 2])) == "[[[0, 1],\n  [2, 3]],\n\n [[4, 5],\n  [6, 7]]]"
    assert body(zeros([2, 1, 1, 1])) == "[[[[0.]]],\n\n\n [[[0.]]]]"


@pytest.mark.parametrize(
    ("shape", "text"),
    [([0, 3], "[]"), ([0, 0], "[]"), ([3, 0], "[[],\n [],\n []]"), ([2, 0, 3], "[[],\n\n []]")],
)
def test_zero_size(shape, text):
    assert body(zeros(shape)) == text


def test_long_rows_are_wrapped():
    lines = body(arange(40)).split("\n")
    assert lines[0] == "[0 , 1 , 2 , 3 , 4 , 5 , 6 , 7 , 8 , 9 , 10, 11, 12, 13, 14, 15, 16, 17,"
    assert lines[2] == " 36, 37, 38, 39]"
    assert [line.count("0.5") for line in body(full([1, 30], -0.5)).split("\n")] == [5] * 6
    assert [line.count("1.5") for line in body(full([1, 30], 1.5)).split("\n")] == [6] * 5


def test_large_tensors_are_summarised():
    assert body(arange(1001)) == "[0   , 1   , 2   , ..., 998 , 999 , 1000]"
    assert "..." not in str(arange(1000))
    assert body(ones([1100, 1])) == "[[1.],\n [1.],\n [1.],\n ...,\n [1.],\n [1.],\n [1.]]"
    assert body(ones([7, 1, 200], "int32")).split("\n\n")[3] == " ...,"
    assert body(linspace(0, 1, 2000)).endswith("..., 0.99899948, 0.99949974,\n 1.        ]")


def test_columns_are_as_wide_as_the_entries_at_the_ends():
    hidden = concat([zeros([1000]), full([1], -123456.0), zeros([1000])])
    assert body(hidden) == "[0., 0., 0., ..., 0., 0., 0.]"
    assert body(to_tensor([7, 7, 7, 1234, -8, 7, 7, 7])) == "[7, 7, 7, 1234, -8, 7, 7, 7]"


def test_strided_tensors():
    x = arange(2000).reshape([2, 1000])
    assert body(x.transpose([1, 0])).split("\n")[:2] == ["[[0   , 1000],", " [1   , 1001],"]
    assert body(arange(4)[::-2]) == "[3, 1]"


def test_options():
    set_printoptions(precision=3)
    assert body(to_tensor([1 / 3, 1e5])) == "[0.333  , 100000.]"
    set_printoptions(sci_mode=True)
    assert body(to_tensor([NAN, INF, -1.0])) == "[ nan      ,  inf      , -1.000e+00]"
    set_printoptions(sci_mode=False, precision=8, linewidth=20)
    assert body(arange(7)) == "[0, 1, 2, 3,\n 4, 5, 6]"
    set_printoptions(linewidth=80, edgeitems=1, threshold=5)
    assert body(ones([4, 4])) == "[[1., ..., 1.],\n ...,\n [1., ..., 1.]]"
    set_printoptions(edgeitems=0)
    assert body(arange(6)) == "[..., 0, 1, 2, 3, 4, 5]"


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"precision": "a"}, TypeError),
        ({"edgeitems": 1.5}, TypeError),
        ({"linewidth": True}, TypeError),
        ({"sci_mode": 1}, TypeError),
        ({"precision": -1}, ValueError),
        ({"threshold": -1}, ValueError),
    ],
)
def test_bad_options_are_refused_and_change_nothing(options, error):
    with pytest.raises(error, match=f"set_printoptions: {next(iter(options))} is n"):
        set_printoptions(**options, **({} if "threshold" in options else {"threshold": 1}))
    assert "..." not in str(arange(10))


def test_every_dtype_prints():
    for dtype in ("bool", "uint8", "int8", "int16", "int32", "int64", "float16", "bfloat16", "float32", "float64", "complex64", "complex128"):
        assert f"dtype={dtype}, " in str(ones([2, 2], dtype))


def test_printing_reads_only_what_is_shown():
    x = ones([4]).expand([4])
    big = x[np.zeros(1, dtype="int64")].expand([2000, 2000])
    assert len(str(big)) < 1000
