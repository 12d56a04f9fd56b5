"""How Paddle 2.6.2 calls its operators: `operators.tsv`, which tools/paddle_operators.py asks it for."""
from __future__ import annotations

import functools
from pathlib import Path
from typing import NamedTuple

__all__ = ["Operator", "operator_table"]

TABLE = Path(__file__).with_name("operators.tsv")


class Operator(NamedTuple):
    """An operator as it is called: `type` is its name in files of Paddle 2; arguments in order, and what it gives."""

    type: str
    inputs: tuple[str, ...]
    attrs: tuple[str, ...]
    outputs: tuple[str, ...]
    order: tuple[str, ...]  # of `_C_ops`; slots and attributes


@functools.cache
def operator_table() -> tuple[dict[str, Operator], dict[str, Operator]]:
    """The operators of `_C_ops`, under the names that programs of Paddle 3 have too, and those of `_legacy_C_ops`."""
    new: dict[str, Operator] = {}
    old: dict[str, Operator] = {}
    for line in TABLE.read_text(encoding="utf-8").splitlines()[1:]:
        kind, name, *columns = line.split("\t")
        type_, inputs, attrs, outputs, order = columns[0], *(tuple(c.split()) for c in columns[1:])
        (new if kind == "new" else old)[name] = Operator(type_, inputs, attrs, outputs, order)
    return new, old
