"""Samples of indexing, sorting and search."""
import numpy as np

from wherry_tensor import ops
from wherry_tensor.testing import bad, case, spec
from wherry_tensor.testing.samples.movement import MOVED, complex_grid, grid

NUMBERS = "floats ints complex"


def i64(*values):
    return np.array(values, np.int64)


# Reading and writing rows.


@spec(ops.gather, reference=lambda x, index, axis: np.take(x, index, axis), dtypes=MOVED, cast=(0,))
def spec_gather(rng):
    yield case(grid(rng, 4, 3), i64(2, 0, 2, -1), axis=0)
    yield case(grid(rng, 4, 3), np.array([[1], [0]], np.intc), axis=1)
    yield case(grid(rng, 2, 3, 20), i64(2, 2), axis=1)
    yield case(grid(rng, 3, 4), i64(2, 0, 1), axis=0)             # rows as wide as a word, at addresses that are not a word's
    yield case(grid(rng, 3, 2), i64(1, 2), axis=0)
    yield case(grid(rng, 3, 8), i64(1, 2), axis=0)
    yield case(grid(rng, 5), np.array(3), axis=0)                 # a 0-d index drops the axis
    yield case(grid(rng, 4, 3), np.zeros((0,), np.int64), axis=0)
    yield case(np.zeros((0, 3)), np.zeros((0,), np.int64), axis=0)
    yield case(complex_grid(rng, 4, 3), i64(1, 1), axis=0)
    yield bad(np.zeros((4, 3)), i64(4), axis=0, error=IndexError, match=r"index 4 .*\[4, 3\].*\[-4, 4\)")
    yield bad(np.zeros((4, 3)), i64(0, -5), axis=0, error=IndexError, match="-5")
    yield bad(np.zeros((0, 3)), i64(0), axis=0, error=IndexError, match="empty")
    yield bad(np.zeros((4, 3)), np.zeros(2), axis=0, error=TypeError, match="float64")
    yield bad(np.zeros((4, 3)), i64(0), axis=2, error=ValueError, match="axis 2")


def added(shape, dtype, key, values):
    out = np.zeros(shape, dtype)
    np.add.at(out, key, values)
    return out


def at_axis(axis, index):
    return (*[slice(None)] * axis, index)


@spec(
    ops.gather_vjp,
    reference=lambda ct, index, like, axis: added(like.shape, ct.dtype, at_axis(axis, index), ct),
    dtypes=NUMBERS, cast=(0,), grad_of=(0,),
)
def spec_gather_vjp(rng):
    yield case(grid(rng, 4, 3), i64(2, 0, 2, -1), np.zeros((4, 3)), axis=0)
    yield case(grid(rng, 4, 2, 1), np.array([[1], [0]], np.intc), np.zeros((4, 3)), axis=1)
    yield case(grid(rng, 2, 2, 20), i64(2, 2), np.zeros((2, 3, 20)), axis=1)
    yield case(np.array(2.0), np.array(3), np.zeros(5), axis=0)
    yield case(np.zeros((0, 3)), np.zeros((0,), np.int64), np.zeros((4, 3)), axis=0)
    yield case(np.ones((300, 64)), rng.integers(-90, 90, 300), np.zeros((90, 64)), axis=0, differentiable=False)
    yield bad(np.zeros((2, 3)), i64(0), np.zeros((4, 3)), axis=0, error=ValueError, match=r"\[2, 3\].*\[1, 3\]")
    yield bad(np.zeros((1, 3)), i64(7), np.zeros((4, 3)), axis=0, error=IndexError, match="7")


def picked(x, index):
    places = np.broadcast_to(np.arange(x.size).reshape(x.shape), (*index.shape[:-1], *x.shape))
    if index.shape[-1]:  # an index of no axes names all of x
        places = np.arange(x.size).reshape(x.shape)[tuple(np.moveaxis(index, -1, 0))]
    return x.reshape(-1)[places]


@spec(ops.gather_nd, reference=picked, dtypes=MOVED, cast=(0,))
def spec_gather_nd(rng):
    yield case(grid(rng, 4, 3), np.array([[1, 2], [3, 0], [-1, -1]]))
    yield case(grid(rng, 4, 3), np.array([[[1], [3]]], np.intc))
    yield case(grid(rng, 4), i64(2))
    yield case(grid(rng, 3, 4), np.array([[2], [0]]))             # rows as wide as a word
    yield case(grid(rng, 2, 3), np.zeros((2, 0), np.int64))       # names nothing: x itself, each time
    yield case(grid(rng, 4, 3), np.zeros((0, 2), np.int64))
    yield bad(np.zeros((4, 3)), np.array([[1, 3]]), error=IndexError, match="3")
    yield bad(np.zeros((4, 3)), np.zeros((1, 3), np.int64), error=ValueError, match="gather_nd")


def scattered_nd(x, index, updates):
    out = x.copy()
    places = picked(np.arange(x.size).reshape(x.shape), index)
    np.add.at(out.reshape(-1), places.reshape(-1), updates.reshape(-1))
    return out


@spec(ops.scatter_nd_add, reference=scattered_nd, dtypes=NUMBERS, cast=(0, 2))
def spec_scatter_nd_add(rng):
    yield case(grid(rng, 4, 3), np.array([[1], [1], [-1]]), grid(rng, 3, 3))
    yield case(grid(rng, 4, 3), np.array([[1, 2], [1, 2]]), grid(rng, 2))
    yield case(grid(rng, 4, 3), i64(1, 2), np.array(2.0))
    yield case(grid(rng, 4, 3), np.zeros((0, 1), np.int64), np.zeros((0, 3)))
    yield case(grid(rng, 2, 2), np.zeros((2, 0), np.int64), grid(rng, 2, 2, 2))
    yield bad(np.zeros((4, 3)), np.array([[4]]), np.zeros((1, 3)), error=IndexError, match="4")
    yield bad(np.zeros((4, 3)), np.array([[1]]), np.zeros((2, 3)), error=ValueError, match=r"\[2, 3\]")


def scattered(x, index, updates, overwrite):
    out = x.copy()
    if overwrite:
        for row, values in zip(index, updates):
            out[row] = values
    else:
        out[index] = 0
        np.add.at(out, index, updates)
    return out


@spec(ops.scatter, reference=scattered, dtypes=NUMBERS, cast=(0, 2))
def spec_scatter(rng):
    yield case(grid(rng, 4, 3), i64(2, 0, -1), grid(rng, 3, 3), overwrite=True)
    yield case(grid(rng, 4, 3), i64(2, 2), grid(rng, 2, 3), overwrite=True, differentiable=False)  # the last stays
    yield case(grid(rng, 4, 3), i64(2, 0, 2), grid(rng, 3, 3), overwrite=False)
    yield case(grid(rng, 4), i64(2), grid(rng, 1), overwrite=True)
    yield case(grid(rng, 4, 3), np.zeros((0,), np.int64), np.zeros((0, 3)), overwrite=False)
    yield case(np.ones((600, 70)), rng.permutation(600)[:500], np.full((500, 70), 3.0), overwrite=True, differentiable=False)
    yield bad(np.zeros((4, 3)), i64(4), np.zeros((1, 3)), overwrite=True, error=IndexError, match="4")
    yield bad(np.zeros((4, 3)), np.zeros((1, 1), np.int64), np.zeros((1, 3)), overwrite=True, error=ValueError, match="rank 1")


def index_added(x, index, value, axis):
    out = x.copy()
    np.add.at(out, at_axis(axis, index), value)
    return out


@spec(ops.index_add, reference=index_added, dtypes=NUMBERS, cast=(0, 2))
def spec_index_add(rng):
    yield case(grid(rng, 4, 3), i64(1, 1, -1), grid(rng, 3, 3), axis=0)
    yield case(grid(rng, 4, 3), np.array([2], np.intc), grid(rng, 4, 1), axis=1)
    yield bad(np.zeros((4, 3)), i64(3), np.zeros((4, 1)), axis=1, error=IndexError, match=r"\[-3, 3\)")


# Along an axis.


def positive(index, x, axis):
    return np.where(index < 0, index + x.shape[axis], index)


def taken(x, index, axis):
    part = sub_block(x, index, axis)
    return np.take_along_axis(part, positive(index, x, axis), axis)


def sub_block(x, index, axis):
    """x without what lies beyond the index in the axes that are not indexed."""
    return x[tuple(slice(None) if i == axis else slice(0, n) for i, n in enumerate(index.shape))]


@spec(ops.take_along_axis, reference=taken, dtypes=MOVED, cast=(0,))
def spec_take_along_axis(rng):
    yield case(grid(rng, 4, 3), rng.integers(-4, 4, (6, 3)), axis=0)
    yield case(grid(rng, 4, 3), rng.integers(0, 3, (4, 2)).astype(np.intc), axis=1)
    yield case(grid(rng, 4, 3), rng.integers(0, 3, (2, 2)), axis=1)    # fewer rows than x
    yield case(grid(rng, 2, 3, 4), rng.integers(0, 3, (2, 5, 4)), axis=1)
    yield case(grid(rng, 4, 3), np.zeros((0, 3), np.int64), axis=0)
    yield bad(np.zeros((4, 3)), np.full((1, 3), 4), axis=0, error=IndexError, match="4")
    yield bad(np.zeros((4, 3)), np.zeros((5, 3), np.int64), axis=1, error=ValueError, match="take_along_axis")
    yield bad(np.zeros((4, 3)), np.zeros(3, np.int64), axis=1, error=ValueError, match="same rank")


def put(x, index, value, axis, reduce):
    out = x.copy()
    index = positive(index, x, axis)
    value = np.broadcast_to(value, index.shape)
    for at in np.ndindex(index.shape):
        to = (*at[:axis], index[at], *at[axis + 1 :])
        out[to] = {"assign": value[at], "add": out[to] + value[at], "multiply": out[to] * value[at]}[reduce]
    return out


@spec(ops.put_along_axis, reference=put, dtypes=NUMBERS, cast=(0, 2))
def spec_put_along_axis(rng):
    once = np.array([[1, 0, 3], [-1, 2, 0]])
    yield case(grid(rng, 4, 3) % 5, once, 1 + grid(rng, 2, 3) % 5, axis=0, reduce="assign")
    yield case(grid(rng, 4, 3) % 5, rng.integers(0, 4, (6, 3)), 1 + grid(rng, 6, 3) % 5, axis=0, reduce="add")
    yield case(1 + grid(rng, 4, 3) % 3, rng.integers(0, 3, (4, 3)), 1 + grid(rng, 4, 1) % 2, axis=1, reduce="multiply",
               dtypes="floats ints")
    yield case(grid(rng, 4, 3), np.array([[1, 1]]), np.array(2.0), axis=1, reduce="assign", differentiable=False)
    yield case(grid(rng, 4, 3), np.zeros((0, 3), np.int64), np.zeros((0, 3)), axis=0, reduce="add")
    yield bad(np.zeros((4, 3)), np.full((1, 3), 4), np.array(1.0), axis=0, reduce="add", error=IndexError, match="4")
    yield bad(np.zeros((4, 3)), np.zeros((1, 3), np.int64), np.array(1.0), axis=0, reduce="mean", error=ValueError, match="mean")


# Masks.


@spec(ops.masked_select, reference=lambda x, mask: x[mask], dtypes=MOVED, cast=(0,))
def spec_masked_select(rng):
    yield case(grid(rng, 4, 3), grid(rng, 4, 3) % 3 == 0)
    yield case(grid(rng, 4, 3), np.zeros((4, 3), bool))
    yield case(grid(rng, 4, 3), np.ones((4, 3), bool))
    yield case(np.array(2.0), np.array(True))
    yield case(np.zeros((0, 3)), np.zeros((0, 3), bool))
    yield case(np.arange(40_000) % 120 * 1.0, np.arange(40_000) % 7 == 0, differentiable=False)   # several blocks
    yield bad(np.zeros((4, 3)), np.ones((4, 2), bool), error=ValueError, match=r"\[4, 2\]")
    yield bad(np.zeros((4, 3)), np.ones((4, 3), np.int64), error=TypeError, match="int64")


def unmasked(ct, mask):
    out = np.zeros(mask.shape, ct.dtype)
    out[mask] = ct
    return out


@spec(ops.masked_select_vjp, reference=unmasked, dtypes=MOVED, cast=(0,))
def spec_masked_select_vjp(rng):
    yield case(grid(rng, 3), np.array([[True, False], [True, True]]))
    yield case(np.zeros(0), np.zeros((2, 2), bool))
    yield case(np.arange(5715) % 120 * 1.0, np.arange(40_000) % 7 == 0, differentiable=False)
    yield bad(np.zeros(2), np.ones((2, 2), bool), error=ValueError, match="Got 2 values, expected 4")


@spec(ops.nonzero, reference=lambda x: np.argwhere(x), dtypes="all", differentiable=False)
def spec_nonzero(rng):
    yield case(grid(rng, 4, 3) % 3)
    yield case(grid(rng, 2, 3, 4) % 2)
    yield case(np.array([0.0, 2.0, 0.0, 1.0]))
    yield case(np.array([0.0, -0.0, np.nan]), dtypes="floats")
    yield case(np.zeros((3, 0)))
    yield case(np.array(1.0))
    yield case(np.arange(40_000) % 3 * 1.0)
    yield case(np.array([0, 1j, 1]))


# Advanced indexing.


def keyed(x, indices, axes):
    return x[(*[slice(None)] * axes[0], *indices)]


@spec(ops.index_get, reference=lambda x, *indices, axes: keyed(x, indices, axes), dtypes=MOVED, cast=(0,))
def spec_index_get(rng):
    yield case(grid(rng, 4, 3), i64(2, 0, -1), axes=(0,))
    yield case(grid(rng, 4, 3), i64(2, 0, -1), i64(1, 1, 0), axes=(0, 1))
    yield case(grid(rng, 2, 4, 3), np.array([[1], [3]]), i64(0, 2).astype(np.intc), axes=(1, 2))
    yield case(grid(rng, 2, 3, 5), np.array(1), axes=(1,))
    yield case(grid(rng, 4, 3), np.zeros((0,), np.int64), axes=(0,))
    yield bad(np.zeros((4, 3)), i64(1), i64(3), axes=(0, 1), error=IndexError, match=r"index 3 .*axis 1")
    yield bad(np.zeros((4, 3)), i64(1, 2), i64(1, 2, 0), axes=(0, 1), error=ValueError, match="broadcast")
    yield bad(np.zeros((4, 3)), i64(1), axes=(0, 1), error=ValueError, match="index_get")


def put_at(x, value, *indices, axes, accumulate):
    out = x.copy()
    key = (*[slice(None)] * axes[0], *indices)
    if accumulate:
        np.add.at(out, key, value)
    else:
        out[key] = value
    return out


@spec(ops.index_put, reference=put_at, dtypes=NUMBERS, cast=(0, 1))
def spec_index_put(rng):
    yield case(grid(rng, 4, 3), grid(rng, 3, 3), i64(2, 0, -1), axes=(0,), accumulate=False)
    yield case(grid(rng, 4, 3), np.array(5.0), i64(2, 0), i64(1, 1), axes=(0, 1), accumulate=False)
    yield case(grid(rng, 4, 3), grid(rng, 3), i64(2, 2, -1), i64(1, 1, 0), axes=(0, 1), accumulate=True)
    yield case(grid(rng, 2, 4, 3), grid(rng, 2, 1), np.array([[1], [3]]), i64(0, 2), axes=(1, 2), accumulate=True)
    yield case(grid(rng, 2, 4, 3), grid(rng, 1, 1, 3), i64(0, 3), axes=(1,), accumulate=False)
    yield case(grid(rng, 4, 3), np.zeros((0, 3)), np.zeros((0,), np.int64), axes=(0,), accumulate=True)
    yield bad(np.zeros((4, 3)), np.array(1.0), i64(4), axes=(0,), accumulate=False, error=IndexError, match="4")
    yield bad(np.zeros((4, 3)), np.zeros(2), i64(1), axes=(0,), accumulate=False, error=ValueError, match=r"\[1, 3\]")
    yield bad(np.ones((4, 3), bool), np.array(True), i64(1), axes=(0,), accumulate=True, error=TypeError, match="bool")


# Tables and classes.


def embedded(index, weight, padding_index):
    return np.where((index == padding_index)[..., None] & (padding_index >= 0), 0, weight[index])


@spec(ops.embedding, reference=embedded, dtypes="floats", cast=(1,))
def spec_embedding(rng):
    yield case(np.array([[1, 3], [0, 1]]), grid(rng, 4, 3), padding_index=-1)
    yield case(np.array([1, 3, 1], np.intc), grid(rng, 4, 20), padding_index=1)
    yield case(np.array(2), grid(rng, 4, 1), padding_index=-1)
    yield case(np.zeros((0, 2), np.int64), grid(rng, 4, 3), padding_index=-1)
    yield bad(i64(4), np.zeros((4, 3)), padding_index=-1, error=IndexError, match=r"4 .*\[0, 4\)")
    yield bad(i64(-1), np.zeros((4, 3)), padding_index=-1, error=IndexError, match="-1")
    yield bad(i64(1), np.zeros(4), padding_index=-1, error=ValueError, match="rank 2")


def embedding_summed(ct, index, weight, padding_index):
    out = added(weight.shape, ct.dtype, index, ct)
    if padding_index >= 0:
        out[padding_index] = 0
    return out


@spec(ops.embedding_vjp, reference=embedding_summed, dtypes="floats", cast=(0,), grad_of=(0,))
def spec_embedding_vjp(rng):
    yield case(grid(rng, 2, 2, 3), np.array([[1, 3], [0, 1]]), np.zeros((4, 3)), padding_index=-1)
    yield case(grid(rng, 3, 20), i64(1, 3, 3), np.zeros((4, 20)), padding_index=1)
    yield case(np.zeros((0, 3)), np.zeros((0,), np.int64), np.zeros((4, 3)), padding_index=-1)
    # 600 ones in one row: a bfloat16 total would stop at 256.
    yield case(np.ones((600, 8)), np.zeros(600, np.int64), np.zeros((4, 8)), padding_index=-1, differentiable=False)
    yield bad(np.zeros((1, 3)), i64(4), np.zeros((4, 3)), padding_index=-1, error=IndexError, match="4")


@spec(
    ops.one_hot,
    reference=lambda x, num_classes: (x[..., None] == np.arange(num_classes)) * 1.0,
    dtypes="ints", differentiable=False,
)
def spec_one_hot(rng):
    yield case(np.array([[1, 0], [2, 2]]), num_classes=3)
    yield case(np.array(1), num_classes=2)
    yield case(np.zeros((0,), np.int64), num_classes=2)
    yield bad(i64(3), num_classes=3, error=ValueError, match=r"3 .*\[0, 3\)")
    yield bad(i64(-1), num_classes=3, error=ValueError, match="-1")
    yield bad(i64(0), num_classes=0, error=ValueError, match="num_classes=0")
    yield bad(np.zeros(2), num_classes=2, error=TypeError, match="float64")


# Order. NaN is the largest value.

ORDERED = "floats ints bool"


def ordered(x, axis, descending):
    # Stable also when descending: equal values keep their order, so the flipped sort is flipped twice.
    if x.ndim == 0:
        return x, np.zeros((), np.int64)
    if not descending:
        indices = np.argsort(x, axis, kind="stable")
    else:
        size = x.shape[axis]
        indices = size - 1 - np.flip(np.argsort(np.flip(x, axis), axis, kind="stable"), axis)
    return np.take_along_axis(x, indices, axis), indices


def gaps(rng, *shape):
    """Values that differ by more than a difference step."""
    return grid(rng, *shape) / 4


@spec(ops.sort, reference=ordered, dtypes=ORDERED)
def spec_sort(rng):
    yield case(gaps(rng, 3, 4), axis=1, descending=False)
    yield case(gaps(rng, 3, 4), axis=0, descending=True)
    yield case(np.array([2.0, 1, 2, 0, 1, 0, -0.0]), axis=0, descending=True, differentiable=False)   # ties
    yield case(np.array([2.0, np.nan, -np.inf, np.inf, np.nan, -1]), axis=0, descending=False, differentiable=False)
    yield case(np.array([2.0, np.nan, -np.inf, np.inf, np.nan, -1]), axis=0, descending=True, differentiable=False)
    yield case(np.array([-128, 127, 0, -1, 5]), axis=0, descending=False)
    yield case(np.array(3.0), axis=0, descending=False)
    yield case(np.zeros((2, 0)), axis=1, descending=False)
    yield case(np.zeros((0, 2)), axis=1, descending=False)
    yield case(rng.integers(-100, 100, (2, 300)) / 2, axis=1, descending=False, differentiable=False)   # introsort
    yield case(rng.integers(-500, 500, (2, 900)) / 2, axis=1, descending=True, differentiable=False)    # radix sort
    yield bad(np.zeros((2, 3)), axis=2, descending=False, error=ValueError, match="axis 2")
    yield bad(np.zeros(3, np.complex128), axis=0, descending=False, error=TypeError, match="complex128")


def top(x, k, axis, largest, sorted):
    values, indices = ordered(x, axis, largest)
    if x.ndim == 0:
        return values, indices
    return np.take(values, range(k), axis), np.take(indices, range(k), axis)


@spec(ops.topk, reference=top, dtypes=ORDERED)
def spec_topk(rng):
    yield case(gaps(rng, 3, 4), k=2, axis=1, largest=True, sorted=True)
    yield case(gaps(rng, 4, 3), k=4, axis=0, largest=False, sorted=True)
    yield case(gaps(rng, 100), k=3, axis=0, largest=True, sorted=False)
    yield case(np.array([1.0, 2, 2, 1, 2]), k=4, axis=0, largest=True, sorted=True, differentiable=False)
    yield case(np.array([1.0, np.nan, 2, np.inf]), k=2, axis=0, largest=True, sorted=True, differentiable=False)
    yield case(np.array([1.0, np.nan, 2, np.inf]), k=2, axis=0, largest=False, sorted=True, differentiable=False)
    yield case(np.repeat([3.0, 1, 2], 20), k=5, axis=0, largest=True, sorted=True, differentiable=False)
    yield case(np.array(3.0), k=1, axis=0, largest=True, sorted=True)
    yield case(rng.integers(-500, 500, (2, 900)) / 2, k=700, axis=1, largest=True, sorted=True, differentiable=False)
    yield bad(np.zeros(3), k=4, axis=0, largest=True, sorted=True, error=ValueError, match="k=4")
    yield bad(np.zeros(3), k=-1, axis=0, largest=True, sorted=True, error=ValueError, match="k=-1")


def uniques(x, axis):
    # Each NaN is a value of its own, as NaN equals nothing.
    if axis is None:
        x, axis = x.reshape(-1), 0
    return np.unique(x, True, True, True, axis=axis if x.ndim > 1 else None, equal_nan=False)


@spec(ops.unique, reference=uniques, dtypes=ORDERED, differentiable=False)
def spec_unique(rng):
    yield case(np.array([3, 1, 3, 2, 1]) * 1.0, axis=None)
    yield case(np.array([[3, 1, 3], [1, 2, 1]]) * 1.0, axis=None)
    yield case(np.array([[3, 1], [1, 2], [3, 1]]) * 1.0, axis=0)
    yield case(np.array([[[3, 1, 3], [1, 2, 1]]]) * 1.0, axis=2)
    yield case(np.array([[3, 1, 3], [1, 2, 1]]) * 1.0, axis=1)
    yield case(np.array(3.0), axis=None)
    yield case(np.zeros(0), axis=None)
    yield case(rng.integers(0, 50, 700) * 1.0, axis=None)
    yield case(np.array([3, np.nan, np.nan, 1]), axis=None, dtypes="floats")
    yield bad(np.zeros((2, 3)), axis=2, error=ValueError, match="axis 2")


def runs(x, axis):
    if axis is None:
        x, axis = x.reshape(-1), 0
    rows = np.moveaxis(x, axis, 0)
    new = np.ones(len(rows), bool)
    for i in range(1, len(rows)):
        new[i] = not np.array_equal(rows[i], rows[i - 1])
    starts = np.flatnonzero(new)
    counts = np.diff(np.append(starts, len(rows)))
    return np.moveaxis(rows[new], 0, axis), np.cumsum(new) - 1, counts


@spec(ops.unique_consecutive, reference=runs, dtypes=ORDERED, differentiable=False)
def spec_unique_consecutive(rng):
    yield case(np.array([1, 1, 2, 2, 3, 1, 1]) * 1.0, axis=None)
    yield case(np.array([[2, 1], [2, 1], [1, 3]]) * 1.0, axis=0)
    yield case(np.array([[2, 2, 1], [2, 2, 3]]) * 1.0, axis=1)
    yield case(np.zeros(0), axis=None)
    yield case(np.array([1, np.nan, np.nan]), axis=None, dtypes="floats")


def searched(sorted_sequence, values, right):
    side = "right" if right else "left"
    if sorted_sequence.ndim == 1:
        return np.searchsorted(sorted_sequence, values, side)
    rows = sorted_sequence.reshape(-1, sorted_sequence.shape[-1])
    found = [np.searchsorted(row, v, side) for row, v in zip(rows, values.reshape(len(rows), -1))]
    return np.array(found).reshape(values.shape)


@spec(ops.searchsorted, reference=searched, dtypes="floats ints", differentiable=False)
def spec_searchsorted(rng):
    for right in (False, True):
        yield case(np.array([1.0, 3, 3, 5, 7]), np.array([[0.0, 1, 3], [4, 9, 7]]), right=right)
    yield case(np.array([[1.0, 3], [5, 7]]), np.array([[2.0, 0, 3], [8, 5, 6]]), right=False)
    yield case(np.array([1.0, 3]), np.array(2.0), right=False)
    yield case(np.zeros(0), np.array([2.0]), right=False)
    yield case(np.array([1.0, 2, np.nan]), np.array([0.0, 3, np.nan]), right=False, dtypes="floats")
    yield bad(np.zeros((2, 2)), np.zeros(2), right=False, error=ValueError, match=r"\[2, 2\] and \[2\]")
    yield bad(np.zeros(2), np.zeros(2, np.int64), right=False, error=TypeError, match="float64 and int64")


def counted(x, weights, minlength):
    if x.size == 0:
        return np.zeros(0, np.int64 if weights is None else np.float64)   # Paddle ignores minlength here
    return np.bincount(x, weights, minlength)


@spec(ops.bincount, reference=counted, dtypes="int32 int64", cast=(0,), differentiable=False)
def spec_bincount(rng):
    yield case(i64(1, 2, 1, 4), None, minlength=0)
    yield case(i64(1, 2, 1, 4), np.array([0.5, 1, 2, 1]), minlength=7)
    yield case(i64(1, 2, 1, 4), i64(5, 1, 2, 1), minlength=0)
    yield case(np.zeros(0, np.int64), None, minlength=2)
    yield bad(i64(1, -2), None, minlength=0, error=ValueError, match="-2")
    yield bad(i64(1), np.zeros(2), minlength=0, error=ValueError, match=r"\[2\]")
    yield bad(i64(1), None, minlength=-1, error=ValueError, match="minlength=-1")


def binned(x, bins, min, max):
    x = x[~np.isnan(x)] if x.dtype.kind == "f" else x
    if x.size == 0:
        return np.zeros(bins, np.int64)
    if min == max:
        min, max = x.min(), x.max()
    if min == max:
        min, max = min - 1, max + 1
    kept = x[(x >= min) & (x <= max)].astype(np.float64)
    at = np.minimum((kept - min) * bins // (max - min), bins - 1).astype(np.int64)
    return np.bincount(at, minlength=bins)


@spec(ops.histogram, reference=binned, dtypes="floats ints", differentiable=False)
def spec_histogram(rng):
    yield case(np.array([1.0, 2, 1]), bins=4, min=0.0, max=3.0)
    yield case(np.array([1.0, 2, 1, 4]), bins=4, min=0.0, max=0.0)         # the range of the data
    yield case(np.array([2.0, 2]), bins=4, min=0.0, max=0.0)               # one value: a range around it
    yield case(np.array([0.0, 1, 2, 3, 3, 5]), bins=3, min=1.0, max=3.0)   # what lies outside is not counted
    yield case(np.array([1, np.nan]), bins=3, min=0.0, max=0.0, dtypes="floats")
    yield case(np.zeros(0), bins=2, min=0.0, max=0.0)
    yield bad(np.array([1.0]), bins=0, min=0.0, max=1.0, error=ValueError, match="bins=0")
    yield bad(np.array([1.0]), bins=2, min=2.0, max=1.0, error=ValueError, match="min=2")
    yield bad(np.array([1.0, np.inf]), bins=2, min=0.0, max=0.0, error=ValueError, match="not finite")


def sharded(x, index_num, nshards, shard_id, ignore_value):
    size = -(-index_num // nshards)
    return np.where(x // size == shard_id, x % size, ignore_value)


@spec(ops.shard_index, reference=sharded, dtypes="int64 int32", differentiable=False)
def spec_shard_index(rng):
    yield case(np.array([[1], [6], [12], [19]]), index_num=20, nshards=2, shard_id=0, ignore_value=-1)
    yield case(np.array([[1], [6], [12], [19]]), index_num=20, nshards=3, shard_id=2, ignore_value=-1)
    yield bad(i64(20), index_num=20, nshards=2, shard_id=0, ignore_value=-1, error=ValueError, match="20")
    yield bad(i64(1), index_num=20, nshards=2, shard_id=2, ignore_value=-1, error=ValueError, match="shard_id=2")
