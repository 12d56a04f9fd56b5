"""What the samples cannot say about indexing: writes that meet, long totals, errors before any write."""
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import wherry_tensor
from wherry_tensor import ops


@pytest.fixture
def threads():
    before = wherry_tensor.get_num_threads()
    yield wherry_tensor.set_num_threads
    wherry_tensor.set_num_threads(before)


def _t(x, dtype=None):
    return wherry_tensor.to_tensor(np.asarray(x, dtype))


def test_writes_to_one_row_keep_their_order_on_any_number_of_threads(threads):
    rng = np.random.default_rng(0)
    index = rng.integers(0, 50, 4000)
    updates = rng.random((4000, 128), np.float32)
    expected = np.zeros((50, 128), np.float32)
    expected[index] = updates  # NumPy lets the last one win, too
    for count in (1, 2, 5):
        threads(count)
        got = ops.scatter(_t(np.zeros((50, 128)), np.float32), _t(index), _t(updates), overwrite=True)
        assert (got.numpy() == expected).all()


def test_sums_into_rows_have_the_same_bits_on_any_number_of_threads(threads):
    rng = np.random.default_rng(1)
    index, ct = _t(rng.integers(0, 300, 20_000)), _t(rng.standard_normal((20_000, 40)), np.float32)
    like = _t(np.zeros((300, 40)), np.float32)
    results = []
    for count in (1, 2, 5):
        threads(count)
        results.append(ops.gather_vjp(ct, index, like, axis=0).numpy())
    assert (results[0] == results[1]).all() and (results[0] == results[2]).all()


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_many_small_updates_add_up_in_half_precision(dtype):
    # In the storage type a total of ones would stop at 2048 (float16) or 256 (bfloat16).
    kind = getattr(wherry_tensor._core, dtype)
    ct = ops.full(shape=(5000, 2), value=1.0, dtype=kind)
    like = ops.full(shape=(3, 2), value=0.0, dtype=kind)
    got = ops.gather_vjp(ct, _t(np.zeros(5000, np.int64)), like, axis=0)
    wanted = ops.cast(ops.full(shape=(), value=5000.0, dtype=wherry_tensor._core.float32), dtype=kind)
    assert float(ops.cast(got, dtype=wherry_tensor._core.float32).numpy()[0, 0]) == float(
        ops.cast(wanted, dtype=wherry_tensor._core.float32).numpy()
    )



def test_gathered_rows_past_the_caches_are_written_whole():
    """64 MB of them, of rows that take part in them often, and of short ones from a table as large."""
    rng = np.random.default_rng(0)
    for rows, width, count in ((1000, 1024, 16000), (200_000, 64, 80_000)):
        x, index = rng.standard_normal((rows, width)).astype("float32"), rng.integers(0, rows, count)
        assert np.array_equal(ops.gather(_t(x), _t(index), axis=0).numpy(), x[index])

def test_an_index_out_of_range_leaves_the_target_untouched():
    x = _t(np.ones((4, 3)))
    before = x.numpy().copy()
    with pytest.raises(IndexError, match=r"index 9 \(element 1 of the indices\).*axis 0 of shape \[4, 3\].*\[-4, 4\)"):
        ops.index_put.into((x,), x, _t(5.0), _t([0, 9]), axes=(0,), accumulate=False)
    assert (x.numpy() == before).all()


def test_index_put_writes_in_place_without_a_copy():
    x = _t(np.zeros((4, 3)))
    ops.index_put.into((x,), x, _t(5.0), _t([0, -1]), axes=(0,), accumulate=False)
    assert (x.numpy() == [[5, 5, 5], [0, 0, 0], [0, 0, 0], [5, 5, 5]]).all()


@pytest.mark.parametrize("bad", [-(2**63), 2**63 - 1, 4, -5])
def test_no_index_is_too_wild_to_be_refused(bad):
    for call in (
        lambda i: ops.gather(_t(np.ones((4, 3))), i, axis=0),
        lambda i: ops.index_get(_t(np.ones((4, 3))), i, axes=(0,)),
        lambda i: ops.take_along_axis(_t(np.ones(4)), i, axis=0),
        lambda i: ops.scatter(_t(np.ones((4, 3))), i, _t(np.ones((1, 3))), overwrite=False),
        lambda i: ops.embedding(i, _t(np.ones((4, 3))), padding_index=-1),
    ):
        with pytest.raises(IndexError, match=str(bad)):
            call(_t([bad], np.int64))


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_advanced_indexing_is_numpys(data):
    shape = data.draw(st.lists(st.integers(1, 5), min_size=1, max_size=4))
    first = data.draw(st.integers(0, len(shape) - 1))
    count = data.draw(st.integers(1, len(shape) - first))
    x = np.arange(int(np.prod(shape)), dtype=np.float32).reshape(shape)
    broad = data.draw(st.sampled_from([(), (3,), (2, 3), (0,)]))
    indices = []
    for axis in range(first, first + count):
        own = data.draw(st.sampled_from([broad, broad[1:], tuple(1 for _ in broad)]))
        n = int(np.prod(own))
        values = data.draw(st.lists(st.integers(-shape[axis], shape[axis] - 1), min_size=n, max_size=n))
        kind = data.draw(st.sampled_from([np.int32, np.int64]))
        indices.append(np.array(values, kind).reshape(own))
    axes = tuple(range(first, first + count))
    key = (slice(None),) * first + tuple(indices)
    tensors = [wherry_tensor.to_tensor(i) for i in indices]
    source = wherry_tensor.to_tensor(x)
    if data.draw(st.booleans()):  # not contiguous
        source = ops.flip(ops.slice(source, axes=(0,), starts=(-1,), ends=(-99,), steps=(-1,)), axes=(0,))
    assert (ops.index_get(source, *tensors, axes=axes).numpy() == x[key]).all()
    added = x.copy()
    np.add.at(added, key, 1)
    got = ops.index_put(source, wherry_tensor.to_tensor(np.float32(1)), *tensors, axes=axes, accumulate=True)
    assert (got.numpy() == added).all()


@settings(max_examples=100, deadline=None)
@given(st.lists(st.one_of(st.floats(width=32), st.sampled_from([0.0, -0.0, 1.0])), max_size=700), st.booleans())
def test_sort_is_stable_with_nan_last(values, descending):
    x = np.array(values, np.float32)
    got, index = ops.sort(wherry_tensor.to_tensor(x), axis=0, descending=descending)
    key = np.where(np.isnan(x), np.inf, x).astype(np.float64) + 0.0
    ranks = np.where(np.isnan(x), 2, 1) * 1.0
    order = np.lexsort((-key, -ranks)) if descending else np.lexsort((key, ranks))
    assert (index.numpy() == order).all()
    assert got.numpy().tobytes() == x[order].tobytes()


def test_sort_of_every_length_around_the_change_of_algorithm():
    rng = np.random.default_rng(2)
    for n in (15, 16, 17, 511, 512, 513, 5000):
        for dtype in (np.int64, np.float64, np.int16, np.uint8):
            x = rng.integers(0, 100, n).astype(dtype)
            got, index = ops.sort(wherry_tensor.to_tensor(x), axis=0, descending=False)
            assert (got.numpy() == np.sort(x)).all()
            assert (index.numpy() == np.argsort(x, kind="stable")).all()


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_topk_is_the_head_of_the_sort(data):
    n = data.draw(st.integers(1, 400))
    k = data.draw(st.integers(0, n))
    seed = data.draw(st.integers(0, 9))
    x = np.random.default_rng(seed).integers(0, 40, (3, n)).astype(np.float32)
    largest = data.draw(st.booleans())
    tensor = wherry_tensor.to_tensor(x)
    values, index = ops.topk(tensor, k=k, axis=1, largest=largest, sorted=True)
    whole, order = ops.sort(tensor, axis=1, descending=largest)
    assert (values.numpy() == whole.numpy()[:, :k]).all()
    assert (index.numpy() == order.numpy()[:, :k]).all()


def test_bincount_of_a_huge_value_is_out_of_memory_not_a_crash():
    for value in (2**62, 2**63 - 1):
        with pytest.raises(MemoryError, match="bincount"):
            ops.bincount(_t([1, value], np.int64), None, minlength=0)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64, np.int32, np.int8])
@pytest.mark.parametrize("largest", [True, False])
def test_topk_of_long_lines_is_a_stable_sorts(dtype, largest):
    rng = np.random.default_rng(3)
    for n, k, step in (1024, 10, 1), (1000, 1, 1), (129, 16, 2), (5003, 600, 1), (300, 7, 3):
        x = rng.integers(-100, 100, (5, n * step)).astype(dtype)
        if dtype in (np.float32, np.float64):
            x[rng.random(x.shape) < 0.03] = np.nan
            x[rng.random(x.shape) < 0.03] = -0.0
            x[1] = 0.5
        x[0] = 7
        line = x[:, ::step]
        key = np.where(np.isnan(line), 1000, line).astype(np.float64)
        order = np.argsort(-key if largest else key, axis=1, kind="stable")[:, :k]
        part = ops.slice(_t(x), axes=(1,), starts=(0,), ends=(n * step,), steps=(step,))
        values, index = ops.topk(part, k=k, axis=1, largest=largest, sorted=True)
        np.testing.assert_array_equal(index.numpy(), order)
        np.testing.assert_array_equal(values.numpy(), np.take_along_axis(line, order, 1))


@pytest.mark.parametrize("right", [False, True])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64, np.uint8, np.float16])
def test_searches_are_numpys(dtype, right, threads):
    rng = np.random.default_rng(4)
    side = "right" if right else "left"
    for n in 0, 1, 2, 3, 7, 8, 64, 1000:
        sequence, values = (rng.integers(0, 50, size).astype(dtype) for size in ((3, n), (3, 3001)))
        if np.issubdtype(dtype, np.floating):
            special = np.array([np.nan, np.inf, -np.inf, -0.0], dtype)
            sequence[:, : n // 4] = rng.choice(special, (3, n // 4))
            values[:, ::5] = rng.choice(special, (3, 601))
        sequence.sort(axis=1)
        for count in 1, 3:
            threads(count)
            got = ops.searchsorted(_t(sequence), _t(values), right=right).numpy()
            np.testing.assert_array_equal(got, [np.searchsorted(*row, side) for row in zip(sequence, values, strict=True)])
            got = ops.searchsorted(_t(sequence[1]), _t(values), right=right).numpy()
            np.testing.assert_array_equal(got, np.searchsorted(sequence[1], values, side))


@pytest.mark.parametrize("dtype", [np.int64, np.int32])
def test_counts_are_numpys_for_few_and_many_bins(dtype, threads):
    rng = np.random.default_rng(5)
    for bins, n in (1, 1), (100, 7), (100, 300_001), (4097, 200_000), (5, 100_000):
        x = rng.integers(0, bins, n).astype(dtype)
        for count in 1, 3:
            threads(count)
            np.testing.assert_array_equal(ops.bincount(_t(x), None, minlength=3).numpy(), np.bincount(x, minlength=3))


@pytest.mark.parametrize("dtype", [np.int64, np.int32, np.uint8, np.int8, np.bool_, np.float32, np.float64])
def test_unique_of_near_and_far_values_is_numpys(dtype):
    rng = np.random.default_rng(6)
    for spread, n in (2, 1000), (100, 5), (100, 70_001), (2**30, 3000), (1, 1):
        x = (rng.integers(0, spread, n) - spread // 2).astype(dtype)
        wanted = np.unique(x, return_index=True, return_inverse=True, return_counts=True)
        for got, want in zip(ops.unique(_t(x), axis=None), wanted, strict=True):
            np.testing.assert_array_equal(got.numpy(), want)


def test_unique_keeps_each_nan():
    values, index, inverse, counts = ops.unique(_t([np.nan] * 3, np.float32), axis=None)
    assert np.isnan(values.numpy()).all()
    assert (index.tolist(), inverse.tolist(), counts.tolist()) == ([0, 1, 2], [0, 1, 2], [1, 1, 1])


@pytest.mark.parametrize("dtype", [np.float32, np.float16, np.int64, np.int8])
@pytest.mark.parametrize("kind", [np.int64, np.int32])
def test_values_along_the_last_axis_are_read_and_written_where_the_indices_say(dtype, kind, threads):
    rng = np.random.default_rng(7)
    x = rng.integers(-9, 9, (6, 50, 40)).astype(dtype)
    index = rng.integers(-40, 40, (6, 50, 70)).astype(kind)
    value = rng.integers(-9, 9, index.shape).astype(dtype)
    place = tuple(np.ogrid[:6, :50, :70])[:2]
    assigned, added = x.copy(), x.copy()
    assigned[(*place, index)] = value  # the last one stays
    np.add.at(added, (*place, index), value)
    lowest = np.where(index < 0, index + 40, index)  # all from 0 on: read where they lie
    for count in 1, 3:
        threads(count)
        for at in index, lowest:
            np.testing.assert_array_equal(ops.take_along_axis(_t(x), _t(at), axis=2).numpy(), np.take_along_axis(x, index, 2))
            for y in _t(x), ops.transpose(_t(np.ascontiguousarray(x.transpose(1, 0, 2))), perm=(1, 0, 2)):
                got = ops.put_along_axis(y, _t(at), _t(value), axis=2, reduce="assign")
                np.testing.assert_array_equal(got.numpy(), assigned)
                got = ops.put_along_axis(y, _t(at), _t(value), axis=2, reduce="add")
                np.testing.assert_array_equal(got.numpy(), added)
    repeated = ops.broadcast_to(_t(x[:, :1, 3:4]), shape=x.shape)
    np.testing.assert_array_equal(ops.take_along_axis(repeated, _t(index), axis=2).numpy(), np.broadcast_to(x[:, :1, 3:4], index.shape))


def test_an_index_along_the_last_axis_that_is_wrong_leaves_no_trace():
    x = _t(np.zeros((3, 4)), np.float32)
    for bad in 4, -5:
        index = _t([[0, 1], [1, bad], [2, 3]])
        with pytest.raises(IndexError, match=rf"put_along_axis: index {bad} \(element 3"):
            ops.put_along_axis(x, index, _t(1.0, np.float32), axis=1, reduce="assign")
        with pytest.raises(IndexError, match=rf"take_along_axis: index {bad} \(element 3"):
            ops.take_along_axis(x, index, axis=1)
    assert not x.numpy().any()


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64, np.float16])
@pytest.mark.parametrize("row", [1, 2, 8, 9])
def test_updates_of_short_rows_meet_in_order(dtype, row, threads):
    rng = np.random.default_rng(8)
    for outer, n, count in (1, 30, 5000), (50, 40, 300), (3, 500, 20):
        index = rng.integers(0, n, count)
        ct = rng.integers(-4, 5, (outer, count, row)).astype(dtype)
        x = rng.integers(-4, 5, (outer, n, row)).astype(dtype)
        for start in np.zeros_like(x), x:
            wanted = start.astype(np.float64)
            np.add.at(wanted, (slice(None), index), ct)
            for threads_count in 1, 3:
                threads(threads_count)
                if start is x:
                    got = ops.index_add(_t(x), _t(index), _t(ct), axis=1)
                else:
                    got = ops.gather_vjp(_t(ct), _t(index), _t(x), axis=1)
                np.testing.assert_array_equal(got.numpy(), wanted.astype(dtype))


def test_one_index_for_many_lines_reads_as_numpy():
    rng = np.random.default_rng(9)
    for outer in 1, 3, 4, 7, 40:
        for dtype in np.float32, np.int64, np.int16:
            x, index = rng.integers(0, 99, (outer, 30)).astype(dtype), rng.integers(-30, 30, 501)
            np.testing.assert_array_equal(ops.gather(_t(x), _t(index), axis=1).numpy(), x[:, index])


def test_places_of_what_is_not_zero_in_any_rank():
    rng = np.random.default_rng(10)
    for shape in (70_000,), (300, 101), (7, 1, 5003), (3, 5, 7, 400), (2, 0, 3):
        for share in 0.0, 0.5, 1.0:
            x = rng.random(shape) < share
            np.testing.assert_array_equal(ops.nonzero(_t(x)).numpy(), np.argwhere(x))
