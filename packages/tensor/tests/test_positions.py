"""Positions: values taken from, put at and counted by indices, against NumPy where it has the same function."""
import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given

import wherry_tensor as w
from compared import array, equal
from wherry_tensor import ones, to_tensor, zeros
from wherry_tensor.functions.positions import one_hot


@given(st.integers(-3, 2), st.lists(st.integers(-2, 1), max_size=4), st.sampled_from(["int32", "int64"]))
def test_gather_and_index_select(axis, index, dtype):
    a = array(2, 2, 2)
    i = to_tensor(np.array(index, dtype=dtype))
    equal(w.gather(to_tensor(a), i, axis), np.take(a, index, axis) if index else np.take(a, np.zeros(0, int), axis))
    equal(w.index_select(to_tensor(a), i, axis), np.take(a, np.array(index, int), axis))


def test_gather_takes_columns_and_numbers():
    x = to_tensor([[1, 2], [3, 4]])
    assert w.gather(x, to_tensor([[1], [0]])).tolist() == [[3, 4], [1, 2]]
    assert w.gather(x, to_tensor(1)).tolist() == [3, 4]
    assert w.gather(x, to_tensor([1]), axis=to_tensor(1)).tolist() == [[2], [4]]


@pytest.mark.parametrize("k", [0, 1, 2, 3])
def test_gather_nd(k):
    a = array(2, 3, 4)
    index = np.random.default_rng(1).integers(0, 2, (5, k))
    equal(w.gather_nd(to_tensor(a), to_tensor(index)), a[tuple(index.T)] if k else np.broadcast_to(a, (5, 2, 3, 4)))


@given(st.integers(-2, 1), st.data())
def test_take_and_put_along_axis(axis, data):
    a = array(3, 4)
    size = a.shape[axis]
    shape = list(a.shape)
    shape[axis] = data.draw(st.integers(1, 3))
    index = np.random.default_rng(data.draw(st.integers(0, 99))).integers(-size, size, shape)
    equal(w.take_along_axis(to_tensor(a), to_tensor(index), axis), np.take_along_axis(a, index, axis))
    put = a.copy()
    np.put_along_axis(put, index, 5, axis)
    equal(w.put_along_axis(to_tensor(a), to_tensor(index), 5.0, axis), put)


def test_take_along_axis_broadcasts():
    a = array(2, 3)
    equal(w.take_along_axis(to_tensor(a), to_tensor([[2]]), 1), a[:, 2:])
    assert w.take_along_axis(to_tensor(a), to_tensor([[0, 1]]), 0, broadcast=False).shape == [1, 2]


@pytest.mark.parametrize(
    ("reduce", "include_self", "expected"),
    [
        ("assign", True, [[3, 1, 2], [3, 5, 5]]),
        ("add", True, [[5, 1, 2], [3, 13, 5]]),
        ("add", False, [[5, 1, 2], [3, 9, 5]]),
        ("mul", True, [[0, 1, 2], [3, 80, 5]]),
        ("multiply", False, [[6, 1, 2], [3, 20, 5]]),
        ("amax", True, [[3, 1, 2], [3, 5, 5]]),
        ("amin", True, [[0, 1, 2], [3, 4, 5]]),
        ("amin", False, [[2, 1, 2], [3, 4, 5]]),
        ("mean", True, [[5 / 3, 1, 2], [3, 13 / 3, 5]]),
        ("mean", False, [[2.5, 1, 2], [3, 4.5, 5]]),
    ],
)
def test_put_along_axis_puts_values_together(reduce, include_self, expected):
    x = to_tensor([[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]])
    index, values = to_tensor([[0, 0], [1, 1]]), to_tensor([[2.0, 3.0], [4.0, 5.0]])
    out = w.put_along_axis(x, index, values, 1, reduce, include_self)
    np.testing.assert_allclose(out.numpy(), expected, rtol=1e-6)
    assert w.put_along_axis_(x, index, values, 1, reduce, include_self) is x
    np.testing.assert_allclose(x.numpy(), expected, rtol=1e-6)


@pytest.mark.parametrize("mode", ["wrap", "clip"])
def test_take(mode):
    a = array(2, 3)
    index = np.array([[0, 7], [-8, 3]])
    equal(w.take(to_tensor(a), to_tensor(index), mode), np.take(a, index, mode=mode))
    equal(w.take(to_tensor(a), to_tensor([[0, -1]])), np.take(a, [[0, -1]]))


def test_index_sample():
    x = to_tensor([[1, 2, 3], [4, 5, 6]])
    assert w.index_sample(x, to_tensor([[0, 2], [1, 1]])).tolist() == [[1, 3], [5, 5]]


def test_scatter():
    x, rows = zeros([3, 2]), to_tensor([[1.0, 2.0], [3.0, 4.0]])
    assert w.scatter(x, to_tensor([2, 0]), rows).tolist() == [[3, 4], [0, 0], [1, 2]]
    assert w.scatter(x + 9, to_tensor([1, 1]), rows, overwrite=False).tolist() == [[9, 9], [4, 6], [9, 9]]
    assert w.scatter(x, to_tensor([[1]]), rows[:1]).tolist() == w.scatter(x, to_tensor(1), rows[0]).tolist() == [[0, 0], [1, 2], [0, 0]]
    assert w.scatter_(x, to_tensor([1]), rows[:1]) is x
    assert x.tolist() == [[0, 0], [1, 2], [0, 0]]


def test_scatter_takes_its_four_arguments_in_order():
    # A position in the second place is not an axis, as PyTorch's scatter has it there.
    x, index, updates = w.zeros([3, 1]), w.to_tensor([1, 1]), w.ones([2, 1])
    assert w.scatter(x, index, updates, False).tolist() == [[0.0], [2.0], [0.0]]
    assert w.gather(w.to_tensor([[1, 2, 3]]), w.to_tensor([2]), w.to_tensor(1)).tolist() == [[3]]


def test_scatter_nd():
    a, index = array(2, 3, 2), np.array([[0, 1], [0, 1], [1, 2]])
    updates = array(3, 2, seed=1)
    expected = a.copy()
    np.add.at(expected, tuple(index.T), updates)
    equal(w.scatter_nd_add(to_tensor(a), to_tensor(index), to_tensor(updates)), expected)
    equal(w.scatter_nd(to_tensor(index), to_tensor(updates), [2, 3, 2]), expected - a)


@pytest.mark.parametrize("axis", [0, -1])
def test_index_add_and_fill(axis):
    a, index = array(3, 3), [0, 2, 0]
    value = array(3, 3, seed=1)
    expected = a.copy()
    np.add.at(expected, index if axis == 0 else (slice(None), index), value)
    x = to_tensor(a)
    equal(w.index_add(x, to_tensor(index), axis, to_tensor(value)), expected)
    equal(w.index_add_(x, to_tensor(index), axis, to_tensor(value)), expected)
    filled = expected.copy()
    filled[index if axis == 0 else (slice(None), index)] = 7
    equal(w.index_fill(x, to_tensor(index), axis, 7), filled)
    equal(w.index_fill_(x, to_tensor(index), axis, to_tensor(7.0).astype("float64")), filled)


def test_index_put():
    x, value = zeros([2, 3]), to_tensor([1.0, 2.0])
    at = (to_tensor([0, 0]), to_tensor([1, 1], dtype="int32"))
    assert w.index_put(x, at, value, accumulate=True).tolist() == [[0, 3, 0], [0, 0, 0]]
    assert w.index_put(x, [to_tensor([-1])], value[:1]).tolist() == [[0, 0, 0], [1, 1, 1]]
    mask = to_tensor([[True, False, False], [False, False, True]])
    assert w.index_put_(x, [mask], value) is x
    assert x.tolist() == [[1, 0, 0], [0, 0, 2]]


def test_masked_fill():
    x = to_tensor([[1.0, 2.0, 3.0]])
    assert w.masked_fill(x, x > 1, 0).tolist() == w.masked_fill(x, x > 1, to_tensor([0.0])).tolist() == [[1, 0, 0]]
    assert w.masked_fill(x, to_tensor([[True], [False]]), 9.0).shape == [2, 3]
    assert w.masked_fill_(x, to_tensor([True, False, False]), 9).tolist() == [[9, 2, 3]]


def test_select_scatter_and_diagonals():
    a = array(3, 4)
    x = to_tensor(a)
    expected = a.copy()
    expected[:, -1] = 7
    equal(w.select_scatter(x, zeros([3], "float64") + 7, 1, -1), expected)
    for offset in (-2, 0, 1):
        equal(w.diagonal(x, offset), np.diagonal(a, offset))
        assert w.diagonal(x, offset)._shares_memory_with(x)
        expected = a.copy()
        n = len(np.diagonal(a, offset))
        expected[np.arange(n) - min(offset, 0), np.arange(n) + max(offset, 0)] = 7
        seven = zeros([n], "float64") + 7
        equal(w.diagonal_scatter(x, seven, offset), expected)
        equal(x.clone().fill_diagonal_(7, offset), expected)
        equal(x.clone().fill_diagonal_tensor_(seven, offset), expected)


@pytest.mark.parametrize("shape", [(5, 2), (2, 5), (7, 3), (3, 3, 3)])
@pytest.mark.parametrize("wrap", [False, True])
def test_fill_diagonal(shape, wrap):
    a = array(*shape)
    x = to_tensor(a)
    np.fill_diagonal(a, 7, wrap)
    equal(x.fill_diagonal_(7, wrap=wrap), a)


@given(st.lists(st.integers(-3, 3), max_size=9), st.sampled_from(["int64", "int32"]))
def test_unique(values, dtype):
    a = np.array(values, dtype="int64")
    ours = w.unique(to_tensor(a), True, True, True, dtype=dtype)
    for mine, theirs in zip(ours, np.unique(a, True, True, True), strict=True):
        np.testing.assert_array_equal(mine.numpy(), theirs)
    assert ours[1].dtype.name == dtype
    np.testing.assert_array_equal(w.unique(to_tensor(a)).numpy(), np.unique(a))
    changes = np.array([i == 0 or a[i] != a[i - 1] for i in range(len(a))], dtype=bool)
    kept, inverse, counts = w.unique_consecutive(to_tensor(a), True, True)
    np.testing.assert_array_equal(kept.numpy(), a[changes])
    np.testing.assert_array_equal(inverse.numpy(), np.cumsum(changes) - 1)
    assert counts.numpy().sum() == len(a)


def test_unique_rows():
    a = np.array([[2, 1], [3, 1], [2, 1]])
    for axis in (0, 1):
        for mine, theirs in zip(w.unique(to_tensor(a), True, True, True, axis), np.unique(a, True, True, True, axis), strict=True):
            np.testing.assert_array_equal(mine.numpy(), theirs.reshape(mine.shape))
    assert w.unique_consecutive(to_tensor(a[[0, 2, 1]]), axis=0).tolist() == [[2, 1], [3, 1]]


def test_one_hot_and_shard_index():
    assert one_hot(to_tensor([[1], [0]]), to_tensor(3)).tolist() == [[[0, 1, 0]], [[1, 0, 0]]]
    assert w.shard_index(to_tensor([[16], [1]]), 20, 2, 1).tolist() == [[6], [-1]]


def test_multiplex():
    a, b = to_tensor([[1, 2], [3, 4]]), to_tensor([[5, 6], [7, 8]])
    assert w.multiplex([a, b], to_tensor([[1], [0]], dtype="int32")).tolist() == [[5, 6], [3, 4]]


@pytest.mark.parametrize(
    ("call", "error", "match"),
    [
        (lambda x: w.gather(x, to_tensor([2])), IndexError, "gather: index 2"),
        (lambda x: w.gather(x, to_tensor([0.0])), TypeError, "float32"),
        (lambda x: w.gather(x, to_tensor([[0, 1]])), ValueError, r"\[n, 1\]"),
        (lambda x: w.gather(x, [0]), TypeError, "list"),
        (lambda x: w.gather(x, to_tensor([0]), 2), IndexError, "axis 2"),
        (lambda x: w.gather_nd(x, to_tensor([[0, 5]])), ValueError, "gather_nd: index 5"),
        (lambda x: w.gather_nd(x, to_tensor([[0, 0, 0]])), ValueError, "at most 2"),
        (lambda x: w.index_select(x, to_tensor([3]), 1), ValueError, "index_select: index 3"),
        (lambda x: w.index_select(x, to_tensor(0)), ValueError, r"expected \[n\]"),
        (lambda x: w.index_sample(x, to_tensor([[0]])), ValueError, "equally many rows"),
        (lambda x: w.index_sample(x, to_tensor([[0], [5]])), ValueError, "index_sample: index 5"),
        (lambda x: w.take_along_axis(x, to_tensor([0]), 0), ValueError, "one rank"),
        (lambda x: w.take_along_axis(x, to_tensor([[0]]), 2), ValueError, "axis 2"),
        (lambda x: w.take_along_axis(x, to_tensor([[5]]), 1), IndexError, "index 5"),
        (lambda x: w.put_along_axis(x, to_tensor([[0]]), 1.0, 0, "xyz"), ValueError, "'xyz'"),
        (lambda x: w.put_along_axis(x, to_tensor([[0]]), to_tensor([[1]]), 0), TypeError, "int64"),
        (lambda x: w.put_along_axis(x, to_tensor([[5]]), 1.0, 0), IndexError, "index 5"),
        (lambda x: w.take(x, to_tensor([6])), IndexError, "take: index 6"),
        (lambda x: w.take(x, to_tensor([0]), "x"), ValueError, "mode='x'"),
        (lambda x: w.take(x, to_tensor([0.0])), TypeError, "float32"),
        (lambda x: w.scatter(x, to_tensor([5]), x[:1]), IndexError, "5"),
        (lambda x: w.scatter(x, to_tensor([0]), x[:1, :2]), ValueError, r"\[1, 3\]"),
        (lambda x: w.scatter(x, to_tensor([0]), x[:1].astype("int64")), TypeError, "one dtype"),
        (lambda x: w.scatter(x, to_tensor([0.0]), x[:1]), TypeError, "float32"),
        (lambda x: w.scatter_nd_add(x, to_tensor([[0, 0]]), x[0]), ValueError, r"\[1\]"),
        (lambda x: w.scatter_nd(to_tensor([[5]]), x[:1], [3, 3]), IndexError, "5"),
        (lambda x: w.index_add(x, to_tensor([0]), 2, x), IndexError, "axis 2"),
        (lambda x: w.index_add(x, to_tensor([0]), 0, x), ValueError, r"\[1, 3\]"),
        (lambda x: w.index_put(x, to_tensor([0]), x[0]), TypeError, "list"),
        (lambda x: w.index_put(x, (), x), ValueError, "empty list"),
        (lambda x: w.index_put(x, [to_tensor([0])], 9.0), TypeError, "value"),
        (lambda x: w.index_put(x, [to_tensor([0])], to_tensor([9])), TypeError, "one dtype"),
        (lambda x: w.index_put(x, [to_tensor([5])], x[0]), IndexError, "index_put: index 5"),
        (lambda x: w.index_put(x, [to_tensor([0])] * 3, x[0]), ValueError, "more indices than axes"),
        (lambda x: w.masked_fill(x, x, 0.0), TypeError, "float32, expected bool"),
        (lambda x: w.masked_fill(x, x > 0, x), ValueError, "one element"),
        (lambda x: w.masked_fill(x, x > 0, "a"), TypeError, "str"),
        (lambda x: w.select_scatter(x, ones([2]), 0, 1), RuntimeError, r"\[3\]"),
        (lambda x: w.select_scatter(x, ones([3]), 0, 5), IndexError, "index=5"),
        (lambda x: w.diagonal(x[0]), IndexError, "rank 2"),
        (lambda x: w.diagonal(x, 0, 0, 0), ValueError, "different"),
        (lambda x: w.diagonal_scatter(x, ones([3])), ValueError, r"\[2\]"),
        (lambda x: x.fill_diagonal_("a"), TypeError, "str"),
        (lambda x: x[0].fill_diagonal_(1.0), ValueError, "no diagonal"),
        (lambda x: w.unique(x, axis=2), ValueError, "axis 2"),
        (lambda x: w.unique(x, dtype="float32"), NotImplementedError, "float32"),
        (lambda x: one_hot(x, 3), TypeError, "float32"),
        (lambda x: one_hot(to_tensor([5]), 3), ValueError, "5"),
        (lambda x: one_hot(to_tensor([0]), 0), ValueError, "num_classes=0"),
        (lambda x: w.shard_index(to_tensor([[1]]), 20, 2, 2), ValueError, "shard_id=2"),
        (lambda x: w.shard_index(to_tensor([[25]]), 20, 2, 0), ValueError, "25"),
        (lambda x: w.shard_index(to_tensor([1]), 20, 2, 0), ValueError, "column"),
        (lambda x: w.multiplex([x], to_tensor([[0], [0]])), ValueError, "two or more"),
        (lambda x: w.multiplex([x, x], to_tensor([[0], [5]])), IndexError, "index 5"),
    ],
)
def test_bad_input_is_refused(call, error, match):
    with pytest.raises(error, match=match):
        call(to_tensor([[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]))
