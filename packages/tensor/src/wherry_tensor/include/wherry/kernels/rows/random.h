// The kernels of random: ops, dtypes, flags. Included once by each device, after the functions that are named here.
constexpr uint32_t draws = WRY_USES_RANDOM, draws_for = WRY_USES_RANDOM | WRY_WANTS_CONTIGUOUS;

const wry_kernel_entry table[] = {
    WRY_FLOAT_ROWS("uniform", draws, uniform),
    WRY_FLOAT_ROWS("normal", draws, normal),
    WRY_INT_ROWS("randint", draws, randint),
    WRY_ROW("randperm", int32_t, draws, randperm),
    WRY_ROW("randperm", int64_t, draws, randperm),
    WRY_ROW("randperm", float, draws, randperm),
    WRY_ROW("randperm", double, draws, randperm),
    WRY_FLOAT_ROWS("bernoulli", draws_for, bernoulli),
    WRY_FLOAT_ROWS("multinomial", draws_for, multinomial),
    WRY_FLOAT_ROWS("poisson", draws_for, poisson),
    WRY_FLOAT_ROWS("log_standard_gamma", draws_for, log_standard_gamma),
};
