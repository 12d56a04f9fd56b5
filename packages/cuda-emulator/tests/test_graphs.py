"""CUDA graphs on the emulator: what may be captured, and what CUDA refuses."""
import ctypes
from pathlib import Path

import pytest

import wherry_cuda_emulator
from wherry_cuda_emulator import Emulator

_HERE = Path(__file__).parent


@pytest.fixture(scope="module", params=["fast", "checked"])
def emulator(request):
    library = _HERE.parents[2] / "build" / "cuda-emulator" / f"graphs_{request.param}.so"
    return Emulator(wherry_cuda_emulator.compile([_HERE / "sources" / "graphs.cu"], library, mode=request.param))


def run(emulator, name, planted):
    emulator.clear()
    out = ctypes.c_float(-1)
    status = emulator.library.run(name.encode(), planted, ctypes.byref(out))
    report = emulator.report
    emulator.clear()
    return status, out.value, report


# What is planted, and CUDA's error code for it.
PLANTS = [
    ("synchronized", 900), ("device_synchronized", 900), ("allocated", 900), ("copied_from_pageable", 900), ("not_joined", 904),
    ("waits_for_others", 905), ("default_stream", 900),
]  # fmt: skip


@pytest.mark.parametrize(("name", "code"), PLANTS)
def test_what_cuda_forbids_while_it_captures_is_refused_with_its_code(emulator, name, code):
    assert run(emulator, name, True)[0] == code
    status, value, report = run(emulator, name, False)
    assert (status, value, report) == (0, 1.0, "")


def test_a_graph_runs_as_often_as_it_is_launched_and_not_before(emulator):
    assert run(emulator, "replayed", False)[:2] == (0, 4.0)


def test_a_graph_that_is_launched_after_its_memory_was_freed_is_found(emulator):
    status, _, report = run(emulator, "freed", True)
    assert status != 0
    assert "in a FREED allocation of 64 bytes" in report
    assert run(emulator, "freed", False)[0] == 0


def test_priorities_beyond_the_range_count_as_its_end(emulator):
    least, greatest, given = (ctypes.c_int() for _ in range(3))
    assert emulator.library.priorities(ctypes.byref(least), ctypes.byref(greatest), ctypes.byref(given)) == 0
    assert greatest.value < least.value == 0
    assert given.value == greatest.value


def test_events_take_the_times_of_the_stream(emulator):
    milliseconds = ctypes.c_float(-1)
    assert emulator.library.elapsed(ctypes.byref(milliseconds), 1) == 0
    assert 0 < milliseconds.value < 10_000
    assert emulator.library.elapsed(ctypes.byref(milliseconds), 0) == 400
