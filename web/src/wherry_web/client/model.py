"""Programs that people bring: read, drawn, run and measured. The page Your model calls this.

What is wrong with a file or with a value comes out as a ValueError whose text is for the page.
"""
from __future__ import annotations

import functools
import io
import math
import time
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

import wherry as paddle
from wherry import Tensor
from wherry_paddle_files.models import params_from_bytes, read_program, write_program
from wherry_paddle_files.params import write_params
from wherry_program.passes import INFERENCE, NONE
from wherry_program.program.capture import capture
from wherry_program.program.ir import Node, Program, Variable
from wherry_program.program.picture import to_svg
from wherry_program.run.executor import compiled
from wherry_tensor import _core
from wherry_web.client.networks import network, restore
from wherry_web.client.page import bytes_of

P = ParamSpec("P")
R = TypeVar("R")

MOST_DRAWN = 30_000      # boxes and bends of a picture
MOST_SVG = 12 << 20      # letters of a picture
MOST_TEXT = 1 << 20      # letters of a program as text
MOST_VALUES = 1 << 26    # of an input
MOST_SHOWN = 1 << 20     # values of a result that go to the page
MOST_ROWS = 1000         # of the table of ops; what runs more often is put together
MOST_ITEMS = 16          # of a list of tensors
REPEATS, ENOUGH = 10, 0.8  # runs that are measured, or as many as fit into these seconds


def explained(function: Callable[P, R]) -> Callable[P, R]:
    """Any error as a ValueError of one line: the page shows it, and files from anywhere may cause all kinds."""

    @functools.wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return function(*args, **kwargs)
        except MemoryError as error:
            raise ValueError("This tab has not enough memory for it. Take smaller inputs or a smaller model, or run it elsewhere.") from error
        except RecursionError as error:
            raise ValueError("The program is nested too deeply. This file is damaged, or was not made by Paddle or Wherry.") from error
        except Exception as error:
            text = " ".join(str(error).split()) or type(error).__name__
            raise ValueError(text if len(text) <= 700 else f"{text[:700]} …") from error

    return call


class Model:
    """A program with or without its parameters.

    Args:
        program: it.
        lacks_params: whether parameters have no values.
    """

    def __init__(self, program: Program, lacks_params: bool = False) -> None:
        self.program, self.lacks_params = program, lacks_params
        self.runs: dict[int, Any] = {}  # by level of passes

    @explained
    def about(self) -> dict[str, Any]:
        """What it takes and gives, how large it is, and every node with what finds it."""
        program = self.program
        held = [x for x in program.blocks[0].vars.values() if x.persistable or x.is_parameter]
        text = str(program)
        return {
            "ops": sum(1 for _ in program.walk()), "lacksParams": self.lacks_params,
            "parameters": sum(math.prod(x.sizes) for x in held if -1 not in x.sizes),
            "weightBytes": sum(math.prod(x.sizes) * x.dtype.itemsize for x in held if -1 not in x.sizes),
            "inputs": [{**meta(x), "below": self.rows_of_table(x)} for x in program.feeds], "outputs": [meta(x) for x in program.fetches],
            "nodes": [
                *self.ends(),
                *(described_node(node, f"{block.index}:{i}") for block in program.blocks for i, node in enumerate(block.nodes)),
            ],
            "text": text if len(text) <= MOST_TEXT else f"{text[:MOST_TEXT]}\n… and {len(text) - MOST_TEXT} more letters",
        }

    def ends(self) -> list[dict[str, Any]]:
        """Inputs and results as entries to search."""
        return [
            {"at": f"{kind}:{i}", "type": word, "names": [x.name], "reads": [], "text": f"{word} {x.name}: {meta(x)['dtype']} {shape_text(x)}"}
            for kind, word, ends in (("feed", "input", self.program.feeds), ("fetch", "result", self.program.fetches)) for i, x in enumerate(ends)
        ]

    def rows_of_table(self, x: Variable) -> int | None:
        """Below what whole numbers have to be that look up rows of an embedding."""
        for node in self.program.nodes:
            if node.type == "embedding" and any(y is x for y in node.inputs):
                table = next((y for y in node.inputs if y is not None and len(y.sizes) == 2 and y.dtype.is_floating), None)
                return table.sizes[0] if table is not None else None
        return None

    @explained
    def picture(self, title: str) -> str:
        """The program as `python -m wherry graph` draws it.

        Raises:
            ValueError: it is too large.
        """
        drawn = to_svg(self.program, title, MOST_DRAWN)
        if len(drawn) > MOST_SVG:
            raise ValueError(f"The picture is too large. Got {len(drawn)} letters, expected at most {MOST_SVG}. Read the text.")
        return drawn

    @explained
    def run(self, values: Any, fused: bool) -> dict[str, Any]:
        """Run it on some inputs, a few times where that is quick.

        Args:
            values: for each input `{"shape", "data", "format"}`, data in rows as `struct` calls the format, or `{"shape", "random": [low, high]}`.
            fused: let it go through the passes for inference first; else op by op as it is drawn.

        Returns:
            `outputs`, `ops` (each with its time), `milliseconds` of a run, `first` of the run that planned it, and memory in bytes.
        """
        if self.lacks_params:
            raise ValueError("The parameters have no values yet. Drop the .pdiparams that was saved together with this .pdmodel.")
        given = [tensor_of(x, value) for x, value in zip(self.program.feeds, values, strict=True)]
        level = INFERENCE if fused else NONE
        begun = time.perf_counter()
        run = self.runs.get(level)
        if run is None:
            run = self.runs[level] = compiled(self.program, level=level)
        _core.reset_peak_memory_stats()
        results = run(*given)
        first = time.perf_counter() - begun
        peak = _core.memory_stats()["peak_allocated"]
        times: list[float] = []
        traces: list[list[Any]] = []
        while not times or (len(times) < REPEATS and sum(times) + times[-1] < ENOUGH):
            _core.trace_start()
            begun = time.perf_counter()
            try:
                results = run(*given)
            finally:
                times.append(time.perf_counter() - begun)
                events, _ = _core.trace_stop()
            traces.append(events)
        named = [item for x, result in zip(self.program.fetches, results, strict=True) for item in items_of(x.name, result)]
        return {
            "outputs": [shown(name, value) for name, value in named],
            "ops": self.rows(traces, fused), "milliseconds": median(times) * 1e3, "first": first * 1e3, "repeats": len(times),
            "peak": peak, "held": _core.memory_stats()["allocated"],
        }

    def rows(self, traces: list[list[Any]], fused: bool) -> list[dict[str, Any]]:
        """Kernels in the order in which they ran; where there are very many, those with the same name and inputs together."""
        last = traces[-1]
        same = [trace for trace in traces if [event[1] for event in trace] == [event[1] for event in last]]
        rows = [
            {"op": event[1], "inputs": inputs_text(event[8]), "calls": 1, "at": None,
             "milliseconds": typical([(trace[i][4] - trace[i][2]) / 1e6 for trace in same])}
            for i, event in enumerate(last)
        ]
        if len(rows) > MOST_ROWS:
            together: dict[tuple[str, str], dict[str, Any]] = {}
            for row in rows:
                one = together.setdefault((row["op"], row["inputs"]), {**row, "calls": 0, "milliseconds": 0.0})
                one["calls"] += 1
                one["milliseconds"] += row["milliseconds"]
            return sorted(together.values(), key=lambda row: -row["milliseconds"])[:MOST_ROWS]
        if not fused and len(self.program.blocks) == 1:
            self.place(rows)
        return rows

    def place(self, rows: list[dict[str, Any]]) -> None:
        """Say which box of the picture each row is: kernels run in the order of the nodes, and views need none."""
        nodes, i = self.program.nodes, 0
        for row in rows:
            at = next((k for k in range(i, len(nodes)) if nodes[k].type == row["op"]), None)
            if at is not None:
                row["at"] = f"0:{at}"
                i = at + 1


@explained
def of_paddle(described: Any, params: Any = None) -> Model:
    """The program of Paddle's files.

    Args:
        described: the content of a `.pdmodel`, or of a `.json` of Paddle 3.
        params: the content of a `.pdiparams`; None leaves the parameters without values: it can be looked at.

    Raises:
        ValueError: a file is damaged, they do not belong together, or nothing reads an operator.
    """
    content = bytes_of(described)
    if not content:
        raise ValueError("The program is empty. Got 0 bytes, expected a saved program. Save or copy it again.")
    bare = read_program(content)
    lacks = params is None and any(x.persistable or x.is_parameter for x in bare.blocks[0].vars.values())
    return Model(bare if lacks else params_from_bytes(content, b"" if params is None else bytes_of(params)), lacks)


def meta(x: Variable) -> dict[str, Any]:
    return {"name": x.name, "dtype": x.dtype.name, "shape": list(x.sizes)}


def described_node(node: Node, at: str) -> dict[str, Any]:
    """A node as an entry to search: its type, the variables it makes and reads, and its line of the program."""
    text = repr(node)
    gives = ", ".join(f"{x.name}: {x.dtype.name} {shape_text(x)}" for x in node.outputs)
    return {
        "at": at, "type": node.type, "names": [x.name for x in node.outputs], "reads": [x.name for x in node.inputs if x is not None],
        "text": f"{text[:2000]} · {gives[:500]}",
    }


def shape_text(x: Variable) -> str:
    return "list" if x.is_array else f"[{', '.join('?' if n < 0 else str(n) for n in x.sizes)}]"


def inputs_text(inputs: tuple[Any, ...]) -> str:
    return ", ".join("none" if one is None else f"[{', '.join(map(str, one[1]))}]" for one in inputs)


def tensor_of(x: Variable, value: dict[str, Any]) -> Tensor:
    """The tensor for an input, from what the page gives."""
    shape = [int(n) for n in value["shape"]]
    fits = len(shape) == len(x.sizes) and all(n >= 0 and wanted in (-1, n) for n, wanted in zip(shape, x.sizes, strict=False))
    if not fits:
        raise ValueError(f"input {x.name}: got shape {shape}, expected {shape_text(x)}. Change its sizes.")
    count = math.prod(shape)
    if count > MOST_VALUES:
        raise ValueError(f"input {x.name}: got {count} values, expected at most {MOST_VALUES} in a tab. Take smaller sizes.")
    limits = value.get("random")
    if limits is not None:
        return random(x, shape, *limits)
    data = bytes_of(value["data"])
    values = memoryview(bytearray(data)).cast(value["format"]) if data else None
    if (len(values) if values is not None else 0) != count:
        raise ValueError(f"input {x.name}: got {len(values or [])} values, expected {count} for shape {shape}. Write as many, or change the sizes.")
    if values is None:
        return paddle.zeros(shape, x.dtype)
    return paddle.cast(paddle.reshape(paddle.to_tensor(values), shape), x.dtype)


def random(x: Variable, shape: list[int], low: float, high: float) -> Tensor:
    """Numbers by chance: normally distributed floats with `low` the mean and `high` the deviation; whole numbers from low to below high."""
    if x.dtype.is_floating or x.dtype.is_complex:
        return paddle.cast(paddle.randn(shape) * high + low, x.dtype)
    if high <= low:
        raise ValueError(f"input {x.name}: whole numbers by chance from {low:g} to below {high:g}. Expected the second to be larger. Change them.")
    return paddle.cast(paddle.randint(int(low), int(high), shape, "int64"), x.dtype)


def items_of(name: str, result: Any) -> list[tuple[str, Tensor]]:
    """A result, or the items of a list."""
    return [(f"{name}[{i}]", item) for i, item in enumerate(result[:MOST_ITEMS])] if isinstance(result, list) else [(name, result)]


def shown(name: str, x: Tensor) -> dict[str, Any]:
    """A result for the page: what it is, the values (the first million), and facts about all of them."""
    about: dict[str, Any] = {"name": name, "dtype": x.dtype.name, "shape": list(x.shape), "count": x.size}
    flat = paddle.reshape(paddle.as_real(x) if x.dtype.is_complex else x, [-1])
    wide = paddle.cast(flat[:MOST_SHOWN], "float64")
    about["data"] = bytes(memoryview(wide.contiguous())) if x.size else b""
    about["bad"] = 0
    if x.size:
        values = paddle.cast(flat, "float64")
        finite = paddle.isfinite(values)
        about["bad"] = values.size - int(paddle.sum(paddle.cast(finite, "int64")))
        if about["bad"]:
            values = paddle.masked_select(values, finite)
        if values.size:
            about.update(min=float(values.min()), max=float(values.max()), mean=float(values.mean()))
    return about


def median(values: list[float]) -> float:
    return sorted(values)[len(values) // 2]


def typical(values: list[float]) -> float:
    """The mean of the middle half: clocks of browsers tick in steps of some microseconds, which a median would show."""
    middle = sorted(values)[len(values) // 4 : len(values) - len(values) // 4]
    return sum(middle) / len(middle)


@explained
def example(architecture: str, classes: int, weights: Any = None) -> dict[str, bytes]:
    """A network of the gallery as the two files of a saved program.

    Args:
        architecture, classes: as `network` takes them.
        weights: the content of its `.pdparams`; None leaves it as it is made, untrained.
    """
    net = network(architecture, classes)
    if weights is not None:
        restore(net, bytes_of(weights))
    net.eval()
    program = Program()
    image = program.feed([-1, 1, 28, 28], paddle.float32, "image")
    with capture(program):
        program.fetches = [net(image)]
    params = io.BytesIO()
    write_params(params, {x.name: x.bound for x in program.bound_variables() if x.bound is not None})
    return {"model": write_program(program), "params": params.getvalue()}
