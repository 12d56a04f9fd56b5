"""Products of numbers that were quantized, computed in integers.

    x int8 -> dequantize -> conv2d, linear or matmul with a dequantized constant -> bias, norm, activation -> quantize

becomes one op of `wherry_tensor.ops.quantized`. What differs from the same in floats is rounding: sums of integers are exact, so a result that
lies between two whole numbers may become the other one. Images of such convolutions have their channels last, and keep them there from one to the
next. Whatever has no such op runs in floats, behind its dequantization.
"""
from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from wherry_program.passes.rewriting import Uses, bound_constant, forget_unused, is_pure, to_change, volatile
from wherry_program.passes.same_sizes import SameSizes
from wherry_program.program.capture import capture
from wherry_program.program.ir import Block, Node, Program, Variable, tensors_of_attrs
from wherry_tensor import ops
from wherry_tensor._core import Tensor, float32, float64, int8, uint8
from wherry_tensor.ops import quantized as layout
from wherry_tensor.ops.blocked import ACTIVATIONS
from wherry_tensor.ops.weight_only import packed_int8

__all__ = ["Note", "integers", "is_product"]

_BYTES = (int8, uint8)
_MOST_OF_STEP = 1e-6  # by which two steps may differ and be the same: by the rounding of what computed them
_NCHW_TO_NHWC, _NHWC_TO_NCHW = (0, 2, 3, 1), (0, 3, 1, 2)


@dataclass(frozen=True)
class Note:
    """What became of a product: the node that was, "int8" or "float" or "weight", and why not integers."""

    node: Node
    runs_in: str
    why: str = ""


def is_product(node: Node) -> bool:
    """Whether a node is one of those that can run in integers."""
    return node.op in (ops.conv2d, ops.linear, ops.matmul)


def integers(program: Program, notes: list[Note] | None = None) -> Program:
    """Compute products of dequantized values in integers.

    Scales and weights have to be constants: `frozen_constants` made them so. `notes` gets a line for each product.
    """
    out = to_change(program)
    main = out.blocks[0]
    if notes is None and not any(node.op is ops.dequantize_linear for node in main.nodes):
        return out
    nodes, rewriting = list(main.nodes), _Integers(main, volatile(out), Uses(out), SameSizes(out), notes)
    main.nodes[:] = []
    for node in nodes:
        rewriting.take(node)
    for x in (*out.fetches, *main.outputs):
        rewriting.need(x)
    forget_unused(out)
    return out


@dataclass
class _Quantized:
    """Values that are whole numbers times a step."""

    q: Variable
    step: float
    zero: int


@dataclass
class _Weight:
    """A constant of whole numbers: `[in, out]`, or filters; with a step for each output, or one for groups of rows."""

    q: Tensor
    steps: Tensor
    group: int | None


@dataclass
class _End:
    """What follows a product, as far as one op does it."""

    output: Variable
    scale: Tensor
    bias: Tensor | None
    activation: str
    out: _Quantized | None
    low: int | None
    high: int | None
    nodes: list[Node]
    residual: Variable | None = None
    rounding: Node | None = None  # a quantization further on, behind what whole numbers go through as well


class _Integers:
    """Rewrites the nodes of a block in order."""

    def __init__(self, block: Block, changing: set[int], uses: Uses, sizes: SameSizes, notes: list[Note] | None) -> None:
        self.sizes = sizes
        self.seen: set[int] = set()  # ids of what the nodes so far have made
        self.block, self.recording, self.changing, self.uses, self.notes = block, capture(block), changing, uses, notes
        self.lazy: dict[int, Node] = {}  # id of a variable -> its dequantization, which is written when somebody needs it
        self.images: dict[int, Variable] = {}  # id of an image -> the same with channels last
        self.missing: set[int] = set()  # ids of images that exist only with channels last so far
        self.same: dict[int, Variable] = {}  # id of a variable -> the one that stands for it
        self.gone: set[int] = set()  # ids of nodes that another one does

    def take(self, node: Node) -> None:
        """Write the next node: in integers, later, or as it is."""
        self.seen.update(id(x) for x in node.outputs)
        if id(node) in self.gone:
            return
        self._read_what_stands(node)
        if is_pure(node, self.changing) and (not tensors_of_attrs(node.attrs) or _keeps_sizes(node)):
            at = len(self.block.nodes)
            self.recording.role, self.recording.scope = node.role, node.scope
            done = self._rewritten(node)
            for new in self.block.nodes[at:]:
                new.line = node.line
            if done:
                return
        for x in node.reads():
            self.need(x)
        self.block.nodes.append(node)

    def _read_what_stands(self, node: Node) -> None:
        if any(id(x) in self.same for x in node.inputs):
            node.inputs = tuple(None if x is None else self._now(x) for x in node.inputs)

    def _now(self, x: Variable) -> Variable:
        while id(x) in self.same:
            x = self.same[id(x)]
        return x

    def _rewritten(self, node: Node) -> bool:
        if node.op is ops.dequantize_linear:
            if self._read(node) is None:
                return False
            self.lazy[id(node.outputs[0])] = node
            return True
        if is_product(node):
            return self._product(node)
        if node.op is ops.quantize_linear:
            return self._again(node)
        if node.op is ops.max_pool2d:
            return self._pooled(node)
        if node.op is ops.reshape:
            return self._moved(node)
        return self._added(node) if node.op is ops.add else False

    # What others need.

    def need(self, x: Variable) -> None:
        """Write what makes a variable, if that was put off."""
        node = self.lazy.pop(id(x), None)
        if node is not None:
            self._read_what_stands(node)
            for y in node.reads():
                self.need(y)
            self.block.nodes.append(node)
        elif id(x) in self.missing:
            self.missing.remove(id(x))
            with self.recording:
                ops.copy(ops.transpose(self.images[id(x)], perm=_NHWC_TO_NCHW))
            self._call_last(x)
        elif id(x) in self.same:
            y = self._now(x)
            self.need(y)
            with self.recording:
                ops.copy(y)
            self._call_last(x)
            del self.same[id(x)]

    def _call_last(self, x: Variable) -> None:
        last = self.block.nodes[-1]
        last.outputs, x.made_by = (x,), last

    def _channels_last(self, x: Variable) -> Any:
        if id(x) not in self.images:
            self.need(x)
            with self.recording:
                self.images[id(x)] = self.recording.variable_of(ops.copy(ops.transpose(x, perm=_NCHW_TO_NHWC)))
        return self.images[id(x)]

    # Whole numbers and their steps.

    def _constant(self, x: Variable | None) -> Tensor | None:
        return None if x is None or x.bound is None or id(x) in self.changing else x.bound.detach()

    def _floats(self, x: Variable | None) -> Tensor | None:
        """A constant, or the value of a constant of whole numbers."""
        node = None if x is None or x.bound is not None else x.made_by
        if node is None or node.op is not ops.dequantize_linear:
            return self._constant(x)
        parts = [self._constant(y) for y in node.inputs]
        if any((part is None) != (y is None) for part, y in zip(parts, node.inputs, strict=True)):
            return None
        value: Tensor = ops.dequantize_linear.run(tuple(parts), node.attrs)
        return value

    def _number(self, x: Variable | None) -> float | None:
        value = self._constant(x)
        return value.item() if value is not None and value.size == 1 else None

    def _read(self, node: Node) -> _Quantized | None:
        """Of a node that quantizes or dequantizes by one constant step: the whole numbers."""
        x, step, zero = (*node.inputs, None)[:3]
        q = node.outputs[0] if node.op is ops.quantize_linear else x
        number = self._number(step)
        origin = 0 if zero is None else self._number(zero)
        if q is None or q.dtype not in _BYTES or number is None or origin is None or not 2.0**-126 <= number <= 2.0**126:
            return None
        return _Quantized(q, number, int(origin))

    def _quantized(self, x: Variable | None) -> _Quantized | None:
        node = None if x is None else self.lazy.get(id(x))
        return None if node is None else self._read(node)

    def _weight(self, x: Variable | None, axis: int, whole_already: bool) -> _Weight | None:
        """The constant of whole numbers behind a variable, whose outputs lie along `axis`."""
        if x is None:
            return None
        node = self.lazy.get(id(x)) or (x.made_by if x.bound is None else None)
        if node is None or node.op is not ops.dequantize_linear:
            value = self._constant(x)
            if value is None or not whole_already or value.dtype is not float32 or not value.size:
                return None
            q = ops.cast(ops.minimum(ops.maximum(value, _like(value, -128.0)), _like(value, 127.0)), dtype=int8)
            if not bool(ops.reduce_all(ops.equal(ops.cast(q, dtype=float32), value), axes=tuple(range(value.ndim)), keepdim=False)):
                return None
            return _Weight(q, ops.full(shape=(value.shape[axis],), value=1.0, dtype=float32), None)
        q, steps, zero = (self._constant(y) for y in (*node.inputs, None)[:3])
        at, group, _dtype = node.attrs
        if q is None or q.dtype is not int8 or steps is None or steps.dtype is not float32:
            return None
        if len(node.inputs) > 2 and node.inputs[2] is not None and (zero is None or any(zero.reshape([-1]).tolist())):
            return None
        if group is not None:
            return _Weight(q, steps, group) if at % q.ndim == 1 - axis and q.ndim == 2 else None
        if at is None:
            steps = ops.full(shape=(q.shape[axis],), value=steps.item(), dtype=float32)
        elif at % q.ndim != axis:
            return None
        return _Weight(q, steps, None)

    # Products.

    def _product(self, node: Node) -> bool:
        found = self._why_not(node)
        if self.notes is not None:
            self.notes.append(found if isinstance(found, Note) else Note(node, found[0]))
        if isinstance(found, Note):
            return False
        found[1]()
        return True

    def _why_not(self, node: Node) -> Note | tuple[str, Callable[[], None]]:
        """How a product runs in integers, or why it does not."""
        x, weight, bias = (*node.inputs, None)[:3] if node.op is not ops.matmul else (*node.inputs, None)

        def no(why: str) -> Note:
            return Note(node, "float", why)

        image = node.op is ops.conv2d
        turned = node.op is ops.matmul and node.attr("transpose_y")
        if node.op is ops.matmul and (node.attr("transpose_x") or weight is None or len(weight.sizes) != 2):
            return no("the product of two values that change")
        inputs = self._quantized(x)
        w = self._weight(weight, 0 if image or turned else 1, inputs is not None and inputs.step == 1.0)
        if w is None:
            return no("the weight is no constant of int8 with steps along its outputs")
        summand = self._floats(bias)
        if bias is not None and (summand is None or summand.dtype is not float32):
            return no("the bias is no constant in float32")
        if turned:
            w = _Weight(ops.copy(ops.transpose(w.q, perm=(1, 0))), w.steps, w.group)
        if inputs is None:
            if image or x is None or x.dtype is not float32 or len(x.sizes) < 2:
                return no("its input is not quantized by one constant step")
            return self._weight_only(node, x, w, summand) or no("its input is not quantized by one constant step")
        if w.group is not None:
            return no("the weight has steps for groups of rows, and its input is quantized")
        end = self._end(node, ops.multiply(w.steps, _like(w.steps, inputs.step)), summand, image)
        return ("int8", lambda: self._convolved(node, inputs, w, end)) if image and self._fits(node, w) else (
            no("a convolution in groups") if image else ("int8", lambda: self._linear(inputs, w, end)))

    def _fits(self, node: Node, w: _Weight) -> bool:
        groups = node.attr("groups")
        return groups == 1 or (groups == w.q.shape[0] and w.q.shape[1] == 1)

    def _end(self, node: Node, scale: Tensor, bias: Tensor | None, image: bool) -> _End:
        """Bias, normalization, activation and quantization that only this product's result goes through."""
        end = _End(node.outputs[0], scale, bias, "none", None, None, None, [])
        axis = 1 if image and node.attr("data_format") == "NCHW" else len(node.outputs[0].sizes) - 1
        while (reader := self._reader(end.output)) is not None and is_pure(reader, self.changing) and id(reader) not in self.gone:
            takes = self._takes_number(end, reader, axis) or self._takes_residual(end, reader) or self._takes_activation(end, reader)
            if not (takes or self._takes_rounding(end, reader)):
                break
            end.nodes.append(reader)
            end.output = reader.outputs[0]
            if end.out is not None:
                return end
        self._look_ahead(end)
        return end

    def _look_ahead(self, end: _End) -> None:
        """Round before pooling and changes of shape, where rounding follows them: whole numbers are a quarter as large."""
        x = end.output
        while (reader := self._reader(x)) is not None and is_pure(reader, self.changing) and reader.inputs[0] is x:
            if reader.op is ops.quantize_linear:
                end.out = self._read(reader)
                if end.out is not None:
                    end.rounding, end.low, end.high = reader, reader.attr("low"), reader.attr("high")
                return
            if not (reader.op is ops.max_pool2d and self._without_mask(reader)) and not (reader.op is ops.reshape and len(reader.inputs) == 1):
                return
            x = reader.outputs[0]

    def _reader(self, x: Variable) -> Node | None:
        """The one node that reads `x`, its sizes too."""
        readers = self.uses.of.get(id(x), [])
        only = bool(readers) and all(node is readers[0] for node in readers) and id(x) not in self.uses.kept
        return readers[0] if only and readers[0].block is x.block and (len(readers) == 1 or _keeps_sizes(readers[0])) else None

    def _without_mask(self, node: Node) -> bool:
        mask = node.outputs[1]
        return not self.uses.of.get(id(mask)) and id(mask) not in self.uses.kept

    def _takes_number(self, end: _End, reader: Node, axis: int) -> bool:
        if end.activation != "none" or end.residual is not None:
            return False
        count = end.scale.shape[0]
        if reader.op is ops.add:
            other = reader.inputs[1] if reader.inputs[0] is end.output else reader.inputs[0]
            value = self._constant(other)
            if value is None or value.dtype is not float32 or other is end.output or not _along(value, axis, end.output.ndim, count):
                return False
            value = ops.reshape(value, shape=(count,))
            end.bias = value if end.bias is None else ops.add(end.bias, value)
            return True
        if reader.op is not ops.batch_norm_infer or reader.inputs[0] is not end.output:
            return False
        numbers = [self._constant(x) for x in (*reader.inputs[1:], None, None)[:4]]
        last = reader.attr("data_format").endswith("C") or end.output.ndim == 2
        if (axis == end.output.ndim - 1) != last or any((x is None) != (y is None) for x, y in zip((*reader.inputs[1:], None, None)[:4], numbers)):
            return False
        mean, variance, gamma, beta = (None if x is None else ops.cast(x, dtype=float64) for x in numbers)
        assert variance is not None
        factor = ops.rsqrt(ops.add(variance, _like(variance, reader.attr("epsilon"))))
        factor = factor if gamma is None else ops.multiply(factor, gamma)
        summand = ops.negative(mean) if end.bias is None else ops.subtract(ops.cast(end.bias, dtype=float64), mean)
        summand = ops.multiply(summand, factor)
        end.bias = ops.cast(summand if beta is None else ops.add(summand, beta), dtype=float32)
        end.scale = ops.cast(ops.multiply(ops.cast(end.scale, dtype=float64), factor), dtype=float32)
        return True

    def _takes_residual(self, end: _End, reader: Node) -> bool:
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

    def _takes_activation(self, end: _End, reader: Node) -> bool:
        if reader.type not in ACTIVATIONS or any(reader.attrs) or end.activation != "none":
            return False
        end.activation = reader.type
        return True

    def _takes_rounding(self, end: _End, reader: Node) -> bool:
        if reader.op is not ops.quantize_linear or reader.inputs[0] is not end.output:
            return False
        end.out = self._read(reader)
        end.low, end.high = reader.attr("low"), reader.attr("high")
        return end.out is not None

    def _residual(self, end: _End, planes: bool) -> tuple[Variable | None, float, int]:
        """What is added, as it lies beside the result, its step and its zero point."""
        if end.residual is None:
            return None, 1.0, 0
        found = self._quantized(end.residual)
        x = end.residual if found is None else found.q
        if planes:
            x = self._channels_last(x)
        else:
            self.need(x)
        return (x, 1.0, 0) if found is None else (x, found.step, found.zero)

    def _behind(self, inputs: _Quantized, end: _End, step: float, zero: int) -> dict[str, Any]:
        out = end.out
        return dict(
            x_zero_point=inputs.zero, residual_scale=step, residual_zero_point=zero, activation=end.activation,
            out_scale=None if out is None else out.step, out_zero_point=0 if out is None else out.zero, low=None if out is None else end.low,
            high=None if out is None else end.high, dtype=float32 if out is None else out.q.dtype,
        )

    def _bound(self, value: Tensor | None) -> Variable | None:
        return None if value is None else bound_constant(self.block.program, value)

    def _finish(self, end: _End, made: Variable, last: bool) -> None:
        """Let the result of an op be what the nodes of an end gave; `last`: it is an image with channels last, of one that has them first."""
        self.gone.update(id(node) for node in end.nodes)
        output = end.output
        if end.rounding is not None:
            if last:
                output = self.block.variable(list(end.output.sizes), made.dtype, None)
            else:
                output = made
            like = end.rounding
            attrs = (None, None, float32)
            node = Node(ops.dequantize_linear, (output, *like.inputs[1:]), attrs, (end.output,), block=self.block, role=like.role, line=like.line,
                        scope=like.scope)
            end.output.made_by = node
            self.lazy[id(end.output)] = node
        elif not last:
            self._call_last(output)
        if last:
            self.images[id(output)] = made
            self.missing.add(id(output))

    def _linear(self, inputs: _Quantized, w: _Weight, end: _End) -> None:
        self.need(inputs.q)
        weight = self._bound(layout.packed_linear_weight(w.q))
        residual, step, zero = self._residual(end, False)
        with self.recording:
            made = ops.quantized_linear(
                inputs.q, weight, self._bound(end.scale), self._bound(end.bias), residual, **self._behind(inputs, end, step, zero)
            )
        self._finish(end, self.recording.variable_of(made), False)

    def _convolved(self, node: Node, inputs: _Quantized, w: _Weight, end: _End) -> None:
        strides, paddings, dilations, _groups, form = node.attrs
        planes = form == "NCHW"
        if planes:
            image = self._channels_last(inputs.q)
        else:
            self.need(inputs.q)
            image = inputs.q
        depthwise = w.q.shape[1] == 1 and node.attr("groups") > 1
        op = ops.quantized_depthwise_conv2d if depthwise else ops.quantized_conv2d
        weight = self._bound((layout.packed_depthwise_weight if depthwise else layout.packed_conv_weight)(w.q))
        residual, step, zero = self._residual(end, planes)
        with self.recording:
            made = self.recording.variable_of(op(
                image, weight, self._bound(end.scale), self._bound(end.bias), residual, strides=strides, paddings=paddings, dilations=dilations,
                **self._behind(inputs, end, step, zero),
            ))
        self._finish(end, made, planes)

    def _weight_only(self, node: Node, x: Variable, w: _Weight, bias: Tensor | None) -> tuple[str, Callable[[], None]] | None:
        """Floats by a weight of whole numbers, which is dequantized on the way."""
        group = w.group or 0
        if group % 8:
            return None

        def write() -> None:
            self.need(x)
            scale = w.steps if w.group is not None else ops.reshape(w.steps, shape=(1, -1))
            weight = self._bound(packed_int8(w.q))
            with self.recording:
                ops.weight_only_linear(x, weight, self._bound(scale), None, self._bound(bias), group=group)
            self._call_last(node.outputs[0])

        return "weight", write

    # What hands whole numbers on.

    def _again(self, node: Node) -> bool:
        """Quantizing what was just dequantized by the same step changes nothing; an image keeps its layout."""
        x = node.inputs[0]
        before, now = self._quantized(x), self._read(node)
        if now is not None and x is not None and id(x) in self.images:
            with self.recording:
                made = ops.quantize_linear(self.images[id(x)], *node.inputs[1:], **dict(zip(node.op.attr_names, node.attrs, strict=True)))
                self.images[id(now.q)] = self.recording.variable_of(made)
            self.missing.add(id(now.q))
            return True
        if before is None or now is None or before.q.dtype is not now.q.dtype or before.zero != now.zero:
            return False
        low, high = (0, 255) if now.q.dtype is uint8 else (-128, 127)
        if abs(before.step - now.step) > _MOST_OF_STEP * now.step or node.attr("low") > low or node.attr("high") < high:
            return False
        self.same[id(node.outputs[0])] = before.q
        return True

    def _put_off(self, x: Variable, q: Variable, like: Node) -> None:
        """Let `x` be the dequantization of `q`, which is written when somebody needs it."""
        node = Node(like.op, (q, *like.inputs[1:]), like.attrs, (x,), block=self.block, role=like.role, line=like.line, scope=like.scope)
        x.made_by = node
        self.lazy[id(x)] = node

    def _pooled(self, node: Node) -> bool:
        """The largest of whole numbers is the whole number of the largest."""
        x = node.inputs[0]
        found = self._quantized(x)
        if x is None or found is None or not self._without_mask(node):
            return False
        kernel, strides, paddings, ceil_mode, form = node.attrs
        if form == "NCHW":
            image = self._channels_last(found.q)
        else:
            self.need(found.q)
            image = found.q
        with self.recording:
            made = ops.quantized_max_pool2d(image, kernel=kernel, strides=strides, paddings=paddings, ceil_mode=ceil_mode)
            q = self.recording.variable_of(made)
        if form == "NCHW":
            planes = self.block.variable(list(node.outputs[0].sizes), q.dtype, None)
            self.images[id(planes)] = q
            self.missing.add(id(planes))
            q = planes
        self._put_off(node.outputs[0], q, self.lazy[id(x)])
        return True

    def _moved(self, node: Node) -> bool:
        x = node.inputs[0]
        found = self._quantized(x)
        if x is None or found is None or len(node.inputs) > 1:
            return False
        self.need(found.q)
        shape = tuple(_size_of(n, x, found.q) for n in node.attr("shape"))
        with self.recording:
            q = self.recording.variable_of(ops.reshape(found.q, shape=shape))
        self._put_off(node.outputs[0], q, self.lazy[id(x)])
        return True

    def _added(self, node: Node) -> bool:
        """The sum of two quantized tensors that is quantized again."""
        x, y = node.inputs
        left, right = self._quantized(x), self._quantized(y)
        if left is None or right is None or x is None or y is None or x.sizes != y.sizes or -1 in x.sizes[1:] or len(x.sizes) < 2:
            return False
        end = _End(node.outputs[0], ops.full(shape=(1,), value=1.0, dtype=float32), None, "none", None, None, None, [])
        while (reader := self._reader(end.output)) is not None and is_pure(reader, self.changing):
            if not (self._takes_activation(end, reader) or self._takes_rounding(end, reader)):
                break
            end.nodes.append(reader)
            end.output = reader.outputs[0]
            if end.out is not None:
                break
        if end.out is None:
            return False
        last = all(id(q) in self.images for q in (left.q, right.q))
        for q in (left.q, right.q):
            if not last:
                self.need(q)
        a, b = (self.images[id(q)] if last else q for q in (left.q, right.q))
        with self.recording:
            made = ops.quantized_add(
                a, b, x_scale=left.step, x_zero_point=left.zero, y_scale=right.step, y_zero_point=right.zero, activation=end.activation,
                out_scale=end.out.step, out_zero_point=end.out.zero, low=end.low, high=end.high, dtype=end.out.q.dtype,
            )
        self._finish(end, self.recording.variable_of(made), last)
        return True


def _keeps_sizes(node: Node) -> bool:
    """Whether a change of shape takes sizes from nothing but its input."""
    return node.op is ops.reshape and all(x is node.inputs[0] for x in tensors_of_attrs(node.attrs))


def _like(x: Tensor, value: float) -> Tensor:
    return ops.full(shape=(), value=value, dtype=x.dtype)


def _along(value: Tensor, axis: int, rank: int, count: int) -> bool:
    """Whether a constant has a number for each output, along that axis."""
    shape = (1,) * (rank - value.ndim) + tuple(value.shape)
    return value.ndim <= rank and shape[axis] == count and value.size == count


def _size_of(n: Any, x: Variable, q: Variable) -> Any:
    """A size of `x` as the same of `q`."""
    source = getattr(n, "source", None)
    return q.shape[source[2]] if source is not None and source[0] == "axis" and source[1] is x else n
