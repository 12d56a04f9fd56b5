"""Programs written as Paddle 3 has them: `.json`.

`Writer3` writes a program's nodes as Paddle 2's operators, with choices and loops as blocks that say what they take and give; `text_of` then makes
operations on numbered values of these. Which operation an operator is says `operators3.tsv`, which tools/paddle3_operators.py asks real Paddle for.
"""
from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from typing import Any

from wherry_paddle_files.column import WRITES_NODES
from wherry_paddle_files.desc import EMPTY, AttrType, BlockDesc, OpDesc, ProgramDesc, Slot, VarDesc, VarKind, dtype_name
from wherry_paddle_files.pir_format import DTYPES, LISTS, plain
from wherry_paddle_files.pir_table import rows
from wherry_paddle_files.writing import Typed, Value, Writer, attr_of
from wherry_program.program.ir import Node, Variable
from wherry_tensor._core import Tensor
from wherry_tensor.errors import UnimplementedError

__all__ = ["Writer3", "text_of"]

_TYPES = {name: code for code, name in DTYPES.items()}
_CPU, _ANY = [1, 0, ""], [0, 0, ""]  # places
_VERSION = 4  # of the format: what Paddle 3.3.1 writes
_MOST_EXACT = 1 << 53  # whole numbers up to here are float64 numbers


# Control flow: blocks say what they take (`arguments`) and give (`yield`).


class Writer3(Writer):
    """Writes for `text_of`: control flow as regions, results without operators that name them."""

    takes_int8 = False  # 3.3.1 has no kernel for them

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.controls = {**WRITES_NODES, **_CONTROLS}

    def result(self, value: Value, name: str) -> Value:
        """Nothing: results of a program have numbers."""
        return value

    def sequences(self, x: Variable, offsets: Sequence[Tensor]) -> None:
        """Refused: tensors of Paddle 3 have no offsets."""
        raise UnimplementedError(
            f"paddle files: '{x.name}' holds sequences of different lengths, which a program of Paddle 3 is not fed. Got offsets, expected none. "
            f"Save a .pdmodel, or convert that one: `python -m wherry convert net.pdmodel net.json` makes inputs of the offsets."
        )

    def with_sequences(self, x: Value, offsets: Sequence[Tensor]) -> Value:
        """Rows alone."""
        return x

    def held(self, x: Value) -> Value:
        """Itself: Paddle 3 keeps memory of no elements."""
        return x

    def axis_of(self, x: Tensor, axis: int) -> tuple[Tensor, int]:
        """The axis before transpositions: after one by oneDNN, Paddle's predictor mixes up the sizes."""
        while isinstance(x, Variable) and isinstance(x.made_by, Node) and x.made_by.type == "transpose":
            axis = x.made_by.attr("perm")[axis]
            x = x.made_by.reads()[0]
        return x, axis

    def give(self, values: Sequence[Value]) -> None:
        """End the block that is written now; what comes from around it is copied."""
        own = {id(value) for value in self._declared[self.index]}
        self("cf.yield", {"X": [value if id(value) in own else self("assign", {"X": value}) for value in values]}, {}, ())

    def take(self, kinds: Sequence[Variable]) -> list[Value]:
        """Values that the block which is written now takes."""
        taken = [self.declare(Value(self.fresh("taken"), x.dtype.name, x.sizes)) for x in kinds]
        op = OpDesc("arguments")
        op.outputs = [self._slot("Out", taken)]
        self.desc.blocks[self.index].ops.append(op)
        return taken

    def regions(self, kind: str, blocks: Sequence[int], inputs: dict[str, list[Value]], outs: Sequence[Variable]) -> None:
        """Add an operation that runs blocks."""
        op = OpDesc(kind)
        op.inputs = [self._slot(name, values) for name, values in inputs.items()]
        made = [self.declare(Value(self.fresh("result"), x.dtype.name, x.sizes)) for x in outs]
        op.outputs = [self._slot("Out", made)]
        op.attrs = [attr_of("blocks", Typed(AttrType.BLOCKS, list(blocks)))]
        self.desc.blocks[self.index].ops.append(op)
        for x, value in zip(outs, made):
            self.bind(x, value)


def _write_choice(w: Writer3, node: Node) -> None:
    condition = w.value(node.reads()[0])
    _no_lists(node.outputs, "a choice")
    blocks = []
    for block in node.blocks:
        with w.inner() as index:
            w.nodes(block)
            w.give([w.value(x) for x in block.outputs])
        blocks.append(index)
    w.regions("pd_op.if", blocks, {"Cond": [condition]}, node.outputs)


def _write_loop(w: Writer3, node: Node) -> None:
    if node.attrs[0]:
        raise UnimplementedError(
            "paddle files: a loop whose gradient is computed cannot be written. Got a loop that keeps the values of each round, expected one of a "
            "program without gradients. Save the program before its backward pass is added."
        )
    test, body = node.blocks
    # A list is written in place: a loop does not carry it.
    carried = [i for i, out in enumerate(node.outputs) if not out.is_array]
    begin = [w.value(x) for x in node.inputs if x is not None]

    def holds(values: Sequence[Value]) -> Value:
        for x, value in zip(test.inputs, values):
            w.stand_for(x, value)
        w.nodes(test)
        return w.value(test.outputs[0])

    condition = holds(begin)
    with w.inner() as index:
        taken = list(begin)
        for i, value in zip(carried, w.take([node.outputs[i] for i in carried])):
            taken[i] = value
        for x, value in zip(body.inputs, taken):
            w.stand_for(x, value)
        w.nodes(body)
        results = [w.value(x) for x in body.outputs]
        w.give([holds(results), *(results[i] for i in carried)])
    w.regions("pd_op.while", [index], {"Condition": [condition], "X": [begin[i] for i in carried]}, [node.outputs[i] for i in carried])
    for i, out in enumerate(node.outputs):
        if out.is_array:
            w.stand_for(out, begin[i])


def _no_lists(outs: Sequence[Variable], what: str) -> None:
    if any(x.is_array for x in outs):
        raise UnimplementedError(
            f"paddle files: {what} that gives a list cannot be written for Paddle 3. Got a list of tensors, expected tensors. Write to one list on "
            f"both sides, or save for Paddle 2."
        )


_CONTROLS: dict[str, Callable[[Any, Node], None]] = {"cond": _write_choice, "while": _write_loop}


# Printing.


def text_of(program: ProgramDesc) -> bytes:
    """The content of a `.json`.

    Args:
        program: that Writer3 wrote.

    Raises:
        NotImplementedError: an operator has no counterpart in Paddle 3.
    """
    region = _Printer(program).program()
    whole = {"base_code": {"magic": "pir", "trainable": True, "version": _VERSION}, "program": {"regions": [region]}}
    return json.dumps(whole, separators=(",", ":"), ensure_ascii=False, allow_nan=False).encode()


class _Printer:
    """Makes operations of operators.

    Attributes:
        types: of variables by name.
        ids: of the values that variables have now, by name.
        owners: the block in which a variable is declared.
        fixed: numbers of values that have no gradient.
    """

    def __init__(self, program: ProgramDesc) -> None:
        self.blocks = program.blocks
        self.types: dict[str, VarDesc] = {}
        self.owners: dict[str, int] = {}
        for index, block in enumerate(program.blocks):
            for var in block.vars:
                self.types[var.name or ""] = var
                self.owners[var.name or ""] = index
        self.ids: dict[str, int] = {}
        self.fixed: set[int] = set()
        self.ops: list[dict[str, Any]] = []
        self.index = 0
        self._count = self._arguments = self._regions = 0

    def program(self) -> dict[str, Any]:
        first = self.blocks[0]
        self._regions = 1
        for var in sorted((var for var in first.vars if var.persistable and self.is_tensor(var)), key=lambda var: var.name or ""):
            self.parameter(var)
        feeds = sorted((op for op in first.ops if op.type == "feed"), key=lambda op: int(op.attr("col", 0)))
        fetches = sorted((op for op in first.ops if op.type == "fetch"), key=lambda op: int(op.attr("col", 0)))
        for op in feeds:
            self.data(op)
        for op in first.ops:
            if op.type not in ("feed", "fetch"):
                self.operator(op)
        taken = {feed.outputs[0].arguments[0] for feed in feeds} | {var.name for var in first.vars if var.persistable}
        for i, op in enumerate(fetches):
            name = op.inputs[0].arguments[0]
            if name in taken:  # Paddle's predictor wants an operation for each result
                self.operator(OpDesc("assign", op.inputs, [Slot("Out", [name])]))
            taken.add(name)
            attrs = [("name", "str", f"fetch_name_{i}"), ("col", "i32", i)]
            self.add("1.fetch", [self.ids[name]], attrs, [self.type_of(name)], persistable=True)
        return {"#": "region_0", "blocks": [{"#": "block_0", "args": [], "ops": self.ops}]}

    def is_tensor(self, var: VarDesc) -> bool:
        return var.type is not None and var.type.kind == VarKind.LOD_TENSOR

    # Types and values.

    def type_of(self, name: str) -> dict[str, Any]:
        var = self.types[name]
        assert var.type is not None and var.tensor is not None
        if var.type.kind == VarKind.LOD_TENSOR_ARRAY:
            return {"#": "1.t_dense_tensor_array", "D": [{"#": _element(self.dtype_of(name))}, list(var.tensor.dims), "NCHW"]}
        return _tensor(self.dtype_of(name), var.tensor.dims)

    def dtype_of(self, name: str) -> str:
        tensor = self.types[name].tensor
        assert tensor is not None and tensor.dtype is not None
        return dtype_name(tensor.dtype, name)

    def dims_of(self, name: str) -> list[int]:
        tensor = self.types[name].tensor
        assert tensor is not None
        return list(tensor.dims)

    def new(self) -> int:
        self._count += 1
        return self._count

    def add(
        self, name: str, inputs: Sequence[int], attrs: Sequence[tuple[str, str, Any]], types: Sequence[dict[str, Any]], *,
        regions: list[dict[str, Any]] | None = None, persistable: bool = False,
    ) -> list[int]:
        """Add an operation; gives the numbers of its values."""
        made = [self.new() for _ in types]
        whole = [not _floats(type_) or (not inputs and name != "1.data") or (bool(inputs) and all(i in self.fixed or i == 0 for i in inputs))
                 for type_ in types]  # fmt: skip
        self.fixed.update(value for value, fixed in zip(made, whole) if fixed)
        flags = [_named("stop_gradient", "array.bool", [fixed and name != "1.data" for fixed in whole])] if types else []
        if persistable:
            flags.insert(0, _named("persistable", "array.bool", [True] * len(types)))
        op: dict[str, Any] = {
            "#": name, "A": [_named(*attr) for attr in attrs], "I": [{"%": value} for value in inputs],
            "O": [{"%": value, "TT": type_} for value, type_ in zip(made, types)], "OA": flags,
        }
        if regions is not None:
            op["regions"] = regions
        self.ops.append(op)
        return made

    def bind(self, name: str, value: int) -> None:
        """From now on the variable is this value."""
        if self.owners[name] != self.index and not self.is_array(name):
            raise UnimplementedError(
                f"paddle files: a block that writes over a variable from around it cannot be written for Paddle 3. Got '{name}', expected one that "
                f"is made in the block. Give the new value as a result of the choice or the loop."
            )
        self.ids[name] = value

    def is_array(self, name: str) -> bool:
        type_ = self.types[name].type
        return type_ is not None and type_.kind == VarKind.LOD_TENSOR_ARRAY

    def parameter(self, var: VarDesc) -> None:
        value = self.new()
        self.ids[var.name or ""] = value
        if var.stop_gradient or not var.is_parameter:
            self.fixed.add(value)
        flags = [1, 0, 1] if value not in self.fixed else [1, 1, 0]
        out = {"%": value, "TT": self.type_of(var.name or "")}
        self.ops.append({"#": "p", "A": [0, 1, 1, var.name], "DA": [], "O": out, "OA": flags, "QA": []})

    def data(self, op: OpDesc) -> None:
        name = op.outputs[0].arguments[0]
        tensor = self.types[name].tensor
        assert tensor is not None
        attrs = [("name", "str", name), ("shape", "intarray", list(tensor.dims)), ("dtype", "dtype", self.dtype_of(name)), ("place", "place", _ANY)]
        [self.ids[name]] = self.add("1.data", [], attrs, [self.type_of(name)])

    def full(self, value: float | bool, dtype: str, shape: Sequence[int] = (1,), place: Sequence[Any] = _CPU) -> int:
        attrs = [("shape", "intarray", list(shape)), ("value", "f64", float(value)), ("dtype", "dtype", dtype), ("place", "place", place)]
        return self.add("1.full", [], attrs, [_tensor(dtype, shape)])[0]

    def ints(self, values: Sequence[int]) -> int:
        attrs = [("value", "array.i64", [int(v) for v in values]), ("dtype", "dtype", "int64"), ("place", "place", _CPU)]
        return self.add("1.full_int_array", [], attrs, [_tensor("int64", [len(values)])])[0]

    def combined(self, names: Sequence[str]) -> int:
        types = [self.type_of(name) for name in names]
        return self.add("0.combine", [self.ids[name] for name in names], [], [{"#": "0.t_vec", "D": types}])[0]

    # Operators.

    def operator(self, op: OpDesc) -> None:
        rule = _RULES.get(op.type or "")
        if rule is not None:
            rule(self, op)
            return
        row = rows().get(op.type or "")
        if row is None:
            raise UnimplementedError(
                f"paddle files: '{op.type}' cannot be written for Paddle 3. Expected an operator whose operation "
                f"is known (operators3.tsv). Save for Paddle 2: without FLAGS_enable_pir_api, or as .pdmodel."
            )
        inputs = [self.input(op, each) for each in row.inputs]
        attrs = [(name, kind, self.attribute(op, source, absent)) for name, kind, source, absent in row.attrs]
        self.results(op, f"1.{row.name}", inputs, attrs, row.outputs)

    def input(self, op: OpDesc, each: str) -> int:
        """The number of the value for an input of a row."""
        if each == "-":
            return 0
        if each.startswith("["):
            return self.combined([name for name in op.input(each[1:-1]) if name != EMPTY])
        attr, as_tensor, kind = each.partition(":")
        if not as_tensor:
            names = [name for name in op.input(each) if name != EMPTY]
            return self.aligned(op, each, names[0]) if names else 0
        given = self.instead_of(op, attr)
        if given:
            return given
        value = op.attr(attr)
        if kind == "ints":
            if (op.type or "").startswith("reduce_") and op.attr("reduce_all", False):
                value = []
            return self.ints([value] if isinstance(value, int) else value)
        return self.full(value, kind)

    def aligned(self, op: OpDesc, slot: str, name: str) -> int:
        """An operand with the axes that Paddle 3 wants: the second one of arithmetic has no `axis`, what is expanded has all axes."""
        rank = len(self.dims_of(name))
        before = after = 0
        if slot == "Y" and (op.type or "").startswith("elementwise_") and op.attr("axis", -1) >= 0:
            after = len(self.dims_of(op.input("X")[0])) - op.attr("axis") - rank
        elif op.type == "expand_v2" and slot == "X":
            before = len(op.attr("shape")) - rank
        if before <= 0 and after <= 0:
            return self.ids[name]
        axes = list(range(before)) if before > 0 else list(range(rank, rank + after))
        dims = [*[1] * before, *self.dims_of(name), *[1] * after]
        return self.add("1.unsqueeze", [self.ids[name], self.ints(axes)], [], [_tensor(self.dtype_of(name), dims)])[0]

    def instead_of(self, op: OpDesc, attr: str) -> int:
        """The tensor that an operator is given in place of an attribute; 0: none."""
        short = plain(attr)
        wanted = [*(f"{stem}{end}" for stem in (short, short.removesuffix("s")) for end in ("tensorlist", "tensor")), short]
        for slot in op.inputs:
            if slot.arguments and (plain(slot.name or "") in wanted or plain(slot.name or "").endswith(f"{short}stensor")):
                return self.joined(slot.arguments)
        return 0

    def joined(self, names: Sequence[str]) -> int:
        """Numbers of one element each as one tensor."""
        if len(names) == 1:
            return self.ids[names[0]]
        dtype = self.dtype_of(names[0])
        axis = self.full(0, "int32")
        return self.add("1.concat", [self.combined(names), axis], [], [_tensor(dtype, [len(names)])])[0]

    def attribute(self, op: OpDesc, source: str, absent: str | None) -> Any:
        if source[:1] in "[\"-0123456789" or source in ("true", "false"):
            return json.loads(source)
        found = op.attr(source, _MISSING)
        if (op.type or "").startswith("reduce_") and source == "dim" and op.attr("reduce_all", False):
            return []
        if found is _MISSING and absent is None:
            raise UnimplementedError(f"paddle files: '{op.type}' cannot be written for Paddle 3. Its attribute '{source}' is not given. Set it.")
        return json.loads(absent or "null") if found is _MISSING else found

    def results(self, op: OpDesc, name: str, inputs: Sequence[int], attrs: Sequence[tuple[str, str, Any]], slots: Sequence[str]) -> None:
        """Add an operation whose values become the variables of the outputs; a list is taken apart."""
        types: list[dict[str, Any]] = []
        names: list[list[str]] = []
        for slot in slots:
            several = slot.startswith("[")
            found = [each for each in op.output(slot.strip("[]")) if each != EMPTY]
            names.append(found)
            parts = [self.type_of(each) for each in found]
            types.append({"#": "0.t_vec", "D": parts} if several else parts[0] if parts else {"#": "NULL"})
        made = self.add(name, inputs, attrs, types)
        for value, type_, found in zip(made, types, names):
            if type_["#"] == "0.t_vec":
                for each, part in zip(found, self.add("0.split", [value], [], type_["D"])):
                    self.bind(each, part)
            elif found:
                self.bind(found[0], value)

    # Blocks.

    def region(self, index: int) -> dict[str, Any]:
        """The region of a block."""
        outer, before, number = self.ops, self.index, self._regions
        self.ops, self.index = [], index
        self._regions += 1
        described: BlockDesc = self.blocks[index]
        args: list[dict[str, Any]] = []
        for op in described.ops:
            if op.type == "arguments":
                for name in op.outputs[0].arguments:
                    self._arguments -= 1
                    self.ids[name] = self._arguments
                    args.append({"#": self._arguments, "TT": self.type_of(name)})
            elif op.type == "cf.yield":
                self.ops.append({"#": "2.yield", "A": [], "I": [{"%": self.ids[name]} for name in op.input("X")], "O": [], "OA": []})
            else:
                self.operator(op)
        found = {"#": f"region_{number}", "blocks": [{"#": f"block_{number}", "args": args, "ops": self.ops}]}
        self.ops, self.index = outer, before
        return found

    def control(self, op: OpDesc) -> None:
        for name, owner in self.owners.items():  # a list that only loops and choices write is made in front of them
            if owner == self.index and name not in self.ids and self.is_array(name):
                self.new_list(name)
        regions = [self.region(index) for index in op.attr("blocks")]
        values = [self.ids[name] for slot in op.inputs for name in slot.arguments]
        names = op.output("Out")
        name = f"1.{(op.type or '').partition('.')[2]}"
        for each, value in zip(names, self.add(name, values, [], [self.type_of(each) for each in names], regions=regions)):
            self.bind(each, value)

    # Operators that become an operation of another form.

    def quantized(self, op: OpDesc) -> None:
        high = 2 ** (op.attr("bit_length") - 1) - 1
        given = {name: ("i32", op.attr(name)) for name in ("quant_axis", "bit_length", "round_type")}
        given |= {"qmin": ("i32", -high - 1), "qmax": ("i32", high)} | {name: ("bool", op.attr(name)) for name in ("is_test", "only_observer")}
        attrs = [(name, *value) for name, value in given.items()]
        inputs = [self.ids[op.input(slot)[0]] for slot in ("X", "Scale", "ZeroPoint")]
        self.results(op, f"1.{op.type}", [*inputs, 0, 0], attrs, ("Y", "OutState", "OutAccum", "OutScale"))

    def fill(self, op: OpDesc) -> None:
        name = op.output("Out")[0]
        dtype = self.dtype_of(name)
        text = op.attr("str_value", "")
        number: Any = float(text or op.attr("value", 0.0))
        if dtype.startswith(("int", "uint")):
            number = int(text) if text.lstrip("-").isdigit() else int(number)
        shape = self.instead_of(op, "shape")
        if op.input("ValueTensor") or shape:
            value = self.ids[op.input("ValueTensor")[0]] if op.input("ValueTensor") else self.full(number, dtype)
            shape = shape or self.ints(op.attr("shape", []))
            self.results(op, "1.full_with_tensor", [value, shape], [("dtype", "dtype", dtype)], ("Out",))
        elif isinstance(number, int) and abs(number) > _MOST_EXACT:
            self.list_of(op, dtype, [number], op.attr("shape", []))
        else:
            self.bind(name, self.full(number, dtype, op.attr("shape", []), _ANY))

    def values(self, op: OpDesc) -> None:
        slots = ("fp32_values", "fp64_values", "int32_values", "int64_values", "bool_values", "values")
        self.list_of(op, self.dtype_of(op.output("Out")[0]), next((found for slot in slots if (found := op.attr(slot, []))), []), op.attr("shape"))

    def list_of(self, op: OpDesc, dtype: str, values: Sequence[Any], shape: Sequence[int]) -> None:
        if len(values) < math.prod(shape):
            values = list(values) * math.prod(shape)
        kind = "i64" if dtype.startswith(("int", "uint")) else "bool" if dtype == "bool" else "f64" if dtype == "float64" else "f32"
        typed = [bool(v) if kind == "bool" else int(v) if kind == "i64" else float(v) for v in values]
        attrs = [("shape", "array.i32", list(shape)), ("dtype", "dtype", dtype), ("values", f"array.{kind}", typed), ("place", "place", _ANY)]
        self.results(op, "1.assign_value", [], attrs, ("Out",))

    def recurrent(self, op: OpDesc) -> None:
        attrs = [(name, kind, op.attr(name)) for name, kind in (
            ("dropout_prob", "f32"), ("is_bidirec", "bool"), ("input_size", "i32"), ("hidden_size", "i32"), ("num_layers", "i32"), ("mode", "str"),
            ("seed", "i32"), ("is_test", "bool"))]  # fmt: skip
        length = op.input("SequenceLength")
        inputs = [self.ids[op.input("Input")[0]], self.combined(op.input("PreState")), self.combined(op.input("WeightList"))]
        inputs += [self.ids[length[0]] if length else 0, self.full(0, "uint8")]
        self.results(op, "1.rnn", inputs, attrs, ("Out", "DropoutState", "[State]", "Reserve"))

    def triangle(self, op: OpDesc) -> None:
        name = "1.tril" if op.attr("lower", True) else "1.triu"
        self.results(op, name, [self.ids[op.input("X")[0]]], [("diagonal", "i32", op.attr("diagonal", 0))], ("Out",))

    def sizes(self, op: OpDesc) -> None:
        name = op.output("Out")[0]
        [sizes] = self.add("1.shape64", [self.ids[op.input("Input")[0]]], [], [_tensor("int64", self.dims_of(name))])
        self.results(op, "1.cast", [sizes], [("dtype", "dtype", self.dtype_of(name))], ("Out",))

    def arange(self, op: OpDesc) -> None:
        inputs = [self.ids[op.input(slot)[0]] for slot in ("Start", "End", "Step")]
        self.results(op, "1.arange", inputs, [("dtype", "dtype", self.dtype_of(op.output("Out")[0])), ("place", "place", _ANY)], ("Out",))

    def list_operation(self, op: OpDesc) -> None:
        name, (_, slots, outs) = next((name, found) for name, found in LISTS.items() if found[0] == op.type)
        if op.type == "write_to_array":
            array = op.output("Out")[0]
            if array not in self.ids:
                self.new_list(array)
            inputs = [self.ids[array], *(self.ids[op.input(slot)[0]] for slot in slots[1:])]
            self.add(f"1.{name}", inputs, [], [self.type_of(array)])
            return
        attrs = [("axis", "i32", op.attr("axis")), ("use_stack", "bool", op.attr("use_stack"))] if name == "array_to_tensor" else []
        self.results(op, f"1.{name}", [self.ids[op.input(slot)[0]] for slot in slots], attrs, outs)

    def new_list(self, name: str) -> None:
        type_ = self.type_of(name)
        [self.ids[name]] = self.add("1.create_array", [], [("dtype", "dtype", DTYPES[type_["D"][0]["#"][2:]])], [type_])

    def copy(self, op: OpDesc) -> None:
        source, target = op.input("X")[0], op.output("Out")[0]
        if self.is_array(target):
            raise UnimplementedError(
                f"paddle files: a list that is written in two ways cannot be written for Paddle 3. Got '{target}', a copy of '{source}', expected "
                f"one list. Make a second list, or save for Paddle 2."
            )
        self.results(op, "1.assign", [self.ids[source]], [], ("Out",))


_RULES: dict[str, Callable[[_Printer, OpDesc], None]] = {
    "pd_op.if": _Printer.control, "pd_op.while": _Printer.control, "fill_constant": _Printer.fill, "assign_value": _Printer.values,
    "quantize_linear": _Printer.quantized, "dequantize_linear": _Printer.quantized,
    "rnn": _Printer.recurrent, "tril_triu": _Printer.triangle, "shape": _Printer.sizes, "range": _Printer.arange, "assign": _Printer.copy,
    **{found[0]: _Printer.list_operation for found in LISTS.values()},
}
_MISSING = object()


def _element(dtype: str) -> str:
    return f"0.{_TYPES[dtype]}"


def _tensor(dtype: str, dims: Sequence[int]) -> dict[str, Any]:
    return {"#": "0.t_dtensor", "D": [{"#": _element(dtype)}, list(dims), "NCHW", [], 0]}


def _floats(type_: dict[str, Any]) -> bool:
    if type_["#"] == "0.t_vec":
        return any(_floats(each) for each in type_["D"])
    return type_["#"] != "NULL" and type_["D"][0]["#"].startswith(("0.t_f", "0.t_bf", "0.t_c"))


def _named(name: str, kind: str, value: Any) -> dict[str, Any]:
    return {"AT": _encoded(kind, value), "N": name}


def _encoded(kind: str, value: Any) -> dict[str, Any]:
    """An attribute of the file."""
    if kind.startswith("array."):
        return {"#": "0.a_array", "D": [_encoded(kind[6:], each) for each in value]}
    if kind == "dtype":
        return {"#": "1.a_dtype", "D": value if isinstance(value, str) else "Undefined(ALL_DTYPE)" if value is None or value < 0 else _dtype(value)}
    if kind in ("intarray", "place"):
        return {"#": f"1.a_{kind}", "D": list(value)}
    if kind in ("f32", "f64"):
        value = float(value)
        if not math.isfinite(value):
            return {"#": f"0.a_{kind}", "VD": "NAN" if value != value else "INF" if value > 0 else "-INF"}
        return {"#": f"0.a_{kind}", "D": value}
    if kind == "str":
        return {"#": "0.a_str", "D": value.decode() if isinstance(value, bytes) else value}
    return {"#": f"0.a_{kind}", "D": bool(value) if kind == "bool" else int(value)}


def _dtype(code: int) -> str:
    return dtype_name(code, "an attribute")

