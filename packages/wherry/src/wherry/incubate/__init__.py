"""`paddle.incubate`: functions whose interface may still change."""
from typing import TYPE_CHECKING

from wherry.incubate import autograd

__all__ = ["autograd"]

if not TYPE_CHECKING:  # checkers find misspelled names themselves
    from wherry._absent import looked_up as _looked_up

    __getattr__ = _looked_up(__name__)
