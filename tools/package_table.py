"""The packages of this repository, read from the pyproject.toml of each: that is the only table.

    python tools/package_table.py            write what other files say of them: the lists between marks, each `__version__`
    python tools/package_table.py --check    exit 1, naming them, when some are out of date

A new package is a folder below packages/ with a pyproject.toml that says what it needs, then one run of this program.
Other tools import it: which packages there are, in which order, what each needs. Of its own the file of a package has

    [tool.wherry]
    holds = "what the table of ARCHITECTURE.md says of it"
    budget = 1200                      # lines of code that it may have; tools/sizes.py counts them
    tests = [["packages/nn/tests"]]    # arguments of pytest, one list per run; this is the default
    one-python = ["packages/nn/tests/test_x.py"]    # the oldest Python alone runs these: none says anything about another
    in-browser = false                 # no wheel for Pyodide is made of it; true is the default
    brings = ["web"]                   # extras for users, of packages above this one, which it never imports
"""
from __future__ import annotations

import argparse
import functools
import re
import sys
import tomllib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PYTHONS = ("3.11", "3.12", "3.13", "3.14")


@dataclass(frozen=True)
class Package:
    name: str                     # of the folder: ops-cpu
    folder: Path
    project: str                  # what pip calls it: wherry-ops-cpu
    version: str
    needs: tuple[str, ...]        # names of the packages that it declares, as they stand there
    others: tuple[str, ...]       # what it declares of third parties
    for_tests: tuple[str, ...]    # the same of its extra `test`
    optional: tuple[str, ...]     # the same of its other extras: it may import them, where they are installed
    compiled: bool
    each_python: bool             # compiled for each Python: no wheel of one goes into another
    holds: str
    budget: int                   # 0: none is given, which tools/sizes.py does not accept
    tests: tuple[tuple[str, ...], ...]
    one_python: tuple[str, ...]   # files, tests by file::name, or modules of `--pyargs`, among them
    in_browser: bool
    urls: tuple[str, ...]

    @property
    def module(self) -> str:
        """What Python calls it: wherry_ops_cpu."""
        return self.project.replace("-", "_")

    @property
    def place(self) -> str:
        """Its folder, from the root."""
        return self.folder.relative_to(ROOT).as_posix()

    @property
    def source(self) -> Path:
        """The file that says its `__version__`: `__init__.py`, or `_version.py` where other files of the package read it too."""
        folder = self.folder / "src" / self.module
        return next(file for file in (folder / "_version.py", folder / "__init__.py") if file.exists())


@functools.cache
def packages(root: Path = ROOT) -> dict[str, Package]:
    """All of them by name, each after what it needs or may import."""
    found = {}
    for file in sorted([*root.glob("packages/*/pyproject.toml"), *root.glob("web/pyproject.toml")]):
        settings = tomllib.loads(file.read_text())
        project, own = settings["project"], settings.get("tool", {}).get("wherry", {})
        folder, extras = file.parent, project.get("optional-dependencies", {})
        found[project["name"]] = Package(
            name=folder.name,
            folder=folder,
            project=project["name"],
            version=project["version"],
            needs=tuple(ours(project.get("dependencies", []))),
            others=tuple(name for name in map(name_of, project.get("dependencies", [])) if not ours([name])),
            for_tests=tuple(ours(extras.get("test", []))),
            optional=tuple(ours(one for name, extra in extras.items() if name not in ("test", *own.get("brings", [])) for one in extra)),
            compiled=any(name_of(r) == "scikit-build-core" for r in settings["build-system"]["requires"]),
            each_python=(folder / "CMakeLists.txt").exists() and "py-api" not in settings["tool"].get("scikit-build", {}).get("wheel", {}),
            holds=own.get("holds", ""),
            budget=own.get("budget", 0),
            tests=tuple(map(tuple, own.get("tests", [[f"{folder.relative_to(root).as_posix()}/tests"]]))),
            one_python=tuple(own.get("one-python", [])),
            in_browser=own.get("in-browser", True),
            urls=tuple(project.get("urls", {}).values()),
        )
    by_project = {project: package.name for project, package in found.items()}
    for package in found.values():
        unknown = [need for need in (*package.needs, *package.for_tests, *package.optional) if need not in by_project]
        if unknown:
            raise SystemExit(
                f"packages: {package.place}/pyproject.toml needs {', '.join(unknown)}, which no folder here holds. "
                f"There are {', '.join(by_project)}."
            )
    levels: dict[str, int] = {}

    def level(project: str, above: tuple[str, ...] = ()) -> int:
        if project in above:
            raise SystemExit(f"packages: a circle of dependencies: {' -> '.join([*above, project])}")
        if project not in levels:
            levels[project] = 1 + max((level(need, (*above, project)) for need in (*found[project].needs, *found[project].optional)), default=-1)
        return levels[project]

    for project in sorted(found, key=lambda project: (level(project), project)):
        package = found.pop(project)
        named = {key: tuple(by_project[need] for need in getattr(package, key)) for key in ("needs", "for_tests", "optional")}
        found[package.name] = Package(**{**vars(package), **named})
    return found


def ours(requirements: Iterable[str]) -> list[str]:
    """The names of those that are packages of this repository."""
    return [name_of(requirement) for requirement in requirements if name_of(requirement).partition("-")[0] == "wherry"]


def name_of(requirement: str) -> str:
    """`numpy` of `numpy>=1.26; platform_system != 'Emscripten'`."""
    return re.split(r"[^\w.-]", requirement.strip(), maxsplit=1)[0]


def needed(names: Iterable[str]) -> list[str]:
    """The packages with all that they need, lowest first."""
    known, wanted, open_ = packages(), set(), list(names)
    while open_:
        name = open_.pop()
        if name not in wanted:
            wanted.add(name)
            open_ += known[name].needs
    return [name for name in known if name in wanted]


def nearest(package: Package) -> list[str]:
    """What it needs, without what those need themselves."""
    behind = {far for need in package.needs for far in needed(packages()[need].needs)}
    return [name for name in packages() if name in package.needs and name not in behind]


def levels() -> list[list[Package]]:
    """Packages that stand on the same level, from the highest down; those of a level do not know each other."""
    level: dict[str, int] = {}
    for package in packages().values():
        level[package.name] = 1 + max((level[need] for need in (*package.needs, *package.optional)), default=-1)
    return [[p for p in packages().values() if level[p.name] == at] for at in sorted(set(level.values()), reverse=True)]


# ---- what other files say of them -----------------------------------------------------------------


def modules() -> list[str]:
    return [package.module for package in packages().values()]


def toml_list(key: str, values: Iterable[str]) -> str:
    """`key = [...]`, in as many lines as it takes."""
    values = list(values)
    one = f"{key} = [{', '.join(f'{chr(34)}{v}{chr(34)}' for v in values)}]"
    if len(one) <= 120:
        return one
    return f"{key} = [\n" + "".join(f'    "{value}",\n' for value in values) + "]"


def without_backend() -> list[str]:
    """Modules of the packages that run on whichever kernels are there: nothing below them holds kernels."""
    return [p.module for p in packages().values() if not any(name.startswith("ops-") for name in needed([p.name]))]


def sources() -> str:
    return ":".join(f"{package.place}/src" for package in packages().values())


def below() -> str:
    """What the facade stands on, as pip calls it."""
    return "BELOW = (\n" + "".join(f'    "{packages()[name].project}",\n' for name in needed(["wherry"])[:-1]) + ")"


def table() -> str:
    """The table of ARCHITECTURE.md. Sizes are the budgets, which change seldom; the lines of today are what tools/sizes.py prints."""
    lines = ["| folder | import | holds | may import | lines of code, at most |", "|---|---|---|---|---:|"]
    for package in packages().values():
        needs = ", ".join(nearest(package) or package.others) or "nothing"
        lines.append(f"| [{package.place}]({package.place}) | `{package.module}` | {package.holds} | {needs} | {package.budget or ''} |")
    return "\n".join(lines)


def figures() -> str:
    """A few rows of the first table of benchmarks/RESULTS.md."""
    results = (ROOT / "benchmarks" / "RESULTS.md").read_text()
    lines = ["| what | measured |", "|---|---|"]
    for what in FIGURES:
        row = re.search(rf"(?m)^\| ({re.escape(what)}[^|]*) \| ([^|]*) \|", results)
        if not row:
            raise SystemExit(
                f"packages: the first table of benchmarks/RESULTS.md has no row {what!r}, which README.md shows. Name another one in FIGURES."
            )
        lines.append(f"| {row[1]} | {row[2]} |")
    return "\n".join(lines)


FIGURES = ("speed: a training step of LeNet", "size: the wheels that", "compatibility: names")

def environments() -> str:
    """The environments of `make test`: every package with the oldest and the newest Pythons; what is compiled for each, and the facade, with that
    between."""
    oldest, between, *newest = (version.replace(".", "") for version in PYTHONS)
    own = [name for name, package in packages().items() if package.each_python or name == "wherry"]
    return f"    py{{{','.join([oldest, *newest])}}}-{{{','.join(packages())}}}\n    py{between}-{{{','.join(own)}}}"


# What stands between `packages: NAME` and `packages: end` in these files.
DERIVED: dict[str, dict[str, Callable[[], str]]] = {
    "pyproject.toml": {
        "imports": lambda: toml_list("known-first-party", sorted(modules())),
        "types": lambda: toml_list("packages", modules()) + f'\nmypy_path = "{sources()}"',
        "roots": lambda: toml_list("root_packages", modules()),
        "layers": lambda: toml_list("layers", (" | ".join(p.module for p in level) for level in levels())),
        "backends": lambda: toml_list("source_modules", without_backend())
        + "\n" + toml_list("forbidden_modules", (p.module for p in packages().values() if p.name.startswith("ops-"))),
        "all": lambda: toml_list("source_modules", modules()),
    },
    "tox.ini": {
        "environments": environments,
        "paths": lambda: f"    PYTHONPATH = {{env:PYTHONPATH_OF_SOURCES:{sources()}}}",
    },
    "packages/wherry/src/wherry/_missing.py": {"below": below},
    "README.md": {"figures": figures},
    "ARCHITECTURE.md": {"table": table},
}


def derived(text: str, lists: dict[str, Callable[[], str]], file: str) -> str:
    """`text` with its lists brought up to date."""
    for name, write in lists.items():
        mark = re.compile(rf"(^[^\n]*packages: {name}\b[^\n]*\n).*?(^[^\n]*packages: end\b)", re.DOTALL | re.MULTILINE)
        if not mark.search(text):
            raise SystemExit(f"packages: {file} has no lines `packages: {name}` and `packages: end`, between which a list belongs")
        text = mark.sub(lambda found, write=write: f"{found[1]}{write()}\n{found[2]}", text)
    return text


def versioned(text: str, version: str) -> str:
    """The text of a file that says this version."""
    return re.sub(r'(?m)^__version__ = ".*"$', f'__version__ = "{version}"', text)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="change nothing; exit 1 when something is out of date")
    check = parser.parse_args().check
    texts = {ROOT / file: derived((ROOT / file).read_text(), lists, file) for file, lists in DERIVED.items()}
    faults = []
    for package in packages().values():
        texts[package.source] = versioned(package.source.read_text(), package.version)
        if f'__version__ = "{package.version}"' not in texts[package.source]:
            faults.append(f"{package.source.relative_to(ROOT)} has no line `__version__ = \"...\"`")
        if not package.holds:
            faults.append(f"{package.place}/pyproject.toml does not say what it `holds` in [tool.wherry]")
        if not package.urls:
            faults.append(f"{package.place}/pyproject.toml has no [project.urls], which the index shows")
        for wanted in ("README.md", "CHANGELOG.md", "LICENSE"):
            if not (package.folder / wanted).is_file():
                faults.append(f"{package.place} has no {wanted}")
    for file, text in texts.items():
        if file.read_text() != text:
            if check:
                faults.append(f"{file.relative_to(ROOT)} is out of date: run python tools/package_table.py")
            else:
                file.write_text(text)
    for fault in faults:
        print(f"packages: {fault}", file=sys.stderr)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
