"""The coverage matrix (op by column), the card of one op, and what a device has.

    python -m wherry ops
    python -m wherry ops softmax
    python -m wherry ops --device cpu
    python -m wherry ops --required
"""
from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator

from wherry_tensor import _core, columns
from wherry_tensor._core import VOCABULARY_VERSION, Op
from wherry_tensor.ops import registry
from wherry_tensor.ops.declare import decompose, family_of, infer, where_declared
from wherry_tensor.suggestions import did_you_mean

__all__ = ["card", "gaps", "matrix", "of_device", "required"]

# Columns shown first, in this order; those of other packages follow by name.
_FIRST = ("infer", "decompose", "reference", "samples", "vjp")
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
    for family, members in _families():
        rows += ["", f"{family}:"]
        rows += [
            f"{op.name:{width}}  {'  '.join(f'{_answer(op, c)[0]:^{len(c)}}' for c in names)}".rstrip() for op in members
        ]
    rows += ["", _LEGEND, _totals(names)]
    return "\n".join(rows)


def of_device(device: str) -> str:
    """What answers each op on a kind of device: a kernel, its decomposition, or the host.

    Raises:
        ValueError: the device does not exist.
    """
    device = next((known for known in _devices() if known.lower() == device.lower()), device)
    if device not in _devices():
        raise ValueError(
            f"there is no device of this name. Got {device!r}, expected one of {', '.join(_devices())}. "
            f"A device is known once its package is imported or chosen with set_device."
        )
    width = max(map(len, registry))
    rows: list[str] = []
    counts: Counter[str] = Counter()
    absent = []
    for family, members in _families():
        rows += ["", f"{family}:"]
        for op in members:
            how, what = _on_device(op, device)
            counts[how] += 1
            if how in ("host", "missing"):
                absent.append(op.name)
            rows.append(f"{op.name:{width}}  {how:13}  {what}".rstrip())
    needed = sum(not op.view and not _moves(op) and op not in decompose for op in registry.values())
    rows += ["", ", ".join(f"{n} {how}" for how, n in counts.most_common())]
    if absent:
        rows.append(f"{len(absent)} of the {needed} kernels that suffice are not there yet: {', '.join(absent)}")
    return "\n".join(rows[1:])


def required() -> str:
    """The ops without a decomposition, which a device has to bring, each with the reason; what is seldom used comes last."""
    width = max(map(len, registry))
    rows: list[str] = []
    seldom: list[str] = []
    count = 0
    for family, members in _families():
        needed = [op for op in members if not op.view and not _moves(op) and op not in decompose]
        often = [op for op in needed if op not in decompose.seldom]
        shown = {op: f"{op.name:{width}}  {decompose.exemptions[op]}" for op in needed}
        if often:
            count += len(often)
            rows += ["", f"{family}:", *(shown[op] for op in often)]
        seldom += [shown[op] for op in needed if op in decompose.seldom]
    rows += ["", "seldom used (the cpu computes them where a device does not):", *seldom]
    return "\n".join([
        *rows[1:], "",
        f"{count} of {len(registry)} ops, and {len(seldom)} that are seldom used; all others decompose into these, or are views",
    ])


def _families() -> list[tuple[str, list[Op]]]:
    families: dict[str, list[Op]] = {}
    for _name, op in sorted(registry.items()):
        families.setdefault(family_of(op), []).append(op)
    return sorted(families.items())


def _devices() -> list[str]:
    return list(_core.devices())


def _moves(op: Op) -> bool:
    """Whether the op copies between devices: the core moves the memory, no kernel runs."""
    return op.name == "copy_to"


def _on_device(op: Op, device: str) -> tuple[str, str]:
    if op.view:
        return "view", ""
    if _moves(op):
        return "move", ""
    dtypes = op.kernel_dtypes(device)
    if dtypes:
        return "kernel", ", ".join("the other dtypes" if d == "..." else d for d in dtypes)
    if op in decompose:
        return "decomposition", ", ".join(_parts(op))
    return ("missing", "") if device == "cpu" else ("host", "copied to the cpu and back")


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
    at = known.index("vjp") if "vjp" in known else len(known)
    return [*known[:at], *_devices(), *known[at:], *others]


def _answer(op: Op, column: str) -> tuple[str, str]:
    """The symbol of the matrix and the text of the card."""
    if column in _devices():
        return _kernel_answer(op, column)
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


def _kernel_answer(op: Op, device: str) -> tuple[str, str]:
    how, what = _on_device(op, device)
    return {
        "view": (_EXEMPT, "a view: no kernel runs"),
        "move": (_EXEMPT, "between devices: the core moves the memory, no kernel runs"),
        "kernel": (_OWN, what),
        "decomposition": (_DERIVED, f"runs its decomposition: {what}"),
        "host": (_MISSING, "no kernel yet: copied to the cpu and back"),
        "missing": (_MISSING, "missing: no kernel and no decomposition"),
    }[how]


def _parts(op: Op) -> Iterator[str]:
    """Names that a decomposition speaks of and that are ops."""
    rule = decompose.rules[op]
    while hasattr(rule, "__wrapped__"):
        rule = rule.__wrapped__
    return (name for name in sorted(set(rule.__code__.co_names)) if name in registry and registry[name] is not op)


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
