"""The hook by which static mode makes parameters, running statistics and state of optimizers.

Eager code makes them at once. In static mode code only describes a program, so a builder stands in for this thread and records what
makes first values in the startup program.
"""
from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any, Protocol

from wherry_tensor._core import DType, Tensor, is_symbolic

__all__ = ["Builder", "at_once", "building", "described", "first_value", "lasting"]


class Builder(Protocol):
    """What creates persistent values where they are not made at once: in static mode."""

    def parameter(self, shape: tuple[int, ...], dtype: DType, name: str, fill: Callable[[Any], object], given: bool, **options: Any) -> Any:
        """A parameter that `fill(parameter)` initializes; `given`: whether the user chose its name."""

    def lasting(self, name: str, make: Callable[..., Tensor], inputs: tuple[Tensor, ...]) -> Tensor:
        """A persistent value for `make(*inputs)`, which is computed once, before anything else runs."""

    def first_value(self, x: Tensor) -> Tensor:
        """What stands for a parameter where first values are made."""

    def minimize(
        self, optimizer: Any, loss: Tensor, startup_program: Any, parameters: Any, no_grad_set: Any
    ) -> tuple[list[Any], list[tuple[Any, Any]]]:
        """Let a program take the steps of `optimizer`."""

    def updating(self, optimizer: Any) -> AbstractContextManager[Any]:
        """A context: the ops inside are the update of `optimizer`."""

    def paused(self) -> AbstractContextManager[Any]:
        """A context: the ops inside run at once."""

    def backward(
        self, optimizer: Any, loss: Tensor, startup_program: Any, parameters: Any, no_grad_set: Any, callbacks: Any
    ) -> list[tuple[Any, Any]]:
        """Let a program compute the gradients of the parameters."""


class _Building(threading.local):
    """The builder of this thread.

    Attributes:
        builder: None where values are made at once.
        for_file: whether a program is captured for a file, which says how it would train: dropout is captured where it drops nothing, too, and
            inputs may be written over, since nobody's tensors are after them.
    """

    builder: Builder | None = None
    for_file = False


building = _Building()


def at_once() -> AbstractContextManager[Any]:
    """A context: the ops inside run at once, in static mode too."""
    return nullcontext() if building.builder is None else building.builder.paused()


def first_value(x: Tensor) -> Tensor:
    """What an initializer reads for the parameter `x`: itself, in static mode its variable of the startup program."""
    return x if building.builder is None else building.builder.first_value(x)


def described(x: Any) -> bool:
    """Whether `x` is a variable of static mode, which the forms with an underscore leave as it is: there `exp_` is `exp`, as in Paddle."""
    return building.builder is not None and isinstance(x, Tensor) and is_symbolic(x)


def lasting(name: str, make: Callable[..., Tensor], *inputs: Tensor) -> Tensor:
    """`make(*inputs)` as a persistent value: it has a name and is saved.

    Args:
        name: of the tensor.
        make: computes it with ops.
        inputs: what it is made of.
    """
    if building.builder is not None:
        return building.builder.lasting(name, make, inputs)
    x = make(*inputs)
    x.name = name
    x.persistable = True
    return x
