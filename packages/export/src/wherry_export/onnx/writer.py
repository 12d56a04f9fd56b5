"""Writing an ONNX graph: names, constants, nodes, and what differs from opset to opset."""
from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from wherry_tensor import _core
from wherry_tensor._core import DType, Tensor
from wherry_tensor.sizes import Size, is_unknown

__all__ = ["Value", "Writer", "onnx_type"]

_TYPES = {
    "float32": TensorProto.FLOAT, "float64": TensorProto.DOUBLE, "float16": TensorProto.FLOAT16, "bfloat16": TensorProto.BFLOAT16,
    "int8": TensorProto.INT8, "int16": TensorProto.INT16, "int32": TensorProto.INT32, "int64": TensorProto.INT64,
    "uint8": TensorProto.UINT8, "bool": TensorProto.BOOL,
}


def onnx_type(dtype: DType) -> int:
    """The number of a dtype in ONNX.

    Raises:
        NotImplementedError: ONNX has no such dtype.
    """
    if dtype.name not in _TYPES:
        raise NotImplementedError(
            f"onnx: the format has no operators on {dtype.name}. Got a value of this dtype, expected one of {', '.join(_TYPES)}. "
            f"Compute with real and imaginary parts as tensors of their own."
        )
    return _TYPES[dtype.name]


class Value(NamedTuple):
    """A value of the graph: its name, and the shape (-1: unknown) and dtype that the program knows."""

    name: str
    shape: tuple[int, ...]
    dtype: DType

    @property
    def rank(self) -> int:
        """Number of axes."""
        return len(self.shape)

    @property
    def is_floating(self) -> bool:
        """Whether its dtype is floating."""
        return bool(self.dtype.is_floating)


class Writer:
    """One graph, or the body of a control-flow node in one.

    Attributes:
        opset: the version of ONNX's operators that is written.
        wanted: of the call that a rule is writing, whether each output is used.
        readers: of the same, the names of the ops that read its outputs, "" where they are handed out.
        float8: names of values that are float8 where the program has bytes of them.
        nodes: what was written.
    """

    def __init__(self, opset: int, outer: Writer | None = None) -> None:
        self.opset = opset
        self.wanted: tuple[bool, ...] = ()
        self.readers: set[str] = set()
        self.nodes: list[onnx.NodeProto] = []
        self._root: Writer = self if outer is None else outer._root
        if outer is None:
            self.initializers: dict[str, onnx.TensorProto] = {}
            self._arrays: dict[str, np.ndarray] = {}
            self._constants: dict[tuple[Any, ...], str] = {}
            self._names: dict[str, int] = {}
            self._sized: dict[int, str] = {}
            self._float8: set[str] = set()

    # Names and constants.

    def name(self, hint: str) -> str:
        """A name that no other value of the model has."""
        base = re.sub(r"[^0-9A-Za-z_.]", "_", hint) or "value"
        names = self._root._names
        count = names.get(base, 0)
        names[base] = count + 1
        return base if not count else self.name(f"{base}__{count}")

    def constant(self, value: Any, dtype: Any = None, hint: str = "constant") -> str:
        """The name of a constant: an array or a number; equal ones share one."""
        array = np.asarray(value, dtype=None if dtype is None else dtype.name if isinstance(dtype, DType) else dtype)
        if array.size <= 64:
            key = (array.tobytes(), array.shape, array.dtype.str)
            known = self._root._constants.get(key)
            if known is None:
                known = self._root._constants[key] = self._initializer(hint, array)
            return known
        return self._initializer(hint, array)

    def tensor(self, x: Tensor, hint: str) -> str:
        """The name of a constant with the values of a tensor."""
        if x.dtype is _core.bfloat16:
            name = self.name(hint)
            bits = np.asarray(x.astype("float32").numpy()).view(np.uint32) >> 16
            self._root.initializers[name] = helper.make_tensor(
                name, TensorProto.BFLOAT16, x.shape, bits.astype(np.uint16).tobytes(), raw=True
            )
            return name
        return self._initializer(hint, np.asarray(x.numpy()))

    @property
    def float8(self) -> set[str]:
        return self._root._float8

    def float8_constant(self, codes: np.ndarray) -> str:
        """The name of a constant of float8 e4m3fn, from its bytes."""
        name = self.name("float8")
        self._root.initializers[name] = helper.make_tensor(name, TensorProto.FLOAT8E4M3FN, codes.shape, codes.astype(np.uint8).tobytes(), raw=True)
        return name

    def _initializer(self, hint: str, array: np.ndarray) -> str:
        name = self.name(hint)
        self._root.initializers[name] = numpy_helper.from_array(np.ascontiguousarray(array).reshape(array.shape), name)
        self._root._arrays[name] = array
        return name

    def array_of(self, x: Value | str) -> np.ndarray | None:
        """The values of a constant; None for what the model computes."""
        return self._root._arrays.get(x if isinstance(x, str) else x.name)

    def number(self, value: Any, like: Value) -> str:
        """A 0-d constant of the dtype of `like`."""
        if like.dtype is _core.bfloat16:
            return self.op("Cast", self.constant(np.float32(value)), to=TensorProto.BFLOAT16)
        return self.constant(np.asarray(value).astype(like.dtype.name))

    def ints(self, values: Sequence[int]) -> str:
        """A 1-D int64 constant."""
        return self.constant(np.asarray(values, np.int64).reshape(len(values)))

    # Nodes.

    def op(self, kind: str, *inputs: Any, outputs: int = 1, hint: str = "", **attrs: Any) -> Any:
        """Write a node.

        Args:
            kind: ONNX's operator.
            inputs: Values or names; None for an absent one.
            outputs: how many.
            hint: of the names of the outputs.
            attrs: ONNX's attributes; None leaves one out.

        Returns:
            The name of the output, or a tuple of names when there are several.
        """
        names = ["" if x is None else x if isinstance(x, str) else x.name for x in inputs]
        while names and not names[-1]:
            names.pop()
        outs = [self.name(hint or kind.lower()) for _ in range(outputs)]
        self.nodes.append(helper.make_node(kind, names, outs, **{k: v for k, v in attrs.items() if v is not None}))
        return outs[0] if outputs == 1 else tuple(outs)

    def cast(self, x: Any, dtype: DType) -> str:
        """`x` in a dtype; itself where it is a Value that has it."""
        if isinstance(x, Value) and x.dtype is dtype:
            return x.name
        return str(self.op("Cast", x, to=onnx_type(dtype)))

    def transpose(self, x: Any, perm: Sequence[int]) -> Any:
        """`x` with its axes in another order; `x` itself where they stay."""
        return x if list(perm) == list(range(len(perm))) else self.op("Transpose", x, perm=list(perm))

    def squeeze(self, x: Any, axes: Sequence[int]) -> Any:
        """Remove these axes of size 1."""
        if not axes:
            return x
        return self.op("Squeeze", x, self.ints(axes)) if self.opset >= 13 else self.op("Squeeze", x, axes=list(axes))

    def unsqueeze(self, x: Any, axes: Sequence[int]) -> Any:
        """Insert axes of size 1 at these positions of the result."""
        if not axes:
            return x
        return self.op("Unsqueeze", x, self.ints(axes)) if self.opset >= 13 else self.op("Unsqueeze", x, axes=list(axes))

    def reduce(self, kind: str, x: Any, axes: Sequence[int], keepdim: bool) -> str:
        """One of the Reduce operators; its axes are an attribute in old opsets and an input in new ones."""
        if not axes:  # ONNX takes none as all
            return str(self.op("Identity", x))
        if self.opset >= (13 if kind == "ReduceSum" else 18):
            return str(self.op(kind, x, self.ints(axes), keepdims=int(keepdim)))
        return str(self.op(kind, x, axes=list(axes), keepdims=int(keepdim)))

    # Sizes.

    def shape_of(self, x: Any) -> str:
        """The shape of `x` as int64, 1-D."""
        return str(self.op("Shape", x))

    def size(self, n: Any) -> str:
        """A size, known or not, as int64 of shape [1]."""
        if not is_unknown(n):
            return self.ints([int(n)])
        if n.source[0] == "axis":
            x = self.value_of(n.source[1])
            return str(self.op("Gather", self.shape_of(x), self.ints([n.source[2]]), axis=0))
        if n.source[0] == "value":
            x = self.value_of(n.source[1])
            return str(self.op("Reshape", self.op("Cast", x, to=TensorProto.INT64), self.ints([1])))
        name, a, b = n.source
        a, b = self.size(a), self.size(b)
        if name in ("maximum", "minimum"):
            if self.opset >= 12:
                return str(self.op("Max" if name == "maximum" else "Min", a, b))
            first = self.op("Greater", a, b) if name == "maximum" else self.op("Less", a, b)
            return str(self.op("Where", first, a, b))
        if name == "floor_divide":
            return self.floor_divided(a, b)
        kind = {"add": "Add", "subtract": "Sub", "multiply": "Mul", "remainder": "Mod"}[name]
        return str(self.op(kind, a, b))

    def floor_divided(self, a: Any, b: Any) -> str:
        """Integers divided and rounded down. ONNX rounds towards zero, so the remainder goes first."""
        return str(self.op("Div", self.op("Sub", a, self.op("Mod", a, b)), b))

    def shape(self, sizes: Sequence[Any]) -> str:
        """Sizes, known or not, as one int64 vector."""
        if not any(type(n) is Size for n in sizes):
            return self.ints([int(n) for n in sizes])
        return str(self.op("Concat", *[self.size(n) for n in sizes], axis=0))

    def value_of(self, x: Tensor) -> Any:
        """The value that a variable of the program has here. Set by what writes the program."""
        return self._root.lookup(x)

    def lookup(self, x: Tensor) -> Any:
        """Replaced by the exporter."""
        raise AssertionError("no program is being written")
