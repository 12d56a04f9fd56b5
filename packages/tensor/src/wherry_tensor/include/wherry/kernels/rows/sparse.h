// The kernels of sparse: ops, dtypes, flags. Included once by each device, after the functions that are named here.
constexpr uint32_t dense = WRY_WANTS_CONTIGUOUS;

const wry_kernel_entry table[] = {
    WRY_ROW("edge_sum", float, dense, edge_sum),
    WRY_ROW("edge_sum", double, dense, edge_sum),
    WRY_ROW("edge_sum", int32_t, dense, edge_sum),
    WRY_ROW("edge_sum", int64_t, dense, edge_sum),
    WRY_FLOAT_ROWS("edge_extreme", dense, edge_extreme),
    WRY_INT_ROWS("edge_extreme", dense, edge_extreme),
    WRY_ROW("csr_matmul", float, dense, csr_matmul),
    WRY_ROW("csr_matmul", double, dense, csr_matmul),
    WRY_ROW("csr_sample", float, dense, csr_sample),
    WRY_ROW("csr_sample", double, dense, csr_sample),
    WRY_ANY_ROW("csr_transpose", dense, csr_transpose),
};
