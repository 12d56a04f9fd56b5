"""`saved_tensors_hooks`: functions that pack and unpack what is kept for the backward pass."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from wherry_autograd._engine import pop_saved_tensors_hooks, push_saved_tensors_hooks
from wherry_tensor._core import Tensor

__all__ = ["saved_tensors_hooks"]


class saved_tensors_hooks:  # noqa: N801  Paddle's name
    """Inside the block, tensors kept for the backward pass are replaced by what `pack_hook` makes of them.

    Args:
        pack_hook: takes a Tensor, returns anything, for example a copy on disk or a smaller dtype.
        unpack_hook: takes that, returns a Tensor with the values.

    Shape:
        `unpack_hook` returns the shape, `[...]`, that `pack_hook` was given.

    Raises:
        TypeError: `unpack_hook` does not return a Tensor; raised by the backward pass.

    Source:
        `paddle.autograd.saved_tensors_hooks`.

    Examples:
        >>> x = wherry.to_tensor([1.0, 2.0], stop_gradient=False)
        >>> with wherry.autograd.saved_tensors_hooks(lambda t: t.numpy(), wherry.to_tensor):
        ...     y = x * x
        >>> y.sum().backward()
        >>> print(x.grad.numpy())
        [2. 4.]
    """

    def __init__(self, pack_hook: Callable[[Tensor], Any], unpack_hook: Callable[[Any], Tensor]) -> None:
        self.pack_hook = pack_hook
        self.unpack_hook = unpack_hook

    def __enter__(self) -> None:
        push_saved_tensors_hooks(self.pack_hook, self.unpack_hook)

    def __exit__(self, *exception: object) -> None:
        pop_saved_tensors_hooks()
