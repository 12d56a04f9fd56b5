"""The concrete layers of `paddle.nn`."""
# ruff: noqa: F403, F405  each module lists its names
from wherry_nn.layers import (
    activation,
    common,
    conv,
    decode,
    distance,
    later,
    loss,
    norm,
    padding,
    pooling,
    resizing,
    rnn,
    sliding,
    transformer,
    vision,
)
from wherry_nn.layers.activation import *
from wherry_nn.layers.common import *
from wherry_nn.layers.conv import *
from wherry_nn.layers.decode import *
from wherry_nn.layers.distance import *
from wherry_nn.layers.later import *
from wherry_nn.layers.loss import *
from wherry_nn.layers.norm import *
from wherry_nn.layers.padding import *
from wherry_nn.layers.pooling import *
from wherry_nn.layers.resizing import *
from wherry_nn.layers.rnn import *
from wherry_nn.layers.sliding import *
from wherry_nn.layers.transformer import *
from wherry_nn.layers.vision import *

__all__ = []
__all__ += activation.__all__
__all__ += common.__all__
__all__ += conv.__all__
__all__ += decode.__all__
__all__ += distance.__all__
__all__ += later.__all__
__all__ += loss.__all__
__all__ += norm.__all__
__all__ += padding.__all__
__all__ += pooling.__all__
__all__ += resizing.__all__
__all__ += rnn.__all__
__all__ += sliding.__all__
__all__ += transformer.__all__
__all__ += vision.__all__
