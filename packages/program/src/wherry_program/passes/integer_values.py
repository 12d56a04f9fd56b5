"""What rewriting to whole numbers knows of a block: which values have them, what follows a product, and what was put off.

`Between` and the products of `integers` stand on it.
"""
from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from wherry_program.passes.rewriting import Uses, bound_constant, is_pure
from wherry_program.passes.same_sizes import SameSizes
from wherry_program.program.capture import capture
from wherry_program.program.ir import Block, Node, Variable, tensors_of_attrs
from wherry_tensor import ops
from wherry_tensor._core import Tensor, float32, float64, int8, uint8
from wherry_tensor.ops.blocked import ACTIVATIONS

__all__ = ["BYTES", "End", "Note", "Quantized", "Values", "Weight", "keeps_sizes", "like"]

BYTES = (int8, uint8)
_NCHW_TO_NHWC, _NHWC_TO_NCHW = (0, 2, 3, 1), (0, 3, 1, 2)


@dataclass(frozen=True)
class Note:
    """What became of a product: the node that was, "int8" or "float" or "weight", and why not integers."""

    node: Node
    runs_in: str
    why: str = ""


@dataclass
class Quantized:
    """Values that are whole numbers times a step."""

    q: Variable
    step: float
    zero: int


@dataclass
class Weight:
    """A constant of whole numbers: `[in, out]`, or filters; with a step for each output, or one for groups of rows."""

    q: Tensor
    steps: Tensor
    group: int | None


@dataclass
class End:
    """What follows a product, as far as one op does it."""

    output: Variable
    scale: Tensor
    bias: Tensor | None
    activation: str
    out: Quantized | None
    low: int | None
    high: int | None
    nodes: list[Node]
    residual: Variable | None = None
    rounding: Node | None = None  # a quantization further on, after what whole numbers go through as well
    counted: bool = False  # scale and bias are in steps of the result


class Values:
    """The variables of a block, as far as its nodes are rewritten."""

    def __init__(self, block: Block, changing: set[int], uses: Uses, sizes: SameSizes, notes: list[Note] | None) -> None:
        self.sizes = sizes
        self.seen: set[int] = set()  # ids of what the nodes so far have made
        self.block, self.recording, self.changing, self.uses, self.notes = block, capture(block), changing, uses, notes
        self.lazy: dict[int, Node] = {}  # id of a variable -> its dequantization, or what follows it, which is written when somebody needs it
        self.images: dict[int, Variable] = {}  # id of an image -> the same with channels last
        self.missing: set[int] = set()  # ids of images that exist only with channels last so far
        self.same: dict[int, Variable] = {}  # id of a variable -> the one that stands for it
        self.gone: set[int] = set()  # ids of nodes that another one does

    def read_what_stands(self, node: Node) -> None:
        if any(id(x) in self.same for x in node.inputs):
            node.inputs = tuple(None if x is None else self.now(x) for x in node.inputs)

    def now(self, x: Variable) -> Variable:
        while id(x) in self.same:
            x = self.same[id(x)]
        return x

    # What others need.

    def need(self, x: Variable) -> None:
        """Write what makes a variable, if that was put off."""
        node = self.lazy.pop(id(x), None)
        if node is not None:
            self.read_what_stands(node)
            for y in node.reads():
                self.need(y)
            self.block.nodes.append(node)
        elif id(x) in self.missing:
            self.missing.remove(id(x))
            with self.recording:
                ops.copy(ops.transpose(self.images[id(x)], perm=_NHWC_TO_NCHW))
            self.call_last(x)
        elif id(x) in self.same:
            y = self.now(x)
            self.need(y)
            with self.recording:
                ops.copy(y)
            self.call_last(x)
            del self.same[id(x)]

    def call_last(self, x: Variable) -> None:
        last = self.block.nodes[-1]
        last.outputs, x.made_by = (x,), last

    def channels_last(self, x: Variable) -> Any:
        if id(x) not in self.images:
            self.need(x)
            with self.recording:
                self.images[id(x)] = self.recording.variable_of(ops.copy(ops.transpose(x, perm=_NCHW_TO_NHWC)))
        return self.images[id(x)]

    def image_of(self, x: Variable, form: str) -> Variable:
        """An image in the layout `form`, with channels last: there when this returns."""
        if form == "NCHW":
            image: Variable = self.channels_last(x)
            return image
        self.need(x)
        return x

    # Whole numbers and their steps.

    def constant(self, x: Variable | None) -> Tensor | None:
        return None if x is None or x.bound is None or id(x) in self.changing else x.bound.detach()

    def floats(self, x: Variable | None) -> Tensor | None:
        """A constant, or the value of a constant of whole numbers."""
        node = None if x is None else self.dequantization(x)
        if node is None:
            return self.constant(x)
        parts = [self.constant(y) for y in node.inputs]
        if any((part is None) != (y is None) for part, y in zip(parts, node.inputs, strict=True)):
            return None
        value: Tensor = ops.dequantize_linear.run(tuple(parts), node.attrs)
        return value

    def dequantization(self, x: Variable) -> Node | None:
        """The node that a variable is dequantized by, written or not."""
        made = None if x.bound is not None else self.lazy.get(id(x)) or x.made_by
        return made if made is not None and made.op is ops.dequantize_linear else None

    def put_off_dequantization(self, x: Variable) -> Node | None:
        """The node that a variable is dequantized by, where it is not written."""
        node = self.lazy.get(id(x))
        return node if node is not None and node.op is ops.dequantize_linear else None

    def number(self, x: Variable | None) -> float | None:
        value = self.constant(x)
        return value.item() if value is not None and value.size == 1 else None

    def read(self, node: Node) -> Quantized | None:
        """Of a node that quantizes or dequantizes by one constant step: the whole numbers."""
        x, step, zero = (*node.inputs, None)[:3]
        q = node.outputs[0] if node.op is ops.quantize_linear else x
        number = self.number(step)
        origin = 0 if zero is None else self.number(zero)
        if q is None or q.dtype not in BYTES or number is None or origin is None or not 2.0**-126 <= number <= 2.0**126:
            return None
        return Quantized(q, number, int(origin))

    def quantized(self, x: Variable | None) -> Quantized | None:
        node = None if x is None else self.put_off_dequantization(x)
        return None if node is None else self.read(node)

    def weight(self, x: Variable | None, axis: int, whole_already: bool) -> Weight | None:
        """The constant of whole numbers after a variable, whose outputs lie along `axis`."""
        if x is None:
            return None
        node = self.dequantization(x)
        if node is None:
            value = self.constant(x)
            if value is None or not whole_already or value.dtype is not float32 or not value.size:
                return None
            q = ops.cast(ops.minimum(ops.maximum(value, like(value, -128.0)), like(value, 127.0)), dtype=int8)
            if not bool(ops.reduce_all(ops.equal(ops.cast(q, dtype=float32), value), axes=tuple(range(value.ndim)), keepdim=False)):
                return None
            return Weight(q, ops.full(shape=(value.shape[axis],), value=1.0, dtype=float32), None)
        q, steps, zero = (self.constant(y) for y in (*node.inputs, None)[:3])
        at, group, _dtype = node.attrs
        if q is None or q.dtype is not int8 or steps is None or steps.dtype is not float32:
            return None
        if len(node.inputs) > 2 and node.inputs[2] is not None and (zero is None or any(zero.reshape([-1]).tolist())):
            return None
        if group is not None:
            return Weight(q, steps, group) if at % q.ndim == 1 - axis and q.ndim == 2 else None
        if at is None:
            steps = ops.full(shape=(q.shape[axis],), value=steps.item(), dtype=float32)
        elif at % q.ndim != axis:
            return None
        return Weight(q, steps, None)

    # What follows a product.

    def end(self, node: Node, scale: Tensor, bias: Tensor | None, form: str) -> End:
        """Bias, normalization, activation and quantization that only this product's result goes through; `form`: the layout of an image, or ""."""
        end = End(node.outputs[0], scale, bias, "none", None, None, None, [])
        axis = 1 if form == "NCHW" else len(node.outputs[0].sizes) - 1
        while (reader := self.reader(end.output)) is not None and is_pure(reader, self.changing) and id(reader) not in self.gone:
            takes = self._takes_number(end, reader, axis) or self._takes_residual(end, reader) or self.takes_activation(end, reader)
            if not (takes or self.takes_rounding(end, reader)):
                break
            end.nodes.append(reader)
            end.output = reader.outputs[0]
            if end.out is not None:
                return end
        self._look_ahead(end)
        return end

    def _look_ahead(self, end: End) -> None:
        """Round before pooling and changes of shape, where rounding follows them: whole numbers are a quarter as large."""
        x = end.output
        while (reader := self.reader(x)) is not None and is_pure(reader, self.changing) and reader.inputs[0] is x:
            if reader.op is ops.quantize_linear:
                end.out = self.read(reader)
                if end.out is not None:
                    end.rounding, end.low, end.high = reader, reader.attr("low"), reader.attr("high")
                return
            if not (reader.op is ops.max_pool2d and self.without_mask(reader)) and not (reader.op is ops.reshape and len(reader.inputs) == 1):
                return
            x = reader.outputs[0]

    def reader(self, x: Variable) -> Node | None:
        """The one node that reads `x`, its sizes too."""
        readers = self.uses.of.get(id(x), [])
        only = bool(readers) and all(node is readers[0] for node in readers) and id(x) not in self.uses.kept
        return readers[0] if only and readers[0].block is x.block and (len(readers) == 1 or keeps_sizes(readers[0])) else None

    def rounding_of(self, x: Variable) -> tuple[Node, Quantized] | None:
        """The quantization by a constant step that alone reads `x`, and what it gives."""
        reader = self.reader(x)
        if reader is None or reader.op is not ops.quantize_linear or not is_pure(reader, self.changing):
            return None
        out = self.read(reader)
        return None if out is None else (reader, out)

    def planes_of(self, image: Variable, sizes: tuple[int, ...]) -> Variable:
        """A variable for an image with channels last, as it is with channels first: written when somebody needs it."""
        planes = self.block.variable(list(sizes), image.dtype, None)
        self.images[id(planes)] = image
        self.missing.add(id(planes))
        return planes

    def without_mask(self, node: Node) -> bool:
        mask = node.outputs[1]
        return not self.uses.of.get(id(mask)) and id(mask) not in self.uses.kept

    def _takes_number(self, end: End, reader: Node, axis: int) -> bool:
        if end.activation != "none" or end.residual is not None:
            return False
        count = end.scale.shape[0]
        if reader.op is ops.add:
            other = reader.inputs[1] if reader.inputs[0] is end.output else reader.inputs[0]
            value = self.constant(other)
            if value is None or value.dtype is not float32 or other is end.output or not _along(value, axis, end.output.ndim, count):
                return False
            value = ops.reshape(value, shape=(count,))
            end.bias = value if end.bias is None else ops.add(end.bias, value)
            return True
        if reader.op is not ops.batch_norm_infer or reader.inputs[0] is not end.output:
            return False
        numbers = [self.constant(x) for x in (*reader.inputs[1:], None, None)[:4]]
        last = reader.attr("data_format").endswith("C") or end.output.ndim == 2
        if (axis == end.output.ndim - 1) != last or any((x is None) != (y is None) for x, y in zip((*reader.inputs[1:], None, None)[:4], numbers)):
            return False
        mean, variance, gamma, beta = (None if x is None else ops.cast(x, dtype=float64) for x in numbers)
        assert variance is not None
        factor = ops.rsqrt(ops.add(variance, like(variance, reader.attr("epsilon"))))
        factor = factor if gamma is None else ops.multiply(factor, gamma)
        summand = ops.negative(mean) if end.bias is None else ops.subtract(ops.cast(end.bias, dtype=float64), mean)
        summand = ops.multiply(summand, factor)
        end.bias = ops.cast(summand if beta is None else ops.add(summand, beta), dtype=float32)
        end.scale = ops.cast(ops.multiply(ops.cast(end.scale, dtype=float64), factor), dtype=float32)
        return True

    def _takes_residual(self, end: End, reader: Node) -> bool:
        """Another tensor of this shape, which is there already."""
        if reader.op is not ops.add or end.residual is not None or end.activation != "none":
            return False
        other = reader.inputs[1] if reader.inputs[0] is end.output else reader.inputs[0]
        if other is None or other is end.output or other.dtype is not float32 or other.sizes != end.output.sizes:
            return False
        there = id(other) in self.seen or other.bound is not None or other.is_data
        if not there or id(other) in self.changing or self.sizes.of(other) != self.sizes.of(end.output):
            return False
        end.residual = other
        return True

    def takes_activation(self, end: End, reader: Node) -> bool:
        if reader.type not in ACTIVATIONS or any(reader.attrs) or end.activation != "none":
            return False
        end.activation = reader.type
        return True

    def takes_rounding(self, end: End, reader: Node) -> bool:
        if reader.op is not ops.quantize_linear or reader.inputs[0] is not end.output:
            return False
        end.out = self.read(reader)
        end.low, end.high = reader.attr("low"), reader.attr("high")
        return end.out is not None

    def residual(self, end: End, planes: bool) -> tuple[Variable | None, float, int]:
        """What is added, as it lies beside the result, its step and its zero point."""
        if end.residual is None:
            return None, 1.0, 0
        found = self.quantized(end.residual)
        x = end.residual if found is None else found.q
        x = self.image_of(x, "NCHW" if planes else "")
        return (x, 1.0, 0) if found is None else (x, found.step, found.zero)

    def in_steps(self, end: End, residual: Variable | None, step: float) -> float:
        """Count in steps of the result from the sums on, where nothing between stands for other numbers; returns the residual's step."""
        out = end.out
        if out is None or end.activation not in ("none", "relu", "relu6") or (residual is not None and residual.dtype not in BYTES):
            return step
        inverse, after = like(end.scale, 1.0 / out.step), step / out.step
        scale, bias = ops.multiply(end.scale, inverse), None if end.bias is None else ops.multiply(end.bias, inverse)
        if not (_is_finite(scale) and (bias is None or _is_finite(bias))) or (residual is not None and not 2.0**-126 <= after <= 2.0**126):
            return step
        end.scale, end.bias, end.counted = scale, bias, True
        if end.activation == "relu6":
            assert end.low is not None and end.high is not None
            end.activation, end.high = "relu", max(end.low, min(end.high, out.zero + round(6.0 * inverse.item())))
        return after

    def behind(self, inputs: Quantized, end: End, step: float, zero: int) -> dict[str, Any]:
        out = end.out
        return dict(
            x_zero_point=inputs.zero, residual_scale=step, residual_zero_point=zero, activation=end.activation,
            out_scale=None if out is None or end.counted else out.step, out_zero_point=0 if out is None else out.zero,
            low=None if out is None else end.low, high=None if out is None else end.high, dtype=float32 if out is None else out.q.dtype,
        )

    def bound(self, value: Tensor | None) -> Variable | None:
        return None if value is None else bound_constant(self.block.program, value)

    def finish(self, end: End, made: Variable, last: bool) -> None:
        """Let the result of an op be what the nodes of an end gave; `last`: it is an image with channels last, of one that has them first."""
        self.gone.update(id(node) for node in end.nodes)
        output = end.output
        if end.rounding is not None:
            output = self.block.variable(list(end.output.sizes), made.dtype, None) if last else made
            after = end.rounding
            attrs = (None, None, float32)
            node = Node(ops.dequantize_linear, (output, *after.inputs[1:]), attrs, (end.output,), block=self.block, role=after.role, line=after.line,
                        scope=after.scope)
            end.output.made_by = node
            self.lazy[id(end.output)] = node
        elif not last:
            self.call_last(output)
        if last:
            self.images[id(output)] = made
            self.missing.add(id(output))

    def put_off(self, x: Variable, q: Variable, like: Node) -> None:
        """Let `x` be the dequantization of `q`, which is written when somebody needs it."""
        node = Node(like.op, (q, *like.inputs[1:]), like.attrs, (x,), block=self.block, role=like.role, line=like.line, scope=like.scope)
        x.made_by = node
        self.lazy[id(x)] = node


def _is_finite(x: Tensor) -> bool:
    value: float = ops.reduce_max(ops.abs(x), axes=tuple(range(x.ndim)), keepdim=False).item()
    return value < math.inf


def keeps_sizes(node: Node) -> bool:
    """Whether a change of shape takes sizes from nothing but its input."""
    return node.op is ops.reshape and all(x is node.inputs[0] for x in tensors_of_attrs(node.attrs))


def like(x: Tensor, value: float) -> Tensor:
    return ops.full(shape=(), value=value, dtype=x.dtype)


def _along(value: Tensor, axis: int, rank: int, count: int) -> bool:
    """Whether a constant has a number for each output, along that axis."""
    shape = (1,) * (rank - value.ndim) + tuple(value.shape)
    return value.ndim <= rank and shape[axis] == count and value.size == count
