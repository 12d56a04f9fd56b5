"""Activation functions: element-wise ops with attributes, and their fused gradients."""
from wherry_tensor.ops.declare import Meta, infer, op
from wherry_tensor.ops.shapes import broadcast_shapes, floats, integers, require_dtype

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

__all__ = [name for name, value in list(globals().items()) if isinstance(value, type(relu))]


# Shape rules: nothing but the inputs' broadcast shape.


def _elementwise(op, dtypes=floats):
    def rule(x, other=None, **attrs):
        require_dtype(op.name, "x", x.dtype, dtypes)
        return Meta(x.shape if other is None else broadcast_shapes(op.name, x.shape, other.shape), x.dtype)

    rule.__name__ = f"infer_{op.name}"
    infer.rule(op)(rule)


for _name in __all__:
    _elementwise(globals()[_name], floats + integers if _name in ("relu", "relu6", "relu_vjp") else floats)
