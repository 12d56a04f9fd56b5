// The kernels of scan: ops, dtypes, flags. Included once by each device, after the functions that are named here.
const wry_kernel_entry table[] = {
    WRY_NUMBER_ROWS("cumsum", WRY_WANTS_CONTIGUOUS, cumsum),
    WRY_NUMBER_ROWS("cumprod", WRY_WANTS_CONTIGUOUS, cumprod),
    WRY_FLOAT_ROWS("logcumsumexp", WRY_WANTS_CONTIGUOUS, logcumsumexp),
    WRY_REAL_ROWS("cummax", WRY_WANTS_CONTIGUOUS, cummax),
    WRY_REAL_ROWS("cummin", WRY_WANTS_CONTIGUOUS, cummin),
    WRY_INEXACT_ROWS("linear_scan", WRY_WANTS_CONTIGUOUS, linear_scan),
};
