"""Gradient rules for convolution of volumes: those of images."""
from wherry_autograd.vjp.convolution import rules_of_convolution
from wherry_tensor import ops

rules_of_convolution(ops.conv3d, ops.conv3d_transpose, ops.conv3d_input_vjp, ops.conv3d_weight_vjp)
