"""Element-wise ops: one value out for one value of each (broadcast) input."""
from wherry_tensor.ops.declare import DType, op

# Arithmetic of one value. Inputs of the transcendental ones are floating (or complex) already:
# public functions cast integers first.
negative = op("negative", "x")
abs = op("abs", "x")  # complex in, its real dtype out
sign = op("sign", "x")
square = op("square", "x")
sqrt = op("sqrt", "x")
rsqrt = op("rsqrt", "x")
reciprocal = op("reciprocal", "x")
exp = op("exp", "x")
expm1 = op("expm1", "x")
log = op("log", "x")
log2 = op("log2", "x")
log10 = op("log10", "x")
log1p = op("log1p", "x")
sin = op("sin", "x")
cos = op("cos", "x")
tan = op("tan", "x")
asin = op("asin", "x")
acos = op("acos", "x")
atan = op("atan", "x")
sinh = op("sinh", "x")
cosh = op("cosh", "x")
tanh = op("tanh", "x")
asinh = op("asinh", "x")
acosh = op("acosh", "x")
atanh = op("atanh", "x")
erf = op("erf", "x")
erfinv = op("erfinv", "x")
lgamma = op("lgamma", "x")
digamma = op("digamma", "x")
floor = op("floor", "x")
ceil = op("ceil", "x")
round = op("round", "x")  # half away from zero, as Paddle rounds
trunc = op("trunc", "x")
conj = op("conj", "x")
real = op("real", "x")
imag = op("imag", "x")
angle = op("angle", "x")
logical_not = op("logical_not", "x")  # any dtype in, bool out
bitwise_not = op("bitwise_not", "x")
isnan = op("isnan", "x")
isinf = op("isinf", "x")
isfinite = op("isfinite", "x")
cast = op("cast", "x", dtype=DType)

# Arithmetic of two values of one dtype.
add = op("add", "x, y")
subtract = op("subtract", "x, y")
multiply = op("multiply", "x, y")
divide = op("divide", "x, y")
floor_divide = op("floor_divide", "x, y")
remainder = op("remainder", "x, y")  # the sign of the divisor
power = op("power", "x, y")
maximum = op("maximum", "x, y")  # NaN wins
minimum = op("minimum", "x, y")
fmax = op("fmax", "x, y")  # NaN loses
fmin = op("fmin", "x, y")
atan2 = op("atan2", "x, y")
gcd = op("gcd", "x, y")
lcm = op("lcm", "x, y")
complex = op("complex", "real, imag")
heaviside = op("heaviside", "x, y")

# Comparison and logic: bool out.
equal = op("equal", "x, y")
not_equal = op("not_equal", "x, y")
less_than = op("less_than", "x, y")
less_equal = op("less_equal", "x, y")
greater_than = op("greater_than", "x, y")
greater_equal = op("greater_equal", "x, y")
logical_and = op("logical_and", "x, y")
logical_or = op("logical_or", "x, y")
logical_xor = op("logical_xor", "x, y")
bitwise_and = op("bitwise_and", "x, y")
bitwise_or = op("bitwise_or", "x, y")
bitwise_xor = op("bitwise_xor", "x, y")

# Choice among values.
where = op("where", "condition, x, y")
clip = op("clip", "x, min?, max?")  # bounds have the dtype of x and broadcast to its shape
lerp = op("lerp", "x, y, weight")

__all__ = [name for name, value in list(globals().items()) if isinstance(value, type(add))]
