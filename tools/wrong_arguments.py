"""Each public call of the docstrings' examples again, with one argument of another kind: what comes back is our text, not Python's.

    python tools/wrong_arguments.py                      all of them; a table by place, the most frequent first
    python tools/wrong_arguments.py --match 'F\\.|nn'     of the public names only these
    python tools/wrong_arguments.py --places 20 --calls 3    that many places, with that many calls each

The examples run with every call noted: function and arguments, as they came. Then each argument is replaced in turn, those that the
example leaves out too. A finding is an error that Python itself raised inside of our code ("'int' object has no attribute 'shape'"):
it names neither the function that was called nor the argument. Signatures that do not fit ("unexpected keyword argument") are none
where the call itself says so.
"""
from __future__ import annotations

import argparse
import ast
import collections
import contextlib
import doctest
import inspect
import io
import os
import pickle
import re
import signal
import sys
import tempfile
import textwrap
import time
import traceback
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))
from docstrings import public  # noqa: E402
from fuzz import LEFT_OUT  # noqa: E402
from fuzz_children import TooSlow, bound_memory, set_alarm  # noqa: E402

import wherry  # noqa: E402
from wherry_tensor.errors import EnforceNotMet, raised_on_purpose, short  # noqa: E402

PYTHONS_OWN = re.compile(
    r"object is not (callable|iterable|subscriptable|an iterator|reversible)|has no attribute|unhashable|unsupported operand|"
    r"not supported between|cannot be interpreted as an integer|argument must be|could not convert string|cannot unpack|values to unpack|"
    r"index out of range|indices must be|can only (concatenate|join)|does not support item|can't multiply sequence|must be real number|"
    r"invalid literal for|bad operand type|has no len|is not a mapping|must be str|must be string|expected str|sequence item \d|"
    r"takes .* positional argument|unexpected keyword|missing \d+ required|multiple values for|Expected \w+, got|division by zero|"
    r"ambiguous|descriptor '|Argument '\w+' has incorrect type|object cannot be|an integer is required|cannot convert|is not iterable|"
    r"must be (a )?(tuple|integer|dict|list|number|int)|expected at (least|most)|unbound|not a sequence|argument of type|expected 0-d|^\d+$|^'.*'$|^$"
)
# Done to the process, to files or for good; and what runs whatever it is given.
NOT_AGAIN = LEFT_OUT | {"export", "web", "fork", "exit", "seed", "to_static", "load_inference_model", "save_inference_model", "set_default_dtype",
                        "enable_static", "disable_static", "download", "spawn", "start", "fit", "train", "setup"}


def values() -> list[Any]:
    """One of each kind that somebody may pass by mistake."""
    return [None, "a", 3, -7, 2.5, True, [], [1], ["a"], [None], (2, 3), {}, {"a": 1}, object(), b"x", float, lambda *a: None, ...,
            wherry.to_tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]), wherry.to_tensor(2), wherry.to_tensor([1, 0]), np.ones((2, 2), "float32"),
            wherry.nn.Linear(2, 2), "", float("nan"), {1}, [[1, 2], [3]], np.array("x"), 1j]


class Call(NamedTuple):
    function: Callable[..., Any]
    name: str
    positional: tuple[Any, ...]
    named: dict[str, Any]


class _Noted(ast.NodeTransformer):
    """f(x, y=1) becomes __noted__(f, x, y=1)."""

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        return ast.copy_location(ast.Call(ast.Name("__noted__", ast.Load()), [node.func, *node.args], node.keywords), node)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        return node  # what a hook or a forward calls is called inside

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        return node

    def visit_Lambda(self, node: ast.Lambda) -> ast.AST:
        return node


def _name_of(function: Any) -> str | None:
    """What users call it, or None where it is none of ours."""
    owner = getattr(function, "__self__", None)
    if owner is not None and not inspect.ismodule(owner):
        kind = owner if isinstance(owner, type) else type(owner)
        return f"{kind.__name__}.{function.__name__}" if kind.__module__.startswith("wherry") else None
    if isinstance(function, type) or inspect.isroutine(function):
        return function.__qualname__ if str(function.__module__).startswith("wherry") else None
    return f"{type(function).__name__}()" if type(function).__module__.startswith("wherry") else None


def calls_of(docstring: str) -> list[Call]:
    """Run the examples; what they called of ours."""
    noted: list[Call] = []

    def note(function: Any, /, *positional: Any, **named: Any) -> Any:
        name = _name_of(function)
        if name is not None and name.rpartition(".")[2].rstrip("()") not in NOT_AGAIN:
            noted.append(Call(function, name, positional, named))
        return function(*positional, **named)

    names: dict[str, Any] = {"wherry": wherry, "paddle": wherry, "np": np, "__name__": "__example__", "__noted__": note}
    for example in doctest.DocTestParser().get_examples(textwrap.dedent(docstring)):
        try:
            tree = ast.fix_missing_locations(_Noted().visit(ast.parse(example.source)))
            exec(compile(tree, "<example>", "exec"), names)
        except Exception:  # examples of errors, and what needs files
            continue
    return noted


def changed(call: Call) -> Iterator[tuple[str, tuple[Any, ...], dict[str, Any]]]:
    """(what was replaced, arguments) for each argument and value."""
    try:
        parameters = list(inspect.signature(call.function).parameters.values())
    except (TypeError, ValueError):
        parameters = []
    taken = {p.name for p in parameters[:len(call.positional)]}
    left_out = [p.name for p in parameters if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY) and p.name not in taken]
    for place in range(len(call.positional)):
        for value in values():
            said = parameters[place].name if place < len(parameters) else place
            yield f"{said}={short(value)}", (*call.positional[:place], value, *call.positional[place + 1:]), call.named
    for name in dict.fromkeys([*call.named, *left_out]):
        for value in values():
            yield f"{name}={short(value)}", call.positional, {**call.named, name: value}


def judged(error: BaseException) -> tuple[str, str] | None:
    """(place, text) of an error that Python raised inside."""
    if isinstance(error, EnforceNotMet) or not isinstance(error, (TypeError, AttributeError, IndexError, ValueError, KeyError, ArithmeticError,
                                                                  AssertionError, NameError, SystemError, RecursionError)):
        return None
    frames = [f for f in traceback.extract_tb(error.__traceback__) if "wrong_arguments" not in f.filename]
    ours = [f for f in frames if "wherry" in f.filename or f.filename.startswith("core/")]
    if not ours or raised_on_purpose(error):
        return None
    try:
        text = str(error)
    except Exception:
        text = ""
    ours_in_c = "(Tensor): " in text or re.search(r"[gG]ot .*expected", text)
    if ours_in_c or frames[-1].filename.endswith((".pyx", ".pxi")) and not PYTHONS_OWN.search(text):
        return None  # said by ours, in C
    return f"{'/'.join(Path(ours[-1].filename).parts[-2:])}:{ours[-1].lineno}", f"{type(error).__name__}: {text[:110]}"


def findings_of(docstring: str, most: int) -> list[tuple[str, str, str]]:
    """(place, call, text) of one docstring's calls."""
    found = []
    seen: collections.Counter[str] = collections.Counter()
    made = 0
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        for call in calls_of(docstring):
            if call.name in seen:
                continue
            seen[call.name] += 1
            for what, positional, named in changed(call):
                made += 1
                if made > most:
                    break
                set_alarm(0.5)
                try:
                    call.function(*positional, **named)
                except (TooSlow, MemoryError):
                    pass
                except BaseException as error:
                    verdict = judged(error)
                    if verdict:
                        found.append((verdict[0], f"{call.name}({what})", verdict[1]))
                finally:
                    set_alarm(0)
    found.append(("made", str(made), ""))
    return found


def in_child(path: str, docstring: str, most: int) -> list[tuple[str, str, str]]:
    """What a child finds, so that no call changes what the next one meets."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(read)
        quiet = os.open(os.devnull, os.O_RDWR)
        for stream in 0, 1, 2:
            os.dup2(quiet, stream)
        bound_memory()
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        with os.fdopen(write, "wb") as pipe:
            pipe.write(pickle.dumps(findings_of(docstring, most)))
        os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as pipe:
        told = pipe.read()
    os.waitpid(child, 0)
    return pickle.loads(told) if told else [("dies", path, "")]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--match", default="", help="of the public names those in which this regular expression is found")
    parser.add_argument("--places", type=int, default=400)
    parser.add_argument("--calls", type=int, default=2)
    parser.add_argument("--most", type=int, default=4000, help="calls for one docstring")
    asked = parser.parse_args()
    os.chdir(tempfile.mkdtemp(prefix="wherry-wrong-"))
    wherry.set_num_threads(1)
    places: dict[str, list[tuple[str, str]]] = {}
    made = 0
    for path, value in public():
        text = inspect.getdoc(value) or ""
        if ">>>" not in text or not re.search(asked.match, path) or path.rpartition(".")[2] in LEFT_OUT:
            continue
        begun = time.monotonic()
        found = in_child(path, text, asked.most)
        if time.monotonic() - begun > 10:
            print(f"{path}: {time.monotonic() - begun:.0f} s", file=sys.stderr, flush=True)
        for place, call, said in found:
            if place == "made":
                made += int(call)
            else:
                places.setdefault(place, []).append((call, said))
    print(f"{made} calls, {sum(map(len, places.values()))} errors of Python's at {len(places)} places")
    for place, calls in sorted(places.items(), key=lambda item: -len(item[1]))[:asked.places]:
        print(f"{len(calls):5d} x {place}  ({len({c.partition('(')[0] for c, _ in calls})} functions)")
        for call, said in list(dict(calls).items())[:asked.calls]:
            print(f"          {call}: {said}")
    return 1 if places else 0


if __name__ == "__main__":
    sys.exit(main())
