"""The same bits for any number of processes.

A batch is cut into a fixed number of shards, whatever the number of processes; each shard gives its own gradients; and these are added
along one binary tree over the shards. Each process adds what lies below it, the upper levels are added by all, each for a part of the
parameters (all-to-all, sum, all-gather: as much traffic as an all-reduce). A plain all-reduce adds in another order for each number of
processes, which is enough for training to go another way after some steps.
"""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from wherry_autograd import no_grad
from wherry_distributed.collective import all_gather, alltoall
from wherry_distributed.world import Group, group_of
from wherry_nn import Layer
from wherry_tensor import Tensor, concat, to_tensor, zeros
from wherry_tensor.arguments import MAX_RANK, require, require_rank
from wherry_tensor.errors import InvalidArgumentError, short


def tree_sum(parts: Sequence[Tensor]) -> Tensor:
    """The sum of 2, 4, 8, ... tensors along a binary tree: neighbours first."""
    found = list(parts)
    while len(found) > 1:
        found = [found[i] + found[i + 1] for i in range(0, len(found), 2)]
    return found[0]


def tree_all_reduce(flat: Tensor, group: Group | None = None) -> Tensor:
    """The sum of the 1-D tensors of all processes along a binary tree over ranks, in each of them. Their number is a power of 2.

    Shape:
        `[n]`, the same in all processes.
    """
    members = group_of("tree_all_reduce", group)
    if members is None or members.nranks == 1:
        return flat
    count, size = members.nranks, flat.shape[0]
    piece = -(-size // count)
    with no_grad():
        padded = concat([flat, zeros([piece * count - size], dtype=flat.dtype)]) if piece * count > size else flat
        received: list[Tensor] = []
        alltoall([padded[i * piece : (i + 1) * piece] for i in range(count)], received, members)
        mine: list[Tensor] = []
        all_gather(mine, tree_sum(received), members)
        return concat(mine)[:size]


def backward_of_shards(
    model: Layer, loss: Callable[..., Tensor], inputs: Sequence[Tensor], labels: Sequence[Tensor] = (), shards: int = 8, group: Group | None = None
) -> Tensor:
    """Forward and backward of a batch, with gradients whose bits do not depend on the number of processes.

    Afterwards `.grad` of each parameter is the mean over all shards in every process; an optimizer goes on from there. Layers whose
    results depend on other samples of the batch (batch normalization) see one shard at a time. What is random has to be drawn alike by the
    caller: dropout follows the generator of the process.

    Args:
        model: called with the inputs of one shard; not a DataParallel.
        loss: called with its output and the labels of the shard; the mean over its samples.
        inputs, labels: this process's part of the batch, in the order of ranks.
        shards: of the whole batch; a power of 2 that the number of processes divides.

    Returns:
        The mean of the losses of all shards, 0-d.

    Raises:
        ValueError: `shards` is not a power of 2 or less than there are processes, or the samples do not divide into them.

    Examples:
        >>> net, mse = wherry.nn.Linear(3, 1), wherry.nn.MSELoss()
        >>> x, y = wherry.ones([8, 3]), wherry.ones([8, 1])
        >>> loss = wherry.distributed.backward_of_shards(net, mse, [x], [y])
        >>> loss.shape, net.weight.grad.shape
        ([], [3, 1])
    """
    require(model, Layer, "backward_of_shards", "model", "Pass the model itself, not in DataParallel.")
    members = group_of("backward_of_shards", group)
    count = 1 if members is None else members.nranks
    if not isinstance(shards, int) or shards < 1 or shards & (shards - 1) or shards % count:
        raise InvalidArgumentError(
            f"backward_of_shards: shards do not fit. Got {short(shards)} for {count} processes, expected a power of 2 that {count} divides. Take 8."
        )
    for x in (*inputs, *labels):
        require_rank(x, "backward_of_shards", 1, MAX_RANK, "inputs and labels")
    own, samples = shards // count, inputs[0].shape[0]
    if samples % own or any(x.shape[0] != samples for x in (*inputs, *labels)):
        raise InvalidArgumentError(
            f"backward_of_shards: samples do not divide. Got {[x.shape[0] for x in (*inputs, *labels)]} for {own} shards in this process, expected "
            f"equally many, a multiple of {own}. Take another batch size."
        )
    size = samples // own
    parameters = [p for p in model.parameters() if not p.stop_gradient]
    flats = []
    for i in range(own):
        part = slice(i * size, (i + 1) * size)
        for p in parameters:
            p.clear_gradient(False)
        value = loss(model(*(x[part] for x in inputs)), *(y[part] for y in labels))
        value.backward()
        with no_grad():
            flats.append(concat([*(_gradient(p) for p in parameters), value.detach().astype("float32").reshape([1])]))
    with no_grad():
        total = tree_all_reduce(tree_sum(flats), members) * to_tensor(1.0 / shards, dtype="float32")
        at = 0
        for p in parameters:
            p.grad = total[at : at + p.size].reshape(p.shape).astype(p.dtype)
            at += p.size
        return total[at]


def _gradient(p: Any) -> Tensor:
    return zeros([p.size]) if p.grad is None else p.grad.detach().astype("float32").reshape([-1])
