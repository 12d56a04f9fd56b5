// The kernels of recurrent: ops, dtypes, flags. Included once by each device, after the functions that are named here. RECURRENT_ROWS is the device's own.
const wry_kernel_entry table[] = {
    RECURRENT_ROWS("lstm", lstm),
    RECURRENT_ROWS("lstm_vjp", lstm_vjp),
    RECURRENT_ROWS("gru", gru),
    RECURRENT_ROWS("gru_vjp", gru_vjp),
    RECURRENT_ROWS("simple_rnn", simple_rnn),
    RECURRENT_ROWS("simple_rnn_vjp", simple_rnn_vjp),
#ifdef PACKED_ROWS
    PACKED_ROWS
#endif
};
