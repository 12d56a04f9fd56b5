"""Names that functions have besides, in Paddle 3 and PyTorch: the same objects."""
from __future__ import annotations

from wherry_tensor.functions import inplace, linalg, logic, math, movement, positions, random, search

cat = concatenate = movement.concat
permute = movement.transpose
view_as_complex = movement.as_complex
view_as_real = movement.as_real
eq, ne = logic.equal, logic.not_equal
lt = less = logic.less_than
le, gt, ge = logic.less_equal, logic.greater_than, logic.greater_equal
greater = logic.greater_than
less_ = inplace.less_than_
bitwise_invert, bitwise_invert_ = logic.bitwise_not, inplace.bitwise_not_
mul, mul_ = math.multiply, inplace.multiply_
sub, sub_ = math.subtract, inplace.subtract_
div, div_ = math.divide, inplace.divide_
true_divide = math.divide
negative = math.neg
clamp, clamp_ = math.clip, inplace.clip_
gammaln, gammaln_ = math.lgamma, inplace.lgamma_
ger = linalg.outer
argwhere = search.nonzero
take_along_dim = positions.take_along_axis
manual_seed = random.seed

__all__ = [
    "argwhere", "bitwise_invert", "bitwise_invert_", "cat", "clamp", "clamp_", "concatenate", "div", "div_", "eq", "gammaln", "gammaln_", "ge",
    "ger", "greater", "gt", "le", "less", "less_", "lt", "manual_seed", "mul", "mul_", "ne", "negative", "permute", "sub", "sub_",
    "take_along_dim", "true_divide", "view_as_complex", "view_as_real",
]
