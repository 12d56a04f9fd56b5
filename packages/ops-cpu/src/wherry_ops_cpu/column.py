"""What this package contributes: the kernels of the column `cpu`.

wherry-tensor calls `register` when it first looks for cpu kernels, through the entry point
`wherry.kernels`. The arithmetic is in csrc/, one file per op family.
"""
import os

from wherry_ops_cpu import _kernels
from wherry_tensor import _core

SERVES_VOCABULARY = 1


def register() -> None:
    """Register the kernels for the best instruction set of this processor.

    The environment variable WHERRY_CPU_ISA chooses another one (`baseline`, `avx2`, `avx512`).

    Raises:
        ImportError: wherry-tensor has another op vocabulary or kernel ABI than these kernels serve.
        ValueError: WHERRY_CPU_ISA names what this build or processor does not have.
    """
    if _core.VOCABULARY_VERSION != SERVES_VOCABULARY:
        outdated = "wherry-ops-cpu" if _core.VOCABULARY_VERSION > SERVES_VOCABULARY else "wherry-tensor"
        raise ImportError(
            f"wherry-ops-cpu does not fit this wherry-tensor. "
            f"Got op vocabulary {_core.VOCABULARY_VERSION}, expected {SERVES_VOCABULARY}. "
            f"Bring both to the same version: pip install --upgrade {outdated}"
        )
    _kernels.register(_core.host, chosen_isa())


def chosen_isa() -> str:
    """The instruction set whose kernels run: WHERRY_CPU_ISA, or the best that the processor has."""
    supported = _kernels.supported_isas()
    if not supported:
        raise ImportError(
            f"wherry-ops-cpu has no kernels for this processor. Got none of {', '.join(_kernels.compiled_isas())}, "
            f"expected one (x86-64 needs SSE4.2). Build the package from source for this machine."
        )
    return os.environ.get("WHERRY_CPU_ISA") or supported[0]
