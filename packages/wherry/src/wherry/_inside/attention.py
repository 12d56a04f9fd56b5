"""Parts of attention that libraries take from `paddle.nn.layer.transformer` and `paddle.incubate.nn.memory_efficient_attention`."""
from __future__ import annotations

import math
from typing import Any

import wherry
from wherry_nn.layers.transformer import _attributes
from wherry_tensor import Tensor

__all__ = ["memory_efficient_attention"]


def _convert_attention_mask(attn_mask: Tensor | None, dtype: Any) -> Tensor | None:
    """A mask as a number that is added to scores: True, or 1, adds 0, and False -1e9."""
    if attn_mask is None or attn_mask.dtype == dtype:
        return attn_mask
    mask = attn_mask.astype(dtype)
    return mask if attn_mask.is_floating_point() else (mask - 1.0) * 1e9


def _convert_param_attr_to_list(param_attr: Any, n: int) -> list[Any]:
    """An attribute for each of `n` parts, from one for all or a list of them."""
    attrs = [wherry.ParamAttr._to_attr(attr) for attr in _attributes(param_attr, n, "layer", "param_attr")]
    several = isinstance(param_attr, (list, tuple))
    return attrs if several else [attr if i == 0 else _unnamed(attr, i) for i, attr in enumerate(attrs)]


def _unnamed(attr: Any, i: int) -> Any:
    """The same attribute for a further part: a name gets its number."""
    if attr is False or attr.name is None:
        return attr
    made = wherry.ParamAttr()
    vars(made).update(vars(attr), name=f"{attr.name}_{i}")
    return made


def memory_efficient_attention(
    query: Tensor, key: Tensor, value: Tensor, attn_bias: Any = None, p: float = 0.0, scale: float | None = None, training: bool = True
) -> Tensor:
    """Attention over `[batch, time, heads, width]`. Source: `paddle.incubate.nn.memory_efficient_attention`.

    Args:
        attn_bias: a Tensor that is added to the scores, or None.
        p: the share of weights that is dropped in training.
        scale: of the scores; None is one by the root of the width.
    """
    usual = 1.0 / math.sqrt(query.shape[-1])
    scaled = query if scale is None else query * (scale / usual)
    return wherry.nn.functional.scaled_dot_product_attention(scaled, key, value, attn_bias, p, False, training)
