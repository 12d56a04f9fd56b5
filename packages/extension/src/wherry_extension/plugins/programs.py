"""Programs: one call of an op as calls of the kernels of a plug-in.

A rule of the column `plugin` writes the program of a call, once for each plan: which kernels run, on which tensors, with which
attributes. `Writer` is what it writes to. The program then runs without Python (`wplug_run` of csrc/plugin.c).
"""
from __future__ import annotations

import ctypes
import math
import warnings
from collections.abc import Sequence
from ctypes import c_char_p, c_double, c_int32, c_int64
from typing import Any

from wherry_extension.plugins.boundary import DTYPES, MAX_RANK, Kernel, Program, Step, TensorStruct, Value
from wherry_tensor._core import DType
from wherry_tensor.errors import short

__all__ = ["PLACE", "Bound", "Declined", "KernelTable", "Operand", "Writer"]

# wext_param of paddle/phi/api/ext/kernels.h, by their numbers.
_KINDS = (
    "const DenseTensor &", "const optional<DenseTensor> &", "const std::vector<const DenseTensor *> &", "DenseTensor *",
    "std::vector<DenseTensor *>", "bool", "int", "int64_t", "float", "double", "std::string", "Scalar", "IntArray", "DataType", "DataLayout",
    "Place", "std::vector<bool>", "std::vector<int>", "std::vector<int64_t>", "std::vector<float>", "std::vector<double>",
    "std::vector<std::string>", "std::vector<Scalar>", "a type that is not supported",
)  # fmt: skip
(
    _TENSOR, _OPTIONAL, _TENSORS, _OUTPUT, _OUTPUTS, _BOOL, _INT32, _INT64, _FLOAT, _DOUBLE, _STRING, _SCALAR, _INT_ARRAY, _DTYPE, _LAYOUT,
    _PLACE, _BOOLS, _INTS, _INT64S, _FLOATS, _DOUBLES, _STRINGS, _SCALARS, _OTHER,
) = range(24)  # fmt: skip
_WHOLE_LISTS = (_INT_ARRAY, _BOOLS, _INTS, _INT64S)
_REAL_LISTS = (_FLOATS, _DOUBLES, _SCALARS)
_ON_HOST = 256

_INPUT, _RESULT, _TEMPORARY = range(3)  # where the memory of a tensor comes from
_MOST_TEMPORARIES = 24


# Names of kernels in other versions.
_OTHER_NAMES = {
    "arg_max": "argmax", "arg_min": "argmin", "brelu": "hardtanh", "hard_sigmoid": "hardsigmoid", "hard_swish": "hardswish",
    "hardshrink": "hard_shrink", "log_sigmoid": "logsigmoid", "soft_shrink": "softshrink", "tanhshrink": "tanh_shrink", "top_k": "topk",
}  # fmt: skip


class _Place:
    """Stands for the place of the call among the attributes of a kernel."""


PLACE = _Place()


class Declined(Exception):
    """The kernels of the plug-in cannot serve a call."""


class Operand:
    """A tensor in a program: an input, an output, or memory for the time of the call."""

    __slots__ = ("dtype", "index", "origin", "shape")

    def __init__(self, origin: int, index: int, dtype: DType, shape: Sequence[int]) -> None:
        self.origin, self.index, self.dtype, self.shape = origin, index, dtype, tuple(shape)

    @property
    def size(self) -> int:
        return math.prod(self.shape)

    def reshape(self, *shape: int) -> Operand:
        """The same memory in another shape."""
        if math.prod(shape) != self.size:
            raise Declined(f"{list(self.shape)} is no {list(shape)}")
        return Operand(self.origin, self.index, self.dtype, shape)


class KernelTable:
    """The kernels that plug-ins have for one kind of device."""

    def __init__(self, device: str, plugin: int) -> None:
        self.device = device
        self.plugin = plugin  # the wplug whose devices they run on
        self.rows: dict[str, dict[str, Any]] = {}  # name -> dtype -> pointer to a wext_kernel
        self.misfits: dict[str, str] = {}  # kernels that are not used, and why

    def add(self, row: Any) -> str:
        """Keep a kernel, unless there is one of its name and dtype; returns the name that it is kept under."""
        kernel = row.contents
        name = kernel.name.decode()
        name = _OTHER_NAMES.get(name, name)
        if 0 <= kernel.dtype < len(DTYPES):  # else one that tensors do not have
            self.rows.setdefault(name, {}).setdefault(DTYPES[kernel.dtype], row)
        return name

    def dtypes(self, names: Sequence[str]) -> list[str]:
        """Those that all of the kernels have; of `a|b` one is enough."""
        found = [{dtype for one in name.split("|") for dtype in self.rows.get(one, ())} for name in names]
        return sorted(set.intersection(*found)) if found else []

    def misfit(self, name: str, row: Any, expected: Sequence[Any]) -> None:
        """Tell once that a kernel is not used because its parameters are others than expected."""
        if name in self.misfits:
            return
        kernel = row.contents
        got = ", ".join(_KINDS[kernel.params[i] % _ON_HOST] for i in range(kernel.n_params))
        self.misfits[name] = got
        warnings.warn(
            f"{self.device}: the kernel '{name}' is not used, for its parameters are not those of Paddle's kernel of that name. Got "
            f"({got}), expected {' or '.join(f'({_shown(args)})' for args in expected)}. It is registered at "
            f"{(kernel.file or b'').decode()}:{kernel.line}.",
            RuntimeWarning, stacklevel=2,
        )


def _shown(args: Sequence[Any]) -> str:
    return ", ".join(_kind_shown(value) for value in args)


def _kind_shown(value: Any) -> str:
    if isinstance(value, Operand):
        return _KINDS[_OUTPUT] if value.origin == _RESULT else _KINDS[_TENSOR]
    if value is None:
        return "absent or undefined"
    if isinstance(value, (list, tuple)):
        return "a list of tensors" if value and isinstance(value[0], Operand) else "a list of numbers"
    if isinstance(value, _Place):
        return "Place"
    return type(value).__name__


def _fits(kind: int, value: Any) -> bool:
    """Whether `value` can be passed for a parameter of this kind."""
    if kind in (_TENSOR, _OUTPUT):
        return isinstance(value, Operand) or (kind == _OUTPUT and value is None)
    if kind == _OPTIONAL:
        return value is None or isinstance(value, Operand)
    if kind in (_TENSORS, _OUTPUTS):
        return isinstance(value, list) and all(isinstance(item, Operand) for item in value)
    if kind == _BOOL:
        return isinstance(value, bool)
    if kind in (_INT32, _INT64):
        return isinstance(value, int) and not isinstance(value, bool)
    if kind in (_FLOAT, _DOUBLE, _SCALAR):
        return isinstance(value, (int, float)) and not isinstance(value, bool)
    if kind in (_STRING, _LAYOUT):
        return isinstance(value, str)
    if kind == _DTYPE:
        return value is None or isinstance(value, DType)
    if kind == _PLACE:
        return isinstance(value, _Place)
    if kind in _WHOLE_LISTS:
        return isinstance(value, (list, tuple)) and all(isinstance(item, int) for item in value)
    if kind in _REAL_LISTS:
        return isinstance(value, (list, tuple)) and all(isinstance(item, (int, float)) for item in value)
    if kind == _STRINGS:
        return isinstance(value, (list, tuple)) and all(isinstance(item, str) for item in value)
    return False


class Writer:
    """Writes the program of a call for a rule.

    Args:
        table: the kernels of the plug-in.
        op: the name of the op, for errors of the running program.
        inputs, outputs: Metas of the call; None for an absent input.
    """

    def __init__(self, table: KernelTable, op: str, inputs: Sequence[Any], outputs: Sequence[Any]) -> None:
        for meta in (*inputs, *outputs):
            if meta is not None and any(size < 0 for size in meta.shape):
                raise Declined("a shape depends on data")
        self.table = table
        self.inputs = [None if m is None else Operand(_INPUT, i, m.dtype, m.shape) for i, m in enumerate(inputs)]
        self.outputs = [Operand(_RESULT, i, m.dtype, m.shape) for i, m in enumerate(outputs)]
        self.program = Program(plugin=table.plugin, op=op.encode())
        self._kept: list[Any] = []  # keeps alive the memory that structs point to
        self._steps: list[Step] = []
        self._temporaries: list[int] = []

    def has(self, name: str, dtype: DType) -> bool:
        """Whether there is such a kernel."""
        return dtype.name in self.table.rows.get(name, ())

    def call(self, name: str, *args: Any, or_args: Sequence[Sequence[Any]] = (), dtype: DType | None = None) -> None:
        """Run a kernel.

        Args:
            name: as plug-ins register it.
            args: inputs (`Operand`, None or a list), attributes and outputs in the order of the kernel's parameters.
            or_args: the same for other versions of the kernel; the first that fits is taken.
            dtype: under which the kernel is registered; None: that of the first tensor.

        Raises:
            Declined: there is no such kernel, or it has other parameters.
        """
        if dtype is None:
            dtype = next(value[0] if isinstance(value, list) else value for value in args if isinstance(value, (Operand, list)) and value).dtype
        row = self.table.rows.get(name, {}).get(dtype.name)
        if row is None:
            raise Declined(f"there is no {dtype.name} kernel '{name}'")
        kernel: Kernel = row.contents
        kinds = [kernel.params[i] for i in range(kernel.n_params)]
        for version in (args, *or_args):
            if len(version) == len(kinds) and all(map(_fits, kinds, version)):
                self._add(row, kinds, version)
                return
        self.table.misfit(name, row, (args, *or_args))
        raise Declined(f"the kernel '{name}' has other parameters")

    def memory(self, dtype: DType, shape: Sequence[int]) -> Operand:
        """Memory for the time of the call; what is in it is not known."""
        if len(self._temporaries) == _MOST_TEMPORARIES:
            raise Declined("it takes too much memory beside its results")
        self._temporaries.append(max(1, math.prod(shape) * dtype.itemsize))
        return Operand(_TEMPORARY, len(self._temporaries) - 1, dtype, shape)

    def zeros(self, dtype: DType, shape: Sequence[int]) -> Operand:
        """Memory for the time of the call that holds zeros."""
        made = self.memory(dtype, shape)
        self._step(None, [], [made], None)
        return made

    def number(self, x: Operand, dtype: DType) -> Operand:
        """One number in float32 or float64. `x` may be a number of the host, where the op is one of `column.host_numbers`."""
        if x.size != 1 or not {x.dtype.name, dtype.name} <= {"float32", "float64"}:
            raise Declined("this is not a number in float32 or float64")
        made = self.memory(dtype, (1,))
        self._step(None, [], [x, made], None)
        return made

    def arranged(self, x: Operand, shape: Sequence[int], strides: Sequence[int]) -> Operand:
        """The elements that `strides` (in elements of `x`, which is contiguous) reach, in memory of their own."""
        made = self.memory(x.dtype, shape)
        self._step(None, [], [Operand(x.origin, x.index, x.dtype, shape), made], list(strides))
        return made

    def copy(self, x: Operand, to: Operand) -> None:
        """The elements of `x` in the memory of `to`, which has its shape."""
        strides = [math.prod(x.shape[axis + 1 :]) for axis in range(len(x.shape))]
        self._step(None, [], [x, to], strides)

    def expanded(self, x: Operand, shape: Sequence[int]) -> Operand:
        """`x` broadcast to a shape: kernels of plug-ins need not broadcast."""
        if x.shape == tuple(shape):
            return x
        if x.size == math.prod(shape):
            return x.reshape(*shape)
        steps, step = [], 1
        for size in reversed(x.shape):
            steps.append(0 if size == 1 else step)
            step *= size
        return self.arranged(x, shape, [0] * (len(shape) - len(x.shape)) + steps[::-1])

    def finished(self) -> Program:
        """The program; whoever holds it holds all that it points to."""
        self.program.n_steps = len(self._steps)
        self.program.steps = (Step * max(1, len(self._steps)))(*self._steps)
        self.program.n_temporaries = len(self._temporaries)
        self.program.temporaries = (c_int64 * max(1, len(self._temporaries)))(*self._temporaries)
        return self.program

    def _add(self, row: Any, kinds: Sequence[int], args: Sequence[Any]) -> None:
        values, tensors = [], []
        for kind, value in zip(kinds, args):
            made = Value(kind=kind)
            if kind <= _OUTPUTS:
                given = value if isinstance(value, list) else [] if value is None else [value]
                made.count = len(given)
                tensors += given
            elif kind in (_BOOL, _INT32, _INT64):
                made.i = int(value)
            elif kind in (_FLOAT, _DOUBLE):
                made.f = float(value)
            elif kind == _SCALAR:
                made.count, made.i, made.f = int(isinstance(value, float)), int(value) if math.isfinite(value) else 0, float(value)
            elif kind in (_STRING, _LAYOUT):
                made.s = value.encode()
            elif kind == _DTYPE:
                made.i = -1 if value is None else DTYPES.index(value.name)
            elif kind in _WHOLE_LISTS:
                made.count, made.ints = len(value), (c_int64 * max(1, len(value)))(*map(int, value))
            elif kind in _REAL_LISTS:
                made.count, made.floats = len(value), (c_double * max(1, len(value)))(*map(float, value))
            elif kind == _STRINGS:
                made.count, made.strings = len(value), (c_char_p * max(1, len(value)))(*(item.encode() for item in value))
            values.append(made)
        self._step(row, values, tensors, None)

    def _step(self, row: Any, values: list[Value], tensors: list[Operand], strides: list[int] | None) -> None:
        structs = (TensorStruct * max(1, len(tensors)))()
        for struct, operand in zip(structs, tensors):
            if len(operand.shape) > MAX_RANK:
                raise Declined(f"more than {MAX_RANK} axes: {short(list(operand.shape))}")
            struct.rank, struct.dtype = len(operand.shape), DTYPES.index(operand.dtype.name)
            struct.shape[: len(operand.shape)] = operand.shape
        step = Step(n_values=len(values), n_tensors=len(tensors))
        if row is not None:
            step.kernel = row
        step.values, step.tensors = (Value * max(1, len(values)))(*values), structs
        step.origins = (c_int32 * max(1, len(tensors)))(*(operand.origin for operand in tensors))
        step.index = (c_int32 * max(1, len(tensors)))(*(operand.index for operand in tensors))
        if strides is not None:
            step.strides = (c_int64 * max(1, len(strides)))(*strides)
        self._kept += values
        self._steps.append(step)


class Bound:
    """A program that a plan holds; `address` is what the compiled code gets."""

    def __init__(self, writer: Writer) -> None:
        self._writer = writer
        self.address = ctypes.addressof(writer.finished())


