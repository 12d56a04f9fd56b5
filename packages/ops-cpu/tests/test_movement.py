"""What the samples cannot say about moving values: every tile size, every stride, threads, forks."""
import multiprocessing
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import wherry_tensor
from wherry_tensor import ops

ITEMS = [np.uint8, np.int16, np.float32, np.float64, np.complex128]  # one dtype for each item size


def _values(shape, dtype):
    return (np.arange(int(np.prod(shape))) % 251).reshape(shape).astype(dtype)


@pytest.mark.parametrize("dtype", ITEMS)
def test_transposed_copy_at_every_remainder_of_a_tile(dtype):
    for rows in (1, 2, 3, 15, 16, 17, 63, 64, 65, 130, 4099):
        for columns in (1, 2, 3, 4, 5, 16, 31, 64, 67, 200):
            x = _values((rows, columns), dtype)
            got = ops.copy(ops.transpose(wherry_tensor.to_tensor(x), perm=(1, 0))).numpy()
            assert (got == x.T).all(), (rows, columns)


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_copy_of_any_view_is_numpys(data):
    shape = data.draw(st.lists(st.integers(0, 9), min_size=1, max_size=5))
    x = _values(shape, data.draw(st.sampled_from(ITEMS)))
    view = x
    tensor = wherry_tensor.to_tensor(x)
    perm = data.draw(st.permutations(range(len(shape))))
    view, tensor = view.transpose(perm), ops.transpose(tensor, perm=tuple(perm))
    for axis in range(len(shape)):
        start, end = data.draw(st.tuples(st.integers(-10, 10), st.integers(-10, 10)))
        step = data.draw(st.sampled_from([1, 1, 2, -1, -3]))
        view = view[(slice(None),) * axis + (slice(start, end, step),)]
        tensor = ops.slice(tensor, axes=(axis,), starts=(start,), ends=(end,), steps=(step,))
    got = ops.copy(tensor).numpy()
    assert got.shape == view.shape
    assert (got == view).all()


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_roll_of_any_axes_is_numpys(data):
    shape = data.draw(st.lists(st.integers(0, 6), min_size=1, max_size=4))
    x = _values(shape, np.float32)
    axes = data.draw(st.lists(st.integers(0, len(shape) - 1), max_size=4))
    shifts = [data.draw(st.integers(-20, 20)) for _ in axes]
    got = ops.roll(wherry_tensor.to_tensor(x), shifts=tuple(shifts), axes=tuple(axes)).numpy()
    assert (got == np.roll(x, shifts, axes)).all()


@pytest.mark.parametrize("dtype", ["uint8", "int16", "float32", "float64", "complex128"])
@pytest.mark.parametrize("shape, order", [
    ((512, 96), (1, 0)), ((2048, 65), (1, 0)), ((1024, 40, 2), (1, 0, 2)), ((64, 33, 4), (1, 0, 2)), ((70, 20, 16), (1, 0, 2)),
    ((40, 30, 3), (1, 0, 2)),
])
def test_copies_to_rows_a_power_of_two_apart_and_of_few_values_side_by_side(dtype, shape, order):
    x = np.arange(np.prod(shape)).reshape(shape).astype(dtype)
    tensor = wherry_tensor.to_tensor(x)
    assert np.array_equal(ops.copy(ops.transpose(tensor, perm=order)).numpy(), x.transpose(order))
    inner = tensor[1:, 1:]  # begins at no multiple of the words that values make
    assert np.array_equal(ops.copy(ops.transpose(inner, perm=order)).numpy(), x[1:, 1:].transpose(order))


def test_copy_of_a_large_transpose_does_not_depend_on_threads():
    x = np.random.default_rng(0).random((700, 900), np.float32)
    turned = ops.transpose(wherry_tensor.to_tensor(x), perm=(1, 0))
    before = wherry_tensor.get_num_threads()
    try:
        for threads in (1, 2, 5):
            wherry_tensor.set_num_threads(threads)
            assert (ops.copy(turned).numpy() == x.T).all()
    finally:
        wherry_tensor.set_num_threads(before)


def test_repeat_interleave_at_the_largest_rank():
    x = _values((2,) * 12, np.int32)
    got = ops.repeat_interleave(wherry_tensor.to_tensor(x), repeats=3, axis=5).numpy()
    assert (got == np.repeat(x, 3, 5)).all()


def test_long_rows_at_every_alignment():
    # Rows are copied in chunks whose last one overlaps: each length and each start must be whole.
    x = np.arange(600, dtype=np.uint8)
    tensor = wherry_tensor.to_tensor(x)
    for start in (0, 1, 7, 31):
        for n in (1, 31, 32, 33, 127, 128, 129, 400):
            part = ops.slice(tensor, axes=(0,), starts=(start,), ends=(start + n,), steps=(1,))
            assert (ops.concat(part, part, axis=0).numpy() == np.tile(x[start : start + n], 2)).all()


def _sum_in_child(queue):
    x = wherry_tensor.to_tensor(np.ones((1000, 1000), np.float32))
    queue.put(float(ops.copy(ops.transpose(x, perm=(1, 0))).numpy().sum()))


@pytest.mark.skipif(sys.platform != "linux", reason="fork is the default start method on Linux only")
def test_a_forked_child_computes_after_its_parent_used_threads():
    # Threads do not survive a fork.
    before = wherry_tensor.get_num_threads()
    wherry_tensor.set_num_threads(4)
    try:
        x = wherry_tensor.to_tensor(np.ones((1000, 1000), np.float32))
        ops.copy(ops.transpose(x, perm=(1, 0)))
        context = multiprocessing.get_context("fork")
        queue = context.Queue()
        child = context.Process(target=_sum_in_child, args=(queue,))
        child.start()
        assert queue.get(timeout=300) == 1e6
        child.join(30)
        assert child.exitcode == 0
    finally:
        wherry_tensor.set_num_threads(before)
