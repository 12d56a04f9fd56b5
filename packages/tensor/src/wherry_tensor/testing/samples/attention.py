"""Samples of attention that drops weights. What is dropped is settled by the decomposition: the same as `dropout` of
the weights."""
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
