"""Samples of attention with dropout and of attention over padded sequences. The decomposition settles what is dropped: the same as
`dropout` of the weights."""
import numpy as np

from wherry_tensor import ops
from wherry_tensor.testing import bad, case, spec
from wherry_tensor.testing.samples.normalization import attended_inputs, attention_weights

_TOLERANCE = {"float32": (1e-5, 1e-5), "float16": (3e-3, 3e-3), "bfloat16": (2e-2, 2e-2)}


@spec(ops.attention_dropout, grad_through=(0,), tolerance=_TOLERANCE)
def spec_attention_dropout(rng):
    for inputs, attrs in attended_inputs(rng):
        if inputs[1].shape[2] == 0:
            continue  # the decomposition's softmax has nothing to look at
        for p in 0.25, 0.0, 1.0:
            yield case(*inputs, **attrs, p=p, differentiable=p != 1 and 0 < inputs[0].size < 100)
    q = np.zeros((1, 2, 3, 4))
    options = {"scale": 1.0, "causal": False}
    yield bad(q, q, q, None, p=1.5, **options, error=ValueError, match="p is not a probability. Got p=1.5")
    yield bad(q, q, np.zeros((1, 2, 5, 4)), None, p=0.5, **options, error=ValueError, match="do not fit together")


def _attention_dropout_vjp(ct, q, k, v, mask, out, lse, keep, scale, causal, p):
    _, _, weights = attention_weights(q, k, v, mask, scale, causal)
    factor = keep / (1 - p)
    delta = (ct * out).sum(axis=3, keepdims=True)
    scores_ct = weights * (ct @ np.swapaxes(v, 2, 3) * factor - delta) * scale
    return scores_ct @ k, np.swapaxes(scores_ct, 2, 3) @ q, np.swapaxes(weights * factor, 2, 3) @ ct


@spec(
    ops.attention_dropout_vjp, reference=_attention_dropout_vjp, cast=(0, 1, 2, 3, 5), dtypes="float64 float32",
    grad_of=(0,),  # lse and out are functions of q, k and v: alone they have no meaning to vary
    second_order=False, tolerance={"float32": (1e-4, 1e-4)},
)
def spec_attention_dropout_vjp(rng):
    p = 0.25
    for dtype in "float64", "float32":
        for inputs, attrs in attended_inputs(rng):
            q, k, v, mask = inputs
            _, lse, weights = attention_weights(*inputs, **attrs)
            keep = (rng.random(weights.shape) > p).astype(np.uint8)
            out = (weights * keep / (1 - p)) @ v
            if mask is not None and mask.dtype != bool:
                mask = mask.astype(dtype)
            yield case(
                rng.standard_normal(out.shape), q, k, v, mask, out, lse.astype(dtype), keep, **attrs, p=p, dtypes=dtype,
                differentiable=0 < q.size < 100 and k.size > 0,
            )
    x = np.zeros((1, 2, 3, 4))
    yield bad(
        x, x, x, x, None, x, np.zeros((1, 2, 3)), np.zeros((1, 2, 3, 4), np.uint8), scale=1.0, causal=False, p=p,
        error=ValueError, match="`keep` and `the weights` must have one shape",
    )


def _seen(q, k, mask, q_lengths, k_lengths, diagonal):
    """A number that is added to the scores: -inf where lengths or the mask hide a key, else what the mask adds."""
    row, column = np.arange(q.shape[2])[:, None], np.arange(k.shape[2])
    q_lengths, k_lengths = q_lengths[:, None, None, None], k_lengths[:, None, None, None]
    seen = (row < q_lengths) & (column < k_lengths)
    if diagonal is not None:
        seen &= column <= row + diagonal[:, None, None, None]
    added = 0.0 if mask is None else np.where(mask, 0, -np.inf) if mask.dtype == bool else mask
    return np.where(seen, added, -np.inf)


def _attention_lengths(q, k, v, mask, q_lengths, k_lengths, diagonal, scale):
    seen = _seen(q, k, mask, q_lengths, k_lengths, diagonal)
    return attention_weights(*map(np.nan_to_num, (q, k, v)), seen, scale, False)[:2]


def _attention_lengths_vjp(ct, q, k, v, mask, q_lengths, k_lengths, diagonal, out, lse, scale):
    seen = _seen(q, k, mask, q_lengths, k_lengths, diagonal)
    ct, q, k, v = map(np.nan_to_num, (ct, q, k, v))
    p = np.exp(q @ np.swapaxes(k, 2, 3) * scale + seen - np.where(np.isfinite(lse), lse, 0)[..., None])
    scores_ct = p * (ct @ np.swapaxes(v, 2, 3) - (ct * out).sum(axis=3, keepdims=True)) * scale
    return scores_ct @ k, np.swapaxes(scores_ct, 2, 3) @ q, np.swapaxes(p, 2, 3) @ ct


def _lengths_inputs(rng):
    """Inputs whose padding is NaN where `differentiable` is False, and attributes.

    The first sequence of the small ones sees the most: the kit repeats it in place of the others.
    """
    for (batch, heads, queries, keys, width, value_width), mask, q_lengths, k_lengths, diagonal, differentiable in [
        ((1, 1, 1, 1, 1, 1), None, [1], [1], None, True),
        ((3, 2, 3, 4, 3, 2), None, [3, 0, 1], [4, 2, 0], None, True),
        ((3, 1, 3, 4, 2, 3), "bool", [3, 3, 2], [4, 3, 1], [1, 0, -2], True),
        ((2, 1, 3, 5, 2, 2), "added", [3, 2], [5, 4], [9, 2], True),
        ((2, 1, 3, 5, 2, 2), "row", [9, 2], [4, -1], None, True),  # a length after the last step, and one below 0
        ((4, 2, 4, 5, 3, 2), None, [4, 1, 2, 0], [5, 3, 1, 5], [4, 0, -1, 0], False),
        ((5, 1, 150, 140, 20, 9), None, [150, 64, 65, 1, 128], [140, 128, 129, 63, 1], None, False),
        ((4, 2, 70, 70, 33, 16), "bool", [70, 33, 64, 0], [70, 65, 64, 70], [0, 0, -20, 3], False),
        ((2, 1, 0, 3, 2, 2), None, [0, 0], [3, 1], None, False),
        ((2, 1, 3, 0, 2, 2), None, [3, 1], [0, 0], [0, -1], False),
        ((0, 1, 3, 2, 2, 2), None, [], [], [], False),
    ]:
        q = rng.standard_normal((batch, heads, queries, width))
        k = rng.standard_normal((batch, heads, keys, width))
        v = rng.standard_normal((batch, heads, keys, value_width))
        m = None
        if mask == "bool":
            m = rng.random((queries, keys)) > 0.3
        elif mask == "added":
            m = rng.standard_normal((batch, 1, queries, keys))
        elif mask == "row":
            m = rng.standard_normal((1, 1, 1, keys))
        dtype = np.int64 if queries == 3 else np.intc
        lengths = [None if x is None else np.array(x, dtype) for x in (q_lengths, k_lengths, diagonal)]
        if not differentiable:
            for b in range(batch):
                q[b, :, max(q_lengths[b], 0) :] = np.nan
                last = k_lengths[b] if diagonal is None else min(k_lengths[b], q_lengths[b] + diagonal[b])
                k[b, :, max(last, 0) :] = v[b, :, max(last, 0) :] = np.nan
        yield (q, k, v, m, *lengths), {"scale": 0.5}, differentiable


@spec(ops.attention_lengths, reference=_attention_lengths, cast=(0, 1, 2, 3), grad_through=(0,), tolerance=_TOLERANCE)
def spec_attention_lengths(rng):
    for inputs, attrs, differentiable in _lengths_inputs(rng):
        yield case(*inputs, **attrs, differentiable=differentiable)
    q, one = np.zeros((2, 2, 3, 4)), np.ones(2, np.intc)
    yield bad(q, q, np.zeros((2, 2, 5, 4)), None, one, one, None, scale=1.0, error=ValueError, match="do not fit together")
    yield bad(q, q, q, None, one, one[:1], None, scale=1.0, error=ValueError, match="`k_lengths` needs one number for each sequence")
    yield bad(q, q, q, None, one, one, np.ones((2, 1), np.intc), scale=1.0, error=ValueError, match=r"`diagonal` needs .* Got shape \[2, 1\]")
    yield bad(q, q, q, None, q[:, 0, 0, 0], one, None, scale=1.0, error=TypeError, match="`q_lengths` has dtype")
    yield bad(q, q, q, None, one, one.astype(np.int64), None, scale=1.0, error=TypeError, match="k_lengths")


@spec(
    ops.attention_lengths_vjp, reference=_attention_lengths_vjp, cast=(0, 1, 2, 3, 8), dtypes="float64 float32",
    grad_of=(0,),  # lse and out are functions of q, k and v: alone they have no meaning to vary
    second_order=False, tolerance={"float32": (1e-4, 1e-4)},
)
def spec_attention_lengths_vjp(rng):
    for dtype in "float64", "float32":
        for inputs, attrs, differentiable in _lengths_inputs(rng):
            out, lse = _attention_lengths(*inputs, **attrs)
            if inputs[3] is not None and inputs[3].dtype != bool:
                inputs = (*inputs[:3], inputs[3].astype(dtype), *inputs[4:])
            ct = rng.standard_normal(out.shape)
            if not differentiable:
                ct[np.broadcast_to(np.arange(out.shape[2])[:, None] >= inputs[4][:, None, None, None], ct.shape)] = np.nan
            yield case(ct, *inputs, out, lse.astype(dtype), **attrs, dtypes=dtype, differentiable=differentiable)
    x, one = np.zeros((1, 2, 3, 4)), np.ones(1, np.intc)
    yield bad(
        x, x, x, x, None, one, np.ones(2, np.intc), None, x, np.zeros((1, 2, 3)), scale=1.0,
        error=ValueError, match="`k_lengths` needs one number for each sequence",
    )
