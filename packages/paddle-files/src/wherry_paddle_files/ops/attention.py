"""Attention. Paddle's operators for it run only on GPUs, so the ops are written as their decompositions."""
import wherry_nn.functional as F
from wherry_nn.functional.flash_attention import flash_attn_unpadded
from wherry_nn.functional.language import variable_length_memory_efficient_attention
from wherry_paddle_files.column import reads


@reads("flash_attn", out="out")
def read_flash_attn(o):
    out = F.scaled_dot_product_attention(
        o.x("q"), o.x("k"), o.x("v"), o.maybe("attn_mask"), o.number("dropout"), o.flag("causal"), not o.flag("is_test")
    )
    return {"out": out}


@reads("flash_attn_unpadded", out="out")
def read_flash_attn_unpadded(o):
    if o.maybe("attn_mask") is not None:
        raise o.bad("an attn_mask", "sequences without one")
    out, _ = flash_attn_unpadded(
        o.x("q"), o.x("k"), o.x("v"), o.x("cu_seqlens_q"), o.x("cu_seqlens_k"), o.integer("max_seqlen_q"), o.integer("max_seqlen_k"),
        o.number("scale"), o.number("dropout"), o.flag("causal"), training=not o.flag("is_test"),
    )
    return {"out": out}


@reads("variable_length_memory_efficient_attention", out="out")
def read_variable_length_memory_efficient_attention(o):
    return variable_length_memory_efficient_attention(
        o.x("query"), o.x("key"), o.x("value"), o.x("seq_lens"), o.x("kv_seq_lens"), o.maybe("mask"), o.number("scale"), o.flag("causal"),
        o.integer("pre_cache_length"),
    )
