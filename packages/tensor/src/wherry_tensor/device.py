"""Places and devices. This package computes on the CPU; other devices come with their own packages.

A package names itself in the entry points of the group `wherry.devices`; it is asked when somebody
names its device. What concerns a device that is absent says so. docs/devices.md is for those who
write such a package.
"""
from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from wherry_tensor import _core, flags
from wherry_tensor.arguments import flag, require
from wherry_tensor.errors import InvalidArgumentError, InvalidTypeError, PermissionDeniedError, short

__all__ = [
    "CPUPlace",
    "CUDAPinnedPlace",
    "CUDAPlace",
    "CustomPlace",
    "Event",
    "IPUPlace",
    "MLUPlace",
    "NPUPlace",
    "Place",
    "Stream",
    "XPUPlace",
    "current_stream",
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
    "set_stream",
    "stream_guard",
    "synchronize",
]


class Place:
    """Where a tensor's memory is: `Place(cpu)`, `Place(gpu:0)`, ... Places compare by value.

    Args:
        kind: of device: "cpu", "gpu", ...
        device_id: its number.

    Source:
        `paddle.base.core.Place`.

    Examples:
        >>> wherry.ones([2]).place == wherry.CPUPlace()
        True
        >>> wherry.ones([2]).place.is_gpu_place()
        False
    """

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
        """The number of the GPU; 0 for the CPU."""
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


class _DevicePlace(Place):
    """A device that comes with a package of its own."""

    __slots__ = ()
    _named = ""

    def __init__(self, device_id: int = 0) -> None:
        _check_there(type(self).__name__, self._named, device_id)
        super().__init__(self._named, device_id)


class CUDAPlace(_DevicePlace):
    """A GPU: `CUDAPlace(0)` is the first.

    Args:
        device_id: which one, from 0.

    Raises:
        RuntimeError: no package for GPUs is installed, or the number does not exist.

    Source:
        `paddle.CUDAPlace`.

    Examples:
        >>> place = wherry.CUDAPlace(0) if wherry.device.cuda.device_count() else wherry.CPUPlace()
        >>> wherry.zeros([2]).to(place).shape
        [2]
    """

    __slots__ = ()
    _named = "gpu"


class CUDAPinnedPlace(_DevicePlace):
    """CPU memory from which a GPU copies faster.

    Raises:
        RuntimeError: no package for GPUs is installed, or the number does not exist.

    Source:
        `paddle.CUDAPinnedPlace`.

    Examples:
        >>> if wherry.device.cuda.device_count():
        ...     x = wherry.to_tensor([1.0, 2.0], place=wherry.CUDAPinnedPlace())
    """

    __slots__ = ()
    _named = "gpu_pinned"

    def __init__(self) -> None:
        super().__init__()


class XPUPlace(_DevicePlace):
    """An XPU: `XPUPlace(0)` is the first.

    Args:
        device_id: which one, from 0.

    Raises:
        RuntimeError: no package for XPUs is installed, or the number does not exist.

    Source:
        `paddle.XPUPlace`.

    Examples:
        >>> place = wherry.XPUPlace(0) if wherry.is_compiled_with_xpu() else wherry.CPUPlace()
    """

    __slots__ = ()
    _named = "xpu"


class XPUPinnedPlace(_DevicePlace):
    """CPU memory from which an XPU copies faster.

    Raises:
        RuntimeError: no package for XPUs is installed.

    Source:
        `paddle.XPUPinnedPlace`.

    Examples:
        >>> if wherry.is_compiled_with_xpu():
        ...     x = wherry.to_tensor([1.0, 2.0], place=wherry.XPUPinnedPlace())
    """

    __slots__ = ()
    _named = "xpu_pinned"

    def __init__(self) -> None:
        super().__init__()


class NPUPlace(_DevicePlace):
    """An NPU: `NPUPlace(0)` is the first.

    Args:
        device_id: which one, from 0.

    Raises:
        RuntimeError: no package for NPUs is installed, or the number does not exist.

    Source:
        `paddle.NPUPlace` of 2.3.

    Examples:
        >>> place = wherry.NPUPlace(0) if wherry.is_compiled_with_npu() else wherry.CPUPlace()
    """

    __slots__ = ()
    _named = "npu"


class MLUPlace(_DevicePlace):
    """An MLU: `MLUPlace(0)` is the first.

    Args:
        device_id: which one, from 0.

    Raises:
        RuntimeError: no package for MLUs is installed, or the number does not exist.

    Source:
        `paddle.device.MLUPlace` of 2.3.

    Examples:
        >>> place = wherry.device.MLUPlace(0) if wherry.device.is_compiled_with_mlu() else wherry.CPUPlace()
    """

    __slots__ = ()
    _named = "mlu"


class IPUPlace(_DevicePlace):
    """An IPU.

    Raises:
        RuntimeError: no package for IPUs is installed, or the number does not exist.

    Source:
        `paddle.device.IPUPlace`.

    Examples:
        >>> place = wherry.device.IPUPlace() if wherry.is_compiled_with_ipu() else wherry.CPUPlace()
    """

    __slots__ = ()
    _named = "ipu"

    def __init__(self) -> None:
        super().__init__()


class CustomPlace(_DevicePlace):
    """A plug-in device, by type and number.

    Args:
        device_type: the name of the kind of device, as "npu".
        device_id: which one, from 0.

    Raises:
        TypeError: `device_type` is not a str (also a ValueError).
        RuntimeError: no package for such devices is installed, or the number does not exist.

    Source:
        `paddle.CustomPlace`.

    Examples:
        >>> place = wherry.CustomPlace("npu", 0) if wherry.device.is_compiled_with_custom_device("npu") else wherry.CPUPlace()
    """

    __slots__ = ()

    def __init__(self, device_type: str, device_id: int = 0) -> None:
        if not isinstance(device_type, str):
            raise InvalidTypeError(
                f"CustomPlace: a device is named by a str. Got {short(device_type)}, expected 'npu' or the like."
            )
        _check_there("CustomPlace", device_type, device_id)
        Place.__init__(self, _spelled(device_type), device_id)


# Kinds of devices that Paddle names, and what they are; others are known once their package is.
_PADDLES = {
    "gpu": "GPUs", "gpu_pinned": "GPUs", "xpu": "Kunlun XPUs", "npu": "Ascend NPUs", "mlu": "Cambricon MLUs", "ipu": "Graphcore IPUs",
    "dcu": "Hygon DCUs", "rocm": "AMD GPUs",
}  # fmt: skip
# How the package of Wherry's own is installed, for kinds that have one.
_INSTALL = {"gpu": ": for NVIDIA GPUs pip install wherry-ops-cuda, then compile its kernels once with python -m wherry_ops_cuda build"}
_PINNED = "gpu_pinned"  # memory of the host: a place for tensors, not one that computes
_asked: set[str] = set()

# What the package of a kind of device tells of each: kind -> function of the number that gives `cuda.DeviceProperties` by name.
descriptions: dict[str, Callable[[int], dict[str, Any]]] = {}

# Further lines for a check of the installation, from the package of a kind of device.
notes: dict[str, Callable[[], list[str]]] = {}

# What makes one kernel of several element-wise ops, for executors of programs: kind -> function that gives an object with the methods
# `takes(op, dtypes, attrs, dtype of the result)` and `make(nodes, operands, outputs, shape, number of the device)`, or None. What `make`
# returns has `kernel` (address of a `wry_kernel`), `address` (its `call->data`) and `name`, and lives as long as it is used.
chains: dict[str, Callable[[], Any]] = {}

# Kinds whose package is installed and found no device that it can use: kind -> what is missing, and what to do about it.
unavailable: dict[str, str] = {}

# What was found and cannot be used, and why: a sentence each. Errors about absent devices say it too.
failures: list[str] = []


def _entry_points() -> Any:
    from importlib.metadata import entry_points

    return entry_points(group="wherry.devices")


def plugin_folders() -> list[str]:
    """The folders that libraries of devices are looked for in, first to last; they need not exist.

    `CUSTOM_DEVICE_ROOT` of the environment comes first, then `wherry-plugins` and `paddle-plugins` in each folder that packages
    are installed to.
    """
    import os
    import sys

    named = os.environ.get("CUSTOM_DEVICE_ROOT", "")
    installed = [os.path.dirname(os.path.dirname(os.path.abspath(__file__)))]
    installed += [path for path in sys.path if os.path.basename(path) in ("site-packages", "dist-packages")]
    found = [os.path.abspath(path) for path in named.split(os.pathsep) if path]
    found += [os.path.join(path, name) for path in installed for name in ("wherry-plugins", "paddle-plugins")]
    return list(dict.fromkeys(found))


def _spelled(kind: str) -> str:
    """A kind of device as its package spells it: `customcpu` is found as `CustomCPU`."""
    kinds = _core.devices()
    return kind if kind in kinds else next((known for known in kinds if known.lower() == kind.lower()), kind)


def is_known(kind: str) -> bool:
    """Whether there is such a device. A package that may bring it is loaded now, once; if that fails, there is no device."""
    if _spelled(kind) in _core.devices():
        return True
    if kind not in _asked:
        _asked.add(kind)
        for point in _entry_points():
            if point.name.lower() == kind.lower() and point.name not in _core.devices():
                _asked.add(point.name)
                try:
                    point.load()()
                except Exception as error:  # other people's code; errors about the device repeat its failure
                    failures.append(f"The package that brings '{point.name}' ({point.value}) failed with {type(error).__name__}: {str(error)[:1000]}")
        if _spelled(kind) in _core.devices():
            _core.load_kernels(_spelled(kind))
    return _spelled(kind) in _core.devices()


def _kinds() -> list[str]:
    """The available kinds of devices, including those whose package is not loaded yet."""
    found = list(_core.devices())
    return found + sorted({point.name for point in _entry_points()} - set(found) - _asked)


def _code(kind: str, number: int, op_name: str) -> int:
    """The core's number of a device that is known."""
    count = _core.devices()[kind][1]
    if not 0 <= number < count:
        raise InvalidArgumentError(
            f"{op_name}: there is no such device. Got '{kind}:{number}', expected a number in [0, {count}). "
            f"Write '{kind}:0' for the first."
        )
    return int(_core.device_code(kind, number))


def _check_there(op_name: str, kind: str, number: int) -> None:
    if not is_known(kind):
        raise PermissionDeniedError(absent(op_name, kind))
    _code(_spelled(kind), number, op_name)


def absent(op_name: str, device: str) -> str:
    """Why `device` cannot be used: what kind of package it would need, and where one was looked for."""
    there = _kinds()
    there = [kind for kind in there if kind != _PINNED]
    expected = "'cpu', the only device here" if there == ["cpu"] else f"one of {', '.join(there)}"
    kind = device.partition(":")[0].lower()
    if kind in unavailable:
        return f"{op_name}: this device cannot be used here. Got '{device}', expected {expected}. {unavailable[kind]}"
    return (
        f"{op_name}: no package for this device is installed. Got '{device}', expected {expected}. "
        f"Use CPUPlace() or set_device('cpu'), or install its package{_INSTALL.get(kind, '')}. {_looked_for(device.partition(':')[0])}"
        f"{' '.join(['', *failures])}"
    )


def _looked_for(kind: str) -> str:
    import os

    named = os.environ.get("CUSTOM_DEVICE_ROOT", "")
    parents = dict.fromkeys(
        os.path.dirname(path) for path in plugin_folders() if os.path.basename(path) in ("wherry-plugins", "paddle-plugins")
    )
    whose = _PADDLES.get(kind.lower())
    return (
        f"Looked for a device plug-in called '{kind}'{f', one for {whose}' if whose else ''}: among the entry points wherry.devices of the "
        f"installed packages, and as a library in CUSTOM_DEVICE_ROOT ({named or 'not set'}) and the folders wherry-plugins and "
        f"paddle-plugins of {', '.join(parents)}."
    )


_CPU = CPUPlace()
_places: dict[int, Place] = {0: _CPU}


def _place_of_code(code: int) -> Place:
    place = _places.get(code)
    if place is None:
        kind, _, number = _core.name_of_device(code).partition(":")
        place = _places[code] = Place(kind, int(number))
    return place


def place_of(tensor: Any) -> Place:
    """The place of a tensor."""
    return _place_of_code(_core.device_of(tensor))


def as_place(place: Any, op_name: str) -> Place:
    """The Place that `place` names; None is the current device.

    Raises:
        ValueError: it is not the name of a device, or the device is absent.
    """
    if place is None:
        return _place_of_code(_core.get_current_device())
    if isinstance(place, str) and place.lower() == "cpu":
        return _CPU
    if isinstance(place, Place):
        return place
    named = _device_name(place) if isinstance(place, str) else None
    if named is None and names_absent_device(place):
        raise InvalidArgumentError(absent(op_name, place))
    if named is None:
        raise InvalidArgumentError(
            f"{op_name}: this is not a place. Got {short(place)}, expected 'cpu', 'gpu', 'gpu:0', ... or a Place. Write CPUPlace()."
        )
    if not is_known(named[0]):
        raise InvalidArgumentError(absent(op_name, place))
    return _place_of_code(_code(*named, op_name))


def device_code(place: Any, op_name: str) -> int:
    """The core's number of the device that `place` names; None is the current one. Errors as `as_place`."""
    if place is None:
        return int(_core.get_current_device())
    place = as_place(place, op_name)
    if place.is_cpu_place():
        return 0
    if not is_known(place._kind):
        raise InvalidArgumentError(absent(op_name, repr(place)[6:-1]))
    return _code(place._kind, place._id, op_name)


def names_device(value: Any) -> bool:
    """Whether `value` is a Place, or a str that has the form of a device's name and is not a dtype's."""
    return isinstance(value, Place) or (isinstance(value, str) and _device_name(value) is not None)


def names_absent_device(device: Any) -> bool:
    """Whether `device` could be the name of a plug-in's device, as "CustomCPU:0", were it there."""
    if not isinstance(device, str):
        return False
    kind, colon, number = device.partition(":")
    return kind.isidentifier() and kind.lower() != "cpu" and (not colon or number.isdecimal())


def _selected(kind: str) -> int:
    """The number of the device where only its kind is named: the first of FLAGS_selected_npus, say, and 0 otherwise."""
    name = f"FLAGS_selected_{kind.lower()}s"
    first = flags.text_of(name).partition(",")[0].strip()
    if first and not first.isdecimal():
        raise InvalidArgumentError(
            f"{name}: devices are numbered. Got {short(first)}, expected numbers separated by commas, like '0,1'. Set it to '0'."
        )
    return int(first or 0)


def _device_name(device: str) -> tuple[str, int] | None:
    """Kind and number of the device in "gpu" or "gpu:0"; None where the text names no kind of device."""
    kind, colon, number = device.partition(":")
    if kind.lower() in ("cpu", *_PADDLES):
        kind = kind.lower()
    if (colon and not number.isdecimal()) or (kind == "cpu" and colon):
        return None
    if kind != "cpu" and kind not in _PADDLES and not (kind.isidentifier() and is_known(kind)):
        return None
    return _spelled(kind), 0 if kind == "cpu" else int(number) if number else _selected(kind)


def set_device(device: str) -> Place:
    """Choose the device that new tensors are made on, for the whole process.

    Args:
        device: "cpu"; "gpu", "gpu:0", "xpu", ... where a package for such devices is installed.

    Returns:
        Its place.

    Raises:
        TypeError: `device` is not a str.
        ValueError: the device does not exist.

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
            f"set_device: a device is named by a str. Got {short(device)}, expected 'cpu'. Write set_device('cpu')."
        )
    if _device_name(device) is None and not names_absent_device(device):
        raise InvalidArgumentError(
            f"set_device: this is not the name of a device. Got {short(device)}, expected 'cpu', 'gpu', 'gpu:0', 'xpu', ... "
            f"Check the spelling.{' '.join(['', *failures])}"
        )
    place = as_place(device, "set_device")
    if place.is_cuda_pinned_place():
        raise InvalidArgumentError(
            "set_device: pinned memory is a place for tensors, nothing computes there. Got 'gpu_pinned', expected 'gpu', 'cpu', ... "
            "Write x.pin_memory(), or to_tensor(x, place=CUDAPinnedPlace())."
        )
    code = device_code(place, "set_device")
    _core.load_kernels(_core.name_of_device(code).partition(":")[0])  # of packages that add to the device's own
    _core.set_current_device(code)
    return place


def get_device() -> str:
    """The device that new tensors are made on, as in "cpu".

    Source:
        `paddle.get_device`.

    Examples:
        >>> wherry.get_device()
        'cpu'
    """
    return str(_core.name_of_device(_core.get_current_device()))


def synchronize(device: Any = None) -> None:
    """Wait until everything that was started on the device is done; on the CPU that is at once.

    Raises:
        ValueError: the device does not exist.

    Source:
        `paddle.device.synchronize`; Paddle refuses the CPU here.

    Examples:
        >>> wherry.device.synchronize()
    """
    _core.synchronize(device_code(device, "synchronize"))


def is_compiled_with_cuda() -> bool:
    """Whether a package for GPUs is installed.

    Source:
        `paddle.is_compiled_with_cuda`.

    Examples:
        >>> place = wherry.CUDAPlace(0) if wherry.is_compiled_with_cuda() else wherry.CPUPlace()
    """
    return is_known("gpu") or "gpu" in unavailable


def is_compiled_with_rocm() -> bool:
    """Whether there is a package for AMD GPUs or Hygon DCUs.

    Source:
        `paddle.is_compiled_with_rocm`.

    Examples:
        >>> wherry.is_compiled_with_rocm()
        False
    """
    return is_known("rocm") or is_known("dcu")


def is_compiled_with_xpu() -> bool:
    """Whether there is a package for XPUs.

    Source:
        `paddle.is_compiled_with_xpu`.

    Examples:
        >>> wherry.is_compiled_with_xpu()
        False
    """
    return is_known("xpu")


def is_compiled_with_npu() -> bool:
    """Whether there is a package for NPUs.

    Source:
        `paddle.is_compiled_with_npu` of 2.3.

    Examples:
        >>> wherry.is_compiled_with_npu()
        False
    """
    return is_known("npu")


def is_compiled_with_mlu() -> bool:
    """Whether there is a package for MLUs.

    Source:
        `paddle.device.is_compiled_with_mlu` of 2.3.

    Examples:
        >>> wherry.device.is_compiled_with_mlu()
        False
    """
    return is_known("mlu")


def is_compiled_with_ipu() -> bool:
    """Whether there is a package for IPUs.

    Source:
        `paddle.device.is_compiled_with_ipu`.

    Examples:
        >>> wherry.is_compiled_with_ipu()
        False
    """
    return is_known("ipu")


def is_compiled_with_cinn() -> bool:
    """False: CINN is Paddle's own compiler.

    Source:
        `paddle.is_compiled_with_cinn`.

    Examples:
        >>> wherry.is_compiled_with_cinn()
        False
    """
    return False


def is_compiled_with_distribute() -> bool:
    """False: training on several machines has a package of its own.

    Source:
        `paddle.is_compiled_with_distribute`.

    Examples:
        >>> wherry.is_compiled_with_distribute()
        False
    """
    return False


def is_compiled_with_custom_device(device_type: str) -> bool:
    """Whether a plug-in for `device_type` is installed.

    Args:
        device_type: the name of the kind of device; False for what is not a str.

    Source:
        `paddle.device.is_compiled_with_custom_device`.

    Examples:
        >>> wherry.device.is_compiled_with_custom_device("npu")
        False
    """
    return isinstance(device_type, str) and is_known(device_type) and Place(_spelled(device_type)).is_custom_place()


def get_all_device_type() -> list[str]:
    """Kinds of devices that tensors can live on.

    Source:
        `paddle.device.get_all_device_type`.

    Examples:
        >>> wherry.device.get_all_device_type()
        ['cpu']
    """
    return [kind for kind in _kinds() if kind != _PINNED]


def get_all_custom_device_type() -> list[str]:
    """Kinds of plug-in devices that are installed.

    Source:
        `paddle.device.get_all_custom_device_type`.

    Examples:
        >>> wherry.device.get_all_custom_device_type()
        []
    """
    return [kind for kind in _kinds() if Place(kind).is_custom_place()]


def get_available_device() -> list[str]:
    """Devices that tensors can live on, by name.

    Source:
        `paddle.device.get_available_device`.

    Examples:
        >>> wherry.device.get_available_device()[0]
        'cpu'
    """
    found = ["cpu"]
    for kind in _kinds():
        if kind not in ("cpu", _PINNED) and is_known(kind):
            found += [f"{kind}:{number}" for number in range(_core.devices()[kind][1])]
    return found


def get_available_custom_device() -> list[str]:
    """Plug-in devices that tensors can live on, by name.

    Source:
        `paddle.device.get_available_custom_device`.

    Examples:
        >>> wherry.device.get_available_custom_device()
        []
    """
    return [name for name in get_available_device() if Place(name.partition(":")[0]).is_custom_place()]


def get_cudnn_version() -> int | None:
    """None: no version of cuDNN is told.

    Source:
        `paddle.get_cudnn_version`, which gives None where Paddle was built without CUDA.

    Examples:
        >>> wherry.get_cudnn_version() is None
        True
    """
    return None


def memory_allocated(device: Any = None) -> int:
    """Bytes that tensors of this process hold on a device.

    Args:
        device: a place or the name of a device; None is the current one.

    Raises:
        ValueError: `device` is not a device, or it does not exist.

    Examples:
        >>> before = wherry.device.memory_allocated()
        >>> x = wherry.zeros([1024], "float32")
        >>> wherry.device.memory_allocated() - before >= 4096
        True
    """
    return int(_core.memory_stats(device_code(device, "memory_allocated"))["allocated"])


def who_holds(code: int) -> str:
    """The memory in use on the device of this code, for messages: totals, and the largest tensors."""
    unit = 1 << 20
    stats = _core.memory_stats(code)
    kept = stats["reserved"] - stats["allocated"]
    text = f"Tensors hold {stats['allocated'] / unit:.1f} MiB, {kept / unit:.1f} MiB are kept for the next ones"
    holders = _core.memory_holders(code)[:5]
    if not holders:
        return f"{text}."
    return f"{text}; the largest: " + ", ".join(f"{x.name} {x.dtype.name} {x.shape} {nbytes / unit:.1f} MiB" for nbytes, x in holders) + "."


def max_memory_allocated(device: Any = None) -> int:
    """The largest number of bytes that tensors of this process have held on a device at once.

    Args:
        device: a place or the name of a device; None is the current one.

    Raises:
        ValueError: `device` is not a device, or it does not exist.

    Examples:
        >>> x = wherry.zeros([1024], "float32")
        >>> wherry.device.max_memory_allocated() >= 4096
        True
    """
    return int(_core.memory_stats(device_code(device, "max_memory_allocated"))["peak_allocated"])


_STREAMS = "Make one with device.Stream(), or take device.current_stream()."
_EVENTS = "Make one with device.Event(), or take what record_event() returns."


class Stream:
    """A queue of work on a device; what is put on one stream runs in that order.

    Args:
        device: a device that has streams; None is the current one.
        priority: 1: where work of several streams waits, that of this one goes first; 2 (None): it does not.
        blocking: no effect.

    Raises:
        NotImplementedError: the device has one stream only, as the CPU has.
        ValueError: the device or the priority does not exist.
        TypeError: `stream_base`, or what a method is given, is not a stream or event (also a ValueError).

    Source:
        `paddle.device.Stream`.

    Examples:
        >>> if wherry.device.cuda.device_count():
        ...     stream = wherry.device.Stream("gpu")
        ...     with wherry.device.stream_guard(stream):
        ...         x = wherry.ones([2]).cuda()
        ...     stream.synchronize()
    """

    def __init__(self, device: Any = None, priority: int | None = 2, blocking: bool = False, stream_base: Any = None) -> None:
        if priority not in (None, 1, 2):
            raise InvalidArgumentError(f"Stream: unknown priority. Got {short(priority)}, expected 1 (goes first) or 2.")
        self.stream_base: Any = (
            _core.DeviceStream(device_code(device, "Stream"), False, priority or 2) if stream_base is None
            else require(stream_base, _core.DeviceStream, "Stream", "stream_base", "Leave it out.")
        )

    @property
    def device(self) -> Place:
        """The place whose stream it is."""
        return _place_of_code(self.stream_base.device)

    def synchronize(self) -> None:
        """Wait until everything on the stream has run; errors of that work are raised here."""
        self.stream_base.synchronize()

    def query(self) -> bool:
        """Whether everything on the stream has run."""
        return self.record_event().query()

    def wait_event(self, event: Event) -> None:
        """Let later work of this stream wait until `event` has passed."""
        self.stream_base.wait_event(require(event, Event, "wait_event", "event", _EVENTS).event_base)

    def wait_stream(self, stream: Stream) -> None:
        """Let later work of this stream wait for all that is on `stream` now."""
        self.wait_event(require(stream, Stream, "wait_stream", "stream", _STREAMS).record_event())

    def record_event(self, event: Event | None = None) -> Event:
        """An event that passes when everything on the stream has run."""
        event = Event(self.device) if event is None else require(event, Event, "record_event", "event", _EVENTS)
        event.record(self)
        return event

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Stream)
            and (self.stream_base.device, self.stream_base.handle) == (other.stream_base.device, other.stream_base.handle)
        )

    def __hash__(self) -> int:
        return hash((self.stream_base.device, self.stream_base.handle))

    def __repr__(self) -> str:
        return f"<Stream of {self.device} at {self.stream_base.handle:#x}>"


class Event:
    """A mark in a stream, which a stream or the program can wait for.

    Args:
        device: a device that has streams; None is the current one.
        enable_timing: `elapsed_time` is going to be asked for.
        blocking: who waits for it sleeps, instead of looking again and again.
        interprocess: other processes may wait for it; such an event cannot measure time.

    Raises:
        NotImplementedError: the device has one stream only, as the CPU has.
        ValueError: the device does not exist, or `enable_timing` and `interprocess` are both set.

    Source:
        `paddle.device.Event`.

    Examples:
        >>> if wherry.device.cuda.device_count():
        ...     start, end = (wherry.device.Event("gpu", enable_timing=True) for _ in range(2))
        ...     start.record()
        ...     x = wherry.ones([2]).cuda() + 1
        ...     end.record()
        ...     milliseconds = start.elapsed_time(end)
    """

    def __init__(
        self, device: Any = None, enable_timing: bool = False, blocking: bool = False, interprocess: bool = False
    ) -> None:
        for name, given in (("enable_timing", enable_timing), ("blocking", blocking), ("interprocess", interprocess)):
            flag(given, "Event", name)
        if enable_timing and interprocess:
            raise InvalidArgumentError(
                "Event: an interprocess event cannot measure time. Got enable_timing and interprocess, expected one of them."
            )
        self.event_base = _core.DeviceEvent(device_code(device, "Event"), enable_timing + 2 * blocking + 4 * interprocess)
        self._timed = enable_timing

    def record(self, stream: Stream | None = None) -> None:
        """Mark the place that `stream` has come to; None is the current stream."""
        stream = current_stream(_place_of_code(self.event_base.device)) if stream is None else stream
        self.event_base.record(require(stream, Stream, "Event.record", "stream", _STREAMS).stream_base)

    def query(self) -> bool:
        """Whether everything before the mark has run."""
        return bool(self.event_base.query())

    def synchronize(self) -> None:
        """Wait until everything before the mark has run."""
        self.event_base.synchronize()

    def elapsed_time(self, end_event: Event) -> float:
        """Milliseconds from this mark to another, on the device; waits for both.

        Raises:
            TypeError: `end_event` is not an Event (also a ValueError).
            RuntimeError: one of the two was made without `enable_timing`, or not recorded.
        """
        end_event = require(end_event, Event, "elapsed_time", "end_event", _EVENTS)
        if not (self._timed and end_event._timed):
            raise RuntimeError("elapsed_time: an event does not measure time. Got one without enable_timing, expected Event(enable_timing=True).")
        self.synchronize()
        end_event.synchronize()
        milliseconds = float(self.event_base.elapsed(end_event.event_base))
        if milliseconds < 0:
            raise RuntimeError("elapsed_time: an event was never recorded. Got no record() of it, expected one for both events. Call record() first.")
        return milliseconds


def current_stream(device: Any = None) -> Stream:
    """The stream that this thread's operations go to.

    Args:
        device: a place or the name of a device; None is the current one.

    Raises:
        ValueError: `device` is not a device, or it does not exist.

    Source:
        `paddle.device.current_stream`.

    Examples:
        >>> wherry.device.current_stream("cpu").device
        Place(cpu)
    """
    return Stream(stream_base=_core.get_stream(device_code(device, "current_stream")))


def set_stream(stream: Stream) -> Stream:
    """Let this thread's operations go to `stream`.

    Returns:
        The stream before.

    Raises:
        TypeError: `stream` is not a Stream (also a ValueError).

    Source:
        `paddle.device.set_stream`.

    Examples:
        >>> if wherry.device.cuda.device_count():
        ...     before = wherry.device.set_stream(wherry.device.Stream("gpu"))
        ...     last = wherry.device.set_stream(before)
    """
    return Stream(stream_base=_core.set_stream(require(stream, Stream, "set_stream", "stream", _STREAMS).stream_base))


@contextmanager
def stream_guard(stream: Stream) -> Iterator[None]:
    """Inside `with`, this thread's operations go to `stream`; afterwards to the one before.

    Raises:
        TypeError: `stream` is not a Stream (also a ValueError); raised where `with` begins.

    Source:
        `paddle.device.stream_guard`.

    Examples:
        >>> with wherry.device.stream_guard(wherry.device.current_stream()):
        ...     y = wherry.ones([2]) + 1
    """
    before = set_stream(stream)
    try:
        yield
    finally:
        set_stream(before)
