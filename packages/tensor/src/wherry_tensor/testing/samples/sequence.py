"""Samples and references of the CTC loss and of the way back through a beam search."""
import itertools

import numpy as np

from wherry_tensor import ops
from wherry_tensor.testing import bad, case, spec


def _log_sum(values):
    values = [v for v in values if v > -np.inf]
    return np.logaddexp.reduce(values) if values else -np.inf


def _states(labels, length, blank):
    symbols = [blank]
    for symbol in labels[:length]:
        symbols += [int(symbol), blank]
    return symbols


def _alpha(x, symbols):
    """Logarithms of the forward probabilities, [steps, states]; x [steps, classes]."""
    out = np.full((len(x), len(symbols)), -np.inf)
    for t, s in itertools.product(range(len(x)), range(len(symbols))):
        if t == 0:
            before = [0.0 if s < 2 else -np.inf]
        else:
            skips = s > 1 and s % 2 and symbols[s] != symbols[s - 2]
            before = [out[t - 1, s], out[t - 1, s - 1] if s else -np.inf, out[t - 1, s - 2] if skips else -np.inf]
        out[t, s] = _log_sum(before) + x[t, symbols[s]]
    return out


def _end(alpha, symbols):
    return _log_sum(alpha[-1, -2:]) if len(alpha) else 0.0 if len(symbols) == 1 else -np.inf


def _ctc_loss(log_probs, labels, input_lengths, label_lengths, blank, norm_by_times):
    steps, batch, _ = log_probs.shape
    loss, alpha = np.zeros(batch), np.full((batch, steps, 2 * labels.shape[1] + 1), -np.inf)
    for b in range(batch):
        symbols = _states(labels[b], label_lengths[b], blank)
        found = _alpha(log_probs[: input_lengths[b], b], symbols)
        top = found.max(axis=1, keepdims=True)
        alpha[b, : input_lengths[b], : len(symbols)] = found - np.where(np.isfinite(top), top, 0)
        end = _end(found, symbols)
        loss[b] = 0 if end == -np.inf else -end
    return loss, alpha


def _ctc_loss_vjp(ct, log_probs, labels, input_lengths, label_lengths, alpha, blank, norm_by_times):
    out = np.zeros_like(log_probs)
    for b in range(len(ct)):
        steps, symbols = int(input_lengths[b]), _states(labels[b], label_lengths[b], blank)
        x, forward = log_probs[:steps, b], alpha[b, :steps, : len(symbols)]
        if _end(forward, symbols) == -np.inf:
            continue
        # Read from both ends, a label is the same label.
        backward = _alpha(x[::-1], symbols[::-1])[::-1, ::-1]
        for t in range(steps):
            ways = [forward[t, s] + backward[t, s] - x[t, symbol] for s, symbol in enumerate(symbols)]
            total = _log_sum(ways)
            for way, symbol in zip(ways, symbols):
                if total > -np.inf:
                    out[t, b, symbol] -= ct[b] * np.exp(way - total) / (steps if norm_by_times else 1)
    return out


def _log_softmax(x):
    x = x - x.max(axis=-1, keepdims=True)
    return x - np.log(np.exp(x).sum(axis=-1, keepdims=True))


def _cases(rng):
    """log_probs, labels and lengths; whether the gradient has something to be compared with."""
    x = _log_softmax(rng.standard_normal((5, 3, 4)))
    labels = np.array([[1, 2, 3], [1, 1, 9], [2, 9, 9]], np.intc)  # what lies beyond the lengths is not looked at
    yield x, labels, np.array([5, 4, 5]), np.array([3, 2, 1]), 0
    yield x, np.array([[0, 1], [2, 2], [1, 0]]), np.array([5, 3, 2], np.intc), np.array([2, 2, 0], np.intc), 3
    yield x, labels, np.array([2, 2, 0]), np.array([3, 2, 0]), 0  # no path is that short; nothing at all
    yield x[:, :1], np.zeros((1, 0), np.int64), np.array([5]), np.array([0]), 0  # labels without symbols
    yield _log_softmax(rng.standard_normal((1, 2, 2))), np.array([[1], [1]]), np.array([1, 1]), np.array([1, 1]), 0
    yield np.zeros((0, 1, 2)), np.zeros((1, 1), np.int64), np.array([0]), np.array([0]), 0
    yield np.zeros((3, 0, 2)), np.zeros((0, 2), np.int64), np.zeros(0, np.int64), np.zeros(0, np.int64), 0


def _long(rng):
    x = _log_softmax(rng.standard_normal((60, 2, 7)) * 3)
    return x, rng.integers(1, 7, (2, 20)), np.array([60, 50]), np.array([20, 17]), 0


def _sure(rng):
    """Logits of which a wrong path is far ahead at first."""
    x = np.full((4, 1, 3), -500.0)
    x[[0, 1, 2, 3], 0, [2, 2, 1, 1]] = 0
    return x, np.array([[1, 2]]), np.array([4]), np.array([2]), 0


_SUMS = {"float32": (2e-5, 2e-5), "float16": (1e-2, 1e-2), "bfloat16": (6e-2, 6e-2)}


@spec(ops.ctc_loss, reference=_ctc_loss, grad_of=(0,), grad_through=(0,), cast=(0,), tolerance=_SUMS)
def spec_ctc_loss(rng):
    for x, labels, times, lengths, blank in _cases(rng):
        yield case(x, labels, times, lengths, blank=blank, norm_by_times=False)
    for x, labels, times, lengths, blank in _long(rng), _sure(rng):
        yield case(x, labels, times, lengths, blank=blank, norm_by_times=True, differentiable=False, dtypes="float64 float32")
    x, one = np.zeros((4, 2, 3)), np.ones(2, np.int64)
    labels = np.ones((2, 2), np.int64)
    attrs = {"blank": 0, "norm_by_times": False}
    yield bad(x, labels, one * 5, one, error=ValueError, match=r"input_lengths\[0\] is not a number of steps. Got 5", **attrs)
    yield bad(x, labels, one, one * 3, error=ValueError, match=r"label_lengths\[0\] is not a number of symbols. Got 3", **attrs)
    yield bad(x, labels * 3, one, one, error=ValueError, match=r"labels\[0, 0\] is not a symbol. Got 3", **attrs)
    yield bad(x, labels * 0, one, one, error=ValueError, match="other than blank=0", **attrs)
    yield bad(x, labels, one[:1], one, error=ValueError, match="the batch sizes of the inputs differ", **attrs)
    yield bad(x[0], labels, one, one, error=ValueError, match="`log_probs` has 2 axes", **attrs)
    yield bad(x, labels, one, one, error=ValueError, match=r"blank=3, expected one in \[0, 3\)", blank=3, norm_by_times=False)
    yield bad(x, labels.astype(float), one, one, error=TypeError, match="`labels` has dtype float64", **attrs)


@spec(ops.ctc_loss_vjp, reference=_ctc_loss_vjp, cast=(0, 1), grad_of=(0,), dtypes="float64", tolerance=_SUMS)
def spec_ctc_loss_vjp(rng):
    for x, labels, times, lengths, blank in (*_cases(rng), _long(rng), _sure(rng)):
        _, alpha = _ctc_loss(x, labels, times, lengths, blank, False)
        for by_times in False, True:
            yield case(rng.standard_normal(x.shape[1]), x, labels, times, lengths, alpha, blank=blank, norm_by_times=by_times)


def _mean(logs, values):
    top = max(logs, default=-np.inf)
    return np.average(values, weights=np.exp(np.array(logs) - top)) if top > -np.inf else 0.0


def _ctc_loss_curvature(vector, ct, log_probs, labels, input_lengths, label_lengths, alpha, blank, norm_by_times):
    """The covariance of being somewhere and the sum of `vector` along a path. (That it is the derivative of the gradient
    is what the check of gradients says.)"""
    out = np.zeros_like(log_probs)
    for b in range(len(ct)):
        steps, symbols = int(input_lengths[b]), np.array(_states(labels[b], label_lengths[b], blank))
        x, forward, along = log_probs[:steps, b], alpha[b, :steps, : len(symbols)], vector[:steps, b][:, symbols]
        if _end(forward, symbols) == -np.inf or not steps:
            continue
        onwards = _alpha(x[::-1], symbols[::-1])[::-1, ::-1]
        skips = [s > 1 and s % 2 and symbols[s] != symbols[s - 2] for s in range(len(symbols))]
        before, after = along.copy(), np.zeros_like(along)
        for t, s in itertools.product(range(1, steps), range(len(symbols))):
            ways = [r for r in (s, s - 1, s - 2) if r >= 0 and (r > s - 2 or skips[s])]
            before[t, s] += _mean([forward[t - 1, r] for r in ways], [before[t - 1, r] for r in ways])
        for t, s in itertools.product(range(steps - 2, -1, -1), range(len(symbols))):
            ways = [r for r in (s, s + 1, s + 2) if r < len(symbols) and (r < s + 2 or skips[r])]
            after[t, s] = _mean([onwards[t + 1, r] for r in ways], [along[t + 1, r] + after[t + 1, r] for r in ways])
        whole = _mean(forward[-1, -2:], before[-1, -2:])
        for t in range(steps):
            ways = forward[t] + onwards[t] - x[t, symbols]
            total = _log_sum(ways)
            for s, symbol in enumerate(symbols):
                if total > -np.inf:
                    share = ct[b] * np.exp(ways[s] - total) / (steps if norm_by_times else 1)
                    out[t, b, symbol] -= share * (before[t, s] + after[t, s] - whole)
    return out


@spec(ops.ctc_loss_curvature, reference=_ctc_loss_curvature, cast=(0, 1, 2), grad_of=(0, 1), dtypes="float64",
      tolerance=_SUMS)
def spec_ctc_loss_curvature(rng):
    for x, labels, times, lengths, blank in (*_cases(rng), _long(rng), _sure(rng)):
        _, alpha = _ctc_loss(x, labels, times, lengths, blank, False)
        for by_times in False, True:
            yield case(rng.standard_normal(x.shape), rng.standard_normal(x.shape[1]), x, labels, times, lengths, alpha,
                       blank=blank, norm_by_times=by_times)


def _gather_tree(ids, parents):
    out = np.empty_like(ids)
    steps, batch, beams = ids.shape
    for b, k in itertools.product(range(batch), range(beams)):
        beam = k
        for t in range(steps - 1, -1, -1):
            out[t, b, k] = ids[t, b, beam]
            beam = parents[t, b, beam]
    return out


@spec(ops.gather_tree, reference=_gather_tree, dtypes="int32 int64", differentiable=False)
def spec_gather_tree(rng):
    for steps, batch, beams in (4, 2, 3), (1, 1, 1), (7, 3, 2), (0, 2, 3), (3, 0, 2):
        yield case(rng.integers(0, 9, (steps, batch, beams)), rng.integers(0, beams, (steps, batch, beams)))
    ids = np.zeros((3, 2, 2), np.int64)
    yield bad(ids, ids[:, :, :1], error=ValueError, match="parents")
    yield bad(ids[0], ids[0], error=ValueError, match="`ids` has 2 axes")
    yield bad(ids, ids.astype(np.intc), error=TypeError, match="one dtype")
    yield bad(ids.astype(float), ids.astype(float), error=TypeError, match="`ids` has dtype float64")
