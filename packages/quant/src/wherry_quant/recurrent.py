"""Recurrent layers whose weights are kept in 8 bits, with a step for each output of a gate.

Eagerly they are dequantized in each call; in programs the passes of inference keep them whole (`weight_only_lstm`, `weight_only_gru`).
"""
from __future__ import annotations

from typing import Any

import numpy as np

from wherry_nn.layers.rnn import GRU, LSTM, GRUCell, LSTMCell, RNNBase
from wherry_nn.parameter import Parameter
from wherry_tensor import ops
from wherry_tensor._core import Tensor, float32
from wherry_tensor.functions.creation import to_tensor

__all__ = ["is_recurrent", "round_weights"]


class _Whole:
    """What replaces the weights of a cell by those that whole numbers stand for."""

    def _weights(self) -> tuple[Tensor, ...]:
        cell: Any = self
        names = ("weight_ih", "weight_hh")
        found = [
            ops.dequantize_linear(getattr(cell, name), getattr(cell, f"{name}_scale"), None, axis=0, group=None, dtype=float32) for name in names
        ]
        weights: tuple[Tensor, ...] = (*found, *super()._weights()[2:])  # type: ignore[misc]
        return weights


class WeightOnlyLSTMCell(_Whole, LSTMCell):
    """An LSTMCell with weights of 8 bits."""


class WeightOnlyGRUCell(_Whole, GRUCell):
    """A GRUCell with weights of 8 bits."""


_CELLS = {LSTMCell: WeightOnlyLSTMCell, GRUCell: WeightOnlyGRUCell}


def is_recurrent(layer: Any) -> bool:
    """Whether it is one of the layers whose weights `round_weights` keeps in 8 bits."""
    return type(layer) in (LSTM, GRU)


def round_weights(layer: RNNBase) -> None:
    """Round the weights of all cells of a layer to nearest, in place: by the largest magnitude of each output."""
    for cell, names in zip(layer._cells(), layer._weight_names, strict=True):
        cell.__class__ = _CELLS[type(cell)]  # type: ignore[index,assignment]
        for name, own in zip(names[:2], ("weight_ih", "weight_hh"), strict=True):
            values = getattr(cell, own).astype("float32").numpy()
            steps = np.abs(values).max(1, initial=0.0).astype(np.float32) / np.float32(127)
            q = np.clip(np.rint(values / np.where(steps > 0, steps, 1)[:, None]), -127, 127).astype(np.int8)
            del layer._parameters[name]  # its second name: under it the layer would find whole numbers
            del cell._parameters[own]
            cell.add_parameter(own, Parameter(to_tensor(q), trainable=False))
            cell.add_parameter(f"{own}_scale", Parameter(to_tensor(steps), trainable=False))
