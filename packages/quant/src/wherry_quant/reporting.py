"""What runs in integers: `wherry.quant.report`."""
from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from wherry_autograd import no_grad
from wherry_program import passes
from wherry_program.passes.integers import Note, integers, is_product, weights_of
from wherry_program.program.ir import Node, Program, Variable
from wherry_quant.programs import Watched, program_of
from wherry_tensor._core import Tensor
from wherry_tensor.errors import InvalidArgumentError

__all__ = ["Report", "Row", "report"]


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


def report(model: Any, *inputs: Tensor, reference: Any = None) -> Report:
    """Say of each product of a model whether it runs in integers, how far it is from the float model, how long it takes and how large it is.

    Args:
        model: a converted Layer, a program, or the path of a saved model without its ending.
        inputs: of one call. Layers need them; for others they may be left out, and with them times and errors.
        reference: the float model, for the ratio of signal to noise of each result: as `model`, with the same products in the same order.

    Raises:
        TypeError: not a model.
        ValueError: a reference without inputs, or with other products.

    Examples:
        >>> from wherry.quantization import PTQ, QuantConfig
        >>> from wherry.quantization.observers import AbsMaxChannelWiseWeightObserver, AbsmaxObserver
        >>> net = wherry.nn.Sequential(wherry.nn.Linear(16, 16), wherry.nn.ReLU(), wherry.nn.Linear(16, 4))
        >>> net.eval()
        >>> config = QuantConfig(activation=None, weight=None)
        >>> config.add_type_config(wherry.nn.Linear, activation=AbsmaxObserver(), weight=AbsMaxChannelWiseWeightObserver())
        >>> observed = PTQ(config).quantize(net)
        >>> x = wherry.randn([8, 16])
        >>> _ = observed(x)
        >>> found = wherry.quant.report(PTQ(config).convert(observed), x, reference=net)
        >>> [(row.op, row.runs_in, row.snr > 25) for row in found.rows]
        [('linear', 'int8', True), ('linear', 'int8', True)]
    """
    exact: list[Any] = [passes.dead_code, passes.constants, passes.common_subexpressions, passes.redundant, passes.dead_code]
    before = passes.through(program_of(model, inputs, "report"), [*exact, passes.packed_constants])
    notes: list[Note] = []
    after = passes.through(before, [lambda program: integers(program, notes), passes.dead_code])
    if reference is not None and not inputs:
        raise InvalidArgumentError("report: errors are of results. Got a reference and no inputs, expected inputs of one call. Pass a batch.")
    errors: list[float | None] = [None] * len(notes)
    times: list[float | None] = [None] * len(notes)
    if inputs:
        times = _times(after, inputs)
        if reference is not None:
            errors = _errors(passes.through(program_of(reference, inputs, "report"), exact), before, inputs)
        if len(times) != len(notes):
            times = [None] * len(notes)
    products = [node for node in before.blocks[0].nodes if is_product(node)]  # passes let go of the weights of the notes' own nodes
    return Report([_row(node, note, error, time) for node, note, error, time in zip(products, notes, errors, times, strict=True)])


def _times(program: Program, inputs: tuple[Tensor, ...]) -> list[float | None]:
    best: list[float] = []
    with no_grad():
        for turn in range(3):
            seen: list[float] = []
            Watched(program, lambda node, value, seconds, seen=seen: seen.append(seconds * 1e3))(*inputs)  # type: ignore[misc]
            best = seen if not turn else [min(a, b) for a, b in zip(best, seen, strict=True)]
    return list(best)


def _errors(reference: Program, program: Program, inputs: tuple[Tensor, ...]) -> list[float | None]:
    results: list[list[Any]] = []
    with no_grad():
        for one in reference, program:
            seen: list[Any] = []
            Watched(one, lambda node, value, seconds, seen=seen: seen.append(value.astype("float32").numpy()))(*inputs)  # type: ignore[misc]
            results.append(seen)
    if [x.shape for x in results[0]] != [x.shape for x in results[1]]:
        raise InvalidArgumentError(
            f"report: the reference is another model. Got products of shapes {[list(x.shape) for x in results[0]]}, expected "
            f"{[list(x.shape) for x in results[1]]}. Fold the batch normalizations of both, or of none."
        )
    return [signal_to_noise(a, b) for a, b in zip(*results, strict=True)]


def signal_to_noise(expected: np.ndarray[Any, Any], found: np.ndarray[Any, Any]) -> float:
    """The ratio of the powers of a signal and of its error, in dB."""
    noise = float(np.square(expected.astype(np.float64) - found).sum())
    signal = float(np.square(expected.astype(np.float64)).sum())
    return float("inf") if not noise else 10 * float(np.log10(max(signal, 1e-300) / noise))


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
