"""Kernel primitives as CUDA runs them, many threads in a block, on the emulator: every access is checked."""
from __future__ import annotations

import ctypes
import shutil
from pathlib import Path

import numpy as np
import pytest

from wherry_extension.sysconfig import get_include

emulator_package = pytest.importorskip("wherry_cuda_emulator", reason="the emulator is for Linux on x86-64")

DATA = Path(__file__).parent / "data"
BUILD = Path(__file__).resolve().parents[3] / "build" / "extension"

pytestmark = pytest.mark.skipif(shutil.which("g++") is None, reason="needs g++")


@pytest.fixture(scope="module")
def emulator():
    library = emulator_package.compile(
        [DATA / "kernel_primitives.cu"], BUILD / "libkernel_primitives.so", include_dirs=[get_include(), DATA]
    )
    return emulator_package.Emulator(library)


@pytest.fixture(params=["forward", "reverse", 5])
def call(request, emulator):
    """Calls a function of the library with arrays, which go to device memory and come back."""
    library = emulator.library
    emulator.set(order=request.param)

    def run(name, *arguments):
        held, passed = [], []
        for one in arguments:
            if isinstance(one, np.ndarray):
                pointer = ctypes.c_void_p()
                assert library.cudaMalloc(ctypes.byref(pointer), ctypes.c_size_t(one.nbytes)) == 0
                library.cudaMemcpy(pointer, one.ctypes.data_as(ctypes.c_void_p), ctypes.c_size_t(one.nbytes), 1)
                held.append((one, pointer))
                one = pointer
            passed.append(one)
        result = getattr(library, name)(*passed)
        status = library.cudaDeviceSynchronize()
        for array, pointer in held:
            if status == 0:
                library.cudaMemcpy(array.ctypes.data_as(ctypes.c_void_p), pointer, ctypes.c_size_t(array.nbytes), 2)
            library.cudaFree(pointer)
        assert status == 0, emulator.report
        return result

    yield run
    emulator.clear()
    emulator.set()


def numbers(*shape, dtype="float32", seed=0):
    return np.random.default_rng(seed).standard_normal(shape).astype(dtype)


@pytest.mark.parametrize("size", [1, 4, 511, 512, 1500])
def test_addition_of_the_manual_reads_nothing_behind_the_end(call, size):
    x, y, out = numbers(size), numbers(size, seed=1), np.zeros(size, "float32")
    assert call("kps_add", x, y, out, size) == -(-size // 512)
    np.testing.assert_array_equal(out, x + y)


def test_registers_that_are_not_read_hold_ones_and_divide(call):
    x, y = np.arange(-50, 51, dtype="int64"), np.full(101, 7, "int64")
    out = np.zeros_like(x)
    call("kps_divide", x, y, out, 101)
    np.testing.assert_array_equal(out, np.trunc(x / 7).astype("int64"))


@pytest.mark.parametrize("shape", [(1, 2, 3), (2, 6, 40), (3, 4, 64)])
def test_reduction_of_the_manual_sums_over_the_highest_axis(call, shape):
    x, out = numbers(*shape), np.zeros((shape[0], shape[2]))
    call("kps_sum", x, out, *shape)
    np.testing.assert_allclose(out, x.sum(axis=1, dtype="float64"), rtol=1e-15)


@pytest.mark.parametrize("size", [3, 256, 300])
def test_functors_of_ones_own_take_three_values_or_a_pointer(call, size):
    a, b, c, d = (numbers(size, seed=seed) for seed in range(4))
    ternary, anyway = np.zeros(size, "float32"), np.zeros(size, "float32")
    call("kps_own", a, b, c, d, ternary, anyway, size)
    np.testing.assert_allclose(ternary, (a + b) * c, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(anyway, (a + b) * c + d, rtol=1e-6, atol=1e-6)


def test_a_reduction_reads_no_more_than_its_rows_and_columns(call):
    x, out = np.arange(14, dtype="float32"), np.zeros(6)
    call("kps_read_reduce", x, out, 1, 1, 3, 1, 2)
    np.testing.assert_array_equal(out, [4, -1, 36, -1, -1, -1])


def test_rows_are_read_multiplied_summed_and_written(call):
    x, row = numbers(12), np.array([2.0, 3.0])
    cycled, sums = np.zeros(12, "int32"), np.zeros(3)
    call("kps_rows", x, row, cycled, sums, 2, 3, 1, 4)
    values = x.reshape(3, 4)[:, :2].astype("float64")
    np.testing.assert_array_equal(cycled.reshape(3, 4)[:, :2], np.trunc(values * [2.0, 1.0]).astype("int32"))
    np.testing.assert_allclose(sums, 100 + values.sum(axis=1), rtol=1e-12)


@pytest.mark.parametrize(("columns", "rows"), [(1, 1), (7, 5), (32, 8), (100, 3), (1, 64)])
@pytest.mark.parametrize("along_x", [True, False])
def test_threads_of_a_row_or_of_a_column_sum_together(call, columns, rows, along_x):
    x = numbers(rows, columns)
    out = np.zeros((rows, columns, 2), "float32")
    assert call("kps_sum_threads", x, out, columns, rows, int(along_x)) == 0
    expected = np.broadcast_to(x.sum(axis=1 if along_x else 0, keepdims=True), x.shape)
    np.testing.assert_allclose(out, np.stack([expected, 2 * expected], axis=2), rtol=1e-5, atol=1e-5)


def test_a_block_that_is_too_large_is_refused(call):
    assert call("kps_sum_threads", np.zeros(1, "float32"), np.zeros(1, "float32"), 64, 64, 1) == 1
