"""Puts the documents together for Sphinx: a tree like that of the repository, so that links between documents stay as they are.

Links to documents stay; links to other files of the repository lead to their pages below source/ (sources.py). The pages of the API
and of the ops, the tutorials and the first page are made here and are in no repository.
"""

from __future__ import annotations

import ast
import posixpath
import re
import sys
from collections.abc import Callable
from pathlib import Path

import notebook
from docstring import escaped
from reference import ORPHAN, Reference, names_in

from sources import ROOT, Sources

sys.path[:0] = [str(ROOT / "tools")]
from tutorials import PROGRAMS  # noqa: E402

HERE = Path(__file__).resolve().parent
DOCUMENTS = (
    "README.md",
    "ARCHITECTURE.md",
    "CONTRIBUTING.md",
    "docs/**/*.md",
    "packages/*/README.md",
    "web/README.md",
    "benchmarks/*.md",
    "examples/**/README.md",
    "packages/*/CHANGELOG.md",
    "web/CHANGELOG.md",
)
LINK = re.compile(r"(?P<image>!?)\[(?P<text>(?:[^\[\]`]|`[^`]*`|\[[^\]]*\])*)\]\((?P<target>[^)\s]+)\)")
FENCE = re.compile(r"(^(?:```|~~~).*?^(?:```|~~~)\s*$)", re.MULTILINE | re.DOTALL)


class Stage:
    """The tree of documents.

    Args:
        folder: where it goes. What has not changed since the last time stays, so that Sphinx reads what has.
    """

    def __init__(self, folder: Path, sources: Sources) -> None:
        self.folder = folder
        self.sources = sources
        self.written: set[Path] = set()
        self.documents = sorted({path.relative_to(ROOT).as_posix() for pattern in DOCUMENTS for path in ROOT.glob(pattern)} & set(sources.files))

    def write(self, document: str, text: str) -> None:
        """A document without its suffix, and its Markdown."""
        target = self.folder / f"{document}.md"
        self._put(target, text.encode())

    def _put(self, target: Path, content: bytes) -> None:
        self.written.add(target)
        if not target.exists() or target.read_bytes() != content:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)

    def finish(self) -> None:
        """Remove what an earlier run wrote and this one did not."""
        for path in self.folder.rglob("*"):
            if path.is_file() and path not in self.written:
                path.unlink()

    def copy_documents(self, changed: dict[str, Callable[[str], str]]) -> None:
        """The documents of the repository, with links for the site; some are changed on the way."""
        for place in self.documents:
            text = (ROOT / place).read_text()
            text = changed.get(place, lambda text: text)(text)
            self.write(place.removesuffix(".md"), self.linked(text, place))

    def linked(self, text: str, place: str) -> str:
        """The links of a document, outside of its code blocks."""
        parts = FENCE.split(text)
        return "".join(part if i % 2 else LINK.sub(lambda link: self._link(link, place), part) for i, part in enumerate(parts))

    def _link(self, link: re.Match[str], place: str) -> str:
        target, _, anchor = link["target"].partition("#")
        if "://" in target or not target or target.startswith("/"):
            return link[0]
        path = posixpath.normpath(posixpath.join(posixpath.dirname(place), target))
        if link["image"]:
            self._copy(path)
            return link[0]
        if path in self.documents:
            return link[0]
        if f"{path}/README.md" in self.documents:
            return f"[{link['text']}]({posixpath.relpath(f'{path}/README.md', posixpath.dirname(place) or '.')})"
        line = int(anchor[1:]) if re.fullmatch(r"L\d+", anchor) else None
        address = self.sources.address(path, line)
        if address is None:
            raise SystemExit(f"site: {place} links to {link['target']}, which is not in the repository. Mend the link.")
        return f'<a href="{"../" * place.count("/")}{address}">{link["text"]}</a>'

    def _copy(self, path: str) -> None:
        self._put(self.folder / path, (ROOT / path).read_bytes())


AREAS = (
    ("Tensors and arithmetic", ("", "Tensor")),
    ("Layers and their functions", ("nn", "Layer")),
    ("Linear algebra", ("linalg",)),
    ("Fourier transforms and signals", ("fft", "signal")),
    ("Sparse tensors and graphs", ("sparse", "geometric")),
    ("Distributions", ("distribution",)),
    ("Optimizers, mixed precision, training", ("optimizer", "amp", "Model", "callbacks", "metric", "regularizer")),
    ("Data, saving and loading", ("io", "save", "load", "reader", "hub")),
    ("Images", ("vision",)),
    ("Text and sound", ("text", "audio")),
    ("Gradients", ("autograd", "grad", "PyLayer")),
    ("Programs and inference", ("static", "jit", "inference", "onnx", "ort")),
    ("Several processes", ("distributed", "DataParallel")),
    ("Devices and tools", ("device", "profiler", "utils", "incubate", "cuda")),
)


def by_area(reference: Reference) -> Callable[[str], str]:
    """docs/compatibility.md with its long table divided by area."""
    module_of = {name.leaf: name.module for name in reversed(reference.names)}

    def area_of(first: str) -> str:
        for name in names_in(first):
            parts = name.split(".")
            for start in (parts[0], (module_of.get(parts[-1]) or "").partition(".")[0]):
                for area, starts in AREAS:
                    if start and start in starts:
                        return area
            if parts[-1] in module_of:
                return "Tensors and arithmetic"
        return "Everything else"

    def change(text: str) -> str:
        head, mark, rest = text.partition("## Where Wherry differs on purpose")
        part, end, tail = rest.partition("\n## ")
        lines = part.strip().splitlines()
        table = [line for line in lines if line.startswith("|")]
        groups: dict[str, list[str]] = {}
        for line in table[2:]:
            groups.setdefault(area_of(line.split("|")[1]), []).append(line)
        ordered = [area for area, _ in AREAS if area in groups] + [area for area in groups if area == "Everything else"]
        body = "\n\n".join(f"### {area}\n\n" + "\n".join([*table[:2], *groups[area]]) for area in ordered)
        said = "By area. The page of each name in the [API reference](/api/index.md) repeats the rows that speak of it."
        return f"{head}{mark}\n\n{said}\n\n{body}\n{end}{tail}"

    return change


SPELLED = {
    "a2c": "A2C", "api": "API", "cifar10": "CIFAR-10", "ctc": "CTC", "ddpg": "DDPG", "gan": "GAN", "imdb": "IMDB", "mnist": "MNIST",
    "ngram": "N-gram", "ocr": "OCR", "paddle": "Paddle", "unet": "U-Net",
}


def named(stem: str) -> str:
    """The title of a tutorial by the name of its file."""
    first, *others = (SPELLED.get(word, word) for word in stem.split("_"))
    return " ".join([first[:1].upper() + first[1:], *others])


def tutorials(stage: Stage, results: dict[str, list[str]]) -> dict[str, str]:
    """Document -> text: a page for each program in examples/tutorials, cell by cell, with what each said when the site was built."""
    pages, rows = {}, []
    for program in PROGRAMS:
        said = (ast.get_docstring(ast.parse(program.read_text())) or "").split("\n\n")
        title, more = said[0].replace("\n", " "), [part for part in said[1:] if not part.startswith("wherry run ")]
        place = f"examples/tutorials/{program.name}"
        parts = [
            f"{ORPHAN}\n\n[Tutorials](/tutorials/index.md)",
            f"# {named(program.stem)}",
            escaped(title),
            *(escaped(" ".join(part.split())) for part in more),
            f"`wherry run {place}` runs it, under Paddle 2.6.2 it gives [the same losses](/docs/tutorials.md). "
            f'<a href="../{stage.sources.address(place)}">The file</a>',
        ]
        *below, losses = results.get(program.stem, [""])
        for number, cell in enumerate(notebook.of(program)):
            parts += [escaped(cell.text)] if cell.text else []
            parts.append(f"```python\n{cell.code}\n```")
            if below and below[number]:
                parts.append(f":::{{container}} said\n{below[number]}\n:::")
        if losses:
            parts += ["## Losses", losses]
        if below:
            parts.append("Below the cells stands what they said when this site was built.")
        pages[f"tutorials/{program.stem}"] = "\n\n".join(parts) + "\n"
        rows.append(f"| [{named(program.stem)}](/tutorials/{program.stem}.md) | {escaped(title)} |")
    pages["tutorials/index"] = (
        "# Tutorials\n\nThe tasks of the tutorials in Paddle's manual, each as a short program that trains in seconds, as the cells of a notebook. "
        "[Losses beside Paddle's](/docs/tutorials.md).\n\n| | |\n|---|---|\n" + "\n".join(rows) + "\n"
    )
    return pages
