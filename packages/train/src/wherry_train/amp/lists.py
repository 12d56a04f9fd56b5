"""Which ops run in 16 bits under autocast: a column over the op vocabulary.

| rule | O1 | O2 | which |
|---|---|---|---|
| white | 16 bits | 16 bits | products, where 16 bits pay and sums are kept in float32 anyway |
| black | float32 | by its inputs | sums, exponentials, losses: they lose digits or overflow |
| always_black | float32 | float32 | ops that add many values into few elements |
| keep | as it comes | as it comes | ops that take 16-bit and float32 inputs side by side |
| promote (no rule) | float32 if any input is | the same, or 16 bits without `use_promote` | everything else |

The choice is Paddle's. Its lists have the names of Paddle's old ops; `aliases` maps them to ours.
"""
from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from wherry_tensor import _core, ops
from wherry_tensor._core import DType, Op, Tensor
from wherry_tensor.columns import Column
from wherry_tensor.explained import explained

__all__ = ["aliases", "autocast", "black_list", "table", "white_list"]

Inputs = tuple[Tensor | None, ...]

SERVES_VOCABULARY = 5  # what the lists below were written for

autocast = Column(
    "autocast", "wherry-train", "promote: float32 if any input is float32, else as the inputs are",
    serves=SERVES_VOCABULARY, optional=True,
)

_float32 = _core.float32
_castable = frozenset((_core.float16, _core.bfloat16, _float32))


def white(inputs: Inputs, low: DType) -> Inputs:
    """All of them in 16 bits."""
    for x in inputs:
        if x is not None and x.dtype is not low and x.dtype in _castable:
            return _cast(inputs, low)
    return inputs


def black(inputs: Inputs, low: DType) -> Inputs:
    """All of them in float32."""
    for x in inputs:
        if x is not None and x.dtype is not _float32 and x.dtype in _castable:
            return _cast(inputs, _float32)
    return inputs


def always_black(inputs: Inputs, low: DType) -> Inputs:
    """As `black`, in O2 too."""
    return black(inputs, low)


def keep(inputs: Inputs, low: DType) -> Inputs:
    """As they come."""
    return inputs


def promote(inputs: Inputs, low: DType) -> Inputs:
    """In float32 if one of them is; else as they come."""
    has_float32 = has_half = False
    for x in inputs:
        if x is not None:
            dtype = x.dtype
            if dtype is _float32:
                has_float32 = True
            elif dtype in _castable:
                has_half = True
    return _cast(inputs, _float32) if has_float32 and has_half else inputs


def _cast(inputs: Inputs, dtype: DType) -> Inputs:
    return tuple(
        [
            x if x is None or x.dtype is dtype or x.dtype not in _castable else ops.cast(x, dtype=dtype)
            for x in inputs
        ]
    )


_rules = {
    white: (ops.matmul, ops.linear, ops.conv2d, ops.attention, ops.attention_dropout, ops.attention_lengths),
    black: (
        ops.acos, ops.asin, ops.atanh, ops.cosh, ops.sinh, ops.tan, ops.exp, ops.expm1, ops.log, ops.log2, ops.log10,
        ops.log1p, ops.erfinv, ops.power, ops.square, ops.rsqrt, ops.reciprocal, ops.softplus, ops.tanhshrink,
        ops.reduce_sum, ops.reduce_mean, ops.reduce_prod, ops.variance, ops.squared_l2_norm, ops.l2_norm, ops.cumsum, ops.cumprod,
        ops.softmax, ops.log_softmax, ops.layer_norm, ops.cross_entropy, ops.nll_loss, ops.label_mean,
        ops.binary_cross_entropy, ops.binary_cross_entropy_logits, ops.smooth_l1_loss, ops.difference_loss, ops.ctc_loss,
        ops.roi_align, ops.roi_pool, ops.psroi_pool, ops.deform_columns, ops.suppress,
    ),
    always_black: (ops.scatter,),
    keep: (
        ops.cast, ops.batch_norm, ops.batch_norm_relu, ops.batch_norm_infer, ops.group_norm, ops.sum_of_squares, ops.all_finite,
        ops.sgd, ops.momentum, ops.adam, ops.adamw, ops.adagrad, ops.adadelta, ops.adamax, ops.rmsprop, ops.lamb, ops.nadam,
        ops.radam, ops.rprop,
    ),
}
for _rule, _ops in _rules.items():
    for _op in _ops:
        autocast.rule(_op)(_rule)

# What people write into custom lists are the names of Paddle's ops. Names that are not here and that
# no op of ours has are those of ops that we build from others; they change nothing.
aliases: dict[str, tuple[Op, ...]] = {
    "elementwise_add": (ops.add,),
    "fused_dropout_add": (ops.dropout_add,),
    "elementwise_sub": (ops.subtract,),
    "elementwise_mul": (ops.multiply,),
    "elementwise_div": (ops.divide,),
    "elementwise_pow": (ops.power,),
    "elementwise_max": (ops.maximum,),
    "elementwise_min": (ops.minimum,),
    "elementwise_mod": (ops.remainder,),
    "elementwise_floordiv": (ops.floor_divide,),
    "matmul": (ops.matmul, ops.linear),
    "matmul_v2": (ops.matmul, ops.linear),
    "mul": (ops.matmul, ops.linear),
    "bmm": (ops.matmul,),
    "fc": (ops.linear,),
    "depthwise_conv2d": (ops.conv2d,),
    "lookup_table": (ops.embedding,),
    "lookup_table_v2": (ops.embedding,),
    "softmax_with_cross_entropy": (ops.cross_entropy,),
    "cross_entropy2": (ops.cross_entropy,),
    "sigmoid_cross_entropy_with_logits": (ops.binary_cross_entropy_logits,),
    "bce_loss": (ops.binary_cross_entropy,),
    "huber_loss": (ops.smooth_l1_loss,),
    "kldiv_loss": (ops.kl_div,),
    "warpctc": (ops.ctc_loss,),
    "flash_attn": (ops.attention, ops.attention_dropout),
    "flash_attn_unpadded": (ops.attention_lengths, ops.attention_dropout),
    "variable_length_memory_efficient_attention": (ops.attention_lengths,),
    "deformable_conv": (ops.deform_columns,),
    "mean": (ops.reduce_mean,),
    "sum": (ops.reduce_sum,),
    "prod": (ops.reduce_prod,),
    "max": (ops.reduce_max,),
    "min": (ops.reduce_min,),
    "pow": (ops.power,),
    "tanh_shrink": (ops.tanhshrink,),
    "swish": (ops.silu,),
    "hard_sigmoid": (ops.hardsigmoid,),
    "hard_swish": (ops.hardswish,),
    "batch_norm": (ops.batch_norm, ops.batch_norm_relu, ops.batch_norm_infer),
    "pool2d": (ops.max_pool2d, ops.avg_pool2d, ops.adaptive_avg_pool2d, ops.adaptive_max_pool2d),
    "max_pool2d_with_index": (ops.max_pool2d,),
    "reshape2": (ops.reshape,),
    "transpose2": (ops.transpose,),
    "squeeze2": (ops.squeeze,),
    "unsqueeze2": (ops.unsqueeze,),
    "expand_v2": (ops.broadcast_to,),
    "scatter_nd_add": (ops.scatter_nd_add,),
    "rnn": (ops.lstm, ops.gru, ops.simple_rnn),
}


def named(name: str) -> tuple[Op, ...]:
    """The ops that a name in a custom list means."""
    found = aliases.get(name)
    if found is None:
        op = getattr(ops, name, None)
        found = (op,) if isinstance(op, Op) else ()
    return found


def table(level: str, use_promote: bool, custom_white: Iterable[str], custom_black: Iterable[str]) -> dict[Op | None, Any]:
    """The rule of each op that has one, for a level: "OD", "O1" or "O2"; the others' is under None."""
    rules: dict[Op | None, Any] = {None: promote}
    if level == "OD":
        rules[None] = black
    elif level == "O2" and not use_promote:
        rules[None] = white
    for op, rule in autocast.rules.items():
        if level == "O2" and rule is black:
            if op is not ops.layer_norm:
                continue  # as any other op
            rule = keep  # its scale and bias may be float32 beside an input of 16 bits
        if level == "OD" and op in (ops.batch_norm, ops.batch_norm_relu, ops.batch_norm_infer):
            rule = black
        rules[op] = rule
    for name in custom_black:
        for op in named(name):
            rules[op] = black
    for name in custom_white:
        for op in named(name):
            rules[op] = white
    return rules


def white_list() -> set[str]:
    """Names of the ops that run in 16 bits."""
    return {op.name for op, rule in autocast.rules.items() if rule is white}


def black_list() -> set[str]:
    """Names of the ops that run in float32 in level O1."""
    return {op.name for op, rule in autocast.rules.items() if rule in (black, always_black)}


explained(globals())
