"""`paddle.incubate.nn`: fused layers of transformers."""
# ruff: noqa: F403  its own list says what
from wherry import _absent
from wherry.incubate.nn import functional as functional
from wherry_nn.layers.fused import *
from wherry_nn.layers.fused import __all__ as _layers

__all__ = ["functional", *_layers]

_absent.explain(__name__)
