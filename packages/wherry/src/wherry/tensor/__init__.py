"""`paddle.tensor`: the functions of tensors by the path that Paddle has for them. `to_tensor` makes a tensor."""
import sys
from types import ModuleType
from typing import Any

from wherry import _absent
from wherry_tensor import *  # noqa: F403
from wherry_tensor import __all__ as __all__
from wherry_tensor.functions.conversions import made


class _Package(ModuleType):
    """The module, which makes a tensor when it is called, as `paddle.tensor` does in Paddle 3."""

    def __call__(
        self, data: Any, dtype: Any = None, device: Any = None, requires_grad: bool = False, pin_memory: bool = False
    ) -> Tensor:
        return made(data, dtype, device, requires_grad, pin_memory)


sys.modules[__name__].__class__ = _Package
_absent.explain(__name__)
