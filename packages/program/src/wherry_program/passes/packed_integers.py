"""Products and convolutions of integers with weights that are packed before a program runs."""
from __future__ import annotations

from collections.abc import Callable

from wherry_autograd import no_grad
from wherry_program.passes.rewriting import bound_constant, forget_unused, is_pure, put_instead, to_change, volatile
from wherry_program.program.ir import Node, Program, Variable
from wherry_tensor import ops
from wherry_tensor._core import Op, Tensor, int32
from wherry_tensor.ops.quantized import packed_conv_weight, packed_linear_weight, signed_weight

__all__ = ["packed_integers"]

# The op in place of one, what puts its weight in order, and the axes of that weight which are summed.
_PACKED: dict[Op, tuple[Op, Callable[[Tensor], Tensor], tuple[int, ...]]] = {
    ops.matmul_int8: (ops.packed_matmul_int8, packed_linear_weight, (0,)),
    ops.conv2d_int8: (ops.packed_conv2d_int8, packed_conv_weight, (1, 2, 3)),
}


def packed_integers(program: Program) -> Program:
    """Put the weights of products and convolutions whose sums are integers in order now, where each run would.

    Weights and their zero points have to be constants. The sums are the same.
    """
    out = to_change(program)
    found = [node for node in out.walk() if node.op in _PACKED]
    if not found:
        return out
    changing = volatile(out)
    made: dict[tuple[int, int], tuple[Variable | None, ...]] = {}
    for node in found:
        op, pack, summed = _PACKED[node.op]
        x, weight, x_zero, zero = (*node.inputs, None, None)[:4]
        if weight is None or weight.bound is None or (zero is not None and zero.bound is None) or not is_pure(node, changing) or not _fits(node):
            continue
        key = id(weight), id(zero)
        if key not in made:
            with no_grad():
                given, point = signed_weight(weight.bound.detach(), None if zero is None else zero.bound)
                sums = ops.reduce_sum(ops.cast(given, dtype=int32), summed, False)
                parts = (pack(given), ops.cast(sums, dtype=int32), point)
                made[key] = tuple([None if one is None else bound_constant(out, one, weight) for one in parts])
        ready, sums_of, zero_of = made[key]
        put_instead(node, op, (x, ready, sums_of, x_zero, zero_of), _attrs_of(node))
    if made:
        forget_unused(out)
    return out


def _fits(node: Node) -> bool:
    """Whether the packed op has this form: a matrix as it lies, channels that are not divided into groups."""
    if node.op is ops.conv2d_int8:
        return bool(node.attr("groups") == 1)
    x, y = node.inputs[:2]
    return not node.attr("transpose_x") and not node.attr("transpose_y") and x is not None and y is not None and x.ndim > 1 and y.ndim == 2


def _attrs_of(node: Node) -> tuple[object, ...]:
    return () if node.op is ops.matmul_int8 else (*node.attrs[:3], node.attrs[4])
