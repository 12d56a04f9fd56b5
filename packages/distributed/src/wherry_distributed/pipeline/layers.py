"""`PipelineLayer`: a model as a list of layers, of which each stage builds its own."""
from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

from wherry_distributed import grid
from wherry_distributed.collective import ReduceOp, all_reduce
from wherry_distributed.gradients import broadcast_tensors, dense_gradients
from wherry_distributed.recomputing import recompute
from wherry_distributed.world import Group, new_group
from wherry_nn import Layer, LayerDict
from wherry_tensor.errors import InvalidArgumentError, InvalidTypeError, short


class LayerDesc:
    """A layer that the stage it falls to will build.

    Args:
        layer_func: its class.
        inputs, kwargs: what it is built with.

    Source:
        `paddle.distributed.fleet.meta_parallel.LayerDesc`.
    """

    def __init__(self, layer_func: Any, *inputs: Any, **kwargs: Any) -> None:
        if not callable(layer_func):
            raise InvalidTypeError(f"LayerDesc: layer_func cannot be called. Got {short(layer_func)}, expected a Layer's class. Pass the class.")
        self.layer_func, self.inputs, self.kwargs = layer_func, inputs, kwargs

    def build_layer(self) -> Any:
        """Build it."""
        return self.layer_func(*self.inputs, **self.kwargs)

    def __repr__(self) -> str:
        return f"LayerDesc({getattr(self.layer_func, '__name__', self.layer_func)})"


class SharedLayerDesc(LayerDesc):
    """A layer that occurs several times in a model with the same weight, maybe in different stages: an embedding and the output, say.

    Args:
        key: its name; layers of one name share their weight.
        layer_func, inputs, kwargs: its class, and what it is built with.
        forward_func: called with the layer and what comes in; None calls the layer.
        shared_weight_attr: the name of the weight.

    Source:
        `paddle.distributed.fleet.meta_parallel.SharedLayerDesc`.
    """

    def __init__(
        self, key: str, layer_func: Any, forward_func: Callable[..., Any] | None = None, shared_weight_attr: str = "weight", *inputs: Any,
        **kwargs: Any,
    ) -> None:
        super().__init__(layer_func, *inputs, **kwargs)
        self.layer_name, self.forward_func, self.shared_weight_attr = key, forward_func, shared_weight_attr


def segments(items: Sequence[Any], parts: int, method: Any) -> list[int]:
    """Where each of `parts` begins among the layers, and their number at the end.

    Raises:
        ValueError: there are fewer layers than parts, or the method does not fit.
    """
    count = len(items)
    if count < parts:
        raise InvalidArgumentError(f"PipelineLayer: there are too few layers. Got {count} for {parts} parts, expected as many. Use fewer stages.")
    if isinstance(method, (list, tuple)):
        bounds = [*method, count] if len(method) == parts else list(method)
        if len(bounds) != parts + 1 or bounds[0] != 0 or bounds[-1] != count or sorted(set(bounds)) != bounds:
            raise InvalidArgumentError(
                f"PipelineLayer: seg_method does not fit. Got {short(method)} for {count} layers in {parts} parts, expected where each begins, "
                f"from 0 "
                f"upwards. Pass 'uniform'."
            )
        return bounds
    if method == "uniform":
        size, more = divmod(count, parts)
        bounds = [0]
        for i in range(parts):
            bounds.append(bounds[-1] + size + (i >= parts - more))
        return bounds
    if isinstance(method, str) and method.startswith("layer:"):
        pattern = re.compile(method.split(":", 1)[1], re.IGNORECASE)
        marks = [i for i, each in enumerate(items) if pattern.search(_class_of(each))]
        if len(marks) < parts or len(marks) % parts:
            raise InvalidArgumentError(
                f"PipelineLayer: layers of the class do not divide by the parts. Got {len(marks)} of {method!r} for {parts}, expected a multiple. "
                f"Pass "
                f"'uniform'."
            )
        size = len(marks) // parts
        return [0, *(marks[i * size] for i in range(1, parts)), count]
    raise InvalidArgumentError(
        f"PipelineLayer: seg_method is not known. Got {short(method)}, expected 'uniform', 'layer:Class' or a list. Pass "
        f"'uniform'."
    )


def _class_of(item: Any) -> str:
    if isinstance(item, LayerDesc):
        return str(getattr(item.layer_func, "__name__", item.layer_func))
    return type(item).__name__ if isinstance(item, Layer) else str(getattr(item, "__name__", type(item).__name__))


class PipelineLayer(Layer):
    """A model as a list of layers, of which this process builds those of its stage.

    Parameters have the names that they have in the whole model (`3.weight`, `shared_layers.embed.weight`).

    Args:
        layers: `LayerDesc`, `SharedLayerDesc`, layers or functions, in order.
        num_stages: of the pipeline; None as `fleet.init` has it.
        topology: the grid of processes; None as `fleet.init` has it.
        loss_fn: takes the last output and the label.
        seg_method: "uniform", "layer:Class" to have equally many layers of a class in each stage, or the places where stages begin.
        recompute_interval: compute each so many layers once more in backward; 0 keeps what they make.
        recompute_ctx: no effect.
        num_virtual_pipeline_stages: how many parts of the model each stage has.

    Raises:
        ValueError: the layers do not divide so, or there is no such number of stages.
        TypeError: an entry is not a layer.

    Source:
        `paddle.distributed.fleet.meta_parallel.PipelineLayer`.
    """

    def __init__(
        self, layers: Sequence[Any], num_stages: int | None = None, topology: Any = None, loss_fn: Any = None, seg_method: Any = "uniform",
        recompute_interval: int = 0, recompute_ctx: Any = None, num_virtual_pipeline_stages: int | None = None,
    ) -> None:
        super().__init__()
        hcg = grid.current()
        self._topo = topology or (hcg.topology() if hcg is not None else None)
        known = 1 if self._topo is None else self._topo.get_dim("pipe")
        self._num_stages = num_stages or known
        if self._num_stages != known:
            raise InvalidArgumentError(
                f"PipelineLayer: there are other stages. Got num_stages={num_stages}, expected {known}, as fleet.init has divided the processes. Set "
                f"pp_degree, or leave num_stages out."
            )
        self._stage_id = hcg.get_stage_id() if hcg is not None else 0
        self._loss_fn, self._recompute_interval = loss_fn, recompute_interval
        self._num_virtual_pipeline_stages = num_virtual_pipeline_stages or 1
        self._layers_desc = list(layers)
        self._parts = self._num_stages * self._num_virtual_pipeline_stages
        self.segment_parts = segments(self._layers_desc, self._parts, seg_method)
        self.shared_layers = LayerDict()
        self._shared: dict[str, SharedLayerDesc] = {}
        self._shared_groups: dict[str, Group] = {}
        self._chunks: list[list[Callable[..., Any]]] = [
            [self._build(i) for i in range(*self._range_of(chunk))] for chunk in range(self._num_virtual_pipeline_stages)]
        self._share_weights()

    def _range_of(self, chunk: int) -> tuple[int, int]:
        part = chunk * self._num_stages + self._stage_id
        return self.segment_parts[part], self.segment_parts[part + 1]

    def _build(self, index: int) -> Callable[..., Any]:
        item = self._layers_desc[index]
        if isinstance(item, SharedLayerDesc):
            if item.layer_name not in self.shared_layers:
                self.shared_layers[item.layer_name] = item.build_layer()
                self._shared[item.layer_name] = item
            layer, call = self.shared_layers[item.layer_name], item.forward_func
            return layer if call is None else lambda *inputs: call(layer, *inputs)
        if isinstance(item, LayerDesc):
            item = item.build_layer()
        if isinstance(item, Layer):
            self.add_sublayer(str(index), item)
        elif not callable(item):
            raise InvalidTypeError(f"PipelineLayer: layer {index} is not a layer. Got {short(item)}, expected a LayerDesc, a Layer or a function.")
        return item  # type: ignore[no-any-return]

    def _share_weights(self) -> None:
        """Weights that occur in several stages begin as those of the first one."""
        stages: dict[str, set[int]] = {}
        for i, item in enumerate(self._layers_desc):
            if isinstance(item, SharedLayerDesc):
                stages.setdefault(item.layer_name, set()).add(self.get_stage_from_index(i))
        for key, found in sorted(stages.items()):
            if len(found) < 2 or self._topo is None:
                continue
            for ranks in self._topo.get_comm_list("pipe"):
                group = new_group([ranks[stage] for stage in sorted(found)])
                if group.is_member():
                    self._shared_groups[key] = group
        for key, group in self._shared_groups.items():
            weight = self._shared_weight(key)
            weight.is_firstly_shared = group.rank == 0
            broadcast_tensors([weight], group.ranks[0], group)

    def _shared_weight(self, key: str) -> Any:
        return getattr(self.shared_layers[key], self._shared[key].shared_weight_attr)

    def allreduce_shared_weight_gradients(self) -> None:
        """Add up the gradients of weights that several stages have."""
        for key, group in sorted(self._shared_groups.items()):
            weight = self._shared_weight(key)
            if weight.stop_gradient:
                continue
            if weight.grad is None:
                from wherry_tensor import zeros_like

                weight.grad = zeros_like(weight.detach())
            dense_gradients([weight])
            all_reduce(weight.grad, ReduceOp.SUM, group)

    def get_stage_from_index(self, layer_idx: int) -> int:
        """The stage that has a layer."""
        part = next(i for i in range(self._parts) if self.segment_parts[i] <= layer_idx < self.segment_parts[i + 1])
        return part % self._num_stages

    def get_num_virtual_stages(self) -> int:
        """How many parts of the model each stage has."""
        return self._num_virtual_pipeline_stages

    def get_model_chunks(self) -> list[list[Callable[..., Any]]]:
        """The parts of the model that this stage has."""
        return self._chunks

    def forward(self, input: Any, chunk_id: int | None = None) -> Any:
        """A part of the model that this stage has; None for all of them, one after the other."""
        chosen = range(len(self._chunks)) if chunk_id is None else [chunk_id]
        for chunk in chosen:
            input = self._run(self._chunks[chunk], input)
        return input

    def _run(self, layers: Sequence[Callable[..., Any]], x: Any) -> Any:
        size = self._recompute_interval
        if size <= 0 or not self.training:
            return _chained(layers)(x)
        for begin in range(0, len(layers), size):
            x = recompute(_chained(layers[begin : begin + size]), x, use_reentrant=False)
        return x


def _chained(layers: Sequence[Callable[..., Any]]) -> Callable[[Any], Any]:
    def run(x: Any) -> Any:
        for layer in layers:
            x = layer(*x) if isinstance(x, tuple) else layer(x)
        return x

    return run
