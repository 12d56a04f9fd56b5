"""LSTM, GRU and RNN. The usual ones are one op of the library; others go step by step.

Weights that are dequantized stay whole numbers in programs: the pass `integers` moves the choice of a direction, and the order of gates, before it.
"""
import numpy as np

from wherry_onnx_files.column import MICROSOFT, reads
from wherry_onnx_files.numbers import is_known
from wherry_onnx_files.ops.elementwise import scalar
from wherry_tensor import _core, ops

_alpha = {"affine": 1.0, "leakyrelu": 0.01, "thresholdedrelu": 1.0, "scaledtanh": 1.0, "hardsigmoid": 0.2, "elu": 1.0}
_beta = {"affine": 0.0, "scaledtanh": 1.0, "hardsigmoid": 0.5}


def _functions(o, names, count):
    """The activations of all directions, as functions."""
    chosen = [n.lower() for n in o.texts("activations", names * count)]
    alphas, betas = iter(o.floats_of("activation_alpha") or []), iter(o.floats_of("activation_beta") or [])
    out = []
    for name in chosen:
        a = next(alphas, _alpha[name]) if name in _alpha else 0.0
        b = next(betas, _beta[name]) if name in _beta else 0.0
        out.append(_function(o, name, a, b))
    if len(out) != len(names) * count:
        raise o.bad(f"it has the activations {chosen}", f"{len(names) * count} of them")
    return chosen, out


def _function(o, name, a, b):
    known = {
        "relu": ops.relu, "tanh": ops.tanh, "sigmoid": ops.sigmoid, "softsign": ops.softsign,
        "softplus": lambda x: ops.softplus(x, beta=1.0, threshold=20.0),
        "affine": lambda x: ops.add(ops.multiply(x, scalar(x, a)), scalar(x, b)),
        "leakyrelu": lambda x: ops.leaky_relu(x, negative_slope=a), "thresholdedrelu": lambda x: ops.thresholded_relu(x, threshold=a),
        "scaledtanh": lambda x: ops.multiply(ops.tanh(ops.multiply(x, scalar(x, b))), scalar(x, a)),
        "hardsigmoid": lambda x: ops.hardsigmoid(x, slope=a, offset=b), "elu": lambda x: ops.elu(x, alpha=a),
    }  # fmt: skip
    if name not in known:
        raise o.unsupported(f"activation {name!r}", f"one of {sorted(known)}")
    return known[name]


class _Layer:
    """What the directions of a node share."""

    def __init__(self, o, gates, names, whole=False):
        self.o, self.gates, self.whole = o, gates, whole
        x = o.x(0)
        self.batch_first = o.flag("layout")
        self.x = ops.transpose(x, perm=(1, 0, 2)) if self.batch_first else x
        self.hidden = int(o.x(2).shape[1 if whole else 2])
        direction = o.text("direction", "forward")
        if direction not in ("forward", "reverse", "bidirectional"):
            raise o.bad(f"its direction is {direction!r}", "forward, reverse or bidirectional")
        self.backward = {"forward": [False], "reverse": [True]}.get(direction, [False, True])
        self.n = len(self.backward)
        self.names, self.functions = _functions(o, names, self.n)
        self.per = len(names)
        self.usual = self.names == [n.lower() for n in names] * self.n and not o.given("clip") and self.x.dtype.is_floating
        self.clip = o.number("clip") if o.given("clip") else None
        self.lengths = ops.cast(o.x(4), dtype=_core.int64) if o.has(4) else None

    def state(self, i, k):
        """An initial state of a direction."""
        if not self.o.has(i):
            return ops.full(shape=(self.x.shape[1], self.hidden), value=0, dtype=self.x.dtype)
        whole = self.o.x(i)
        if self.batch_first:
            whole = ops.transpose(whole, perm=(1, 0, 2))
        return ops.select(whole, axis=0, index=k)

    def weight(self, i, k):
        """The weight of a direction at an input, [gates * hidden, width]; whole numbers lie turned, with steps and zero points after the others."""
        w = ops.select(self.o.x(i), axis=0, index=k)
        if not self.whole:
            return w
        scale, zero = (ops.select(x, axis=0, index=k) for x in (self.o.scale(6 + 2 * i), self.o.x(7 + 2 * i)))
        if w.ndim != 2 or scale.ndim > 1:
            raise self.o.bad(f"its weight has the shape {list(self.o.x(i).shape)}", "three axes, and a scale for each direction or column")
        w = ops.transpose(w, perm=(1, 0))
        return ops.dequantize_linear(w, scale, zero, axis=0 if scale.ndim else None, group=None, dtype=scale.dtype)

    def parts(self, k):
        """Weights and both biases of a direction."""
        size = self.gates * self.hidden
        if self.o.has(3):
            whole = ops.select(self.o.x(3), axis=0, index=k)
            bias = [ops.slice(whole, axes=(0,), starts=(i * size,), ends=((i + 1) * size,), steps=(1,)) for i in (0, 1)]
        else:
            bias = [ops.full(shape=(size,), value=0, dtype=self.x.dtype)] * 2
        return self.weight(1, k), self.weight(2, k), *bias

    def gate(self, x, i):
        """One gate of rows or columns that lie after each other along the last axis."""
        return ops.slice(x, axes=(x.ndim - 1,), starts=(i * self.hidden,), ends=((i + 1) * self.hidden,), steps=(1,))

    def ordered(self, x, order):
        """Rows of gates in the order of the library's op."""
        at = np.concatenate([np.arange(i * self.hidden, (i + 1) * self.hidden) for i in order])
        return ops.gather(x, _core.from_buffer(at.astype(np.int64)), axis=0)

    def clipped(self, x):
        if self.clip is None:
            return x
        return ops.minimum(ops.maximum(x, scalar(x, -self.clip)), scalar(x, self.clip))

    def steps(self, backward, states, step):
        """Run `step(x, states)` over time. After the end of a sequence its states stay, and its output is 0."""
        time = self.x.shape[0]
        if not is_known(time):
            raise self.o.open_size("the number of steps")
        self.o.bound(time, 1 << 12, "the number of steps")
        outs = [None] * time
        for t in range(time)[::-1] if backward else range(time):
            new = step(ops.select(self.x, axis=0, index=t), states)
            out = new[0]
            if self.lengths is not None:
                inside = ops.unsqueeze(ops.greater_than(self.lengths, _core.scalar(t, _core.int64)), axes=(1,))
                out = ops.where(inside, out, scalar(out, 0))
                new = [ops.where(inside, n, old) for n, old in zip(new, states)]
            states, outs[t] = list(new), out
        return ops.concat(*(ops.unsqueeze(y, axes=(0,)) for y in outs), axis=0), states

    def results(self, found):
        """Of each direction the outputs and its last states, as the node has them."""
        whole = ops.concat(*(ops.unsqueeze(out, axes=(1,)) for out, *_ in found), axis=1)
        last = [ops.concat(*(ops.unsqueeze(states[i], axes=(0,)) for _, *states in found), axis=0) for i in range(len(found[0]) - 1)]
        if self.batch_first:
            whole, last = ops.transpose(whole, perm=(2, 0, 1, 3)), [ops.transpose(y, perm=(1, 0, 2)) for y in last]
        return (whole, *last)


@reads("LSTM")
def read_lstm(o):
    return _lstm(o, _Layer(o, 4, ["Sigmoid", "Tanh", "Tanh"]))


@reads("DynamicQuantizeLSTM", domain=MICROSOFT)
def read_dynamic_quantize_lstm(o):
    """Its weights are whole numbers; inputs and states, which ONNX Runtime rounds in each step, stay floats."""
    return _lstm(o, _Layer(o, 4, ["Sigmoid", "Tanh", "Tanh"], whole=True))


def _lstm(o, layer):
    peephole = o.x(7) if o.has(7) else None
    if o.flag("input_forget"):
        raise o.unsupported("input_forget", "gates of their own")
    found = []
    for k, backward in enumerate(layer.backward):
        h, c = layer.state(5, k), layer.state(6, k)
        weight, recurrent, bias, hidden_bias = layer.parts(k)
        if layer.usual and peephole is None:
            order = (0, 2, 3, 1)  # ONNX has i, o, f, c
            out, last, cell, *_ = ops.lstm(
                layer.x, h, c, *(layer.ordered(y, order) for y in (weight, recurrent, bias, hidden_bias)), layer.lengths, reverse=backward
            )
        else:
            f, g, hh = layer.functions[3 * k : 3 * k + 3]
            p = [layer.gate(ops.select(peephole, axis=0, index=k), i) for i in range(3)] if peephole is not None else None
            step = _lstm_step(layer, weight, recurrent, ops.add(bias, hidden_bias), p, f, g, hh)
            out, (last, cell) = layer.steps(backward, [h, c], step)
        found.append((out, last, cell))
    return layer.results(found)


def _lstm_step(layer, weight, recurrent, bias, peephole, f, g, hh):
    def step(x, states):
        h, c = states
        sums = ops.add(_times(x, weight), ops.add(_times(h, recurrent), bias))
        i, o, forget, cell = (layer.gate(sums, n) for n in range(4))
        if peephole is not None:
            i, forget = ops.add(i, ops.multiply(peephole[0], c)), ops.add(forget, ops.multiply(peephole[2], c))
        i, forget = f(layer.clipped(i)), f(layer.clipped(forget))
        new = ops.add(ops.multiply(forget, c), ops.multiply(i, g(layer.clipped(cell))))
        if peephole is not None:
            o = ops.add(o, ops.multiply(peephole[1], new))
        return ops.multiply(f(layer.clipped(o)), hh(new)), new

    return step


def _times(x, weight):
    return ops.matmul(x, weight, transpose_x=False, transpose_y=True)


@reads("GRU")
def read_gru(o):
    layer = _Layer(o, 3, ["Sigmoid", "Tanh"])
    reset_behind = o.flag("linear_before_reset")
    found = []
    for k, backward in enumerate(layer.backward):
        h = layer.state(5, k)
        weight, recurrent, bias, hidden_bias = layer.parts(k)
        if layer.usual and reset_behind:
            parts = [layer.ordered(y, (1, 0, 2)) for y in (weight, recurrent, bias, hidden_bias)]  # ONNX has z, r, h
            out, last, *_ = ops.gru(layer.x, h, *parts, layer.lengths, reverse=backward)
        else:
            f, g = layer.functions[2 * k : 2 * k + 2]
            out, (last,) = layer.steps(backward, [h], _gru_step(layer, weight, recurrent, bias, hidden_bias, f, g, reset_behind))
        found.append((out, last))
    return layer.results(found)


def _gru_step(layer, weight, recurrent, bias, hidden_bias, f, g, reset_behind):
    rows = ops.slice(recurrent, axes=(0,), starts=(2 * layer.hidden,), ends=(3 * layer.hidden,), steps=(1,))

    def step(x, states):
        (h,) = states
        sums, parts = ops.add(_times(x, weight), bias), ops.add(_times(h, recurrent), hidden_bias)
        z, r = (f(layer.clipped(ops.add(layer.gate(sums, i), layer.gate(parts, i)))) for i in (0, 1))
        if reset_behind:
            part = ops.multiply(r, layer.gate(parts, 2))
        else:
            part = ops.add(_times(ops.multiply(r, h), rows), layer.gate(hidden_bias, 2))
        new = g(layer.clipped(ops.add(layer.gate(sums, 2), part)))
        return [ops.add(ops.multiply(ops.subtract(scalar(z, 1), z), new), ops.multiply(z, h))]

    return step


@reads("RNN")
def read_rnn(o):
    layer = _Layer(o, 1, ["Tanh"])
    found = []
    for k, backward in enumerate(layer.backward):
        h = layer.state(5, k)
        weight, recurrent, bias, hidden_bias = layer.parts(k)
        if layer.names[k] in ("tanh", "relu") and layer.clip is None:
            out, last, *_ = ops.simple_rnn(
                layer.x, h, weight, recurrent, bias, hidden_bias, layer.lengths, relu=layer.names[k] == "relu", reverse=backward
            )
        else:
            step = _rnn_step(layer, weight, recurrent, ops.add(bias, hidden_bias), layer.functions[k])
            out, (last,) = layer.steps(backward, [h], step)
        found.append((out, last))
    return layer.results(found)


def _rnn_step(layer, weight, recurrent, bias, f):
    return lambda x, states: [f(layer.clipped(ops.add(_times(x, weight), ops.add(_times(states[0], recurrent), bias))))]
