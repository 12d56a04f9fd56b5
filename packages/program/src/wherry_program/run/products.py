"""The products of a program: which run in integers, how far they are from floats, how long they take, and how large their weights are.

`wherry.quant.report` says it of models and `Predictor.report` of what a predictor runs.
"""
from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any

from wherry_program import passes
from wherry_program.passes.integers import Note, integers, is_product, weights_of
from wherry_program.program.ir import Node, Program, Variable
from wherry_program.run.interpreter import Interpreter
from wherry_tensor import _core, ops
from wherry_tensor._core import Tensor, float64, set_grad_mode
from wherry_tensor.errors import InvalidArgumentError

__all__ = ["Report", "Row", "report_of"]

_PRODUCTS = (
    ops.conv2d, ops.linear, ops.matmul, ops.quantized_conv2d, ops.quantized_depthwise_conv2d, ops.quantized_linear, ops.weight_only_linear,
    ops.matmul_int8, ops.embedding, ops.lstm, ops.gru, ops.weight_only_lstm, ops.weight_only_gru,
)


@dataclass(frozen=True)
class Row:
    """A product of a model.

    Attributes:
        name: that of its weight.
        op: what computes it.
        runs_in: "int8"; "weight", floats by a weight of whole numbers; or "float".
        why: why it does not run in integers.
        snr: of its result against the float model, in dB; None without one.
        milliseconds: of its op, with what was fused; None without inputs.
        weight_bytes: of the weight as it is kept.
        float_bytes: of the same in float32.
    """

    name: str
    op: str
    runs_in: str
    why: str
    snr: float | None
    milliseconds: float | None
    weight_bytes: int
    float_bytes: int


class Report:
    """The products of a model, in the order in which they run; as text, a table."""

    def __init__(self, rows: list[Row]) -> None:
        self.rows = rows

    def __str__(self) -> str:
        if not self.rows:
            return "No products."
        head = ("weight", "op", "runs in", "SNR dB", "ms", "kB", "of kB", "why not")
        lines = [head, *(
            (row.name, row.op, row.runs_in, _said(row.snr, ".1f"), _said(row.milliseconds, ".3f"), f"{row.weight_bytes / 1000:.1f}",
             f"{row.float_bytes / 1000:.1f}", row.why)
            for row in self.rows
        )]
        widths = [max(len(line[i]) for line in lines) for i in range(len(head))]
        text = "\n".join("  ".join(part.ljust(width) for part, width in zip(line, widths)).rstrip() for line in lines)
        whole = sum(row.runs_in == "int8" for row in self.rows)
        return f"{text}\n{whole} of {len(self.rows)} products run in integers."

    __repr__ = __str__


def report_of(program: Program, inputs: Sequence[Tensor], reference: Program | None, what: str) -> Report:
    """Say it of each product of a program that no passes of inference have worked on.

    Args:
        program: it stays as it is.
        inputs: of one call; without them there are neither times nor errors.
        reference: the same in floats, with the same products in the same order; None for no errors.
        what: the name of the function, for messages.

    Raises:
        ValueError: a reference without inputs, or with other products.
    """
    exact: list[Any] = [passes.dead_code, passes.constants, passes.common_subexpressions, passes.redundant, passes.dead_code]
    before = passes.through(program, [*exact, passes.packed_constants])
    notes: list[Note] = []
    after = passes.through(before, [lambda one: integers(one, notes), passes.dead_code])
    if reference is not None and not inputs:
        raise InvalidArgumentError(f"{what}: errors are of results. Got a reference and no inputs, expected inputs of one call. Pass a batch.")
    errors: list[float | None] = [None] * len(notes)
    times: list[float | None] = [None] * len(notes)
    if inputs:
        recording = set_grad_mode(False)
        try:
            times = _times(after, inputs)
            if reference is not None:
                errors = _errors(passes.through(reference, exact), before, inputs, what)
        finally:
            set_grad_mode(recording)
        if len(times) != len(notes):
            times = [None] * len(notes)
    products = [node for node in before.blocks[0].nodes if is_product(node)]  # passes let go of the weights of the notes' own nodes
    return Report([_row(node, note, error, time) for node, note, error, time in zip(products, notes, errors, times, strict=True)])


class _Watched(Interpreter):
    """A program that shows each product that it computes."""

    def __init__(self, program: Program, see: Callable[[Node, Any, float], None]) -> None:
        super().__init__(program)
        self._see = see

    def run_node(self, node: Node, env: dict[int, Any]) -> None:
        before = perf_counter()
        super().run_node(node, env)
        if node.op in _PRODUCTS:
            value = env[id(node.outputs[0])]
            device = _core.device_of(value)
            if device:
                _core.get_stream(device).synchronize()
            self._see(node, value, perf_counter() - before)


def _times(program: Program, inputs: Sequence[Tensor]) -> list[float | None]:
    best: list[float] = []
    for turn in range(3):
        seen: list[float] = []
        _Watched(program, lambda node, value, seconds, seen=seen: seen.append(seconds * 1e3))(*inputs)  # type: ignore[misc]
        best = seen if not turn else [min(a, b) for a, b in zip(best, seen, strict=True)]
    return list(best)


def _errors(reference: Program, program: Program, inputs: Sequence[Tensor], what: str) -> list[float | None]:
    results: list[list[Tensor]] = []
    for one in reference, program:
        seen: list[Tensor] = []
        _Watched(one, lambda node, value, seconds, seen=seen: seen.append(ops.cast(value, dtype=float64)))(*inputs)  # type: ignore[misc]
        results.append(seen)
    if [x.shape for x in results[0]] != [x.shape for x in results[1]]:
        raise InvalidArgumentError(
            f"{what}: the reference is another model. Got products of shapes {[list(x.shape) for x in results[0]]}, expected "
            f"{[list(x.shape) for x in results[1]]}. Fold the batch normalizations of both, or of none."
        )
    return [_signal_to_noise(a, b) for a, b in zip(*results, strict=True)]


def _signal_to_noise(expected: Tensor, found: Tensor) -> float:
    """The ratio of the powers of a signal and of its error, in dB."""
    noise = _power(ops.subtract(expected, found))
    return math.inf if not noise else 10 * math.log10(max(_power(expected), 1e-300) / noise)


def _power(x: Tensor) -> float:
    return float(ops.reduce_sum(ops.multiply(x, x), axes=tuple(range(x.ndim)), keepdim=False).item())


def _row(node: Node, note: Note, snr: float | None, milliseconds: float | None) -> Row:
    kept = [_kept(weight) for weight in weights_of(node)]
    size = sum(0 if x is None or x.bound is None else x.bound.size for x in kept)
    each = 4 if kept[0] is None or note.runs_in != "float" or kept[0].bound is None else kept[0].bound.element_size()
    return Row(
        "" if kept[0] is None else kept[0].name.split("_deepcopy")[0], node.type, note.runs_in, note.why, snr, milliseconds,
        size if note.runs_in != "float" else size * each, size * 4,
    )


def _kept(weight: Variable | None) -> Variable | None:
    """The variable that holds a weight: that of its whole numbers, where it is dequantized."""
    made: Node | None = None if weight is None else weight.made_by
    if weight is not None and weight.bound is None and made is not None and made.inputs and made.inputs[0] is not None:
        return made.inputs[0]
    return weight


def _said(number: float | None, form: str) -> str:
    return "-" if number is None else format(number, form)
