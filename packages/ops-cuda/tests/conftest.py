"""The kernels, compiled for the emulator's checked build, as the device `gpu` of this process.

Once per checkout: `compile` keeps what is up to date, and other test runs wait for its lock. WHERRY_CUDA_ALL_DTYPES=1 compiles every dtype.
"""
from __future__ import annotations

import os
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


@pytest.fixture(scope="session")
def emulator() -> Emulator:
    return Emulator(os.environ["WHERRY_CUDA_LIBRARY"])


@pytest.fixture
def gpu(emulator):
    """The emulated GPU as the current device, for the time of a test. What a test leaves behind, errors too, ends with it."""
    import wherry_tensor

    wherry_tensor.set_device("gpu")
    yield
    wherry_tensor.set_device("cpu")
    try:
        wherry_tensor.device.synchronize("gpu")
    finally:
        emulator.clear()
