"""`paddle.onnx`."""
from typing import TYPE_CHECKING

from wherry_export.onnx import export

__all__ = ["export"]

if not TYPE_CHECKING:  # checkers find misspelled names themselves
    from wherry._absent import looked_up as _looked_up

    __getattr__ = _looked_up(__name__)
