"""Reading and writing at positions that are data."""
from wherry_tensor.ops.declare import op

# Indices are int32 or int64; negative ones count from the end; out of range is WRY_OUT_OF_RANGE.
gather = op("gather", "x, index", axis=int)  # index of any rank replaces the axis; 1-D is Paddle's index_select
gather_vjp = op("gather_vjp", "ct, index, like", axis=int)  # adds ct into zeros
gather_nd = op("gather_nd", "x, index")
scatter_nd_add = op("scatter_nd_add", "x, index, updates")
scatter = op("scatter", "x, index, updates", overwrite=bool)  # rows of axis 0; not overwrite: zero the rows, then add
index_add = op("index_add", "x, index, value", axis=int)
take_along_axis = op("take_along_axis", "x, index", axis=int)
put_along_axis = op("put_along_axis", "x, index, value", axis=int, reduce=str)  # assign | add | multiply
masked_select = op("masked_select", "x, mask")  # 1-D, length depends on data
nonzero = op("nonzero", "x")  # int64 [count, rank]

# NumPy's advanced indexing: the index tensors broadcast together and stand for `axes`, which are
# consecutive; the result has the broadcast shape in place of them. Bool masks became nonzero before.
index_get = op("index_get", "x, *indices", axes=tuple)
index_put = op("index_put", "x, value, *indices", axes=tuple, accumulate=bool)

embedding = op("embedding", "index, weight", padding_index=int)  # padding_index -1: none
embedding_vjp = op("embedding_vjp", "ct, index, weight", padding_index=int)
one_hot = op("one_hot", "x", num_classes=int)  # float32

# Order.
topk = op("topk", "x", k=int, axis=int, largest=bool, sorted=bool, outputs="values, indices")
sort = op("sort", "x", axis=int, descending=bool, outputs="values, indices")  # stable
unique = op("unique", "x", axis=int, outputs="out, index, inverse, counts")  # axis None: flattened; all index outputs int64
unique_consecutive = op("unique_consecutive", "x", axis=int, outputs="out, inverse, counts")
searchsorted = op("searchsorted", "sorted_sequence, values", right=bool)  # int64; rows match when the sequence is not 1-D
bincount = op("bincount", "x, weights?", minlength=int)
histogram = op("histogram", "x", bins=int, min=float, max=float)  # int64; min == max: the data's range
shard_index = op("shard_index", "x", index_num=int, nshards=int, shard_id=int, ignore_value=int)

__all__ = [name for name, value in list(globals().items()) if isinstance(value, type(gather))]
