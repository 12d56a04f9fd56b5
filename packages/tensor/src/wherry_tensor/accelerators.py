"""Devices by the names of PyTorch: what `paddle.device` and `paddle.cuda` have in Paddle 3. Each says it with names that are here already."""
from __future__ import annotations

from types import TracebackType
from typing import Any

from wherry_tensor import _core, cuda
from wherry_tensor import device as devices
from wherry_tensor.arguments import integer
from wherry_tensor.errors import UnimplementedError, short
from wherry_tensor.functions import random

__all__ = [
    "StreamContext", "cudart", "check_error", "current_device", "device", "device_guard", "get_rng_state", "get_stream_from_external", "ipc_collect",
    "is_available", "is_bf16_supported", "is_current_stream_capturing", "is_initialized", "manual_seed", "manual_seed_all", "mem_get_info",
    "memory_summary", "reset_peak_memory_stats", "set_device", "set_rng_state", "set_stream", "vmm_compact",
]

StreamContext = devices.stream_guard
set_stream = devices.set_stream


def is_available() -> bool:
    """Whether there is a GPU, or another device than the CPU that a plug-in brings.

    Source:
        `paddle.device.is_available`.

    Examples:
        >>> wherry.device.is_available() == (len(wherry.device.get_available_device()) > 1)
        True
    """
    return len(devices.get_available_device()) > 1


def is_initialized() -> bool:
    """Whether the CUDA runtime runs: where there is a GPU it does.

    Source:
        `paddle.cuda.is_initialized`.

    Examples:
        >>> wherry.cuda.is_initialized() == (wherry.cuda.device_count() > 0)
        True
    """
    return cuda.device_count() > 0


def is_bf16_supported(including_emulation: bool = True) -> bool:
    """Whether tensors of bfloat16 can be computed with: always, in float32 where the device has nothing narrower.

    Args:
        including_emulation: False asks for a GPU of compute capability 8 or newer.

    Source:
        `paddle.device.is_bf16_supported`.

    Examples:
        >>> wherry.device.is_bf16_supported()
        True
    """
    return bool(including_emulation) or cuda.device_count() > 0 and cuda.get_device_capability()[0] >= 8


def is_current_stream_capturing() -> bool:
    """Whether the current stream records a CUDA graph.

    Source:
        `paddle.device.is_current_stream_capturing`.

    Examples:
        >>> wherry.device.is_current_stream_capturing()
        False
    """
    return bool(cuda.device_count() and _core.is_capturing(_core.device_code("gpu", current_device())))


def current_device() -> int:
    """The number of the current GPU; 0 where the CPU is the current device.

    Source:
        `paddle.cuda.current_device`.

    Examples:
        >>> wherry.cuda.current_device() >= 0
        True
    """
    return int(_number(devices.get_device()))


def _number(name: str) -> str:
    return name.partition(":")[2] or "0"


def set_device(device: Any) -> None:
    """Make a GPU the current device.

    Args:
        device: its number, a name as "gpu:0", or a place.

    Raises:
        ValueError: it does not exist.

    Source:
        `paddle.cuda.set_device`.

    Examples:
        >>> if wherry.cuda.device_count():
        ...     wherry.cuda.set_device(0)
    """
    devices.set_device(_name(device, "set_device"))


def _name(given: Any, op_name: str) -> str:
    if isinstance(given, int) and not isinstance(given, bool):
        return f"gpu:{given}"
    return str(_core.name_of_device(devices.device_code(given.replace("cuda", "gpu") if isinstance(given, str) else given, op_name)))


class device:
    """The current device inside `with`: `with wherry.device.device("cpu"):`.

    Args:
        device: a name, a place, or the number of a GPU; negative numbers and None change nothing.

    Raises:
        ValueError: it does not exist.

    Source:
        `paddle.device.device`.

    Examples:
        >>> with wherry.device.device("cpu"):
        ...     x = wherry.ones([2])
        >>> x.place
        Place(cpu)
    """

    def __init__(self, device: Any) -> None:
        self.name = None if device is None or isinstance(device, int) and device < 0 else _name(device, "device")
        self._before: list[str] = []

    def __enter__(self) -> None:
        self._before.append(devices.get_device())
        if self.name is not None:
            devices.set_device(self.name)

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None) -> None:
        devices.set_device(self._before.pop())


device_guard = device


def get_rng_state(device: Any = None) -> Any:
    """The state of a device's generator.

    Args:
        device: its name or place; None: the current one.

    Raises:
        ValueError: the device does not exist.

    Source:
        `paddle.device.get_rng_state`.

    Examples:
        >>> state = wherry.device.get_rng_state()
        >>> wherry.device.set_rng_state(state)
    """
    return random.get_rng_state(None if device is None else _name(device, "get_rng_state"))[0]


def set_rng_state(new_state: Any, device: Any = None) -> None:
    """Give a device's generator a state that `get_rng_state` gave.

    Args:
        new_state: the state.
        device: its name or place; None: the current one.

    Raises:
        TypeError: it is not a state (also a ValueError).

    Source:
        `paddle.device.set_rng_state`.

    Examples:
        >>> state = wherry.device.get_rng_state()
        >>> first = wherry.rand([2])
        >>> wherry.device.set_rng_state(state)
        >>> bool((wherry.rand([2]) == first).all())
        True
    """
    random.set_rng_state([new_state], None if device is None else _name(device, "set_rng_state"))


def manual_seed(seed: int) -> None:
    """Start the generators over; one seed gives the same numbers on every device.

    Raises:
        TypeError: the seed is not an int (also a ValueError).

    Source:
        `paddle.device.manual_seed`; `paddle.cuda.manual_seed_all` is the same.

    Examples:
        >>> wherry.device.manual_seed(7)
        >>> first = wherry.rand([2])
        >>> wherry.device.manual_seed(7)
        >>> bool((wherry.rand([2]) == first).all())
        True
    """
    random.seed(integer(seed, "manual_seed", "seed"))


manual_seed_all = manual_seed


def reset_peak_memory_stats(device: Any = None) -> None:
    """Count the most memory of a GPU from now on.

    Raises:
        ValueError: there is no such GPU.

    Source:
        `paddle.device.reset_peak_memory_stats`.

    Examples:
        >>> if wherry.cuda.device_count():
        ...     wherry.device.reset_peak_memory_stats()
    """
    cuda.reset_max_memory_allocated(device)
    cuda.reset_max_memory_reserved(device)


def mem_get_info(device: Any = None) -> tuple[int, int]:
    """Free and total memory of a GPU in bytes, as far as this process knows: the total without what it holds.

    Raises:
        ValueError: there is no such GPU.

    Source:
        `paddle.cuda.mem_get_info`.

    Examples:
        >>> if wherry.cuda.device_count():
        ...     free, total = wherry.cuda.mem_get_info()
    """
    total = cuda.get_device_properties(device).total_memory
    return max(total - cuda.memory_reserved(device), 0), total


def memory_summary(device: Any = None) -> str:
    """What a GPU's memory holds, as text.

    Raises:
        ValueError: there is no such GPU.

    Source:
        `paddle.device.cuda.memory_summary`.

    Examples:
        >>> if wherry.cuda.device_count():
        ...     text = wherry.device.cuda.memory_summary()
    """
    rows = (
        ("allocated", cuda.memory_allocated), ("most allocated", cuda.max_memory_allocated), ("reserved", cuda.memory_reserved),
        ("most reserved", cuda.max_memory_reserved),
    )
    return "\n".join(f"{what:<16}{ask(device) / 2**20:>12.2f} MiB" for what, ask in rows)


def ipc_collect() -> None:
    """Free memory that was handed to other processes and is not used any more; here it goes with its tensors, so there is nothing to do.

    Source:
        `paddle.device.ipc_collect`.

    Examples:
        >>> wherry.device.ipc_collect()
    """


def vmm_compact(device: Any = None) -> None:
    """Move blocks of GPU memory together; the allocator here has none that it could move, so unused ones are returned.

    Source:
        `paddle.device.cuda.vmm_compact`.

    Examples:
        >>> wherry.device.cuda.vmm_compact()
    """
    cuda.empty_cache()


def get_stream_from_external(data_ptr: int, device: Any = None) -> Any:
    """Refused: streams of other libraries cannot be taken over.

    Raises:
        NotImplementedError: always.

    Source:
        `paddle.device.get_stream_from_external`.

    Examples:
        >>> if wherry.cuda.device_count():
        ...     stream = wherry.device.Stream("gpu")
    """
    raise UnimplementedError(
        f"get_stream_from_external: streams of other libraries cannot be taken over. Got {short(data_ptr)}, expected none. Make one with "
        f"device.Stream, and let the other library wait with synchronize()."
    )


def cudart() -> Any:
    """Refused: the CUDA runtime is not handed out.

    Raises:
        RuntimeError: always.

    Source:
        `paddle.cuda.cudart`.

    Examples:
        >>> wherry.cuda.is_available() == wherry.device.is_available()
        True
    """
    raise RuntimeError("cudart: the CUDA runtime is not handed out. Got a call of it, expected one of wherry.device.cuda. Use its functions.")


def check_error(res: int) -> None:
    """Raise for an error code of the CUDA runtime.

    Raises:
        RuntimeError: the code is not 0.

    Source:
        `paddle.cuda.check_error`.

    Examples:
        >>> wherry.cuda.check_error(0)
    """
    if integer(res, "check_error", "res"):
        raise RuntimeError(f"check_error: a call of the CUDA runtime failed. Got the code {res}, expected 0. CUDA's headers list the codes.")

