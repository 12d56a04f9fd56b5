"""Runs the programs of the page Playground, one after another in one namespace, as a notebook does.

What a program says goes out while it runs, and no more of it than a page can bear. Everything that goes out is one dict
in plain data, with bytes beside it for pictures:

    {"kind": "text", "stream": "stdout" | "stderr", "text"}
    {"kind": "left_out", "lines", "characters", "pictures"}     what was too much so far, and at the end
    {"kind": "plot", ...}, {"kind": "pictures", ...}            see pictures.py
    {"kind": "image"}                                           a PNG: a figure of matplotlib
    {"kind": "value", "text"}                                   of the last expression
    {"kind": "loading", "text"}
"""
from __future__ import annotations

import ast
import builtins
import contextlib
import io
import json
import linecache
import os
import sys
import time
import traceback
from collections import deque
from collections.abc import Callable, Iterator
from pathlib import Path
from types import CodeType
from typing import Any

from wherry_web.client import on_demand
from wherry_web.playground import pictures

CHARACTERS = 200_000  # of one run
LINES = 5_000
TAIL = 2_000  # characters at the end of what was left out, which are shown after all
PICTURES = 50
VALUE = 20_000  # characters of the last value, and of a traceback
FRAMES = 20  # of a traceback
PAUSE = 0.1  # seconds between pictures of the same name
NAME = "<run {}>"  # of the file that a program is, in tracebacks


class Page:
    """What a run sends, within bounds.

    Args:
        post: takes a message as JSON, and bytes or None.
    """

    def __init__(self, post: Callable[[str, bytes | None], None]) -> None:
        self._post = post
        self.characters = self.lines = self.shown = 0
        self.left_out = {"lines": 0, "characters": 0, "pictures": 0}
        self._tail: deque[tuple[str, str]] = deque()
        self._kept = 0  # characters of it
        self._said = 0.0
        self._names: dict[str, float] = {}  # when a picture of this name went out
        self._held: dict[str, tuple[dict[str, Any], bytes | None]] = {}

    def send(self, message: dict[str, Any], content: bytes | None = None) -> None:
        self._post(json.dumps(message), content)

    def text(self, stream: str, text: str) -> None:
        """Text of a stream, as long as there is room."""
        if not any(self.left_out[what] for what in ("lines", "characters")):
            room = self._room(text)
            if room:
                self.characters += room
                self.lines += text.count("\n", 0, room)
                self.send({"kind": "text", "stream": stream, "text": text[:room]})
            text = text[room:]
        if text:
            self.left_out["characters"] += len(text)
            self.left_out["lines"] += text.count("\n")
            self._tail.append((stream, text[-TAIL:]))
            self._kept += len(text[-TAIL:])
            while self._kept - len(self._tail[0][1]) > TAIL:
                self._kept -= len(self._tail.popleft()[1])
            if time.monotonic() > self._said + 0.25:
                self._say()

    def _room(self, text: str) -> int:
        room = min(len(text), CHARACTERS - self.characters)
        lines = LINES - self.lines
        if text.count("\n", 0, room) <= lines:
            return room
        at = 0
        for _ in range(lines):
            at = text.index("\n", at) + 1
        return at

    def picture(self, message: dict[str, Any], content: bytes | None = None) -> None:
        """A picture; of those with the same name the newest, ten a second."""
        name = message.get("name")
        now = time.monotonic()
        if name is not None and name in self._names:
            if now < self._names[name] + PAUSE:
                self._held[name] = message, content
                return
        elif self.shown >= PICTURES:
            self.left_out["pictures"] += 1
            return
        else:
            self.shown += 1
        if name is not None:
            self._names[name] = now
            self._held.pop(name, None)
        self.send(message, content)

    def finish(self) -> None:
        """Send what was held back."""
        for message, content in self._held.values():
            self.send(message, content)
        if any(self.left_out.values()):
            surplus = max(0, self._kept - TAIL)
            last = []
            for stream, part in self._tail:
                last.append((stream, part[surplus:]))
                surplus = max(0, surplus - len(part))
            text = "".join(part for _, part in last)
            self.left_out["characters"] -= len(text)
            self.left_out["lines"] -= text.count("\n")
            self._say()
            for stream, part in last:
                self.send({"kind": "text", "stream": stream, "text": part})

    def _say(self) -> None:
        self._said = time.monotonic()
        self.send({"kind": "left_out", **self.left_out})


class Stream(io.TextIOBase):
    """`sys.stdout` or `sys.stderr` of a run: lines go out when they are complete."""

    encoding = "utf-8"
    errors = "backslashreplace"

    def __init__(self, page: Page, name: str) -> None:
        self.page = page
        self.name = name
        self.pending: list[str] = []
        self.other: Stream | None = None

    def writable(self) -> bool:
        return True

    def write(self, text: str) -> int:
        if not isinstance(text, str):
            raise TypeError(f"write() argument must be str, not {type(text).__name__}")
        self.pending.append(text)
        if "\n" in text or "\r" in text or len(text) > 4096:
            self.flush()
        return len(text)

    def flush(self) -> None:
        if self.other is not None and self.other.pending:
            self.other.send()  # what was written first stands first
        self.send()

    def send(self) -> None:
        text = "".join(self.pending)
        self.pending.clear()
        if text:
            self.page.text(self.name, text)


class Session:
    """A namespace, and the runs in it.

    Args:
        post: takes the messages of a run, as JSON, and bytes or None.
        namespace: of the programs; by default that of `__main__`.
    """

    def __init__(self, post: Callable[[str, bytes | None], None], namespace: dict[str, Any] | None = None) -> None:
        self.post = post
        self.namespace = vars(sys.modules["__main__"]) if namespace is None else namespace
        self.runs = 0
        self.unavailable: frozenset[str] = frozenset()
        os.environ.setdefault("MPLBACKEND", "Agg")

    def offer(self, addresses: str, fetch: Callable[[str], Any], folder: str = "", sources: str = "") -> None:
        """Let programs import `paddle`, and packages that are loaded when they are asked for.

        Args:
            addresses: JSON: module -> address of its zip.
            fetch: gets the bytes of an address.
            folder: where they are unpacked; by default where Wherry is.
            sources: address of the zip with the rest of Wherry, whose modules are named in later.json.
        """
        def loaded(address: str) -> bytes:
            def say(text: str) -> None:
                self.post(json.dumps({"kind": "loading", "text": text}), None)

            name = address.rpartition("/")[2].removesuffix(".zip")
            say(f"Loading {name}")
            content = fetch(address)
            content = content.to_bytes() if hasattr(content, "to_bytes") else content
            say(f"Unpacking {name}, {len(content) / 1e6:.1f} MB")
            return content

        known: dict[str, str] = json.loads(addresses)
        if sources:
            known |= dict.fromkeys(json.loads(Path(__file__).with_name("later.json").read_text()), sources)
        self.unavailable = frozenset({"numpy", "PIL", "matplotlib", "libcst"} - set(known))
        on_demand.offer(known, loaded, folder, on_demand.PaddleFinder())

    def beside(self, files: str) -> None:
        """Write files that an example needs.

        Args:
            files: JSON: name -> text.
        """
        for name, text in json.loads(files).items():
            path = Path.cwd() / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
            if str(path.parent) not in sys.path:
                sys.path.append(str(path.parent))
        data = Path.cwd() / "web" / "src" / "wherry_web"  # where the examples of the repository look for the digits
        if not data.exists():
            data.parent.mkdir(parents=True, exist_ok=True)
            data.symlink_to(Path(pictures.__file__).parent.parent)

    def run(self, source: str, arguments: str = "") -> str:
        """Run a program; returns how it ended, as JSON.

        Args:
            source: of the program.
            arguments: what it finds in `sys.argv`, with spaces between.

        Returns:
            `outcome` is "done", "failed", "interrupted" or "left" (the program called exit); `error` has `title`, `text` and, where a
            line of this run is at fault, `line`, `column`, `end_line` and `end_column`, counted from 1.
        """
        self.runs += 1
        name = NAME.format(self.runs)
        page = Page(self.post)
        out, err = Stream(page, "stdout"), Stream(page, "stderr")
        out.other, err.other = err, out
        result: dict[str, Any] = {"run": self.runs, "outcome": "done"}
        started = time.perf_counter()
        try:
            with self._surroundings(page, out, err, arguments):
                self._execute(source, name, page)
                self._figures(page)
        except KeyboardInterrupt as error:
            result |= {"outcome": "interrupted", "error": self._explained(error, name)}
        except SystemExit as error:
            result |= {"outcome": "left", "code": "" if error.code is None else str(error.code)}
        except BaseException as error:
            result |= {"outcome": "failed", "error": self._explained(error, name)}
        result["seconds"] = time.perf_counter() - started
        for stream in (out, err):
            stream.flush()
        page.finish()
        return json.dumps(result)

    @contextlib.contextmanager
    def _surroundings(self, page: Page, out: Stream, err: Stream, arguments: str) -> Iterator[None]:
        before = pictures._page, builtins.input, sys.argv
        pictures._page, builtins.input = page.picture, _no_input
        sys.argv = ["playground.py", *arguments.split()]
        try:
            with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
                yield
        finally:
            pictures._page, builtins.input, sys.argv = before

    def _execute(self, source: str, name: str, page: Page) -> None:
        # Tracebacks show lines of it, and to_static reads functions of it.
        linecache.cache[name] = len(source), None, source.splitlines(keepends=True), name
        tree = ast.parse(source, name)
        last = tree.body[-1] if tree.body else None
        if isinstance(last, ast.Expr):
            del tree.body[-1]
        exec(self._compiled(tree, name), self.namespace)
        if isinstance(last, ast.Expr):
            value = eval(self._compiled(ast.Expression(last.value), name), self.namespace)
            if value is not None:
                self.namespace["_"] = value
                page.send({"kind": "value", "text": shortened(repr(value))})

    @staticmethod
    def _compiled(tree: ast.Module | ast.Expression, name: str) -> CodeType:
        return compile(tree, name, "exec" if isinstance(tree, ast.Module) else "eval", dont_inherit=True)

    @staticmethod
    def _figures(page: Page) -> None:
        """Figures that matplotlib has open."""
        pyplot = sys.modules.get("matplotlib.pyplot")
        if pyplot is None:
            return
        for number in pyplot.get_fignums():
            content = io.BytesIO()
            pyplot.figure(number).savefig(content, format="png")
            page.picture({"kind": "image"}, content.getvalue())
        pyplot.close("all")

    def _explained(self, error: BaseException, name: str) -> dict[str, Any]:
        """An exception for the page: where in this run, and the traceback without our own frames and those of libraries."""
        if isinstance(error, ModuleNotFoundError) and (error.name or "").partition(".")[0] in self.unavailable:
            error.add_note(f"This server has no {error.name} for the browser. Who runs it puts its wheel for Pyodide in the folder of the wheels.")
        whole = traceback.TracebackException.from_exception(error, compact=True)
        place = _place(whole, name)
        inside = sum(_only_users(part) for part in _chain(whole))
        text = "".join(whole.format()).rstrip()
        if inside and not isinstance(error, (KeyboardInterrupt, SyntaxError)):
            text += f"\n({inside} {'step' if inside == 1 else 'steps'} inside libraries left out)"
        what = error.msg if isinstance(error, SyntaxError) else str(error)
        return {"title": shortened(f"{type(error).__name__}: {what}" if what else type(error).__name__, 500), "text": shortened(text), **place}


def _no_input(prompt: object = "") -> str:
    raise EOFError("input: there is no keyboard to read from here. Write the value into the program.")


def _chain(whole: traceback.TracebackException) -> Iterator[traceback.TracebackException]:
    seen: list[traceback.TracebackException] = []
    waiting: list[traceback.TracebackException | None] = [whole]
    while waiting:
        part = waiting.pop()
        if part is not None and not any(part is other for other in seen):
            seen.append(part)
            waiting += [part.__cause__, part.__context__, *(part.exceptions or ())]
            yield part


def _only_users(part: traceback.TracebackException) -> int:
    """Leave the frames of runs, and of those the first and last; returns how many of others there were."""
    kept = [frame for frame in part.stack if frame.filename.startswith("<run ")]
    others = sum(frame.filename != __file__ for frame in part.stack) - len(kept)
    if len(kept) > FRAMES and not all(frame.lineno == kept[-1].lineno for frame in kept[FRAMES // 2 :]):  # the latter are written as one
        kept = kept[: FRAMES // 2] + kept[-FRAMES // 2 :]
    part.stack[:] = kept
    return others


def _place(whole: traceback.TracebackException, name: str) -> dict[str, int]:
    """The last place in this run."""
    if issubclass(whole.exc_type, SyntaxError) and getattr(whole, "filename", None) == name and whole.lineno:
        line, column = int(whole.lineno), int(whole.offset or 1)
        return {"line": line, "column": max(column, 1), "end_line": int(whole.end_lineno or line),  # type: ignore[attr-defined]
                "end_column": max(int(whole.end_offset or 0), column + 1)}  # type: ignore[attr-defined]
    for frame in reversed(whole.stack):
        if frame.filename == name and frame.lineno:
            end = frame.end_lineno or frame.lineno
            return {"line": frame.lineno, "column": _characters(name, frame.lineno, frame.colno), "end_line": end,
                    "end_column": _characters(name, end, frame.end_colno)}
    return {}


def _characters(name: str, line: int, column: int | None) -> int:
    """Columns of Python are bytes of UTF-8, from 0."""
    return len(linecache.getline(name, line).encode()[: column or 0].decode(errors="replace")) + 1


def shortened(text: str, limit: int = VALUE) -> str:
    """A text of at most about `limit` characters; what is missing in the middle is counted."""
    if len(text) <= limit:
        return text
    half = limit // 2
    return f"{text[:half]}\n… {len(text) - 2 * half} characters left out …\n{text[-half:]}"
