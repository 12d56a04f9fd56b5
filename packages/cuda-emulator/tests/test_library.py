"""Kernels that are compiled at run time: the emulator's NVRTC, and cudaLibraryLoadData."""
import ctypes
import re

import pytest

SOURCE = """
#include "part.h"
extern "C" __global__ void __launch_bounds__(32) filled(float *x, int n, Part part) {
  const int i = threadIdx.x;
  if (i < n) x[i] = part.values[i % 2] + LOOKED_UP;
}
"""
HEADER = "struct Part { float values[2]; }; __device__ const float table[] = {0, 10};\n#define LOOKED_UP table[i % 2]"


def compiled(emulator, source=SOURCE, options=("--gpu-architecture=sm_80", "--std=c++17")):
    """(status, image, log) of NVRTC."""
    library, program, size = emulator.library, ctypes.c_void_p(), ctypes.c_size_t()
    texts, names = (ctypes.c_char_p * 1)(HEADER.encode()), (ctypes.c_char_p * 1)(b"part.h")
    assert library.nvrtcCreateProgram(ctypes.byref(program), source.encode(), b"filled.cu", 1, texts, names) == 0
    status = library.nvrtcCompileProgram(program, len(options), (ctypes.c_char_p * len(options))(*(o.encode() for o in options)))
    assert library.nvrtcGetProgramLogSize(program, ctypes.byref(size)) == 0
    log = ctypes.create_string_buffer(size.value)
    assert library.nvrtcGetProgramLog(program, log) == 0
    assert library.nvrtcGetCUBINSize(program, ctypes.byref(size)) == 0
    image = ctypes.create_string_buffer(size.value)
    assert library.nvrtcGetCUBIN(program, image) == 0
    assert library.nvrtcDestroyProgram(ctypes.byref(program)) == 0
    return status, image.raw, log.value.decode()


class Dim(ctypes.Structure):
    _fields_ = [("x", ctypes.c_uint), ("y", ctypes.c_uint), ("z", ctypes.c_uint)]


def launched(emulator, kernel, x, n, count):
    values = (ctypes.c_float * 2)(1.5, 2.5)
    pointer, number = ctypes.c_void_p(x), ctypes.c_int(n)
    arguments = (ctypes.c_void_p * 3)(ctypes.addressof(pointer), ctypes.addressof(number), ctypes.addressof(values))
    launch = emulator.library.cudaLaunchKernel
    launch.argtypes = [ctypes.c_void_p, Dim, Dim, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p]
    status = launch(kernel, Dim(1, 1, 1), Dim(32, 1, 1), arguments, 0, None)
    out = (ctypes.c_float * count)()
    return status or emulator.library.cudaMemcpy(out, ctypes.c_void_p(x), ctypes.c_size_t(4 * count), 2), list(out)


@pytest.mark.parametrize("mode", ["fast", "checked"])
def test_a_kernel_that_is_compiled_at_run_time_runs_and_is_checked(emulators, mode):
    emulator = emulators[mode]
    emulator.clear()
    library = emulator.library
    status, image, log = compiled(emulator)
    assert (status, log) == (0, "")
    loaded, kernel, x = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()
    assert library.cudaLibraryLoadData(ctypes.byref(loaded), image, None, None, 0, None, None, 0) == 0
    assert library.cudaLibraryGetKernel(ctypes.byref(kernel), loaded, b"filled") == 0
    assert library.cudaMalloc(ctypes.byref(x), ctypes.c_size_t(12)) == 0
    assert launched(emulator, kernel, x.value, 3, 3) == (0, [1.5, 12.5, 1.5])  # a constant of its own module may be read
    assert launched(emulator, kernel, x.value, 5, 3)[0] != 0
    words = (
        r"thread \([34],0,0\) of block \(0,0,0\) in filled at filled.cu:5 (writes 4 bytes|touches device memory) "
        r"[04] bytes past the end of an allocation of 12 bytes"
    )
    assert re.search(words, emulator.report), emulator.report
    emulator.clear()
    missing = ctypes.c_void_p()
    assert library.cudaLibraryGetKernel(ctypes.byref(missing), loaded, b"nothing") != 0
    assert "the library has no kernel nothing" in emulator.report
    emulator.clear()
    library.cudaFree(x)
    assert library.cudaLibraryUnload(loaded) == 0
    assert library.cudaLibraryUnload(loaded) != 0
    assert launched(emulator, kernel, 64, 1, 1)[0] != 0
    assert "not a kernel of a library that is loaded" in emulator.report
    emulator.clear()


def test_what_does_not_compile_says_why(emulators):
    status, image, log = compiled(emulators["fast"], SOURCE.replace("float *x", "flaot *x"))
    assert status == 6
    assert not image
    assert "filled.cu:3" in log
    assert emulators["fast"].library.nvrtcCompileProgram(None, 0, None) == 4


def test_an_unknown_option_is_refused(emulators):
    status, _, log = compiled(emulators["fast"], options=("--maxrregcount-of-something=3",))
    assert (status, log) == (5, "unknown option '--maxrregcount-of-something=3'")


def test_what_is_no_image_is_refused(emulators):
    emulator = emulators["fast"]
    loaded = ctypes.c_void_p()
    assert emulator.library.cudaLibraryLoadData(ctypes.byref(loaded), b"\x7fELF" + bytes(100), None, None, 0, None, None, 0) != 0
    assert "not an image that the emulator's NVRTC has made" in emulator.report
    emulator.clear()
