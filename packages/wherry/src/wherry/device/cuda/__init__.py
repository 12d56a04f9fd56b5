"""`paddle.device.cuda`."""
from wherry import _absent
from wherry_tensor.accelerators import memory_summary, vmm_compact
from wherry_tensor.cuda import *  # noqa: F403
from wherry_tensor.cuda import __all__ as _names

__all__ = [*_names, "memory_summary", "vmm_compact"]

_absent.explain(__name__)
