"""Tensors and other libraries, pickle, copy, iteration and formatting."""
import copy
import gc
import pickle
import sys
import weakref

import numpy as np
import pytest

import wherry_tensor as w
from wherry_tensor import Tensor, arange, ones, to_tensor, zeros
from wherry_tensor.interop import from_dlpack, to_dlpack

NUMPY_DTYPES = ["bool", "uint8", "int8", "int16", "int32", "int64", "float16", "float32", "float64", "complex64", "complex128"]
SHAPES = [[], [0], [3], [2, 0, 3], [2, 3]]


@pytest.mark.parametrize("dtype", NUMPY_DTYPES)
def test_numpy_shares_memory_through_dlpack(dtype):
    x = zeros([2, 3], dtype)
    a = np.from_dlpack(x)
    assert a.dtype == dtype
    a[0, 1] = 1
    assert x[0, 1].item() == 1
    y = from_dlpack(a)
    y[1, 2] = 1
    assert x[1, 2].item() == 1


@pytest.mark.parametrize("shape", SHAPES)
def test_shapes_survive_dlpack(shape):
    x = ones(shape)
    assert np.from_dlpack(x).shape == tuple(shape)
    assert from_dlpack(np.from_dlpack(x)).tolist() == x.tolist()
    assert from_dlpack(to_dlpack(x)).shape == shape


def test_strides_survive_dlpack():
    a = np.arange(12).reshape(3, 4)[::-1, ::2].T
    x = from_dlpack(a)
    np.testing.assert_array_equal(x.numpy(), a)
    np.testing.assert_array_equal(np.from_dlpack(x[::-1]), a[::-1])


def test_memory_lives_as_long_as_it_is_shared():
    a = np.arange(1000.0)
    alive = weakref.ref(a)
    x = from_dlpack(a)
    del a
    gc.collect()
    assert alive() is not None
    assert x[999].item() == 999
    del x
    gc.collect()
    assert alive() is None
    b = np.from_dlpack(arange(1000))
    gc.collect()
    assert b[999] == 999


def test_a_capsule_nobody_takes_is_freed():
    x = arange(3)
    for versioned in (False, True):
        capsule = x.__dlpack__(max_version=(1, 0)) if versioned else to_dlpack(x)
        before = sys.getrefcount(x)
        del capsule
        assert sys.getrefcount(x) == before


def test_a_capsule_is_used_once():
    capsule = to_dlpack(arange(3))
    from_dlpack(capsule)
    with pytest.raises(ValueError, match="used before"):
        from_dlpack(capsule)


def test_read_only_memory_is_copied():
    a = np.arange(3)
    a.flags.writeable = False
    x = from_dlpack(a)
    x[0] = 7
    assert a[0] == 0


def test_dlpack_refuses_what_cannot_be_shared():
    x = ones([2])
    x.stop_gradient = False
    with pytest.raises(BufferError, match=r"x\.detach\(\)"):
        x.__dlpack__()
    with pytest.raises(BufferError, match="cpu"):
        ones([2]).__dlpack__(dl_device=(2, 0))
    with pytest.raises(TypeError, match="not a DLPack capsule"):
        from_dlpack(5)
    with pytest.raises(TypeError, match="Tensor"):
        to_dlpack(np.ones(2))


def test_dlpack_copies_on_demand():
    x = arange(3)
    np.from_dlpack(x, copy=True)[0] = 7
    assert x[0].item() == 0
    assert x.__dlpack_device__() == (1, 0)


@pytest.mark.parametrize("dtype", NUMPY_DTYPES)
def test_numpy_takes_tensors(dtype):
    x = ones([2, 3], dtype)
    shared = np.asarray(x)
    assert shared.dtype == dtype
    shared[0, 0] = 0
    assert x[0, 0].item() == 0
    np.array(x)[1, 1] = 0
    x.numpy()[1, 1] = 0
    x.__array__()[1, 1] = 0
    assert x[1, 1].item() == 1
    assert np.array(x, dtype="complex128").dtype == x.__array__("complex128").dtype == "complex128"
    with pytest.raises(ValueError, match="copy"):
        np.array(x, dtype="int8" if dtype == "int16" else "int16", copy=False)


def test_array_of_a_number():
    assert np.asarray(to_tensor(3.0)).shape == ()


@pytest.mark.parametrize("dtype", [*NUMPY_DTYPES, "bfloat16"])
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("protocol", [2, 5])
def test_pickle(dtype, shape, protocol):
    x = ones(shape, dtype)
    x.stop_gradient, x.persistable, x.name = False, True, "weight"
    y = pickle.loads(pickle.dumps(x, protocol))
    assert (y.tolist(), y.shape, y.dtype) == (x.tolist(), x.shape, x.dtype)
    assert (y.stop_gradient, y.persistable, y.name) == (False, True, "weight")


def test_pickle_of_a_view_holds_its_elements_only():
    x = arange(100000)[::2][:3]
    data = pickle.dumps(x)
    assert len(data) < 1000
    assert pickle.loads(data).tolist() == [0, 2, 4]


def test_deepcopy_copies_values_and_copy_shares_them():
    x = arange(3)
    x.stop_gradient = True
    deep, shallow = copy.deepcopy(x), copy.copy(x)
    x[0] = 7
    assert deep.tolist() == [0, 1, 2]
    assert shallow.tolist() == [7, 1, 2]
    both = copy.deepcopy([x, x])
    assert both[0] is both[1]


def test_subclasses_survive_copies():
    class Named(Tensor):
        pass

    x = Named([1.0, 2.0])
    x.note = ["kept"]
    assert type(copy.deepcopy(x)) is Named
    assert copy.deepcopy(x).note == ["kept"]
    assert copy.copy(x).note is x.note


def test_iteration_gives_the_first_axis():
    x = arange(6).reshape([3, 2])
    assert [row.tolist() for row in x] == [[0, 1], [2, 3], [4, 5]]
    assert [one.shape for one in to_tensor([1, 2])] == [[], []]
    with pytest.raises(TypeError, match=r"shape \[\]"):
        iter(to_tensor(1.0))


def test_contains():
    x = to_tensor([[1, 2], [3, 4]])
    assert 3 in x
    assert 7 not in x
    assert to_tensor(2) in x
    with pytest.raises(TypeError, match="str"):
        "a" in x  # noqa: B015


def test_format():
    assert f"{to_tensor(3.14159):.2f}" == "3.14"
    assert f"{to_tensor(7):5d}" == "    7"
    assert f"{to_tensor([1])}" == str(to_tensor([1]))
    with pytest.raises(TypeError, match=r"shape \[1\]"):
        f"{to_tensor([1.0]):.2f}"


def test_hash_is_identity():
    x, y = ones([2]), ones([2])
    assert {x: 1, y: 2}[x] == 1
    assert hash(x) == hash(x)


def test_transposed_attribute():
    assert zeros([2, 3, 4]).T.shape == [4, 3, 2]
    assert to_tensor(1.0).T.shape == []


def _changed(x):
    """Ways in which a tensor comes to other memory while somebody holds its old one."""
    return {
        "assign": lambda: w.assign(w.zeros([1]), x),
        "_share_data_with": lambda: x._share_data_with(w.zeros([1])),
        "__init__": lambda: x.__init__(w.zeros([1])),
        "rebind": lambda: w._core.rebind(x, w.zeros([1])),
        "cast_": lambda: x.cast_("float64"),
        "cumsum_": lambda: x.reshape_([-1, 2]).cumsum_(),
    }


@pytest.mark.parametrize("how", sorted(_changed(None)))
@pytest.mark.parametrize("export", [np.asarray, memoryview, lambda x: np.from_dlpack(x)], ids=["asarray", "memoryview", "dlpack"])
def test_exported_memory_outlives_whatever_happens_to_the_tensor(how, export):
    x = w.full([64 * 1024], 3.0)  # of a size class that nothing else here uses
    held = export(x)
    _changed(x)[how]()
    del x
    fresh = [w.full([64 * 1024], 7.0) for _ in range(3)]  # would come to lie in freed memory
    assert np.asarray(held).reshape(-1).sum() == 3.0 * 64 * 1024
    assert fresh[0][0].item() == 7.0
    del held, fresh


def test_an_exported_view_keeps_its_shape_when_the_tensor_changes():
    x = arange(6)
    held = memoryview(x)
    w.assign(zeros([2, 2], "int64"), x)
    assert held.tolist() == [0, 1, 2, 3, 4, 5]
    assert x.shape == [2, 2]


FOREIGN = np.array([0, 255, 2, 1, 0, 128], np.uint8)


def _written():
    x = zeros([6], "bool")
    np.asarray(x).view(np.uint8)[:] = FOREIGN
    return x


def _read_only():
    a = FOREIGN.copy().view(bool)
    a.flags.writeable = False
    return a


@pytest.mark.parametrize(
    "make",
    [
        lambda: to_tensor(FOREIGN.view(bool)),
        lambda: from_dlpack(FOREIGN.copy().view(bool)),
        lambda: from_dlpack(_read_only()),
        lambda: w._core.share_buffer(FOREIGN.copy().view(bool)),
        lambda: to_tensor(FOREIGN).view("bool"),
        lambda: pickle.loads(pickle.dumps(_written())),
        _written,
        lambda: _written().reshape([2, 3]).t().t().reshape([6]),
    ],
    ids=["to_tensor", "dlpack", "read-only dlpack", "share_buffer", "view", "pickle", "written", "view of written"],
)
def test_any_byte_but_zero_is_true(make):
    x = make()
    assert w.nonzero(x).shape == [4, 1]
    assert w.masked_select(arange(6), x).tolist() == arange(6)[x].tolist() == [1, 2, 3, 5]
    assert x.sum().item() == 4 and x.astype("int64").tolist() == [0, 1, 1, 1, 0, 1]
    assert (x == (x | w.zeros_like(x))).all().item()
    assert (x & to_tensor([True] * 6)).tolist() == x.tolist() == [False, True, True, True, False, True]
    assert w.unique(x).tolist() == [False, True]
    assert x.numpy().view(np.uint8).max() == 1
    y = zeros([6])
    y[x] = 5
    assert y.sum().item() == 20


def test_memory_of_bools_is_read_once_however_many_look():
    # A reader that shares memory with one that counted: what the other writes meanwhile is not seen by either.
    x = zeros([6], "bool")
    shared = np.asarray(x)
    shared.view(np.uint8)[:] = 200
    assert x.sum().item() == 6
    shared[:3] = False
    assert x.sum().item() == 3


def test_uninitialized_bools_are_bools():
    for _ in range(3):
        w.to_tensor(np.full(4096, 255, np.uint8))
        assert set(np.unique(np.asarray(w.empty([4096], "bool")).view(np.uint8))) <= {0, 1}


def test_memory_that_runs_backwards_has_bounds():
    a = np.arange(10)
    x = w._core.share_buffer(a[4::-1])
    assert x.tolist() == [4, 3, 2, 1, 0]
    assert w.as_strided(x, [5], [-1]).tolist() == [4, 3, 2, 1, 0]
    with pytest.raises(ValueError, match="outside of the memory"):
        w.as_strided(x, [2], [1])


def test_items_between_their_places_are_copied():
    raw = np.zeros(17, np.uint8)
    odd = raw[1:].view(np.float32)
    odd[:] = [1, 2, 3, 4]
    x = from_dlpack(odd)
    assert x.tolist() == [1, 2, 3, 4]
    assert x.data_ptr() % 4 == 0
    with pytest.raises(TypeError, match="multiples of their size"):
        w._core.share_buffer(odd)
