"""`paddle.incubate`: functions whose interface may still change."""
# ruff: noqa: F403  lists of their own say what
from typing import TYPE_CHECKING

from wherry import _absent
from wherry.incubate import autograd, autotune, nn, optimizer
from wherry_nn.incubate import identity_loss, softmax_mask_fuse, softmax_mask_fuse_upper_triangle
from wherry_sparse.incubate import *
from wherry_sparse.incubate import __all__ as _graphs
from wherry_train.optimizer.averages import LookAhead, ModelAverage
from wherry_train.optimizer.distributed import DistributedFusedLamb

if TYPE_CHECKING:
    from wherry.incubate import asp

__all__ = [
    "DistributedFusedLamb",
    "LookAhead",
    "ModelAverage",
    "asp",
    "autograd",
    "autotune",
    "identity_loss",
    "nn",
    "optimizer",
    "softmax_mask_fuse",
    "softmax_mask_fuse_upper_triangle",
    *_graphs,
]

_absent.explain(__name__, later=("asp",))
