"""Stub of wherry.incubate.nn.functional, written by tools/stubs.py: where each public name comes from."""
from collections.abc import Sequence
from typing import Any
from typing import overload
from wherry_tensor._core import Tensor
from wherry_nn.functional.language import block_multihead_attention as block_multihead_attention
from wherry_nn.functional.language import fused_rotary_position_embedding as fused_rotary_position_embedding
from wherry_nn.functional.language import variable_length_memory_efficient_attention as variable_length_memory_efficient_attention
@overload
def fused_bias_dropout_residual_layer_norm(x: Tensor, residual: Tensor, bias: Tensor | None = ..., ln_scale: Tensor | None = ..., ln_bias: Tensor | None = ..., dropout_rate: float = ..., ln_epsilon: float = ..., training: bool = ..., mode: str = ..., name: str | None = ...) -> Tensor:
    """Bias, dropout, residual sum and layer norm: `layer_norm(residual + dropout(x + bias))` along the last axis."""
@overload
def fused_bias_dropout_residual_layer_norm(input: Tensor, residual: Tensor, bias: Tensor | None = ..., ln_scale: Tensor | None = ..., ln_bias: Tensor | None = ..., dropout_rate: float = ..., ln_epsilon: float = ..., training: bool = ..., mode: str = ..., name: str | None = ...) -> Tensor: ...
@overload
def fused_dropout_add(x: Tensor, y: Tensor, p: float = ..., training: bool = ..., mode: str = ..., name: str | None = ...) -> Tensor:
    """Dropout and sum: `dropout(x) + y`, in training as one op that reads and writes memory once, with the same numbers."""
@overload
def fused_dropout_add(input: Tensor, other: Tensor, p: float = ..., training: bool = ..., mode: str = ..., name: str | None = ...) -> Tensor: ...
@overload
def fused_ec_moe(x: Tensor, gate: Tensor, bmm0_weight: Tensor, bmm0_bias: Tensor, bmm1_weight: Tensor, bmm1_bias: Tensor, act_type: str) -> Tensor:
    """Not implemented: Paddle's documentation does not say how many tokens an expert takes."""
@overload
def fused_ec_moe(input: Tensor, gate: Tensor, bmm0_weight: Tensor, bmm0_bias: Tensor, bmm1_weight: Tensor, bmm1_bias: Tensor, act_type: str) -> Tensor: ...
@overload
def fused_feedforward(x: Tensor, linear1_weight: Tensor, linear2_weight: Tensor, linear1_bias: Tensor | None = ..., linear2_bias: Tensor | None = ..., ln1_scale: Tensor | None = ..., ln1_bias: Tensor | None = ..., ln2_scale: Tensor | None = ..., ln2_bias: Tensor | None = ..., dropout1_rate: float = ..., dropout2_rate: float = ..., activation: str = ..., ln1_epsilon: float = ..., ln2_epsilon: float = ..., pre_layer_norm: bool = ..., training: bool = ..., mode: str = ..., ring_id: int = ..., add_residual: bool = ..., name: str | None = ...) -> Tensor:
    """Feed-forward block: `layer_norm2(x + dropout2(linear2(dropout1(activation(linear1(x))))))`."""
@overload
def fused_feedforward(input: Tensor, linear1_weight: Tensor, linear2_weight: Tensor, linear1_bias: Tensor | None = ..., linear2_bias: Tensor | None = ..., ln1_scale: Tensor | None = ..., ln1_bias: Tensor | None = ..., ln2_scale: Tensor | None = ..., ln2_bias: Tensor | None = ..., dropout1_rate: float = ..., dropout2_rate: float = ..., activation: str = ..., ln1_epsilon: float = ..., ln2_epsilon: float = ..., pre_layer_norm: bool = ..., training: bool = ..., mode: str = ..., ring_id: int = ..., add_residual: bool = ..., name: str | None = ...) -> Tensor: ...
@overload
def fused_layer_norm(x: Tensor, norm_weight: Tensor | None, norm_bias: Tensor | None, epsilon: float, residual_alpha: float = ..., begin_norm_axis: int = ..., bias: Tensor | None = ..., residual: Tensor | None = ..., quant_scale: float = ..., quant_round_type: int = ..., quant_max_bound: float = ..., quant_min_bound: float = ...) -> tuple[Tensor, Tensor | None]:
    """Layer norm of s = x + bias + residual_alpha * residual, over the axes from `begin_norm_axis` on; s itself where both"""
@overload
def fused_layer_norm(input: Tensor, norm_weight: Tensor | None, norm_bias: Tensor | None, eps: float, residual_alpha: float = ..., begin_norm_axis: int = ..., bias: Tensor | None = ..., residual: Tensor | None = ..., quant_scale: float = ..., quant_round_type: int = ..., quant_max_bound: float = ..., quant_min_bound: float = ...) -> tuple[Tensor, Tensor | None]: ...
@overload
def fused_linear(x: Tensor, weight: Tensor, bias: Tensor | None = ..., transpose_weight: bool = ..., name: str | None = ...) -> Tensor:
    """Linear transformation: `matmul(x, weight) + bias`."""
@overload
def fused_linear(input: Tensor, weight: Tensor, bias: Tensor | None = ..., transpose_weight: bool = ..., name: str | None = ...) -> Tensor: ...
@overload
def fused_linear_activation(x: Tensor, y: Tensor, bias: Tensor, trans_x: bool = ..., trans_y: bool = ..., activation: str | None = ...) -> Tensor:
    """Linear transformation with an activation: `activation(matmul(x, y) + bias)`."""
@overload
def fused_linear_activation(input: Tensor, other: Tensor, bias: Tensor, trans_x: bool = ..., trans_y: bool = ..., activation: str | None = ...) -> Tensor: ...
@overload
def fused_matmul_bias(x: Tensor, y: Tensor, bias: Tensor | None = ..., transpose_x: bool = ..., transpose_y: bool = ..., name: str | None = ...) -> Tensor:
    """Matrix product with a bias: `matmul(x, y) + bias`."""
@overload
def fused_matmul_bias(input: Tensor, other: Tensor, bias: Tensor | None = ..., transpose_x: bool = ..., transpose_y: bool = ..., name: str | None = ...) -> Tensor: ...
@overload
def fused_multi_head_attention(x: Tensor, qkv_weight: Tensor, linear_weight: Tensor, pre_layer_norm: bool = ..., pre_ln_scale: Tensor | None = ..., pre_ln_bias: Tensor | None = ..., ln_scale: Tensor | None = ..., ln_bias: Tensor | None = ..., pre_ln_epsilon: float = ..., qkv_bias: Tensor | None = ..., linear_bias: Tensor | None = ..., cache_kv: Tensor | None = ..., attn_mask: Tensor | None = ..., dropout_rate: float = ..., attn_dropout_rate: float = ..., ln_epsilon: float = ..., training: bool = ..., mode: str = ..., ring_id: int = ..., add_residual: bool = ..., num_heads: int = ..., transpose_qkv_wb: bool = ..., name: str | None = ...) -> Any:
    """Attention block: `layer_norm(x + dropout(linear(attention(x))))`; with `pre_layer_norm` the input of attention is normalized instead."""
@overload
def fused_multi_head_attention(input: Tensor, qkv_weight: Tensor, linear_weight: Tensor, pre_layer_norm: bool = ..., pre_ln_scale: Tensor | None = ..., pre_ln_bias: Tensor | None = ..., ln_scale: Tensor | None = ..., ln_bias: Tensor | None = ..., pre_ln_epsilon: float = ..., qkv_bias: Tensor | None = ..., linear_bias: Tensor | None = ..., cache_kv: Tensor | None = ..., attn_mask: Tensor | None = ..., dropout_rate: float = ..., attn_dropout_rate: float = ..., ln_epsilon: float = ..., training: bool = ..., mode: str = ..., ring_id: int = ..., add_residual: bool = ..., num_heads: int = ..., transpose_qkv_wb: bool = ..., name: str | None = ...) -> Any: ...
@overload
def fused_multi_transformer(x: Tensor, ln_scales: Sequence[Tensor], ln_biases: Sequence[Any], qkv_weights: Sequence[Tensor], qkv_biases: Sequence[Any] | None, linear_weights: Sequence[Tensor], linear_biases: Sequence[Any] | None, ffn_ln_scales: Sequence[Tensor], ffn_ln_biases: Sequence[Any], ffn1_weights: Sequence[Tensor], ffn1_biases: Sequence[Any] | None, ffn2_weights: Sequence[Tensor], ffn2_biases: Sequence[Any] | None, pre_layer_norm: bool = ..., epsilon: float = ..., cache_kvs: Sequence[Tensor] | None = ..., pre_caches: Any = ..., seq_lens: Any = ..., rotary_embs: Any = ..., time_step: Tensor | None = ..., attn_mask: Tensor | None = ..., dropout_rate: float = ..., rotary_emb_dims: int = ..., activation: str = ..., training: bool = ..., mode: str = ..., trans_qkvw: bool = ..., ring_id: int = ..., name: str | None = ...) -> Any:
    """Several transformer layers, each an attention block and a feed-forward block; lists have one entry per layer."""
@overload
def fused_multi_transformer(input: Tensor, ln_scales: Sequence[Tensor], ln_biases: Sequence[Any], qkv_weights: Sequence[Tensor], qkv_biases: Sequence[Any] | None, linear_weights: Sequence[Tensor], linear_biases: Sequence[Any] | None, ffn_ln_scales: Sequence[Tensor], ffn_ln_biases: Sequence[Any], ffn1_weights: Sequence[Tensor], ffn1_biases: Sequence[Any] | None, ffn2_weights: Sequence[Tensor], ffn2_biases: Sequence[Any] | None, pre_layer_norm: bool = ..., eps: float = ..., cache_kvs: Sequence[Tensor] | None = ..., pre_caches: Any = ..., seq_lens: Any = ..., rotary_embs: Any = ..., time_step: Tensor | None = ..., attn_mask: Tensor | None = ..., dropout_rate: float = ..., rotary_emb_dims: int = ..., activation: str = ..., training: bool = ..., mode: str = ..., trans_qkvw: bool = ..., ring_id: int = ..., name: str | None = ..., *, epsilon: float = ...) -> Any: ...
@overload
def fused_rms_norm(x: Tensor, norm_weight: Tensor, norm_bias: Tensor | None, epsilon: float, begin_norm_axis: int, bias: Tensor | None = ..., residual: Tensor | None = ..., quant_scale: float = ..., quant_round_type: int = ..., quant_max_bound: float = ..., quant_min_bound: float = ...) -> tuple[Tensor, Tensor | None]:
    """RMS norm: `s / sqrt(mean(s * s) + epsilon) * norm_weight + norm_bias` with s = x + bias + residual, over the axes from"""
@overload
def fused_rms_norm(input: Tensor, norm_weight: Tensor, norm_bias: Tensor | None, eps: float, begin_norm_axis: int, bias: Tensor | None = ..., residual: Tensor | None = ..., quant_scale: float = ..., quant_round_type: int = ..., quant_max_bound: float = ..., quant_min_bound: float = ...) -> tuple[Tensor, Tensor | None]: ...
@overload
def masked_multihead_attention(x: Tensor, cache_kv: Tensor | None = ..., bias: Tensor | None = ..., src_mask: Tensor | None = ..., cum_offsets: Tensor | None = ..., sequence_lengths: Tensor | None = ..., rotary_tensor: Tensor | None = ..., beam_cache_offset: Tensor | None = ..., qkv_out_scale: Tensor | None = ..., out_shift: Tensor | None = ..., out_smooth: Tensor | None = ..., seq_len: int = ..., rotary_emb_dims: int = ..., use_neox_rotary_style: bool = ..., compute_dtype: str = ..., out_scale: float = ..., quant_round_type: int = ..., quant_max_bound: float = ..., quant_min_bound: float = ...) -> tuple[Tensor, Tensor]:
    """One decoding step of attention: keys and values of this step are written to the cache, and the query attends to all steps so far."""
@overload
def masked_multihead_attention(input: Tensor, cache_kv: Tensor | None = ..., bias: Tensor | None = ..., src_mask: Tensor | None = ..., cum_offsets: Tensor | None = ..., sequence_lengths: Tensor | None = ..., rotary_tensor: Tensor | None = ..., beam_cache_offset: Tensor | None = ..., qkv_out_scale: Tensor | None = ..., out_shift: Tensor | None = ..., out_smooth: Tensor | None = ..., seq_len: int = ..., rotary_emb_dims: int = ..., use_neox_rotary_style: bool = ..., compute_dtype: str = ..., out_scale: float = ..., quant_round_type: int = ..., quant_max_bound: float = ..., quant_min_bound: float = ...) -> tuple[Tensor, Tensor]: ...
__all__: list[str]
