"""Rounding in programs: which operators are quantized, scales of what they read, and the same program with rounded inputs and weights."""
from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import numpy as np

from wherry_graph.static.mode import paused
from wherry_nn.parameter import Parameter
from wherry_program.passes import batch_norm, biases, dead_code, frozen_constants, through
from wherry_program.passes.rewriting import forget_unused, put_before
from wherry_program.program.ir import Node, Program, Variable
from wherry_quant.adaptive import adaround_array
from wherry_quant.numbers import Places, holder, levels, whole_numbers
from wherry_quant.observers import HistObserverLayer, magnitudes
from wherry_quant.rounding import windows
from wherry_tensor import ops
from wherry_tensor._core import Tensor
from wherry_tensor.functions.creation import to_tensor

__all__ = [
    "OTHERS", "PRODUCTS", "Calibration", "chosen", "inputs_of_product", "is_product", "kinds_of", "output_axis_of", "round_chosen", "round_value",
    "round_weight", "rows_of", "weight_of",
]

PRODUCTS = ("conv2d", "depthwise_conv2d", "conv2d_transpose", "mul", "matmul", "matmul_v2")
OTHERS = {
    "concat": (ops.concat,), "elementwise_add": (ops.add,), "elementwise_mul": (ops.multiply,), "elementwise_sub": (ops.subtract,),
    "pool2d": (ops.max_pool2d, ops.avg_pool2d), "relu": (ops.relu,), "sigmoid": (ops.sigmoid,), "softmax": (ops.softmax,), "tanh": (ops.tanh,),
}
_SMALLEST = 1e-8  # the scale of a weight that is all 0
_BITS = 8  # of what a Calibration finds scales for
_WITH_KERNELS = frozenset(PRODUCTS) - {"conv2d_transpose"}


class Calibration:
    """Scales of what the products of a float program read, found on the batches that run through it.

    Made for predictors: convolutions and matrix products get steps of 8 bits, weights by their largest magnitudes, one for each output; inputs below
    which 99.99 % of the values lie, as `wherry.quant.calibrate` has them. Those that have no kernels of whole numbers stay as they are.

    Args:
        program: with its parameters; it stays as it is.

    Attributes:
        program: the same, batch normalizations folded.
        observed: those of its variables whose values `see` takes.
        batches: how many were seen.
    """

    def __init__(self, program: Program) -> None:
        self.program = _folded(program)
        self._chosen = chosen(self.program, _WITH_KERNELS)
        self.observed = list({id(x): x for _, values in self._chosen for x in values}.values())
        self._observers = [HistObserverLayer(None, _BITS, percent=0.9999) for _ in self.observed]
        self.batches = 0

    def see(self, values: Sequence[Tensor]) -> None:
        """Count the values of a batch, in the order of `observed`."""
        self.batches += 1
        for observer, value in zip(self._observers, values, strict=True):
            observer(value)

    def scales(self) -> dict[str, float]:
        """What was found, by the names of the variables."""
        return {x.name: float(observer.scales().item()) for x, observer in zip(self.observed, self._observers, strict=True)}

    def rounded(self, scales: Mapping[str, float]) -> Program:
        """The program in whole numbers, with a scale for each name of `observed`. It is changed: nothing is counted any more."""
        return round_chosen(self.program, self._chosen, scales, _BITS, _BITS, each=True)


def _folded(program: Program) -> Program:
    with paused():
        return through(program, [dead_code, frozen_constants, biases, batch_norm, dead_code])


def chosen(program: Program, kinds: Collection[str], skipped: Collection[str] = ()) -> list[tuple[Node, list[Variable]]]:
    """Operators of these kinds that can be quantized, and those of their inputs that are computed; none that reads a tensor that is skipped."""
    computed = {id(x) for x in program.feeds}
    found = []
    for node in program.nodes:
        if any(id(x) in computed for x in node.reads()):
            computed.update(id(x) for x in node.outputs)
        if not kinds_of(node).intersection(kinds) or any(x is not None and x.name in skipped for x in node.inputs):
            continue
        values = [x for x in inputs_of_product(node) if x is not None and id(x) in computed and x.dtype.is_floating]
        if values and (not is_product(node) or len(values) == 2 or weight_of(node) is not None):
            found.append((node, values))
    return found


def round_chosen(
    program: Program, found: Sequence[tuple[Node, Sequence[Variable]]], scales: Mapping[str, float], bits: int, weight_bits: int, each: bool,
    moments: Mapping[int, Any] | None = None,
) -> Program:
    """Give operators that are `chosen` rounded inputs and weights.

    Args:
        program: it is changed.
        found: of `chosen`.
        scales: of the inputs, by name.
        bits: of inputs.
        weight_bits: of weights.
        each: a scale for each output of a weight.
        moments: of a weight, by its id: the second moments of what it is multiplied by; with them it is rounded as the result changes least.
    """
    rounded: dict[int, Variable] = {}
    for node, values in found:
        for x in values:
            if id(x) not in rounded:
                rounded[id(x)] = round_value(program, node, x, scales[x.name], bits)
        weight = weight_of(node)
        if weight is not None and id(weight) not in rounded:
            rounded[id(weight)] = round_weight(program, node, weight, weight_bits, each, (moments or {}).get(id(weight)))
        inputs = inputs_of_product(node)
        node.inputs = (*(x if x is None else rounded.get(id(x), x) for x in inputs), *node.inputs[len(inputs) :])
    forget_unused(program)
    return program


def is_product(node: Node) -> bool:
    return node.op in (ops.conv2d, ops.conv2d_transpose, ops.matmul, ops.linear)


def inputs_of_product(node: Node) -> tuple[Variable | None, ...]:
    """The inputs that are rounded: all but the bias of a product."""
    return node.inputs[:2] if is_product(node) else node.inputs


def kinds_of(node: Node) -> set[str]:
    """Paddle's types of operators that an operation is one of."""
    if node.op is ops.conv2d:
        groups, x = node.attr("groups"), node.inputs[0]
        channels = x.sizes[1 if node.attr("data_format") == "NCHW" else -1] if x is not None else -1
        return {"depthwise_conv2d" if groups > 1 and groups == channels else "conv2d"}
    if node.op is ops.conv2d_transpose:
        return {"conv2d_transpose"}
    if node.op in (ops.matmul, ops.linear):
        return {"mul", "matmul", "matmul_v2"}
    return {kind for kind, known in OTHERS.items() if node.op in known}


def weight_of(node: Node) -> Variable | None:
    """The constant of a product."""
    weight = node.inputs[1] if is_product(node) else None
    return weight if weight is not None and weight.bound is not None and weight.ndim >= 2 and weight.dtype.is_floating else None


def output_axis_of(node: Node) -> int:
    if node.op is ops.conv2d:
        return 0
    if node.op is ops.conv2d_transpose:
        return 1
    return -2 if node.op is ops.matmul and node.attr("transpose_y") else -1


def rows_of(node: Node) -> Callable[[Tensor], np.ndarray[Any, Any]] | None:
    """What makes rows, which the weight is multiplied by, of the first input of a product: of matrices, and of convolutions in one group."""
    weight = weight_of(node)
    if weight is None:
        return None
    if node.op is ops.conv2d and node.attr("groups") == 1 and node.attr("data_format") == "NCHW":
        return lambda x: windows(x, weight.sizes[2:], node.attr("strides"), node.attr("paddings"), node.attr("dilations"))
    plain = node.op is ops.linear or (node.op is ops.matmul and not node.attr("transpose_x") and not node.attr("transpose_y"))
    return (lambda x: x.numpy().reshape(-1, x.shape[-1])) if plain and weight.ndim == 2 else None


def round_value(program: Program, node: Node, x: Variable, scale: float, bits: int, mark: str = "") -> Variable:
    """Whole numbers of a value and back, before a node that reads it; `mark` goes into their names."""
    high, block = levels(bits), program.blocks[0]
    step = _constant(program, f"{x.name}{mark}@scale", np.asarray(scale / high, np.float32))
    whole = block.variable(x.sizes, holder(bits), f"{x.name}{mark}.quantized")
    back = block.variable(x.sizes, x.dtype, f"{x.name}{mark}.quantized.dequantized")
    put_before(node, ops.quantize_linear, (x, step, None), (None, None, -high - 1, high, whole.dtype), (whole,))
    put_before(node, ops.dequantize_linear, (whole, step, None), (None, None, x.dtype), (back,))
    return back


def round_weight(
    program: Program, node: Node, weight: Variable, bits: int, each: bool, moments: Any = None, mark: str = "", value: Tensor | None = None
) -> Variable:
    """Whole numbers of the constant of a product, with a scale for each output or one, and back; with moments, up or down as results change least."""
    value = weight.bound if value is None else value
    assert value is not None  # noqa: S101  `weight_of` asked
    values = value.astype("float32").numpy()
    places = Places(output_axis_of(node) % values.ndim if each else None, None)
    scales = np.maximum(np.abs(values).max() if places.axis is None else magnitudes(values, places.axis), np.float32(_SMALLEST))
    if moments is None or rows_of(node) is None:  # a weight that others read otherwise
        whole = whole_numbers(values, scales, bits, places)
    else:
        axis = output_axis_of(node) % values.ndim
        whole = adaround_array(values, axis, moments, np.atleast_1d(scales), bits).astype(holder(bits).name)
    q = _constant(program, f"{weight.name}{mark}.quantized", whole)
    step = _constant(program, f"{weight.name}{mark}@scale", (scales / levels(bits)).astype(np.float32))
    back = program.blocks[0].variable(weight.sizes, weight.dtype, f"{weight.name}{mark}.quantized.dequantized")
    put_before(node, ops.dequantize_linear, (q, step, None), (places.axis, None, weight.dtype), (back,))
    return back


def _constant(program: Program, name: str, values: np.ndarray[Any, Any]) -> Variable:
    return program.bind(Parameter(to_tensor(values), name=name, trainable=False))
