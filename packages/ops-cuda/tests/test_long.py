"""Inputs that are longer than the kit's samples: kernels that go another way then, held against the cpu's."""
import numpy as np
import pytest

import wherry_tensor
from wherry_tensor import ops


def both(op, *arrays, **attrs):
    """The results of a call on the GPU, and on the cpu."""
    answers = []
    for device in "gpu", "cpu":
        wherry_tensor.set_device(device)
        out = op(*(None if x is None else wherry_tensor.to_tensor(x) for x in arrays), **attrs)
        answers.append([one.numpy() for one in (out if isinstance(out, (tuple, list)) else [out])])
    return zip(*answers, strict=True)


def same(op, *arrays, **attrs):
    for gpu, cpu in both(op, *arrays, **attrs):
        np.testing.assert_array_equal(gpu, cpu)


def close(op, *arrays, rtol=1e-6, **attrs):
    for gpu, cpu in both(op, *arrays, **attrs):
        np.testing.assert_allclose(gpu, cpu, rtol=rtol, atol=rtol)


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.mark.parametrize("dtype", ["float32", "int64"])
def test_long_lines_are_sorted_and_equal_values_keep_their_order(gpu, rng, dtype):
    same(ops.sort, rng.integers(-300, 300, (2, 5000)).astype(dtype), axis=1, descending=False)
    same(ops.sort, rng.integers(-300, 300, (1500, 2)).astype(dtype), axis=0, descending=True)


def test_the_best_of_long_lines_are_chosen_by_their_digits(gpu, rng):
    x = rng.integers(0, 40, (3, 3000)).astype("float32")
    x[1, 7] = np.nan
    same(ops.topk, x, k=100, axis=1, largest=True, sorted=True)
    same(ops.topk, x, k=100, axis=1, largest=False, sorted=True)
    same(ops.topk, rng.integers(-2**40, 2**40, 2000), k=1, axis=0, largest=True, sorted=True)


def test_long_arrays_have_their_unique_values(gpu, rng):
    same(ops.unique, rng.integers(0, 700, 5000), axis=None)
    same(ops.unique, rng.integers(0, 3, (1200, 3)), axis=0)
    same(ops.unique_consecutive, rng.integers(0, 2, 5000), axis=None)


def test_many_updates_of_one_place_are_added_in_their_order(gpu, rng):
    index = rng.integers(0, 37, 3000)
    same(ops.embedding_vjp, rng.standard_normal((3000, 4)).astype("float32"), index, np.zeros((37, 4), "float32"), padding_index=-1)
    x, updates = np.zeros((37, 4), "float32"), rng.standard_normal((3000, 4)).astype("float32")
    same(ops.scatter, x, index, updates, overwrite=True)
    same(ops.put_along_axis, np.zeros((37, 2), "float32"), rng.integers(0, 37, (900, 2)), np.array(1.5, "float32"), axis=0, reduce="add")


def test_long_lines_are_scanned_in_pieces(gpu, rng):
    x = rng.standard_normal((2, 20000))
    close(ops.cumsum, x, axis=1, reverse=False, rtol=1e-10)
    close(ops.cumsum, x.astype("float32"), axis=1, reverse=True)
    same(ops.cumsum, rng.integers(-9, 9, 9000), axis=0, reverse=False)
    close(ops.logcumsumexp, 100 * x, axis=1, rtol=1e-10)
    x[0, 15000] = np.nan
    same(ops.cummax, x.round(1), axis=1)
    same(ops.cummin, x.round(1).T.copy(), axis=0)


def test_a_product_that_began_with_zero_stays_zero(gpu):
    x = np.full(300, 1e200)
    x[0] = 0
    same(ops.cumprod, x, axis=0)


@pytest.mark.parametrize("width", [9, 66])
def test_attention_of_several_tiles_and_its_gradient(gpu, rng, width):
    q, k, v, ct = (rng.standard_normal((1, 1, time, width)).astype("float32") for time in (70, 68, 68, 70))
    attrs = {"scale": width**-0.5, "causal": True}
    close(ops.attention, q, k, v, None, rtol=1e-5, **attrs)
    wherry_tensor.set_device("cpu")
    out, lse = ops.attention(*map(wherry_tensor.to_tensor, (q, k, v)), None, **attrs)
    close(ops.attention_vjp, ct, q, k, v, None, out.numpy(), lse.numpy(), rtol=1e-5, **attrs)


def test_dropped_weights_are_those_of_the_cpu(gpu, rng):
    q, k, v, ct = (rng.standard_normal((2, 1, 6, 4)).astype("float32") for _ in range(4))
    attrs = {"scale": 0.5, "causal": True, "p": 0.5}
    kept = []
    for device in "gpu", "cpu":
        wherry_tensor.set_device(device)
        wherry_tensor.seed(5)
        answers = ops.attention_dropout(*map(wherry_tensor.to_tensor, (q, k, v)), None, **attrs)
        kept.append([one.numpy() for one in answers])
    np.testing.assert_array_equal(kept[0][2], kept[1][2])
    np.testing.assert_allclose(kept[0][0], kept[1][0], rtol=1e-5, atol=1e-6)
    close(ops.attention_dropout_vjp, ct, q, k, v, None, *kept[1], rtol=1e-5, **attrs)


@pytest.mark.parametrize("upper", [False, True])
@pytest.mark.parametrize("transpose", [False, True])
def test_triangles_are_solved_from_either_side(gpu, rng, upper, transpose):
    x = rng.standard_normal((2, 5, 5)) + 4 * np.eye(5)
    close(ops.triangular_solve, x, rng.standard_normal((2, 5, 34)), upper=upper, transpose=transpose, unitriangular=False, rtol=1e-9)
