"""`wherry upgrade` and `wherry from-torch`: a diff by default, `--write` changes the files and keeps what was there."""
from __future__ import annotations

import argparse
import datetime
import logging
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path

from wherry_migrate.paddle1 import STEPS, upgrade
from wherry_migrate.pytorch import from_torch
from wherry_migrate.rewriting import Result

LOG = logging.getLogger("wherry_migrate")
WHAT = {"upgrade": "Paddle 1.x", "from-torch": "PyTorch"}


def add_arguments(parser: argparse.ArgumentParser, command: str) -> None:
    """The options of paddle_upgrade_tool; the file may stand without an option too."""
    parser.add_argument("path", nargs="?", help=f"a {WHAT[command]} program, or a folder of them")
    parser.add_argument("-i", "--inpath", metavar="PATH", help="the same, as paddle_upgrade_tool has it")
    parser.add_argument("-w", "--write", action="store_true", help="change the files (default: print a diff)")
    parser.add_argument("-b", "--backup", metavar="DIR", default="~/.paddle_upgrade_tool/", help="where --write keeps the files of before (default: ~/.paddle_upgrade_tool/)")
    parser.add_argument("--no-log-file", action="store_true", help="write no log")
    parser.add_argument("--logfilepath", metavar="FILE", default="report.log", help="the log (default: report.log)")
    parser.add_argument("--no-confirm", action="store_true", help="with --write: do not ask for each file")
    parser.add_argument("-p", "--parallel", type=int, metavar="N", help="processes that rewrite (default: one)")
    parser.add_argument("--log-level", choices=("DEBUG", "INFO", "WARNING", "ERROR"), default="INFO")
    parser.add_argument("--print-match", action="store_true", help="print each line and name that was rewritten")
    if command == "upgrade":
        parser.add_argument("-r", "--refactor", choices=(*STEPS, "refactor_kwarg"), action="append", help="only this step; may be repeated (default: all)")


def run(options: argparse.Namespace) -> int:
    """Rewrite; returns the exit status: 0, or 1 where a file could not be read."""
    command = options.command
    place = options.inpath or options.path
    if not place:
        return refuse(command, "no program is named. Got no path, expected a Python file or a folder. Write: wherry {} model.py".format(command))
    start = Path(place)
    if not start.exists():
        return refuse(command, f"there is no such file. Got {place}, expected a Python file or a folder. Give the path from the current folder, {Path.cwd()}.")
    if options.parallel is not None and options.parallel < 1:
        return refuse(command, f"there is no such number of processes. Got --parallel {options.parallel}, expected at least 1. Leave it out for one.")
    set_up_log(options)
    paths = list(programs(start))
    convert = partial(converted, command, frozenset(step.replace("refactor_kwarg", "refactor_kwargs").replace("kwargss", "kwargs") for step in getattr(options, "refactor", None) or ()))
    status = 0
    with pool(options.parallel) as several:
        for path, result in zip(paths, several(convert, paths)):
            if isinstance(result, str):
                LOG.error("%s: %s", path, result)
                status = 1
                continue
            report(path, result, options.print_match)
            if options.write:
                write(path, result, Path(options.backup).expanduser(), options.no_confirm)
            else:
                sys.stdout.write(result.diff(str(path)))
    return status


class pool:  # noqa: N801  reads as a function
    """`map` of some processes, or of this one."""

    def __init__(self, count: int | None) -> None:
        self.executor = ProcessPoolExecutor(count) if count and count > 1 else None

    def __enter__(self) -> Callable:
        return self.executor.map if self.executor else map

    def __exit__(self, *error: object) -> None:
        if self.executor:
            self.executor.shutdown()


def programs(start: Path) -> Iterator[Path]:
    if start.is_file():
        yield start
    else:
        yield from sorted(path for path in start.rglob("*.py") if not any(part.startswith(".") for part in path.relative_to(start).parts))


def converted(command: str, steps: frozenset[str], path: Path) -> Result | str:
    """The rewritten program, or why there is none."""
    try:
        source = path.read_text(encoding="utf-8")
        return from_torch(source) if command == "from-torch" else upgrade(source, steps or None)
    except (SyntaxError, UnicodeDecodeError, OSError) as error:
        return str(error)


def report(path: Path, result: Result, matches: bool) -> None:
    for warning in result.warnings:
        LOG.warning("%s:%d: %s", path, warning.line, warning.text)
    for line, old, new in result.matched:
        LOG.info("%s:%d: %s -> %s", path, line, old, new)
        if matches:
            print(f"{path}:{line}: {result.before.splitlines()[line - 1].strip()}    {old} -> {new}")


def write(path: Path, result: Result, backup: Path, sure: bool) -> None:
    """Change a file in one piece, after a copy of it was made and, unless `sure`, somebody agreed."""
    if result.after == result.before:
        return
    backup.mkdir(parents=True, exist_ok=True)
    kept = backup / f"{path.name}_backup_{datetime.datetime.now():%Y_%m_%d_%H_%M_%S_%f}"
    shutil.copy2(path, kept)
    if not sure:
        question = f'"{path}" will be modified in-place, and it has been backed up to "{kept}". Do you want to continue? [Y/n]: '
        try:
            answer = input(question).strip().lower()
        except EOFError:
            answer = "n"
        if answer not in ("", "y", "yes"):
            LOG.info("%s: left as it was", path)
            return
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        file.write(result.after)
    shutil.copymode(path, name)
    os.replace(name, path)
    LOG.info("%s: rewritten; before: %s", path, kept)


def set_up_log(options: argparse.Namespace) -> None:
    """Warnings on the screen, everything in the log file."""
    for handler in list(LOG.handlers):
        LOG.removeHandler(handler)
        handler.close()
    LOG.setLevel(options.log_level)
    LOG.propagate = False
    screen = logging.StreamHandler(sys.stderr)
    screen.setLevel(logging.WARNING if options.log_level == "INFO" else options.log_level)
    handlers: list[logging.Handler] = [screen]
    if not options.no_log_file:
        handlers.append(logging.FileHandler(options.logfilepath, mode="w", encoding="utf-8"))
    for handler in handlers:
        handler.setFormatter(logging.Formatter("%(levelname)s: %(message)s"))
        LOG.addHandler(handler)


def refuse(command: str, text: str) -> int:
    print(f"wherry {command}: {text}", file=sys.stderr)
    return 2
