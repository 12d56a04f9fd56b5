"""The command `cuda-emulator`: builds and runs programs in CUDA C++ where there is no GPU.

    cuda-emulator run saxpy.cu                 build it, run it, say what was found
    cuda-emulator run --order 7 --measure saxpy.cu -- 1000
    cuda-emulator build saxpy.cu -o saxpy      a program that needs no more of this package
"""
from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

from wherry_cuda_emulator.building import compile
from wherry_cuda_emulator.running import build, run, table


def main(arguments: list[str] | None = None) -> int:
    """Run the command; returns its exit status."""
    parser = argparse.ArgumentParser(prog="cuda-emulator", description=(__doc__ or "CUDA C++ without a GPU.").splitlines()[0])
    commands = parser.add_subparsers(dest="command", required=True)
    for name, text in (("run", "build a program and run it"), ("build", "build a program")):
        command = commands.add_parser(name, help=text, description=text)
        command.add_argument("sources", nargs="+", metavar="FILE", help=".cu, .cc or .cpp; one of them has a main")
        command.add_argument("--fast", action="store_true", help="without the checks of every access: several times faster")
        command.add_argument("-I", action="append", default=[], metavar="FOLDER", help="of headers")
        command.add_argument("-D", action="append", default=[], metavar="NAME[=VALUE]", help="a macro")
        if name == "build":
            command.add_argument("-o", required=True, metavar="PROGRAM", help="where it goes")
        else:
            command.add_argument("--order", default="forward", help="of blocks, warps and lanes: forward, reverse, or a number, which is a seed")
            command.add_argument("--eager", action="store_true", help="streams run at once, not when the program waits for them")
            command.add_argument("--measure", action="store_true", help="count coalescing and conflicts of banks")
            command.add_argument("--timeout", type=float, metavar="SECONDS", help="kill the program after these")
    given = sys.argv[1:] if arguments is None else arguments
    own, rest = (given[: given.index("--")], given[given.index("--") + 1 :]) if "--" in given else (given, [])
    chosen = parser.parse_args(own)
    define = dict(text.partition("=")[::2] if "=" in text else (text, "1") for text in chosen.D)
    mode = "fast" if chosen.fast else "checked"
    try:
        if chosen.command == "build":
            print(compile([Path(source) for source in chosen.sources], chosen.o, mode=mode, include_dirs=chosen.I, define=define, program=True))
            return 0
        if chosen.order not in ("forward", "reverse") and not chosen.order.isdigit():
            parser.error(f"--order: got {chosen.order!r}, expected forward, reverse or a number")
        if chosen.measure and chosen.fast:
            parser.error("--measure: the fast build sees no accesses; leave out --fast")
        ended = run(build(chosen.sources, mode=mode, include_dirs=chosen.I, define=define), rest, order=chosen.order, eager=chosen.eager,
                    measure=chosen.measure, timeout=chosen.timeout)
    except (FileNotFoundError, RuntimeError) as error:
        print(error, file=sys.stderr)
        return 2
    except subprocess.TimeoutExpired as error:
        print(f"cuda-emulator: the program did not end within {error.timeout} s", file=sys.stderr)
        return 124
    sys.stdout.write(ended.output)
    sys.stdout.flush()
    sys.stderr.write(ended.errors)
    if chosen.measure:
        print(table(ended.measured), file=sys.stderr)
    return ended.status if ended.status >= 0 else 128 - ended.status


if __name__ == "__main__":
    sys.exit(main())
