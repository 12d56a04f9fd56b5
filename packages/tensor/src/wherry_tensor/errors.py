"""The classes of errors, under the names that Paddle gives its kinds of failure.

Each is also the built-in exception as which Paddle's Python side shows that kind, so code that
catches `ValueError` or `IndexError` catches the same things as under Paddle, and code that catches
the named class gets just that kind. The core and the kernels raise the bare built-ins.
"""
from __future__ import annotations

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
    "NotFoundError",
    "OutOfRangeError",
    "PermissionDeniedError",
    "PreconditionNotMetError",
    "ResourceExhaustedError",
    "UnavailableError",
    "UnimplementedError",
]


class EnforceNotMet(Exception):
    """What all the others are: something that had to hold did not."""


class InvalidArgumentError(EnforceNotMet, ValueError):
    """An argument has a value, shape or combination that the function does not take."""


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


class NotFoundError(EnforceNotMet, RuntimeError):
    """Something that was asked for by name does not exist."""


class OutOfRangeError(EnforceNotMet, IndexError):
    """An index or axis lies outside what it counts."""


class InvalidIndexError(OutOfRangeError, InvalidArgumentError):
    """A position among the values of an index tensor lies outside of its axis.

    Python calls that an IndexError; some functions of Paddle raise it as such, others as ValueError: this is both.
    """


class AlreadyExistsError(EnforceNotMet, RuntimeError):
    """Something of this name exists."""


class ResourceExhaustedError(EnforceNotMet, MemoryError):
    """There is not enough memory."""


class PreconditionNotMetError(EnforceNotMet, RuntimeError):
    """Another call has to come first."""


class PermissionDeniedError(EnforceNotMet, RuntimeError):
    """The installed packages do not allow it, as a GPU place without the GPU package."""


class ExecutionTimeoutError(EnforceNotMet, RuntimeError):
    """It took too long."""


class UnimplementedError(EnforceNotMet, NotImplementedError):
    """Not written yet, or not for this dtype or device."""


class UnavailableError(EnforceNotMet, RuntimeError):
    """A service or device is not there at the moment."""


class FatalError(EnforceNotMet, SystemError):
    """Our mistake."""


class ExternalError(EnforceNotMet, OSError):
    """Another library or the operating system failed."""
