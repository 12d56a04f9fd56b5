"""Products and norms, against NumPy."""
import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given

import wherry_tensor as w
from wherry_tensor import to_tensor
from wherry_tensor.functions.linalg import _best_cuts, multi_dot


def array(*shape, seed=0, dtype="float64"):
    return np.random.default_rng(seed).integers(-4, 5, shape).astype(dtype)


def equal(ours, theirs):
    np.testing.assert_allclose(ours.numpy(), theirs, rtol=1e-12, atol=1e-12)
    assert ours.shape == list(np.shape(theirs))


@pytest.mark.parametrize(
    ("a", "b"),
    [([2, 3], [3, 4]), ([3], [3]), ([2, 3], [3]), ([2], [2, 3]), ([5, 1, 2, 3], [4, 3, 2]), ([0, 3], [3, 2]), ([2, 0], [0, 2])],
)
def test_matmul(a, b):
    x, y = array(*a), array(*b, seed=1)
    equal(w.matmul(to_tensor(x), to_tensor(y)), x @ y)
    equal(to_tensor(x) @ to_tensor(y), x @ y)
    equal(w.mm(to_tensor(x), to_tensor(y)), x @ y)


def test_matmul_transposes():
    x, y = array(2, 3, 4), array(2, 5, 4, seed=1)
    equal(w.matmul(to_tensor(x), to_tensor(y), transpose_y=True), x @ y.swapaxes(1, 2))
    equal(w.matmul(to_tensor(y), to_tensor(x), False, True), y @ x.swapaxes(1, 2))
    equal(w.matmul(to_tensor(x), to_tensor(array(2, 3, 5)), transpose_x=True), x.swapaxes(1, 2) @ array(2, 3, 5))


def test_bmm_mv_dot():
    x, y = array(2, 3, 4), array(2, 4, 5, seed=1)
    equal(w.bmm(to_tensor(x), to_tensor(y)), x @ y)
    equal(w.mv(to_tensor(x[0]), to_tensor(y[0, :, 0])), x[0] @ y[0, :, 0])
    equal(w.dot(to_tensor(x[0, 0]), to_tensor(x[0, 1])), x[0, 0] @ x[0, 1])
    equal(w.dot(to_tensor(x[0]), to_tensor(x[1])), (x[0] * x[1]).sum(-1))
    assert w.dot(to_tensor([1, 2]), to_tensor([3, 4])).dtype == w.int64


@pytest.mark.parametrize(("a", "b"), [([3], [3]), ([2, 3], [4, 3]), ([2, 2, 3], [3]), ([], [2, 3]), ([2, 3], [])])
def test_inner(a, b):
    x, y = array(*a), array(*b, seed=1)
    equal(w.inner(to_tensor(x), to_tensor(y)), np.inner(x, y))


@pytest.mark.parametrize(("a", "b"), [([3], [4]), ([2, 3], [2]), ([], [2])])
def test_outer(a, b):
    x, y = array(*a), array(*b, seed=1)
    equal(w.outer(to_tensor(x), to_tensor(y)), np.outer(x, y))


@pytest.mark.parametrize("shape", [[2, 4], [4], [1, 4], [2, 1], [1, 1]])
def test_addmm(shape):
    i, x, y = array(*shape), array(2, 3, seed=1), array(3, 4, seed=2)
    equal(w.addmm(to_tensor(i), to_tensor(x), to_tensor(y), beta=2.0, alpha=0.5), 2 * i + 0.5 * (x @ y))


def test_addmm_in_place():
    i, x = to_tensor(array(2, 2)), to_tensor(array(2, 2, seed=1))
    expected = i.numpy() + x.numpy() @ x.numpy()
    assert w.addmm_(i, x, x) is i
    equal(i, expected)


@given(st.lists(st.integers(1, 3), max_size=3), st.lists(st.integers(1, 3), max_size=3))
def test_kron(a, b):
    x, y = array(*a), array(*b, seed=1)
    equal(w.kron(to_tensor(x), to_tensor(y)), np.kron(x, y))


def test_cross():
    x, y = array(3, 2, 3), array(3, 2, 3, seed=1)
    equal(w.cross(to_tensor(x), to_tensor(y)), np.cross(x, y, axis=0))
    equal(w.cross(to_tensor(x), to_tensor(y), axis=-1), np.cross(x, y))


def test_trace():
    x = array(2, 3, 4)
    equal(w.trace(to_tensor(x)), np.trace(x))
    equal(w.trace(to_tensor(x), 1, 1, 2), np.trace(x, 1, 1, 2))
    equal(w.trace(to_tensor(x), 9), np.zeros(4))
    assert w.trace(to_tensor(x).astype("int32")).dtype == w.int32


@pytest.mark.parametrize("p", [0, 0.5, 1, 2, 3, np.inf, -np.inf])
@pytest.mark.parametrize("axis", [0, -1, None])
@pytest.mark.parametrize("keepdim", [False, True])
def test_norm_of_vectors(p, axis, keepdim):
    x = np.random.default_rng(0).standard_normal((3, 4))
    flat = x if axis is not None else x.reshape(-1)
    expected = np.linalg.norm(flat, p, axis=axis if axis is not None else 0)
    if keepdim:
        expected = np.expand_dims(expected, axis) if axis is not None else expected.reshape(1, 1)
    equal(w.norm(to_tensor(x), p, axis, keepdim), expected)


def test_norm_of_two_axes_is_that_of_one_long_vector():
    x = np.random.default_rng(0).standard_normal((2, 3, 4))
    equal(w.norm(to_tensor(x), "fro", [0, 2]), np.linalg.norm(x, "fro", axis=(0, 2)))
    equal(w.norm(to_tensor(x), 1, [1, 2]), np.abs(x).sum((1, 2)))
    equal(w.norm(to_tensor(3.0).astype("float64")), 3.0)


def test_dist_and_cdist():
    x, y = array(5, 3), array(4, 3, seed=1)
    equal(w.dist(to_tensor(x), to_tensor(y[:1]), p=3), np.linalg.norm((x - y[:1]).ravel(), 3))
    for p in (0, 1, 2, np.inf):
        expected = np.array([[np.linalg.norm(a - b, p) for b in y] for a in x])
        equal(w.cdist(to_tensor(x), to_tensor(y), p), expected)
    assert w.cdist(w.ones([2, 3], "float64"), w.zeros([4, 3])).dtype is w.cdist(w.ones([2, 3]), w.zeros([4, 3], "float64")).dtype is w.float64


@given(st.lists(st.integers(1, 6), min_size=3, max_size=6))
def test_multi_dot(sizes):
    xs = [array(n, m, seed=i) for i, (n, m) in enumerate(zip(sizes, sizes[1:], strict=False))]
    equal(multi_dot([to_tensor(x) for x in xs]), np.linalg.multi_dot(xs))


def test_multi_dot_with_vectors_at_the_ends():
    x, y, z = array(3), array(3, 4, seed=1), array(4, seed=2)
    equal(multi_dot([to_tensor(x), to_tensor(y), to_tensor(z)]), x @ y @ z)
    equal(multi_dot([to_tensor(x), to_tensor(y)]), x @ y)


def test_multi_dot_multiplies_the_cheap_pair_first():
    assert _best_cuts([10, 100, 5, 50])[0, 2] == 1  # (ab)c: 7500 multiplications, against 75000


@pytest.mark.parametrize(
    ("call", "error", "match"),
    [
        (lambda x, v: w.matmul(x, x), ValueError, "3"),
        (lambda x, v: w.matmul(x, 5), TypeError, "must be a Tensor"),
        (lambda x, v: w.matmul(x, x.astype("float32")), TypeError, "one dtype"),
        (lambda x, v: w.matmul(x, x.astype("float32")), ValueError, "one dtype"),
        (lambda x, v: w.matmul(to_tensor(1.0), to_tensor(1.0)), ValueError, r"\[\]"),
        (lambda x, v: w.matmul(x, x, "no"), TypeError, "transpose_x"),
        (lambda x, v: w.bmm(x, x), ValueError, r"\[B, m, k\]"),
        (lambda x, v: w.mv(x, x), ValueError, r"\[m, n\] and \[n\]"),
        (lambda x, v: w.dot(x, v), RuntimeError, r"\[2, 3\] and \[3\]"),
        (lambda x, v: w.dot(v, v.astype("int64")), TypeError, "one dtype"),
        (lambda x, v: w.inner(x, v[:2]), ValueError, "last axes"),
        (lambda x, v: w.outer(x, 2.0), TypeError, "Tensor"),
        (lambda x, v: w.addmm(x, x, x), ValueError, "do not fit"),
        (lambda x, v: w.addmm(x, x, x.T), ValueError, "do not fit"),
        (lambda x, v: w.addmm(w.zeros([2, 2], "float64"), x, x.T, beta="a"), TypeError, "beta"),
        (lambda x, v: w.kron(x, v.astype("int64")), TypeError, "one dtype"),
        (lambda x, v: w.cross(x, x, axis=0), ValueError, "size 3"),
        (lambda x, v: w.cross(v[:2], v[:2]), ValueError, "size 3"),
        (lambda x, v: w.cross(x, v), ValueError, "one shape"),
        (lambda x, v: w.trace(v), IndexError, "rank 2"),
        (lambda x, v: w.trace(x, 0, 0, 0), ValueError, "different"),
        (lambda x, v: w.trace(x, 0, 0, 2), IndexError, "axis2"),
        (lambda x, v: w.norm(x.astype("int64")), TypeError, "int64"),
        (lambda x, v: w.norm(x, "nuc"), ValueError, "'nuc'"),
        (lambda x, v: w.norm(x, 2, 5), ValueError, "axis 5"),
        (lambda x, v: w.norm(x, 2, [0, 1, 0]), ValueError, "one axis or two"),
        (lambda x, v: w.dist(x, v.astype("float32")), TypeError, "one dtype"),
        (lambda x, v: w.dist(x, v[:2]), ValueError, "broadcast"),
        (lambda x, v: w.cdist(x, x[:, :2]), ValueError, "one length"),
        (lambda x, v: w.cdist(x, x, -1), ValueError, "p >= 0"),
        (lambda x, v: multi_dot([x]), ValueError, "two or more"),
        (lambda x, v: multi_dot([x, x]), ValueError, "neighbouring matrices"),
        (lambda x, v: multi_dot(x), TypeError, "list"),
        (lambda x, v: w.mm(None, x), TypeError, "Tensor"),
    ],
)
def test_bad_input_is_refused(call, error, match):
    with pytest.raises(error, match=match):
        call(to_tensor(array(2, 3)), to_tensor(array(3)))


@pytest.mark.parametrize("rows", [-1, -5, -(2**40)])
def test_a_negative_number_of_rows_is_refused_before_the_kernel(rows):
    with pytest.raises(ValueError, match="pivots_to_permutation: size .* is negative"):
        w.ops.pivots_to_permutation(to_tensor([1, 2], dtype="int32"), rows=rows)


@pytest.mark.parametrize("at", [0, 1, 2])
def test_many_cross_products_are_those_of_numpy_along_every_axis(at):
    shape = [40, 50]
    shape.insert(at, 3)
    x, y = np.random.default_rng(8).integers(-9, 9, (2, *shape))
    np.testing.assert_array_equal(w.cross(w.to_tensor(x), w.to_tensor(y), at).numpy(), np.cross(x, y, axis=at))


def test_kron_of_short_and_long_rows_is_that_of_numpy():
    rng = np.random.default_rng(9)
    shapes = (
        ((32, 32), (8, 40)), ((4, 9), (5, 30)), ((3, 4, 20), (2, 20)), ((20,), (30,)), ((2, 40), (4, 5, 40)), ((5, 3), (6, 100)), ((5, 2), (6, 300)),
    )
    for a, b in shapes:
        x, y = rng.integers(-9, 9, a), rng.integers(-9, 9, b)
        np.testing.assert_array_equal(w.kron(w.to_tensor(x), w.to_tensor(y)).numpy(), np.kron(x, y))
