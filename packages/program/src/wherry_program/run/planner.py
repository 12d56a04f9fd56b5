"""Planning: from nodes and the shapes of their inputs to kernels, memory and calls that `_executor` runs.

What is decided here, for one tuple of shapes:

- views become places in the memory of what they view, as eager code has them;
- ops without a kernel for the dtype are replaced by the ops that they are made of;
- what is known without data (shapes, constants) is computed now;
- an output takes the place of an input that nobody needs any more, where the kernel allows it;
- all other values get places in one arena, so that those share memory which are never needed at the same time.

What cannot be planned is said by an exception: `SegmentBreak` (the nodes have to be divided, because a shape depends on data) and
`Unplannable` (the dispatcher has to run these nodes for these inputs).
"""
from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from wherry_program.program.capture import capture
from wherry_program.program.control.fused import FUSED
from wherry_program.program.ir import Node, Program, Variable
from wherry_program.run._executor import Arenas, Fused, Planned, facts_of, viewed
from wherry_tensor import _core, ops
from wherry_tensor import device as devices
from wherry_tensor._core import DType, Op, Tensor, hold_sizes, plan_of
from wherry_tensor.ops.declare import Meta, decompose
from wherry_tensor.sizes import has_sizes, resolved

__all__ = ["SegmentBreak", "Layout", "NeedsNumber", "Unplannable", "laid_out", "plan"]

ARENA, EXTERNAL, RESULT = 0, 1, 2
WANTS_CONTIGUOUS, MAY_ALIAS, STRIDED_OUTPUT = 1, 2, 4  # of wherry/abi.h
ALIGNMENT = 64
MOST_FOLDED = 4096  # elements: what is larger is computed by each run, instead of being kept
SIZES = 12  # elements of whole numbers that are computed ahead for kernels elsewhere: shapes, no more
TILE = 32768  # elements that a thread computes at a time of what is fused; fewer would not be worth a thread to the kernels of additions and the like
INTEGER_DTYPES = {_core.bool_, _core.uint8, _core.int8, _core.int16, _core.int32, _core.int64}
ALWAYS = 1 << 60  # the step at which what is handed out is not needed any more


class SegmentBreak(Exception):
    """The nodes cannot run as one. `index`: of the node; `alone`: it runs by itself; else a new part begins with it."""

    def __init__(self, index: int, alone: bool) -> None:
        self.index, self.alone = index, alone


class NeedsNumber(Exception):
    """A size is the value of the input at this position: plans belong to that number."""

    def __init__(self, position: int) -> None:
        self.position = position


class Unplannable(Exception):
    """These nodes, for these inputs, run in the dispatcher."""


class _Written(Exception):
    """A node writes to a value that was computed ahead."""


class Buffer:
    """A piece of memory that holds values."""

    __slots__ = ("dtype", "first", "index", "kind", "last", "nbytes", "offset", "part_of", "shape", "writes")

    def __init__(self, kind: int, dtype: DType, shape: tuple[int, ...], index: int = -1) -> None:
        self.kind, self.dtype, self.shape, self.index = kind, dtype, shape, index
        self.nbytes = dtype.itemsize * _count(shape)
        self.first = self.last = -1  # steps between which it is needed
        self.offset = 0
        self.writes = 0
        self.part_of: Buffer | None = None  # whose memory it took over

    def root(self) -> Buffer:
        """The buffer whose memory this is."""
        at = self
        while at.part_of is not None:
            at = at.part_of
        return at


class Value:
    """The value of a variable: strided elements in a buffer, or a tensor that is known already."""

    __slots__ = ("buffer", "dtype", "known", "offset", "shape", "slot", "strides", "whole")

    def __init__(self, buffer: Buffer | None, dtype: DType, shape: tuple[int, ...], strides: tuple[int, ...] | None = None, offset: int = 0) -> None:
        self.buffer, self.dtype, self.shape, self.offset = buffer, dtype, shape, offset
        contiguous = _contiguous(shape)
        self.strides = contiguous if strides is None else strides
        self.whole = offset == 0 and (self.strides == contiguous or _same_strides(shape, self.strides, contiguous))
        self.known: Tensor | None = None
        self.slot = -1

    @property
    def is_contiguous(self) -> bool:
        return self.whole or _same_strides(self.shape, self.strides, _contiguous(self.shape)) or 0 in self.shape

    def fills(self, buffer: Buffer) -> bool:
        """Whether it is all of this buffer, without gaps."""
        return self.is_contiguous and self.offset == 0 and self.dtype.itemsize * _count(self.shape) == buffer.nbytes


def _count(shape: tuple[int, ...]) -> int:
    n = 1
    for size in shape:
        n *= size
    return n


def _contiguous(shape: tuple[int, ...]) -> tuple[int, ...]:
    strides, step = [], 1
    for size in reversed(shape):
        strides.append(step)
        step *= size
    return tuple(reversed(strides))


def _same_strides(shape: tuple[int, ...], a: tuple[int, ...], b: tuple[int, ...]) -> bool:
    return all(n == 1 or i == j for n, i, j in zip(shape, a, b))


def plan(
    nodes: Sequence[Node], inputs: Sequence[Variable], outputs: Sequence[Variable], given: Sequence[Tensor], keys: Sequence[int],
    arenas: Arenas, device: int = 0,
) -> Planned:
    """Plan nodes for the layouts of the given tensors.

    Args:
        nodes: of one block, in order; none of control flow.
        inputs: the variables that get tensors from outside, bound ones included.
        outputs: the variables that are handed out.
        given: a tensor for each input.
        keys: positions of inputs whose values the sizes depend on.
        arenas: where runs get their memory from.
        device: of the tensors, an int.

    Raises:
        SegmentBreak, NeedsNumber: see there.
    """
    numbers = tuple((at, int(given[at].item())) for at in keys)
    for fold in (True, False):
        planner = _Planner(inputs, given, numbers, fold, device=device)
        try:
            for index, node in enumerate(nodes):
                planner.node(index, node)
            return planner.finished(outputs, arenas)
        except _Written:
            continue
        except Unplannable:
            break
    layouts = [(x.dtype.code, tuple(x.shape), tuple(x.strides), 0) for x in given]
    return Planned(layouts, [], [], [], [], [], 0, arenas, numbers, True, device=device)


class Layout(NamedTuple):
    """A plan as data, for an executor elsewhere: what is the same for every size, and what has to be laid out there.

    Attributes:
        slots: dtype, shape, strides, number of the buffer, offset in bytes of each value.
        buffers: kind (ARENA, EXTERNAL, RESULT), index of the external or result, dtype, shape, and the steps between which it is needed.
        steps: op, attributes, slots of the inputs (-1: absent) and of the outputs.
        constants: tensors after the inputs among the externals.
        outputs: the slot of each.
    """

    slots: list[tuple[DType, tuple[int, ...], tuple[int, ...], int, int]]
    buffers: list[tuple[int, int, DType, tuple[int, ...], int, int]]
    steps: list[tuple[Op, tuple[Any, ...], list[int], list[int]]]
    constants: list[Tensor]
    outputs: list[int]


def laid_out(
    nodes: Sequence[Node], inputs: Sequence[Variable], outputs: Sequence[Variable], given: Sequence[Tensor],
    flags_of: Callable[[Op, DType], int | None],
) -> Layout:
    """Plan nodes for kernels that are elsewhere. Nothing is computed ahead but what sizes need, and each output fills a result of its own.

    Args:
        nodes, inputs, outputs: as for `plan`.
        given: a tensor for each input; symbolic ones serve, their values are not looked at.
        flags_of: the flags of the kernel for an op whose first input (without any: first output) has a dtype; None where there is none.

    Raises:
        SegmentBreak: the shape of a node's result depends on data; NeedsNumber: the shape of one depends on the value of an input.
        Unplannable: a node writes to what cannot be written to.
        NotImplementedError: there is neither a kernel nor a decomposition for an op; the message names it.
    """
    planner = _Planner(inputs, given, (), fold=False, flags_of=flags_of)
    for index, node in enumerate(nodes):
        planner.node(index, node)
    own: set[int] = set()
    for x in outputs:
        v = planner.values[id(x)]
        if v.known is None and (v.buffer.kind != ARENA or id(v.buffer) in own or not v.fills(v.buffer)):  # type: ignore[union-attr, arg-type]
            v = planner.values[id(x)] = planner.contiguous(v)
        own.add(id(v.buffer))
    handed, _ = planner.closed(outputs)
    slots: list[Any] = []
    buffers: list[Any] = []
    numbers: dict[int, int] = {}

    def slot(v: Value | None) -> int:
        if v is None:
            return -1
        if v.slot < 0:
            v.slot = len(slots)
            root = v.buffer.root()  # type: ignore[union-attr]
            if id(root) not in numbers:
                numbers[id(root)] = len(buffers)
                buffers.append(root)
            slots.append((v.dtype, v.shape, v.strides, numbers[id(root)], v.offset))
        return v.slot

    steps = [(step.op, step.attrs, [slot(v) for v in ins], [slot(v) for v in outs]) for step, ins, outs, _node in planner.steps]
    found = [slot(v) for v in handed]
    return Layout(slots, [(b.kind, b.index, b.dtype, b.shape, b.first, b.last) for b in buffers], steps, planner.constants, found)


class _Call(NamedTuple):
    """What a step needs to know where the kernel is elsewhere; a `Plan` says the same of kernels that are here."""

    op: Op
    attrs: tuple[Any, ...]
    kernel_flags: int


class _Planner:
    def __init__(
        self, inputs: Sequence[Variable], given: Sequence[Tensor], numbers: tuple[tuple[int, int], ...], fold: bool,
        flags_of: Callable[[Op, DType], int | None] | None = None, device: int = 0,
    ) -> None:
        self.device, self.on = device, _core.name_of_device(device)
        self.given, self.numbers, self.fold, self.flags_of = given, numbers, fold, flags_of
        self.steps: list[tuple[Any, list[Value | None], list[Value], Node]] = []
        self.externals: list[Buffer] = []
        self.constants: list[Tensor] = []
        self.values: dict[int, Value] = {}
        self.positions = {id(x): i for i, x in enumerate(inputs)}
        self.current: Node = None  # type: ignore[assignment]
        self.index = 0
        self.tiled: list[tuple[int, int, int, int, list[Value]]] = []  # first step, steps, tile, elements, values of a tile
        self.cut_values: set[int] = set()  # id of those that move on from tile to tile
        for i, (x, tensor) in enumerate(zip(inputs, given, strict=True)):
            shape = tuple(tensor.shape)
            buffer = Buffer(EXTERNAL, tensor.dtype, shape, i)
            self.externals.append(buffer)
            # Elsewhere they come without gaps.
            self.values[id(x)] = Value(buffer, tensor.dtype, shape, tuple(tensor.strides) if flags_of is None else None)
            if flags_of is not None and x.bound is tensor and tensor.dtype in INTEGER_DTYPES and tensor.size <= SIZES:
                self.values[id(x)].known = tensor  # a constant that a size may be computed with: the 1 of `arange(x.shape[1] + 1)`

    # Nodes.

    def node(self, index: int, node: Node) -> None:
        """Plan one node."""
        self.index, self.current = index, node
        if node.op is FUSED:
            self.fused(node)
            return
        inputs = [None if x is None else self.values[id(x)] for x in node.inputs]
        attrs = node.attrs
        if hold_sizes(attrs):
            attrs = resolved(attrs, self.sized)
        try:
            if node.in_place:
                self.write(node, inputs, attrs)
                return
            results = self.call(node.op, inputs, attrs)
        except (SegmentBreak, NeedsNumber, Unplannable, _Written):
            raise
        except Exception as error:
            if node.line:
                error.add_note(f"in {node.type}, recorded at {node.line}")
            raise
        for x, value in zip(node.outputs, results, strict=True):
            self.values[id(x)] = value

    def sized(self, x: Any) -> Any:
        """What `sizes.resolved` asks of a variable."""
        return _Sized(self, x, self.values[id(x)])

    def call(self, op: Op, inputs: list[Value | None], attrs: tuple[Any, ...]) -> list[Value]:
        """Plan one call; what stands for its results."""
        if op is ops.copy_to:
            if attrs[0] != self.on:
                if self.device:
                    raise SegmentBreak(self.index, alone=True)
                raise Unplannable
            op, attrs = ops.copy, ()
        if op.view:
            return [self.view(op, inputs, attrs)]
        if self.can_fold(op, inputs):
            folded = self.folded(op, inputs, attrs)
            if folded is not None:
                return folded
        plan, flags, has_kernel, allocates, metas = self.planned(op, [None if v is None else Meta(v.shape, v.dtype) for v in inputs], attrs)
        if allocates:
            raise SegmentBreak(self.index, alone=True)
        if not has_kernel:
            return self.decomposed(op, inputs, attrs)
        outs = [Value(Buffer(ARENA, dtype, shape), dtype, shape) for shape, dtype in metas]
        self.step(plan, flags, inputs, outs)
        return outs

    def planned(self, op: Op, metas: Sequence[Meta | None], attrs: tuple[Any, ...]) -> tuple[Any, int, bool, bool, Any]:
        """The plan of a call, the flags of its kernel, whether there is one, whether only it knows the shapes, and (shape, dtype) of each output."""
        if self.flags_of is None:
            try:
                plan = plan_of(op, metas, attrs, self.on)
            except NotImplementedError:
                if self.device:  # the dispatcher computes it on the cpu
                    raise SegmentBreak(self.index, alone=True) from None
                raise
            return (plan, *facts_of(plan), plan.outputs)
        outs = op.infer(tuple(None if m is None else _core.symbolic(m.shape, m.dtype) for m in metas), attrs)
        first = next((m for m in (*metas, *outs) if m is not None), None)
        flags = None if first is None else self.flags_of(op, first.dtype)
        if flags is None and op not in decompose.rules:
            got = ", ".join("None" if m is None else f"{m.dtype.name} {list(m.shape)}" for m in metas)
            raise NotImplementedError(f"{op.name}: there is no kernel for it. Got inputs {got}, expected a kernel or a decomposition.")
        allocates = any(n < 0 for m in outs for n in m.shape)
        return _Call(op, attrs, flags or 0), flags or 0, flags is not None, allocates, [(tuple(m.shape), m.dtype) for m in outs]

    def step(self, plan: Any, flags: int, inputs: list[Value | None], outs: list[Value]) -> None:
        """Add a kernel; inputs are made contiguous where it wants that."""
        if flags & WANTS_CONTIGUOUS:
            inputs = [
                v if v is None or v.is_contiguous or plan.op.uses_shape_only(i) else self.contiguous(v)
                for i, v in enumerate(inputs)
            ]
        at = len(self.steps)
        for i, v in enumerate(inputs):
            if v is not None and v.known is None and not plan.op.uses_shape_only(i):
                v.buffer.last = at  # type: ignore[union-attr]
        for v in outs:
            if v.buffer.first < 0:  # type: ignore[union-attr]
                v.buffer.first = at  # type: ignore[union-attr]
            v.buffer.last = at  # type: ignore[union-attr]
        self.steps.append((plan, inputs, outs, self.current))

    def contiguous(self, v: Value) -> Value:
        """A contiguous copy, as the dispatcher makes one."""
        out = Value(Buffer(ARENA, v.dtype, v.shape), v.dtype, v.shape)
        self.copy(v if v.known is None else self.place(v), out)
        return out

    def copy(self, x: Value, out: Value) -> None:
        """Add a step that copies elements."""
        self.step(self.planned(ops.copy, [Meta(x.shape, x.dtype)], ())[0], 0, [x], [out])

    def view(self, op: Op, inputs: list[Value | None], attrs: tuple[Any, ...]) -> Value:
        """A view: other strides on the same memory."""
        x = inputs[0]
        assert x is not None
        others = [None if v is None else (v.shape, v.dtype) for v in inputs[1:]]
        if x.known is not None:
            likes = [None if other is None else _core.symbolic(*other) for other in others]
            return self.constant(op.run((x.known, *likes), attrs))
        found = viewed(op, x.shape, x.strides, x.dtype, others, attrs)
        if found is None:
            x = self.contiguous(x)
            found = viewed(op, x.shape, x.strides, x.dtype, others, attrs)
        assert found is not None, f"{op.name}: no view of a contiguous tensor"
        shape, strides, offset, dtype = found
        return Value(x.buffer, dtype, shape, strides, x.offset + offset)

    def decomposed(self, op: Op, inputs: list[Value | None], attrs: tuple[Any, ...]) -> list[Value]:
        """An op without a kernel: the ops that it is made of."""
        program = Program()
        rule = decompose.rules[op]
        feeds = [None if v is None else program.feed(v.shape, v.dtype) for v in inputs]
        before = _core.set_grad_mode(False)
        try:
            with capture(program) as recording:
                found = rule(*feeds, **dict(zip(op.attr_names, attrs, strict=True)))
                results = [recording.variable_of(x) for x in (found if isinstance(found, (tuple, list)) else (found,))]
        finally:
            _core.set_grad_mode(before)
        env = {id(x): v for x, v in zip(feeds, inputs) if v is not None}
        for x in program.bound_variables():
            env[id(x)] = self.constant(x.bound)  # type: ignore[arg-type]
        inner = _Inner(self, env)
        for node in program.nodes:
            inner.node(node)
        return [env[id(x)] for x in results]

    # Fused nodes.

    def fused(self, node: Node) -> None:
        """Element-wise nodes that run tile by tile, where all of them have one shape, or in one kernel of a device; else one by one."""
        block = node.blocks[0]
        if self.device:
            self.in_chains(block.nodes, {id(x) for x in block.outputs})
        elif not self.in_tiles(block.nodes, [id(x) for x in block.outputs]):
            for part in block.nodes:
                self.node(self.index, part)
        for x, y in zip(node.outputs, block.outputs, strict=True):
            self.values[id(x)] = self.values[id(y)]
        self.current = node

    def in_chains(self, nodes: Sequence[Node], wanted: set[int]) -> None:
        """Plan nodes as kernels that the device's package makes for as many of them as it can; the others one by one."""
        maker = devices.chains.get(self.on.partition(":")[0])
        chains = None if maker is None else maker()
        last = {id(x): i for i, node in enumerate(nodes) for x in node.inputs if x is not None}
        at = 0
        while at < len(nodes):
            stop = at
            shape: tuple[int, ...] = ()
            shapes: dict[int, Any] = {}
            while chains is not None and stop < len(nodes):
                found = self.part_of_chain(nodes[stop], shapes, chains)
                if found is None or (stop > at and found != shape):
                    break
                shape, stop = found, stop + 1
            if stop - at > 1 and self.chain(nodes[at:stop], {x for x in shapes if x in wanted or last.get(x, -1) >= stop}, shapes, shape, chains):
                at = stop
                continue
            self.node(self.index, nodes[at])
            at += 1

    def part_of_chain(self, node: Node, made: dict[int, Any], chains: Any) -> tuple[int, ...] | None:
        """The shape of a node's result, which is entered in `made` with its dtype; None where it has to run by itself."""
        metas: list[Meta | None] = []
        for x in node.inputs:
            if x is None or id(x) in made:
                metas.append(None if x is None else made[id(x)])
            else:
                metas.append(Meta(self.values[id(x)].shape, self.values[id(x)].dtype))
        if any(type(value) is tuple or has_sizes(value) for value in node.attrs):
            return None
        if all(x is None or (id(x) in self.values and id(x) not in made and self.values[id(x)].known is not None) for x in node.inputs):
            return None  # it is computed now
        _plan, _flags, has_kernel, allocates, outs = self.planned(node.op, metas, node.attrs)
        if not has_kernel or allocates or 0 in outs[0][0]:
            return None
        shape, dtype = outs[0]
        if not chains.takes(node.op, [None if m is None else m.dtype for m in metas], node.attrs, dtype):
            return None
        made[id(node.outputs[0])] = Meta(shape, dtype)
        return shape

    def chain(self, nodes: Sequence[Node], wanted: set[int], metas: dict[int, Meta], shape: tuple[int, ...], chains: Any) -> bool:
        """Plan nodes of one shape as one kernel, which makes the values that are `wanted`; False, and nothing done, where there is none."""
        if not wanted:
            return True
        inputs: dict[int, Any] = {}  # id of a variable -> the value, in the order of the operands
        for node in nodes:
            for x in node.inputs:
                if x is not None and id(x) not in metas:
                    inputs[id(x)] = self.values[id(x)]
        numbers = {at: i for i, at in enumerate(inputs)}
        operands: list[tuple[Any, ...]] = []
        taken: list[Value | None] = []
        for v in inputs.values():
            if v.known is not None and _count(v.shape) == 1:
                operands.append((v.dtype, v.shape, v.strides, v.known.cpu().numpy().tobytes()))
                taken.append(None)
                continue
            operands.append((v.dtype, v.shape, v.strides, None))
            taken.append(v)
        program = []
        for node in nodes:
            program.append((node.op, tuple(None if x is None else numbers[id(x)] for x in node.inputs), node.attrs, metas[id(node.outputs[0])].dtype))
            numbers[id(node.outputs[0])] = len(numbers)
        made = [id(node.outputs[0]) for node in nodes if id(node.outputs[0]) in wanted]
        found = chains.make(program, operands, [numbers[at] for at in made], shape, int(self.on.partition(":")[2] or 0))
        if found is None:
            return False
        outs = [Value(Buffer(ARENA, metas[at].dtype, shape), metas[at].dtype, shape) for at in made]
        self.current = nodes[-1]
        self.step(Fused(found), 0, [v if v is None or v.known is None else self.place(v) for v in taken], outs)
        self.values.update(zip(made, outs))
        return True

    def in_tiles(self, nodes: Sequence[Node], wanted: Sequence[int]) -> bool:
        """Plan nodes as a loop over tiles; False, and nothing done, where they cannot be."""
        made = {id(node.outputs[0]) for node in nodes}
        given = {id(x): self.values[id(x)] for node in nodes for x in node.inputs if x is not None and id(x) not in made}
        shape = max((v.shape for v in given.values()), key=_count, default=())
        count, threads = _count(shape), _core.get_num_threads()
        tile = TILE * threads
        if self.flags_of is not None or count < 2 * tile or any(
            _count(v.shape) != 1 and (v.shape != shape or not v.is_contiguous or v.known is not None) or len(v.shape) > len(shape)
            for v in given.values()
        ):
            return False
        parts, cut = self._tiles_of(given, tile)
        planned = []
        whole: dict[int, Value] = {}
        for node in nodes:
            inputs = [None if x is None else parts[id(x)] for x in node.inputs]
            if not any(v is not None and v.shape == (tile,) for v in inputs):
                return False
            plan = plan_of(node.op, [None if v is None else Meta(v.shape, v.dtype) for v in inputs], node.attrs)
            flags, has_kernel, allocates = facts_of(plan)
            if not has_kernel or allocates or [out for out, _dtype in plan.outputs] != [(tile,)]:
                return False
            (x,), dtype = node.outputs, plan.outputs[0][1]
            if id(x) in wanted:
                whole[id(x)] = Value(Buffer(ARENA, dtype, shape), dtype, shape)
                part = Value(whole[id(x)].buffer, dtype, (tile,), (1,))
                part.whole = False
                cut.append(part)
            else:
                part = Value(Buffer(ARENA, dtype, (tile,)), dtype, (tile,))
            parts[id(x)] = part
            planned.append((plan, flags, inputs, part, node))
        first = len(self.steps)
        for plan, flags, inputs, part, node in planned:
            self.current = node
            self.step(plan, flags, inputs, [part])
        last = len(self.steps) - 1
        inner = [v for v in parts.values() if v.shape == (tile,)]
        for v in cut:  # each round begins with them and ends with them
            v.buffer.last = max(v.buffer.last, last)  # type: ignore[union-attr]
            if v.buffer.first >= first:  # type: ignore[union-attr]
                v.buffer.first = first  # type: ignore[union-attr]
        self.values.update(whole)
        self.tiled.append((first, len(planned), tile, count, inner))
        self.cut_values.update(id(v) for v in cut)
        return True

    @staticmethod
    def _tiles_of(given: Mapping[int, Value], tile: int) -> tuple[dict[int, Value], list[Value]]:
        """The inputs of a loop over tiles as a round reads them, and those among them of which it reads a piece."""
        parts, cut = {}, []
        for at, v in given.items():
            if _count(v.shape) == 1:
                parts[at] = v if v.known is not None or not v.shape else Value(v.buffer, v.dtype, (), (), v.offset)
                continue
            parts[at] = Value(v.buffer, v.dtype, (tile,), (1,), v.offset)
            parts[at].whole = False  # not what `reuse` may take over
            cut.append(parts[at])
        return parts, cut

    # In place.

    def write(self, node: Node, inputs: list[Value | None], attrs: tuple[Any, ...]) -> None:
        """A node that writes over values which exist."""
        outs = [self.values[id(x)] for x in node.outputs]
        self.write_into(node.op, outs, inputs, attrs)

    def write_into(self, op: Op, outs: list[Value], inputs: list[Value | None], attrs: tuple[Any, ...]) -> None:
        """A call whose results go to places that exist."""
        if op.view or op is ops.copy_to or any(any(n > 1 and step == 0 for n, step in zip(v.shape, v.strides)) for v in outs):
            raise Unplannable
        if any(v.known is not None for v in outs):
            raise _Written
        plan, flags, has_kernel, allocates, metas = self.planned(op, [None if v is None else Meta(v.shape, v.dtype) for v in inputs], attrs)
        if allocates or [(v.shape, v.dtype) for v in outs] != list(metas):
            raise Unplannable  # the dispatcher says what is wrong
        for v in outs:
            if v.buffer.kind == EXTERNAL:  # type: ignore[union-attr]
                v.buffer.writes += 1  # type: ignore[union-attr]
        if not has_kernel:
            sources: list[Value] = self.decomposed(op, inputs, attrs)
        else:
            sources = [
                v if self.writes_straight(flags, v, inputs, i) else Value(Buffer(ARENA, v.dtype, v.shape), v.dtype, v.shape)
                for i, v in enumerate(outs)
            ]
            self.step(plan, flags, inputs, sources)
        for v, source in zip(outs, sources):
            if source is not v:
                self.copy(source, v)

    @staticmethod
    def writes_straight(flags: int, out: Value, inputs: list[Value | None], index: int) -> bool:
        """Whether the kernel may write into `out` without reading what it has overwritten, as the dispatcher decides."""
        if not out.is_contiguous and not flags & STRIDED_OUTPUT:
            return False
        for i, x in enumerate(inputs):
            if x is None or x.known is not None or x.buffer is not out.buffer:
                continue
            if not flags & MAY_ALIAS or i != index or x.offset != out.offset or x.shape != out.shape:
                return False
            if not _same_strides(x.shape, x.strides, out.strides):
                return False
        return True

    # Known values.

    def constant(self, tensor: Tensor) -> Value:
        """A value that is known already."""
        v = Value(None, tensor.dtype, tuple(tensor.shape), tuple(tensor.strides))
        v.known = tensor
        return v

    def can_fold(self, op: Op, inputs: list[Value | None]) -> bool:
        """Whether it may be computed now."""
        if op.random or not all(v is None or v.known is not None or op.uses_shape_only(i) for i, v in enumerate(inputs)):
            return False
        return self.fold or any(v is not None for v in inputs)  # what depends on shapes may be needed for sizes

    def folded(self, op: Op, inputs: list[Value | None], attrs: tuple[Any, ...]) -> list[Value] | None:
        """The results of an op that depends on nothing that a run brings; None where they are too large to keep."""
        metas = op.infer(tuple(None if v is None else _core.symbolic(v.shape, v.dtype) for v in inputs), attrs)
        if any(n < 0 for meta in metas for n in meta.shape) or any(meta.size > MOST_FOLDED for meta in metas):
            return None
        if self.flags_of is not None and any(meta.size > SIZES or meta.dtype not in INTEGER_DTYPES for meta in metas):
            return None  # what may be a size, or be compared with one
        tensors = tuple(None if v is None else v.known if v.known is not None else _core.symbolic(v.shape, v.dtype) for v in inputs)
        results = op.run(tensors, attrs)
        return [self.constant(x) for x in (results if isinstance(results, tuple) else (results,))]

    def place(self, v: Value) -> Value:
        """The value with memory: a known one becomes an external of the plan."""
        if v.buffer is None:
            if self.flags_of is None and v.known is not None:
                v.known = _core.to_device(v.known, self.device)
            v.buffer = Buffer(EXTERNAL, v.dtype, v.shape, len(self.externals))
            self.externals.append(v.buffer)
            self.constants.append(v.known)  # type: ignore[arg-type]
        return v

    # Memory.

    def closed(self, outputs: Sequence[Variable]) -> tuple[list[Value], list[Buffer]]:
        """No node comes any more: what is handed out, and the results that it lies in."""
        handed = [self.values[id(x)] for x in outputs]
        for i, v in enumerate(handed):
            if v.known is not None:  # it belongs to the plan; whoever gets it may write to it
                out = Value(Buffer(ARENA, v.dtype, v.shape), v.dtype, v.shape)
                self.copy(self.place(v), out)
                handed[i] = out
        for _plan, ins, _outs, _node in self.steps:
            for x in ins:
                if x is not None and x.known is not None:
                    self.place(x)
        for v in handed:
            if v.buffer.kind == ARENA:  # type: ignore[union-attr]
                v.buffer.kind, v.buffer.last = RESULT, ALWAYS  # type: ignore[union-attr]
        self.reuse()
        results: list[Buffer] = []
        for v in handed:
            root = v.buffer.root()  # type: ignore[union-attr]
            if root.kind == RESULT and root.index < 0:
                root.index = len(results)
                results.append(root)
        return handed, results

    def finished(self, outputs: Sequence[Variable], arenas: Arenas) -> Planned:
        """Lay the memory out and hand everything over."""
        handed, results = self.closed(outputs)
        arena = self.lay_out()
        slots, steps = self.wired()
        n = len(self.given)
        externals = [
            (x.dtype.code, tuple(x.shape), tuple(x.strides), b.writes) for x, b in zip((*self.given, *self.constants), self.externals, strict=True)
        ]
        assert len(externals) == n + len(self.constants)
        rows: list[Any] = []
        for v in handed:
            root = v.buffer.root()  # type: ignore[union-attr]
            whole = v.whole and v.shape == root.shape and v.dtype is root.dtype if root.kind == RESULT else self.is_input(v, root)
            rows.append((root.kind, root.index, whole, v.dtype.code, v.offset, v.shape, v.strides))
        return Planned(
            externals, self.constants, [(b.dtype.code, b.shape) for b in results], slots, steps, rows, arena, arenas, self.numbers,
            device=self.device, tiles=[
                (first, n, tile, count, [v.slot for v in values if id(v) in self.cut_values], [v.slot for v in values])
                for first, n, tile, count, values in self.tiled
            ],
        )

    def is_input(self, v: Value, root: Buffer) -> bool:
        """Whether it is the tensor that was given."""
        return any(self.values[at] is v for at, i in self.positions.items() if i == root.index)

    def reuse(self) -> None:
        """Let outputs take over the memory of inputs that end where they begin, where kernels allow it."""
        for at, (plan, ins, outs, _node) in enumerate(self.steps):
            if not plan.kernel_flags & MAY_ALIAS:
                continue
            roots = [None if v is None else v.buffer.root() for v in ins]  # type: ignore[union-attr]
            for i, out in enumerate(outs[: len(ins)]):
                x, mine = ins[i], out.buffer
                if x is None or mine.first != at or mine.part_of is not None or mine.kind == EXTERNAL:  # type: ignore[union-attr]
                    continue
                root = roots[i]
                if root.kind != ARENA or root.last != at or not x.whole or not out.whole or root is mine:  # type: ignore[union-attr]
                    continue
                if x.shape != out.shape or x.dtype is not out.dtype or root.shape != x.shape or root.dtype is not x.dtype:  # type: ignore[union-attr]
                    continue
                if any(other is root for j, other in enumerate(roots) if j != i) or any(o.buffer.root() is root for o in outs):  # type: ignore[union-attr]
                    continue
                mine.part_of = root  # type: ignore[union-attr]
                root.last, root.kind = mine.last, mine.kind  # type: ignore[union-attr]

    def lay_out(self) -> int:
        """Offsets in the arena, best fit; returns how many bytes it has."""
        begin: dict[int, list[Buffer]] = {}
        seen: set[int] = set()
        for _plan, ins, outs, _node in self.steps:
            for v in (*ins, *outs):
                if v is None:
                    continue
                root = v.buffer.root()  # type: ignore[union-attr]
                if root.kind == ARENA and id(root) not in seen:
                    seen.add(id(root))
                    begin.setdefault(root.first, []).append(root)
        end: dict[int, list[Buffer]] = {}
        holes: list[tuple[int, int]] = []  # (bytes, offset), by size
        by_offset: dict[int, int] = {}  # offset of a hole -> bytes
        by_end: dict[int, int] = {}  # end of a hole -> offset
        top = 0

        def drop(offset: int) -> int:
            nbytes = by_offset.pop(offset)
            del by_end[offset + nbytes]
            del holes[bisect_left(holes, (nbytes, offset))]
            return nbytes

        def add(offset: int, nbytes: int) -> None:
            by_offset[offset], by_end[offset + nbytes] = nbytes, offset
            insort(holes, (nbytes, offset))

        for at in range(len(self.steps)):
            begun = begin.get(at, ())
            for b in sorted(begun, key=lambda b: -b.nbytes) if len(begun) > 1 else begun:
                wanted = max(ALIGNMENT, -(-b.nbytes // ALIGNMENT) * ALIGNMENT)
                i = bisect_left(holes, (wanted, 0))
                if i < len(holes):
                    nbytes, b.offset = holes[i]
                    drop(b.offset)
                    if nbytes > wanted:
                        add(b.offset + wanted, nbytes - wanted)
                elif top in by_end:  # the last hole, and more
                    b.offset = by_end[top]
                    drop(b.offset)
                    top = b.offset + wanted
                else:
                    b.offset, top = top, top + wanted
                end.setdefault(b.last, []).append(b)
            for b in end.pop(at, ()):
                offset, nbytes = b.offset, max(ALIGNMENT, -(-b.nbytes // ALIGNMENT) * ALIGNMENT)
                if offset + nbytes in by_offset:
                    nbytes += drop(offset + nbytes)
                if offset in by_end:
                    before = by_end[offset]
                    nbytes += drop(before)
                    offset = before
                add(offset, nbytes)
        return top

    def wired(self) -> tuple[list[Any], list[Any]]:
        """Slots in the order of their places, and the steps with numbers of slots."""
        rows: list[tuple[Any, ...]] = []
        values: list[Value] = []
        for _plan, ins, outs, _node in self.steps:
            for v in (*ins, *outs):
                if v is not None and v.slot < 0:
                    v.slot = len(values)
                    values.append(v)
                    root = v.buffer.root()  # type: ignore[union-attr]
                    base = root.offset if root.kind == ARENA else 0
                    rows.append((v.dtype.code, v.shape, v.strides, root.kind, root.index, base + v.offset))
        order = sorted(range(len(rows)), key=lambda i: (rows[i][3], rows[i][4]))
        for new, old in enumerate(order):
            values[old].slot = new
        steps = [
            (plan, [-1 if v is None else v.slot for v in ins], [v.slot for v in outs], node) for plan, ins, outs, node in self.steps
        ]
        return [rows[i] for i in order], steps


class _Inner:
    """Plans the nodes of a decomposition, in the place of the node that it belongs to."""

    def __init__(self, planner: _Planner, env: dict[int, Value]) -> None:
        self.planner, self.env = planner, env

    def node(self, node: Node) -> None:
        """Plan one node of it."""
        planner, env = self.planner, self.env
        inputs = [None if x is None else env[id(x)] for x in node.inputs]

        def sized(x: Any) -> Any:
            return _Sized(planner, None, env[id(x)])

        attrs = resolved(node.attrs, sized)
        if node.is_control:
            raise SegmentBreak(planner.index, alone=True)
        if node.in_place:
            planner.write_into(node.op, [env[id(x)] for x in node.outputs], inputs, attrs)
            return
        for x, value in zip(node.outputs, planner.call(node.op, inputs, attrs), strict=True):
            env[id(x)] = value


class _Sized:
    """A value as `sizes.resolved` sees it."""

    def __init__(self, planner: _Planner, x: Any, value: Value) -> None:
        self.planner, self.x, self.value = planner, x, value
        self.shape = value.shape

    def item(self) -> int:
        """The one number that it holds."""
        planner = self.planner
        if self.value.known is not None:
            return int(self.value.known.item())
        at = planner.positions.get(id(self.x))
        if at is None or self.value.buffer is not planner.externals[at]:
            raise SegmentBreak(planner.index, alone=self.x is None or planner.index == 0)
        for position, number in planner.numbers:
            if position == at:
                return number
        raise NeedsNumber(at)

