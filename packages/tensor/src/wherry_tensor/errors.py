"""The classes of errors, under the names that Paddle gives its kinds of failure.

Each is also the built-in exception as which Paddle's Python side shows that kind, so code that
catches `ValueError` or `IndexError` catches the same things as under Paddle, and code that catches
the named class gets just that kind. The text begins with the kind in parentheses, as Paddle prints
it and as people search for it: "(InvalidArgument) conv2d: ...".
"""
from __future__ import annotations

import opcode
import reprlib
from typing import Any

__all__ = [
    "AlreadyExistsError",
    "AssertedArgumentError",
    "AssertedTypeError",
    "EnforceNotMet",
    "ExecutionTimeoutError",
    "ExternalError",
    "FatalError",
    "InvalidArgumentError",
    "InvalidIndexError",
    "InvalidTypeError",
    "LeafOverwrittenError",
    "LossyCastWarning",
    "NotFoundError",
    "OutOfRangeError",
    "PermissionDeniedError",
    "PreconditionNotMetError",
    "ResourceExhaustedError",
    "UnavailableError",
    "UnimplementedError",
]


class LossyCastWarning(UserWarning):
    """Numbers of one dtype were cast to one that cannot hold them, because the other operand has it.

    Paddle does so silently. `warnings.filterwarnings("ignore", category=wherry.errors.LossyCastWarning)` is silent, too.
    """


class EnforceNotMet(Exception):
    """The base class of all the others: a requirement was not met."""

    kind = ""  # Paddle's name, which the text begins with

    def __init__(self, *args: Any) -> None:
        # What was caught and raised again as another class, or came out of a pickle, names a kind already.
        if self.kind and args and isinstance(args[0], str) and not args[0].startswith(_NAMED):
            args = (f"({self.kind}) {args[0]}", *args[1:])
        super().__init__(*args)


class InvalidArgumentError(EnforceNotMet, ValueError):
    """An argument has a value, shape or combination that the function does not take."""

    kind = "InvalidArgument"


class InvalidTypeError(InvalidArgumentError, TypeError):
    """An argument has the wrong Python type or dtype.

    Python calls that a TypeError, and Paddle raises it as ValueError (InvalidArgument): this is both.
    """


class AssertedArgumentError(InvalidArgumentError, AssertionError):
    """An argument has a value or shape that the function does not take.

    Python calls that a ValueError; where Paddle's Python side refuses by `assert`, this is both.
    """


class AssertedTypeError(InvalidTypeError, AssertionError):
    """An argument has the wrong type, where Paddle's Python side refuses by `assert`."""


class LeafOverwrittenError(InvalidArgumentError):
    """A tensor at which gradients are taken was to be written in place. `leaf` is its name."""

    def __init__(self, *args: Any, leaf: str = "") -> None:
        super().__init__(*args)
        self.leaf = leaf


class NotFoundError(EnforceNotMet, RuntimeError):
    """Something that was asked for by name does not exist."""

    kind = "NotFound"


class OutOfRangeError(EnforceNotMet, IndexError):
    """An index or axis lies outside what it counts."""

    kind = "OutOfRange"


class InvalidIndexError(OutOfRangeError, InvalidArgumentError):
    """A position among the values of an index tensor lies outside of its axis.

    Python calls that an IndexError; some functions of Paddle raise it as such, others as ValueError: this is both.
    """


class AlreadyExistsError(EnforceNotMet, RuntimeError):
    """Something of this name exists."""

    kind = "AlreadyExists"


class ResourceExhaustedError(EnforceNotMet, MemoryError):
    """There is not enough memory."""

    kind = "ResourceExhausted"


class PreconditionNotMetError(EnforceNotMet, RuntimeError):
    """Another call has to come first."""

    kind = "PreconditionNotMet"


class PermissionDeniedError(EnforceNotMet, RuntimeError):
    """The installed packages do not allow it, as a GPU place without the GPU package."""

    kind = "PermissionDenied"


class ExecutionTimeoutError(EnforceNotMet, RuntimeError):
    """It took too long."""

    kind = "ExecutionTimeout"


class UnimplementedError(EnforceNotMet, NotImplementedError):
    """Not written yet, or not for this dtype or device."""

    kind = "Unimplemented"


class UnavailableError(EnforceNotMet, RuntimeError):
    """A service or device is not there at the moment."""

    kind = "Unavailable"


class FatalError(EnforceNotMet, SystemError):
    """A mistake of Wherry's own."""

    kind = "Fatal"


class ExternalError(EnforceNotMet, OSError):
    """Another library or the operating system failed."""

    kind = "External"


_NAMED = tuple(
    f"({one.kind}) " for one in vars().copy().values() if isinstance(one, type) and issubclass(one, EnforceNotMet) and one.kind
)


def of_builtin(error: Exception) -> Exception:
    """`error`, or where it is a bare built-in of a kind that Paddle names, the same under that name.

    Shape rules raise the built-ins; what they refuse, Paddle's shape rules refuse as these kinds. What Python
    itself raised is a mistake in the rule, and stays as it is.
    """
    named = _OF_BUILTIN.get(type(error))
    if named is None or not raised_on_purpose(error):
        return error
    return named(*error.args)


def raised_on_purpose(error: BaseException) -> bool:
    """Whether a `raise` raised it, and not Python itself."""
    last = error.__traceback__
    if last is None:
        return False
    while last.tb_next is not None:
        last = last.tb_next
    return last.tb_frame.f_code.co_code[last.tb_lasti] == _RAISE


_RAISE = opcode.opmap["RAISE_VARARGS"]
_OF_BUILTIN: dict[type[Exception], type[EnforceNotMet]] = {
    IndexError: OutOfRangeError,
    NotImplementedError: UnimplementedError,
    TypeError: InvalidTypeError,
    ValueError: InvalidArgumentError,
}


# What stands in an error text may be as deep or as long as it likes, and its `repr` may fail.
_short = reprlib.Repr()
_short.maxlevel, _short.maxlist, _short.maxtuple, _short.maxdict, _short.maxset = 3, 8, 13, 4, 4
_short.maxstring, _short.maxlong, _short.maxother = 60, 40, 60


def short(value: Any) -> str:
    """`repr(value)` for an error text: of bounded length, and never an error itself.

    Examples:
        >>> from wherry.utils.checks import short
        >>> short("a" * 1000)[:10]
        "'aaaaaaaaa"
    """
    return _short.repr(value)
