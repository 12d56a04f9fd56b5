"""Recurrent networks: one direction of one layer over a whole sequence, and its gradient.

x is [T, B, I], time first; a state is [B, H]. A weight has the rows of all gates below each other,
[gates * H, I] and [gates * H, H]. `length`, [B], says how many steps of each sequence count: past
them out is 0 and the state stays as it is. With `reverse` time runs backward, from the last step
that counts.

The gradient ops stop at the sums before the gates: what is left to do for x, weights and biases is
products over all steps at once, which the gradient rules write down. They take the inputs of the
forward pass as well as what it kept, so that they can be differentiated through their decompositions,
which begin from the inputs alone.
"""
from wherry_tensor import ops
from wherry_tensor.ops.blocked import filled
from wherry_tensor.ops.declare import Meta, decompose, infer, op
from wherry_tensor.ops.reduction import widened
from wherry_tensor.ops.shapes import (
    UNKNOWN,
    floats,
    indices,
    merge_size,
    require_dtype,
    require_known,
    require_one_dtype,
    require_rank,
    same_shape,
    show,
)

# Gates i, f, g, o: c = sigmoid(f) c + sigmoid(i) tanh(g), out = sigmoid(o) tanh(c). `gates` keeps their
# values, [T, B, 4 H], and `cells` those of c.
lstm = op("lstm", "x, h, c, weight_ih, weight_hh, bias_ih, bias_hh, length?", reverse=bool,
          outputs="out, h_last, c_last, gates, cells")
lstm_vjp = op("lstm_vjp", "out_ct?, h_last_ct?, c_last_ct?, x, h, c, weight_ih, weight_hh, bias_ih, bias_hh, length?, "
              "gates, cells", reverse=bool, outputs="gates_ct, h_ct, c_ct")

# Gates r, z, n: out = (1 - z) n + z h with n = tanh(x part + r * h part). `gates` keeps r, z, n and the
# h part of n, [T, B, 4 H]; input_ct and hidden_ct are the cotangents of both parts, [T, B, 3 H].
gru = op("gru", "x, h, weight_ih, weight_hh, bias_ih, bias_hh, length?", reverse=bool, outputs="out, h_last, gates")
gru_vjp = op("gru_vjp", "out_ct?, h_last_ct?, x, h, weight_ih, weight_hh, bias_ih, bias_hh, length?, out, gates",
             reverse=bool, outputs="input_ct, hidden_ct, h_ct")

# As `lstm` and `gru`, whose weight of the states was put in order before (`packed_units`): [unit blocks, H, gates, 16].
packed_lstm = op("packed_lstm", "x, h, c, weight_ih, weight_hh, bias_ih, bias_hh, length?", reverse=bool, outputs="out, h_last, c_last")
packed_gru = op("packed_gru", "x, h, weight_ih, weight_hh, bias_ih, bias_hh, length?", reverse=bool, outputs="out, h_last")

# tanh, or relu, of the sum of both products.
simple_rnn = op("simple_rnn", "x, h, weight_ih, weight_hh, bias_ih, bias_hh, length?", relu=bool, reverse=bool,
                outputs="out, h_last")
simple_rnn_vjp = op("simple_rnn_vjp", "out_ct?, h_last_ct?, x, h, weight_ih, weight_hh, bias_ih, bias_hh, length?, out",
                    relu=bool, reverse=bool, outputs="sum_ct, h_ct")

# What is left to do after `lstm_vjp` or `simple_rnn_vjp` for weights and biases: the products of the cotangents of all sums [T, B, G H] with x and
# with the states [T, B, H] before each step (h, then those of out), and what they come to. Where steps do not count the cotangents are 0.
recurrent_weights_vjp = op("recurrent_weights_vjp", "sum_ct, x, out, h", reverse=bool, outputs="weight_ih_ct, weight_hh_ct, bias_ct")


BLOCK = 16  # units in a block of a weight that was packed


def packed_units(weight, gates):
    """A weight [gates * H, H] as packed_lstm and packed_gru take it: of 16 units the numbers of each gate side by side."""
    hidden = weight.shape[1]
    blocks = -(-hidden // BLOCK)
    full = filled(ops.reshape(weight, shape=(gates, hidden, hidden)), 1, blocks * BLOCK)
    return ops.copy(ops.transpose(ops.reshape(full, shape=(gates, blocks, BLOCK, hidden)), perm=(1, 3, 0, 2)))


# Shape rules.


@infer.rule(lstm)
def infer_lstm(x, h, c, weight_ih, weight_hh, bias_ih, bias_hh, length, *, reverse):
    time, batch, hidden = _recurrent(
        "lstm", 4, x, {"h": h, "c": c}, weight_ih, weight_hh, bias_ih, bias_hh, length
    )
    state = Meta((batch, hidden), x.dtype)
    out = Meta((time, batch, hidden), x.dtype)
    return out, state, state, Meta((time, batch, _times(4, hidden)), x.dtype), out


@infer.rule(lstm_vjp)
def infer_lstm_vjp(out_ct, h_last_ct, c_last_ct, x, h, c, weight_ih, weight_hh, bias_ih, bias_hh, length, gates, cells,
                   *, reverse):
    time, batch, hidden = _recurrent(
        "lstm_vjp", 4, x, {"h": h, "c": c, "h_last_ct": h_last_ct, "c_last_ct": c_last_ct}, weight_ih, weight_hh,
        bias_ih, bias_hh, length
    )
    out = (time, batch, hidden)
    wide = (time, batch, _times(4, hidden))
    _kept("lstm_vjp", x.dtype, {"out_ct": (out_ct, out), "gates": (gates, wide), "cells": (cells, out)})
    state = Meta((batch, hidden), x.dtype)
    return Meta(wide, x.dtype), state, state


@infer.rule(gru)
def infer_gru(x, h, weight_ih, weight_hh, bias_ih, bias_hh, length, *, reverse):
    time, batch, hidden = _recurrent("gru", 3, x, {"h": h}, weight_ih, weight_hh, bias_ih, bias_hh, length)
    return (
        Meta((time, batch, hidden), x.dtype), Meta((batch, hidden), x.dtype),
        Meta((time, batch, _times(4, hidden)), x.dtype),
    )


@infer.rule(gru_vjp)
def infer_gru_vjp(out_ct, h_last_ct, x, h, weight_ih, weight_hh, bias_ih, bias_hh, length, out, gates, *, reverse):
    time, batch, hidden = _recurrent(
        "gru_vjp", 3, x, {"h": h, "h_last_ct": h_last_ct}, weight_ih, weight_hh, bias_ih, bias_hh, length
    )
    shape = (time, batch, hidden)
    kept = (time, batch, _times(4, hidden))
    _kept("gru_vjp", x.dtype, {"out_ct": (out_ct, shape), "out": (out, shape), "gates": (gates, kept)})
    part = Meta((time, batch, _times(3, hidden)), x.dtype)
    return part, part, Meta((batch, hidden), x.dtype)


@infer.rule(packed_lstm)
def infer_packed_lstm(x, h, c, weight_ih, weight_hh, bias_ih, bias_hh, length, *, reverse):
    weight = _packed("packed_lstm", 4, h, weight_hh)
    return infer_lstm(x, h, c, weight_ih, weight, bias_ih, bias_hh, length, reverse=reverse)[:3]


@infer.rule(packed_gru)
def infer_packed_gru(x, h, weight_ih, weight_hh, bias_ih, bias_hh, length, *, reverse):
    weight = _packed("packed_gru", 3, h, weight_hh)
    return infer_gru(x, h, weight_ih, weight, bias_ih, bias_hh, length, reverse=reverse)[:2]


def _packed(op_name, gates, h, weight):
    """A packed weight as it was before, after a look at how it lies."""
    require_rank(op_name, "h", h.shape, 2)
    hidden = h.shape[1]
    blocks = UNKNOWN if hidden == UNKNOWN else -(-hidden // BLOCK)
    if not same_shape(weight.shape, (blocks, hidden, gates, BLOCK)):
        raise ValueError(
            f"{op_name}: `weight_hh` is not in order. Got shape {show(weight.shape)}, expected [unit blocks, H, {gates}, {BLOCK}] with H of "
            f"{hidden}. wherry_tensor.ops.recurrent.packed_units puts it in order."
        )
    return Meta((_times(gates, hidden), hidden), weight.dtype)


@infer.rule(simple_rnn)
def infer_simple_rnn(x, h, weight_ih, weight_hh, bias_ih, bias_hh, length, *, relu, reverse):
    time, batch, hidden = _recurrent("simple_rnn", 1, x, {"h": h}, weight_ih, weight_hh, bias_ih, bias_hh, length)
    return Meta((time, batch, hidden), x.dtype), Meta((batch, hidden), x.dtype)


@infer.rule(simple_rnn_vjp)
def infer_simple_rnn_vjp(out_ct, h_last_ct, x, h, weight_ih, weight_hh, bias_ih, bias_hh, length, out, *, relu, reverse):
    time, batch, hidden = _recurrent(
        "simple_rnn_vjp", 1, x, {"h": h, "h_last_ct": h_last_ct}, weight_ih, weight_hh, bias_ih, bias_hh, length
    )
    shape = (time, batch, hidden)
    _kept("simple_rnn_vjp", x.dtype, {"out_ct": (out_ct, shape), "out": (out, shape)})
    return Meta(shape, x.dtype), Meta((batch, hidden), x.dtype)


@infer.rule(recurrent_weights_vjp)
def infer_recurrent_weights_vjp(sum_ct, x, out, h, *, reverse):
    name = "recurrent_weights_vjp"
    for what, meta, rank in ("sum_ct", sum_ct, 3), ("x", x, 3), ("out", out, 3), ("h", h, 2):
        require_rank(name, what, meta.shape, rank)
    dtype = require_one_dtype(name, sum_ct=sum_ct.dtype, x=x.dtype, out=out.dtype, h=h.dtype)
    require_dtype(name, "sum_ct", dtype, floats)
    (time, batch, width), rows = x.shape, sum_ct.shape[2]
    batch, hidden = merge_size(batch, h.shape[0]), merge_size(out.shape[2], h.shape[1])
    _expect(name, "sum_ct", sum_ct.shape, (time, batch, rows), "[time, batch, rows of the weights]")
    _expect(name, "out", out.shape, (time, batch, hidden), "[time, batch, H]")
    _expect(name, "h", h.shape, (batch, hidden), "[batch, H], a state")
    return Meta((rows, width), dtype), Meta((rows, hidden), dtype), Meta((rows,), dtype)


def _times(gates, hidden):
    return UNKNOWN if hidden == UNKNOWN else gates * hidden


def _recurrent(op_name, gates, x, states, weight_ih, weight_hh, bias_ih, bias_hh, length):
    """T, B and H of a layer, after a look at all that it is given."""
    require_rank(op_name, "x", x.shape, 3)
    require_rank(op_name, "weight_ih", weight_ih.shape, 2)
    require_rank(op_name, "weight_hh", weight_hh.shape, 2)
    present = {name: meta for name, meta in states.items() if meta is not None}
    dtype = require_one_dtype(
        op_name, x=x.dtype, weight_ih=weight_ih.dtype, weight_hh=weight_hh.dtype, bias_ih=bias_ih.dtype,
        bias_hh=bias_hh.dtype, **{name: meta.dtype for name, meta in present.items()}
    )
    require_dtype(op_name, "x", dtype, floats)
    time, batch, width = x.shape
    hidden = weight_hh.shape[1]
    for meta in present.values():
        if len(meta.shape) == 2:
            batch, hidden = merge_size(batch, meta.shape[0]), merge_size(hidden, meta.shape[1])
    if length is not None:
        require_dtype(op_name, "length", length.dtype, indices)
        _expect(op_name, "length", length.shape, (batch,), "one number for each sequence")
    rows = _times(gates, hidden)
    _expect(op_name, "weight_ih", weight_ih.shape, (rows, width), f"[{gates} * H, width of x]")
    _expect(op_name, "weight_hh", weight_hh.shape, (rows, hidden), f"[{gates} * H, H]")
    for name, meta in ("bias_ih", bias_ih), ("bias_hh", bias_hh):
        _expect(op_name, name, meta.shape, (rows,), f"[{gates} * H]")
    for name, meta in present.items():
        _expect(op_name, name, meta.shape, (batch, hidden), "[batch, H], a state")
    return time, batch, hidden


def _kept(op_name, dtype, tensors):
    for name, (meta, shape) in tensors.items():
        if meta is not None:
            require_one_dtype(op_name, x=dtype, **{name: meta.dtype})
            _expect(op_name, name, meta.shape, shape, "as the forward pass gave it")


def _expect(op_name, name, shape, expected, meaning):
    if not same_shape(shape, expected):
        raise ValueError(
            f"{op_name}: `{name}` does not fit the rest. Got shape {show(shape)}, expected {show(expected)}, {meaning}. "
            f"Check the sizes of x ([time, batch, width]) and of the weights."
        )


# Decompositions: unrolled over the steps.


@decompose.rule(lstm)
def decompose_lstm(x, h, c, weight_ih, weight_hh, bias_ih, bias_hh, length, *, reverse):
    trace, h, c = _lstm_steps(x, h, c, weight_ih, weight_hh, bias_ih, bias_hh, length, reverse)
    outs, gates, cells = [], [], []
    for _t, seen, step in _by_time(trace, reverse):
        outs.append(_masked(seen, step["out"]))
        gates.append(_masked(seen, ops.concat(*(step[gate] for gate in "ifgo"), axis=1)))
        cells.append(_masked(seen, step["c"]))
    hidden = h.shape[1]
    return (
        _stacked(outs, x, hidden), ops.cast(h, dtype=x.dtype), ops.cast(c, dtype=x.dtype),
        _stacked(gates, x, 4 * hidden), _stacked(cells, x, hidden),
    )


@decompose.rule(packed_lstm)
def decompose_packed_lstm(x, h, c, weight_ih, weight_hh, bias_ih, bias_hh, length, *, reverse):
    weight = _rows_of("packed_lstm", weight_hh)
    return ops.lstm(x, h, c, weight_ih, weight, bias_ih, bias_hh, length, reverse=reverse)[:3]


@decompose.rule(packed_gru)
def decompose_packed_gru(x, h, weight_ih, weight_hh, bias_ih, bias_hh, length, *, reverse):
    return ops.gru(x, h, weight_ih, _rows_of("packed_gru", weight_hh), bias_ih, bias_hh, length, reverse=reverse)[:2]


def _rows_of(op_name, weight):
    """A packed weight as [gates * H, H]."""
    require_known(op_name, "weight_hh", weight.shape)
    blocks, hidden, gates, _ = weight.shape
    whole = ops.reshape(ops.transpose(weight, perm=(2, 0, 3, 1)), shape=(gates, blocks * BLOCK, hidden))
    return ops.reshape(ops.slice(whole, axes=(1,), starts=(0,), ends=(hidden,), steps=(1,)), shape=(gates * hidden, hidden))


@decompose.rule(lstm_vjp)
def decompose_lstm_vjp(out_ct, h_last_ct, c_last_ct, x, h, c, weight_ih, weight_hh, bias_ih, bias_hh, length, gates,
                       cells, *, reverse):
    trace, h, c = _lstm_steps(x, h, c, weight_ih, weight_hh, bias_ih, bias_hh, length, reverse)
    h_ct, c_ct = _start(h_last_ct, h), _start(c_last_ct, c)
    weight = widened(weight_hh)
    sums = []
    for t, seen, step in reversed(trace):
        at_h, at_c = h_ct, c_ct
        if out_ct is not None:
            at_h = at_h + widened(ops.select(out_ct, axis=0, index=t))
        i, f, g, o, bent = step["i"], step["f"], step["g"], step["o"], ops.tanh(step["c"])
        at_c = at_c + at_h * o * (1.0 - ops.square(bent))
        sum_ct = _masked(seen, ops.concat(
            at_c * g * i * (1.0 - i), at_c * step["c_before"] * f * (1.0 - f), at_c * i * (1.0 - ops.square(g)),
            at_h * bent * o * (1.0 - o), axis=1,
        ))
        sums.append((t, seen, sum_ct))
        h_ct = _product(sum_ct, weight) + _unseen(seen, h_ct)
        c_ct = at_c * f if seen is None else ops.where(seen, at_c * f, c_ct)
    return (
        _stacked([sum_ct for _t, _seen, sum_ct in _by_time(sums, not reverse)], x, weight.shape[0]),
        ops.cast(h_ct, dtype=x.dtype), ops.cast(c_ct, dtype=x.dtype),
    )


def _lstm_steps(x, h, c, weight_ih, weight_hh, bias_ih, bias_hh, length, reverse):
    """(t, whether it counts, its values) of each step in their order, and the last states."""
    h, c, weight = widened(h), widened(c), widened(weight_hh)
    sums = _product(widened(x), widened(weight_ih), transposed=True) + (widened(bias_ih) + widened(bias_hh))
    trace = []
    for t, seen in _steps(x, length, reverse):
        i, f, g, o = _split(ops.select(sums, axis=0, index=t) + _product(h, weight, transposed=True), 4)
        i, f, g, o = ops.sigmoid(i), ops.sigmoid(f), ops.tanh(g), ops.sigmoid(o)
        c_new = f * c + i * g
        out = o * ops.tanh(c_new)
        trace.append((t, seen, {"i": i, "f": f, "g": g, "o": o, "c": c_new, "c_before": c, "out": out}))
        h, c = _chosen(seen, out, h), _chosen(seen, c_new, c)
    return trace, h, c


@decompose.rule(gru)
def decompose_gru(x, h, weight_ih, weight_hh, bias_ih, bias_hh, length, *, reverse):
    trace, h = _gru_steps(x, h, weight_ih, weight_hh, bias_ih, bias_hh, length, reverse)
    outs, gates = [], []
    for _t, seen, step in _by_time(trace, reverse):
        outs.append(_masked(seen, step["out"]))
        gates.append(_masked(seen, ops.concat(step["r"], step["z"], step["n"], step["part"], axis=1)))
    hidden = h.shape[1]
    return _stacked(outs, x, hidden), ops.cast(h, dtype=x.dtype), _stacked(gates, x, 4 * hidden)


@decompose.rule(gru_vjp)
def decompose_gru_vjp(out_ct, h_last_ct, x, h, weight_ih, weight_hh, bias_ih, bias_hh, length, out, gates, *, reverse):
    trace, h = _gru_steps(x, h, weight_ih, weight_hh, bias_ih, bias_hh, length, reverse)
    h_ct = _start(h_last_ct, h)
    weight = widened(weight_hh)
    inputs, hiddens = [], []
    for t, seen, step in reversed(trace):
        at_h = h_ct if out_ct is None else h_ct + widened(ops.select(out_ct, axis=0, index=t))
        r, z, n = step["r"], step["z"], step["n"]
        n_ct = at_h * (1.0 - z) * (1.0 - ops.square(n))
        z_ct = at_h * (step["h_before"] - n) * z * (1.0 - z)
        r_ct = n_ct * step["part"] * r * (1.0 - r)
        inputs.append((t, seen, _masked(seen, ops.concat(r_ct, z_ct, n_ct, axis=1))))
        hiddens.append((t, seen, _masked(seen, ops.concat(r_ct, z_ct, n_ct * r, axis=1))))
        h_ct = _product(hiddens[-1][2], weight) + (at_h * z if seen is None else ops.where(seen, at_h * z, h_ct))
    rows = weight.shape[0]
    return (
        _stacked([ct for _t, _seen, ct in _by_time(inputs, not reverse)], x, rows),
        _stacked([ct for _t, _seen, ct in _by_time(hiddens, not reverse)], x, rows),
        ops.cast(h_ct, dtype=x.dtype),
    )


def _gru_steps(x, h, weight_ih, weight_hh, bias_ih, bias_hh, length, reverse):
    h, weight, bias = widened(h), widened(weight_hh), widened(bias_hh)
    sums = _product(widened(x), widened(weight_ih), transposed=True) + widened(bias_ih)
    trace = []
    for t, seen in _steps(x, length, reverse):
        x_r, x_z, x_n = _split(ops.select(sums, axis=0, index=t), 3)
        h_r, h_z, part = _split(_product(h, weight, transposed=True) + bias, 3)
        r, z = ops.sigmoid(x_r + h_r), ops.sigmoid(x_z + h_z)
        n = ops.tanh(x_n + r * part)
        out = (h - n) * z + n
        trace.append((t, seen, {"r": r, "z": z, "n": n, "part": part, "h_before": h, "out": out}))
        h = _chosen(seen, out, h)
    return trace, h


@decompose.rule(simple_rnn)
def decompose_simple_rnn(x, h, weight_ih, weight_hh, bias_ih, bias_hh, length, *, relu, reverse):
    trace, h = _simple_steps(x, h, weight_ih, weight_hh, bias_ih, bias_hh, length, relu, reverse)
    outs = [_masked(seen, out) for _t, seen, out in _by_time(trace, reverse)]
    return _stacked(outs, x, h.shape[1]), ops.cast(h, dtype=x.dtype)


@decompose.rule(simple_rnn_vjp)
def decompose_simple_rnn_vjp(out_ct, h_last_ct, x, h, weight_ih, weight_hh, bias_ih, bias_hh, length, out, *, relu,
                             reverse):
    trace, h = _simple_steps(x, h, weight_ih, weight_hh, bias_ih, bias_hh, length, relu, reverse)
    h_ct = _start(h_last_ct, h)
    weight = widened(weight_hh)
    sums = []
    for t, seen, value in reversed(trace):
        at_h = h_ct if out_ct is None else h_ct + widened(ops.select(out_ct, axis=0, index=t))
        sum_ct = _masked(seen, ops.relu_vjp(at_h, value) if relu else at_h * (1.0 - ops.square(value)))
        sums.append((t, seen, sum_ct))
        h_ct = _product(sum_ct, weight) + _unseen(seen, h_ct)
    return (
        _stacked([sum_ct for _t, _seen, sum_ct in _by_time(sums, not reverse)], x, weight.shape[0]),
        ops.cast(h_ct, dtype=x.dtype),
    )


@decompose.rule(recurrent_weights_vjp)
def decompose_recurrent_weights_vjp(sum_ct, x, out, h, *, reverse):
    count = out.shape[0]
    if count == UNKNOWN:
        raise ValueError(
            f"recurrent_weights_vjp: the number of steps must be known here. Got out of shape {show(out.shape)}, expected a known size of "
            f"axis 0, the time. Fix the length of the sequences."
        )
    before = out
    if count > 0:
        first = ops.unsqueeze(h, axes=(0,))
        rest = ops.slice(out, axes=(0,), starts=(int(reverse),), ends=(count - 1 + reverse,), steps=(1,))
        before = ops.concat(rest, first, axis=0) if reverse else ops.concat(first, rest, axis=0)
    return ops.outer_sum(sum_ct, x), ops.outer_sum(sum_ct, before), ops.reduce_sum(sum_ct, axes=(0, 1), keepdim=False)


def _simple_steps(x, h, weight_ih, weight_hh, bias_ih, bias_hh, length, relu, reverse):
    h, weight = widened(h), widened(weight_hh)
    sums = _product(widened(x), widened(weight_ih), transposed=True) + (widened(bias_ih) + widened(bias_hh))
    trace = []
    for t, seen in _steps(x, length, reverse):
        out = ops.select(sums, axis=0, index=t) + _product(h, weight, transposed=True)
        out = ops.relu(out) if relu else ops.tanh(out)
        trace.append((t, seen, out))
        h = _chosen(seen, out, h)
    return trace, h


# Helpers of the decompositions.


def _steps(x, length, reverse):
    """Each time in its order, and whether it counts for each sequence: a bool tensor [B, 1], None for all."""
    count = x.shape[0]
    if count == UNKNOWN:
        raise ValueError(
            f"a recurrent layer is unrolled step by step here. Got x of shape {show(x.shape)}, expected a known size of "
            f"axis 0, the time. Fix the length of the sequences."
        )
    column = None if length is None else ops.unsqueeze(length, axes=(1,))
    for t in range(count - 1, -1, -1) if reverse else range(count):
        yield t, None if column is None else ops.greater_than(column, ops.full_like(column, value=t, dtype=column.dtype))


def _by_time(trace, reverse):
    return reversed(trace) if reverse else trace


def _product(x, y, transposed=False):
    return ops.matmul(x, y, transpose_x=False, transpose_y=transposed)


def _split(x, parts):
    width = x.shape[1] // parts
    return [
        ops.slice(x, axes=(1,), starts=(k * width,), ends=((k + 1) * width,), steps=(1,)) for k in range(parts)
    ]


def _zero(x):
    return ops.full_like(x, value=0, dtype=x.dtype)


def _masked(seen, x):
    return x if seen is None else ops.where(seen, x, _zero(x))


def _unseen(seen, x):
    return _zero(x) if seen is None else ops.where(seen, _zero(x), x)


def _chosen(seen, new, old):
    return new if seen is None else ops.where(seen, new, old)


def _start(ct, state):
    return _zero(state) if ct is None else widened(ct)


def _stacked(steps, x, width):
    if not steps:
        return ops.full(shape=(0, x.shape[1], width), value=0, dtype=x.dtype)
    return ops.cast(ops.concat(*(ops.unsqueeze(step, axes=(0,)) for step in steps), axis=0), dtype=x.dtype)
