// The kernels of attention: ops, dtypes, flags. Included once by each device, after the functions that are named here.
const wry_kernel_entry table[] = {
    WRY_FLOAT_ROWS("attention", WRY_WANTS_CONTIGUOUS, attention),
    WRY_FLOAT_ROWS("attention_vjp", WRY_WANTS_CONTIGUOUS, attention_vjp),
    WRY_FLOAT_ROWS("attention_dropout", WRY_WANTS_CONTIGUOUS | WRY_USES_RANDOM, attention_dropout),
    WRY_FLOAT_ROWS("attention_dropout_vjp", WRY_WANTS_CONTIGUOUS, attention_dropout_vjp),
    WRY_FLOAT_ROWS("attention_lengths", WRY_WANTS_CONTIGUOUS, attention_lengths),
    WRY_FLOAT_ROWS("attention_lengths_vjp", WRY_WANTS_CONTIGUOUS, attention_lengths_vjp),
};
