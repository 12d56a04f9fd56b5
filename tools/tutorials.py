"""Runs the tutorials of examples/tutorials under Wherry and under real Paddle, and writes their losses into docs/tutorials.md.

    PARITY_PYTHON=$(python tools/paddle_environment.py) python tools/tutorials.py [PROGRAM ...]

Both begin from the same seeds, and `wherry run` draws Paddle's random numbers, so the losses are equal up to rounding, which training
amplifies. How far that goes is measured: Paddle runs once more with initial weights that are moved by 1e-5.
"""
from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDER, PAGE = ROOT / "examples" / "tutorials", ROOT / "docs" / "tutorials.md"
HELPERS = {"tutorial_data.py", "environments.py"}
PROGRAMS = sorted(path for path in FOLDER.glob("*.py") if path.name not in HELPERS)
NOISE = 1e-5

# Real Paddle may crash when its own zlib is loaded before Python's.
_PADDLE = """
import sys, warnings, zlib
program, noise = sys.argv[1], float(sys.argv[2])
sys.argv, sys.path[0] = [program], program.rpartition("/")[0]
warnings.simplefilter("ignore")
import numpy as np, paddle, runpy
if noise:
    create, draw = paddle.nn.Layer.create_parameter, np.random.default_rng(0)
    def moved(*arguments, **named):
        parameter = create(*arguments, **named)
        if parameter is not None:
            parameter.set_value(parameter.numpy() * (1 + noise * draw.uniform(-1, 1, parameter.shape)).astype(parameter.numpy().dtype))
        return parameter
    paddle.nn.Layer.create_parameter = moved
runpy.run_path(program, run_name="__main__")
"""


def output_of(framework: str, program: Path, noise: float = 0.0) -> str:
    """What a tutorial prints under "wherry" or "paddle", there with initial weights that are moved by a share of `noise`."""
    if framework == "wherry":
        command = [sys.executable, "-m", "wherry", "run", str(program)]
    else:
        command = [os.environ["PARITY_PYTHON"], "-c", _PADDLE, str(program), str(noise)]
    # Real Paddle hangs at the end of a process in which something failed.
    done = subprocess.run(command, capture_output=True, text=True, timeout=240)
    if done.returncode:
        raise RuntimeError(f"{program.name} failed under {framework}:\n{done.stdout[-2000:]}{done.stderr[-3000:]}")
    return done.stdout


def losses_of(text: str) -> list[float]:
    """Every number that stands after the word loss."""
    return [float(number) for number in re.findall(r"loss:?\s+([-+.\deE]+)", text)]


def distance(ours: list[float], theirs: list[float]) -> float:
    """The largest difference of two rows of losses, as a share of the largest loss."""
    if len(ours) != len(theirs) or not ours:
        raise ValueError(f"expected as many losses, got {len(ours)} and {len(theirs)}")
    return max(abs(a - b) for a, b in zip(ours, theirs)) / max(map(abs, theirs))


def row(program: Path) -> str:
    """The row of the page: what it shows, the last loss of its training under both, and distances."""
    shows = (ast.get_docstring(ast.parse(program.read_text())) or "").splitlines()[0]
    ours, theirs = (losses_of(output_of(framework, program)) for framework in ("wherry", "paddle"))
    apart = distance(ours, theirs)
    moved = f"{distance(losses_of(output_of('paddle', program, NOISE)), theirs):.0e}" if apart > NOISE else ""
    numbers = f"{theirs[0]:.6g} | {theirs[-1]:.6g} | {ours[-1]:.6g} | {apart:.0e} | {moved}".replace(" 0e+00 ", " 0 ")
    return f"| [{program.stem}](../examples/tutorials/{program.name}) | {shows} | {len(ours)} | {numbers.rstrip()} |"


def main() -> None:
    wanted = [program for program in PROGRAMS if not sys.argv[1:] or program.stem in sys.argv[1:]]
    lines = PAGE.read_text().splitlines()
    for program in wanted:
        made = row(program)
        print(made, flush=True)
        places = [number for number, line in enumerate(lines) if line.startswith(f"| [{program.stem}](")]
        if places:
            lines[places[0]] = made.rstrip()
        else:
            print("  has no row yet: put it into the page")
        PAGE.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
