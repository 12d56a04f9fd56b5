"""Activation functions: element-wise ops with attributes, and their fused gradients."""
from wherry_tensor.ops.declare import op

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
