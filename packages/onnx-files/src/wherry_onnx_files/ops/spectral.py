"""Fourier transforms. Complex numbers are pairs along the last axis."""
import numpy as np

from wherry_onnx_files.column import reads
from wherry_onnx_files.numbers import is_known
from wherry_onnx_files.ops.indexing import index_of
from wherry_tensor import _core, ops


def _complex(x):
    """Pairs, or single numbers, as complex numbers."""
    if is_known(x.shape[-1]) and x.shape[-1] == 2:
        return ops.as_complex(x)
    real = ops.squeeze(x, axes=(x.ndim - 1,))
    return ops.complex(real, ops.full_like(real, value=0, dtype=real.dtype))


# In one piece: what is cut, transformed and cut again.
@reads("DFT")
def read_dft(o):
    x = o.x(0)
    dtype = x.dtype
    if dtype.name in ("float16", "bfloat16"):
        x = ops.cast(x, dtype=_core.float32)
    if o.version >= 20:
        axis = int(o.scalar(2, "the axis")) if o.has(2) else -2
    else:
        axis = o.integer("axis", 1)
    axis %= x.ndim
    inverse, onesided = o.flag("inverse"), o.flag("onesided")
    n = x.shape[axis]
    length = int(o.scalar(1, "the length")) if o.has(1) else None
    if inverse and onesided:
        z = _complex(x)
        size = length if length is not None else 2 * (n - 1)
        out = ops.fft_c2r(z, axes=(axis,), normalization="n", forward=False, size=size)
        return ops.unsqueeze(out, axes=(out.ndim,))
    if length is not None:
        if not is_known(n):
            raise o.open_size("the size that it transforms")
        if length > 1 << 24:
            raise o.bad(f"its length is {length}", "at most 2^24")
        pads = [0] * (2 * x.ndim)
        pads[2 * axis + 1] = length - n
        x = ops.pad(x, paddings=tuple(pads), value=0.0) if length != n else x
    out = ops.fft_c2c(_complex(x), axes=(axis,), normalization="n" if inverse else "none", forward=not inverse)
    if onesided:
        size = x.shape[axis]
        out = ops.slice(out, axes=(axis,), starts=(0,), ends=(size // 2 + 1,), steps=(1,))
    pairs = ops.as_real(out)
    return pairs if pairs.dtype is dtype else ops.cast(pairs, dtype=dtype)


@reads("STFT")
def read_stft(o):
    x, step = o.x(0), int(o.scalar(1, "the step"))
    window = o.maybe(2)
    length = int(o.scalar(3, "the length")) if o.has(3) else int(window.shape[0])
    n = x.shape[1]
    if not is_known(n):
        raise o.open_size("the length of the signal")
    if step < 1 or not 0 < length <= n:
        raise o.bad(f"it cuts frames of {length}, {step} apart, out of {n}", "frames that fit")
    count = (n - length) // step + 1
    o.bound(count * length, 1 << 26, "the number of elements of all frames")
    at = np.arange(count)[:, None] * step + np.arange(length)[None]
    if x.ndim == 2:
        x = ops.unsqueeze(x, axes=(2,))
    frames = ops.gather(x, index_of(at), axis=1)
    if window is not None:
        frames = ops.multiply(frames, ops.reshape(window, shape=(length, 1)))
    out = ops.fft_c2c(_complex(frames), axes=(2,), normalization="none", forward=True)
    if o.flag("onesided", True):
        out = ops.slice(out, axes=(2,), starts=(0,), ends=(length // 2 + 1,), steps=(1,))
    return ops.as_real(out)
