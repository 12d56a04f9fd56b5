"""NVIDIA's libraries through fakes on the emulator: what is handed to them, when they are left alone, and what is said when they fail.

The fakes answer about descriptors as the real libraries have answered (answers/, written by record_answers.py), and compute with emulated
kernels: bounds, unwritten memory and the order of streams are checked as in kernels of our own.
"""
import ctypes
import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import wherry_cuda_emulator
import wherry_ops_cpu.column
import wherry_tensor
from wherry_ops_cuda import libraries
from wherry_ops_cuda.__main__ import main
from wherry_tensor import cuda, flags, get_include, ops, to_tensor
from wherry_tensor.testing import kit

wherry_ops_cpu.column.register()

_HERE = Path(__file__).parent
_spec = importlib.util.spec_from_file_location("record_answers", _HERE / "record_answers.py")
record_answers = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(record_answers)


def _compiled(name: str) -> Path:
    """tests/sources/fake_NAME.cu as a library that runs on the emulator of the kernels."""
    kernels = Path(os.environ["WHERRY_CUDA_LIBRARY"])
    return wherry_cuda_emulator.compile(
        [_HERE / "sources" / f"fake_{name}.cu"], kernels.parent / f"libfake_{name}_{kernels.stem}.so", emulator=kernels,
        include_dirs=[_HERE.parent / "src" / "wherry_ops_cuda" / "csrc", get_include()], define={"WHERRY_CUDA_EMULATED": 1},
    )


class _SeenByBlas(ctypes.Structure):
    _fields_ = [(name, ctypes.c_int64) for name in ("heuristics", "products", "reductions", "wide", "compute", "live")]


class _SeenByDnn(ctypes.Structure):
    _fields_ = [(name, ctypes.c_int64) for name in ("questions", "convolutions", "algorithm", "math", "biases", "live")]


class _Fake:
    """A fake library, and what it has seen."""

    def __init__(self, name: str, structure: type[ctypes.Structure]) -> None:
        self.path = _compiled(name)
        self.library = ctypes.PyDLL(str(self.path))
        self._name, self._structure = name, structure

    @property
    def seen(self):
        found = self._structure()
        getattr(self.library, f"fake_{self._name}_seen")(ctypes.byref(found))
        return found


def _use(name, path):
    here = ctypes.PyDLL(os.environ["WHERRY_CUDA_LIBRARY"])
    here.wry_cuda_library_places(name.encode(), os.fsencode(path), b"", 1)


@pytest.fixture(scope="module")
def fake_blas(emulator):
    return _Fake("cublaslt", _SeenByBlas)


@pytest.fixture
def blas(gpu, fake_blas):
    """The fake cuBLASLt, in use for the time of a test."""
    _use("cublaslt", fake_blas.path)
    flags.set_flags({"FLAGS_use_cublaslt": True})
    yield fake_blas
    flags.set_flags({"FLAGS_use_cublaslt": False})


@pytest.fixture(scope="module")
def fake_dnn(emulator):
    return _Fake("cudnn", _SeenByDnn)


@pytest.fixture
def dnn(gpu, fake_dnn):
    """The fake cuDNN, in use for the time of a test."""
    _use("cudnn", fake_dnn.path)
    flags.set_flags({"FLAGS_use_cudnn": True})
    yield fake_dnn
    flags.set_flags({"FLAGS_use_cudnn": False})


def _answers(name):
    return [tuple(one) for one in json.loads((record_answers.ANSWERS / f"{name}.json").read_text())]


def test_the_fake_cublaslt_answers_about_descriptors_as_the_real_one_did(fake_blas):
    assert list(record_answers.cublaslt(fake_blas.library)) == _answers("cublaslt")


def test_the_fake_cudnn_answers_about_descriptors_as_the_real_one_did(fake_dnn):
    assert [list(one) for one in record_answers.cudnn(fake_dnn.library)] == [list(one) for one in _answers("cudnn")]


def _products(fake, run):
    """What `run` returns, and how many products the fake has computed for it."""
    before = fake.seen.products
    result = run().numpy()
    return result, fake.seen.products - before


def _random(shape, dtype):
    rng = np.random.default_rng(sum(shape))
    values = rng.normal(size=shape)
    if dtype.startswith("complex"):
        values = values + 1j * rng.normal(size=shape)
    return values.astype(dtype)


# The first takes ten seconds for matmul, whose types, batches and turned operands have tests of their own below.
CHECKS, ALL = ("kernel", "layout", "into", "bad"), "WHERRY_CUDA_ALL_DTYPES" in os.environ
_TOLERANCE = {"float16": 5e-3, "float32": 1e-5, "float64": 1e-12, "complex64": 1e-5, "complex128": 1e-12}


@pytest.mark.parametrize("order", ["forward", pytest.param(7, marks=pytest.mark.slow)])
@pytest.mark.parametrize("op", ["matmul", "linear", "outer_sum"])
def test_the_kit_passes_with_products_by_the_library(blas, emulator, op, order):
    emulator.set(order=order)
    spec = kit.specs[getattr(ops, op)]
    before = blas.seen.products
    try:
        for check in CHECKS if ALL or op != "matmul" else CHECKS[1:]:
            if kit.applies(check, spec):
                kit.checks[check](spec)
    finally:
        emulator.set()
    assert blas.seen.products > before


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "complex64", "complex128"])
@pytest.mark.parametrize(("transpose_x", "transpose_y"), [(False, False), (True, False), (False, True), (True, True)])
def test_every_dtype_and_either_side_turned_go_to_the_library_in_one_call(blas, dtype, transpose_x, transpose_y):
    x, y = _random((5, 7), dtype), _random((7, 3), dtype)
    a, b = to_tensor(x.T.copy() if transpose_x else x), to_tensor(y.T.copy() if transpose_y else y)
    found, products = _products(blas, lambda: ops.matmul(a, b, transpose_x=transpose_x, transpose_y=transpose_y))
    assert products == 1
    exact = x.astype("float64") @ y if dtype == "float16" else x @ y
    np.testing.assert_allclose(found, exact, rtol=_TOLERANCE[dtype], atol=_TOLERANCE[dtype])


def test_integers_and_sums_of_nothing_stay_with_kernels_of_our_own(blas):
    whole, products = _products(blas, lambda: ops.matmul(to_tensor([[1, 2]]), to_tensor([[3], [4]]), transpose_x=False, transpose_y=False))
    assert (whole.tolist(), products) == ([[11]], 0)
    empty = to_tensor(np.zeros((2, 0), "float32"))
    nothing, products = _products(blas, lambda: ops.matmul(empty, empty, transpose_x=False, transpose_y=True))
    assert (nothing.tolist(), products) == ([[0, 0], [0, 0]], 0)


def test_columns_with_gaps_and_repeated_rows_stay_with_kernels_of_our_own(blas):
    x = to_tensor(_random((4, 6), "float32"))
    gaps = x[:, ::2]
    assert _products(blas, lambda: ops.matmul(gaps, to_tensor(np.eye(3, dtype="float32")), transpose_x=False, transpose_y=False))[1] == 0
    rows = ops.broadcast_to(x[:1], shape=(4, 6))
    assert _products(blas, lambda: ops.matmul(rows, to_tensor(np.eye(6, dtype="float32")), transpose_x=False, transpose_y=False))[1] == 0


@pytest.mark.parametrize(
    ("x", "y", "calls"),
    [
        ((6, 4, 5), (6, 5, 3), 1),
        ((2, 3, 4, 5), (2, 3, 5, 3), 1),  # both axes lie evenly: one batch
        ((2, 3, 4, 5), (5, 3), 1),  # rows of one tall matrix
        ((4, 5), (2, 3, 5, 3), 1),
        ((2, 3, 4, 5), (3, 5, 3), 2),  # the longer axis is the batch, the other one calls
        ((2, 1, 4, 5), (3, 5, 3), 2),
    ],
)
def test_batches_go_by_strides_and_what_does_not_lie_evenly_by_several_calls(blas, x, y, calls):
    x, y = _random(x, "float32"), _random(y, "float32")
    found, products = _products(blas, lambda: ops.matmul(to_tensor(x), to_tensor(y), transpose_x=False, transpose_y=False))
    assert products == calls
    np.testing.assert_allclose(found, x @ y, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(("m", "k", "n"), [(5, 7, 1), (1, 7, 5), (1, 7, 1), (5, 1, 3), (5, 1, 1), (1, 1, 4)])
def test_rows_and_columns_go_to_the_library_however_they_lie(blas, m, k, n):
    wide = _random((2, m, k + 1), "float32"), _random((2, k + 1, n), "float32")
    for x, y in ((wide[0][:, :, :k].copy(), wide[1][:, :k].copy()), (wide[0][:, :, 1:], wide[1][:, 1:])):
        a, b = (to_tensor(one) for one in wide)
        a, b = (a[:, :, 1:], b[:, 1:]) if x.base is not None else (to_tensor(x), to_tensor(y))
        for turned in (False, True):
            left = ops.transpose(ops.copy(ops.transpose(a, perm=(0, 2, 1))), perm=(0, 2, 1)) if turned else a
            found, products = _products(blas, lambda left=left, b=b: ops.matmul(left, b, transpose_x=False, transpose_y=False))
            assert products == 1
            np.testing.assert_allclose(found, x @ y, rtol=1e-5, atol=1e-5)


def test_heads_of_attention_are_multiplied_where_they_lie(blas):
    x = to_tensor(_random((2, 4, 3, 8), "float32"))  # batch, time, heads, width
    heads = ops.transpose(x, perm=(0, 2, 1, 3))
    found, products = _products(blas, lambda: ops.matmul(heads, heads, transpose_x=False, transpose_y=True))
    plain = x.numpy().transpose(0, 2, 1, 3)
    assert products == 2
    np.testing.assert_allclose(found, plain @ plain.swapaxes(2, 3), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(("dtype", "expected"), [("float32", 1), ("float16", 1), ("float64", 0)])
def test_a_bias_is_added_by_the_library_or_by_our_kernel_where_that_refuses(blas, dtype, expected):
    x, weight, bias = _random((4, 5), dtype), _random((5, 3), dtype), _random((3,), dtype)
    found, products = _products(blas, lambda: ops.linear(to_tensor(x), to_tensor(weight), to_tensor(bias)))
    assert products == expected
    np.testing.assert_allclose(found, x @ weight + bias, rtol=_TOLERANCE[dtype], atol=_TOLERANCE[dtype])


def test_a_bias_with_gaps_stays_with_kernels_of_our_own(blas):
    wide = to_tensor(_random((6,), "float32"))
    x, weight = to_tensor(_random((4, 5), "float32")), to_tensor(_random((5, 3), "float32"))
    assert _products(blas, lambda: ops.linear(x, weight, wide[::2]))[1] == 0


def test_a_problem_is_asked_about_once_and_another_bias_is_no_other_problem(blas):
    x, weight = to_tensor(_random((9, 16), "float32")), to_tensor(_random((16, 8), "float32"))
    biases = [to_tensor(np.full(8, value, "float32")) for value in (1, 2)]
    before = blas.seen.heuristics
    first, second = (ops.linear(x, weight, bias).numpy() for bias in biases)
    assert blas.seen.heuristics - before == 1
    np.testing.assert_allclose(second - first, np.ones((9, 8)), rtol=1e-5)
    ops.linear(x[:8], weight, biases[0]).numpy()
    assert blas.seen.heuristics - before == 2


def test_only_sums_that_are_added_up_in_order_and_in_the_arithmetic_are_allowed(blas):
    ops.matmul(to_tensor(_random((3, 11), "float16")), to_tensor(_random((11, 2), "float16")), transpose_x=False, transpose_y=False).numpy()
    assert blas.seen.reductions == 2  # CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE alone


def test_the_library_learns_how_operands_are_aligned(blas):
    x, y = to_tensor(_random((8, 8), "float32")), to_tensor(_random((9, 8), "float32"))
    ops.matmul(x, y[1:], transpose_x=False, transpose_y=True).numpy()
    assert blas.seen.wide == 1
    flat = to_tensor(_random((65,), "float32"))
    ops.matmul(x, flat[1:].reshape([8, 8]), transpose_x=False, transpose_y=True).numpy()
    assert blas.seen.wide == 0


def test_tensor_cores_may_round_float32_where_the_flag_says_so(blas):
    x = to_tensor(_random((3, 13), "float32"))
    ops.matmul(x, x, transpose_x=False, transpose_y=True).numpy()
    assert blas.seen.compute == 68  # CUBLAS_COMPUTE_32F
    flags.set_flags({"FLAGS_enable_cublas_tensor_op_math": True})
    try:
        ops.matmul(x, x, transpose_x=False, transpose_y=True).numpy()
        assert blas.seen.compute == 77  # CUBLAS_COMPUTE_32F_FAST_TF32
    finally:
        flags.set_flags({"FLAGS_enable_cublas_tensor_op_math": False})


def test_products_wait_in_the_stream_that_is_current(blas):
    x = to_tensor(_random((4, 4), "float32"))
    cuda.synchronize()
    stream = cuda.Stream()
    with cuda.stream_guard(stream):
        y = ops.matmul(x, x, transpose_x=False, transpose_y=False) * 2
    stream.synchronize()
    np.testing.assert_allclose(y.numpy(), 2 * x.numpy() @ x.numpy(), rtol=1e-5, atol=1e-5)


def test_an_operand_that_is_shorter_than_it_says_is_found_in_the_fake_too(blas, emulator):
    x = to_tensor(_random((4, 4), "float32"))
    cuda.synchronize()
    view = ops.matmul(x, x, transpose_x=False, transpose_y=False)
    view.numpy()
    lt, one = blas.library, ctypes.c_float(1)
    handle, desc, layout, preference = (ctypes.c_void_p() for _ in range(4))
    lt.cublasLtCreate(ctypes.byref(handle))
    lt.cublasLtMatmulDescCreate(ctypes.byref(desc), 68, 0)
    lt.cublasLtMatrixLayoutCreate(ctypes.byref(layout), 0, ctypes.c_uint64(400), ctypes.c_uint64(400), ctypes.c_int64(400))
    lt.cublasLtMatmulPreferenceCreate(ctypes.byref(preference))
    best, found = ctypes.create_string_buffer(128), ctypes.c_int()
    lt.cublasLtMatmulAlgoGetHeuristic(handle, desc, layout, layout, layout, layout, preference, 1, best, ctypes.byref(found))
    at = ctypes.c_void_p(x.data_ptr())
    zero = ctypes.c_float(0)
    status = lt.cublasLtMatmul(handle, desc, ctypes.byref(one), at, layout, at, layout, ctypes.byref(zero), at, layout, at, layout, best, None,
                               ctypes.c_size_t(0), None)
    assert (status, found.value) == (0, 1)
    with pytest.raises(RuntimeError):
        cuda.synchronize()
    assert "in product<float> at" in emulator.report
    assert "past the end of an allocation of 64 bytes" in emulator.report
    emulator.clear()


# ---- convolutions -------------------------------------------------------------------------------


def _conv(x, weight, bias=None, strides=(1, 1), paddings=(0, 0, 0, 0), dilations=(1, 1), groups=1, data_format="NCHW"):
    return ops.conv2d(x, weight, bias, strides=strides, paddings=paddings, dilations=dilations, groups=groups, data_format=data_format)


def _all_three(shape, window, dtype, bias=True, **attrs):
    """The three convolutions on the current device: forward, for the input, for the weight."""
    x, weight = to_tensor(_random(shape, dtype)), to_tensor(_random(window, dtype))
    out = _conv(x, weight, to_tensor(_random(window[:1], dtype)) if bias else None, **attrs)
    attrs = {"strides": (1, 1), "paddings": (0, 0, 0, 0), "dilations": (1, 1), "groups": 1, "data_format": "NCHW", **attrs}
    ct = to_tensor(_random(tuple(out.shape), dtype))
    return [out.numpy(), ops.conv2d_input_vjp(ct, weight, x, **attrs).numpy(), ops.conv2d_weight_vjp(ct, x, weight, **attrs).numpy()]


def _both(dnn, *arguments, **attrs):
    """By the library, by kernels of our own, and how many the library has computed."""
    before = dnn.seen.convolutions
    theirs = _all_three(*arguments, **attrs)
    count = dnn.seen.convolutions - before
    flags.set_flags({"FLAGS_use_cudnn": False})
    ours = _all_three(*arguments, **attrs)
    flags.set_flags({"FLAGS_use_cudnn": True})
    return theirs, ours, count


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize(
    "attrs",
    [
        {},
        {"strides": (2, 1), "paddings": (1, 1, 2, 2)},
        {"dilations": (2, 1), "paddings": (1, 1, 0, 0), "groups": 2},
        {"strides": (2, 2), "paddings": (1, 0, 1, 0)},  # what is missing at the end is not needed
        {"data_format": "NHWC", "paddings": (1, 1, 1, 1)},
        {"data_format": "NHWC", "strides": (1, 2), "groups": 4},
    ],
)
def test_the_three_convolutions_of_the_library_are_those_of_our_kernels(dnn, dtype, attrs):
    groups = attrs.get("groups", 1)
    shape = (2, 6, 5, 4) if attrs.get("data_format") == "NHWC" else (2, 4, 6, 5)
    theirs, ours, count = _both(dnn, shape, (8, 4 // groups, 3, 2), dtype, **attrs)
    refused = dtype == "float64" and attrs.get("data_format") == "NHWC"  # by the fake
    assert count == (0 if refused else 3)
    for found, expected in zip(theirs, ours, strict=True):
        np.testing.assert_allclose(found, expected, rtol=2e-2 if dtype == "float16" else 1e-4, atol=2e-2 if dtype == "float16" else 1e-4)


def test_convolutions_of_the_library_do_not_depend_on_the_order_of_threads(dnn, emulator):
    emulator.set(order=7)
    try:
        theirs, ours, count = _both(dnn, (2, 4, 6, 5), (6, 2, 3, 3), "float32", groups=2, paddings=(1, 1, 1, 1))
    finally:
        emulator.set()
    assert count == 3
    for found, expected in zip(theirs, ours, strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("data_format", ["NCHW", "NHWC"])
def test_a_transposed_convolution_with_a_bias_is_the_library_s_gradient_for_the_input(dnn, data_format):
    x = to_tensor(_random((2, 4, 3, 6) if data_format == "NCHW" else (2, 3, 6, 4), "float32"))
    weight, bias = to_tensor(_random((4, 3, 3, 2), "float32")), to_tensor(_random((6,), "float32"))
    before = dnn.seen
    found, ours = [], []
    for on, results in ((True, found), (False, ours)):
        flags.set_flags({"FLAGS_use_cudnn": on})
        out = ops.conv2d_transpose(x, weight, bias, strides=(2, 1), paddings=(1, 1, 0, 0), dilations=(1, 1), groups=2, output_size=(6, 7),
                                   data_format=data_format)  # fmt: skip
        results.append(out.numpy())
    flags.set_flags({"FLAGS_use_cudnn": True})
    assert (dnn.seen.convolutions - before.convolutions, dnn.seen.biases - before.biases) == (1, 1)
    np.testing.assert_allclose(found[0], ours[0], rtol=1e-4, atol=1e-4)


@pytest.mark.skipif(not ALL, reason="minutes: tox -e cuda-slow runs it")
@pytest.mark.parametrize(("op", "checks"), [("conv2d", CHECKS), ("conv2d_transpose", CHECKS[1:])])
def test_the_kit_passes_with_convolutions_by_the_library(dnn, op, checks):
    spec, before = kit.specs[getattr(ops, op)], dnn.seen.convolutions
    for check in checks:
        if kit.applies(check, spec):
            kit.checks[check](spec)
    assert dnn.seen.convolutions > before


def test_more_padding_at_the_end_stays_with_kernels_of_our_own(dnn):
    *_, count = _both(dnn, (1, 1, 4, 4), (1, 1, 2, 2), "float32", paddings=(0, 1, 0, 1))
    assert count == 0


def test_images_that_are_not_aligned_stay_with_kernels_of_our_own(dnn):
    batch = to_tensor(_random((2, 1, 3, 3), "float32"))
    before = dnn.seen.convolutions
    _conv(batch[1:], to_tensor(_random((1, 1, 2, 2), "float32"))).numpy()
    assert dnn.seen.convolutions == before


def test_only_algorithms_that_give_the_same_bits_are_taken_and_float32_is_not_rounded(dnn):
    x, weight = to_tensor(_random((1, 2, 4, 4), "float32")), to_tensor(_random((2, 2, 3, 3), "float32"))
    _conv(x, weight).numpy()
    assert (dnn.seen.algorithm, dnn.seen.math) == (1, 3)  # CUDNN_FMA_MATH
    flags.set_flags({"FLAGS_enable_cublas_tensor_op_math": True})
    try:
        _conv(x, weight).numpy()
        assert dnn.seen.math == 1  # CUDNN_TENSOR_OP_MATH
    finally:
        flags.set_flags({"FLAGS_enable_cublas_tensor_op_math": False})


def test_a_convolution_is_asked_about_once_and_the_limit_of_scratch_memory_holds(dnn):
    x, weight = to_tensor(_random((1, 3, 4, 4), "float32")), to_tensor(_random((2, 3, 3, 3), "float32"))
    before = dnn.seen
    for _ in range(2):
        _conv(x, weight).numpy()
    assert (dnn.seen.questions - before.questions, dnn.seen.convolutions - before.convolutions) == (1, 2)
    flags.set_flags({"FLAGS_conv_workspace_size_limit": 0})
    try:
        _conv(x, weight).numpy()
    finally:
        flags.set_flags({"FLAGS_conv_workspace_size_limit": 512})
    assert (dnn.seen.questions - before.questions, dnn.seen.convolutions - before.convolutions) == (2, 2)


# ---- what is said -------------------------------------------------------------------------------

_CHILD = """
import sys, warnings
import numpy as np
import wherry_tensor
from wherry_tensor import ops, to_tensor
import wherry_ops_cuda.column
from wherry_ops_cuda import libraries
wherry_ops_cuda.column.register()
wherry_tensor.set_device("gpu")
x = to_tensor(np.arange(6, dtype="float32").reshape(2, 3))
image = x.reshape([1, 2, 1, 3])
runs = {
    "cublaslt": lambda: ops.matmul(x, x, transpose_x=False, transpose_y=True),
    "cudnn": lambda: ops.conv2d(image, image, None, strides=(1, 1), paddings=(0, 0, 0, 0), dilations=(1, 1), groups=1, data_format="NCHW"),
}
for _ in range(2):
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        y = runs[sys.argv[1]]()
    assert all(one.filename == "<string>" for one in told)  # the user's line
    print(y.numpy().ravel().tolist(), [str(one.message) for one in told])
print(libraries.describe()[list(runs).index(sys.argv[1])])
"""
_RIGHT = {"cublaslt": "[5.0, 14.0, 14.0, 50.0]", "cudnn": "[55.0]"}
_VARIABLE = {"cublaslt": "WHERRY_CUDA_CUBLAS", "cudnn": "WHERRY_CUDA_CUDNN"}


def _child(name, **variables):
    environment = {**os.environ, **variables}
    done = subprocess.run([sys.executable, "-c", _CHILD, name], capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def _of_fake(name, plays):
    path = _compiled(name)
    return path, *_child(name, **{_VARIABLE[name]: str(path), f"FAKE_{name.upper()}": plays})


@pytest.mark.parametrize(
    ("name", "plays", "said"),
    [
        ("cublaslt", "old", "cuBLASLt cannot be used: {path} is version 11.9, and 12.0 or later is needed."),
        ("cublaslt", "create", "cuBLASLt 13.10 ({path}) has failed: cublasLtCreate says CUBLAS_STATUS_NOT_INITIALIZED."),
        ("cublaslt", "heuristic", "cuBLASLt 13.10 ({path}) has failed: cublasLtMatmulAlgoGetHeuristic says CUBLAS_STATUS_INTERNAL_ERROR."),
        ("cublaslt", "matmul", "cuBLASLt 13.10 ({path}) has failed: cublasLtMatmul says CUBLAS_STATUS_EXECUTION_FAILED."),
        ("cudnn", "old", "cuDNN cannot be used: {path} is version 8.9, and 9.0 or later is needed."),
        ("cudnn", "create", "cuDNN 9.28 ({path}) has failed: cudnnCreate says CUDNN_STATUS_NOT_INITIALIZED."),
        ("cudnn", "algorithm", "cuDNN 9.28 ({path}) has failed: cudnnGetConvolutionForwardAlgorithm_v7 says CUDNN_STATUS_INTERNAL_ERROR."),
        ("cudnn", "run", "cuDNN 9.28 ({path}) has failed: cudnnConvolutionForward says CUDNN_STATUS_EXECUTION_FAILED."),
    ],
)
def test_a_library_that_fails_is_one_warning_and_our_kernels_go_on(emulator, name, plays, said):
    path, first, second, line = _of_fake(name, plays)
    ends = "Wherry's own kernels compute instead" + (" from here on." if "has failed" in said else ".")
    assert first == f"{_RIGHT[name]} {[f'{said.format(path=path)} {ends}']}"
    assert second == f"{_RIGHT[name]} []"
    assert ": not used, " in line
    assert line.endswith(f"; {libraries.LIBRARIES[name].serves} by Wherry's own kernels")


@pytest.mark.parametrize("name", list(_RIGHT))
@pytest.mark.parametrize("plays", ["refuse", "promise"])
def test_a_problem_that_the_library_refuses_is_ours_without_a_word(emulator, name, plays):
    path, first, second, line = _of_fake(name, plays)
    assert first == second == f"{_RIGHT[name]} []"
    assert line.endswith(f": {path}, for {libraries.LIBRARIES[name].serves}")


_TWO = """
import numpy as np
import wherry_tensor as w
import wherry_ops_cuda.column
wherry_ops_cuda.column.register()
x = np.arange(6, dtype="float32").reshape(2, 3)
for place in ("gpu:1", "gpu:0", "gpu:1"):
    w.set_device(place)
    y = w.to_tensor(x)
    image = y.reshape([1, 2, 1, 3])
    z = w.ops.conv2d(image, image, None, strides=(1, 1), paddings=(0, 0, 0, 0), dilations=(1, 1), groups=1, data_format="NCHW")
    print(w.ops.matmul(y, y, transpose_x=False, transpose_y=True).numpy().ravel().tolist(), z.item(), z.place)
"""


def test_each_gpu_has_the_libraries_for_itself(emulator):
    paths = {_VARIABLE[name]: str(_compiled(name)) for name in _VARIABLE}
    environment = {**os.environ, **paths, "CUDA_EMULATOR_DEVICES": "2"}
    done = subprocess.run([sys.executable, "-W", "error", "-c", _TWO], capture_output=True, text=True, env=environment)
    assert (done.stderr, done.returncode) == ("", 0)
    assert done.stdout.splitlines() == [f"[5.0, 14.0, 14.0, 50.0] 55.0 Place(gpu:{number})" for number in (1, 0, 1)]


_CAPTURED = """
import ctypes, os
import numpy as np
import wherry_tensor as w
from wherry_tensor.cuda_graphs import CUDAGraph
import wherry_ops_cuda.column
wherry_ops_cuda.column.register()
w.set_device("gpu")
fakes = {name: ctypes.PyDLL(os.environ[variable]) for name, variable in (("cublaslt", "WHERRY_CUDA_CUBLAS"), ("cudnn", "WHERRY_CUDA_CUDNN"))}
def seen():
    numbers = (ctypes.c_int64 * 6)()
    fakes["cublaslt"].fake_cublaslt_seen(numbers)
    products = numbers[1]
    fakes["cudnn"].fake_cudnn_seen(numbers)
    return products, numbers[1]
x = w.to_tensor(np.arange(6, dtype="float32").reshape(1, 2, 1, 3))
def run():
    y = w.ops.conv2d(x, x, None, strides=(1, 1), paddings=(0, 0, 0, 0), dilations=(1, 1), groups=1, data_format="NCHW")
    return w.ops.matmul(y.reshape([1, 1]), y.reshape([1, 1]), transpose_x=False, transpose_y=False)
for _ in range(2):
    graph = CUDAGraph()
    graph.capture_begin()
    z = run()
    graph.capture_end()
    w.ops.copy.into((x,), w.to_tensor(np.arange(6, dtype="float32").reshape(1, 2, 1, 3)))
    graph.replay()
    first = z.item()
    w.ops.copy.into((x,), w.to_tensor(np.ones((1, 2, 1, 3), "float32")))
    graph.replay()
    print(first, z.item(), seen())
    print(run().item(), seen())
"""


def test_calls_of_a_library_are_captured_into_graphs_once_it_has_begun(emulator):
    paths = {_VARIABLE[name]: str(_compiled(name)) for name in _VARIABLE}
    done = subprocess.run([sys.executable, "-W", "error", "-c", _CAPTURED], capture_output=True, text=True, env={**os.environ, **paths})
    assert (done.stderr, done.returncode) == ("", 0)
    # Captured first of all: kernels of our own. Then the libraries, which put their work on the stream as the capture goes on.
    assert done.stdout.splitlines() == ["3025.0 36.0 (0, 0)", "36.0 (1, 1)", "3025.0 36.0 (2, 2)", "36.0 (3, 3)"]


def test_training_gives_the_cpu_s_numbers_with_both_libraries(emulator):
    paths = {_VARIABLE[name]: str(_compiled(name)) for name in _VARIABLE}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-W", "error::RuntimeWarning", str(_HERE / "test_training.py")]
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **paths})
    assert done.returncode == 0, done.stdout


def test_a_file_that_the_user_names_and_that_is_not_there_is_said(tmp_path):
    first, second, _ = _child("cublaslt", WHERRY_CUDA_CUBLAS=str(tmp_path / "none.so"))
    assert "cuBLASLt cannot be used: " in first
    assert "none.so: cannot open shared object file" in first
    assert second.endswith(" []")


@pytest.mark.parametrize(
    ("name", "variables", "said"),
    [
        ("cublaslt", {"FLAGS_use_cublaslt": "0"}, "cuBLASLt: turned off; matrix products"),
        ("cublaslt", {"WHERRY_CUDA_CUBLAS": "0"}, "cuBLASLt: not found; matrix products"),
        ("cudnn", {"FLAGS_use_cudnn": "0"}, "cuDNN: turned off; convolutions"),
    ],
)
def test_the_environment_turns_a_library_off(name, variables, said):
    first, _, line = _child(name, **variables)
    assert first.endswith(" []")
    assert line == f"{said} by Wherry's own kernels"


def test_the_command_line_says_which_libraries_are_used_or_what_is_missing(gpu, capsys, monkeypatch):
    assert main(["libraries"]) == 0
    said = capsys.readouterr().out.splitlines()
    assert [line.split(":")[0].split()[0] for line in said] == ["cuBLASLt", "cuDNN"]
    monkeypatch.setattr(libraries, "_library", None)
    monkeypatch.setitem(wherry_tensor.device.unavailable, "gpu", "No NVIDIA driver was found.")
    assert main(["libraries"]) == 1
    assert capsys.readouterr().out == "No NVIDIA driver was found.\n"


def test_wheels_come_before_the_system_and_a_named_file_before_all(monkeypatch, tmp_path):
    for folder, name in (("cu13", "libcublasLt.so.13"), ("cublas", "libcublasLt.so.12")):
        file = tmp_path / "nvidia" / folder / "lib" / name
        file.parent.mkdir(parents=True)
        file.touch()
    (tmp_path / "nvidia" / "__init__.py").touch()
    monkeypatch.syspath_prepend(tmp_path)
    for name in [name for name in sys.modules if name.split(".")[0] == "nvidia"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.delenv("WHERRY_CUDA_CUBLAS", raising=False)
    names = [Path(place).name for place in libraries.candidates("cublaslt")]
    assert names == ["libcublasLt.so.13", "libcublasLt.so.12"] * 2
    assert libraries.candidates("cublaslt")[1].startswith(str(tmp_path))
    monkeypatch.setenv("WHERRY_CUDA_CUBLAS", "/opt/libcublasLt.so.13")
    assert libraries.candidates("cublaslt") == ["/opt/libcublasLt.so.13"]
    monkeypatch.setenv("WHERRY_CUDA_CUBLAS", "0")
    assert libraries.candidates("cublaslt") == []
