"""Switching recording on and off, for a block, a function or a generator.

The switch belongs to the calling thread: another thread starts with recording on.
"""
from __future__ import annotations

import functools
from collections.abc import Callable, Generator
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, overload

from wherry_tensor._core import set_grad_mode

__all__ = ["enable_grad", "no_grad", "set_grad_enabled"]

Function = TypeVar("Function", bound=Callable[..., Any])
_GENERATOR = 0x20  # bit of co_flags


class _GradMode:
    """A context manager that also decorates. One object may be entered again while it is open."""

    _enabled: bool
    _before: list[bool]

    def __new__(cls, function: Callable[..., Any] | None = None) -> Any:
        # Paddle wants `@no_grad()`; `@no_grad` means the same here.
        mode = super().__new__(cls)
        mode._before = []
        return mode if function is None else mode(function)

    def __enter__(self) -> None:
        self._before.append(set_grad_mode(self._enabled))

    def __exit__(self, *exception: object) -> None:
        set_grad_mode(self._before.pop())

    def clone(self) -> Any:
        """Another object of the same mode."""
        return type(self)()

    def __call__(self, function: Function) -> Function:
        enabled = self._enabled
        if getattr(getattr(function, "__code__", None), "co_flags", 0) & _GENERATOR:
            return _wrap_generator(function, enabled)

        @functools.wraps(function)
        def wrapped(*args: Any, **kwargs: Any) -> Any:
            before = set_grad_mode(enabled)
            try:
                return function(*args, **kwargs)
            finally:
                set_grad_mode(before)

        return wrapped  # type: ignore[return-value]


class _Switch(Protocol):
    """For checkers: `no_grad()` is a block and a decorator, and `@no_grad` decorates as well."""

    @overload
    def __call__(self) -> _GradMode: ...
    @overload
    def __call__(self, function: Function) -> Function: ...


if TYPE_CHECKING:
    no_grad: _Switch
    enable_grad: _Switch
else:

    class no_grad(_GradMode):  # noqa: N801  Paddle's name
        """No op is recorded inside: results stop gradients and keep nothing for a backward pass.

        Examples:
            >>> x = wherry.to_tensor([2.0], stop_gradient=False)
            >>> with wherry.no_grad():
            ...     y = x * 2
            >>> y.stop_gradient
            True
            >>> @wherry.no_grad()
            ... def double(x):
            ...     return x * 2
            >>> double(x).stop_gradient
            True
        """

        _enabled = False

    class enable_grad(_GradMode):  # noqa: N801  Paddle's name
        """Ops are recorded inside, also within `no_grad`.

        Examples:
            >>> x = wherry.to_tensor([2.0], stop_gradient=False)
            >>> with wherry.no_grad():
            ...     with wherry.enable_grad():
            ...         y = x * 2
            >>> y.stop_gradient
            False
        """

        _enabled = True


class set_grad_enabled:  # noqa: N801  Paddle's name
    """Switch recording on or off: at once, and until the end of the block where it is used with `with`.

    Args:
        mode: True records.

    Raises:
        TypeError: `mode` is not a bool.

    Examples:
        >>> x = wherry.to_tensor([2.0], stop_gradient=False)
        >>> with wherry.set_grad_enabled(False):
        ...     y = x * 2
        >>> y.stop_gradient
        True
    """

    def __init__(self, mode: bool) -> None:
        if not isinstance(mode, bool):
            raise TypeError(
                f"set_grad_enabled: `mode` is not a bool. Got {type(mode).__name__}, expected True or False. "
                f"Pass bool(mode)."
            )
        self.mode = mode
        self._before = set_grad_mode(mode)

    def clone(self) -> set_grad_enabled:
        """Another object of the same mode; it switches at once, as this one did."""
        return type(self)(self.mode)

    def __enter__(self) -> None:
        pass

    def __exit__(self, *exception: object) -> None:
        set_grad_mode(self._before)


def _wrap_generator(function: Callable[..., Generator[Any, Any, Any]], enabled: bool) -> Any:
    """The mode holds while the generator runs, never while it is suspended."""

    @functools.wraps(function)
    def wrapped(*args: Any, **kwargs: Any) -> Generator[Any, Any, Any]:
        generator = function(*args, **kwargs)
        resume: Callable[..., Any] = generator.send
        sent: tuple[Any, ...] = (None,)
        try:
            while True:
                before = set_grad_mode(enabled)
                try:
                    item = resume(*sent)
                except StopIteration as stop:
                    return stop.value
                finally:
                    set_grad_mode(before)
                try:
                    resume, sent = generator.send, ((yield item),)
                except GeneratorExit:
                    raise
                except BaseException as error:
                    resume, sent = generator.throw, (error,)
        finally:
            before = set_grad_mode(enabled)
            try:
                generator.close()
            finally:
                set_grad_mode(before)

    return wrapped
