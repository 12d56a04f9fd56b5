"""`wherry ecosystem LIBRARY`: tries the models of a library here and in real Paddle, and prints what agrees."""
from __future__ import annotations

import argparse
import importlib.util
import json
import os
import subprocess
import sys
import sysconfig
import tempfile
from dataclasses import asdict
from pathlib import Path
from typing import Any

from wherry._ecosystem.libraries import LIBRARIES, Library

__all__ = ["add_command", "run"]

CLOSE = 1e-3  # the largest difference of an output, as a share of the largest number
CLOSE_GRADIENTS = 1e-2  # of a parameter's gradient, as a share of the largest gradient of the model; or what Paddle's own move by, if more


def add_command(commands: Any) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser(
        "ecosystem", help="does a library that was written for Paddle run here?",
        description="Import a library with `paddle` standing for `wherry`, build its models with random weights, and compare results, gradients "
        "and saved programs with real Paddle, where that is found.",
    )
    parser.add_argument("library", help=f"its import name; how models are made is known of {', '.join(sorted(LIBRARIES))}")
    parser.add_argument("--paddle", metavar="PYTHON", default=os.environ.get("PARITY_PYTHON"),
                        help="an interpreter with real Paddle (default: PARITY_PYTHON, else this one where paddlepaddle is installed)")
    parser.add_argument("--no-paddle", action="store_true", help="compare with nothing")
    parser.add_argument("--models", metavar="PATTERN", nargs="+", default=[], help="only models whose name fits one of these regular expressions")
    parser.add_argument("--discover", metavar="MODULE", nargs="+", default=[], help="modules to look through for layers that need no arguments")
    parser.add_argument("--inputs", metavar="TENSOR", nargs="+", default=[],
                        help='of what is discovered, such as "float32[2, 3, 64, 64]" "int64[2, 8] < 100"')
    parser.add_argument("--limit", type=int, default=120, help="seconds for one model (default: 120)")
    parser.add_argument("--verbose", action="store_true", help="show what the library prints")
    parser.add_argument("--json", metavar="FILE", help="also write what was found here")


def run(chosen: argparse.Namespace) -> int:
    """Run the command; returns the exit status: 1 where something does not agree."""
    if importlib.util.find_spec(chosen.library) is None and chosen.library not in LIBRARIES:
        print(f"wherry ecosystem: there is no such library. Got {chosen.library}, expected one that is installed. pip install it", file=sys.stderr)
        return 2
    library = LIBRARIES.get(chosen.library) or Library(imports=(chosen.library,), discover=(chosen.library,))
    job = {
        **asdict(library), "discover": [*library.discover, *chosen.discover], "inputs": chosen.inputs or list(library.inputs), "only": chosen.models,
        "limit": chosen.limit, "verbose": chosen.verbose, "path": [],
    }
    with tempfile.TemporaryDirectory() as folder:
        python = None if chosen.no_paddle else chosen.paddle or _own_paddle()
        theirs = None
        if python is not None:
            theirs = _outcome([python], job, "paddle", "write", Path(folder), chosen.verbose)
        ours = _outcome([sys.executable, "-m", "wherry", "run"], job, "wherry", "read", Path(folder), chosen.verbose)
        rows = _rows(ours, theirs, Path(folder))
    _print(chosen.library, ours, theirs, rows)
    if chosen.json:
        Path(chosen.json).write_text(json.dumps({"library": chosen.library, "error": ours.get("error"), "rows": rows}, indent=1))
    return int("error" in ours or any(row["verdict"] == "differs" for row in rows))


def _own_paddle() -> str | None:
    """This interpreter, where it has real Paddle."""
    from importlib.metadata import PackageNotFoundError, version

    for name in ("paddlepaddle", "paddlepaddle-gpu"):
        try:
            version(name)
        except PackageNotFoundError:
            continue
        return sys.executable
    return None


def _outcome(command: list[str], job: dict[str, Any], framework: str, weights: str, folder: Path, verbose: bool) -> dict[str, Any]:
    """What the worker says in one framework."""
    job = {**job, "framework": framework, "weights": weights}
    environment = dict(os.environ)
    if framework == "paddle":
        environment.pop("PYTHONPATH", None)
        if command[0] != sys.executable:
            job["path"] = [sysconfig.get_paths()["purelib"]]  # the library, where the other interpreter does not have it; its own packages go before
    path = folder / f"{framework}.json"
    path.write_text(json.dumps(job))
    worker = str(Path(__file__).with_name("worker.py"))
    done = subprocess.run(
        [*command, worker, str(path), str(folder)], cwd=folder, env=environment, text=True, capture_output=not verbose, errors="replace",
    )
    result = folder / f"result-{framework}.json"
    if not result.exists():
        return {"models": {}, "error": f"{framework} ended with status {done.returncode}: {(done.stderr or '')[-600:]}"}
    found: dict[str, Any] = json.loads(result.read_text())
    return found


def _rows(ours: dict[str, Any], theirs: dict[str, Any] | None, folder: Path) -> list[dict[str, Any]]:
    """A row for each model."""
    rows = []
    for name in dict.fromkeys([*(theirs or {"models": {}})["models"], *ours["models"]]):
        mine, other = ours["models"].get(name, {}), None if theirs is None else theirs["models"].get(name, {})
        row: dict[str, Any] = {"model": name, "remark": ""}
        for stage in ("builds", "forward", "gradients", "saved"):
            row[stage] = _said(stage, mine, other, name, folder)
            problem = mine.get(stage, {}).get("error")
            if problem and not row["remark"]:
                row["remark"] = f"{problem} {mine[stage].get('where', '')}".strip()
        if not row["remark"] and other is not None:
            row["remark"] = next((f"Paddle: {found['error']} {found['where']}".strip() for found in other.values() if "error" in found), "")
        wrong = [stage for stage in ("builds", "forward", "gradients", "saved") if row[stage][:2] in ("no", "DI")]
        row["verdict"] = "differs" if wrong else "Paddle does not run it either" if "either" in row["builds"] + row["forward"] else "agrees"
        rows.append(row)
    return rows


def _said(stage: str, mine: dict[str, Any], other: dict[str, Any] | None, name: str, folder: Path) -> str:
    """One cell: "yes", the largest difference, or what does not work."""
    ran = stage in mine and "error" not in mine[stage]
    if other is not None and (stage not in other or "error" in other[stage]):
        return "yes; not Paddle" if ran else "either" if stage in mine or stage in ("builds", "forward") else "-"
    if not ran:
        return "no" if stage in mine or stage == "builds" else "-"
    if stage == "saved":
        apart = float(mine[stage]["apart"])
        return "yes" if apart <= CLOSE else f"DIFFERS by {apart:.1g}"
    if stage == "builds" and other is not None:
        mine_has, other_has = mine[stage]["parameters"], other[stage]["parameters"]
        return "yes" if mine_has == other_has else f"DIFFERS: {mine_has} parameters, {other_has} there"
    if stage == "builds" or other is None:
        return "yes"
    return _apart(stage, "".join(c if c.isalnum() or c == "_" else "_" for c in name), folder, float(other[stage].get("moved", 0)))


def _apart(stage: str, stem: str, folder: Path, moved: float) -> str:
    """How far the arrays of both frameworks are apart. `moved`: how far Paddle's own are when its inputs move by 1e-6."""
    import numpy as np

    with np.load(folder / f"{stem}-wherry.npz") as ours, np.load(folder / f"{stem}-paddle.npz") as theirs:
        keys = [key for key in theirs.files if key.startswith(stage.removesuffix("s"))]
        if set(keys) != {key for key in ours.files if key.startswith(stage.removesuffix("s"))}:
            return f"DIFFERS: {len([k for k in ours.files if k.startswith(stage.removesuffix('s'))])} arrays, {len(keys)} there"
        worst, scale = 0.0, 1e-6
        for key in keys:
            if ours[key].shape != theirs[key].shape:
                return f"DIFFERS: shape {list(ours[key].shape)}, {list(theirs[key].shape)} there"
            both_nan = np.isnan(ours[key]) & np.isnan(theirs[key])
            difference = np.abs(np.where(both_nan, 0, ours[key]) - np.where(both_nan, 0, theirs[key]))
            worst = max(worst, float(difference.max(initial=0)))
            scale = max(scale, float(np.nanmax(np.abs(theirs[key]), initial=0)))
        apart = worst / scale
        if apart <= (CLOSE if stage == "forward" else CLOSE_GRADIENTS):
            return f"{apart:.0e}"
        return f"{apart:.0e} (Paddle itself {moved:.0e})" if apart <= 2 * moved else f"DIFFERS by {apart:.1g}"


def _print(library: str, ours: dict[str, Any], theirs: dict[str, Any] | None, rows: list[dict[str, Any]]) -> None:
    if "error" in ours:
        print(f"{library} cannot be imported: {ours['error']}")
        if theirs is not None and "error" in theirs:
            print(f"Nor in Paddle: {theirs['error']}")
    elif theirs is not None and "error" in theirs:
        print(f"Paddle cannot import {library}: {theirs['error']}")
    columns = ("model", "builds", "forward", "gradients", "saved")
    widths = [max([len(column), *(len(row[column]) for row in rows)]) for column in columns]
    if rows:
        print("  ".join(column.ljust(width) for column, width in zip(columns, widths)))
    for row in rows:
        remark = f"  {row['remark'][:200]}" if row["verdict"] != "agrees" else ""
        print("  ".join(row[column].ljust(width) for column, width in zip(columns, widths)) + remark)
    counts = {verdict: sum(row["verdict"] == verdict for row in rows) for verdict in ("agrees", "differs", "Paddle does not run it either")}
    with_paddle = "" if theirs is not None else " (compared with nothing: real Paddle was not found; --paddle PYTHON says where it is)"
    print(f"{library}: {len(rows)} models" + "".join(f", {count} {verdict}" for verdict, count in counts.items() if count) + with_paddle)
