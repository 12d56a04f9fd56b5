"""Gradient rules of recurrent layers.

The ops with _vjp in their names walk back through time and give the cotangents of the sums before the
gates; x, weights and biases get theirs from products over all steps at once.

Their values for gates and cells are inputs only in name: second derivatives go through the
decomposition, which begins from x, the first states and the weights.
"""
from wherry_autograd.rules import not_differentiable, vjp
from wherry_tensor import ops
from wherry_tensor._core import float32, float64
from wherry_tensor.ops.shapes import UNKNOWN

for _op in (ops.packed_lstm, ops.packed_gru):
    not_differentiable(_op, "for inference: passes make it of a layer with a weight as layers have it, which has gradients")


@vjp.rule(ops.lstm, keep_outputs=("out", "gates", "cells"))
def vjp_lstm(ct, out, x, h, c, weight_ih, weight_hh, bias_ih, bias_hh, length, *, reverse, needs):
    out_ct, h_last_ct, c_last_ct, _, _ = ct
    out, _, _, gates, cells = out
    sum_ct, h_ct, c_ct = ops.lstm_vjp(
        out_ct, h_last_ct, c_last_ct, x, h, c, weight_ih, weight_hh, bias_ih, bias_hh, length, gates, cells,
        reverse=reverse,
    )
    input_ct = _input_ct(sum_ct, weight_ih) if needs[0] else None
    return (input_ct, h_ct, c_ct, *_weights_ct(sum_ct, x, out, h, length, reverse, needs[3:7]), None)


@vjp.rule(ops.gru, keep_outputs=("out", "gates"))
def vjp_gru(ct, out, x, h, weight_ih, weight_hh, bias_ih, bias_hh, length, *, reverse, needs):
    out_ct, h_last_ct, _ = ct
    out, _, gates = out
    input_ct, hidden_ct, h_ct = ops.gru_vjp(
        out_ct, h_last_ct, x, h, weight_ih, weight_hh, bias_ih, bias_hh, length, out, gates, reverse=reverse
    )
    return (
        _input_ct(input_ct, weight_ih) if needs[0] else None, h_ct,
        ops.outer_sum(input_ct, x) if needs[2] else None,
        ops.outer_sum(hidden_ct, _before(out, h, length, reverse)) if needs[3] else None,
        _rows_summed(input_ct) if needs[4] else None, _rows_summed(hidden_ct) if needs[5] else None, None,
    )


@vjp.rule(ops.simple_rnn, keep_outputs=("out",))
def vjp_simple_rnn(ct, out, x, h, weight_ih, weight_hh, bias_ih, bias_hh, length, *, relu, reverse, needs):
    out_ct, h_last_ct = ct
    out = out[0]
    sum_ct, h_ct = ops.simple_rnn_vjp(
        out_ct, h_last_ct, x, h, weight_ih, weight_hh, bias_ih, bias_hh, length, out, relu=relu, reverse=reverse
    )
    input_ct = _input_ct(sum_ct, weight_ih) if needs[0] else None
    return (input_ct, h_ct, *_weights_ct(sum_ct, x, out, h, length, reverse, needs[2:6]), None)


def _input_ct(sum_ct, weight):
    return ops.matmul(sum_ct, weight, transpose_x=False, transpose_y=False)


# More numbers than these in both weights gain nothing from one op: products of their size take their factors in order.
_TOGETHER = 1 << 19


def _weights_ct(sum_ct, x, out, h, length, reverse, needs):
    """The cotangents of both weights and both biases: by one op where a layer of plain sequences trains all of them."""
    plain = x.dtype in (float32, float64) and (length is None or not reverse) and UNKNOWN not in (out.shape[0], x.shape[2], out.shape[2])
    if needs[0] and needs[1] and plain and sum_ct.shape[2] * (x.shape[2] + out.shape[2]) <= _TOGETHER:
        input_ct, hidden_ct, bias_ct = ops.recurrent_weights_vjp(sum_ct, x, out, h, reverse=reverse)
        return input_ct, hidden_ct, bias_ct, bias_ct
    bias_ct = _rows_summed(sum_ct) if needs[2] or needs[3] else None
    return (
        ops.outer_sum(sum_ct, x) if needs[0] else None,
        ops.outer_sum(sum_ct, _before(out, h, length, reverse)) if needs[1] else None,
        bias_ct, bias_ct,
    )


def _rows_summed(x):
    return ops.reduce_sum(x, axes=(0, 1), keepdim=False)


def _before(out, h, length, reverse):
    """The state that each step begins with. Where a step does not count it is anything: its cotangent is 0."""
    first = ops.unsqueeze(h, axes=(0,))
    count = out.shape[0]
    if count == 0:
        return out
    if not reverse:
        return ops.concat(first, _steps(out, 0, count - 1), axis=0)
    if length is None:
        return ops.concat(_steps(out, 1, count), first, axis=0)
    # Each sequence begins at its own end. After it out is 0, so the first state can be added there.
    times = ops.arange(start=1, step=1, length=count, dtype=length.dtype)
    ends = ops.unsqueeze(ops.equal(ops.unsqueeze(times, axes=(1,)), length), axes=(2,))
    zero = ops.full_like(first, value=0, dtype=out.dtype)
    return ops.where(ends, first, ops.concat(_steps(out, 1, count), zero, axis=0))


def _steps(x, start, end):
    return ops.slice(x, axes=(0,), starts=(start,), ends=(end,), steps=(1,))
