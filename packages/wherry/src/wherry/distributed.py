"""`paddle.distributed` for one process: the functions that single-process programs call.

Nothing here talks to other processes. Where the environment says that there are some, as a launcher of Paddle
leaves it, these functions refuse.
"""
from __future__ import annotations

import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from wherry import _absent
from wherry_nn import Layer
from wherry_tensor import Tensor
from wherry_tensor.arguments import require
from wherry_tensor.errors import UnimplementedError

__all__ = ["DataParallel", "ParallelEnv", "get_rank", "get_world_size", "init_parallel_env", "is_available", "is_initialized"]


def _alone(op_name: str) -> None:
    several = os.environ.get("PADDLE_TRAINERS_NUM", "1")
    if several not in ("", "1"):
        raise UnimplementedError(
            f"{op_name}: training with several processes is not there yet. Got PADDLE_TRAINERS_NUM={several} from the "
            f"environment, expected 1. Start the script by itself."
        )


def get_rank(group: Any = None) -> int:
    """The rank of this process: 0, as it is the only one.

    Raises:
        NotImplementedError: PADDLE_TRAINERS_NUM is more than 1.

    Source:
        `paddle.distributed.get_rank`.

    Examples:
        >>> wherry.distributed.get_rank(), wherry.distributed.get_world_size()
        (0, 1)
    """
    _alone("get_rank")
    return 0


def get_world_size(group: Any = None) -> int:
    """The number of processes: 1.

    Args:
        group: accepted for compatibility.

    Raises:
        NotImplementedError: PADDLE_TRAINERS_NUM is more than 1.

    Source:
        `paddle.distributed.get_world_size`.

    Examples:
        >>> wherry.distributed.get_world_size()
        1
    """
    _alone("get_world_size")
    return 1


def is_available() -> bool:
    """Whether several processes can train together: False.

    Source:
        `paddle.distributed.is_available`.

    Examples:
        >>> wherry.distributed.is_available()
        False
    """
    return False


def is_initialized() -> bool:
    """Whether training with several processes is initialized: False.

    Source:
        `paddle.distributed.is_initialized`.

    Examples:
        >>> wherry.distributed.is_initialized()
        False
    """
    return False


def init_parallel_env() -> None:
    """Initialize training with several processes. For one process it warns, as Paddle does, and does nothing.

    Raises:
        NotImplementedError: PADDLE_TRAINERS_NUM is more than 1.

    Source:
        `paddle.distributed.init_parallel_env`.
    """
    _alone("init_parallel_env")
    warnings.warn("init_parallel_env: this is one process alone, so nothing is to be done.", stacklevel=2)


class ParallelEnv:
    """The environment of this process: rank 0 of 1.

    Source:
        `paddle.distributed.ParallelEnv`.

    Examples:
        >>> env = wherry.distributed.ParallelEnv()
        >>> env.rank, env.world_size
        (0, 1)
    """

    def __init__(self) -> None:
        _alone("ParallelEnv")
        self.rank = self.local_rank = self.device_id = self.dev_id = 0
        self.world_size = self.nranks = 1


class DataParallel(Layer):
    """Data-parallel training; with one process, a wrapper that calls the layer.

    Its state has the names of the inner layer's, so files go both ways.

    Args:
        layers: the layer.
        strategy, comm_buffer_size, last_comm_buffer_size, find_unused_parameters, group: accepted for
            compatibility; they are about what processes send each other.

    Raises:
        NotImplementedError: PADDLE_TRAINERS_NUM is more than 1.
        TypeError: `layers` is not a Layer (also a ValueError).

    Source:
        `paddle.DataParallel`, which warns in a single process too.

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
        comm_buffer_size: int = 25,
        last_comm_buffer_size: float = 1,
        find_unused_parameters: bool = False,
        group: Any = None,
    ) -> None:
        _alone("DataParallel")
        require(layers, Layer, "DataParallel", "layers", "Pass the model itself.")
        super().__init__(f"{layers.full_name()}_data_parallel")
        self._layers = layers
        self.find_unused_parameters = find_unused_parameters
        warnings.warn("DataParallel: this is one process alone, so the layer runs as it is.", stacklevel=2)

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        return self._layers(*inputs, **kwargs)

    @contextmanager
    def no_sync(self) -> Iterator[None]:
        """A context without synchronization of gradients; with one process there is none anyway."""
        yield

    def scale_loss(self, loss: Tensor) -> Tensor:
        """The loss itself.

        Source:
            `paddle.DataParallel.scale_loss`.
        """
        return loss

    def apply_collective_grads(self) -> None:
        """Does nothing: there are no other processes.

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


_absent.explain(__name__)
