"""CUDA graphs, as `wherry.device.cuda.graphs`: work on a GPU that is captured once and replayed as one launch."""
from __future__ import annotations

import gc
import os
from typing import Any

from wherry_tensor import _core
from wherry_tensor import device as devices
from wherry_tensor.arguments import require
from wherry_tensor.cuda import _gpu
from wherry_tensor.errors import InvalidArgumentError, short

__all__ = ["ALL_MODES", "CUDAGraph", "is_cuda_graph_supported"]

ALL_MODES = ["global", "thread_local", "relaxed"]


def is_cuda_graph_supported() -> bool:
    """Whether there is a GPU that graphs can be captured on.

    Source:
        `paddle.device.cuda.graphs.is_cuda_graph_supported`.

    Examples:
        >>> from wherry.device.cuda import graphs
        >>> graphs.is_cuda_graph_supported()
        False
    """
    return devices.is_known("gpu")


class CUDAGraph:
    """Work on a GPU that is captured once and then runs as one launch each time it is replayed.

    Between `capture_begin` and `capture_end` ops do not run: what they would launch is written down, with the addresses of their tensors. A replay
    computes with what lies there then, so new inputs are copied into the tensors of the capture (`x.copy_`, `ops.copy.into`), and
    results are found in the tensors that the ops gave. Tensors that the captured work reads have to stay alive; those that it
    makes belong to the graph. What waits for the GPU, runs on the CPU, draws random numbers, or has a result whose shape depends on data is
    refused. Run the work once before it is captured, so that what libraries prepare is not part of it.

    Args:
        place: the GPU, a CUDAPlace; None is the current one, or the first.
        mode: what may happen beside the capture: "global" (nothing that waits for the device), "thread_local" (the same for this
            thread alone), "relaxed" (anything).

    Raises:
        ValueError: the GPU does not exist, or `mode` is unknown.
        NotImplementedError: the device has no graphs.

    Source:
        `paddle.device.cuda.graphs.CUDAGraph`.

    Examples:
        >>> from wherry.device.cuda.graphs import CUDAGraph, is_cuda_graph_supported
        >>> if is_cuda_graph_supported():
        ...     x = wherry.ones([4]).cuda()
        ...     y = x * 2  # before the capture, so that nothing is prepared in it
        ...     graph = CUDAGraph()
        ...     graph.capture_begin()
        ...     y = x * 2
        ...     graph.capture_end()
        ...     graph.replay()
    """

    def __init__(self, place: Any = None, mode: str = "thread_local") -> None:
        if mode not in ALL_MODES:
            raise InvalidArgumentError(f"CUDAGraph: unknown mode. Got {short(mode)}, expected one of {', '.join(ALL_MODES)}.")
        self._mode = ALL_MODES.index(mode)
        self._device = _gpu("graphs.CUDAGraph", place)
        self._graph = _core.DeviceGraph(self._device)
        self._stream: Any = None
        self._before: Any = None

    def capture_begin(self) -> None:
        """Begin the capture: what this thread puts on the GPU from now on is recorded instead of run."""
        before = _core.get_stream(self._device)
        if self._stream is None:
            self._stream = _core.DeviceStream(self._device)
        if not _core.is_capturing(self._device):  # else `begin` says what is wrong
            gc.collect()  # memory that the collector gives back inside a capture would end it
            mark = _core.DeviceEvent(self._device, 0)
            mark.record(before)
            self._stream.wait_event(mark)  # memory that is on its way to somebody is not given out before
        self._graph.begin(self._stream, self._mode)
        self._before = _core.set_stream(self._stream)

    def capture_end(self) -> None:
        """End the capture; `replay` runs what was captured."""
        if self._before is not None:
            _core.set_stream(self._before)
            self._before = None
        self._graph.end()

    def replay(self) -> None:
        """Run what was captured, on the current stream."""
        self._graph.launch(_core.get_stream(self._device))

    def reset(self) -> None:
        """Free what was captured and the memory that belongs to it; another capture may follow."""
        self._graph.reset()

    def print_to_dot_files(self, dirname: str, flags: int | None = None) -> None:
        """Write what was captured to a file `graph.dot` in a folder, for Graphviz.

        Args:
            dirname: the folder, which is made where it is missing.
            flags: no effect; everything is written.
        """
        folder = os.fspath(require(dirname, str, "print_to_dot_files", "dirname", "Name a folder."))
        os.makedirs(folder, exist_ok=True)
        self._graph.print_to(os.path.join(folder, "graph.dot"))
