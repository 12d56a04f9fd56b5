"""The coverage matrix (op by column) and the card of one op.

    python -m wherry ops
    python -m wherry ops softmax
"""
from __future__ import annotations

import os
from collections.abc import Iterator

from wherry_tensor import columns
from wherry_tensor._core import VOCABULARY_VERSION, Op
from wherry_tensor.ops import registry
from wherry_tensor.ops.declare import decompose, family_of, infer, where_declared
from wherry_tensor.suggestions import did_you_mean

__all__ = ["card", "gaps", "matrix"]

# Columns shown first, in this order; those of other packages follow by name.
_FIRST = ("infer", "decompose", "reference", "samples", "vjp")
_KERNELS = "cpu"
_OWN, _DERIVED, _EXEMPT, _MISSING = "x", "d", "-", "?"
_LEGEND = (
    f"{_OWN} its own rule   {_DERIVED} from the decomposition   "
    f"{_EXEMPT} none needed (the card says why)   {_MISSING} missing"
)


def matrix() -> str:
    """The table of every op against every column, with a line of totals."""
    names = _column_names()
    width = max(map(len, registry))
    rows = [f"{'op':{width}}  {'  '.join(names)}"]
    family = ""
    for name, op in sorted(registry.items(), key=lambda item: (family_of(item[1]), item[0])):
        if family_of(op) != family:
            family = family_of(op)
            rows += ["", f"{family}:"]
        rows.append(f"{name:{width}}  {'  '.join(f'{_answer(op, c)[0]:^{len(c)}}' for c in names)}".rstrip())
    rows += ["", _LEGEND, _totals(names)]
    return "\n".join(rows)


def card(name: str) -> str:
    """What is known about one op and where it is written."""
    if name not in registry:
        near = did_you_mean(name, registry) or " `python -m wherry ops` lists them."
        raise KeyError(f"there is no op '{name}'. Got {name!r}, expected one of the vocabulary of {len(registry)} ops.{near}")
    op = registry[name]
    attrs = "".join(f", {n}: {t.__name__}" for n, t in zip(op.attr_names, op.attr_types))
    signature = f"{name}({op.input_spec}{attrs if op.input_spec else attrs[2:]}) -> {', '.join(op.outputs)}"
    rows = [signature + ("   (a view)" if op.view else ""), ""]
    names = _column_names()
    width = max(len("declared"), *map(len, names))
    rows.append(f"  {'declared':{width}}  {_short(where_declared(op))}  family {family_of(op)}")
    rows += [f"  {column:{width}}  {_answer(op, column)[1]}" for column in names]
    return "\n".join(rows)


def gaps() -> list[tuple[str, str]]:
    """(op, column) where an answer is missing."""
    return [(name, c) for name, op in registry.items() for c in _column_names() if _answer(op, c)[0] == _MISSING]


def _column_names() -> list[str]:
    from wherry_tensor.testing import samples  # noqa: F401  fills the columns of the testing kit

    known = [name for name in _FIRST if name in columns.registry]
    others = sorted(name for name in columns.registry if name not in _FIRST)
    return [*known[:-1], _KERNELS, *known[-1:], *others] if "vjp" in known else [*known, _KERNELS, *others]


def _answer(op: Op, column: str) -> tuple[str, str]:
    """The symbol of the matrix and the text of the card."""
    if column == _KERNELS:
        return _kernel_answer(op)
    table = columns.registry[column]
    if op in table:
        return _OWN, _short(table.where(op) or "")
    if op in table.exemptions:
        return _EXEMPT, table.exemptions[op]
    if table.optional:
        return _EXEMPT, table.when_absent
    if op in decompose and column not in (infer.name, "samples"):
        return _DERIVED, f"{table.when_absent}: {', '.join(_parts(op)) or _short(decompose.where(op) or '')}"
    return _MISSING, f"missing (column of {table.owner})"


def _kernel_answer(op: Op) -> tuple[str, str]:
    if op.view:
        return _EXEMPT, "a view: the core answers, no kernel runs"
    dtypes = op.kernel_dtypes()
    if dtypes:
        return _OWN, ", ".join("the other dtypes" if d == "..." else d for d in dtypes)
    if op in decompose:
        return _DERIVED, f"runs its decomposition: {', '.join(_parts(op))}"
    return _MISSING, "missing: no kernel and no decomposition"


def _parts(op: Op) -> Iterator[str]:
    """Names that a decomposition speaks of and that are ops."""
    return (name for name in sorted(set(decompose.rules[op].__code__.co_names)) if name in registry)


def _totals(names: list[str]) -> str:
    missing = {c: sum(_answer(op, c)[0] == _MISSING for op in registry.values()) for c in names}
    gaps_text = ", ".join(f"{count} in {c}" for c, count in missing.items() if count) or "none"
    irreducible = sum(op not in decompose for op in registry.values())
    return (
        f"{len(registry)} ops of vocabulary {VOCABULARY_VERSION}, {irreducible} without a decomposition; "
        f"missing answers: {gaps_text}"
    )


def _short(place: str) -> str:
    """A path as short as it stays clear: from the current folder if it is below it."""
    relative = os.path.relpath(place)
    return place if relative.startswith("..") else relative
