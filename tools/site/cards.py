"""The cards of the ops as pages: what `python -m wherry ops NAME` prints, with links, and the matrix of all."""
from __future__ import annotations

import re
from typing import Any

from docstring import escaped
from reference import ORPHAN, Reference, link_to

from wherry_tensor import coverage
from wherry_tensor.ops.declare import family_of

FOLDER = "ops"
PLACE = re.compile(r"([\w./-]+\.(?:pyx?|pxi|cc|h|cu)):(\d+)")
MEANINGS = {
    "infer": "shape and dtype of the result", "decompose": "the op in smaller ones", "reference": "its definition in NumPy", "samples": "inputs for the tests",
    "vjp": "the gradient", "autocast": "what mixed precision does with it", "onnx": "how it is written as ONNX", "paddle": "Paddle's operator in files",
    "plugin": "kernels of device plug-ins", "view": "a view of the same memory", "cpu": "kernels for CPUs, by dtype", "declared": "name, inputs and attributes",
}


def pages(reference: Reference, registry: dict[str, Any]) -> dict[str, str]:
    """Document -> its text."""
    found = {f"{FOLDER}/{name}": _card(name, reference, registry) for name in registry}
    families: dict[str, list[str]] = {}
    for name in sorted(registry):
        families.setdefault(family_of(registry[name]), []).append(name)
    text = [
        "# Ops", f"The {len(registry)} ops that everything is made of, each with a card: who says what about it, and where. "
        "[How an op is written](/docs/ops.md); [how a device runs them](/docs/devices.md). In a terminal: `python -m wherry ops softmax`.",
    ]
    for family, names in sorted(families.items()):
        text.append(f"## {family}\n\n" + ", ".join(f"[`{name}`](/{FOLDER}/{name}.md)" for name in names))
    found[f"{FOLDER}/index"] = "\n\n".join(text) + "\n"
    return found


def _card(name: str, reference: Reference, registry: dict[str, Any]) -> str:
    signature, _, *rows = coverage.card(name).splitlines()
    table = []
    for row in rows:
        column, _, text = row.strip().partition(" ")
        table.append(f"| {column} | {_linked(text.strip(), reference, registry)} | {MEANINGS.get(column, '')} |")
    parts = [
        f"{ORPHAN}\n\n[Ops](/{FOLDER}/index.md)", f"# {name}", f"```text\n{signature}\n```",
        "| column | answer | says |\n|---|---|---|\n" + "\n".join(table),
    ]
    users = reference.used_by.get(name, [])
    if users:
        parts.append("## Names of the API that are made of it\n\n" + ", ".join(f"[`{user.shown}`](/{user.document}.md)" for user in users))
    parts.append(f"Family: [{family_of(registry[name])}](/{FOLDER}/index.md). Its gradient, kernels and shape rule are tested from its samples.")
    return "\n\n".join(parts) + "\n"


def _linked(text: str, reference: Reference, registry: dict[str, Any]) -> str:
    """Places as links to the source, names of ops as links to their cards."""
    parts = []
    at = 0
    for place in PLACE.finditer(text):
        parts.append(_ops(text[at : place.start()], registry))
        file = reference.sources.of_module_file(place[1])
        parts.append(link_to(reference.sources, file, int(place[2])) if file else escaped(place[0]))
        at = place.end()
    return "".join([*parts, _ops(text[at:], registry)])


def _ops(text: str, registry: dict[str, Any]) -> str:
    prefix, decomposed, names = text.partition("decomposition: ")
    if not decomposed:
        return escaped(text)
    return escaped(prefix + decomposed) + ", ".join(f"[`{name}`](/{FOLDER}/{name}.md)" if name in registry else escaped(name) for name in names.split(", "))
