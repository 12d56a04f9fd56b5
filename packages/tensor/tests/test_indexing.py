"""x[index] and x[index] = value, against NumPy where it has the same rules."""
import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given

from wherry_tensor import Tensor, _core, arange, ops, to_tensor, zeros
from wherry_tensor.functions.indexing import getitem, setitem

SHAPE = (3, 4, 2, 5)


@pytest.fixture
def x():
    return arange(24).reshape([2, 3, 4])


@pytest.fixture
def a():
    return np.arange(24).reshape(2, 3, 4)


def ints(size):
    return st.integers(-size, size - 1)


def slices(size):
    bound = st.none() | st.integers(-size - 2, size + 2)
    return st.builds(slice, bound, bound, st.none() | st.integers(-3, 3).filter(bool))


@st.composite
def basic_indices(draw):
    """Ints, slices, None and one Ellipsis for a prefix of SHAPE."""
    used = draw(st.integers(0, len(SHAPE)))
    index = [draw(ints(n) | slices(n)) for n in SHAPE[:used]]
    for _ in range(draw(st.integers(0, 2))):
        index.insert(draw(st.integers(0, len(index))), None)
    if draw(st.booleans()):
        at = draw(st.integers(0, len(index)))
        behind = sum(item is not None for item in index[at:])
        # What stands after an Ellipsis indexes the last axes.
        tail = iter([draw(ints(n) | slices(n)) for n in SHAPE[len(SHAPE) - behind :]])
        index[at:] = [Ellipsis, *(None if item is None else next(tail) for item in index[at:])]
    return tuple(index)


@st.composite
def advanced_indices(draw):
    """Slices, None and index arrays that broadcast together; no ints, whose rule is Paddle's own."""
    index = []
    lead = draw(st.sampled_from([(), (1,), (2,), (2, 3)]))
    for n in SHAPE:
        kind = draw(st.sampled_from(["slice", "array", "all"]))
        if kind == "slice":
            index.append(draw(slices(n)))
        elif kind == "all":
            index.append(slice(None))
        else:
            shape = tuple(draw(st.sampled_from([size, 1])) for size in lead) or (1,)
            index.append(np.array(draw(st.lists(ints(n), min_size=int(np.prod(shape)), max_size=int(np.prod(shape))))).reshape(shape))
    if draw(st.booleans()):
        index.insert(draw(st.integers(0, len(index))), None)
    return tuple(index)


def as_ours(index, wrap):
    return tuple(wrap(item) if isinstance(item, np.ndarray) else item for item in index)


@given(basic_indices())
def test_basic_indices_read_like_numpy(index):
    a = np.arange(120).reshape(SHAPE)
    x = to_tensor(a)
    np.testing.assert_array_equal(x[index].numpy(), a[index])
    np.testing.assert_array_equal(getitem(x, index).numpy(), a[index])  # the way of symbolic tensors


@given(basic_indices())
def test_basic_indices_are_views(index):
    x = to_tensor(np.arange(120).reshape(SHAPE))
    assert x[index]._shares_memory_with(x)


@given(basic_indices(), st.booleans())
def test_basic_indices_write_like_numpy(index, by_tensor):
    a = np.arange(120).reshape(SHAPE)
    x, y = to_tensor(a), to_tensor(a)
    value = -np.arange(a[index].size).reshape(a[index].shape)
    a[index] = value
    x[index] = to_tensor(value) if by_tensor else value
    setitem(y, index, value)
    np.testing.assert_array_equal(x.numpy(), a)
    np.testing.assert_array_equal(y.numpy(), a)


@given(advanced_indices())
def test_index_arrays_read_like_numpy(index):
    a = np.arange(120).reshape(SHAPE)
    x = to_tensor(a)
    np.testing.assert_array_equal(x[index].numpy(), a[index])
    np.testing.assert_array_equal(x[as_ours(index, to_tensor)].numpy(), a[index])
    np.testing.assert_array_equal(x[as_ours(index, np.ndarray.tolist)].numpy(), a[index])


@given(advanced_indices())
def test_index_arrays_write_like_numpy(index):
    a = np.arange(120).reshape(SHAPE)
    x = to_tensor(a)
    x[as_ours(index, to_tensor)] = -7
    a[index] = -7
    np.testing.assert_array_equal(x.numpy(), a)


@given(st.integers(1, 4), st.data())
def test_masks_of_any_rank_read_and_write_like_numpy(rank, data):
    a = np.arange(120).reshape(SHAPE)
    start = data.draw(st.integers(0, len(SHAPE) - rank))
    mask = np.array(data.draw(st.lists(st.booleans(), min_size=int(np.prod(SHAPE[start : start + rank])),
                                       max_size=int(np.prod(SHAPE[start : start + rank]))))).reshape(SHAPE[start : start + rank])
    index = (*[slice(None)] * start, mask)
    x = to_tensor(a)
    np.testing.assert_array_equal(x[as_ours(index, to_tensor)].numpy(), a[index])
    value = -np.arange(a[index].size).reshape(a[index].shape)
    x[as_ours(index, to_tensor)] = value
    a[index] = value
    np.testing.assert_array_equal(x.numpy(), a)


def test_an_int_beside_a_list_is_basic_as_in_paddle(x, a):
    assert x[0, :, [1, 2]].shape == [3, 2]  # NumPy: [2, 3]
    np.testing.assert_array_equal(x[0, :, [1, 2]].numpy(), a[0][:, [1, 2]])


def test_bools_add_an_axis(x):
    assert x[True].shape == [1, 2, 3, 4]
    assert x[False].shape == [0, 2, 3, 4]
    assert x[0, True].shape == [1, 3, 4]
    assert x[to_tensor(True)].shape == [1, 2, 3, 4]
    x[False] = 9
    assert (x == arange(24).reshape([2, 3, 4])).all()
    x[True] = 9
    assert (x == 9).all()


def test_integer_tensors_index(x, a):
    np.testing.assert_array_equal(x[to_tensor(1)].numpy(), a[1])
    assert x[to_tensor(1)]._shares_memory_with(x)
    np.testing.assert_array_equal(x[to_tensor([1], dtype="int32")].numpy(), a[[1]])
    np.testing.assert_array_equal(x[[to_tensor(1), to_tensor(0)]].numpy(), a[[1, 0]])
    np.testing.assert_array_equal(x[:, to_tensor(1) : to_tensor([3])].numpy(), a[:, 1:3])
    np.testing.assert_array_equal(x[[]].numpy(), a[[]])
    np.testing.assert_array_equal(x[range(1, 2)].numpy(), a[[1]])
    np.testing.assert_array_equal(x[np.int64(1)].numpy(), a[1])


def test_zero_dimensional_tensors():
    x = to_tensor(5.0)
    assert x[...].item() == x[()].item() == 5.0
    assert x[None].shape == [1]
    x[...] = 7
    assert x.item() == 7.0
    with pytest.raises(IndexError, match="too many indices"):
        x[0]


def test_zero_size():
    x = zeros([0, 3])
    assert x[:, 1].shape == [0]
    assert x[[]].shape == [0, 3]
    assert x[zeros([0], "bool")].shape == [0, 3]
    x[:] = 5
    assert zeros([4])[3:1].shape == [0]


def test_a_view_writes_through():
    x = zeros([3, 3])
    row = x[1]
    row[0] = 5
    x.transpose([1, 0])[2] = 7
    assert x.tolist() == [[0, 0, 7], [5, 0, 7], [0, 0, 7]]


def test_writing_raises_the_version():
    x = zeros([3])
    x[0] = 1
    x[[1, 2]] = 2
    x[x > 1] = 3
    assert x.inplace_version == 3


def test_a_value_may_be_a_part_of_what_it_replaces():
    x = arange(6)
    x[1:] = x[:-1]
    assert x.tolist() == [0, 0, 1, 2, 3, 4]
    x[::-1] = x
    assert x.tolist() == [4, 3, 2, 1, 0, 0]


@pytest.mark.parametrize("value", [2.9, np.float64(2.9), np.array([2.9]), to_tensor(2.9), True])
def test_values_are_cast_to_the_dtype(value):
    x = zeros([2], "int64")
    x[0] = value
    assert x[0].item() == int(np.asarray(value if not isinstance(value, Tensor) else value.numpy()).item())


def test_leading_axes_of_one_are_dropped_from_values():
    x = zeros([2, 2])
    x[0, 0] = to_tensor([[3.0]])
    x[1] = to_tensor([[1.0, 2.0]])
    assert x.tolist() == [[3.0, 0.0], [1.0, 2.0]]


@pytest.mark.parametrize(
    ("index", "error", "match"),
    [
        (2, IndexError, r"index 2 is out of range for axis 0 of shape \[2, 3, 4\]"),
        ((0, -4), IndexError, r"expected an index in \[-3, 3\)"),
        ((0, 0, 0, 0), IndexError, "too many indices. Got 4"),
        ((Ellipsis, Ellipsis), ValueError, "one Ellipsis"),
        (slice(None, None, 0), ValueError, "a step of 0"),
        (1.0, ValueError, "float"),
        ("a", ValueError, "str"),
        (slice(0.5, 1), ValueError, "made of integers"),
        ([0, None], ValueError, "this list is not an index"),
        ([[0, 1], [0]], ValueError, "one length"),
        ([5], IndexError, "index 5"),
        ([5], ValueError, "index 5"),
        ([1.5], ValueError, "not an index"),
        (np.array([1.5]), ValueError, "float64"),
        ([True, False, True], IndexError, r"mask of shape \[3\]"),
        (([0, 1], [0, 1, 2]), ValueError, "do not broadcast"),
    ],
)
def test_bad_indices_are_refused(x, index, error, match):
    with pytest.raises(error, match=match):
        x[index]
    with pytest.raises(error):
        x[index] = 0


def test_index_tensors_of_other_dtypes_are_refused(x):
    for dtype in ("float32", "uint8", "int16"):
        with pytest.raises(ValueError, match=f"dtype {dtype}, expected int32, int64 or bool"):
            x[ops.cast(to_tensor([1]), getattr(_core, dtype))]


@pytest.mark.parametrize("value", [[1, 2, 3, 4], "a", None, {}])
def test_values_of_other_types_are_refused(x, value):
    with pytest.raises(ValueError, match="cannot be assigned"):
        x[0] = value


def test_values_that_do_not_broadcast_are_refused(x):
    with pytest.raises(ValueError, match=r"Got a value of shape \[2\], expected one that broadcasts to \[3, 4\]"):
        x[0] = to_tensor([1, 2])
    with pytest.raises(ValueError, match="broadcast"):
        x[[0, 1]] = to_tensor([1, 2])


def test_symbolic_tensors_are_indexed_by_shape():
    x = _core.symbolic((-1, 3, 4), _core.float32)
    recorded = []

    class Layer:
        def __call__(self, op, inputs, attrs):
            recorded.append(op.name)
            metas = op.infer(inputs, attrs)
            outs = tuple(_core.symbolic(m.shape, m.dtype) for m in metas)
            return outs[0] if len(outs) == 1 else outs

    layer = Layer()
    _core.push_layer(layer)
    try:
        assert x[:, 0].shape == [-1, 4]
        assert x[0, 1:].shape == [2, 4]
        assert x[:, [0, 2]].shape == [-1, 2, 4]
        assert x[..., None].shape == [-1, 3, 4, 1]
        assert x[to_tensor([0])].shape == [1, 3, 4]
    finally:
        _core.pop_layer(layer)
    assert recorded


def test_a_step_near_the_largest_int_takes_one_element():
    x = arange(10)
    assert x[:: 2**62].tolist() == [0]
    assert x[2 : 8 : 2**63 - 1].tolist() == [2]
    assert ops.slice(x, axes=(0,), starts=(9,), ends=(-11,), steps=(-(2**63),)).tolist() == [9]
