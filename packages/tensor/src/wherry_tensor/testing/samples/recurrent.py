"""Samples and references of recurrent layers.

The references walk sequence by sequence, so that lengths need no masks there.
"""
import numpy as np

from wherry_tensor import ops
from wherry_tensor.testing import bad, case, spec

# [time, batch, width of x, width of the state], lengths
_SIZES = (
    ((1, 1, 1, 1), None), ((3, 2, 3, 2), None), ((3, 2, 2, 3), (3, 1)), ((4, 3, 1, 2), (2, 0, 4)),
    ((7, 19, 5, 37), None), ((5, 9, 4, 18), (5, 1, 2, 5, 0, 4, 3, 1, 2)), ((3, 40, 17, 33), None),
    ((0, 2, 3, 2), None), ((2, 0, 3, 2), None),
)
_TOLERANCE = {"float32": (2e-5, 2e-5), "float16": (4e-3, 4e-3), "bfloat16": (3e-2, 3e-2)}


def _sigmoid(x):
    return 1 / (1 + np.exp(-x))


def _inputs(rng, gates, states):
    for (time, batch, width, hidden), length in _SIZES:
        for reverse in False, True:
            rows = gates * hidden
            inputs = [rng.standard_normal((time, batch, width))]
            inputs += [rng.standard_normal((batch, hidden)) for _ in range(states)]
            # Sums that do not saturate: near the ends of tanh float32 knows little of its slope.
            inputs += [rng.standard_normal((rows, n)) * 0.6 / np.sqrt(n) for n in (width, hidden)]
            inputs += [rng.standard_normal(rows) * 0.5 for _ in range(2)]
            # Both dtypes that lengths come in.
            inputs.append(None if length is None else np.array(length, np.intc if reverse else np.int64))
            yield inputs, reverse


def _is_small(inputs):
    return 0 < inputs[0].size < 40


def _wrong(op_inputs, **attrs):
    """Calls that fit but for one input."""
    x, *rest = op_inputs
    *states, weight_ih, weight_hh, bias_ih, bias_hh, _ = rest
    yield bad(x[0], *rest, error=ValueError, match="`x` has 2 axes", **attrs)
    yield bad(x, *states, weight_ih[:, :-1], weight_hh, bias_ih, bias_hh, None, error=ValueError,
              match="`weight_ih` does not fit", **attrs)
    yield bad(x, *states, weight_ih, weight_hh, bias_ih[:-1], bias_hh, None, error=ValueError,
              match="`bias_ih` does not fit", **attrs)
    yield bad(x, states[0][:-1], *states[1:], *rest[len(states):], error=ValueError, match="does not fit the rest", **attrs)
    yield bad(x, *rest[:-1], np.array([1, 2, 3]), error=ValueError, match="`length` does not fit", **attrs)
    yield bad(x, *rest[:-1], np.array([1.0, 2.0]), error=TypeError, match="`length` has dtype float64", **attrs)
    yield bad(x, *rest[:-1], np.array([1, 9]), error=ValueError, match=r"length 9 \(of sequence 1\).*expected each in \[0, 3\]",
              **attrs)
    yield bad(x.astype(np.float32), *rest, error=TypeError, match="different dtypes", **attrs)


def _order(time, length, b, reverse):
    """The times of sequence b that count, in their order."""
    steps = range(time if length is None else int(length[b]))
    return reversed(steps) if reverse else steps


# LSTM.


def lstm_reference(x, h, c, weight_ih, weight_hh, bias_ih, bias_hh, length, reverse):
    (time, batch, _), hidden = x.shape, h.shape[1]
    out, gates, cells = np.zeros((time, batch, hidden)), np.zeros((time, batch, 4 * hidden)), np.zeros((time, batch, hidden))
    h, c = h.copy(), c.copy()
    for b in range(batch):
        for t in _order(time, length, b, reverse):
            i, f, g, o = np.split(weight_ih @ x[t, b] + bias_ih + weight_hh @ h[b] + bias_hh, 4)
            i, f, g, o = _sigmoid(i), _sigmoid(f), np.tanh(g), _sigmoid(o)
            c[b] = f * c[b] + i * g
            h[b] = o * np.tanh(c[b])
            out[t, b], cells[t, b], gates[t, b] = h[b], c[b], np.concatenate([i, f, g, o])
    return out, h, c, gates, cells


@spec(ops.lstm, reference=lstm_reference, grad_through=(0, 1, 2), tolerance=_TOLERANCE)
def spec_lstm(rng):
    for inputs, reverse in _inputs(rng, 4, 2):
        yield case(*inputs, reverse=reverse, differentiable=_is_small(inputs))
    fitting = [rng.standard_normal(shape) for shape in ((3, 2, 3), (2, 2), (2, 2), (8, 3), (8, 2), (8,), (8,))]
    yield from _wrong([*fitting, None], reverse=False)


def _packed(weight, gates):
    """[gates * H, H] as [unit blocks, H, gates, 16]."""
    hidden = weight.shape[1]
    out = np.zeros((-(-hidden // 16), hidden, gates, 16))
    for unit in range(hidden):
        for gate in range(gates):
            out[unit // 16, :, gate, unit % 16] = weight[gate * hidden + unit]
    return out


def _unpacked(weight):
    blocks, hidden, gates, block = weight.shape
    return np.concatenate([weight[:, :, gate].transpose(0, 2, 1).reshape(blocks * block, hidden)[:hidden] for gate in range(gates)])


def _packed_lstm(x, h, c, weight_ih, weight_hh, bias_ih, bias_hh, length, reverse):
    return lstm_reference(x, h, c, weight_ih, _unpacked(weight_hh), bias_ih, bias_hh, length, reverse)[:3]


@spec(ops.packed_lstm, reference=_packed_lstm, dtypes="float64 float32", tolerance=_TOLERANCE)
def spec_packed_lstm(rng):
    for inputs, reverse in _inputs(rng, 4, 2):
        yield case(*inputs[:4], _packed(inputs[4], 4), *inputs[5:], reverse=reverse, differentiable=False)
    fitting = [rng.standard_normal(shape) for shape in ((3, 2, 3), (2, 2), (2, 2), (8, 3), (8, 2), (8,), (8,))]
    yield bad(*fitting, None, reverse=False, error=ValueError, match="`weight_hh` is not in order")


def _lstm_vjp(out_ct, h_last_ct, c_last_ct, x, h, c, weight_ih, weight_hh, bias_ih, bias_hh, length, gates, cells, reverse):
    (time, batch, _), hidden = x.shape, h.shape[1]
    sum_ct, h_ct, c_ct = np.zeros((time, batch, 4 * hidden)), np.zeros((batch, hidden)), np.zeros((batch, hidden))
    for b in range(batch):
        times = list(_order(time, length, b, reverse))
        h_now = np.zeros(hidden) if h_last_ct is None else h_last_ct[b]
        c_now = np.zeros(hidden) if c_last_ct is None else c_last_ct[b]
        for n in range(len(times) - 1, -1, -1):
            t = times[n]
            i, f, g, o = np.split(gates[t, b], 4)
            before, bent = cells[times[n - 1], b] if n else c[b], np.tanh(cells[t, b])
            h_now = h_now if out_ct is None else h_now + out_ct[t, b]
            c_now = c_now + h_now * o * (1 - bent**2)
            sum_ct[t, b] = np.concatenate([
                c_now * g * i * (1 - i), c_now * before * f * (1 - f), c_now * i * (1 - g**2), h_now * bent * o * (1 - o)
            ])
            h_now, c_now = sum_ct[t, b] @ weight_hh, c_now * f
        h_ct[b], c_ct[b] = h_now, c_now
    return sum_ct, h_ct, c_ct


# Of the gradient ops only the cotangents are differentiated here: `gates` and the like follow from the
# other inputs, and alone they have no meaning to vary. 16 bits are out because the decomposition does not
# read the rounded gates.


@spec(
    ops.lstm_vjp, reference=_lstm_vjp, dtypes="float64 float32", grad_of=(0, 1, 2), second_order=False,
    tolerance=_TOLERANCE,
)
def spec_lstm_vjp(rng):
    for n, (inputs, reverse) in enumerate(_inputs(rng, 4, 2)):
        out, h_last, c_last, gates, cells = lstm_reference(*inputs, reverse)
        cts = [rng.standard_normal(y.shape) for y in (out, h_last, c_last)]
        if n % 3:
            cts[n % 3] = None
        yield case(*cts, *inputs, gates, cells, reverse=reverse, differentiable=_is_small(inputs))
    yield case(rng.standard_normal(out.shape), None, None, *inputs, gates, cells, reverse=reverse, differentiable=False)


# GRU.


def gru_reference(x, h, weight_ih, weight_hh, bias_ih, bias_hh, length, reverse):
    (time, batch, _), hidden = x.shape, h.shape[1]
    out, gates = np.zeros((time, batch, hidden)), np.zeros((time, batch, 4 * hidden))
    h = h.copy()
    for b in range(batch):
        for t in _order(time, length, b, reverse):
            x_r, x_z, x_n = np.split(weight_ih @ x[t, b] + bias_ih, 3)
            h_r, h_z, part = np.split(weight_hh @ h[b] + bias_hh, 3)
            r, z = _sigmoid(x_r + h_r), _sigmoid(x_z + h_z)
            n = np.tanh(x_n + r * part)
            h[b] = (1 - z) * n + z * h[b]
            out[t, b], gates[t, b] = h[b], np.concatenate([r, z, n, part])
    return out, h, gates


@spec(ops.gru, reference=gru_reference, grad_through=(0, 1), tolerance=_TOLERANCE)
def spec_gru(rng):
    for inputs, reverse in _inputs(rng, 3, 1):
        yield case(*inputs, reverse=reverse, differentiable=_is_small(inputs))
    fitting = [rng.standard_normal(shape) for shape in ((3, 2, 3), (2, 2), (6, 3), (6, 2), (6,), (6,))]
    yield from _wrong([*fitting, None], reverse=True)


def _packed_gru(x, h, weight_ih, weight_hh, bias_ih, bias_hh, length, reverse):
    return gru_reference(x, h, weight_ih, _unpacked(weight_hh), bias_ih, bias_hh, length, reverse)[:2]


@spec(ops.packed_gru, reference=_packed_gru, dtypes="float64 float32", tolerance=_TOLERANCE)
def spec_packed_gru(rng):
    for inputs, reverse in _inputs(rng, 3, 1):
        yield case(*inputs[:3], _packed(inputs[3], 3), *inputs[4:], reverse=reverse, differentiable=False)
    fitting = [rng.standard_normal(shape) for shape in ((3, 2, 3), (2, 2), (6, 3), (6, 2), (6,), (6,))]
    yield bad(*fitting, None, reverse=True, error=ValueError, match="`weight_hh` is not in order")


def _gru_vjp(out_ct, h_last_ct, x, h, weight_ih, weight_hh, bias_ih, bias_hh, length, out, gates, reverse):
    (time, batch, _), hidden = x.shape, h.shape[1]
    input_ct, hidden_ct = np.zeros((time, batch, 3 * hidden)), np.zeros((time, batch, 3 * hidden))
    h_ct = np.zeros((batch, hidden))
    for b in range(batch):
        times = list(_order(time, length, b, reverse))
        h_now = np.zeros(hidden) if h_last_ct is None else h_last_ct[b]
        for n in range(len(times) - 1, -1, -1):
            t = times[n]
            r, z, new, part = np.split(gates[t, b], 4)
            before = out[times[n - 1], b] if n else h[b]
            h_now = h_now if out_ct is None else h_now + out_ct[t, b]
            n_ct = h_now * (1 - z) * (1 - new**2)
            z_ct = h_now * (before - new) * z * (1 - z)
            r_ct = n_ct * part * r * (1 - r)
            input_ct[t, b] = np.concatenate([r_ct, z_ct, n_ct])
            hidden_ct[t, b] = np.concatenate([r_ct, z_ct, n_ct * r])
            h_now = h_now * z + hidden_ct[t, b] @ weight_hh
        h_ct[b] = h_now
    return input_ct, hidden_ct, h_ct


@spec(
    ops.gru_vjp, reference=_gru_vjp, dtypes="float64 float32", grad_of=(0, 1), second_order=False, tolerance=_TOLERANCE,
)
def spec_gru_vjp(rng):
    for n, (inputs, reverse) in enumerate(_inputs(rng, 3, 1)):
        out, h_last, gates = gru_reference(*inputs, reverse)
        cts = [rng.standard_normal(y.shape) for y in (out, h_last)]
        if n % 3:
            cts[n % 3 - 1] = None
        yield case(*cts, *inputs, out, gates, reverse=reverse, differentiable=_is_small(inputs))


# Simple RNN.


def _simple_rnn(x, h, weight_ih, weight_hh, bias_ih, bias_hh, length, relu, reverse):
    (time, batch, _), hidden = x.shape, h.shape[1]
    out, h = np.zeros((time, batch, hidden)), h.copy()
    for b in range(batch):
        for t in _order(time, length, b, reverse):
            total = weight_ih @ x[t, b] + bias_ih + weight_hh @ h[b] + bias_hh
            out[t, b] = h[b] = np.where(total > 0, total, 0) if relu else np.tanh(total)
    return out, h


@spec(ops.simple_rnn, reference=_simple_rnn, tolerance=_TOLERANCE)
def spec_simple_rnn(rng):
    for relu in False, True:
        for inputs, reverse in _inputs(rng, 1, 1):
            yield case(*inputs, relu=relu, reverse=reverse, differentiable=_is_small(inputs))
    fitting = [rng.standard_normal(shape) for shape in ((3, 2, 3), (2, 2), (2, 3), (2, 2), (2,), (2,))]
    yield from _wrong([*fitting, None], relu=False, reverse=False)


def _simple_rnn_vjp(out_ct, h_last_ct, x, h, weight_ih, weight_hh, bias_ih, bias_hh, length, out, relu, reverse):
    (time, batch, _), hidden = x.shape, h.shape[1]
    sum_ct, h_ct = np.zeros((time, batch, hidden)), np.zeros((batch, hidden))
    for b in range(batch):
        h_now = np.zeros(hidden) if h_last_ct is None else h_last_ct[b]
        for t in reversed(list(_order(time, length, b, reverse))):
            h_now = h_now if out_ct is None else h_now + out_ct[t, b]
            sum_ct[t, b] = np.where(out[t, b] > 0, h_now, 0) if relu else h_now * (1 - out[t, b] ** 2)
            h_now = sum_ct[t, b] @ weight_hh
        h_ct[b] = h_now
    return sum_ct, h_ct


@spec(
    ops.simple_rnn_vjp, reference=_simple_rnn_vjp, dtypes="float64 float32", grad_of=(0, 1), second_order=False,
    tolerance=_TOLERANCE,
)
def spec_simple_rnn_vjp(rng):
    for relu in False, True:
        for n, (inputs, reverse) in enumerate(_inputs(rng, 1, 1)):
            out, h_last = _simple_rnn(*inputs, relu, reverse)
            cts = [rng.standard_normal(y.shape) for y in (out, h_last)]
            if n % 3:
                cts[n % 3 - 1] = None
            yield case(*cts, *inputs, out, relu=relu, reverse=reverse, differentiable=_is_small(inputs))


# What is left for weights.


def _weights_vjp(sum_ct, x, out, h, reverse):
    before = np.concatenate([out[1:], h[None]] if reverse else [h[None], out[:-1]]) if len(out) else out
    return (*(np.tensordot(sum_ct, y, ((0, 1), (0, 1))) for y in (x, before)), sum_ct.sum((0, 1)))


@spec(ops.recurrent_weights_vjp, reference=_weights_vjp, tolerance=_TOLERANCE)
def spec_recurrent_weights_vjp(rng):
    # [time, batch, rows, width of x, width of the state]: one block of products, several, and panels that are not full.
    for time, batch, rows, width, hidden in (
        (1, 1, 1, 1, 1), (3, 2, 8, 3, 2), (4, 3, 2, 1, 5), (0, 2, 4, 3, 2), (2, 0, 4, 3, 2), (2, 300, 36, 70, 9), (9, 31, 132, 17, 33),
        (3, 100, 300, 5, 75),
    ):
        for reverse in False, True:
            small = 0 < time * batch < 20
            scale = 1 if small else 1 / np.sqrt(time * batch + 1)
            inputs = [rng.standard_normal(shape) * scale for shape in ((time, batch, rows), (time, batch, width), (time, batch, hidden))]
            for h in rng.standard_normal((batch, hidden)) * scale, np.zeros((batch, hidden)):
                yield case(*inputs, h, reverse=reverse, differentiable=small)
    wide, x, out, h = (np.zeros(shape) for shape in ((3, 2, 8), (3, 2, 5), (3, 2, 4), (2, 4)))
    yield bad(wide[0], x, out, h, reverse=False, error=ValueError, match="`sum_ct` has 2 axes")
    yield bad(wide[:2], x, out, h, reverse=False, error=ValueError, match="`sum_ct` does not fit")
    yield bad(wide, x, out[:, :1], h, reverse=False, error=ValueError, match="`out` does not fit")
    yield bad(wide, x, out, np.zeros((2, 5)), reverse=False, error=ValueError, match="does not fit|differ")
    yield bad(wide, x.astype(np.float32), out, h, reverse=False, error=TypeError, match="different dtypes")
