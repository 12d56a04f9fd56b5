"""Runs CUDA C++ kernels on the CPU and checks every access.

`compile` makes a shared library out of `.cu` sources in one of two builds, `fast` and `checked`; `Emulator` looks at what
one has done. README.md says what is found and how a kernel has to be written.
"""
from wherry_cuda_emulator.building import compile, cuda_include, include
from wherry_cuda_emulator.control import Counts, Emulator, Measure, Traffic

__all__ = ["Counts", "Emulator", "Measure", "Traffic", "compile", "cuda_include", "include"]
__version__ = "0.3.0"
