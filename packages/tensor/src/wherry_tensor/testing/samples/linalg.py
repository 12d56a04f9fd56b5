"""Samples and references of factorizations, systems of equations, eigenvalues and singular values.

Batches come first in most samples: a repeated matrix is still one that has an inverse, a repeated row is not.
"""
import numpy as np

from wherry_tensor import ops
from wherry_tensor.testing import bad, case, spec

_DTYPES = "float64 float32 complex"
# Errors grow with the condition of the matrices, which is some tens here.
_SYSTEMS = {"float32": (2e-4, 2e-4), "complex64": (4e-4, 4e-4), "float64": (1e-9, 1e-9), "complex128": (1e-9, 1e-9)}


def _complex(rng, shape):
    return rng.standard_normal(shape) + 1j * rng.standard_normal(shape)


def _turned(x):
    return np.conj(np.swapaxes(x, -1, -2))


def _definite(x):
    n = x.shape[-1]
    return x @ _turned(x) / max(n, 1) + np.eye(n)


def _well_conditioned(x):
    return x + 2 * np.sqrt(x.shape[-1]) * np.eye(x.shape[-1])


def _squares(rng, make, *shapes, real="float64 float32 complex", **attrs):
    """A case for each shape, real (for those dtypes) and complex; large ones are not differentiated."""
    for shape in shapes:
        yield case(make(rng.standard_normal(shape)), differentiable=shape[-1] <= 4, dtypes=real, **attrs)
        yield case(make(_complex(rng, shape)), differentiable=shape[-1] <= 4, **attrs)


_SHAPES = (2, 3, 3), (1, 1), (2, 1, 2, 2), (0, 3, 3), (2, 0, 0), (3, 20, 20), (1, 70, 70)


def adjoint(x):
    """x^H, of tensors."""
    perm = (*range(x.ndim - 2), x.ndim - 1, x.ndim - 2)
    return ops.conj(ops.transpose(x, perm=perm))


def hermitian(x):
    """The half of a matrix that equals its adjoint: what ops that read one triangle are meant for."""
    return (x + adjoint(x)) * 0.5


def product(x, y):
    return ops.matmul(x, y, transpose_x=False, transpose_y=False)


def weighted(x, weights):
    """The columns of x times weights [..., n]."""
    return x * ops.cast(ops.unsqueeze(weights, axes=(weights.ndim - 1,)), dtype=x.dtype)


def counted(s):
    """1, 2, 3, ... in the place of each value."""
    return ops.cumsum(ops.full_like(s, value=1, dtype=s.dtype), axis=s.ndim - 1, reverse=False)


def _cholesky(x, upper):
    factor = np.linalg.cholesky((x + _turned(x)) / 2) if x.size else x
    return _turned(factor) if upper else factor


@spec(ops.cholesky, reference=_cholesky, dtypes=_DTYPES, tolerance=_SYSTEMS,
      through=lambda x, upper: ops.cholesky(hermitian(x), upper=upper))
def spec_cholesky(rng):
    yield from _squares(rng, _definite, *_SHAPES, upper=False)
    yield from _squares(rng, _definite, (2, 3, 3), (2, 40, 40), upper=True)
    yield bad(-np.eye(2), upper=False, error=ValueError, match="cholesky: a matrix is not positive definite.*order 1")
    yield bad(np.array([[1.0, 2.0], [2.0, 1.0]]), upper=True, error=ValueError, match="leading minor of order 2")
    yield bad(np.full((1, 1), np.nan), upper=False, error=ValueError, match="not positive definite")
    yield bad(np.zeros((2, 3)), upper=False, error=ValueError, match=r"cholesky: `x` is not square. Got shape \[2, 3\]")
    yield bad(np.zeros(3), upper=False, error=ValueError, match="cholesky: `x` is not a matrix")
    yield bad(np.eye(2, dtype=np.int64), upper=False, error=TypeError, match="cholesky: `x` has dtype int64")


def _lu(x):
    x = x.copy()
    *batch, m, n = x.shape
    pivots, info = np.zeros((*batch, min(m, n)), np.int32), np.zeros(batch, np.int32)
    for at in np.ndindex(*batch):
        a = x[at]
        for i in range(min(m, n)):
            sizes = np.abs(a[i:, i].real) + np.abs(a[i:, i].imag)
            best = i + int(np.argmax(sizes))
            pivots[(*at, i)] = best + 1
            a[[i, best]] = a[[best, i]]
            if a[i, i] == 0:
                info[at] = info[at] or i + 1
                continue
            a[i + 1 :, i] /= a[i, i]
            a[i + 1 :, i + 1 :] -= np.outer(a[i + 1 :, i], a[i, i + 1 :])
    return x, pivots, info


@spec(ops.lu, reference=_lu, dtypes=_DTYPES, tolerance=_SYSTEMS)
def spec_lu(rng):
    yield from _squares(rng, lambda x: x, (2, 3, 3), (1, 1), (2, 4, 2), (2, 2, 4), (0, 2, 2), (2, 0, 3), (2, 20, 20), (1, 90, 50),
                        (1, 50, 90))
    yield case(np.zeros((1, 2, 2)), differentiable=False)
    yield bad(np.zeros(3), error=ValueError, match="lu: `x` is not a matrix")


def _permutation(pivots, rows):
    out = np.broadcast_to(np.arange(rows, dtype=np.int32), (*pivots.shape[:-1], rows)).copy()
    for at in np.ndindex(*pivots.shape[:-1]):
        for i, other in enumerate(pivots[at]):
            out[at][[i, other - 1]] = out[at][[other - 1, i]]
    return out


@spec(ops.pivots_to_permutation, reference=_permutation, dtypes="int32", differentiable=False)
def spec_pivots_to_permutation(rng):
    yield case(np.array([2, 3, 3]), rows=3)
    yield case(np.array([[4, 2], [1, 3]]), rows=4)
    yield case(np.zeros((0, 2), np.int64), rows=2)
    yield bad(np.array([3], np.intc), rows=2, error=ValueError, match="pivots_to_permutation: a pivot is not a row. Got 3")
    yield bad(np.array(1, np.intc), rows=2, error=ValueError, match="`pivots` is 0-d")


@spec(ops.solve, reference=np.linalg.solve, dtypes=_DTYPES, tolerance=_SYSTEMS)
def spec_solve(rng):
    for a, b in ((2, 3, 3), (2, 3, 2)), ((1, 1), (1, 1)), ((2, 2, 2), (2, 2, 1)), ((0, 3, 3), (0, 3, 1)), ((2, 0, 0), (2, 0, 3)), (
        (2, 3, 3), (2, 3, 0)
    ), ((3, 20, 20), (3, 20, 5)), ((1, 80, 80), (1, 80, 130)):
        for values in rng.standard_normal, lambda shape: _complex(rng, shape):
            yield case(_well_conditioned(values(a)), values(b), differentiable=a[-1] <= 4)
    yield case(np.array([[[0.0, 1.0], [1.0, 0.0]]]), rng.standard_normal((1, 2, 1)))
    yield bad(np.zeros((2, 2)), np.zeros((2, 1)), error=ValueError, match="solve: a matrix is singular.*pivot 1 is 0")
    yield bad(np.eye(2), np.zeros((3, 1)), error=ValueError, match="solve: `y` does not fit `x`")
    yield bad(np.eye(2), np.zeros((1, 2, 1)), error=ValueError, match="equal batches")
    yield bad(np.eye(2), np.zeros((2, 1), np.float32), error=TypeError, match="solve: `x` and `y` have different dtypes")


@spec(ops.inverse, reference=lambda x: np.linalg.inv(x) if x.size else x, dtypes=_DTYPES, tolerance=_SYSTEMS)
def spec_inverse(rng):
    yield from _squares(rng, _well_conditioned, *_SHAPES)
    yield bad(np.ones((2, 2, 2)), error=ValueError, match="inverse: a matrix is singular. Got matrix 0.*pivot 2 is 0")
    yield bad(np.zeros((2, 3)), error=ValueError, match="inverse: `x` is not square")


def _triangular_solve(x, y, upper, transpose, unitriangular):
    a = np.triu(x) if upper else np.tril(x)
    if unitriangular:
        a = a - a * np.eye(a.shape[-1]) + np.eye(a.shape[-1])
    return np.linalg.solve(np.swapaxes(a, -1, -2) if transpose else a, y)


@spec(ops.triangular_solve, reference=_triangular_solve, dtypes=_DTYPES, tolerance=_SYSTEMS)
def spec_triangular_solve(rng):
    for upper in True, False:
        for transpose in True, False:
            attrs = dict(upper=upper, transpose=transpose, unitriangular=False)
            for values in rng.standard_normal, lambda shape: _complex(rng, shape):
                yield case(_well_conditioned(values((2, 3, 3))), values((2, 3, 2)), **attrs)
            yield case(rng.standard_normal((2, 3, 3)), rng.standard_normal((2, 3, 2)), **{**attrs, "unitriangular": True})
            yield case(_well_conditioned(rng.standard_normal((2, 40, 40))), rng.standard_normal((2, 40, 3)), differentiable=False,
                       **attrs)
            yield case(_well_conditioned(rng.standard_normal((1, 70, 70))), rng.standard_normal((1, 70, 150)),
                       differentiable=False, **attrs)
    plain = dict(upper=True, transpose=False, unitriangular=False)
    yield case(np.zeros((2, 0, 0)), np.zeros((2, 0, 3)), **plain)
    yield bad(np.zeros((2, 3)), np.zeros((2, 1)), **plain, error=ValueError, match="triangular_solve: `x` is not square")


def _qr(x, complete):
    if x.shape[-1] == 0 or x.shape[-2] == 0:  # NumPy's has a case less
        m, n = x.shape[-2:]
        k = m if complete else min(m, n)
        return np.broadcast_to(np.eye(m, k, dtype=x.dtype), (*x.shape[:-2], m, k)), np.zeros((*x.shape[:-2], k, n), x.dtype)
    return tuple(np.linalg.qr(x, mode="complete" if complete else "reduced"))


@spec(ops.qr, reference=_qr, dtypes=_DTYPES, tolerance=_SYSTEMS)
def spec_qr(rng):
    # A last column that is real keeps its sign, which the smallest imaginary part may turn: no derivative there.
    real = "float64 float32"
    yield from _squares(rng, lambda x: x, (2, 3, 3), (1, 1), (2, 4, 2), (2, 2, 4), (0, 2, 2), (2, 0, 3), (2, 3, 0), (2, 40, 20),
                        (1, 50, 90), (1, 100, 80), real=real, complete=False)
    yield from _squares(rng, lambda x: x, (2, 2, 3), real=real, complete=True)
    for shape in (2, 4, 2), (2, 3, 0), (1, 70, 40):
        yield case(rng.standard_normal(shape), complete=True, differentiable=False)
    yield case(np.zeros((1, 3, 2)), complete=False, differentiable=False)
    yield bad(np.zeros(3), complete=False, error=ValueError, match="qr: `x` is not a matrix")


def svd_observed(x, full_matrices):
    """What of u, s and vh does not depend on phases: s, x itself, and both bases as projections with weights."""
    u, s, vh = ops.svd(x, full_matrices=full_matrices)
    k = s.shape[-1]
    if full_matrices:
        u = ops.slice(u, axes=(u.ndim - 1,), starts=(0,), ends=(k,), steps=(1,))
        vh = ops.slice(vh, axes=(vh.ndim - 2,), starts=(0,), ends=(k,), steps=(1,))
    v, weights = adjoint(vh), counted(s)
    return (s, product(weighted(u, s), vh), product(weighted(u, weights), adjoint(u)), product(weighted(v, weights), vh))


def _svd_observed(x, full_matrices):
    if 0 in x.shape[-2:]:
        *batch, m, n = x.shape
        return np.zeros((*batch, 0)), x, np.zeros((*batch, m, m)), np.zeros((*batch, n, n))
    u, s, vh = np.linalg.svd(x, full_matrices=False)
    weights = np.arange(1, s.shape[-1] + 1)
    return s, x, (u * weights) @ _turned(u), (_turned(vh) * weights) @ vh


@spec(ops.svd, reference=_svd_observed, through=svd_observed, dtypes=_DTYPES, tolerance=_SYSTEMS)
def spec_svd(rng):
    for full in False, True:
        yield from _squares(rng, lambda x: x, (2, 3, 3), (1, 1), (2, 4, 2), (2, 2, 4), (0, 2, 2), (2, 0, 3), full_matrices=full)
    yield bad(np.zeros(3), full_matrices=False, error=ValueError, match="svd: `x` is not a matrix")
    yield bad(np.full((2, 2), np.nan), full_matrices=False, error=ValueError, match="svd: the iteration did not converge.*not finite")


def eigh_observed(x, upper):
    w, v = ops.eigh(hermitian(x), upper=upper)
    return w, product(weighted(v, counted(w)), adjoint(v))


def _eigh_observed(x, upper):
    w, v = np.linalg.eigh((x + _turned(x)) / 2)
    return w, (v * np.arange(1, w.shape[-1] + 1)) @ _turned(v)


@spec(ops.eigh, reference=_eigh_observed, through=eigh_observed, dtypes=_DTYPES, tolerance=_SYSTEMS)
def spec_eigh(rng):
    for upper in False, True:
        yield from _squares(rng, lambda x: x, (2, 3, 3), (1, 1), (2, 1, 2, 2), (0, 3, 3), (2, 0, 0), upper=upper)
    yield bad(np.zeros((2, 3)), upper=False, error=ValueError, match="eigh: `x` is not square")


@spec(ops.eigvalsh, reference=lambda x, upper: np.linalg.eigvalsh((x + _turned(x)) / 2), dtypes=_DTYPES, tolerance=_SYSTEMS,
      through=lambda x, upper: ops.eigvalsh(hermitian(x), upper=upper))
def spec_eigvalsh(rng):
    for upper in False, True:
        yield from _squares(rng, lambda x: x, (2, 3, 3), (1, 1), (2, 1, 2, 2), (0, 3, 3), (2, 0, 0), upper=upper)
    yield bad(np.zeros((2, 3)), upper=False, error=ValueError, match="eigvalsh: `x` is not square")


def _power_sums(w):
    last = (w.ndim - 1,)
    square = w * w
    return ops.reduce_sum(square, axes=last, keepdim=False), ops.reduce_sum(square * w, axes=last, keepdim=False)


def eig_observed(x):
    """What depends neither on the order of the eigenvalues nor on the lengths of the vectors: x^2 made of them."""
    w, v = ops.eig(x)
    return (product(weighted(v, w * w), ops.inverse(v)), *_power_sums(w))


def _eig_observed(x):
    square = (x @ x).astype(np.complex128)
    return square, np.trace(square, axis1=-2, axis2=-1), np.trace(square @ x, axis1=-2, axis2=-1)


@spec(ops.eig, reference=_eig_observed, through=eig_observed, dtypes=_DTYPES, tolerance=_SYSTEMS)
def spec_eig(rng):
    yield from _squares(rng, lambda x: x, (2, 3, 3), (1, 1), (2, 1, 2, 2), (0, 3, 3), (2, 0, 0))
    yield bad(np.zeros((2, 3)), error=ValueError, match="eig: `x` is not square")
    yield bad(np.full((2, 2), np.inf), error=ValueError, match="eig: the iteration did not converge.*not finite")


@spec(ops.eigvals, reference=lambda x: _eig_observed(x)[1:], through=lambda x: _power_sums(ops.eigvals(x)), dtypes=_DTYPES,
      tolerance=_SYSTEMS)
def spec_eigvals(rng):
    yield from _squares(rng, lambda x: x, (2, 3, 3), (1, 1), (2, 1, 2, 2), (0, 3, 3), (2, 0, 0))
    # LAPACK gives other orders for a matrix and for what it is turned into: a gradient may take neither for granted.
    yield case(np.array([[1.5, 0.5, 0.0], [-1.0, -1.0, -2.0], [-2.0, -2.0, -1.5]]))
    yield bad(np.zeros((2, 3)), error=ValueError, match="eigvals: `x` is not square")


def _matrix_exp(x):
    out = np.broadcast_to(np.eye(x.shape[-1]), x.shape).astype(x.dtype)
    term = out
    for i in range(1, 40):
        term = term @ x / (64 * i)
        out = out + term
    for _ in range(6):
        out = out @ out
    return out


@spec(ops.matrix_exp, reference=_matrix_exp, dtypes=_DTYPES, tolerance=_SYSTEMS)
def spec_matrix_exp(rng):
    yield from _squares(rng, lambda x: x / 2, (2, 3, 3), (1, 1), (0, 3, 3), (2, 0, 0))
    for scale in 1e-3, 0.1, 0.4, 0.9, 4.0:
        yield case(rng.standard_normal((2, 3, 3)) * scale, differentiable=scale < 1)
    yield bad(np.zeros((2, 3)), error=ValueError, match="matrix_exp: `x` is not square")


@spec(ops.det, reference=np.linalg.det, dtypes=_DTYPES, tolerance=_SYSTEMS)
def spec_det(rng):
    yield from _squares(rng, lambda x: x, (2, 3, 3), (1, 1), (2, 1, 2, 2), (0, 3, 3), (2, 0, 0), (2, 5, 5))
    yield case(np.ones((1, 2, 2)), differentiable=False)
    yield bad(np.zeros((2, 3)), error=ValueError, match="det: `x` is not square")


@spec(ops.slogdet, reference=lambda x: tuple(np.linalg.slogdet(x)), dtypes=_DTYPES, tolerance=_SYSTEMS)
def spec_slogdet(rng):
    yield from _squares(rng, lambda x: x, (2, 3, 3), (1, 1), (2, 1, 2, 2), (0, 3, 3), (2, 0, 0), (2, 5, 5))
    yield case(np.zeros((1, 2, 2)), differentiable=False)
    yield bad(np.zeros((2, 3)), error=ValueError, match="slogdet: `x` is not square")


def _pinv(x, rcond, hermitian):
    if not x.size:
        return np.swapaxes(x, -1, -2)
    half = (x + _turned(x)) / 2 if hermitian else x
    return np.linalg.pinv(half, rcond, hermitian=hermitian)


@spec(ops.pinv, reference=_pinv, dtypes=_DTYPES, tolerance=_SYSTEMS, grad_of=(0,),
      through=lambda x, rcond, **attrs: ops.pinv(hermitian(x) if attrs["hermitian"] else x, rcond, **attrs))
def spec_pinv(rng):
    for hermitian_, shapes in (False, ((2, 3, 3), (2, 4, 2), (2, 2, 4), (0, 2, 2), (2, 0, 3))), (True, ((2, 3, 3), (1, 1), (2, 0, 0))):
        for shape in shapes:
            small = np.full(shape[:-2], 1e-6)
            yield case(rng.standard_normal(shape), small, hermitian=hermitian_, dtypes="float64 float32")
            yield case(_complex(rng, shape), small, hermitian=hermitian_)
    rank_one = np.outer(np.arange(1.0, 4.0), np.arange(1.0, 3.0))[None]
    yield case(rank_one, np.full(1, 1e-4), hermitian=False, dtypes="float64 float32", differentiable=False)
    yield bad(np.eye(2), np.zeros(3), hermitian=False, error=ValueError, match="pinv: `rcond` is not one number for each matrix")
