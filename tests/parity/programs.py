"""Starts programs under wherry and under real Paddle 2.6.2, and reads what they say or write down."""
from __future__ import annotations

import json
import os
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).parent
PYTHON = os.environ.get("PARITY_PYTHON")
FRAMEWORKS = {"wherry": (sys.executable,), "paddle": (PYTHON,)}
PYTHON_3 = os.environ.get("PARITY_PYTHON_3")
needs_paddle = pytest.mark.skipif(not PYTHON, reason="PARITY_PYTHON names no Python with real Paddle: use `tox -e parity`")
needs_paddle_3 = pytest.mark.skipif(not PYTHON_3, reason="PARITY_PYTHON_3 names no Python with Paddle 3.3.1: use `tox -e parity`")


def start(framework: str, *arguments: Any, timeout: float = 900) -> str:
    """Run the framework's Python with these arguments to its end; returns what it printed."""
    command = [*FRAMEWORKS[framework], *arguments]
    done = subprocess.run([*map(str, command)], cwd=HERE, capture_output=True, text=True, timeout=timeout)
    assert done.returncode == 0, f"{framework} died: {(done.stdout + done.stderr)[-3000:]}"
    return done.stdout


def result_of(framework: str, program: Path, *arguments: Any) -> Any:
    """The JSON object after the word `RESULT` in what a program prints that says `import paddle`."""
    lines = start(framework, *["-m", "wherry", "run"] * (framework == "wherry"), program, *arguments).splitlines()
    (line,) = [line for line in lines if line.startswith("RESULT ")]
    return json.loads(line.removeprefix("RESULT "))


def outcome(worker: str, framework: str, target: Path, *arguments: Any) -> Any:
    """What a program of this folder pickles into `target`; its arguments are the framework, `target`, and the others."""
    start(framework, worker, framework, target, *arguments)
    return pickle.loads(target.read_bytes())  # noqa: S301  our own file


def outcomes_of(worker: str, folder: Path, *arguments: Any) -> dict[str, Any]:
    """What it pickles in each framework."""
    return {framework: outcome(worker, framework, folder / f"{framework}.pickle", *arguments) for framework in FRAMEWORKS}


def outcomes_beside_3(worker: str, folder: Path, *arguments: Any) -> dict[str, Any]:
    """What a program pickles in wherry and in Paddle 3."""
    target = folder / "paddle_3.pickle"
    done = subprocess.run([*map(str, (PYTHON_3, worker, "paddle", target, *arguments))], cwd=HERE, capture_output=True, text=True, timeout=900)
    assert done.returncode == 0, f"Paddle 3 died: {(done.stdout + done.stderr)[-3000:]}"
    return {"wherry": outcome(worker, "wherry", folder / "wherry.pickle", *arguments), "paddle": pickle.loads(target.read_bytes())}  # noqa: S301
