// The kernels of comparison: ops, dtypes, flags. Included once by each device, after the functions that are named here.
// What follows a function is the functor that a fused chain calls instead; a device without chains leaves it out.
#define ALL(op, F) WRY_ALL_ROWS(op, WRY_STRIDED_OUTPUT, Kernel<F>::predicate, #F "()")
#define ORDERED(op, F)                                                  \
  WRY_REAL_ROWS(op, WRY_STRIDED_OUTPUT, Kernel<F>::predicate, #F "()"), \
      WRY_BOOL_ROW(op, WRY_STRIDED_OUTPUT, Kernel<F>::predicate, #F "()")
#define BITWISE(op, F) WRY_INT_ROWS(op, in_place, Kernel<F>::same, #F "()"), WRY_BOOL_ROW(op, in_place, Kernel<F>::same, #F "()")

const wry_kernel_entry table[] = {
    ALL("equal", Equal),
    ALL("not_equal", NotEqual),
    ORDERED("less_than", Less),
    ORDERED("less_equal", LessEqual),
    ORDERED("greater_than", Greater),
    ORDERED("greater_equal", GreaterEqual),
    ALL("logical_and", LogicalAnd),
    ALL("logical_or", LogicalOr),
    ALL("logical_xor", LogicalXor),
    BITWISE("bitwise_and", BitwiseAnd),
    BITWISE("bitwise_or", BitwiseOr),
    BITWISE("bitwise_xor", BitwiseXor),
    WRY_PLAIN_ROW("where", WRY_BOOL, WRY_STRIDED_OUTPUT, where, "Where()"),
    WRY_REAL_ROWS("clip", in_place, clip, "Clip()"),
    WRY_FLOAT_ROWS("lerp", in_place, lerp, "Lerp()"),
};
