"""Functions and layers that one framework saves and the other loads: the calls of the other tables as source code, with their inputs.

    python saved_cases.py [STEP]       counts them, and prints those of every STEP-th row

A case is one call or layer with one dtype. Files of open cases are saved with axis 0 of unknown size, and fed at several sizes: as the table has
it, 1, more, and 0.
"""
from __future__ import annotations

import importlib
import re
import sys
from typing import NamedTuple

import numpy as np
from functional_calls import RANDOM
from layer_calls import LAYERS

TABLES = ("calls", "functional_calls", "operator_calls", "numeric_calls", "generated_calls", "training_calls")
# What says nothing about files: text, errors of options, training.
NO_PROGRAM = ("str(", "said(", "set_", "paddle.seed", "get_", "backward", "paddle.grad", ".numpy(", "repr(", "print", "paddle.io", "paddle.metric")
DRAWN = ("dropout", "pca_lowrank")  # results of random numbers: shapes and dtypes alone are compared
OTHERS = ("int32", "int64", "bool", "float16")  # dtypes that tables of floats do not ask for


class Case(NamedTuple):
    """What is saved: `source` defines `made`, a function or a class of layers; `open` says that axis 0 has no size there."""

    name: str
    source: str
    inputs: dict[str, np.ndarray]
    dtype: str  # the default one while the layer is built
    open: bool
    random: bool

    def feeds(self) -> dict[str, dict[str, np.ndarray]]:
        """Inputs at each size."""
        found = {"given": self.inputs}
        if self.open:
            n = self.batch
            for what, rows in (("one", 1), ("more", 2 * n + 1), ("zero", 0)):
                if rows != n:
                    found[what] = {name: np.resize(x, (rows, *x.shape[1:])) if self.opens(x) else x for name, x in self.inputs.items()}
        return found

    @property
    def parameters(self) -> bool:
        return self.source.startswith("class")

    @property
    def batch(self) -> int:
        return next(x.shape[0] for x in self.inputs.values() if x.ndim)

    def opens(self, x: np.ndarray) -> bool:
        return self.open and x.ndim > 0 and x.shape[0] == self.batch

    def sizes(self, x: np.ndarray) -> list[int | None]:
        return [None, *x.shape[1:]] if self.opens(x) else list(x.shape)


def cast(x, dtype):
    x = np.asarray(x)
    if dtype == "as given" or x.dtype.kind not in "fc":
        return x
    if dtype == "bool":
        return x > 0
    return (x * 3 if dtype.startswith("int") else x).astype(dtype)


def body(statements, more=""):
    *lines, last = statements.split("; ")
    last, *_comment = last.split("  # ")
    return [*lines, f"return {f'({last}){more}' if more else last}"]


def as_function(inputs, statements):
    return "\n    ".join([f"def made({', '.join(inputs)}):", *body(statements)])


def as_layer(layer, inputs, statements, before=()):
    """A layer that keeps another by the name of `layer`. It has a parameter of its own: Paddle's predictor opens no model without any."""
    init = ["    def __init__(self):", "super().__init__()", *before, f"self.layer = {layer}", "self.more = self.create_parameter([3])"]
    forward = [f"    def forward(self, {', '.join(inputs)}):", "layer = self.layer", *body(statements, ", self.more + 0")]
    return "class made(nn.Layer):\n" + "\n        ".join(init) + "\n" + "\n        ".join(forward) + "\n"


def cases(step: int | str = 1, tables: tuple[str, ...] = (*TABLES, "layers")) -> list[Case]:
    """Every `step`-th row of these tables; "30+4" begins with the fourth, "~squeeze|istft" has the rows with these words, "30~istft" both."""
    step, _, words = str(step).partition("~")
    if words:
        chosen = {case.name for case in cases(step, tables)} if step else set()
        return [case for case in cases(1, tables) if case.name in chosen or re.search(words, case.name)]
    every, first = (int(number) for number in f"{step}+0".split("+")[:2])
    found: list[Case] = []
    for table in tables:
        rows = [row for row in LAYERS if row.call] if table == "layers" else importlib.import_module(table).CALLS
        for number, row in enumerate(rows):
            if number % every == first:
                found += of_layer(row) if table == "layers" else of_call(f"{table}[{number}]", row, table == "functional_calls" and number in RANDOM)
    return found


def of_call(name, row, random):
    if any(word in row.expression for word in NO_PROGRAM) or not row.inputs:
        return
    drawn = random or any(word in row.expression for word in DRAWN)
    floats = any(np.asarray(x).dtype.kind == "f" for x in row.inputs.values())
    dtypes = [*row.dtypes, *(other for other in OTHERS if "float32" in row.dtypes and floats)]
    for dtype in dtypes:
        inputs = {key: cast(x, dtype) for key, x in row.inputs.items()}
        for opened in (False, True):
            if (any(x.ndim for x in inputs.values()) and opened) or (not opened and dtype in (row.dtypes[0], "int64")):
                source = as_layer("None", inputs, row.expression) if opened else as_function(inputs, row.expression)
                yield Case(f"{name} {dtype} {row.expression}", source, inputs, "float32", opened, drawn)


def of_layer(row):
    *lines, last = row.layer.split("; ")
    for dtype in row.dtypes:
        inputs = {key: cast(x, dtype) for key, x in row.inputs.items()}
        source = as_layer(last, inputs, row.call, lines)
        for opened in (False, True):
            if (opened and any(x.ndim for x in inputs.values())) or (not opened and dtype == row.dtypes[0]):
                yield Case(f"{dtype} {row.layer}: {row.call}", source, inputs, dtype, opened, row.random)


if __name__ == "__main__":
    print(len(cases()), "cases")
    for case in cases(sys.argv[1]) if sys.argv[1:] else ():
        print(case.name, "open" if case.open else "", {key: f"{x.dtype}{case.sizes(x)}" for key, x in case.inputs.items()})
