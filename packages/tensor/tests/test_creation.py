import subprocess
import sys

import numpy as np
import pytest

import wherry_tensor as w

NAN = float("nan")


def check(x, dtype, shape, values):
    assert (x.dtype.name, x.shape, x.tolist()) == (dtype, shape, values)


@pytest.mark.parametrize(
    "data, dtype, shape, values",
    [
        (1, "int64", [], 1), (1.5, "float32", [], 1.5), (True, "bool", [], True), (1j, "complex64", [], 1j),
        ([], "float32", [0], []), ([[]], "float32", [1, 0], [[]]), ([1, 2.5], "float32", [2], [1.0, 2.5]),
        ([True, 2], "int64", [2], [1, 2]), ([1, 1j], "complex64", [2], [1 + 0j, 1j]), (2**40, "int64", [], 2**40),
        (((1, 2), (3, 4)), "int64", [2, 2], [[1, 2], [3, 4]]), ([range(2)], "int64", [1, 2], [[0, 1]]),
        (np.float64(1.5), "float64", [], 1.5), (np.float32(1.5), "float32", [], 1.5), (np.bool_(True), "bool", [], True),
        ([np.float64(1.5)], "float32", [1], [1.5]), ([np.int32(1)], "int64", [1], [1]),
        (np.array([1.0]), "float64", [1], [1.0]), (np.array(3, "int8"), "int8", [], 3),
        ([np.array([1.0]), np.array([2.0])], "float32", [2, 1], [[1.0], [2.0]]),
        (memoryview(b"ab"), "uint8", [2], [97, 98]),
    ],
)
def test_to_tensor_finds_dtype_and_shape(data, dtype, shape, values):
    check(w.to_tensor(data), dtype, shape, values)


def test_to_tensor_of_tensors():
    check(w.to_tensor([w.to_tensor(1), w.to_tensor(2)]), "int64", [2], [1, 2])
    check(w.to_tensor([[w.to_tensor(1.0), 2]]), "float32", [1, 2], [[1.0, 2.0]])
    check(w.to_tensor(w.to_tensor([1, 2]), "float64"), "float64", [2], [1.0, 2.0])


def test_to_tensor_copies():
    array = np.array([1.0, 2.0])
    x = w.to_tensor(array)
    y = w.to_tensor(x)
    array[0] = 9
    x.fill_(7)
    assert y.tolist() == [1.0, 2.0]


def test_to_tensor_keeps_strided_arrays_in_order():
    check(w.to_tensor(np.arange(6, dtype=np.int64).reshape(2, 3).T), "int64", [3, 2], [[0, 3], [1, 4], [2, 5]])


@pytest.mark.parametrize(
    "data, dtype, values",
    [
        ([1, 2], "float64", [1.0, 2.0]), ([1.7, -1.7], "int32", [1, -1]), ([0, 2], "bool", [False, True]),
        ([300, -1], "uint8", [44, 255]), ([1 + 2j], "float32", [1.0]), ([0.1], "float64", [0.1]), ([1], "complex64", [1 + 0j]),
    ],
)
def test_to_tensor_converts(data, dtype, values):
    x = w.to_tensor(data, dtype)
    assert (x.dtype.name, x.tolist()) == (dtype, values)


@pytest.mark.parametrize("dtype", ["float32", w.float32, np.float32, np.dtype("float32")])
def test_dtypes_have_many_names(dtype):
    assert w.to_tensor([1], dtype).dtype is w.float32


def test_to_tensor_takes_bfloat16_bits_as_uint16():
    assert w.to_tensor(np.array([0x3F80], "uint16")).dtype is w.bfloat16


def test_to_tensor_can_ask_for_gradients():
    assert w.to_tensor([1.0], stop_gradient=False).stop_gradient is False
    assert w.to_tensor([1.0]).stop_gradient is True


@pytest.mark.parametrize("data", [[[1, 2], [3]], [1, [2]], [[1], 2], [[1, [2]], [3, 4]]])
def test_ragged_lists_are_refused(data):
    with pytest.raises(ValueError, match=r"Failed to convert input data to a regular ndarray.*different lengths"):
        w.to_tensor(data)


@pytest.mark.parametrize("data", [None, "a", {1: 2}, {1, 2}, object(), iter([1])])
def test_what_makes_no_tensor_is_refused(data):
    with pytest.raises(TypeError, match=rf"Got {type(data).__name__}"):
        w.to_tensor(data)


@pytest.mark.parametrize("data", [[None], ["a"], [1, None], [object()]])
def test_items_that_are_no_numbers_are_refused(data):
    with pytest.raises(ValueError, match=r"an item is not a number"):
        w.to_tensor(data)


@pytest.mark.parametrize("dtype", ["uint32", "object", "<U1", ">f4", "datetime64[s]"])
def test_arrays_of_dtypes_that_tensors_lack_are_refused(dtype):
    with pytest.raises(ValueError, match=r"tensors have no such dtype"):
        w.to_tensor(np.zeros(2, dtype))


@pytest.mark.parametrize("data", [2**63, [2**70], -(2**64)])
def test_ints_beyond_64_bits_are_refused(data):
    with pytest.raises(ValueError, match=r"64 bits"):
        w.to_tensor(data)


def test_lists_nested_too_deeply_are_refused():
    data = 1
    for _ in range(20):
        data = [data]
    with pytest.raises(ValueError, match=r"at most 12"):
        w.to_tensor(data)


@pytest.mark.parametrize("dtype", ["foo", 5, "float128", object()])
def test_unknown_dtypes_are_refused(dtype):
    for function in (lambda: w.to_tensor([1], dtype), lambda: w.zeros([1], dtype), lambda: w.cast(w.ones([1]), dtype)):
        with pytest.raises(TypeError, match=r"unknown dtype"):
            function()


@pytest.mark.parametrize("place", ["foo", "gpu", "gpu:0", 3])
def test_absent_places_are_refused(place):
    with pytest.raises(ValueError, match=r"Got"):
        w.to_tensor([1], place=place)


def test_to_tensor_needs_no_numpy():
    program = (
        "import sys; sys.modules['numpy'] = None; import wherry_tensor as w; "
        "x = w.to_tensor([[1.0, 2.0], [3.0, 4.0]]); print((x + 1).sum().item(), w.arange(3).tolist(), x)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout.startswith("14.0 [0, 1, 2] Tensor("), done.stderr


@pytest.mark.parametrize("shape, expected", [
    ([2, 3], [2, 3]), ((2,), [2]), (2, [2]), ([], []), ([0, 3], [0, 3]), (np.array([2, 3]), [2, 3]), ([np.int64(2)], [2]),
])
def test_shapes_come_in_many_forms(shape, expected):
    for function in (w.zeros, w.ones, w.empty, w.rand, w.randn, lambda s: w.full(s, 3)):
        assert function(shape).shape == expected


def test_shapes_may_hold_tensors():
    assert w.zeros(w.to_tensor([2, 3])).shape == [2, 3]
    assert w.zeros([w.to_tensor(2), 3]).shape == [2, 3]


@pytest.mark.parametrize("shape", [[2.5], ["a"], [None], "a", None, 1.5, [True], [[2]], {}])
@pytest.mark.parametrize("name", ["zeros", "ones", "empty", "rand", "randn", "uniform", "standard_normal"])
def test_what_is_no_shape_is_refused(name, shape):
    with pytest.raises(ValueError, match=rf"(^|\) ){name}: .*Got"):
        getattr(w, name)(shape)


@pytest.mark.parametrize("name", ["zeros", "ones", "empty", "rand", "randn", "uniform"])
def test_negative_sizes_are_refused(name):
    with pytest.raises(ValueError, match=r"negative. Got shape=\[2, -1\]"):
        getattr(w, name)([2, -1])


@pytest.mark.parametrize("name", ["zeros", "ones", "empty", "rand"])
@pytest.mark.parametrize("shape", [[2**40, 2**40], [2**62], [2**31, 2**31], [2**45]])
def test_sizes_beyond_memory_are_a_memory_error(name, shape):
    with pytest.raises(MemoryError):
        getattr(w, name)(shape)


def test_too_many_axes_are_refused():
    with pytest.raises(ValueError, match=r"at most 12"):
        w.zeros([1] * 13)


def test_full_takes_the_default_dtype():
    check(w.full([2], 3), "float32", [2], [3.0, 3.0])
    check(w.full([2], True), "float32", [2], [1.0, 1.0])
    check(w.full([2], 3.7, "int32"), "int32", [2], [3, 3])
    check(w.full([1], w.to_tensor(3.0), "int64"), "int64", [1], [3])
    check(w.full([1], 300, "uint8"), "uint8", [1], [44])


@pytest.mark.parametrize("value", [None, [1, 2], "abc", w.ones([2])])
def test_full_refuses_what_is_no_number(value):
    with pytest.raises(TypeError, match=r"full"):
        w.full([2], value)


@pytest.mark.parametrize("value", [float("inf"), NAN, 1e30])
def test_full_refuses_numbers_that_an_integer_dtype_lacks(value):
    with pytest.raises(ValueError, match=r"int32 has no such number"):
        w.full([2], value, "int32")


def test_likeness_keeps_shape_and_dtype():
    x = w.to_tensor([[1, 2]])
    check(w.zeros_like(x), "int64", [1, 2], [[0, 0]])
    check(w.ones_like(x, "float64"), "float64", [1, 2], [[1.0, 1.0]])
    check(w.full_like(x, 1.5), "int64", [1, 2], [[1, 1]])
    assert w.empty_like(x).shape == [1, 2]


@pytest.mark.parametrize("name", ["zeros_like", "ones_like", "empty_like", "clone", "assign", "tril", "triu", "diag", "diagflat"])
def test_likeness_wants_a_tensor(name):
    with pytest.raises(TypeError, match=r"None"):
        getattr(w, name)(None)


@pytest.mark.parametrize(
    "arguments, dtype, values",
    [
        ((5,), "int64", [0, 1, 2, 3, 4]), ((1, 5, 2), "int64", [1, 3]), ((5, 1, -2), "int64", [5, 3]), ((3, 3), "int64", []),
        ((0, 1, 0.25), "float32", [0.0, 0.25, 0.5, 0.75]), ((2.5, None, 1, "int64"), "int64", [0, 1]),
        ((5, None, 1, "float64"), "float64", [0.0, 1.0, 2.0, 3.0, 4.0]),
        ((-(2**62), -(2**62) + 2), "int64", [-(2**62), -(2**62) + 1]),
    ],
)
def test_arange(arguments, dtype, values):
    check(w.arange(*arguments), dtype, [len(values)], values)


@pytest.mark.parametrize("arguments", [(1, 5, 0), (5, 1), (1, 5, -1), (NAN,), (0, float("inf")), (0, 1, NAN)])
def test_arange_refuses_steps_that_lead_nowhere(arguments):
    with pytest.raises(ValueError, match=r"arange: .*Got start="):
        w.arange(*arguments)


@pytest.mark.parametrize("arguments", [(None,), ("a",), ([1, 2],)])
def test_arange_refuses_what_is_no_number(arguments):
    with pytest.raises(TypeError, match=r"arange"):
        w.arange(*arguments)


def test_arange_of_too_many_numbers_is_a_memory_error():
    with pytest.raises(MemoryError):
        w.arange(10**18)


def test_linspace_and_logspace():
    check(w.linspace(0, 1, 5), "float32", [5], [0.0, 0.25, 0.5, 0.75, 1.0])
    check(w.linspace(0, 10, 5, "int32"), "int32", [5], [0, 2, 5, 7, 10])
    check(w.linspace(3, 9, 1), "float32", [1], [3.0])
    check(w.logspace(0, 3, 4, dtype="int64"), "int64", [4], [1, 10, 100, 1000])
    check(w.logspace(0, 3, 4, 2.0, "float64"), "float64", [4], [1.0, 2.0, 4.0, 8.0])


@pytest.mark.parametrize("name", ["linspace", "logspace"])
def test_linspace_refuses_bad_counts_and_ends(name):
    function = getattr(w, name)
    for num in (0, -1):
        with pytest.raises(ValueError, match=r"num must be positive"):
            function(0, 1, num)
    for arguments in ((None, 1, 3), (0, 1, None), (0, [1, 2], 3), (0, 1, 2.5)):
        with pytest.raises(TypeError, match=name):
            function(*arguments)


def test_eye():
    check(w.eye(2, 3, "int32"), "int32", [2, 3], [[1, 0, 0], [0, 1, 0]])
    assert w.eye(0).shape == [0, 0]
    assert w.eye(2, 0).shape == [2, 0]


@pytest.mark.parametrize("arguments", [(-1,), (2.5,), (None,), (2, -1), ("a",)])
def test_eye_refuses_bad_counts(arguments):
    with pytest.raises(TypeError, match=r"eye"):
        w.eye(*arguments)


def test_triangles():
    x = w.to_tensor([[1, 2, 3], [4, 5, 6]])
    check(w.tril(x), "int64", [2, 3], [[1, 0, 0], [4, 5, 0]])
    check(w.triu(x, -1), "int64", [2, 3], [[1, 2, 3], [4, 5, 6]])
    check(w.tril_indices(2, 3), "int64", [2, 3], [[0, 1, 1], [0, 0, 1]])
    check(w.triu_indices(2, 3, 1, "int32"), "int32", [2, 3], [[0, 0, 1], [1, 2, 2]])
    for name in ("tril", "triu"):
        with pytest.raises(ValueError, match=r"rank >= 2"):
            getattr(w, name)(w.ones([3]))
        with pytest.raises(ValueError, match=r"one integer"):
            getattr(w, name)(x, 1.5)


def test_diagonals():
    x = w.to_tensor([1, 2])
    check(w.diag(x, 1), "int64", [3, 3], [[0, 1, 0], [0, 0, 2], [0, 0, 0]])
    check(w.diag(x, -1, 9), "int64", [3, 3], [[9, 9, 9], [1, 9, 9], [9, 2, 9]])
    check(w.diag(w.to_tensor([[1, 2], [3, 4]]), 1), "int64", [1], [2])
    check(w.diagflat(w.to_tensor([[1, 2]])), "int64", [2, 2], [[1, 0], [0, 2]])
    check(w.diag_embed(w.to_tensor([[1, 2], [3, 4]]), 0, 0, 2), "int64", [2, 2, 2], [[[1, 0], [3, 0]], [[0, 2], [0, 4]]])
    with pytest.raises(ValueError, match=r"rank 1 or 2"):
        w.diag(w.ones([1, 1, 1]))
    with pytest.raises(IndexError, match=r"dim2"):
        w.diag_embed(x, 0, 0, 5)
    with pytest.raises(ValueError, match=r"same axis"):
        w.diag_embed(x, 0, 0, 0)


def test_diag_does_not_share_memory():
    x = w.to_tensor([[1, 2], [3, 4]])
    w.diag(x).fill_(0)
    assert x.tolist() == [[1, 2], [3, 4]]


def test_meshgrid():
    rows, columns = w.meshgrid([w.to_tensor([1, 2]), w.to_tensor([3, 4, 5])])
    assert rows.tolist() == [[1, 1, 1], [2, 2, 2]]
    assert columns.tolist() == [[3, 4, 5], [3, 4, 5]]
    with pytest.raises(ValueError, match=r"at least one"):
        w.meshgrid()
    with pytest.raises(ValueError, match=r"rank 0 or 1"):
        w.meshgrid(w.ones([1, 1]))
    with pytest.raises(ValueError, match=r"one dtype"):
        w.meshgrid(w.ones([1]), w.ones([1], "int64"))
    with pytest.raises(TypeError, match=r"must be a Tensor"):
        w.meshgrid(1)


def test_assign_makes_numbers_vectors_and_doubles_floats_as_paddle_does():
    check(w.assign(1), "int64", [1], [1])
    check(w.assign(np.array([1.0])), "float32", [1], [1.0])
    output = w.zeros([1])
    assert w.assign(w.to_tensor([1, 2]), output) is output
    check(output, "int64", [2], [1, 2])


def test_cast_cuts_wraps_and_drops():
    check(w.cast(w.to_tensor([1.7, -1.7]), "int32"), "int32", [2], [1, -1])
    check(w.cast(w.to_tensor([300]), "uint8"), "uint8", [1], [44])
    check(w.cast(w.to_tensor([1 + 2j]), "float32"), "float32", [1], [1.0])
    check(w.to_tensor([0.5, 0.0]).astype(bool), "bool", [2], [True, False])
    with pytest.raises(ValueError, match=r"must be a Tensor"):
        w.cast([1.0], "int32")


def test_complex_and_polar():
    check(w.complex(w.to_tensor([1.0, 2.0]), w.to_tensor(3.0)), "complex64", [2], [1 + 3j, 2 + 3j])
    assert w.polar(w.to_tensor([1.0]), w.to_tensor([np.pi / 2])).numpy() == pytest.approx(1j, abs=1e-6)
    with pytest.raises(ValueError, match=r"one dtype"):
        w.complex(w.ones([1]), w.ones([1], "float64"))
    with pytest.raises(TypeError, match=r"int64"):
        w.complex(w.ones([1], "int64"), w.ones([1], "int64"))


def test_the_default_dtype_is_that_of_new_floats():
    w.set_default_dtype("float64")
    try:
        for x in (w.to_tensor(1.5), w.zeros([1]), w.full([1], 1), w.arange(0.0, 2.0), w.rand([1]), w.linspace(0, 1, 2)):
            assert x.dtype is w.float64
        assert w.to_tensor(1j).dtype is w.complex128
    finally:
        w.set_default_dtype("float32")
