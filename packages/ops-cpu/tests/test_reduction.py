"""What the samples cannot say about reductions: large sums, threads, memory layout at size."""
import numpy as np
import pytest

import wherry_tensor
from wherry_tensor import ops


@pytest.fixture
def threads():
    before = wherry_tensor.get_num_threads()
    yield wherry_tensor.set_num_threads
    wherry_tensor.set_num_threads(before)


@pytest.mark.parametrize("shape", [(10**7,), (10**6, 10), (10, 10**6), (10, 10**5, 10)])
def test_ten_million_ones_sum_to_ten_million(shape):
    # A float32 total stops growing at 2^24, and drifts long before that where values are not ones.
    ones = wherry_tensor.to_tensor(np.ones(shape, np.float32))
    assert ops.reduce_sum(ones, axes=tuple(range(len(shape))), keepdim=False).item() == 10**7
    for axis, n in enumerate(shape):
        assert (ops.reduce_sum(ones, axes=(axis,), keepdim=False).numpy() == n).all()


def test_sum_of_ten_million_tenths_is_exact_to_one_millionth():
    x = np.full(10**7, 0.1, np.float32)
    total = ops.reduce_sum(wherry_tensor.to_tensor(x), axes=(0,), keepdim=False).item()
    assert total == pytest.approx(x.astype(np.float64).sum(), rel=1e-6)


@pytest.mark.parametrize("op", [ops.reduce_sum, ops.reduce_mean, ops.reduce_prod, ops.logsumexp], ids=lambda op: op.name)
@pytest.mark.parametrize("shape, axes", [
    ((1_000_003,), (0,)), ((3000, 1000), (0,)), ((3000, 1000), (1,)), ((3000, 1000), (0, 1)), ((300_001, 3), (0,)),
    ((7, 40_000, 5), (1,)),
])
def test_result_does_not_depend_on_the_number_of_threads(threads, op, shape, axes):
    x = wherry_tensor.to_tensor(np.random.default_rng(0).standard_normal(shape).astype(np.float32))
    results = []
    for count in 1, 2, 3, 5:
        threads(count)
        results.append(op(x, axes=axes, keepdim=False).numpy().tobytes())
    assert len(set(results)) == 1


@pytest.mark.parametrize("perm", [(0, 1, 2), (2, 0, 1), (1, 2, 0), (2, 1, 0)])
@pytest.mark.parametrize("axes", [(0,), (1,), (2,), (0, 1), (0, 2), (1, 2), (0, 1, 2)])
def test_large_transposed_tensors_reduce_as_their_copies(perm, axes):
    x = np.random.default_rng(1).standard_normal((70, 90, 110)).transpose(perm)
    view = ops.transpose(wherry_tensor.to_tensor(np.ascontiguousarray(x.transpose(np.argsort(perm)))), perm=perm)
    np.testing.assert_allclose(ops.reduce_sum(view, axes=axes, keepdim=False).numpy(), x.sum(axis=axes), rtol=1e-9, atol=1e-10)
    np.testing.assert_array_equal(ops.reduce_max(view, axes=axes, keepdim=False).numpy(), x.max(axis=axes))


def test_nan_wins_wherever_it_stands():
    for n in 1, 5, 16, 17, 300, 5000:
        for at in {0, n // 2, n - 1}:
            x = np.zeros(n, np.float32)
            x[at] = np.nan
            for op in ops.reduce_max, ops.reduce_min, ops.reduce_amax, ops.reduce_amin:
                assert np.isnan(op(wherry_tensor.to_tensor(x), axes=(0,), keepdim=False).item())


def test_first_of_tied_positions_counts_across_blocks():
    x = np.zeros(5000, np.float32)
    x[[700, 1500, 4000]] = 1
    assert ops.argmax(wherry_tensor.to_tensor(x), axis=0, keepdim=False).item() == 700
    assert ops.argmin(wherry_tensor.to_tensor(-x), axis=0, keepdim=False).item() == 700


def test_integer_sums_do_not_overflow_their_dtype():
    x = wherry_tensor.to_tensor(np.full(100_000, 2**31 - 1, np.int32))
    total = ops.reduce_sum(x, axes=(0,), keepdim=False)
    assert total.dtype == wherry_tensor.int64
    assert total.item() == 100_000 * (2**31 - 1)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int32, np.int8, np.bool_, np.complex64, np.float16])
@pytest.mark.parametrize("kept", [(1, 1, 1, 1), (1, 1, 30, 1), (20, 1, 1, 9), (1, 3, 30, 1), (20, 1, 30, 9)])
def test_repeated_tensors_reduce_as_their_copies(dtype, kept):
    x = np.random.default_rng(2).integers(0, 3, kept).astype(dtype)
    shape = (20, 3, 30, 9)
    view = ops.broadcast_to(wherry_tensor.to_tensor(x), shape=shape)
    whole = np.broadcast_to(x, shape)
    for axes in (0,), (1,), (3,), (0, 2), (1, 3), (0, 1, 2, 3):
        got = ops.reduce_sum(view, axes=axes, keepdim=False).numpy()
        np.testing.assert_array_equal(got, whole.astype(np.complex128 if dtype is np.complex64 else np.float64).sum(axis=axes).astype(got.dtype))
        if dtype not in (np.bool_, np.complex64):
            np.testing.assert_array_equal(ops.reduce_max(view, axes=axes, keepdim=True).numpy(), whole.max(axis=axes, keepdims=True))


@pytest.mark.parametrize("dtype", ["bool", "uint8", "int8", "int16", "int32", "int64"])
@pytest.mark.parametrize("value", ["drawn", "most", "least"])
def test_sums_of_integers_are_exact_by_rows_and_by_columns(dtype, value):
    low, high = (0, 1) if dtype == "bool" else (np.iinfo(dtype).min, np.iinfo(dtype).max)
    for shape in (3, 5), (4, 1), (7, 33), (130, 70), (129, 1100), (513, 3), (2, 70001):
        x = {"most": np.full(shape, high), "least": np.full(shape, low)}.get(value)
        x = (np.random.default_rng(3).integers(low, high, shape, np.int64, endpoint=True) if x is None else x).astype(dtype)
        for axes in (0,), (1,), (0, 1):
            for each in x, x[:, ::2], x[1:]:
                total = ops.reduce_sum(wherry_tensor.to_tensor(each), axes=axes, keepdim=False)
                np.testing.assert_array_equal(total.numpy(), each.sum(axis=axes, dtype=np.int64))


def test_distances_of_close_points_keep_their_digits():
    x = np.random.default_rng(4).standard_normal((40, 70)) + 100
    x[20:] = x[:20] + 1e-3 * np.random.default_rng(5).standard_normal((20, 70))
    x = x.astype(np.float32)
    wide = x.astype(np.float64)
    out = ops.cdist(wherry_tensor.to_tensor(x), wherry_tensor.to_tensor(x), p=2.0).numpy()
    np.testing.assert_allclose(out, np.sqrt(((wide[:, None] - wide) ** 2).sum(-1)), rtol=1e-6)
    assert not out.diagonal().any()


def test_distances_do_not_depend_on_the_number_of_threads(threads):
    rng = np.random.default_rng(6)
    x, y, ct = (wherry_tensor.to_tensor(rng.standard_normal(s).astype(np.float32)) for s in ((3, 170, 90), (3, 131, 90), (3, 170, 131)))
    results = []
    for count in 1, 3:
        threads(count)
        out = ops.cdist(x, y, p=2.0)
        loss = ops.difference_loss(x, x + x, kind="squared", delta=0.0, mean=True)
        results.append([z.numpy() for z in (out, ops.cdist_vjp(ct, out, x, y, p=2.0), ops.l2_norm(ct, axes=(0, 2), keepdim=False), loss)])
    for one, three in zip(*results, strict=True):
        np.testing.assert_array_equal(one, three)
