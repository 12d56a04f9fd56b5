"""What the samples cannot say about products: threads, every size around the tiles, strides, special values."""
import numpy as np
import pytest

import wherry_tensor
from wherry_tensor import ops

PLAIN = dict(transpose_x=False, transpose_y=False)


@pytest.fixture
def threads():
    before = wherry_tensor.get_num_threads()
    yield wherry_tensor.set_num_threads
    wherry_tensor.set_num_threads(before)


def _tensor(rng, *shape, dtype=np.float32):
    return wherry_tensor.to_tensor(rng.standard_normal(shape).astype(dtype))


def _close(got, x, y, dtype=np.float32):
    """Whether a product is as near to the exact one as a sum in order can be."""
    exact = np.matmul(x.astype(np.float64), y.astype(np.float64))
    size = np.matmul(np.abs(x).astype(np.float64), np.abs(y).astype(np.float64))
    return np.all(np.abs(got - exact) <= 4 * np.finfo(dtype).eps * np.sqrt(x.shape[-1] + 1) * size + 1e-30)


@pytest.mark.parametrize(
    "x, y",
    [
        ((300, 500), (500, 270)),  # packed
        ((100, 900), (900, 1500)),  # packed, few rows
        ((9, 900), (900, 1100)),  # rows of B where they lie
        ((12, 900), (900, 1093)),  # as many, and a last block of few columns
        ((1, 3000), (3000, 2500)),  # one row
        ((2500, 3000), (3000, 1)),  # one column
        ((5000, 300), (300, 10)),  # few columns
        ((40, 30, 50), (40, 50, 60)),  # small ones, shared out
        ((3, 200, 100), (3, 100, 200)),  # large ones, one after another
    ],
)
@pytest.mark.parametrize("transpose_y", [False, True])
def test_products_do_not_depend_on_the_number_of_threads(threads, x, y, transpose_y):
    rng = np.random.default_rng(0)
    a, b = _tensor(rng, *x), _tensor(rng, *(y if not transpose_y else (*y[:-2], y[-1], y[-2])))
    results = []
    for count in 1, 2, 3, 7:
        threads(count)
        results.append(ops.matmul(a, b, transpose_x=False, transpose_y=transpose_y).numpy().tobytes())
    assert len(set(results)) == 1


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_every_size_around_the_tiles(dtype):
    rng = np.random.default_rng(1)
    for m in (1, 2, 3, 5, 8, 13, 17, 33):
        for n in (1, 2, 5, 8, 15, 16, 17, 31, 33, 63):
            for k in (1, 3, 17, 65):
                x, y = rng.standard_normal((m, k)).astype(dtype), rng.standard_normal((k, n)).astype(dtype)
                for flags in PLAIN, dict(transpose_x=True, transpose_y=False), dict(transpose_x=False, transpose_y=True):
                    a = x.T.copy() if flags["transpose_x"] else x
                    b = y.T.copy() if flags["transpose_y"] else y
                    got = ops.matmul(wherry_tensor.to_tensor(a), wherry_tensor.to_tensor(b), **flags).numpy()
                    assert got.shape == (m, n)
                    assert _close(got, x, y, dtype), (m, n, k, flags)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_few_rows_times_what_lies_along_them(dtype):
    rng = np.random.default_rng(3)
    for m, n, k in (2, 7, 70), (5, 64, 171), (9, 131, 300), (12, 66, 401), (16, 259, 520), (16, 2100, 513):
        x, y = rng.standard_normal((m, k)).astype(dtype), rng.standard_normal((n, k)).astype(dtype)
        a, b = wherry_tensor.to_tensor(x), wherry_tensor.to_tensor(y)
        got = ops.matmul(a, b, transpose_x=False, transpose_y=True).numpy()
        assert _close(got, x, y.T, dtype), (m, n, k)


def test_views_with_wide_negative_and_repeated_strides_are_read_where_they_lie():
    rng = np.random.default_rng(2)
    base = rng.standard_normal((70, 3, 90)).astype(np.float32)
    x = wherry_tensor.to_tensor(base)
    views = {
        "every third row": (ops.select(x, axis=1, index=2), base[:, 2]),
        "reversed": (ops.slice(ops.select(x, axis=1, index=0), axes=(0, 1), starts=(69, 89), ends=(-1000, -1000),
                               steps=(-1, -1)), base[::-1, 0, ::-1]),
        "every other column": (ops.slice(ops.select(x, axis=1, index=1), axes=(1,), starts=(0,), ends=(90,), steps=(2,)),
                               base[:, 1, ::2]),
        "one row repeated": (ops.broadcast_to(ops.select(ops.select(x, axis=1, index=1), axis=0, index=5), shape=(40, 90)),
                             np.broadcast_to(base[5, 1], (40, 90))),
    }
    for name, (view, array) in views.items():
        other = rng.standard_normal((array.shape[1], 50)).astype(np.float32)
        got = ops.matmul(view, wherry_tensor.to_tensor(other), **PLAIN).numpy()
        assert _close(got, array, other), name
        other = rng.standard_normal((50, array.shape[0])).astype(np.float32)
        got = ops.matmul(wherry_tensor.to_tensor(other), view, **PLAIN).numpy()
        assert _close(got, other, array), name


@pytest.mark.parametrize("m, n, k", [(1, 70, 40), (3, 40, 300), (9, 33, 17), (100, 70, 90), (70, 3, 200), (70, 1, 90)])
def test_nan_and_infinity_stay_in_their_row_and_column(m, n, k):
    x, y = np.ones((m, k), np.float32), np.ones((k, n), np.float32)
    x[m // 2, k // 2] = np.nan
    y[k - 1, n - 1] = np.inf
    got = ops.matmul(wherry_tensor.to_tensor(x), wherry_tensor.to_tensor(y), **PLAIN).numpy()
    rows, columns = np.arange(m)[:, None] == m // 2, np.arange(n) == n - 1
    assert np.isnan(got[np.broadcast_to(rows, got.shape)]).all()
    assert np.isposinf(got[~rows & columns]).all()
    assert (got[~rows & ~columns] == k).all()


def test_sums_of_no_products_are_the_bias():
    x, weight = np.zeros((3, 0), np.float32), np.zeros((0, 4), np.float32)
    bias = np.arange(4, dtype=np.float32)
    got = ops.linear(wherry_tensor.to_tensor(x), wherry_tensor.to_tensor(weight), wherry_tensor.to_tensor(bias)).numpy()
    assert (got == bias).all()


@pytest.mark.parametrize("dtype", ["uint8", "int8", "int16", "int32", "int64"])
def test_integers_wrap_around_as_in_numpy(dtype):
    rng = np.random.default_rng(3)
    limits = np.iinfo(dtype)
    x = rng.integers(limits.min, limits.max, (5, 40), dtype=dtype, endpoint=True)
    y = rng.integers(limits.min, limits.max, (40, 6), dtype=dtype, endpoint=True)
    got = ops.matmul(wherry_tensor.to_tensor(x), wherry_tensor.to_tensor(y), **PLAIN).numpy()
    assert (got == np.matmul(x, y)).all()


def test_a_weight_for_a_whole_batch_gives_what_each_matrix_gives_alone():
    rng = np.random.default_rng(4)
    x, weight = _tensor(rng, 6, 50, 80), _tensor(rng, 80, 90)
    whole = ops.matmul(x, weight, **PLAIN).numpy()
    for i in range(6):
        assert (whole[i] == ops.matmul(ops.select(x, axis=0, index=i), weight, **PLAIN).numpy()).all()


# ---- 16 bits ------------------------------------------------------------------------------------

HALVES = {"float16": (2.0**-11, 2.0**-25), "bfloat16": (2.0**-8, 1e-38)}  # what rounding may change: of a sum, and of one near 0


def _halves(rng, dtype, *shape):
    """A tensor, and the same numbers in float64."""
    x = ops.cast(_tensor(rng, *shape), dtype=getattr(wherry_tensor, dtype))
    return x, ops.cast(x, dtype=wherry_tensor.float32).numpy().astype(np.float64)


def _rounded_once(got, x, y, dtype):
    """Whether a product was summed in float32 or better, and rounded once."""
    exact, size = np.matmul(x, y), np.matmul(np.abs(x), np.abs(y))
    of_sum, near_zero = HALVES[dtype]
    return np.all(np.abs(got - exact) <= of_sum * np.abs(exact) + 4 * 2.0**-23 * np.sqrt(x.shape[-1] + 1) * size + near_zero)


def _wide(x):
    return ops.cast(x, dtype=wherry_tensor.float32).numpy()


@pytest.mark.parametrize("dtype", HALVES)
def test_products_of_16_bits_are_rounded_once_at_every_size_around_the_tiles(dtype):
    rng = np.random.default_rng(5)
    for m, n in ((1, 1), (1, 70), (70, 1), (3, 5), (8, 32), (9, 33), (17, 63), (40, 50)):
        for k in (0, 1, 2, 7, 64, 257, 513, 1024, 1025):  # passes end after 256 and 512 steps; pairs have an odd one left
            for turn_x, turn_y in ((False, False), (True, False), (False, True)):
                a, x = _halves(rng, dtype, *((k, m) if turn_x else (m, k)))
                b, y = _halves(rng, dtype, *((n, k) if turn_y else (k, n)))
                got = _wide(ops.matmul(a, b, transpose_x=turn_x, transpose_y=turn_y))
                assert got.shape == (m, n)
                assert _rounded_once(got, x.T if turn_x else x, y.T if turn_y else y, dtype), (m, n, k, turn_x, turn_y)


@pytest.mark.parametrize("dtype", HALVES)
def test_products_of_16_bits_take_parts_of_rows(dtype):
    rng = np.random.default_rng(7)
    a, x = _halves(rng, dtype, 21, 1024)
    b, y = _halves(rng, dtype, 50, 1024)
    for k in 31, 999, 1000:
        got = _wide(ops.matmul(a[:, :k], b[:, :k], transpose_x=False, transpose_y=True))
        assert _rounded_once(got, x[:, :k], y[:, :k].T, dtype), k


@pytest.mark.parametrize("dtype", HALVES)
@pytest.mark.parametrize(
    "x, y",
    [((300, 900), (900, 270)), ((9, 900), (900, 1100)), ((1, 900), (900, 2500)), ((2500, 900), (900, 1)), ((40, 30, 50), (40, 50, 60)),
     ((3, 200, 100), (3, 100, 200))],
)
@pytest.mark.parametrize("transpose_y", [False, True])
def test_products_of_16_bits_do_not_depend_on_the_number_of_threads(threads, dtype, x, y, transpose_y):
    rng = np.random.default_rng(6)
    a, _ = _halves(rng, dtype, *x)
    b, _ = _halves(rng, dtype, *(y if not transpose_y else (*y[:-2], y[-1], y[-2])))
    results = []
    for count in 1, 2, 3, 7:
        threads(count)
        results.append(_wide(ops.matmul(a, b, transpose_x=False, transpose_y=transpose_y)).tobytes())
    assert len(set(results)) == 1


@pytest.mark.parametrize("dtype", HALVES)
def test_views_of_16_bits_are_read_where_they_lie(dtype):
    rng = np.random.default_rng(7)
    x, array = _halves(rng, dtype, 70, 3, 91)
    column, other = _halves(rng, dtype, 91, 50)
    every_third = ops.select(x, axis=1, index=2)
    assert _rounded_once(_wide(ops.matmul(every_third, column, **PLAIN)), array[:, 2], other, dtype)
    backwards = ops.slice(every_third, axes=(0, 1), starts=(69, 90), ends=(-1000, -1000), steps=(-1, -1))
    assert _rounded_once(_wide(ops.matmul(backwards, column, **PLAIN)), array[::-1, 2, ::-1], other, dtype)
    row, left = _halves(rng, dtype, 50, 70)
    assert _rounded_once(_wide(ops.matmul(row, backwards, **PLAIN)), left, array[::-1, 2, ::-1], dtype)


@pytest.mark.parametrize("dtype", HALVES)
@pytest.mark.parametrize("m, n, k", [(1, 70, 40), (9, 33, 17), (100, 70, 90), (70, 1, 90)])
def test_nan_and_infinity_of_16_bits_stay_in_their_row_and_column(dtype, m, n, k):
    x, y = np.ones((m, k), np.float32), np.ones((k, n), np.float32)
    x[m // 2, k // 2] = np.nan
    y[k - 1, n - 1] = np.inf
    half = getattr(wherry_tensor, dtype)
    got = _wide(ops.matmul(ops.cast(wherry_tensor.to_tensor(x), dtype=half), ops.cast(wherry_tensor.to_tensor(y), dtype=half), **PLAIN))
    rows, columns = np.arange(m)[:, None] == m // 2, np.arange(n) == n - 1
    assert np.isnan(got[np.broadcast_to(rows, got.shape)]).all()
    assert np.isposinf(got[~rows & columns]).all()
    assert (got[~rows & ~columns] == k).all()


@pytest.mark.parametrize("dtype", HALVES)
def test_a_bias_joins_a_product_of_16_bits_before_it_is_rounded(dtype):
    half = getattr(wherry_tensor, dtype)
    # 256 + 1, and 1 of the bias: in bfloat16, whose steps are 2 there, rounding the product first would give 256.
    x = ops.cast(wherry_tensor.to_tensor(np.full((20, 2), 16, np.float32)), dtype=half)
    weight = ops.cast(wherry_tensor.to_tensor(np.array([[16] * 40, [0.0625] * 40], np.float32)), dtype=half)
    bias = ops.cast(wherry_tensor.to_tensor(np.full(40, 1, np.float32)), dtype=half)
    assert (_wide(ops.linear(x, weight, bias)) == 258).all()
