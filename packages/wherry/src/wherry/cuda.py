"""`paddle.cuda`: GPUs by the path that PyTorch has for them."""
# ruff: noqa: F403, F405
from wherry import _absent
from wherry_tensor import accelerators
from wherry_tensor.accelerators import *
from wherry_tensor.cuda import *  # what both have is that of cuda but for the state of a generator
from wherry_tensor.cuda import __all__ as _names
from wherry_tensor.functions.conversions import (
    BFloat16Tensor,
    BoolTensor,
    ByteTensor,
    CharTensor,
    DoubleTensor,
    FloatTensor,
    HalfTensor,
    IntTensor,
    LongTensor,
    ShortTensor,
)

stream = accelerators.StreamContext

__all__ = [
    "BFloat16Tensor", "BoolTensor", "ByteTensor", "CharTensor", "DoubleTensor", "FloatTensor", "HalfTensor", "IntTensor", "LongTensor", "ShortTensor",
    "stream", *sorted({*_names, *accelerators.__all__}),
]

_absent.explain(__name__)
