// The kernels of normalization: ops, dtypes, flags. Included once by each device, after the functions that are named here. BATCH_NORM_RELU_ROWS is the device's own.
const wry_kernel_entry table[] = {
    WRY_FLOAT_ROWS("layer_norm", WRY_WANTS_CONTIGUOUS, layer_norm),
    WRY_FLOAT_ROWS("layer_norm_vjp", WRY_WANTS_CONTIGUOUS, layer_norm_vjp),
    WRY_FLOAT_ROWS("group_norm", WRY_WANTS_CONTIGUOUS, group_norm),
    WRY_FLOAT_ROWS("group_norm_vjp", WRY_WANTS_CONTIGUOUS, group_norm_vjp),
    WRY_FLOAT_ROWS("batch_norm", WRY_WANTS_CONTIGUOUS, batch_norm),
    WRY_FLOAT_ROWS("batch_norm_infer", WRY_WANTS_CONTIGUOUS, batch_norm_infer),
    WRY_FLOAT_ROWS("batch_norm_vjp", WRY_WANTS_CONTIGUOUS, batch_norm_vjp),
    WRY_FLOAT_ROWS("dropout", WRY_WANTS_CONTIGUOUS | WRY_USES_RANDOM, dropout),
    WRY_FLOAT_ROWS("dropout_add", WRY_WANTS_CONTIGUOUS | WRY_USES_RANDOM, dropout_add),
    WRY_FLOAT_ROWS("dropout_vjp", WRY_WANTS_CONTIGUOUS, dropout_vjp),
#ifdef BATCH_NORM_RELU_ROWS
    BATCH_NORM_RELU_ROWS
#endif
};
