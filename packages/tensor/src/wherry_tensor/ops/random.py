"""Random numbers, all from Philox4x32-10 counters, so that a seed means the same on every device.

Element i of a float32 (or int32) draw uses lane i % 4 of block rng_offset + i / 4; a float64 or
int64 draw uses two lanes of block rng_offset + i / 2. Draws that reject (poisson, gamma)
give each element the block sequence of its own: counter (rng_offset + i, attempt).
"""
from wherry_tensor._core import int64
from wherry_tensor.ops.declare import DType, Meta, decompose, infer, op
from wherry_tensor.ops.shapes import floats, require_dtype, require_sizes

uniform = op("uniform", "", effects="random", sizes="shape", shape=tuple, min=float, max=float, dtype=DType)
normal = op("normal", "", effects="random", sizes="shape", shape=tuple, mean=float, std=float, dtype=DType)
randint = op("randint", "", effects="random", sizes="shape", shape=tuple, low=int, high=int, dtype=DType)
randperm = op("randperm", "", effects="random", sizes="n", n=int, dtype=DType)
bernoulli = op("bernoulli", "x", effects="random")
multinomial = op("multinomial", "x", effects="random", num_samples=int, replacement=bool)  # int64
poisson = op("poisson", "x", effects="random")
log_standard_gamma = op("log_standard_gamma", "x", effects="random")  # x: shapes, above 0; scale 1; the logarithm does not underflow


# Shape rules.


def _drawn(op):
    def rule(*, shape, dtype, **attrs):
        return Meta(require_sizes(op.name, shape), dtype)

    rule.__name__ = f"infer_{op.name}"
    infer.rule(op)(rule)


for _op in (uniform, normal):
    _drawn(_op)


@infer.rule(randint)
def infer_randint(*, shape, low, high, dtype):
    if low >= high:
        raise ValueError(
            f"randint: the range is empty. Got low={low} and high={high}, expected low < high. "
            f"Values are drawn from low up to, but not including, high."
        )
    return Meta(require_sizes("randint", shape), dtype)


@infer.rule(randperm)
def infer_randperm(*, n, dtype):
    return Meta(require_sizes("randperm", (n,)), dtype)


@infer.rule(bernoulli)
def infer_bernoulli(x):
    return Meta(x.shape, x.dtype)


@infer.rule(poisson)
def infer_poisson(x):
    return Meta(x.shape, x.dtype)


@infer.rule(log_standard_gamma)
def infer_log_standard_gamma(x):
    require_dtype("log_standard_gamma", "x", x.dtype, floats)
    return Meta(x.shape, x.dtype)


@infer.rule(multinomial)
def infer_multinomial(x, *, num_samples, replacement):
    if len(x.shape) not in (1, 2):
        raise ValueError(
            f"multinomial: x must have one row of weights or a batch of rows. Got shape {list(x.shape)}, "
            f"expected rank 1 or 2. Reshape x to [rows, categories]."
        )
    if not replacement and 0 <= x.shape[-1] < num_samples:
        raise ValueError(
            f"multinomial: too many samples to draw without replacement. Got num_samples={num_samples} of "
            f"{x.shape[-1]} categories, expected at most {x.shape[-1]}. Draw fewer, or pass replacement=True."
        )
    require_sizes("multinomial", (num_samples,))
    return Meta((*x.shape[:-1], num_samples), int64)


for _op in (uniform, normal, randint, randperm, bernoulli, multinomial, poisson, log_standard_gamma):
    decompose.exempt(_op, "draws the numbers that the head of this file fixes, bit for bit", seldom=_op is log_standard_gamma)
