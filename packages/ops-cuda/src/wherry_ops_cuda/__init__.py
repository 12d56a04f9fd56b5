"""CUDA kernels of Wherry, and the runtime behind `gpu:0`.

Installing the package brings the device; `python -m wherry_ops_cuda build` compiles its kernels for the GPUs at hand.
No GPU has run it yet: README.md says what was executed instead.
"""
from wherry_ops_cuda._version import __version__ as __version__
from wherry_ops_cuda.building import build_for_emulator, build_for_gpus, default_path

__all__ = ["build_for_emulator", "build_for_gpus", "default_path"]
