"""Samples of message passing and products with sparse matrices."""
import numpy as np

from wherry_tensor import ops
from wherry_tensor.testing import bad, case, spec
from wherry_tensor.testing.samples.indexing import i64
from wherry_tensor.testing.samples.movement import grid


def _sent(x, source):
    return x if source is None else x[source]


def _edge_sum(x, source, target, count, mean, sorted):
    out = np.zeros((count, *x.shape[1:]), x.dtype)
    np.add.at(out, target, _sent(x, source))
    if not mean:
        return out
    arrived = np.maximum(np.bincount(target, minlength=count), 1).reshape(-1, *[1] * (x.ndim - 1))
    return np.trunc(out / arrived).astype(x.dtype) if x.dtype.kind in "iu" else out / arrived


@spec(ops.edge_sum, reference=_edge_sum, dtypes="floats ints complex", cast=(0,))
def spec_edge_sum(rng):
    plain = {"mean": False, "sorted": False}
    yield case(grid(rng, 4, 3), i64(0, 1, 2, 0), i64(1, 2, 1, 0), count=3, **plain)
    yield case(grid(rng, 4, 3), np.array([3, 3], np.intc), np.array([0, 0], np.intc), count=2, mean=True, sorted=False)
    yield case(grid(rng, 4), i64(2, 0, 1), i64(5, 1, 5), count=6, **plain)
    yield case(grid(rng, 5, 2), None, i64(0, 0, 2, 2, 2), count=4, mean=True, sorted=True)
    yield case(grid(rng, 5, 2), None, i64(2, 0, 1, 0, 2), count=3, **plain)
    yield case(np.zeros((0, 2)), None, np.zeros(0, np.int64), count=3, mean=True, sorted=True)
    yield case(np.ones((90, 64)), rng.integers(0, 90, 300), rng.integers(0, 40, 300), count=40, differentiable=False, **plain)
    yield bad(np.zeros((4, 3)), i64(4), i64(0), count=3, error=IndexError, match=r"edge_sum: source 4 .*\[0, 4\)", **plain)
    yield bad(np.zeros((4, 3)), i64(0), i64(3), count=3, error=IndexError, match=r"edge_sum: target 3 .*\[0, 3\)", **plain)
    yield bad(np.zeros((2, 3)), None, i64(1, 0), count=3, mean=False, sorted=True, error=ValueError, match="edge_sum: .* 0 after 1")
    yield bad(np.zeros((2, 3)), i64(1, 0), i64(1), count=3, error=ValueError, match="as many", **plain)
    yield bad(np.zeros((2, 3)), None, i64(1), count=3, error=ValueError, match="`target` needs one number for each row of x", **plain)
    yield bad(np.zeros((2, 3)), None, np.zeros(2), count=3, error=TypeError, match="float64", **plain)


def _edge_extreme(x, source, target, count, largest, sorted):
    out = np.zeros((count, *x.shape[1:]), x.dtype)
    seen = set()
    for row, at in zip(_sent(x, source), target):
        out[at] = row if at not in seen else np.maximum(out[at], row) if largest else np.minimum(out[at], row)
        seen.add(at)
    return out


@spec(ops.edge_extreme, reference=_edge_extreme, dtypes="floats ints", cast=(0,))
def spec_edge_extreme(rng):
    untied = rng.permutation(12).reshape(4, 3) / 4.0
    for largest in (True, False):
        yield case(untied, i64(0, 1, 2, 3), i64(1, 2, 1, 1), count=4, largest=largest, sorted=False)
        yield case(untied, None, i64(0, 0, 2, 2), count=3, largest=largest, sorted=True)
        yield case(untied[:, 0], np.array([1, 3], np.intc), np.array([0, 0], np.intc), count=2, largest=largest, sorted=False)
    yield case(np.array([1.0, np.nan, 2.0]), None, i64(0, 0, 0), count=1, largest=True, sorted=True, differentiable=False, dtypes="floats")
    yield bad(np.zeros((4, 3)), i64(0), i64(-1), count=3, largest=True, sorted=False, error=IndexError, match="edge_extreme: target -1")


def _dense(values, crows, cols, columns):
    rows = np.repeat(np.arange(len(crows) - 1), np.diff(crows).astype(np.intp))
    out = np.zeros((len(crows) - 1, columns), values.dtype)
    np.add.at(out, (rows, cols), values)
    return out


@spec(ops.csr_matmul, reference=lambda values, crows, cols, x: _dense(values, crows, cols, len(x)) @ x, dtypes="floats", cast=(0, 3))
def spec_csr_matmul(rng):
    crows, cols = i64(0, 2, 2, 3, 5), i64(0, 2, 1, 0, 1)
    yield case(grid(rng, 5), crows, cols, grid(rng, 3, 4))
    yield case(grid(rng, 5), crows.astype(np.intc), cols.astype(np.intc), grid(rng, 3, 1))
    yield case(grid(rng, 5), crows, cols, grid(rng, 3, 70))
    yield case(np.zeros(0), i64(0, 0, 0), np.zeros(0, np.int64), grid(rng, 3, 4))
    yield case(np.zeros(0), i64(0), np.zeros(0, np.int64), grid(rng, 3, 4))
    yield bad(np.zeros(2), i64(0, 2), i64(0, 3), np.zeros((3, 1)), error=IndexError, match=r"csr_matmul: column 3 .*\[0, 3\)")
    yield bad(np.zeros(2), i64(0, 2, 1), i64(0, 1), np.zeros((3, 1)), error=ValueError, match="csr_matmul: .*crows")
    yield bad(np.zeros(3), i64(0, 2), i64(0, 1), np.zeros((3, 1)), error=ValueError, match="values and cols differ in shape")


def _csr_sample(x, y, crows, cols):
    rows = np.repeat(np.arange(len(crows) - 1), np.diff(crows).astype(np.intp))
    return (x[rows] * y[cols]).sum(-1, dtype=x.dtype)


@spec(ops.csr_sample, reference=_csr_sample, dtypes="floats", cast=(0, 1))
def spec_csr_sample(rng):
    crows, cols = i64(0, 2, 2, 3, 5), i64(0, 2, 1, 0, 1)
    yield case(grid(rng, 4, 5), grid(rng, 3, 5), crows, cols)
    yield case(grid(rng, 4, 37), grid(rng, 3, 37), crows.astype(np.intc), cols.astype(np.intc))
    yield case(grid(rng, 2, 5), grid(rng, 3, 5), i64(0, 0, 0), np.zeros(0, np.int64))
    yield bad(np.zeros((1, 2)), np.zeros((3, 2)), i64(0, 1), i64(3), error=IndexError, match=r"csr_sample: column 3 .*\[0, 3\)")
    yield bad(np.zeros((1, 2)), np.zeros((3, 3)), i64(0, 1), i64(0), error=ValueError, match="do not fit")


def _csr_transpose(crows, cols, columns):
    rows = np.repeat(np.arange(len(crows) - 1), np.diff(crows).astype(np.intp))
    order = np.argsort(cols, kind="stable")
    return np.searchsorted(cols[order], np.arange(columns + 1)).astype("int64"), rows[order].astype("int64"), order.astype("int64")


@spec(ops.csr_transpose, reference=_csr_transpose, dtypes="int64", differentiable=False)
def spec_csr_transpose(rng):
    yield case(i64(0, 2, 2, 3, 5), i64(2, 0, 1, 0, 1), columns=4)
    yield case(np.array([0, 1], np.intc), np.array([0], np.intc), columns=1)
    yield case(i64(0), np.zeros(0, np.int64), columns=2)
    yield bad(i64(0, 1), i64(4), columns=4, error=IndexError, match=r"csr_transpose: column 4 .*\[0, 4\)")
