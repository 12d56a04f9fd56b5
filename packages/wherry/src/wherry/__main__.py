"""The command line: `python -m wherry`."""
from __future__ import annotations

import argparse
import builtins
import contextlib
import importlib
import importlib.machinery
import importlib.util
import os
import runpy
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import wherry
from wherry import _bench, _docs, _programs
from wherry._ecosystem import command as ecosystem

SERVING = "wherry_web.serving"  # imports this package: known by name only
MIGRATING = "wherry_migrate.command"  # a package that is installed where somebody migrates


def main(arguments: list[str] | None = None) -> int:
    """Run one command; returns the exit status."""
    parser = argparse.ArgumentParser(prog="wherry", description="Wherry from the command line.")
    parser.add_argument("--version", action="version", version=f"wherry {wherry.__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="command")

    ops = commands.add_parser(
        "ops", help="what is known about the ops",
        description="Print the coverage matrix (op by column), or the card of each op that is named.",
    )
    ops.add_argument("names", nargs="*", metavar="op", help="an op, such as softmax; none: the matrix of all")
    ops.add_argument("--device", metavar="NAME", help="what answers each op on this device: kernel, decomposition or host")
    ops.add_argument("--required", action="store_true", help="the ops that a device needs kernels for, and why")

    commands.add_parser(
        "doctor", help="what is installed, what runs here, what is missing",
        description="Print versions, instruction set, threads and memory, and what to type where something is missing.",
    )

    _bench.add_command(commands)

    commands.add_parser(
        "run", help="run a program whose imports say `paddle`",
        usage="wherry run [script.py | -m module | -c code | -] [...]",
        description="Run a program as python would, with `paddle` standing for `wherry`, here and in the Python processes "
        "that it starts. Random numbers are those that Paddle draws on a CPU (FLAGS_paddle_random=0 in the environment: our "
        "own), and logits are clipped as there (FLAGS_paddle_clip=0: not). What follows is handed to the program; without any, "
        "or with -, it is read from the standard input.",
    )

    _programs.add_commands(commands)
    ecosystem.add_command(commands)

    commands.add_parser(
        "launch", help="run a program in several processes", add_help=False,
        description="As python -m wherry.distributed.launch, with `paddle` standing for `wherry` in the processes.",
    )

    serve = commands.add_parser(
        "serve", help="pages where a model trains and answers in the browser",
        description="Serve the pages, the wheels for the browser and predictions of saved models.",
    )
    for name, what in (("upgrade", "a program of Paddle 1.x for 2.x"), ("from-torch", "a program of PyTorch for Wherry")):
        text = f"Rewrite {what}: a diff, or with --write the files. The program is read and not run."
        commands.add_parser(name, help=f"rewrite {what}", description=text)
    _docs.add_command(commands)

    # Packages that are not always installed are asked for only by their own commands, and then say what they can do.
    asked = sys.argv[1:] if arguments is None else arguments
    if asked[:1] == ["serve"] and not add_arguments_of(SERVING, "serve", "the pages and their server are", "wherry-web", serve):
        return 2
    if asked and asked[0] in ("upgrade", "from-torch") and not add_arguments_of(
        MIGRATING, asked[0], "the tools that rewrite programs are", "wherry-migrate", commands.choices[asked[0]], asked[0]
    ):
        return 2

    if asked[:1] == ["run"] and asked[1:2] not in (["-h"], ["--help"]):
        return run_program(list(asked[1:]))  # not parsed here: what looks like our options is the program's

    if asked[:1] == ["launch"]:
        from wherry._alias import alias_in_children
        from wherry_distributed.launch import main as launch

        alias_in_children()
        return launch(list(asked[1:]), prog="wherry launch")

    chosen = parser.parse_args(arguments)
    if chosen.command == "ops":
        return until_nobody_reads(lambda: print_ops(chosen.names, chosen.device, chosen.required))
    if chosen.command == "doctor":
        from wherry._doctor import report

        return until_nobody_reads(lambda: min(report(), 1))
    if chosen.command == "bench":
        return until_nobody_reads(lambda: _bench.run(chosen))
    if chosen.command in ("upgrade", "from-torch"):
        return until_nobody_reads(lambda: importlib.import_module(MIGRATING).run(chosen))
    if chosen.command == "docs":
        return _docs.run(chosen)
    if chosen.command == "serve":
        status: int = importlib.import_module(SERVING).serve(chosen)
        return status
    if chosen.command == "ecosystem":
        return until_nobody_reads(lambda: ecosystem.run(chosen))
    if chosen.command in _programs.COMMANDS:
        return until_nobody_reads(lambda: _programs.run(chosen))
    raise AssertionError(f"no such command: {chosen.command}")


def add_arguments_of(module: str, command: str, what: str, package: str, parser: argparse.ArgumentParser, *more: str) -> bool:
    """The options of a command whose package may not be installed; False, with a message, where it is not."""
    try:
        found = importlib.import_module(module)
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in (module.partition(".")[0], "libcst"):
            raise
        print(f"wherry {command}: {what} a package of their own: pip install {package}", file=sys.stderr)
        return False
    found.add_arguments(parser, *more)
    return True


def load_columns() -> None:
    """Load what every package knows about the ops."""
    import wherry.amp  # noqa: F401
    import wherry_paddle_files.ops  # noqa: F401
    from wherry_export.onnx import load_rules

    with contextlib.suppress(ModuleNotFoundError):  # without the package `onnx` its column is left out
        load_rules()
    from wherry_extension.plugins import rules  # noqa: F401


def print_ops(names: list[str], device: str | None = None, required: bool = False) -> int:
    """Print the matrix of ops, the cards of some ops, the ops of a device, or those that a device needs."""
    from wherry_tensor import coverage

    load_columns()
    try:
        if device is not None:
            import_device(device)
            print(coverage.of_device(device))
        elif required:
            print(coverage.required())
        else:
            print(coverage.matrix() if not names else "\n\n".join(coverage.card(name) for name in names))
    except (KeyError, ValueError) as error:
        print(f"wherry ops: {error.args[0]}", file=sys.stderr)
        return 1
    return 0


def import_device(device: str) -> None:
    """Let the package of a device register it, where one is installed; another device stays unknown."""
    import wherry

    if device != "cpu":
        with contextlib.suppress(ValueError):
            wherry.set_device(device)


def run_program(arguments: list[str]) -> int:
    """Run a program as `python ...` would, with `paddle` meaning `wherry`; returns the exit status."""
    from wherry import _alias

    _alias.alias_paddle()
    _alias.alias_in_children()
    for name in ("FLAGS_paddle_random", "FLAGS_paddle_clip"):
        if name not in os.environ:  # the numbers that the program sees under Paddle; 0 gives Wherry's own
            os.environ[name] = "1"  # children read it when they import
            wherry.set_flags({name: True})
    main = ModuleType("__main__")
    vars(main)["__builtins__"] = builtins
    kind, rest = (arguments[0], arguments[1:]) if arguments else ("-", [])
    source: Any
    try:
        if kind == "-m":
            if not rest:
                return refuse("-m names no module. Got nothing after -m, expected a module's name. Write wherry run -m package.module")
            spec = module_to_run(rest[0])
            if spec is None or spec.loader is None:
                return refuse(f"there is no such module. Got {rest[0]}, expected one that can be imported from {Path.cwd()}. Check the name.")
            main.__spec__, main.__package__, main.__loader__, main.__file__ = spec, spec.parent, spec.loader, spec.origin
            source = spec.loader.get_code(spec.name)  # type: ignore[attr-defined]
            sys.argv = [spec.origin or rest[0], *rest[1:]]
            sys.path[0] = str(Path.cwd())
        elif kind == "-c":
            if not rest:
                return refuse("-c is followed by no code. Got nothing after -c, expected a program. Write wherry run -c 'import paddle'")
            source, sys.argv, sys.path[0] = compile(rest[0], "<string>", "exec"), ["-c", *rest[1:]], ""
        elif kind == "-":
            source, sys.argv, sys.path[0] = compile(sys.stdin.read(), "<stdin>", "exec"), ["-", *rest], ""
        else:
            script = Path(kind)
            if not script.exists():
                return refuse(
                    f"there is no such script. Got {script}, expected the path of a Python file. "
                    f"Give the path from the current folder, {Path.cwd()}."
                )
            sys.argv = [kind, *rest]
            if script.is_dir() or zipfile.is_zipfile(script):
                runpy.run_path(kind, run_name="__main__")
                return 0
            sys.path[0] = str(script.resolve().parent)
            main.__file__ = kind
            source = compile(script.read_bytes(), kind, "exec")
    except SyntaxError as error:
        return shown(error.with_traceback(None))
    replaced.append(sys.modules["__main__"])
    sys.modules["__main__"] = main
    try:
        exec(source, vars(main))  # noqa: S102  that is what was asked for
    except SystemExit:
        raise
    except BaseException as error:
        # What lies above the program, runpy and this function, is not the program's traceback.
        return shown(error.with_traceback(error.__traceback__ and error.__traceback__.tb_next))
    return 0


replaced: list[ModuleType] = []  # this module: its functions are running


def module_to_run(name: str) -> importlib.machinery.ModuleSpec | None:
    """What `python -m name` would run: the module, or the __main__ of a package."""
    sys.path[0] = str(Path.cwd())
    try:
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.submodule_search_locations is not None:
            spec = importlib.util.find_spec(f"{name}.__main__")
    except ModuleNotFoundError as error:
        if not name.startswith(str(error.name)):
            raise
        return None
    return spec


def shown(error: BaseException) -> int:
    """Show an error that ended the program; returns the exit status."""
    sys.excepthook(type(error), error, error.__traceback__)
    return 130 if isinstance(error, KeyboardInterrupt) else 1


def until_nobody_reads(command: Callable[[], int]) -> int:
    """Run a command that prints; its reader may close the pipe early, as `head` does."""
    try:
        status = command()
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # output that Python flushes at exit is discarded
        return 0
    return status


def refuse(text: str) -> int:
    """Print why nothing was run; returns the exit status."""
    print(f"wherry run: {text}", file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main())
