"""GPUs, as `wherry.device.cuda`: the devices of kind "gpu".

Without a package for GPUs their number is 0, and the rest raises. `device` is None (the current GPU, or the first), a
number, a name as "gpu:1", or a CUDAPlace.
"""
from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any, NamedTuple

from wherry_tensor import _core
from wherry_tensor import device as devices
from wherry_tensor.device import absent
from wherry_tensor.errors import InvalidArgumentError, UnavailableError, short

__all__ = [
    "DeviceProperties",
    "Event",
    "Stream",
    "current_stream",
    "device_count",
    "empty_cache",
    "get_device_capability",
    "get_device_name",
    "get_device_properties",
    "max_memory_allocated",
    "max_memory_reserved",
    "memory_allocated",
    "memory_reserved",
    "reset_max_memory_allocated",
    "reset_max_memory_reserved",
    "stream_guard",
    "synchronize",
]


class DeviceProperties(NamedTuple):
    """Properties of a GPU.

    Attributes:
        name: as its package calls it.
        major, minor: the compute capability; 0 where the package does not tell.
        total_memory: in bytes; 0 where the device does not tell.
        multi_processor_count: how many units compute; 0 where the package does not tell.

    Examples:
        >>> if wherry.device.cuda.device_count():
        ...     gibibytes = wherry.device.cuda.get_device_properties().total_memory / 2**30
    """

    name: str
    major: int = 0
    minor: int = 0
    total_memory: int = 0
    multi_processor_count: int = 0


def _gpu(op_name: str, device: Any, error: type[Exception] = InvalidArgumentError) -> int:
    """The core's number of the GPU that `device` names."""
    name = f"device.cuda.{op_name}"
    if not devices.is_known("gpu"):
        raise error(absent(name, "gpu"))
    if device is None:
        current = int(_core.get_current_device())
        return current if _core.name_of_device(current).startswith("gpu:") else int(_core.device_code("gpu", 0))
    if isinstance(device, int) and not isinstance(device, bool):
        return devices.device_code(f"gpu:{device}" if device >= 0 else str(device), name)
    place = devices.as_place(device, name)
    if not place.is_gpu_place():
        raise error(f"{name}: this is not a GPU. Got {short(device)}, expected a number, 'gpu:0' or a CUDAPlace. Name one of the GPUs.")
    return devices.device_code(place, name)


def device_count() -> int:
    """How many GPUs there are.

    Source:
        `paddle.device.cuda.device_count`.

    Examples:
        >>> wherry.device.cuda.device_count() >= 0
        True
    """
    return int(_core.devices()["gpu"][1]) if devices.is_known("gpu") else 0


def empty_cache() -> None:
    """Return unused memory of all GPUs to their drivers. Does nothing without one.

    Source:
        `paddle.device.cuda.empty_cache`.

    Examples:
        >>> wherry.device.cuda.empty_cache()
    """
    for number in range(device_count()):
        _core.release_memory_cache(_core.device_code("gpu", number))


def synchronize(device: Any = None) -> None:
    """Wait until everything that was started on a GPU is done.

    Args:
        device: the number of a GPU, its name as "gpu:0", or a CUDAPlace; None is the current GPU, or the first.

    Raises:
        RuntimeError: there is no GPU.
        ValueError: `device` does not name a GPU that exists.

    Source:
        `paddle.device.cuda.synchronize`.

    Examples:
        >>> if wherry.device.cuda.device_count():
        ...     wherry.device.cuda.synchronize()
    """
    _core.synchronize(_gpu("synchronize", device, UnavailableError))


def memory_allocated(device: Any = None) -> int:
    """Bytes that tensors hold on a GPU.

    Args:
        device: the number of a GPU, its name as "gpu:0", or a CUDAPlace; None is the current GPU, or the first.

    Raises:
        ValueError: there is no GPU, or `device` does not name one.

    Source:
        `paddle.device.cuda.memory_allocated`.

    Examples:
        >>> if wherry.device.cuda.device_count():
        ...     now = wherry.device.cuda.memory_allocated()
    """
    return int(_core.memory_stats(_gpu("memory_allocated", device))["allocated"])


def max_memory_allocated(device: Any = None) -> int:
    """The most bytes that tensors have held on a GPU at once.

    Args:
        device: the number of a GPU, its name as "gpu:0", or a CUDAPlace; None is the current GPU, or the first.

    Raises:
        ValueError: there is no GPU, or `device` does not name one.

    Source:
        `paddle.device.cuda.max_memory_allocated`.

    Examples:
        >>> if wherry.device.cuda.device_count():
        ...     most = wherry.device.cuda.max_memory_allocated()
    """
    return int(_core.memory_stats(_gpu("max_memory_allocated", device))["peak_allocated"])


def memory_reserved(device: Any = None) -> int:
    """Bytes taken from a GPU, the cache included.

    Args:
        device: the number of a GPU, its name as "gpu:0", or a CUDAPlace; None is the current GPU, or the first.

    Raises:
        ValueError: there is no GPU, or `device` does not name one.

    Source:
        `paddle.device.cuda.memory_reserved`.

    Examples:
        >>> if wherry.device.cuda.device_count():
        ...     now = wherry.device.cuda.memory_reserved()
    """
    return int(_core.memory_stats(_gpu("memory_reserved", device))["reserved"])


def max_memory_reserved(device: Any = None) -> int:
    """The most bytes that were taken from a GPU at once, the cache included.

    Args:
        device: the number of a GPU, its name as "gpu:0", or a CUDAPlace; None is the current GPU, or the first.

    Raises:
        ValueError: there is no GPU, or `device` does not name one.

    Source:
        `paddle.device.cuda.max_memory_reserved`.

    Examples:
        >>> if wherry.device.cuda.device_count():
        ...     most = wherry.device.cuda.max_memory_reserved()
    """
    return int(_core.memory_stats(_gpu("max_memory_reserved", device))["peak_reserved"])


def reset_max_memory_allocated(device: Any = None) -> None:
    """Let the peaks of a GPU start again from what is in use now.

    Args:
        device: the number of a GPU, its name as "gpu:0", or a CUDAPlace; None is the current GPU, or the first.

    Raises:
        ValueError: there is no GPU, or `device` does not name one.

    Source:
        `paddle.device.cuda.reset_max_memory_allocated` of later releases.

    Examples:
        >>> if wherry.device.cuda.device_count():
        ...     wherry.device.cuda.reset_max_memory_allocated()
    """
    _core.reset_peak_memory_stats(_gpu("reset_max_memory_allocated", device))


def reset_max_memory_reserved(device: Any = None) -> None:
    """As `reset_max_memory_allocated`: both peaks start again together.

    Args:
        device: the number of a GPU, its name as "gpu:0", or a CUDAPlace; None is the current GPU, or the first.

    Raises:
        ValueError: there is no GPU, or `device` does not name one.

    Source:
        `paddle.device.cuda.reset_max_memory_reserved` of later releases.

    Examples:
        >>> if wherry.device.cuda.device_count():
        ...     wherry.device.cuda.reset_max_memory_reserved()
    """
    _core.reset_peak_memory_stats(_gpu("reset_max_memory_reserved", device))


def get_device_name(device: Any = None) -> str:
    """The name of a GPU.

    Args:
        device: the number of a GPU, its name as "gpu:0", or a CUDAPlace; None is the current GPU, or the first.

    Raises:
        ValueError: there is no GPU, or `device` does not name one.

    Source:
        `paddle.device.cuda.get_device_name`.

    Examples:
        >>> if wherry.device.cuda.device_count():
        ...     name = wherry.device.cuda.get_device_name(0)  # as 'NVIDIA H100 80GB HBM3'
    """
    return _properties("get_device_name", device).name


def get_device_properties(device: Any = None) -> DeviceProperties:
    """Properties of a GPU: name, compute capability, memory.

    Args:
        device: the number of a GPU, its name as "gpu:0", or a CUDAPlace; None is the current GPU, or the first.

    Raises:
        ValueError: there is no GPU, or `device` does not name one.

    Source:
        `paddle.device.cuda.get_device_properties`.

    Examples:
        >>> if wherry.device.cuda.device_count():
        ...     units = wherry.device.cuda.get_device_properties(0).multi_processor_count
    """
    return _properties("get_device_properties", device)


def get_device_capability(device: Any = None) -> tuple[int, int]:
    """The compute capability of a GPU, (major, minor).

    Args:
        device: the number of a GPU, its name as "gpu:0", or a CUDAPlace; None is the current GPU, or the first.

    Raises:
        ValueError: there is no GPU, or `device` does not name one.

    Source:
        `paddle.device.cuda.get_device_capability`.

    Examples:
        >>> if wherry.device.cuda.device_count():
        ...     major, minor = wherry.device.cuda.get_device_capability(0)
    """
    found = _properties("get_device_capability", device)
    return found.major, found.minor


def _properties(op_name: str, device: Any) -> DeviceProperties:
    code = _gpu(op_name, device)
    told = devices.descriptions.get("gpu")
    if told is not None:
        return DeviceProperties(**told(int(_core.name_of_device(code).partition(":")[2])))
    memory = _core.device_memory(code)
    return DeviceProperties(_core.name_of_device(code), total_memory=0 if memory is None else memory[0])


class Stream(devices.Stream):
    """A queue of work on a GPU.

    Args:
        device: which GPU.
        priority: 1: where work of several streams waits, that of this one goes first; 2 (None): it does not.

    Raises:
        ValueError: there is no GPU, `device` does not name one, or the priority does not exist.

    Source:
        `paddle.device.cuda.Stream`.

    Examples:
        >>> if wherry.device.cuda.device_count():
        ...     stream = wherry.device.cuda.Stream()
        ...     stream.wait_stream(wherry.device.cuda.current_stream())
    """

    def __init__(self, device: Any = None, priority: int | None = None) -> None:
        super().__init__(devices._place_of_code(_gpu("Stream", device)), priority)


class Event(devices.Event):
    """A mark in a stream of a GPU.

    Args:
        enable_timing: `elapsed_time` is going to be asked for.
        blocking: who waits for it sleeps, instead of looking again and again.
        interprocess: other processes may wait for it; such an event cannot measure time.

    Raises:
        ValueError: there is no GPU, or `enable_timing` and `interprocess` are both set.

    Source:
        `paddle.device.cuda.Event`.

    Examples:
        >>> if wherry.device.cuda.device_count():
        ...     event = wherry.device.cuda.Event()
        ...     event.record()
        ...     event.synchronize()
    """

    def __init__(self, enable_timing: bool = False, blocking: bool = False, interprocess: bool = False) -> None:
        super().__init__(devices._place_of_code(_gpu("Event", None)), enable_timing, blocking, interprocess)


def current_stream(device: Any = None) -> devices.Stream:
    """The stream of a GPU that this thread's operations go to.

    Args:
        device: the number of a GPU, its name as "gpu:0", or a CUDAPlace; None is the current GPU, or the first.

    Raises:
        ValueError: there is no GPU, or `device` does not name one.

    Source:
        `paddle.device.cuda.current_stream`.

    Examples:
        >>> if wherry.device.cuda.device_count():
        ...     stream = wherry.device.cuda.current_stream()
    """
    return devices.Stream(stream_base=_core.get_stream(_gpu("current_stream", device)))


def stream_guard(stream: devices.Stream) -> AbstractContextManager[None]:
    """Inside `with`, this thread's operations go to `stream`; afterwards to the one before.

    Raises:
        TypeError: `stream` is not a Stream (also a ValueError); raised where `with` begins.

    Source:
        `paddle.device.cuda.stream_guard`.

    Examples:
        >>> if wherry.device.cuda.device_count():
        ...     with wherry.device.cuda.stream_guard(wherry.device.cuda.Stream()):
        ...         x = wherry.ones([2]).cuda()
    """
    return devices.stream_guard(stream)
