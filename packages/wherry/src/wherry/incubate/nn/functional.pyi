"""Stub of wherry.incubate.nn.functional, written by tools/stubs.py: where each public name comes from."""
from wherry_nn.functional.fused import fused_bias_dropout_residual_layer_norm as fused_bias_dropout_residual_layer_norm
from wherry_nn.functional.fused import fused_dropout_add as fused_dropout_add
from wherry_nn.functional.fused import fused_feedforward as fused_feedforward
from wherry_nn.functional.fused import fused_linear as fused_linear
from wherry_nn.functional.fused import fused_linear_activation as fused_linear_activation
from wherry_nn.functional.fused import fused_matmul_bias as fused_matmul_bias
from wherry_nn.functional.fused import fused_multi_head_attention as fused_multi_head_attention
from wherry_nn.functional.fused import fused_multi_transformer as fused_multi_transformer
from wherry_nn.functional.language import block_multihead_attention as block_multihead_attention
from wherry_nn.functional.language import fused_ec_moe as fused_ec_moe
from wherry_nn.functional.language import fused_layer_norm as fused_layer_norm
from wherry_nn.functional.language import fused_rms_norm as fused_rms_norm
from wherry_nn.functional.language import fused_rotary_position_embedding as fused_rotary_position_embedding
from wherry_nn.functional.language import masked_multihead_attention as masked_multihead_attention
from wherry_nn.functional.language import variable_length_memory_efficient_attention as variable_length_memory_efficient_attention
__all__: list[str]
