// The kernels of contraction: ops, dtypes, flags. Included once by each device, after the functions that are named here.
const wry_kernel_entry table[] = {
    WRY_REAL_ROWS("matmul", 0, matmul),
    WRY_COMPLEX_ROWS("matmul", 0, matmul),
    WRY_REAL_ROWS("linear", 0, linear),
    WRY_COMPLEX_ROWS("linear", 0, linear),
    WRY_REAL_ROWS("outer_sum", WRY_WANTS_CONTIGUOUS, outer_sum),
    WRY_COMPLEX_ROWS("outer_sum", WRY_WANTS_CONTIGUOUS, outer_sum),
};
