// The kernels of resampling: ops, dtypes, flags. Included once by each device, after the functions that are named here.
const wry_kernel_entry table[] = {
    WRY_FLOAT_ROWS("resample", WRY_WANTS_CONTIGUOUS, resample),
    WRY_FLOAT_ROWS("resample_vjp", WRY_WANTS_CONTIGUOUS, resample_vjp),
};
