"""Capture: while it is active, ops are recorded into a program instead of running.

    program = Program()
    x = program.feed([-1, 3], float32, "x")
    with capture(program):
        y = net(x)                        # parameters of net become variables that are bound to them
    program.fetches.append(y)

A capture is an inner layer of the dispatcher: autograd records around it, as around kernels. So what a captured computation needs as
gradients can be captured too (`wherry_autograd.grad` under the capture).
"""
from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Self

from wherry_autograd._engine import when_gradient_is_recorded
from wherry_program.program.ir import FORWARD, Block, Node, Program, Variable
from wherry_program.run._recording import record, recorded
from wherry_tensor import _core
from wherry_tensor._core import InnerLayer, Op, Tensor, inner_layers
from wherry_tensor.sizes import user_line

__all__ = ["Capture", "as_variable", "capture", "captures_of_thread", "current_capture"]

# How lists of tensors go through ops that autograd applies to cotangents of any kind. `control` fills it.
ON_ARRAYS: dict[Op, Callable[..., Any]] = {}


class Capture(InnerLayer):
    """The layer that records. Made and entered by `capture`; other recorders subclass it.

    Attributes:
        block: where the next node goes.
        role: that the next nodes have.
        scope: the name scope of the next nodes, "" or "encoder/layer_0/".
        line: `file:line` of the next nodes; None where each looks for the line of the user's code that called it.
        device: what `device_guard` names for the next nodes.
        gradients: the tensors with data that `backward()` has given a gradient of the program, and the user's line of each.
        no_grad_cuts: does what user code records under `no_grad` or by `detach` let no gradient pass, when gradients are added to the
            program later? Not where `grad` is called under the capture itself: backward passes record under `no_grad` too.
    """

    no_grad_cuts = False

    def __init__(self, block: Block) -> None:
        self.block = block
        self.role = FORWARD
        self.scope = self.device = ""
        self.line: str | None = None
        self.gradients: list[tuple[Tensor, str]] = []
        self._stand_ins: dict[int, tuple[Tensor, Variable]] = {}  # id of a symbolic tensor -> itself, what it stands for
        self._latest: dict[int, Tensor] = {}  # id of a variable -> what stood for it last

    @property
    def program(self) -> Program:
        """The program that is written."""
        return self.block.program

    def stand_in(self, ghost: Tensor, variable: Variable) -> Tensor:
        """Let a symbolic tensor that is not a variable stand for `variable` while this capture records."""
        self._stand_ins[id(ghost)] = (ghost, variable)
        self._latest[id(variable)] = ghost
        return ghost

    def tensor_of(self, x: Variable) -> Tensor:
        """The tensor that autograd knows a variable by: what stands for it, the tensor that it is bound to, or itself."""
        if id(x) in self._latest:
            return self._latest[id(x)]
        return x if x.bound is None else x.bound

    def variable_of(self, x: Tensor) -> Variable:
        """The variable that stands for `x` in the program.

        Raises:
            ValueError: `x` belongs to another program.
            TypeError: its `check` says that it may have no value here.
        """
        if isinstance(x, Variable):
            if x.block.program is self.block.program:
                if "check" in x.__dict__:
                    x.__dict__["check"]()
                return x.current
        elif id(x) in self._stand_ins:
            return self._stand_ins[id(x)][1]
        elif not _core.is_symbolic(x):
            return self.block.program.bind(x)
        theirs = f"'{x.name}' of program {x.block.program.number}" if isinstance(x, Variable) else "a symbolic tensor of no program"
        raise ValueError(
            f"capture: an input belongs to another program. Got {theirs} (shape {x.shape}) at {user_line()}, expected tensors with data "
            f"and variables of program {self.block.program.number}. Compute it inside the same program, or feed it."
        )

    def take_place_of(self, node: Node) -> None:
        """The next nodes are written for `node`: they have its role, scope, device and line."""
        self.role, self.scope, self.device, self.line = node.role, node.scope, node.device, node.line

    @contextmanager
    def standing_in(self) -> Iterator[None]:
        """Forget afterwards what stood for variables meanwhile. (What it means stays known.)"""
        before = dict(self._latest)
        try:
            yield
        finally:
            self._latest = before

    # The interface of an inner layer.

    def __call__(self, op: Op, inputs: tuple[Tensor | None, ...], attrs: tuple[Any, ...]) -> tuple[Tensor, ...]:
        if op in ON_ARRAYS and getattr(inputs[0], "is_array", False):
            return (ON_ARRAYS[op](*inputs),)
        return recorded(self, op, inputs, attrs)

    def into(
        self, op: Op, outs: tuple[Tensor, ...], inputs: tuple[Tensor | None, ...], attrs: tuple[Any, ...]
    ) -> tuple[Tensor, ...]:
        """An in-place call: the node writes over the variables of `outs`."""
        op.infer(inputs, attrs)  # what does not fit is refused now
        variables = tuple(self.variable_of(x) for x in outs)
        # Variables that were made by name and have no value yet get it here.
        fresh = all(_waits_for_value(x) and x.block is self.block for x in variables) and not any(x is out for x in inputs for out in outs)
        self.record(op, inputs, attrs, variables, in_place=not fresh)
        return outs

    def record(self, op: Any, inputs: tuple[Tensor | None, ...], attrs: tuple[Any, ...], outs: tuple[Variable, ...], **options: Any) -> Any:
        """Append a node whose inputs and sizes may be any tensors that stand for variables. Returns the node."""
        return record(self, op, inputs, attrs, outs, **options)

    # Entering and leaving.

    if TYPE_CHECKING:  # compiled, of InnerLayer

        def __enter__(self) -> Self: ...

        def __exit__(self, *error: object) -> None: ...

    # Meanwhile.

    @contextmanager
    def inside(self, block: Block) -> Iterator[Block]:
        """A context that records into another block of the program."""
        before, self.block = self.block, block
        try:
            yield block
        finally:
            self.block = before


def capture(into: Program | Block) -> Capture:
    """A context in which ops of this thread are written into a program (its first block), or into a block.

    Examples:
        >>> from wherry_program import Program
        >>> from wherry_program.program.capture import capture
        >>> program = Program()
        >>> x = program.feed([-1, 3], wherry.float32, "x")
        >>> with capture(program):
        ...     y = (x * 2.0).sum(axis=1)
        >>> y.sizes, [node.type for node in program.nodes]
        ((-1,), ['multiply', 'reduce_sum'])
    """
    return Capture(into.blocks[0] if isinstance(into, Program) else into)


def current_capture() -> Capture | None:
    """The capture that is active in this thread; None if ops run."""
    layers = inner_layers()
    if layers and isinstance(layers[-1], Capture):  # mostly
        return layers[-1]
    mine = captures_of_thread()
    return mine[-1] if mine else None


def _waits_for_value(x: Variable) -> bool:
    return (
        x.made_by is None and x.bound is None and not x.persistable and not x.is_data and not any(x is one for one in x.block.inputs)
        and not any(x is out for node in x.block.nodes if node.in_place for out in node.outputs)
    )


def as_variable(x: Tensor) -> Variable:
    """The variable that stands for `x` in the capture that is on."""
    recording = current_capture()
    assert recording is not None, "as_variable: nothing is being captured"
    return recording.variable_of(x)


def _note_gradient(leaf: Tensor) -> None:
    recording = current_capture()
    if recording is not None:
        recording.gradients.append((leaf, user_line()))


when_gradient_is_recorded(_note_gradient)


def captures_of_thread() -> list[Capture]:
    """The captures that are on in this thread, the one that records last."""
    return [layer for layer in inner_layers() if isinstance(layer, Capture)]
