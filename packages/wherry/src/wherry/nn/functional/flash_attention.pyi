"""Stub of wherry.nn.functional.flash_attention, written by tools/stubs.py: where each public name comes from."""
from wherry_nn.functional.attention import scaled_dot_product_attention as scaled_dot_product_attention
from wherry_nn.functional.flash_attention import SDPBackend as SDPBackend
from wherry_nn.functional.flash_attention import flash_attention as flash_attention
from wherry_nn.functional.flash_attention import flash_attn_qkvpacked as flash_attn_qkvpacked
from wherry_nn.functional.flash_attention import flash_attn_unpadded as flash_attn_unpadded
from wherry_nn.functional.flash_attention import flash_attn_varlen_func as flash_attn_varlen_func
from wherry_nn.functional.flash_attention import flash_attn_varlen_qkvpacked as flash_attn_varlen_qkvpacked
from wherry_nn.functional.flash_attention import flashmask_attention as flashmask_attention
from wherry_nn.functional.flash_attention import sdp_kernel as sdp_kernel
from wherry_nn.functional.flash_attention import sdpa_kernel as sdpa_kernel
__all__: list[str]
