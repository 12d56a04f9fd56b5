// The kernels of spectral: ops, dtypes, flags. Included once by each device, after the functions that are named here.
const wry_kernel_entry table[] = {
    WRY_COMPLEX_ROWS("fft_c2c", WRY_WANTS_CONTIGUOUS, fft_c2c),
    WRY_ROW("fft_r2c", float, WRY_WANTS_CONTIGUOUS, fft_r2c),
    WRY_ROW("fft_r2c", double, WRY_WANTS_CONTIGUOUS, fft_r2c),
    WRY_COMPLEX_ROWS("fft_c2r", WRY_WANTS_CONTIGUOUS, fft_c2r),
};
