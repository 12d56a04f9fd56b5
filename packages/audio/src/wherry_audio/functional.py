"""`paddle.audio.functional`: mel scales, filter banks, decibels, cosine transforms and windows.

The mel scale is that of Slaney's "Auditory Toolbox" (1998), linear up to 1000 Hz and logarithmic above, or, with `htk`, that of the HTK Book:
2595 log10(1 + f / 700).
"""
from __future__ import annotations

import math

from wherry_audio.windows import get_window
from wherry_nn.functional import normalize
from wherry_tensor import Tensor, arange, cos, exp, linspace, log, log10, maximum, minimum, where
from wherry_tensor.arguments import integer, real_number, require_tensor
from wherry_tensor.errors import AssertedArgumentError, InvalidArgumentError, short
from wherry_tensor.explained import explained

__all__ = [
    "compute_fbank_matrix",
    "create_dct",
    "fft_frequencies",
    "get_window",
    "hz_to_mel",
    "mel_frequencies",
    "mel_to_hz",
    "power_to_db",
]

_HZ_PER_MEL = 200 / 3  # of Slaney's scale, below
_BREAK_HZ = 1000.0
_BREAK_MEL = _BREAK_HZ / _HZ_PER_MEL
_STEP = math.log(6.4) / 27  # of the logarithm of the frequency, for each mel above


def _floating(x: Tensor) -> Tensor:
    return x if x.dtype.is_floating else x.astype("float32")


def hz_to_mel(freq: Tensor | float, htk: bool = False) -> Tensor | float:
    """Frequencies in mels.

    Args:
        freq: in Hz: a number, or a Tensor of any shape.
        htk: by the HTK Book's formula, not by Slaney's.

    Returns:
        Of a number a float, of a Tensor one of its shape; integers become float32.

    Raises:
        TypeError: `freq` is neither (also a ValueError).

    Source:
        `paddle.audio.functional.hz_to_mel`.

    Examples:
        >>> round(wherry.audio.functional.hz_to_mel(1000.0), 6)
        15.0
        >>> print(wherry.audio.functional.hz_to_mel(wherry.to_tensor([200.0, 6400.0])).numpy())
        [ 3. 42.]
    """
    if not isinstance(freq, Tensor):
        hz = real_number(freq, "hz_to_mel", "freq")
        if htk:
            return 2595.0 * math.log10(1.0 + hz / 700.0)
        return _BREAK_MEL + math.log(hz / _BREAK_HZ) / _STEP if hz >= _BREAK_HZ else hz / _HZ_PER_MEL
    x = _floating(freq)
    if htk:
        return 2595.0 * log10(1.0 + x / 700.0)
    above = maximum(x, x * 0 + _BREAK_HZ)  # the logarithm is only asked for where it is used: its gradient elsewhere would be infinite
    return where(x >= _BREAK_HZ, _BREAK_MEL + log(above / _BREAK_HZ) / _STEP, x / _HZ_PER_MEL)


def mel_to_hz(mel: Tensor | float, htk: bool = False) -> Tensor | float:
    """Mels as frequencies: what `hz_to_mel` turns round.

    Args:
        mel: a number, or a Tensor of any shape.
        htk: by the HTK Book's formula, not by Slaney's.

    Returns:
        Hz: of a number a float, of a Tensor one of its shape; integers become float32.

    Raises:
        TypeError: `mel` is neither (also a ValueError).

    Source:
        `paddle.audio.functional.mel_to_hz`.

    Examples:
        >>> wherry.audio.functional.mel_to_hz(3.0)
        200.0
    """
    if not isinstance(mel, Tensor):
        mels = real_number(mel, "mel_to_hz", "mel")
        try:
            if htk:
                return 700.0 * (10.0 ** (mels / 2595.0) - 1.0)
            return _BREAK_HZ * math.exp(_STEP * (mels - _BREAK_MEL)) if mels >= _BREAK_MEL else _HZ_PER_MEL * mels
        except OverflowError:
            return math.inf
    x = _floating(mel)
    if htk:
        return 700.0 * (exp(x * (math.log(10) / 2595.0)) - 1.0)
    above = maximum(x, x * 0 + _BREAK_MEL)
    return where(x >= _BREAK_MEL, _BREAK_HZ * exp(_STEP * (above - _BREAK_MEL)), _HZ_PER_MEL * x)


def mel_frequencies(n_mels: int = 64, f_min: float = 0.0, f_max: float = 11025.0, htk: bool = False, dtype: str = "float32") -> Tensor:
    """Frequencies that are as far apart in mels as each other.

    Args:
        n_mels: how many, 1 or more.
        f_min: the first, in Hz.
        f_max: the last, in Hz.
        htk: by the HTK Book's formula, not by Slaney's.
        dtype: float32 or float64.

    Shape:
        `[n_mels]`, in Hz.

    Raises:
        TypeError: an argument is not a number (also a ValueError).
        ValueError: `n_mels` is below 1.

    Source:
        `paddle.audio.functional.mel_frequencies`.

    Examples:
        >>> print(wherry.audio.functional.mel_frequencies(3, 0.0, 400.0).numpy())
        [  0. 200. 400.]
    """
    count = integer(n_mels, "mel_frequencies", "n_mels")
    low, high = real_number(f_min, "mel_frequencies", "f_min"), real_number(f_max, "mel_frequencies", "f_max")
    found = mel_to_hz(linspace(hz_to_mel(low, htk), hz_to_mel(high, htk), count, dtype), htk)
    assert isinstance(found, Tensor)  # of a Tensor
    return found


def fft_frequencies(sr: int, n_fft: int, dtype: str = "float32") -> Tensor:
    """The frequencies that a Fourier transform of a real signal gives.

    Args:
        sr: samples in a second.
        n_fft: how many samples are transformed.
        dtype: float32 or float64.

    Shape:
        `[n_fft // 2 + 1]`, in Hz: from 0 to half of `sr`.

    Raises:
        TypeError: an argument is not a number (also a ValueError).

    Source:
        `paddle.audio.functional.fft_frequencies`. As there the last one is half of `sr` for an odd `n_fft` too.

    Examples:
        >>> print(wherry.audio.functional.fft_frequencies(16000, 8).numpy())
        [   0. 2000. 4000. 6000. 8000.]
    """
    rate = real_number(sr, "fft_frequencies", "sr")
    return linspace(0, rate / 2, 1 + integer(n_fft, "fft_frequencies", "n_fft") // 2, dtype)


def compute_fbank_matrix(
    sr: int, n_fft: int, n_mels: int = 64, f_min: float = 0.0, f_max: float | None = None, htk: bool = False, norm: str | float | None = "slaney",
    dtype: str = "float32",
) -> Tensor:
    """Triangles that overlap by half, as broad as each other in mels: what a spectrum is multiplied by to become one of mels.

    Args:
        sr: samples in a second.
        n_fft: how many samples are transformed.
        n_mels: how many triangles.
        f_min: where the first begins, in Hz.
        f_max: where the last ends, in Hz; None: at half of `sr`.
        htk: the HTK Book's mels, not Slaney's.
        norm: "slaney" divides each triangle by half of its width in Hz, a number by its norm of that order; None does not.
        dtype: float32 or float64.

    Shape:
        `[n_mels, n_fft // 2 + 1]`.

    Raises:
        TypeError: an argument is not a number (also a ValueError).
        ValueError: `norm` is another text, or `n_mels` below 1.

    Source:
        `paddle.audio.functional.compute_fbank_matrix`.

    Examples:
        >>> print(wherry.audio.functional.compute_fbank_matrix(800, 8, 2, norm=None).numpy().round(4) + 0.0)
        [[0.   0.75 0.5  0.   0.  ]
         [0.   0.   0.5  0.75 0.  ]]
    """
    order = None if norm is None or isinstance(norm, str) else real_number(norm, "compute_fbank_matrix", "norm")
    if isinstance(norm, str) and norm != "slaney":
        raise InvalidArgumentError(f"compute_fbank_matrix: norm is unknown. Got norm={norm!r}, expected 'slaney', None or a number.")
    top = real_number(sr, "compute_fbank_matrix", "sr") / 2 if f_max is None else f_max
    count = integer(n_mels, "compute_fbank_matrix", "n_mels")
    if count < 1:
        raise InvalidArgumentError(f"compute_fbank_matrix: there are no triangles. Got n_mels={count}, expected 1 or more.")
    edges = mel_frequencies(count + 2, f_min, top, htk, dtype)
    widths = edges[1:] - edges[:-1]
    from_edge = edges.unsqueeze(1) - fft_frequencies(sr, n_fft, dtype).unsqueeze(0)
    rising = -from_edge[:-2] / widths[:-1].unsqueeze(1)
    falling = from_edge[2:] / widths[1:].unsqueeze(1)
    triangles = minimum(rising, falling).clip(min=0)
    if norm == "slaney":
        return triangles * (2.0 / (edges[2:] - edges[:-2])).unsqueeze(1)
    return triangles if order is None else normalize(triangles, p=order, axis=-1)


def power_to_db(spect: Tensor, ref_value: float = 1.0, amin: float = 1e-10, top_db: float | None = 80.0) -> Tensor:
    """A power spectrum in decibels: 10 log10(spect / ref_value).

    Args:
        spect: squares of amplitudes, any shape; integers become float32.
        ref_value: the power of 0 decibels, above 0.
        amin: smaller powers are taken for this one, above 0.
        top_db: no result is lower than the largest by more than this, in decibels; None leaves them.

    Returns:
        A Tensor of the shape of `spect`.

    Raises:
        TypeError: `spect` is not a Tensor (also a ValueError).
        ValueError: `ref_value` or `amin` is not positive, or `top_db` below 0.

    Source:
        `paddle.audio.functional.power_to_db`.

    Examples:
        >>> print(wherry.audio.functional.power_to_db(wherry.to_tensor([1.0, 100.0, 0.0])).numpy())
        [  0.  20. -60.]
    """
    x = _floating(require_tensor(spect, "power_to_db", "spect"))
    for name, value in (("ref_value", ref_value), ("amin", amin)):
        if real_number(value, "power_to_db", name) <= 0:
            raise InvalidArgumentError(f"power_to_db: {name} must be strictly positive. Got {name}={value}, expected a number above 0.")
    decibels = 10.0 * log10(maximum(x, x * 0 + amin)) - 10.0 * math.log10(max(amin, ref_value))
    if top_db is None:
        return decibels
    if real_number(top_db, "power_to_db", "top_db") < 0:
        raise InvalidArgumentError(f"power_to_db: top_db must be non-negative. Got top_db={top_db}, expected 0 or more, or None.")
    return maximum(decibels, decibels.max() - top_db)


def create_dct(n_mfcc: int, n_mels: int, norm: str | None = "ortho", dtype: str = "float32") -> Tensor:
    """The matrix of a discrete cosine transform (of type II).

    Args:
        n_mfcc: how many coefficients.
        n_mels: how many numbers are transformed.
        norm: "ortho" makes its columns orthonormal, None doubles the cosines.
        dtype: float32 or float64.

    Shape:
        `[n_mels, n_mfcc]`.

    Raises:
        TypeError: an argument is not a number (also a ValueError).
        AssertionError: `norm` is another text (also a ValueError).

    Source:
        `paddle.audio.functional.create_dct`.

    Examples:
        >>> print(wherry.audio.functional.create_dct(2, 2).numpy())
        [[ 0.70710677  0.70710677]
         [ 0.70710677 -0.70710677]]
    """
    if norm not in ("ortho", None):
        raise AssertedArgumentError(f"create_dct: norm is unknown. Got norm={short(norm)}, expected 'ortho' or None.")
    columns, rows = integer(n_mfcc, "create_dct", "n_mfcc"), integer(n_mels, "create_dct", "n_mels")
    if rows < 1:
        raise InvalidArgumentError(f"create_dct: there are no bands to transform. Got n_mels={rows}, expected 1 or more. Pass how many there are.")
    order = arange(0, columns, dtype="float64").unsqueeze(0)
    angles = order * (arange(0, rows, dtype="float64").unsqueeze(1) + 0.5) * (math.pi / rows)
    if norm is None:
        return (2.0 * cos(angles)).astype(dtype)
    scale = where(order == 0, order * 0 + math.sqrt(1 / rows), order * 0 + math.sqrt(2 / rows))
    return (cos(angles) * scale).astype(dtype)


explained(globals())
