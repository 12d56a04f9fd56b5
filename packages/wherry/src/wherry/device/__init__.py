"""`paddle.device`: the available devices, and the current one."""
# ruff: noqa: F403, F405  its own list says what
from wherry import _absent
from wherry.device import cuda
from wherry_tensor.accelerators import (
    StreamContext,
    device,
    device_guard,
    get_rng_state,
    get_stream_from_external,
    ipc_collect,
    is_available,
    is_bf16_supported,
    is_current_stream_capturing,
    manual_seed,
    reset_peak_memory_stats,
    set_rng_state,
)
from wherry_tensor.cuda import (
    device_count,
    empty_cache,
    get_device_capability,
    get_device_name,
    get_device_properties,
    max_memory_reserved,
    memory_reserved,
    reset_max_memory_allocated,
    reset_max_memory_reserved,
)
from wherry_tensor.device import *
from wherry_tensor.device import __all__ as _names
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

__all__ = [
    "BFloat16Tensor", "BoolTensor", "ByteTensor", "CharTensor", "DoubleTensor", "FloatTensor", "HalfTensor", "IntTensor", "LongTensor", "ShortTensor",
    "StreamContext", "cuda", "device", "device_count", "device_guard", "empty_cache", "get_device_capability", "get_device_name",
    "get_device_properties", "get_rng_state", "get_stream_from_external", "ipc_collect", "is_available", "is_bf16_supported",
    "is_current_stream_capturing", "manual_seed", "max_memory_reserved", "memory_reserved", "reset_max_memory_allocated",
    "reset_max_memory_reserved", "reset_peak_memory_stats", "set_rng_state", *_names,
]

_absent.explain(__name__)
