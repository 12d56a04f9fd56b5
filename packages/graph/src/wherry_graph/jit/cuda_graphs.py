"""`wrap_cuda_graph`: a function whose program runs as a CUDA graph."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from wherry_graph.jit.api import to_static
from wherry_tensor.cuda_graphs import ALL_MODES
from wherry_tensor.errors import InvalidArgumentError, short

__all__ = ["wrap_cuda_graph"]


def wrap_cuda_graph(function: Callable[..., Any], mode: str = "thread_local", memory_pool: str = "default") -> Any:
    """A function, or Layer, whose program runs as a CUDA graph on a GPU.

    Programs do so by themselves from their second run on (`FLAGS_new_executor_use_cuda_graph`), so this is `to_static`.

    Args:
        function: a function or Layer.
        mode: "global", "thread_local" or "relaxed"; accepted for compatibility.
        memory_pool: no effect.

    Returns:
        What `to_static` makes of it; a call gives what `function` gives.

    Raises:
        ValueError: `mode` is another one.

    Source:
        `paddle.device.cuda.graphs.wrap_cuda_graph`.

    Examples:
        >>> from wherry.device.cuda.graphs import wrap_cuda_graph
        >>> doubled = wrap_cuda_graph(lambda x: x * 2)
        >>> print(doubled(wherry.ones([2])).numpy())
        [2. 2.]
    """
    if mode not in ALL_MODES:
        raise InvalidArgumentError(f"wrap_cuda_graph: unknown mode. Got {short(mode)}, expected one of {', '.join(ALL_MODES)}.")
    return to_static(function)
