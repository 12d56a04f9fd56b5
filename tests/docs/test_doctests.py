"""Every example in docstrings, the README and docs/ runs and prints what it says."""
import doctest
import importlib
import inspect
import pkgutil
import sys
from pathlib import Path

import numpy
import pytest

import wherry
import wherry_tensor.flags

ROOT = Path(__file__).parent.parent.parent
sys.path.append(str(ROOT / "tools"))
from package_table import needed, packages  # noqa: E402  which packages there are

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")), *sorted(ROOT.glob("packages/*/README.md"))]
FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS


def names():
    return {"wherry": wherry, "paddle": wherry, "np": numpy, "numpy": numpy}


def modules():
    for name in needed(["wherry"]):
        package = importlib.import_module(packages()[name].module)
        yield package
        for found in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
            # Programs of their own, and what `import paddle` finds in them.
            if not any(part in found.name for part in (".testing", "._paddle_path", "._ecosystem.worker", "__main__")):
                yield importlib.import_module(found.name)


def examples():
    finder = doctest.DocTestFinder(exclude_empty=True)
    seen = set()
    for module in modules():
        found = finder.find(module, module.__name__, extraglobs=names())
        # Compiled and decorated functions do not say where they come from: look at them directly.
        for name, value in vars(module).items():
            if inspect.isroutine(value) and not name.startswith("_"):
                found += finder.find(value, f"{module.__name__}.{name}", module=False, globs=names())
        for test in found:
            if test.examples and test.docstring not in seen:
                seen.add(test.docstring)
                yield pytest.param(test, id=test.name)
    # Methods that a loop makes are in no module.
    parser = doctest.DocTestParser()
    for name, value in vars(wherry.Tensor).items():
        text = getattr(value, "__doc__", None) or ""
        if ">>>" in text and text not in seen and not name.startswith("_"):
            seen.add(text)
            yield pytest.param(parser.get_doctest(text, names(), f"wherry_tensor.Tensor.{name}", None, 0), id=f"wherry_tensor.Tensor.{name}")


@pytest.mark.parametrize("example", list(examples()))
def test_example_of_docstring(example):
    check(example)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_examples_of_page(page):
    parser = doctest.DocTestParser()
    check(parser.get_doctest(page.read_text(), names(), page.name, str(page), 0))


def check(test: doctest.DocTest) -> None:
    wherry.seed(0)
    said: list[str] = []
    runner = doctest.DocTestRunner(optionflags=FLAGS)
    runner.run(test, out=said.append)
    assert runner.failures == 0, "".join(said)


def test_links_between_pages_lead_somewhere():
    import re

    broken = []
    for page in [*PAGES, *(ROOT / name for name in ("CONTRIBUTING.md", "ARCHITECTURE.md", "benchmarks/RESULTS.md", "benchmarks/gpu-counted.md"))]:
        for target in re.findall(r"\]\(([^)#]+)\)", page.read_text()):
            if "://" not in target and not (page.parent / target).exists():
                broken.append(f"{page.relative_to(ROOT)}: {target}")
    assert not broken, broken


def test_index_names_every_document():
    index = (ROOT / "docs" / "index.md").read_text()
    pages = [page.name for page in (ROOT / "docs").glob("*.md") if page.name != "index.md"]
    packages_of = [f"../packages/{page.parent.name}/README.md" for page in ROOT.glob("packages/*/README.md")]
    missing = [name for name in [*pages, *packages_of] if f"]({name})" not in index]
    assert not missing, f"docs/index.md does not lead to {', '.join(missing)}"


def test_page_of_flags_lists_every_flag():
    page = (ROOT / "docs" / "flags.md").read_text()
    for name, (default, effect) in wherry_tensor.flags.FLAGS.items():
        assert f"| `{name}` | `{default!r}` | {effect} |" in page
