"""What operators become, written down once for each combination of attributes and of dtypes and sizes of inputs.

Models repeat their blocks, and servers load one model several times. A rule whose nodes follow from the operator's attributes and its inputs'
dtypes and sizes alone (`_REPEATED`) need not be called again: the nodes are made from what the first call has left, as the dispatcher runs
a call of known shapes by a plan. Whatever the rule refused the first time is never written down, so it is refused each time.
"""
from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from wherry_paddle_files.desc import AS_IT_IS, AttrType, OpDesc
from wherry_program.program.ir import Node, StaticParameter, Variable
from wherry_tensor._core import DType, Op, hold_sizes, topmost_layer
from wherry_tensor.paddle_version import is_3

__all__ = ["Recipe", "Situation", "recipe_of", "situation_of", "write_down"]

_REPEATED = frozenset(
    "batch_norm conv2d depthwise_conv2d dropout elementwise_add elementwise_div elementwise_mul elementwise_sub flatten_contiguous_range gelu "
    "hard_sigmoid hard_swish layer_norm leaky_relu matmul matmul_v2 pool2d relu relu6 reshape2 scale sigmoid silu softmax swish tanh "
    "transpose2".split()
)
_KINDS = AS_IT_IS - {AttrType.VAR, AttrType.VARS, AttrType.BLOCK, AttrType.BLOCKS} | {int(AttrType.STRING)}
_UNREAD = frozenset(("op_callstack", "op_namescope", "op_role_var", "op_device"))
_SPECIAL = frozenset(("check", "cuts_gradient", "folded", "now", "offsets", "undefined"))  # what a rule may look at, or must hand on
_MOST_KEPT, _LONGEST = 2000, 16  # recipes; numbers and letters of an attribute

Results = tuple[tuple[str, int], ...]


class Recipe:
    """Nodes without their variables.

    Attributes:
        steps: op, inputs, attributes and the sizes and dtypes of outputs. An input is the place of a value: the operator's inputs come first, then
            the outputs of the steps, in order; -1 is none.
        results: output slots and places.
    """

    __slots__ = ("results", "steps")

    def __init__(self, steps: list[tuple[Op, tuple[int, ...], tuple[Any, ...], list[tuple[tuple[int, ...], DType]]]], results: Results) -> None:
        self.steps, self.results = steps, results


Situation = tuple[tuple[Any, ...], list[Variable]]
_recipes: dict[tuple[Any, ...], Recipe] = {}


def situation_of(desc: OpDesc, scope: dict[str, Any], training: bool | None, used: set[str]) -> Situation | None:
    """What the nodes of an operator depend on, and its inputs.

    Args:
        desc: the operator.
        scope: values by name.
        training: as the reader has it.
        used: names that any operator reads.

    Returns:
        None where they depend on more, or may.
    """
    if desc.type not in _REPEATED or topmost_layer("outer") is not None:
        return None
    parts: list[Any] = [desc.type, training, is_3()]
    inputs: list[Variable] = []
    for slot in desc.inputs:
        names = slot.arguments
        if not names:
            continue
        x = scope.get(names[0])
        if len(names) != 1 or type(x) is not Variable and type(x) is not StaticParameter:
            return None
        if x.bound is not None or x.is_array or not _SPECIAL.isdisjoint(x.__dict__):  # type: ignore[union-attr]
            return None
        inputs.append(x)  # type: ignore[arg-type]
        parts += (slot.name, x.sizes, x.dtype, x.persistable, x.is_data)  # type: ignore[union-attr]
    if len(inputs) > 1 and len(set(map(id, inputs))) < len(inputs):  # places would be ambiguous
        return None
    for attr in desc.attrs:
        kind, value = attr.type, attr.value
        if attr.name in _UNREAD:
            continue
        if kind not in _KINDS:
            return None
        if type(value) is list:
            value = tuple(value)
        if type(value) is float:
            value = value or math.copysign(1.0, value), value  # 0.0 and -0.0 are equal
        elif type(value) in (tuple, bytes) and len(value) > _LONGEST and kind != AttrType.STRING:
            return None
        parts += (attr.name, kind, value)
    for slot in desc.outputs:
        names = slot.arguments
        if len(names) > 1 or names and names[0] in scope:  # it writes over something
            return None
        parts += (slot.name, bool(names) and names[0] in used)
    return tuple(parts), inputs


def recipe_of(found: Situation) -> Recipe | None:
    """What is written down for a situation."""
    return _recipes.get(found[0])


def write_down(found: Situation, nodes: Sequence[Node], results: dict[str, Any]) -> None:
    """Write down what an operator became, if it can be repeated.

    Args:
        found: the situation.
        nodes: that its rule recorded.
        results: what the rule gave, by output slot.
    """
    key, inputs = found
    places = {id(x): i for i, x in enumerate(inputs)}
    steps = []
    for node in nodes:
        reads = tuple([-1 if x is None else places.get(id(x), -2) for x in node.inputs])
        if type(node.op) is not Op or node.in_place or node.blocks or -2 in reads or hold_sizes(node.attrs):
            return
        for x in node.outputs:
            if not _SPECIAL.isdisjoint(x.__dict__) or not x.stop_gradient:
                return
            places[id(x)] = len(places)
        steps.append((node.op, reads, node.attrs, [(x.sizes, x.dtype) for x in node.outputs]))
    given = [(slot, places.get(id(x), -1)) for slot, x in results.items() if x is not None]
    if any(at < 0 for _, at in given):
        return
    if len(_recipes) >= _MOST_KEPT:
        _recipes.clear()
    _recipes[key] = Recipe(steps, tuple(given))
