"""What this package contributes: the kernels of the column `cpu`.

wherry-tensor calls `register` when it first looks for cpu kernels, through the entry point
`wherry.kernels`. The arithmetic is in csrc/, one file per op family.
"""
from __future__ import annotations

import importlib.machinery
import importlib.util
import os
import sys
from pathlib import Path
from types import ModuleType

from wherry_ops_cpu import _kernels, lapack
from wherry_tensor import _core
from wherry_tensor.columns import no_faster, require_vocabulary

SERVES_VOCABULARY = 5

_registered = ""  # the instruction set whose kernels the core has


def register() -> None:
    """Register the kernels for the best instruction set of this processor.

    The environment variable WHERRY_CPU_ISA chooses another one (`baseline`, `avx2`, `avx2vnni`, `avx512`,
    `avx512vnni`, `avx512bf16`; on arm64 `baseline`, `dotprod`; in WebAssembly `baseline`, `relaxed`).

    Doing so again changes nothing: kernels that another package has put in the place of these stay.

    Raises:
        ImportError: wherry-tensor has another op vocabulary or kernel ABI than these kernels serve.
        ValueError: WHERRY_CPU_ISA names what this build or processor does not have.
    """
    global _registered
    require_vocabulary("wherry-ops-cpu", "wherry-ops-cpu", SERVES_VOCABULARY)
    isa = chosen_isa()
    if isa == _registered:
        return
    if isa == "relaxed":  # it has only the families that multiply
        _kernels.register(_core.host, "baseline")
    module_of(isa).register(_core.host, isa)
    if not _registered:
        lapack.register()
    _registered = isa
    for dtype in ("float16", "bfloat16"):
        no_faster["cpu", dtype] = f"this processor's kernels ({isa}) multiply it as float32"
    if isa == "avx512bf16":
        del no_faster["cpu", "bfloat16"]


def relaxed_kernels() -> ModuleType | None:
    """The module with relaxed SIMD (fused products), where this is WebAssembly and its engine has that."""
    path = Path(__file__).with_name("_relaxed.wasm")
    if sys.platform != "emscripten" or not path.exists():
        return None
    loader = importlib.machinery.ExtensionFileLoader("wherry_ops_cpu._relaxed", str(path))
    try:
        module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))  # type: ignore[arg-type]
    except ImportError:
        return None  # the engine refuses the instructions
    loader.exec_module(module)
    return module


_relaxed = relaxed_kernels()


def module_of(isa: str) -> ModuleType:
    """The compiled module that has the kernels of an instruction set."""
    return _relaxed if _relaxed and isa == "relaxed" else _kernels


def supported_isas() -> tuple[str, ...]:
    """The instruction sets that can run here, best first."""
    return (*(("relaxed",) if _relaxed else ()), *_kernels.supported_isas())


def chosen_isa() -> str:
    """The instruction set whose kernels run: WHERRY_CPU_ISA, or the best that the processor has."""
    supported = supported_isas()
    if not supported:
        raise ImportError(
            f"wherry-ops-cpu has no kernels for this processor. Got none of {', '.join(_kernels.compiled_isas())}, "
            f"expected one (x86-64 needs SSE4.2). Build the package from source for this machine."
        )
    return os.environ.get("WHERRY_CPU_ISA") or supported[0]
