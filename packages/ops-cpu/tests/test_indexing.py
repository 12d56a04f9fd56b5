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
