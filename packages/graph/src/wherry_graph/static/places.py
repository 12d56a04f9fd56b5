"""Lists of places, and stubs for devices that Wherry does not support."""
from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NoReturn

from wherry_tensor import _core
from wherry_tensor.device import CPUPlace, CUDAPlace, MLUPlace, NPUPlace, Place, XPUPlace, absent, device_code, is_known
from wherry_tensor.errors import InvalidArgumentError, UnavailableError, short
from wherry_tensor.explained import explained

__all__ = [
    "IpuCompiledProgram", "IpuStrategy", "cpu_places", "cuda_places", "ipu_shard_guard", "mlu_places", "npu_places", "set_ipu_shard",
    "xpu_places",
]


def cpu_places(device_count: int | None = None) -> list[Place]:
    """A list of `device_count` CPUPlaces.

    Args:
        device_count: None is the environment variable CPU_NUM, or 1.

    Raises:
        ValueError: `device_count` is not a number from 0 to 65536.

    Source:
        `paddle.static.cpu_places`, which counts cores where CPU_NUM is not set.

    Examples:
        >>> wherry.static.cpu_places(2)
        [Place(cpu), Place(cpu)]
    """
    count = int(os.environ.get("CPU_NUM", 1)) if device_count is None else device_count
    if not isinstance(count, int) or not 0 <= count <= 2**16:
        raise InvalidArgumentError(
            f"cpu_places: places are counted. Got device_count={short(count)}, expected a number of 0 to {2**16}. Leave it out for 1."
        )
    return [CPUPlace() for _ in range(count)]


def _places(what: str, kind: Any, ids: int | Sequence[int] | None) -> list[Place]:
    if ids is None:
        name = kind._named
        numbers: Sequence[int] = range(_core.devices()[name][1] if is_known(name) else 0)
    else:
        numbers = [ids] if isinstance(ids, int) else list(ids)
    found = [kind(i) for i in numbers]
    for place in found:
        device_code(place, what)  # refuses those that are not there
    if not found:
        raise UnavailableError(absent(what, kind._named))
    return found


def cuda_places(device_ids: int | Sequence[int] | None = None) -> list[Place]:
    """The places of GPUs by their numbers; None takes all.

    Raises:
        ValueError, RuntimeError: there is no such GPU, or no kernels for it.

    Source:
        `paddle.static.cuda_places`.

    Examples:
        >>> try:
        ...     places = wherry.static.cuda_places()
        ... except RuntimeError:  # GPUs need a package with their kernels
        ...     places = wherry.static.cpu_places()
    """
    return _places("cuda_places", CUDAPlace, device_ids)


def xpu_places(device_ids: int | Sequence[int] | None = None) -> list[Place]:
    """The places of XPUs by their numbers; None takes all.

    Raises:
        RuntimeError: there is no such device, or no kernels for it.

    Source:
        `paddle.static.xpu_places`.

    Examples:
        >>> try:
        ...     places = wherry.static.xpu_places()
        ... except RuntimeError:  # XPUs need a package with their kernels
        ...     places = wherry.static.cpu_places()
    """
    return _places("xpu_places", XPUPlace, device_ids)


def npu_places(device_ids: int | Sequence[int] | None = None) -> list[Place]:
    """The places of NPUs by their numbers; None takes all.

    Raises:
        RuntimeError: there is no such device, or no kernels for it.

    Source:
        `paddle.static.npu_places` of Paddle 2.3.

    Examples:
        >>> try:
        ...     places = wherry.static.npu_places()
        ... except RuntimeError:  # NPUs need a package with their kernels
        ...     places = wherry.static.cpu_places()
    """
    return _places("npu_places", NPUPlace, device_ids)


def mlu_places(device_ids: int | Sequence[int] | None = None) -> list[Place]:
    """The places of MLUs by their numbers; None takes all.

    Raises:
        RuntimeError: there is no such device, or no kernels for it.

    Source:
        `paddle.static.mlu_places` of Paddle 2.3.

    Examples:
        >>> try:
        ...     places = wherry.static.mlu_places()
        ... except RuntimeError:  # MLUs need a package with their kernels
        ...     places = wherry.static.cpu_places()
    """
    return _places("mlu_places", MLUPlace, device_ids)


def _no_ipu(what: str) -> NoReturn:
    raise UnavailableError(
        f"{what}: it belongs to Graphcore's IPUs, for which no package brings kernels. Got a call, expected none. Run the program as it is."
    )


@contextmanager
def ipu_shard_guard(index: int = -1, stage: int = -1) -> Iterator[None]:
    """Not available: sets the IPU on which ops run.

    Raises:
        RuntimeError: always.

    Source:
        `paddle.static.ipu_shard_guard`.

    Examples:
        >>> with wherry.static.ipu_shard_guard():
        ...     pass
        Traceback (most recent call last):
        wherry_tensor.errors.UnavailableError: (Unavailable) ipu_shard_guard: it belongs to Graphcore's IPUs, ...
    """
    _no_ipu("ipu_shard_guard")
    yield


def set_ipu_shard(call_func: Any, index: int = -1, stage: int = -1) -> NoReturn:
    """Not available: sets the IPU on which a layer runs.

    Raises:
        RuntimeError: always: no package has kernels for IPUs.

    Source:
        `paddle.static.set_ipu_shard`.

    Examples:
        >>> wherry.static.set_ipu_shard(wherry.nn.ReLU())
        Traceback (most recent call last):
        wherry_tensor.errors.UnavailableError: (Unavailable) set_ipu_shard: it belongs to Graphcore's IPUs, ...
    """
    _no_ipu("set_ipu_shard")


class IpuCompiledProgram:
    """Not available: a program compiled for IPUs.

    Raises:
        RuntimeError: always: no package has kernels for IPUs.

    Source:
        `paddle.static.IpuCompiledProgram`.

    Examples:
        >>> wherry.static.IpuCompiledProgram()
        Traceback (most recent call last):
        wherry_tensor.errors.UnavailableError: (Unavailable) IpuCompiledProgram: it belongs to Graphcore's IPUs, ...
    """

    def __init__(self, program: Any = None, scope: Any = None, ipu_strategy: Any = None) -> None:
        _no_ipu("IpuCompiledProgram")

    def compile(self, feed_list: Any, fetch_list: Any) -> NoReturn:
        """Raises RuntimeError."""
        _no_ipu("IpuCompiledProgram.compile")


class IpuStrategy:
    """Not available: options for programs on IPUs.

    Raises:
        RuntimeError: always: no package has kernels for IPUs.

    Source:
        `paddle.static.IpuStrategy`.

    Examples:
        >>> wherry.static.IpuStrategy()
        Traceback (most recent call last):
        wherry_tensor.errors.UnavailableError: (Unavailable) IpuStrategy: it belongs to Graphcore's IPUs, ...
    """

    num_ipus = property(lambda self: _no_ipu("IpuStrategy.num_ipus"), doc="How many IPUs.")
    is_training = property(lambda self: _no_ipu("IpuStrategy.is_training"), doc="Does it train?")
    enable_pipelining = property(lambda self: _no_ipu("IpuStrategy.enable_pipelining"), doc="Is the program a pipeline?")
    enable_fp16 = property(lambda self: _no_ipu("IpuStrategy.enable_fp16"), doc="Does it compute in 16 bits?")

    def __init__(self) -> None:
        _no_ipu("IpuStrategy")

    def register_patch(self) -> NoReturn:
        """Raises RuntimeError."""
        _no_ipu("IpuStrategy.register_patch")

    def release_patch(self) -> NoReturn:
        """Raises RuntimeError."""
        _no_ipu("IpuStrategy.release_patch")

    def set_optimizer(self, optimizer: Any) -> NoReturn:
        """Raises RuntimeError."""
        _no_ipu("IpuStrategy.set_optimizer")

    def parse_optimizer(self, optimizer: Any) -> NoReturn:
        """Raises RuntimeError."""
        _no_ipu("IpuStrategy.parse_optimizer")

    def set_graph_config(
        self, num_ipus: int = 1, is_training: bool = True, micro_batch_size: int = 1, enable_manual_shard: bool = False
    ) -> NoReturn:
        """Raises RuntimeError."""
        _no_ipu("IpuStrategy.set_graph_config")

    def set_pipelining_config(
        self, enable_pipelining: bool = False, batches_per_step: int = 1, enable_gradient_accumulation: bool = False,
        accumulation_factor: int = 1,
    ) -> NoReturn:
        """Raises RuntimeError."""
        _no_ipu("IpuStrategy.set_pipelining_config")

    def set_precision_config(self, enable_fp16: bool = False) -> NoReturn:
        """Raises RuntimeError."""
        _no_ipu("IpuStrategy.set_precision_config")

    def add_custom_op(self, paddle_op: Any, popart_op: Any = None, domain: str = "custom.ops", version: int = 1) -> NoReturn:
        """Raises RuntimeError."""
        _no_ipu("IpuStrategy.add_custom_op")

    def set_options(self, options: Any) -> NoReturn:
        """Raises RuntimeError."""
        _no_ipu("IpuStrategy.set_options")

    def get_option(self, option: Any) -> NoReturn:
        """Raises RuntimeError."""
        _no_ipu("IpuStrategy.get_option")

    def enable_pattern(self, pattern: Any) -> NoReturn:
        """Raises RuntimeError."""
        _no_ipu("IpuStrategy.enable_pattern")

    def disable_pattern(self, pattern: Any) -> NoReturn:
        """Raises RuntimeError."""
        _no_ipu("IpuStrategy.disable_pattern")


explained(globals())
