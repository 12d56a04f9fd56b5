"""Stub of wherry.incubate.nn.functional, written by tools/stubs.py: where each public name comes from."""
from wherry_nn.functional.fused import fused_bias_dropout_residual_layer_norm as fused_bias_dropout_residual_layer_norm
from wherry_nn.functional.fused import fused_dropout_add as fused_dropout_add
from wherry_nn.functional.fused import fused_feedforward as fused_feedforward
from wherry_nn.functional.fused import fused_linear as fused_linear
from wherry_nn.functional.fused import fused_linear_activation as fused_linear_activation
from wherry_nn.functional.fused import fused_matmul_bias as fused_matmul_bias
from wherry_nn.functional.fused import fused_multi_head_attention as fused_multi_head_attention
from wherry_nn.functional.fused import fused_multi_transformer as fused_multi_transformer
__all__: list[str]
