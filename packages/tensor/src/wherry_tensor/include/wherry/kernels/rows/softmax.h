// The kernels of softmax: ops, dtypes, flags. Included once by each device, after the functions that are named here.
const wry_kernel_entry table[] = {
    WRY_FLOAT_ROWS("softmax", WRY_WANTS_CONTIGUOUS, softmax),
    WRY_FLOAT_ROWS("log_softmax", WRY_WANTS_CONTIGUOUS, log_softmax),
    WRY_FLOAT_ROWS("softmax_vjp", WRY_WANTS_CONTIGUOUS, softmax_vjp),
    WRY_FLOAT_ROWS("log_softmax_vjp", WRY_WANTS_CONTIGUOUS, log_softmax_vjp),
    WRY_FLOAT_ROWS("cross_entropy", WRY_WANTS_CONTIGUOUS, cross_entropy),
    WRY_FLOAT_ROWS("cross_entropy_vjp", WRY_WANTS_CONTIGUOUS, cross_entropy_vjp),
};
