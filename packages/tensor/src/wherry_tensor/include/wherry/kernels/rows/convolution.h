// The kernels of convolution: ops, dtypes, flags. Included once by each device, after the functions that are named here.
const wry_kernel_entry table[] = {
    WRY_FLOAT_ROWS("conv2d", WRY_WANTS_CONTIGUOUS, conv2d),
    WRY_FLOAT_ROWS("conv2d_transpose", WRY_WANTS_CONTIGUOUS, conv2d_transpose),
    WRY_FLOAT_ROWS("conv2d_input_vjp", WRY_WANTS_CONTIGUOUS, conv2d_input_vjp),
    WRY_FLOAT_ROWS("conv2d_weight_vjp", WRY_WANTS_CONTIGUOUS, conv2d_weight_vjp),
};
