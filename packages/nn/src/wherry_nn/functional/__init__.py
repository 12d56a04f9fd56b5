"""`paddle.nn.functional`: the computations of layers as functions."""
# ruff: noqa: F403, F405  each module lists its names
from wherry_nn.functional import (
    activation,
    attention,
    common,
    conv,
    distance,
    extension,
    later,
    loss,
    margin_loss,
    norm,
    padding,
    pooling,
    pooling_windows,
    resizing,
    sampling,
    sliding,
    structured_loss,
    transducer_loss,
    vision,
)
from wherry_nn.functional.activation import *
from wherry_nn.functional.attention import *
from wherry_nn.functional.common import *
from wherry_nn.functional.conv import *
from wherry_nn.functional.distance import *
from wherry_nn.functional.extension import *
from wherry_nn.functional.flash_attention import flash_attn_qkvpacked, flash_attn_varlen_qkvpacked, flashmask_attention
from wherry_nn.functional.later import *
from wherry_nn.functional.loss import *
from wherry_nn.functional.margin_loss import *
from wherry_nn.functional.norm import *
from wherry_nn.functional.padding import *
from wherry_nn.functional.pooling import *
from wherry_nn.functional.pooling_windows import *
from wherry_nn.functional.resizing import *
from wherry_nn.functional.sampling import *
from wherry_nn.functional.sliding import *
from wherry_nn.functional.structured_loss import *
from wherry_nn.functional.transducer_loss import *
from wherry_nn.functional.vision import *

__all__ = ["flash_attn_qkvpacked", "flash_attn_varlen_qkvpacked", "flashmask_attention"]
__all__ += activation.__all__
__all__ += attention.__all__
__all__ += common.__all__
__all__ += conv.__all__
__all__ += distance.__all__
__all__ += extension.__all__
__all__ += later.__all__
__all__ += loss.__all__
__all__ += margin_loss.__all__
__all__ += norm.__all__
__all__ += padding.__all__
__all__ += pooling.__all__
__all__ += pooling_windows.__all__
__all__ += resizing.__all__
__all__ += sampling.__all__
__all__ += sliding.__all__
__all__ += structured_loss.__all__
__all__ += transducer_loss.__all__
__all__ += vision.__all__
