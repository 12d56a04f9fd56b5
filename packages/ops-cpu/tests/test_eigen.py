"""Eigenvalues and singular values of matrices that are hard for them. Bounds are LAPACK's kind: a rounding error of the
largest eigenvalue or singular value for each row."""
import numpy as np
import pytest

import wherry_tensor as w
from wherry_tensor import ops

SIZES = [1, 2, 3, 31, 32, 33, 65, 150]  # up to 32 there is one block; 65 are put together from four


def hard(n):
    rng = np.random.default_rng(n)
    x = rng.standard_normal((n, n))
    q = np.linalg.qr(x)[0]
    falling = 10.0 ** -np.linspace(0, 12, n)
    index = np.arange(n)
    return {
        "random": x,
        "graded": (q * falling) @ q.T,
        "graded rows": falling[:, None] * x * falling,
        "graded upwards": (falling[:, None] * x * falling)[::-1, ::-1],
        "clustered": (q * np.where(index < n // 2, 1, 1 + 1e-7 * index)) @ q.T,
        "equal values": np.ones((n, n)),
        "of rank 3": x[:, :3] @ x[:, :3].T,
        "zeros": np.zeros((n, n)),
        "identity": np.eye(n),
        "diagonal, falling": np.diag(index[::-1] + 0.0),
        "Hilbert": 1 / (index[:, None] + index + 1),
        "Wilkinson": np.diag(np.abs(index - n // 2) + 0.0) + np.diag(np.ones(n - 1), 1) + np.diag(np.ones(n - 1), -1),
        "huge": x * 1e36,
        "tiny": x * 1e-36,
    }


def size_of(error, scale, dtype):
    return np.linalg.norm(error, 2) / scale / np.finfo(dtype).eps


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("n", SIZES)
def test_eigenvectors_are_orthogonal_and_belong_to_their_values(n, dtype):
    for name, x in hard(n).items():
        x = ((x + x.T) / 2).astype(dtype)
        values, vectors = (part.numpy().astype("float64") for part in ops.eigh(w.to_tensor(x), upper=False))
        wide = x.astype("float64")
        exact = np.linalg.eigvalsh(wide)
        scale = np.abs(exact).max() or 1
        bound = 12 + n
        assert size_of(wide @ vectors - vectors * values, scale, dtype) < bound, name
        assert size_of(vectors.T @ vectors - np.eye(n), 1, dtype) < bound, name
        assert np.abs(values - exact).max() / scale / np.finfo(dtype).eps < bound / 2, name
        assert (np.diff(values) >= 0).all(), name
        alone = ops.eigvalsh(w.to_tensor(x), upper=True).numpy().astype("float64")
        assert np.abs(alone - exact).max() / scale / np.finfo(dtype).eps < bound / 2, name


@pytest.mark.parametrize("full", [False, True])
@pytest.mark.parametrize("n", SIZES)
def test_singular_vectors_are_orthogonal_and_give_the_matrix(n, full):
    for name, square in hard(n).items():
        for x in (square, square[:, : (2 * n + 2) // 3], square[: (n + 1) // 2]):
            x = x.astype("float32")
            u, s, vh = (part.numpy().astype("float64") for part in ops.svd(w.to_tensor(x), full_matrices=full))
            k = min(x.shape)
            assert u.shape == (x.shape[0], x.shape[0] if full else k) and vh.shape == (x.shape[1] if full else k, x.shape[1])
            wide = x.astype("float64")
            exact = np.linalg.svd(wide, compute_uv=False)
            scale = exact[0] or 1
            assert size_of(wide - (u[:, :k] * s) @ vh[:k], scale, "float32") < 3, name
            assert size_of(u.T @ u - np.eye(u.shape[1]), 1, "float32") < 3, name
            assert size_of(vh @ vh.T - np.eye(vh.shape[0]), 1, "float32") < 3, name
            assert np.abs(s - exact).max() / scale < 2e-7, name
            assert (np.diff(s) <= 0).all() and (s >= 0).all(), name


def test_the_smallest_floats_have_singular_values():
    x = np.diag([3e-45, 1.4e-44, 0]).astype("float32")
    np.testing.assert_array_equal(ops.svd(w.to_tensor(x), full_matrices=False)[1].numpy(), np.float32([1.4e-44, 3e-45, 0]))
    np.testing.assert_array_equal(ops.eigvalsh(w.to_tensor(x), upper=False).numpy(), np.float32([0, 3e-45, 1.4e-44]))


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_values_that_are_not_finite_are_named(value, dtype):
    x = np.eye(40, dtype=dtype)[None].repeat(3, 0)
    x[1, 5, 5] = value
    for compute in (lambda x: ops.svd(x, full_matrices=False), lambda x: ops.eigh(x, upper=False), lambda x: ops.eigvalsh(x, upper=True)):
        with pytest.raises(ValueError, match=r"did not converge. Got a matrix of shape \[40, 40\] with values that are not finite"):
            compute(w.to_tensor(x))


def test_matrices_without_elements_have_the_bases_of_the_whole_space():
    u, s, vh = ops.svd(w.to_tensor(np.zeros((2, 0, 3), "float32")), full_matrices=True)
    assert list(u.shape) == [2, 0, 0] and list(s.shape) == [2, 0]
    np.testing.assert_array_equal(vh.numpy(), np.broadcast_to(np.eye(3, dtype="float32"), (2, 3, 3)))
    assert list(ops.eigh(w.to_tensor(np.zeros((0, 3, 3), "float32")), upper=False)[1].shape) == [0, 3, 3]
    assert list(ops.svd(w.to_tensor(np.zeros((0, 3, 2), "float32")), full_matrices=True)[0].shape) == [0, 3, 3]


def test_results_depend_on_neither_threads_nor_batch():
    x = np.random.default_rng(0).standard_normal((5, 150, 150)).astype("float32")
    symmetric = x + x.swapaxes(1, 2)
    before = w.get_num_threads()
    found = []
    try:
        for threads in (1, 3):
            w.set_num_threads(threads)
            found.append([part.numpy() for part in (*ops.eigh(w.to_tensor(symmetric[:1]), upper=False),
                                                    *ops.svd(w.to_tensor(x[:1]), full_matrices=False))])
            found.append([part.numpy()[:1] for part in (*ops.eigh(w.to_tensor(symmetric), upper=False),
                                                        *ops.svd(w.to_tensor(x), full_matrices=False))])
    finally:
        w.set_num_threads(before)
    for one, two in ((0, 2), (1, 3)):
        for a, b in zip(found[one], found[two], strict=True):
            np.testing.assert_array_equal(a, b)
    for a, b in zip(found[0], found[1], strict=True):  # products of a batch may take another way: rounding differs, nothing else
        np.testing.assert_allclose(np.abs(a), np.abs(b), atol=2e-5 * np.abs(a).max())


@pytest.mark.parametrize("value", [complex(0, np.nan), complex(np.nan, 0), 5e-324, complex(0, 5e-324), 1e-310 + 1e-311j])
def test_qr_of_numbers_that_have_no_length_ends(value):
    a = np.zeros((3, 3), np.complex128)
    a[0, 0] = value
    q, r = ops.qr(w.to_tensor(a), complete=False)
    if np.isnan(value):
        assert np.isnan(r.numpy()[0, 0])
    else:
        np.testing.assert_allclose(q.numpy() @ r.numpy(), a, atol=1e-323)
        np.testing.assert_allclose(q.numpy().conj().T @ q.numpy(), np.eye(3), atol=1e-14)


@pytest.mark.parametrize("n", [3, 4, 5, 10])
def test_eigenvalues_come_in_the_order_of_the_transposed_matrix(n):
    x = np.random.default_rng(n).standard_normal((n, n))
    np.testing.assert_allclose(ops.eigvals(w.to_tensor(x)).numpy(), np.linalg.eigvals(x.T), atol=1e-9)  # Paddle's order
