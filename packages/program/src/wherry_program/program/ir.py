"""Programs: blocks of nodes on variables.

A `Program` is a recorded computation. Its values are `Variable`s: tensors with a shape and a dtype but
without data, so every function of the library takes them and is recorded (`capture`). A `Node` is one call of an op; a node of
control flow owns blocks (`control`). Sizes may be unknown (-1).

    program.blocks[0].nodes     in the order in which they run
    node.op, node.inputs, node.attrs, node.outputs

Rules that everything which reads or changes a program relies on:

- The outputs of a node are variables of its own, each made by one node, unless `node.in_place` says that it writes over variables
  that exist already.
- A block reads variables of the blocks around it directly. `block.inputs` are given new values by the node that owns the block,
  each time it runs; `block.outputs` are what it hands back.
- What exists before a program runs (parameters, buffers, constants, state of optimizers) is a variable that no node makes. Its data is
  `variable.bound`, or lies under its name in the scope that the program runs with.
- Attributes may hold a `Size`, made of variables, in place of a number.

What Paddle's users find on programs, blocks, operators and variables beside that is given to these classes by wherry-graph (`members`)
when it is imported; nothing in this package uses it.
"""
from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import count
from typing import TYPE_CHECKING, Any

from wherry_nn import Parameter, unique_name
from wherry_program.run._recording import new_variable, use
from wherry_tensor import _core
from wherry_tensor._core import DType, Op, Tensor, hold_sizes, rebind, sizes_of, symbolic
from wherry_tensor.arguments import require, require_tensor
from wherry_tensor.errors import InvalidTypeError
from wherry_tensor.sizes import Size

__all__ = ["Block", "ControlOp", "Node", "Program", "StaticParameter", "Variable", "attrs_with", "tensors_of_attrs"]

_made = count()  # programs, for their numbers
_stop_gradient = Tensor.__dict__["stop_gradient"]

FORWARD, BACKWARD, OPTIMIZE = "forward", "backward", "optimize"  # roles of nodes


class Variable(Tensor):
    """A variable of a program: a symbolic tensor that belongs to a block.

    Attributes:
        block: the block that it belongs to.
        made_by: the node whose output it is; None for feeds, parameters, constants and inputs of blocks.
        bound: the tensor that holds its data between runs (parameters and buffers of layers, constants); None where a feed, a node or a
            scope gives it.
        is_data: whether it is fed.
        is_array: whether it is a list of tensors that grows while the program runs (Paddle's `LoDTensorArray`).
        lod_level: of Paddle's files; 0 here.

    Raises:
        TypeError: when called: variables are made by `static.data`, by blocks and by ops (also a ValueError).

    Source:
        `paddle.static.Variable`.

    Examples:
        >>> wherry.enable_static()
        >>> with wherry.static.program_guard(wherry.static.Program()):
        ...     y = wherry.static.data("x", [None, 2]) * 2
        >>> isinstance(y, wherry.static.Variable), y.shape
        (True, [-1, 2])
        >>> wherry.disable_static()
    """

    block: Block
    made_by: Node | None
    bound: Tensor | None
    is_data: bool
    is_array: bool
    lod_level: int = 0

    if TYPE_CHECKING:  # members that `wherry_graph.members` attaches

        def __getattr__(self, name: str) -> Any: ...

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        raise InvalidTypeError(
            "Variable: a variable belongs to a block of a program. Got a call of the class, expected one of static.data, "
            "Block.create_var or any function on variables. Use one of these."
        )

    @classmethod
    def of(
        cls, block: Block, shape: Iterable[Any], dtype: DType, name: str | None = None, *, bound: Tensor | None = None,
        is_data: bool = False, is_array: bool = False, persistable: bool = False, stop_gradient: bool = True,
    ) -> Any:
        """A new variable of `block`; use the methods of Block and Program."""
        named = unique_name.generate("_generated_var") if name is None else name
        return new_variable(cls, block, tuple(shape), dtype, named, bound, is_data, is_array, persistable, stop_gradient)

    @property
    def program(self) -> Program:
        """The program that it belongs to."""
        return self.block.program

    @property
    def stop_gradient(self) -> bool:
        """Whether gradients stop at it."""
        return _stop_gradient.__get__(self)

    @stop_gradient.setter
    def stop_gradient(self, value: bool) -> None:
        _stop_gradient.__set__(self, value)
        self.__dict__["cuts_gradient"] = bool(value)

    def became(self, y: Tensor) -> None:
        """Called after an op that changes its shape or dtype in place: later uses mean the result."""
        if isinstance(y, Variable):
            self.__dict__.setdefault("before", (self.sizes, self.dtype))
            self.__dict__["now"] = y

    @property
    def current(self) -> Variable:
        """The variable that later uses of it mean: itself, unless `reshape_` or the like was applied."""
        x = self
        while "now" in x.__dict__:
            x = x.__dict__["now"]
        return x

    def resize(self, shape: Iterable[Any], dtype: DType | None = None) -> None:
        """Change what is known of its shape and dtype."""
        kept = self.stop_gradient, self.__dict__.get("cuts_gradient")
        rebind(self, symbolic(tuple(shape), self.dtype if dtype is None else dtype))
        self.stop_gradient = kept[0]
        self.__dict__["cuts_gradient"] = bool(kept[1])

    @property
    def sizes(self) -> tuple[int, ...]:
        """The shape as plain numbers, -1 where a size is unknown."""
        return sizes_of(self)  # type: ignore[no-any-return]

    @property
    def is_parameter(self) -> bool:
        """Whether it is a parameter, which training changes."""
        return isinstance(self.bound if self.bound is not None else self, Parameter)

    def __repr__(self) -> str:
        kind = "persist trainable param" if self.is_parameter and not self.stop_gradient else (
            "persist param" if self.is_parameter else "persist var" if self.persistable else "var"
        )
        what = "LOD_TENSOR_ARRAY" if self.is_array else "LOD_TENSOR"
        shape = ", ".join(str(n) for n in self.sizes)
        return f"{kind} {self.name} : {what}.shape({shape}).dtype({self.dtype.name}).stop_gradient({self.stop_gradient})"

    __str__ = __repr__

    def __deepcopy__(self, memo: dict[int, Any]) -> Variable:
        return self  # copying a layer or list that refers to a variable does not copy the variable

    def __reduce__(self) -> Any:
        raise TypeError(
            f"pickle: a Variable is a part of its program. Got {self.name}, expected a tensor with data. Save the program, or run it."
        )


class StaticParameter(Variable, Parameter):
    """A parameter of a program in static mode: its data lies in a scope, and the startup program fills it."""

    __init__ = Variable.__init__  # type: ignore[assignment]  # made by `of`
    __deepcopy__ = Variable.__deepcopy__  # type: ignore[assignment]
    __repr__ = __str__ = Variable.__repr__


class ControlOp:
    """The kind of a node that is not an op of the vocabulary: it owns blocks, handles lists, or calls Python.

    Attributes:
        name: of the kind: "cond", "while", ...
        attr_names: of the node's attributes, in order.
        effects: "io" for what the world outside sees (print, assert, a call of Python): such a node is never dropped or moved.
    """

    def __init__(self, name: str, attr_names: tuple[str, ...] = (), effects: tuple[str, ...] = ()) -> None:
        self.name = name
        self.attr_names = attr_names
        self.effects = effects
        self.random = "random" in effects

    def __repr__(self) -> str:
        return f"control {self.name}"


class Node:
    """One call of an op in a block.

    Attributes:
        op: an Op of the vocabulary, or a ControlOp.
        inputs: variables, None for an absent one.
        attrs: values in the order of `op.attr_names`; they may hold sizes.
        outputs: variables.
        in_place: does it write over its outputs, which exist before?
        blocks: of a node of control flow.
        block: where it stands.
        role: "forward", "backward" or "optimize".
        line: `file:line` of the user's code that it comes from, or "".
        scope: the name scope that it was recorded under, "" or "encoder/layer_0/".
        device: what `device_guard` named where it was recorded, "" or "gpu:1": which section of a pipeline it belongs to.
    """

    op: Any  # an Op or a ControlOp; `is_control` tells

    __slots__ = ("attrs", "block", "blocks", "device", "in_place", "inputs", "line", "op", "outputs", "role", "scope")

    if TYPE_CHECKING:  # members that `wherry_graph.members` attaches

        def __getattr__(self, name: str) -> Any: ...

    def __init__(
        self, op: Op | ControlOp, inputs: tuple[Variable | None, ...], attrs: tuple[Any, ...], outputs: tuple[Variable, ...],
        block: Block, *, in_place: bool = False, blocks: tuple[Block, ...] = (), role: str = FORWARD, line: str = "", scope: str = "",
        device: str = "",
    ) -> None:
        self.op, self.inputs, self.attrs, self.outputs = op, inputs, attrs, outputs
        self.block, self.in_place, self.blocks = block, in_place, blocks
        self.role, self.line, self.scope, self.device = role, line, scope, device

    @property
    def type(self) -> str:
        """The name of the op."""
        return self.op.name

    @property
    def is_control(self) -> bool:
        """Whether its op is a ControlOp, not an op of the vocabulary."""
        return type(self.op) is ControlOp

    def attr(self, name: str) -> Any:
        """The value of the attribute `name`."""
        return self.attrs[self.op.attr_names.index(name)]

    def named_attrs(self) -> dict[str, Any]:
        """The attributes by name."""
        return dict(zip(self.op.attr_names, self.attrs, strict=True))

    def reads(self) -> list[Variable]:
        """All variables that it reads, each once: inputs, those in sizes, those that its blocks read from outside."""
        found: dict[int, Variable] = {id(x): x for x in self.inputs if x is not None}
        sizes = tensors_of_attrs(self.attrs)
        if not sizes and not self.blocks:
            return list(found.values())
        for x in sizes:
            found.setdefault(id(x), x)  # type: ignore[arg-type]
        for block in self.blocks:
            for y in block.free():
                found.setdefault(id(y), y)
        return list(found.values())

    def writes(self) -> list[Variable]:
        """The variables that exist before and that it writes over, those that its blocks write to from inside included."""
        if not self.in_place and not self.blocks:
            return []
        found = {id(x): x for x in self.outputs} if self.in_place else {}
        for block in self.blocks:
            own = block.own_ids()
            for node in block.nodes:
                found.update((id(x), x) for x in node.writes() if id(x) not in own)
        return list(found.values())

    def __repr__(self) -> str:
        return _line_of(self)


class Block:
    """A list of nodes that run one after the other.

    Attributes:
        program: that it belongs to.
        index: its number in `program.blocks`.
        parent: the block around it; None for the first one.
        nodes: in the order in which they run.
        vars: its variables, by name.
        inputs: variables that the node which owns the block gives values to.
        outputs: variables that it hands back; they may belong to a block around it.
        other_names: names of gradients (`x@GRAD`) that are the value of a variable which has another name.
    """

    if TYPE_CHECKING:  # members that `wherry_graph.members` attaches

        def __getattr__(self, name: str) -> Any: ...

    def __init__(self, program: Program, index: int, parent: Block | None) -> None:
        self.program = program
        self.index = index
        self.parent = parent
        self.nodes: list[Node] = []
        self.vars: dict[str, Variable] = {}
        self.other_names: dict[str, str] = {}
        self.inputs: list[Variable] = []
        self.outputs: list[Variable] = []

    def variable(self, shape: Iterable[Any], dtype: DType, name: str | None = None, **options: Any) -> Variable:
        """A new variable; see `Variable.of` for the options.

        Raises:
            ValueError: the name is taken in this block.
        """
        return self.add(Variable.of(self, shape, dtype, name, **options))

    def add(self, x: Variable) -> Variable:
        """Add a variable that was made for this block."""
        if x.name in self.vars:
            raise ValueError(
                f"block {self.index}: it has a variable of this name. Got '{x.name}', expected a name that no other has. "
                f"Leave the name out, or choose another."
            )
        self.vars[x.name] = x
        return x

    def rename(self, x: Variable, name: str) -> None:
        """Give one of its variables another name.

        Raises:
            ValueError: the name is taken in this block.
        """
        before = x.name
        x.name = name
        self.add(x)
        del self.vars[before]
        for other, known in self.other_names.items():
            if known == before:
                self.other_names[other] = name

    def named(self, name: str) -> Variable | None:
        """Its variable of this name."""
        return self.vars.get(self.other_names.get(name, name))

    def append(
        self, op: Op | ControlOp, inputs: tuple[Variable | None, ...], attrs: tuple[Any, ...], outputs: tuple[Variable, ...], **options: Any
    ) -> Node:
        """Add a node at the end; see `Node` for the options."""
        return self.take(Node(op, inputs, attrs, outputs, self, **options))

    def take(self, node: Node) -> Node:
        """Add a node that was made for this block at the end."""
        if not node.in_place:
            for x in node.outputs:
                x.made_by = node
        self.nodes.append(node)
        return node

    def forget(self, mark: int) -> None:
        """Remove the nodes after the first `mark` ones, with their variables."""
        for node in self.nodes[mark:]:
            for x in () if node.in_place else node.outputs:
                self.vars.pop(x.name, None)
        del self.nodes[mark:]

    def find(self, name: str) -> Variable | None:
        """The variable of this name, here or in the blocks around."""
        block: Block | None = self
        while block is not None:
            found = block.named(name)
            if found is not None:
                return found
            block = block.parent
        return None

    def own_ids(self) -> set[int]:
        """id() of the variables that exist only while the block runs: its inputs and what its nodes make."""
        own = {id(x) for x in self.inputs}
        for node in self.nodes:
            if not node.in_place:
                own.update(id(x) for x in node.outputs)
        return own

    def free(self) -> list[Variable]:
        """The variables that it, or a block in it, takes from the blocks around it. Each once."""
        own = self.own_ids()
        found: dict[int, Variable] = {}
        for node in self.nodes:
            for x in (*node.reads(), *(node.outputs if node.in_place else ())):
                if id(x) not in own:
                    found.setdefault(id(x), x)
        for x in self.outputs:
            if id(x) not in own:
                found.setdefault(id(x), x)
        return list(found.values())

    def walk(self) -> Iterator[Node]:
        """Its nodes and those of the blocks in it, outer ones first."""
        for node in self.nodes:
            yield node
            for block in node.blocks:
                yield from block.walk()

    def __repr__(self) -> str:
        return "\n".join(_text_of(self))


class Program:
    """A recorded computation: blocks of ops on variables.

    Attributes:
        blocks: the blocks; a run begins with the first one.
        feeds: the inputs of a run, in order, for programs that have such an order.
        fetches: variables whose values are the result, in order.
        random_seed: what `static.Executor` seeds the generator with before a run; 0 leaves it alone.
        before_run: what `static.Executor` calls before a run: learning rates follow their schedules.
        readers: loaders of which `static.Executor` takes a batch (`next_feed()`) for a run without feed.

    Source:
        `paddle.static.Program`.

    Examples:
        >>> wherry.enable_static()
        >>> program = wherry.static.Program()
        >>> with wherry.static.program_guard(program):
        ...     y = wherry.static.data("x", [2]) * 2
        >>> [op.type for op in program.global_block().ops]
        ['multiply']
        >>> wherry.static.Executor().run(program, feed={"x": [1.0, 2.0]}, fetch_list=[y])
        [array([2., 4.], dtype=float32)]
        >>> wherry.disable_static()
    """

    random_seed: int = 0  # Paddle has it on the class too

    if TYPE_CHECKING:  # members that `wherry_graph.members` attaches

        def __getattr__(self, name: str) -> Any: ...

    def __init__(self) -> None:
        self.number = next(_made)
        self.blocks: list[Block] = [Block(self, 0, None)]
        self.feeds: list[Variable] = []
        self.fetches: list[Variable] = []
        self.random_seed = 0
        self.before_run: list[Callable[[], Any]] = []
        self.readers: list[Any] = []
        self.in_passes = False  # the program is not shared: passes need not copy it
        self._bound: dict[int, Variable] = {}  # id of a tensor with data -> its variable, which keeps the tensor alive

    @property
    def nodes(self) -> list[Node]:
        """Those of the first block."""
        return self.blocks[0].nodes

    def new_block(self, parent: Block) -> Block:
        """A new block inside of `parent`."""
        block = Block(self, len(self.blocks), parent)
        self.blocks.append(block)
        return block

    def feed(self, shape: Iterable[Any], dtype: DType, name: str | None = None, *, stop_gradient: bool = True) -> Variable:
        """A new variable of the first block that is given a value for each run, added to `feeds`."""
        x = self.blocks[0].variable(shape, dtype, name, is_data=True, stop_gradient=stop_gradient)
        self.feeds.append(x)
        return x

    def bind(self, tensor: Tensor) -> Variable:
        """The variable that stands for a tensor with data: the same one each time. Runs read, and write, the tensor's own memory."""
        known = self._bound.get(id(tensor))
        if known is not None:
            return known
        require_tensor(tensor, "Program.bind", "tensor")
        block = self.blocks[0]
        lasting = tensor.persistable or isinstance(tensor, Parameter)
        name = tensor.name
        if name in block.vars:
            name = unique_name.generate(name)
        x = block.variable(
            tensor.shape, tensor.dtype, name, bound=tensor, persistable=lasting, stop_gradient=tensor.stop_gradient
        )
        self._bound[id(tensor)] = x
        return x

    def forget_bound(self, x: Variable) -> None:
        """Release the tensor to which a removed variable is bound."""
        require(x, Variable, "Program.forget_bound", "x", "Pass one of program.list_vars().")
        if x.bound is not None:
            self._bound.pop(id(x.bound), None)

    def bound_variables(self) -> list[Variable]:
        """The variables that stand for tensors with data (`Variable.bound`)."""
        return [x for block in self.blocks for x in block.vars.values() if x.bound is not None]

    def dissolve(self) -> None:
        """Take a program apart that nothing uses any more: its parts refer to each other, so that they, and the tensors that variables are bound
        to, would stay until garbage is collected."""
        for block in self.blocks:
            for node in block.nodes:
                node.inputs = node.outputs = ()
            for x in block.vars.values():
                x.bound = x.made_by = None
            block.nodes, block.vars, block.inputs, block.outputs = [], {}, [], []
        self.blocks, self.feeds, self.fetches = [], [], []
        self._bound.clear()

    def parameters(self) -> list[Variable]:
        """The variables that are parameters."""
        return [x for block in self.blocks for x in block.vars.values() if x.is_parameter]

    def walk(self) -> Iterator[Node]:
        """All nodes, those of inner blocks after the node that owns them."""
        return self.blocks[0].walk()

    def copy(self) -> tuple[Program, dict[int, Variable]]:
        """A copy of the program, and a map from the ids of these variables to its variables.

        Values of variables are shared, not copied. What a variable became meanwhile (`reshape_`) is a matter of the code that still goes on
        with it: each variable of the copy means itself, with the shape and dtype that its node gives it.
        """
        out = type(self)()
        out.random_seed = self.random_seed
        new: dict[int, Variable] = {}
        for block in self.blocks:
            fresh = out.blocks[0] if block.parent is None else out.new_block(out.blocks[block.parent.index])
            for x in block.vars.values():
                sizes, dtype = x.__dict__.get("before") or (x.sizes, x.dtype)
                y = type(x).of(
                    fresh, sizes, dtype, x.name, bound=x.bound, is_data=x.is_data, is_array=x.is_array,
                    persistable=x.persistable, stop_gradient=x.stop_gradient,
                )
                y.__dict__.update({k: v for k, v in x.__dict__.items() if k not in y.__dict__ and k not in ("before", "now")})
                y.lod_level = x.lod_level
                fresh.add(y)
                new[id(x)] = y
        for y in new.values():
            if "offsets" in y.__dict__:  # of the sequences whose rows it holds
                y.__dict__["offsets"] = tuple(new[id(one)] for one in y.__dict__["offsets"] if id(one) in new)
        out._bound = {at: new[id(x)] for at, x in self._bound.items()}
        for block, fresh in zip(self.blocks, out.blocks, strict=True):
            fresh.other_names = dict(block.other_names)
            fresh.inputs = [new[id(x)] for x in block.inputs]
            fresh.outputs = [new[id(x)] for x in block.outputs]
            for node in block.nodes:
                fresh.append(
                    node.op, tuple(None if x is None else new[id(x)] for x in node.inputs),
                    attrs_with(node.attrs, lambda x: new[id(x)]), tuple(new[id(x)] for x in node.outputs),
                    in_place=node.in_place, blocks=tuple(out.blocks[b.index] for b in node.blocks), role=node.role,
                    line=node.line, scope=node.scope, device=node.device,
                )
        out.feeds = [new[id(x)] for x in self.feeds]
        out.fetches = [new[id(x)] for x in self.fetches]
        return out, new

    def __deepcopy__(self, memo: dict[int, Any]) -> Program:
        return self.copy()[0]

    def __repr__(self) -> str:
        return "\n".join(line for block in self.blocks for line in _text_of(block))

    __str__ = __repr__


# Sizes in attributes.

def tensors_of_attrs(attrs: Iterable[Any]) -> list[Tensor]:
    """The tensors that the sizes among the attributes are made of."""
    found: list[Tensor] = []
    if not hold_sizes(attrs):  # mostly
        return found
    for value in attrs:
        for n in value if type(value) is tuple else (value,):
            if type(n) is Size:
                _tensors_of_size(n, found)
    return found


def _tensors_of_size(n: Size, found: list[Tensor]) -> None:
    if n.source[0] in ("axis", "value"):
        found.append(n.source[1])
        return
    for part in n.source[1:]:
        if type(part) is Size:
            _tensors_of_size(part, found)


def attrs_with(attrs: tuple[Any, ...], find: Callable[[Tensor], Tensor]) -> tuple[Any, ...]:
    """The attributes with sizes made of other tensors: `find` gives the one in place of each.

    A size of an axis that is known there becomes a number.
    """
    if not hold_sizes(attrs):
        return attrs
    return tuple(
        tuple(_size_with(n, find) if type(n) is Size else n for n in v) if type(v) is tuple
        else _size_with(v, find) if type(v) is Size else v
        for v in attrs
    )


def _size_with(n: Size, find: Callable[[Tensor], Tensor]) -> Any:
    if n.source[0] == "axis":
        return find(n.source[1]).shape[n.source[2]]
    if n.source[0] == "value":
        x = find(n.source[1])
        return Size("value", x) if _core.is_symbolic(x) else int(x.item())
    name, a, b = n.source
    a, b = (_size_with(part, find) if type(part) is Size else part for part in (a, b))
    if type(a) is Size or type(b) is Size:
        return Size(name, a, b)
    return Size(name, a, b).value(find)


use(Node, Variable, attrs_with, tensors_of_attrs)


# As text.

def _text_of(block: Block) -> list[str]:
    around = "" if block.parent is None else f", in block {block.parent.index}"
    lines = [f"{{ // block {block.index}{around}"]
    if block.inputs:
        lines.append(f"    takes ({', '.join(x.name for x in block.inputs)})")
    lines += [f"    {x!r}" for x in block.vars.values()]
    if block.vars and block.nodes:
        lines.append("")
    lines += [f"    {_line_of(node)}" for node in block.nodes]
    if block.outputs:
        lines.append(f"    gives ({', '.join(x.name for x in block.outputs)})")
    return [*lines, "}"]


def _line_of(node: Node) -> str:
    outs = ", ".join(x.name for x in node.outputs)
    ins = ", ".join("None" if x is None else x.name for x in node.inputs)
    attrs = "".join(f", {name}={_shown(value)}" for name, value in zip(node.op.attr_names, node.attrs, strict=True))
    blocks = "".join(f", block {b.index}" for b in node.blocks)
    return f"{outs or '()'} {'<-' if node.in_place else '='} {node.type}({ins}{attrs}{blocks})"


def _shown(value: Any) -> str:
    if isinstance(value, DType):
        return value.name
    if type(value) is tuple:
        return f"[{', '.join(_shown(v) for v in value)}]"
    return _shown_size(value) if type(value) is Size else repr(value)


def _shown_size(n: Any) -> str:
    if type(n) is not Size:
        return str(n)
    if n.source[0] == "axis":
        return f"{n.source[1].name}.shape[{n.source[2]}]"
    if n.source[0] == "value":
        return f"int({n.source[1].name})"
    symbol = {"add": "+", "subtract": "-", "multiply": "*", "floor_divide": "//", "remainder": "%"}.get(n.source[0])
    a, b = (_shown_size(part) for part in n.source[1:])
    return f"{n.source[0]}({a}, {b})" if symbol is None else f"({a} {symbol} {b})"
