"""Recurrent networks: Paddle's operator `rnn` holds all layers and directions, our op one direction of one layer.

The operators of Paddle 1 (`gru`, `gru_unit`, `lstm`) take sequences of rows with offsets, whose products with the weights of the input
are computed before.
"""
import wherry_nn.functional as F
import wherry_tensor as api
from wherry_paddle_files.column import reads, writes
from wherry_paddle_files.ops.sequence import rows_given
from wherry_paddle_files.sequences import carried, offsets_of, rows_of, with_offsets
from wherry_tensor import ops


def _both_ways(op, states, n_outputs, mode_of):
    def write(w, x, *rest, reverse, **attrs):
        before, (weight_ih, weight_hh, bias_ih, bias_hh), length = rest[:states], rest[states : states + 4], rest[-1]
        if any(w.used(i) for i in range(1 + states, n_outputs)):
            return NotImplemented
        hidden = weight_hh.shape[1]
        gates = weight_hh.shape[0]
        bias_ih, bias_hh = (b if b is not None else w.constant(0.0, x.dtype, (gates,)) for b in (bias_ih, bias_hh))
        # Where each sequence ends at a place of its own, Paddle runs backwards as one of two directions; the other one is not read.
        both = reverse and length is not None
        times = 2 if both else 1
        if reverse and not both:
            x = w("flip", {"X": x}, {"axis": [0]})
        given = {
            "Input": x, "PreState": [_stacked(w, h, times) for h in before],
            "WeightList": [weight_ih, weight_hh] * times + [bias_ih, bias_hh] * times,
            "SequenceLength": None if length is None else w.cast(length, "int32"),
        }
        settings = {
            "mode": mode_of(attrs), "input_size": weight_ih.shape[1], "hidden_size": hidden, "num_layers": 1, "is_bidirec": both,
            "dropout_prob": 0.0, "is_test": True, "seed": 0,
        }
        sizes = w.outs[0].sizes
        out, state = w(
            "rnn", given, settings, ("Out", "~DropoutState", f"State*{states}", "~Reserve"), shape=(*sizes[:2], hidden * times)
        )
        if both:
            out = _part(w, out, 2, hidden, 2 * hidden, sizes)
            state = [_part(w, h, 0, 1, 2, (1, *w.outs[1].sizes)) for h in state]
        elif reverse:
            out = w("flip", {"X": out}, {"axis": [0]})
        last = [w("squeeze2", {"X": h}, {"axes": [0]}, ("Out", "~XShape"), shape=w.outs[1].sizes) for h in state]
        return (out, *last, *[None] * (n_outputs - 1 - states))

    writes(op)(write)


def _stacked(w, h, times):
    """`h` so often along a new first axis. `stack` refuses tensors without elements."""
    if times == 1:
        return w("unsqueeze2", {"X": h}, {"axes": [0]}, ("Out", "~XShape"), shape=(1, *h.shape))
    return w("stack", {"X": [h] * times}, {"axis": 0}, "Y", shape=(times, *h.shape))


def _part(w, x, axis, start, end, shape):
    return w("slice", {"Input": x}, {"axes": [axis], "starts": [start], "ends": [end], "infer_flags": [1], "decrease_axis": []}, shape=shape)


_both_ways(ops.lstm, 2, 5, lambda attrs: "LSTM")
_both_ways(ops.gru, 1, 3, lambda attrs: "GRU")
_both_ways(ops.simple_rnn, 1, 2, lambda attrs: "RNN_RELU" if attrs["relu"] else "RNN_TANH")


@reads("rnn")
def read_rnn(o):
    x, states, weights = o.x("Input"), o.xs("PreState"), o.xs("WeightList")
    mode, layers, directions = o.text("mode", "RNN_TANH"), o.integer("num_layers", 1), 2 if o.flag("is_bidirec") else 1
    length, p = o.maybe("SequenceLength"), o.number("dropout_prob")
    cells = layers * directions
    if len(weights) != 4 * cells or len(states) != (2 if mode == "LSTM" else 1):
        raise o.bad(f"it has {len(weights)} weights and {len(states)} states", f"{4 * cells} weights, and 2 states for LSTM, else 1")
    lasts: list[list] = [[] for _ in states]
    for layer in range(layers):
        outs = []
        for direction in range(directions):
            i = layer * directions + direction
            parts = (*weights[2 * i : 2 * i + 2], *weights[2 * (cells + i) : 2 * (cells + i) + 2])
            begin = [state[i] for state in states]
            reverse = direction == 1
            if mode == "LSTM":
                out, *last = ops.lstm(x, *begin, *parts, length, reverse=reverse)[:3]
            elif mode == "GRU":
                out, *last = ops.gru(x, *begin, *parts, length, reverse=reverse)[:2]
            else:
                out, *last = ops.simple_rnn(x, *begin, *parts, length, relu=mode == "RNN_RELU", reverse=reverse)
            outs.append(out)
            for kept, state in zip(lasts, last):
                kept.append(state)
        x = outs[0] if directions == 1 else api.concat(outs, -1)
        if p and not o.flag("is_test") and layer < layers - 1:
            x = F.dropout(x, p)
    return {"Out": x, "State": [api.stack(kept, 0) for kept in lasts]}


_ACTIVATIONS = {"sigmoid": F.sigmoid, "tanh": api.tanh, "relu": F.relu, "identity": lambda x: x}


def _activation(o, name, default):
    found = o.text(name, default)
    if found not in _ACTIVATIONS:
        raise o.bad(f"attribute {name!r} is {found!r}", f"one of {', '.join(_ACTIVATIONS)}")
    return _ACTIVATIONS[found]


def _row(o, bias, width):
    """A bias of this many numbers."""
    if bias.size != width:
        raise o.bad(f"its bias has shape {list(bias.shape)}", f"{width} numbers")
    return api.reshape(bias, [width])


def _begin(o, slot, rows, width, dtype):
    """The states before the first rows."""
    given = o.maybe(slot)
    return api.zeros([rows.n, width], dtype) if given is None else given


def _with_gates(o, x, weight, width, gates):
    """Refuse weights that do not fit."""
    if x.ndim != 2 or list(weight.shape) != [width, gates * width] or x.shape[1] != gates * width:
        raise o.bad(f"its input has shape {list(x.shape)}, its weight {list(weight.shape)}", f"[rows, {gates} n] and [n, {gates} n]")


def _gru_step(weight, gate, candidate, origin):
    """One step: of the update and reset gates, then of the candidate, whose weights lie after those of both gates."""
    width = weight.shape[0]
    flat = api.reshape(weight, [-1])
    to_gates, to_candidate = api.reshape(flat[: 2 * width * width], [width, 2 * width]), api.reshape(flat[2 * width * width :], [width, width])

    def step(x, h):
        both = gate(x[:, : 2 * width] + api.matmul(h, to_gates))
        update, reset = both[:, :width], both[:, width:] * h
        new = candidate(x[:, 2 * width :] + api.matmul(reset, to_candidate))
        return both, reset, new, new + update * (h - new) if origin else h + update * (new - h)

    return step


@reads("gru", out="Hidden")
def read_gru(o):
    x, weight, bias = rows_given(o, "Input"), o.x("Weight"), o.maybe("Bias")
    width = weight.shape[0]
    _with_gates(o, x, weight, width, 3)
    step = _gru_step(weight, _activation(o, "gate_activation", "sigmoid"), _activation(o, "activation", "tanh"), o.flag("origin_mode"))
    offsets, rows = offsets_of(x, o.type), rows_of(x, o.type)
    if bias is not None:
        x = x + _row(o, bias, 3 * width)
    begin = [_begin(o, "H0", rows, width, x.dtype)]
    return with_offsets(carried(x, rows, begin, lambda x, h: step(x, h)[3:], o.flag("is_reverse"))[0], offsets)


_UNIT = ("identity", "sigmoid", "tanh", "relu")  # of gru_unit, by number


@reads("gru_unit", out="Hidden")
def read_gru_unit(o):
    x, before, weight, bias = o.x("Input"), o.x("HiddenPrev"), o.x("Weight"), o.maybe("Bias")
    width = weight.shape[0]
    _with_gates(o, x, weight, width, 3)
    kinds = [o.integer(name, default) for name, default in (("gate_activation", 1), ("activation", 2))]
    if not all(0 <= kind < len(_UNIT) for kind in kinds):
        raise o.bad(f"its activations are {kinds}", "numbers from 0 to 3")
    gate, candidate = (_ACTIVATIONS[_UNIT[kind]] for kind in kinds)
    if bias is not None:
        x = x + _row(o, bias, 3 * width)
    both, reset, new, hidden = _gru_step(weight, gate, candidate, o.flag("origin_mode"))(x, before)
    return {"Gate": api.concat([both, new], 1), "ResetHiddenPrev": reset, "Hidden": hidden}


@reads("lstm", out="Hidden")
def read_lstm(o):
    """Of the candidate and the gates i, f, o, in this order."""
    x, weight, bias = rows_given(o, "Input"), o.x("Weight"), o.maybe("Bias")
    width = weight.shape[0]
    _with_gates(o, x, weight, width, 4)
    gate, leaving, new = (
        _activation(o, name, default)
        for name, default in (("gate_activation", "sigmoid"), ("cell_activation", "tanh"), ("candidate_activation", "tanh"))
    )
    offsets, rows = offsets_of(x, o.type), rows_of(x, o.type)
    looks = None
    if bias is not None:
        peepholes = o.flag("use_peepholes", True)
        bias = _row(o, bias, 7 * width if peepholes else 4 * width)
        x = x + bias[: 4 * width]
        looks = api.split(bias[4 * width :], 3) if peepholes else None

    def step(x, h, c):
        fresh, enter, forget, leave = api.split(x + api.matmul(h, weight), 4, 1)
        if looks is not None:
            enter, forget = enter + c * looks[0], forget + c * looks[1]
        c = gate(enter) * new(fresh) + gate(forget) * c
        return [gate(leave if looks is None else leave + c * looks[2]) * leaving(c), c]

    begin = [_begin(o, slot, rows, width, x.dtype) for slot in ("H0", "C0")]
    hidden, cell = (with_offsets(y, offsets) for y in carried(x, rows, begin, step, o.flag("is_reverse")))
    return {"Hidden": hidden, "Cell": cell}
