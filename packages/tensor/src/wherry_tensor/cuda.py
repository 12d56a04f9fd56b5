"""GPUs, as `wherry.device.cuda`. Without a package for them their number is 0, and the rest raises."""
from __future__ import annotations

from typing import Any

from wherry_tensor.device import absent
from wherry_tensor.errors import InvalidArgumentError, UnavailableError

__all__ = [
    "device_count",
    "empty_cache",
    "get_device_capability",
    "get_device_name",
    "get_device_properties",
    "max_memory_allocated",
    "max_memory_reserved",
    "memory_allocated",
    "memory_reserved",
    "synchronize",
]


def device_count() -> int:
    """How many GPUs there are.

    Source:
        `paddle.device.cuda.device_count`.

    Examples:
        >>> wherry.device.cuda.device_count()
        0
    """
    return 0


def empty_cache() -> None:
    """Give unused GPU memory back. Source: `paddle.device.cuda.empty_cache`."""


def synchronize(device: Any = None) -> None:
    """Wait for a GPU. Raises RuntimeError without one. Source: `paddle.device.cuda.synchronize`."""
    raise UnavailableError(absent("device.cuda.synchronize", "gpu"))


def memory_allocated(device: Any = None) -> int:
    """Bytes in use on a GPU. Raises ValueError without one. Source: `paddle.device.cuda.memory_allocated`."""
    raise InvalidArgumentError(absent("device.cuda.memory_allocated", "gpu"))


def max_memory_allocated(device: Any = None) -> int:
    """Most bytes in use on a GPU. Raises ValueError without one. Source: `paddle.device.cuda.max_memory_allocated`."""
    raise InvalidArgumentError(absent("device.cuda.max_memory_allocated", "gpu"))


def memory_reserved(device: Any = None) -> int:
    """Bytes reserved on a GPU. Raises ValueError without one. Source: `paddle.device.cuda.memory_reserved`."""
    raise InvalidArgumentError(absent("device.cuda.memory_reserved", "gpu"))


def max_memory_reserved(device: Any = None) -> int:
    """Most bytes reserved on a GPU. Raises ValueError without one. Source: `paddle.device.cuda.max_memory_reserved`."""
    raise InvalidArgumentError(absent("device.cuda.max_memory_reserved", "gpu"))


def get_device_name(device: Any = None) -> str:
    """Name of a GPU. Raises ValueError without one. Source: `paddle.device.cuda.get_device_name`."""
    raise InvalidArgumentError(absent("device.cuda.get_device_name", "gpu"))


def get_device_properties(device: Any = None) -> Any:
    """What a GPU is. Raises ValueError without one. Source: `paddle.device.cuda.get_device_properties`."""
    raise InvalidArgumentError(absent("device.cuda.get_device_properties", "gpu"))


def get_device_capability(device: Any = None) -> tuple[int, int]:
    """Compute capability of a GPU. Raises ValueError without one. Source: `paddle.device.cuda.get_device_capability`."""
    raise InvalidArgumentError(absent("device.cuda.get_device_capability", "gpu"))
