"""`paddle.static`: recorded programs. They are not there yet; `InputSpec`, which programs of either kind use, is."""
from typing import TYPE_CHECKING

from wherry_graph.input_spec import InputSpec

__all__ = ["InputSpec"]

if not TYPE_CHECKING:  # checkers find misspelled names themselves
    from wherry._absent import looked_up as _looked_up

    __getattr__ = _looked_up(__name__)
