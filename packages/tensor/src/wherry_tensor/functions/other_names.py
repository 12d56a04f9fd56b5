"""Names that functions have besides, in Paddle 3 and PyTorch: the same objects."""
from __future__ import annotations

from wherry_tensor.functions import inplace, linalg, logic, math, movement, positions, random, search

cat = movement.concat
concatenate = movement.concat
permute = movement.transpose
view_as_complex = movement.as_complex
view_as_real = movement.as_real
eq = logic.equal
ne = logic.not_equal
lt = logic.less_than
less = logic.less_than
le = logic.less_equal
gt = logic.greater_than
ge = logic.greater_equal
greater = logic.greater_than
less_ = inplace.less_than_
bitwise_invert = logic.bitwise_not
bitwise_invert_ = inplace.bitwise_not_
mul = math.multiply
mul_ = inplace.multiply_
sub = math.subtract
sub_ = inplace.subtract_
div = math.divide
div_ = inplace.divide_
true_divide = math.divide
negative = math.neg
clamp = math.clip
clamp_ = inplace.clip_
gammaln = math.lgamma
gammaln_ = inplace.lgamma_
ger = linalg.outer
argwhere = search.nonzero
take_along_dim = positions.take_along_axis
manual_seed = random.seed

__all__ = [
    "argwhere", "bitwise_invert", "bitwise_invert_", "cat", "clamp", "clamp_", "concatenate", "div", "div_", "eq", "gammaln", "gammaln_", "ge",
    "ger", "greater", "gt", "le", "less", "less_", "lt", "manual_seed", "mul", "mul_", "ne", "negative", "permute", "sub", "sub_",
    "take_along_dim", "true_divide", "view_as_complex", "view_as_real",
]
