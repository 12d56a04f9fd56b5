"""Paddle's members of static programs, blocks, operators and variables, beyond those of `ir`.

`attach` gives it to the classes when this package is imported, as `add_methods` gives Tensor its methods: what a program is does not
depend on static mode, which loads when one of these members needs it.
"""
from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from wherry_nn import Parameter
from wherry_program.program.ir import Block, Node, Program, Variable
from wherry_tensor import _core
from wherry_tensor._core import Tensor
from wherry_tensor.arguments import integer
from wherry_tensor.dtype import as_dtype
from wherry_tensor.errors import InvalidArgumentError, InvalidTypeError, OutOfRangeError, PreconditionNotMetError, short

__all__ = ["attach"]


def _create_parameter(*args: Any, **kwargs: Any) -> Any:
    """`paddle.create_parameter`, which Paddle has on its variables, though it takes none."""
    from wherry_nn import create_parameter

    return create_parameter(*args, **kwargs)


def _create_tensor(dtype: Any, name: str | None = None, persistable: bool = False) -> Variable:
    """A new variable of the default main program, for `assign(x, output=variable)` to fill."""
    from wherry_graph.static.mode import default_main_program

    return default_main_program().current_block().create_var(name, dtype=dtype, persistable=persistable)


class VariableMembers:
    """Of `paddle.static.Variable`; what computes is what Tensor has."""

    create_parameter = staticmethod(_create_parameter)
    create_tensor = staticmethod(_create_tensor)

    @property
    def type(self) -> str:
        """`LOD_TENSOR`, or `LOD_TENSOR_ARRAY` for a list of tensors."""
        return "LOD_TENSOR_ARRAY" if self.is_array else "LOD_TENSOR"  # type: ignore[attr-defined]

    @property
    def grad_name(self) -> str:
        """The name of its gradient, where a program has one."""
        return f"{self.name}@GRAD"  # type: ignore[attr-defined]

    def to_string(self, throw_on_error: bool = True, with_details: bool = False) -> str:
        """A description as text.

        Args:
            throw_on_error: no effect.
            with_details: also what its Python object knows.

        Source:
            `paddle.static.Variable.to_string`.
        """
        text = repr(self)
        return f"{text}\nname = {self.name}\npersistable = {self.persistable}\nis_data = {self.is_data}" if with_details else text  # type: ignore[attr-defined]

    def get_value(self, scope: Any = None) -> Tensor:
        """The value in a scope: a Tensor on the same memory.

        Args:
            scope: None is `static.global_scope()`.

        Raises:
            ValueError: the scope has none.

        Source:
            `paddle.static.Variable.get_value`.
        """
        return _value_of(self, scope)

    def set_value(self, value: Any, scope: Any = None) -> None:
        """Set the value in a scope.

        Args:
            value: an array or Tensor of the same shape.
            scope: None is `static.global_scope()`.

        Raises:
            ValueError: the scope has no such variable, or the shape differs.

        Source:
            `paddle.static.Variable.set_value`.
        """
        _write_value(self, value, scope)

    @property
    def attr_names(self) -> list[str]:
        """The attributes of the op that made it."""
        made_by = self.made_by  # type: ignore[attr-defined]
        return [] if made_by is None else list(made_by.op.attr_names)

    def attr(self, name: str) -> Any:
        """An attribute of the op that made it."""
        made_by = self.made_by  # type: ignore[attr-defined]
        if made_by is None:
            raise InvalidArgumentError(
                f"attr: no op made '{self.name}'. Got name={name!r}, expected a variable that a program computes. "  # type: ignore[attr-defined]
                f"Ask the op that uses it."
            )
        return made_by.attr(name)

    @property
    def dist_attr(self) -> None:
        """How it is distributed over processes; None for programs of one process."""
        return None

    def append(self, var: Tensor) -> None:
        """Append a tensor to a list of tensors.

        Raises:
            TypeError: it is not a list.

        Source:
            `paddle.static.Variable.append`.
        """
        from wherry_graph.static.arrays import array_write

        array_write(var, None, _array(self, "append"))

    def pop(self, *args: Any) -> Any:
        """Remove the last tensor from a list of tensors, whose length must be known when the program is built.

        Raises:
            TypeError: it is not a list.

        Source:
            `paddle.static.Variable.pop`.
        """
        from wherry_graph.static.arrays import array_pop

        return array_pop(_array(self, "pop"), *args)


def _array(x: Any, what: str) -> Any:
    if not x.is_array:
        raise InvalidTypeError(
            f"{what}: only variables with VarType.LOD_TENSOR_ARRAY support it. Got '{x.name}', a tensor of shape {x.shape}, expected a "
            f"list of tensors. Make one with paddle.tensor.create_array."
        )
    return x


class NodeMembers:
    """Of an operator of Paddle's programs. The types are names of the vocabulary."""

    if TYPE_CHECKING:
        op: Any
        attrs: tuple[Any, ...]
        inputs: tuple[Any, ...]
        outputs: tuple[Any, ...]
        block: Any

    @property
    def input_names(self) -> list[str]:
        """The names of the op's inputs."""
        return [name for name, _ in _slots(self)]

    @property
    def output_names(self) -> list[str]:
        """The names of the op's outputs."""
        return list(_output_slots(self))

    @property
    def input_arg_names(self) -> list[str]:
        """The names of the input variables."""
        return [x.name for x in self.inputs if x is not None]

    @property
    def output_arg_names(self) -> list[str]:
        """The names of the output variables."""
        return [x.name for x in self.outputs]

    def input(self, name: str) -> list[str]:
        """The names of the variables at one of `input_names`."""
        return [x.name for slot, x in _slots(self) if slot == name and x is not None]

    def output(self, name: str) -> list[str]:
        """The names of the variables at one of `output_names`."""
        return [x.name for slot, x in zip(_output_slots(self), self.outputs, strict=True) if slot == name]

    @property
    def attr_names(self) -> list[str]:
        """The names of its attributes."""
        return list(self.op.attr_names)

    def has_attr(self, name: str) -> bool:
        """Whether it has an attribute of this name."""
        return name in self.op.attr_names

    def attr_type(self, name: str) -> type:
        """The type of an attribute."""
        return type(self.attr(name))  # type: ignore[attr-defined]

    def all_attrs(self) -> dict[str, Any]:
        """The attributes by name."""
        return dict(zip(self.op.attr_names, self.attrs, strict=True))

    @property
    def idx(self) -> int:
        """Its index in its block."""
        return next(i for i, node in enumerate(self.block.nodes) if node is self)

    def to_string(self, throw_on_error: bool = True) -> str:
        """A description as text."""
        return repr(self)


def _slots(node: Any) -> list[tuple[str, Any]]:
    """Each input with its name; those of a variadic op all have the name of the first."""
    names = [name for name, *_ in getattr(node.op, "inputs", ())]
    return [(names[i] if i < len(names) else names[-1] if names else "X", x) for i, x in enumerate(node.inputs)]


def _output_slots(node: Any) -> list[str]:
    names = list(getattr(node.op, "outputs", ()))
    return names if len(names) == len(node.outputs) else ["Out"] * len(node.outputs)


class BlockMembers:
    """Of a block of Paddle's programs."""

    if TYPE_CHECKING:
        program: Program
        index: int
        parent: Block | None
        nodes: list[Node]
        vars: dict[str, Variable]

    @property
    def ops(self) -> list[Node]:
        """Its operators, in the order in which they run."""
        return self.nodes

    @property
    def idx(self) -> int:
        """Its number."""
        return self.index

    @property
    def parent_idx(self) -> int:
        """The number of the block around it; -1 for the first one."""
        return -1 if self.parent is None else self.parent.index

    def has_var(self, name: str) -> bool:
        """Whether it has a variable of this name."""
        return self.named(name) is not None  # type: ignore[attr-defined]

    def var(self, name: str) -> Variable:
        """The variable of this name.

        Raises:
            TypeError: `name` is not a str.
            ValueError: there is none.
        """
        if not isinstance(name, str):
            raise InvalidTypeError(f"var: a name is a str. Got {short(name)} ({type(name).__name__}), expected a str.")
        found = self.named(name)  # type: ignore[attr-defined]
        if found is None:
            from wherry_tensor.suggestions import did_you_mean

            raise InvalidArgumentError(
                f"var: var {name} not in this block. Got {name!r}, expected the name of one of its {len(self.vars)} variables."
                f"{did_you_mean(name, list(self.vars))}"
            )
        return found

    def all_parameters(self) -> list[Any]:
        """Its parameters."""
        return [x for x in self.vars.values() if x.is_parameter]

    def create_var(
        self, name: str | None = None, shape: Any = None, dtype: Any = None, lod_level: int = 0, persistable: bool = False,
        stop_gradient: bool = True, is_data: bool = False, type: Any = None, initializer: Any = None, **kwargs: Any,
    ) -> Variable:
        """A new variable, for `assign(x, output=variable)`, `py_func` or `append_op` to fill.

        Args:
            name: None numbers it.
            shape: sizes; -1 where one is not known. None is `[]`.
            dtype: None is float32.
            lod_level: how deep sequences are nested in it.
            persistable: does it last between runs?
            stop_gradient: does no gradient pass it?
            is_data: is it fed?
            type: no effect.
            initializer: fills it in the startup program, where it is persistable.
            kwargs: no effect.

        Raises:
            ValueError: the name is taken.
        """
        x = self.variable(  # type: ignore[attr-defined]
            [] if shape is None else shape, _core.float32 if dtype is None else as_dtype(dtype, "create_var"), name, is_data=is_data,
            persistable=persistable, stop_gradient=stop_gradient,
        )
        x.lod_level = lod_level or 0
        if initializer is not None:
            from wherry_graph.static.builder import fill_in_startup

            fill_in_startup(x, initializer)
        return x

    def create_parameter(self, *, name: str, shape: Any, dtype: Any = None, initializer: Any = None, trainable: bool = True, **kwargs: Any) -> Any:
        """A new parameter of the program, filled in the startup program."""
        from wherry_graph.static.mode import default_startup_program, program_guard
        from wherry_nn import ParamAttr
        from wherry_nn import create_parameter as make

        with program_guard(self.program, default_startup_program()):
            return make(shape, dtype or "float32", attr=ParamAttr(name=name, initializer=initializer, trainable=trainable))

    def append_op(
        self, type: str | None = None, inputs: Mapping[str, Any] | None = None, outputs: Mapping[str, Any] | None = None,
        attrs: Mapping[str, Any] | None = None, **kwargs: Any,
    ) -> Node:
        """A new operator at the end.

        Args:
            type: a name of the op vocabulary (`python -m wherry ops` lists them).
            inputs: variables, by the op's names of its inputs; lists for variadic ops.
            outputs: variables, by the op's names of its outputs.
            attrs: all attributes of the op.
            kwargs: no effect.

        Raises:
            ValueError: there is no such op, or inputs, outputs or attributes do not fit.
        """
        return _append_op(self, type, dict(inputs or {}), dict(outputs or {}), dict(attrs or {}))

    def to_string(self, throw_on_error: bool = True, with_details: bool = False) -> str:
        """A description as text."""
        return repr(self)


def _append_op(block: Any, type: Any, inputs: dict[str, Any], outputs: dict[str, Any], attrs: dict[str, Any]) -> Any:
    from wherry_graph.static.mode import capture_of
    from wherry_tensor import ops

    op = getattr(ops, str(type), None)
    if not isinstance(op, _core.Op):
        from wherry_tensor.suggestions import did_you_mean

        raise InvalidArgumentError(
            f"append_op: there is no op of this type. Got type={short(type)}, expected a name of the op vocabulary."
            f"{did_you_mean(str(type), [name for name in dir(ops) if isinstance(getattr(ops, name), _core.Op)])} "
            f"Call the public function instead, such as paddle.add, while the program is the default one."
        )
    names = [name for name, *_ in op.inputs]
    unknown = [name for name in inputs if name not in names] + [name for name in outputs if name not in op.outputs]
    unknown += [name for name in attrs if name not in op.attr_names] + [name for name in op.attr_names if name not in attrs]
    if unknown or set(outputs) != set(op.outputs):
        raise InvalidArgumentError(
            f"append_op: {op.name} has other names. Got inputs {list(inputs)}, outputs {list(outputs)} and attributes {list(attrs)}, expected "
            f"inputs {names}, outputs {list(op.outputs)} and attributes {list(op.attr_names)}."
        )
    given: list[Any] = []
    for name in names:
        value = inputs.get(name)
        given += list(value) if isinstance(value, (list, tuple)) else [value]
    while given and given[-1] is None:
        given.pop()
    found = [outputs[name][0] if isinstance(outputs[name], (list, tuple)) else outputs[name] for name in op.outputs]
    values = tuple(as_dtype(attrs[name], "append_op") if name == "dtype" else attrs[name] for name in op.attr_names)
    values = tuple(tuple(v) if isinstance(v, list) else v for v in values)
    metas = op.infer(tuple(given), values)
    for x, meta in zip(found, metas, strict=True):
        if x.dtype is not meta.dtype:
            raise InvalidArgumentError(
                f"append_op: {op.name} gives another dtype. Got {x.dtype.name} for '{x.name}', expected {meta.dtype.name}."
            )
        x.resize(meta.shape)
    recording = capture_of(block.program)
    with recording.inside(block):
        return recording.record(op, tuple(given), values, tuple(found))


class ProgramMembers:
    """Of `paddle.static.Program`."""

    random_seed = 0  # of a program that says nothing else: the generator is left alone

    if TYPE_CHECKING:
        blocks: list[Block]

    @property
    def desc(self) -> Any:
        """The description that Paddle keeps beside its Python objects: here the program itself, for `core.Graph(program.desc)`."""
        return self

    def global_block(self) -> Block:
        """The first block.

        Source:
            `paddle.static.Program.global_block`.
        """
        return self.blocks[0]

    def block(self, index: int) -> Block:
        """The block with this number.

        Raises:
            IndexError: there is none.

        Source:
            `paddle.static.Program.block`.
        """
        at = integer(index, "Program.block", "index")
        if not 0 <= at < len(self.blocks):
            raise OutOfRangeError(
                f"Program.block: there is no block of this number. Got {at}, expected one of 0 to {len(self.blocks) - 1}. See num_blocks."
            )
        return self.blocks[at]

    @property
    def num_blocks(self) -> int:
        """The number of blocks.

        Source:
            `paddle.static.Program.num_blocks`.
        """
        return len(self.blocks)

    def current_block(self) -> Block:
        """The block that static mode records in.

        Source:
            `paddle.static.Program.current_block`.
        """
        recording = self.__dict__.get("_capture")
        return self.blocks[0] if recording is None else recording.block

    def list_vars(self) -> Iterator[Variable]:
        """Its variables.

        Source:
            `paddle.static.Program.list_vars`.
        """
        for block in self.blocks:
            yield from block.vars.values()

    def all_parameters(self) -> list[Any]:
        """Its parameters.

        Source:
            `paddle.static.Program.all_parameters`.
        """
        return [x for x in self.list_vars() if x.is_parameter]

    def global_seed(self, seed: int = 0) -> None:
        """Set `random_seed`.

        Source:
            `paddle.static.Program.global_seed`.
        """
        self.random_seed = seed

    def clone(self, for_test: bool = False) -> Any:
        """A copy of the program.

        Args:
            for_test: leave out what only training needs (gradients, updates), and let dropout and batch normalization do what they do
                in evaluation.

        Source:
            `paddle.static.Program.clone`.

        Examples:
            >>> wherry.enable_static()
            >>> main = wherry.static.Program()
            >>> with wherry.static.program_guard(main):
            ...     y = wherry.nn.functional.dropout(wherry.static.data("x", [2]), 0.5)
            >>> [op.type for op in main.global_block().ops], [op.type for op in main.clone(for_test=True).global_block().ops]
            (['dropout'], ['copy'])
            >>> wherry.disable_static()
        """
        from wherry_graph.static.cloning import clone

        return clone(self, for_test)  # type: ignore[arg-type]

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        return self.clone()

    def state_dict(self, mode: str = "all", scope: Any = None) -> dict[str, Tensor]:
        """The values of persistable variables, by name.

        Args:
            mode: "param" for parameters, "opt" for the state of optimizers, "all" for both.
            scope: None is `static.global_scope()`.

        Raises:
            ValueError: another mode, or a value is missing: the startup program has not run.

        Source:
            `paddle.static.Program.state_dict`.
        """
        if mode not in ("all", "param", "opt"):
            raise InvalidArgumentError(f"state_dict: mode must be 'all', 'param' or 'opt'. Got {short(mode)}, expected one of these.")
        return {x.name: _value_of(x, scope) for x in _lasting(self, mode)}

    def set_state_dict(self, state_dict: Mapping[str, Any], scope: Any = None) -> None:
        """Set the values of persistable variables. Names that the program does not have are skipped with a warning.

        Args:
            state_dict: values by name.
            scope: None is `static.global_scope()`.

        Raises:
            TypeError: `state_dict` is not a dict.
            ValueError: a shape or dtype differs.

        Source:
            `paddle.static.Program.set_state_dict`.
        """
        if not isinstance(state_dict, Mapping):
            raise InvalidTypeError(
                f"set_state_dict: Type of `state_dict` should be dict. Got {type(state_dict).__name__}, expected what state_dict() gave."
            )
        known = {x.name: x for x in _lasting(self, "all")}
        for name, value in state_dict.items():
            if name in known:
                _write_value(known[name], value, scope, create=True)
            elif name != "StructuredToParameterName@@":
                import warnings

                warnings.warn(f"Skip loading for '{name}': the program has no variable of this name that lasts.", stacklevel=2)

    def to_string(self, throw_on_error: bool, with_details: bool = False) -> str:
        """A description as text.

        Args:
            throw_on_error: no effect.
            with_details: also what the objects of its variables know.

        Raises:
            TypeError: an argument is not a bool.

        Source:
            `paddle.static.Program.to_string`.
        """
        for name, value in ("throw_on_error", throw_on_error), ("with_details", with_details):
            if not isinstance(value, bool):
                raise InvalidTypeError(f"to_string: The type of {name} parameter is wrong, expected bool. Got {short(value)}.")
        if not with_details:
            return str(self)
        return "\n".join([str(self), *(x.to_string(throw_on_error, True) for x in self.list_vars())])

    @staticmethod
    def parse_from_string(binary_str: bytes) -> Any:
        """The program that a `.pdmodel` file of Paddle describes, given its bytes.

        Raises:
            ValueError: the bytes are not a saved program.

        Source:
            `paddle.static.Program.parse_from_string`.
        """
        from wherry_graph.static.files import deserialize_program

        return deserialize_program(binary_str)


def _lasting(program: Any, mode: str) -> list[Any]:
    found = [x for x in program.list_vars() if x.persistable and not x.is_data]
    if mode == "param":
        return [x for x in found if x.is_parameter]
    return [x for x in found if not x.is_parameter] if mode == "opt" else found


def _value_of(x: Any, scope: Any) -> Tensor:
    from wherry_graph.static.scope import chosen_scope

    found = x.bound if x.bound is not None else chosen_scope(scope).value(x.name)
    if found is None:
        raise PreconditionNotMetError(
            f"'{x.name}' has no value yet. Got a scope without it, expected one in which the startup program has run. "
            f"Run exe.run(static.default_startup_program()) first."
        )
    return found


def _write_value(x: Any, value: Any, scope: Any, create: bool = False) -> None:
    from wherry_graph.static.mode import paused
    from wherry_graph.static.scope import chosen_scope
    from wherry_tensor import ops, to_tensor

    with paused():
        new = value if isinstance(value, Tensor) else to_tensor(value)
        if list(new.shape) != list(x.sizes):
            raise InvalidArgumentError(
                f"set_value: the shape does not fit '{x.name}'. Got {new.shape}, expected {list(x.sizes)}. Reshape the value."
            )
        if new.dtype is not x.dtype:
            raise InvalidArgumentError(
                f"set_value: the dtype does not fit '{x.name}'. Got {new.dtype.name}, expected {x.dtype.name}. Cast the value."
            )
        there = chosen_scope(scope)
        target = x.bound if x.bound is not None else there.value(x.name)
        if target is None and (create or isinstance(x, Parameter)):
            there.put(x.name, ops.copy(new.detach()))
            return
        if target is None:
            raise PreconditionNotMetError(
                f"set_value: '{x.name}' has no value to replace. Got a scope without it, expected one in which the startup program has run."
            )
        before = _core.set_grad_mode(False)
        try:
            ops.copy.into((target,), new)
        finally:
            _core.set_grad_mode(before)


def attach() -> None:
    """Give the classes of programs these members."""
    for members, to in (VariableMembers, Variable), (NodeMembers, Node), (BlockMembers, Block), (ProgramMembers, Program):
        for name, member in vars(members).items():
            if name == "__deepcopy__" or not name.startswith("__"):
                setattr(to, name, member)
