"""A table that a visitor brings: one column of numbers told from others, by a small network that learns here.

What a network gets of a column are numbers about 1, or one number for each of a column's values; both are part of what is taken away.
"""
from __future__ import annotations

import csv
import io
import math
import tempfile
import time
from pathlib import Path
from typing import Any

import wherry as paddle
import wherry.nn as nn
from wherry import Tensor

F = nn.functional
BYTES, ROWS, COLUMNS = 5_000_000, 20_000, 100  # at most
FEWEST_ROWS = 20
VALUES = 20  # of a column of words, at most: with more it says nothing of other rows
HELD_OUT = 5  # of so many rows one is not learned from
BATCH = 64
POINTS = 400  # of the plot, at most
MISSING = {"", "na", "nan", "n/a", "null", "none", "-", "?"}


class Column:
    """A column as a network gets it.

    Attributes:
        name: in the first line of the table.
        kind: "number", "words", or "unused" (too many different words, or always the same).
        numbers: of each row; of words the place in `values`, and NaN where nothing stands.
        values: of words, the most frequent first.
    """

    def __init__(self, name: str, cells: list[str]) -> None:
        self.name = name
        self.values: list[str] = []
        self.missing = sum(cell.lower() in MISSING for cell in cells)
        numbers = [number(cell) for cell in cells]
        if all(value is not None for value in numbers):
            self.kind, self.numbers = "number", [math.nan if value is None else value for value in numbers]
        else:
            counts: dict[str, int] = {}
            for cell in cells:
                if cell.lower() not in MISSING:
                    counts[cell] = counts.get(cell, 0) + 1
            self.values = sorted(counts, key=lambda value: (-counts[value], value))
            places = {value: float(i) for i, value in enumerate(self.values)}
            self.kind, self.numbers = "words", [places.get(cell, math.nan) for cell in cells]
        known = {value for value in self.numbers if not math.isnan(value)}
        if len(known) < 2 or len(self.values) > VALUES:
            self.kind = "unused"

    def facts(self) -> dict[str, Any]:
        """What the page shows of it."""
        known = [value for value in self.numbers if not math.isnan(value)]
        return {"name": self.name, "kind": self.kind, "missing": self.missing, "values": self.values[:VALUES], "different": len(set(known)),
                "low": min(known, default=None), "high": max(known, default=None)}


def number(cell: str) -> float | None:
    """The number in a cell, NaN where nothing stands, None where something else does."""
    if cell.lower() in MISSING:
        return math.nan
    try:
        value = float(cell)
    except ValueError:
        return None
    return value if math.isfinite(value) else None


class Network(nn.Layer):
    """Columns `[N, columns]`, as they stand in the table (of words the place of the value), to the target `[N, 1]`, in its own units.

    Args:
        columns: those that are learned from.
        rows: those rows that are learned from; means and spreads are theirs.
        target: what is told.
        hidden: width of each layer between.
    """

    def __init__(self, columns: list[Column], rows: list[int], target: Column, hidden: list[int]) -> None:
        super().__init__()
        self.sizes = [len(column.values) if column.kind == "words" else 0 for column in columns]
        means, spreads = zip(*(normal(column, rows) for column in columns))
        self.register_buffer("means", paddle.to_tensor(means))
        self.register_buffer("spreads", paddle.to_tensor(spreads))
        mean, spread = normal(target, rows)
        self.register_buffer("unit", paddle.to_tensor([mean, spread]))
        widths = [sum(size or 1 for size in self.sizes), *hidden, 1]
        layers: list[nn.Layer] = []
        for inputs, outputs in zip(widths, widths[1:]):
            layers += [nn.Linear(inputs, outputs), nn.ReLU()]
        self.layers = nn.Sequential(*layers[:-1])

    def forward(self, rows: Tensor) -> Tensor:
        scaled = (rows - self.means) / self.spreads
        parts = [
            paddle.cast(rows[:, i : i + 1] == paddle.arange(size, dtype="float32"), "float32") if size else scaled[:, i : i + 1]
            for i, size in enumerate(self.sizes)
        ]
        return self.layers(paddle.concat(parts, axis=1)) * self.unit[1] + self.unit[0]


def normal(column: Column, rows: list[int]) -> tuple[float, float]:
    """Mean and spread of a column in these rows; of words nothing is scaled."""
    known = [column.numbers[i] for i in rows if not math.isnan(column.numbers[i])]
    if column.kind == "words" or not known:
        return 0.0, 1.0
    mean = math.fsum(known) / len(known)
    return mean, math.sqrt(math.fsum((value - mean) ** 2 for value in known) / len(known)) or 1.0


class Table:
    """What the page teaches. `run` and `evaluate` are called as those of `Trainer` are.

    Args:
        text: a table with commas, semicolons or tabs between cells, whose first line names the columns.

    Raises:
        ValueError: it is too large, or not such a table.
    """

    def __init__(self, text: str) -> None:
        if len(text) > BYTES:
            raise ValueError(f"The table is too large. Got {len(text)} characters, expected at most {BYTES}.")
        first = text.split("\n", 1)[0]
        between = max(",;\t", key=first.count)
        try:
            rows = [row for row in csv.reader(io.StringIO(text.lstrip("\ufeff")), delimiter=between, strict=True) if any(row)]
        except csv.Error as error:
            raise ValueError(f"This is not a table with {between!r} between its cells: {error}.") from error
        names = [name.strip() for name in rows[0]] if rows else []
        if not 2 <= len(names) <= COLUMNS or len(set(names)) < len(names) or "" in names:
            raise ValueError(f"The first line has to name 2 to {COLUMNS} columns, each otherwise. Got {first[:80]!r}.")
        if not FEWEST_ROWS <= len(rows) - 1 <= ROWS:
            raise ValueError(f"The table has {len(rows) - 1} rows below the names. Expected {FEWEST_ROWS} to {ROWS}.")
        for i, row in enumerate(rows[1:], 2):
            if len(row) != len(names):
                raise ValueError(f"Row {i} has {len(row)} cells. Expected {len(names)}, as many as the first line names.")
        self.columns = {name: Column(name, [row[i].strip() for row in rows[1:]]) for i, name in enumerate(names)}
        self.count = len(rows) - 1
        self.net: Network | None = None

    def facts(self) -> dict[str, Any]:
        return {"rows": self.count, "columns": [column.facts() for column in self.columns.values()]}

    def begin(self, target: str, used: list[str], settings: dict[str, Any]) -> dict[str, Any]:
        """Start over with a new network.

        Args:
            target: the column that is to be told; of numbers.
            used: the columns that it is told from.
            settings: hidden (widths), learning_rate, epochs, seed.

        Returns:
            As `evaluate`.
        """
        for name in (target, *used):
            if name not in self.columns:
                raise ValueError(f"There is no column {name!r}. The table has {', '.join(self.columns)}.")
        wrong = [name for name in used if self.columns[name].kind == "unused" or name == target]
        if self.columns[target].kind != "number" or wrong or not used:
            said = ", ".join(wrong) if wrong else "good columns" if used else "no column"
            raise ValueError(
                "Choose a target of numbers, and other columns that say something. "
                f"Got the target {target!r} ({self.columns[target].kind}) and {said}."
            )
        rate, hidden = float(settings["learning_rate"]), [int(width) for width in settings["hidden"]]
        if not 0 < rate <= 1 or len(hidden) > 4 or not all(1 <= width <= 256 for width in hidden):
            raise ValueError(f"settings: got a learning rate of {rate} and layers of {hidden}, expected up to 1 and at most 4 layers of 1 to 256.")
        paddle.seed(int(settings.get("seed", 0)))
        self.target, self.used = self.columns[target], [self.columns[name] for name in used]
        told = [i for i in range(self.count) if not math.isnan(self.target.numbers[i])]
        order = paddle.randperm(len(told)).tolist()
        held, learned = ([told[i] for at, i in enumerate(order) if (at % HELD_OUT == 0) is wanted] for wanted in (True, False))
        if len(held) < 2:
            raise ValueError(f"The column {target!r} has {len(told)} numbers. Expected at least {2 * HELD_OUT}.")
        self.net = Network(self.used, learned, self.target, hidden)
        self.inputs, self.answers = self._tensors(learned)
        self.held_inputs, self.held_answers = self._tensors(held)
        self.optimizer = paddle.optimizer.AdamW(rate, parameters=self.net.parameters(), weight_decay=0.01)
        self.steps, self.seen, self.seconds = 0, 0, 0.0
        self.to_see = int(settings["epochs"]) * len(learned)
        self.order, self.at = paddle.randperm(len(learned)), 0
        return self.evaluate()

    def _tensors(self, rows: list[int]) -> tuple[Tensor, Tensor]:
        assert self.net is not None
        means = self.net.means.tolist()
        filled = [[mean if math.isnan(c.numbers[i]) and c.kind == "number" else -1.0 if math.isnan(c.numbers[i]) else c.numbers[i]
                   for c, mean in zip(self.used, means)] for i in rows]  # a word that lacks is none of the values
        return paddle.to_tensor(filled), paddle.to_tensor([[self.target.numbers[i]] for i in rows])

    def run(self, milliseconds: float) -> dict[str, Any]:
        """Train for about this long; returns the loss of each step (mean square, in spreads of the target), and `done`."""
        started = time.perf_counter()
        losses: list[float] = []
        while self.seen < self.to_see and (not losses or (time.perf_counter() - started) * 1e3 < milliseconds):
            losses.append(self.step())
        self.seconds += time.perf_counter() - started
        return {"steps": self.steps, "epochs": self.seen / self.inputs.shape[0], "seconds": self.seconds, "losses": losses,
                "done": self.seen >= self.to_see}

    def step(self) -> float:
        net = self.network()
        if self.at >= self.inputs.shape[0]:
            self.order, self.at = paddle.randperm(self.inputs.shape[0]), 0
        chosen = self.order[self.at : self.at + BATCH]
        apart = (net(paddle.gather(self.inputs, chosen)) - paddle.gather(self.answers, chosen)) / net.unit[1]
        loss = paddle.mean(apart * apart)
        loss.backward()
        self.optimizer.step()
        self.optimizer.clear_grad()
        self.at += BATCH
        self.steps += 1
        self.seen += chosen.shape[0]
        return float(loss)

    def network(self) -> Network:
        """The network in training, or trained.

        Raises:
            ValueError: there is none yet.
        """
        if self.net is None:
            raise ValueError("Nothing is trained yet. Bring a table, and press Train.")
        return self.net

    def evaluate(self) -> dict[str, Any]:
        """How it does on rows that it did not learn from: the mean distance, the share of the variance that it tells (R2), and for
        the plot what stands there and what it says of some of them."""
        with paddle.no_grad():
            told = self.network()(self.held_inputs)
        truth, guess = (paddle.flatten(values).tolist() for values in (self.held_answers, told))
        mean = math.fsum(truth) / len(truth)
        spread = math.fsum((value - mean) ** 2 for value in truth)
        apart = math.fsum((a - b) ** 2 for a, b in zip(truth, guess))
        every = -(-len(truth) // POINTS)
        return {
            "steps": self.steps, "count": len(truth), "distance": math.fsum(abs(a - b) for a, b in zip(truth, guess)) / len(truth),
            "r2": 1 - apart / spread if spread else None, "points": [[a, b] for a, b in zip(truth[::every], guess[::every])],
        }

    def tell(self, cells: dict[str, str]) -> float:
        """What it says of a row that a visitor fills in.

        Args:
            cells: of each column what stands in it; columns that lack count as empty cells.
        """
        net = self.network()
        row = []
        for column, mean in zip(self.used, net.means.tolist()):
            cell = cells.get(column.name, "").strip()
            value = number(cell) if column.kind == "number" else float(column.values.index(cell)) if cell in column.values else math.nan
            if value is None:
                raise ValueError(f"{column.name}: got {cell[:40]!r}, expected a number.")
            row.append(value if not math.isnan(value) else mean if column.kind == "number" else -1.0)
        with paddle.no_grad():
            return float(net(paddle.to_tensor([row])))

    def page(self, title: str) -> bytes:
        """One HTML file in which the network answers without Python."""
        from wherry_export.web import export

        net = self.network()
        spec = [paddle.static.InputSpec([None, len(self.used)], "float32", "row")]
        columns = {column.name: column.values or None for column in self.used}
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "table.html")
            export(net, path, input_spec=spec, title=title, labels=[self.target.name], columns=columns, example=[self.held_inputs[:1]],
                   single_file=True)
            return path.read_bytes()
