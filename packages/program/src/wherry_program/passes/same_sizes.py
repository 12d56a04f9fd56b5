"""Which unknown sizes of a program are certainly equal."""
from __future__ import annotations

from wherry_program.program.ir import Node, Program, Variable
from wherry_tensor import ops
from wherry_tensor.ops.declare import family_of
from wherry_tensor.sizes import Size

__all__ = ["SameSizes"]

# Their first result has the sizes of their first input, ...
_AS_FIRST = (
    ops.copy, ops.cast, ops.dropout, ops.dropout_add, ops.layer_norm, ops.group_norm, ops.batch_norm, ops.batch_norm_relu, ops.batch_norm_infer,
    ops.softmax, ops.quantize_linear, ops.dequantize_linear,
)
# ... or some of its axes have.
_AXES_OF_FIRST = {ops.attention: 3, ops.attention_dropout: 3, ops.conv2d: 1, ops.conv2d_blocked: 1, ops.winograd_conv2d_blocked: 1,
                  ops.depthwise_conv2d_blocked: 1, ops.max_pool2d_blocked: 1}


class SameSizes:
    """Traces where each unknown size of a program comes from, as far as shape rules tell.

    A variable that is not of the program when this is made has sizes of its own.
    """

    def __init__(self, program: Program) -> None:
        self._from: dict[tuple[int, int], tuple[int, int]] = {}  # (id of a variable, axis) -> those of the first one with this size
        for node in program.walk():
            if not node.in_place and node.outputs:
                self._look_at(node, node.outputs[0])

    def of(self, x: Variable) -> tuple[object, ...]:
        """A key that is equal for variables whose shapes are equal in every run."""
        return tuple(n if n >= 0 else self._first(x, axis) for axis, n in enumerate(x.sizes))

    def _first(self, x: Variable, axis: int) -> tuple[int, int]:
        return self._from.get((id(x), axis), (id(x), axis))

    def _look_at(self, node: Node, out: Variable) -> None:
        for axis, n in enumerate(out.sizes):
            if n < 0:
                found = self._source(node, axis, len(out.sizes))
                if found is not None:
                    self._from[id(out), axis] = found

    def _source(self, node: Node, axis: int, rank: int) -> tuple[int, int] | None:
        op, first = node.op, node.inputs[0] if node.inputs else None
        if op is ops.reshape or op is ops.full:
            n = node.attrs[0][axis]
            return self._first(n.source[1], n.source[2]) if isinstance(n, Size) and n.source[0] == "axis" else None
        if first is None or node.is_control:
            return None
        if op is ops.transpose:
            return self._first(first, node.attrs[0][axis])
        if op in _AS_FIRST or axis < _AXES_OF_FIRST.get(op, 0) or (op is ops.linear and axis < rank - 1):
            return self._first(first, axis)
        if family_of(op) in ("elementwise", "activation"):
            # What is not stretched has the size of the result.
            sources = set()
            for x in node.inputs:
                own = -1 if x is None else axis - rank + len(x.sizes)
                if x is not None and own >= 0 and x.sizes[own] != 1:
                    sources.add(self._first(x, own))
            return sources.pop() if len(sources) == 1 else None
        return None
