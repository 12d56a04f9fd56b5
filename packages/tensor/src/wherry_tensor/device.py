"""Places and devices. This package computes on the CPU; other devices come with their own packages.

What concerns a device that is absent says so, and names what to install.
"""
from __future__ import annotations

from typing import Any

from wherry_tensor import _core
from wherry_tensor.errors import InvalidArgumentError, PermissionDeniedError

__all__ = [
    "CPUPlace",
    "CUDAPinnedPlace",
    "CUDAPlace",
    "CustomPlace",
    "IPUPlace",
    "NPUPlace",
    "Place",
    "XPUPlace",
    "cuda",
    "get_all_custom_device_type",
    "get_all_device_type",
    "get_available_custom_device",
    "get_available_device",
    "get_cudnn_version",
    "get_device",
    "is_compiled_with_cinn",
    "is_compiled_with_cuda",
    "is_compiled_with_custom_device",
    "is_compiled_with_distribute",
    "is_compiled_with_ipu",
    "is_compiled_with_mlu",
    "is_compiled_with_npu",
    "is_compiled_with_rocm",
    "is_compiled_with_xpu",
    "max_memory_allocated",
    "memory_allocated",
    "set_device",
    "synchronize",
]


class Place:
    """Where a tensor's memory is: `Place(cpu)`, `Place(gpu:0)`, ... Places compare by value."""

    __slots__ = ("_id", "_kind")
    _kind: str
    _id: int

    def __init__(self, kind: str = "cpu", device_id: int = 0) -> None:
        self._kind = kind
        self._id = device_id

    def is_cpu_place(self) -> bool:
        """Whether it is the memory of the CPU."""
        return self._kind == "cpu"

    def is_gpu_place(self) -> bool:
        """Whether it is a GPU."""
        return self._kind == "gpu"

    def is_cuda_pinned_place(self) -> bool:
        """Whether it is memory of the CPU from which a GPU copies faster."""
        return self._kind == "gpu_pinned"

    def is_xpu_place(self) -> bool:
        """Whether it is an XPU."""
        return self._kind == "xpu"

    def is_ipu_place(self) -> bool:
        """Whether it is an IPU."""
        return self._kind == "ipu"

    def is_custom_place(self) -> bool:
        """Whether it is a plug-in device."""
        return self._kind not in ("cpu", "gpu", "gpu_pinned", "xpu", "ipu")

    def gpu_device_id(self) -> int:
        """Number of the GPU, 0 where it is none."""
        return self._id

    def get_device_id(self) -> int:
        """Number of the device."""
        return self._id

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Place) and (self._kind, self._id) == (other._kind, other._id)

    def __hash__(self) -> int:
        return hash((self._kind, self._id))

    def __repr__(self) -> str:
        return f"Place({self._kind})" if self._kind in ("cpu", "gpu_pinned") else f"Place({self._kind}:{self._id})"


class CPUPlace(Place):
    """The memory of the CPU.

    Source:
        `paddle.CPUPlace`.

    Examples:
        >>> wherry.CPUPlace()
        Place(cpu)
        >>> wherry.to_tensor([1.0], place=wherry.CPUPlace()).place
        Place(cpu)
    """

    __slots__ = ()

    def __init__(self) -> None:
        super().__init__("cpu")


class _AbsentPlace(Place):
    """A device for which no package is installed."""

    __slots__ = ()
    _named = ""

    def __init__(self, device_id: int = 0) -> None:
        raise PermissionDeniedError(absent(type(self).__name__, self._named))


class CUDAPlace(_AbsentPlace):
    """A GPU: `CUDAPlace(0)` is the first. Raises RuntimeError while no package for GPUs is installed."""

    __slots__ = ()
    _named = "gpu"


class CUDAPinnedPlace(_AbsentPlace):
    """CPU memory from which a GPU copies faster. Raises RuntimeError without a package for GPUs."""

    __slots__ = ()
    _named = "gpu"

    def __init__(self) -> None:
        super().__init__()


class XPUPlace(_AbsentPlace):
    """An XPU. Raises RuntimeError: no package for it is installed."""

    __slots__ = ()
    _named = "xpu"


class NPUPlace(_AbsentPlace):
    """An NPU. Raises RuntimeError: no package for it is installed."""

    __slots__ = ()
    _named = "npu"


class IPUPlace(_AbsentPlace):
    """An IPU. Raises RuntimeError: no package for it is installed."""

    __slots__ = ()
    _named = "ipu"

    def __init__(self) -> None:
        super().__init__()


class CustomPlace(_AbsentPlace):
    """A plug-in device, by type and number. Raises RuntimeError: none is installed."""

    __slots__ = ()

    def __init__(self, device_type: str, device_id: int = 0) -> None:
        raise PermissionDeniedError(absent("CustomPlace", device_type))


def absent(op_name: str, device: str) -> str:
    kind = device.partition(":")[0].lower()
    hint = (
        "A package with kernels for GPUs does not exist yet." if kind in ("gpu", "gpu_pinned")
        else f"There is no package of ours for '{kind}'; its maker may have one."
    )
    return (
        f"{op_name}: no package for this device is installed. Got '{device}', expected 'cpu', the only device here. "
        f"Use CPUPlace() or set_device('cpu'). {hint}"
    )


_CPU = CPUPlace()


def place_of(tensor: Any) -> Place:
    """The place of a tensor."""
    return _CPU


def as_place(place: Any, op_name: str) -> Place:
    """The Place that `place` names; None is the current device.

    Raises:
        ValueError: it names no device, or one that is absent.
    """
    if place is None or place == "cpu":
        return _CPU
    if isinstance(place, Place):
        return place
    if isinstance(place, str) and _device_name(place) is not None:
        raise InvalidArgumentError(absent(op_name, place))
    raise InvalidArgumentError(
        f"{op_name}: this is no place. Got {place!r}, expected 'cpu', 'gpu', 'gpu:0', ... or a Place. Write CPUPlace()."
    )


def _device_name(device: str) -> str | None:
    """The kind of device in "gpu" or "gpu:0"; None where the text has no such form."""
    kind, colon, number = device.lower().partition(":")
    if kind not in ("gpu", "xpu", "npu", "mlu", "ipu", "gpu_pinned") or (colon and not number.isdecimal()):
        return None
    return kind


def set_device(device: str) -> Place:
    """Choose the device that new tensors are made on, for the whole process.

    Args:
        device: "cpu"; "gpu", "gpu:0", "xpu", ... where a package for such devices is installed.

    Returns:
        Its place.

    Raises:
        TypeError: `device` is not a str.
        ValueError: there is no such device.

    Source:
        `paddle.set_device`.

    Examples:
        >>> wherry.set_device("cpu")
        Place(cpu)
    """
    if isinstance(device, Place):
        device = repr(device)[6:-1]
    if not isinstance(device, str):
        raise TypeError(
            f"set_device: a device is named by a str. Got {device!r}, expected 'cpu'. Write set_device('cpu')."
        )
    if device.lower() == "cpu":
        return _CPU
    if _device_name(device) is None:
        raise InvalidArgumentError(
            f"set_device: this is no name of a device. Got {device!r}, expected 'cpu', 'gpu', 'gpu:0', 'xpu', ... "
            f"Check the spelling."
        )
    raise InvalidArgumentError(absent("set_device", device))


def get_device() -> str:
    """The device that new tensors are made on, as in "cpu".

    Source:
        `paddle.get_device`.

    Examples:
        >>> wherry.get_device()
        'cpu'
    """
    return "cpu"


def synchronize(device: Any = None) -> None:
    """Wait until everything that was started on the device is done; on the CPU that is at once.

    Raises:
        ValueError: there is no such device.

    Source:
        `paddle.device.synchronize`; Paddle refuses the CPU here.

    Examples:
        >>> wherry.device.synchronize()
    """
    as_place(device, "synchronize")


def is_compiled_with_cuda() -> bool:
    """Whether a package for GPUs is installed.

    Source:
        `paddle.is_compiled_with_cuda`.

    Examples:
        >>> place = wherry.CUDAPlace(0) if wherry.is_compiled_with_cuda() else wherry.CPUPlace()
    """
    return False


def is_compiled_with_rocm() -> bool:
    """False: there is no package for AMD GPUs. Source: `paddle.is_compiled_with_rocm`."""
    return False


def is_compiled_with_xpu() -> bool:
    """False: there is no package for XPUs. Source: `paddle.is_compiled_with_xpu`."""
    return False


def is_compiled_with_npu() -> bool:
    """False: there is no package for NPUs. Source: `paddle.is_compiled_with_npu` of 2.3."""
    return False


def is_compiled_with_mlu() -> bool:
    """False: there is no package for MLUs. Source: `paddle.device.is_compiled_with_mlu` of 2.3."""
    return False


def is_compiled_with_ipu() -> bool:
    """False: there is no package for IPUs. Source: `paddle.device.is_compiled_with_ipu`."""
    return False


def is_compiled_with_cinn() -> bool:
    """False: CINN is Paddle's own compiler. Source: `paddle.is_compiled_with_cinn`."""
    return False


def is_compiled_with_distribute() -> bool:
    """False: training on several machines has a package of its own. Source: `paddle.is_compiled_with_distribute`."""
    return False


def is_compiled_with_custom_device(device_type: str) -> bool:
    """Whether a plug-in for `device_type` is installed. Source: `paddle.device.is_compiled_with_custom_device`."""
    return False


def get_all_device_type() -> list[str]:
    """Kinds of devices that tensors can live on. Source: `paddle.device.get_all_device_type`.

    Examples:
        >>> wherry.device.get_all_device_type()
        ['cpu']
    """
    return ["cpu"]


def get_all_custom_device_type() -> list[str]:
    """Kinds of plug-in devices. Source: `paddle.device.get_all_custom_device_type`."""
    return []


def get_available_device() -> list[str]:
    """Devices that tensors can live on. Source: `paddle.device.get_available_device`."""
    return ["cpu"]


def get_available_custom_device() -> list[str]:
    """Plug-in devices. Source: `paddle.device.get_available_custom_device`."""
    return []


def get_cudnn_version() -> int | None:
    """Version of cuDNN, None without GPUs. Source: `paddle.get_cudnn_version`."""
    return None


def memory_allocated() -> int:
    """Bytes that tensors of this process hold on the CPU.

    Examples:
        >>> before = wherry.device.memory_allocated()
        >>> x = wherry.zeros([1024], "float32")
        >>> wherry.device.memory_allocated() - before >= 4096
        True
    """
    return int(_core.memory_stats()["allocated"])


def max_memory_allocated() -> int:
    """The largest number of bytes that tensors of this process have held on the CPU at once."""
    return int(_core.memory_stats()["peak_allocated"])


from wherry_tensor import cuda  # noqa: E402  the namespace of GPUs; it uses what stands above
