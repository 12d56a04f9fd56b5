"""Layers of which each process has a part: columns or rows of weights, rows of tables, classes of a loss.

What a layer makes is as large as that of the whole one; Shoeybi et al., "Megatron-LM" (2019). Of a column layer the input is the same in all
processes and the output divided, of a row layer the other way round: after one another they exchange once.
"""
from __future__ import annotations

import copy
from typing import Any

from wherry_distributed import grid
from wherry_distributed.model_parallel import (
    _c_concat,
    _c_identity,
    _c_lookup_table,
    _c_softmax_with_cross_entropy,
    _c_split,
    _mp_allreduce,
)
from wherry_distributed.random_states import MODEL_PARALLEL_RNG, get_rng_state_tracker
from wherry_distributed.world import Group
from wherry_nn import Layer
from wherry_nn import functional as F  # noqa: N812
from wherry_nn import initializer as I  # noqa: N812, E741
from wherry_nn.initializer.initializer import default_initializer as global_initializer
from wherry_nn.param_attr import as_param_attr
from wherry_tensor import Tensor, ops
from wherry_tensor.errors import InvalidArgumentError
from wherry_tensor.static_builder import building

__all__ = ["ColumnParallelLinear", "ParallelCrossEntropy", "RowParallelLinear", "VocabParallelEmbedding"]


def part_of(op_name: str, what: str, size: int, group: Group) -> int:
    """How much of an axis each process has."""
    if size % group.nranks:
        raise InvalidArgumentError(
            f"{op_name}: {what} does not divide by the processes. Got {what}={size} for {group.nranks}, expected a multiple of {group.nranks}. Pad "
            f"it."
        )
    return size // group.nranks


def divided(parameter: Any, axis: int, group: Group) -> Any:
    """Mark a parameter as this process's part of a larger one along an axis: for checkpoints, norms, and those who copy parameters."""
    parameter.is_distributed = group.nranks > 1
    parameter.split_axis = axis
    parameter.split_group = group
    return parameter


def own_weight(layer: Layer, shape: tuple[int, int], axis: int, attr: Any, group: Group) -> Any:
    """This process's part, along an axis, of a weight of `shape`.

    Its first values are drawn from the random state for what is divided, where there is one. In a program the whole is drawn and cut: from the
    same seed comes what one process begins with.
    """
    size, own = shape[axis], shape[axis] // group.nranks
    part = [own if i == axis else n for i, n in enumerate(shape)]
    tracker = get_rng_state_tracker()
    if group.nranks == 1:
        made = layer.create_parameter(part, attr=attr)
    elif building.builder is not None:
        said = copy.copy(as_param_attr(attr))
        if said is None:
            raise InvalidArgumentError("ParallelLinear: a divided layer has a weight. Got weight_attr=False, expected a ParamAttr. Leave it out.")
        said.initializer = _Cut(said.initializer or global_initializer(False) or I.XavierUniform(), shape, axis, size * group.rank // group.nranks)
        made = layer.create_parameter(part, attr=said)
    elif MODEL_PARALLEL_RNG in tracker.states_:
        with tracker.rng_state():
            made = layer.create_parameter(part, attr=attr)
    else:
        made = layer.create_parameter(part, attr=attr)
    return divided(made, axis, group)


class _Cut(I.Initializer):
    """Fills a tensor of `shape` and takes the part from `begin` on along an axis."""

    def __init__(self, whole: Any, shape: tuple[int, int], axis: int, begin: int) -> None:
        self.whole, self.shape, self.axis, self.begin = whole, shape, axis, begin

    def forward(self, param: Tensor, block: Any = None) -> None:
        filled = ops.full(shape=self.shape, value=0.0, dtype=param.dtype)
        self.whole(filled)
        end = self.begin + param.shape[self.axis]
        ops.copy.into((param,), filled[self.begin : end] if self.axis == 0 else filled[:, self.begin : end])


class ColumnParallelLinear(Layer):
    """A linear layer of which each process has some columns of the weight.

    Args:
        in_features, out_features: of the whole layer.
        weight_attr: of the weight, `[in_features, out_features / processes]`.
        has_bias: None and True have one, of this process's columns.
        gather_output: put the columns of all together; False leaves them divided, for a row layer that follows.
        fuse_matmul_bias: no effect: they are one call.
        mp_group: the processes; None for those of `fleet.init`.

    Shape:
        `[..., in_features]` to `[..., out_features]`, or `[..., out_features / processes]`.

    Raises:
        ValueError: `out_features` does not divide by the processes.

    Source:
        `paddle.distributed.fleet.meta_parallel.ColumnParallelLinear`.
    """

    def __init__(
        self, in_features: int, out_features: int, weight_attr: Any = None, has_bias: bool | None = None, gather_output: bool = True,
        fuse_matmul_bias: bool = False, mp_group: Group | None = None, name: str | None = None,
    ) -> None:
        super().__init__()
        self.model_parallel_group = group = grid.model_parallel_group(mp_group)
        self.world_size, self.is_mp = group.nranks, group.nranks > 1
        self.gather_output, self._name = gather_output, name
        self.in_features = in_features
        self.output_size_per_partition = part_of("ColumnParallelLinear", "out_features", out_features, group)
        self.weight = own_weight(self, (in_features, out_features), 1, weight_attr, group)
        self.bias = None
        if has_bias is not False:
            self.bias = divided(self.create_parameter(
                [self.output_size_per_partition], is_bias=True, default_initializer=I.Constant(0.0)), 0, group)

    def forward(self, x: Tensor) -> Tensor:
        whole = _c_identity(x, self.model_parallel_group)
        out = F.linear(whole, self.weight, self.bias)
        return _c_concat(out, self.model_parallel_group) if self.gather_output else out


class RowParallelLinear(Layer):
    """A linear layer of which each process has some rows of the weight. The bias is whole in each.

    Args:
        in_features, out_features: of the whole layer.
        weight_attr: of the weight, `[in_features / processes, out_features]`.
        has_bias: has it one?
        input_is_parallel: the input is divided already, by a column layer before; False divides it.
        fuse_matmul_bias: no effect.
        mp_group: the processes; None for those of `fleet.init`.

    Shape:
        `[..., in_features]`, or `[..., in_features / processes]`, to `[..., out_features]`.

    Raises:
        ValueError: `in_features` does not divide by the processes.

    Source:
        `paddle.distributed.fleet.meta_parallel.RowParallelLinear`.
    """

    def __init__(
        self, in_features: int, out_features: int, weight_attr: Any = None, has_bias: bool = True, input_is_parallel: bool = False,
        fuse_matmul_bias: bool = False, mp_group: Group | None = None, name: str | None = None,
    ) -> None:
        super().__init__()
        self.model_parallel_group = group = grid.model_parallel_group(mp_group)
        self.world_size, self.is_mp = group.nranks, group.nranks > 1
        self.input_is_parallel, self._name = input_is_parallel, name
        self.out_features = out_features
        self.input_size_per_partition = part_of("RowParallelLinear", "in_features", in_features, group)
        self.weight = own_weight(self, (in_features, out_features), 0, weight_attr, group)
        self.bias = self.create_parameter([out_features], is_bias=True, default_initializer=I.Constant(0.0)) if has_bias else None

    def forward(self, x: Tensor) -> Tensor:
        part = x if self.input_is_parallel else _c_split(x, self.model_parallel_group)
        out = _mp_allreduce(F.linear(part, self.weight), group=self.model_parallel_group)
        return out if self.bias is None else out + self.bias


class VocabParallelEmbedding(Layer):
    """A table of vectors of which each process has some rows.

    Args:
        num_embeddings, embedding_dim: of the whole table.
        weight_attr: of the table.
        mp_group: the processes; None for those of `fleet.init`.

    Shape:
        `[...]` to `[..., embedding_dim]`.

    Raises:
        ValueError: `num_embeddings` does not divide by the processes.

    Source:
        `paddle.distributed.fleet.meta_parallel.VocabParallelEmbedding`.
    """

    def __init__(
        self, num_embeddings: int, embedding_dim: int, weight_attr: Any = None, mp_group: Group | None = None, name: str | None = None
    ) -> None:
        super().__init__()
        self.model_parallel_group = group = grid.model_parallel_group(mp_group)
        self.world_size, self.is_mp, self.rank = group.nranks, group.nranks > 1, group.rank
        self.num_embeddings = num_embeddings
        count = part_of("VocabParallelEmbedding", "num_embeddings", num_embeddings, group)
        self.vocab_start_index = group.rank * count
        self.weight = own_weight(self, (num_embeddings, embedding_dim), 0, weight_attr, group)

    def forward(self, x: Tensor) -> Tensor:
        if not self.is_mp:
            return F.embedding(x, self.weight)
        return _mp_allreduce(_c_lookup_table(self.weight, x, self.vocab_start_index, self.num_embeddings), group=self.model_parallel_group)


class ParallelCrossEntropy(Layer):
    """Cross entropy of logits whose classes are divided among processes, sample by sample.

    Args:
        mp_group: the processes; None for those of `fleet.init`.
        ignore_index: a label that does not count.

    Shape:
        `[..., classes / processes]` and labels `[...]` or `[..., 1]` to `[..., 1]`.

    Source:
        `paddle.distributed.fleet.meta_parallel.ParallelCrossEntropy`.
    """

    def __init__(self, mp_group: Group | None = None, name: str | None = None, ignore_index: int = -100) -> None:
        super().__init__()
        self.model_parallel_group = grid.model_parallel_group(mp_group)
        self.ignore_index = ignore_index

    def forward(self, input: Tensor, label: Tensor) -> Any:
        return _c_softmax_with_cross_entropy(input, label, self.model_parallel_group, ignore_index=self.ignore_index)


def split(
    x: Tensor, size: tuple[int, int], operation: str, axis: int = 0, num_partitions: int = 1, gather_out: bool = True, weight_attr: Any = None,
    bias_attr: Any = None, name: str | None = None,
) -> Tensor:
    """A linear layer or table that is divided among the processes, made and applied in one call.

    Args:
        x: what it is applied to.
        size: of the whole weight.
        operation: "linear" or "embedding".
        axis: of a linear layer, 0 divides rows and 1 columns.
        num_partitions: how many processes divide it: all of the group.
        gather_out: of columns, put them together.
        weight_attr, bias_attr: of the parameters; False for no bias.

    Shape:
        As `RowParallelLinear`, `ColumnParallelLinear`, `VocabParallelEmbedding`.

    Raises:
        ValueError: `operation` or `axis` is unknown, or `num_partitions` is another number than there are processes.

    Source:
        `paddle.distributed.split`.
    """
    group = grid.model_parallel_group(None)
    if num_partitions != group.nranks:
        raise InvalidArgumentError(
            f"split: num_partitions is not the number of processes. Got {num_partitions}, expected {group.nranks}, as fleet.init has divided them. "
            f"Set mp_degree."
        )
    if operation == "embedding" and axis == 0:
        return VocabParallelEmbedding(*size, weight_attr=weight_attr)(x)  # type: ignore[no-any-return]
    if operation == "linear" and axis in (0, 1):
        if axis == 0:
            return RowParallelLinear(*size, weight_attr=weight_attr, has_bias=bias_attr is not False)(x)  # type: ignore[no-any-return]
        return ColumnParallelLinear(  # type: ignore[no-any-return]
            *size, weight_attr=weight_attr, has_bias=bias_attr is not False, gather_output=gather_out)(x)
    raise InvalidArgumentError(
        f"split: there is no such layer. Got operation={operation!r}, axis={axis}, expected 'linear' with 0 or 1, or 'embedding' with 0. Choose one."
    )
