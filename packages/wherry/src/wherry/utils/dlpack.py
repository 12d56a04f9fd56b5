"""`paddle.utils.dlpack`: sharing memory with other libraries."""
from wherry import _absent
from wherry_tensor.interop import from_dlpack, to_dlpack

__all__ = ["from_dlpack", "to_dlpack"]

_absent.explain(__name__)
