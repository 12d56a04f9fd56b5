"""Recurrent networks: Paddle's operator holds all layers and directions, our op one direction of one layer."""
import wherry_nn.functional as F
import wherry_tensor as api
from wherry_paddle_files.column import reads, writes
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
