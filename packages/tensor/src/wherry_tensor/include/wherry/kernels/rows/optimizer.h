// The kernels of optimizer: ops, dtypes, flags. Included once by each device, after the functions that are named here. LATER_OPTIMIZER_ROWS is the device's own.
constexpr uint32_t flags = WRY_WANTS_CONTIGUOUS | WRY_MAY_ALIAS;

const wry_kernel_entry table[] = {
    WRY_FLOAT_ROWS("sgd", flags, sgd),
    WRY_FLOAT_ROWS("momentum", flags, momentum),
    WRY_FLOAT_ROWS("adam", flags, adam),
    WRY_FLOAT_ROWS("adamw", flags, adamw),
    WRY_FLOAT_ROWS("adagrad", flags, adagrad),
    WRY_FLOAT_ROWS("adadelta", flags, adadelta),
    WRY_FLOAT_ROWS("adamax", flags, adamax),
    WRY_FLOAT_ROWS("rmsprop", flags, rmsprop),
    WRY_FLOAT_ROWS("lamb", flags, lamb),
#ifdef LATER_OPTIMIZER_ROWS
    LATER_OPTIMIZER_ROWS
#endif
        WRY_ANY_ROW("sum_of_squares", WRY_WANTS_CONTIGUOUS, sum_of_squares),
    WRY_ANY_ROW("all_finite", WRY_WANTS_CONTIGUOUS, all_finite),
};
