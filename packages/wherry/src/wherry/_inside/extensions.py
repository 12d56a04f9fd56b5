"""`paddle.utils.cpp_extension.extension_utils`: where compilers are, and modules of operators that are built."""
from __future__ import annotations

import os
import shutil
import sys
from types import ModuleType
from typing import Any

from wherry_extension import cpp_extension

__all__ = ["CUDA_HOME", "IS_WINDOWS", "find_cuda_home", "run_custom_op"]

IS_WINDOWS = sys.platform == "win32"


def find_cuda_home() -> str | None:
    """The folder of the CUDA toolkit, from the environment or beside `nvcc`; None where there is none."""
    for name in ("CUDA_HOME", "CUDA_PATH"):
        if os.environ.get(name):
            return os.environ[name]
    nvcc = shutil.which("nvcc")
    return None if nvcc is None else os.path.dirname(os.path.dirname(os.path.realpath(nvcc)))


CUDA_HOME = find_cuda_home()


def _import_module_from_library(name: str, build_directory: str, verbose: bool = False) -> ModuleType:
    """The module of the operators in a library that was built."""
    return cpp_extension._module(name, os.path.join(build_directory, f"{name}.so"))


def _jit_compile(file_path: str, verbose: bool = False) -> None:
    """Build what a `setup.py` describes."""
    import subprocess

    subprocess.run([sys.executable, file_path, "install"], check=True, cwd=os.path.dirname(os.path.abspath(file_path)), capture_output=not verbose)


def run_custom_op(name: str, *args: Any) -> Any:
    """Call an operator that was loaded from a library."""
    from wherry_extension import operators

    return operators.apply(name, *args)
