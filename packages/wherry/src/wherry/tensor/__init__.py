"""`paddle.tensor`: the functions of tensors by the path that Paddle has for them. `to_tensor` makes a tensor."""
import sys
from types import ModuleType
from typing import Any

from wherry import _absent
from wherry_tensor import *  # noqa: F403
from wherry_tensor import __all__ as __all__


class _Package(ModuleType):
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise TypeError(
            "wherry.tensor is a module. Got a call of it, expected one of a function. Did you mean 'to_tensor'? "
            "Write wherry.to_tensor(data)."
        )


sys.modules[__name__].__class__ = _Package
_absent.explain(__name__)
