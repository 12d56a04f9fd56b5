"""Stub of wherry.cuda, written by tools/stubs.py: where each public name comes from."""
from wherry_tensor.accelerators import check_error as check_error
from wherry_tensor.accelerators import cudart as cudart
from wherry_tensor.accelerators import current_device as current_device
from wherry_tensor.accelerators import device as _device
from wherry_tensor.accelerators import device as device
from wherry_tensor.accelerators import get_rng_state as get_rng_state
from wherry_tensor.accelerators import get_stream_from_external as get_stream_from_external
from wherry_tensor.accelerators import ipc_collect as ipc_collect
from wherry_tensor.accelerators import is_available as is_available
from wherry_tensor.accelerators import is_bf16_supported as is_bf16_supported
from wherry_tensor.accelerators import is_current_stream_capturing as is_current_stream_capturing
from wherry_tensor.accelerators import is_initialized as is_initialized
from wherry_tensor.accelerators import manual_seed as _manual_seed
from wherry_tensor.accelerators import manual_seed as manual_seed
from wherry_tensor.accelerators import mem_get_info as mem_get_info
from wherry_tensor.accelerators import memory_summary as memory_summary
from wherry_tensor.accelerators import reset_peak_memory_stats as reset_peak_memory_stats
from wherry_tensor.accelerators import set_device as set_device
from wherry_tensor.accelerators import set_rng_state as set_rng_state
from wherry_tensor.accelerators import vmm_compact as vmm_compact
from wherry_tensor.cuda import DeviceProperties as DeviceProperties
from wherry_tensor.cuda import Event as Event
from wherry_tensor.cuda import Stream as Stream
from wherry_tensor.cuda import current_stream as current_stream
from wherry_tensor.cuda import device_count as device_count
from wherry_tensor.cuda import empty_cache as empty_cache
from wherry_tensor.cuda import get_device_capability as get_device_capability
from wherry_tensor.cuda import get_device_name as get_device_name
from wherry_tensor.cuda import get_device_properties as get_device_properties
from wherry_tensor.cuda import max_memory_allocated as max_memory_allocated
from wherry_tensor.cuda import max_memory_reserved as max_memory_reserved
from wherry_tensor.cuda import memory_allocated as memory_allocated
from wherry_tensor.cuda import memory_reserved as memory_reserved
from wherry_tensor.cuda import reset_max_memory_allocated as reset_max_memory_allocated
from wherry_tensor.cuda import reset_max_memory_reserved as reset_max_memory_reserved
from wherry_tensor.cuda import stream_guard as stream_guard
from wherry_tensor.cuda import synchronize as synchronize
from wherry_tensor.device import set_stream as set_stream
from wherry_tensor.device import stream_guard as _stream_guard
from wherry_tensor.functions.conversions import BFloat16Tensor as BFloat16Tensor
from wherry_tensor.functions.conversions import BoolTensor as BoolTensor
from wherry_tensor.functions.conversions import ByteTensor as ByteTensor
from wherry_tensor.functions.conversions import CharTensor as CharTensor
from wherry_tensor.functions.conversions import DoubleTensor as DoubleTensor
from wherry_tensor.functions.conversions import FloatTensor as FloatTensor
from wherry_tensor.functions.conversions import HalfTensor as HalfTensor
from wherry_tensor.functions.conversions import IntTensor as IntTensor
from wherry_tensor.functions.conversions import LongTensor as LongTensor
from wherry_tensor.functions.conversions import ShortTensor as ShortTensor
StreamContext = _stream_guard
__all__: list[str]
device_guard = _device
manual_seed_all = _manual_seed
stream = _stream_guard
