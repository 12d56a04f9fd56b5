import numpy as np
import pytest

import wherry_tensor as paddle
from wherry_autograd import grad
from wherry_tensor import ops
from wherry_tensor._core import float64, symbolic
from wherry_tensor.functions import factorization as L
from wherry_tensor.testing.capture import Program


def leaf(values):
    x = paddle.to_tensor(np.asarray(values, "float64"))
    x.stop_gradient = False
    return x


def test_vectors_of_equal_eigenvalues_have_no_gradient():
    x = leaf(np.diag([1.0, 1.0, 2.0]))
    _, v = L.eigh(x)
    with pytest.raises(RuntimeError, match="eigh: the gradient is not defined where eigenvalues coincide"):
        grad((v[0] * v[1] * paddle.to_tensor(np.arange(3.0))).sum() + (v[:, 0] * paddle.to_tensor(np.arange(3.0))).sum(), [x])


def test_vectors_beside_equal_eigenvalues_have_their_gradient():
    x = leaf(np.diag([1.0, 1.0, 2.0]))
    w, v = L.eigh(x)
    column = v[:, 2:]
    weights = np.arange(9.0).reshape(3, 3)
    (found,) = grad(((column @ ops.transpose(column, perm=(1, 0))) * paddle.to_tensor(weights)).sum() + w[2], [x])
    symmetric = (weights + weights.T) / 2
    expected = np.diag([0.0, 0.0, 1.0])  # the projection turns by 1 / (2 - 1) of what mixes e3 with the others
    expected[:2, 2] = expected[2, :2] = symmetric[:2, 2]
    np.testing.assert_allclose(found.numpy(), expected, atol=1e-10)


def test_a_symmetric_mixture_of_equal_singular_vectors_is_refused():
    x = leaf(np.eye(2) * 3)
    u, s, vh = L.svd(x)
    with pytest.raises(RuntimeError, match="svd: the gradient is not defined where singular values coincide"):
        grad((((u * s) @ vh) * paddle.to_tensor([[1.0, 2.0], [2.0, 1.0]], dtype="float64")).sum(), [x])


def test_values_of_equal_singular_values_have_their_gradient():
    x = leaf(np.eye(2))
    (found,) = grad(L.svd(x)[1].sum(), [x])
    np.testing.assert_allclose(found.numpy(), np.eye(2), atol=1e-12)


@pytest.mark.parametrize(
    ("loss", "x", "error", "said"),
    [
        (lambda x: (L.svd(x)[0] * paddle.to_tensor([[1.0, 2.0], [3.0, 5.0]], dtype="float64")).sum(), np.eye(2), RuntimeError,
         "singular values coincide"),
        (lambda x: L.svd(x)[0][0, 1] + L.svd(x)[2][0, 1], np.diag([1.0, 0.0]), RuntimeError, "svd: .* loses rank"),
        (lambda x: L.svd(x, full_matrices=True)[0][0, 2], np.arange(6.0).reshape(3, 2) ** 2, ValueError, "full_matrices=True is not defined"),
        (lambda x: L.qr(x)[0][0, 0], np.ones((2, 2)) - [[0, 0], [1, 1]], RuntimeError, "qr: .* loses rank"),
        (lambda x: L.qr(x, mode="complete")[0][0, 0], np.arange(6.0).reshape(3, 2), ValueError, "mode='complete' is not defined"),
        (lambda x: L.lu(x)[0].sum(), np.zeros((2, 2)), RuntimeError, "lu: .* loses rank"),
        (lambda x: L.slogdet(x)[1], np.zeros((2, 2)), RuntimeError, "slogdet: .* is singular"),
        (lambda x: L.lstsq(x, x)[0].sum(), np.ones((3, 2)), RuntimeError, "pinv: .* loses rank"),
    ],
)
def test_gradients_that_are_not_defined_are_refused(loss, x, error, said):
    x = leaf(x)
    with pytest.raises(error, match=said):
        grad(loss(x), [x])


def test_the_determinant_of_a_singular_matrix_has_its_gradient():
    x = leaf([[1.0, 2.0], [2.0, 4.0]])
    (found,) = grad(L.det(x), [x])
    np.testing.assert_allclose(found.numpy(), [[4.0, -2.0], [-2.0, 1.0]], atol=1e-12)


def test_gradients_are_captured_for_an_unknown_batch():
    def model(x):
        spd = x @ ops.transpose(x, perm=(0, 2, 1)) + ops.eye(rows=3, columns=3, dtype=float64)
        w, v = L.eigh(spd)
        s = L.svd(x)[1]
        return (
            L.cholesky(spd).sum() + L.solve(spd, x).sum() + L.inv(spd).sum() + L.det(spd).sum() + w.sum() + s.sum()
            + ((v * w.unsqueeze(-2)) @ ops.transpose(v, perm=(0, 2, 1))).sum() + L.qr(x)[1].sum() + L.pinv(x).sum()
        )

    x = symbolic((-1, 3, 3), float64)
    x.stop_gradient = False
    with Program() as program:
        loss = model(x)
        (ct,) = grad(loss, [x])
    for n in 1, 4:
        data = leaf(np.random.default_rng(n).standard_normal((n, 3, 3)))
        expected = model(data)
        (expected_ct,) = grad(expected, [data])
        got = program.replay([(x, data.detach())], [loss, ct])
        np.testing.assert_allclose(got[0].numpy(), expected.numpy(), rtol=1e-10)
        np.testing.assert_allclose(got[1].numpy(), expected_ct.numpy(), rtol=1e-7, atol=1e-9)
