"""Attention functions: dense with masks, and with a sparse layout."""
import numpy as np
import pytest

import wherry_nn as nn
import wherry_tensor as wt
from wherry_nn import functional as F


@pytest.fixture(autouse=True)
def seed():
    wt.seed(5)


def array(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape)


def dense(q, k, v, seen=None, added=0.0):
    """Attention on [B, heads, T, D] in float64; where nothing is seen, zeros."""
    scores = q @ np.swapaxes(k, -1, -2) / np.sqrt(q.shape[-1]) + added
    if seen is not None:
        scores = np.where(seen, scores, -np.inf)
    e = np.exp(scores - np.where(np.isfinite(scores), scores, -1e30).max(axis=-1, keepdims=True))
    total = e.sum(axis=-1, keepdims=True)
    return np.where(total > 0, e / np.where(total > 0, total, 1), 0) @ v


def heads_first(x):
    return np.swapaxes(x, 1, 2)


SEEN = np.random.default_rng(3).random((2, 1, 4, 6)) > 0.4
SEEN[1, 0, 2] = False


@pytest.mark.parametrize("mask", [None, "bool", "added"])
@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_scaled_dot_product_attention(mask, causal, dtype):
    q, k, v = array(2, 4, 3, 5), array(2, 6, 3, 5, seed=1), array(2, 6, 3, 7, seed=2)
    added = array(4, 6, seed=4)
    given = {"bool": wt.to_tensor(SEEN), "added": wt.to_tensor(added, dtype=dtype), None: None}[mask]
    seen = SEEN if mask == "bool" else np.ones((1, 1, 4, 6), bool)
    if causal:
        seen = seen & (np.arange(6) <= np.arange(4)[:, None] + 2)
    out = F.scaled_dot_product_attention(*(wt.to_tensor(x, dtype=dtype) for x in (q, k, v)), given, is_causal=causal)
    expected = dense(*map(heads_first, (q, k, v)), seen, added if mask == "added" else 0.0)
    np.testing.assert_allclose(heads_first(out.numpy()), expected, rtol=1e-4, atol=1e-5)


def test_dropped_weights_keep_the_mean():
    q, v = wt.zeros([1, 4, 50, 8]), wt.ones([1, 30, 50, 8])
    out = F.scaled_dot_product_attention(q, wt.zeros([1, 30, 50, 8]), v, dropout_p=0.5).numpy()
    assert out.std() > 0.05 and abs(out.mean() - 1) < 0.05
    kept = F.scaled_dot_product_attention(q, wt.zeros([1, 30, 50, 8]), v, dropout_p=0.5, training=False)
    np.testing.assert_allclose(kept.numpy(), np.ones_like(out), rtol=1e-6)


@pytest.mark.parametrize("mask", [None, "bool"])
def test_dropping_nothing_gives_the_fused_result_and_gradient(mask):
    # A probability too small to drop anything takes the other way through the code.
    found = []
    for p in 0.0, 1e-30:
        q, k, v = (wt.to_tensor(array(2, n, 3, 5, seed=n).astype(np.float32)) for n in (4, 6, 6))
        q.stop_gradient = k.stop_gradient = v.stop_gradient = False
        given = None if mask is None else wt.to_tensor(SEEN)
        F.scaled_dot_product_attention(q, k, v, given, dropout_p=p, is_causal=True).square().sum().backward()
        found.append([x.grad.numpy() for x in (q, k, v)])
    for a, b in zip(*found):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("arguments, error, match", [
    ({"query": np.ones((1, 2, 3, 4))}, TypeError, "'query' must be a Tensor"),
    ({"query": wt.ones([2, 3, 4])}, ValueError, r"'query' needs four axes. Got shape \[2, 3, 4\]"),
    ({"key": wt.ones([1, 2, 3, 5])}, ValueError, "do not fit together"),
    ({"key": wt.ones([1, 2, 3, 4], "float64")}, TypeError, "different dtypes"),
    ({"dropout_p": 1.5}, ValueError, "dropout_p is not a probability. Got 1.5"),
    ({"is_causal": 1}, TypeError, "'is_causal' must be a bool"),
    ({"attn_mask": wt.ones([2, 2], "int64")}, TypeError, "expected bool or float32"),
    ({"attn_mask": wt.ones([3, 3])}, ValueError, "does not broadcast"),
])
def test_errors_of_scaled_dot_product_attention(arguments, error, match):
    x = wt.ones([1, 2, 3, 4])
    with pytest.raises(error, match=match):
        F.scaled_dot_product_attention(**{"query": x, "key": x, "value": x, **arguments})


# Sparse layouts.


def layout(seen):
    """CSR offsets and columns of a bool [B, heads, T, T], padded after the last column."""
    offset = np.concatenate([np.zeros((*seen.shape[:2], 1)), seen.sum(axis=-1).cumsum(axis=-1)], axis=-1)
    columns = np.full((*seen.shape[:2], seen.sum(axis=(2, 3)).max() + 2), -7)
    for b, h in np.ndindex(*seen.shape[:2]):
        found = np.nonzero(seen[b, h])[1]
        columns[b, h, : len(found)] = found
    return wt.to_tensor(offset.astype(np.int32)), wt.to_tensor(columns.astype(np.int32))


@pytest.mark.parametrize("padding", [False, True])
@pytest.mark.parametrize("masked", [False, True])
def test_sparse_attention(padding, masked):
    seen = np.random.default_rng(0).random((2, 3, 5, 5)) > 0.5
    seen[0, 1, 3] = False
    keys, pairs = np.array([[1, 1, 1, 1, 0], [1, 0, 1, 1, 1]]), np.random.default_rng(1).random((5, 5)) > 0.3
    q, k, v = (array(2, 3, 5, 4, seed=n) for n in range(3))
    out = F.sparse_attention(
        *map(wt.to_tensor, (q, k, v)), *layout(seen),
        wt.to_tensor(keys.astype(np.float64)) if padding else None,
        wt.to_tensor(pairs.astype(np.float64)) if masked else None,
    )
    if padding:
        seen = seen & (keys[:, None, None] != 0)
    if masked:
        seen = seen & pairs
    np.testing.assert_allclose(out.numpy(), dense(q, k, v, seen), rtol=1e-10, atol=1e-12)


def test_sparse_attention_passes_gradients():
    x = wt.to_tensor(array(1, 1, 4, 2))
    x.stop_gradient = False
    F.sparse_attention(x, x, x, *layout(np.eye(4, dtype=bool)[None, None])).sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), np.ones((1, 1, 4, 2)), atol=1e-12)  # each sees itself alone


@pytest.mark.parametrize("changed, error, match", [
    ({"value": wt.ones([1, 1, 2, 3])}, ValueError, "must have the same shape"),
    ({"query": [1]}, TypeError, "'query' must be a Tensor"),
    ({"sparse_csr_offset": wt.to_tensor([[[0, 1]]])}, ValueError, r"'sparse_csr_offset' does not fit. Got shape \[1, 1, 2\]"),
    ({"sparse_csr_offset": wt.to_tensor([[[0, 2, 1]]])}, ValueError, "the offsets are not ascending"),
    ({"sparse_csr_offset": wt.to_tensor([[[0, 1, 3]]])}, ValueError, "ascending numbers up to 2"),
    ({"sparse_csr_columns": wt.to_tensor([[[0, 2]]])}, IndexError, r"column 2 is out of range.*\[0, 2\)"),
    ({"sparse_csr_columns": wt.ones([1, 1, 2])}, TypeError, "expected int32 or int64"),
    ({"key_padding_mask": wt.ones([1, 3])}, ValueError, r"'key_padding_mask' does not fit. Got shape \[1, 3\], expected \[1, 2\]"),
    ({"attn_mask": wt.ones([1, 2])}, ValueError, r"'attn_mask' does not fit.*expected \[2, 2\]"),
])
def test_errors_of_sparse_attention(changed, error, match):
    x = wt.ones([1, 1, 2, 2])
    arguments = {
        "query": x, "key": x, "value": x, "sparse_csr_offset": wt.to_tensor([[[0, 1, 2]]]),
        "sparse_csr_columns": wt.to_tensor([[[0, 1]]]),
    }
    with pytest.raises(error, match=match):
        nn.functional.sparse_attention(**{**arguments, **changed})


def test_shapes_that_do_not_fit_are_those_that_were_given():
    with pytest.raises(ValueError, match=r"scaled_dot_product_attention: .* Got shapes \[2, 5, 3, 8\], \[2, 6, 3, 7\] and \[2, 6, 3, 8\]"):
        F.scaled_dot_product_attention(wt.rand([2, 5, 3, 8]), wt.rand([2, 6, 3, 7]), wt.rand([2, 6, 3, 8]))
