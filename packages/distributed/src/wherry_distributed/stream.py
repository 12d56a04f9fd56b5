"""`paddle.distributed.stream`: the collectives, with a choice of the stream that a CPU does not have.

`use_calc_stream=True` asks for a call in order with computation, so it needs `sync_op=True`.
"""
from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from wherry_distributed import collective
from wherry_tensor.errors import PreconditionNotMetError

__all__ = ["all_gather", "all_reduce", "alltoall", "alltoall_single", "broadcast", "gather", "recv", "reduce", "reduce_scatter", "scatter", "send"]


def _on_stream(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def call(*args: Any, use_calc_stream: bool = False, sync_op: bool = True, **kwargs: Any) -> Any:
        if use_calc_stream and not sync_op:
            raise PreconditionNotMetError(
                f"stream.{function.__name__}: use_calc_stream can only be true in sync op behavior. Got sync_op=False, expected True. "
                f"Leave one of them out."
            )
        return function(*args, sync_op=sync_op, **kwargs)

    call.__doc__ = f"`{function.__name__}`, with `use_calc_stream`. Source: `paddle.distributed.stream.{function.__name__}`."
    return call


all_reduce, reduce, broadcast = _on_stream(collective.all_reduce), _on_stream(collective.reduce), _on_stream(collective.broadcast)
all_gather, gather, scatter = _on_stream(collective.all_gather), _on_stream(collective.gather), _on_stream(collective.scatter)
reduce_scatter, send, recv = _on_stream(collective.reduce_scatter), _on_stream(collective.send), _on_stream(collective.recv)
_alltoall, _alltoall_single = _on_stream(collective.alltoall), _on_stream(collective.alltoall_single)


def alltoall(
    out_tensor_or_tensor_list: Any, in_tensor_or_tensor_list: Any, group: Any = None, sync_op: bool = True, use_calc_stream: bool = False,
) -> Any:
    """`alltoall`, with the results first. Source: `paddle.distributed.stream.alltoall`."""
    return _alltoall(in_tensor_or_tensor_list, out_tensor_or_tensor_list, group, sync_op=sync_op, use_calc_stream=use_calc_stream)


def alltoall_single(
    out_tensor: Any, in_tensor: Any, out_split_sizes: Any = None, in_split_sizes: Any = None, group: Any = None, sync_op: bool = True,
    use_calc_stream: bool = False,
) -> Any:
    """`alltoall_single`, with the result first. Source: `paddle.distributed.stream.alltoall_single`."""
    return _alltoall_single(in_tensor, out_tensor, in_split_sizes, out_split_sizes, group, sync_op=sync_op, use_calc_stream=use_calc_stream)
