"""`paddle.nn.layer`: layers by the path that Paddle has for them. Use `paddle.nn`."""
import sys

import wherry_nn
from wherry import _absent, _paths
from wherry_nn import *  # noqa: F403
from wherry_nn import __all__ as __all__

_paths.offer(
    sys.modules[__name__],
    (
        "activation", "common", "container", "conv", "distance", "layers", "loss", "norm", "pooling", "rnn", "transformer",
        "vision",
    ),
    (wherry_nn,),
)
_absent.explain(__name__)
