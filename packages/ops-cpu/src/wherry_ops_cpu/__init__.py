"""CPU kernels of Wherry. Installing this package is what registers them; there is nothing to call.

`chosen_isa()` and `supported_isas()` tell which instruction set runs and which could, `limits.measure()` what this processor can do at most.
"""
from wherry_ops_cpu._kernels import compiled_isas
from wherry_ops_cpu.column import chosen_isa, supported_isas

__all__ = ["chosen_isa", "compiled_isas", "supported_isas"]
__version__ = "0.20.0"
