"""Matrix products."""
from __future__ import annotations

from wherry_export.onnx.column import to_onnx
from wherry_tensor import ops


def _turned(g, x, turn):
    return g.transpose(x, [*range(x.rank - 2), x.rank - 1, x.rank - 2]) if turn and x.rank > 1 else x


@to_onnx.rule(ops.matmul)
def onnx_matmul(g, x, y, *, transpose_x, transpose_y):
    left, right = _turned(g, x, transpose_x), _turned(g, y, transpose_y)
    if x.rank > 1 and y.rank == 1:  # as a column: runtimes fuse the transpose of x with a product of two matrices only
        return g.squeeze(g.op("MatMul", left, g.unsqueeze(right, [1])), [x.rank - 1])
    return g.op("MatMul", left, right)


@to_onnx.rule(ops.linear)
def onnx_linear(g, x, weight, bias):
    if x.rank == 2 and weight.rank == 2 and bias is not None and bias.rank == 1:
        return g.op("Gemm", x, weight, bias)
    out = g.op("MatMul", x, weight)
    return out if bias is None else g.op("Add", out, bias)
