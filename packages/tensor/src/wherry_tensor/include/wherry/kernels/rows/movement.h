// The kernels of movement: ops, dtypes, flags. Included once by each device, after the functions that are named here.
const wry_kernel_entry table[] = {
    WRY_ANY_ROW("copy", WRY_STRIDED_OUTPUT, copy),
    WRY_ANY_ROW("concat", 0, concat),
    WRY_ANY_ROW("pad", 0, pad),
    WRY_ANY_ROW("flip", 0, flip),
    WRY_ANY_ROW("roll", 0, roll),
    WRY_ANY_ROW("repeat_interleave", 0, repeat_interleave),
    WRY_ANY_ROW("tril", 0, tril),
    WRY_ANY_ROW("triu", 0, triu),
    WRY_ANY_ROW("slice_put", WRY_MAY_ALIAS | WRY_STRIDED_OUTPUT, slice_put),
    WRY_ANY_ROW("slice_vjp", 0, slice_vjp),
    WRY_ANY_ROW("select_vjp", 0, select_vjp),
    WRY_ANY_ROW("diagonal_vjp", 0, diagonal_vjp),
    WRY_ANY_ROW("shape_of", 0, shape_of),
};
