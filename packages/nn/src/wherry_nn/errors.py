"""The classes of errors where Paddle's layers assert.

Python calls a bad argument a ValueError or TypeError; Paddle's layers often refuse it by `assert`.
These are both, so that code written for either catches them.
"""
from __future__ import annotations

from wherry_tensor.errors import InvalidArgumentError, InvalidTypeError

__all__ = ["AssertedArgumentError", "AssertedTypeError"]


class AssertedArgumentError(InvalidArgumentError, AssertionError):
    """An argument has a value or shape that the function does not take."""


class AssertedTypeError(InvalidTypeError, AssertionError):
    """An argument has the wrong type."""
