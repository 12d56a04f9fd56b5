"""Samples of creation ops."""
import numpy as np

from wherry_tensor import ops
from wherry_tensor._core import (
    bfloat16,
    bool_,
    complex64,
    complex128,
    float16,
    float32,
    float64,
    int8,
    int16,
    int32,
    int64,
    uint8,
)
from wherry_tensor.testing import case, spec

NUMBERS = (uint8, int8, int16, int32, int64, float16, bfloat16, float32, float64, complex64, complex128)
ALL = (bool_, *NUMBERS)


def numpy_dtype(dtype):
    # The kit reads bfloat16 as float32.
    return np.dtype({"bfloat16": "float32"}.get(dtype.name, dtype.name))


@spec(ops.full, reference=lambda shape, value, dtype: np.full(shape, value, numpy_dtype(dtype)), dtypes=("float32",))
def spec_full(rng):
    for dtype in ALL:
        yield case(shape=(2, 3), value=1, dtype=dtype)
    yield case(shape=(), value=2.5, dtype=float32)
    yield case(shape=(0, 3), value=2.5, dtype=float64)
    yield case(shape=(3,), value=2**53 + 1, dtype=int64)  # not by way of a double
    yield case(shape=(3,), value=1 - 2j, dtype=complex64)
    yield case(shape=(2,), value=float("-inf"), dtype=float16)
    yield case(shape=(70_000,), value=7, dtype=int32)


@spec(ops.full_like, reference=lambda like, value, dtype: np.full(like.shape, value, numpy_dtype(dtype)),
      dtypes="floats ints bool", differentiable=False)
def spec_full_like(rng):
    for dtype in (float32, int64, bool_, complex128):
        yield case(rng.integers(0, 2, (2, 3)), value=1, dtype=dtype)
    yield case(np.zeros(()), value=0.5, dtype=float64)
    yield case(np.zeros((0, 2)), value=0.5, dtype=float32)
    yield case(np.ones((3, 1)), value=2, dtype=float16)


@spec(ops.arange, reference=lambda start, step, length, dtype: (start + step * np.arange(length, dtype=np.int64)).astype(numpy_dtype(dtype)),
      dtypes=("float32",))
def spec_arange(rng):
    for dtype in NUMBERS:
        yield case(start=3, step=2, length=5, dtype=dtype)
    yield case(start=0.5, step=-0.25, length=7, dtype=float32)
    yield case(start=0.1, step=0.1, length=10_000, dtype=float32)  # does not drift
    yield case(start=10, step=-3, length=4, dtype=int64)
    yield case(start=0, step=1, length=0, dtype=int32)
    yield case(start=2**53 + 1, step=2, length=3, dtype=int64)


@spec(ops.linspace, reference=lambda start, stop, num, dtype: np.linspace(start, stop, num).astype(numpy_dtype(dtype)),
      dtypes=("float32",))
def spec_linspace(rng):
    for dtype in (int32, int64, float16, bfloat16, float32, float64, complex64):
        yield case(start=0, stop=10, num=5, dtype=dtype)
    yield case(start=0, stop=10, num=4, dtype=int32)
    yield case(start=-1.5, stop=2.25, num=7, dtype=float32)
    yield case(start=3.0, stop=-3.0, num=6, dtype=float64)
    yield case(start=3.0, stop=5.0, num=1, dtype=float32)
    yield case(start=3.0, stop=5.0, num=0, dtype=float32)


@spec(ops.eye, reference=lambda rows, columns, dtype: np.eye(rows, columns, dtype=numpy_dtype(dtype)), dtypes=("float32",))
def spec_eye(rng):
    for dtype in ALL:
        yield case(rows=3, columns=4, dtype=dtype)
    yield case(rows=4, columns=2, dtype=float32)
    yield case(rows=0, columns=3, dtype=float32)
