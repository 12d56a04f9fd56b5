"""Programs of Paddle 3: `.json` files, whose operations become the operators that a program of Paddle 2 has.

A file of Paddle 3 holds regions of blocks of operations on numbered values. Its operations are the functions of `paddle._C_ops`, so
`operator_table` says which operator of Paddle 2 each is and in which order its arguments come. Three things differ: what used to be an
attribute may be an input (an axis, a shape), lists of tensors are values of their own (`builtin.combine`), and `if` and `while` have regions.
"""
from __future__ import annotations

import functools
import json
import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from wherry_paddle_files.desc import (
    EMPTY,
    Attr,
    AttrType,
    BlockDesc,
    LodTensorDesc,
    OpDesc,
    ProgramDesc,
    Slot,
    TensorDesc,
    VarDesc,
    VarKind,
    VarType,
    check,
    descriptions,
    dtype_code,
    dtype_name,
    tensor_var,
)
from wherry_paddle_files.operator_table import Operator, operator_table
from wherry_paddle_files.pir_format import ALIKE, DIALECTS, DTYPES, KNOWN_SIZES, LISTS, plain
from wherry_paddle_files.pir_table import rows
from wherry_tensor._operations import Operations
from wherry_tensor.protobuf import ModelFileError

__all__ = ["Translated", "is_program", "parse"]

# What Paddle 2's operators do not have, and the value with which they compute the same; `...`: any, it has no effect on a prediction.
_NEUTRAL: dict[str, Any] = {
    "place": ..., "stable": ..., "seed": ..., "fix_seed": ..., "sparse": ..., "output_size": -1, "decimals": 0, "density": False, "exclusive": False,
    "reverse": False, "log_target": False, "ceil_mode": False, "value": 0.0, "mode": "avg",
}  # fmt: skip
_WHOLE = {"num_rows", "num_columns", "depth", "k", "axis", "num", "offset", "diagonal", "bins"}
_NUMBERS = {"INF": math.inf, "-INF": -math.inf, "NAN": math.nan, "NaN": math.nan}
_INTS = {int}
_MOST_DEPTH = 64  # of regions within regions
_PLAIN_KINDS = frozenset(f"0.a_{kind}" for kind in ("bool", "f32", "f64", "i32", "i64", "str"))  # of attributes whose data are the value
_KIND_OF = {bool: int(AttrType.BOOLEAN), int: int(AttrType.LONG), float: int(AttrType.FLOAT64)}
_LONGS, _STRING, _LOD_TENSOR = int(AttrType.LONGS), int(AttrType.STRING), int(VarKind.LOD_TENSOR)


class Translated(ProgramDesc):
    """A program that was translated: it says what Paddle 2's operators compute, in a form that only our reader takes."""


def is_program(data: bytes) -> bool:
    """Whether the bytes begin as a program of Paddle 3 does; one of Paddle 2 begins with another byte."""
    return data[:64].lstrip()[:1] == b"{"


def parse(data: bytes) -> Translated:
    """Read the bytes of a `.json`.

    Returns:
        The program, as operators of Paddle 2.

    Raises:
        ModelFileError: they are not a program of Paddle 3, or one that does not hold together.
    """
    program = _mostly(data)
    if program is not None:
        return program
    try:
        found = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise _damaged(f"it is not JSON ({error or type(error).__name__})") from None
    code = found.get("base_code") if isinstance(found, dict) else None
    if not isinstance(code, dict) or code.get("magic") != "pir":
        raise ModelFileError(
            f"this is not a model of Paddle 3: its 'base_code' is {_short(code)}. Expected one with the magic 'pir'. "
            f"Name the .json that jit.save wrote."
        )
    try:
        return _checked(*_Translation().program(found["program"]))
    except ModelFileError:
        raise
    except _FAULTS as error:
        raise _damaged(f"{type(error).__name__}: {error}") from error


_FAULTS = (LookupError, TypeError, ValueError, ArithmeticError, AttributeError, RecursionError)


def _mostly(data: bytes) -> Translated | None:
    """The program, if its text is as such texts mostly are: compiled code reads it. None: it is to be read by `json`, which says what is wrong."""
    if type(data) is not bytes:
        return None
    reader, translation = _reader(), _Translation()
    try:
        return _checked(*translation.finished()) if reader.read(data, translation, translation.begin(-1)) else None
    except _FAULTS:  # of which ModelFileError is one
        return None


@functools.cache
def _reader() -> Operations:
    """Reads texts."""
    codes = {name: dtype_code(dtype) for name, dtype in DTYPES.items()}
    return Operations(
        descriptions, _kind_of,
        dtypes={name[2:]: code for name, code in codes.items()} | {dtype: dtype_code(dtype) for dtype in DTYPES.values()},
        elements={f"0.{name}": code for name, code in codes.items()},
        types=[int(kind) for kind in (
            AttrType.BOOLEAN, AttrType.LONG, AttrType.FLOAT64, AttrType.STRING, AttrType.BOOLEANS, AttrType.LONGS, AttrType.FLOAT64S,
        )],
        neutral=_NEUTRAL, whole=_WHOLE, empty=EMPTY,
    )  # fmt: skip


def _checked(program: Translated, as_written: bool) -> Translated:
    _check_names(program, as_written)
    if as_written or len(program.blocks) > 1:
        check(program)
    return program


def _check_names(program: ProgramDesc, everywhere: bool) -> None:
    """Refuse variables without names of their own, and what is no name. Other names than those of variables are of our tables unless `everywhere`."""
    for block in program.blocks:
        names = [var.name for var in block.vars]
        if len(set(names)) < len(names):
            raise _damaged(f"two variables of one block have the name {_short(next(name for name in names if names.count(name) > 1))}")
        if everywhere:
            names += [op.type for op in block.ops] + [attr.name for op in block.ops for attr in op.attrs]
            names += [name for op in block.ops for slot in (*op.inputs, *op.outputs) for name in slot.arguments]
        if not set(map(type, names)) <= {str} or "" in names:
            strange = next(name for name in names if type(name) is not str or not name)
            raise _damaged(f"{_short(strange)} stands where a name is expected")


def _damaged(what: str) -> ModelFileError:
    return ModelFileError(f"the program of Paddle 3 is damaged: {what}. Save the model again.")


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) < 80 else f"{text[:77]}..."


class _Operation:
    """An operation of the file.

    Attributes:
        kind: what is known of those of its name.
        inputs: numbers of values; 0: none is given.
        outputs: numbers and types, as the file has them or translated.
        described: attributes and regions as the file has them; or
        given: attributes by name, as Python has them, where it has no regions.
    """

    __slots__ = ("described", "given", "inputs", "kind", "outputs")

    def __init__(
        self, kind: _Kind, inputs: list[int], outputs: list[tuple[int, Any]], given: dict[str, Any] | None, described: dict[str, Any],
    ) -> None:
        self.kind, self.inputs, self.outputs, self.given, self.described = kind, inputs, outputs, given, described

    @classmethod
    def of(cls, described: dict[str, Any]) -> _Operation:
        """One of the file."""
        inputs, outputs = [each["%"] for each in described.get("I", ())], [(each["%"], each.get("TT")) for each in described.get("O", ())]
        return cls(_kind_of(described["#"]), inputs, outputs, None, described)

    def items(self) -> Iterable[tuple[str, Any]]:
        """Names and values of attributes, as Python has them."""
        if self.given is not None:
            return self.given.items()
        return [(each["N"], _value(each["AT"])) for each in self.described.get("A", ()) if each["N"] != "struct_name"]

    def attr(self, name: str) -> Any:
        """One attribute."""
        if self.given is not None:
            return self.given[name]
        for each in self.described["A"]:
            if each["N"] == name:
                return _value(each["AT"])
        raise KeyError(name)

    @property
    def regions(self) -> list[Any]:
        return self.described.get("regions", [])  # type: ignore[no-any-return]

    @property
    def full_name(self) -> str:
        return self.kind.full_name

    @property
    def name(self) -> str:
        return self.kind.name


def _value(attr: dict[str, Any]) -> Any:
    kind, data = attr["#"], attr.get("D")
    if kind in _PLAIN_KINDS and "VD" not in attr:
        return data
    if "VD" in attr:
        return _NUMBERS[attr["VD"]]
    kind = kind.rpartition("_")[2]
    if kind == "array":
        plain = _PLAIN_KINDS
        return [each["D"] if each["#"] in plain and "D" in each and "VD" not in each else _value(each) for each in data]  # type: ignore[union-attr]
    if kind == "dtype":
        return None if data == "Undefined(ALL_DTYPE)" else dtype_code(_dtype_named(data))
    return data


def _dtype_named(name: Any) -> str:
    return name if name in DTYPES.values() else DTYPES[f"t_{name}"]


def _attr(name: str, value: Any) -> Attr:
    """An attribute that the reader takes: its type is that of the value."""
    kind = _KIND_OF.get(type(value))
    if kind is not None:
        return Attr(name, kind, value)
    if type(value) is str:
        return Attr(name, _STRING, value.encode())
    if type(value) is list and value and set(map(type, value)) == {int}:
        return Attr(name, _LONGS, value)
    first = value[0] if isinstance(value, list) and value else value
    several = isinstance(value, list)
    if isinstance(first, bool):
        return Attr(name, AttrType.BOOLEANS if several else AttrType.BOOLEAN, value)
    if isinstance(first, str):
        return Attr(name, AttrType.STRINGS if several else AttrType.STRING, [v.encode() for v in value] if several else value.encode())
    if several and any(isinstance(v, float) for v in value):
        return Attr(name, AttrType.FLOAT64S, [float(v) for v in value])
    if isinstance(first, float):
        return Attr(name, AttrType.FLOAT64, value)
    if several and not all(isinstance(v, int) for v in value) or not isinstance(first, (int, list)):
        raise _damaged(f"the attribute {name!r} is {_short(value)}")
    return Attr(name, AttrType.LONGS if several else AttrType.LONG, value)


class _Form:
    """What is known of the operations of a name.

    Attributes:
        known: the operator of Paddle 2.
        tensors, others: of its arguments in their order, those that are inputs and all others.
        outputs: of it.
    """

    def __init__(self, known: Operator) -> None:
        self.known = known
        order = [each for each in known.order if not each.startswith("?")]
        self.tensors = [each for each in order if each in known.inputs]
        self.others = [each for each in order if each not in known.inputs]
        self.outputs = [each for each in known.outputs if each != "XShape"]
        self.is_adjusted = known.type.startswith("reduce_") or known.type in ("histogram", "allclose")
        self.known_alike: dict[str, str] = {}  # names of attributes that were met

    def alike(self, name: str) -> str | None:
        """The name that an attribute has in Paddle 2; None if the operator has none such."""
        found = self.known_alike.get(name)
        if found is None:
            found = next((a for want in (plain(name), *ALIKE.get(plain(name), ())) for a in self.known.attrs if plain(a) == want), None)
            if found is not None and len(self.known_alike) < _MOST_KEPT:  # names are those of files
                self.known_alike[name] = found
        return found


_MOST_KEPT = 2000


@functools.lru_cache(_MOST_KEPT)
def _form_of(name: str) -> _Form | None:
    """What is known of the operations of a name; None if nothing is."""
    table, base = operator_table()[0], name.removesuffix("_")
    known = _OTHERS.get(base) or table.get(name) or table.get(base) or _as_written(name)
    return None if known is None else _Form(known)


class _Kind:
    """What operations of one name are.

    Attributes:
        dialect, name: `pd_op` and `conv2d` of `1.conv2d`; full_name: `pd_op.conv2d`.
        special: what translates them, where they have no operator of their own.
        form: their operator; None if none is known.
        plan: what `Operations` takes: how most become their operator.
    """

    __slots__ = ("dialect", "form", "full_name", "name", "plan", "special")

    def __init__(self, written: str) -> None:
        number, _, self.name = written.partition(".")
        self.dialect = DIALECTS.get(number, number)
        self.full_name = f"{self.dialect}.{self.name}"
        self.special = _SPECIAL.get(self.full_name)
        self.form = form = _form_of(self.name) if self.dialect == "pd_op" and self.special is None else None
        self.plan: Any = "integers" if self.full_name == "pd_op.full_int_array" else None
        if form is not None and not form.is_adjusted:
            self.plan = form.known.type, form.tensors, form.others, form.outputs, form.known_alike, form.alike


_kind_of = functools.lru_cache(_MOST_KEPT)(_Kind)


class _Translation:
    """Translates one program.

    Attributes:
        blocks: of Paddle 2, the first one the program's.
        names: of the tensors of each value; several for a list.
        known: numbers of values that are constants.
        constants: those that no operation has read as a tensor so far, most of which become attributes: the block, the type, the shape (None: a list)
            and the number or numbers.
        as_written: whether a name of an attribute is the file's, or a slot was looked for: such names are looked at in the end.
    """

    def __init__(self) -> None:
        self.blocks: list[BlockDesc] = []
        self.names: dict[int, list[str]] = {}
        self.known: dict[int, Any] = {}
        self.fed = 0
        self.types: dict[Any, VarType] = {}
        self.constants: dict[int, tuple[BlockDesc, VarType, Any, Any]] = {}
        self.as_written = False

    def program(self, described: dict[str, Any]) -> tuple[Translated, bool]:
        region = described["regions"]
        if len(region) != 1:
            raise _damaged(f"it has {len(region)} regions, expected one")
        self.block(region[0], -1, [], 0)
        return self.finished()

    def begin(self, parent: int) -> BlockDesc:
        """A new block."""
        self.blocks.append(BlockDesc(len(self.blocks), parent))
        return self.blocks[-1]

    def finished(self) -> tuple[Translated, bool]:
        """The program, and `as_written`."""
        first = self.blocks[0]
        feeds = [op for op in first.ops if op.type == "feed"]
        # Paddle's own files list them from the last to the first.
        first.ops = [*reversed(feeds), *(op for op in first.ops if op.type != "feed")]
        first.vars += [VarDesc("feed", VarType(int(VarKind.FEED_MINIBATCH))), VarDesc("fetch", VarType(int(VarKind.FETCH_LIST)))]
        program = Translated()
        program.blocks = self.blocks
        return program, self.as_written

    def block(self, region: dict[str, Any], parent: int, arguments: Sequence[str], depth: int) -> tuple[int, list[str]]:
        """Translate the block of a region.

        Args:
            parent: the block around it.
            arguments: names for what it takes.
            depth: of regions around it.

        Returns:
            Its index, and the names of what it yields.
        """
        if len(region["blocks"]) != 1 or depth > _MOST_DEPTH:
            raise _damaged(f"a region has {len(region['blocks'])} blocks, at depth {depth}. Expected one, and at most {_MOST_DEPTH} levels")
        described = region["blocks"][0]
        block = self.begin(parent)
        taken = described.get("args", [])
        if len(taken) != len(arguments):
            raise _damaged(f"a block takes {len(taken)} values. Got {len(arguments)}")
        for each, name in zip(taken, arguments):
            self.names[each["#"]] = [name]
            block.vars.append(VarDesc(name, self.type_of(each.get("TT"), name)))
        yielded: list[str] = []
        for each in described["ops"]:
            if each["#"] == "p":
                self.parameter(block, each)
            elif (found := self.operation(block, _Operation.of(each), depth)) is not None:
                yielded = found
        return block.index or 0, yielded

    def operation(self, block: BlockDesc, op: _Operation, depth: int) -> list[str] | None:
        """Translate one operation; gives what the block yields, if this one says so."""
        if op.kind.special is not None:
            op.kind.special(self, block, op, depth)
        elif op.full_name == "cf.yield":
            return [name for value in op.inputs for name in self.tensors(value)]
        else:
            self.operator(block, op)
        return None

    def other(self, block: BlockDesc, kind: _Kind, inputs: list[int], outputs: list[tuple[int, Any]], attrs: dict[str, Any]) -> None:
        """Translate an operation that compiled code has read and does not translate."""
        self.operation(block, _Operation(kind, inputs, outputs, attrs, {}), 0)

    def described(self, block: BlockDesc, text: bytes) -> None:
        """Translate an operation, of the first block, that compiled code has not read."""
        each = json.loads(text)
        if each["#"] == "p":
            self.parameter(block, each)
        else:
            self.operation(block, _Operation.of(each), 0)

    def parameter(self, block: BlockDesc, described: dict[str, Any]) -> None:
        """What `.pdiparams` holds: a parameter or a buffer; or a buffer that is not saved, which has no value."""
        _, is_parameter, _, name = described["A"]
        persistable, stop_gradient, _ = described["OA"]
        out = described["O"]
        self.names[out["%"]] = [name]
        if persistable:
            block.vars.append(VarDesc(name, self.type_of(out.get("TT"), name), True, None, bool(is_parameter), bool(stop_gradient)))
        else:
            self.names[out["%"]] = []

    # Values.

    def tensors(self, value: int) -> list[str]:
        """The names of the tensors of a value: none where it is not given."""
        if value == 0:
            return []
        found = self.names.get(value)
        if found is None:
            raise _damaged(f"it reads the value %{value}, which nothing has made")
        if value in self.constants:
            self.write_constant(value)
        return found

    def constant(self, block: BlockDesc, output: tuple[int, Any], shape: Any, number: Any) -> None:
        """An output that is known now: an operator gives it, which is written into the block once another one reads the tensor."""
        value, kind = output
        described = self.type_of(kind, f"v{value}")
        if value in self.names:
            raise _damaged(f"it makes the value %{value} twice")
        self.names[value] = [f"v{value}"]
        self.constants[value] = block, described, shape, number

    def write_constant(self, value: int) -> None:
        """Write the operator of a constant."""
        block, kind, shape, number = self.constants.pop(value)
        [name] = self.names[value]
        block.vars.append(VarDesc(name, kind))
        dtype = _tensor_type(kind, name)[0]
        if shape is not None:
            type, attrs = "fill_constant", _filled(shape, number, dtype)
        else:
            type, attrs = "assign_value", [_attr("shape", [len(number)]), _attr("dtype", dtype_code(dtype)), _attr("int64_values", list(number))]
        block.ops.append(OpDesc(type, [], [Slot("Out", [name])], attrs))

    def make(self, block: BlockDesc, value: int, type: Any) -> list[str]:
        """Declare an output, and return its names; a list has several."""
        if value in self.names:
            raise _damaged(f"it makes the value %{value} twice")
        kind = type["#"] if isinstance(type, dict) else None
        if kind == "NULL":
            self.names[value] = []
        elif kind == "0.t_vec":
            self.names[value] = [f"v{value}.{i}" for i in range(len(type["D"]))]
            block.vars += [VarDesc(name, self.type_of(each, name)) for name, each in zip(self.names[value], type["D"])]
        else:
            name = f"v{value}"
            self.names[value] = [name]
            block.vars.append(VarDesc(name, self.type_of(type, name)))
        return self.names[value]

    def type_of(self, type: Any, what: str) -> VarType:
        """The type of a variable; variables of one dtype and shape have one."""
        if type.__class__ is VarType:
            return type
        if not isinstance(type, dict) or "D" not in type:
            raise _damaged(f"{what!r} is of type {_short(type)}. Expected a tensor")
        element, dims = type["D"][:2]
        key = (type["#"], element["#"], *dims)
        found = self.types.get(key)
        if found is None:
            dtype, dims = _tensor_type(type, what)
            tensor = LodTensorDesc(TensorDesc(dtype_code(dtype), dims), 0)
            array = type["#"].endswith("t_dense_tensor_array")
            found = VarType(int(VarKind.LOD_TENSOR_ARRAY), tensor_array=tensor) if array else VarType(_LOD_TENSOR, None, tensor)
            self.types[key] = found
        return found

    def outputs(self, block: BlockDesc, op: _Operation, slots: Sequence[str]) -> list[Slot]:
        made = []
        for value, type in op.outputs:
            if type.__class__ is dict and type.get("#") == "0.t_dtensor" and value not in self.names:  # mostly
                name = f"v{value}"
                block.vars.append(VarDesc(name, self.type_of(type, name)))
                self.names[value] = [name]
                made.append(self.names[value])
            else:
                made.append(self.make(block, value, type) or [EMPTY])
        return list(map(Slot, slots, made))

    # Operators.

    def operator(self, block: BlockDesc, op: _Operation) -> None:
        """An operation that is an operator of Paddle 2."""
        form, given = op.kind.form, op.inputs
        if form is None:  # the reader says that it does not know it
            slots = [Slot(f"X{i}", self.tensors(value)) for i, value in enumerate(given)]
            made = self.outputs(block, op, [f"Out{i}" for i in range(len(op.outputs))])
            block.ops.append(OpDesc(op.full_name, slots, made, [_attr(name, value) for name, value in op.items() if value is not None]))
            self.as_written = True
            return
        attrs = self.attributes(op, form)
        inputs = [Slot(slot, self.tensors(value)) for slot, value in zip(form.tensors, given) if value]
        if len(given) > len(form.tensors):
            self.late_inputs(op, form, attrs, inputs)
        if form.is_adjusted:
            _adjust(form.known.type, attrs)
        written = []
        for name, value in attrs.items():
            kind = _KIND_OF.get(type(value))
            if kind is not None:  # mostly
                written.append(Attr(name, kind, value))
            elif value is not None:
                written.append(_attr(name, value))
        block.ops.append(OpDesc(form.known.type, inputs, self.outputs(block, op, form.outputs), written))

    def late_inputs(self, op: _Operation, form: _Form, attrs: dict[str, Any], inputs: list[Slot]) -> None:
        """Those that stand for what are attributes in Paddle 2: constants become attributes, others inputs."""
        known, first = form.known, len(form.tensors)
        late = [name for name in form.others if name not in attrs]
        for name, value in zip(late, op.inputs[first:]):
            if value in self.known:
                number = self.known[value]
                attrs[name] = int(number) if name in _WHOLE and isinstance(number, float) else number
            elif value:
                self.as_written = True
                inputs.append(Slot(self.slot_for(op, known, name, len(self.tensors(value))), self.tensors(value)))
                if name == "shape":
                    attrs[KNOWN_SIZES] = _tensor_type(op.outputs[0][1], op.full_name)[1]
        if any(op.inputs[first + len(late) + (op.name == "rnn") :]):  # the last one of `rnn` is what its dropout keeps for training
            raise ModelFileError(
                f"the program cannot be read: the operation '{op.full_name}' takes more than '{known.type}' of Paddle 2. Got {len(op.inputs)} "
                f"inputs, expected {first + len(late)}. Save the model with Paddle 2.6."
            )

    def attributes(self, op: _Operation, form: _Form) -> dict[str, Any]:
        """Attributes under the names of Paddle 2, as far as the operator has them."""
        attrs, known = {}, form.known_alike
        for name, value in op.items():
            alike = known.get(name) or form.alike(name)
            if alike is not None:
                attrs[alike] = value
            elif name not in _NEUTRAL or (_NEUTRAL[name] is not ... and _NEUTRAL[name] != value):
                raise ModelFileError(
                    f"the program cannot be read: the operation '{op.full_name}' has an attribute that '{form.known.type}' of Paddle 2 has not. "
                    f"Got {name!r} = {_short(value)}, expected one of {', '.join(form.known.attrs) or 'none'}. Save the model with Paddle 2.6."
                )
        return attrs

    def slot_for(self, op: _Operation, known: Operator, name: str, count: int) -> str:
        """The input that stands for an attribute, where it is computed."""
        several = (plain(name) + "tensorlist", plain(name) + "stensor")
        wanted = (*(several if count > 1 else ()), plain(name), plain(name) + "tensor", plain(name.removesuffix("s")) + "tensor")
        for want in (*wanted, *several):
            for slot in known.inputs:
                if plain(slot) == want:
                    return slot
        raise ModelFileError(
            f"the program cannot be read: the operation '{op.full_name}' computes its {name!r}. Got a tensor, expected a constant. "
            f"Save the model with this given as a number."
        )

    # Operations that have no operator of their own.

    def data(self, block: BlockDesc, op: _Operation, depth: int) -> None:
        value, type = op.outputs[0]
        name = op.attr("name")
        dtype, dims = _tensor_type(type, name)
        if depth or any(var.name == name for var in block.vars):
            raise _damaged(f"it feeds {name!r} twice, or within a block")
        self.names[value] = [name]
        block.vars.append(tensor_var(name, dtype, dims, need_check_feed=True, stop_gradient=True))
        block.ops.append(OpDesc("feed", [Slot("X", ["feed"])], [Slot("Out", [name])], [_attr("col", self.fed)]))
        self.fed += 1

    def fetch(self, block: BlockDesc, op: _Operation, depth: int) -> None:
        names = self.tensors(op.inputs[0])
        block.ops.append(OpDesc("fetch", [Slot("X", names)], [Slot("Out", ["fetch"])], [_attr("col", op.attr("col"))]))
        if op.outputs:
            self.names[op.outputs[0][0]] = names

    def combine(self, block: BlockDesc, op: _Operation, depth: int) -> None:
        value = op.outputs[0][0]
        self.names[value] = [name for each in op.inputs for name in self.tensors(each)]
        if all(each in self.known for each in op.inputs):
            self.known[value] = [self.known[each] for each in op.inputs]

    def split(self, block: BlockDesc, op: _Operation, depth: int) -> None:
        names = self.tensors(op.inputs[0])
        if len(names) != len(op.outputs):
            raise _damaged(f"a list of {len(names)} tensors is taken apart into {len(op.outputs)}")
        for name, (value, _) in zip(names, op.outputs):
            self.names[value] = [name]

    def slice_of_list(self, block: BlockDesc, op: _Operation, depth: int) -> None:
        self.names[op.outputs[0][0]] = [self.tensors(op.inputs[0])[op.attr("index")]]

    def full(self, block: BlockDesc, op: _Operation, depth: int) -> None:
        (value, kind), shape, number = op.outputs[0], op.attr("shape"), op.attr("value")
        dtype = _tensor_type(kind, op.full_name)[0]
        if shape in ([], [1]):
            whole = dtype.startswith(("int", "uint"))
            self.known[value] = bool(number) if dtype == "bool" else int(number) if whole else float(number)
            self.constant(block, op.outputs[0], shape, number)
        else:
            block.ops.append(OpDesc("fill_constant", [], self.outputs(block, op, ["Out"]), _filled(shape, number, dtype)))

    def full_int_array(self, block: BlockDesc, op: _Operation, depth: int) -> None:
        numbers = list(op.attr("value"))
        self.known[op.outputs[0][0]] = numbers
        self.constant(block, op.outputs[0], None, numbers)

    def assign_value(self, block: BlockDesc, op: _Operation, depth: int) -> None:
        dtype = _tensor_type(op.outputs[0][1], op.full_name)[0]
        slot = {"float32": "fp32_values", "float64": "fp64_values", "bool": "bool_values"}.get(dtype, f"{dtype}_values")
        if not slot.startswith(("fp", "bool", "int32", "int64")):
            raise ModelFileError(f"the program cannot be read: '{op.full_name}' has dtype {dtype}. Expected float32, float64, int32, int64 or bool.")
        kind: Callable[[Any], Any] = float if "fp" in slot else bool if dtype == "bool" else int
        attrs = [_attr("shape", op.attr("shape")), _attr("dtype", dtype_code(dtype)), _attr(slot, [kind(v) for v in op.attr("values")])]
        block.ops.append(OpDesc("assign_value", [], self.outputs(block, op, ["Out"]), attrs))

    def full_with_tensor(self, block: BlockDesc, op: _Operation, depth: int) -> None:
        number, shape = op.inputs
        several = len(self.tensors(shape)) > 1
        inputs = [Slot("ValueTensor", self.tensors(number)), Slot("ShapeTensorList" if several else "ShapeTensor", self.tensors(shape))]
        attrs = [_attr("dtype", dtype_code(_tensor_type(op.outputs[0][1], op.full_name)[0])), _attr("shape", []), _attr("value", 0.0)]
        if shape in self.known:
            inputs, attrs[1] = inputs[:1], _attr("shape", list(self.known[shape]))
        block.ops.append(OpDesc("fill_constant", inputs, self.outputs(block, op, ["Out"]), attrs))

    def cast(self, block: BlockDesc, op: _Operation, type: str, inputs: Sequence[Slot], made: str) -> None:
        """An operator whose result has the dtype `made` in Paddle 2, and what it becomes."""
        dtype, dims = _tensor_type(op.outputs[0][1], op.full_name)
        name = f"v{op.outputs[0][0]}.{made}"
        block.vars.append(tensor_var(name, made, dims))
        block.ops.append(OpDesc(type, list(inputs), [Slot("Out", [name])]))
        attrs = [_attr("in_dtype", dtype_code(made)), _attr("out_dtype", dtype_code(dtype))]
        block.ops.append(OpDesc("cast", [Slot("X", [name])], self.outputs(block, op, ["Out"]), attrs))

    def arange(self, block: BlockDesc, op: _Operation, depth: int) -> None:
        slots = [Slot(slot, self.tensors(value)) for slot, value in zip(("Start", "End", "Step"), op.inputs, strict=True)]
        name = slots[0].arguments[0]
        tensor = next(var.tensor for blocks in reversed(self.blocks) for var in blocks.vars if var.name == name)
        self.cast(block, op, "range", slots, dtype_name(tensor.dtype, name))  # type: ignore[union-attr, arg-type]

    def shape(self, block: BlockDesc, op: _Operation, depth: int) -> None:
        """The sizes as int64; the operator of Paddle 2 gives int32."""
        self.cast(block, op, "shape", [Slot("Input", self.tensors(op.inputs[0]))], "int32")

    def new_list(self, block: BlockDesc, op: _Operation, depth: int) -> None:
        block.ops.append(OpDesc("create_array", [], [Slot("Out", self.make(block, *op.outputs[0]))]))

    def list_operation(self, block: BlockDesc, op: _Operation, depth: int) -> None:
        type, slots, outs = LISTS[op.name]
        inputs = [Slot(slot, self.tensors(value)) for slot, value in zip(slots, op.inputs, strict=True) if slot]
        if type == "write_to_array":  # it changes the list that it is given, under all of its numbers
            for value, _ in op.outputs:
                self.names[value] = self.tensors(op.inputs[0])
            made = [Slot("Out", self.tensors(op.inputs[0]))]
        else:
            made = self.outputs(block, op, outs)
        block.ops.append(OpDesc(type, inputs, made, [_attr(name, value) for name, value in op.items()]))
        self.as_written = True

    def triangle(self, block: BlockDesc, op: _Operation, depth: int) -> None:
        attrs = [_attr("diagonal", op.attr("diagonal")), _attr("lower", op.name == "tril")]
        block.ops.append(OpDesc("tril_triu", [Slot("X", self.tensors(op.inputs[0]))], self.outputs(block, op, ["Out"]), attrs))

    def one_of_two(self, block: BlockDesc, op: _Operation, depth: int) -> None:
        begun = len(self.blocks)
        then, otherwise = (self.block(region, block.index or 0, [], depth + 1) for region in op.regions)
        outputs = [name for value, type in op.outputs for name in self.make(block, value, type)]
        for names in (then[1], otherwise[1], outputs):
            names += self.lists_written(begun)
        if not len(then[1]) == len(otherwise[1]) == len(outputs):
            raise _damaged(f"the sides of a conditional give {len(then[1])} and {len(otherwise[1])} values. Expected {len(outputs)}")
        attrs = [Attr("then_block", AttrType.BLOCK, then[0]), Attr("else_block", AttrType.BLOCK, otherwise[0])]
        attrs += [_attr("then", then[1]), _attr("else", otherwise[1])]
        block.ops.append(OpDesc("pd_op.if", [Slot("Cond", self.tensors(op.inputs[0]))], [Slot("Out", outputs)], attrs))

    def lists_written(self, begun: int) -> list[str]:
        """The lists from around the blocks since `begun` that these write to: the new ones are results, under the same names."""
        own = {var.name for block in self.blocks[begun:] for var in block.vars}
        written = (slot.arguments[0] for block in self.blocks[begun:] for op in block.ops if op.type == "write_to_array" for slot in op.outputs)
        return [name for name in dict.fromkeys(written) if name not in own]

    def loop(self, block: BlockDesc, op: _Operation, depth: int) -> None:
        condition, *values = op.inputs
        begin, begun = [name for value in values for name in self.tensors(value)], len(self.blocks)
        carried = [f"carried.{len(self.blocks)}.{i}" for i in range(len(begin))]
        inner, yielded = self.block(op.regions[0], block.index or 0, carried, depth + 1)
        outputs = [name for value, type in op.outputs for name in self.make(block, value, type)]
        for names in (begin, carried, yielded, outputs):
            names += self.lists_written(begun)
        if not len(yielded) - 1 == len(begin) == len(outputs):
            raise _damaged(f"a loop over {len(begin)} values gives {len(yielded) - 1}. Expected {len(outputs)}")
        attrs = [Attr("sub_block", AttrType.BLOCK, inner), _attr("carried", carried), _attr("yielded", yielded)]
        inputs = [Slot("Condition", self.tensors(condition)), Slot("X", begin)]
        block.ops.append(OpDesc("pd_op.while", inputs, [Slot("Out", outputs)], attrs))


def _adjust(type: str, attrs: dict[str, Any]) -> None:
    """Give attributes the form that an operator of Paddle 2 has them in."""
    if type.startswith("reduce_"):
        axes = attrs.get("dim", [])
        attrs["dim"] = [axes] if isinstance(axes, int) else axes
        attrs["reduce_all"] = not attrs["dim"]
    if type == "histogram":
        attrs.update({name: int(attrs[name]) for name in ("min", "max") if float(attrs.get(name, 0.5)).is_integer()})
    if type == "allclose":
        attrs.update({name: str(attrs[name]) for name in ("rtol", "atol") if name in attrs})


def _filled(shape: Any, number: Any, dtype: str) -> list[Attr]:
    """Attributes of `fill_constant`."""
    found = [_attr("shape", shape), _attr("dtype", dtype_code(dtype)), _attr("value", float(number))]
    return [*found, _attr("str_value", str(int(number)))] if dtype.startswith(("int", "uint")) else found


def _tensor_type(kind: Any, what: str) -> tuple[str, list[int]]:
    """Dtype and sizes of a type, of the file or translated."""
    if kind.__class__ is VarType:
        tensor: Any = (kind.lod_tensor or kind.tensor_array).tensor  # type: ignore[union-attr]
        return dtype_name(tensor.dtype, what), tensor.dims
    if not isinstance(kind, dict) or kind["#"].rpartition(".")[2] not in ("t_dtensor", "t_dense_tensor_array"):
        raise _damaged(f"{what!r} is of type {_short(kind)}. Expected a tensor")
    element, dims = kind["D"][:2]
    dtype = DTYPES.get(element["#"].rpartition(".")[2])
    if dtype is None or not set(map(type, dims)) <= _INTS:
        raise _damaged(f"{what!r} has dtype {element['#']!r} and sizes {_short(dims)}")
    return dtype, [n if n > -1 else -1 for n in dims]


@functools.cache
def _as_written(name: str) -> Operator | None:
    """An operator that only the table of what we write has: gradients and optimizers, which are not functions of `_C_ops`."""
    for type_, row in rows().items():
        if row.name == name:
            slots = [each.strip("[]") for each in row.inputs if ":" not in each]
            late = [each.partition(":")[0] for each in row.inputs if ":" in each]
            attrs = [source for _, _, source, _ in row.attrs if source[:1].isalpha()]
            known = tuple(slot for slot in slots if slot != "-")
            return Operator(type_, known, (*late, *attrs), tuple(slot.strip("[]") for slot in row.outputs), (*known, *late, *attrs))
    return None


_LINEAR = ("quant_axis", "bit_length", "qmin", "qmax", "round_type", "is_test", "only_observer")
_STATE = ("X", "InScale", "InAccum", "InState")
_OTHERS = {  # of Paddle 3 alone, or called otherwise there: as operators of Paddle 2
    "sigmoid_cross_entropy_with_logits": Operator(
        "sigmoid_cross_entropy_with_logits", ("X", "Label", "pos_weight"), ("normalize", "ignore_index"), ("Out",), ("X", "Label", "pos_weight")
    ),
    "share_data": Operator("share_data", ("X",), (), ("Out",), ("X",)),
    "crop": Operator("crop_tensor", ("X", "Shape", "Offsets"), ("shape", "offsets"), ("Out",), ("X", "shape", "offsets")),
    "send_ue_recv": Operator(
        "graph_send_ue_recv", ("X", "Y", "Src_index", "Dst_index", "Out_size"), ("message_op", "reduce_op", "out_size"), ("Out", "Dst_count"),
        ("X", "Y", "Src_index", "Dst_index", "out_size"),
    ),
    "unpool": Operator(
        "unpool", ("X", "Indices"), ("ksize", "strides", "paddings", "output_size", "data_format"), ("Out",), ("X", "Indices", "output_size")
    ),
    "split_with_num": Operator("split", ("X", "AxisTensor"), ("num", "axis"), ("Out",), ("X", "axis")),
    "full_batch_size_like": Operator(
        "fill_constant_batch_size_like", ("Input",), ("shape", "dtype", "value", "input_dim_idx", "output_dim_idx"), ("Out",), ("Input",)
    ),
    "set_value_with_tensor": Operator(
        "set_value", ("Input", "ValueTensor"), ("starts", "ends", "steps", "axes", "decrease_axes", "none_axes"), ("Out",),
        ("Input", "ValueTensor", "starts", "ends", "steps", "axes", "decrease_axes", "none_axes"),
    ),
    **{
        name: Operator(name, given, _LINEAR, ("Y", "OutState", "OutAccum", "OutScale"), given)
        for name, given in ((name, ("X", "Scale", "ZeroPoint", "InAccum", "InState")) for name in ("quantize_linear", "dequantize_linear"))
    },
    **{
        f"fake_{kind}_moving_average_abs_max": Operator(
            f"fake_{kind}_moving_average_abs_max", _STATE, ("moving_rate", "bit_length", "is_test", "round_type"),
            ("Out", "OutScale", "OutState", "OutAccum"), _STATE,
        )
        for kind in ("quantize", "quantize_dequantize")
    },
    **{
        f"fake_{kind}": Operator(f"fake_{kind}", ("X",), ("bit_length", "round_type", "quant_axis", "is_test"), ("Out", "OutScale"), ("X",))
        for kind in (
            "quantize_abs_max", "quantize_dequantize_abs_max", "channel_wise_quantize_abs_max", "channel_wise_quantize_dequantize_abs_max",
        )
    },
}

_SPECIAL: dict[str, Callable[[_Translation, BlockDesc, _Operation, int], None]] = {
    "pd_op.data": _Translation.data, "pd_op.fetch": _Translation.fetch, "pd_op.full": _Translation.full,
    "pd_op.full_int_array": _Translation.full_int_array, "pd_op.full_with_tensor": _Translation.full_with_tensor,
    "pd_op.assign_value": _Translation.assign_value, "pd_op.assign_value_": _Translation.assign_value, "pd_op.shape64": _Translation.shape,
    "pd_op.arange": _Translation.arange, "pd_op.create_array": _Translation.new_list,
    **{f"pd_op.{name}": _Translation.list_operation for name in LISTS},
    "pd_op.tril": _Translation.triangle, "pd_op.triu": _Translation.triangle,
    "pd_op.if": _Translation.one_of_two, "pd_op.while": _Translation.loop, "builtin.combine": _Translation.combine,
    "builtin.split": _Translation.split, "builtin.slice": _Translation.slice_of_list,
}  # fmt: skip
