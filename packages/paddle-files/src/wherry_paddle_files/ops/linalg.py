"""Linear algebra: factorizations, systems of equations, eigenvalues and singular values."""
import wherry_tensor as api
from wherry_paddle_files.column import paddle, reads, writes
from wherry_tensor import ops
from wherry_tensor.functions import factorization
from wherry_tensor.sizes import Size

paddle.exempt(ops.matrix_exp, "Paddle has no operator for it, and how often a matrix is squared depends on its values")


@writes(ops.cholesky)
def write_cholesky(w, x, *, upper):
    return w("cholesky", {"X": x}, {"upper": upper})


@reads("cholesky")
def read_cholesky(o):
    return ops.cholesky(o.x("X"), upper=o.flag("upper"))


@reads("cholesky_solve")
def read_cholesky_solve(o):
    return factorization.cholesky_solve(o.x("X"), o.x("Y"), o.flag("upper"))


@writes(ops.lu)
def write_lu(w, x):
    outer = x.shape[:-2]
    least = min(x.shape[-2:])  # -1 where one is not known
    factors, pivots, info = w("lu", {"X": x}, {"pivots": True}, ("Out", "Pivots", "Infos"), dtype=[x.dtype, "int32", "int32"])
    pivots.shape, info.shape = (*outer, least), outer or (1,)
    return factors, pivots, info if outer else w.reshape(info, ())


@reads("lu")
def read_lu(o):
    if not o.flag("pivots", True):
        raise o.bad("it exchanges no rows", "pivots")
    factors, pivots, info = ops.lu(o.x("X"))
    return {"Out": factors, "Pivots": pivots, "Infos": info if info.ndim else api.reshape(info, [1])}


@writes(ops.pivots_to_permutation)
def write_pivots_to_permutation(w, pivots, *, rows):
    """Which column of the matrix of exchanges holds the one of each row, counted from the other side."""
    given = w.outs[0].made_by.inputs[0]
    sizes = [Size("axis", given, axis) if n < 0 else n for axis, n in enumerate(pivots.shape)]
    matrix = w.constant(0.0, "float32", (*sizes[:-1], rows, sizes[-1]))
    outs, attrs = ("~L", "Pmat", "~U"), {"unpack_ludata": False, "unpack_pivots": True}
    exchanges = w("lu_unpack", {"X": matrix, "Pivots": pivots}, attrs, outs, dtype="float32", shape=(*pivots.shape[:-1], *matrix.shape[-2:-1] * 2))
    attrs = {"axis": -2, "keepdims": False, "flatten": False, "dtype": 3}
    return w.cast(w("arg_max", {"X": exchanges}, attrs, dtype="int64", shape=exchanges.shape[:-1]), "int32")


@reads("lu_unpack")
def read_lu_unpack(o):
    exchanges, lower, upper = factorization.lu_unpack(o.x("X"), o.x("Pivots"), o.flag("unpack_ludata", True), o.flag("unpack_pivots", True))
    return {"Pmat": exchanges, "L": lower, "U": upper}


@writes(ops.solve)
def write_solve(w, x, y):
    return w("solve", {"X": x, "Y": y}, shape=y.shape)


@reads("solve")
def read_solve(o):
    return factorization.solve(o.x("X"), o.x("Y"))


@writes(ops.triangular_solve)
def write_triangular_solve(w, x, y, *, upper, transpose, unitriangular):
    attrs = {"upper": upper, "transpose": transpose, "unitriangular": unitriangular}
    return w("triangular_solve", {"X": x, "Y": y}, attrs, shape=y.shape)


@reads("triangular_solve")
def read_triangular_solve(o):
    return factorization.triangular_solve(o.x("X"), o.x("Y"), o.flag("upper", True), o.flag("transpose"), o.flag("unitriangular"))


@writes(ops.inverse)
def write_inverse(w, x):
    return w("inverse", {"Input": x}, {}, "Output")


@reads("inverse", out="Output")
def read_inverse(o):
    return ops.inverse(o.x("Input"))


@writes(ops.qr)
def write_qr(w, x, *, complete):
    rows, columns = x.shape[-2:]
    least = rows if complete else min(rows, columns)
    q, r = w("qr", {"X": x}, {"mode": "complete" if complete else "reduced"}, ("Q", "R"))
    q.shape, r.shape = (*x.shape[:-1], least), (*x.shape[:-2], least, columns)
    return q, r


@reads("qr")
def read_qr(o):
    mode = o.text("mode", "reduced")
    q, r = ops.qr(o.x("X"), complete=mode == "complete")
    return {"Q": None if mode == "r" else q, "R": r}


@writes(ops.svd)
def write_svd(w, x, *, full_matrices):
    u, s, vh = w("svd", {"X": x}, {"full_matrices": full_matrices}, ("U", "S", "VH"))
    s.dtype = _REAL.get(x.dtype, x.dtype)
    return u, s, vh


@reads("svd")
def read_svd(o):
    u, s, vh = ops.svd(o.x("X"), full_matrices=o.flag("full_matrices"))
    return {"U": u, "S": s, "VH": vh}


@writes(ops.eigh)
def write_eigh(w, x, *, upper):
    kinds = [_REAL.get(x.dtype, x.dtype), x.dtype]
    return w("eigh", {"X": x}, {"UPLO": "U" if upper else "L"}, ("Eigenvalues", "Eigenvectors"), dtype=kinds)


@reads("eigh")
def read_eigh(o):
    values, vectors = ops.eigh(o.x("X"), upper=o.text("UPLO", "L") == "U")
    return {"Eigenvalues": values, "Eigenvectors": vectors}


@writes(ops.eigvalsh)
def write_eigvalsh(w, x, *, upper):
    attrs = {"UPLO": "U" if upper else "L", "is_test": True}
    return w("eigvalsh", {"X": x}, attrs, ("Eigenvalues", "~Eigenvectors"), dtype=[_REAL.get(x.dtype, x.dtype), x.dtype])


@reads("eigvalsh", out="Eigenvalues")
def read_eigvalsh(o):
    return ops.eigvalsh(o.x("X"), upper=o.text("UPLO", "L") == "U")


@writes(ops.eig)
def write_eig(w, x):
    return w("eig", {"X": x}, {}, ("Eigenvalues", "Eigenvectors"), dtype=_COMPLEX.get(x.dtype, x.dtype))


@reads("eig")
def read_eig(o):
    values, vectors = ops.eig(o.x("X"))
    return {"Eigenvalues": values, "Eigenvectors": vectors}


@writes(ops.eigvals)
def write_eigvals(w, x):
    return w("eigvals", {"X": x}, dtype=_COMPLEX.get(x.dtype, x.dtype))


@reads("eigvals")
def read_eigvals(o):
    return ops.eigvals(o.x("X"))


@writes(ops.det)
def write_det(w, x):
    return w("determinant", {"Input": x})


@reads("determinant")
def read_det(o):
    return ops.det(o.x("Input"))


@writes(ops.slogdet)
def write_slogdet(w, x):
    if x.dtype not in _COMPLEX:
        return NotImplemented  # Paddle's operator takes real numbers alone
    both = w("slogdeterminant", {"Input": x}, shape=(2, *x.shape[:-2]))
    return tuple(w("unstack", {"X": both}, {"axis": 0, "num": 2}, "Y*2", shape=x.shape[:-2]))


@reads("slogdeterminant")
def read_slogdet(o):
    return factorization.slogdet(o.x("Input"))


@reads("matrix_power")
def read_matrix_power(o):
    return factorization.matrix_power(o.x("X"), o.integer("n"))


@reads("matrix_rank")
def read_matrix_rank(o):
    least = o.maybe("TolTensor")
    if least is None and not o.flag("use_default_tol", True):
        least = o.number("tol")
    return factorization.matrix_rank(o.x("X"), least, o.flag("hermitian"))


@reads("lstsq")
def read_lstsq(o):
    driver = o.text("driver", "gelsy")
    solution, residuals, rank, values = factorization.lstsq(o.x("X"), o.x("Y"), o.number("rcond"), driver)
    return {"Solution": solution, "Residuals": residuals, "Rank": rank, "SingularValues": values}


reads("multi_dot")(lambda o: api.multi_dot(o.xs("X")))
reads("renorm")(lambda o: api.renorm(o.x("X"), o.number("p"), o.integer("axis"), o.number("max_norm")))

_REAL = {"complex64": "float32", "complex128": "float64"}
_COMPLEX = {"float32": "complex64", "float64": "complex128"}
