"""Linear algebra."""
from __future__ import annotations

from wherry_export.onnx.column import cannot, to_onnx
from wherry_tensor import ops

for _name in (
    "cholesky", "lu", "pivots_to_permutation", "solve", "triangular_solve", "qr", "svd", "eigh", "eig", "eigvals", "eigvalsh", "inverse",
    "matrix_exp", "slogdet", "pinv",
):
    cannot(getattr(ops, _name), "ONNX has neither factorizations nor eigenvalues of matrices")


@to_onnx.rule(ops.det)
def onnx_det(g, x):
    return g.op("Det", x)
