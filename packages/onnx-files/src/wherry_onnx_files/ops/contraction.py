"""Products of matrices."""
import wherry_tensor as api
from wherry_onnx_files.column import MICROSOFT, reads
from wherry_onnx_files.numbers import same
from wherry_onnx_files.ops.elementwise import scalar
from wherry_tensor import _core, ops


def product(x, y):
    """The matrix product, of vectors too, as NumPy has it; of whole numbers exact."""
    dtype = x.dtype
    if not dtype.is_floating and not dtype.name.startswith("complex"):
        x, y = (ops.cast(z, dtype=_core.float64) for z in (x, y))
    left, right = x.ndim == 1, y.ndim == 1
    x, y = ops.unsqueeze(x, axes=(0,)) if left else x, ops.unsqueeze(y, axes=(1,)) if right else y
    out = ops.matmul(x, y, transpose_x=False, transpose_y=False)
    if left:
        out = ops.squeeze(out, axes=(out.ndim - 2,))
    if right:
        out = ops.squeeze(out, axes=(out.ndim - 1,))
    return out if out.dtype is dtype else ops.cast(out, dtype=dtype)


reads("MatMul")(lambda o: product(o.x(0), o.x(1)))


@reads("Gemm")
def read_gemm(o):
    a, b, alpha, beta = o.x(0), o.x(1), o.number("alpha", 1.0), o.number("beta", 1.0)
    dtype = a.dtype
    if not dtype.is_floating:
        a, b = (ops.cast(x, dtype=_core.float64) for x in (a, b))
    elif alpha == beta == 1 and not o.flag("transA") and o.has(2) and o.x(2).ndim == 1 and same(o.x(2).shape[0], b.shape[not o.flag("transB")]):
        return ops.linear(a, ops.transpose(b, perm=(1, 0)) if o.flag("transB") else b, o.x(2))
    out = ops.matmul(a, b, transpose_x=o.flag("transA"), transpose_y=o.flag("transB"))
    if alpha != 1:
        out = ops.multiply(out, scalar(out, alpha))
    if o.has(2) and beta != 0:
        c = ops.cast(o.x(2), dtype=out.dtype) if o.x(2).dtype is not out.dtype else o.x(2)
        out = ops.add(out, c if beta == 1 else ops.multiply(c, scalar(c, beta)))
    return out if out.dtype is dtype else ops.cast(out, dtype=dtype)


@reads("Einsum")
def read_einsum(o):
    xs = o.xs()
    dtype = xs[0].dtype
    if not dtype.is_floating:
        xs = [ops.cast(x, dtype=_core.float64) for x in xs]
    out = api.einsum(o.text("equation").replace(" ", ""), *xs)
    return out if out.dtype is dtype else ops.cast(out, dtype=dtype)


@reads("FusedMatMul", "TransposeMatMul", domain=MICROSOFT)
def read_fused_matmul(o):
    a, b, alpha = o.x(0), o.x(1), o.number("alpha", 1.0)
    if o.flag("transBatchA") or o.flag("transBatchB"):
        raise o.unsupported("transposed batches", "none")
    out = ops.matmul(a, b, transpose_x=o.flag("transA"), transpose_y=o.flag("transB"))
    return out if alpha == 1 else ops.multiply(out, scalar(out, alpha))
