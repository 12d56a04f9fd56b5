"""`paddle.signal`."""
from typing import TYPE_CHECKING

from wherry_tensor.functions.signal import *  # noqa: F403
from wherry_tensor.functions.signal import __all__ as __all__

if not TYPE_CHECKING:  # checkers find misspelled names themselves
    from wherry._absent import looked_up as _looked_up

    __getattr__ = _looked_up(__name__)
