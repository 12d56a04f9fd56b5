"""Factorizations of matrices, systems of equations, eigenvalues and singular values.

Matrices are the last two axes, whatever stands before them is a batch; two inputs of one op have equal batches. `^H` is
the conjugate transpose. The factors that a choice of signs or phases leaves open (eigenvectors, singular vectors) are
those of the kernel that computes them.
"""
from wherry_tensor import ops
from wherry_tensor._core import complex64, complex128, float32, float64, int32, int64
from wherry_tensor.ops.declare import Meta, decompose, infer, op
from wherry_tensor.ops.shapes import (
    UNKNOWN,
    complex_dtype,
    is_known,
    merge_shapes,
    merge_size,
    real_dtype,
    require_dtype,
    require_one_dtype,
    require_sizes,
    same_shape,
    same_size,
    show,
)

# A = L L^H, or U^H U with `upper`; only that half of x is read.
cholesky = op("cholesky", "x", upper=bool)
# A = P L U: both factors in one matrix, the rows that were exchanged (from 1 on), the first pivot that is 0 (from 1 on).
lu = op("lu", "x", outputs="lu, pivots, info")
# The order in which the exchanges of `lu` leave rows 0 .. rows-1: row i of L U is row out[i] of A.
pivots_to_permutation = op("pivots_to_permutation", "pivots", rows=int, sizes="rows")
solve = op("solve", "x, y")  # x [..., n, n], y [..., n, k]: the z of x z = y
inverse = op("inverse", "x")
# As solve, for a triangle: the other half of x is not read, nor its diagonal with `unitriangular`.
triangular_solve = op("triangular_solve", "x, y", upper=bool, transpose=bool, unitriangular=bool)
# x [m, n] = q r; q is [m, min(m, n)], or [m, m] with `complete`.
qr = op("qr", "x", complete=bool, outputs="q, r")
# x = u diag(s) vh; singular values descend. Square u and vh with `full_matrices`.
svd = op("svd", "x", full_matrices=bool, outputs="u, s, vh")
# Hermitian: x = v diag(w) v^H, w ascends; only the lower half of x is read, or the upper one.
eigh = op("eigh", "x", upper=bool, outputs="w, v")
eigvalsh = op("eigvalsh", "x", upper=bool)
eig = op("eig", "x", outputs="w, v")  # x v = v diag(w), complex, of no particular order
eigvals = op("eigvals", "x")
matrix_exp = op("matrix_exp", "x")

# Compound.
det = op("det", "x")
slogdet = op("slogdet", "x", outputs="sign, logabsdet")
# Moore-Penrose inverse; singular values up to rcond [...] times the largest count as 0.
pinv = op("pinv", "x, rcond", hermitian=bool)

_REAL, _NUMBERS = (float32, float64), (complex64, complex128, float32, float64)


# Shape rules.


def _matrix(op_name, x, name="x", square=False):
    """Refuse all but matrices of floating numbers; returns (batch, rows, columns)."""
    require_dtype(op_name, name, x.dtype, _NUMBERS)
    if len(x.shape) < 2:
        raise ValueError(
            f"{op_name}: `{name}` is not a matrix. Got shape {show(x.shape)}, expected [..., m, n]. Add axes with unsqueeze."
        )
    *batch, rows, columns = x.shape
    if square:
        if not same_size(rows, columns):
            raise ValueError(
                f"{op_name}: `{name}` is not square. Got shape {show(x.shape)}, expected [..., n, n]. "
                f"For other matrices there are svd, qr, pinv and lstsq."
            )
        rows = columns = merge_size(rows, columns)
    return tuple(batch), rows, columns


def _least(a, b):
    if 0 in (a, b):
        return 0
    return UNKNOWN if UNKNOWN in (a, b) else min(a, b)


def _real(dtype):
    return real_dtype.get(dtype, dtype)


def _complex(dtype):
    return complex_dtype.get(dtype, dtype)


def _infer_square(op_name, x):
    batch, n, _ = _matrix(op_name, x, square=True)
    return Meta((*batch, n, n), x.dtype)


@infer.rule(cholesky)
def infer_cholesky(x, *, upper):
    return _infer_square("cholesky", x)


@infer.rule(inverse)
def infer_inverse(x):
    return _infer_square("inverse", x)


@infer.rule(matrix_exp)
def infer_matrix_exp(x):
    return _infer_square("matrix_exp", x)


@infer.rule(lu)
def infer_lu(x):
    batch, rows, columns = _matrix("lu", x)
    return x, Meta((*batch, _least(rows, columns)), int32), Meta(batch, int32)


@infer.rule(pivots_to_permutation)
def infer_pivots_to_permutation(pivots, *, rows):
    require_dtype("pivots_to_permutation", "pivots", pivots.dtype, (int32,))
    if not pivots.shape:
        raise ValueError(
            "pivots_to_permutation: `pivots` is 0-d. Got shape [], expected [..., n]. Pass the pivots that lu gave."
        )
    return Meta((*pivots.shape[:-1], *require_sizes("pivots_to_permutation", (rows,))), int32)


def _infer_system(op_name, x, y):
    require_one_dtype(op_name, x=x.dtype, y=y.dtype)
    batch, n, _ = _matrix(op_name, x, square=True)
    other, rows, columns = _matrix(op_name, y, "y")
    if not same_size(n, rows) or not same_shape(batch, other):
        raise ValueError(
            f"{op_name}: `y` does not fit `x`. Got x of shape {show(x.shape)} and y of shape {show(y.shape)}, expected "
            f"[..., n, n] and [..., n, k] with equal batches. Transpose y, or broadcast the batches."
        )
    return Meta((*merge_shapes(batch, other), merge_size(n, rows), columns), x.dtype)


@infer.rule(solve)
def infer_solve(x, y):
    return _infer_system("solve", x, y)


@infer.rule(triangular_solve)
def infer_triangular_solve(x, y, *, upper, transpose, unitriangular):
    return _infer_system("triangular_solve", x, y)


@infer.rule(qr)
def infer_qr(x, *, complete):
    batch, rows, columns = _matrix("qr", x)
    middle = rows if complete else _least(rows, columns)
    return Meta((*batch, rows, middle), x.dtype), Meta((*batch, middle, columns), x.dtype)


@infer.rule(svd)
def infer_svd(x, *, full_matrices):
    batch, rows, columns = _matrix("svd", x)
    least = _least(rows, columns)
    u, vh = (rows, columns) if full_matrices else (least, least)
    return Meta((*batch, rows, u), x.dtype), Meta((*batch, least), _real(x.dtype)), Meta((*batch, vh, columns), x.dtype)


@infer.rule(eigh)
def infer_eigh(x, *, upper):
    batch, n, _ = _matrix("eigh", x, square=True)
    return Meta((*batch, n), _real(x.dtype)), Meta((*batch, n, n), x.dtype)


@infer.rule(eigvalsh)
def infer_eigvalsh(x, *, upper):
    batch, n, _ = _matrix("eigvalsh", x, square=True)
    return Meta((*batch, n), _real(x.dtype))


@infer.rule(eig)
def infer_eig(x):
    batch, n, _ = _matrix("eig", x, square=True)
    return Meta((*batch, n), _complex(x.dtype)), Meta((*batch, n, n), _complex(x.dtype))


@infer.rule(eigvals)
def infer_eigvals(x):
    batch, n, _ = _matrix("eigvals", x, square=True)
    return Meta((*batch, n), _complex(x.dtype))


@infer.rule(det)
def infer_det(x):
    batch, _, _ = _matrix("det", x, square=True)
    return Meta(batch, x.dtype)


@infer.rule(slogdet)
def infer_slogdet(x):
    batch, _, _ = _matrix("slogdet", x, square=True)
    return Meta(batch, x.dtype), Meta(batch, _real(x.dtype))


@infer.rule(pinv)
def infer_pinv(x, rcond, *, hermitian):
    batch, rows, columns = _matrix("pinv", x, square=hermitian)
    require_dtype("pinv", "rcond", rcond.dtype, (_real(x.dtype),))
    if not same_shape(batch, rcond.shape):
        raise ValueError(
            f"pinv: `rcond` is not one number for each matrix. Got shape {show(rcond.shape)} beside x of {show(x.shape)}, "
            f"expected {show(batch)}. Broadcast it."
        )
    return Meta((*batch, columns, rows), x.dtype)


# Decompositions.


def _parity(pivots):
    """1 where the exchanges are even in number, else -1; as floats of 64 bits."""
    n = pivots.shape[-1]
    places = ops.arange(start=1, step=1, length=n, dtype=int32)
    exchanged = ops.cast(ops.not_equal(pivots, places), int64)
    count = ops.reduce_sum(exchanged, axes=(pivots.ndim - 1,), keepdim=False)
    return 1 - 2 * ops.cast(ops.remainder(count, ops.full_like(count, value=2, dtype=int64)), float64)


@decompose.rule(det)
def decompose_det(x):
    factors, pivots, _ = lu(x)
    rank = x.ndim
    diagonal = ops.diagonal(factors, offset=0, axis1=rank - 2, axis2=rank - 1)
    return ops.reduce_prod(diagonal, axes=(rank - 2,), keepdim=False) * ops.cast(_parity(pivots), x.dtype)


@decompose.rule(slogdet)
def decompose_slogdet(x):
    factors, pivots, _ = lu(x)
    rank = x.ndim
    diagonal = ops.diagonal(factors, offset=0, axis1=rank - 2, axis2=rank - 1)
    sizes = ops.abs(diagonal)
    # A sum of logarithms does not overflow where the product of the diagonal would.
    signs = ops.sign(diagonal) if not x.dtype.is_complex else _phases(diagonal, sizes)
    sign = ops.reduce_prod(signs, axes=(rank - 2,), keepdim=False) * ops.cast(_parity(pivots), x.dtype)
    return sign, ops.reduce_sum(ops.log(sizes), axes=(rank - 2,), keepdim=False)


def _phases(z, sizes):
    zero = ops.equal(sizes, ops.full_like(sizes, value=0, dtype=sizes.dtype))
    safe = ops.where(zero, ops.full_like(sizes, value=1, dtype=sizes.dtype), sizes)
    return z / ops.cast(safe, z.dtype)


@decompose.rule(pinv)
def decompose_pinv(x, rcond, *, hermitian):
    rank = x.ndim
    if hermitian:
        values, vectors = eigh(x, upper=False)
        left, right, sizes = vectors, vectors, ops.abs(values)
        largest = ops.maximum(_first(sizes), _first(ops.flip(sizes, axes=(rank - 2,))))
    else:
        left, values, right = svd(x, full_matrices=False)
        sizes, largest = values, _first(values)
    kept = ops.greater_than(sizes, ops.unsqueeze(rcond, axes=(rank - 2,)) * largest)
    one = ops.full_like(values, value=1, dtype=values.dtype)
    inverted = ops.where(kept, one / ops.where(kept, values, one), one - one)
    # Vectors are columns of a hermitian factorization, rows of the other one; the product takes them as they lie.
    factors = ops.cast(ops.unsqueeze(inverted, axes=(rank - 2 if hermitian else rank - 1,)), x.dtype)
    if x.dtype.is_complex:
        left, right = ops.conj(left), right if hermitian else ops.conj(right)
    return ops.matmul(right * factors, left, transpose_x=not hermitian, transpose_y=True)


def _first(x):
    return ops.slice(x, axes=(x.ndim - 1,), starts=(0,), ends=(1,), steps=(1,))


@decompose.rule(eigvalsh)
def decompose_eigvalsh(x, *, upper):
    return eigh(x, upper=upper)[0]


@decompose.rule(eigvals)
def decompose_eigvals(x):
    rank = x.ndim  # in the order of Paddle, which hands LAPACK the rows as columns
    return eig(ops.transpose(x, perm=(*range(rank - 2), rank - 1, rank - 2)))[0]


@decompose.rule(inverse)
def decompose_inverse(x):
    rank, n = x.ndim, x.shape[-1]
    one = ops.eye(rows=n, columns=n, dtype=x.dtype)
    if rank > 2 or not is_known(x.shape):
        one = ops.broadcast_like(one, x)
    return solve(x, one)


for _op in (cholesky, lu, solve, qr, svd, eigh, eig):
    decompose.exempt(_op, "an elimination or iteration whose steps depend on sizes and values")
decompose.exempt(triangular_solve, "row after row: as many steps as there are rows")
decompose.exempt(pivots_to_permutation, "exchange after exchange: as many steps as there are pivots")
decompose.exempt(matrix_exp, "how often it halves and squares depends on values")
