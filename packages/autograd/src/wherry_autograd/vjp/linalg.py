"""Gradient rules for factorizations, systems of equations, eigenvalues and singular values.

Derivations: Giles, "Collected Matrix Derivative Results for Forward and Reverse Mode Algorithmic Differentiation" (2008);
Golub & Pereyra (1973) for the pseudoinverse; Wan & Zhang, "Automatic Differentiation for Complex Valued SVD" (2019). They
are extended here to batches, complex numbers and matrices that are not square.

Where eigenvalues or singular values coincide, or a factor loses its rank, the derivative of some results does not exist. A
rule then looks at the numbers, where there are any (not in a captured program), and raises instead of giving infinity.
"""
from wherry_autograd.rules import not_differentiable, vjp
from wherry_tensor import ops
from wherry_tensor._core import complex64, float32, is_symbolic
from wherry_tensor.errors import InvalidArgumentError, PreconditionNotMetError

not_differentiable(ops.pivots_to_permutation, "an order of rows")


# Matrices.


def transposed(x):
    rank = x.ndim
    return ops.transpose(x, perm=(*range(rank - 2), rank - 1, rank - 2))


def conjugate(x):
    return ops.conj(x) if x.dtype.is_complex else x


def adjoint(x):
    return conjugate(transposed(x))


def product(x, y):
    return ops.matmul(x, y, transpose_x=False, transpose_y=False)


def _diagonal(x):
    return ops.diagonal(x, offset=0, axis1=x.ndim - 2, axis2=x.ndim - 1)


def _row(x):
    """[..., n] as [..., 1, n]: what scales the columns of a matrix."""
    return ops.unsqueeze(x, axes=(x.ndim - 1,))


def _column(x):
    """[..., n] as [..., n, 1]: what scales the rows of a matrix, or fills them."""
    return ops.unsqueeze(x, axes=(x.ndim,))


def _like(x, matrix):
    """`x` in the dtype of `matrix`, of which it may be the real counterpart."""
    return x if x.dtype == matrix.dtype else ops.cast(x, dtype=matrix.dtype)


def _on_diagonal(x, matrix):
    """The diagonal of a square matrix with the values x [..., n] on it, elsewhere 0."""
    return _like(_column(x), matrix) * _identity(matrix)


def _identity(matrix):
    """1 on the diagonal of a matrix with the shape of this one, elsewhere 0."""
    return ops.triu(ops.tril(ops.full_like(matrix, value=1, dtype=matrix.dtype), diagonal=0), diagonal=0)


def _zeros(x):
    return ops.full_like(x, value=0, dtype=x.dtype)


def _ones(x):
    return ops.full_like(x, value=1, dtype=x.dtype)


def _columns(x, start, stop):
    return ops.slice(x, axes=(x.ndim - 1,), starts=(start,), ends=(stop,), steps=(1,))


def _rows(x, start, stop):
    return ops.slice(x, axes=(x.ndim - 2,), starts=(start,), ends=(stop,), steps=(1,))


def _half_diagonal(x):
    """The lower triangle with half of the diagonal."""
    return (ops.tril(x, diagonal=0) + ops.tril(x, diagonal=-1)) * 0.5


def _hermitian(x):
    return (x + adjoint(x)) * 0.5


def _holds(condition):
    """Whether a condition holds anywhere; unknown, so False, in a captured program."""
    if is_symbolic(condition) or not condition.size:
        return False
    return bool(ops.reduce_any(condition, axes=tuple(range(condition.ndim)), keepdim=False).item())


def _epsilon(x):
    """What counts as equal beside 1, for a chain of roundings."""
    return 1e-5 if x.dtype in (float32, complex64) else 1e-10


def _largest(x):
    """The largest of each row of non-negative values, with its axis; 1 where all are 0."""
    most = ops.reduce_max(x, axes=(x.ndim - 1,), keepdim=True)
    return ops.where(ops.equal(most, _zeros(most)), _ones(most), most)


# Systems of equations.


def _triangular(x, y, upper, transpose=False, unitriangular=False):
    return ops.triangular_solve(x, y, upper=upper, transpose=transpose, unitriangular=unitriangular)


@vjp.rule(ops.cholesky)
def vjp_cholesky(ct, out, _x, *, upper):
    factor, ct = (adjoint(out), adjoint(ct)) if upper else (out, ct)
    middle = _hermitian(_half_diagonal(product(adjoint(factor), ct)))
    # L^-H middle L^-1, whose factors are solved for one after the other.
    turned = adjoint(factor)
    left = _triangular(turned, middle, upper=True)
    return (_hermitian(adjoint(_triangular(turned, adjoint(left), upper=True))),)


@vjp.rule(ops.solve)
def vjp_solve(ct, out, x, _y, *, needs):
    y_ct = ops.solve(adjoint(x), ct)
    return (-product(y_ct, adjoint(out)) if needs[0] else None), y_ct


@vjp.rule(ops.inverse)
def vjp_inverse(ct, out, _x):
    turned = adjoint(out)
    return (-product(product(turned, ct), turned),)


@vjp.rule(ops.triangular_solve)
def vjp_triangular_solve(ct, out, x, _y, *, upper, transpose, unitriangular, needs):
    y_ct = _triangular(conjugate(x), ct, upper, not transpose, unitriangular)
    if not needs[0]:
        return None, y_ct
    whole = -product(conjugate(out), transposed(y_ct)) if transpose else -product(y_ct, adjoint(out))
    kept = ops.triu(whole, diagonal=int(unitriangular)) if upper else ops.tril(whole, diagonal=-int(unitriangular))
    return kept, y_ct


@vjp.rule(ops.lu, keep_outputs=("lu", "pivots"))
def vjp_lu(ct, out, x):
    factors, pivots, _ = out
    ct = ct[0]
    if ct is None:
        return (None,)
    m, n = x.shape[-2:]
    k = min(m, n)
    if k == 0:
        return (_zeros(x),)
    _require_full_rank("lu", ops.abs(_diagonal(factors)))
    square = _rows(_columns(factors, 0, k), 0, k)
    lower = ops.tril(square, diagonal=-1) + _identity(square)
    upper = ops.triu(square, diagonal=0)
    square_ct = _rows(_columns(ct, 0, k), 0, k)
    lower_ct, upper_ct = ops.tril(square_ct, diagonal=-1), ops.triu(square_ct, diagonal=0)
    beside = below = None
    if n > k:  # the columns on the right are L^-1 times those of x
        beside = _triangular(adjoint(lower), _columns(ct, k, n), upper=True, unitriangular=True)
        lower_ct = lower_ct - product(beside, adjoint(_columns(factors, k, n)))
    if m > k:  # the rows below are those of x times U^-1
        below = adjoint(_triangular(upper, adjoint(_rows(ct, k, m)), upper=True))
        upper_ct = upper_ct - product(adjoint(_rows(factors, k, m)), below)
    middle = ops.tril(product(adjoint(lower), lower_ct), diagonal=-1) + ops.triu(product(upper_ct, adjoint(upper)), diagonal=0)
    left = _triangular(adjoint(lower), middle, upper=True, unitriangular=True)
    whole = adjoint(_triangular(upper, adjoint(left), upper=True))
    if beside is not None:
        whole = ops.concat(whole, beside, axis=whole.ndim - 1)
    if below is not None:
        whole = ops.concat(whole, below, axis=whole.ndim - 2)
    # Row i of the factors was row order[i] of x.
    order = ops.pivots_to_permutation(pivots, rows=m)
    moved = ops.cast(ops.one_hot(order, num_classes=m), dtype=x.dtype)
    return (ops.matmul(moved, whole, transpose_x=True, transpose_y=False),)


def _require_full_rank(op_name, sizes):
    if _holds(ops.equal(sizes, _zeros(sizes))):
        raise PreconditionNotMetError(
            f"{op_name}: the gradient is not defined where the matrix loses rank. Got a 0 on the diagonal of the triangular "
            f"factor, expected none. Use pinv or svd, or add a small multiple of the identity."
        )


# Determinants.


@vjp.rule(ops.det)
def vjp_det(ct, out, x):
    if x.shape[-1] == 0:
        return (_zeros(x),)
    if _holds(ops.equal(out, _zeros(out))):
        return (_column(_column(ct)) * conjugate(_cofactors(x)),)
    return (_column(_column(ct * conjugate(out))) * adjoint(ops.inverse(x)),)


def _cofactors(x):
    """The derivative of the determinant, also where that is 0: det(U V^H) U prod(other singular values) V^H, conjugated."""
    u, s, vh = ops.svd(x, full_matrices=False)
    others = []
    for i in range(s.shape[-1]):
        rest = [_columns(s, j, j + 1) for j in range(s.shape[-1]) if j != i]
        value = _ones(_columns(s, i, i + 1))
        for one in rest:
            value = value * one
        others.append(value)
    scaled = product(u * _like(_row(ops.concat(*others, axis=s.ndim - 1)), u), vh)
    phase = ops.det(product(u, vh))
    return conjugate(scaled) * _column(_column(phase))


@vjp.rule(ops.slogdet, keep_outputs=("sign",))
def vjp_slogdet(ct, out, x):
    sign_ct, log_ct = ct
    sign = out[0]
    if x.shape[-1] == 0:
        return (_zeros(x),)
    if _holds(ops.equal(sign, _zeros(sign))):
        raise PreconditionNotMetError(
            "slogdet: the gradient is not defined where a matrix is singular. Got a determinant of 0, whose logarithm is "
            "-inf, expected another one. Use det there."
        )
    factor = None if log_ct is None else _like(log_ct, x)
    if sign_ct is not None and x.dtype.is_complex:  # the sign turns with the imaginary part of tr(x^-1 dx)
        turning = ops.imag(ops.conj(sign_ct) * sign)
        along = ops.complex(_zeros(turning), -turning)
        factor = along if factor is None else factor + along
    if factor is None:
        return (None,)
    return (_column(_column(factor)) * adjoint(ops.inverse(x)),)


# QR.


@vjp.rule(ops.qr)
def vjp_qr(ct, out, x, *, complete):
    q_ct, r_ct = ct
    q, r = out
    m, n = x.shape[-2:]
    if 0 in (m, n):
        return (_zeros(x),)
    if complete and m > n:
        raise InvalidArgumentError(
            f"qr: the gradient of mode='complete' is not defined for more rows than columns: the columns of q beyond those of "
            f"x are any basis. Got x of shape {x.shape}, expected at most as many rows as columns. Use mode='reduced'."
        )
    _require_full_rank("qr", ops.abs(_diagonal(r)))
    q_ct = _zeros(q) if q_ct is None else q_ct
    r_ct = _zeros(r) if r_ct is None else r_ct
    if m >= n:
        return (_qr_ct(q, r, q_ct, r_ct),)
    # x = [a, b] and r = [s, q^H b]: q has what comes through b too.
    right = _columns(x, m, n)
    right_ct = _columns(r_ct, m, n)
    q_ct = q_ct + product(right, adjoint(right_ct))
    left_ct = _qr_ct(q, _columns(r, 0, m), q_ct, _columns(r_ct, 0, m))
    return (ops.concat(left_ct, product(q, right_ct), axis=x.ndim - 1),)


def _qr_ct(q, r, q_ct, r_ct):
    # The diagonal of r stays real in what LAPACK's reflections give, so the imaginary part there has no say.
    middle = ops.triu(product(r_ct, adjoint(r)) - product(adjoint(q), q_ct), diagonal=0)
    strict = ops.triu(middle, diagonal=1)
    diagonal = _on_diagonal(ops.real(_diagonal(middle)) if middle.dtype.is_complex else _diagonal(middle), middle)
    whole = q_ct + product(q, strict + adjoint(strict) + diagonal)
    return adjoint(_triangular(r, adjoint(whole), upper=True))


# Eigenvalues and singular values.


def _differences(values, op_name, numerator, across, names):
    """numerator[i, j] / (values[j] - values[i]), and 0 on the diagonal and where values coincide.

    Raises where values coincide and `across[i, j]` is not 0, the part of vector i in the cotangent of vector j: either there
    is no derivative, or it is the limit of a quotient whose terms are both 0 here.
    """
    gap = _row(values) - _column(values)
    scale = ops.unsqueeze(_largest(ops.abs(values)), axes=(values.ndim,))
    off_diagonal = 1 - _identity(gap)
    close = ops.less_equal(ops.abs(gap), scale * _epsilon(scale) * 1e-2)
    numerator = numerator * _like(off_diagonal, numerator)
    sizes = ops.abs(across * _like(off_diagonal, across))
    if not is_symbolic(sizes) and sizes.size:
        largest = ops.reduce_max(sizes, axes=tuple(range(sizes.ndim)), keepdim=True)
        lost = ops.logical_and(close, ops.greater_than(sizes, largest * 1e-3))
        if _holds(ops.logical_and(lost, ops.greater_than(sizes, _ones(sizes) * _epsilon(sizes)))):
            raise PreconditionNotMetError(
                f"{op_name}: the gradient is not defined where {names} coincide. Got equal ones, and a loss that depends on their "
                f"vectors, expected distinct ones. Use the values alone, or add something that tells them apart."
            )
    safe = ops.where(close, _ones(gap), gap)
    quotient = numerator / _like(safe, numerator)
    return ops.where(close, _zeros(quotient), quotient)


@vjp.rule(ops.eigh)
def vjp_eigh(ct, out, _x, *, upper):
    w_ct, v_ct = ct
    w, v = out
    if w_ct is None and v_ct is None:
        return (None,)
    turned = adjoint(v)
    inner = None
    if v_ct is not None:
        across = product(turned, v_ct)
        inner = _differences(w, "eigh", across, across, "eigenvalues")
    if w_ct is not None:
        diagonal = _on_diagonal(w_ct, v)
        inner = diagonal if inner is None else inner + diagonal
    return (_hermitian(product(product(v, inner), turned)),)


@vjp.rule(ops.eigvalsh)
def vjp_eigvalsh(ct, _out, x, *, upper):
    v = ops.eigh(x, upper=upper)[1]
    return (product(v * _like(_row(ct), v), adjoint(v)),)


@vjp.rule(ops.eig)
def vjp_eig(ct, out, _x):
    w_ct, v_ct = ct
    w, v = out
    if w_ct is None and v_ct is None:
        return (None,)
    turned = adjoint(v)
    inner = None
    if v_ct is not None:
        across = product(turned, v_ct)
        lengths = ops.real(_diagonal(across))  # vectors have length 1: what would change that is taken away
        across = across - product(turned, v) * _like(_row(lengths), v)
        inner = _differences(ops.conj(w), "eig", across, across, "eigenvalues")
    if w_ct is not None:
        diagonal = _on_diagonal(w_ct, v)
        inner = diagonal if inner is None else inner + diagonal
    whole = ops.solve(turned, product(inner, turned))
    return (whole if _x.dtype.is_complex else ops.real(whole),)


@vjp.rule(ops.eigvals)
def vjp_eigvals(ct, out, x):
    if x.shape[-1] == 0:
        return (_zeros(x),)
    w, v = ops.eig(x)
    # The order of eigenvalues depends on how they were computed: with vectors or without, of x or of what x is turned into.
    place = ops.argmin(ops.abs(_column(w) - _row(out)), axis=out.ndim, keepdim=False)
    ct = ops.take_along_axis(ct, place, axis=out.ndim - 1)
    turned = adjoint(v)
    whole = ops.solve(turned, _like(_column(ct), turned) * turned)
    return (whole if x.dtype.is_complex else ops.real(whole),)


@vjp.rule(ops.svd)
def vjp_svd(ct, out, x, *, full_matrices):
    u_ct, s_ct, vh_ct = ct
    u, s, vh = out
    m, n = x.shape[-2:]
    k = min(m, n)
    if k == 0:
        return (_zeros(x),)
    if full_matrices:
        _require_no_ct(None if u_ct is None or m <= k else _columns(u_ct, k, m), "u")
        _require_no_ct(None if vh_ct is None or n <= k else _rows(vh_ct, k, n), "vh")
        u, vh = _columns(u, 0, k), _rows(vh, 0, k)
        u_ct = None if u_ct is None else _columns(u_ct, 0, k)
        vh_ct = None if vh_ct is None else _rows(vh_ct, 0, k)
    v = adjoint(vh)
    inner = None if s_ct is None else _on_diagonal(s_ct, product(vh, v))
    if u_ct is None and vh_ct is None:
        return (None if inner is None else product(product(u, inner), vh),)
    _require_full_rank("svd", s)
    inverse = 1 / s
    square = s * s
    for vectors, given, rows_first in (u, u_ct, False), (v, None if vh_ct is None else adjoint(vh_ct), True):
        if given is None:
            continue
        across = product(adjoint(vectors), given)
        skew = _differences(square, "svd", across - adjoint(across), across, "singular values")
        part = _like(_column(s), u) * skew if rows_first else skew * _like(_row(s), u)
        if not rows_first and u.dtype.is_complex:  # the phase that u and v share turns both
            turning = ops.imag(_diagonal(across)) * inverse
            part = part + _column(ops.complex(_zeros(turning), turning)) * _identity(part)
        inner = part if inner is None else inner + part
    whole = product(u, inner)
    if u_ct is not None and m > k:
        whole = whole + (u_ct - product(u, product(adjoint(u), u_ct))) * _like(_row(inverse), u)
    whole = product(whole, vh)
    if vh_ct is not None and n > k:
        outside = vh_ct - product(product(vh_ct, v), vh)
        whole = whole + product(u * _like(_row(inverse), u), outside)
    return (whole,)


def _require_no_ct(ct, name):
    if ct is not None and _holds(ops.not_equal(ct, _zeros(ct))):
        raise InvalidArgumentError(
            f"svd: the gradient of the additional vectors of full_matrices=True is not defined: they are any basis of what is "
            f"left. Got a loss that depends on those of {name}, expected one of the others alone. Use full_matrices=False."
        )


@vjp.rule(ops.pinv)
def vjp_pinv(ct, out, x, _rcond, *, hermitian):
    if 0 in x.shape[-2:]:
        return _zeros(x), None
    turned, ct_turned = adjoint(out), adjoint(ct)
    # x P projects on what x reaches: its trace is the rank.
    projected = _diagonal(product(x, out))
    projected = ops.real(projected) if x.dtype.is_complex else projected
    rank = ops.reduce_sum(projected, axes=(x.ndim - 2,), keepdim=False)
    if _holds(ops.less_than(rank, _ones(rank) * (min(x.shape[-2:]) - 0.5))):
        raise PreconditionNotMetError(
            f"pinv: the gradient is not defined where the matrix loses rank: the inverse is not continuous there. Got x of shape "
            f"{x.shape} with a rank below {min(x.shape[-2:])}, expected the full one. Add a small multiple of the identity."
        )
    whole = -product(product(turned, ct), turned)
    beside = ct_turned - product(x, product(out, ct_turned))  # (I - x P) ct^H
    whole = whole + product(beside, product(out, turned))
    below = ct_turned - product(product(ct_turned, out), x)  # ct^H (I - P x)
    whole = whole + product(product(turned, out), below)
    return (_hermitian(whole) if hermitian else whole), None


@vjp.rule(ops.matrix_exp)
def vjp_matrix_exp(ct, _out, x):
    # exp of [[x^H, ct], [0, x^H]] has the derivative of exp at x^H along ct in its corner.
    turned = adjoint(x)
    n = x.shape[-1]
    above = ops.concat(turned, ct, axis=x.ndim - 1)
    below = ops.concat(_zeros(turned), turned, axis=x.ndim - 1)
    return (_columns(_rows(ops.matrix_exp(ops.concat(above, below, axis=x.ndim - 2)), 0, n), n, 2 * n),)
