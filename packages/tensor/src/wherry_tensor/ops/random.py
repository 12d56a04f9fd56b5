"""Random numbers, all from Philox4x32-10 counters, so that a seed means the same on every device.

Element i of a float32 (or int32) draw uses lane i % 4 of block rng_offset + i / 4; a float64 or
int64 draw uses two lanes of block rng_offset + i / 2. Draws that reject (poisson, multinomial)
give each element the block sequence of its own: counter (rng_offset + i, attempt).
"""
from wherry_tensor.ops.declare import DType, op

uniform = op("uniform", "", shape=tuple, min=float, max=float, dtype=DType)
normal = op("normal", "", shape=tuple, mean=float, std=float, dtype=DType)
randint = op("randint", "", shape=tuple, low=int, high=int, dtype=DType)
randperm = op("randperm", "", n=int, dtype=DType)
bernoulli = op("bernoulli", "x")
multinomial = op("multinomial", "x", num_samples=int, replacement=bool)  # int64
poisson = op("poisson", "x")

__all__ = [name for name, value in list(globals().items()) if isinstance(value, type(uniform))]
