"""`paddle.inference`: saved programs that answer."""
from typing import TYPE_CHECKING

from wherry_infer import *  # noqa: F403
from wherry_infer import __all__ as __all__

if not TYPE_CHECKING:  # checkers find misspelled names themselves
    from wherry._absent import looked_up as _looked_up

    __getattr__ = _looked_up(__name__)
