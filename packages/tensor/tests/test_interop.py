"""Tensors and other libraries, pickle, copy, iteration and formatting."""
import copy
import gc
import pickle
import sys
import weakref

import numpy as np
import pytest

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
    with pytest.raises(TypeError, match="no DLPack capsule"):
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
