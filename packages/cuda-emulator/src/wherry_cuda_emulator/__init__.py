"""Runs CUDA C++ kernels on the CPU and checks every access.

`compile` makes a shared library out of `.cu` sources in one of two builds, `fast` and `checked`; `Emulator` looks at what
one has done. README.md says what is found and how a kernel has to be written.
"""
from wherry_cuda_emulator.building import compile, cuda_include, include
from wherry_cuda_emulator.control import Counts, Emulator, Measure, Traffic
from wherry_cuda_emulator.running import Ended, build, run

__all__ = ["Counts", "Emulator", "Ended", "Measure", "Traffic", "build", "compile", "cuda_include", "include", "run"]
__version__ = "0.6.0"
