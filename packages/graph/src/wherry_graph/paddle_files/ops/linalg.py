"""Decompositions of matrices: not translated yet."""
from wherry_graph.paddle_files.column import paddle
from wherry_tensor import ops

for _op in (
    ops.cholesky, ops.lu, ops.pivots_to_permutation, ops.solve, ops.triangular_solve, ops.qr, ops.svd, ops.eigh, ops.eig, ops.matrix_exp,
):
    paddle.exempt(_op, "decompositions of matrices are not translated yet")
