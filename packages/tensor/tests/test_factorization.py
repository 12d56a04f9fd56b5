"""Factorizations, systems of equations and functions of matrices."""
import numpy as np
import pytest

import wherry_tensor as paddle
from wherry_tensor.functions import factorization as L
from wherry_tensor.functions import matrices as M

rng = np.random.default_rng(0)


def t(values, dtype="float64"):
    return paddle.to_tensor(np.asarray(values, dtype))


def square(n=3, batch=()):
    return rng.standard_normal((*batch, n, n)) + 3 * np.eye(n)


def test_batches_of_a_system_broadcast():
    a, b = square(3, (2, 1)), rng.standard_normal((4, 3, 2))
    assert L.solve(t(a), t(b)).shape == [2, 4, 3, 2]
    np.testing.assert_allclose(L.solve(t(a), t(b)).numpy(), np.linalg.solve(a, b), rtol=1e-10)
    np.testing.assert_allclose(L.triangular_solve(t(a[0, 0]), t(b)).numpy(), np.linalg.solve(np.triu(a[0, 0]), b), rtol=1e-10)


def test_vectors_are_solved_for_vectors():
    a = square(3, (2,))
    for b in rng.standard_normal((2, 3)), rng.standard_normal(3):
        expected = np.linalg.solve(a, np.broadcast_to(b, (2, 3))[..., None])[..., 0]
        np.testing.assert_allclose(L.solve(t(a), t(b)).numpy(), expected, rtol=1e-10)


def test_the_last_matrix_of_a_batch_that_is_singular_is_named():
    with pytest.raises(ValueError, match="inverse: a matrix is singular. Got matrix 1 of the batch"):
        L.inv(t([np.eye(2), np.ones((2, 2))]))
    with pytest.raises(ValueError, match="solve: a matrix is singular"):
        L.solve(t(np.zeros((2, 2))), t([1.0, 2.0]))


@pytest.mark.parametrize("n", [1, 17, 64, 130, 200])
def test_large_matrices_are_factorized_as_small_ones(n):
    a = rng.standard_normal((n, n))
    spd = a @ a.T + n * np.eye(n)
    lower = L.cholesky(t(spd)).numpy()
    np.testing.assert_allclose(lower @ lower.T, spd, rtol=1e-9, atol=1e-8)
    p, l, u = (one.numpy() for one in L.lu_unpack(*L.lu(t(a))))
    np.testing.assert_allclose(p @ l @ u, a, atol=1e-11 * n)
    assert np.abs(l).max() <= 1
    q, r = (one.numpy() for one in L.qr(t(a)))
    np.testing.assert_allclose(q @ r, a, atol=1e-12 * n)
    np.testing.assert_allclose(q.T @ q, np.eye(n), atol=1e-12 * n)
    np.testing.assert_allclose(L.inv(t(spd)).numpy() @ spd, np.eye(n), atol=1e-10)


def test_full_bases_are_unitary():
    x = rng.standard_normal((2, 5, 3)) + 1j * rng.standard_normal((2, 5, 3))
    u, s, vh = (one.numpy() for one in L.svd(t(x, "complex128"), full_matrices=True))
    np.testing.assert_allclose(np.conj(np.swapaxes(u, -1, -2)) @ u, np.broadcast_to(np.eye(5), (2, 5, 5)), atol=1e-12)
    np.testing.assert_allclose((u[..., :3] * s[..., None, :]) @ vh, x, atol=1e-12)
    q, r = (one.numpy() for one in L.qr(t(x, "complex128"), mode="complete"))
    assert q.shape == (2, 5, 5) and r.shape == (2, 5, 3)
    np.testing.assert_allclose(q @ r, x, atol=1e-12)


def test_values_beyond_the_range_of_their_squares_are_reflected():
    q, r = (one.numpy() for one in L.qr(t([[1e200, 1.0], [1e200, 2.0]])))
    np.testing.assert_allclose(q.T @ q, np.eye(2), atol=1e-12)
    assert np.isfinite(r).all()
    q, r = L.qr(t([[1e-30, 0.0], [1e-30, 1.0]], "float32"))
    np.testing.assert_allclose(np.abs(q.numpy()), np.full((2, 2), 0.5**0.5), rtol=1e-5)


def test_least_squares_agree_with_numpy_for_each_driver():
    a, b = rng.standard_normal((6, 3)), rng.standard_normal((6, 2))
    expected, residuals, rank, _ = np.linalg.lstsq(a, b, rcond=None)
    for driver in None, "gels", "gelsy", "gelsd", "gelss":
        z, r, k, s = L.lstsq(t(a), t(b), driver=driver)
        np.testing.assert_allclose(z.numpy(), expected, rtol=1e-9)
        np.testing.assert_allclose(r.numpy(), residuals, rtol=1e-9)
        assert (k.shape == [0]) if driver == "gels" else k.item() == rank
        assert s.shape == ([3] if driver in ("gelsd", "gelss") else [0])
    assert L.lstsq(t(a[:2]), t(b[:2]))[1].shape == [0]
    deficient = L.lstsq(t(np.ones((4, 2))), t(np.ones((4, 1))))
    np.testing.assert_allclose(deficient[0].numpy(), [[0.5], [0.5]], rtol=1e-9)
    assert deficient[2].item() == 1 and deficient[1].shape == [0]


def test_ranks_follow_the_bound():
    x = np.diag([3.0, 1.0, 1e-9])
    assert L.matrix_rank(t(x)).item() == 3
    assert L.matrix_rank(t(x), tol=0.5).item() == 2
    assert L.matrix_rank(t(x), tol=0.5, hermitian=True).item() == 2
    assert L.matrix_rank(t(x), tol=t([0.5, 2.0])).tolist() == [2, 1]
    assert L.matrix_rank(t(np.zeros((2, 0)))).item() == 0


@pytest.mark.parametrize(("bounds", "rank"), [
    ({"atol": 0.5}, 2), ({"rtol": 0.1}, 2), ({"atol": 0.05, "rtol": 0.001}, 3), ({"atol": 2.0, "rtol": 0.1}, 1), ({"atol": 0.0}, 4),
    ({"rtol": 0.0}, 4), ({"atol": 0.5, "hermitian": True}, 2),
])  # fmt: skip
def test_a_rank_counts_above_both_bounds_of_paddle_3(bounds, rank):
    x = t(np.diag([4.0, 1.0, 0.1, 0.001, 0.0]))
    assert L.matrix_rank(x, **bounds).item() == rank
    with pytest.raises(ValueError, match="Got tol and "):
        L.matrix_rank(x, tol=0.5, **{name: value for name, value in bounds.items() if name != "hermitian"})


def test_a_bound_for_the_pseudoinverse_may_be_a_tensor():
    x = np.broadcast_to(np.diag([2.0, 0.5]), (2, 2, 2))
    out = L.pinv(t(x), rcond=t([0.5, 0.0]))
    np.testing.assert_allclose(out.numpy(), [np.diag([0.5, 0.0]), np.diag([0.5, 2.0])])


def test_covariances_are_numpys():
    x = rng.standard_normal((3, 6))
    counts, weights = np.array([1, 2, 1, 3, 1, 1]), rng.uniform(0.5, 1.5, 6)
    np.testing.assert_allclose(M.cov(t(x)).numpy(), np.cov(x), rtol=1e-10)
    np.testing.assert_allclose(M.cov(t(x), rowvar=False, ddof=False).numpy(), np.cov(x, rowvar=False, ddof=0), rtol=1e-10, atol=1e-12)
    ours = M.cov(t(x), fweights=t(counts, "int64"), aweights=t(weights))
    np.testing.assert_allclose(ours.numpy(), np.cov(x, fweights=counts, aweights=weights), rtol=1e-10)
    np.testing.assert_allclose(M.corrcoef(t(x)).numpy(), np.corrcoef(x), rtol=1e-10)
    with pytest.raises(ValueError, match="cov: `fweights` has negative numbers"):
        M.cov(t(x), fweights=t([1, 1, 1, -1, 1, 1], "int64"))
    with pytest.raises(TypeError, match="cov: `x` must be floating or complex"):
        M.cov(t([[1, 2]], "int64"))


def test_rows_beyond_a_norm_are_shortened():
    x = rng.standard_normal((2, 3, 4))
    lengths = np.abs(x).sum((0, 2), keepdims=True)
    np.testing.assert_allclose(M.renorm(t(x), 1.0, 1, 2.0).numpy(), x * np.minimum(1, 2 / lengths), rtol=1e-10)
    with pytest.raises(ValueError, match="axis 3 is out of range"):
        M.renorm(t(x), 1.0, 3, 2.0)


@pytest.mark.parametrize(
    ("call", "error", "said"),
    [
        (lambda x: L.qr(x, mode="full"), ValueError, "qr: unknown mode. Got mode='full'"),
        (lambda x: L.eigh(x, UPLO="X"), ValueError, "eigh: UPLO is unknown"),
        (lambda x: L.cond(x, 3), ValueError, "cond: unknown norm. Got p=3"),
        (lambda x: L.lu(x, pivot=False), ValueError, "lu: rows are exchanged"),
        (lambda x: L.lstsq(x, x, driver="best"), ValueError, "lstsq: unknown driver"),
        (lambda x: L.matrix_power(x, 1.5), ValueError, "matrix_power: argument 'n' must be one integer"),
        (lambda x: L.pca_lowrank(x, q=9), ValueError, "pca_lowrank: q is out of range"),
        (lambda x: L.det(x.astype("int32")), TypeError, "det: `x` has dtype int32"),
        (lambda x: L.det(x.numpy()), TypeError, "det: argument 'x' must be a Tensor"),
        (lambda x: L.inv(x[0]), ValueError, "inv: `x` is not a matrix"),
        (lambda x: L.inv(x[:2]), ValueError, r"inv: `x` is not square. Got shape \[2, 3\]"),
        (lambda x: L.solve(x, x.astype("float32")), TypeError, "solve"),
        (lambda x: L.householder_product(x[:2], x[0]), AssertionError, "householder_product: x and tau are not Householder reflections"),
        (lambda x: M.vander(x), ValueError, "vander: `x` is not a vector"),
    ],
)
def test_wrong_calls_are_explained(call, error, said):
    with pytest.raises(error, match=said):
        call(t(square()))


def test_reflections_make_the_orthogonal_factor():
    # H = I - tau v v^T, the form in which LAPACK's QR leaves its factor.
    v = np.array([[1.0], [0.5], [-0.25]])
    tau = 2 / float((v * v).sum())
    expected = (np.eye(3) - tau * v @ v.T)[:, :1]
    got = L.householder_product(t(np.concatenate([[[9.0]], v[1:]])), t([tau]))
    np.testing.assert_allclose(got.numpy(), expected, rtol=1e-12)


def test_more_powers_than_anybody_wants_are_refused():
    with pytest.raises(ValueError, match="at most 65536"):
        M.vander(paddle.ones([2]), 2**40)


@pytest.mark.parametrize("call", [L.svd, L.eigh, L.eigvalsh])
def test_values_that_are_not_finite_are_refused_before_an_iteration_that_would_not_end(call):
    x = paddle.ones([4, 4])
    x[1, 2], x[3, 0] = float("-inf"), float("nan")
    with pytest.raises(ValueError, match="not finite"):
        call(x)
