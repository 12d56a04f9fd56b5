"""Order, positions and counts, against NumPy."""
import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given

import wherry_tensor as w
from wherry_tensor import to_tensor

NAN = float("nan")


@st.composite
def matrices(draw):
    shape = draw(st.tuples(st.integers(1, 4), st.integers(1, 5)))
    values = draw(st.lists(st.integers(-3, 3), min_size=shape[0] * shape[1], max_size=shape[0] * shape[1]))
    return np.array(values, dtype=draw(st.sampled_from(["int64", "float32", "int32"]))).reshape(shape)


@given(matrices(), st.integers(-2, 1), st.booleans())
def test_sort_and_argsort(a, axis, descending):
    order = np.argsort(-a if descending else a, axis=axis, kind="stable")
    x = to_tensor(a)
    np.testing.assert_array_equal(w.argsort(x, axis, descending).numpy(), order)
    np.testing.assert_array_equal(w.sort(x, axis, descending).numpy(), np.take_along_axis(a, order, axis))


@given(matrices(), st.integers(-2, 1), st.booleans(), st.data())
def test_topk(a, axis, largest, data):
    k = data.draw(st.integers(1, a.shape[axis]))
    values, indices = w.topk(to_tensor(a), k, axis, largest)
    expected = np.sort(a, axis=axis)
    expected = np.flip(expected, axis) if largest else expected
    np.testing.assert_array_equal(values.numpy(), np.take(expected, range(k), axis=axis))
    np.testing.assert_array_equal(np.take_along_axis(a, indices.numpy(), axis), values.numpy())


@given(matrices(), st.integers(-2, 1), st.booleans(), st.data())
def test_kthvalue(a, axis, keepdim, data):
    k = data.draw(st.integers(1, a.shape[axis]))
    value, index = w.kthvalue(to_tensor(a), k, axis, keepdim)
    expected = np.take(np.sort(a, axis=axis), [k - 1], axis=axis)
    found = np.take_along_axis(a, index.numpy() if keepdim else np.expand_dims(index.numpy(), axis), axis)
    np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(value.numpy(), expected if keepdim else expected.squeeze(axis))


def commonest(row):
    """The smallest of the commonest values, and its last position."""
    values, counts = np.unique(row, return_counts=True)
    value = values[counts.argmax()]
    return value, len(row) - 1 - list(row[::-1]).index(value)


@given(matrices(), st.integers(-2, 1), st.booleans())
def test_mode(a, axis, keepdim):
    value, index = w.mode(to_tensor(a), axis, keepdim)
    rows = np.moveaxis(a, axis, -1).reshape(-1, a.shape[axis])
    expected = [commonest(row) for row in rows]
    assert value.numpy().ravel().tolist() == [v for v, _ in expected]
    assert index.numpy().ravel().tolist() == [i for _, i in expected]
    assert value.ndim == index.ndim == (2 if keepdim else 1)


def test_nan_counts_as_largest():
    x = to_tensor([2.0, NAN, 1.0])
    assert w.argsort(x).tolist() == [2, 0, 1]
    assert w.argsort(x, descending=True).tolist() == [1, 0, 2]
    assert w.topk(x, 2)[1].tolist() == [1, 0]


def test_numbers_are_sorted_too():
    x = to_tensor(3.0)
    assert w.sort(x).item() == w.topk(x, 1)[0].item() == w.kthvalue(x, 1)[0].item() == w.mode(x)[0].item() == 3.0


@given(st.lists(st.integers(-5, 5), max_size=8), st.lists(st.integers(-6, 6), max_size=8), st.booleans())
def test_searchsorted_and_bucketize(sequence, values, right):
    a, v = np.sort(np.array(sequence, dtype="int64")), np.array(values, dtype="int64")
    expected = np.searchsorted(a, v, "right" if right else "left")
    np.testing.assert_array_equal(w.searchsorted(to_tensor(a), to_tensor(v), right=right).numpy(), expected)
    np.testing.assert_array_equal(w.bucketize(to_tensor(v), to_tensor(a), right=right).numpy(), expected)


def test_searchsorted_of_rows_dtypes_and_numbers():
    rows = to_tensor([[1, 3, 5], [2, 4, 6]])
    assert w.searchsorted(rows, to_tensor([[3], [4]])).tolist() == [[1], [1]]
    assert w.searchsorted(to_tensor([1.0, 3.5]), to_tensor([3, 4])).tolist() == [1, 2]
    assert w.searchsorted(to_tensor([1, 3]), to_tensor(3), out_int32=True).dtype == w.int32


@given(matrices())
def test_nonzero(a):
    x = to_tensor(a)
    np.testing.assert_array_equal(w.nonzero(x).numpy(), np.argwhere(a))
    for ours, theirs in zip(w.nonzero(x, as_tuple=True), np.nonzero(a), strict=True):
        np.testing.assert_array_equal(ours.numpy(), theirs[:, None])


@given(matrices())
def test_masked_select(a):
    x = to_tensor(a)
    np.testing.assert_array_equal(w.masked_select(x, x > 0).numpy(), a[a > 0])
    row = a[:1] > 0
    np.testing.assert_array_equal(w.masked_select(x, to_tensor(row)).numpy(), a[np.broadcast_to(row, a.shape)])


@given(st.lists(st.integers(0, 6), min_size=1, max_size=9), st.integers(0, 9))
def test_bincount(values, minlength):
    a = np.array(values, dtype="int64")
    weights = np.arange(len(values)) / 4
    np.testing.assert_array_equal(w.bincount(to_tensor(a), minlength=minlength).numpy(), np.bincount(a, minlength=minlength))
    np.testing.assert_array_equal(
        w.bincount(to_tensor(a), to_tensor(weights), minlength).numpy(), np.bincount(a, weights, minlength)
    )


def test_bincount_of_nothing_is_empty_as_in_paddle():
    assert w.bincount(w.zeros([0], "int64"), minlength=3).shape == [0]


def test_histogram():
    a = np.random.default_rng(0).uniform(-1, 4, 100)
    np.testing.assert_array_equal(w.histogram(to_tensor(a), 7, 0, 3).numpy(), np.histogram(a, 7, (0, 3))[0])
    np.testing.assert_array_equal(w.histogram(to_tensor(a), 7).numpy(), np.histogram(a, 7)[0])
    assert w.histogram(to_tensor([1, 2, 1]), bins=4, min=0, max=3).tolist() == [0, 2, 1, 0]
    assert w.histogram(to_tensor([1.0, 1.0]), bins=4).tolist() == [0, 0, 2, 0]


@pytest.mark.parametrize(
    ("call", "error", "match"),
    [
        (lambda x: w.topk(x, 4), ValueError, r"expected k in \[1, 3\]"),
        (lambda x: w.topk(x, 0), ValueError, "k=0"),
        (lambda x: w.topk(x, 1, axis=2), ValueError, "axis 2"),
        (lambda x: w.topk(x, 1.5), TypeError, "'k'"),
        (lambda x: w.topk(None, 1), TypeError, "None"),
        (lambda x: w.topk(x, 1, largest=1), TypeError, "largest"),
        (lambda x: w.sort(x, 2), ValueError, "axis 2"),
        (lambda x: w.sort([3, 1]), TypeError, "list"),
        (lambda x: w.argsort(x, "a"), TypeError, "'axis'"),
        (lambda x: w.kthvalue(x, 4), ValueError, "k=4"),
        (lambda x: w.kthvalue(x, 1, axis=5), ValueError, "axis 5"),
        (lambda x: w.mode(x, 2), ValueError, "axis 2"),
        (lambda x: w.mode(w.zeros([0])), ValueError, "no values"),
        (lambda x: w.searchsorted(x[0], 3), TypeError, "values"),
        (lambda x: w.searchsorted(x, x[0]), RuntimeError, "its sequence"),
        (lambda x: w.bucketize(x, x), ValueError, "sorted_sequence must be 1-D"),
        (lambda x: w.nonzero(to_tensor(1.0)), ValueError, "0-d"),
        (lambda x: w.masked_select(x, x), TypeError, "float32, expected bool"),
        (lambda x: w.masked_select(x, x[:, :2] > 0), ValueError, "broadcast"),
        (lambda x: w.bincount(x[0]), TypeError, "float32"),
        (lambda x: w.bincount(to_tensor([[1]])), ValueError, "rank 1"),
        (lambda x: w.bincount(to_tensor([-1])), ValueError, "-1"),
        (lambda x: w.bincount(to_tensor([1]), minlength=-1), ValueError, "minlength=-1"),
        (lambda x: w.bincount(to_tensor([1]), to_tensor([1.0, 2.0])), ValueError, r"\[2\]"),
        (lambda x: w.histogram(x, bins=0), ValueError, "bins=0"),
        (lambda x: w.histogram(x, min=3, max=0), ValueError, "min <= max"),
        (lambda x: w.histogram(x, min="a"), TypeError, "'min'"),
    ],
)
def test_bad_input_is_refused(call, error, match):
    with pytest.raises(error, match=match):
        call(to_tensor([[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]))
