"""The command line: `python -m wherry`."""
from __future__ import annotations

import argparse
import importlib
import runpy
import sys
from pathlib import Path

import wherry

SERVING = "wherry_web.serving"  # stands above this package: known by name only


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

    commands.add_parser(
        "doctor", help="what is installed, what runs here, what is missing",
        description="Print versions, instruction set, threads and memory, and what to type where something is missing.",
    )

    run = commands.add_parser(
        "run", help="run a script whose imports say `paddle`",
        description="Run a script with `paddle` standing for `wherry`, in this process only.",
    )
    run.add_argument("script", type=Path)
    run.add_argument("script_arguments", nargs=argparse.REMAINDER, metavar="...", help="handed to the script")

    serve = commands.add_parser(
        "serve", help="pages where a model trains and answers in the browser",
        description="Serve the pages, the wheels for the browser and predictions of saved models.",
    )
    # wherry-web is asked for only by its own command, and then says what it can do.
    asked = sys.argv[1:] if arguments is None else arguments
    if asked[:1] == ["serve"] and not add_serve_arguments(serve):
        return 2

    chosen = parser.parse_args(arguments)
    if chosen.command == "ops":
        return print_ops(chosen.names)
    if chosen.command == "doctor":
        from wherry._doctor import report

        return min(report(), 1)
    if chosen.command == "serve":
        status: int = importlib.import_module(SERVING).serve(chosen)
        return status
    return run_script(chosen.script, chosen.script_arguments)


def add_serve_arguments(parser: argparse.ArgumentParser) -> bool:
    """The options of wherry-web; False, with a message, where it is not installed."""
    try:
        serving = importlib.import_module(SERVING)
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "wherry_web":
            raise
        print("wherry serve: the pages and their server are a package of their own: pip install wherry-web", file=sys.stderr)
        return False
    serving.add_arguments(parser)
    return True


def print_ops(names: list[str]) -> int:
    """Print the matrix, or the cards of the ops named."""
    import wherry.amp  # noqa: F401  with it come the columns of every package
    from wherry_tensor import coverage

    try:
        print(coverage.matrix() if not names else "\n\n".join(coverage.card(name) for name in names))
    except KeyError as error:
        print(f"wherry ops: {error.args[0]}", file=sys.stderr)
        return 1
    return 0


def run_script(script: Path, script_arguments: list[str]) -> int:
    """Run `script` as `python script ...` would, with `paddle` meaning `wherry`."""
    if not script.exists():
        print(
            f"wherry run: there is no such script. Got {script}, expected the path of a Python file. "
            f"Give the path from the current folder, {Path.cwd()}.",
            file=sys.stderr,
        )
        return 2
    from wherry._alias import alias_paddle

    alias_paddle()
    sys.argv = [str(script), *script_arguments]
    sys.path[0] = str(script.resolve().parent)
    runpy.run_path(str(script), run_name="__main__")
    return 0


if __name__ == "__main__":
    sys.exit(main())
