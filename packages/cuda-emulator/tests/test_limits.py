"""What a test of ordinary size does not reach: rounds of a grid, offsets beyond 2^31, two GPUs that nobody has put in order."""
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import wherry_cuda_emulator
from wherry_cuda_emulator import Emulator

_HERE = Path(__file__).parent
_LIBRARY = _HERE.parents[2] / "build" / "cuda-emulator" / "limits.so"
_CHILD = (
    "import ctypes, sys\n"
    "library = ctypes.PyDLL(sys.argv[1]); library.cuda_emulator_report.restype = ctypes.c_char_p\n"
    "print(library.run(sys.argv[2].encode(), int(sys.argv[3])), library.cuda_emulator_report().decode())"
)


@pytest.fixture(scope="module")
def emulator() -> Emulator:
    return Emulator(wherry_cuda_emulator.compile([_HERE / "sources" / "limits.cu"], _LIBRARY))


def _said(name: str, planted: bool, **environment: str) -> str:
    command = [sys.executable, "-c", _CHILD, str(_LIBRARY), name, str(int(planted))]
    return subprocess.run(command, capture_output=True, text=True, check=True, env={**os.environ, **environment}).stdout.strip()


def _run(emulator: Emulator, name: str, planted: bool) -> tuple[int, str]:
    emulator.clear()
    status, report = emulator.library.run(name.encode(), int(planted)), emulator.report
    emulator.clear()
    return status, report


@pytest.mark.parametrize("order", ["forward", "reverse", 7])
@pytest.mark.parametrize(("name", "words"), [
    ("one_round", r"add_into at limits.cu:\d+ reads 4 bytes that nothing has written, in an allocation of 8192 bytes"),
    ("rounds_without_barrier", r"data race at limits.cu:\d+: it (reads|writes) what .* of block 0 (read|wrote) without a barrier"),
])
def test_few_blocks_reach_the_next_round_of_a_kernel(emulator, name, words, order):
    emulator.set(order=order)
    assert _run(emulator, name, planted=True) == (0, "")  # eight blocks for eight pieces: nobody goes on
    with emulator.few_blocks(2):
        assert _run(emulator, name, planted=False) == (0, "")
        status, report = _run(emulator, name, planted=True)
    emulator.set()
    assert status != 0
    assert re.search(words, report) if order == "forward" else report
    assert _run(emulator, name, planted=True) == (0, "")


def test_the_environment_gives_a_process_few_blocks(emulator):
    assert _said("one_round", True) == "0"
    assert "reads 4 bytes that nothing has written" in _said("one_round", True, CUDA_EMULATOR_BLOCKS="1")


def test_no_grid_has_less_than_a_block(emulator):
    with pytest.raises(ValueError, match="Emulator.few_blocks: no grid has so few blocks. Got 0, expected 1 or more."), emulator.few_blocks(0):
        pass


def test_more_memory_reaches_offsets_beyond_2_to_the_31(emulator):
    assert _said("narrow_offset", False) == "2"  # out of memory
    assert _said("narrow_offset", False, CUDA_EMULATOR_MEMORY="5") == "0"
    said = _said("narrow_offset", True, CUDA_EMULATOR_MEMORY="5")
    assert re.search(r"copy_rows<int> at limits.cu:\d+ reads 1 bytes of HOST memory", said), said  # two GB before the allocation


def test_memory_that_another_stream_allocates_is_waited_for(emulator):
    assert _run(emulator, "memory_of_another_stream", planted=False) == (0, "")
    status, report = _run(emulator, "memory_of_another_stream", planted=True)
    assert status != 0
    assert re.search(r"doubled<false> at limits.cu:\d+ writes 4 bytes of memory that cudaMallocAsync gives on another stream", report), report


def test_a_copy_between_gpus_that_waits_for_nothing_is_found(emulator):
    assert _said("no_event_between_devices", False, CUDA_EMULATOR_DEVICES="2") == "0"
    said = _said("no_event_between_devices", True, CUDA_EMULATOR_DEVICES="2")
    assert "a cudaMemcpyAsync: data race: it reads what a cudaMemsetAsync wrote on another stream: neither waits for the other" in said
