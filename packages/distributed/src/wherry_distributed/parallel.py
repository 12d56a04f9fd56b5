"""Data parallel training: each process has the whole model and a part of each batch."""
from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from wherry_autograd import is_grad_enabled
from wherry_distributed import world as worlds
from wherry_distributed.collective import _place_of, broadcast
from wherry_distributed.reducer import Reducer
from wherry_distributed.world import Group, group_of, new_group
from wherry_nn import Layer
from wherry_tensor import Tensor
from wherry_tensor.arguments import require

MEGABYTE = 1 << 20


class DataParallel(Layer):
    """Data-parallel training: gradients are averaged over all processes while `backward` runs.

    Each process calls the model with its part of the batch; after `loss.backward()` the gradients of all are the mean, and optimizers
    stay as they are. What has accumulated in `.grad` is averaged as a whole. Parameters and buffers begin as those of rank 0. A process
    that is alone gets a wrapper that calls the layer, with a warning.

    The state has the names of the inner layer's, so files go both ways.

    Args:
        layers: the layer.
        strategy: accepted for compatibility.
        comm_buffer_size: megabytes of a bucket of gradients. 25 is Paddle's default, but smaller ones overlap better: more than 4 counts as 4.
        last_comm_buffer_size: megabytes of the bucket that is sent first, of the last layers.
        find_unused_parameters: take part also in passes that reach no parameter in this process. Parameters that no process reaches keep
            their `.grad` of None, with or without it.
        group: of the processes; None for all.

    Raises:
        TypeError: `layers` is not a Layer (also a ValueError).
        RuntimeError: processes were started and not joined by `init_parallel_env`.
        CollectiveError: while training, processes do not do the same.

    Source:
        `paddle.DataParallel`, which warns in a single process too. Buckets as in Li et al., "PyTorch Distributed" (2020).

    Examples:
        >>> import warnings
        >>> with warnings.catch_warnings():
        ...     warnings.simplefilter("ignore")
        ...     model = wherry.DataParallel(wherry.nn.Linear(3, 2))
        >>> model(wherry.ones([4, 3])).shape, list(model.state_dict())
        ([4, 2], ['weight', 'bias'])
    """

    def __init__(
        self,
        layers: Layer,
        strategy: Any = None,
        comm_buffer_size: float = 25,
        last_comm_buffer_size: float = 1,
        find_unused_parameters: bool = False,
        group: Group | None = None,
    ) -> None:
        require(layers, Layer, "DataParallel", "layers", "Pass the model itself.")
        super().__init__(f"{layers.full_name()}_data_parallel")
        self._layers = layers
        self.find_unused_parameters = find_unused_parameters
        members = group_of("DataParallel", group)
        self.group = members
        self._reducer: Reducer | None = None
        if members is None or members.comm is None or members.nranks == 1:
            warnings.warn("DataParallel: this is one process alone, so the layer runs as it is.", stacklevel=2)
            return
        sync_params_buffers(layers, members, members.ranks[0])
        seen: set[int] = set()
        trained = [
            p for p in layers.parameters()
            if not p.stop_gradient and not getattr(p, "no_sync", False) and not (id(p) in seen or seen.add(id(p)))  # type: ignore[func-returns-value]
        ]
        if trained:
            # A group of its own: buckets are sent by a thread, in no order with what the program itself calls.
            own = new_group(members.ranks, timeout=members.timeout) if members.nranks == worlds.world.size else beside(members)
            size = int(min(comm_buffer_size, 4) * MEGABYTE)
            self._reducer = Reducer(trained, own, size, min(size, int(last_comm_buffer_size * MEGABYTE)), find_unused_parameters)

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        if self._reducer is not None and is_grad_enabled():
            self._reducer.forward()
        return self._layers(*inputs, **kwargs)

    @contextmanager
    def no_sync(self) -> Iterator[None]:
        """A context whose backward passes only accumulate, in each process for itself; the next pass outside of it averages all.

        Source:
            `paddle.DataParallel.no_sync`.
        """
        if self._reducer is None:
            yield
            return
        before, self._reducer.enabled = self._reducer.enabled, False
        try:
            yield
        finally:
            self._reducer.enabled = before

    def scale_loss(self, loss: Tensor) -> Tensor:
        """The loss itself: gradients are averaged.

        Source:
            `paddle.DataParallel.scale_loss`.
        """
        return loss

    def apply_collective_grads(self) -> None:
        """Does nothing: `backward` has done it.

        Source:
            `paddle.DataParallel.apply_collective_grads`.
        """

    def state_dict(self, *args: Any, **kwargs: Any) -> dict[str, Any]:
        """The state of the inner layer."""
        return self._layers.state_dict(*args, **kwargs)

    def set_state_dict(self, *args: Any, **kwargs: Any) -> tuple[list[str], list[str]]:
        """Set the state of the inner layer."""
        return self._layers.set_state_dict(*args, **kwargs)

    set_dict = set_state_dict
    load_dict = set_state_dict


def beside(members: Group) -> Group:
    """The same processes with messages of their own, made by the members alone."""
    with worlds.world.lock:
        members.comm.Barrier()
        number = -(members.id * 1000 + len([each for each in worlds.world.groups if each < 0]) + 1)
        group = Group(members.rank, number, members.ranks, members.comm.Dup(), timeout=members.timeout)
        worlds.world.groups[number] = group
    return group


def sync_params_buffers(
    model: Layer, comm_group: Group | None = None, src_rank: int = 0, is_model_parallel: bool = False, fuse_params: bool = True
) -> None:
    """Give all processes the parameters and buffers of process `src_rank`.

    Source:
        `paddle.distributed.parallel.sync_params_buffers`.
    """
    require(model, Layer, "sync_params_buffers", "model", "Pass the model itself.")
    members = group_of("sync_params_buffers", comm_group)
    if members is None or members.comm is None:
        return
    _place_of("sync_params_buffers", "src_rank", src_rank, members)
    for each in model.state_dict().values():
        if isinstance(each, Tensor) and not getattr(each, "no_sync", False):
            broadcast(each, src_rank, members)


def fused_allreduce_gradients_with_group(parameter_list: Any, group: Group | None, bucket_size: int = 134217728, scale: float | None = None) -> None:
    """Average the gradients that parameters have, over a group.

    Args:
        parameter_list: parameters, or groups of them as optimizers take them.
        scale: what the sums are divided by; None for the number of processes.
    """
    from wherry_distributed.gradients import BUCKET, reduce_gradients

    members = group_of("fused_allreduce_gradients", group)
    if members is not None:
        flat = [each for some in parameter_list for each in (some["params"] if isinstance(some, dict) else [some])]
        reduce_gradients(flat, members, scale, min(bucket_size, BUCKET))
