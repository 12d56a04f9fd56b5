"""Reading Paddle's programs.

The operators of a file are taken one by one; a rule (`column.reads`) calls functions of the library on the variables, which a capture
records. What an operator of a backward pass computes is what autograd says of the nodes that its forward operator became.
"""
from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from wherry_autograd import enable_grad, grad, no_grad
from wherry_nn import unique_name
from wherry_paddle_files.column import READS
from wherry_paddle_files.desc import (
    AS_IT_IS,
    DTYPES,
    EMPTY,
    AttrType,
    BlockDesc,
    OpDesc,
    ProgramDesc,
    Slot,
    VarDesc,
    VarKind,
    dtype_name,
    plain,
)
from wherry_paddle_files.handed_on import hand_on
from wherry_paddle_files.numbers import constant_parts, known_number
from wherry_paddle_files.pir_format import KNOWN_SIZES
from wherry_paddle_files.sequences import MOST_LEVELS, known_offsets, with_offsets
from wherry_program.program.capture import Capture
from wherry_program.program.control import create_array
from wherry_program.program.ir import BACKWARD, FORWARD, OPTIMIZE, Node, Program, StaticParameter, Variable
from wherry_program.program.replay import Retrace, ghost_of
from wherry_tensor import _core, ops
from wherry_tensor._core import DType, Tensor
from wherry_tensor.dtype import as_dtype, is_complex, is_floating_point
from wherry_tensor.errors import UnimplementedError
from wherry_tensor.ops.quantization import fault_of_scales
from wherry_tensor.protobuf import ModelFileError
from wherry_tensor.sizes import Size, user_line
from wherry_tensor.suggestions import did_you_mean

__all__ = ["OpView", "Reader", "UnreadableOp", "program_of"]


class UnreadableOp(UnimplementedError, ModelFileError):
    """No rule reads an operator of the file, or not one with its dtypes. A ValueError."""


_VAR, _VARS, _LOD_TENSOR = int(AttrType.VAR), int(AttrType.VARS), int(VarKind.LOD_TENSOR)
_PLAIN = AS_IT_IS - {_VAR, _VARS}
_WHOLE_NUMBERS = frozenset(map(int, (AttrType.INTS, AttrType.LONGS)))
_DTYPES = {code: as_dtype(name) for code, name in DTYPES.items()}


class OpView:
    """An operator of a file, as rules see it.

    Attributes:
        type: of the operator.
        desc: the operator itself.
        reader: that reads the file.
    """

    __slots__ = ("_attrs", "desc", "reader", "type")

    def __init__(self, desc: OpDesc, reader: Reader) -> None:
        self.desc, self.reader, self.type = desc, reader, desc.type or ""
        self._attrs = {attr.name: attr for attr in desc.attrs}

    def x(self, slot: str) -> Any:
        """The tensor of an input.

        Raises:
            ModelFileError: the operator has no such input.
        """
        for given in self.desc.inputs:  # mostly
            if given.name == slot and given.arguments and (found := self.reader.scopes[-1].get(given.arguments[0])) is not None:
                return found
        found = self.maybe(slot)
        if found is None:
            raise self.bad(f"it has no input {slot!r}", "a variable")
        return found

    def scale(self, slot: str) -> Any:
        """The tensor of an input that is a scale; numbers of the file are finite, and none is negative."""
        found = self.x(slot)
        self.require_scales(slot)
        return found

    def require_scales(self, slot: str) -> None:
        """Refuse scales of the file that are negative or not finite."""
        for name in self.desc.input(slot):
            parts = constant_parts(self.reader.value(name, self), self.reader.values)
            fault = next((fault for part in parts if (fault := fault_of_scales(part)) is not None), None)
            if fault is not None:
                raise self.bad(f"its scale {name!r} has {fault}", "finite numbers, none below 0")

    def maybe(self, slot: str) -> Any:
        """The tensor of an input, or None."""
        names = self.desc.input(slot)
        if not names or names[0] == EMPTY:
            return None
        found = self.reader.scopes[-1].get(names[0])  # mostly
        return self.reader.value(names[0], self) if found is None else found

    def xs(self, slot: str) -> list[Any]:
        """The tensors of an input that has several."""
        return [self.reader.value(name, self) for name in self.desc.input(slot) if name != EMPTY]

    def attr(self, name: str, default: Any = None) -> Any:
        """The value of an attribute as Python has it; that of a tensor where one takes its place."""
        found = self._attrs.get(name)
        if found is None or found.value is None:
            return default
        kind = found.type
        if kind in _PLAIN:
            return found.value
        if kind == _VAR:
            return self.reader.value(found.value, self)
        if kind == _VARS:
            return [self.reader.value(each, self) for each in found.value]
        return plain(found)

    def integer(self, name: str, default: int = 0) -> int:
        """An attribute that is a whole number."""
        found = self._attrs.get(name)
        if found is not None and type(found.value) is int:  # mostly
            return found.value
        value = self.attr(name, default)
        if isinstance(value, Tensor):
            return _whole(value)
        if isinstance(value, bool) or not isinstance(value, int):
            raise self.bad(f"attribute {name!r} is {value!r}", "a whole number")
        return value

    def number(self, name: str, default: float = 0.0) -> float:
        """An attribute that is a number."""
        found = self._attrs.get(name)
        if found is not None and type(found.value) is float:  # mostly
            return found.value
        value = self.attr(name, default)
        if not isinstance(value, (int, float)):
            raise self.bad(f"attribute {name!r} is {value!r}", "a number")
        return float(value)

    def flag(self, name: str, default: bool = False) -> bool:
        """An attribute that is true or false."""
        if name == "is_test" and self.reader.training is not None:
            return not self.reader.training
        found = self._attrs.get(name)
        if found is not None and type(found.value) is bool:  # mostly
            return found.value
        return bool(self.attr(name, default))

    def text(self, name: str, default: str = "") -> str:
        """An attribute that is text."""
        found = self._attrs.get(name)
        if found is not None and type(found.value) is bytes:  # mostly
            return found.value.decode(errors="surrogateescape")
        value = self.attr(name, default)
        if not isinstance(value, str):
            raise self.bad(f"attribute {name!r} is {value!r}", "text")
        return value

    def integers(self, name: str, default: Sequence[int] = ()) -> list[Any]:
        """An attribute that is whole numbers; one number is a list of one."""
        found = self._attrs.get(name)
        if found is not None and found.type in _WHOLE_NUMBERS and found.value:  # mostly
            return list(found.value)
        value = self.attr(name, default)
        if isinstance(value, (int, Tensor)):
            value = [value]
        if not isinstance(value, (list, tuple)):
            raise self.bad(f"attribute {name!r} is {value!r}", "whole numbers")
        return [n if type(n) is int else _whole(n) if isinstance(n, Tensor) else n for n in value]

    def dtype(self, name: str, default: str | None = None) -> DType:
        """An attribute that is a dtype."""
        code = self.attr(name, None)
        if code is None or code == -1:
            if default is None:
                raise self.bad(f"attribute {name!r} is {code!r}", "a dtype")
            return as_dtype(default, "load")
        return as_dtype(dtype_name(code, f"operator '{self.type}': attribute {name!r}"), "load")

    def shape(self, attr: str = "shape", tensors: str = "ShapeTensorList", tensor: str = "ShapeTensor", default: Sequence[int] = ()) -> list[Any]:
        """A shape: from a list of tensors, from one tensor, or from an attribute."""
        listed = self.xs(tensors)
        if listed:
            return [_whole(x) for x in listed]
        whole = self.maybe(tensor)
        if whole is not None and whole.ndim < 2 and "folded" in whole.__dict__:
            numbers = whole.folded.tolist()
            return numbers if isinstance(numbers, list) else [numbers]
        if whole is not None:
            if not whole.ndim:
                return [_whole(whole)]
            count = int(whole.shape[0])
            known = self.integers(KNOWN_SIZES)
            known = known if len(known) == count else [-1] * count
            return [n if n >= 0 else _whole(whole[i]) for i, n in enumerate(known)]
        return self.integers(attr, default)

    def out(self, slot: str = "Out") -> VarDesc | None:
        """The variable that an output goes to."""
        names = self.desc.output(slot)
        return self.reader.described(names[0]) if names else None

    def block(self, attr: str = "sub_block") -> BlockDesc:
        """The block that an attribute names."""
        index = self.attr(attr)
        if not isinstance(index, int) or not 0 < index < len(self.reader.desc.blocks):
            raise self.bad(f"attribute {attr!r} is {index!r}", "the index of a block")
        return self.reader.desc.blocks[index]

    def bad(self, got: str, expected: str) -> ModelFileError:
        """The error for a malformed operator."""
        return ModelFileError(f"operator '{self.type}' of the file cannot be read: {got}. Expected {expected}. Save the model again.")


def _whole(x: Tensor) -> Any:
    """The one number of a tensor: a Size where it is not known yet."""
    if not _core.is_symbolic(x):
        return int(x.item())
    known = known_number(x)
    return Size("value", x) if known is None else int(known)


class Reader:
    """Reads one program.

    Attributes:
        desc: what the file says.
        program: what it becomes.
        training: are operators read as they train, or as they predict? None: as the file says of each.
        values: of what is saved with the program, by name, as far as it is known.
        sizes: of what is fed, by name, where they are to be others than the file's.
        ranks: sizes of what is fed that ranks depend on: the input's name, the axis, and whether the program as it is read is for a size of 1
            there, or for all others.
    """

    def __init__(
        self, desc: ProgramDesc, training: bool | None = None, values: Mapping[str, Tensor] | None = None,
        sizes: Mapping[str, Sequence[int]] | None = None,
    ) -> None:
        self.desc, self.training, self.values, self.sizes = desc, training, values or {}, sizes or {}
        self.ranks: list[tuple[str, int, bool]] = []
        self.program = Program()
        self.scopes: list[dict[str, Any]] = [{}]  # name -> tensor; inner blocks last
        self.descs: list[dict[str, VarDesc]] = []  # the same blocks' variables
        self._forward: dict[str, tuple[OpDesc, list[Node], dict[str, Any]]] = {}  # name of an output -> what made it
        self._fetched: dict[int, Variable] = {}
        self._fed: dict[int, Variable] = {}
        self.choices: dict[tuple[OpView, OpView], dict[tuple[str, str], Any]] = {}  # of select_input: what is chosen between two blocks
        self._used: set[str] | None = None  # names that operators read, once they are asked for
        self._differentiates = "_grad\0" in "\0".join([op.type or "" for block in desc.blocks for op in block.ops]) + "\0"

    # Names.

    def described(self, name: str) -> VarDesc | None:
        """The declaration of a variable, in this block or one around it."""
        for block in reversed(self.descs):
            if name in block:
                return block[name]
        return None

    def has(self, name: str) -> bool:
        """Whether the name has a value here."""
        return any(name in scope for scope in self.scopes)

    def value(self, name: str, op: OpView) -> Any:
        """The current tensor of a name.

        Raises:
            ModelFileError: nothing has written it yet.
        """
        for scope in reversed(self.scopes):
            if name in scope:
                return scope[name]
        if self.is_array(name):  # a list that nothing was written to is empty
            tensor = self.described(name).tensor  # type: ignore[union-attr]
            self.scopes[-1][name] = create_array(_core.float32 if tensor is None else as_dtype(dtype_name(tensor.dtype or 0, name), "load"))
            return self.scopes[-1][name]
        raise op.bad(f"its input {name!r} has no value", "a variable that is fed, loaded or written before")

    def is_array(self, name: str) -> bool:
        """Whether it is a list of tensors."""
        var = self.described(name)
        return var is not None and var.type is not None and var.type.kind == VarKind.LOD_TENSOR_ARRAY

    def uses(self, op: OpView, *slots: str) -> bool:
        """Whether any operator reads one of these outputs."""
        if self._used is None:
            self._used = {name for block in self.desc.blocks for op in block.ops for slot in op.inputs for name in slot.arguments}
        used = self._used
        return any(name in used for slot in slots for name in op.desc.output(slot))

    def lasting(self, names: Sequence[str], op: OpView) -> set[str]:
        """Those of the names that outlive a run: parameters and buffers."""
        found = set()
        for name in names:
            x = self.value(name, op) if self.has(name) else None
            if isinstance(x, Variable) and x.persistable:
                found.add(name)
        return found

    def note_rank(self, x: Any, axis: int, one: bool) -> None:
        """Note that the rank of a result depends on this size: of something that is fed, or else on whether any open size of what is fed is 1."""
        if isinstance(x, Variable) and x.is_data:
            self.ranks.append((x.name, axis, one))
        elif not one:
            fed = [feed for feed in self.scopes[0].values() if isinstance(feed, Variable) and feed.is_data]
            noted = [(feed.name, at, one) for feed in fed for at, n in enumerate(feed.sizes) if n == -1]
            self.ranks += [each for each in noted if each not in self.ranks]

    def momentary(self, block: BlockDesc, names: Sequence[str], op: OpView) -> set[str]:
        """Those of the names that a block writes before it reads them, and that nothing outside of it reads."""
        read: set[str] = set()
        written: set[str] = set()
        for inner in block.ops:
            for name in self._reads(inner):
                if name not in written:
                    read.add(name)
            written.update(name for slot in inner.outputs for name in slot.arguments)
        outside = {
            name for other in self.desc.blocks if other is not block for found in other.ops if found is not op.desc for name in self._reads(found)
        }
        kept = {name for slot in op.desc.inputs if slot.name == "Condition" for name in slot.arguments}
        # A list is written after what it holds.
        return {name for name in names if name not in read and name not in outside and name not in kept and not self.is_array(name)}

    def _reads(self, op: OpDesc, depth: int = 0) -> set[str]:
        """What an operator, or a block that it runs, reads."""
        found = {name for slot in op.inputs for name in slot.arguments}
        for attr in op.attrs:
            if attr.type == AttrType.BLOCK and attr.value is not None and depth < 20:
                found.update(name for inner in self.desc.blocks[attr.value].ops for name in self._reads(inner, depth + 1))
        return found

    def pairs_of(self, first: OpView, second: OpView) -> list[tuple[str, str]]:
        """What the file chooses between the outputs of two conditional blocks."""
        ours, theirs = set(first.desc.output("Out")), set(second.desc.output("Out"))
        found: dict[tuple[str, str], None] = {}
        for block in self.desc.blocks:
            for op in block.ops:
                names = op.input("X") if op.type == "select_input" else []
                if len(names) == 2 and names[0] in ours and names[1] in theirs:
                    found[names[0], names[1]] = None
        return list(found)

    def bind(self, name: str, value: Any, op: OpView) -> None:
        """Let a name stand for a tensor; parameters are written over."""
        if len(self.scopes) == 1 and name not in self.scopes[0]:  # mostly
            self.scopes[0][name] = value
            return
        for i in range(len(self.scopes) - 1, -1, -1):
            if name not in self.scopes[i]:
                continue
            old = self.scopes[i][name]
            if isinstance(old, Variable) and old.persistable and old is not value:
                if not isinstance(value, Tensor) or value.dtype is not old.dtype:
                    raise op.bad(f"its output {name!r} is {value!r}", f"{old.dtype.name} as the parameter that it writes over")
                with no_grad():
                    ops.copy.into((old,), value)
                return
            break
        self.scopes[-1][name] = value

    # Blocks.

    def read(self) -> Program:
        """Read the whole program."""
        names = "\0" + "\0".join([var.name or "" for block in self.desc.blocks for var in block.vars])
        prefix = "w"
        while f"\0{prefix}_" in names:
            prefix += "w"
        before = unique_name.switch(unique_name.UniqueNameGenerator(prefix + "_"))
        try:
            with Capture(self.program.blocks[0]) as recording, no_grad():
                recording.line = user_line()
                self.recording = recording
                self._block_vars(self.desc.blocks[0])
                self._declare()
                self.run(self.desc.blocks[0].ops)
        finally:
            unique_name.switch(*before)
        self.program.feeds = [self._fed[i] for i in sorted(self._fed)]
        self.program.fetches = [self._fetched[i] for i in sorted(self._fetched)]
        if "holds_sequences" in self.program.__dict__:
            self._look_at_offsets()
        return self.program

    def _look_at_offsets(self) -> None:
        """Note of what is fed whether the program computes with its offsets, or only hands them on."""
        given = [x for x in self.program.feeds if "offsets" in x.__dict__]
        read = {id(x) for node in self.program.walk() for x in node.reads()} if given else set()
        for x in given:
            x.__dict__["needs_offsets"] = any(id(one) in read for one in x.__dict__["offsets"])

    def _block_vars(self, block: BlockDesc) -> None:
        self.descs.append({var.name: var for var in block.vars if var.name})

    # In one piece: one walk over the variables, whose checks need all that was found of the operators.
    def _declare(self) -> None:
        """Declare what exists before the program runs: parameters, buffers, and feeds of a program without feed operators."""
        block = self.desc.blocks[0]
        into = self.program.blocks[0]
        fed = {op.output("Out")[0] for op in block.ops if op.type == "feed" and op.output("Out")}
        written: set[str] | None = None
        missing: set[str] = set() if fed else _read_first(block.ops)
        for var in block.vars:
            name, kind = var.name or "", var.type
            if kind is None or kind.kind != _LOD_TENSOR or kind.lod_tensor is None or (tensor := kind.lod_tensor.tensor) is None:
                continue
            dims, dtype = tensor.dims, _DTYPES.get(tensor.dtype or 0)
            if len(dims) > _core.MAX_RANK or dims and max(dims) >= 1 << 40:
                raise ModelFileError(f"the variable {name!r} has shape {tensor.dims}. Expected at most {_core.MAX_RANK} sizes. Save the model again.")
            if name in fed or (not fed and not var.persistable and name in missing):
                dtype = dtype or as_dtype(dtype_name(tensor.dtype or 0, name), "load")
                x = into.variable(self.sizes.get(name, dims), dtype, name, is_data=True, stop_gradient=True)
                if name not in fed:
                    self._fed[len(self._fed)] = x
                self._declare_offsets(x, var)
            elif var.persistable:
                dtype = dtype or as_dtype(dtype_name(tensor.dtype or 0, name), "load")
                made = StaticParameter if var.is_parameter else Variable
                stop = not var.is_parameter if var.stop_gradient is None else var.stop_gradient
                x = into.add(made.of(into, dims, dtype, name, persistable=True, stop_gradient=stop))
                value = self.values.get(name)
                if value is not None and not value.dtype.is_floating and value.size <= _core.MAX_RANK:
                    if written is None:
                        written = {name for op in block.ops for slot in op.outputs for name in slot.arguments}
                    if name not in written:
                        x.__dict__["folded"] = value  # a number of a program that was optimized: shapes may be made of it
            else:
                continue
            self.scopes[0][name] = x

    def _declare_offsets(self, x: Variable, var: VarDesc) -> None:
        """Declare what the offsets of sequences that are fed are fed as, for each level one variable."""
        lod = None if var.type is None else var.type.lod_tensor
        levels = 0 if lod is None else lod.lod_level or 0
        if not 0 <= levels <= MOST_LEVELS or levels and not x.sizes:
            raise ModelFileError(
                f"the variable {x.name!r} has lod_level {levels} and shape {list(x.sizes)}. Expected at most {MOST_LEVELS} levels, of rows. "
                f"Save the model again."
            )
        if not levels:
            return
        taken = self.descs[0].keys()
        names = [f"{x.name}@LOD{i}" if i else f"{x.name}@LOD" for i in range(levels)]
        if not taken.isdisjoint(names):
            raise ModelFileError(f"the variables of the file have names of offsets. Got {names}, expected none of these. Save the model again.")
        with_offsets(x, [self.program.blocks[0].variable([-1], _core.int64, name, is_data=True, stop_gradient=True) for name in names])

    def run(self, descs: Sequence[OpDesc]) -> None:
        """Read operators, one after the other."""
        for desc in descs:
            self.op(OpView(desc, self))

    def op(self, op: OpView) -> None:
        """Read one operator; any error in its rule is reported as one of the file."""
        try:
            self._op(op)
        except ModelFileError:
            raise
        except UnimplementedError as error:
            raise UnreadableOp(f"operator '{op.type}' of the file cannot be read: {error}") from error
        except (ValueError, TypeError, LookupError, ArithmeticError, AttributeError, RuntimeError, MemoryError) as error:
            raise ModelFileError(f"operator '{op.type}' of the file cannot be read: {error}") from error

    def _op(self, op: OpView) -> None:
        found = READS.get(op.type)
        if found is None:
            self._without_rule(op)
            return
        self._take_role(op)
        if self._differentiates:
            begin = len(self.recording.block.nodes)
            before = {name: self.scopes[-1].get(name) for slot in op.desc.inputs for name in slot.arguments}
        result = found.rule(op)
        if type(result) is Variable:  # mostly
            self._bind_output(op, found.out, result)
        elif result is not None:
            self._bind_outputs(op, result if isinstance(result, dict) else {found.out: result})
        if result is not None and "holds_sequences" in self.program.__dict__:
            hand_on(op, result if isinstance(result, dict) else {found.out: result})
        if self._differentiates:
            nodes = self.recording.block.nodes[begin:]
            inputs = {name: x for name, x in before.items() if x is not None}
            for slot in op.desc.outputs:
                for name in slot.arguments:
                    self._forward[name] = (op.desc, nodes, inputs)

    def _take_role(self, op: OpView) -> None:
        role = op.integer("op_role")
        self.recording.role = FORWARD if not role else BACKWARD if role in (1, 257) else OPTIMIZE if role in (2, 18) else FORWARD

    def _without_rule(self, op: OpView) -> None:
        kind = op.type
        if kind == "feed":
            names = op.desc.output("Out")
            x = self.value(names[0], op) if len(names) == 1 else None
            if not isinstance(x, Variable) or not x.is_data or len(self.scopes) > 1:
                raise op.bad(f"it feeds {names}", "a tensor of the first block")
            self._fed[op.integer("col")] = x
        elif kind == "fetch":
            self._fetch(op)
        elif kind.endswith("_grad") and kind[:-5] in READS:
            self._take_role(op)
            self._bind_outputs(op, self._gradient(op, self._forward_of(op) or self._forward_again(op)))
        else:
            raise self._unknown(op)

    def _unknown(self, op: OpView) -> UnreadableOp:
        kind, library = op.type, op.attr("library")
        if isinstance(library, str):
            module = library.partition("_pd_")[0]
            return UnreadableOp(
                f"the program has an operator of a library that is not loaded: '{kind}' of {library}. Got no operator of this name, expected "
                f"the library to be loaded first. Import its module ({module}), or build and load it with "
                f"paddle.utils.cpp_extension.load(name={module!r}, sources=[...])."
            )
        near = did_you_mean(kind, READS)
        many = sum(other.type == kind for block in self.desc.blocks for other in block.ops)
        return UnreadableOp(
            f"the program has an operator that is not read: '{kind}'. Got {many} of them, "
            f"expected one of {len(READS)} operators that are known.{near} Add a rule for it with @reads({kind!r}) to "
            f"wherry_paddle_files/ops, in the file of its family."
        )

    def _bind_output(self, op: OpView, out: str, x: Variable) -> None:
        for slot in op.desc.outputs:
            if slot.name == out:
                if slot.arguments and (name := slot.arguments[0]) != EMPTY:
                    self.bind(name, x, op)
                    self._rename(name, x)
                return

    def _bind_outputs(self, op: OpView, results: dict[str, Any]) -> None:
        for slot, value in results.items():
            for name, x in zip(op.desc.output(slot), value if isinstance(value, (list, tuple)) else (value,)):
                if name != EMPTY and x is not None:
                    self.bind(name, x, op)
                    self._rename(name, x)

    def _rename(self, name: str, x: Any) -> None:
        """Let what an operator made have the name that the file gives it, if it is free."""
        if not isinstance(x, Variable) or x.made_by is None or x.name == name or x.__dict__.get("named_by_file"):
            return
        block = x.block
        if name in block.vars or block.vars.get(x.name) is not x:
            return
        del block.vars[x.name]
        x.name = name
        block.vars[name] = x
        x.named_by_file = True  # type: ignore[attr-defined]

    def _fetch(self, op: OpView) -> None:
        names = op.desc.input("X")
        x = self.value(names[0], op) if len(names) == 1 else None
        if isinstance(x, Tensor) and not isinstance(x, Variable):
            x = self.recording.variable_of(x)  # a number that is known when the file is read
        if not isinstance(x, Variable) or len(self.scopes) > 1:
            raise op.bad(f"it fetches {names}", "a tensor of the first block")
        name = names[0]
        if any(x is y for y in self._fetched.values()) or x.made_by is None:
            source, x = x, ops.copy(x)
            with_offsets(x, known_offsets(source))
        x.__dict__.pop("named_by_file", None)
        self._rename(name, x)
        self._fetched[op.integer("col", len(self._fetched))] = x

    # Blocks in blocks.

    def inner(self, block: BlockDesc, names: dict[str, Any], results: Callable[[], Any]) -> Any:
        """Read an inner block whose `names` have these values at its beginning; gives what `results()` says at its end."""
        self.scopes.append(dict(names))
        self._block_vars(block)
        if len(self.scopes) > 100:
            raise ModelFileError("the file is damaged: its blocks run each other. Expected a few levels. Save the model again.")
        try:
            self.run(block.ops)
            return results()
        finally:
            self.scopes.pop()
            self.descs.pop()

    def written_in(self, block: BlockDesc, depth: int = 0) -> list[str]:
        """The names from around a block that it, or one that it runs, writes. Each once, in order."""
        found: dict[str, None] = {}
        own = {var.name for var in block.vars}
        for op in block.ops:
            for slot in op.outputs:
                found.update(dict.fromkeys(name for name in slot.arguments if name != EMPTY))
            for attr in op.attrs:
                if attr.type == AttrType.BLOCK and attr.value is not None and attr.value > (block.index or 0) and depth < 50:
                    found.update(dict.fromkeys(self.written_in(self.desc.blocks[attr.value], depth + 1)))
        return [name for name in found if name not in own]

    # Gradients.

    def made(self, names: Sequence[str], kind: str) -> tuple[OpDesc, list[Node], dict[str, Any]] | None:
        """The operator of a kind that has written one of the names, the nodes it became, and its inputs at that time."""
        for name in names:
            found = self._forward.get(name.split("@GRAD")[0])
            if found is not None and found[0].type == kind:
                return found
        return None

    def _forward_of(self, op: OpView) -> tuple[OpDesc, list[Node], dict[str, Any]] | None:
        """The operator that a `_grad` operator belongs to."""
        for slot in op.desc.inputs:
            if slot.name and slot.name.endswith("@GRAD"):
                found = self.made(slot.arguments, op.type[:-5])
                if found is not None:
                    return found
        return None

    def _forward_again(self, op: OpView) -> tuple[OpDesc, list[Node], dict[str, Any]]:
        """The forward operator of one that stands alone, computed from what the latter is given."""
        found = READS[op.type[:-5]]
        given = {slot.name for slot in op.desc.inputs}
        inputs = [slot for slot in op.desc.inputs if slot.name and not slot.name.endswith("@GRAD") and f"{slot.name}@GRAD" not in given]
        outputs = [Slot(name[:-5], [f"{op.type}@{name}" for _ in op.desc.input(name)]) for name in given if name and name.endswith("@GRAD")]
        forward = OpDesc(op.type[:-5], inputs, outputs, op.desc.attrs)
        begin = len(self.recording.block.nodes)
        result = found.rule(OpView(forward, self))
        results = result if isinstance(result, dict) else {found.out: result}
        for slot in outputs:
            values = results.get(slot.name)
            for name, x in zip(slot.arguments, values if isinstance(values, (list, tuple)) else [values]):
                self.scopes[-1][name] = x
        inputs_by_name = {name: self.value(name, op) for slot in inputs for name in slot.arguments if name != EMPTY}
        return forward, self.recording.block.nodes[begin:], inputs_by_name

    def _gradient(self, op: OpView, found: tuple[OpDesc, list[Node], dict[str, Any]]) -> dict[str, Any]:
        forward, nodes, inputs = found
        outputs: list[Variable] = []
        cotangents: list[Any] = []
        for slot in forward.outputs:
            given = op.desc.input(f"{slot.name}@GRAD")
            for name, ct in zip(slot.arguments, given):
                if ct != EMPTY and self.has(ct):
                    outputs.append(self.value(name, op))
                    cotangents.append(self.value(ct, op))
        wanted: list[tuple[str, int, str]] = []
        for slot in forward.inputs:
            for i, (name, ct) in enumerate(zip(slot.arguments, op.desc.output(f"{slot.name}@GRAD"))):
                if ct != EMPTY:
                    wanted.append((slot.name or "", i, name))
        leaves = {name: inputs[name] for _, _, name in wanted if name in inputs}
        for name in leaves:
            if not isinstance(leaves[name], Variable) or not (is_floating_point(leaves[name]) or is_complex(leaves[name])):
                raise op.bad(f"it differentiates by {name!r}", "a floating tensor")
        results = self.differentiated(nodes, outputs, list(leaves.values()), cotangents)
        by_name = dict(zip(leaves, results))
        out: dict[str, Any] = {}
        for slot_name, i, name in wanted:
            values = out.setdefault(f"{slot_name}@GRAD", [None] * len(op.desc.output(f"{slot_name}@GRAD")))
            # Of x * x the file adds both parts up: the first has all of it.
            values[i] = by_name.pop(name) if name in by_name else ops.full_like(leaves[name], value=0, dtype=leaves[name].dtype)
        return out

    def differentiated(
        self, nodes: Sequence[Node], outputs: Sequence[Variable], leaves: Sequence[Variable], cotangents: Sequence[Tensor],
    ) -> list[Tensor]:
        """Record the gradients of what `nodes` compute, by `leaves`."""
        recording = Retrace(self.recording.block)
        recording.role = BACKWARD
        env: dict[int, Any] = {id(x): ghost_of(recording, x, stop_gradient=False) for x in leaves}

        def value_of(x: Any) -> Any:
            if id(x) not in env:
                env[id(x)] = ghost_of(recording, x)
            return env[id(x)]

        with recording, enable_grad():
            for node in nodes:
                recording.trace(node, env, value_of)
            roots = [(env[id(x)], ct) for x, ct in zip(outputs, cotangents) if id(x) in env and not env[id(x)].stop_gradient]
            found: Sequence[Tensor | None] = [None] * len(leaves)
            if roots:
                fitting = [ct if list(ct.shape) == list(root.shape) else ops.reshape_like(ct, root) for root, ct in roots]
                found = grad([root for root, _ in roots], [env[id(x)] for x in leaves], fitting, allow_unused=True)
            return [
                recording.variable_of(ops.full_like(x, value=0, dtype=x.dtype) if g is None else g) for g, x in zip(found, leaves)
            ]


def _read_first(ops: Sequence[OpDesc]) -> set[str]:
    """The names that operators read before one has written them."""
    found: set[str] = set()
    written: set[str] = set()
    for op in ops:
        found.update([name for slot in op.inputs for name in slot.arguments if name not in written])
        for slot in op.outputs:
            written.update(slot.arguments)
    return found


def program_of(
    desc: ProgramDesc, training: bool | None = None, values: Mapping[str, Tensor] | None = None, sizes: Mapping[str, Sequence[int]] | None = None,
) -> Program:
    """Read a program that a file describes.

    Args:
        desc: what the file says.
        training: read operators that do (dropout, batch normalization, ...) as they train, or as they predict; None: as the file says.
        values: of parameters and constants by name; the numbers among them may decide on shapes. None: they are not known yet.
        sizes: of what is fed, by name, in place of the file's: `models.at_sizes`.

    Raises:
        ModelFileError: the operators do not fit together.
        UnreadableOp: no rule reads one of them.
    """
    import wherry_paddle_files.ops  # noqa: F401  the rules

    reader = Reader(desc, training, values, sizes)
    program = reader.read()
    program.__dict__.update(trains=training, ranks=reader.ranks)
    return program

