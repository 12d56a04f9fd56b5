"""Tensors that know how they lie on a mesh of processes: `shard_tensor`, `reshard`, `shard_layer`, `shard_optimizer`.

What a process holds is its part, an ordinary tensor: its shape is that of the part, and operations compute with the part. `reshard` moves a
tensor from one way of lying to another, and gradients pass through it. A layer of `shard_layer` has its parameters in parts, with their
gradients and the optimizer's state, and together only while it runs; the gradient of a parameter is the mean over the mesh, so that
processes which see different samples train one model.
"""
from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from wherry_autograd import PyLayer, no_grad
from wherry_distributed.collective import ReduceOp, all_gather, all_reduce
from wherry_distributed.placement import Placement, ProcessMesh, Replicate, Shard
from wherry_distributed.world import Group
from wherry_nn import Layer
from wherry_nn.clip import ClipGradByGlobalNorm
from wherry_nn.parameter import Parameter
from wherry_tensor import Tensor, concat, ops, to_tensor, zeros_like
from wherry_tensor.errors import InvalidArgumentError, InvalidTypeError, UnimplementedError, short
from wherry_tensor.explained import explained

__all__ = ["dtensor_from_fn", "reshard", "shard_layer", "shard_optimizer", "shard_tensor"]


@dataclass(frozen=True)
class Lying:
    """How a tensor lies."""

    mesh: ProcessMesh
    placements: tuple[Placement, ...]
    shape: tuple[int, ...]  # of the whole

    def part(self, x: Tensor) -> Tensor:
        """What of the whole `x` this process has, in memory of its own."""
        at = self.mesh.coordinate()
        if at is None:
            return zeros_like(x)[:0] if x.ndim else zeros_like(x)
        for axis, placement in enumerate(self.placements):
            if isinstance(placement, Shard):
                size = x.shape[placement.get_dim()] // self.mesh.shape[axis]
                x = x.slice([placement.get_dim()], [at[axis] * size], [(at[axis] + 1) * size])
            elif placement.is_partial() and at[axis]:
                x = zeros_like(x)
        return ops.copy(x)

    def whole(self, x: Tensor, terms: bool = True) -> Tensor:
        """The whole of which `x` is this process's part; without `terms` one of a sum is taken for the value."""
        groups = self.mesh.groups()
        for axis in reversed(range(self.mesh.ndim)):
            placement = self.placements[axis]
            if isinstance(placement, Shard):
                found: list[Tensor] = []
                all_gather(found, x.contiguous(), groups[axis])
                x = concat(found, placement.get_dim())
            elif placement.is_partial() and terms:
                x = ops.copy(x)
                all_reduce(x, ReduceOp.SUM, groups[axis])
        return x

    def mean(self, x: Tensor) -> Tensor:
        """The mean of `x` over all processes of the mesh."""
        x = ops.copy(x)
        for group in self.mesh.groups():
            all_reduce(x, ReduceOp.SUM, group)
        return x * to_tensor(1.0 / self.mesh.size, dtype=x.dtype)


def _lying(x: Any, op_name: str) -> Lying:
    found = vars(x).get("lying") if isinstance(x, Tensor) else None
    if found is None:
        raise InvalidTypeError(
            f"{op_name}: x does not lie on a mesh. Got {short(x)}, expected one of shard_tensor or reshard. Call shard_tensor(x, mesh, "
            f"placements) first."
        )
    lying: Lying = found
    return lying


def _checked(op_name: str, mesh: Any, placements: Any, shape: Sequence[int]) -> Lying:
    if not isinstance(mesh, ProcessMesh):
        raise InvalidTypeError(f"{op_name}: mesh is not a ProcessMesh. Got {short(mesh)}, expected a ProcessMesh. Pass ProcessMesh([0, 1]).")
    if isinstance(placements, Placement) or not all(isinstance(each, Placement) for each in placements) or len(placements) > mesh.ndim:
        raise InvalidArgumentError(
            f"{op_name}: placements do not fit. Got {short(placements)} for a mesh of {mesh.ndim} axes, expected Shard(axis), Replicate() or "
            f"Partial() for each. Pass [Replicate()]."
        )
    made, sizes = [], list(shape)
    for axis, placement in enumerate([*placements, *([Replicate()] * (mesh.ndim - len(placements)))]):
        if isinstance(placement, Shard):
            dim = placement.get_dim() + (len(shape) if placement.get_dim() < 0 else 0)
            if not 0 <= dim < len(shape) or sizes[dim] % mesh.shape[axis]:
                raise InvalidArgumentError(
                    f"{op_name}: the tensor cannot be cut so. Got {placement} of shape {list(shape)} over {mesh.shape[axis]} processes, expected an "
                    f"axis that divides. Pad it, or cut another one."
                )
            sizes[dim] //= mesh.shape[axis]
            placement = Shard(dim)
        made.append(placement)
    return Lying(mesh, tuple(made), tuple(shape))


def _marked(x: Tensor, lying: Lying) -> Tensor:
    held: Any = x
    held.lying, held.process_mesh, held.placements = lying, lying.mesh, list(lying.placements)
    return x


def shard_tensor(
    data: Any, mesh: ProcessMesh, placements: Sequence[Placement], dtype: Any = None, place: Any = None, stop_gradient: bool | None = None
) -> Tensor:
    """The part of this process of a tensor that all processes have alike.

    A parameter keeps being itself: its values become the part. `x.process_mesh` and `x.placements` say how the result lies.

    Args:
        data: a tensor, or what `to_tensor` takes: the same in all processes of the mesh.
        mesh: the processes.
        placements: for each axis of the mesh `Shard(axis of the tensor)`, `Replicate()` or `Partial()`.
        dtype, place: as of `to_tensor`.
        stop_gradient: None keeps that of a tensor; True for other data.

    Shape:
        `[...]` to the same, divided along what is cut.

    Raises:
        TypeError, ValueError: the mesh or the placements do not fit.

    Source:
        `paddle.distributed.shard_tensor`.

    Examples:
        >>> mesh = wherry.distributed.ProcessMesh([0])
        >>> x = wherry.distributed.shard_tensor(wherry.ones([4, 2]), mesh, [wherry.distributed.Shard(0)])
        >>> x.shape, x.placements
        ([4, 2], [Shard(dim=0)])
    """
    x = data if isinstance(data, Tensor) and dtype is None and place is None else to_tensor(data, dtype=dtype, place=place)
    lying = _checked("shard_tensor", mesh, placements, x.shape)
    mesh.groups()
    with no_grad():
        part = lying.part(x.detach())
    if isinstance(data, Parameter):
        data._share_data_with(part)
        return _marked(data, lying)
    part.stop_gradient = (x.stop_gradient if isinstance(data, Tensor) else True) if stop_gradient is None else stop_gradient
    return _marked(part, lying)


def dtensor_from_fn(fn: Callable[..., Any], mesh: ProcessMesh, placements: Sequence[Placement], *args: Any, **kwargs: Any) -> Tensor:
    """`shard_tensor` of what a function returns.

    Source:
        `paddle.distributed.dtensor_from_fn`.

    Examples:
        >>> mesh = wherry.distributed.ProcessMesh([0])
        >>> wherry.distributed.dtensor_from_fn(wherry.ones, mesh, [wherry.distributed.Replicate()], [2]).tolist()
        [1.0, 1.0]
    """
    return shard_tensor(fn(*args, **kwargs), mesh, placements)


class _Move(PyLayer):
    """From one way of lying to another; the cotangent of a term is that of the sum."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, source: Lying, target: Lying) -> Tensor:
        ctx.ways = source, target
        return target.part(source.whole(x))

    @staticmethod
    def backward(ctx: Any, ct: Tensor) -> Tensor:
        source, target = ctx.ways
        whole = target.whole(ct, terms=False)
        plain = Lying(source.mesh, tuple(Replicate() if p.is_partial() else p for p in source.placements), source.shape)
        return plain.part(whole)


def reshard(dist_tensor: Tensor, mesh: ProcessMesh, placements: Sequence[Placement]) -> Tensor:
    """The same tensor, lying in another way. Gradients pass through it.

    Args:
        dist_tensor: of `shard_tensor` or `reshard`.
        mesh: with the same processes, in any grid.
        placements: as for `shard_tensor`.

    Raises:
        TypeError, ValueError: the tensor lies on no mesh, or the placements do not fit.
        NotImplementedError: other processes are in the mesh.

    Source:
        `paddle.distributed.reshard`.

    Examples:
        >>> dist = wherry.distributed
        >>> mesh = dist.ProcessMesh([0])
        >>> x = dist.shard_tensor(wherry.ones([4]), mesh, [dist.Shard(0)])
        >>> dist.reshard(x, mesh, [dist.Replicate()]).placements
        [Replicate()]
    """
    source = _lying(dist_tensor, "reshard")
    target = _checked("reshard", mesh, placements, source.shape)
    if set(mesh.process_ids) != set(source.mesh.process_ids):
        raise UnimplementedError(
            f"reshard: processes differ. Got a tensor on {short(source.mesh.process_ids)} for {short(mesh.process_ids)}, expected the same ones. "
            f"Send it with send and recv."
        )
    source.mesh.groups()
    mesh.groups()
    moved: Tensor = _Move.apply(dist_tensor, source, target)
    return _marked(moved, target)


class _Use(PyLayer):
    """The whole of a parameter, while a layer runs. Its gradient is the mean over the mesh, of which each process takes its part."""

    @staticmethod
    def forward(ctx: Any, p: Tensor, lying: Lying) -> Tensor:
        ctx.lying = lying
        return ops.copy(lying.whole(p))

    @staticmethod
    def backward(ctx: Any, ct: Tensor) -> Tensor:
        part: Tensor = ctx.lying.part(ctx.lying.mean(ct))
        return part


def shard_layer(
    layer: Layer, process_mesh: ProcessMesh, shard_fn: Callable[[str, Layer, ProcessMesh], None] | None = None,
    input_fn: Callable[[Any, ProcessMesh], Any] | None = None, output_fn: Callable[[Any, ProcessMesh], Any] | None = None,
) -> Layer:
    """Let the parameters of a layer lie on a mesh.

    Args:
        layer: is changed: while one of its sublayers runs it has its parameters whole. A layer may use its own parameters alone.
        process_mesh: the processes.
        shard_fn: called with the name of each sublayer, the sublayer and the mesh; says with `shard_tensor` how parameters lie. Those that it
            leaves, and all without it, are whole in each process.
        input_fn, output_fn: called with what the layer gets (a tuple), and returns, and the mesh: for `shard_tensor` of samples.

    Returns:
        The layer.

    Raises:
        TypeError: these are not a Layer and a ProcessMesh.

    Source:
        `paddle.distributed.shard_layer`.
    """
    if not isinstance(layer, Layer) or not isinstance(process_mesh, ProcessMesh):
        raise InvalidTypeError(
            f"shard_layer: these are not a layer and a mesh. Got {short(layer)} and {short(process_mesh)}, expected a Layer and a ProcessMesh. Pass "
            f"ProcessMesh([0, 1])."
        )
    for name, each in layer.named_sublayers(include_self=True):
        if shard_fn is not None:
            shard_fn(name, each, process_mesh)
    for each in layer.sublayers(include_self=True):
        for p in each._parameters.values():
            if p is not None and "lying" not in vars(p):
                shard_tensor(p, process_mesh, [])
        if any(p is not None for p in each._parameters.values()):
            _together_while_it_runs(each)
    if input_fn is not None:
        layer.register_forward_pre_hook(lambda layer, inputs: input_fn(inputs, process_mesh))
    if output_fn is not None:
        layer.register_forward_post_hook(lambda layer, inputs, outputs: output_fn(outputs, process_mesh))
    return layer


def _together_while_it_runs(layer: Layer) -> None:
    held: list[dict[str, Any]] = []

    def before(layer: Layer, inputs: Any) -> None:
        own: dict[str, Any] = dict(layer._parameters)
        held.append(own)
        for name, p in own.items():
            if p is not None:
                layer._parameters[name] = _Use.apply(p, vars(p)["lying"])

    def behind(layer: Layer, inputs: Any, outputs: Any) -> None:
        layer._parameters.update(held.pop())

    layer.register_forward_pre_hook(before)
    layer.register_forward_post_hook(behind)


class ClipByNormOfWholes(ClipGradByGlobalNorm):
    """`ClipGradByGlobalNorm` where processes have parts of the gradients: its norm is that of the wholes."""

    def _scales(self, params: list[Any], grads: list[Tensor]) -> list[Tensor | None]:
        sums: dict[tuple[int, ...], Tensor] = {}
        groups: dict[tuple[int, ...], list[Group]] = {}
        for p, g in zip(params, grads, strict=True):
            if getattr(p, "need_clip", True):
                lying = vars(p).get("lying")
                lines = [] if lying is None else zip(lying.mesh.groups(), lying.placements, strict=True)
                cut = [group for group, placement in lines if placement.is_shard()]
                key = tuple(group.id for group in cut)
                square = ops.sum_of_squares(g).astype("float32")
                sums[key], groups[key] = sums[key] + square if key in sums else square, cut
        total = to_tensor(0.0, dtype="float32")
        for key, value in sums.items():
            for group in groups[key]:
                all_reduce(value, ReduceOp.SUM, group)
            total = total + value
        bound = to_tensor(self.clip_norm, dtype="float32")
        factor = bound / ops.maximum(total.sqrt(), bound)
        return [factor if getattr(p, "need_clip", True) else None for p in params]


def shard_optimizer(optimizer: Any, shard_fn: Any = None) -> Any:
    """Let an optimizer update parameters that lie on meshes: its state lies as they do, and clipping takes the norm of the wholes.

    Args:
        optimizer: is changed.
        shard_fn: None: the state lies as its parameter.

    Raises:
        NotImplementedError: another way for the state, or an optimizer that needs the norm of a parameter.

    Source:
        `paddle.distributed.shard_optimizer`.
    """
    if not hasattr(optimizer, "_groups"):
        raise InvalidTypeError(f"shard_optimizer: 'optimizer' is not an optimizer. Got {short(optimizer)}, expected one of paddle.optimizer.")
    if shard_fn is not None or type(optimizer).__name__ in ("Lamb", "LarsMomentum"):
        raise UnimplementedError(
            f"shard_optimizer: the state of an optimizer lies as its parameters here. Got {type(optimizer).__name__} with "
            f"shard_fn={short(shard_fn)}, expected one that updates element by element, and no shard_fn. Leave it out."
        )
    for group in optimizer._groups:
        if isinstance(group.grad_clip, ClipGradByGlobalNorm):
            group.grad_clip = ClipByNormOfWholes(group.grad_clip.clip_norm)
        elif group.grad_clip is not None and type(group.grad_clip).__name__ == "ClipGradByNorm":
            raise UnimplementedError(
                "shard_optimizer: the norm of one gradient is that of a part. Got ClipGradByNorm, expected ClipGradByGlobalNorm or "
                "ClipGradByValue. Use one of them."
            )
    return optimizer


explained(globals())
