"""Message passing along the edges of graphs, and products with sparse matrices (CSR).

An edge e leads from row `source[e]` of x (row e, where there is no source) to row `target[e]` of the result, which has `count` rows. A matrix
in CSR form stores row r at the places crows[r] to crows[r + 1] of `cols` and `values`.
"""
from wherry_tensor import ops
from wherry_tensor._core import float64, int64
from wherry_tensor.ops.declare import Meta, decompose, infer, op
from wherry_tensor.ops.shapes import (
    UNKNOWN,
    complexes,
    floats,
    indices,
    integers,
    require_dtype,
    require_one_dtype,
    require_rank,
    require_sizes,
    same_shape,
    same_size,
    show,
)
from wherry_tensor.sizes import is_unknown

# Rows that meet are added; rows where nothing arrives are zeros. `sorted` says that targets never fall, and refuses those that do.
edge_sum = op("edge_sum", "x, source?, target", count=int, mean=bool, sorted=bool, sizes="count")
edge_extreme = op("edge_extreme", "x, source?, target", count=int, largest=bool, sorted=bool, sizes="count")

csr_matmul = op("csr_matmul", "values, crows, cols, x")  # [rows, n] of x [columns, n]
csr_sample = op("csr_sample", "x, y, crows, cols")  # of the product of x [rows, n] and y [columns, n] transposed: the elements that are stored
# CSR form of the transposed matrix, and where its values stand among those of the matrix.
csr_transpose = op("csr_transpose", "crows, cols", columns=int, outputs="crows, cols, order", sizes="columns")


# Shape rules.


def _edges(op_name, x, source, target, count):
    if x.rank == 0:
        require_rank(op_name, "x", x.shape, 1)
    for name, index in (("source", source), ("target", target)):
        if index is not None:
            require_dtype(op_name, name, index.dtype, indices)
            require_rank(op_name, name, index.shape, 1)
    if source is not None and not same_shape(source.shape, target.shape):
        raise ValueError(
            f"{op_name}: the numbers of sources and targets differ. "
            f"Got {show(source.shape)} sources and {show(target.shape)} targets, expected as many "
            f"of one as of the other. Pass the two columns of one list of edges."
        )
    if source is None and not same_size(x.shape[0], target.shape[0]):
        raise ValueError(
            f"{op_name}: `target` needs one number for each row of x. "
            f"Got x of shape {show(x.shape)} and {show(target.shape)} targets, expected {x.shape[0]} targets."
        )
    require_sizes(op_name, (count,))
    return Meta((UNKNOWN if is_unknown(count) else count, *x.shape[1:]), x.dtype)


@infer.rule(edge_sum)
def infer_edge_sum(x, source, target, *, count, mean, sorted):
    require_dtype("edge_sum", "x", x.dtype, integers + floats + complexes)
    return _edges("edge_sum", x, source, target, count)


@infer.rule(edge_extreme)
def infer_edge_extreme(x, source, target, *, count, largest, sorted):
    require_dtype("edge_extreme", "x", x.dtype, integers + floats)
    return _edges("edge_extreme", x, source, target, count)


def _csr(op_name, crows, cols):
    for name, index in (("crows", crows), ("cols", cols)):
        require_dtype(op_name, name, index.dtype, indices)
        require_rank(op_name, name, index.shape, 1)
    require_one_dtype(op_name, crows=crows.dtype, cols=cols.dtype)
    if crows.shape[0] == 0:
        raise ValueError(f"{op_name}: `crows` is empty. Got shape [0], expected one element more than there are rows.")
    return UNKNOWN if crows.shape[0] == UNKNOWN else crows.shape[0] - 1


@infer.rule(csr_matmul)
def infer_csr_matmul(values, crows, cols, x):
    rows = _csr("csr_matmul", crows, cols)
    require_rank("csr_matmul", "x", x.shape, 2)
    require_one_dtype("csr_matmul", values=values.dtype, x=x.dtype)
    require_dtype("csr_matmul", "x", x.dtype, integers + floats)
    _require_values("csr_matmul", values, cols)
    return Meta((rows, x.shape[1]), x.dtype)


@infer.rule(csr_sample)
def infer_csr_sample(x, y, crows, cols):
    rows = _csr("csr_sample", crows, cols)
    require_rank("csr_sample", "x", x.shape, 2)
    require_rank("csr_sample", "y", y.shape, 2)
    require_one_dtype("csr_sample", x=x.dtype, y=y.dtype)
    require_dtype("csr_sample", "x", x.dtype, integers + floats)
    if not (same_size(x.shape[0], rows) and same_size(x.shape[1], y.shape[1])):
        raise ValueError(
            f"csr_sample: the shapes of the matrices do not fit. "
            f"Got x of shape {show(x.shape)} and y of shape {show(y.shape)} for {rows} rows, expected "
            f"[{rows}, n] and [columns, n]. Transpose the second one if it is [n, columns]."
        )
    return Meta(cols.shape, x.dtype)


@infer.rule(csr_transpose)
def infer_csr_transpose(crows, cols, *, columns):
    _csr("csr_transpose", crows, cols)
    require_sizes("csr_transpose", (columns,))
    return Meta((UNKNOWN if is_unknown(columns) else columns + 1,), int64), Meta(cols.shape, int64), Meta(cols.shape, int64)


def _require_values(op_name, values, cols):
    if not same_shape(values.shape, cols.shape):
        raise ValueError(
            f"{op_name}: values and cols differ in shape. Got values of shape {show(values.shape)} and cols of shape {show(cols.shape)}, "
            f"expected one shape [nnz]."
        )


# Decompositions.


@decompose.rule(edge_sum)
def decompose_edge_sum(x, source, target, *, count, mean, sorted):
    sent = x if source is None else ops.gather(x, source, axis=0)
    zeros = ops.full(shape=(count, *x.shape[1:]), value=0, dtype=x.dtype)
    total = ops.index_put(zeros, sent, target, axes=(0,), accumulate=True)
    if not mean:
        return total
    none = ops.full(shape=(count,), value=0, dtype=int64)
    arrived = ops.index_put(none, ops.full_like(target, value=1, dtype=int64), target, axes=(0,), accumulate=True)
    arrived = ops.maximum(arrived, ops.full(shape=(), value=1, dtype=int64))
    arrived = ops.unsqueeze(arrived, axes=tuple(range(1, x.ndim)))
    if x.dtype in integers:
        return ops.cast(ops.trunc(ops.cast(total, dtype=float64) / ops.cast(arrived, dtype=float64)), dtype=x.dtype)
    return total / ops.cast(arrived, dtype=x.dtype)


@decompose.rule(csr_matmul)
def decompose_csr_matmul(values, crows, cols, x):
    sent = ops.unsqueeze(values, axes=(1,)) * ops.gather(x, cols, axis=0)
    return ops.edge_sum(sent, None, _row_of(crows, cols), count=crows.shape[0] - 1, mean=False, sorted=True)


@decompose.rule(csr_sample)
def decompose_csr_sample(x, y, crows, cols):
    return ops.reduce_sum(ops.gather(x, _row_of(crows, cols), axis=0) * ops.gather(y, cols, axis=0), axes=(1,), keepdim=False)


@decompose.rule(csr_transpose)
def decompose_csr_transpose(crows, cols, *, columns):
    ordered, order = ops.sort(ops.cast(cols, dtype=int64), axis=0, descending=False)
    starts = ops.searchsorted(ordered, ops.arange(start=0, step=1, length=columns + 1, dtype=int64), right=False)
    return starts, ops.gather(_row_of(crows, cols), order, axis=0), order


def _row_of(crows, cols):
    """The row of each element that is stored."""
    places = ops.arange(start=0, step=1, length=cols.shape[0], dtype=int64)
    return ops.searchsorted(ops.cast(crows, dtype=int64), places, right=True) - 1


decompose.exempt(edge_extreme, "rows that meet at a place that is data are compared", seldom=True)
