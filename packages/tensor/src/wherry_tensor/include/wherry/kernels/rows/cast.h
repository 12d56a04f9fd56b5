// The kernels of cast: ops, dtypes, flags. Included once by each device, after the functions that are named here.
// What follows a function is the functor that a fused chain calls instead; a device without chains leaves it out.
const wry_kernel_entry table[] = {
    WRY_ALL_ROWS("cast", WRY_STRIDED_OUTPUT, cast, "Cast<arithmetic_t<$to>>()"),
};
