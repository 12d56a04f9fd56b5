"""Sums of products."""
from wherry_tensor.ops.declare import op

# Ranks >= 1 as in NumPy's matmul; the flags swap the last two axes of a matrix (ignored for rank 1).
matmul = op("matmul", "x, y", transpose_x=bool, transpose_y=bool)
linear = op("linear", "x, weight, bias?")  # x [..., in] @ weight [in, out] + bias [out]

__all__ = [name for name, value in list(globals().items()) if isinstance(value, type(matmul))]
