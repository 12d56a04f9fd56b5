"""The names of `paddle.incubate.autograd`: derivatives of functions, and switches of static graphs."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

from wherry_autograd import functional
from wherry_autograd.functional import jvp, separate, vjp
from wherry_autograd.grad_mode import enable_grad
from wherry_tensor import ops
from wherry_tensor._core import Tensor
from wherry_tensor.arguments import require_tensor
from wherry_tensor.errors import InvalidArgumentError
from wherry_tensor.explained import explained

__all__ = ["Hessian", "Jacobian", "disable_prim", "enable_prim", "forward_grad", "grad", "jvp", "prim_enabled", "vjp"]


class Jacobian:
    """The Jacobian matrix of a function, its arguments and its result flattened; computed lazily.

    Args:
        func: takes the tensors of `xs`, returns a Tensor, or a list or tuple of them, whose elements lie one after the other.
        xs: a Tensor or a sequence of them.
        is_batched: the first axis of all tensors counts members of a batch.

    Shape:
        `[M, N]`, or `[B, M, N]`: M elements of all results together, N elements of all arguments together.

    Raises:
        TypeError: `func` cannot be called or does not return a Tensor, or `xs` is not a Tensor or a sequence of them.
        ValueError: `xs` is empty, or a tensor has no batch axis where `is_batched` asks for one.

    Source:
        `paddle.incubate.autograd.Jacobian`.

    Examples:
        >>> x = wherry.to_tensor([1.0, 2.0])
        >>> print(wherry.incubate.autograd.Jacobian(lambda x: x * x, x)[:].numpy())
        [[2. 0.]
         [0. 4.]]
    """

    def __init__(self, func: Callable[..., Any], xs: Any, is_batched: bool = False) -> None:
        with enable_grad():
            flat, joined = _joined("Jacobian", separate("Jacobian", func, xs), is_batched)
            found = func(*flat)
            listed = found if isinstance(found, (list, tuple)) and found else [found]
            parts = [_flattened(require_tensor(y, "Jacobian", "what func returns"), is_batched) for y in listed]
            y = parts[0] if len(parts) == 1 else ops.concat(*parts, axis=1 if is_batched else 0)
            self._matrix = functional.Jacobian(y, joined, is_batched)

    @property
    def shape(self) -> tuple[int, ...]:
        """Sizes of the axes."""
        return tuple(self._matrix.shape)

    def __getitem__(self, index: Any) -> Tensor:
        return self._matrix[index]


class Hessian(Jacobian):
    """The matrix of second derivatives of a function with one element; computed lazily, as `Jacobian`.

    Args:
        func: takes the tensors of `xs`, returns a Tensor of one element; with a batch one element for each member.
        xs: a Tensor or a sequence of them.
        is_batched: the first axis of all tensors counts members of a batch.

    Shape:
        `[N, N]`, or `[B, N, N]`: N elements of all arguments together.

    Raises:
        TypeError: `func` cannot be called or does not return a Tensor, or `xs` is not a Tensor or a sequence of them.
        ValueError: `xs` is empty, or a tensor has no batch axis where `is_batched` asks for one.
        RuntimeError: `func` returns more than one element.

    Source:
        `paddle.incubate.autograd.Hessian`.

    Examples:
        >>> x = wherry.to_tensor([1.0, 2.0])
        >>> print(wherry.incubate.autograd.Hessian(lambda x: (x * x * x).sum(), x)[:].numpy())
        [[ 6.  0.]
         [ 0. 12.]]
    """

    def __init__(self, func: Callable[..., Any], xs: Any, is_batched: bool = False) -> None:
        with enable_grad():
            flat, joined = _joined("Hessian", separate("Hessian", func, xs), is_batched)
            y = _flattened(require_tensor(func(*flat), "Hessian", "what func returns"), is_batched)
            if y.shape[-1] != 1:
                raise RuntimeError(
                    f"Hessian: the function given to it should return one element"
                    f"{' for each member of the batch' if is_batched else ''}. Got {y.shape[-1]}, expected 1. "
                    f"Sum or pick one."
                )
            first = functional.Jacobian(y, joined, is_batched)
            row = first[:, 0, :] if is_batched else first[0]
            self._matrix = functional.Jacobian(row, joined, is_batched)


def forward_grad(outputs: Any, inputs: Any, grad_inputs: Any = None) -> NoReturn:
    """Forward mode on a static graph: not available.

    Raises:
        AssertionError: always; `jvp` computes this for a function.

    Source:
        `paddle.incubate.autograd.forward_grad`.

    Examples:
        >>> _, tangent = wherry.incubate.autograd.jvp(lambda x: x * x, wherry.to_tensor([1.0, 2.0]))
        >>> print(tangent.numpy())
        [2. 4.]
    """
    _only_static("forward_grad", "Use wherry.incubate.autograd.jvp, which works on a function.")


def grad(outputs: Any, inputs: Any, grad_outputs: Any = None) -> NoReturn:
    """Gradients on a static graph of primitives: not available.

    Raises:
        AssertionError: always; `wherry.grad` computes this.

    Source:
        `paddle.incubate.autograd.grad`.

    Examples:
        >>> x = wherry.to_tensor([1.0, 2.0], stop_gradient=False)
        >>> print(wherry.grad(x * x, x)[0].numpy())
        [2. 4.]
    """
    _only_static("grad", "Use wherry.grad, or wherry.static.gradients in a static program.")


def enable_prim() -> NoReturn:
    """Split static graphs into primitives: not available.

    Raises:
        AssertionError: always; nothing needs to be enabled.

    Source:
        `paddle.incubate.autograd.enable_prim`.

    Examples:
        >>> wherry.incubate.autograd.enable_prim()
        Traceback (most recent call last):
        ...
        AssertionError: enable_prim: Paddle offers it for static graphs only, and Wherry does not offer it. ...
    """
    _only_static("enable_prim", "Nothing needs to be enabled: every op differentiates as often as you like.")


def disable_prim() -> NoReturn:
    """Undo `enable_prim`: not available.

    Raises:
        AssertionError: always; there is nothing to undo.

    Source:
        `paddle.incubate.autograd.disable_prim`.

    Examples:
        >>> wherry.incubate.autograd.disable_prim()
        Traceback (most recent call last):
        ...
        AssertionError: disable_prim: Paddle offers it for static graphs only, and Wherry does not offer it. ...
    """
    _only_static("disable_prim", "Leave it out.")


def prim_enabled() -> NoReturn:
    """Whether static graphs are split into primitives: not available.

    Raises:
        AssertionError: always; there are no primitives of static graphs.

    Source:
        `paddle.incubate.autograd.prim_enabled`.

    Examples:
        >>> wherry.incubate.autograd.prim_enabled()
        Traceback (most recent call last):
        ...
        AssertionError: prim_enabled: Paddle offers it for static graphs only, and Wherry does not offer it. ...
    """
    _only_static("prim_enabled", "Leave it out.")


def _only_static(name: str, remedy: str) -> NoReturn:
    # Paddle, too, raises AssertionError when one of these is called outside of a static graph.
    raise AssertionError(
        f"{name}: Paddle offers it for static graphs only, and Wherry does not offer it. "
        f"Got a call, expected none. {remedy}"
    )


def _joined(function: str, xs: list[Tensor], is_batched: bool) -> tuple[list[Tensor], Tensor]:
    """All tensors as one flat one, and the tensors again as made from it: a single input to differentiate by."""
    if not xs:
        raise InvalidArgumentError(f"{function}: there is nothing to differentiate by. Got no xs, expected one tensor or more. Pass x.")
    parts = [_flattened(x, is_batched) for x in xs]
    axis = 1 if is_batched else 0
    whole = ops.concat(*parts, axis=axis) if len(parts) > 1 else parts[0]
    again, start = [], 0
    for x, part in zip(xs, parts):
        end = start + part.shape[axis]
        piece = ops.slice(whole, axes=(axis,), starts=(start,), ends=(end,), steps=(1,))
        again.append(ops.reshape(piece, shape=tuple(x.shape)))
        start = end
    return again, whole


def _flattened(x: Tensor, is_batched: bool) -> Tensor:
    if is_batched:
        if not x.ndim:
            raise InvalidArgumentError(
                "is_batched: there is no batch. Got a 0-d tensor, expected the batch along its first axis. Pass is_batched=False."
            )
        count = 1
        for size in x.shape[1:]:
            count *= size
        return ops.reshape(x, shape=(x.shape[0], count))
    return ops.reshape(x, shape=(x.size,))


explained(globals())
