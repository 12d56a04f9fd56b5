"""Stub of wherry.linalg, written by tools/stubs.py: where each public name comes from."""
from typing import Any
from typing import overload
from wherry_tensor._core import Tensor
from wherry import vecdot as vecdot
from wherry_tensor import addmm as addmm
from wherry_tensor import addmm_ as addmm_
from wherry_tensor import bmm as bmm
from wherry_tensor import cdist as cdist
from wherry_tensor import cholesky as cholesky
from wherry_tensor import cross as cross
from wherry_tensor import diagonal as diagonal
from wherry_tensor import dist as dist
from wherry_tensor import dot as dot
from wherry_tensor import eigvalsh as eigvalsh
from wherry_tensor import inner as inner
from wherry_tensor import inverse as inverse
from wherry_tensor import kron as kron
from wherry_tensor import matmul as matmul
from wherry_tensor import matrix_transpose as matrix_transpose
from wherry_tensor import mm as mm
from wherry_tensor import multi_dot as multi_dot
from wherry_tensor import mv as mv
from wherry_tensor import norm as norm
from wherry_tensor import outer as outer
from wherry_tensor import trace as trace
from wherry_tensor.functions.norms import lu_solve as lu_solve
@overload
def cholesky_inverse(x: Tensor, upper: bool = ..., name: str | None = ...) -> Tensor:
    """The inverse of a positive definite matrix, of which `x` is the Cholesky factor."""
@overload
def cholesky_inverse(input: Tensor, upper: bool = ..., name: str | None = ...) -> Tensor: ...
@overload
def cholesky_solve(x: Tensor, y: Tensor, upper: bool = ..., name: str | None = ...) -> Tensor:
    """The solution of `A z = x`, where `y` is the Cholesky factor of A."""
@overload
def cholesky_solve(input: Tensor, other: Tensor, upper: bool = ..., name: str | None = ...) -> Tensor: ...
@overload
def cond(x: Tensor, p: float | str | None = ..., name: str | None = ...) -> Tensor:
    """The condition number: the norm of a matrix times that of its inverse."""
@overload
def cond(input: Tensor, p: float | str | None = ..., name: str | None = ...) -> Tensor: ...
@overload
def corrcoef(x: Tensor, rowvar: bool = ..., name: str | None = ...) -> Tensor:
    """The correlation matrix (Pearson's) of variables, each of which is a row of observations."""
@overload
def corrcoef(input: Tensor, rowvar: bool = ..., name: str | None = ...) -> Tensor: ...
@overload
def cov(x: Tensor, rowvar: bool = ..., ddof: bool = ..., fweights: Tensor | None = ..., aweights: Tensor | None = ..., name: str | None = ...) -> Tensor:
    """The covariance matrix of variables, each of which is a row of observations."""
@overload
def cov(input: Tensor, rowvar: bool = ..., ddof: bool = ..., fweights: Tensor | None = ..., aweights: Tensor | None = ..., name: str | None = ...) -> Tensor: ...
@overload
def det(x: Tensor, name: str | None = ...) -> Tensor:
    """The determinant of square matrices."""
@overload
def det(input: Tensor, name: str | None = ...) -> Tensor: ...
@overload
def eig(x: Tensor, name: str | None = ...) -> tuple[Tensor, Tensor]:
    """Eigenvalues and eigenvectors of square matrices."""
@overload
def eig(input: Tensor, name: str | None = ...) -> tuple[Tensor, Tensor]: ...
@overload
def eigh(x: Tensor, UPLO: str = ..., name: str | None = ...) -> tuple[Tensor, Tensor]:
    """Eigenvalues and orthonormal eigenvectors of symmetric or Hermitian matrices."""
@overload
def eigh(input: Tensor, UPLO: str = ..., name: str | None = ...) -> tuple[Tensor, Tensor]: ...
@overload
def eigvals(x: Tensor, name: str | None = ...) -> Tensor:
    """Eigenvalues of square matrices, complex and in no particular order."""
@overload
def eigvals(input: Tensor, name: str | None = ...) -> Tensor: ...
@overload
def householder_product(x: Tensor, tau: Tensor, name: str | None = ...) -> Tensor:
    """The first columns of a product of Householder reflections `I - tau_i v_i v_i^H`."""
@overload
def householder_product(input: Tensor, tau: Tensor, name: str | None = ...) -> Tensor: ...
@overload
def inv(x: Tensor, name: str | None = ...) -> Tensor:
    """The inverse of square matrices."""
@overload
def inv(input: Tensor, name: str | None = ...) -> Tensor: ...
@overload
def lstsq(x: Tensor, y: Tensor, rcond: float | None = ..., driver: str | None = ..., name: str | None = ...) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Least squares: the `z` that minimizes the norm of `x z - y`; the shortest one where several do."""
@overload
def lstsq(input: Tensor, other: Tensor, rcond: float | None = ..., driver: str | None = ..., name: str | None = ...) -> tuple[Tensor, Tensor, Tensor, Tensor]: ...
@overload
def lu(x: Tensor, pivot: bool = ..., get_infos: bool = ..., name: str | None = ...) -> Any:
    """The LU factorization with row exchanges, both factors in one matrix."""
@overload
def lu(input: Tensor, pivot: bool = ..., get_infos: bool = ..., name: str | None = ...) -> Any: ...
@overload
def lu_unpack(x: Tensor, y: Tensor, unpack_ludata: bool = ..., unpack_pivots: bool = ..., name: str | None = ...) -> tuple[Tensor, Tensor, Tensor]:
    """The three matrices whose product was factorized by `lu`: `A = P L U`."""
@overload
def lu_unpack(input: Tensor, other: Tensor, unpack_ludata: bool = ..., unpack_pivots: bool = ..., name: str | None = ...) -> tuple[Tensor, Tensor, Tensor]: ...
@overload
def matrix_exp(x: Tensor, name: str | None = ...) -> Tensor:
    """The exponential of square matrices, `1 + x + x x / 2 + x x x / 6 + ...`."""
@overload
def matrix_exp(input: Tensor, name: str | None = ...) -> Tensor: ...
@overload
def matrix_norm(x: Tensor, p: Any = ..., axis: Any = ..., keepdim: bool = ..., name: str | None = ...) -> Tensor:
    """The norm of matrices along two axes."""
@overload
def matrix_norm(input: Tensor, p: Any = ..., dim: Any = ..., keepdim: bool = ..., name: str | None = ..., *, axis: Any = ...) -> Tensor: ...
@overload
def matrix_power(x: Tensor, n: int, name: str | None = ...) -> Tensor:
    """The product of `n` copies of a square matrix; of its inverse where `n` is negative."""
@overload
def matrix_power(input: Tensor, n: int, name: str | None = ...) -> Tensor: ...
@overload
def matrix_rank(x: Tensor, tol: float | Tensor | None = ..., hermitian: bool = ..., name: str | None = ..., *, atol: float | Tensor | None = ..., rtol: float | Tensor | None = ...) -> Tensor:
    """The rank of matrices: how many singular values are above a bound."""
@overload
def matrix_rank(input: Tensor, tol: float | Tensor | None = ..., hermitian: bool = ..., name: str | None = ..., *, atol: float | Tensor | None = ..., rtol: float | Tensor | None = ...) -> Tensor: ...
@overload
def ormqr(x: Tensor, tau: Tensor, y: Tensor, left: bool = ..., transpose: bool = ..., name: str | None = ...) -> Tensor:
    """The product of a matrix with the orthogonal one that Householder reflectors describe."""
@overload
def ormqr(input: Tensor, tau: Tensor, other: Tensor, left: bool = ..., transpose: bool = ..., name: str | None = ...) -> Tensor: ...
@overload
def pca_lowrank(x: Tensor, q: int | None = ..., center: bool = ..., niter: int = ..., name: str | None = ...) -> tuple[Tensor, Tensor, Tensor]:
    """Principal components: the `q` largest singular values of `x` and their vectors."""
@overload
def pca_lowrank(input: Tensor, q: int | None = ..., center: bool = ..., niter: int = ..., name: str | None = ...) -> tuple[Tensor, Tensor, Tensor]: ...
@overload
def pinv(x: Tensor, rcond: float | Tensor = ..., hermitian: bool = ..., name: str | None = ...) -> Tensor:
    """The Moore-Penrose inverse, which exists for every matrix."""
@overload
def pinv(input: Tensor, rcond: float | Tensor = ..., hermitian: bool = ..., name: str | None = ...) -> Tensor: ...
@overload
def qr(x: Tensor, mode: str = ..., name: str | None = ...) -> Any:
    """The QR factorization: `x = q r` with orthonormal columns in q and an upper triangle r."""
@overload
def qr(input: Tensor, mode: str = ..., name: str | None = ...) -> Any: ...
@overload
def slogdet(x: Tensor, name: str | None = ...) -> Tensor:
    """Sign of the determinant and logarithm of its absolute value, which overflows less easily than the determinant."""
@overload
def slogdet(input: Tensor, name: str | None = ..., *, out: Any = ...) -> Tensor: ...
@overload
def solve(x: Tensor, y: Tensor, name: str | None = ...) -> Tensor:
    """The solution of `x z = y`."""
@overload
def solve(input: Tensor, other: Tensor, name: str | None = ..., *, out: Any = ..., left: Any = ...) -> Tensor: ...
@overload
def svd(x: Tensor, full_matrices: bool = ..., name: str | None = ...) -> tuple[Tensor, Tensor, Tensor]:
    """The singular value decomposition `x = u diag(s) vh`."""
@overload
def svd(input: Tensor, full_matrices: bool = ..., name: str | None = ..., *, out: Any = ...) -> tuple[Tensor, Tensor, Tensor]: ...
@overload
def svd_lowrank(x: Tensor, q: int | None = ..., niter: int = ..., M: Tensor | None = ..., name: str | None = ...) -> tuple[Tensor, Tensor, Tensor]:
    """The largest singular values of a matrix and their vectors, by random projection."""
@overload
def svd_lowrank(input: Tensor, q: int | None = ..., niter: int = ..., M: Tensor | None = ..., name: str | None = ...) -> tuple[Tensor, Tensor, Tensor]: ...
@overload
def svdvals(x: Tensor, name: str | None = ...) -> Tensor:
    """The singular values of matrices, the largest first."""
@overload
def svdvals(input: Tensor, name: str | None = ...) -> Tensor: ...
@overload
def triangular_solve(x: Tensor, y: Tensor, upper: bool = ..., transpose: bool = ..., unitriangular: bool = ..., name: str | None = ...) -> Tensor:
    """The solution of `x z = y` for triangular `x`."""
@overload
def triangular_solve(input: Tensor, other: Tensor, upper: bool = ..., transpose: bool = ..., unitriangular: bool = ..., name: str | None = ...) -> Tensor: ...
@overload
def vector_norm(x: Tensor, p: float = ..., axis: Any = ..., keepdim: bool = ..., name: str | None = ..., *, dtype: Any = ...) -> Tensor:
    """The p-norm of vectors: of all elements, or along axes."""
@overload
def vector_norm(input: Tensor, p: float = ..., dim: Any = ..., keepdim: bool = ..., name: str | None = ..., *, axis: Any = ..., dtype: Any = ..., out: Any = ...) -> Tensor: ...
__all__: list[str]
