"""Models as the processes of a job train them: what `fleet.distributed_model` returns besides `DataParallel` and pipelines.

Each makes parameters and buffers equal where processes hold copies of them, and calls the layer. Gradients are exchanged by the optimizer
that `fleet.distributed_optimizer` returns.
"""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from wherry_distributed.around import AroundLayer
from wherry_distributed.gradients import broadcast_tensors
from wherry_distributed.topology import HybridCommunicateGroup
from wherry_distributed.world import Group
from wherry_nn import Layer
from wherry_program.program.structure import map_structure, tensors_of
from wherry_tensor import Tensor
from wherry_train import amp


def states_of(model: Layer) -> list[Tensor]:
    """Parameters and buffers, each once, in the order of their names; without those that are this process's alone."""
    found: dict[int, Tensor] = {}
    for each in model.state_dict().values():
        if isinstance(each, Tensor) and not getattr(each, "no_sync", False):
            found.setdefault(id(each), each)
    return list(found.values())


def make_equal(model: Layer, group: Group, divided: bool = True) -> None:
    """Give all processes of a group the parameters and buffers of the first one; without `divided`, only those that each has whole."""
    states = [x for x in states_of(model) if divided or not getattr(x, "is_distributed", False)]
    broadcast_tensors(states, group.ranks[0], group)


def broadcast_mp_parameters(model: Layer, hcg: HybridCommunicateGroup) -> None:
    """Make equal, in processes that divide layers, what they do not divide."""
    make_equal(model, hcg.get_model_parallel_group(), False)


def broadcast_dp_parameters(model: Layer, hcg: HybridCommunicateGroup) -> None:
    """Make parameters equal in processes that see different samples."""
    make_equal(model, hcg.get_data_parallel_group())


def broadcast_sharding_parameters(model: Layer, hcg: HybridCommunicateGroup) -> None:
    """Make parameters equal in processes that divide the optimizer's state."""
    make_equal(model, hcg.get_sharding_parallel_group())


def broadcast_sep_parameters(model: Layer, hcg: HybridCommunicateGroup) -> None:
    """Make parameters equal in processes that divide sequences."""
    make_equal(model, hcg.get_sep_parallel_group())


def broadcast_input_data(hcg: HybridCommunicateGroup, *inputs: Any, **kwargs: Any) -> tuple[Any, Any]:
    """Tensors among the arguments, replaced by those of the first process that divides layers with this one."""
    group = hcg.get_model_parallel_group()
    if group.comm is None:
        return inputs, kwargs
    tensors = tensors_of([list(inputs), kwargs])
    copies = {id(x): x if x.stop_gradient is False else x.detach().clone() for x in tensors}
    broadcast_tensors([x for x in copies.values() if x.stop_gradient], group.ranks[0], group)
    given, named = map_structure(lambda leaf: copies.get(id(leaf), leaf), [list(inputs), kwargs])
    return tuple(given), named


class MetaParallelBase(AroundLayer):
    """A layer whose parameters the processes of a job hold equal. Its state has the names of the inner layer's."""

    def __init__(self, layers: Layer, hcg: HybridCommunicateGroup, strategy: Any = None) -> None:
        super().__init__(f"{layers.full_name()}_{type(self).__name__.lower()}")
        self._layers = layers
        self._hcg, self._strategy = hcg, strategy
        self._prepare_for_model()

    def _prepare_for_model(self) -> None:
        broadcast_mp_parameters(self._layers, self._hcg)
        broadcast_sep_parameters(self._layers, self._hcg)
        broadcast_sharding_parameters(self._layers, self._hcg)
        broadcast_dp_parameters(self._layers, self._hcg)


class TensorParallel(MetaParallelBase):
    """A model with layers that are divided among processes, which all get the inputs of the first of them.

    Source:
        `paddle.distributed.fleet.meta_parallel.TensorParallel`.
    """

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        strategy = self._strategy
        if strategy is None or strategy.hybrid_configs["mp_configs"]["need_broadcast_data"]:
            inputs, kwargs = broadcast_input_data(self._hcg, *inputs, **kwargs)
        return self._layers(*inputs, **kwargs)


class ShardingParallel(MetaParallelBase):
    """A model of which each process updates some parameters.

    Source:
        `paddle.distributed.fleet.meta_parallel.ShardingParallel`.
    """


class SegmentParallel(MetaParallelBase):
    """A model whose processes have parts of each sequence.

    Source:
        `paddle.distributed.fleet.meta_parallel.SegmentParallel`.
    """


class ReplicatedModel(MetaParallelBase):
    """A model that all processes have, whose gradients the optimizer exchanges in a way of its own."""


def with_mixed_precision(model: Layer, configs: dict[str, Any]) -> Layer:
    """Let calls of the model run in mixed precision, as `amp_configs` says."""
    pure = configs["use_pure_fp16"] or configs["use_pure_bf16"]
    dtype, level = "bfloat16" if configs["use_pure_bf16"] else "float16", "O2" if pure else "O1"
    if pure:
        model = amp.decorate(model, level="O2", dtype=dtype)
    inner: Callable[..., Any] = model.forward
    white, black = configs["custom_white_list"] or None, configs["custom_black_list"] or None

    def forward(*inputs: Any, **kwargs: Any) -> Any:
        with amp.auto_cast(True, white, black, level=level, dtype=dtype):
            return inner(*inputs, **kwargs)

    model.forward = forward  # type: ignore[method-assign]
    return model


def with_recomputation(model: Layer, names: list[str]) -> None:
    """Let sublayers of these names be computed once more in backward.

    Raises:
        ValueError: the model has no such sublayer.
    """
    from wherry_distributed.recomputing import recompute
    from wherry_tensor.errors import InvalidArgumentError

    layers = dict(model.named_sublayers())
    for name in names:
        if name not in layers:
            raise InvalidArgumentError(
                f"strategy: recompute_configs['checkpoints'] has no layer of the model. Got {name!r}, expected some of "
                f"{', '.join(list(layers)[:8])}. "
                f"See named_sublayers()."
            )
        layer, inner = layers[name], layers[name].forward
        layer.forward = _again(inner, recompute)  # type: ignore[method-assign]


def _again(inner: Callable[..., Any], recompute: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *inputs, **kwargs: recompute(inner, *inputs, use_reentrant=False, **kwargs)
