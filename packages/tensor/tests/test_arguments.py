"""Readers of arguments."""
from pathlib import Path

import numpy as np
import pytest

import wherry_tensor as wt
from wherry_tensor.arguments import MAX_RANK, names_of, path_of, real_number, require_rank
from wherry_tensor.errors import InvalidArgumentError, InvalidTypeError
from wherry_tensor.functions import fft


@pytest.mark.parametrize(
    ("least", "most", "said"), [(1, None, "1 axis"), (2, None, "2 axes"), (2, 5, "2 to 5 axes"), (2, MAX_RANK, "2 or more axes")]
)
def test_a_rank_that_does_not_fit_is_refused_with_the_one_that_does(least, most, said):
    with pytest.raises(InvalidArgumentError, match=rf"f: 'y' has the wrong number of axes\. Got shape \[\], expected {said}, \[N, C\]\."):
        require_rank(wt.ones([]), "f", least, most, "y", "[N, C]")
    x = wt.ones([2] * (most or least))
    assert require_rank(x, "f", least, most) is x


def test_a_real_number_is_not_complex_and_fits_a_float():
    assert [real_number(value, "f", "p") for value in (2, True, np.float32(0.5), wt.to_tensor([3]))] == [2.0, 1.0, 0.5, 3.0]
    with pytest.raises(InvalidTypeError, match=r"f: argument 'p' must be a real number\. Got 1j, expected"):
        real_number(1j, "f", "p")
    with pytest.raises(InvalidArgumentError, match=r"f: argument 'p' is too large\. Got 1"):
        real_number(10**400, "f", "p")
    with pytest.raises(InvalidTypeError, match=r"uniform: argument 'min' must be a real number"):
        wt.uniform([2], min=1j)


def test_a_path_is_text_or_a_path():
    assert path_of("a/b", "f") == "a/b" == path_of(Path("a/b"), "f")
    for value in (3, None, b"a", np.zeros(2)):
        with pytest.raises(InvalidTypeError, match="f: 'path' must be a file name"):
            path_of(value, "f")
    with pytest.raises(InvalidArgumentError, match=r"f: 'path' is not a valid file name.*position 1"):
        path_of("a\ud800", "f")


def test_names_come_in_any_collection_but_not_as_one_text():
    assert names_of(None, "f", "names") == frozenset()
    for given in ({"a", "b"}, ["a", "b"], ("b", "a"), {"a": 1, "b": 2}.keys(), iter(["a", "b"])):
        assert names_of(given, "f", "names") == {"a", "b"}
    with pytest.raises(InvalidTypeError, match=r"f: names must be a collection of names\. Got the text 'add', .* Write names=\{'add'\}"):
        names_of("add", "f", "names")
    for given in (3, [1], range(2**40), wt.ones([2])):
        with pytest.raises(InvalidTypeError, match="f: names must be a collection of names"):
            names_of(given, "f", "names")


def test_one_number_has_no_axis_to_transform():
    for function in (fft.fft, fft.irfft, fft.ihfft, fft.hfft, fft.rfft):
        with pytest.raises(IndexError, match=r"x is 0-d\. Got shape \[\]"):
            function(wt.to_tensor(1.0))
    with pytest.raises(IndexError, match="fftshift: x is 0-d"):
        fft.fftshift(wt.to_tensor(1.0), axes=0)


def test_cross_of_numbers_names_their_shapes():
    with pytest.raises(ValueError, match=r"cross: these are not vectors of three numbers\. Got shapes \[\] and \[\]"):
        wt.cross(wt.to_tensor(1.0), wt.to_tensor(1.0), axis=0)


def test_a_memo_of_deepcopy_is_a_dict():
    with pytest.raises(TypeError, match="deepcopy: argument 'memo' must be of the class dict"):
        wt.ones([2]).__deepcopy__([1])


BOTH = np.ones((2, 2), "float32")  # has no truth of its own


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda x: wt.unique(x, return_counts=BOTH), r"unique: argument 'return_counts' must be a bool\. Got array"),
        (lambda x: wt.unique(x, axis=BOTH), "unique: argument 'axis' must be one integer"),
        (lambda x: wt.unique_consecutive(x, return_inverse=BOTH), "unique_consecutive: argument 'return_inverse' must be a bool"),
        (lambda x: wt.quantile(x, 0.5, interpolation=[1]), "quantile: unknown interpolation. Got .1.,"),
        (lambda x: wt.scatter_reduce(x, 0, wt.zeros([2, 2], "int64"), x, reduce=[]), "scatter_reduce: unknown reduce"),
        (lambda x: wt.put_along_axis(x, wt.zeros([2, 2], "int64"), 1.0, 0, BOTH), "put_along_axis: unknown reduce"),
        (lambda x: wt.take(x, wt.zeros([1], "int64"), mode=BOTH), "take: unknown mode"),
        (lambda x: wt.scale(x, bias=BOTH), "scale: argument 'bias' must be one number"),
        (lambda x: wt.scale(x, act=BOTH), "scale: unknown activation"),
        (lambda x: wt.std(x, unbiased=BOTH), "std: argument 'unbiased' must be a bool"),
        (lambda x: wt.isclose(x, x, equal_nan=BOTH), "isclose: argument 'equal_nan' must be a bool"),
        (lambda x: wt.unstack(x, num=BOTH), "unstack: argument 'num' must be one integer"),
        (lambda x: wt.tensordot(x, x, axes=[None]), r"tensordot: 'axes' must name axes\. Got \[None\]"),
        (lambda x: wt.uniform([2], seed=BOTH), "uniform: argument 'seed' must be a bool"),
    ],
)
def test_an_argument_of_another_kind_is_named(call, said):
    with pytest.raises(InvalidArgumentError, match=said):
        call(wt.ones([2, 2]))


def test_axes_of_a_tensor_without_any_have_nothing_to_swap():
    assert wt.swapaxes(wt.to_tensor(2.0), 0, -1).shape == []
