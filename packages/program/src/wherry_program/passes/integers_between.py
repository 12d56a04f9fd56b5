"""What stands between products of whole numbers and hands them on: pooling, changes of shape, sums, concatenations, rows of tables."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from wherry_program.passes.elementwise import is_elementwise
from wherry_program.passes.integer_values import BYTES, End, Note, Quantized, Values
from wherry_program.passes.rewriting import bound_constant, is_pure
from wherry_program.program.ir import Node, Variable, tensors_of_attrs
from wherry_tensor import ops
from wherry_tensor._core import Tensor, float32, int8, int32, uint8

__all__ = ["Between"]

_MOST_OF_STEP = 1e-6  # by which two steps may differ and be the same: by the rounding of what computed them
_MOST_OF_WINDOW = 1 << 14  # places of a window that is averaged


class Between(Values):
    """Rewrites the nodes between products; each method says whether it did."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.rounded: dict[Any, Variable] = {}  # what was rounded, and how -> its whole numbers
        self.functions: dict[int, tuple[Variable, Tensor]] = {}  # id of a variable -> bytes, and what it is for each of their 256 values
        self.between: dict[Any, Callable[[Node], bool]] = {
            ops.quantize_linear: self.again, ops.max_pool2d: self.pooled, ops.reshape: self.moved, ops.transpose: self.turned, ops.add: self.added,
            ops.concat: self.joined, ops.avg_pool2d: self.averaged, ops.adaptive_avg_pool2d: self.averaged, ops.reduce_mean: self.averaged,
            ops.gather: self.chosen, ops.select: self.settled,
        }

    def again(self, node: Node) -> bool:
        """Quantizing what was just dequantized by the same step changes nothing; an image keeps its layout."""
        x = node.inputs[0]
        before, now = self.quantized(x), self.read(node)
        if now is not None and x is not None:
            # Layers that share an input share its whole numbers, where they have found the same step.
            first = self.rounded.setdefault((id(x), now.step, now.zero, node.attrs), node.outputs[0])
            if first is not node.outputs[0]:
                self.same[id(node.outputs[0])] = first
                return True
        if now is not None and x is not None and id(x) in self.images:
            with self.recording:
                made = ops.quantize_linear(self.images[id(x)], *node.inputs[1:], **node.named_attrs())
                self.images[id(now.q)] = self.recording.variable_of(made)
            self.missing.add(id(now.q))
            return True
        if before is None or now is None or not _alike(before, now) or not _all_bytes(node):
            return self.mapped(node)
        self.same[id(node.outputs[0])] = before.q
        return True

    def followed(self, node: Node) -> bool:
        """What is computed from one number of bytes, element by element: a function of 256 values, until it is rounded."""
        if not is_elementwise(node) or node.op in (ops.quantize_linear, ops.dequantize_linear):
            return False
        values, source = [], None
        for x in node.inputs:
            value = self.floats(x)
            found = None if x is None or value is not None else self.function_of(x)
            if found is not None and (source is None or source is found[0]):
                source, value = found
            elif value is None or value.size != 1:
                return False
            else:
                value = ops.reshape(value, shape=())
            values.append(value)
        output = node.outputs[0]
        if source is None or source.sizes != output.sizes:
            return False
        self.functions[id(output)] = source, ops.copy(node.op.run(tuple(values), node.attrs))
        self.lazy[id(output)] = node
        return True

    def function_of(self, x: Variable) -> tuple[Variable, Tensor] | None:
        """Of a variable that follows from one of bytes: that, and its values for each byte."""
        if id(x) in self.functions:
            return self.functions[id(x)]
        node = self.put_off_dequantization(x)
        found = None if node is None else self.read(node)
        if node is None or found is None:
            return None
        source, table = self.functions.get(id(found.q), (found.q, None))
        if table is None:
            least = 0 if found.q.dtype is uint8 else -128
            table = ops.cast(ops.arange(start=least, step=1, length=256, dtype=int32), dtype=found.q.dtype)
        return source, self._at(node, table)

    def _at(self, node: Node, table: Tensor) -> Tensor:
        """A quantization or dequantization by one constant step, of the values in a table."""
        numbers = [None if x is None else ops.reshape(self.constant(x), shape=()) for x in (*node.inputs[1:], None)[:2]]
        made: Tensor = ops.copy(node.op.run((table, *numbers), (None, *node.attrs[1:])))
        return made

    def mapped(self, node: Node) -> bool:
        """Bytes, whatever was computed from each of them and rounded: 256 results in a table."""
        x, output = node.inputs[0], node.outputs[0]
        found = None if x is None or self.read(node) is None else self.function_of(x)
        if found is None:
            return False
        source, table = found[0], self._at(node, found[1])
        self.functions[id(output)] = source, table
        image = self.images.get(id(source))
        if image is None:
            self.need(source)
        with self.recording:
            made = ops.mapped_bytes(source if image is None else image, self.bound(table))
            if image is not None:
                self.images[id(output)] = self.recording.variable_of(made)
                self.missing.add(id(output))
        if image is None:
            self.call_last(output)
        return True

    def pooled(self, node: Node) -> bool:
        """The largest of whole numbers is the whole number of the largest."""
        x = node.inputs[0]
        found = self.quantized(x)
        if x is None or found is None or not self.without_mask(node):
            return False
        kernel, strides, paddings, ceil_mode, form = node.attrs
        image = self.image_of(found.q, form)
        with self.recording:
            made = ops.quantized_max_pool2d(image, kernel=kernel, strides=strides, paddings=paddings, ceil_mode=ceil_mode)
            q = self.recording.variable_of(made)
        if form == "NCHW":
            q = self.planes_of(q, node.outputs[0].sizes)
        self.put_off(node.outputs[0], q, self.lazy[id(x)])
        return True

    def moved(self, node: Node) -> bool:
        x = node.inputs[0]
        found = None if x is None or len(node.inputs) > 1 else self._behind(x)
        if x is None or found is None:
            return False
        self.need(found[0])
        shape = tuple(_size_of(n, x, found[0]) for n in node.attr("shape"))
        with self.recording:
            q = self.recording.variable_of(ops.reshape(found[0], shape=shape))
        return self._handed_on(node, q, found[1])

    def turned(self, node: Node) -> bool:
        if self.settled(node):
            return True
        x = node.inputs[0]
        found = None if x is None else self._behind(x)
        if found is None or id(found[0]) in self.images:
            return False
        self.need(found[0])
        with self.recording:
            q = self.recording.variable_of(ops.transpose(found[0], perm=node.attr("perm")))
        return self._handed_on(node, q, found[1])

    def _behind(self, x: Variable) -> tuple[Variable, Tensor | None] | None:
        """The bytes that a variable is dequantized from, or follows from by a table."""
        found = self.quantized(x)
        return self.functions.get(id(x)) if found is None else (found.q, None)

    def _handed_on(self, node: Node, q: Variable, table: Tensor | None) -> bool:
        """Let what changes the shape of a variable be of these bytes."""
        x, output = node.inputs[0], node.outputs[0]
        assert x is not None
        if table is None:
            self.put_off(output, q, self.lazy[id(x)])
        else:
            self.functions[id(output)] = q, table
            self.lazy[id(output)] = node
        return True

    def joined(self, node: Node) -> bool:
        """Whole numbers of one step beside each other; those of others are rounded again, where the result is."""
        inputs = [x for x in node.inputs if x is not None]
        found = [one for x in inputs if (one := self.quantized(x)) is not None]
        if len(found) < len(node.inputs) or any(len(x.sizes) != len(inputs[0].sizes) for x in inputs):
            return False
        after = None if all(_alike(one, found[0]) for one in found) else self.rounding_of(node.outputs[0])
        if after is None and not all(_alike(one, found[0]) for one in found):
            return False
        axis, parts = node.attr("axis") % len(inputs[0].sizes), []
        last = after is None and len(inputs[0].sizes) == 4 and all(id(one.q) in self.images for one in found)
        for x, one in zip(inputs, found, strict=True):
            if last:
                parts.append(self.images[id(one.q)])
            elif after is None or (_alike(one, after[1]) and _all_bytes(after[0])):
                self.need(one.q)
                parts.append(one.q)
            else:
                self.need(x)
                with self.recording:
                    parts.append(self.recording.variable_of(ops.quantize_linear(x, *after[0].inputs[1:], **after[0].named_attrs())))
        with self.recording:
            q = self.recording.variable_of(ops.concat(*parts, axis=(0, 3, 1, 2)[axis] if last else axis))
        if after is None:
            self.put_off(node.outputs[0], self.planes_of(q, node.outputs[0].sizes) if last else q, self.lazy[id(inputs[0])])
        else:
            self.gone.add(id(after[0]))
            self.call_last(after[0].outputs[0])
        return True

    def averaged(self, node: Node) -> bool:
        """Averages of windows: sums of whole numbers, which are a convolution by ones of each channel by itself."""
        x = node.inputs[0]
        found = self.quantized(x)
        window = None if x is None else _window_of(node, x)
        if x is None or found is None or window is None:
            return False
        form, kernel, strides, paddings, count = window
        channels = x.sizes[1 if form == "NCHW" else 3]
        flat = len(node.outputs[0].sizes) == 2
        end = self.end(node, ops.full(shape=(channels,), value=found.step / count, dtype=float32), None, "" if flat else form)
        image = self.image_of(found.q, form)
        ones = self.bound(ops.full(shape=(*kernel, channels), value=1, dtype=int8))
        # What is added has the shape of the result: of a mean without its axes, none is taken along.
        residual, step, zero = self.residual(end, form == "NCHW" and not flat)
        step = self.in_steps(end, residual, step)
        if flat and residual is not None:
            with self.recording:
                residual = self.recording.variable_of(ops.reshape(residual, shape=(-1, 1, 1, channels)))
        with self.recording:
            made = ops.quantized_depthwise_conv2d(
                image, ones, self.bound(end.scale), self.bound(end.bias), residual, strides=strides, paddings=paddings, dilations=(1, 1),
                **self.behind(found, end, step, zero),
            )
            if flat:
                made = ops.reshape(made, shape=(-1, channels))
        self.finish(end, self.recording.variable_of(made), form == "NCHW" and not flat)
        return True

    def chosen(self, node: Node) -> bool:
        """Rows of a table as ONNX chooses them."""
        if self.settled(node):
            return True
        if node.attr("axis") != 0 or node.inputs[0] is None or len(node.inputs[0].sizes) != 2:
            return False
        found = self.looked_up(node)
        if isinstance(found, Note):
            return False
        found[1]()
        return True

    def settled(self, node: Node) -> bool:
        """What is chosen from a constant of whole numbers, or turned, is a constant of whole numbers: ONNX has weights of directions in one."""
        x = node.inputs[0]
        others = [self.constant(y) for y in node.inputs[1:]]
        if x is None or any(y is None for y in others) or tensors_of_attrs(node.attrs):
            return False

        def of(value: Tensor) -> Tensor:
            made: Tensor = ops.copy(node.op.run((value, *others), node.attrs))
            return made

        value = self.constant(x)
        if value is not None:
            if value.dtype not in BYTES and node.op is not ops.select:  # of their steps
                return False
            self.same[id(node.outputs[0])] = bound_constant(self.block.program, of(value))
            return True
        made = self.dequantization(x)
        if made is None:
            return False
        q, steps, zero = (self.constant(y) for y in (*made.inputs, None)[:3])
        axis, group, dtype = made.attrs
        if q is None or steps is None or group is not None or (len(made.inputs) > 2 and made.inputs[2] is not None and zero is None):
            return False
        if axis is not None:
            if node.op is ops.gather and others[0].ndim != 1:  # type: ignore[union-attr]
                return False
            axis, chosen = _axis_behind(node, axis % q.ndim, q.ndim)
            if chosen:
                choice = {"index": node.attr("index")} if node.op is ops.select else {}
                steps, zero = (None if y is None else ops.copy(node.op(y, *others, axis=0, **choice)) for y in (steps, zero))
        inputs = tuple(self.bound(y) for y in (of(q), steps, zero))
        output = node.outputs[0]
        output.made_by = Node(made.op, inputs, (axis, None, dtype), (output,), block=node.block, role=node.role, line=node.line, scope=node.scope)
        self.lazy[id(output)] = output.made_by
        return True

    def looked_up(self, node: Node) -> Note | tuple[str, Callable[[], None]]:
        """Rows of a table of whole numbers, which become floats after the choice."""
        index, table = node.inputs if node.op is ops.embedding else node.inputs[::-1]
        made = None if table is None else self.dequantization(table)
        if made is None or index is None:
            return Note(node, "float", "the table is not a constant of whole numbers")
        q, steps, zero = (self.constant(x) for x in (*made.inputs, None)[:3])
        axis, group, dtype = made.attrs
        if q is None or steps is None or group is not None or (len(made.inputs) > 2 and made.inputs[2] is not None and zero is None):
            return Note(node, "float", "the table has steps for groups, or such that change")
        if zero is not None and any(zero.reshape([-1]).tolist()):
            return Note(node, "float", "the table has zero points")
        rows = axis is not None and steps.size > 1 and axis % 2 == 0
        whole, scale = q, ops.reshape(steps, shape=(-1, 1)) if rows else steps

        def write() -> None:
            with self.recording:
                found = node.op(*(self.bound(whole) if x is table else x for x in node.inputs), **node.named_attrs())
                if rows:
                    each = ops.gather(self.bound(scale), index, axis=0)
                    ops.multiply(ops.cast(found, dtype=dtype), ops.cast(each, dtype=dtype))
                else:
                    along = None if axis is None or scale.ndim == 0 else len(index.sizes)
                    ops.dequantize_linear(found, self.bound(scale), None, axis=along, group=None, dtype=dtype)
            self.call_last(node.outputs[0])

        return "weight", write

    def added(self, node: Node) -> bool:
        """The sum of two quantized tensors that is quantized again."""
        x, y = node.inputs
        left, right = self.quantized(x), self.quantized(y)
        if left is None or right is None or x is None or y is None or x.sizes != y.sizes or -1 in x.sizes[1:] or len(x.sizes) < 2:
            return False
        end = End(node.outputs[0], ops.full(shape=(1,), value=1.0, dtype=float32), None, "none", None, None, None, [])
        while (reader := self.reader(end.output)) is not None and is_pure(reader, self.changing):
            if not (self.takes_activation(end, reader) or self.takes_rounding(end, reader)):
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
        self.finish(end, self.recording.variable_of(made), last)
        return True


def _alike(a: Quantized, b: Quantized) -> bool:
    return a.q.dtype is b.q.dtype and a.zero == b.zero and abs(a.step - b.step) <= _MOST_OF_STEP * b.step


def _axis_behind(node: Node, axis: int, rank: int) -> tuple[int | None, bool]:
    """The axis of a constant that an axis of it becomes (None: none), and whether the node chooses from it."""
    if node.op is ops.transpose:
        return [p % rank for p in node.attr("perm")].index(axis), False
    along = node.attr("axis") % rank
    if node.op is ops.gather:
        return axis, along == axis
    return None if along == axis else axis - (along < axis), along == axis


def _all_bytes(node: Node) -> bool:
    """Whether a quantization keeps every number that its dtype has."""
    low, high = (0, 255) if node.attr("dtype") is uint8 else (-128, 127)
    return bool(node.attr("low") <= low and node.attr("high") >= high)


def _window_of(node: Node, x: Variable) -> tuple[str, tuple[int, ...], tuple[int, ...], tuple[int, ...], int] | None:
    """Of averages: layout, window, steps, padding, and by how much sums are divided; None where windows differ or are not known."""
    if len(x.sizes) != 4:
        return None
    if node.op is ops.avg_pool2d:
        kernel, strides, paddings, ceil_mode, exclusive, divisor, form = node.attrs
        if ceil_mode or (exclusive and divisor is None and any(paddings)):
            return None
        channels, count = x.sizes[1 if form == "NCHW" else 3], divisor or kernel[0] * kernel[1]
    else:
        if node.op is ops.reduce_mean:
            axes = tuple(sorted(axis % 4 for axis in node.attr("axes")))
            form = {(2, 3): "NCHW", (1, 2): "NHWC"}.get(axes, "")
        else:
            form = node.attr("data_format") if tuple(node.attr("output_size")) == (1, 1) else ""
        if not form:
            return None
        kernel = x.sizes[2:] if form == "NCHW" else x.sizes[1:3]
        strides, paddings, channels, count = (1, 1), (0,) * 4, x.sizes[1 if form == "NCHW" else 3], kernel[0] * kernel[1]
    if -1 in (*kernel, channels) or not 0 < kernel[0] * kernel[1] <= _MOST_OF_WINDOW or not channels:
        return None
    return form, tuple(kernel), tuple(strides), tuple(paddings), count


def _size_of(n: Any, x: Variable, q: Variable) -> Any:
    """A size of `x` as the same of `q`."""
    source = getattr(n, "source", None)
    return q.shape[source[2]] if source is not None and source[0] == "axis" and source[1] is x else n
