"""The gradient rules, family by family; importing this package fills the vjp column."""
from wherry_autograd.vjp import (
    activation,
    contraction,
    convolution,
    convolution3d,
    creation,
    elementwise,
    indexing,
    loss,
    movement,
    normalization,
    optimizer,
    random,
    recurrent,
    reduction,
)

__all__ = [
    "activation",
    "contraction",
    "convolution",
    "convolution3d",
    "creation",
    "elementwise",
    "indexing",
    "loss",
    "movement",
    "normalization",
    "optimizer",
    "random",
    "recurrent",
    "reduction",
]
