"""The onnx column: how an op of the vocabulary is written as ONNX nodes.

    @to_onnx.rule(ops.softmax)
    def onnx_softmax(g, x, *, axis):
        return g.op("Softmax", x, axis=axis)

A rule takes the writer, a `Value` for each input (None for an absent one) and the attributes by keyword; attributes may hold sizes
that only the running model knows (`g.size`, `g.shape`). It returns the name of the output, or a tuple of names (None for an output
that nobody uses: `g.wanted` says which are). An op without a rule is written as its decomposition; a rule that returns NotImplemented
leaves that call to it too.
"""
from __future__ import annotations

from wherry_tensor._core import Op
from wherry_tensor.columns import Column

__all__ = ["LOOP", "cannot", "to_onnx"]

SERVES_VOCABULARY = 5  # what the rules of this package were written for

to_onnx = Column("onnx", "wherry-export", "that of its decomposition", serves=SERVES_VOCABULARY, optional=True)

LOOP = "written as the loop of wherry_program.program.loop_forms"  # said of ops that have no rule for this reason


def cannot(op: Op, reason: str) -> None:
    """Declare that ONNX cannot express `op`, and why."""
    to_onnx.exempt(op, reason)
