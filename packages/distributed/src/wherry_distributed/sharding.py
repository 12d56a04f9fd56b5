"""Training whose state is divided among processes that each have the whole model: of the optimizer (stage 1), of gradients too (stage 2), and
of parameters as well (stage 3). Rajbhandari et al., "ZeRO: memory optimizations toward training trillion parameter models" (2020).

In the stages 1 and 2 a parameter belongs to one process as a whole. In stage 3 each process has a piece of each large parameter; a layer
puts its parameters together when it runs, and backward puts them together once more.
"""
from __future__ import annotations

import os
from typing import Any

import numpy as np

from wherry_autograd import PyLayer, at_end_of_backward, no_grad, saved_tensors_hooks
from wherry_distributed.around import AroundLayer
from wherry_distributed.collective import (
    ReduceOp,
    all_gather,
    all_reduce,
    barrier,
    gather_object,
    reduce,
    reduce_scatter,
)
from wherry_distributed.fleet.optimizers import (
    HybridParallelGradScaler,
    HybridParallelOptimizer,
    all_parameters,
    states_of,
)
from wherry_distributed.gradients import (
    broadcast_tensors,
    dense_gradients,
    flattened,
    name_own_nan,
    reduce_gradients,
    write_back,
)
from wherry_distributed.world import Group, group_of, world
from wherry_distributed.wrappers import make_equal
from wherry_nn import Layer
from wherry_nn.clip import ClipGradByGlobalNorm
from wherry_tensor import Tensor, concat, empty, get_device, to_tensor, zeros
from wherry_tensor.arguments import require
from wherry_tensor.errors import InvalidArgumentError, UnimplementedError, short
from wherry_train import save
from wherry_train.optimizer import Lamb

LEVELS = ("os", "os_g", "p_g_os")


class _Groups:
    """The groups of a model that is divided in no other way, as `HybridCommunicateGroup` says them."""

    def __init__(self, group: Group, dp_group: Group | None) -> None:
        self._alone = Group(0, -(10**6) - world.rank, [world.rank], name="_alone")
        self._group, self._data = group, dp_group or self._alone

    def get_sharding_parallel_group(self) -> Group:
        return self._group

    def get_dp_sep_parallel_group(self) -> Group:
        return self._data

    def get_model_parallel_group(self) -> Group:
        return self._alone

    get_pipe_parallel_group = get_model_parallel_group


class GroupShardedOptimizerStage2(HybridParallelOptimizer):
    """An optimizer of which each process has the state of its own parameters.

    Args:
        params: all that are trained.
        optim: the optimizer.
        group: the processes that divide the state; None for all.
        dp_group: processes that have the same part and see other samples.
        reduced: are gradients in the process that owns the parameter already?

    Source:
        `paddle.distributed.fleet.meta_parallel.sharding.group_sharded_optimizer_stage2.GroupShardedOptimizerStage2`.
    """

    def __init__(
        self, params: Any, optim: Any, group: Group | None = None, offload: bool = False, device: str = "cpu", dp_group: Group | None = None,
        reduced: bool = True, **ignored: Any,
    ) -> None:
        members = group_of("group_sharded_parallel", group)
        assert members is not None
        self._reduced = reduced
        super().__init__(optim, _Groups(members, dp_group), None, self._exchanged)  # type: ignore[arg-type]

    def _exchanged(self, parameters: list[Any], group: Group) -> None:
        if group is not self._sharding or not self._reduced:
            reduce_gradients(parameters, group)

    def _clipped(self, pairs: list[tuple[Any, Tensor]], clip: ClipGradByGlobalNorm) -> list[tuple[Any, Tensor]]:
        if not self._reduced:
            return super()._clipped(pairs, clip)
        mine = [(p, g) for p, g in pairs if getattr(p, "need_clip", True)]
        return _clipped_in(self._sharding, mine, [], pairs, clip)


def _clipped_in(group: Group, own: Any, common: Any, pairs: Any, clip: ClipGradByGlobalNorm) -> list[tuple[Any, Tensor]]:
    """Scaled by the norm of gradients of which each process has its own, and some that all have."""
    from wherry_tensor import ops

    def squares(found: Any) -> Tensor:
        return ops.sum_of_squares(*(g for _, g in found)).astype("float32") if found else to_tensor(0.0, dtype="float32")

    total = squares(own)
    all_reduce(total, ReduceOp.SUM, group)
    bound = to_tensor(clip.clip_norm, dtype="float32")
    factor = bound / ops.maximum((total + squares(common)).sqrt(), bound)
    scaled = {id(p): g * factor.astype(g.dtype) for p, g in [*own, *common]}
    return [(p, scaled.get(id(p), g)) for p, g in pairs]


class Sharded(AroundLayer):
    """A model whose state is that of the inner one."""

    def __init__(self, layer: Layer, group: Group) -> None:
        super().__init__(f"{layer.full_name()}_group_sharded")
        self._layers, self._group = layer, group
        make_equal(layer, group)


class GroupShardedStage2(Sharded):
    """A model whose gradients go, while backward runs, to the process that updates the parameter; others let go of them.

    Source:
        `paddle.distributed.fleet.meta_parallel.sharding.group_sharded_stage2.GroupShardedStage2`.
    """

    def __init__(self, layer: Layer, sharding_optimizer: Any, group: Group | None = None, buffer_max_size: int = 2**23, **ignored: Any) -> None:
        members = group_of("group_sharded_parallel", group)
        assert members is not None
        super().__init__(layer, members)
        self._limit = min(buffer_max_size, 4 << 20)
        self._owners = sharding_optimizer._owners
        self._open: dict[tuple[int, str], list[Any]] = {}
        self._sent: list[tuple[int, list[Any], Tensor, Any]] = []
        self._running = False
        share = 1.0 / members.nranks
        for p in {id(p): p for p in layer.parameters()}.values():
            if not p.stop_gradient and id(p) in self._owners:
                p.register_hook(lambda ct: ct * to_tensor(share, dtype=ct.dtype))
                p.register_post_accumulate_hook(self._ready)

    def _ready(self, p: Any) -> None:
        if not self._running:
            self._running = True
            at_end_of_backward(self._finish)
        dense_gradients([p])
        key = self._owners[id(p)], p.grad.dtype.name
        some = self._open.setdefault(key, [])
        some.append(p)
        if sum(each.size * each.dtype.itemsize for each in some) >= self._limit:
            self._send(key)

    def _send(self, key: tuple[int, str]) -> None:
        some, owner = self._open.pop(key), key[0]
        with no_grad():
            name_own_nan(some)
            flat = flattened([p.grad for p in some])
            task = reduce(flat, self._group.ranks[owner], ReduceOp.SUM, self._group, sync_op=False)
            if owner != self._group.rank:
                for p in some:
                    p.clear_gradient(False)
        self._sent.append((owner, some, flat, task))

    def _finish(self, error: BaseException | None) -> None:
        self._running = False
        if error is not None:
            self._open.clear()
            self._sent.clear()
            return
        for key in sorted(self._open):
            self._send(key)
        with no_grad():
            for owner, some, flat, task in self._sent:
                task.wait()
                if owner == self._group.rank:
                    write_back(flat, [p.grad for p in some])
        self._sent.clear()


class _Together(PyLayer):
    """A parameter out of the pieces of all; its gradient is added up, and each process keeps its piece."""

    @staticmethod
    def forward(ctx: Any, piece: Tensor, shape: list[int], group: Group) -> Tensor:
        ctx.group, ctx.piece = group, piece
        return _joined(piece, shape, group)

    @staticmethod
    def backward(ctx: Any, ct: Tensor) -> Tensor:
        group = ctx.group
        name_own_nan([ctx.piece], [ct])
        piece = -(-ct.size // group.nranks)
        flat = _padded(ct.reshape([-1]), piece * group.nranks)
        mine = empty([piece], dtype=ct.dtype)
        reduce_scatter(mine, flat, ReduceOp.SUM, group)
        return mine * to_tensor(1.0 / group.nranks, dtype=mine.dtype)


def _padded(flat: Tensor, size: int) -> Tensor:
    return flat if flat.shape[0] == size else concat([flat, zeros([size - flat.shape[0]], dtype=flat.dtype)])


def _joined(piece: Tensor, shape: list[int], group: Group) -> Tensor:
    whole = empty([piece.shape[0] * group.nranks], dtype=piece.dtype)
    all_gather(whole, piece.detach(), group)
    return whole[: int(np.prod(shape, dtype=np.int64))].reshape(shape)


class _Kept:
    """Stands in what backward keeps for a parameter that is put together again when it is asked for."""

    def __init__(self, parameter: Any, shape: list[int], group: Group) -> None:
        self.parameter, self.shape, self.group = parameter, shape, group


class GroupShardedStage3(Sharded):
    """A model of whose large parameters each process has a piece, and the rest only while a layer runs.

    A layer may use its own parameters alone. `state_dict` has whole parameters.

    Args:
        layer: the model.
        optimizer: whose parameters become pieces.
        group: the processes; None for all.
        segment_size: parameters of fewer elements stay whole.
        exclude_layer: classes, or ids of layers, whose parameters stay whole.

    Raises:
        NotImplementedError: an optimizer that needs the norm of a parameter.

    Source:
        `paddle.distributed.fleet.meta_parallel.sharding.group_sharded_stage3.GroupShardedStage3`.
    """

    def __init__(
        self, layer: Layer, optimizer: Any, group: Group | None = None, segment_size: int = 2**20, exclude_layer: Any = None, **ignored: Any
    ) -> None:
        members = group_of("group_sharded_parallel", group)
        assert members is not None
        if isinstance(optimizer, Lamb) or type(optimizer).__name__ == "LarsMomentum":
            raise UnimplementedError(
                f"group_sharded_parallel: {type(optimizer).__name__} needs whole parameters. Got level='p_g_os', where each process has pieces, "
                f"expected "
                f"another optimizer or level. Use 'os_g'."
            )
        super().__init__(layer, members)
        self.shapes: dict[int, list[int]] = {}
        excluded = list(exclude_layer or ())
        for each in [layer, *layer.sublayers()]:
            if type(each).__name__ in excluded or id(each) in excluded:
                continue
            if any(p is not None and not p.stop_gradient and p.size >= segment_size for p in each._parameters.values()):
                self._divide(each, segment_size)

    def _divide(self, layer: Layer, least: int) -> None:
        with no_grad():
            for p in layer._parameters.values():
                if p is None or p.stop_gradient or id(p) in self.shapes or p.size < least:
                    continue
                shape, count = list(p.shape), self._group.nranks
                size = -(-p.size // count)
                flat = _padded(p.detach().reshape([-1]), size * count)
                p._share_data_with(flat[self._group.rank * size : (self._group.rank + 1) * size].clone())
                self.shapes[id(p)] = shape
                vars(p)["flat_piece"] = shape, self._group
        held: list[dict[str, Any]] = []

        def before(layer: Layer, inputs: Any) -> None:
            own = dict(layer._parameters)
            held.append(own)
            for name, p in own.items():
                if p is not None and id(p) in self.shapes:
                    whole = _Together.apply(p, self.shapes[id(p)], self._group)
                    self._whole[whole.data_ptr()] = _Kept(p, self.shapes[id(p)], self._group)
                    layer._parameters[name] = whole

        def behind(layer: Layer, inputs: Any, out: Any) -> None:
            own = held.pop()
            for name, p in own.items():
                whole: Any = layer._parameters[name]
                if whole is not p:
                    self._whole.pop(whole.data_ptr(), None)
                    layer._parameters[name] = p

        layer.register_forward_pre_hook(before)
        layer.register_forward_post_hook(behind)

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        self._whole: dict[int, _Kept] = {}

        def pack(x: Tensor) -> Any:
            kept = self._whole.get(x.data_ptr()) if self._whole else None
            return kept if kept is not None and list(x.shape) == kept.shape and x.is_contiguous() else x

        def unpack(kept: Any) -> Tensor:
            return _joined(kept.parameter, kept.shape, kept.group) if isinstance(kept, _Kept) else kept

        with saved_tensors_hooks(pack, unpack):
            return self._layers(*inputs, **kwargs)

    def get_all_parameters(self, convert2cpu: bool = False) -> list[Any]:
        """The parameters, whole from now on: nothing is trained afterwards.

        Source:
            `paddle.distributed.fleet.meta_parallel.sharding.group_sharded_stage3.GroupShardedStage3.get_all_parameters`.
        """
        with no_grad():
            for p in self._layers.parameters():
                shape = self.shapes.pop(id(p), None)
                if shape is not None:
                    p._share_data_with(_joined(p, shape, self._group))
        return list(self._layers.parameters())

    def state_dict(self, *args: Any, **kwargs: Any) -> dict[str, Any]:
        """The state of the inner layer, with whole parameters. All processes call it."""
        found = self._layers.state_dict(*args, **kwargs)
        with no_grad():
            for name, p in list(found.items()):
                if id(p) in self.shapes:
                    whole = _joined(p, self.shapes[id(p)], self._group)
                    whole.name = p.name
                    found[name] = whole
        return found

    def set_state_dict(self, state_dict: dict[str, Any], *args: Any, **kwargs: Any) -> tuple[list[str], list[str]]:
        """Set the state of the inner layer from whole parameters."""
        own, given = self._layers.state_dict(), dict(state_dict)
        with no_grad():
            for name, p in own.items():
                if id(p) in self.shapes and name in given:
                    value = given[name] if isinstance(given[name], Tensor) else to_tensor(given[name])
                    if list(value.shape) != self.shapes[id(p)]:
                        raise InvalidArgumentError(
                            f"set_state_dict: {name} has another shape. Got {list(value.shape)}, expected {self.shapes[id(p)]}. Load the state of "
                            f"this model."
                        )
                    size = p.shape[0]
                    flat = _padded(value.astype(p.dtype).reshape([-1]), size * self._group.nranks)
                    given[name] = flat[self._group.rank * size : (self._group.rank + 1) * size]
        return self._layers.set_state_dict(given, *args, **kwargs)

    set_dict = load_dict = set_state_dict


class GroupShardedOptimizerStage3(HybridParallelOptimizer):
    """An optimizer of pieces: each process updates its own, and of parameters that stay whole all of them."""

    def __init__(self, optim: Any, model: GroupShardedStage3, dp_group: Group | None = None) -> None:
        self._model = model
        super().__init__(optim, _Groups(model._group, dp_group), None, self._exchanged)  # type: ignore[arg-type]
        self._owners = dict.fromkeys(self._owners, self._sharding.rank)

    def _exchanged(self, parameters: list[Any], group: Group) -> None:
        pieces = self._model.shapes
        reduce_gradients([p for p in parameters if group is not self._sharding or id(p) not in pieces], group)

    def _send_own(self) -> None:
        """Each process has what it needs."""

    def _clipped(self, pairs: list[tuple[Any, Tensor]], clip: ClipGradByGlobalNorm) -> list[tuple[Any, Tensor]]:
        mine = [(p, g) for p, g in pairs if getattr(p, "need_clip", True)]
        pieces = self._model.shapes
        return _clipped_in(
            self._sharding, [(p, g) for p, g in mine if id(p) in pieces], [(p, g) for p, g in mine if id(p) not in pieces], pairs, clip)


def group_sharded_parallel(
    model: Layer, optimizer: Any, level: str, scaler: Any = None, group: Group | None = None, offload: bool = False, sync_buffers: bool = False,
    buffer_max_size: int = 2**23, segment_size: int = 2**20, sync_comm: bool = False, dp_group: Group | None = None, exclude_layer: Any = None,
) -> tuple[Any, Any, Any]:
    """Divide the state of training among processes.

    Args:
        model: of which each process has a copy.
        optimizer: of its parameters.
        level: "os" divides the state of the optimizer, "os_g" gradients too, "p_g_os" parameters as well.
        scaler: a GradScaler.
        group: the processes; None for all.
        offload: keep the optimizer's state on the host; on a CPU it is there.
        sync_buffers: no effect: buffers begin equal.
        buffer_max_size: bytes of gradients that are sent together.
        segment_size: of "p_g_os", parameters of fewer elements stay whole.
        sync_comm: no effect.
        dp_group: processes that have the same part and see other samples.
        exclude_layer: of "p_g_os", classes or ids of layers whose parameters stay whole.

    Returns:
        Model, optimizer and scaler to train with; in one process those given.

    Raises:
        ValueError: `level` is unknown.
        TypeError: `model` is not a Layer (also a ValueError).
        NotImplementedError: offload on a device.

    Source:
        `paddle.distributed.sharding.group_sharded_parallel`.
    """
    require(model, Layer, "group_sharded_parallel", "model", "Pass the model itself.")
    if level not in LEVELS:
        raise InvalidArgumentError(f"group_sharded_parallel: level is not known. Got {short(level)}, expected 'os', 'os_g' or 'p_g_os'. Choose one.")
    members = group_of("group_sharded_parallel", group)
    if members is None or members.nranks == 1:
        return model, optimizer, scaler
    if offload and get_device() != "cpu":
        raise UnimplementedError(
            f"group_sharded_parallel: offload is for a CPU, where it costs nothing. Got offload=True on {get_device()}, expected False. Use "
            f"'p_g_os'.")
    made: Any
    if level == "p_g_os":
        made = GroupShardedStage3(model, optimizer, members, segment_size, exclude_layer)
        stepping: Any = GroupShardedOptimizerStage3(optimizer, made, dp_group)
    else:
        stepping = GroupShardedOptimizerStage2(None, optimizer, members, offload, dp_group=dp_group, reduced=level == "os_g")
        made = GroupShardedStage2(model, stepping, members, buffer_max_size) if level == "os_g" else Sharded(model, members)
    if dp_group is not None:
        broadcast_tensors(list(model.parameters()), dp_group.ranks[0], dp_group)
    return made, stepping, None if scaler is None else HybridParallelGradScaler(scaler, _Groups(members, dp_group))  # type: ignore[arg-type]


def whole_optimizer_state(optimizer: Any, group: Group) -> dict[str, Any] | None:
    """The state of all processes together, in the first one of a group."""
    inner = optimizer._inner_opt
    mine: dict[str, Any] = {"": inner.state_dict().get("LR_Scheduler")}
    for p in all_parameters(inner):
        piece = getattr(p, "flat_piece", None)
        for _, state, each in states_of(inner, p):
            mine[state.name] = (piece[0] if piece is not None and each else None, state.numpy())
    found: list[Any] = []
    gather_object(mine, found, group.ranks[0], group)
    if group.rank:
        return None
    whole: dict[str, Any] = {}
    for name in {name for each in found for name in each if name}:
        having = [each[name] for each in found if name in each]
        shape = having[0][0]
        whole[name] = having[0][1] if shape is None else np.concatenate([v for _, v in having])[: int(np.prod(shape))].reshape(shape)
    if mine[""] is not None:
        whole["LR_Scheduler"] = mine[""]
    return whole


def save_group_sharded_model(model: Layer, output: str, optimizer: Any = None) -> None:
    """Write a model, as `model.pdmodel` in a folder, and its optimizer as `model.pdopt`, both whole. All processes call it; the first one writes.

    Raises:
        ValueError: `output` is a file.

    Source:
        `paddle.distributed.sharding.save_group_sharded_model`.
    """
    if os.path.isfile(output):
        raise InvalidArgumentError(f"save_group_sharded_model: output is a file. Got {short(output)}, expected a folder. Pass its name.")
    group = model._group if isinstance(model, Sharded) else world.groups[0]
    state = model.state_dict()
    merged = None
    if isinstance(optimizer, HybridParallelOptimizer):
        merged = whole_optimizer_state(optimizer, group)
    elif optimizer is not None:
        merged = optimizer.state_dict()
    if group.rank == 0:
        save(state, os.path.join(output, "model.pdmodel"))
        if merged is not None:
            save(merged, os.path.join(output, "model.pdopt"))
    barrier(group)


__all__ = ["group_sharded_parallel", "save_group_sharded_model"]
