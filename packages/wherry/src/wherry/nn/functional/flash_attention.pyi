"""Stub of wherry.nn.functional.flash_attention, written by tools/stubs.py: where each public name comes from."""
from typing import Any
from typing import overload
from wherry_tensor._core import Tensor
from wherry_nn.functional import flash_attn_qkvpacked as flash_attn_qkvpacked
from wherry_nn.functional import flash_attn_varlen_qkvpacked as flash_attn_varlen_qkvpacked
from wherry_nn.functional import flashmask_attention as flashmask_attention
from wherry_nn.functional import scaled_dot_product_attention as scaled_dot_product_attention
from wherry_nn.functional.flash_attention import SDPBackend as SDPBackend
from wherry_nn.functional.flash_attention import flash_attn_unpadded as flash_attn_unpadded
from wherry_nn.functional.flash_attention import flash_attn_varlen_func as flash_attn_varlen_func
from wherry_nn.functional.flash_attention import sdp_kernel as sdp_kernel
from wherry_nn.functional.flash_attention import sdpa_kernel as sdpa_kernel
@overload
def flash_attention(query: Tensor, key: Tensor, value: Tensor, dropout: float = ..., causal: bool = ..., return_softmax: bool = ..., *, fixed_seed_offset: Tensor | None = ..., rng_name: str = ..., training: bool = ..., name: str | None = ...) -> tuple[Tensor, Tensor | None]:
    """Scaled dot product attention: `softmax(query @ key' / sqrt(D)) @ value` for each head, without the matrix of scores in memory."""
@overload
def flash_attention(query: Tensor, key: Tensor, value: Tensor, dropout: float = ..., causal: bool = ..., return_softmax: bool = ..., *, fixed_seed_offset: Tensor | None = ..., rng_name: str = ..., training: bool = ..., name: str | None = ..., softmax_scale: Any = ...) -> tuple[Tensor, Tensor | None]: ...
__all__: list[str]
