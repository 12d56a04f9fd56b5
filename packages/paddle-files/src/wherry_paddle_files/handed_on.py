"""Which of Paddle's operators hand the offsets of sequences on: as Paddle 2.6.2 does, found by running it.

What Paddle hands on although the rows are others (`gather`, `tile` of rows) is not.
"""
from __future__ import annotations

from typing import Any

from wherry_paddle_files.sequences import with_offsets
from wherry_program.program.ir import Variable
from wherry_tensor import ops

__all__ = ["hand_on"]

# Operators with a row of "Out" for each row of "X".
_ROW_BY_ROW = frozenset(
    "assign brelu cast ceil clip clip_by_norm concat cos crop_tensor cumsum dropout elementwise_add elementwise_div elementwise_max elementwise_min "
    "elementwise_mul elementwise_pow elementwise_sub elu equal erf exp expand expand_v2 fill_any_like fill_zeros_like flatten flatten2 "
    "flatten_contiguous_range flip floor gelu greater_equal greater_than hard_shrink hard_sigmoid hard_swish leaky_relu less_equal less_than log "
    "log_softmax logical_and logical_not logical_or logical_xor logit logsigmoid matmul minus mish mul not_equal one_hot one_hot_v2 pad pow "
    "prelu reciprocal relu relu6 reshape reshape2 reverse round row_conv rsqrt scale sigmoid sigmoid_cross_entropy_with_logits sign silu sin "
    "softmax soft_relu softplus softsign split sqrt square squeeze squeeze2 stanh sum swish tanh thresholded_relu tile unsqueeze unsqueeze2 "
    "where".split()
)
_OTHERS = {
    "argsort": ("X", ("Out", "Indices")), "batch_norm": ("X", ("Y",)), "cross_entropy": ("X", ("Y",)), "fc": ("Input", ("Out",)),
    "layer_norm": ("X", ("Y",)), "lookup_table": ("Ids", ("Out",)), "lookup_table_v2": ("Ids", ("Out",)), "slice": ("Input", ("Out",)),
    "softmax_with_cross_entropy": ("Logits", ("Softmax", "Loss")), "stack": ("X", ("Y",)), "top_k": ("X", ("Out", "Indices")),
    "top_k_v2": ("X", ("Out", "Indices")),
}


def hand_on(op: Any, results: dict[str, Any]) -> None:
    """Give what an operator gave the offsets of its first input, where it has a row for each row of that."""
    slot, outs = ("X", ("Out",)) if op.type in _ROW_BY_ROW else _OTHERS.get(op.type, ("", ()))
    first = op.maybe(slot) if slot else None
    if first is None or not (offsets := _of(first)):
        return
    given = op.xs(slot)
    if op.type == "concat" and op.integer("axis") in (0, -given[0].ndim):
        offsets = _one_after_the_other([_of(x) for x in given])
    elif not _keeps_rows(op, given[0]):
        return
    for name in outs:
        found = results.get(name)
        for x in found if isinstance(found, (list, tuple)) else [found]:
            if isinstance(x, Variable) and x.ndim and not x.persistable and not x.is_data:
                with_offsets(x, offsets)


def _of(x: Any) -> tuple[Any, ...]:
    return x.__dict__.get("offsets", ()) if isinstance(x, Variable) else ()


def _keeps_rows(op: Any, x: Variable) -> bool:
    """Whether the rows of the result are those of the input."""
    if op.type in ("split", "stack"):
        return op.integer("axis") not in (0, -x.ndim)
    if op.type in ("slice", "unsqueeze", "unsqueeze2", "flip", "reverse", "squeeze", "squeeze2"):
        return 0 not in op.integers("axis" if op.type in ("flip", "reverse") else "axes")
    if op.type in ("flatten", "flatten2"):
        return op.integer("axis", 1) == 1
    if op.type == "flatten_contiguous_range":
        return op.integer("start_axis", 1) > 0
    if op.type in ("expand", "tile"):
        return op.integers("expand_times" if op.type == "expand" else "repeat_times")[:1] == [1]
    return True


def _one_after_the_other(levels: list[tuple[Any, ...]]) -> tuple[Any, ...]:
    """The offsets of sequences that are concatenated as they are; () unless each has one level."""
    if any(len(each) != 1 for each in levels):
        return ()
    out = levels[0][0]
    for (each,) in levels[1:]:
        out = ops.concat(out, ops.add(each[1:], out[-1]), axis=0)
    return (out,)
