"""What arithmetic on quantized tensors says about gradients: it has none."""
from wherry_autograd.rules import not_differentiable
from wherry_tensor import ops

not_differentiable(ops.matmul_int8, "gives integers")
not_differentiable(ops.conv2d_int8, "gives integers")
not_differentiable(ops.packed_matmul_int8, "gives integers")
not_differentiable(ops.packed_conv2d_int8, "gives integers")
not_differentiable(ops.quantized_max_pool2d, "gives integers")
not_differentiable(ops.mapped_bytes, "gives integers")
for _op in (ops.quantized_linear, ops.quantized_conv2d, ops.quantized_depthwise_conv2d, ops.quantized_add):
    not_differentiable(_op, "for inference: its steps have no slope; fake_quantize is what trains")
