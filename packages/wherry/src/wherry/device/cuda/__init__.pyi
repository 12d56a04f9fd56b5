"""Stub of wherry.device.cuda, written by tools/stubs.py: where each public name comes from."""
from wherry_tensor.accelerators import memory_summary as memory_summary
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
__all__: list[str]
