"""A program written as Paddle's.

Nodes are written one by one, by the rules of the column `paddle` or through their decompositions. Sizes that are known only when
the program runs become operators that compute them. Paddle's variables have names and may be written again, so nodes that
write in place, loops and choices write to the variables that they have.
"""
from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from wherry_paddle_files.column import WRITES_NODES, paddle
from wherry_paddle_files.desc import (
    Attr,
    AttrType,
    BlockDesc,
    LodTensorDesc,
    OpDesc,
    OpVersion,
    OpVersionMap,
    OpVersionPair,
    ProgramDesc,
    Slot,
    TensorDesc,
    VarDesc,
    VarKind,
    VarType,
    Version,
    dtype_code,
    tensor_var,
)
from wherry_paddle_files.sequences import known_offsets
from wherry_program.program.capture import capture
from wherry_program.program.ir import Block, Node, Program, Variable
from wherry_program.program.loop_forms import LOOP_FORMS
from wherry_tensor._core import DType, Tensor
from wherry_tensor.errors import UnimplementedError
from wherry_tensor.ops.declare import decompose
from wherry_tensor.sizes import Size

__all__ = ["Typed", "Value", "Writer", "attr_of", "code_of", "floats", "long", "longs"]

_PADDLE_VERSION = 2006002  # of the format that is written
_INLINE = 4096  # elements; larger constants are written with the parameters

# Versions of operators whose meaning has changed: what Paddle 2.6.2 writes of those that are written here.
_OP_VERSIONS = {
    "arg_max": 1, "arg_min": 1, "clip": 1, "elementwise_add": 1, "elementwise_div": 1, "elementwise_max": 1, "elementwise_min": 1,
    "elementwise_mod": 1, "elementwise_mul": 1, "elementwise_pow": 1, "elementwise_sub": 1, "elementwise_floordiv": 1,
    "fill_constant": 2, "flip": 2, "gather": 1, "gelu": 1, "leaky_relu": 1, "not_equal": 1, "equal": 1, "less_than": 1,
    "less_equal": 1, "greater_than": 1, "greater_equal": 1, "p_norm": 1, "pow": 1, "prelu": 1, "roll": 2, "sequence_pad": 0,
    "softmax_with_cross_entropy": 1, "hard_swish": 1, "hard_shrink": 1,
}  # fmt: skip

# Paddle's predictor (oneDNN) makes one operator of these two, and refuses that of float64: something has to stand between.
_ARITHMETIC = frozenset({"conv2d", "elementwise_add", "elementwise_mul", "elementwise_sub", "matmul", "matmul_v2", "mul", "softplus"})
# Of these an axis may count from the end. That of a loose rank has to, where it is the last one: so does the call in Python.
_FROM_THE_END = frozenset({
    "arg_max", "arg_min", "argsort", "concat", "cumsum", "log_softmax", "reduce_all", "reduce_any", "reduce_max", "reduce_mean", "reduce_min",
    "reduce_prod", "reduce_sum", "softmax", "top_k_v2",
})
_ACTIVATIONS = frozenset({
    "abs", "clip", "gelu", "hard_sigmoid", "hard_swish", "leaky_relu", "mish", "relu", "relu6", "sigmoid", "sqrt", "swish", "tanh",
})


class Value:
    """A variable of the file that is being written.

    Attributes:
        name: of the variable; results of operators may be renamed until the file is complete.
        dtype: the name of a dtype.
        shape: sizes, -1 for an unknown one.
        owned: does a variable of the program have it already?
        namer: the variable that has given it its name.
        array: is it a list of tensors?
        made_by: the type of the operator that computes it.
        loose: may it have fewer axes when the program runs, after a `squeeze` of whatever is 1?
    """

    __slots__ = ("array", "dtype", "loose", "made_by", "name", "namer", "owned", "shape")

    def __init__(self, name: str, dtype: str, shape: Sequence[int], *, owned: bool = False, array: bool = False) -> None:
        self.name, self.dtype, self.shape, self.owned, self.array = name, dtype, tuple(shape), owned, array
        self.namer: Variable | None = None
        self.made_by, self.loose = "", False

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self.shape)

    def __repr__(self) -> str:
        return f"Value({self.name}, {self.dtype}, {list(self.shape)})"


class Typed:
    """An attribute whose type cannot be told from the value."""

    __slots__ = ("type", "value")

    def __init__(self, kind: AttrType, value: Any) -> None:
        self.type, self.value = kind, value


def long(value: int) -> Typed:
    """A 64-bit integer."""
    return Typed(AttrType.LONG, int(value))


def longs(values: Iterable[int]) -> Typed:
    """64-bit integers."""
    return Typed(AttrType.LONGS, [int(v) for v in values])


def floats(values: Iterable[float]) -> Typed:
    """Numbers."""
    return Typed(AttrType.FLOATS, [float(v) for v in values])


def code_of(dtype: DType | str) -> int:
    """The code of a dtype in the format."""
    return dtype_code(dtype if isinstance(dtype, str) else dtype.name)


class Writer:
    """Writes the nodes of one program; rules call it to add an operator.

    Attributes:
        outs: the variables that the results of the op which is written now will be.
        params: constants that are written with the parameters.
        for_prediction: is dropout to drop nothing until somebody trains the program?
        takes_int8: does Paddle's dequantize_linear take whole numbers of 8 bits as they are?
    """

    takes_int8 = True

    def __init__(self, program: Program, for_prediction: bool = False) -> None:
        self.program, self.for_prediction = program, for_prediction
        self.desc = ProgramDesc([BlockDesc(0, -1)], Version(_PADDLE_VERSION))
        self.params: dict[str, Tensor] = {}
        self.outs: Sequence[Variable] = ()
        self.in_place = False  # does the node that is written now write over its outputs?
        self.index = 0  # of the block that is written now
        self._declared: list[list[Value | VarDesc]] = [[]]  # by block
        self._given: list[tuple[Slot, list[Value]]] = []  # slots whose names are entered at the end
        self._values: dict[int, Value] = {}  # id of a variable -> what it is in the file
        self._kept: list[Any] = []  # keeps objects alive whose ids are used as keys
        self._taken = {x.name for block in program.blocks for x in block.vars.values()} | {"feed", "fetch"}
        self._known = {id(x) for block in program.blocks for x in block.vars.values()}
        self._named: set[str] = set()
        self._counts: dict[str, int] = {}
        self._pure: set[int] = set()  # ids of operators that do nothing but compute their results
        self._dead: set[int] = set()  # ids of nodes that nothing needs
        self._uses: Counter[int] = Counter()  # id of a variable -> how many need it
        self._numbers: dict[int, tuple[Value, Any]] = {}  # id of a value that is one number -> itself, the number
        self._filled: dict[int, tuple[Value, Any]] = {}  # the same of a tensor all of whose elements are one number
        self._of_sequences: dict[tuple[int, ...], Value] = {}  # ids of the offsets of what is fed -> its rows, which have them
        self.controls = WRITES_NODES  # how control nodes are written
        self._prologue = 0  # where in the first block the next constant goes

    # The interface for rules.

    def __call__(
        self, type_name: str, inputs: dict[str, Any], attrs: dict[str, Any] | None = None, out: str | Sequence[str] = "Out", *,
        dtype: Any = None, shape: Sequence[int] | None = None, into: dict[str, Value] | None = None,
    ) -> Any:
        """Add an operator.

        Args:
            type_name: its type.
            inputs: slots with a Value, a list of them, or None.
            attrs: by name; the type of an attribute is that of the value, or said by Typed.
            out: the slot of the result, or several slots; of one with "~" nothing is returned, "Out*3" has three results, which
                are returned as a list.
            dtype: of the results; None takes that of the first input. A list has one for each slot.
            shape: of the results, where that is known; None takes that of the first input.
            into: slots that write to values which exist.

        Returns:
            A Value, or a tuple of them.
        """
        if type_name in _ACTIVATIONS and inputs["X"].dtype == "float64" and inputs["X"].made_by in _ARITHMETIC:
            inputs = {**inputs, "X": self("assign", {"X": inputs["X"]})}
        op = OpDesc(type_name)
        first: Value | None = None
        loose = False
        for name, value in inputs.items():
            values = [] if value is None else list(value) if isinstance(value, (list, tuple)) else [value]
            first = first or (values[0] if values else None)
            loose = loose or any(one.loose for one in values)
            op.inputs.append(self._slot(name, values))
        results: list[Any] = []
        for i, label in enumerate([out] if isinstance(out, str) else out):
            name, _, many = label.lstrip("~").partition("*")
            kind = dtype[i] if isinstance(dtype, list) else dtype
            kind = (first.dtype if first else "float32") if kind is None else kind if isinstance(kind, str) else kind.name
            sizes = shape if shape is not None else first.shape if first else ()
            if into and name in into:
                made = [into[name]]
            else:
                made = [self.declare(Value(self.fresh(f"{type_name}.{name.lower()}"), kind, sizes)) for _ in range(int(many or 1))]
            for value in made:
                value.made_by, value.loose = type_name, loose
            op.outputs.append(self._slot(name, made))
            if not label.startswith("~"):
                results.append(made if many else made[0])
        if loose and first is not None and type_name in _FROM_THE_END:
            attrs = {name: _from_the_end(value, first.ndim - 1) if name in ("axis", "dim") else value for name, value in (attrs or {}).items()}
        op.attrs = [attr_of(name, value) for name, value in (attrs or {}).items()]
        self.desc.blocks[self.index].ops.append(op)
        if not into and results and type_name != "print":
            self._pure.add(id(op))
        return results[0] if len(results) == 1 else tuple(results)

    def constant(self, value: Any, dtype: DType | str, shape: Sequence[Any] = ()) -> Value:
        """A tensor filled with a number."""
        name = dtype if isinstance(dtype, str) else dtype.name
        more, plain = self.shape_inputs("ShapeTensorList", shape)
        attrs = {
            "dtype": code_of(name), "shape": longs(plain), "value": _as_float(value), "str_value": _as_text(value), "force_cpu": False,
            "place_type": -1,
        }
        found = self("fill_constant", more, attrs, dtype=name, shape=plain)
        self._filled[id(found)] = found, value
        return found

    def count(self, n: Any) -> Value:
        """The whole numbers below `n`, a number or a tensor of one."""
        end = n if isinstance(n, Value) else self.constant(n, "int64")
        given = {"Start": self.constant(0, "int64"), "End": end, "Step": self.constant(1, "int64")}
        return self("range", given, dtype="int64", shape=(-1 if isinstance(n, Value) else n,))

    def cast(self, x: Value, dtype: DType | str) -> Value:
        """`x` in another dtype; itself if it has that."""
        name = dtype if isinstance(dtype, str) else dtype.name
        if x.dtype == name:
            return x
        attrs = {"in_dtype": code_of(x.dtype), "out_dtype": code_of(name), "use_mkldnn": False}
        return self("cast", {"X": x}, attrs, dtype=name)

    def reshape(self, x: Value, shape: Sequence[Any]) -> Value:
        """`x` in another shape."""
        # Size has no bool: whether all sizes are known comes before the comparison.
        if not any(type(n) is Size or n < 0 for n in shape) and tuple(shape) == x.shape:
            return x
        more, plain = self.shape_inputs("ShapeTensor", shape) if sum(type(n) is Size or n == -1 for n in shape) > 1 else ({}, _plain(shape))
        return self("reshape2", {"X": x, **more}, {"shape": plain}, ("Out", "~XShape"), shape=plain)

    def held(self, x: Value) -> Value:
        """`x` in memory, where a batch has no rows, too: of those these two operators of Paddle keep none, and some refuse what they give."""
        if x.made_by not in ("gather", "reshape2") or -1 not in x.shape:
            return x
        return self("transpose2", {"X": x}, {"axis": list(range(x.ndim))}, ("Out", "~XShape"))

    def number(self, x: Value) -> Any:
        """The number that a constant is; None for anything else."""
        return self._numbers[id(x)][1] if id(x) in self._numbers else None

    def filled(self, x: Value) -> Any:
        """The number that all elements of a tensor are, if that is known; else None."""
        return self._filled[id(x)][1] if id(x) in self._filled else None

    def ranked(self, x: Value, other: Value) -> Value:
        """`x` with an axis, if it has none and `other` does: oneDNN in Paddle refuses tensors without."""
        if x.ndim or not other.ndim:
            return x
        number = self.number(x)
        return self.reshape(x, (1,)) if number is None else self.constant(number, x.dtype, (1,))

    def broadcast(self, *values: Value) -> list[Value]:
        """Values of one shape, for operators that ask for it."""
        shape = self.outs[0].sizes
        most = max(values, key=lambda x: x.ndim)
        values = tuple(self.ranked(x, most) for x in values)
        if all(x.shape == shape and -1 not in shape for x in values):
            return list(values)
        # The operator takes one dtype, which is any: shapes are found with numbers, values keep theirs.
        if -1 not in shape:
            return [x if x.shape == shape else self("expand_v2", {"X": x}, {"shape": list(shape)}, shape=shape) for x in values]
        like = None
        for x in values:
            zero = self("fill_any_like", {"X": x}, {"value": 0.0, "dtype": code_of("int32")}, dtype="int32")
            like = zero if like is None else self("elementwise_add", {"X": like, "Y": zero}, {"axis": -1}, shape=shape)
        to = self("shape", {"Input": like}, dtype="int32", shape=(len(shape),))
        return [self("expand_v2", {"X": x, "Shape": to}, {"shape": list(shape)}, shape=shape) for x in values]

    def size(self, n: Any, dtype: str = "int32") -> Value:
        """A number, or a size, as a tensor of shape [1]."""
        if type(n) is not Size:
            return self.constant(int(n), dtype, (1,))
        if n.source[0] == "axis":
            x, axis = self.axis_of(*n.source[1:])
            of = self.value(x)
            shape = self("shape", {"Input": of}, dtype="int32", shape=(of.ndim,))
            axis %= of.ndim
            attrs = {"axes": [0], "starts": [axis], "ends": [axis + 1], "infer_flags": [1], "decrease_axis": []}
            return self.cast(self("slice", {"Input": shape}, attrs, shape=(1,)), dtype)
        if n.source[0] == "value":
            return self.reshape(self.cast(self.value(n.source[1]), dtype), (1,))
        name, a, b = n.source
        return self(_SIZE_OPS[name], {"X": self.size(a, dtype), "Y": self.size(b, dtype)}, {"axis": -1})

    def axis_of(self, x: Tensor, axis: int) -> tuple[Tensor, int]:
        """The tensor and the axis whose size is read in place of that of `x`."""
        return x, axis

    def used(self, i: int) -> bool:
        """Whether anything reads output `i` of the op that is being written."""
        return self._uses[id(self.outs[i])] > 0

    def used_once(self, x: Variable) -> bool:
        """Whether only the op that is being written reads a variable."""
        return self._uses[id(x)] <= 1

    def shape_inputs(self, slot: str, shape: Sequence[Any]) -> tuple[dict[str, Any], list[int]]:
        """Input and attribute for a shape some of whose sizes may be known only when the program runs."""
        if not any(type(n) is Size for n in shape):
            return {}, _plain(shape)
        return {slot: [self.size(n) for n in shape]}, _plain(shape)

    def value(self, x: Tensor) -> Value:
        """The value of a variable in the file; constants are written at their first use."""
        found = self._values.get(id(x))
        if found is not None:
            return found
        if not isinstance(x, Variable):
            return self.value(self.program.bind(x))
        if x.bound is not None:
            return self._constant_of(x)
        raise UnimplementedError(
            f"paddle files: the variable '{x.name}' of shape {x.shape} is not made before it is used. Got a variable that is neither fed "
            f"nor computed, expected one of feeds, parameters and what nodes make. Name it among the feeds."
        )

    # Names and variables.

    def fresh(self, base: str) -> str:
        """A name that nothing has."""
        while True:
            count = self._counts.get(base, 0)
            self._counts[base] = count + 1
            name = f"{base}_{count}"
            if name not in self._taken:
                self._taken.add(name)
                return name

    def declare(self, value: Value | VarDesc) -> Any:
        """Declare a variable in the block that is written now."""
        self._declared[self.index].append(value)
        return value

    def bind(self, x: Variable, value: Value) -> None:
        """Let `value` be what the variable `x` is in the file; it takes the name, if it has none yet that somebody knows."""
        if not value.owned:
            # What is in between when an op is written takes no name that the program has for something else.
            free = x.name not in self._named and (id(x) in self._known or x.name not in self._taken)
            value.name = x.name if free else self.fresh(x.name)
            self._named.add(value.name)
            value.owned, value.namer = True, x
            value.shape, value.dtype = x.sizes, x.dtype.name
        self._values[id(x)] = value
        self._kept.append(x)

    def assign_into(self, target: Value, value: Value) -> None:
        """Assign a value to a variable that exists."""
        if value is not target:
            self("assign", {"X": value}, {}, into={"Out": target})

    def stand_for(self, x: Variable, value: Value) -> None:
        """Let an input of a block be a variable that exists."""
        self._values[id(x)] = value
        self._kept.append(x)

    # Blocks in blocks.

    @contextmanager
    def inner(self) -> Iterator[int]:
        """Write into a new block inside of the present one; gives its index."""
        before, index = self.index, len(self.desc.blocks)
        self.desc.blocks.append(BlockDesc(index, before, forward=-1))
        self._declared.append([])
        self.index = index
        try:
            yield index
        finally:
            self.index = before

    def step_scopes(self) -> Value:
        """The variable in which an operator that runs a block keeps what it needs."""
        name = self.fresh("step_scopes")
        self.declare(VarDesc(name, VarType(int(VarKind.STEP_SCOPES))))
        return Value(name, "float32", ())

    def run_block(
        self, kind: str, index: int, inputs: dict[str, list[Value]], outputs: dict[str, list[Value]], attrs: dict[str, Any]
    ) -> None:
        """Add an operator that runs a block."""
        op = OpDesc(kind)
        op.inputs = [self._slot(name, values) for name, values in inputs.items()]
        op.outputs = [self._slot(name, values) for name, values in outputs.items()]
        op.attrs = [attr_of("sub_block", Typed(AttrType.BLOCK, index)), *(attr_of(name, value) for name, value in attrs.items())]
        self.desc.blocks[self.index].ops.append(op)

    def read_by(self, index: int, known: Sequence[Value] = ()) -> list[Value]:
        """What a block reads from around it, `known` left out."""
        return self._outside(index, known, inputs=True)

    def written_by(self, index: int, known: Sequence[Value] = ()) -> list[Value]:
        """What a block writes around it, `known` left out."""
        return self._outside(index, known, inputs=False)

    def _outside(self, index: int, known: Sequence[Value], inputs: bool) -> list[Value]:
        own = {id(value) for value in self._declared[index]}
        skipped = {id(value) for value in known}
        slots = {id(slot): values for slot, values in self._given}
        found: dict[int, Value] = {}
        for op in self.desc.blocks[index].ops:
            for slot in op.inputs if inputs else op.outputs:
                for value in slots.get(id(slot), ()):
                    if id(value) not in own and id(value) not in skipped and not value.name.startswith("step_scopes"):
                        found.setdefault(id(value), value)
        return list(found.values())

    def _slot(self, name: str, values: list[Value]) -> Slot:
        slot = Slot(name)
        self._given.append((slot, values))
        return slot

    def _constant_of(self, x: Variable) -> Value:
        """A constant tensor, written at the beginning of the program."""
        tensor = x.bound
        assert tensor is not None
        index, self.index = self.index, 0
        ops = self.desc.blocks[0].ops
        before = len(ops)
        if tensor.size == 1 and x.dtype.name not in ("complex64", "complex128"):
            value = self.constant(tensor.item(), x.dtype, tensor.shape)
            self._numbers[id(value)] = value, tensor.item()
        elif 1 < tensor.size <= _INLINE and x.dtype.name in _VALUE_ATTRS:
            name, kind = _VALUE_ATTRS[x.dtype.name]
            flat = tensor.detach().numpy().ravel().tolist()
            attrs = {"shape": [int(n) for n in tensor.shape], "dtype": code_of(x.dtype), name: Typed(kind, [int(v) for v in flat] if kind in (
                AttrType.INTS, AttrType.LONGS) else flat)}  # fmt: skip
            value = self("assign_value", {}, attrs, dtype=x.dtype, shape=tensor.shape)
        else:
            name = x.name if x.name not in self._named else self.fresh(x.name)
            self._named.add(name)
            self.declare(tensor_var(name, x.dtype.name, list(tensor.shape), persistable=True, stop_gradient=True))
            self.params[name] = tensor
            value = Value(name, x.dtype.name, x.sizes, owned=True)
        made = ops[before:]
        del ops[before:]
        ops[self._prologue : self._prologue] = made
        self._prologue += len(made)
        self.index = index
        self._values[id(x)] = value
        self._kept.append(x)
        return value

    # Nodes.

    def nodes(self, block: Block) -> None:
        """Write the nodes of a block."""
        for node in block.nodes:
            if id(node) not in self._dead:
                self.node(node)

    def node(self, node: Node) -> None:
        """Write one node."""
        if node.is_control:
            control = self.controls.get(node.type)
            if control is None:
                raise UnimplementedError(
                    f"paddle files: '{node.type}' cannot be written. Got {node!r}, expected choices, loops, lists and prints. "
                    f"{'A call of Python stays in this process: leave it out of what is saved.' if node.type == 'py_func' else 'Leave it out.'}"
                )
            control(self, node)
            return
        results = self._apply(node)
        for x, result in zip(node.outputs, results, strict=True):
            if node.in_place:
                self.assign_into(self.value(x), result)
            elif result is not None:
                self.bind(x, result)

    def _apply(self, node: Node) -> tuple[Any, ...]:
        op = node.op
        rule = paddle.get(op)
        if rule is not None:
            self.outs, self.in_place = node.outputs, node.in_place
            values = [None if x is None else self.value(x) for x in node.inputs]
            results = rule(self, *values, **node.named_attrs())
            if results is not NotImplemented:
                return tuple(results) if isinstance(results, (tuple, list)) else (results,)
        rule = decompose.get(op) or LOOP_FORMS.get(op)
        if rule is None:
            why = paddle.exemptions.get(op, "Paddle has no operator for this call, or no rule says which")
            raise UnimplementedError(
                f"paddle files: the op '{op.name}' cannot be written: {why}. Got {node!r}, expected an op with a rule in the column 'paddle' "
                f"or a decomposition. Add a rule to wherry_paddle_files/ops, in the file of its family."
            )
        blocks = self.program.blocks
        count = len(blocks)
        scratch = self.program.new_block(node.block)
        with capture(scratch):
            found = rule(*node.inputs, **node.named_attrs())
        self._kept.append(scratch)
        del blocks[count:]
        results = found if isinstance(found, tuple) else (found,)
        results = tuple(x if self._uses[id(out)] else None for x, out in zip(results, node.outputs, strict=True))
        self._look_at(scratch, results)
        self.nodes(scratch)
        written = tuple(None if x is None else self.value(x) for x in results)
        for x, value in zip(results, written):
            if value is not None and x.block is scratch and value.namer is x:
                value.owned = False  # it takes the name that the op's result has outside
        return written

    def _look_at(self, block: Block, results: Iterable[Any]) -> None:
        """Note what a block needs, and which of its nodes nothing needs: those are not written."""
        self._uses.update(id(x) for x in results if x is not None)
        for node in reversed(block.nodes):
            if not (node.is_control or node.in_place or any(self._uses[id(x)] for x in node.outputs)):
                self._dead.add(id(node))
                continue
            self._uses.update(id(x) for x in node.reads())
            for inner in node.blocks:
                for one in inner.walk():
                    self._uses.update(id(x) for x in one.reads())
                    for nested in one.blocks:
                        self._uses.update(id(x) for x in nested.outputs)
                self._uses.update(id(x) for x in inner.outputs)

    def write(self, feeds: Sequence[Variable], fetches: Sequence[Variable]) -> ProgramDesc:
        """Write the program, from feeds to fetches."""
        block = self.desc.blocks[0]
        results = [x.name if x.name.startswith(RESULT) else f"{RESULT}{i}.tmp_0" for i, x in enumerate(fetches)]
        if len(set(results)) < len(results) or any(x.name in results for x in feeds):
            results = [f"{RESULT}{i}.tmp_0" for i in range(len(fetches))]
        self._named.update(results)
        self.declare(VarDesc("feed", VarType(int(VarKind.FEED_MINIBATCH)), persistable=True))
        self.declare(VarDesc("fetch", VarType(int(VarKind.FETCH_LIST)), persistable=True))
        for i, x in enumerate(feeds):
            self._enter(x, need_check_feed=True, stop_gradient=True)
            # The last comes first, as in Paddle's own files: its `jit.load` puts each in front of those before, and does not look at `col`.
            block.ops.insert(0, OpDesc("feed", [Slot("X", ["feed"])], [Slot("Out", [x.name])], [attr_of("col", i)]))
        for x in self.program.blocks[0].vars.values():
            if id(x) not in self._values and x.made_by is None and (x.persistable or x.is_parameter):
                flags = {"is_parameter": True, "stop_gradient": bool(x.stop_gradient)} if x.is_parameter else {}
                self._enter(x, persistable=True, **flags)
        self._prologue = len(block.ops)
        self._look_at(self.program.blocks[0], [*fetches, *(one for x in fetches for one in known_offsets(x))])
        for x in feeds:
            if (offsets := known_offsets(x)) and not any(offsets[0] is y for y in feeds):
                self.sequences(x, offsets)
        self.nodes(self.program.blocks[0])
        values = [self.value(x) for x in fetches]
        for i, (x, value) in enumerate(zip(fetches, values, strict=True)):
            if value.made_by == "matmul_v2" and self._uses[id(x)] > 1:
                # Paddle's predictor makes one operator of a product and the `scale` that names it: what else reads the product misses it.
                value = self("assign", {"X": value})
            offsets = known_offsets(x)
            if offsets and not any(offsets[0] is y for y in (*feeds, *fetches)):
                value = self.with_sequences(value, offsets)
            values[i] = self.result(value, results[i])
        for i, value in enumerate(values):
            block.ops.append(OpDesc("fetch", [self._slot("X", [value])], [Slot("Out", ["fetch"])], [attr_of("col", i)]))
        self._finish()
        return self.desc

    def sequences(self, x: Variable, offsets: Sequence[Tensor]) -> None:
        """Write how the offsets of sequences that are fed come about; from here on their rows are a plain tensor."""
        if x.ndim < 2:
            raise UnimplementedError(
                f"paddle files: the rows of sequences have no width. Got '{x.name}' of shape {list(x.sizes)}, expected [rows, width]. "
                f"Declare static.data(name, [None, 1], lod_level=1)."
            )
        rows = self.value(x)
        declared = next(each for each in self._declared[0] if isinstance(each, VarDesc) and each.name == x.name)
        declared.type.lod_tensor.lod_level = len(offsets)  # type: ignore[union-attr]
        for one, lengths in zip(offsets, self.lengths_of(rows, len(offsets)), strict=True):
            ends = self("cumsum", {"X": lengths}, {"axis": 0, "flatten": False, "exclusive": False, "reverse": False})
            self._values[id(one)] = self("concat", {"X": [self.constant(0, "int64", (1,)), ends]}, {"axis": 0}, shape=(-1,))
        self._of_sequences[tuple(map(id, offsets))] = rows
        self._values[id(x)] = self("transpose2", {"X": rows}, {"axis": list(range(rows.ndim))}, ("Out", "~XShape"))  # which hands no offsets on

    def lengths_of(self, rows: Value, levels: int) -> list[Value]:
        """How long the sequences of each level are, from the outermost in."""
        if levels == 1:
            pad = {"X": rows, "PadValue": self.constant(0, rows.dtype, (1,))}
            return [self("sequence_pad", pad, {"padded_length": -1}, ("~Out", "Length"), dtype=[rows.dtype, "int64"], shape=(-1,))]
        # That tells one level alone. A sum of ones counts the innermost ones, and leaves a row of each with the offsets around.
        axes = list(range(1, rows.ndim))
        attrs = {"axes": axes, "starts": [0] * len(axes), "ends": [1] * len(axes), "infer_flags": [1] * len(axes), "decrease_axis": []}
        rows, found = self("slice", {"Input": rows}, attrs, shape=(-1, *[1] * len(axes))), []
        for _ in range(levels):
            ones = self("fill_any_like", {"X": rows}, {"value": 1.0, "dtype": code_of("float64")}, dtype="float64")
            pooling = {"pooltype": "SUM", "pad_value": 0.0, "is_test": True}
            rows = self("sequence_pool", {"X": ones}, pooling, ("Out", "~MaxIndex"), dtype=["float64", "int32"])
            found.append(self.cast(self.reshape(rows, (-1,)), "int64"))
        return found[::-1]

    def with_sequences(self, x: Value, offsets: Sequence[Tensor]) -> Value:
        """Rows with these offsets."""
        if len(offsets) == 1:
            given = {"X": self.held(x), "Y": self.cast(self.value(offsets[0]), "int32")}
        elif (rows := self._of_sequences.get(tuple(map(id, offsets)))) is not None:
            given = {"X": self.held(x), "Y": rows}  # which has them
        else:
            raise UnimplementedError(
                f"paddle files: sequences of sequences that a program makes are not written. Got a result with {len(offsets)} levels of offsets, "
                f"expected those of an input, or one level. Fetch its rows, and what the offsets follow from."
            )
        return self("lod_reset", given, {"target_lod": [], "append": False})  # type: ignore[no-any-return]

    def result(self, value: Value, name: str) -> Value:
        """A result of the program under its name."""
        # Paddle's own loader knows the results of a model, and their order, by `scale` with this name; what is fetched without comes last.
        named: Value = self("scale", {"X": self.held(value)}, {"scale": 1.0, "bias": 0.0, "bias_after_scale": True})
        named.name = name
        return named

    def _enter(self, x: Variable, **flags: bool) -> None:
        self.declare(tensor_var(x.name, x.dtype.name, list(x.sizes), **flags))
        self._named.add(x.name)
        self._values[id(x)] = Value(x.name, x.dtype.name, x.sizes, owned=True, array=x.is_array)

    def _drop_unused(self) -> None:
        """Leave out operators whose results nothing reads, as Paddle does: some of its passes take for granted that each is read."""
        values = {id(slot): found for slot, found in self._given}
        while True:
            read = {id(value) for block in self.desc.blocks for op in block.ops for slot in op.inputs for value in values.get(id(slot), ())}
            before = sum(len(block.ops) for block in self.desc.blocks)
            for block in self.desc.blocks:
                kept = []
                for op in reversed(block.ops):
                    made = [value for slot in op.outputs for value in values.get(id(slot), ())]
                    if id(op) not in self._pure or any(id(value) in read for value in made):
                        kept.append(op)
                block.ops = kept[::-1]
            if sum(len(block.ops) for block in self.desc.blocks) == before:
                break
        alive = {
            id(value) for block in self.desc.blocks for op in block.ops for slot in (*op.inputs, *op.outputs) for value in values.get(id(slot), ())
        }
        for declared in self._declared:
            declared[:] = [value for value in declared if isinstance(value, VarDesc) or id(value) in alive]

    def _finish(self) -> None:
        self._drop_unused()
        for slot, values in self._given:
            slot.arguments = [value.name for value in values]
        for block, declared in zip(self.desc.blocks, self._declared, strict=True):
            block.vars = [value if isinstance(value, VarDesc) else _described(value) for value in declared]
        used = sorted({op.type or "" for block in self.desc.blocks for op in block.ops} & set(_OP_VERSIONS))
        self.desc.op_versions = OpVersionMap([OpVersionPair(name, OpVersion(_OP_VERSIONS[name])) for name in used])



RESULT = "save_infer_model/scale_"  # how Paddle names the results of a model
_SIZE_OPS = {
    "add": "elementwise_add", "subtract": "elementwise_sub", "multiply": "elementwise_mul", "floor_divide": "elementwise_floordiv",
    "remainder": "elementwise_mod", "maximum": "elementwise_max", "minimum": "elementwise_min",
}  # fmt: skip
_VALUE_ATTRS = {
    "bool": ("bool_values", AttrType.INTS), "float32": ("fp32_values", AttrType.FLOATS), "float64": ("fp64_values", AttrType.FLOAT64S),
    "int32": ("int32_values", AttrType.INTS), "int64": ("int64_values", AttrType.LONGS),
}  # fmt: skip


def _described(value: Value) -> VarDesc:
    if not value.array:
        return tensor_var(value.name, value.dtype, list(value.shape))
    tensor = LodTensorDesc(TensorDesc(dtype_code(value.dtype), list(value.shape)), 0)
    return VarDesc(value.name, VarType(int(VarKind.LOD_TENSOR_ARRAY), tensor_array=tensor))


def _from_the_end(axes: Any, last: int) -> Any:
    """An axis, or several, of which the last one is -1."""
    if isinstance(axes, Typed):
        return Typed(axes.type, _from_the_end(axes.value, last))
    return [-1 if axis == last else axis for axis in axes] if isinstance(axes, list) else -1 if axes == last else axes


def _plain(shape: Sequence[Any]) -> list[int]:
    return [-1 if type(n) is Size else int(n) for n in shape]


def _as_float(value: Any) -> float:
    value = float(value)
    return value if math.isfinite(value) and abs(value) < 3.4e38 else 0.0


def _as_text(value: Any) -> str:
    if isinstance(value, bool):
        return "1" if value else "0"
    return str(value) if isinstance(value, int) else repr(float(value)).replace("inf", "inf")


def attr_of(name: str, value: Any) -> Attr:
    """An attribute whose type is that of the value, or said by Typed."""
    if isinstance(value, Typed):
        return Attr(name, int(value.type), value.value)
    if isinstance(value, bool):
        return Attr(name, int(AttrType.BOOLEAN), value)
    if isinstance(value, int):
        return Attr(name, int(AttrType.INT), value)
    if isinstance(value, float):
        return Attr(name, int(AttrType.FLOAT), value)
    if isinstance(value, str):
        return Attr(name, int(AttrType.STRING), value.encode())
    items = list(value)
    if items and isinstance(items[0], str):
        return Attr(name, int(AttrType.STRINGS), [item.encode() for item in items])
    if items and isinstance(items[0], float):
        return Attr(name, int(AttrType.FLOATS), items)
    return Attr(name, int(AttrType.INTS), [int(item) for item in items])
