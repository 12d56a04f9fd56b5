"""Activation functions: element-wise ops with attributes, and their fused gradients."""
import math

from wherry_tensor._core import Op
from wherry_tensor.ops.creation import full
from wherry_tensor.ops.declare import Meta, decompose, infer, op
from wherry_tensor.ops.elementwise import (
    abs,
    clip,
    erf,
    exp,
    expm1,
    log1p,
    logical_and,
    maximum,
    minimum,
    negative,
    square,
    tanh,
    through_float32,
    where,
)
from wherry_tensor.ops.shapes import (
    broadcast_shapes,
    floats,
    integers,
    require_dtype,
    require_one_dtype,
)

relu = op("relu", "x")
relu6 = op("relu6", "x")
leaky_relu = op("leaky_relu", "x", negative_slope=float)
prelu = op("prelu", "x, weight")  # weight broadcasts against x
elu = op("elu", "x", alpha=float)
selu = op("selu", "x", scale=float, alpha=float)
celu = op("celu", "x", alpha=float)
gelu = op("gelu", "x", approximate=bool)
sigmoid = op("sigmoid", "x")
log_sigmoid = op("log_sigmoid", "x")
silu = op("silu", "x")
mish = op("mish", "x")
softplus = op("softplus", "x", beta=float, threshold=float)
softsign = op("softsign", "x")
hardtanh = op("hardtanh", "x", min=float, max=float)
hardsigmoid = op("hardsigmoid", "x", slope=float, offset=float)
hardswish = op("hardswish", "x")
hardshrink = op("hardshrink", "x", threshold=float)
softshrink = op("softshrink", "x", threshold=float)
tanhshrink = op("tanhshrink", "x")
thresholded_relu = op("thresholded_relu", "x", threshold=float)
stanh = op("stanh", "x", scale_a=float, scale_b=float)

# Gradients that are worth one pass over memory. Each has a decomposition, so they differentiate.
relu_vjp = op("relu_vjp", "ct, out")
sigmoid_vjp = op("sigmoid_vjp", "ct, out")
tanh_vjp = op("tanh_vjp", "ct, out")
gelu_vjp = op("gelu_vjp", "ct, x", approximate=bool)
silu_vjp = op("silu_vjp", "ct, x")
# ct times `below`, `tilt` * x + `inside` or `above`: of functions in three pieces. A bound belongs to the outer one; NaN counts as above.
piecewise_vjp = op("piecewise_vjp", "ct, x", low=float, high=float, below=float, tilt=float, inside=float, above=float)


# Shape rules: the broadcast shape of the inputs, and their dtype.


def _unary(op, dtypes=floats):
    def rule(x, **attrs):
        require_dtype(op.name, "x", x.dtype, dtypes)
        return Meta(x.shape, x.dtype)

    rule.__name__ = f"infer_{op.name}"
    infer.rule(op)(rule)


def _pair(op, dtypes=floats):
    first, second = (name for name, _optional, _variadic in op.inputs)

    def rule(x, y, **attrs):
        dtype = require_one_dtype(op.name, **{first: x.dtype, second: y.dtype})
        require_dtype(op.name, first, dtype, dtypes)
        return Meta(broadcast_shapes(op.name, x.shape, y.shape), dtype)

    rule.__name__ = f"infer_{op.name}"
    infer.rule(op)(rule)


_unary(relu, integers + floats)
_pair(relu_vjp, integers + floats)
for _op in [value for value in globals().values() if isinstance(value, Op) and value not in infer]:
    (_unary if len(_op.inputs) == 1 else _pair)(_op)



# Decompositions.


def _number(value, x):
    """A number in the dtype of x, which broadcasts against it."""
    return full(shape=(), value=value, dtype=x.dtype)


@decompose.rule(relu)
def decompose_relu(x):
    # A comparison and not a maximum: NaN becomes 0, as in Paddle.
    return where(x > 0, x, _number(0, x))


@decompose.rule(relu6)
def decompose_relu6(x):
    return clip(x, _number(0, x), _number(6, x))


@decompose.rule(leaky_relu)
def decompose_leaky_relu(x, *, negative_slope):
    return where(x > 0, x, x * negative_slope)


@decompose.rule(prelu)
def decompose_prelu(x, weight):
    return where(x > 0, x, x * weight)


# expm1 sees only the side it is used on: elsewhere it could overflow, and a gradient of 0 times
# infinity is NaN.


@decompose.rule(elu)
def decompose_elu(x, *, alpha):
    return where(x > 0, x, expm1(minimum(x, _number(0, x))) * alpha)


@decompose.rule(selu)
def decompose_selu(x, *, scale, alpha):
    return where(x > 0, x, expm1(minimum(x, _number(0, x))) * alpha) * scale


@decompose.rule(celu)
def decompose_celu(x, *, alpha):
    return where(x > 0, x, expm1(minimum(x, _number(0, x)) * (1.0 / alpha)) * alpha)


@decompose.rule(gelu)
def decompose_gelu(x, *, approximate):
    return x * _normal_probability(x, approximate)


def _normal_probability(x, approximate):
    """How likely a normal variable stays below x, or the approximation of it that TensorFlow made popular."""
    if approximate:
        return sigmoid((x + x * square(x) * 0.044715) * (2.0 * math.sqrt(2.0 / math.pi)))
    return (erf(x * math.sqrt(0.5)) + 1.0) * 0.5


@decompose.rule(sigmoid)
@through_float32
def decompose_sigmoid(x):
    # The exponential of -|x| overflows nowhere, and small results keep their digits.
    e = exp(negative(abs(x)))
    return where(x < 0, e, _number(1, x)) / (e + 1.0)


@decompose.rule(log_sigmoid)
def decompose_log_sigmoid(x):
    return minimum(x, _number(0, x)) - log1p(exp(negative(abs(x))))


@decompose.rule(silu)
def decompose_silu(x):
    return x * sigmoid(x)


@decompose.rule(mish)
def decompose_mish(x):
    return x * tanh(softplus(x, beta=1.0, threshold=20.0))


@decompose.rule(softplus)
def decompose_softplus(x, *, beta, threshold):
    scaled = x * beta
    # log(1 + exp(s)) as a sum whose exponential cannot overflow.
    smooth = (maximum(scaled, _number(0, x)) + log1p(exp(negative(abs(scaled))))) * (1.0 / beta)
    return where(scaled > threshold, x, smooth)


@decompose.rule(softsign)
def decompose_softsign(x):
    return x / (abs(x) + 1.0)


@decompose.rule(hardtanh)
def decompose_hardtanh(x, *, min, max):
    return clip(x, _number(min, x), _number(max, x))


@decompose.rule(hardsigmoid)
def decompose_hardsigmoid(x, *, slope, offset):
    return clip(x * slope + offset, _number(0, x), _number(1, x))


@decompose.rule(hardswish)
def decompose_hardswish(x):
    return x * clip(x + 3.0, _number(0, x), _number(6, x)) * (1.0 / 6.0)


@decompose.rule(hardshrink)
def decompose_hardshrink(x, *, threshold):
    return where(logical_and(x >= -threshold, x <= threshold), _number(0, x), x)


@decompose.rule(softshrink)
def decompose_softshrink(x, *, threshold):
    return x - clip(x, _number(-threshold, x), _number(threshold, x))


@decompose.rule(tanhshrink)
def decompose_tanhshrink(x):
    return x - tanh(x)


@decompose.rule(thresholded_relu)
def decompose_thresholded_relu(x, *, threshold):
    return where(x <= threshold, _number(0, x), x)


@decompose.rule(stanh)
def decompose_stanh(x, *, scale_a, scale_b):
    return tanh(x * scale_a) * scale_b


@decompose.rule(relu_vjp)
def decompose_relu_vjp(ct, out):
    return where(out > 0, ct, _number(0, ct))


@decompose.rule(sigmoid_vjp)
def decompose_sigmoid_vjp(ct, out):
    return ct * out * (1.0 - out)


@decompose.rule(tanh_vjp)
def decompose_tanh_vjp(ct, out):
    return ct * (1.0 - square(out))


@decompose.rule(gelu_vjp)
@through_float32
def decompose_gelu_vjp(ct, x, *, approximate):
    probability = _normal_probability(x, approximate)
    if approximate:
        slope = (square(x) * (3 * 0.044715) + 1.0) * (2.0 * math.sqrt(2.0 / math.pi))
        return ct * probability * (x * slope * (1.0 - probability) + 1.0)
    density = exp(square(x) * -0.5) * (1.0 / math.sqrt(2.0 * math.pi))
    return ct * (x * density + probability)


@decompose.rule(piecewise_vjp)
def decompose_piecewise_vjp(ct, x, *, low, high, below, tilt, inside, above):
    def times(slope):  # 0 of infinity, too
        return ct * slope if slope else _number(0, ct)

    middle = ct * (x * tilt + inside) if tilt else times(inside)
    return where(x < high, where(x > low, middle, times(below)), times(above))


@decompose.rule(silu_vjp)
@through_float32
def decompose_silu_vjp(ct, x):
    s = sigmoid(x)
    return ct * s * (x * (1.0 - s) + 1.0)
