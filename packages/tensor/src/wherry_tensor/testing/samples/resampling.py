"""Samples and references of interpolation along an axis."""
import numpy as np

from wherry_tensor import ops
from wherry_tensor.testing import bad, case, spec


def _resample(x, index, weight, axis):
    lines = np.moveaxis(x, axis, -1)
    out = np.zeros((*lines.shape[:-1], len(index)))
    for (i, k), place in np.ndenumerate(index):
        if weight[i, k] != 0:
            out[..., i] += weight[i, k] * lines[..., place]
    return np.moveaxis(out, -1, axis)


def _resample_vjp(ct, index, weight, like, axis):
    lines = np.moveaxis(ct, axis, -1)
    out = np.zeros((*lines.shape[:-1], like.shape[axis]))
    for (i, k), place in np.ndenumerate(index):
        if weight[i, k] != 0:
            out[..., place] += weight[i, k] * lines[..., i]
    return np.moveaxis(out, -1, axis)


def _cases(rng):
    """A shape, an axis, how many results and taps."""
    for shape, axis, results, taps in (
        ((5,), 0, 7, 2),
        ((2, 3, 5), 2, 4, 2),
        ((2, 3, 5), 1, 6, 4),
        ((4, 21), 0, 3, 3),
        ((3, 5), 1, 2, 1),
        ((3, 5), 1, 2, 8),
        ((2, 4), 1, 3, 0),
        ((2, 4), 1, 0, 2),
        ((0, 4), 1, 3, 2),
    ):
        weight = rng.permutation(results * taps).reshape(results, taps) / 4 + 0.25
        yield shape, axis, rng.integers(0, shape[axis], (results, taps)), weight


# Sums of up to 20 products near 1, which may cancel.
_SUMS = {"float32": (1e-5, 1e-5), "float16": (1e-2, 1e-2), "bfloat16": (5e-2, 5e-2)}


@spec(ops.resample, reference=_resample, tolerance=_SUMS)
def spec_resample(rng):
    for shape, axis, index, weight in _cases(rng):
        yield case(rng.standard_normal(shape), index, weight, axis=axis)
    index, weight = np.array([[0, 1], [1, 2]]), np.array([[0.0, 1.0], [0.5, 0.0]])
    for axis in 0, 1:  # what has no weight is not looked at
        x = np.array([np.inf, 2.0, np.nan]).reshape((3, 1) if axis == 0 else (1, 3)) * np.ones((3, 20) if axis == 0 else (2, 3))
        yield case(x, index, weight, axis=axis, differentiable=False)
    yield case(
        rng.standard_normal((40, 3, 300)), rng.integers(0, 300, (500, 4)), rng.standard_normal((500, 4)), axis=2, differentiable=False
    )
    yield case(
        rng.standard_normal((90, 70)), rng.integers(0, 90, (300, 4)), rng.standard_normal((300, 4)), axis=0, differentiable=False
    )
    x = np.zeros((2, 3))
    yield bad(x, np.array([[3]]), np.ones((1, 1)), axis=1, error=IndexError, match=r"index 3 .*axis 1.*\[0, 3\)")
    yield bad(x, np.array([[-1]]), np.ones((1, 1)), axis=1, error=IndexError, match="index -1")
    yield bad(x, np.array([[0]]), np.ones((1, 2)), axis=1, error=ValueError, match="index and weight differ in shape")
    yield bad(x, np.array([0]), np.ones(1), axis=1, error=ValueError, match="`index` has 1 ax")
    yield bad(x, np.array([[0]]), np.ones((1, 1)), axis=2, error=ValueError, match="axis 2")
    yield bad(x, np.zeros((1, 1)), np.ones((1, 1)), axis=1, error=TypeError, match="`index` has dtype float64")


@spec(ops.resample_vjp, reference=_resample_vjp, grad_of=(0, 2), tolerance=_SUMS)
def spec_resample_vjp(rng):
    for shape, axis, index, weight in _cases(rng):
        resampled = (*shape[:axis], len(index), *shape[axis + 1 :])
        yield case(rng.standard_normal(resampled), index, weight, np.zeros(shape), axis=axis)
    for shape, axis in ((40, 3, 300), 2), ((90, 70), 0):
        resampled = [500 if i == axis else n for i, n in enumerate(shape)]
        index = rng.integers(0, shape[axis], (500, 4))
        yield case(rng.standard_normal(resampled), index, rng.standard_normal((500, 4)), np.zeros(shape), axis=axis, differentiable=False)
    x = np.zeros((2, 3))
    yield bad(x, np.array([[0]]), np.ones((1, 1)), x, axis=1, error=ValueError, match=r"\[2, 3\].*\[2, 1\]")
    yield bad(x[:, :1], np.array([[3]]), np.ones((1, 1)), x, axis=1, error=IndexError, match="index 3")
