"""What kernels and host code say means what it means on a GPU, and the package's own functions refuse what they cannot do."""
import ctypes
import shutil
from pathlib import Path

import pytest

import wherry_cuda_emulator
from wherry_cuda_emulator import Emulator


@pytest.mark.parametrize("order", ["forward", "reverse", 3])
@pytest.mark.parametrize("mode", ["fast", "checked"])
def test_shuffles_ballots_and_counting_barriers_follow_their_definition(emulators, mode, order):
    emulators[mode].set(order=order)
    out = (ctypes.c_int * 192)()
    assert emulators[mode].library.run_shuffles(out) == 0, emulators[mode].report
    emulators[mode].set()
    lanes = range(32)
    assert out[0:32] == [3] * 32
    assert out[32:64] == [lane if lane < 2 else lane - 2 for lane in lanes]
    assert out[64:96] == [lane + 2 if lane % 16 + 2 < 16 else lane for lane in lanes]
    assert out[96:128] == [lane ^ 5 for lane in lanes]
    ballot = sum(1 << lane for lane in lanes if lane % 3 == 0)
    assert [value & 0xFFFFFFFF for value in out[128:160]] == [ballot] * 32
    assert out[160:192] == [11 + 100 + 1000] * 32


@pytest.mark.parametrize("mode", ["fast", "checked"])
def test_dynamic_shared_memory_in_a_block_of_three_dimensions(emulators, mode):
    values = (ctypes.c_double * 512)(*range(512))
    assert emulators[mode].library.run_reversed(values) == 0, emulators[mode].report
    assert list(values) == list(range(511, -1, -1))


def test_counts_tell_launches_threads_and_checked_accesses(emulators):
    emulator = emulators["checked"]
    before = emulator.counts
    emulator.library.run_reversed((ctypes.c_double * 512)())
    after = emulator.counts
    assert after.launches - before.launches == 1
    assert after.threads - before.threads == 512
    assert after.accesses - before.accesses >= 4 * 512  # one load and one store of x and of s, by each thread
    assert emulator.checked
    assert not emulators["fast"].checked
    assert emulators["fast"].counts.accesses == 0


def test_compile_keeps_what_is_up_to_date_wherever_it_lies_and_refuses_other_modes(tmp_path: Path):
    source = tmp_path / "one.cu"
    source.write_text("#include <cuda_emulator/kernel.h>\n__global__ void one(int *x) { *x = 1; }\n")
    library = wherry_cuda_emulator.compile([source], tmp_path / "one.so", mode="fast")
    made = library.stat().st_mtime_ns
    assert wherry_cuda_emulator.compile([source], tmp_path / "one.so", mode="fast").stat().st_mtime_ns == made
    (tmp_path / "elsewhere").mkdir()
    copied = Path(shutil.copy(source, tmp_path / "elsewhere"))
    assert wherry_cuda_emulator.compile([copied], tmp_path / "one.so", mode="fast").stat().st_mtime_ns == made
    copied.write_text(source.read_text().replace("1", "2"))
    assert wherry_cuda_emulator.compile([copied], tmp_path / "one.so", mode="fast").stat().st_mtime_ns > made
    with pytest.raises(ValueError, match=r"Got 'quick', expected 'fast' or 'checked'"):
        wherry_cuda_emulator.compile([source], tmp_path / "one.so", mode="quick")


def test_compile_shows_what_the_compiler_says(tmp_path: Path):
    source = tmp_path / "wrong.cu"
    # nvcc has no atomicAdd for long either.
    source.write_text("#include <cuda_emulator/kernel.h>\n__global__ void k(long *x) { atomicAdd(x, 1L); }\n")
    with pytest.raises(RuntimeError, match="atomicAdd"):
        wherry_cuda_emulator.compile([source], tmp_path / "wrong.so")


def test_compile_says_where_it_looked_for_cudas_headers(monkeypatch, tmp_path: Path):
    monkeypatch.setenv("CUDA_HOME", str(tmp_path))
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(FileNotFoundError, match=r"Looked in .*include, expected .* pip install wherry-cuda-emulator\[headers\]"):
        wherry_cuda_emulator.cuda_include()


def test_set_refuses_unknown_orders(emulators):
    with pytest.raises(ValueError, match="Got 'sideways', expected 'forward', 'reverse' or an int"):
        emulators["fast"].set(order="sideways")


def test_emulator_takes_a_library_that_is_loaded(emulators):
    assert Emulator(emulators["fast"].library).report == emulators["fast"].report


_SECOND = """
#include <cuda_emulator/kernel.h>
__global__ void doubled(float *x, int n) {
  WRY_SHARED(float, s, 4);
  if (threadIdx.x < n) s[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  if (threadIdx.x < n) x[threadIdx.x] = 2 * s[threadIdx.x];
}
extern "C" int run_doubled(float *x, int n) { return wry_launch(doubled, dim3(1), dim3(32), 0, nullptr, x, n); }
"""


@pytest.mark.parametrize("mode", ["fast", "checked"])
def test_a_second_library_runs_on_the_emulator_of_the_first(emulators, libraries, tmp_path: Path, mode):
    source = tmp_path / "second.cu"
    source.write_text(_SECOND)
    second = ctypes.PyDLL(str(wherry_cuda_emulator.compile([source], tmp_path / "second.so", mode=mode, emulator=libraries[mode])))
    first, emulator = emulators[mode].library, emulators[mode]
    at, values = ctypes.c_void_p(), (ctypes.c_float * 4)(1, 2, 3, 4)
    assert first.cudaMalloc(ctypes.byref(at), ctypes.c_size_t(16)) == 0
    assert first.cudaMemcpy(at, values, ctypes.c_size_t(16), 1) == 0
    before = emulator.counts.launches
    assert second.run_doubled(at, 4) == 0
    assert emulator.counts.launches == before  # it waits in the first one's stream
    assert first.cudaMemcpy(values, at, ctypes.c_size_t(16), 2) == 0
    assert (list(values), emulator.counts.launches) == ([2, 4, 6, 8], before + 1)
    if mode == "checked":
        second.run_doubled(at, 5)
        assert first.cudaDeviceSynchronize() != 0
        assert "in doubled at second.cu:5" in emulator.report
        emulator.clear()
    first.cudaFree(at)
