"""The messages of an ONNX file, as far as reading needs them.

Inner graphs stay bytes until a node runs them (`graph_of`), so that nesting is bounded by who reads, not by the file.

Source: the format is described in ONNX's onnx.proto (IR version 3 to 13); the numbers of fields are from there.
"""
from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from wherry_tensor.protobuf import Field, ModelFileError, Schema

__all__ = [
    "Attribute", "Dimension", "Function", "Graph", "Model", "Node", "OperatorSet", "SparseTensor", "Tensor", "Type", "ValueInfo", "graph_of", "parse",
]


@dataclass(slots=True)
class Entry:
    key: str = ""
    value: str = ""
    unknown: bytes = b""


@dataclass(slots=True)
class OperatorSet:
    domain: str = ""
    version: int = 1
    unknown: bytes = b""


@dataclass(slots=True)
class Tensor:
    """A constant. Its numbers are in `raw`, in a list, or in another file."""

    dims: list[int] = field(default_factory=list)
    data_type: int = 0
    floats: list[float] = field(default_factory=list)
    int32s: list[int] = field(default_factory=list)
    strings: list[bytes] = field(default_factory=list)
    int64s: list[int] = field(default_factory=list)
    name: str = ""
    raw: bytes | memoryview | None = None
    doubles: list[float] = field(default_factory=list)
    uint64s: list[int] = field(default_factory=list)
    external: list[Entry] = field(default_factory=list)
    location: int = 0
    unknown: bytes = b""


@dataclass(slots=True)
class SparseTensor:
    values: Tensor | None = None
    indices: Tensor | None = None
    dims: list[int] = field(default_factory=list)
    unknown: bytes = b""


@dataclass(slots=True)
class Dimension:
    """A size: a number, a name, or neither."""

    value: int | None = None
    name: str | None = None
    unknown: bytes = b""


@dataclass(slots=True)
class Shape:
    dims: list[Dimension] = field(default_factory=list)
    unknown: bytes = b""


@dataclass(slots=True)
class TensorType:
    elem_type: int = 0
    shape: Shape | None = None
    unknown: bytes = b""


@dataclass(slots=True)
class Type:
    """A tensor's type, or one of a sequence or an optional, whose element is still bytes."""

    tensor: TensorType | None = None
    sequence: bytes | None = None
    map: bytes | None = None
    optional: bytes | None = None
    unknown: bytes = b""

    def element(self, what: str) -> Type:
        """The type inside of a sequence or an optional."""
        data = self.sequence if what == "sequence" else self.optional
        return _wrapped.read(data or b"").element or Type()


@dataclass(slots=True)
class Wrapped:
    element: Type | None = None
    unknown: bytes = b""


@dataclass(slots=True)
class ValueInfo:
    name: str = ""
    type: Type | None = None
    unknown: bytes = b""


@dataclass(slots=True)
class Attribute:
    """An attribute; `type` says which field counts, and `reference` names one of the function around it."""

    name: str = ""
    reference: str = ""
    type: int = 0
    f: float = 0.0
    i: int = 0
    s: bytes = b""
    t: Tensor | None = None
    g: bytes | None = None
    sparse: SparseTensor | None = None
    type_proto: Type | None = None
    floats: list[float] = field(default_factory=list)
    ints: list[int] = field(default_factory=list)
    strings: list[bytes] = field(default_factory=list)
    unknown: bytes = b""


@dataclass(slots=True)
class Node:
    inputs: list[str] = field(default_factory=list)
    outputs: list[str] = field(default_factory=list)
    name: str = ""
    op_type: str = ""
    attributes: list[Attribute] = field(default_factory=list)
    domain: str = ""
    overload: str = ""
    unknown: bytes = b""


@dataclass(slots=True)
class Graph:
    nodes: list[Node] = field(default_factory=list)
    name: str = ""
    initializers: list[Tensor] = field(default_factory=list)
    inputs: list[ValueInfo] = field(default_factory=list)
    outputs: list[ValueInfo] = field(default_factory=list)
    value_info: list[ValueInfo] = field(default_factory=list)
    sparse_initializers: list[SparseTensor] = field(default_factory=list)
    unknown: bytes = b""


@dataclass(slots=True)
class Function:
    """An operator that the model defines by others."""

    name: str = ""
    inputs: list[str] = field(default_factory=list)
    outputs: list[str] = field(default_factory=list)
    attributes: list[str] = field(default_factory=list)
    nodes: list[Node] = field(default_factory=list)
    opsets: list[OperatorSet] = field(default_factory=list)
    domain: str = ""
    defaults: list[Attribute] = field(default_factory=list)
    overload: str = ""
    unknown: bytes = b""


@dataclass(slots=True)
class Model:
    ir_version: int = 0
    opsets: list[OperatorSet] = field(default_factory=list)
    producer_name: str = ""
    producer_version: str = ""
    domain: str = ""
    model_version: int = 0
    doc: str = ""
    graph: Graph | None = None
    metadata: list[Entry] = field(default_factory=list)
    functions: list[Function] = field(default_factory=list)
    unknown: bytes = b""


def _many(number: int, name: str, kind: Any) -> Field:
    return Field(number, name, kind, repeated=True)


_entry = Schema(Entry, "an entry", Field(1, "key", "text"), Field(2, "value", "text"))
_opset = Schema(OperatorSet, "an operator set", Field(1, "domain", "text"), Field(2, "version", "int"))
_tensor = Schema(
    Tensor, "a tensor", _many(1, "dims", "int"), Field(2, "data_type", "int32"), _many(4, "floats", "float"), _many(5, "int32s", "int32"),
    _many(6, "strings", "bytes"), _many(7, "int64s", "int"), Field(8, "name", "text"), Field(9, "raw", "view"), _many(10, "doubles", "double"),
    _many(11, "uint64s", "int"), _many(13, "external", _entry), Field(14, "location", "int32"),
)
_sparse = Schema(SparseTensor, "a sparse tensor", Field(1, "values", _tensor), Field(2, "indices", _tensor), _many(3, "dims", "int"))
_dimension = Schema(Dimension, "a size", Field(1, "value", "int"), Field(2, "name", "text"))
_shape = Schema(Shape, "a shape", _many(1, "dims", _dimension))
_tensor_type = Schema(TensorType, "the type of a tensor", Field(1, "elem_type", "int32"), Field(2, "shape", _shape))
_type = Schema(
    Type, "a type", Field(1, "tensor", _tensor_type), Field(4, "sequence", "bytes"), Field(5, "map", "bytes"), Field(9, "optional", "bytes")
)
_wrapped = Schema(Wrapped, "the type of an element", Field(1, "element", _type))
_value_info = Schema(ValueInfo, "a value", Field(1, "name", "text"), Field(2, "type", _type))
_attribute = Schema(
    Attribute, "an attribute", Field(1, "name", "text"), Field(2, "f", "float"), Field(3, "i", "int"), Field(4, "s", "bytes"), Field(5, "t", _tensor),
    Field(6, "g", "bytes"), _many(7, "floats", "float"), _many(8, "ints", "int"), _many(9, "strings", "bytes"), Field(14, "type_proto", _type),
    Field(20, "type", "int32"), Field(21, "reference", "text"), Field(22, "sparse", _sparse),
)
_node = Schema(
    Node, "a node", _many(1, "inputs", "text"), _many(2, "outputs", "text"), Field(3, "name", "text"), Field(4, "op_type", "text"),
    _many(5, "attributes", _attribute), Field(7, "domain", "text"), Field(8, "overload", "text"),
)
_graph = Schema(
    Graph, "a graph", _many(1, "nodes", _node), Field(2, "name", "text"), _many(5, "initializers", _tensor), _many(11, "inputs", _value_info),
    _many(12, "outputs", _value_info), _many(13, "value_info", _value_info), _many(15, "sparse_initializers", _sparse),
)
_function = Schema(
    Function, "a function", Field(1, "name", "text"), _many(4, "inputs", "text"), _many(5, "outputs", "text"), _many(6, "attributes", "text"),
    _many(7, "nodes", _node), _many(9, "opsets", _opset), Field(10, "domain", "text"), _many(11, "defaults", _attribute),
    Field(13, "overload", "text"),
)
_model = Schema(
    Model, "the model", Field(1, "ir_version", "int"), Field(2, "producer_name", "text"), Field(3, "producer_version", "text"),
    Field(4, "domain", "text"), Field(5, "model_version", "int"), Field(6, "doc", "text"), Field(7, "graph", _graph),
    _many(8, "opsets", _opset), _many(14, "metadata", _entry),
    _many(25, "functions", _function),
)


def parse(data: bytes) -> Model:
    """The model in the bytes of a file.

    Raises:
        ModelFileError: the bytes are not a model.
    """
    model: Model = _model.read(data)
    if model.graph is None or not model.opsets:
        what = "a graph" if model.graph is None else "a list of operator sets"
        raise ModelFileError(f"the file is not an ONNX model: it has no graph or no operator sets. Got a model without {what}. Save the model again.")
    return model


def graph_of(data: bytes) -> Graph:
    """The inner graph of an attribute."""
    return _graph.read(data)  # type: ignore[no-any-return]
