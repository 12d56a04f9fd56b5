"""Attention where a mask leaves float32 no digits."""
import numpy as np
import pytest

import wherry_tensor as wt
from wherry_tensor import ops


@pytest.mark.parametrize("keys", [3, 300])
@pytest.mark.parametrize("masked", [-1e9, float(np.finfo(np.float32).min)])
def test_query_that_sees_no_key_spreads_its_gradient_evenly(keys, masked):
    rng = np.random.default_rng(0)
    q, k, v = (rng.standard_normal((1, 2, n, 8)).astype(np.float32) for n in (5, keys, keys))
    mask = np.zeros((5, keys), np.float32)
    mask[2] = masked
    ct = np.zeros_like(q)
    ct[:, :, 2] = 1.0
    tensors = [wt.to_tensor(x) for x in (q, k, v, mask)]
    out, lse = ops.attention(*tensors, scale=0.3, causal=False)
    np.testing.assert_allclose(out.numpy()[:, :, 2], v.mean(axis=2), rtol=1e-5, atol=1e-6)
    q_ct, k_ct, v_ct = ops.attention_vjp(wt.to_tensor(ct), *tensors, out, lse, scale=0.3, causal=False)
    np.testing.assert_allclose(v_ct.numpy(), np.full_like(v, 1 / keys), rtol=1e-5)
    assert np.isfinite(q_ct.numpy()).all() and np.isfinite(k_ct.numpy()).all()
