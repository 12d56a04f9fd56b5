"""Samples and references of Fourier transforms and frames."""
import numpy as np

from wherry_tensor import ops
from wherry_tensor.testing import bad, case, spec

# An error of some roundings, beside the largest of the results.
_SUMS = {"float32": (2e-5, 2e-5), "complex64": (2e-5, 2e-5), "float64": (1e-9, 1e-10), "complex128": (1e-9, 1e-10)}


def _norm(normalization, forward):
    return {"none": "backward" if forward else "forward", "n": "forward" if forward else "backward", "sqrt": "ortho"}[normalization]


def _c2c(x, axes, normalization, forward):
    if not axes or not x.size:
        return x
    return (np.fft.fftn if forward else np.fft.ifftn)(x, axes=axes, norm=_norm(normalization, forward))


def _r2c(x, axes, normalization, forward):
    out = np.fft.rfftn(x, axes=axes, norm=_norm(normalization, True))
    return out if forward else np.conj(out)


def _c2r(x, axes, normalization, forward, size):
    if not x.size:
        return np.zeros([*x.shape[: axes[-1]], size, *x.shape[axes[-1] + 1 :]])
    x = np.conj(x) if forward else x
    for axis in axes[:-1]:
        x = np.fft.ifft(x, axis=axis, norm=_norm(normalization, False))
    return np.fft.irfft(x, size, axis=axes[-1], norm=_norm(normalization, False))


# Every radix and pass, lanes that are full and not, rows cut in two, and lengths with large factors.
_SIZES = (1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 15, 16, 17, 22, 26, 32, 49, 60, 64, 97, 128, 210, 256, 257, 360, 512, 1000, 1009, 1024, 2048, 4096)


def _complex(rng, shape):
    return rng.standard_normal(shape) + 1j * rng.standard_normal(shape)


@spec(ops.fft_c2c, reference=_c2c, dtypes="complex", tolerance=_SUMS)
def spec_fft_c2c(rng):
    plain = dict(normalization="none", forward=True)
    for n in _SIZES:
        yield case(_complex(rng, (3, n)), axes=(1,), differentiable=n < 6, **plain)
    for n in (5, 64, 97, 1024, 11000):
        yield case(_complex(rng, (n,)), axes=(0,), normalization="n", forward=False, differentiable=n < 6)
    for n in (2, 7, 34, 100):
        yield case(_complex(rng, (n, 19)), axes=(0,), normalization="sqrt", forward=False, differentiable=False)
    yield case(_complex(rng, (40, 24)), axes=(1,), differentiable=False, **plain)  # more rows than lanes
    yield case(_complex(rng, (2, 3, 4)), axes=(0, 2), **plain)
    yield case(_complex(rng, (2, 3, 4)), axes=(2, 0, 1), normalization="sqrt", forward=False)
    yield case(_complex(rng, (2, 3)), axes=(), **plain)
    yield case(np.zeros((0, 4), complex), axes=(1,), **plain)
    yield bad(np.zeros(3), axes=(0,), **plain, error=TypeError, match="fft_c2c: `x` has dtype float64")
    yield bad(np.zeros(3, complex), axes=(0, 0), **plain, error=ValueError, match="an axis is named twice")
    yield bad(np.zeros(3, complex), axes=(1,), **plain, error=ValueError, match="axes 1 is out of range")
    yield bad(np.zeros(3, complex), axes=(0,), normalization="ortho", forward=True, error=ValueError, match="unknown normalization")


@spec(ops.fft_r2c, reference=_r2c, dtypes="float64 float32", tolerance=_SUMS)
def spec_fft_r2c(rng):
    plain = dict(normalization="none", forward=True)
    for n in _SIZES:
        yield case(rng.standard_normal((3, n)), axes=(1,), differentiable=n < 6, **plain)
    yield case(rng.standard_normal((40, 24)), axes=(1,), differentiable=False, **plain)
    yield case(rng.standard_normal((2, 2048)), axes=(1,), normalization="sqrt", forward=False, differentiable=False)
    yield case(rng.standard_normal((5, 19)), axes=(0,), normalization="n", forward=False, differentiable=False)
    yield case(rng.standard_normal((2, 3, 4)), axes=(0, 2), **plain)
    yield case(rng.standard_normal((2, 3, 4)), axes=(2, 1), normalization="sqrt", forward=False)
    yield case(np.zeros((0, 4)), axes=(1,), **plain)
    yield bad(np.zeros((2, 0)), axes=(1,), **plain, error=ValueError, match="fft_r2c: an axis has no elements")
    yield bad(np.zeros(3), axes=(), **plain, error=ValueError, match="fft_r2c: there is no axis")


@spec(ops.fft_c2r, reference=_c2r, dtypes="complex", tolerance=_SUMS)
def spec_fft_c2r(rng):
    plain = dict(normalization="n", forward=False)
    for n in _SIZES:
        yield case(_complex(rng, (3, n // 2 + 1)), axes=(1,), size=n, differentiable=n < 7, **plain)
    yield case(_complex(rng, (40, 13)), axes=(1,), size=24, differentiable=False, **plain)
    yield case(_complex(rng, (2, 1025)), axes=(1,), normalization="sqrt", forward=True, size=2048, differentiable=False)
    yield case(_complex(rng, (4, 19)), axes=(0,), normalization="none", forward=True, size=7, differentiable=False)
    yield case(_complex(rng, (2, 3, 3)), axes=(0, 2), size=4, **plain)
    yield case(_complex(rng, (2, 3, 4)), axes=(2, 1), normalization="sqrt", forward=True, size=5)
    yield case(np.zeros((0, 3), complex), axes=(1,), size=4, **plain)
    yield bad(np.zeros((2, 3), complex), axes=(1,), size=8, **plain, error=ValueError, match="fft_c2r: the last axis does not fit")
    yield bad(np.zeros((2, 1), complex), axes=(1,), size=0, **plain, error=ValueError, match="fft_c2r: the last axis does not fit")


def _frame(x, length, hop, leading):
    lines = np.moveaxis(x, 0, -1) if leading else x
    count = 1 + (lines.shape[-1] - length) // hop
    parts = [lines[..., i * hop : i * hop + length] for i in range(count)]
    if leading:
        return np.stack([np.moveaxis(one, -1, 0) for one in parts], 0)
    return np.stack(parts, -1)


@spec(ops.frame, reference=_frame, dtypes="floats ints bool complex")
def spec_frame(rng):
    for leading in False, True:
        yield case(rng.standard_normal(8), length=4, hop=2, leading=leading)
        yield case(rng.standard_normal((9, 9)), length=3, hop=2, leading=leading)
        yield case(rng.standard_normal((6, 2, 6)), length=1, hop=4, leading=leading)
    yield case(np.arange(12).reshape(2, 6) % 3, length=6, hop=1, leading=False)
    yield case(np.arange(6) % 2 == 0, length=2, hop=3, leading=False)
    yield case(_complex(rng, (2, 5)), length=3, hop=1, leading=False)
    yield bad(np.zeros(3), length=4, hop=1, leading=False, error=ValueError, match="frame: the frame does not fit into the axis")
    yield bad(np.zeros(3), length=2, hop=0, leading=False, error=ValueError, match="frame: frames do not advance")
    yield bad(np.zeros(()), length=1, hop=1, leading=False, error=ValueError, match="frame: `x` is 0-d")


def _overlap_add(x, hop, leading):
    frames = np.moveaxis(x, (0, 1), (-1, -2)) if leading else x
    length, count = frames.shape[-2:]
    out = np.zeros((*frames.shape[:-2], (count - 1) * hop + length), x.dtype)
    for i in range(count):
        out[..., i * hop : i * hop + length] += frames[..., i]
    return np.moveaxis(out, -1, 0) if leading else out


@spec(ops.overlap_add, reference=_overlap_add, dtypes="float64 float32 ints complex")
def spec_overlap_add(rng):
    for leading in False, True:
        yield case(rng.standard_normal((4, 4)), hop=2, leading=leading)
        yield case(rng.standard_normal((3, 3, 3)), hop=1, leading=leading)
        yield case(rng.standard_normal((2, 2, 4, 4)), hop=2 if leading else 4, leading=leading)
    yield case(np.arange(6).reshape(3, 2), hop=1, leading=False)
    yield case(_complex(rng, (3, 2)), hop=2, leading=False)
    yield bad(np.zeros((2, 3)), hop=3, leading=False, error=ValueError, match="overlap_add: there are gaps")
    yield bad(np.zeros(3), hop=1, leading=False, error=ValueError, match="overlap_add: `x` has no frames")
