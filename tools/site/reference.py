"""The pages of the API: one for each public name, and one for each module that lists its names.

A page says how a name is called, what it takes and gives, which errors it raises, shows its example, where it differs from
Paddle (the rows of docs/compatibility.md that speak of it), where its source is and which ops it is made of.
"""

from __future__ import annotations

import inspect
import re
import sys
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from behind import ops_behind
from docstring import Docstring, entries, escaped, parse, prose

from sources import ROOT, Sources

sys.path[:0] = [str(ROOT / "tools")]
import docstrings  # noqa: E402

FOLDER = "api"
# Of pages that stand in no tree of the sidebar, which would be as long as the list of all names on each page.
ORPHAN = "---\norphan: true\n---"
MODULES = {
    "": "Tensors: making them, arithmetic, shapes, saving",
    "Tensor": "Methods of a tensor that are not functions of `paddle` too",
    "nn": "Layers",
    "nn.functional": "What layers compute, as functions",
    "nn.initializer": "How parameters begin",
    "nn.utils": "Around layers",
    "Layer": "Methods of every layer",
    "optimizer": "Optimizers",
    "optimizer.lr": "Schedules of the learning rate",
    "io": "Data sets and loaders",
    "metric": "Metrics",
    "callbacks": "Callbacks of `paddle.Model`",
    "amp": "Mixed precision",
    "autograd": "Gradients of your own",
    "linalg": "Linear algebra",
    "fft": "Fourier transforms",
    "signal": "Short-time Fourier transforms",
    "sparse": "Sparse tensors",
    "geometric": "Graphs",
    "distribution": "Distributions",
    "vision.models": "Networks for images",
    "vision.transforms": "Image transforms",
    "vision.datasets": "Image data sets",
    "vision.ops": "Detection",
    "text": "Text: data sets, Viterbi decoding",
    "audio": "Sound",
    "jit": "Programs out of Python code",
    "static": "Described programs",
    "static.nn": "Layers of described programs",
    "inference": "Predictors",
    "onnx": "ONNX models",
    "ort": "The interface of ONNX Runtime",
    "distributed": "Several processes",
    "device": "Devices",
    "profiler": "Where the time goes",
    "utils": "Tools",
    "hub": "Models of others",
    "incubate": "Experimental",
}


@dataclass
class Name:
    """One public function or class."""

    path: str  # without `paddle.`
    aliases: list[str]
    value: Any
    document: str = ""  # of Sphinx
    doc: Docstring = field(default_factory=Docstring)

    @property
    def shown(self) -> str:
        return f"paddle.{self.path}"

    @property
    def module(self) -> str:
        return self.path.rpartition(".")[0]

    @property
    def leaf(self) -> str:
        return self.path.rpartition(".")[2]


class Reference:
    """All pages of the API, as Markdown.

    Args:
        sources: tells the addresses of files.
        registry: the ops by name.
    """

    def __init__(self, sources: Sources, registry: dict[str, Any]) -> None:
        self.sources = sources
        self.registry = registry
        self.names = list(self._names())
        self.used_by: dict[str, list[Name]] = {}  # op -> names
        self.behind = {name.path: ops_behind(name.value, registry) for name in self.names}
        for name in self.names:
            for op in self.behind[name.path]:
                self.used_by.setdefault(op, []).append(name)

    def _names(self) -> Any:
        taken: set[str] = set()
        for paths, value in docstrings.names():
            home = "nn." if (getattr(value, "__module__", "") or "").startswith("wherry_nn") else ""  # `paddle.conv2d` is a later name of it

            def rank(path: str, home: str = home) -> tuple[Any, ...]:
                return not path.startswith(home), len(path), path.startswith("Tensor."), path

            short, *others = sorted((path.partition(".")[2] for path in paths), key=rank)
            if not short or (getattr(value, "__module__", "") or "").partition(".")[0] in ("builtins", "typing", "collections", "numpy"):
                continue
            document = short
            while document.lower() in taken:  # some file systems take `vision.pad` and `vision.Pad` for one
                document += "-"
            taken.add(document.lower())
            yield Name(short, others, value, f"{FOLDER}/{document}", parse(inspect.getdoc(value)))

    def pages(self) -> dict[str, str]:
        """Document -> its text."""
        found = {name.document: self._page(name) for name in self.names}
        modules: dict[str, list[Name]] = {}
        for name in self.names:
            modules.setdefault(name.module, []).append(name)
        for module, names in modules.items():
            found[module_document(module)] = self._module(module, names)
        found[f"{FOLDER}/index"] = self._index(modules)
        return found

    def _index(self, modules: dict[str, list[Name]]) -> str:
        ordered = [module for module in MODULES if module in modules] + sorted(set(modules) - set(MODULES))
        rows = [
            f"| [`{in_paddle(module)}`](/{module_document(module)}.md) | {MODULES.get(module, '')} | {len(modules[module])} |"
            for module in ordered
        ]
        return (
            "# API reference\n\n"
            f"{len(self.names)} public functions and classes, each with a page of its own. "
            "Programs say `import wherry as paddle`, so names begin with `paddle` here; "
            "`wherry.nn.Linear` is the same thing as `paddle.nn.Linear`. Every example is run by the tests.\n\n"
            "| module | holds | names |\n|---|---|---:|\n" + "\n".join(rows) + "\n"
        )

    def _module(self, module: str, names: list[Name]) -> str:
        title = in_paddle(module)
        groups = {"Functions": [n for n in names if not inspect.isclass(n.value)], "Classes": [n for n in names if inspect.isclass(n.value)]}
        text = [f"{ORPHAN}\n\n[API reference](/{FOLDER}/index.md)", f"# {title}", MODULES.get(module, "") + "." if module in MODULES else ""]
        for heading, members in groups.items():
            if members:
                rows = [
                    f"| [`{n.leaf}`](/{n.document}.md) | {in_cell(escaped(n.doc.summary))} |" for n in sorted(members, key=lambda n: n.leaf.lower())
                ]
                text.append(f"## {heading}\n\n| name | |\n|---|---|\n" + "\n".join(rows))
        return "\n\n".join(part for part in text if part) + "\n"

    def _page(self, name: Name) -> str:
        kind = "class" if inspect.isclass(name.value) else "function"
        parts = [
            f"{ORPHAN}\n\n[API reference](/{FOLDER}/index.md) / [`{in_paddle(name.module)}`](/{module_document(name.module)}.md)",
            f"# {name.shown}",
            f"```````{{py:{kind}}} {name.shown}{signature(name.value)}\n```````",
            prose(name.doc.body),
            *self._sections(name),
            *self._members(name),
            self._differences(name),
            self._inside(name),
        ]
        return "\n\n".join(part for part in parts if part) + "\n"

    def _sections(self, name: Name) -> list[str]:
        found = []
        titles = {"Args": "Arguments", "Shape": "Shapes", "Examples": "Example", "Raises": "Errors"}
        for section in ("Args", "Attributes", "Returns", "Yields", "Shape", "Examples", "Raises", "Notes"):
            lines = name.doc.sections.get(section)
            if not lines:
                continue
            if section in ("Args", "Attributes", "Raises"):
                body = defined(section, lines)
            else:
                body = prose(lines)
            found.append(f"## {titles.get(section, section)}\n\n{body}")
        return found

    def _members(self, name: Name) -> list[str]:
        """Methods of a class that have documentation of their own."""
        if not inspect.isclass(name.value):
            return []
        paths = {id(other.value) for other in self.names}
        found = []
        for method, value in sorted(vars(name.value).items()):
            function = value.__func__ if isinstance(value, (classmethod, staticmethod)) else value
            if method.startswith("_") or method == "forward" or not inspect.isroutine(function) or id(function) in paths:
                continue
            doc = parse(inspect.getdoc(function))
            if not doc.body:
                continue
            parts = [f"### {method}", f"```````{{py:method}} {name.shown}.{method}{signature(function, method=True)}\n```````", prose(doc.body)]
            for section in ("Args", "Raises"):
                if doc.sections.get(section):
                    parts.append(defined(section, doc.sections[section]))
            for section in ("Returns", "Shape", "Examples"):
                if doc.sections.get(section):
                    parts.append(prose(doc.sections[section]))
            found.append("\n\n".join(part for part in parts if part))
        return ["## Methods", *found] if found else []

    def _differences(self, name: Name) -> str:
        rows = [row for path in (name.path, *name.aliases) for row in differences.of(path)]
        if not rows:
            return ""
        table = "\n".join(f"| {' | '.join(row)} |" for row in dict.fromkeys(rows))
        return f"## Differences from Paddle\n\n| what | Paddle 2.6.2 | Wherry |\n|---|---|---|\n{table}"

    def _inside(self, name: Name) -> str:
        rows = []
        place = source_of(name.value, self.sources)
        if place:
            rows.append(f"Source: {link_to(self.sources, *place)}")
        ops = self.behind[name.path]
        if ops:
            rows.append("Ops behind it: " + ", ".join(f"[`{op}`](/ops/{op}.md)" for op in ops))
        if name.doc.sections.get("Source"):
            rows.append("After: " + escaped(" ".join(" ".join(name.doc.sections["Source"]).split())))
        if name.aliases:
            rows.append("Also called: " + ", ".join(f"`paddle.{alias}`" for alias in name.aliases))
        return "## Inside\n\n" + "\n".join(f"- {row}" for row in rows) if rows else ""


def in_paddle(module: str) -> str:
    return f"paddle.{module}" if module else "paddle"


def module_document(module: str) -> str:
    return f"{FOLDER}/module-{module or 'paddle'}"


def defined(section: str, lines: list[str]) -> str:
    """What a section says of each argument or error, as a list of definitions; errors of Python lead to its documents."""

    def term(entry: str) -> str:
        return re.sub(r"\w+", r"{py:exc}`\g<0>`", entry) if section == "Raises" and re.fullmatch(r"\w+(, \w+)*", entry) else f"`{entry}`"

    return "\n\n".join(f"{term(entry)}\n: {indented(text)}" if entry else text for entry, text in entries(lines) if text or entry)


def indented(text: str) -> str:
    return text.replace("\n", "\n  ")


def in_cell(text: str) -> str:
    """Markdown as a cell of a table; `escaped` has taken care of bars, except in code."""
    return re.sub(r"`[^`]*`", lambda code: code[0].replace("|", r"\|"), text)


def signature(value: Any, method: bool = False) -> str:
    """Arguments and defaults, without annotations: types stand in the text."""
    try:
        parameters = list(inspect.signature(value).parameters.values())
    except (TypeError, ValueError):  # of a compiled type
        return "(...)"
    if method and parameters and parameters[0].name in ("self", "cls"):
        parameters = parameters[1:]
    plain = [parameter.replace(annotation=inspect.Parameter.empty, default=_plain(parameter.default)) for parameter in parameters]
    return str(inspect.Signature(plain))


class _Text:
    """A default that prints as its text."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __repr__(self) -> str:
        return self.text


def _plain(default: Any) -> Any:
    text = repr(default)
    if default is inspect.Parameter.empty or not re.search(r"<| at 0x|\n", text):
        return default
    return _Text(getattr(default, "__name__", "..."))


def source_of(value: Any, sources: Sources) -> tuple[str, int | None] | None:
    """(file, line) in the repository."""
    value = inspect.unwrap(value) if callable(value) else value
    try:
        place = sources.of_module_file(inspect.getsourcefile(value) or "")
        return (place, inspect.getsourcelines(value)[1] or 1) if place else None
    except (TypeError, OSError):
        return _compiled(value, sources)


def _compiled(value: Any, sources: Sources) -> tuple[str, int | None] | None:
    """Where a Cython module defines something: the first line that says so."""
    leaf = getattr(value, "__name__", "")
    package = (getattr(value, "__module__", None) or getattr(getattr(value, "__objclass__", None), "__module__", None) or "").partition(".")[0]
    definition = re.compile(rf"^\s*(?:cp?def\s+|cdef\s+)?(?:class|def)\s+{re.escape(leaf)}\b", re.MULTILINE)
    for file in sources.files:
        if f"/src/{package}/" in file and file.endswith((".pyx", ".pxi")):
            found = definition.search((ROOT / file).read_text())
            if found:
                text = (ROOT / file).read_text()
                return file, text.count("\n", 0, found.start(0) + len(found[0]) - len(found[0].lstrip())) + 1
    return None


def link_to(sources: Sources, place: str, line: int | None, depth: int = 1) -> str:
    """A link to a file, for a page `depth` folders below the root."""
    address = sources.address(place, line)
    shown = place.partition("/src/")[2] or place
    text = f"{shown}, line {line}" if line else shown
    return f'<a href="{"../" * depth}{address}">{text}</a>' if address else text


class Differences:
    """The rows of docs/compatibility.md, by the names that their first cells speak of."""

    @cached_property
    def rows(self) -> list[tuple[list[str], tuple[str, str, str]]]:
        text = (ROOT / "docs" / "compatibility.md").read_text()
        part = text.partition("## Where Wherry differs on purpose")[2].partition("\n## ")[0]
        found = []
        for line in part.splitlines():
            cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
            if len(cells) == 3 and not set(cells[0]) <= set("-: ") and cells[0] != "what":
                found.append((names_in(cells[0]), tuple(re.sub(r"\]\((?!https?:|#|/)", "](/docs/", cell) for cell in cells)))
        return found

    def of(self, path: str) -> list[tuple[str, str, str]]:
        parts = path.split(".")
        return [row for names, row in self.rows if any(self._means(name, parts) for name in names)]

    @staticmethod
    def _means(name: str, parts: list[str]) -> bool:
        said = name.removeprefix("paddle.").split(".")
        if said[-1] == "*":
            return len(said) > 1 and parts[: len(said) - 1] == said[:-1]
        if said[-1].endswith("*"):
            return parts[-1].startswith(said[-1][:-1]) and parts[-len(said) : -1] == said[:-1]
        # A name without a module is that of `paddle`, `paddle.nn`, `paddle.nn.functional` and of tensors: not `sparse.sum`.
        at_home = len(said) > 1 or parts[:-1] in ([], ["nn"], ["nn", "functional"], ["Tensor"], ["Layer"], ["optimizer"], ["linalg"])
        return at_home and parts[-len(said) :] == said


def names_in(text: str) -> list[str]:
    """Names that stand in code: `conv2d`, `nn.functional.pad(x, 1)`, `linalg.*`, also after a slash as in `atleast_1d/2d`."""
    return [found[0] for code in re.findall(r"`([^`]+)`", text) if (found := re.match(r"[A-Za-z_][\w.]*\*?", code.removeprefix("@")))]


differences = Differences()
