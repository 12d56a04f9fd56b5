"""Attention. Paddle's own operators for it run on GPUs alone, so both ops are written as what they consist of."""
import wherry_nn.functional as F
from wherry_graph.paddle_files.column import reads


@reads("flash_attn", out="out")
def read_flash_attn(o):
    out = F.scaled_dot_product_attention(
        o.x("q"), o.x("k"), o.x("v"), o.maybe("attn_mask"), o.number("dropout"), o.flag("causal"), not o.flag("is_test")
    )
    return {"out": out}
