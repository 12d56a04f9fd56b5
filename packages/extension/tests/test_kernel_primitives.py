"""Kernel primitives on the host: the manual's examples and every primitive beside NumPy; for CUDA they are compiled where nvcc is."""
from __future__ import annotations

import ctypes
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from wherry_extension.sysconfig import get_include

SOURCE = Path(__file__).parent / "data" / "kernel_primitives.cc"
COMPILE = ["c++", "-std=c++17", f"-I{get_include()}"]

pytestmark = pytest.mark.skipif(shutil.which("c++") is None, reason="needs a C++ compiler")


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    path = tmp_path_factory.mktemp("primitives") / "primitives.so"
    flags = ["-O1", "-Wall", "-Wextra", "-Werror", "-fPIC", "-shared", str(SOURCE), "-o", str(path)]
    subprocess.run([*COMPILE, *flags], check=True)
    return ctypes.CDLL(str(path))


def at(array):
    return array.ctypes.data_as(ctypes.c_void_p)


def numbers(*shape, dtype="float32", seed=0):
    return np.random.default_rng(seed).standard_normal(shape).astype(dtype)


@pytest.mark.parametrize("size", [0, 1, 4, 7, 1000])
def test_addition_of_the_manual_divides_into_full_blocks_and_a_rest(built, size):
    x, y, out = numbers(size), numbers(size, seed=1), np.full(size + 4, 7, "float32")
    assert built.kps_add(at(x), at(y), at(out), size) == -(-size // 4)
    np.testing.assert_array_equal(out, np.append(x + y, [np.float32(7)] * 4))


def test_registers_that_are_not_read_hold_ones_and_divide(built):
    x, y = np.array([7, -7, 9, 1, 5], "int64"), np.array([2, 2, -3, 1, 5], "int64")
    out = np.empty_like(x)
    built.kps_divide(at(x), at(y), at(out), 5)
    np.testing.assert_array_equal(out, [3, -3, -3, 1, 1])


@pytest.mark.parametrize("shape", [(1, 2, 3), (2, 6, 5), (3, 4, 1)])
def test_reduction_of_the_manual_sums_over_the_highest_axis(built, shape):
    x = numbers(*shape)
    out = np.empty((shape[0], shape[2]))
    built.kps_sum(at(x), at(out), *shape)
    np.testing.assert_allclose(out, x.sum(axis=1, dtype="float64"), rtol=1e-15)


@pytest.mark.parametrize("size", [3, 8, 9])
def test_functors_of_ones_own_take_three_values_or_a_pointer(built, size):
    a, b, c, d = (numbers(size, seed=seed) for seed in range(4))
    ternary, every = np.empty_like(a), np.empty_like(a)
    built.kps_own(at(a), at(b), at(c), at(d), at(ternary), at(every), size)
    np.testing.assert_allclose(ternary, (a + b) * c, rtol=1e-6)
    np.testing.assert_allclose(every, (a + b) * c + d, rtol=1e-5, atol=1e-6)  # the compiler may fuse the two


@pytest.mark.parametrize("in_shape", [(2, 3, 4), (1, 3, 4), (2, 1, 4), (2, 3, 1), (1, 1, 1)])
@pytest.mark.parametrize("offset", [0, 5, 20])
def test_broadcast_reads_what_numpy_broadcasts(built, in_shape, offset):
    x, out_shape = numbers(*in_shape), (2, 3, 4)
    rows, line = np.empty(12, "float32"), np.empty(4, "float32")
    message = ctypes.create_string_buffer(300)
    built.kps_broadcast(at(x), at(rows), at(line), (ctypes.c_int64 * 3)(*out_shape), (ctypes.c_int64 * 3)(*in_shape), 3, offset, 24, message)
    expected = np.append(np.broadcast_to(x, out_shape).reshape(-1)[offset:], [np.float32(-1)] * 12)
    assert message.value == b""
    np.testing.assert_array_equal(rows, expected[:12])
    np.testing.assert_array_equal(line, expected[:4])


@pytest.mark.parametrize(
    ("out_shape", "in_shape", "text"),
    [((2, 3, 4), (2, 2, 4), "axis 1. Got 2 for an output of 3"), ((2, 3), (2, 3), "Got 2, 2 and dim_size 2, expected 3 each"),
     ((1 << 20, 1 << 20, 1), (1, 1, 1), "more than 2147483647 elements")],
)
def test_broadcast_refuses_dims_that_do_not_fit(built, out_shape, in_shape, text):
    rank, nothing = len(out_shape), np.zeros(12, "float32")
    message = ctypes.create_string_buffer(300)
    dims = [(ctypes.c_int64 * rank)(*shape) for shape in (out_shape, in_shape)]
    built.kps_broadcast(at(nothing), at(nothing), at(nothing), *dims, rank, 0, 0, message)
    assert text in message.value.decode()


@pytest.mark.parametrize(("size_nx", "size_ny"), [(9, 9), (1, 9), (9, 5), (0, 9), (4, 1)])
def test_reading_for_a_reduction_maps_transforms_and_keeps_inside(built, size_nx, size_ny):
    x, out = numbers(64), np.empty((3, 2))
    stride_nx, stride_ny, offset = 3, 4, 2
    built.kps_read_reduce(at(x), at(out), offset, size_nx, size_ny, stride_nx, stride_ny)
    expected = np.full((3, 2), -1.0)
    for ny in range(3):
        for nx in range(2):
            if ny * stride_ny < size_ny and nx * stride_nx < size_nx:
                expected[ny, nx] = np.float64(x[2 * (offset + ny * stride_ny + nx * stride_nx)]) ** 2
    np.testing.assert_array_equal(out, expected)


@pytest.mark.parametrize(("size_nx", "size_ny"), [(10, 3), (2, 3), (10, 1), (0, 3)])
def test_rows_are_read_and_written_with_strides_within_their_sizes(built, size_nx, size_ny):
    x, row = np.arange(1, 41, dtype="float32"), np.array([3.0, 5.0])
    stride_nx, stride_ny = 2, 10
    cycled, sums = np.full(40, -1, "int32"), np.empty(3)
    built.kps_rows(at(x), at(row), at(cycled), at(sums), size_nx, size_ny, stride_nx, stride_ny)
    values, expected = np.zeros((3, 2)), np.full(40, -1, "int32")
    for ny in range(size_ny):
        for nx in range(2):
            if nx * stride_nx < size_nx:
                values[ny, nx] = x[ny * stride_ny + nx * stride_nx]
                expected[ny * stride_ny + nx * stride_nx] = values[ny, nx] * (3.0, 1.0)[nx]  # Init left the second 1
    np.testing.assert_array_equal(sums, values.sum(1) + 100)
    np.testing.assert_array_equal(cycled, expected)


def test_threads_of_a_block_take_neighbours_in_turn(built):
    x, out = numbers(21), np.zeros(24, "float32")
    built.kps_threads(at(x), at(out), 21)
    np.testing.assert_array_equal(out, np.append(x, [np.float32(0)] * 3))


def test_functors_give_what_they_are_named_after(built):
    unary, binary, initial = np.empty(5, "float32"), np.empty(10, "float32"), np.empty(9, "float32")
    built.kps_functors(at(np.array([1.3, -0.5], "float32")), at(unary), at(binary), at(initial))
    np.testing.assert_allclose(unary, [np.exp(1.3), 1, 0.13, 1.69, 0.3], rtol=1e-6)
    np.testing.assert_allclose(binary, [-0.5, 1.3, 0.8, -0.65, 1, 1, 1.8, -2.6, -2, 1], rtol=1e-6)
    extreme = np.finfo("float32").max
    np.testing.assert_array_equal(initial, np.array([extreme, -extreme, 0, 1, 0, 1, 0, 1, 1], "float32"))


def test_a_block_of_several_threads_is_refused_on_the_host(built):
    message = ctypes.create_string_buffer(300)
    built.kps_wrong_block(message)
    assert message.value.startswith(b"kps::Launch: on the host a block has one thread. Got 128 x 1 x 1")


@pytest.mark.parametrize(("a", "b", "text"), [(1, 0, "an integer was divided by 0"), (-(2**63), -1, str(-(2**63))), (-9, 2, "-4")])
def test_integers_divide_without_ending_the_process(built, a, b, text):
    message = ctypes.create_string_buffer(300)
    built.kps_divide_by_zero(ctypes.c_int64(a), ctypes.c_int64(b), message)
    assert text in message.value.decode()


@pytest.mark.parametrize(
    ("body", "text"),
    [("kps::ReadData<float, 0, 1, 1>(out, x, 1);", "NX, the columns of a thread, is at least 1"),
     ("kps::ReadData<float, float, -1, 1, 1>(out, x, 1, 1, 1, 1);", "NX, the columns of a thread, is at least 1"),
     ("kps::WriteData<float, 1, 0, 1>(out, x, 1);", "NY, the rows of a thread, is at least 1"),
     ("kps::ReadData<float, 4, 2, 1>(out, x, 1);", "this function takes a line: NY is 1"),
     ("kps::ReadData<float, 4, 1, true>(out, x, 1);", "BlockSize, an int, stands before IsBoundary"),
     ("kps::Init<float, 0>(out, 1.0f);", "NX, the columns of a thread, is at least 1"),
     ("kps::ElementwiseUnary<float, float, 4, 1, 1, kps::AddFunctor<float>>(out, x, {});", "OpFunc takes one InT"),
     ("kps::ElementwiseBinary<float, float, 4, 1, 1, kps::ExpFunctor<float>>(out, x, x, {});", "OpFunc takes two InT"),
     ("float in[2][4]; kps::ElementwiseAny<float, float, 4, 1, 1, 2, kps::AddFunctor<float>>(out, in, {});", "OpFunc takes `const InT *`"),
     ("kps::details::BroadcastConfig<0> config;", "Rank is between 1 and 9")],
)  # fmt: skip
def test_wrong_use_does_not_compile_and_says_why(tmp_path, body, text):
    source = tmp_path / "wrong.cc"
    source.write_text(f'#include "paddle/phi/kernels/primitive/kernel_primitives.h"\nvoid f(float *out, const float *x) {{ {body} }}\n')
    done = subprocess.run([*COMPILE, "-fsyntax-only", str(source)], capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert text in done.stderr


@pytest.mark.skipif(shutil.which("nvcc") is None, reason="needs nvcc")
def test_the_same_source_compiles_for_cuda_without_a_warning(tmp_path):
    command = ["nvcc", "-std=c++17", "-x", "cu", "-Werror", "all-warnings", f"-I{get_include()}", "-c", str(SOURCE), "-o", str(tmp_path / "o.o")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
