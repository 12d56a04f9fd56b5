"""`paddle.jit`: graphs made of functions. They are not there yet; what says "no graph here" is."""
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

from wherry_tensor.errors import UnimplementedError

__all__ = ["not_to_static", "to_static"]

Function = TypeVar("Function", bound=Callable[..., Any] | None)


def not_to_static(func: Function = None) -> Function:  # type: ignore[assignment]
    """Keep a function out of graphs: the function itself, since everything runs op by op.

    Args:
        func: the function; None gives the decorator.

    Source:
        `paddle.jit.not_to_static`.

    Examples:
        >>> wherry.jit.not_to_static(len) is len
        True
    """
    return not_to_static if func is None else func  # type: ignore[return-value]


def to_static(*args: Any, **kwargs: Any) -> NoReturn:
    """Make a graph of a function or layer: not available yet.

    Raises:
        NotImplementedError: always. Running the function op by op in its place would give the same numbers, but
            neither the speed nor the file that a graph is made for.

    Source:
        `paddle.jit.to_static`.

    Examples:
        >>> wherry.jit.to_static(lambda x: x + 1)
        Traceback (most recent call last):
        wherry_tensor.errors.UnimplementedError: (Unimplemented) to_static: graphs are not recorded yet. ...
    """
    raise UnimplementedError(
        "to_static: graphs are not recorded yet. Got a function or layer to convert, expected none: Wherry runs op by op. "
        "Leave to_static out: the same code then runs, and wherry.save keeps the weights."
    )


if not TYPE_CHECKING:  # checkers find misspelled names themselves
    from wherry._absent import looked_up as _looked_up

    __getattr__ = _looked_up(__name__)
