"""Each bug that the emulator promises to find is planted here, and found; the same program without it runs clean."""
import re
import subprocess
import sys

import pytest

from wherry_cuda_emulator import Emulator

# Bug, words of the checked build's report, and whether the fast build reports it too (None: it gives wrong values or luck).
PLANTS = [
    ("read_after_write", r"data race at plants.cu:\d+: it reads what|which no thread of the block has written", None),
    ("write_after_read", r"data race at plants.cu:\d+: it (writes|reads) what thread \d+ of block 0 (read|wrote) without a barrier", None),
    ("missing_syncwarp", r"data race at plants.cu:\d+|which no thread of the block has written", None),
    ("shared_out_of_bounds", r"thread \(255,0,0\) of block .* reads 4 bytes outside of its shared memory, beside 's' of 1024 bytes", None),
    ("shared_uninitialised", r"reads 4 bytes of shared memory 's' at byte \d+, which no thread of the block has written", None),
    ("divergent_barrier", r"deadlock in block \(0,0,0\) of .*waits at plants.cu:\d+, 128 threads have returned", True),
    ("two_barriers", r"thread \(128,0,0\) .* waits at the barrier at plants.cu:\d+ while thread 0 waits at the one at plants.cu:\d+", True),
    ("divergent_shuffle", r"deadlock in block .* waits at plants.cu:\d+", True),
    ("shuffle_outside_of_mask", r"shuffles from lane 16, which does not take part, at plants.cu:\d+", True),
    ("copy_not_waited_for", r"plants.cu:\d+ reads 4 bytes of shared memory 's' at byte \d+, where a cp.async writes that its thread has not", None),
    ("copy_waited_for_without_barrier", r"data race at plants.cu|where a cp.async writes|which no thread of the block has written", None),
    ("copy_of_another_group", r"reads 4 bytes of shared memory 's' at byte \d+, where a cp.async writes that its thread has not waited", None),
    ("copy_over_what_is_read", r"data race at plants.cu:\d+: it writes what (thread \d+|several threads) of block 0 read without a barrier", None),
    ("misaligned_copy", r"cp.async between addresses that are not multiples of 16, at plants.cu:\d+", True),
    ("matrices_read_too_early", r"data race at plants.cu:\d+|which no thread of the block has written", None),
    ("matrices_out_of_bounds", r"thread \(31,0,0\) .* at plants.cu:\d+ reads 16 bytes outside of its shared memory, beside 'rows' of 512", None),
    ("product_by_half_a_warp", r"all 32 lanes of a warp have to take part in what tensor cores do; 16 do, at plants.cu:\d+", True),
    ("product_at_two_places", r"lanes of a warp meet at different instructions of tensor cores, at plants.cu:\d+ and at plants.cu:\d+", True),
    ("shared_memory_not_asked_for", r"of much_shared: asks for 65536 bytes of shared memory; there are 49152, more by cudaFuncSetAttribute", True),
    ("one_past_the_end", r"at plants.cu:\d+ (writes|touches).* 0 bytes past the end of an allocation of 400 bytes", True),
    ("missing_memset", r"reads 4 bytes that nothing has written, in an allocation of 256 bytes, at byte 0", None),
    ("plus_for_atomic", r"data race at plants.cu:\d+: it (reads|writes) what thread 0 of block 0 wrote", None),
    ("missing_fence", r"data race at plants.cu:\d+: it reads what thread 0 of block \d wrote", None),
    ("host_pointer_in_a_kernel", r"reads 4 bytes of HOST memory", None),
    ("misaligned_float4", r"at plants.cu:\d+: this address is not a multiple of 16, in an allocation of 64 bytes, at byte 4", None),
    ("empty_grid", r"launch of add_into: its grid is \(0,1,1\)", True),
    ("use_after_free", r"in a FREED allocation of 128 bytes", True),
    ("freed_twice", r"cudaFree of what is freed already", True),
    ("copy_beyond_the_end", r"cudaMemcpy to of 132 bytes in an allocation of 128 bytes", True),
    ("freed_on_another_stream", r"in a FREED allocation of 128 bytes", True),
    ("freed_on_another_stream_that_is_slower", r"cudaFreeAsync of an allocation of 128 bytes, which kernel add_into uses on another stream", None),
]
NAMES = [name for name, *_ in PLANTS]
ORDERS = ["forward", "reverse", 7]


def run(emulator: Emulator, name: str, planted: bool) -> int:
    emulator.clear()
    return emulator.library.run(name.encode(), int(planted))


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize(("name", "words", "_fast"), PLANTS, ids=NAMES)
def test_checked_build_finds_the_bug_in_every_order(emulators, name, words, _fast, order):
    emulator = emulators["checked"]
    emulator.set(order=order)
    status = run(emulator, name, planted=True)
    report = emulator.report
    emulator.clear()
    emulator.set()
    assert status != 0
    if order == "forward":
        assert re.search(words, report), report
    else:
        assert report


@pytest.mark.parametrize("mode", ["fast", "checked"])
@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("name", NAMES)
def test_the_program_without_the_bug_runs_clean(emulators, name, order, mode):
    emulator = emulators[mode]
    emulator.set(order=order)
    status = run(emulator, name, planted=False)
    emulator.set()
    assert (status, emulator.report) == (0, "")


@pytest.mark.parametrize("name", [name for name, _, fast in PLANTS if fast])
def test_fast_build_finds_what_pages_and_scheduling_show(emulators, name):
    emulator = emulators["fast"]
    assert run(emulator, name, planted=True) != 0
    assert emulator.report
    emulator.clear()


@pytest.mark.parametrize("mode", ["fast", "checked"])
@pytest.mark.parametrize("name", ["result_read_before_it_is_there", "pinned_buffer_filled_again_too_early", "no_event_between_streams"])
def test_lazy_streams_show_what_the_host_does_too_early(emulators, name, mode):
    emulator = emulators[mode]
    emulator.clear()
    sees = emulator.library.host_sees
    assert (sees(name.encode(), 0), sees(name.encode(), 1)) == (1, 0)


def test_eager_streams_hide_it(emulators):
    emulator = emulators["checked"]
    emulator.clear()
    emulator.set(lazy=False)
    assert emulator.library.host_sees(b"result_read_before_it_is_there", 1) == 1
    assert re.search(r"host code at plants.cu:\d+ reads pinned memory that a cudaMemcpyAsync fills", emulator.report)  # whoever was faster
    emulator.clear()
    emulator.set()


@pytest.mark.parametrize("lazy", [True, False])
@pytest.mark.parametrize(("name", "words"), [
    ("no_event_between_streams", r"a cudaMem(cpy|set)Async: data race: it (reads|writes) what a cudaMem(set|cpy)Async (wrote|read) on"),
    ("pinned_buffer_filled_again_too_early", r"host code at plants.cu:\d+ writes pinned memory that a cudaMemcpyAsync still reads"),
])
def test_what_streams_and_the_host_do_without_waiting_is_reported(emulators, name, words, lazy):
    emulator = emulators["checked"]
    emulator.clear()
    emulator.set(lazy=lazy)
    emulator.library.host_sees(name.encode(), 0)
    assert emulator.report == ""
    emulator.library.host_sees(name.encode(), 1)
    assert re.search(words, emulator.report), emulator.report
    emulator.clear()
    emulator.set()


@pytest.mark.parametrize("mode", ["fast", "checked"])
def test_host_that_touches_device_memory_dies_with_its_line_and_pythons_traceback(libraries, mode):
    program = (
        "import faulthandler, ctypes; faulthandler.enable()\n"
        f"library = ctypes.PyDLL({str(libraries[mode])!r})\n"
        "def culprit(): library.host_reads_device_memory()\n"
        "culprit()\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode < 0
    assert "cuda emulator: host code at plants.cu:" in done.stderr
    assert "device memory, in an allocation of 128 bytes, at byte 20" in done.stderr
    assert "in culprit" in done.stderr
