"""Reading ONNX graphs: nodes are taken one by one, and a rule (`column.reads`) calls functions of the library on their inputs.

With tensors a graph runs as it is read; with the variables of a capture it becomes a program. A value of a graph is a tensor, `Numbers`
(whole numbers that shapes are made of), a list or an `is_array` variable (a sequence), or None (an optional without a value).
"""
from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np

from wherry_nn import Parameter, unique_name
from wherry_onnx_files import proto
from wherry_onnx_files.column import READS, Reading
from wherry_onnx_files.elements import CODES, HELD, dtype_of, tensor_of_array, wrapped
from wherry_onnx_files.errors import NeedsValue, OnnxFileError, UnreadableOp, plain
from wherry_onnx_files.numbers import Numbers, is_known, numbers_of
from wherry_onnx_files.tensors import Folder, array_of, sparse_array, tensor_of
from wherry_program.program.capture import Capture, current_capture
from wherry_program.program.ir import Program, Variable
from wherry_tensor import _core, ops
from wherry_tensor._core import DType, Tensor
from wherry_tensor.ops.quantization import fault_of_scales
from wherry_tensor.protobuf import ModelFileError
from wherry_tensor.sizes import Size
from wherry_tensor.suggestions import did_you_mean

__all__ = ["OpView", "Reader", "array_from"]

_DEEPEST = 60  # functions and inner graphs in each other
_MOST_FOLDED = 1 << 16  # elements of a constant that is computed when a file is read
_FLOAT, _INT, _STRING, _TENSOR, _GRAPH, _SPARSE, _FLOATS, _INTS, _STRINGS = 1, 2, 3, 4, 5, 11, 6, 7, 8


class OpView:
    """A node of a graph, as rules see it.

    Attributes:
        type: of the operator.
        node: the node itself.
        reader: that reads the graph.
        version: of the operator set that the node's operator is from.
        out_type: the type of the first result where tensors do not have it; a rule sets it.
    """

    __slots__ = ("_attrs", "node", "out_type", "reader", "type", "version")

    def __init__(self, node: proto.Node, reader: Reader) -> None:
        self.node, self.reader, self.type = node, reader, node.op_type
        self.version = reader.version(node.domain)
        self.out_type: int | None = None
        self._attrs = {}
        for a in node.attributes:
            of_call = reader.attribute(a) if a.reference else a
            if of_call is not None:
                self._attrs[a.name] = of_call

    def __len__(self) -> int:
        """How many inputs are written down."""
        return len(self.node.inputs)

    @property
    def n_out(self) -> int:
        """How many outputs are written down."""
        return len(self.node.outputs)

    # Inputs.

    def has(self, i: int) -> bool:
        """Whether the input is there."""
        return i < len(self.node.inputs) and self.node.inputs[i] != ""

    def value(self, i: int) -> Any:
        """An input as it is: a tensor, Numbers, a sequence or None."""
        inputs = self.node.inputs
        name = inputs[i] if i < len(inputs) else ""
        if not name:
            raise self.bad(f"it has no input {i}", "one")
        scope = self.reader.scopes[-1]
        return scope[name] if name in scope else self.reader.value(name, self)

    def x(self, i: int) -> Tensor:
        """The tensor of an input."""
        found = self.value(i)
        if type(found) is Variable and not found.is_array:  # mostly
            return found
        if isinstance(found, Numbers):
            return found.tensor()
        if not isinstance(found, Tensor) or getattr(found, "is_array", False):
            what = "an empty optional" if found is None else "a sequence"
            raise self.bad(f"input {i}, {self.node.inputs[i]!r}, is {what}", "a tensor")
        return found

    def scale(self, i: int) -> Tensor:
        """The tensor of an input that is a scale; numbers of the file are finite, and none is negative."""
        found = self.x(i)
        of_file = self.node.inputs[i] in self.reader.constants or current_capture() is not None
        if of_file and not _core.is_symbolic(found) and found.dtype.is_floating:
            fault = fault_of_scales(found)
            if fault is not None:
                raise self.bad(f"its scale {self.node.inputs[i]!r} has {fault}", "finite numbers, none below 0")
        return found

    def maybe(self, i: int) -> Any:
        """The tensor of an input, or None."""
        return self.x(i) if self.has(i) else None

    def xs(self, start: int = 0) -> list[Tensor]:
        """The tensors of all inputs from one on."""
        return [self.x(i) for i in range(start, len(self)) if self.has(i)]

    def etype(self, i: int) -> int:
        """The type of the elements of an input."""
        found = self.reader.types.get(self.node.inputs[i])
        return CODES[self.x(i).dtype.name] if found is None else found

    def array(self, i: int, what: str = "its value") -> np.ndarray:
        """The numbers of an input, which has to be known when the graph is read."""
        found = self.value(i)
        if isinstance(found, Numbers):
            if not found.known:
                raise self.needs(i, what)
            return found.array.astype(found.dtype.name)
        return array_from(found, lambda: self.needs(i, what))

    def numbers(self, i: int) -> np.ndarray | None:
        """An input as ints and Sizes, if it is known as such."""
        return numbers_of(self.value(i))

    def ints(self, i: int, what: str) -> list[int]:
        """An input as whole numbers that have to be known."""
        found = self.array(i, what)
        if found.dtype.kind not in "iu":
            raise self.bad(f"input {i} has dtype {found.dtype}", "whole numbers")
        return [int(n) for n in found.reshape(-1)]

    def sizes(self, i: int, what: str = "a shape") -> list[Any]:
        """An input as whole numbers; a Size for what only a run knows."""
        known = self.numbers(i)
        if known is not None:
            return list(known.reshape(-1))
        x = self.x(i)
        if not _core.is_symbolic(x):
            return self.ints(i, what)
        if x.ndim > 1 or not all(is_known(n) for n in x.shape) or x.dtype.name not in ("int64", "int32"):
            raise self.needs(i, what)
        return [Size("value", x)] if not x.ndim else [Size("value", ops.select(x, axis=0, index=k)) for k in range(int(x.shape[0]))]

    def size(self, i: int, what: str) -> Any:
        """An input as one whole number, or a Size."""
        found = self.sizes(i, what)
        if len(found) != 1:
            raise self.bad(f"input {i} has {len(found)} elements", f"one, {what}")
        return found[0]

    def scalar(self, i: int, what: str) -> Any:
        """An input as one number that has to be known."""
        found = self.array(i, what)
        if found.size != 1:
            raise self.bad(f"input {i} has {found.size} elements", f"one, {what}")
        return found.reshape(-1)[0].item()

    def is_known(self, i: int) -> bool:
        """Whether the numbers of an input are known when the graph is read."""
        found = self.value(i)
        return found.known if isinstance(found, Numbers) else isinstance(found, Tensor) and not _core.is_symbolic(found)

    # Attributes.

    def given(self, name: str) -> bool:
        """Whether an attribute is there."""
        return name in self._attrs

    def _attr(self, name: str, kind: int) -> proto.Attribute | None:
        found = self._attrs.get(name)
        if found is not None and found.type not in (kind, 0):
            raise self.bad(f"attribute {name!r} has type {found.type}", f"type {kind} of AttributeProto")
        return found

    def integer(self, name: str, default: int = 0) -> int:
        """An attribute that is a whole number."""
        found = self._attr(name, _INT)
        return default if found is None else found.i

    def flag(self, name: str, default: bool = False) -> bool:
        """An attribute that is true or false."""
        return bool(self.integer(name, default))

    def number(self, name: str, default: float = 0.0) -> float:
        """An attribute that is a number."""
        found = self._attr(name, _FLOAT)
        return default if found is None else found.f

    def ints_of(self, name: str, default: Sequence[int] | None = None) -> Any:
        """An attribute that is whole numbers, a list."""
        found = self._attr(name, _INTS)
        return default if found is None else list(found.ints)

    def floats_of(self, name: str) -> list[float] | None:
        """An attribute that is numbers."""
        found = self._attr(name, _FLOATS)
        return None if found is None else list(found.floats)

    def text(self, name: str, default: str = "") -> str:
        """An attribute that is text."""
        found = self._attr(name, _STRING)
        return default if found is None else found.s.decode("utf-8", "replace")

    def texts(self, name: str, default: Sequence[str] = ()) -> list[str]:
        """An attribute that is texts."""
        found = self._attr(name, _STRINGS)
        return list(default) if found is None else [s.decode("utf-8", "replace") for s in found.strings]

    def tensor(self, name: str) -> proto.Tensor | None:
        """An attribute that is a constant."""
        found = self._attr(name, _TENSOR)
        return None if found is None else found.t

    def sparse(self, name: str) -> proto.SparseTensor | None:
        """An attribute that is a sparse constant."""
        found = self._attr(name, _SPARSE)
        return None if found is None else found.sparse

    def graph(self, name: str) -> proto.Graph:
        """An attribute that is a graph."""
        found = self._attr(name, _GRAPH)
        if found is None or found.g is None:
            raise self.bad(f"it has no graph {name!r}", "one")
        return self.reader.graph(found)

    def dtype(self, code: int) -> DType:
        """The dtype that holds a type of the format; the first result has that type."""
        self.out_type = code if code in HELD else 0
        return dtype_of(code, f"the result of {self.where}")

    # Errors.

    @property
    def where(self) -> str:
        """The node, for messages."""
        name = self.node.name or (self.node.outputs[0] if self.node.outputs else "")
        return f"node {name!r} ({self.node.domain + '.' if self.node.domain else ''}{self.type})"

    def bad(self, got: str, expected: str) -> OnnxFileError:
        """The error for a malformed node."""
        return OnnxFileError(f"onnx: {self.where} cannot be read: {got}. Expected {expected}. Export the model again.")

    def unsupported(self, got: str, expected: str) -> UnreadableOp:
        """The error for a form of an operator that is not read."""
        return UnreadableOp(f"onnx: {self.where} is not read in this form: {got}. Expected {expected}. Export the model without it.")

    def needs(self, i: int, what: str) -> NeedsValue:
        """The error for an input that has to be known when a program is made."""
        return NeedsValue(
            f"onnx: {self.where} computes {what} from input {i}, {self.node.inputs[i]!r}, which only a run knows. Expected a constant. "
            f"Make it an initializer, or run the model node by node."
        )

    def bound(self, n: Any, most: int, what: str) -> None:
        """Refuse a number that a table, or a part of the program, would be as long as: a damaged file may say anything."""
        if is_known(n) and n > most:
            raise self.unsupported(f"{what} is {n}", f"at most {most}")

    def open_size(self, what: str) -> NeedsValue:
        """The error for a size that has to be known when a program is made."""
        return NeedsValue(f"onnx: {self.where} needs {what}, which is open in the model. Expected a number. Fix the sizes of the inputs.")


def array_from(x: Any, missing: Callable[[], Exception]) -> np.ndarray:
    """The numbers of a tensor with data; `missing` makes the error for another."""
    if not isinstance(x, Tensor) or _core.is_symbolic(x):
        raise missing()
    return ops.cast(x, dtype=_core.float32).numpy() if x.dtype.name == "bfloat16" else x.numpy()


class Reader:
    """Reads the graphs of one model.

    Attributes:
        model: what the file says.
        training: whether operators are read as they train.
        types: of values whose type tensors do not have, by name.
    """

    def __init__(self, model: proto.Model, folder: Folder, constants: dict[str, Any] | None = None, training: bool = False) -> None:
        assert model.graph is not None
        self.model, self.folder, self.training = model, folder, training
        self.constants = constants if constants is not None else {}  # of the main graph, by name: they are read once
        self.types: dict[str, int] = {}
        self.scopes: list[dict[str, Any]] = [{}]
        self.functions = {(f.domain, f.name, f.overload): f for f in model.functions}
        self._opsets = {_domain(o.domain): o.version for o in model.opsets}
        self._frame: dict[str, proto.Attribute] = {}  # what attributes of the function around refer to
        self._graphs: dict[int, tuple[proto.Attribute, proto.Graph]] = {}
        self._depth = 0
        self._left = 100_000 + 100 * len(model.graph.nodes)

    def version(self, domain: str) -> int:
        """Of the operator set of a domain."""
        return self._opsets.get(_domain(domain), 1)

    def attribute(self, a: proto.Attribute) -> proto.Attribute | None:
        """An attribute, or what it refers to in the call of the function around; None if that has none."""
        if not a.reference:
            return a
        found = self._frame.get(a.reference)
        if found is None:
            return None
        return replace(found, name=a.name)

    def graph(self, a: proto.Attribute) -> proto.Graph:
        """The graph of an attribute, read once."""
        known = self._graphs.get(id(a))
        if known is None:
            known = self._graphs[id(a)] = (a, proto.graph_of(a.g or b""))
        return known[1]

    # Names.

    def has(self, name: str) -> bool:
        """Whether the name has a value here."""
        return any(name in scope for scope in self.scopes)

    def value(self, name: str, op: OpView | None = None) -> Any:
        """The value of a name.

        Raises:
            OnnxFileError: there is none.
        """
        for scope in reversed(self.scopes):
            if name in scope:
                return scope[name]
        got = f"{name!r} has no value" + ("" if op is None else f" where {op.where} reads it")
        raise OnnxFileError(f"onnx: the nodes of the graph do not fit together: {got}. Expected an input, an initializer or an earlier output.")

    def tensor(self, name: str) -> Any:
        """The value of a name, with a tensor in place of numbers."""
        found = self.value(name)
        return found.tensor() if isinstance(found, Numbers) else found

    # Graphs.

    def constants_of(self, graph: proto.Graph) -> dict[str, Any]:
        """The constants of a graph by name."""
        out: dict[str, Any] = {}
        for x in graph.initializers:
            out[x.name] = tensor_of(x, self.folder, f"the initializer {x.name!r}")
            if x.data_type in HELD:
                self.types[x.name] = x.data_type
        for s in graph.sparse_initializers:
            name = "" if s.values is None else s.values.name
            array, code = sparse_array(s, self.folder, f"the initializer {name!r}", 1 << 22)
            out[name] = tensor_of_array(array, code)
        return out

    def run(self, inputs: dict[str, Any]) -> list[Any]:
        """The outputs of the main graph for values of its inputs, which may be tensors or variables of the capture that is on."""
        graph = self.model.graph
        assert graph is not None
        if not self.constants:
            self.constants.update(self.constants_of(graph))
        else:
            self.types.update({x.name: x.data_type for x in graph.initializers if x.data_type in HELD})
        for info in graph.inputs:
            code = element_of(info.type)
            if code in HELD:
                self.types[info.name] = code
        self.scopes = [{**self.constants, **inputs}]
        self.nodes(graph.nodes)
        return [self.tensor(x.name) for x in graph.outputs]

    def inner(self, graph: proto.Graph, inputs: Sequence[Any]) -> list[Any]:
        """The outputs of an inner graph, which sees the names around it."""
        with self._deeper():
            names = [x.name for x in graph.inputs][: len(inputs)]
            self.scopes.append({**self.constants_of(graph), **dict(zip(names, inputs))})
            try:
                self.nodes(graph.nodes)
                return [self.value(x.name) for x in graph.outputs]
            finally:
                self.scopes.pop()

    def _function(self, op: OpView, f: proto.Function) -> tuple[Any, ...]:
        given = {a.name: a for a in op._attrs.values()}
        frame = {a.name: a for a in f.defaults}
        frame |= {name: a for name, a in given.items() if name in f.attributes or name in frame}
        names = dict(zip(f.inputs, op.node.inputs))
        scope = {ours: self.value(theirs, op) for ours, theirs in names.items() if theirs}
        types = {ours: self.types[theirs] for ours, theirs in names.items() if theirs in self.types}
        before = self.scopes, self._frame, self._opsets, self.types
        with self._deeper():
            self.scopes, self._frame, self.types = [scope], frame, types
            self._opsets = {_domain(o.domain): o.version for o in f.opsets} or self._opsets
            try:
                self.nodes(f.nodes)
                found = tuple(self.value(name) if name in self.scopes[0] else None for name in f.outputs)
                for name, theirs in zip(f.outputs, op.node.outputs):
                    if name in types:
                        before[3][theirs] = types[name]
                return found
            finally:
                self.scopes, self._frame, self._opsets, self.types = before

    @contextmanager
    def _deeper(self) -> Iterator[None]:
        self._depth += 1
        try:
            if self._depth > _DEEPEST:
                raise OnnxFileError(
                    f"onnx: graphs and functions run each other. Got {self._depth} levels, expected at most {_DEEPEST}. Export the model again."
                )
            yield
        finally:
            self._depth -= 1

    # Nodes.

    def nodes(self, nodes: Sequence[proto.Node]) -> None:
        """Read nodes, one after the other."""
        for node in nodes:
            self.node(node)

    def node(self, node: proto.Node) -> None:
        """Read one node."""
        recording = current_capture()
        if recording is not None:
            self._left -= 1
            if self._left < 0:
                raise OnnxFileError("onnx: the functions of the model call each other too often. Expected fewer nodes. Export the model again.")
        op = OpView(node, self)
        found = READS.get((_domain(node.domain), node.op_type))
        function = self.functions.get((node.domain, node.op_type, node.overload)) if self.functions else None
        if function is not None and (found is None or node.domain not in ("", "ai.onnx", "com.microsoft")):
            results: Any = self._function(op, function)
        elif found is None:
            raise self._unknown(op)
        else:
            results = self._guarded(op, found, recording)
        if not isinstance(results, tuple):
            results = (results,)
        scope = self.scopes[-1]
        for name, value in zip(node.outputs, results):
            if name:
                scope[name] = value
                if function is None and self.types:
                    self.types.pop(name, None)
        if op.out_type and node.outputs:
            self.types[node.outputs[0]] = op.out_type
        elif found is not None and found.keeps and op.out_type is None and self.types:
            self._keep_type(op, node, results)

    def _keep_type(self, op: OpView, node: proto.Node, results: tuple[Any, ...]) -> None:
        code = next((self.types[name] for name in node.inputs if name in self.types), None)
        first = results[0] if results else None
        if code is not None and isinstance(first, Tensor) and first.dtype.name == HELD[code] and node.outputs:
            self.types[node.outputs[0]] = code
            if node.op_type in _OVERFLOWS:
                self.scopes[-1][node.outputs[0]] = wrapped(first, code)

    def _unknown(self, op: OpView) -> UnreadableOp:
        near = did_you_mean(op.type, [name for domain, name in READS if domain == _domain(op.node.domain)])
        domain = op.node.domain or "ai.onnx"
        return UnreadableOp(
            f"onnx: the model has an operator that is not read: {op.where}. Got '{op.type}' of the domain {domain!r}, opset {op.version}, "
            f"expected one of the {len(READS)} operators that are known.{near} Add a rule for it with @reads({op.type!r}) to "
            f"wherry_onnx_files/ops, in the file of its family."
        )

    def _guarded(self, op: OpView, found: Reading, recording: Capture | None) -> Any:
        """The result of a rule; any error in it is reported as an error of the file, with the node."""
        try:
            return self._result(op, found, recording)
        except ModelFileError:
            raise
        except (ValueError, TypeError, LookupError, ArithmeticError, AttributeError, RuntimeError, MemoryError, AssertionError) as error:
            kind = NeedsValue if "not known" in str(error) and current_capture() is not None else OnnxFileError
            raise kind(f"onnx: {op.where} cannot be read: {plain(error)}") from error

    def _result(self, op: OpView, found: Reading, recording: Capture | None) -> Any:
        if recording is None or not found.folds or not self._all_constant(op):
            return found.rule(op)
        # Once without computing anything, to see how large the results are: what a file says of them may be anything.
        scratch = Program()
        before = dict(self.types)
        with Capture(scratch.blocks[0]), unique_name.guard("folded_"):
            found.rule(op)
        self.types.clear()
        self.types.update(before)
        sizes = [x.sizes for node in scratch.walk() for x in node.outputs]
        if any(-1 in s or np.prod([float(n) for n in s]) > _MOST_FOLDED for s in sizes):
            return found.rule(op)
        with recording_paused(recording):
            return found.rule(op)

    def _all_constant(self, op: OpView) -> bool:
        scope = self.scopes[-1]
        for name in op.node.inputs:
            if name:
                x = scope[name] if name in scope else self.value(name, op)
                if type(x) is Variable:
                    return False
                if not (x.known if isinstance(x, Numbers) else isinstance(x, Tensor) and _is_constant(x)):
                    return False
        return True


def _is_constant(x: Tensor) -> bool:
    return not _core.is_symbolic(x) and not isinstance(x, Parameter) and not x.persistable


_OVERFLOWS = {"Add", "Sub", "Mul", "Neg", "Pow", "BitwiseNot", "BitShift", "Div", "Sum", "Mod", "ReduceSum", "CumSum", "MatMul"}


@contextmanager
def recording_paused(recording: Capture) -> Iterator[None]:
    """Let ops run while a capture is on."""
    recording.__exit__()
    try:
        yield
    finally:
        recording.__enter__()


def _domain(name: str) -> str:
    return "" if name == "ai.onnx" else name


def element_of(t: proto.Type | None) -> int:
    """The type of the elements of a tensor; 0 where it is not a tensor."""
    return 0 if t is None or t.tensor is None else t.tensor.elem_type



def constant(op: OpView, x: proto.Tensor) -> Tensor:
    """The tensor of an attribute; its type is that of the first result."""
    if x.data_type in HELD:
        op.out_type = x.data_type
    return tensor_of_array(array_of(x, op.reader.folder, f"a constant of {op.where}"), x.data_type)
