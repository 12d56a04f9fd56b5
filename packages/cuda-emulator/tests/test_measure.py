"""What kernels ask of memory is counted as hardware does: sectors of 32 bytes, banks of four."""
import ctypes
import os
import subprocess
import sys
from pathlib import Path

import pytest

import wherry_cuda_emulator
from wherry_cuda_emulator import Emulator

_HERE = Path(__file__).parent
_BUILD = _HERE.parents[2] / "build" / "cuda-emulator"


@pytest.fixture(scope="module")
def measured():
    source = _HERE / "sources" / "measured.cu"
    return Emulator(wherry_cuda_emulator.compile([source], _BUILD / "measured.so", mode="checked"))


def _run(emulator, which):
    result = (ctypes.c_float * 1024)()
    with emulator.measure() as found:
        assert emulator.library.run(which, result) == 0, emulator.report
    (one,) = found
    return one, list(result)


@pytest.mark.parametrize(
    ("which", "name", "requests", "sectors", "least", "read"),
    [
        (0, "line", 2, 8, 8, 256),  # 32 lanes of 4 bytes: 4 sectors
        (1, "stride", 2, 64, 8, 256),  # each lane its own sector
        (2, "one", 2, 2, 2, 256),  # all lanes the same
        (3, "wide", 1, 9, 8, 256),  # begins in the middle of a sector
        (4, "twice", 2, 8, 8, 256),  # the same place again is another request
    ],
)
def test_sectors_of_loads(measured, which, name, requests, sectors, least, read):
    found, _ = _run(measured, which)
    assert found.kernel == name
    assert found.loads == (requests, sectors, least, read)
    assert found.stores.sectors == found.stores.least
    assert (found.launches, found.blocks) == (1, 1)


def test_what_a_block_or_a_launch_has_read_counts_once_for_it(measured):
    found, _ = _run(measured, 4)
    assert (found.block_loads, found.block_stores) == (4, 4)
    found, _ = _run(measured, 8)  # two blocks, the same counter
    assert (found.block_stores, found.launch_stores) == (2, 1)


@pytest.mark.parametrize(("which", "passes"), [(5, 2), (6, 64), (7, 4)])
def test_words_of_one_bank_take_a_pass_each(measured, which, passes):
    found, _ = _run(measured, which)
    assert (found.shared_requests, found.shared_passes, found.shared_least, found.shared_bytes) == (2, passes, 2, 4096)


def test_kernels_of_unnamed_namespaces_have_their_names(measured):
    found, _ = _run(measured, 11)
    assert found.kernel == "line_of<Unnamed>"


def test_atomics_are_counted_for_themselves(measured):
    found, _ = _run(measured, 8)
    assert found.atomics == (2, 2, 2, 256)
    assert (found.blocks, found.threads, found.block_size) == (2, 64, 32)


def test_bytes_between_the_parts_of_a_struct_are_nobodys(measured):
    _, result = _run(measured, 9)
    assert result[:32] == [2 * max(i, 31 - i) for i in range(32)]


def test_a_part_of_a_struct_that_was_not_written_is_found(measured):
    assert measured.library.run(10, (ctypes.c_float * 1024)()) != 0
    assert "reads" in measured.report and "shared memory 's' at byte" in measured.report
    measured.clear()


@pytest.mark.parametrize(
    ("planted", "words"),
    [(0, "0"), (1, "reads 4 bytes of device 0, and runs on device 1"), (2, "launch of line: its stream is one of device 0, the current device is 1")],
)
def test_memory_and_streams_of_another_device_are_found(measured, planted, words):
    program = (
        "import ctypes, sys; library = ctypes.PyDLL(sys.argv[1]); library.cuda_emulator_report.restype = ctypes.c_char_p\n"
        "print(library.run_on_two(int(sys.argv[2])), library.cuda_emulator_report().decode())"
    )
    command = [sys.executable, "-c", program, str(_BUILD / "measured.so"), str(planted)]
    said = subprocess.run(command, capture_output=True, text=True, check=True, env={**os.environ, "CUDA_EMULATOR_DEVICES": "2"}).stdout
    assert words in said
    assert said.startswith("0 ") == (planted == 0)


def test_the_fast_build_cannot_measure(emulators):
    with pytest.raises(RuntimeError, match="Emulator.measure: the fast build sees no accesses"), emulators["fast"].measure():
        pass
