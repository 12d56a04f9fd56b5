"""ONNX models as programs.

    model = read_model("lenet.onnx")          # the file, read and checked
    program = model.program()                  # its feeds and fetches are the inputs and outputs of the file
    outputs = model.run({"x": x})              # node by node, for models of which no program can be made
"""
from __future__ import annotations

import mmap
import os
from collections.abc import Mapping, Sequence
from typing import Any, BinaryIO

import numpy as np

from wherry_autograd import no_grad
from wherry_nn import Parameter, unique_name
from wherry_onnx_files import proto
from wherry_onnx_files.elements import HELD, NAMES, dtype_of, held_array, tensor_of_array
from wherry_onnx_files.errors import NeedsValue, OnnxFileError, plain
from wherry_onnx_files.reading import Reader, element_of
from wherry_onnx_files.tensors import Folder
from wherry_program.program.capture import Capture
from wherry_program.program.ir import Program, Variable
from wherry_tensor import _core
from wherry_tensor._core import Tensor
from wherry_tensor.protobuf import ModelFileError
from wherry_tensor.sizes import user_line

__all__ = ["OnnxModel", "Port", "read_model"]

_MOST_OPEN = 1 << 40


class Port:
    """An input or output of a model.

    Attributes:
        name: of it.
        code: the type of its elements, as the format numbers them; 0 where the file does not say it.
        shape: sizes, names of open ones, None for those without a name; None where the file does not say it.
        kind: "tensor", "sequence", "optional" or "map".
        form: what surrounds the type of a tensor in its type: "seq({})"; "{}" for a tensor itself.
    """

    __slots__ = ("code", "form", "kind", "name", "shape")

    def __init__(self, info: proto.ValueInfo) -> None:
        t = info.type
        self.name = info.name
        kinds = ("tensor", "sequence", "optional", "map")
        self.kind = "tensor" if t is None else next((kind for kind in kinds if getattr(t, kind) is not None), "tensor")
        self.form, inner = "{}", t
        for kind, shown in ("optional", "optional({})"), ("sequence", "seq({})"):
            if inner is not None and getattr(inner, kind) is not None:
                self.form, inner = self.form.format(shown), inner.element(kind)
        self.code = element_of(inner)
        self.shape: list[int | str | None] | None = None
        if t is not None and t.tensor is not None and t.tensor.shape is not None:
            self.shape = [d.value if d.value is not None else d.name or None for d in t.tensor.shape.dims]

    @property
    def type(self) -> str:
        """The type of the elements: "float32"."""
        return NAMES.get(self.code, "")


class OnnxModel:
    """A model that was read from a file.

    Attributes:
        proto: what the file says.
        inputs: that a call gives values to: initializers are not among them.
        outputs: of it.
    """

    def __init__(self, model: proto.Model, folder: Folder) -> None:
        import wherry_onnx_files.ops  # noqa: F401  the rules

        assert model.graph is not None
        self.proto, self.folder = model, folder
        fixed = {x.name for x in model.graph.initializers}
        self.inputs = [Port(x) for x in model.graph.inputs if x.name not in fixed]
        self.outputs = [Port(x) for x in model.graph.outputs]
        self._constants: dict[str, Tensor] = {}
        names = [x.name for x in self.inputs]
        if len(set(names)) != len(names):
            raise OnnxFileError(f"onnx: two inputs of the model have one name. Got {names[:20]}, expected different ones. Export the model again.")

    @property
    def constants(self) -> dict[str, Tensor]:
        """Its weights by name: parameters where training changes them, tensors otherwise."""
        graph = self.proto.graph
        assert graph is not None
        if not self._constants:
            found = Reader(self.proto, self.folder).constants_of(graph)
            fixed = _fixed_names(graph)
            for name, x in found.items():
                if x.dtype.is_floating and x.ndim and name not in fixed:
                    self._constants[name] = Parameter(x, name=name)
                    continue
                if name in fixed and x.dtype.is_floating and x.ndim:
                    x.persistable = True
                x.name = name
                self._constants[name] = x
        return self._constants

    def program(
        self, shapes: Mapping[str, Sequence[int | None]] | None = None, training: bool = False, values: Mapping[str, Tensor] | None = None
    ) -> Program:
        """The model as a program.

        Args:
            shapes: sizes of inputs that the file leaves open, by name.
            training: read operators that do (dropout) as they train.
            values: of inputs, by name, that shapes and branches may follow from: the program is right for these alone, and has the inputs still.

        Raises:
            NeedsValue: a shape follows from what only a run knows; `run` serves such models.
            OnnxFileError: the nodes do not fit together.
            UnreadableOp: no rule reads an operator.
        """
        reader = Reader(self.proto, self.folder, dict(self.constants), training)
        program = Program()
        feeds: dict[str, Any] = {}
        for port in self.inputs:
            given = (shapes or {}).get(port.name, port.shape)
            if port.kind != "tensor" or given is None:
                what = f"a {port.kind}" if port.kind != "tensor" else "a tensor of any rank"
                raise NeedsValue(f"onnx: input {port.name!r} of the model is {what}. Expected a tensor of a rank that the file says. Pass shapes.")
            sizes = [n if type(n) is int and 0 <= n < _MOST_OPEN else -1 for n in given]
            if len(sizes) > _core.MAX_RANK:
                raise OnnxFileError(f"onnx: input {port.name!r} has {len(sizes)} axes. Expected at most {_core.MAX_RANK}. Export the model again.")
            feed = program.feed(sizes, dtype_of(port.code, f"input {port.name!r}"), port.name)
            feeds[port.name] = (values or {}).get(port.name, feed)
        with unique_name.guard("onnx_"), Capture(program.blocks[0]) as recording, no_grad():
            recording.line = user_line()
            found = self._guarded(reader, feeds)
            for port, x in zip(self.outputs, found, strict=True):
                program.fetches.append(_fetched(recording, program, port, x))
        return program

    def run(self, inputs: Mapping[str, Any], training: bool = False) -> list[Any]:
        """The outputs for tensors, lists of tensors and None by the names of inputs, node by node."""
        return self._guarded(Reader(self.proto, self.folder, dict(self.constants), training), dict(inputs))

    def _guarded(self, reader: Reader, inputs: dict[str, Any]) -> list[Any]:
        try:
            return reader.run(inputs)
        except RecursionError as error:
            raise OnnxFileError("onnx: graphs lie in each other too deep. Expected a few levels. Export the model again.") from error

    def held(self, port: Port, x: np.ndarray) -> Tensor:
        """An array as the tensor that holds it."""
        if port.code == 16:
            return tensor_of_array(x.view(np.uint16), 16)
        return tensor_of_array(held_array(x, port.code) if port.code in HELD else x, port.code)


def _fetched(recording: Capture, program: Program, port: Port, x: Any) -> Variable:
    if not isinstance(x, Tensor):
        raise NeedsValue(f"onnx: output {port.name!r} of the model is a {port.kind}, not a tensor. Run the model node by node.")
    from wherry_tensor import ops

    y = recording.variable_of(x)
    if y.made_by is None or y.block is not program.blocks[0] or any(y is z for z in program.fetches):
        y = recording.variable_of(ops.copy(y))
    if port.name not in program.blocks[0].vars and port.name:
        program.blocks[0].rename(y, port.name)
    return y


# Inputs whose numbers training does not change, by operator: what was measured, and what shapes and types depend on.
_FIXED = {
    "BatchNormalization": (3, 4), "QuantizeLinear": (1, 2), "DequantizeLinear": (1, 2), "Resize": (1, 2, 3), "Upsample": (1,), "Clip": (1, 2),
    "Pad": (1, 2), "QLinearConv": range(1, 9), "QLinearMatMul": range(1, 8), "OneHot": (1, 2), "Range": (0, 1, 2), "Dropout": (1, 2),
    "NonMaxSuppression": (2, 3, 4), "STFT": (2,),
}  # fmt: skip


def _fixed_names(graph: proto.Graph) -> set[str]:
    return {
        node.inputs[i] for node in graph.nodes for i in _FIXED.get(node.op_type, ()) if i < len(node.inputs)
    }


def read_model(source: Any, mapped: bool = False) -> OnnxModel:
    """A model from a path, from bytes or from a file object.

    Args:
        source: a path (weights may lie in files in its folder), bytes, or an object with `read`.
        mapped: of a path: weights stay in their files, which are mapped into memory, until they are used. The model's file must not change as
            long as the model is, those beside it as long as its programs are.

    Raises:
        OnnxFileError: the file is damaged, or no ONNX model. A FileFormatError.
        OSError: there is no such file.
    """
    path = None
    if isinstance(source, (bytes, bytearray, memoryview)):
        data = bytes(source)
    elif hasattr(source, "read"):
        data = source.read()
    else:
        path = os.fspath(source)
        with open(path, "rb") as file:
            data = _mapped(file) if mapped else file.read()
    try:
        return OnnxModel(proto.parse(data), Folder(path, mapped))
    except OnnxFileError:
        raise
    except ModelFileError as error:
        raise OnnxFileError(f"onnx: {plain(error)}") from error
    except RecursionError as error:
        raise OnnxFileError("onnx: the messages of the file lie in each other too deep. Expected a model. Export it again.") from error


def _mapped(file: BinaryIO) -> Any:
    try:
        return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    except (OSError, ValueError):  # of no bytes, or on a file system that maps none
        return file.read()
