"""Samples and references of products with weights of few bits."""
import numpy as np

from wherry_tensor import ops
from wherry_tensor.testing import bad, case, spec
from wherry_tensor.testing.samples.recurrent import gru_reference, lstm_reference


def _weight_only_linear(x, weight, scale, zero_point, bias, group):
    n, out = x.shape[-1], scale.shape[1]
    if weight.ndim == 3:
        plain = weight.transpose(1, 0, 2).reshape(weight.shape[1], weight.shape[0] * 16).astype(np.float64)
    else:
        halves = np.stack([weight & 15, weight >> 4], -1).reshape(*weight.shape[:3], 8)
        plain = halves.transpose(1, 3, 0, 2).reshape(weight.shape[1] * 8, weight.shape[0] * 16).astype(np.float64)

    def spread(given):
        return np.repeat(given.astype(np.float64), group or max(n, 1), 0)[:n]

    zero = spread(zero_point) if zero_point is not None else 8 * (weight.ndim == 4)
    result = np.matmul(x, (plain[:n, :out] - zero) * spread(scale))
    return result if bias is None else result + bias


# Sums of some hundred products, as of `linear`.
_SUMS = {"float32": (2e-5, 2e-4), "float16": (5e-3, 5e-2), "bfloat16": (4e-2, 2e-1)}


@spec(ops.weight_only_linear, reference=_weight_only_linear, dtypes="float32 float16 bfloat16 float64", cast=(0,), tolerance=_SUMS,
      grad_of=(0,))
def spec_weight_only_linear(rng):
    for shape, out, group in [
        ((1, 64), 32, 32), ((1, 300), 33, 64), ((3, 130), 16, 0), ((2, 3, 40), 20, 8), ((50, 96), 70, 32), ((200, 136), 48, 128), ((7,), 5, 0),
        ((1, 256), 128, 128), ((0, 8), 3, 0), ((1, 1024), 80, 32), ((4, 1030), 16, 32), ((2, 512), 16, 0),
    ]:
        inside = shape[-1]
        groups = 1 if group == 0 else -(-inside // group)
        x = rng.standard_normal(shape)
        m = -(-out // 16)
        eight = np.pad(rng.integers(-128, 128, (inside, out)).astype(np.int8), ((0, 0), (0, m * 16 - out)))
        eight = eight.reshape(inside, m, 16).transpose(1, 0, 2).copy()
        n = -(-inside // 8)
        four = np.pad(rng.integers(0, 16, (inside, out)), ((0, n * 8 - inside), (0, m * 16 - out))).reshape(n, 4, 2, m, 16)
        four = (four[:, :, 0] + 16 * four[:, :, 1]).transpose(2, 0, 3, 1).astype(np.uint8)
        for number, weight in enumerate((eight, four)):
            scale = rng.uniform(0.5, 1.5, (groups, out)) / (60 if number == 0 else 4)
            dtype = [np.float32, np.float16][(inside // 2 + number) % 2]
            zero = rng.integers(-20, 20, (groups, out)).astype(np.int8) if number == 0 else rng.integers(0, 16, (groups, out)).astype(np.uint8)
            bias = rng.standard_normal(out).astype(np.float32)
            small = dict(group=group, differentiable=inside < 100)
            yield case(x, weight, scale.astype(dtype), None, None, **small)
            yield case(x, weight, scale.astype(dtype), zero, bias, **small)
    yield case(np.zeros((2, 0)), np.zeros((1, 0, 16), np.int8), np.ones((1, 3), np.float32), None, np.ones(3, np.float32), group=0)
    x, eight, scale = np.zeros((2, 64), np.float32), np.zeros((2, 64, 16), np.int8), np.ones((2, 20), np.float32)
    four = np.zeros((2, 8, 16, 4), np.uint8)
    yield bad(x[:, :60].copy(), eight, scale, None, None, group=32, error=ValueError, match="`x` does not fit `weight`")
    yield bad(x[:, :50].copy(), four, scale, None, None, group=32, error=ValueError, match="last axis of x of 8 \\* 8")
    yield bad(x, eight, scale, None, None, group=12, error=ValueError, match="multiple of 8")
    yield bad(x, eight, scale, None, None, group=64, error=ValueError, match=r"expected \[1, out\]")
    yield bad(x, eight, scale[:, :3].copy(), None, None, group=32, error=ValueError, match="2 blocks of up to 16 outputs")
    yield bad(x, eight, scale, np.zeros((2, 20), np.uint8), None, group=32, error=TypeError, match="`zero_point` has dtype uint8")
    yield bad(x, four, scale, np.zeros((1, 20), np.uint8), None, group=32, error=ValueError, match="must have one shape")
    yield bad(x, eight[0], scale, None, None, group=32, error=ValueError, match="packed_int8 puts it in order")
    yield bad(x, eight, scale, None, np.zeros(3, np.float32), group=32, error=ValueError, match="`bias` does not fit")


# Recurrent layers: their weights as products have them.


def _rows_of(weight, scale):
    plain = weight.transpose(1, 0, 2).reshape(weight.shape[1], weight.shape[0] * 16)
    return (plain[:, : scale.shape[1]] * scale.astype(np.float64)).T


def _weight_only_lstm(x, h, c, weight_ih, scale_ih, weight_hh, scale_hh, bias_ih, bias_hh, length, reverse):
    return lstm_reference(x, h, c, _rows_of(weight_ih, scale_ih), _rows_of(weight_hh, scale_hh), bias_ih, bias_hh, length, reverse)[:3]


def _weight_only_gru(x, h, weight_ih, scale_ih, weight_hh, scale_hh, bias_ih, bias_hh, length, reverse):
    return gru_reference(x, h, _rows_of(weight_ih, scale_ih), _rows_of(weight_hh, scale_hh), bias_ih, bias_hh, length, reverse)[:2]


def _recurrent_inputs(rng, gates, states):
    for time, batch, width, hidden, ends, reverse in [
        (5, 1, 7, 6, False, False), (4, 3, 8, 5, True, False), (6, 2, 3, 16, True, True), (3, 9, 20, 40, False, True), (0, 2, 3, 4, False, False),
        (2, 0, 3, 4, False, False), (3, 2, 0, 4, False, False),
    ]:
        parts = [rng.standard_normal((time, batch, width)), *(rng.standard_normal((batch, hidden)) for _ in range(states))]
        out = gates * hidden
        for inside in (width, hidden):
            m = -(-out // 16)
            whole = np.pad(rng.integers(-127, 128, (inside, out)).astype(np.int8), ((0, 0), (0, m * 16 - out)))
            parts += [whole.reshape(inside, m, 16).transpose(1, 0, 2).copy(), rng.uniform(0.2, 1, (1, out)).astype(np.float32) / 127]
        parts += [rng.standard_normal(out), rng.standard_normal(out)]
        yield [*parts, rng.integers(0, time + 1, batch) if ends else None], reverse


def _recurrent_samples(rng, gates, states):
    for inputs, reverse in _recurrent_inputs(rng, gates, states):
        yield case(*inputs, reverse=reverse)
    inputs, reverse = next(_recurrent_inputs(rng, gates, states))
    inputs = [x.astype(np.float32) if x is not None and x.dtype == np.float64 else x for x in inputs]
    at = 1 + states

    def other(index, value):
        return [*inputs[:index], value, *inputs[index + 1 :]]

    yield bad(*other(at, inputs[at].astype(np.int16)), reverse=reverse, error=TypeError, match="`weight` has dtype int16")
    yield bad(*other(at, inputs[at][:, :5].copy()), reverse=reverse, error=ValueError, match="`weight_ih` does not fit")
    yield bad(*other(at + 1, inputs[at + 1][0]), reverse=reverse, error=ValueError, match="`scale_ih` does not fit")
    yield bad(*other(at + 3, np.ones((1, 99), np.float32)), reverse=reverse, error=ValueError, match="`scale_hh` does not fit")


_RECURRENT = dict(dtypes="float32 float64", tolerance={"float32": (2e-5, 2e-5)}, differentiable=False)


@spec(ops.weight_only_lstm, reference=_weight_only_lstm, cast=(0, 1, 2, 7, 8), **_RECURRENT)
def spec_weight_only_lstm(rng):
    yield from _recurrent_samples(rng, 4, 2)


@spec(ops.weight_only_gru, reference=_weight_only_gru, cast=(0, 1, 6, 7), **_RECURRENT)
def spec_weight_only_gru(rng):
    yield from _recurrent_samples(rng, 3, 1)
