"""Programs in CUDA's own spelling: kernels as they stand in books and tutorials, right and with bugs; the command; the plug-in."""
from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

import wherry_cuda_emulator
from wherry_cuda_emulator import __main__, building
from wherry_cuda_emulator.translating import BEGIN, translate

_SAMPLES = Path(__file__).parent / "sources" / "samples"
_BUILD = Path(__file__).parents[3] / "build" / "cuda-emulator"

# Bugs by their number in the sample's source, and words of the report.
PLANTS = {
    "reduction": [
        r"which no thread of the block has written|data race",
        r"past the end of an allocation of 20000",
        r"deadlock|data race",
        r"shuffles from lane",
        r"data race at reduction.cuh:\d+",
        r"that nothing has written, in an allocation of 4 bytes",
    ],
    "scan": [
        r"data race at scan.cuh:\d+|no thread of the block has written",
        r"no thread of the block has written",
        r"no thread of the block has written|data race",
        r"outside of its shared memory, beside 'dynamic shared memory' of 1024 bytes",
    ],
    "transpose": [
        r"'tile' at byte \d+, which no thread of the block has written",
        r"data race at transpose.cuh|past the end",
    ],
    "gemm": [
        r"past the end of an allocation of 5760 bytes",
        r"data race at gemm.cuh:\d+",
        r"past the end|data race at gemm.cuh:\d+",
        r"deadlock in block .* threads have returned",
    ],
    "stencil": [
        r"'temp' at byte 0, which no thread",
        r"past the end of an allocation of 1000 bytes",
        r"no thread of the block has written",
        r"cudaMemcpy to of 32 bytes in __constant__ weights",
    ],
    "histogram": [
        r"'local' at byte \d+, which no thread",
        r"no thread of the block has written|data race",
        r"data race at histogram.cuh",
        r"data race at histogram.cuh",
    ],
    "nbody": [
        r"no thread of the block has written|data race",
        r"data race at nbody.cuh:\d+: it writes what a cudaMemcpyAsync read on another stream",
        r"host code at nbody.cuh:\d+ reads pinned memory that a cudaMemcpyAsync fills",
        r"in a FREED allocation",
        r"outside of its shared memory",
    ],
    "pipeline": [
        r"at pipeline.cuh:\d+ reads 4 bytes 0 bytes past the end of an allocation of 896 bytes; launched at pipeline.cuh:\d+",
        r"data race at pipeline.cuh:\d+|no thread of the block has written",
        r"data race: it writes what kernel warp_norms read on another stream",
        r"at pipeline.cuh:\d+ reads 4 bytes that nothing has written, in an allocation of 896 bytes, at byte 0; launched at pipeline.cuh:\d+",
        r"data race at pipeline.cuh:\d+: it writes what a cudaMemcpyAsync read on another stream",
        r"host code at pipeline.cuh:\d+ writes pinned memory that a cudaMemcpyAsync still reads",
        r"host code at pipeline.cuh:\d+ reads pinned memory that a cudaMemcpyAsync fills",
    ],
    "pool": [
        r"of memory that cudaMallocAsync gives on another stream",
        r"a cudaMemsetAsync: data race: it writes what a cudaMemcpyAsync read on another stream",
        r"cudaFreeAsync of an allocation of 2048 bytes, which a cudaMemcpyAsync uses on another stream",
        r"cudaFreeAsync of an allocation of 2048 bytes, which a cudaMemcpyAsync uses on another stream",
    ],
    "sort": [
        r"no thread of the block has written|data race at sort.cuh",
        r"outside of its shared memory, beside 's' .*called from sort.cuh:\d+; launched at sort.cuh:\d+",
        r"past the end of an allocation of 1024 bytes",
    ],
    "softmax": [
        r"'parts' at byte \d+, which no thread",
        r"'parts' at byte 16, which no thread",
        r"data race at softmax.cuh:\d+: it writes what .* read",
        r"past the end of an allocation of 2400 bytes; launched at softmax.cuh:\d+",
    ],
    "attention": [
        r"data race at attention.cuh:\d+",
        r"past the end of an allocation of 2560 bytes",
        r"'vs' at byte 0, which no thread",
        r"past the end of an allocation of 4096 bytes",
    ],
}
_CASES = [(name, at + 1, words) for name, every in PLANTS.items() for at, words in enumerate(every)]


@pytest.fixture(scope="module")
def samples() -> Path:
    return wherry_cuda_emulator.compile([_SAMPLES / "samples.cu"], _BUILD / "samples", program=True)


@pytest.mark.parametrize(("name", "plant", "words"), _CASES)
def test_a_bug_in_a_sample_is_found_and_named(samples, name, plant, words):
    ended = wherry_cuda_emulator.run(samples, [name, str(plant)])
    assert ended.status != 0
    assert re.search(words, ended.report), ended.report


@pytest.mark.parametrize("order", ["forward", "reverse", 7])
@pytest.mark.parametrize("name", list(PLANTS))
def test_a_sample_without_a_bug_is_right_and_nothing_is_reported(samples, name, order):
    ended = wherry_cuda_emulator.run(samples, [name, "0"], order=order, eager=order == "reverse")
    assert (ended.status, ended.output, ended.report) == (0, "right\n", "")


def test_uncoalesced_stores_and_conflicts_of_banks_are_counted(samples):
    measured = [wherry_cuda_emulator.run(samples, ["transpose", plant], measure=True).measured[0] for plant in ("0", "3", "4")]
    assert [one.kernel for one in measured] == ["transpose_tiles<1>", "transpose_naive", "transpose_tiles<0>"]
    assert [one.stores.least / one.stores.sectors for one in measured] == [1, 0.125, 1]
    assert [one.shared_passes / max(one.shared_least, 1) for one in measured] == [1, 0, 16.5]  # 32 passes of each load, one of each store


_PROGRAM = """
#include <cstdio>
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
#define LAUNCH(kernel, n, ...) kernel<<<(n + 63) / 64, 64>>>(__VA_ARGS__)
struct Point { float x, y; };
__device__ int visits;
__constant__ Point offset = {1.5f, 2.0f};
__managed__ float total;
template <typename T, int Times = 2> __global__ void add(T *x, const T *y, size_t n) {
  const size_t i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] += Times * y[i];
}
namespace inner { __global__ void shift(Point *p, int n) {
  static __shared__ volatile float sx[64], *unused[2];
  const auto tile = cg::tiled_partition<16>(cg::this_thread_block());
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  sx[threadIdx.x] = i < n ? p[i].x : 0.0f;
  __syncthreads();
  auto moved = [=] __device__ (float v) { return v + offset.x; };
  if (i < n) p[i].x = moved(sx[threadIdx.x]), p[i].y += offset.y;
  const unsigned there = __popc(tile.ballot(i < n));
  if (tile.thread_rank() == 0) atomicAdd(&visits, int(there)), atomicAdd(&total, float(there));
  if (threadIdx.x == 0) unused[0] = nullptr;
} }
int main() {
  Point *p; int *x, *y, seen = 0;
  cudaMallocManaged(&p, 100 * sizeof(Point));
  cudaMalloc(&x, 400), cudaMalloc(&y, 400);
  for (int i = 0; i < 100; ++i) p[i] = {float(i), float(-i)};
  int ones[100]; for (int &one : ones) one = 1;
  cudaMemcpy(x, ones, 400, cudaMemcpyHostToDevice), cudaMemcpy(y, ones, 400, cudaMemcpyHostToDevice);
  inner::shift<<<dim3(2), 64, 0, cudaStream_t(0)>>>(p, 100);
  LAUNCH(add, 100, x, y, 100);             // its arguments say which
  LAUNCH((add<int, 3>), 100, x, y, 100);
  cudaDeviceSynchronize();
  cudaMemcpyFromSymbol(&seen, visits, sizeof seen);
  cudaMemcpy(ones, x, 400, cudaMemcpyDeviceToHost);
  printf("%g %g %d %d %g\\n", p[99].x, p[99].y, seen, ones[99], total);
}
"""


def test_a_program_uses_macros_templates_variables_and_groups(tmp_path: Path, capfd):
    (tmp_path / "whole.cu").write_text(_PROGRAM)
    assert __main__.main(["run", str(tmp_path / "whole.cu")]) == 0
    assert capfd.readouterr() == ("100.5 -97 100 6 100\n", "")


_SMALL = "#include <cstdio>\n__global__ void k(int *x) { %s }\nint main() { int *x; cudaMalloc(&x, 40); cudaMemset(x, 0, 40); k<<<1, 11>>>(x); %s }\n"


@pytest.mark.parametrize(("kernel", "host", "status", "words"), [
    ("x[threadIdx.x] = 1;", "return cudaDeviceSynchronize() != 0;", 1, r"thread \(10,0,0\) of .* in k at small.cu:2 writes 4 bytes"),
    ("assert(threadIdx.x < 5);", "cudaDeviceSynchronize(); return 0;", 1, r"assertion `threadIdx.x < 5` failed at small.cu:2"),
    ("atomicAdd(x, 1);", "return 0;", 1, r"nobody has waited for 2 pieces of work"),
    ("atomicAdd(x, 1);", "return 5 + cudaDeviceSynchronize();", 5, r"^$"),
    ("tex1Dfetch<int>(0, 1);", "return 0;", 2, r"small.cu:2: `tex1Dfetch`: textures and surfaces are not emulated"),
    ('asm("mov.u32 %%0, %%laneid;");', "return 0;", 2, r"small.cu:2: `asm`: inline PTX is not emulated"),
    ("k<<<1, 1>>>(x);", "return cudaDeviceSynchronize() != 0;", 1, r"a kernel launches a kernel \(dynamic parallelism\)"),
    ("undefined_function();", "return 0;", 2, r"small.cu:2:\d+: error: .undefined_function. was not declared"),
])
def test_the_command_says_what_was_found_and_ends_with_its_status(tmp_path: Path, capfd, kernel, host, status, words):
    source = tmp_path / "small.cu"
    source.write_text(_SMALL % (kernel.replace("%%", "%"), host))
    assert __main__.main(["run", str(source)]) == status
    assert re.search(words, capfd.readouterr().err)


def test_the_command_refuses_what_it_cannot_do(tmp_path: Path, capsys):
    assert __main__.main(["run", str(tmp_path / "missing.cu")]) == 2
    assert "no such file" in capsys.readouterr().err
    for wrong in (["run", "--order", "sideways", "x.cu"], ["run", "--fast", "--measure", "x.cu"], ["walk"]):
        with pytest.raises(SystemExit):
            __main__.main(wrong)


def watched(monkeypatch):
    """The object files that compilers are asked for from here on."""
    made, run = [], building._run

    def asked(command, *where, **environment):
        if "-c" in command:
            made.append(command[-1])
        return run(command, *where, **environment)

    monkeypatch.setattr(building, "_run", asked)
    return made


def test_an_edit_compiles_one_file_again(tmp_path: Path, monkeypatch):
    for name in ("one", "two"):
        (tmp_path / f"{name}.cu").write_text(f"__global__ void {name}(int *x) {{ *x = 1; }}\n")
    sources = [tmp_path / "one.cu", tmp_path / "two.cu"]
    wherry_cuda_emulator.compile(sources, tmp_path / "both.so")
    compiled = watched(monkeypatch)
    sources[1].write_text("__global__ void two(int *x) { *x = 2; }\n")
    wherry_cuda_emulator.compile(sources, tmp_path / "both.so")
    assert [Path(made).name for made in compiled] == ["1-two.o"]


def test_an_edit_of_a_header_compiles_the_files_that_include_it(tmp_path: Path, monkeypatch):
    (tmp_path / "with space").mkdir()
    header = tmp_path / "with space" / "number.h"
    header.write_text("#define NUMBER 1\n")
    (tmp_path / "ours.cu").write_text("#include <cuda_emulator/kernel.h>\n#include <number.h>\n__global__ void a(int *x) { *x = NUMBER; }\n")
    (tmp_path / "cudas.cu").write_text("#include <number.h>\n__global__ void b(int *x) { *x = NUMBER; }\n")
    (tmp_path / "other.cu").write_text("__global__ void c(int *x) { *x = 3; }\n")
    sources = [tmp_path / "ours.cu", tmp_path / "cudas.cu", tmp_path / "other.cu"]
    wherry_cuda_emulator.compile(sources, tmp_path / "all.so", include_dirs=[header.parent])
    compiled = watched(monkeypatch)
    header.write_text("#define NUMBER 2\n")
    wherry_cuda_emulator.compile(sources, tmp_path / "all.so", include_dirs=[header.parent])
    names = {Path(made).name for made in compiled}
    assert {"0-ours.o", "1-cudas.o"} <= names
    assert "2-other.o" not in names


def test_translation_keeps_lines_and_names_what_has_no_end():
    text = f'{BEGIN};\n# 1 "a.cu"\n__global__ void k(int n) {{\n  __shared__ float s[2]\n    [3];\n}}\nvoid f() {{ k<<<1,\n 2>>>(3); }}\n'
    made = translate(text)
    assert made.count("\n") == text.count("\n")
    assert made.splitlines()[4].strip() == ";"  # the extents went up to the line of the variable
    assert "__attribute__((flatten)) void k" in made
    with pytest.raises(ValueError, match=r"a.cu:1: `<<<` has no `>>>`"):
        translate(f'{BEGIN};\n# 1 "a.cu"\nvoid f() {{ k<<<1, 2>(3); }}\n')
    with pytest.raises(ValueError, match=r"a.cu:1: __shared__ x has an initializer"):
        translate(f'{BEGIN};\n# 1 "a.cu"\nvoid f() {{ __shared__ int x = 3; }}\n')


def test_the_plug_in_runs_files_of_cuda_and_its_fixture_fails_a_test_by_what_is_found(tmp_path: Path):
    good = _SMALL % ("if (threadIdx.x < 10) x[threadIdx.x] = 1;", "return cudaDeviceSynchronize();")
    (tmp_path / "test_good.cu").write_text(good)
    (tmp_path / "test_bad.cu").write_text(good.replace("< 10", "< 11"))
    (tmp_path / "kernels.cu").write_text('__global__ void k(int *x) { x[1] = 1; }\nextern "C" void launch(int *x) { k<<<1, 1>>>(x); }\n')
    (tmp_path / "test_kernels.py").write_text(
        "import ctypes\n"
        "def test_it(cuda_emulator):\n"
        "    emulator = cuda_emulator.library('kernels.cu')\n"
        "    at = ctypes.c_void_p()\n"
        "    assert emulator.library.cudaMalloc(ctypes.byref(at), ctypes.c_size_t(4)) == 0\n"
        "    emulator.library.launch(at)\n"
        "    emulator.library.cudaDeviceSynchronize()\n"
    )
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(tmp_path)]
    if not any("wherry_cuda_emulator.plugin" in str(plugin) for plugin in _entry_points()):
        command[4:4] = ["-p", "wherry_cuda_emulator.plugin"]  # not installed: from the sources
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert re.search(r"3 failed, 4 passed, 1 error|1 error.*3 failed|3 failed.*1 error", done.stdout), done.stdout
    assert "thread (10,0,0) of block (0,0,0) in k at test_bad.cu:2 writes 4 bytes" in done.stdout
    assert "the emulator has found: thread (0,0,0) of block (0,0,0) in k at kernels.cu:1 writes 4 bytes 0 bytes past the end" in done.stdout


def _entry_points() -> list[object]:
    import importlib.metadata

    return [point.value for point in importlib.metadata.entry_points(group="pytest11")]
