// The kernels of creation: ops, dtypes, flags. Included once by each device, after the functions that are named here.
const wry_kernel_entry table[] = {
    WRY_ALL_ROWS("full", 0, full),
    WRY_ANY_ROW("full_like", 0, full_like),
    WRY_NUMBER_ROWS("arange", 0, arange),
    WRY_NUMBER_ROWS("linspace", 0, linspace),
    WRY_ALL_ROWS("eye", 0, eye),
};
