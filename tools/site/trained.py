"""Trains the tutorials, cell by cell, and shows what came out: the text that each cell printed, its pictures, and the losses.

Results are kept in .cache/site until a program, or a package, changes.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import draw
import notebook

from sources import ROOT

sys.path[:0] = [str(ROOT / "tools")]
import tutorials  # noqa: E402
import wheels  # noqa: E402

CACHE = ROOT / ".cache" / "site"
PATIENCE = 600  # seconds for a program: a loaded machine takes a minute for what is done in two seconds


def results() -> dict[str, list[str]]:
    """Name of each tutorial -> what stands below each of its cells, as Markdown; then its losses, "" for those that print a few."""
    packages = wheels.digest_of("wherry") + wheels.digest_of("web")
    own = b"".join(path.read_bytes() for path in [*sorted(tutorials.FOLDER.rglob("*.py")), Path(notebook.__file__)])
    digest = hashlib.sha256(packages.encode() + own).hexdigest()[:16]
    return {program.stem: shown(program.stem, _run(program, digest)) for program in tutorials.PROGRAMS}


def _run(program: Path, digest: str) -> list[list[dict[str, Any]]]:
    """What each cell said."""
    kept = CACHE / f"{program.stem}-{digest}.json"
    if not kept.exists():
        kept.parent.mkdir(parents=True, exist_ok=True)
        new = kept.with_suffix(".new")
        command = [sys.executable, "-m", "wherry", "run", notebook.__file__, str(program), str(new)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE)
        if done.returncode:
            raise SystemExit(f"site: {program.name} failed:\n{done.stdout[-2000:]}{done.stderr[-3000:]}")
        new.replace(kept)
    found: list[list[dict[str, Any]]] = json.loads(kept.read_text())["cells"]
    return found


def printed(messages: list[dict[str, Any]]) -> str:
    """The text of messages."""
    return "".join(one["text"] for one in messages if one["kind"] == "text" and one["stream"] == "stdout")


def shown(name: str, cells: list[list[dict[str, Any]]]) -> list[str]:
    """Of each cell the Markdown of what it said, and at the end the picture of all losses."""
    found = []
    for messages in cells:
        text = printed(messages).rstrip()
        parts = [f"```text\n{text}\n```"] if text else []
        for message in messages:
            if message["kind"] == "plot":
                parts.append(draw.lines(message))
            elif message["kind"] == "pictures":
                parts.append(draw.pictures(message, base64.b64decode(message["content"])))
        found.append("\n\n".join(parts))
    return [*found, losses_shown("".join(map(printed, cells)), name)]


def losses_shown(text: str, name: str) -> str:
    """A picture of the losses that a tutorial prints, a line for each kind ("loss", "test loss"), or "" where it prints a few."""
    kinds: dict[str, list[float]] = {}
    for kind, number in re.findall(r"((?:[A-Za-z]+ )?loss):?\s+([-+.\deE]+)", text):
        kinds.setdefault(kind, []).append(float(number))
    long = {kind: losses for kind, losses in kinds.items() if len(losses) > 2}
    if not long:
        return ""
    count = max(map(len, long.values()))
    rows = [{"label": kind if len(long) > 1 else "", "y": [*losses, *[None] * (count - len(losses))]} for kind, losses in long.items()]
    ends = "; ".join(f"{f'{kind}: ' if len(long) > 1 else ''}{losses[0]:.4g} first, {losses[-1]:.4g} last" for kind, losses in long.items())
    said = f"Losses of {name}, in the order in which it prints them. {ends[0].upper()}{ends[1:]}"
    return draw.lines({"x": list(range(1, count + 1)), "lines": rows, "title": said, "x_label": "", "log": False, "points": False})
