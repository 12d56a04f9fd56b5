"""From a program to an ONNX model, and from a layer to a file."""
from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper

from wherry_autograd import no_grad
from wherry_export.onnx.column import to_onnx
from wherry_export.onnx.writer import Value, Writer, onnx_type
from wherry_nn import Layer
from wherry_program.program.capture import capture
from wherry_program.program.ir import Block, Node, Program, Variable
from wherry_program.program.loop_forms import LOOP_FORMS
from wherry_program.program.needs import required_nodes
from wherry_tensor import _core
from wherry_tensor._core import Tensor
from wherry_tensor.arguments import integer, path_of
from wherry_tensor.errors import short
from wherry_tensor.ops.declare import decompose
from wherry_train.atomic_files import replace_files

__all__ = ["LATEST_OPSET", "OLDEST_OPSET", "export_layer", "to_model"]

OLDEST_OPSET, LATEST_OPSET = 11, 19
PADDLES_OPSET = 9  # the default of paddle.onnx.export
_IR_VERSIONS = {11: 6, 12: 7, 13: 7, 14: 7, 15: 8, 16: 8, 17: 8, 18: 8, 19: 9}  # of ONNX's files, by opset


def to_model(
    program: Program, feeds: Sequence[Variable] | None = None, fetches: Sequence[Variable] | None = None, *, opset: int = 13,
    name: str = "wherry",
) -> onnx.ModelProto:
    """A program as an ONNX model.

    Args:
        program: the program; tensors to which variables are bound become constants.
        feeds: the inputs, in order; None takes `program.feeds`.
        fetches: the outputs, in order; None takes `program.fetches`.
        opset: of ONNX's operators, 11 to 19.
        name: of the graph.

    Raises:
        NotImplementedError: an op that ONNX has nothing for; the message names it, and the line that it comes from.
        ValueError: the opset is out of range.
    """
    if not OLDEST_OPSET <= opset <= LATEST_OPSET:
        raise ValueError(
            f"onnx: this opset is not written. Got opset {opset}, expected {OLDEST_OPSET} to {LATEST_OPSET}. Choose one in between."
        )
    copied, new = program.copy()  # decompositions are recorded into it
    ins = [new[id(x)] for x in (program.feeds if feeds is None else feeds)]
    outs = [new[id(x)] for x in (program.fetches if fetches is None else fetches)]
    writer = Writer(opset)
    exporter = _Exporter(writer, copied)
    for x in ins:
        exporter.values[id(x)] = Value(writer.name(x.name), x.sizes, x.dtype)
    block = copied.blocks[0]
    exporter.write(writer, required_nodes(block, outs), outs)
    results = [exporter.handed_out(writer, x) for x in outs]
    graph = helper.make_graph(
        writer.nodes, name, [_info(exporter.values[id(x)].name, x) for x in ins],
        [_info(result, x) for result, x in zip(results, outs, strict=True)], list(writer.initializers.values()),
    )
    model = helper.make_model(graph, producer_name="wherry", opset_imports=[helper.make_opsetid("", opset)])
    model.ir_version = _IR_VERSIONS[opset]
    _drop_unused(model)
    return model


class _Exporter:
    """Walks through a program and calls the rules."""

    def __init__(self, writer: Writer, program: Program) -> None:
        self.program = program
        self.writer = writer
        self.values: dict[int, Value] = {}  # by the id of a variable
        self.readers: dict[int, set[str]] = {}  # the same: names of the ops that read it, "" for what it is handed out to
        writer.lookup = self.find  # type: ignore[method-assign]

    def find(self, x: Tensor) -> Value:
        """The value of a variable; a bound tensor becomes a constant."""
        known = self.values.get(id(x))
        if known is not None:
            return known
        variable = x if isinstance(x, Variable) else self.program.bind(x)
        if variable.bound is None:
            raise ValueError(
                f"onnx: variable '{variable.name}' has no value. Got neither a feed nor a node that makes it, expected one. "
                f"Load its value before the export."
            )
        onnx_type(variable.dtype)
        value = Value(self.writer.tensor(variable.bound, variable.name), variable.sizes, variable.dtype)
        self.values[id(x)] = value
        return value

    def handed_out(self, g: Writer, x: Variable) -> str:
        """The name of an output of a graph: a value of its own, made by a node of this graph."""
        return _same(g, self.find(x), x)

    def write(self, g: Writer, nodes: Sequence[Node], kept: Sequence[Variable]) -> None:
        """Write nodes of one block; `kept` are used after them."""
        uses = {id(x) for x in kept}
        for node in nodes:
            for x in node.reads():
                uses.add(id(x))
                self.readers.setdefault(id(x), set()).add(node.op.name)
        for x in kept:
            self.readers.setdefault(id(x), set()).add("")
        for node in nodes:
            self.write_node(g, node, uses)

    def write_node(self, g: Writer, node: Node, uses: set[int]) -> None:
        """Write one node, or what it decomposes into."""
        if node.is_control:
            rule = _CONTROL.get(node.op.name)
            if rule is None:
                raise _missing(node, "it calls Python, prints or checks when the program runs, which an ONNX model cannot")
            rule(self, g, node)
            return
        wanted = tuple(id(x) in uses for x in node.outputs)
        if node.in_place:
            self.write_in_place(g, node)
            return
        names = self.call(g, node, wanted)
        if names is NotImplemented:
            self.decomposed(g, node, wanted)
            return
        for x, name in zip(node.outputs, names if isinstance(names, tuple) else (names,), strict=True):
            if name is not None:
                self.values[id(x)] = Value(name if isinstance(name, str) else name.name, x.sizes, x.dtype)

    def call(self, g: Writer, node: Node, wanted: tuple[bool, ...]) -> Any:
        """The result of the rule of the op; NotImplemented without one."""
        rule = to_onnx.get(node.op)
        if rule is None:
            return NotImplemented
        inputs = [None if x is None else self.find(x) for x in node.inputs]
        g.wanted, g.readers = wanted, {name for x in node.outputs for name in self.readers.get(id(x), ())}
        return rule(g, *inputs, **node.named_attrs())

    def decomposed(self, g: Writer, node: Node, wanted: tuple[bool, ...]) -> None:
        """Write the decomposition of an op."""
        rule = decompose.get(node.op) or LOOP_FORMS.get(node.op)
        if rule is None:
            raise _missing(node, to_onnx.exemptions.get(node.op, "ONNX has no operator for this call"))
        block = self.program.new_block(node.block)
        for x in node.inputs:
            if x is not None:
                self.find(x)
        with capture(block), no_grad():
            results = rule(*node.inputs, **node.named_attrs())
        results = results if isinstance(results, tuple) else (results,)
        variables = [x if isinstance(x, Variable) else self.program.bind(x) for x in results]
        used = [x for x, w in zip(variables, wanted, strict=True) if w]
        self.write(g, required_nodes(block, used), used)
        for out, x, w in zip(node.outputs, variables, wanted, strict=True):
            if w:
                self.values[id(out)] = Value(self.find(x).name, out.sizes, out.dtype)

    def write_in_place(self, g: Writer, node: Node) -> None:
        """Later reads of the variable get the new value; nothing outside of the model changes."""
        if any(x.bound is not None and x.persistable for x in node.outputs):
            raise _missing(node, "it writes to what lasts beyond a run, as training does; export the layer after eval()")
        for x in node.outputs:
            if _has_views(node.block, x):
                raise _missing(node, "it writes in place to a tensor that has views; write the form without underscore")
        names = self.call(g, node, (True,) * len(node.outputs))
        if names is NotImplemented:
            raise _missing(node, "it is written in place and has no rule here; write the form without underscore")
        for x, name in zip(node.outputs, names if isinstance(names, tuple) else (names,), strict=True):
            self.values[id(x)] = Value(name, x.sizes, x.dtype)

    # Control flow.

    def body(self, g: Writer, block: Block) -> tuple[Writer, list[str]]:
        """The nodes of an inner block as those of an inner graph, and the names of its outputs."""
        inner = Writer(g.opset, g)
        before = dict(self.values)
        self.write(inner, block.nodes, block.outputs)
        names = [self.handed_out(inner, x) for x in block.outputs]
        self.values = before | {at: v for at, v in self.values.items() if v.name in self.writer.initializers}
        return inner, names


def _same(g: Writer, value: Value, x: Variable) -> str:
    """A copy of a value, under a new name. Identity takes no lists before opset 14: what is put into one there is taken out again."""
    if not x.is_array or g.opset >= 14:
        return str(g.op("Identity", value, hint=x.name))
    return str(g.op("SequenceErase", g.op("SequenceInsert", value, g.constant(np.zeros((), x.dtype.name))), hint=x.name))


def _has_views(block: Block, x: Variable) -> bool:
    return any(node.op.view and node.inputs and node.inputs[0] is x for node in block.nodes if not node.is_control) or (
        x.made_by is not None and not x.made_by.is_control and x.made_by.op.view
    )


def _graph(name: str, g: Writer, inputs: list[Any], outputs: list[Any]) -> onnx.GraphProto:
    return helper.make_graph(g.nodes, name, inputs, outputs)


def _check_lists(g: Writer, node: Node) -> None:
    if g.opset < 13 and any(x.is_array for x in node.outputs):
        raise _missing(node, "lists leave choices and loops from opset 13 on: pass opset_version=13 or more")


def _write_cond(self: _Exporter, g: Writer, node: Node) -> None:
    _check_lists(g, node)
    condition = self.find(node.inputs[0])  # type: ignore[arg-type]
    pred = condition.name if not condition.rank else g.op("Reshape", condition, g.ints([]))
    branches = []
    for block in node.blocks:
        inner, names = self.body(g, block)
        branches.append(_graph(g.name("branch"), inner, [], [
            _info(name, x, sizes=False) for name, x in zip(names, block.outputs, strict=True)
        ]))
    outs = [g.name(x.name) for x in node.outputs]
    g.nodes.append(helper.make_node("If", [pred], outs, then_branch=branches[0], else_branch=branches[1]))
    for x, name in zip(node.outputs, outs, strict=True):
        self.values[id(x)] = Value(name, x.sizes, x.dtype)


def _write_while(self: _Exporter, g: Writer, node: Node) -> None:
    if node.attrs[0]:
        raise _missing(node, "it keeps its history for gradients; export the program without them")
    _check_lists(g, node)
    test, body = node.blocks
    start = [self.find(x) for x in node.inputs]  # type: ignore[arg-type]

    def tested(into: Writer, values: Sequence[Value]) -> str:
        for x, value in zip(test.inputs, values, strict=True):
            self.values[id(x)] = value
        self.write(into, test.nodes, test.outputs)
        found = self.find(test.outputs[0])
        return found.name if not found.rank else str(into.op("Reshape", found, into.ints([])))

    first = tested(g, start)
    inner = Writer(g.opset, g)
    before = dict(self.values)
    given = [Value(g.name("carried"), x.sizes, x.dtype) for x in body.inputs]
    for x, value in zip(body.inputs, given, strict=True):
        self.values[id(x)] = value
    self.write(inner, body.nodes, body.outputs)
    new = [self.find(x) for x in body.outputs]
    goes_on = inner.op("Identity", tested(inner, new))
    names = [_same(inner, value, x) for value, x in zip(new, body.outputs, strict=True)]
    self.values = before | {at: v for at, v in self.values.items() if v.name in self.writer.initializers}
    graph = _graph(
        g.name("body"), inner,
        [helper.make_tensor_value_info(g.name("round"), TensorProto.INT64, []),
         helper.make_tensor_value_info(g.name("condition"), TensorProto.BOOL, []),
         *(_info(value.name, x, sizes=False) for value, x in zip(given, body.inputs, strict=True))],
        [helper.make_tensor_value_info(goes_on, TensorProto.BOOL, []),
         *(_info(name, x, sizes=False) for name, x in zip(names, body.outputs, strict=True))],
    )
    outs = [g.name(x.name) for x in node.outputs]
    g.nodes.append(helper.make_node("Loop", ["", first, *(value.name for value in start)], outs, body=graph))
    for x, name in zip(node.outputs, outs, strict=True):
        self.values[id(x)] = Value(name, x.sizes, x.dtype)


def _write_array_create(self: _Exporter, g: Writer, node: Node) -> None:
    (out,) = node.outputs
    items = [self.find(x) for x in node.inputs]  # type: ignore[arg-type]
    name = g.op("SequenceConstruct", *items) if items else g.op("SequenceEmpty", dtype=onnx_type(out.dtype))
    self.values[id(out)] = Value(name, (), out.dtype)


def _write_array_append(self: _Exporter, g: Writer, node: Node) -> None:
    array, x = (self.find(v) for v in node.inputs)  # type: ignore[arg-type]
    self.values[id(node.outputs[0])] = Value(g.op("SequenceInsert", array, x), (), array.dtype)


def _write_array_write(self: _Exporter, g: Writer, node: Node) -> None:
    """A list has no operator that replaces an element: it is put in front of the old one, which goes if there is one."""
    array, i, x = (self.find(v) for v in node.inputs)  # type: ignore[arg-type]
    (out,) = node.outputs
    at = i.name if not i.rank else g.op("Reshape", i, g.ints([]))
    longer = g.op("SequenceInsert", array, x, at)
    branches = []
    for replaces in (True, False):
        inner = Writer(g.opset, g)
        if replaces:
            name = inner.op("SequenceErase", longer, inner.op("Add", at, inner.constant(np.int64(1))))
        else:
            name = _same(inner, Value(str(longer), (), array.dtype), out)
        branches.append(_graph(g.name("branch"), inner, [], [_info(name, out, sizes=False)]))
    name = g.name(out.name)
    there = g.op("Less", at, g.op("SequenceLength", array))
    g.nodes.append(helper.make_node("If", [there], [name], then_branch=branches[0], else_branch=branches[1]))
    self.values[id(out)] = Value(name, (), array.dtype)


def _write_array_read(self: _Exporter, g: Writer, node: Node) -> None:
    array, i = (self.find(v) for v in node.inputs)  # type: ignore[arg-type]
    (out,) = node.outputs
    at = i.name if not i.rank else g.op("Reshape", i, g.ints([]))
    self.values[id(out)] = Value(g.op("SequenceAt", array, at), out.sizes, out.dtype)


def _write_array_length(self: _Exporter, g: Writer, node: Node) -> None:
    (out,) = node.outputs
    self.values[id(out)] = Value(g.op("SequenceLength", self.find(node.inputs[0])), (), out.dtype)  # type: ignore[arg-type]


def _write_array_stack(self: _Exporter, g: Writer, node: Node) -> None:
    (out,) = node.outputs
    joined = g.op(
        "ConcatFromSequence", self.find(node.inputs[0]), axis=node.attr("axis"), new_axis=int(not node.attr("concat"))  # type: ignore[arg-type]
    )
    self.values[id(out)] = Value(joined, out.sizes, out.dtype)


def _write_print(self: _Exporter, g: Writer, node: Node) -> None:
    """Prints and asserts have no result, so they are left out of the model."""


def _write_own_gradient(self: _Exporter, g: Writer, node: Node) -> None:
    for x, out in zip(node.inputs[node.attr("n") :], node.outputs, strict=True):
        self.values[id(out)] = self.find(x)  # type: ignore[arg-type]


_CONTROL = {
    "cond": _write_cond, "while": _write_while, "create_array": _write_array_create, "array_append": _write_array_append,
    "array_write": _write_array_write, "array_read": _write_array_read, "array_length": _write_array_length, "array_stack": _write_array_stack,
    "print": _write_print, "assert": _write_print, "own_gradient": _write_own_gradient,
}


def _missing(node: Node, why: str) -> NotImplementedError:
    op = node.op
    at = f" at {node.line}" if node.line else ""
    return NotImplementedError(
        f"onnx: '{op.name}' cannot be written{at}. Got {node!r}, and {why}. "
        f"A rule for it belongs to wherry_export/onnx (column 'onnx'); `python -m wherry ops {op.name}` shows what is known of the op."
    )


def _info(name: str, x: Variable, sizes: bool = True) -> onnx.ValueInfoProto:
    """The description of an input or output."""
    if x.is_array:
        return helper.make_tensor_sequence_value_info(name, onnx_type(x.dtype), None)
    shape: list[Any] = [f"{x.name}_{i}" if n < 0 else n for i, n in enumerate(x.sizes)] if sizes else [None] * len(x.sizes)
    return helper.make_tensor_value_info(name, onnx_type(x.dtype), shape)


def _drop_unused(model: onnx.ModelProto) -> None:
    """Remove nodes and constants that are not read (results of which a rule used a part)."""

    def read_by(graph: onnx.GraphProto) -> set[str]:
        names = {o.name for o in graph.output}
        for node in graph.node:
            names.update(node.input)
            for attribute in node.attribute:
                if attribute.type == onnx.AttributeProto.GRAPH:
                    names.update(read_by(attribute.g))
        return names

    while True:
        read = read_by(model.graph)
        unused = [node for node in model.graph.node if not any(name in read for name in node.output)]
        if not unused:
            break
        for node in unused:
            model.graph.node.remove(node)
    read = read_by(model.graph)
    for tensor in [t for t in model.graph.initializer if t.name not in read]:
        model.graph.initializer.remove(tensor)


# Layers and files.

def export_layer(layer: Any, path: str, input_spec: Sequence[Any] | None = None, opset_version: int = 9, **configs: Any) -> str:
    """The implementation of `wherry_export.onnx.export`, which needs the package `onnx`."""
    opset_version = integer(opset_version, "onnx.export", "opset_version")
    if opset_version == PADDLES_OPSET:  # its default: who passes nothing has nothing to mend
        opset_version = OLDEST_OPSET
    if opset_version < OLDEST_OPSET:
        warnings.warn(
            f"onnx.export: opset {OLDEST_OPSET} is the oldest that is written. Got opset_version={opset_version}, used {OLDEST_OPSET}. "
            f"Pass opset_version=13 or another up to {LATEST_OPSET}.", UserWarning, stacklevel=3,
        )
        opset_version = OLDEST_OPSET
    program = program_of(layer, input_spec)
    fetches = _chosen(program.fetches, configs.get("output_spec"))
    model = to_model(program, program.feeds, fetches, opset=opset_version, name=type(layer).__name__)
    target = f"{path_of(path, 'onnx.export')}.onnx"
    data = model.SerializeToString()
    replace_files([(target, lambda file: file.write(data))])
    return target


def program_of(layer: Any, input_spec: Sequence[Any] | None) -> Program:
    """The program that a layer computes in `eval()`."""
    if isinstance(layer, Program):
        return layer
    if not callable(layer):
        raise TypeError(
            f"onnx.export: this is not a layer. Got {type(layer).__name__}, expected a Layer or a function. Pass the network itself."
        )
    if input_spec is None:
        raise ValueError(
            "onnx.export: what the layer takes is not known. Got input_spec=None, expected an InputSpec for each argument of forward. "
            "Pass input_spec=[paddle.static.InputSpec([None, 3], 'float32')]."
        )
    program = Program()
    feeds = []
    if not isinstance(input_spec, Sequence) or not all(hasattr(spec, "shape") and hasattr(spec, "dtype") for spec in input_spec):
        raise TypeError(
            f"onnx.export: input_spec describes each argument of forward. Got {short(input_spec)}, expected a list of InputSpec or Tensor. "
            f"Pass input_spec=[paddle.static.InputSpec([None, 3], 'float32')]."
        )
    for i, spec in enumerate(input_spec):
        dtype = spec.dtype if not isinstance(spec.dtype, str) else getattr(_core, "bool_" if spec.dtype == "bool" else spec.dtype)
        name = getattr(spec, "name", None) if not isinstance(spec, Tensor) else None
        feeds.append(program.feed(spec.shape, dtype, name or f"x{i}"))
    was_training = getattr(layer, "training", False)
    if was_training:
        layer.eval()
    try:
        with _converted(layer) as called, capture(program), no_grad():
            result = called(*feeds)
    finally:
        if was_training:
            layer.train()
    from wherry_program.program.structure import tensors_of

    program.fetches = [x if isinstance(x, Variable) else program.bind(x) for x in tensors_of(result)]
    return program


@contextmanager
def _converted(layer: Any) -> Iterator[Callable[..., Any]]:
    """The layer or function with Python's control flow on tensors converted, as `to_static` does; as it is where wherry-graph is not installed."""
    try:
        from wherry_graph.jit import to_static
    except ModuleNotFoundError as error:
        if error.name != "wherry_graph":
            raise
        yield layer
        return
    if not isinstance(layer, Layer):
        yield to_static(layer)
        return
    own = vars(layer)
    before = own.get("forward")
    own["forward"] = to_static(layer.forward)  # the call is the layer's, with its hooks
    try:
        yield layer
    finally:
        if before is None:
            del own["forward"]
        else:
            own["forward"] = before


def _chosen(fetches: list[Variable], chosen: Sequence[Any] | None) -> list[Variable]:
    if chosen is None:
        return fetches
    found = []
    for one in chosen:
        match = [x for i, x in enumerate(fetches) if one is x or one == i or getattr(one, "name", one) == x.name]
        if not match:
            raise ValueError(
                f"onnx.export: output_spec names what the layer does not return. Got {one!r}, expected positions in [0, {len(fetches)}) or "
                f"names among {[x.name for x in fetches]}. Correct it."
            )
        found.append(match[0])
    return found
