"""Samples and references of matrix products."""
import numpy as np

from wherry_tensor import ops
from wherry_tensor.testing import bad, case, spec

# Sums of some hundred products of normal values pass zero, so what counts is the error beside the
# size of the summands, not of the sum.
_SUMS = {"float32": (1e-5, 3e-5), "float16": (5e-3, 2e-2), "bfloat16": (4e-2, 1e-1), "complex64": (2e-5, 5e-5)}


def _swapped(x, transposed):
    return np.swapaxes(x, -1, -2) if transposed and x.ndim > 1 else x


def _matmul(x, y, transpose_x, transpose_y):
    return np.matmul(_swapped(x, transpose_x), _swapped(y, transpose_y))


@spec(ops.matmul, reference=_matmul, dtypes="floats complex ints", tolerance=_SUMS)
def spec_matmul(rng):
    plain = dict(transpose_x=False, transpose_y=False)

    def pair(a, b, **flags):
        return case(rng.standard_normal(a), rng.standard_normal(b), **{**plain, **flags})

    yield pair((2, 3), (3, 4))
    yield pair((3, 2), (3, 4), transpose_x=True)
    yield pair((2, 3), (4, 3), transpose_y=True)
    yield pair((3, 2), (4, 3), transpose_x=True, transpose_y=True)
    # Vectors, whose flags are ignored.
    yield pair((3,), (3,))
    yield pair((3,), (3,), transpose_x=True, transpose_y=True)
    yield pair((3,), (3, 4))
    yield pair((3,), (4, 3), transpose_y=True)
    yield pair((2, 3), (3,))
    yield pair((3, 2), (3,), transpose_x=True)
    yield pair((2, 4, 3), (3,))
    yield pair((2, 3, 4), (3,), transpose_x=True)
    yield pair((3,), (2, 3, 4))
    yield pair((3,), (2, 4, 3), transpose_y=True)
    # Batches, equal and broadcast.
    yield pair((5, 2, 3), (5, 3, 4))
    yield pair((5, 2, 3), (3, 4))
    yield pair((5, 2, 3), (4, 3), transpose_y=True)
    yield pair((5, 3, 2), (3, 4), transpose_x=True)
    yield pair((2, 3), (5, 3, 4))
    yield pair((2, 1, 2, 3), (3, 3, 2))
    yield pair((1, 2, 3), (4, 3, 1), transpose_x=False)
    yield pair((2, 2, 3), (2, 4, 3), transpose_y=True)
    # Empty ones: a sum of nothing is 0.
    yield pair((2, 0), (0, 3))
    yield pair((0, 3), (3, 2))
    yield pair((0, 2, 3), (3, 4))
    yield pair((3, 2), (2, 0))
    # Each way that a product can be computed: dots, rows, panels, several passes over k, edges.
    for a, b in ((1, 300), (300, 5)), ((5, 300), (300, 1)), ((1, 70), (70, 200)), ((3, 500), (500, 4)), ((40, 70), (70, 9)), (
        (65, 90), (90, 83)
    ), ((130, 400), (400, 67)), ((9, 33, 40), (9, 40, 35)), ((2, 70, 66), (66, 80)):
        size = dict(differentiable=False)
        yield case(rng.standard_normal(a), rng.standard_normal(b), **plain, **size)
        yield case(rng.standard_normal(a), _swapped(rng.standard_normal(b), True), **size, transpose_x=False, transpose_y=True)
        yield case(_swapped(rng.standard_normal(a), True), rng.standard_normal(b), **size, transpose_x=True, transpose_y=False)
    yield case(rng.integers(0, 4, (3, 5)), rng.integers(0, 4, (5, 2)), **plain)
    yield case(rng.integers(0, 3, (2, 3, 7)), rng.integers(0, 3, (2, 7)), transpose_x=False, transpose_y=True)
    complex_x = rng.standard_normal((2, 3)) + 1j * rng.standard_normal((2, 3))
    complex_y = rng.standard_normal((3, 4)) + 1j * rng.standard_normal((3, 4))
    yield case(complex_x, complex_y, **plain)
    yield case(np.stack([complex_x, complex_x * 1j]), complex_y, **plain)
    yield bad(np.zeros((2, 3)), np.zeros((4, 5)), **plain, error=ValueError,
              match=r"x of shape \[2, 3\] and y of shape \[4, 5\], expected the last axis of x \(3\) to equal")
    yield bad(np.zeros(3), np.zeros(4), **plain, error=ValueError, match="the only axis of y")
    yield bad(np.zeros((2, 3)), np.zeros((3, 4)), transpose_x=True, transpose_y=False, error=ValueError, match="transposed")
    yield bad(np.zeros((2, 2, 3)), np.zeros((3, 3, 4)), **plain, error=ValueError, match="do not broadcast")
    yield bad(np.array(1.0), np.zeros((3, 4)), **plain, error=ValueError, match="`x` is 0-d")
    yield bad(np.zeros((2, 3)), np.zeros((3, 4), np.float32), **plain, error=TypeError, match="different dtypes")
    yield bad(np.zeros((2, 3), bool), np.zeros((3, 4), bool), **plain, error=TypeError, match="has dtype bool")


@spec(ops.linear, reference=lambda x, weight, bias: np.matmul(x, weight) + (0 if bias is None else bias), tolerance=_SUMS)
def spec_linear(rng):
    yield case(rng.standard_normal((2, 3)), rng.standard_normal((3, 4)), rng.standard_normal(4))
    yield case(rng.standard_normal((2, 3)), rng.standard_normal((3, 4)), None)
    yield case(rng.standard_normal(3), rng.standard_normal((3, 4)), rng.standard_normal(4))
    yield case(rng.standard_normal((2, 5, 3)), rng.standard_normal((3, 4)), rng.standard_normal(4))
    yield case(rng.standard_normal((0, 3)), rng.standard_normal((3, 4)), rng.standard_normal(4))
    yield case(rng.standard_normal((2, 0)), rng.standard_normal((0, 4)), rng.standard_normal(4))
    yield case(rng.standard_normal((2, 40, 70)), rng.standard_normal((70, 90)), rng.standard_normal(90), differentiable=False)
    yield case(rng.standard_normal((50, 400)), rng.standard_normal((400, 70)), rng.standard_normal(70), differentiable=False)
    yield bad(np.zeros((2, 3)), np.zeros((4, 3)), None, error=ValueError, match="last axis of x to be 4")
    yield bad(np.zeros((2, 3)), np.zeros((3, 4)), np.zeros(3), error=ValueError, match=r"expected bias of shape \[4\]")
    yield bad(np.zeros((2, 3)), np.zeros((2, 3, 4)), None, error=ValueError, match="not a matrix")
    yield bad(np.array(1.0), np.zeros((3, 4)), None, error=ValueError, match=r"x of shape \[\]")


@spec(ops.outer_sum, reference=lambda x, y: np.tensordot(x, y, (range(x.ndim - 1),) * 2), dtypes="floats complex ints",
      tolerance=_SUMS)
def spec_outer_sum(rng):
    yield case(rng.standard_normal((3, 2)), rng.standard_normal((3, 4)))
    yield case(rng.standard_normal((2, 3, 2)), rng.standard_normal((2, 3, 4)))
    yield case(rng.standard_normal(2), rng.standard_normal(4))
    yield case(rng.standard_normal((0, 2)), rng.standard_normal((0, 4)))
    yield case(rng.standard_normal((3, 0)), rng.standard_normal((3, 4)))
    yield case(rng.standard_normal((4, 90, 70)), rng.standard_normal((4, 90, 66)), differentiable=False)
    yield case(rng.integers(0, 3, (2, 3, 2)), rng.integers(0, 3, (2, 3, 4)))
    yield case(rng.standard_normal((3, 2)) + 1j, rng.standard_normal((3, 4)) - 1j)
    yield bad(np.zeros((3, 2)), np.zeros((4, 2)), error=ValueError, match="axes that are summed differ")
    yield bad(np.array(1.0), np.array(1.0), error=ValueError, match="axes that are summed differ")
