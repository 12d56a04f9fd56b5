"""Rules of the column `plugin`, by family."""
from wherry_extension.plugins.rules import (  # noqa: F401
    activation,
    contraction,
    convolution,
    elementwise,
    indexing,
    movement,
    normalization,
    optimizer,
    reduction,
)
