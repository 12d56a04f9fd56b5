"""The content of a `.pdmodel` as plain objects: blocks with variables and operators.

The classes mirror the messages of the format one by one, so that a program which is read and written again is the same
file, byte by byte, unknown fields included. Field numbers and types are facts of the format, found by looking at what
Paddle 2.6.2 writes and at the descriptors of its messages at run time.

`parse` reads and checks a program as a whole: every block, variable and attribute is what others rely on. What the
operators mean is not known here.
"""
from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any

from wherry_tensor._operations import Descriptions
from wherry_tensor.protobuf import Field, ModelFileError, Schema

__all__ = [
    "DTYPES", "EMPTY", "Attr", "AttrType", "BlockDesc", "Complex", "OpDesc", "OpVersion", "OpVersionPair", "ProgramDesc", "Scalar", "Slot",
    "TensorDesc", "VarAttr", "VarDesc", "VarKind", "VarType", "check", "descriptions", "dtype_code", "dtype_name", "parse", "plain", "serialize",
    "tensor_var",
]  # fmt: skip

EMPTY = "@EMPTY@"  # the argument that stands for none


class AttrType(IntEnum):
    """Types of attributes."""

    INT = 0
    FLOAT = 1
    STRING = 2
    INTS = 3
    FLOATS = 4
    STRINGS = 5
    BOOLEAN = 6
    BOOLEANS = 7
    BLOCK = 8
    LONG = 9
    BLOCKS = 10
    LONGS = 11
    FLOAT64S = 12
    VAR = 13
    VARS = 14
    FLOAT64 = 15
    SCALAR = 16
    SCALARS = 17


class VarKind(IntEnum):
    """The kind of a variable; kinds and dtypes are one enumeration in the format."""

    LOD_TENSOR = 7
    SELECTED_ROWS = 8
    FEED_MINIBATCH = 9
    FETCH_LIST = 10
    STEP_SCOPES = 11
    LOD_RANK_TABLE = 12
    LOD_TENSOR_ARRAY = 13
    PLACE_LIST = 14
    READER = 15
    RAW = 17
    TUPLE = 18
    STRING = 25
    STRINGS = 26
    VOCAB = 27
    FEED_LIST = 28
    PSTRING = 29
    SPARSE_COO = 30
    SPARSE_CSR = 31


_LOD_TENSOR = int(VarKind.LOD_TENSOR)
DTYPES = {
    0: "bool", 1: "int16", 2: "int32", 3: "int64", 4: "float16", 5: "float32", 6: "float64", 20: "uint8", 21: "int8",
    22: "bfloat16", 23: "complex64", 24: "complex128",
}  # fmt: skip
_codes = {name: code for code, name in DTYPES.items()}


def dtype_name(code: int, what: str) -> str:
    """The name of a dtype of the format.

    Raises:
        ModelFileError: `code` is not that of a dtype.
    """
    if code not in DTYPES:
        raise ModelFileError(
            f"{what} has no dtype that is known. Got {code}, expected one of {', '.join(f'{c} ({n})' for c, n in DTYPES.items())}. "
            f"Save the model again."
        )
    return DTYPES[code]


def dtype_code(name: str) -> int:
    """The code of a dtype in the format."""
    return _codes[name]


@dataclass(slots=True)
class TensorDesc:
    """Dtype and sizes; -1 is a size that is not known."""

    dtype: int | None = None
    dims: list[int] = field(default_factory=list)
    unknown: bytes = b""


@dataclass(slots=True)
class LodTensorDesc:
    """A tensor whose rows may be grouped."""

    tensor: TensorDesc | None = None
    lod_level: int | None = None
    unknown: bytes = b""


@dataclass(slots=True)
class ReaderDesc:
    """The output of a reader."""

    lod_tensor: list[LodTensorDesc] = field(default_factory=list)
    unknown: bytes = b""


@dataclass(slots=True)
class TupleDesc:
    """Types of the parts."""

    element_type: list[int] = field(default_factory=list)
    unknown: bytes = b""


@dataclass(slots=True)
class VarType:
    """The type of a variable. `kind` says which of the other fields has the details."""

    kind: int | None = None
    selected_rows: TensorDesc | None = None
    lod_tensor: LodTensorDesc | None = None
    tensor_array: LodTensorDesc | None = None
    reader: ReaderDesc | None = None
    tuple: TupleDesc | None = None
    string: TensorDesc | None = None
    strings: TensorDesc | None = None
    vocab: TensorDesc | None = None
    sparse_coo: TensorDesc | None = None
    sparse_csr: TensorDesc | None = None
    unknown: bytes = b""


@dataclass(slots=True)
class VarAttr:
    """An attribute of a variable."""

    name: str | None = None
    type: int | None = None
    i: int | None = None
    s: bytes | None = None
    ints: list[int] = field(default_factory=list)
    unknown: bytes = b""


@dataclass(slots=True)
class VarDesc:
    """A variable of a block."""

    name: str | None = None
    type: VarType | None = None
    persistable: bool | None = None
    need_check_feed: bool | None = None
    is_parameter: bool | None = None
    stop_gradient: bool | None = None
    attrs: list[VarAttr] = field(default_factory=list)
    unknown: bytes = b""

    @property
    def tensor(self) -> TensorDesc | None:
        """Dtype and sizes of a tensor, of each tensor of an array, of the rows of a sparse one; None for anything else."""
        kind = self.type
        if kind is None:
            return None
        if kind.kind == VarKind.LOD_TENSOR:
            return kind.lod_tensor.tensor if kind.lod_tensor is not None else None
        if kind.kind == VarKind.LOD_TENSOR_ARRAY:
            return kind.tensor_array.tensor if kind.tensor_array is not None else None
        return kind.selected_rows if kind.kind == VarKind.SELECTED_ROWS else None


def tensor_var(name: str, dtype: str, dims: list[int], **flags: Any) -> VarDesc:
    """The description of a tensor. `flags` are persistable, is_parameter, stop_gradient and need_check_feed."""
    return VarDesc(name, VarType(_LOD_TENSOR, None, LodTensorDesc(TensorDesc(_codes[dtype], list(dims)), 0)), **flags)


@dataclass(slots=True)
class Slot:
    """An input or output of an operator: the names of its variables, in order."""

    name: str | None = None
    arguments: list[str] = field(default_factory=list)
    unknown: bytes = b""


@dataclass(slots=True)
class Complex:
    """A complex number."""

    real: float | None = None
    imag: float | None = None
    unknown: bytes = b""


@dataclass(slots=True)
class Scalar:
    """A number with its type: 1 boolean, 2 long, 3 float64, 4 complex128."""

    type: int | None = None
    b: bool | None = None
    i: int | None = None
    r: float | None = None
    c: Complex | None = None
    unknown: bytes = b""

    @property
    def value(self) -> bool | int | float | complex:
        """The number itself."""
        found = {1: self.b, 2: self.i, 3: self.r}.get(self.type or 0)
        if self.type == 4 and self.c is not None and self.c.real is not None and self.c.imag is not None:
            found = complex(self.c.real, self.c.imag)  # type: ignore[assignment]
        if found is None:
            raise ModelFileError(f"the file is damaged: a scalar of type {self.type} has no value of that type. Save the model again.")
        return found

    @staticmethod
    def of(value: bool | int | float | complex) -> Scalar:
        """The scalar that holds a number of Python."""
        if isinstance(value, bool):
            return Scalar(1, b=value)
        if isinstance(value, int):
            return Scalar(2, i=value)
        if isinstance(value, float):
            return Scalar(3, r=value)
        return Scalar(4, c=Complex(value.real, value.imag))


@dataclass(slots=True)
class Attr:
    """An attribute of an operator.

    `value` belongs to `type`: a number, bytes for STRING, the index of a block for BLOCK, the name of a variable for VAR,
    a Scalar, or a list of those; None if the file has a type and no value.
    """

    name: str
    type: int
    value: Any = None
    unknown: bytes = b""


@dataclass(slots=True)
class OpDesc:
    """An operator. Inputs, outputs and attributes stay in the order of the file."""

    type: str | None = None
    inputs: list[Slot] = field(default_factory=list)
    outputs: list[Slot] = field(default_factory=list)
    attrs: list[Attr] = field(default_factory=list)
    is_target: bool | None = None
    unknown: bytes = b""

    def input(self, slot: str) -> list[str]:
        """The variables of an input; none where the operator has no such input."""
        for found in self.inputs:
            if found.name == slot:
                return found.arguments
        return []

    def output(self, slot: str) -> list[str]:
        """The variables of an output; none where the operator has no such output."""
        for found in self.outputs:
            if found.name == slot:
                return found.arguments
        return []

    def attr(self, name: str, default: Any = None) -> Any:
        """The value of an attribute as Python has it: text for STRING, a number for a scalar."""
        for found in self.attrs:
            if found.name == name:
                return default if found.value is None else plain(found)
        return default


@dataclass(slots=True)
class BlockDesc:
    """Variables, and the operators that run one after the other."""

    index: int | None = None
    parent: int | None = None
    vars: list[VarDesc] = field(default_factory=list)
    ops: list[OpDesc] = field(default_factory=list)
    forward: int | None = None
    unknown: bytes = b""


@dataclass(slots=True)
class Version:
    """The version of Paddle that wrote the program: 2006002 for 2.6.2, 0 for one that was built from sources."""

    version: int | None = None
    unknown: bytes = b""


@dataclass(slots=True)
class OpVersion:
    """Version of an operator's definition."""

    version: int | None = None
    unknown: bytes = b""


@dataclass(slots=True)
class OpVersionPair:
    """An operator and its version."""

    name: str | None = None
    version: OpVersion | None = None
    unknown: bytes = b""


@dataclass(slots=True)
class OpVersionMap:
    """Versions of the operators that have been changed."""

    pairs: list[OpVersionPair] = field(default_factory=list)
    unknown: bytes = b""


@dataclass(slots=True)
class ProgramDesc:
    """A program: block 0 runs, the others are run by operators."""

    blocks: list[BlockDesc] = field(default_factory=list)
    version: Version | None = None
    op_versions: OpVersionMap | None = None
    params_mark: bytes | None = None  # field 7291, ours: tells which parameters belong to the program
    unknown: bytes = b""


# What attributes hold. The message has a field for each type; the type says which of them counts.

_one = {
    AttrType.INT: (3, "int32"), AttrType.FLOAT: (4, "float"), AttrType.STRING: (5, "bytes"), AttrType.BOOLEAN: (10, "bool"),
    AttrType.BLOCK: (12, "int32"), AttrType.LONG: (13, "int"), AttrType.VAR: (17, "text"), AttrType.FLOAT64: (19, "double"),
}  # fmt: skip
_many = {
    AttrType.INTS: (6, "int32"), AttrType.FLOATS: (7, "float"), AttrType.STRINGS: (8, "bytes"), AttrType.BOOLEANS: (11, "bool"),
    AttrType.BLOCKS: (14, "int32"), AttrType.LONGS: (15, "int"), AttrType.FLOAT64S: (16, "double"), AttrType.VARS: (18, "text"),
}  # fmt: skip


class _AttrSchema(Schema):
    """Attributes: the most frequent message, which keeps one value instead of sixteen fields."""

    loose = True

    def __init__(self) -> None:
        scalar = Schema(
            Scalar, "a scalar", Field(1, "type", "int32", required=True), Field(2, "b", "bool"), Field(3, "i", "int"),
            Field(4, "r", "double"),
            Field(5, "c", Schema(Complex, "a complex number", Field(1, "real", "double", required=True),
                                 Field(2, "imag", "double", required=True))),
        )  # fmt: skip
        fields = [Field(1, "name", "text"), Field(2, "type", "int32")]
        fields += [Field(number, f"f{number}", kind) for number, kind in _one.values()]
        fields += [Field(number, f"f{number}", kind, repeated=True) for number, kind in _many.values()]
        fields += [Field(20, "f20", scalar), Field(21, "f21", scalar, repeated=True)]
        self.kinds = {int(kind): f"f{number}" for kind, (number, _) in {**_one, **_many}.items()} | {16: "f20", 17: "f21"}
        super().__init__(Attr, "an attribute", *fields)
        self._put = dict(zip((f.name for f in fields), (put for _, _, put in self._putters), strict=True))
        self._repeated = frozenset(f.name for f in fields if f.repeated)

    def made(self, values: dict[str, Any], unknown: bytes) -> Attr:
        name, kind = values.pop("name", None), values.pop("type", None)
        if name is None or kind is None or kind not in self.kinds:
            raise ModelFileError(
                f"the file is damaged: the attribute {name!r} has no type that is known. Got {kind}, expected one of 0 to 17. "
                f"Save the model again, with Paddle 2.6 or earlier."
            )
        wanted = self.kinds[kind]
        value = values.pop(wanted, None)
        if values:  # more than one value: the one of the type is used, the others are kept
            out = bytearray()
            for label, content in values.items():
                for item in content if label in self._repeated else [content]:
                    self._put[label](out, item)
            unknown = bytes(out) + unknown
        if value is None and wanted in self._repeated:
            value = []
        return Attr(name, kind, value, unknown)

    def write(self, message: Attr) -> bytes:
        out = bytearray()
        self._put["name"](out, message.name)
        self._put["type"](out, message.type)
        label = self.kinds[message.type]
        if message.value is not None:
            put = self._put[label]
            for item in message.value if label in self._repeated else (message.value,):
                put(out, item)
        out += message.unknown
        return bytes(out)


_tensor = Schema(TensorDesc, "a tensor", Field(1, "dtype", "int32", required=True), Field(2, "dims", "int", repeated=True))
_lod_tensor = Schema(LodTensorDesc, "a tensor", Field(1, "tensor", _tensor, required=True), Field(2, "lod_level", "int32"))
_type = Schema(
    VarType, "the type of a variable",
    Field(1, "kind", "int32", required=True), Field(2, "selected_rows", _tensor), Field(3, "lod_tensor", _lod_tensor),
    Field(4, "tensor_array", _lod_tensor),
    Field(5, "reader", Schema(ReaderDesc, "a reader", Field(1, "lod_tensor", _lod_tensor, repeated=True))),
    Field(7, "tuple", Schema(TupleDesc, "a tuple", Field(1, "element_type", "int32", repeated=True))),
    Field(8, "string", _tensor), Field(9, "strings", _tensor), Field(10, "vocab", _tensor), Field(11, "sparse_coo", _tensor),
    Field(12, "sparse_csr", _tensor),
)  # fmt: skip
_var_attr = Schema(
    VarAttr, "an attribute of a variable", Field(1, "name", "text", required=True), Field(2, "type", "int32", required=True),
    Field(3, "i", "int32"), Field(4, "s", "bytes"), Field(5, "ints", "int32", repeated=True),
)  # fmt: skip
_var = Schema(
    VarDesc, "a variable", Field(1, "name", "text", required=True), Field(2, "type", _type, required=True),
    Field(3, "persistable", "bool"), Field(4, "need_check_feed", "bool"), Field(5, "is_parameter", "bool"),
    Field(6, "stop_gradient", "bool"), Field(7, "attrs", _var_attr, repeated=True),
)  # fmt: skip
_slot = Schema(
    Slot, "an input or output", Field(1, "name", "text", required=True), Field(2, "arguments", "text", repeated=True)
)  # fmt: skip
_op = Schema(
    OpDesc, "an operator", Field(1, "inputs", _slot, repeated=True), Field(2, "outputs", _slot, repeated=True),
    Field(3, "type", "text", required=True), Field(4, "attrs", _AttrSchema(), repeated=True), Field(5, "is_target", "bool"),
)  # fmt: skip
_block = Schema(
    BlockDesc, "a block", Field(1, "index", "int32", required=True), Field(2, "parent", "int32", required=True),
    Field(3, "vars", _var, repeated=True), Field(4, "ops", _op, repeated=True), Field(5, "forward", "int32"),
)  # fmt: skip
_op_version = Schema(OpVersion, "the version of an operator", Field(1, "version", "int32", required=True))
_pair = Schema(
    OpVersionPair, "the version of an operator", Field(1, "name", "text", required=True),
    Field(2, "version", _op_version, required=True),
)  # fmt: skip
_program = Schema(
    ProgramDesc, "the program", Field(1, "blocks", _block, repeated=True),
    Field(4, "version", Schema(Version, "the version", Field(1, "version", "int"))),
    Field(5, "op_versions", Schema(OpVersionMap, "the versions of operators", Field(1, "pairs", _pair, repeated=True))),
    Field(7291, "params_mark", "bytes"),
)  # fmt: skip


AS_IT_IS = frozenset(int(kind) for kind in AttrType) - {AttrType.STRING, AttrType.STRINGS, AttrType.SCALAR, AttrType.SCALARS}


def plain(attr: Attr) -> Any:
    """The value of an attribute as Python has it."""
    if attr.type in AS_IT_IS:
        return attr.value
    if attr.type == AttrType.STRING:
        return attr.value.decode(errors="surrogateescape")
    if attr.type == AttrType.STRINGS:
        return [text.decode(errors="surrogateescape") for text in attr.value]
    if attr.type == AttrType.SCALAR:
        return attr.value.value
    if attr.type == AttrType.SCALARS:
        return [scalar.value for scalar in attr.value]
    return attr.value


# Of attributes: numbers of blocks, names of variables, and scalars, which have parts.
_WITH_NAMES = frozenset(map(int, (
    AttrType.BLOCK, AttrType.BLOCKS, AttrType.VAR, AttrType.VARS, AttrType.SCALAR, AttrType.SCALARS,
)))  # fmt: skip
descriptions = Descriptions(
    (VarDesc, VarType, LodTensorDesc, TensorDesc, OpDesc, Slot, Attr), _LOD_TENSOR, DTYPES, frozenset(map(int, AttrType)) - _WITH_NAMES
)


def serialize(program: ProgramDesc) -> bytes:
    """The bytes of a `.pdmodel`."""
    return _program.write(program)


def parse(data: bytes) -> ProgramDesc:
    """Read the bytes of a `.pdmodel`.

    Raises:
        ModelFileError: they are not a program, or one that does not hold together: blocks that are not there, names that
            are used twice, inputs that nothing declares.
    """
    program = _program.read(bytes(data))
    check(program)
    return program


def check(program: ProgramDesc) -> None:
    """Refuse a program that does not hold together.

    Raises:
        ModelFileError: blocks that are not there, names that are used twice, inputs that nothing declares.
    """
    if not program.blocks:
        raise ModelFileError("this is not a model: the program has no blocks. Expected the content of a .pdmodel. Name another file.")
    known: list[set[str]] = []
    # A chain of n blocks with n names each costs n * n; files of Paddle nest a few blocks deep.
    room = 100_000 + 50 * (len(program.blocks) + sum(len(block.vars) for block in program.blocks))
    for at, block in enumerate(program.blocks):
        if block.index != at or not (block.parent == -1 if at == 0 else 0 <= block.parent < at):  # type: ignore[operator]
            raise ModelFileError(
                f"the file is damaged: block {at} says that it is block {block.index} within block {block.parent}. Expected "
                f"{at} within an earlier one. Save the model again."
            )
        names = {var.name or "" for var in block.vars}
        if len(names) < len(block.vars) or "" in names:
            strange = [name for name, count in Counter(var.name for var in block.vars).items() if count > 1 or not name]
            raise ModelFileError(
                f"the file is damaged: block {at} has two variables {strange[0]!r}, or one without a name. Save the model again."
            )
        for var in descriptions.odd_variables(block.vars):
            _check_tensor(var)
        if at:
            around = known[block.parent]  # type: ignore[index]
            room -= len(around)
            if names and room < 0:
                raise ModelFileError(
                    f"the file is damaged: its {len(program.blocks)} blocks are nested too deeply. Expected a few levels. "
                    f"Save the model again."
                )
            names = names | around if names else around
        known.append(names)
    for at, block in enumerate(program.blocks):
        names, forward = known[at], block.forward
        if type(forward) is int and 0 < forward < len(known) and block.ops:  # a backward pass reads what that block has computed
            room -= len(known[forward])
            if room < 0:
                raise ModelFileError("the file is damaged: too many of its blocks are backward passes of one. Save the model again.")
            names = names | known[forward]
        for op in descriptions.odd_operators(block.ops, names):
            _check_op(op, at, len(program.blocks), names)


def _check_tensor(var: VarDesc) -> None:
    kind = var.type
    mostly = kind is not None and kind.kind == _LOD_TENSOR and kind.lod_tensor is not None
    tensor = kind.lod_tensor.tensor if mostly else var.tensor  # type: ignore[union-attr]
    if tensor is None:
        return
    if tensor.dtype not in DTYPES:
        dtype_name(tensor.dtype or 0, f"the variable {var.name!r}")
    if tensor.dims and min(tensor.dims) < -1:
        # Paddle itself multiplies sizes that are not known: instance_norm of [-1, 3, 4, 4] has means of shape [-3].
        tensor.dims = [max(size, -1) for size in tensor.dims]


def _check_op(op: OpDesc, block: int, blocks: int, known: set[str]) -> None:
    for slots, kind in ((op.inputs, "input"), (op.outputs, "output")):
        if len(slots) > 1 and len({slot.name for slot in slots}) < len(slots):
            name = Counter(slot.name for slot in slots).most_common(1)[0][0]
            raise ModelFileError(f"the file is damaged: {op.type!r} has the {kind} {name!r} twice. Save the model again.")
        for slot in slots:
            if known.issuperset(slot.arguments):
                continue
            for name in slot.arguments:
                if name not in known and name != EMPTY:
                    raise ModelFileError(
                        f"the file is damaged: {op.type!r} of block {block} has {name!r} as {kind} {slot.name!r}, which no block "
                        f"declares. Expected a variable of this block or one around it. Save the model again."
                    )
    said: dict[str | None, int] = {}
    for attr in op.attrs:
        kind_of = attr.type
        # Paddle repeats some: what its passes changed stands after what was there, and the last counts.
        if said.setdefault(attr.name, kind_of) != kind_of:
            raise ModelFileError(f"the file is damaged: {op.type!r} has the attribute {attr.name!r} twice, of two types. Save the model again.")
        if kind_of not in _WITH_NAMES:
            continue
        if attr.type in (AttrType.BLOCK, AttrType.BLOCKS):
            for index in attr.value if attr.type == AttrType.BLOCKS else [attr.value]:
                if index is None or not 0 < index < blocks or index == block:
                    raise ModelFileError(
                        f"the file is damaged: {op.type!r} of block {block} runs block {index}. Expected one of 1 to {blocks - 1} "
                        f"that is not its own. Save the model again."
                    )
        elif attr.type in (AttrType.VAR, AttrType.VARS):
            for name in attr.value if attr.type == AttrType.VARS else [attr.value]:
                if name is not None and name not in known and name != EMPTY:
                    raise ModelFileError(
                        f"the file is damaged: {op.type!r} takes {attr.name!r} from {name!r}, which no block declares. "
                        f"Save the model again."
                    )
        elif attr.type in (AttrType.SCALAR, AttrType.SCALARS):
            for scalar in attr.value if attr.type == AttrType.SCALARS else [attr.value]:
                if scalar is not None:
                    scalar.value  # noqa: B018  (it refuses a scalar without its number)
