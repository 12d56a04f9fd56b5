"""Products of numbers that were quantized, computed in integers.

    x int8 -> dequantize -> conv2d, linear or matmul with a dequantized constant -> bias, norm, activation -> quantize

becomes one op of `wherry_tensor.ops.quantized`. What differs from the same in floats is rounding: sums of integers are exact, so a result that
lies between two whole numbers may become the other one. Images of such convolutions have their channels last, and keep them there from one to the
next. Whatever has no such op runs in floats, after its dequantization.
"""
from __future__ import annotations

from collections.abc import Callable

from wherry_program.passes.integer_values import End, Note, Quantized, Weight, keeps_sizes, like
from wherry_program.passes.integers_between import Between
from wherry_program.passes.rewriting import Uses, forget_unused, is_pure, to_change, volatile
from wherry_program.passes.same_sizes import SameSizes
from wherry_program.program.ir import Node, Program, Variable, tensors_of_attrs
from wherry_tensor import ops
from wherry_tensor._core import Tensor, float32
from wherry_tensor.ops import quantized as layout
from wherry_tensor.ops.weight_only import packed_int8

__all__ = ["Note", "integers", "is_product", "weights_of"]


# Which inputs of a product are its weights.
_WEIGHTS = {ops.conv2d: (1,), ops.linear: (1,), ops.matmul: (1,), ops.embedding: (1,), ops.lstm: (3, 4), ops.gru: (2, 3)}


def is_product(node: Node) -> bool:
    """Whether a node is one of those that can run in integers."""
    return node.op in _WEIGHTS


def weights_of(node: Node) -> list[Variable | None]:
    """What a product multiplies its input with."""
    return [node.inputs[at] for at in _WEIGHTS[node.op]]


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


class _Integers(Between):
    """Rewrites the nodes of a block in order."""

    def take(self, node: Node) -> None:
        """Write the next node: in integers, later, or as it is."""
        self.seen.update(id(x) for x in node.outputs)
        if id(node) in self.gone:
            return
        self.recording.take_place_of(node)
        self.read_what_stands(node)
        if is_pure(node, self.changing) and (not tensors_of_attrs(node.attrs) or keeps_sizes(node)):
            if self._rewritten(node):
                return
        for x in node.reads():
            self.need(x)
        self.block.nodes.append(node)

    def _rewritten(self, node: Node) -> bool:
        if node.op is ops.dequantize_linear:
            if self.read(node) is None:
                return False
            self.lazy[id(node.outputs[0])] = node
            return True
        if is_product(node):
            return self._product(node)
        rewrite = self.between.get(node.op)
        return (rewrite is not None and rewrite(node)) or self.followed(node)

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
        if node.op is ops.embedding:
            return self.looked_up(node)
        if node.op in (ops.lstm, ops.gru):
            return self._recurrent(node)
        x, weight, bias = (*node.inputs, None)[:3] if node.op is not ops.matmul else (*node.inputs, None)

        def no(why: str) -> Note:
            return Note(node, "float", why)

        image = node.op is ops.conv2d
        turned = node.op is ops.matmul and node.attr("transpose_y")
        if node.op is ops.matmul and (left := self.quantized(x)) is not None and (right := self.quantized(weight)) is not None:
            if weight is not None and weight.made_by is not None and right.q.bound is None:
                return "int8", lambda: self._of_two(node, left, right)
        if node.op is ops.matmul and (node.attr("transpose_x") or weight is None or len(weight.sizes) != 2):
            return no("the product of two values that change")
        inputs = self.quantized(x)
        w = self.weight(weight, 0 if image or turned else 1, inputs is not None and inputs.step == 1.0)
        if w is None:
            return no("the weight is not a constant of int8 with steps along its outputs")
        summand = self.floats(bias)
        if bias is not None and (summand is None or summand.dtype is not float32):
            return no("the bias is not a constant in float32")
        if turned:
            w = Weight(ops.copy(ops.transpose(w.q, perm=(1, 0))), w.steps, w.group)
        if inputs is None:
            if image or x is None or x.dtype is not float32 or len(x.sizes) < 2:
                return no("its input is not quantized by one constant step")
            return self._weight_only(node, x, w, summand) or no("its input is not quantized by one constant step")
        if w.group is not None:
            return no("the weight has steps for groups of rows, and its input is quantized")
        end = self.end(node, ops.multiply(w.steps, like(w.steps, inputs.step)), summand, node.attr("data_format") if image else "")
        return ("int8", lambda: self._convolved(node, inputs, w, end)) if image and self._fits(node, w) else (
            no("a convolution in groups") if image else ("int8", lambda: self._linear(inputs, w, end)))

    def _recurrent(self, node: Node) -> Note | tuple[str, Callable[[], None]]:
        """Weights of whole numbers, which are dequantized in each step; what is kept for gradients is not there then."""
        places = _WEIGHTS[node.op]
        found = [self.weight(x, 0, False) for x in weights_of(node)]
        x = node.inputs[0]
        if any(w is None or w.group is not None for w in found) or x is None or x.dtype is not float32:
            return Note(node, "float", "its weights are not constants of int8 with steps along the gates")
        states = places[0] - 1
        if any(self.uses.of.get(id(y)) or id(y) in self.uses.kept for y in node.outputs[1 + states :]):
            return Note(node, "float", "its gates are read, too")

        def write() -> None:
            for y in node.inputs[: places[0]] + node.inputs[places[1] + 1 :]:
                if y is not None:
                    self.need(y)
            packed = []
            for w in found:
                assert w is not None
                packed += [self.bound(packed_int8(ops.copy(ops.transpose(w.q, perm=(1, 0))))), self.bound(ops.reshape(w.steps, shape=(1, -1)))]
            op = ops.weight_only_lstm if node.op is ops.lstm else ops.weight_only_gru
            with self.recording:
                op(*node.inputs[: places[0]], *packed, *node.inputs[places[1] + 1 :], reverse=node.attr("reverse"))
            last = self.block.nodes[-1]
            last.outputs = node.outputs[: 1 + states]
            for y in last.outputs:
                y.made_by = last

        return "weight", write

    def _fits(self, node: Node, w: Weight) -> bool:
        groups = node.attr("groups")
        return groups == 1 or (groups == w.q.shape[0] and w.q.shape[1] == 1)

    def _of_two(self, node: Node, x: Quantized, y: Quantized) -> None:
        """Of two values that change, as attention has them: sums as they are, or as whole numbers where they are rounded next."""
        zeros = []
        for one in x, y:
            self.need(one.q)
            zeros.append(self.bound(ops.full(shape=(), value=one.zero, dtype=one.q.dtype)) if one.zero else None)
        after = self.rounding_of(node.outputs[0])
        unit = 1.0 if after is None else after[1].step
        step = self.bound(ops.full(shape=(), value=x.step * y.step / unit, dtype=float32))
        with self.recording:
            sums = ops.matmul_int8(x.q, y.q, *zeros, transpose_x=node.attr("transpose_x"), transpose_y=node.attr("transpose_y"))
            if after is None:
                ops.dequantize_linear(sums, step, None, axis=None, group=None, dtype=float32)
            else:
                low, high, dtype = (after[0].attr(name) for name in ("low", "high", "dtype"))
                ops.requantize(sums, step, None, axis=None, zero_point=after[1].zero, low=low, high=high, dtype=dtype)
        if after is not None:
            self.gone.add(id(after[0]))
        self.call_last(node.outputs[0] if after is None else after[0].outputs[0])

    def _linear(self, inputs: Quantized, w: Weight, end: End) -> None:
        self.need(inputs.q)
        weight = self.bound(layout.packed_linear_weight(w.q))
        residual, step, zero = self.residual(end, False)
        step = self.in_steps(end, residual, step)
        with self.recording:
            made = ops.quantized_linear(
                inputs.q, weight, self.bound(end.scale), self.bound(end.bias), residual, **self.behind(inputs, end, step, zero)
            )
        self.finish(end, self.recording.variable_of(made), False)

    def _convolved(self, node: Node, inputs: Quantized, w: Weight, end: End) -> None:
        strides, paddings, dilations, _groups, form = node.attrs
        planes = form == "NCHW"
        image = self.image_of(inputs.q, form)
        depthwise = w.q.shape[1] == 1 and node.attr("groups") > 1
        op = ops.quantized_depthwise_conv2d if depthwise else ops.quantized_conv2d
        weight = self.bound((layout.packed_depthwise_weight if depthwise else layout.packed_conv_weight)(w.q))
        residual, step, zero = self.residual(end, planes)
        step = self.in_steps(end, residual, step)
        with self.recording:
            made = self.recording.variable_of(op(
                image, weight, self.bound(end.scale), self.bound(end.bias), residual, strides=strides, paddings=paddings, dilations=dilations,
                **self.behind(inputs, end, step, zero),
            ))
        self.finish(end, made, planes)

    def _weight_only(self, node: Node, x: Variable, w: Weight, bias: Tensor | None) -> tuple[str, Callable[[], None]] | None:
        """Floats by a weight of whole numbers, which is dequantized on the way."""
        group = w.group or 0
        if group % 8:
            return None

        def write() -> None:
            self.need(x)
            scale = w.steps if w.group is not None else ops.reshape(w.steps, shape=(1, -1))
            weight = self.bound(packed_int8(w.q))
            with self.recording:
                ops.weight_only_linear(x, weight, self.bound(scale), None, self.bound(bias), group=group)
            self.call_last(node.outputs[0])

        return "weight", write
