// The kernels of ordering: ops, dtypes, flags. Included once by each device, after the functions that are named here.
#define WRY_ORDERED_ROWS(op, flags, kernel) WRY_BOOL_ROW(op, flags, kernel), WRY_REAL_ROWS(op, flags, kernel)

const wry_kernel_entry table[] = {
    WRY_ORDERED_ROWS("sort", 0, sort),
    WRY_ORDERED_ROWS("topk", 0, topk),
    WRY_ORDERED_ROWS("unique", WRY_WANTS_CONTIGUOUS, unique),
    WRY_ORDERED_ROWS("unique_consecutive", WRY_WANTS_CONTIGUOUS, unique_consecutive),
    WRY_ORDERED_ROWS("searchsorted", WRY_WANTS_CONTIGUOUS, searchsorted),
    WRY_ROW("bincount", int32_t, WRY_WANTS_CONTIGUOUS, bincount),
    WRY_ROW("bincount", int64_t, WRY_WANTS_CONTIGUOUS, bincount),
    WRY_REAL_ROWS("histogram", WRY_WANTS_CONTIGUOUS, histogram),
    WRY_ROW("shard_index", int32_t, WRY_WANTS_CONTIGUOUS, shard_index),
    WRY_ROW("shard_index", int64_t, WRY_WANTS_CONTIGUOUS, shard_index),
};
