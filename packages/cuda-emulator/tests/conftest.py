"""The libraries with planted bugs, compiled once per build; the lock in `compile` lets several test runs share them."""
from __future__ import annotations

from pathlib import Path

import pytest

import wherry_cuda_emulator
from wherry_cuda_emulator import Emulator

_HERE = Path(__file__).parent
_BUILD = _HERE.parents[2] / "build" / "cuda-emulator"


@pytest.fixture(scope="session")
def libraries() -> dict[str, Path]:
    source = _HERE / "sources" / "plants.cu"
    return {mode: wherry_cuda_emulator.compile([source], _BUILD / f"plants_{mode}.so", mode=mode) for mode in ("fast", "checked")}


@pytest.fixture(scope="session")
def emulators(libraries: dict[str, Path]) -> dict[str, Emulator]:
    return {mode: Emulator(library) for mode, library in libraries.items()}
