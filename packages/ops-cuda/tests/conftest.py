"""The kernels, compiled for the emulator's checked build, as the device `gpu` of this process.

Once per checkout: `compile` keeps what is up to date, and other test runs wait for its lock. WHERRY_CUDA_ALL_DTYPES=1 compiles every dtype.
"""
from __future__ import annotations

import ctypes
import os
from contextlib import nullcontext
from pathlib import Path

import pytest

from wherry_cuda_emulator import Emulator
from wherry_ops_cuda import build_for_emulator

_BUILD = Path(__file__).resolve().parents[3] / "build" / "ops-cuda"


def pytest_configure() -> None:
    if "WHERRY_CUDA_LIBRARY" not in os.environ:
        few = not os.environ.get("WHERRY_CUDA_ALL_DTYPES")
        os.environ["WHERRY_CUDA_LIBRARY"] = str(build_for_emulator(_BUILD / f"libwherry_cuda_{'few' if few else 'all'}.so", few_dtypes=few))
    from wherry_ops_cuda import column

    column.register()


def _emulator() -> Emulator | None:
    """None where WHERRY_CUDA_LIBRARY names one for GPUs."""
    library = ctypes.PyDLL(os.environ["WHERRY_CUDA_LIBRARY"])
    return Emulator(library) if hasattr(library, "cuda_emulator_clear") else None


@pytest.fixture(scope="session")
def emulator() -> Emulator:
    found = _emulator()
    if found is None:
        pytest.skip("only the emulator is lazy, counts and answers as asked; this is a GPU")
    return found


@pytest.fixture
def two_blocks():
    """A function that gives a context in which the emulator's grids have at most two blocks: kernels then have to go on by themselves."""
    emulator = _emulator()
    return lambda: nullcontext() if emulator is None else emulator.few_blocks(2)


@pytest.fixture
def gpu():
    """The GPU, emulated or not, as the current device for the time of a test. What a test leaves behind, errors too, ends with it."""
    emulator = _emulator()
    import wherry_tensor

    wherry_tensor.set_device("gpu")
    yield
    wherry_tensor.set_device("cpu")
    try:
        wherry_tensor.device.synchronize("gpu")
    finally:
        if emulator is not None:
            emulator.clear()
