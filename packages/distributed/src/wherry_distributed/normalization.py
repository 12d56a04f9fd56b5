"""Batch normalization by the statistics of all processes.

The mean is summed up over the processes first and the squares of the distances from it then: the difference of two large sums would lose
the variance where the mean is large.
"""
from __future__ import annotations

from typing import Any

from wherry_autograd import PyLayer, no_grad
from wherry_distributed.collective import all_reduce
from wherry_distributed.world import world
from wherry_tensor import Tensor, ops


class SumOfAll(PyLayer):
    """The sum over all processes. Each of them reads it, so the cotangent is a sum as well."""

    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        total = ops.copy(x)
        all_reduce(total)
        return total

    @staticmethod
    def backward(ctx: Any, ct: Tensor) -> Tensor:
        total = ops.copy(ct)
        all_reduce(total)
        return total


def batch_norm_of_all(layer: Any, x: Tensor) -> Tensor:
    """The forward pass of a SyncBatchNorm in training."""
    last = not layer._data_format.startswith("NC")
    axes = [i for i in range(x.ndim) if i != (x.ndim - 1 if last else 1)]
    shape = [1] * x.ndim
    shape[-1 if last else 1] = layer._num_features
    wide = x.astype("float32") if x.dtype.name in ("float16", "bfloat16") else x
    count = ops.full_like(wide.sum(axis=axes), value=float(x.size // layer._num_features), dtype=wide.dtype)
    with no_grad():
        all_reduce(count)
    mean = SumOfAll.apply(wide.sum(axis=axes)) / count
    centred = wide - mean.reshape(shape)
    variance = SumOfAll.apply((centred * centred).sum(axis=axes)) / count
    out = centred * (variance + layer._epsilon).rsqrt().reshape(shape)
    if layer.weight is not None:
        out = out * layer.weight.reshape(shape)
    if layer.bias is not None:
        out = out + layer.bias.reshape(shape)
    with no_grad():
        for running, now in ((layer._mean, mean), (layer._variance, variance)):
            running.set_value(running * layer._momentum + now.detach().astype(running.dtype) * (1 - layer._momentum))
    return out.astype(x.dtype)


def install() -> None:
    """Let SyncBatchNorm be of all processes."""
    from wherry_nn import SyncBatchNorm

    if world.size > 1:
        SyncBatchNorm._of_all = batch_norm_of_all
