"""Which operation of Paddle 3 an operator of Paddle 2 is: `operators3.tsv`, which tools/paddle3_operators.py asks real Paddle for."""
from __future__ import annotations

import functools
from pathlib import Path
from typing import NamedTuple

__all__ = ["Row", "rows"]

TABLE = Path(__file__).with_name("operators3.tsv")


class Row(NamedTuple):
    """How an operator is called as an operation.

    Attributes:
        name: of the operation.
        inputs: slots, "[X]" for a list, "shape:ints" or "axis:int32" for an attribute that becomes a tensor, "-" for none.
        attrs: name, kind, and the operator's attribute or JSON; what stands for an attribute that is not given, or None.
        outputs: slots; "-" for what the operator does not have.
    """

    name: str
    inputs: tuple[str, ...]
    attrs: tuple[tuple[str, str, str, str | None], ...]
    outputs: tuple[str, ...]


@functools.cache
def rows() -> dict[str, Row]:
    """The rows of `operators3.tsv` by the operators' types."""
    found = {}
    for line in TABLE.read_text(encoding="utf-8").splitlines()[1:]:
        type_, name, inputs, attrs, outputs = line.split("\t")
        parts = []
        for each in attrs.split():
            attr, _, rest = each.partition(":")
            kind, _, source = rest.partition("=")
            source, bar, absent = source.partition("|")
            parts.append((attr, kind, source, absent if bar else None))
        found[type_] = Row(name, tuple(inputs.split()), tuple(parts), tuple(outputs.split()))
    return found
