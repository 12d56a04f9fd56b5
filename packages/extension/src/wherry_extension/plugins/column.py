"""The column `plugin`: how ops run on the kernels that Paddle's device plug-ins register.

A rule is called as `plugin_<op>(w, out, *inputs, **attrs)` with a `Writer`, the outputs (a tuple where there are several) and what
the op was called with, as Operands. It writes the program, or raises Declined where the kernels do not serve such a call; the op
then runs as one without a kernel does. Names and parameters of kernels are those of Paddle's headers, `or_args` those of other
versions. Kernels of plug-ins get contiguous tensors of equal shapes: they need not know strides or broadcasting.
"""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from wherry_extension.plugins.programs import Bound, Declined, KernelTable, Writer
from wherry_tensor._core import Op
from wherry_tensor.columns import Column

SERVES_VOCABULARY = 5

plugin = Column(
    "plugin", "wherry-extension", "no kernel of a plug-in serves it", serves=SERVES_VOCABULARY, optional=True,
)
kernel_names: dict[Op, tuple[str, ...]] = {}  # that a rule needs; without one of them it is not asked
any_dtype: set[Op] = set()  # ops whose first input does not have the dtype of the kernel
host_numbers: set[Op] = set()  # ops whose rule reads inputs of rank 0 with `Writer.number` alone: they need not be on the device


def serves(op: Op, *names: str, first: bool = True, numbers: bool = False) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Decorator: the function writes programs for `op`.

    Args:
        op: the op.
        names: kernels without which it cannot; of `a|b` one is enough.
        first: whether the dtype under which they are registered is that of the op's first input.
        numbers: whether the rule takes inputs of rank 0 as `Writer.number` alone.
    """
    kernel_names[op] = names
    if not first:
        any_dtype.add(op)
    if numbers:
        host_numbers.add(op)
    return plugin.rule(op)


def bind(table: KernelTable, op: Op, inputs: tuple[Any, ...], outputs: tuple[Any, ...], attrs: dict[str, Any]) -> Bound | None:
    """The program of a call; None where the kernels do not serve it."""
    try:
        writer = Writer(table, op.name, inputs, outputs)
        out: Any = tuple(writer.outputs) if len(outputs) > 1 else writer.outputs[0]
        plugin.rules[op](writer, out, *writer.inputs, **attrs)
    except Declined:
        return None
    return Bound(writer)
