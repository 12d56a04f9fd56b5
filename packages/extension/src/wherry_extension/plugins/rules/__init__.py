"""Rules of the column `plugin`, by family."""
from wherry_extension.plugins.rules import (  # noqa: F401
    activation,
    contraction,
    convolution,
    elementwise,
    elsewhere,
    indexing,
    loss,
    movement,
    normalization,
    optimizer,
    reduction,
)
