"""From a program to a description for the page's engine: steps that call its kernels, values with shapes, conditionals and loops.

    described = Description(program, engine)
    described.content       # as JSON: core.js reads it
    described.weights       # (number, Tensor, its variable's name, op that takes it first) of each weight

A program is planned by the planner of wherry_program, with the kernels of the page's engine in place of those of this machine. What
depends on open sizes stays a polynomial of them; the memory is laid out in the page. Not served, and refused with the name of the op:
shapes that depend on data, random numbers, calls of Python, lists.
"""
from __future__ import annotations

import functools
import math
import re
from collections.abc import Callable, Collection, Sequence
from typing import Any

import wherry_tensor as api
from wherry_export.web.engine_files import Built, Kernel
from wherry_export.web.sizes import BATCH, Floors, NotAlike, choices, merged, small, value_at
from wherry_program import passes
from wherry_program.program.ir import Block, Node, Program, Variable
from wherry_program.run.planner import NeedsNumber, SegmentBreak, Unplannable, laid_out
from wherry_tensor import _core
from wherry_tensor._core import DType, Op, Tensor
from wherry_tensor.ops.declare import decompose

__all__ = ["Description", "Weight", "for_pages"]

SMALL = 64  # elements of a constant that the decomposition of an op brings along
CONSTANTS = ("bool", "uint8", "int8", "int16", "int32", "int64", "float32", "float64")
LARGEST = 1 << 53  # the largest integer that JavaScript represents exactly
MADE_UP = re.compile(r"save_infer_model/scale_\d+\.tmp_\d+")
NAME = {"cond": "if", "while": "while"}


def for_pages(program: Program) -> Program:
    """Apply the passes for inference, except those that make weights larger to download."""
    return passes.through(program, [
        passes.dead_code, passes.constants, passes.common_subexpressions, passes.redundant, passes.dead_code, passes.packed_constants,
        passes.integers, passes.frozen_constants, passes.biases, passes.batch_norm, passes.attention, passes.frozen_constants,
        passes.dead_code, functools.partial(passes.blocked, winograd=False), passes.epilogues, passes.frozen_constants, passes.dead_code,
    ])


class Weight:
    """A tensor of a bundle.

    Attributes:
        id: the number of the value.
        tensor, name: what it holds, and what the program calls it.
        users: (op, which input) that read it.
        is_quantized: do kernels read it as int8?
    """

    def __init__(self, number: int, tensor: Tensor, name: str, is_quantized: bool = False) -> None:
        self.id, self.tensor, self.name, self.is_quantized = number, tensor, name, is_quantized
        self.users: list[tuple[str, int]] = []


class Description:
    """A program as the page's engine runs it.

    Args:
        program: with feeds and fetches; not changed.
        engine: whose kernels there are.
        quantized: ids of tensors that are int8 weights (int8.py).

    Attributes:
        content: for JSON.
        weights: all of them; core.js finds each by its number.
        sizes: names of the open sizes.
        rows: (op, dtype, *kernel) of each kernel that was asked for and found, one for each op and dtype.

    Raises:
        NotImplementedError: the program has what the engine does not do; the message names the op and its line.
    """

    def __init__(self, program: Program, engine: Built, quantized: Collection[int] = ()) -> None:
        self.program, self.engine, self.quantized = program, engine, quantized
        self.weights: list[Weight] = []
        self.kernels: set[Kernel] = set()
        self._found: dict[tuple[str, int], Kernel] = {}
        self.relaxed: dict[int, Kernel] = {}  # for places in the table of functions: the kernel with relaxed SIMD
        self.content: dict[str, Any] = {}
        error: Exception | None = None
        for names in _ways_to_name(program.feeds):
            self.shapes = names
            self.sizes = list(dict.fromkeys(n for shape in names for n in shape if isinstance(n, str)))
            try:
                self.content = self._for_all_sizes()
                break
            except (ValueError, TypeError) as found:
                error = found
        else:
            assert error is not None
            raise error

    def module(self) -> bytes:
        """The engine with the kernels that the program needs."""
        return self.engine.with_only(self.kernels)

    def relaxed_module(self) -> bytes | None:
        """The same for browsers with relaxed SIMD; None if it would not differ."""
        return self.engine.with_only(self.kernels, self.relaxed) if self.relaxed else None

    @property
    def rows(self) -> list[tuple[Any, ...]]:
        return [(op, dtype, *kernel) for (op, dtype), kernel in self._found.items()]

    def _for_all_sizes(self) -> dict[str, Any]:
        sizes = choices(len(self.sizes))
        self.steps: dict[tuple[int, int], tuple[Op, Node]] = {}
        try:
            found = [self._planned(choice) for choice in sizes]
            content: dict[str, Any] = merged(found, sizes)
        except (NotAlike, ValueError) as first:  # sizes after strides; or too small for a window
            if not self.sizes:
                raise
            try:
                floors = Floors(self.sizes)
                content = {**floors.merged([self._planned(choice) for choice in floors.choices]), "floors": floors.terms}
            except NotAlike as error:
                raise NotImplementedError(self._said(error, floors.choices)) from None
            except ValueError:
                raise first from None
        for choice in small(len(self.sizes)):
            self._check_small(content, choice)
        content["inputs"] = [
            {"name": x.name, "id": self._number(x), "dtype": x.dtype.name, "shape": shape}
            for x, shape in zip(self.program.feeds, self.shapes, strict=True)
        ]
        return {"format": 1, "sizes": self.sizes, **content}

    def _check_small(self, content: dict[str, Any], choice: tuple[int, ...]) -> None:
        """Check that the shapes are also right for small sizes: `min(n, 3)` is 3 for all that polynomials are made from."""
        numbers = [*choice, *((choice[i] + a) // s for i, a, s in content.get("floors", []))]
        if any(n < 1 for n in numbers):
            return  # too small for a window: the page reports it
        try:
            plan = self._planned(choice)
        except (ValueError, TypeError):
            return  # the model refuses these sizes
        for x, found, wanted in zip(self.program.fetches, content["outputs"], plan["outputs"], strict=True):
            if [value_at(n, numbers) for n in found["shape"]] != wanted["shape"]:
                node = next((node for node in self.program.blocks[0].nodes if any(x is y for y in node.outputs)), None)
                raise NotImplementedError(
                    f"web: {node.type if node else 'the program'}{f', recorded at {node.line},' if node and node.line else ''} gives output "
                    f"'{found['name']}' a shape that is not the same product of the open sizes for all of them. Got {wanted['shape']} for "
                    f"{dict(zip(self.sizes, choice))}, expected {_written(found['shape'], self.sizes)}. Give input_spec with fixed sizes."
                )

    def _planned(self, choice: Sequence[int]) -> dict[str, Any]:
        self.values: dict[int, int] = {}
        self.weights = []
        self.by_tensor: dict[int, Weight] = {}
        return self._for(dict(zip(self.sizes, choice, strict=True)))

    @property
    def floors(self) -> list[str]:
        """What stands after the open sizes in the powers of polynomials, as people read it."""
        return [f"(({self.sizes[i]} {'+' if a >= 0 else '-'} {abs(a)}) // {s})" for i, a, s in self.content.get("floors", [])]

    def _said(self, error: NotAlike, sizes: Sequence[tuple[int, ...]]) -> str:
        got = ", ".join(f"{value} for {dict(zip(self.sizes, choice))}" for choice, value in list(zip(sizes, error.values))[:3])
        return (
            f"web: with open sizes {', '.join(self.sizes)} the program is not the same for all of them (at {'.'.join(map(str, error.path))}). "
            f"Got {got[:300]}, expected products of them and of what strides make of them. Give input_spec with fixed sizes, or leave only the "
            f"batch open."
        )

    # For one choice of the open sizes.

    def _for(self, sizes: dict[str, int]) -> dict[str, Any]:
        metas: dict[int, tuple[tuple[int, ...], DType]] = {}
        for x, shape in zip(self.program.feeds, self.shapes, strict=True):
            metas[id(x)] = tuple(sizes[n] if isinstance(n, str) else n for n in shape), x.dtype
        for x in self.program.feeds:
            self._number(x)
        block = self._block(self.program.blocks[0], self.program.fetches, metas)
        outputs = [
            {"name": name, "id": self._number(x), "dtype": x.dtype.name, "shape": list(metas[id(x)][0]) if id(x) in metas else list(x.sizes)}
            for name, x in zip(_names(self.program.fetches), self.program.fetches, strict=True)
        ]
        return {"outputs": outputs, "block": block}

    def _number(self, x: Variable) -> int:
        """The number of a variable's value; what is bound becomes a weight."""
        if id(x) not in self.values:
            if x.bound is not None:
                if id(x.bound) not in self.by_tensor:
                    self.by_tensor[id(x.bound)] = Weight(len(self.values), x.bound, x.name, id(x.bound) in self.quantized)
                    self.weights.append(self.by_tensor[id(x.bound)])
                    self.values[id(x)] = len(self.values)
                else:
                    self.values[id(x)] = self.by_tensor[id(x.bound)].id
                return self.values[id(x)]
            self.values[id(x)] = len(self.values)
        return self.values[id(x)]

    def _block(self, block: Block, wanted: Sequence[Variable], metas: dict[int, tuple[tuple[int, ...], DType]]) -> list[dict[str, Any]]:
        """The items of a block: sequences of nodes between conditionals and loops."""
        items: list[dict[str, Any]] = []
        nodes: list[Node] = []
        all_nodes = list(block.nodes)
        for at, node in enumerate([*all_nodes, None]):
            if node is not None and not node.is_control:
                nodes.append(node)
                continue
            if node is not None and node.op.name == "fused_elementwise":
                nodes.append(node)
                continue
            if nodes:
                items.append(self._run(nodes, all_nodes[at:], wanted, metas))
                nodes = []
            if node is not None:
                items.append(self._control(node, metas))
        if not items and any(id(x) not in metas and x.bound is None for x in wanted):
            raise ValueError("web: the program hands out what nothing computes. Expected a node or a feed for each output.")
        return items

    def _run(self, nodes: list[Node], later: Sequence[Node], wanted: Sequence[Variable], metas: dict[int, Any]) -> dict[str, Any]:
        made = {id(x) for node in nodes if not node.in_place for x in node.outputs}
        inputs: dict[int, Variable] = {}
        for node in nodes:
            for x in (*node.reads(), *(node.outputs if node.in_place else ())):
                if id(x) not in made:
                    inputs.setdefault(id(x), x)
            if node.in_place and any(x.bound is not None for x in node.outputs):
                raise NotImplementedError(_cannot(node, "it writes to a weight", "Export the model in eval()"))
        kept = {id(x) for node in later for x in (*node.reads(), *node.writes())} | {id(x) for x in wanted}
        outputs = [x for node in nodes if not node.in_place for x in node.outputs if id(x) in kept]
        given = []
        for x in inputs.values():
            if x.bound is None and id(x) not in metas:
                raise ValueError(f"web: variable '{x.name}' has no value. Got neither a feed nor a node that makes it. Load the parameters first.")
            given.append(x.bound if x.bound is not None else _core.symbolic(*metas[id(x)]))
        try:
            layout = laid_out(nodes, list(inputs.values()), outputs, given, self._flags)
        except SegmentBreak as end:
            why, instead = "the shape of its result depends on data", "Take it out of the model, and do it in JavaScript"
            raise NotImplementedError(_cannot(nodes[end.index], why, instead)) from None
        except NeedsNumber as needed:
            x = list(inputs.values())[needed.position]
            raise NotImplementedError(
                f"web: a size of the program is the value of '{x.name}'. Got a shape that depends on data, expected one that follows from the "
                f"shapes of the inputs. Make that value a constant of the model."
            ) from None
        except NotImplementedError as refusal:  # of an op without a kernel; the planner notes where it stands
            raise NotImplementedError(" ".join([str(refusal), *(f"It is {note}." for note in getattr(refusal, "__notes__", ()))])) from None
        except Unplannable:
            raise NotImplementedError(_cannot(nodes[0], "it writes to memory that others look at", "Write it without in-place operations")) from None
        for x, slot in zip(outputs, layout.outputs, strict=True):
            metas[id(x)] = layout.slots[slot][1], layout.slots[slot][0]
        return self._item(layout, list(inputs.values()), outputs)

    def _flags(self, op: Op, dtype: DType) -> int | None:
        kernel = self.engine.kernel(op, dtype)
        if kernel is None and op.random:
            raise NotImplementedError(
                f"web: {op.name} draws random numbers, which the engine for browsers does not. Got it in the program, expected a model that "
                f"predicts. Export it in eval(), or pass the numbers as an input."
            )
        if kernel is None and op not in decompose.rules:
            raise NotImplementedError(
                f"web: {op.name} ({dtype.name}) has no kernel in the engine for browsers, and no decomposition. Got it in the program, expected ops "
                f"that have one of them. Compute it before or after the model."
            )
        if kernel is None:
            return None
        self._found[op.name, dtype.code] = kernel
        return kernel.flags

    def _item(self, layout: Any, inputs: list[Variable], outputs: list[Variable]) -> dict[str, Any]:
        steps, names = [], []
        for op, attrs, ins, outs in layout.steps:
            kinds = [layout.slots[slot][0] for slot in (*ins, *outs) if slot >= 0]
            kernel = self.engine.kernel(op, kinds[0])
            weight = _bound(layout, inputs, ins[1]) if self.quantized and len(ins) > 1 and ins[1] >= 0 else None
            if weight is not None and id(weight) in self.quantized:
                kernel = self.engine.int8_kernel(op, kinds[0])
                faster = self.engine.int8_kernel(op, kinds[0], relaxed=True)
                if kernel is not None and faster is not None:
                    self.relaxed[kernel.place] = faster
            assert kernel is not None, op.name
            self.kernels.add(kernel)
            steps.append([kernel.place, kernel.data, ins, outs, [_attr(op, value) for value in attrs]])
            names.append(op.name)
        numbers = [self._number(x) for x in inputs]
        constants = []
        for tensor in layout.constants:
            if tensor.size > SMALL or tensor.dtype.name not in CONSTANTS:
                raise NotImplementedError(
                    f"web: a constant that an op brings along is too large. Got {tensor.dtype.name} {list(tensor.shape)}, expected at most "
                    f"{SMALL} numbers of {', '.join(CONSTANTS)}. Compute it outside of the model."
                )
            values = api.flatten(tensor).tolist()
            constants.append([tensor.dtype.code, list(tensor.shape), [_real(v) if isinstance(v, float) else _whole(int(v)) for v in values]])
        results: dict[int, int] = {}
        for i, slot in enumerate(layout.outputs):
            kind, index = layout.buffers[layout.slots[slot][3]][:2]
            if kind == 2:
                results.setdefault(index, i)
        self._note_users(layout, inputs)
        return {
            "kind": "run", "in": numbers, "out": [self._number(x) for x in outputs], "outputs": layout.outputs,
            "results": [results[i] for i in range(len(results))],
            "slots": [
                [dtype.code, list(shape), None if _is_contiguous(shape, strides) else list(strides), buffer, offset]
                for dtype, shape, strides, buffer, offset in layout.slots
            ],
            "buffers": [
                [kind, index, dtype.code, list(shape), first, min(last, len(steps))] for kind, index, dtype, shape, first, last in layout.buffers
            ],
            "steps": steps, "ops": names, "constants": constants,
        }

    def _note_users(self, layout: Any, inputs: list[Variable]) -> None:
        by_id = {weight.id: weight for weight in self.weights}
        for op, _attrs, ins, _outs in layout.steps:
            for position, slot in enumerate(ins):
                if slot < 0:
                    continue
                kind, index = layout.buffers[layout.slots[slot][3]][:2]
                if kind == 1 and index < len(inputs):
                    weight = by_id.get(self._number(inputs[index]))
                    if weight is not None:
                        weight.users.append((op.name, position))

    # Conditionals and loops.

    def _control(self, node: Node, metas: dict[int, Any]) -> dict[str, Any]:
        kind = NAME.get(node.op.name)
        if kind is None:
            raise NotImplementedError(_cannot(node, "it needs Python, or lists", "Take it out of the model"))
        before = dict(metas)
        if kind == "if":
            blocks = []
            for block in node.blocks:
                inner = dict(before)
                blocks.append(self._block(block, block.outputs, inner))
                for x, y in zip(node.outputs, block.outputs, strict=True):
                    self._agrees(node, metas, x, _meta(y, inner))
            return {
                "kind": kind, "blocks": blocks, "condition": self._number(node.inputs[0]),  # type: ignore[arg-type]
                "given": [[self._number(x) for x in block.outputs] for block in node.blocks], "carried": self._carried(node, metas),
            }
        test, body = node.blocks
        inner = dict(before)
        for x, began in zip(node.outputs, node.inputs, strict=True):
            self._agrees(node, metas, x, _meta(began, before))  # type: ignore[arg-type]
        for x in node.outputs:
            inner[id(x)] = metas[id(x)]
        for block in (test, body):
            for x, y in zip(block.inputs, node.outputs, strict=True):
                inner[id(x)] = metas[id(y)]
                self.values[id(x)] = self._number(y)  # the carried value itself
        blocks = [self._block(test, test.outputs, inner), self._block(body, body.outputs, inner)]
        for x, y in zip(node.outputs, body.outputs, strict=True):
            self._agrees(node, metas, x, _meta(y, inner))
        return {
            "kind": kind, "blocks": blocks, "condition": self._number(test.outputs[0]),
            "start": [self._number(x) for x in node.inputs],  # type: ignore[arg-type]
            "given": [self._number(x) for x in body.outputs], "carried": self._carried(node, metas),
        }

    def _agrees(self, node: Node, metas: dict[int, Any], x: Variable, meta: tuple[tuple[int, ...], DType]) -> None:
        if metas.setdefault(id(x), meta) != meta:
            why = f"the shape of '{x.name}' is {list(metas[id(x)][0])} or {list(meta[0])}"
            raise NotImplementedError(_cannot(node, why, "Let both branches, and every round, give one shape"))

    def _carried(self, node: Node, metas: dict[int, Any]) -> list[dict[str, Any]]:
        return [{"id": self._number(x), "dtype": metas[id(x)][1].code, "shape": list(metas[id(x)][0])} for x in node.outputs]


def _written(shape: Sequence[Any], sizes: Sequence[str]) -> list[Any]:
    """A shape with names for what is open."""
    return [n if isinstance(n, int) else "an open size" if len(sizes) != 1 else f"one that follows from {sizes[0]}" for n in shape]


def _bound(layout: Any, inputs: Sequence[Variable], slot: int) -> Tensor | None:
    """The tensor to which a slot is bound, if any."""
    kind, index = layout.buffers[layout.slots[slot][3]][:2]
    return inputs[index].bound if kind == 1 and index < len(inputs) else None


def _meta(x: Variable, metas: dict[int, Any]) -> tuple[tuple[int, ...], DType]:
    if x.bound is not None:
        return tuple(x.bound.shape), x.bound.dtype
    found: tuple[tuple[int, ...], DType] = metas[id(x)]
    return found


def _names(variables: Sequence[Variable]) -> list[str]:
    """Names of outputs, each once. Those that saving a program makes up say nothing: they become `output`, or `output_0` and so on."""
    names: list[str] = []
    for i, x in enumerate(variables):
        name, n = x.name, 1
        if MADE_UP.fullmatch(name):
            name = "output" if len(variables) == 1 else f"output_{i}"
        while name in names:
            n += 1
            name = f"{x.name}_{n}"
        names.append(name)
    return names


def _ways_to_name(feeds: Sequence[Variable]) -> list[list[list[Any]]]:
    """Names for open sizes: each its own but for the batch; then one for each axis."""
    def named(name: Callable[[int, int], str]) -> list[list[Any]]:
        return [[n if n >= 0 else name(i, axis) for axis, n in enumerate(x.sizes)] for i, x in enumerate(feeds)]

    apart = named(lambda i, axis: BATCH if axis == 0 else f"size{i}_{axis}" if len(feeds) > 1 else f"size{axis}")
    together = named(lambda i, axis: BATCH if axis == 0 else f"size{axis}")
    return [apart] if apart == together else [apart, together]


def _cannot(node: Node, why: str, instead: str) -> str:
    line = f", recorded at {node.line}," if node.line else ""
    return (
        f"web: {node.type}{line} cannot run in the engine for browsers: {why}. Expected ops whose shapes follow from those of the inputs. {instead}."
    )


def _is_contiguous(shape: Sequence[int], strides: Sequence[int]) -> bool:
    step = 1
    for n, stride in zip(reversed(shape), reversed(strides)):
        if stride != step:
            return False
        step *= n
    return True


def _attr(op: Op, value: Any) -> list[Any]:
    """An attribute as core.js writes it: a kind of wherry/abi.h, and the value."""
    if value is None:
        return [0, 0]
    if isinstance(value, DType):
        return [1, value.code]
    if isinstance(value, int):
        return [1, _whole(int(value))]
    if isinstance(value, float):
        return [2, _real(value)]
    if isinstance(value, str):
        return [5, value]
    if isinstance(value, complex):
        return [4, [_real(value.real), _real(value.imag)]]
    if isinstance(value, tuple):
        if any(isinstance(v, float) for v in value):
            return [4, [_real(float(v)) for v in value]]
        return [3, [_whole(int(v)) for v in value]]
    raise TypeError(
        f"web: {op.name} has an attribute that no kernel can read. "
        f"Got {type(value).__name__}, expected a number, a text or a tuple of numbers."
    )


def _whole(n: int) -> int | str:
    return n if abs(n) < LARGEST else str(n)


def _real(x: float) -> float | str:
    return x if math.isfinite(x) else "NaN" if math.isnan(x) else "Infinity" if x > 0 else "-Infinity"
