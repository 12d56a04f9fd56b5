// The kernels of sequence: ops, dtypes, flags. Included once by each device, after the functions that are named here.
const wry_kernel_entry table[] = {
    WRY_FLOAT_ROWS("ctc_loss", WRY_WANTS_CONTIGUOUS, ctc_loss),
    WRY_FLOAT_ROWS("ctc_loss_vjp", WRY_WANTS_CONTIGUOUS, ctc_loss_vjp),
    WRY_FLOAT_ROWS("ctc_loss_curvature", WRY_WANTS_CONTIGUOUS, ctc_loss_curvature),
};
