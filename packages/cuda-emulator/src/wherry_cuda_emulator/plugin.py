"""For pytest: files `test_*.cu` are tests, and a fixture compiles and runs what a test in Python names.

A `test_*.cu` with a `main` is built in the checked build and run in three orders of threads, each a test of its own, which
passes if `main` returns 0 and the emulator has found nothing.
"""
from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

from wherry_cuda_emulator.building import compile
from wherry_cuda_emulator.control import Emulator
from wherry_cuda_emulator.running import Ended, build, run

_ORDERS: tuple[str | int, ...] = ("forward", "reverse", 7)


def pytest_addoption(parser: pytest.Parser) -> None:
    """The setting `cuda_emulator_include`: folders of headers for files `test_*.cu`."""
    parser.addini("cuda_emulator_include", "folders of headers for files test_*.cu", type="paths", default=[])


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """Files test_*.cu."""
    if file_path.suffix == ".cu" and file_path.name.startswith("test_"):
        return _File.from_parent(parent, path=file_path)  # type: ignore[no-any-return]  # of pytest
    return None


class _File(pytest.File):
    def collect(self) -> Iterator[pytest.Item]:
        for order in _ORDERS:
            yield _Program.from_parent(self, name=f"order {order}", order=order)


class _Program(pytest.Item):
    def __init__(self, *, order: str | int, **rest: Any) -> None:
        super().__init__(**rest)
        self.order = order

    def runtest(self) -> None:
        ended = run(build([self.path], include_dirs=self.config.getini("cuda_emulator_include")), order=self.order)
        if ended.status or ended.report:
            raise _Failed(ended)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        if not isinstance(excinfo.value, _Failed):
            said = isinstance(excinfo.value, (FileNotFoundError, RuntimeError))
            return str(excinfo.value) if said else super().repr_failure(excinfo, style)
        ended = excinfo.value.ended
        return "\n".join(filter(None, [ended.report or f"main returned {ended.status}", ended.output.rstrip(), ended.errors.rstrip()]))

    def reportinfo(self) -> tuple[Path, None, str]:
        return self.path, None, f"{self.path.name} ({self.name})"


class _Failed(Exception):
    def __init__(self, ended: Ended) -> None:
        super().__init__(ended.report or f"main returned {ended.status}")
        self.ended = ended


class Kernels:
    """What the fixture `cuda_emulator` is."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._used: list[Emulator] = []

    def library(self, *sources: str | os.PathLike[str], mode: str = "checked", include_dirs: Iterable[str | os.PathLike[str]] = ()) -> Emulator:
        """Compile sources into a library and load it.

        What the emulator finds in it until the test ends fails the test, unless `clear` has forgotten it.
        """
        named = "-".join(Path(source).stem for source in sources)
        emulator = Emulator(compile(sources, self._folder / f"{named}-{mode}.so", mode=mode, include_dirs=include_dirs))
        self._used.append(emulator)
        return emulator

    def run(self, *sources: str | os.PathLike[str], arguments: Iterable[str] = (), order: str | int = "forward", measure: bool = False) -> Ended:
        """Build a program and run it; the test looks at how it ended."""
        return run(build(sources), arguments, order=order, measure=measure)


@pytest.fixture(scope="session")
def _cuda_emulator_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cuda_emulator")


@pytest.fixture
def cuda_emulator(_cuda_emulator_folder: Path) -> Iterator[Kernels]:
    """Compiles CUDA C++ for the emulator; a finding that the test has not cleared fails it."""
    kernels = Kernels(_cuda_emulator_folder)
    yield kernels
    found = [emulator.report for emulator in kernels._used if emulator.report]
    for emulator in kernels._used:
        emulator.clear()
    if found:
        pytest.fail("the emulator has found: " + "; ".join(found), pytrace=False)
