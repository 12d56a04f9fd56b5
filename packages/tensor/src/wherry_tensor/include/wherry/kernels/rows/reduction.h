// The kernels of reduction: ops, dtypes, flags. Included once by each device, after the functions that are named here.
const wry_kernel_entry table[] = {
    WRY_ALL_ROWS("reduce_sum", 0, reduce_sum),
    WRY_INEXACT_ROWS("sum_like", 0, sum_like),
    WRY_ROW("sum_like", int64_t, 0, sum_like),
    WRY_NUMBER_ROWS("reduce_mean", 0, reduce_mean),
    WRY_NUMBER_ROWS("reduce_prod", 0, reduce_prod),
    WRY_FLOAT_ROWS("variance", 0, variance),
    WRY_FLOAT_ROWS("logsumexp", 0, logsumexp),
    WRY_FLOAT_ROWS("squared_l2_norm", 0, squared_l2_norm),
#ifdef REDUCTION_ROWS  // the device's own
    REDUCTION_ROWS
#endif
};
