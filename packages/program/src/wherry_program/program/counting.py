"""Counting the operations of a program for one sample."""
from __future__ import annotations

import math
from collections.abc import Callable

from wherry_program.program.ir import FORWARD, Node, Program, Variable

__all__ = ["operations"]


def operations(program: Program) -> list[tuple[str, str, int]]:
    """What costs: the type of an op, the name of its weight or "", and its operations for one sample.

    One for each multiply-add, as `paddle.flops` counts programs: the first axis of results counts as 1, and so do sizes that are not
    known. Convolutions, products with a parameter, sums of tensors, pooling and batch normalization are counted, other ops are not.
    """
    found = []
    for node in program.walk():
        count = _RULES.get(node.type)
        if count is not None and node.role == FORWARD:
            n = count(node)
            if n:
                weight = next((x.name for x in node.inputs if x is not None and x.is_parameter), "")
                found.append((node.type, weight, n))
    return found


def _sizes(x: Variable | None) -> list[int]:
    """The sizes of one sample."""
    return [] if x is None else [max(n, 1) for n in x.sizes[1:]]


def _convolution(node: Node) -> int:
    x, weight = node.inputs[:2]
    if x is None or weight is None:
        return 0
    # Of a transposed one each value of the input meets a kernel, of others each value of the result.
    ends = _sizes(x if "transpose" in node.type else node.outputs[0])
    return math.prod(ends) * math.prod(weight.sizes[1:]) + _bias(node)


def _product(node: Node) -> int:
    weight = node.inputs[1]
    if weight is None or not weight.is_parameter or len(weight.sizes) != 2:
        return 0
    turned = node.type == "matmul" and bool(node.attr("transpose_y"))
    return math.prod(_sizes(node.outputs[0])) * weight.sizes[1 if turned else 0] + _bias(node)


def _bias(node: Node) -> int:
    return math.prod(_sizes(node.outputs[0])) if len(node.inputs) > 2 and node.inputs[2] is not None else 0


def _each(node: Node) -> int:
    return math.prod(_sizes(node.outputs[0])) if len(node.outputs[0].sizes) > 1 else 0


def _window(node: Node) -> int:
    return math.prod(_sizes(node.inputs[0])) + math.prod(_sizes(node.outputs[0]))


_RULES: dict[str, Callable[[Node], int]] = {
    **dict.fromkeys(("conv2d", "conv3d", "conv2d_transpose", "conv3d_transpose"), _convolution),
    **dict.fromkeys(("matmul", "linear"), _product),
    "add": _each,
    **dict.fromkeys(("max_pool2d", "avg_pool2d", "adaptive_avg_pool2d", "adaptive_max_pool2d"), _window),
    **dict.fromkeys(("batch_norm", "batch_norm_relu", "batch_norm_infer"), lambda node: 2 * _each(node)),
}
