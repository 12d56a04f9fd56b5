"""`paddle.nn.initializer`: how parameters get their first values."""
from typing import TYPE_CHECKING

from wherry_nn.initializer import (
    Assign,
    Bilinear,
    Constant,
    Dirac,
    Initializer,
    KaimingNormal,
    KaimingUniform,
    Normal,
    Orthogonal,
    TruncatedNormal,
    Uniform,
    XavierNormal,
    XavierUniform,
    calculate_gain,
    set_global_initializer,
)

__all__ = [
    "Assign",
    "Bilinear",
    "Constant",
    "Dirac",
    "Initializer",
    "KaimingNormal",
    "KaimingUniform",
    "Normal",
    "Orthogonal",
    "TruncatedNormal",
    "Uniform",
    "XavierNormal",
    "XavierUniform",
    "calculate_gain",
    "set_global_initializer",
]

if not TYPE_CHECKING:  # checkers find misspelled names themselves
    from wherry._absent import looked_up as _looked_up

    __getattr__ = _looked_up(__name__)
