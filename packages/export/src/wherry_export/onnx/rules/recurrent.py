"""Recurrent networks. ONNX has another order of gates, and an axis for directions."""
from __future__ import annotations

import numpy as np

from wherry_export.onnx.column import to_onnx
from wherry_tensor import ops
from wherry_tensor._core import int32


def _gates(g, weight, order):
    """The blocks of rows in ONNX's order, with the axis of directions in front."""
    parts = len(order)
    known = g.array_of(weight)
    if known is not None:
        blocks = np.split(known, parts)
        return g.constant(np.concatenate([blocks[i] for i in order])[None])
    if parts == 1:
        return g.unsqueeze(weight, [0])
    names = g.op("Split", weight, *([g.ints([weight.shape[0] // parts] * parts)] if g.opset >= 13 else []), outputs=parts, axis=0,
                 **({} if g.opset >= 13 else {"split": [weight.shape[0] // parts] * parts}))
    return g.unsqueeze(g.op("Concat", *[names[i] for i in order], axis=0), [0])


def _run(g, kind, order, x, states, weights, length, reverse, **attrs):
    weight_ih, weight_hh, bias_ih, bias_hh = weights
    w, r = _gates(g, weight_ih, order), _gates(g, weight_hh, order)
    b = g.op("Concat", _gates(g, bias_ih, order), _gates(g, bias_hh, order), axis=1)
    lengths = None if length is None else g.cast(length, int32)
    hidden = weight_hh.shape[1]
    first = [g.unsqueeze(state, [0]) for state in states]
    results = g.op(
        kind, x, w, r, b, lengths, *first, outputs=1 + len(states), hidden_size=hidden,
        direction="reverse" if reverse else "forward", **attrs,
    )
    last = [g.squeeze(state, [0]) for state in results[1:]]
    if length is not None:  # runtimes give zeros, not the first state, for a sequence of length 0
        none = g.unsqueeze(g.op("Equal", length, g.number(0, length)), [1])
        last = [g.op("Where", none, state, end) for state, end in zip(states, last, strict=True)]
    return [g.squeeze(results[0], [1]), *last]


@to_onnx.rule(ops.lstm)
def onnx_lstm(g, x, h, c, weight_ih, weight_hh, bias_ih, bias_hh, length, *, reverse):
    if any(g.wanted[3:]):
        return NotImplemented
    order = (0, 3, 1, 2)  # i, o, f, g of our i, f, g, o
    out, h_last, c_last = _run(g, "LSTM", order, x, (h, c), (weight_ih, weight_hh, bias_ih, bias_hh), length, reverse)
    return out, h_last, c_last, None, None


@to_onnx.rule(ops.gru)
def onnx_gru(g, x, h, weight_ih, weight_hh, bias_ih, bias_hh, length, *, reverse):
    if g.wanted[2]:
        return NotImplemented
    order = (1, 0, 2)  # z, r, n of our r, z, n
    out, h_last = _run(
        g, "GRU", order, x, (h,), (weight_ih, weight_hh, bias_ih, bias_hh), length, reverse, linear_before_reset=1
    )
    return out, h_last, None


@to_onnx.rule(ops.simple_rnn)
def onnx_simple_rnn(g, x, h, weight_ih, weight_hh, bias_ih, bias_hh, length, *, relu, reverse):
    out, h_last = _run(
        g, "RNN", (0,), x, (h,), (weight_ih, weight_hh, bias_ih, bias_hh), length, reverse, activations=["Relu" if relu else "Tanh"]
    )
    return out, h_last
