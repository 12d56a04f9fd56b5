"""Convolutions whose weights stay int8 in the page; activations are quantized dynamically to 7 bits.

engine/int8.cc is the kernel. An activation `x` becomes `clip(round(x / step) + zero, 0, 127)`. Step and zero follow from the least and the largest
value of a pixel, where the window is a point, else of an image. So sums of products are exact, and four times as many fit into a vector.
"""
from __future__ import annotations

from collections.abc import Collection

import wherry_tensor as api
from wherry_program.program.capture import capture
from wherry_program.program.ir import Node, Program, Variable
from wherry_tensor import ops
from wherry_tensor._core import Tensor, float32

__all__ = ["int8_weights", "packed", "quantized_inputs"]

ACTIVATIONS = ("none", "relu", "relu6")  # that the kernel has
MOST = 127
FEWEST = 1024  # elements of a weight: below, quantizing the input costs more than it gains


def int8_weights(program: Program) -> set[int]:
    """ids of the tensors that only such convolutions read, as their weights."""
    users: dict[int, list[bool]] = {}
    for node in program.walk():
        for position, x in enumerate(node.inputs):
            if x is not None and x.bound is not None:
                users.setdefault(id(x.bound), []).append(position == 1 and node.block is program.blocks[0] and _serves(node))
    kept = {id(x.bound) for x in program.fetches if x.bound is not None}
    return {at for at, found in users.items() if all(found)} - kept


def _serves(node: Node) -> bool:
    if node.op is not ops.conv2d_blocked or node.attr("activation") not in ACTIVATIONS:
        return False
    x, weight = node.inputs[:2]
    assert x is not None and weight is not None and weight.bound is not None
    return len(x.sizes) == 5 and x.dtype is float32 and weight.bound.size >= FEWEST and bool(api.all(api.isfinite(weight.bound)))


def packed(weight: Tensor, scales: Tensor) -> bytes:
    """An int8 weight [out blocks, blocks, kh, kw, inputs, 16] as the kernel reads it: by fours of inputs, which lie side by side; then
    the factor of each output."""
    m, n, kh, kw, inputs, lanes = weight.shape
    fours = -(-inputs // 4)
    if inputs % 4:
        weight = api.concat([weight, api.zeros([m, n, kh, kw, 4 * fours - inputs, lanes], "int8")], axis=4)
    by_fours = api.transpose(api.reshape(weight, [m * n * kh * kw, fours, 4, lanes]), [0, 1, 3, 2])
    return bytes(memoryview(ops.copy(by_fours))) + bytes(memoryview(ops.copy(api.reshape(scales, [-1]))))


def quantized_inputs(program: Program, tensors: Collection[int]) -> Program:
    """The program with the inputs of the convolutions by these weights as the page has them: integers times a step."""
    out, _ = program.copy()
    main = out.blocks[0]
    nodes, recording = list(main.nodes), capture(main)
    main.nodes[:] = []
    for node in nodes:
        if len(node.inputs) > 1 and node.inputs[1] is not None and id(node.inputs[1].bound) in tensors:
            x, weight, *others = node.inputs
            assert isinstance(x, Variable)
            recording.take_place_of(node)
            with recording:
                quantized = _quantized(x, axes=(1, 4) if _is_point(node) else (1, 2, 3, 4))
            node.inputs = (recording.variable_of(quantized), weight, *others)
        main.nodes.append(node)
    return out


def _is_point(node: Node) -> bool:
    weight = node.inputs[1]
    assert weight is not None
    return tuple(weight.sizes[2:4]) == (1, 1) and tuple(node.attr("strides")) == (1, 1) and not any(node.attr("paddings"))


def _quantized(x: Tensor, axes: tuple[int, ...]) -> Tensor:
    none = api.zeros([1], "float32")
    least = api.minimum(api.min(x, axis=list(axes), keepdim=True), none)
    width = api.maximum(api.max(x, axis=list(axes), keepdim=True), none) - least
    inverse = api.where(width > 0, MOST / api.maximum(width, api.full([1], 1e-38, "float32")), none)
    zero = api.round(-least * inverse)
    return (api.clip(api.round(x * inverse) + zero, 0, MOST) - zero) * (width / MOST)
