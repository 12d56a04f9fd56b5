"""Short-time Fourier transforms and frames of signals: `paddle.signal`."""
from __future__ import annotations

from typing import Any

from wherry_tensor import ops
from wherry_tensor._core import Tensor, float32, float64, is_symbolic
from wherry_tensor.arguments import flag, integer, require_tensor
from wherry_tensor.errors import AssertedArgumentError, InvalidArgumentError, short
from wherry_tensor.functions.padding import pad
from wherry_tensor.ops.shapes import complex_dtype, real_dtype
from wherry_tensor.sizes import is_unknown
from wherry_tensor.spellings import spelled

__all__ = ["frame", "istft", "overlap_add", "stft"]


def _leading(axis: Any, op_name: str) -> bool:
    if isinstance(axis, bool) or axis not in (0, -1):
        raise InvalidArgumentError(
            f"{op_name}: the signal must lie along the first axis or the last. Got axis={short(axis)}, expected 0 or -1. Transpose x."
        )
    return bool(axis == 0)


def _positive(value: Any, op_name: str, name: str) -> int:
    count = integer(value, op_name, name)
    if not is_unknown(count) and count < 1:
        raise InvalidArgumentError(
            f"{op_name}: {name} must be positive. Got {name}={value}, expected 1 or more. Check the order of the arguments."
        )
    return count


def frame(x: Tensor, frame_length: int, hop_length: int, axis: int = -1, name: str | None = None) -> Tensor:
    """A signal cut into frames, which may overlap.

    Args:
        x: any dtype, rank 1 or more.
        frame_length: how many elements a frame has.
        hop_length: how far apart frames begin.
        axis: the signal is the last axis, -1, or the first, 0.

    Shape:
        `[..., n]` to `[..., frame_length, count]`, or `[n, ...]` to `[count, frame_length, ...]`, where count is
        `1 + (n - frame_length) // hop_length`.

    Raises:
        TypeError: `x` is not a Tensor (also a ValueError).
        ValueError: a frame is longer than the signal, a number below 1, or the axis neither 0 nor -1.

    Source:
        `paddle.signal.frame`.

    Examples:
        >>> print(wherry.signal.frame(wherry.arange(5), 3, 1, axis=0).tolist())
        [[0, 1, 2], [1, 2, 3], [2, 3, 4]]
    """
    require_tensor(x, "frame")
    leading = _leading(axis, "frame")
    return ops.frame(
        x, length=_positive(frame_length, "frame", "frame_length"), hop=_positive(hop_length, "frame", "hop_length"),
        leading=leading,
    )


def overlap_add(x: Tensor, hop_length: int, axis: int = -1, name: str | None = None) -> Tensor:
    """The sum of frames, each `hop_length` after the one before: the adjoint of `frame`.

    Args:
        x: numbers; rank 2 or more.
        hop_length: how far apart frames begin, at most the length of a frame.
        axis: frames are columns of the last two axes, -1, or rows of the first two, 0.

    Shape:
        `[..., frame_length, count]` to `[..., n]`, or `[count, frame_length, ...]` to `[n, ...]`, where n is
        `(count - 1) * hop_length + frame_length`.

    Raises:
        TypeError: `x` is not a Tensor (also a ValueError).
        ValueError: there are gaps between the frames, the hop is below 1, or the axis neither 0 nor -1.

    Source:
        `paddle.signal.overlap_add`.

    Examples:
        >>> print(wherry.signal.overlap_add(wherry.ones([2, 3]), 1).tolist())
        [1.0, 2.0, 2.0, 1.0]
    """
    require_tensor(x, "overlap_add")
    leading = _leading(axis, "overlap_add")
    return ops.overlap_add(x, hop=_positive(hop_length, "overlap_add", "hop_length"), leading=leading)


# ---- short-time Fourier transforms --------------------------------------------------------------


def _require(holds: Any, op_name: str, wrong: str, got: str, expected: str, mend: str) -> None:
    if not holds:
        raise AssertedArgumentError(f"{op_name}: {wrong}. Got {got}, expected {expected}. {mend}.")


def _lengths(op_name: str, n_fft: Any, hop_length: Any, win_length: Any) -> tuple[int, int, int]:
    size = integer(n_fft, op_name, "n_fft")
    window = size if win_length is None else integer(win_length, op_name, "win_length")
    hop = size // 4 if hop_length is None else integer(hop_length, op_name, "hop_length")
    return size, hop, window


def _window(op_name: str, window: Any, win_length: int, n_fft: int, dtype: Any) -> Tensor:
    """The window, with zeros around it up to `n_fft`."""
    if window is None:
        window = ops.full(shape=(win_length,), value=1, dtype=dtype)
    else:
        require_tensor(window, op_name, "window")
        _require(
            window.ndim == 1 and window.shape[0] == win_length, op_name, "the window has another length", f"shape {window.shape}",
            f"[{win_length}], which is win_length", "Pass win_length, or another window",
        )
        if window.dtype.is_integer or window.dtype.is_bool:
            window = ops.cast(window, dtype=dtype)
    before = (n_fft - win_length) // 2
    after = n_fft - win_length - before
    return ops.pad(window, paddings=(before, after), value=0.0) if n_fft > win_length else window


def _common(x: Tensor, window: Tensor) -> tuple[Tensor, Tensor]:
    """Both in the wider precision of the two; each stays real or complex."""
    wide = float64 in (real_dtype.get(x.dtype, x.dtype), real_dtype.get(window.dtype, window.dtype))
    real = float64 if wide else float32

    def cast(t: Tensor) -> Tensor:
        wanted = complex_dtype[real] if t.dtype.is_complex else real
        return t if t.dtype is wanted else ops.cast(t, dtype=wanted)

    x, window = cast(x), cast(window)
    if x.dtype.is_complex and not window.dtype.is_complex:
        window = ops.cast(window, dtype=x.dtype)
    elif window.dtype.is_complex and not x.dtype.is_complex:
        x = ops.cast(x, dtype=window.dtype)
    return x, window


def stft(
    x: Tensor,
    n_fft: int,
    hop_length: int | None = None,
    win_length: int | None = None,
    window: Tensor | None = None,
    center: bool = True,
    pad_mode: str = "reflect",
    normalized: bool = False,
    onesided: bool = True,
    name: str | None = None,
) -> Tensor:
    """The short-time Fourier transform: spectra of the frames of a signal.

    Args:
        x: `[n]` or `[B, n]`; real, or complex with `onesided=False`.
        n_fft: how many elements a frame has, at most n.
        hop_length: how far apart frames begin; None is `n_fft // 4`.
        win_length: the length of the window, which has zeros on both sides up to `n_fft`; None is `n_fft`.
        window: `[win_length]`, what frames are multiplied by; None is ones.
        center: extend the signal by `n_fft // 2` at both ends, so that frame t is around element `t * hop_length`.
        pad_mode: "reflect" or "constant" (zeros): with what it is extended.
        normalized: divide by the root of `n_fft`.
        onesided: give the first `n_fft // 2 + 1` elements of each spectrum, which determine the others for a real signal.

    Returns:
        Complex.

    Shape:
        `[..., n]` to `[..., n_fft // 2 + 1, frames]`, or `[..., n_fft, frames]` with `onesided=False`.

    Raises:
        ValueError: lengths or the window do not fit, or `pad_mode` is unknown (also an AssertionError, as in Paddle).
        TypeError: `x` is not a Tensor (also a ValueError).

    Source:
        `paddle.signal.stft`.

    Examples:
        >>> wherry.signal.stft(wherry.ones([8]), n_fft=4, hop_length=2).shape
        [3, 5]
    """
    rank = require_tensor(x, "stft").ndim
    _require(rank in (1, 2), "stft", "`x` is not a signal", f"shape {x.shape}", "[n] or [B, n]", "Reshape x")
    size, hop, length = _lengths("stft", n_fft, hop_length, win_length)
    n = x.shape[-1]
    _require(hop > 0, "stft", "frames do not advance", f"hop_length={hop}", "1 or more", "Pass hop_length")
    _require(
        size > 0 and (is_unknown(n) or size <= n), "stft", "a frame is longer than the signal", f"n_fft={n_fft} for {n} elements",
        f"one in [1, {n}]", "Pad the signal, or take shorter frames",
    )
    _require(0 < length <= size, "stft", "the window is longer than a frame", f"win_length={length}", f"one in [1, {size}]", "Raise n_fft")
    _require(
        pad_mode in ("reflect", "constant"), "stft", "unknown mode", f"pad_mode={pad_mode!r}", "'reflect' or 'constant'",
        "Leave it out",
    )
    onesided = flag(onesided, "stft", "onesided")
    if x.dtype.is_integer or x.dtype.is_bool:
        x = ops.cast(x, dtype=float32)
    x, weights = _common(x, _window("stft", window, length, size, real_dtype.get(x.dtype, x.dtype)))
    _require(
        not (onesided and x.dtype.is_complex), "stft", "a complex signal has no half spectrum", f"x or window of {x.dtype.name}",
        "onesided=False", "Pass it, or the real part",
    )
    if flag(center, "stft", "center"):
        x = _extended(x, size // 2, pad_mode)
    frames = ops.frame(x, length=size, hop=hop, leading=False) * ops.unsqueeze(weights, axes=(1,))
    normalization = "sqrt" if flag(normalized, "stft", "normalized") else "none"
    transform = ops.fft_r2c if onesided else ops.fft_c2c
    if not onesided and not frames.dtype.is_complex:
        frames = ops.cast(frames, dtype=complex_dtype[frames.dtype])
    return transform(frames, axes=(frames.ndim - 2,), normalization=normalization, forward=True)


def _extended(x: Tensor, by: int, mode: str) -> Tensor:
    if mode == "constant" or by == 0:
        return ops.pad(x, paddings=(*(0,) * (2 * x.ndim - 2), by, by), value=0.0)
    if x.dtype.is_complex:
        return ops.complex(_extended(ops.real(x), by, mode), _extended(ops.imag(x), by, mode))
    lines = ops.unsqueeze(x, axes=(0, 1) if x.ndim == 1 else (1,))
    out = pad(lines, [by, by], mode="reflect", data_format="NCL")
    return ops.squeeze(out, axes=(0, 1) if x.ndim == 1 else (1,))


def istft(
    x: Tensor,
    n_fft: int,
    hop_length: int | None = None,
    win_length: int | None = None,
    window: Tensor | None = None,
    center: bool = True,
    normalized: bool = False,
    onesided: bool = True,
    length: int | None = None,
    return_complex: bool = False,
    name: str | None = None,
) -> Tensor:
    """The inverse short-time Fourier transform: the signal whose frames have these spectra, by least squares where frames disagree.

    Args:
        x: `[n_fft // 2 + 1, frames]`, or `[n_fft, frames]` with `onesided=False`; a batch before it. Complex.
        n_fft: how many elements a frame has.
        hop_length: how far apart frames begin, at most `win_length`; None is `n_fft // 4`.
        win_length: the length of the window, which has zeros on both sides up to `n_fft`; None is `n_fft`.
        window: `[win_length]`, what frames were multiplied by; None is ones.
        center: take away the `n_fft // 2` elements by which `stft` extended the signal.
        normalized: spectra were divided by the root of `n_fft`.
        onesided: spectra are the first halves.
        length: keep so many elements at most.
        return_complex: give a complex signal; with `onesided=False`.

    Shape:
        `[..., n_fft // 2 + 1, frames]` to `[..., n]`.

    Raises:
        ValueError: the overlaps of the window leave elements undetermined; lengths or the window do not fit (also an
            AssertionError, as in Paddle).
        TypeError: `x` is not a Tensor (also a ValueError).

    Source:
        `paddle.signal.istft`; Griffin & Lim, "Signal Estimation from Modified Short-Time Fourier Transform" (1984).

    Examples:
        >>> x = wherry.to_tensor([1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0])
        >>> y = wherry.signal.stft(x, n_fft=4, hop_length=2)
        >>> wherry.signal.istft(y, n_fft=4, hop_length=2).numpy().round(3).tolist()
        [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]
    """
    rank = require_tensor(x, "istft").ndim
    _require(rank in (2, 3), "istft", "`x` has no spectra", f"shape {x.shape}", "[bins, frames] or [B, bins, frames]", "Reshape x")
    size, hop, window_length = _lengths("istft", n_fft, hop_length, win_length)
    _require(
        0 < hop <= window_length, "istft", "there are gaps between the windows", f"hop_length={hop}", f"one in [1, {window_length}]",
        "Take a smaller hop",
    )
    _require(0 < window_length <= size, "istft", "the window is longer than a frame", f"win_length={window_length}", f"one in [1, {size}]",
             "Raise n_fft")
    onesided = flag(onesided, "istft", "onesided")
    bins = size // 2 + 1 if onesided else size
    _require(
        is_unknown(x.shape[-2]) or x.shape[-2] == bins, "istft", "spectra have another size",
        f"{x.shape[-2]} bins with n_fft={size}, onesided={onesided}", f"{bins}", "Pass the n_fft and onesided of stft",
    )
    return_complex = flag(return_complex, "istft", "return_complex")
    if not x.dtype.is_complex:
        x = ops.cast(x, dtype=complex_dtype[float64 if x.dtype is float64 else float32])
    weights = _window("istft", window, window_length, size, real_dtype[x.dtype])
    _require(
        not (onesided and (return_complex or weights.dtype.is_complex)), "istft", "a half spectrum is that of a real signal",
        f"return_complex={return_complex}, window of {weights.dtype.name}", "onesided=False", "Pass it",
    )
    _require(
        return_complex or not weights.dtype.is_complex, "istft", "a complex window gives a complex signal", f"window of {weights.dtype.name}",
        "return_complex=True", "Pass it, or the real part",
    )
    normalization = "sqrt" if flag(normalized, "istft", "normalized") else "n"
    attrs: dict[str, Any] = dict(axes=(rank - 2,), normalization=normalization, forward=False)
    if return_complex:
        frames = ops.fft_c2c(x, **attrs)
    else:  # of a real signal, so the first half says all
        half = x if onesided else ops.slice(x, axes=(rank - 2,), starts=(0,), ends=(size // 2 + 1,), steps=(1,))
        frames = ops.fft_c2r(half, size=size, **attrs)
    frames, weights = _common(frames, weights)
    column = ops.unsqueeze(weights, axes=(1,))
    out = ops.overlap_add(frames * column, hop=hop, leading=False)
    square = ops.abs(column)
    square = square * square
    counts = ops.full(shape=(1, x.shape[-1]), value=1, dtype=square.dtype)
    envelope = ops.overlap_add(square * counts, hop=hop, leading=False)
    out, envelope = (_trimmed(one, size, flag(center, "istft", "center"), length) for one in (out, envelope))
    if not is_symbolic(envelope) and envelope.size and float(envelope.min().item()) < 1e-11:
        raise InvalidArgumentError(
            f"istft: the windows leave elements unsaid: their squares sum up to 0 there. Got window of {window_length} elements with "
            f"hop_length={hop}, expected one whose overlaps are never 0. Take a smaller hop or another window."
        )
    return out / (ops.cast(envelope, dtype=out.dtype) if out.dtype is not envelope.dtype else envelope)


def _trimmed(x: Tensor, n_fft: int, center: bool, length: Any) -> Tensor:
    start = n_fft // 2 if center else 0
    n = x.shape[-1]
    stop = n - start
    if length is not None:
        stop = start + integer(length, "istft", "length")
    return ops.slice(x, axes=(x.ndim - 1,), starts=(start,), ends=(stop,), steps=(1,))


spelled(globals())
