"""Random numbers. Only the distribution is kept: each program draws its own numbers."""
import wherry_tensor as api
from wherry_paddle_files.column import paddle, reads, writes
from wherry_paddle_files.writing import code_of, longs
from wherry_tensor import ops
from wherry_tensor.sizes import Size

_floats = ("float32", "float64")


def _drawn(w, kind, shape, dtype, attrs):
    more, plain = w.shape_inputs("ShapeTensorList", shape)
    name = dtype.name if dtype.name in _floats else "float32"
    return w.cast(w(kind, more, {"shape": longs(plain), "dtype": code_of(name), "seed": 0, **attrs}, dtype=name, shape=plain), dtype)


@writes(ops.uniform)
def write_uniform(w, *, shape, min, max, dtype):
    return _drawn(w, "uniform_random", shape, dtype, {"min": min, "max": max, "diag_num": 0, "diag_step": 0, "diag_val": 1.0})


@reads("uniform_random")
def read_uniform(o):
    return api.uniform(o.shape(), o.dtype("dtype", "float32"), o.number("min", -1.0), o.number("max", 1.0))


@writes(ops.normal)
def write_normal(w, *, shape, mean, std, dtype):
    return _drawn(w, "gaussian_random", shape, dtype, {"mean": mean, "std": std})


@reads("gaussian_random")
def read_normal(o):
    shape = tuple(o.shape())
    return ops.normal(shape=shape, mean=o.number("mean"), std=o.number("std", 1.0), dtype=o.dtype("dtype", "float32"))


@reads("truncated_gaussian_random")
def read_truncated_normal(o):
    dtype = o.dtype("dtype", "float32")
    # The inverse of the distribution function between -2 and 2 standard deviations.
    low, high = 0.022750131948179195, 0.9772498680518208
    u = api.uniform(o.integers("shape"), dtype, 2 * low - 1, 2 * high - 1)
    return api.erfinv(u) * (o.number("std", 1.0) * 2**0.5) + o.number("mean")


@writes(ops.randint)
def write_randint(w, *, shape, low, high, dtype):
    if low < -(2**31) or high >= 2**31:
        return NotImplemented  # the operator's bounds have 32 bits
    more, plain = w.shape_inputs("ShapeTensorList", shape)
    name = dtype.name if dtype.name in ("int32", "int64") else "int64"
    attrs = {"shape": longs(plain), "low": low, "high": high, "dtype": code_of(name), "seed": 0}
    return w.cast(w("randint", more, attrs, dtype=name, shape=plain), dtype)


@reads("randint")
def read_randint(o):
    return api.randint(o.integer("low"), o.integer("high"), o.shape(), o.dtype("dtype", "int64"))


@writes(ops.randperm)
def write_randperm(w, *, n, dtype):
    if type(n) is Size:
        return NotImplemented
    name = dtype.name if dtype.name in ("int32", "int64", "float32", "float64") else "int64"
    return w.cast(w("randperm", {}, {"n": n, "dtype": code_of(name), "seed": 0}, dtype=name, shape=(n,)), dtype)


@reads("randperm")
def read_randperm(o):
    return api.randperm(o.integer("n"), o.dtype("dtype", "int64"))


@writes(ops.bernoulli)
def write_bernoulli(w, x):
    return w("bernoulli", {"X": x})


@writes(ops.poisson)
def write_poisson(w, x):
    return w("poisson", {"X": x})


@writes(ops.multinomial)
def write_multinomial(w, x, *, num_samples, replacement):
    return w("multinomial", {"X": x}, {"num_samples": num_samples, "replacement": replacement}, dtype="int64")


paddle.exempt(ops.log_standard_gamma, "Paddle's operator draws from the Dirichlet distribution as a whole")

reads("bernoulli")(lambda o: api.bernoulli(o.x("X")))
reads("poisson")(lambda o: api.poisson(o.x("X")))


@reads("multinomial")
def read_multinomial(o):
    return api.multinomial(o.x("X"), o.integer("num_samples", 1), o.flag("replacement"))


@reads("seed")
def read_seed(o):
    return api.full([1], o.integer("seed"), "int32")


@reads("exponential")
def read_exponential(o):
    x = o.x("X")
    # 1 - u is in (0, 1], of which the logarithm is finite.
    return ops.log(1.0 - api.uniform(x.shape, x.dtype, 0.0, 1.0)) * (-1.0 / o.number("lambda", 1.0))


@reads("dirichlet")
def read_dirichlet(o):
    return ops.softmax(ops.log_standard_gamma(o.x("Alpha")), axis=-1)


@reads("gaussian_inplace", out="out")
def read_gaussian_inplace(o):
    x = o.x("x")
    return ops.normal(shape=tuple(x.shape), mean=o.number("mean"), std=o.number("std", 1.0), dtype=x.dtype)


@reads("uniform_random_inplace")
def read_uniform_inplace(o):
    x = o.x("X")
    return api.uniform(x.shape, x.dtype, o.number("min", -1.0), o.number("max", 1.0))
