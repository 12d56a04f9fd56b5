"""Discrete Fourier transforms: `paddle.fft`.

Names: `i` for inverse, `r` for real input (or real output of the inverse) of which one half is kept, `h` for Hermitian
input; 2 for two axes and n for any. float32 gives complex64 and float64 complex128; integers and bools count as float32.
"""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from wherry_tensor import ops
from wherry_tensor._core import DType, Tensor, float32, float64
from wherry_tensor.arguments import integer, one_axis, real_number, require_tensor
from wherry_tensor.dtype import as_dtype, get_default_dtype
from wherry_tensor.errors import InvalidArgumentError, InvalidTypeError, OutOfRangeError, short
from wherry_tensor.ops.shapes import complex_dtype
from wherry_tensor.sizes import is_unknown, known
from wherry_tensor.spellings import spelled

__all__ = [
    "fft",
    "fft2",
    "fftfreq",
    "fftn",
    "fftshift",
    "hfft",
    "hfft2",
    "hfftn",
    "ifft",
    "ifft2",
    "ifftn",
    "ifftshift",
    "ihfft",
    "ihfft2",
    "ihfftn",
    "irfft",
    "irfft2",
    "irfftn",
    "rfft",
    "rfft2",
    "rfftfreq",
    "rfftn",
]

Sizes = Sequence[int] | None

# ---- reading arguments --------------------------------------------------------------------------

_FORWARD = {"backward": "none", "ortho": "sqrt", "forward": "n"}
_INVERSE = {"backward": "n", "ortho": "sqrt", "forward": "none"}


def _normalization(norm: Any, forward: bool, op_name: str) -> str:
    if not isinstance(norm, str) or norm not in _FORWARD:
        raise InvalidArgumentError(
            f"{op_name}: unknown norm. Got norm={short(norm)}, expected 'backward', 'ortho' or 'forward'. "
            f"Leave it out for 'backward'."
        )
    return (_FORWARD if forward else _INVERSE)[norm]


def _size(n: Any, op_name: str, name: str) -> int:
    value = integer(n, op_name, name)
    if not is_unknown(value) and value < 1:
        raise InvalidArgumentError(
            f"{op_name}: the size of a transform must be positive. Got {name}={n}, expected a positive size. Leave it out for that of x."
        )
    return value


def _numbers(x: Any, op_name: str, real: bool) -> Tensor:
    """`x` as floating or complex numbers."""
    require_tensor(x, op_name)
    if x.dtype.is_integer or x.dtype.is_bool:
        return ops.cast(x, dtype=float32)
    if x.dtype in (float32, float64) or (x.dtype.is_complex and not real):
        return x
    wanted = "float32 or float64" if real else "float32, float64, complex64 or complex128"
    advice = "Take the real part first" if x.dtype.is_complex else "Cast it with astype('float32')"
    raise InvalidTypeError(f"{op_name}: `x` has dtype {x.dtype.name}. Got {x.dtype.name}, expected {wanted}. {advice}.")


def _as_complex(x: Tensor) -> Tensor:
    return x if x.dtype.is_complex else ops.cast(x, dtype=complex_dtype[x.dtype])


def resized(x: Tensor, axis: int, n: Any, op_name: str) -> Tensor:
    """`x` cut, or filled up with zeros, to `n` elements along an axis."""
    have = x.shape[axis]
    if n is None or have is n:
        return x
    n = known(n, f"{op_name}: the size of axis {axis}")
    if is_unknown(have) or n > have:  # of an unknown size: as many zeros as could be missing, and then the beginning
        paddings = [0] * (2 * x.ndim)
        paddings[2 * axis + 1] = n if is_unknown(have) else n - have
        x = ops.pad(x, paddings=tuple(paddings), value=0.0)
    return ops.slice(x, axes=(axis,), starts=(0,), ends=(n,), steps=(1,)) if is_unknown(have) or n < have else x


def _all_axes(x: Tensor, s: Any, axes: Any, op_name: str, count: int | None) -> tuple[tuple[int, ...], list[Any]]:
    """Distinct axes of `x`, and a size (or None) for each."""
    wanted = f"a sequence of {count} integers" if count else "a sequence of integers"
    for name, given in ("s", s), ("axes", axes):
        if given is not None and (not isinstance(given, (list, tuple)) or (count is not None and len(given) != count)):
            raise InvalidArgumentError(
                f"{op_name}: '{name}' does not name one thing for each axis. Got {name}={short(given)}, expected {wanted}. Leave it out."
            )
    sizes = None if s is None else [_size(n, op_name, "s") for n in s]
    rank = x.ndim
    if axes is None:
        if sizes is not None and len(sizes) > rank:
            raise InvalidArgumentError(
                f"{op_name}: there are more sizes than axes. Got s={s} for x of shape {x.shape}, expected at most {rank}. Leave some out."
            )
        at = tuple(range(rank) if sizes is None else range(rank - len(sizes), rank))
    else:
        at = tuple(_axis_of(axis, rank, op_name) for axis in axes)
    if not at:
        raise OutOfRangeError(
            f"{op_name}: there is no axis to transform. Got axes={short(axes)} for x of shape {x.shape}, expected one or more. Name one."
        )
    if len(set(at)) != len(at):
        raise InvalidArgumentError(
            f"{op_name}: an axis is named twice. Got axes={axes}, expected distinct ones. Leave one out."
        )
    if sizes is not None and len(sizes) != len(at):
        raise InvalidArgumentError(
            f"{op_name}: sizes and axes do not go together. Got s={s} and axes={axes}, expected equally many. Leave one of them out."
        )
    return at, [None] * len(at) if sizes is None else sizes


def _axis_of(axis: Any, rank: int, op_name: str, error: type[Exception] = InvalidArgumentError, name: str = "axes") -> int:
    if rank == 0:
        raise OutOfRangeError(f"{op_name}: x is 0-d. Got shape [], expected one axis or more. Use x.reshape([1]).")
    return one_axis(axis, rank, op_name, error, name)


def _one_axis_of(x: Any, n: Any, axis: Any, op_name: str) -> tuple[tuple[int, ...], list[Any]]:
    require_tensor(x, op_name)
    at = _axis_of(-1 if axis is None else axis, x.ndim, op_name, name="axis")
    return (at,), [None if n is None else _size(n, op_name, "n")]


# ---- the three transforms -----------------------------------------------------------------------


def _c2c(x: Any, axes: tuple[int, ...], sizes: list[Any], norm: Any, forward: bool, op_name: str) -> Tensor:
    normalization = _normalization(norm, forward, op_name)
    x = _as_complex(_numbers(x, op_name, False))
    for axis, n in zip(axes, sizes, strict=True):
        x = resized(x, axis, n, op_name)
    _require_elements(x, axes, op_name)
    return ops.fft_c2c(x, axes=axes, normalization=normalization, forward=forward)


def _r2c(x: Any, axes: tuple[int, ...], sizes: list[Any], norm: Any, forward: bool, op_name: str) -> Tensor:
    normalization = _normalization(norm, forward, op_name)
    x = _numbers(x, op_name, True)
    for axis, n in zip(axes, sizes, strict=True):
        x = resized(x, axis, n, op_name)
    _require_elements(x, axes, op_name)
    return ops.fft_r2c(x, axes=axes, normalization=normalization, forward=forward)


def _c2r(x: Any, axes: tuple[int, ...], sizes: list[Any], norm: Any, forward: bool, op_name: str) -> Tensor:
    normalization = _normalization(norm, forward, op_name)
    x = _as_complex(_numbers(x, op_name, False))
    last = sizes[-1]
    if last is None:
        last = 2 * (x.shape[axes[-1]] - 1)
        if not is_unknown(last) and last < 1:
            raise InvalidArgumentError(
                f"{op_name}: the size of the result is unknown: one element does not determine it. "
                f"Got x of shape {x.shape} and no size for axis {axes[-1]}, "
                f"expected one. Pass 1 if that was all."
            )
    # Of a size that is not known yet the op itself sees, when the program runs, whether the axis fits.
    kept = None if sizes[-1] is None or is_unknown(last) else last // 2 + 1
    for axis, n in zip(axes, [*sizes[:-1], kept], strict=True):
        x = resized(x, axis, n, op_name)
    _require_elements(x, axes[:-1], op_name)
    return ops.fft_c2r(x, axes=axes, normalization=normalization, forward=forward, size=last)


def _require_elements(x: Tensor, axes: tuple[int, ...], op_name: str) -> None:
    if any(x.shape[axis] == 0 for axis in axes):
        raise InvalidArgumentError(
            f"{op_name}: an axis has no elements. Got x of shape {x.shape} along axes {axes}, expected sizes of 1 or more. Pass a size."
        )


# ---- public ------------------------------------------------------------------------------------


def fft(x: Tensor, n: int | None = None, axis: int = -1, norm: str = "backward", name: str | None = None) -> Tensor:
    """Discrete Fourier transform along an axis: `X[k] = sum_j x[j] exp(-2 pi i j k / n)`.

    Args:
        x: float32, float64, complex64, complex128, or integers, which count as float32.
        n: how many elements are transformed: x is cut, or filled up with zeros; None is the size of the axis.
        axis: in `[-rank, rank)`.
        norm: "backward" divides by nothing, "ortho" by the root of n, "forward" by n.

    Shape:
        `[..., n, ...]` to `[..., n, ...]`, complex.

    Raises:
        ValueError: a size is below 1, an axis out of range, or the norm unknown.
        TypeError: `x` is not a Tensor, or of another dtype (also a ValueError).

    Source:
        `paddle.fft.fft`.

    Examples:
        >>> print(wherry.fft.fft(wherry.to_tensor([1.0, 0.0, 0.0, 0.0])).real().tolist())
        [1.0, 1.0, 1.0, 1.0]
    """
    return _c2c(x, *_one_axis_of(x, n, axis, "fft"), norm, True, "fft")


def fft2(
    x: Tensor, s: Sizes = None, axes: Sequence[int] = (-2, -1), norm: str = "backward", name: str | None = None
) -> Tensor:
    """Two-dimensional discrete Fourier transform: `fft` along two axes.

    Args:
        x: float32, float64, complex64, complex128, or integers, which count as float32.
        s: a size for each axis, as `n` of `fft`; None is those of x.
        axes: two distinct ones, in `[-rank, rank)`.
        norm: as of `fft`, with the product of all sizes.

    Shape:
        Each axis as in `fft`.

    Raises:
        ValueError: sizes and axes do not go together, or the norm is unknown.
        TypeError: `x` is not a Tensor, or of another dtype (also a ValueError).

    Source:
        `paddle.fft.fft2`.

    Examples:
        >>> print(wherry.fft.fft2(wherry.ones([2, 2])).real().tolist())
        [[4.0, 0.0], [0.0, 0.0]]
    """
    at, sizes = _all_axes(require_tensor(x, "fft2"), s, axes, "fft2", 2)
    return _c2c(x, at, sizes, norm, True, "fft2")


def fftn(
    x: Tensor, s: Sizes = None, axes: Sequence[int] | None = None, norm: str = "backward", name: str | None = None
) -> Tensor:
    """N-dimensional discrete Fourier transform: `fft` along several axes.

    Args:
        x: float32, float64, complex64, complex128, or integers, which count as float32.
        s: a size for each axis, as `n` of `fft`; None is those of x.
        axes: distinct ones, in `[-rank, rank)`; None is all, or the last ones where `s` is given.
        norm: as of `fft`, with the product of all sizes.

    Shape:
        Each axis as in `fft`.

    Raises:
        ValueError: sizes and axes do not go together, or the norm is unknown.
        TypeError: `x` is not a Tensor, or of another dtype (also a ValueError).
        IndexError: no axis at all.

    Source:
        `paddle.fft.fftn`.

    Examples:
        >>> print(wherry.fft.fftn(wherry.ones([2, 2])).real().tolist())
        [[4.0, 0.0], [0.0, 0.0]]
    """
    at, sizes = _all_axes(require_tensor(x, "fftn"), s, axes, "fftn", None)
    return _c2c(x, at, sizes, norm, True, "fftn")


def ifft(x: Tensor, n: int | None = None, axis: int = -1, norm: str = "backward", name: str | None = None) -> Tensor:
    """Inverse discrete Fourier transform: the inverse of `fft` along an axis.

    Args:
        x: float32, float64, complex64, complex128, or integers, which count as float32.
        n: how many elements are transformed: x is cut, or filled up with zeros; None is the size of the axis.
        axis: in `[-rank, rank)`.
        norm: "backward" divides by n, "ortho" by its root, "forward" by nothing.

    Shape:
        `[..., n, ...]` to `[..., n, ...]`, complex.

    Raises:
        ValueError: a size is below 1, an axis out of range, or the norm unknown.
        TypeError: `x` is not a Tensor, or of another dtype (also a ValueError).

    Source:
        `paddle.fft.ifft`.

    Examples:
        >>> print(wherry.fft.ifft(wherry.to_tensor([4.0, 0.0, 0.0, 0.0])).real().tolist())
        [1.0, 1.0, 1.0, 1.0]
    """
    return _c2c(x, *_one_axis_of(x, n, axis, "ifft"), norm, False, "ifft")


def ifft2(
    x: Tensor, s: Sizes = None, axes: Sequence[int] = (-2, -1), norm: str = "backward", name: str | None = None
) -> Tensor:
    """`ifft` along two axes.

    Args:
        x: float32, float64, complex64, complex128, or integers, which count as float32.
        s: a size for each axis, as `n` of `ifft`; None is those of x.
        axes: two distinct ones, in `[-rank, rank)`.
        norm: as of `ifft`, with the product of all sizes.

    Shape:
        Each axis as in `ifft`.

    Raises:
        ValueError: sizes and axes do not go together, or the norm is unknown.
        TypeError: `x` is not a Tensor, or of another dtype (also a ValueError).

    Source:
        `paddle.fft.ifft2`.

    Examples:
        >>> print(wherry.fft.ifft2(wherry.ones([2, 2])).real().tolist())
        [[1.0, 0.0], [0.0, 0.0]]
    """
    at, sizes = _all_axes(require_tensor(x, "ifft2"), s, axes, "ifft2", 2)
    return _c2c(x, at, sizes, norm, False, "ifft2")


def ifftn(
    x: Tensor, s: Sizes = None, axes: Sequence[int] | None = None, norm: str = "backward", name: str | None = None
) -> Tensor:
    """`ifft` along several axes.

    Args:
        x: float32, float64, complex64, complex128, or integers, which count as float32.
        s: a size for each axis, as `n` of `ifft`; None is those of x.
        axes: distinct ones, in `[-rank, rank)`; None is all, or the last ones where `s` is given.
        norm: as of `ifft`, with the product of all sizes.

    Shape:
        Each axis as in `ifft`.

    Raises:
        ValueError: sizes and axes do not go together, or the norm is unknown.
        TypeError: `x` is not a Tensor, or of another dtype (also a ValueError).
        IndexError: no axis at all.

    Source:
        `paddle.fft.ifftn`.

    Examples:
        >>> print(wherry.fft.ifftn(wherry.ones([2, 2])).real().tolist())
        [[1.0, 0.0], [0.0, 0.0]]
    """
    at, sizes = _all_axes(require_tensor(x, "ifftn"), s, axes, "ifftn", None)
    return _c2c(x, at, sizes, norm, False, "ifftn")


def rfft(x: Tensor, n: int | None = None, axis: int = -1, norm: str = "backward", name: str | None = None) -> Tensor:
    """`fft` of real numbers: the first `n // 2 + 1` elements, which determine the others.

    Args:
        x: float32, float64, or integers, which count as float32.
        n: how many elements are transformed: x is cut, or filled up with zeros; None is the size of the axis.
        axis: in `[-rank, rank)`.
        norm: "backward" divides by nothing, "ortho" by the root of n, "forward" by n.

    Shape:
        `[..., n, ...]`, real, to `[..., n // 2 + 1, ...]`, complex.

    Raises:
        ValueError: a size is below 1, an axis out of range, or the norm unknown.
        TypeError: `x` is not a Tensor, or of another dtype (also a ValueError).

    Source:
        `paddle.fft.rfft`.

    Examples:
        >>> print(wherry.fft.rfft(wherry.to_tensor([1.0, 0.0, 0.0, 0.0])).real().tolist())
        [1.0, 1.0, 1.0]
    """
    return _r2c(x, *_one_axis_of(x, n, axis, "rfft"), norm, True, "rfft")


def rfft2(
    x: Tensor, s: Sizes = None, axes: Sequence[int] = (-2, -1), norm: str = "backward", name: str | None = None
) -> Tensor:
    """`rfft` along two axes. The last of them keeps one half.

    Args:
        x: float32, float64, or integers, which count as float32.
        s: a size for each axis, as `n` of `rfft`; None is those of x.
        axes: two distinct ones, in `[-rank, rank)`.
        norm: as of `rfft`, with the product of all sizes.

    Shape:
        The last axis as in `rfft`, the others as in `fft`.

    Raises:
        ValueError: sizes and axes do not go together, or the norm is unknown.
        TypeError: `x` is not a Tensor, or of another dtype (also a ValueError).

    Source:
        `paddle.fft.rfft2`.

    Examples:
        >>> print(wherry.fft.rfft2(wherry.ones([2, 2])).real().tolist())
        [[4.0, 0.0], [0.0, 0.0]]
    """
    at, sizes = _all_axes(require_tensor(x, "rfft2"), s, axes, "rfft2", 2)
    return _r2c(x, at, sizes, norm, True, "rfft2")


def rfftn(
    x: Tensor, s: Sizes = None, axes: Sequence[int] | None = None, norm: str = "backward", name: str | None = None
) -> Tensor:
    """`rfft` along several axes. The last of them keeps one half.

    Args:
        x: float32, float64, or integers, which count as float32.
        s: a size for each axis, as `n` of `rfft`; None is those of x.
        axes: distinct ones, in `[-rank, rank)`; None is all, or the last ones where `s` is given.
        norm: as of `rfft`, with the product of all sizes.

    Shape:
        The last axis as in `rfft`, the others as in `fft`.

    Raises:
        ValueError: sizes and axes do not go together, or the norm is unknown.
        TypeError: `x` is not a Tensor, or of another dtype (also a ValueError).
        IndexError: no axis at all.

    Source:
        `paddle.fft.rfftn`.

    Examples:
        >>> print(wherry.fft.rfftn(wherry.ones([2, 2])).real().tolist())
        [[4.0, 0.0], [0.0, 0.0]]
    """
    at, sizes = _all_axes(require_tensor(x, "rfftn"), s, axes, "rfftn", None)
    return _r2c(x, at, sizes, norm, True, "rfftn")


def irfft(x: Tensor, n: int | None = None, axis: int = -1, norm: str = "backward", name: str | None = None) -> Tensor:
    """The inverse of `rfft`: real numbers from the first half of a Hermitian spectrum.

    Args:
        x: complex64 or complex128 (or real numbers); the imaginary parts of the first element, and of the
            middle one of an even n, are not used.
        n: how many elements the result has; x is cut, or filled up with zeros, to `n // 2 + 1`. None is `2 * (m
            - 1)`.
        axis: in `[-rank, rank)`.
        norm: "backward" divides by n, "ortho" by its root, "forward" by nothing.

    Shape:
        `[..., m, ...]`, complex, to `[..., n, ...]`, real; n is `2 * (m - 1)` unless it is given.

    Raises:
        ValueError: a size is below 1, an axis out of range, or the norm unknown.
        TypeError: `x` is not a Tensor, or of another dtype (also a ValueError).

    Source:
        `paddle.fft.irfft`.

    Examples:
        >>> print(wherry.fft.irfft(wherry.to_tensor([4.0, 0.0, 0.0])).tolist())
        [1.0, 1.0, 1.0, 1.0]
    """
    return _c2r(x, *_one_axis_of(x, n, axis, "irfft"), norm, False, "irfft")


def irfft2(
    x: Tensor, s: Sizes = None, axes: Sequence[int] = (-2, -1), norm: str = "backward", name: str | None = None
) -> Tensor:
    """`irfft` along two axes. The last of them comes from one half.

    Args:
        x: complex64 or complex128 (or real numbers); the imaginary parts of the first element, and of the
            middle one of an even n, are not used.
        s: a size for each axis, as `n` of `irfft`; None is those of x.
        axes: two distinct ones, in `[-rank, rank)`.
        norm: as of `irfft`, with the product of all sizes.

    Shape:
        The last axis as in `irfft`, the others as in `fft`.

    Raises:
        ValueError: sizes and axes do not go together, or the norm is unknown.
        TypeError: `x` is not a Tensor, or of another dtype (also a ValueError).

    Source:
        `paddle.fft.irfft2`.

    Examples:
        >>> print(wherry.fft.irfft2(wherry.ones([2, 2])).tolist())
        [[1.0, 0.0], [0.0, 0.0]]
    """
    at, sizes = _all_axes(require_tensor(x, "irfft2"), s, axes, "irfft2", 2)
    return _c2r(x, at, sizes, norm, False, "irfft2")


def irfftn(
    x: Tensor, s: Sizes = None, axes: Sequence[int] | None = None, norm: str = "backward", name: str | None = None
) -> Tensor:
    """`irfft` along several axes. The last of them comes from one half.

    Args:
        x: complex64 or complex128 (or real numbers); the imaginary parts of the first element, and of the
            middle one of an even n, are not used.
        s: a size for each axis, as `n` of `irfft`; None is those of x.
        axes: distinct ones, in `[-rank, rank)`; None is all, or the last ones where `s` is given.
        norm: as of `irfft`, with the product of all sizes.

    Shape:
        The last axis as in `irfft`, the others as in `fft`.

    Raises:
        ValueError: sizes and axes do not go together, or the norm is unknown.
        TypeError: `x` is not a Tensor, or of another dtype (also a ValueError).
        IndexError: no axis at all.

    Source:
        `paddle.fft.irfftn`.

    Examples:
        >>> print(wherry.fft.irfftn(wherry.ones([2, 2])).tolist())
        [[1.0, 0.0], [0.0, 0.0]]
    """
    at, sizes = _all_axes(require_tensor(x, "irfftn"), s, axes, "irfftn", None)
    return _c2r(x, at, sizes, norm, False, "irfftn")


def hfft(x: Tensor, n: int | None = None, axis: int = -1, norm: str = "backward", name: str | None = None) -> Tensor:
    """`fft` of a Hermitian signal, given by its first half: a real spectrum.

    Args:
        x: complex64 or complex128 (or real numbers); the imaginary parts of the first element, and of the
            middle one of an even n, are not used.
        n: how many elements the result has; x is cut, or filled up with zeros, to `n // 2 + 1`. None is `2 * (m
            - 1)`.
        axis: in `[-rank, rank)`.
        norm: "backward" divides by nothing, "ortho" by the root of n, "forward" by n.

    Shape:
        `[..., m, ...]`, complex, to `[..., n, ...]`, real; n is `2 * (m - 1)` unless it is given.

    Raises:
        ValueError: a size is below 1, an axis out of range, or the norm unknown.
        TypeError: `x` is not a Tensor, or of another dtype (also a ValueError).

    Source:
        `paddle.fft.hfft`.

    Examples:
        >>> print(wherry.fft.hfft(wherry.to_tensor([1.0, 0.0, 0.0])).tolist())
        [1.0, 1.0, 1.0, 1.0]
    """
    return _c2r(x, *_one_axis_of(x, n, axis, "hfft"), norm, True, "hfft")


def hfft2(
    x: Tensor, s: Sizes = None, axes: Sequence[int] = (-2, -1), norm: str = "backward", name: str | None = None
) -> Tensor:
    """`hfft` along two axes. The last of them comes from one half.

    Args:
        x: complex64 or complex128 (or real numbers); the imaginary parts of the first element, and of the
            middle one of an even n, are not used.
        s: a size for each axis, as `n` of `hfft`; None is those of x.
        axes: two distinct ones, in `[-rank, rank)`.
        norm: as of `hfft`, with the product of all sizes.

    Shape:
        The last axis as in `hfft`, the others as in `fft`.

    Raises:
        ValueError: sizes and axes do not go together, or the norm is unknown.
        TypeError: `x` is not a Tensor, or of another dtype (also a ValueError).

    Source:
        `paddle.fft.hfft2`.

    Examples:
        >>> print(wherry.fft.hfft2(wherry.ones([2, 2])).tolist())
        [[4.0, 0.0], [0.0, 0.0]]
    """
    at, sizes = _all_axes(require_tensor(x, "hfft2"), s, axes, "hfft2", 2)
    return _c2r(x, at, sizes, norm, True, "hfft2")


def hfftn(
    x: Tensor, s: Sizes = None, axes: Sequence[int] | None = None, norm: str = "backward", name: str | None = None
) -> Tensor:
    """`hfft` along several axes. The last of them comes from one half.

    Args:
        x: complex64 or complex128 (or real numbers); the imaginary parts of the first element, and of the
            middle one of an even n, are not used.
        s: a size for each axis, as `n` of `hfft`; None is those of x.
        axes: distinct ones, in `[-rank, rank)`; None is all, or the last ones where `s` is given.
        norm: as of `hfft`, with the product of all sizes.

    Shape:
        The last axis as in `hfft`, the others as in `fft`.

    Raises:
        ValueError: sizes and axes do not go together, or the norm is unknown.
        TypeError: `x` is not a Tensor, or of another dtype (also a ValueError).
        IndexError: no axis at all.

    Source:
        `paddle.fft.hfftn`.

    Examples:
        >>> print(wherry.fft.hfftn(wherry.ones([2, 2])).tolist())
        [[4.0, 0.0], [0.0, 0.0]]
    """
    at, sizes = _all_axes(require_tensor(x, "hfftn"), s, axes, "hfftn", None)
    return _c2r(x, at, sizes, norm, True, "hfftn")


def ihfft(x: Tensor, n: int | None = None, axis: int = -1, norm: str = "backward", name: str | None = None) -> Tensor:
    """The inverse of `hfft`: the first half of a Hermitian signal, from a real spectrum.

    Args:
        x: float32, float64, or integers, which count as float32.
        n: how many elements are transformed: x is cut, or filled up with zeros; None is the size of the axis.
        axis: in `[-rank, rank)`.
        norm: "backward" divides by n, "ortho" by its root, "forward" by nothing.

    Shape:
        `[..., n, ...]`, real, to `[..., n // 2 + 1, ...]`, complex.

    Raises:
        ValueError: a size is below 1, an axis out of range, or the norm unknown.
        TypeError: `x` is not a Tensor, or of another dtype (also a ValueError).

    Source:
        `paddle.fft.ihfft`.

    Examples:
        >>> print(wherry.fft.ihfft(wherry.to_tensor([4.0, 0.0, 0.0, 0.0])).real().tolist())
        [1.0, 1.0, 1.0]
    """
    return _r2c(x, *_one_axis_of(x, n, axis, "ihfft"), norm, False, "ihfft")


def ihfft2(
    x: Tensor, s: Sizes = None, axes: Sequence[int] = (-2, -1), norm: str = "backward", name: str | None = None
) -> Tensor:
    """`ihfft` along two axes. The last of them keeps one half.

    Args:
        x: float32, float64, or integers, which count as float32.
        s: a size for each axis, as `n` of `ihfft`; None is those of x.
        axes: two distinct ones, in `[-rank, rank)`.
        norm: as of `ihfft`, with the product of all sizes.

    Shape:
        The last axis as in `ihfft`, the others as in `fft`.

    Raises:
        ValueError: sizes and axes do not go together, or the norm is unknown.
        TypeError: `x` is not a Tensor, or of another dtype (also a ValueError).

    Source:
        `paddle.fft.ihfft2`.

    Examples:
        >>> print(wherry.fft.ihfft2(wherry.ones([2, 2])).real().tolist())
        [[1.0, 0.0], [0.0, 0.0]]
    """
    at, sizes = _all_axes(require_tensor(x, "ihfft2"), s, axes, "ihfft2", 2)
    return _r2c(x, at, sizes, norm, False, "ihfft2")


def ihfftn(
    x: Tensor, s: Sizes = None, axes: Sequence[int] | None = None, norm: str = "backward", name: str | None = None
) -> Tensor:
    """`ihfft` along several axes. The last of them keeps one half.

    Args:
        x: float32, float64, or integers, which count as float32.
        s: a size for each axis, as `n` of `ihfft`; None is those of x.
        axes: distinct ones, in `[-rank, rank)`; None is all, or the last ones where `s` is given.
        norm: as of `ihfft`, with the product of all sizes.

    Shape:
        The last axis as in `ihfft`, the others as in `fft`.

    Raises:
        ValueError: sizes and axes do not go together, or the norm is unknown.
        TypeError: `x` is not a Tensor, or of another dtype (also a ValueError).
        IndexError: no axis at all.

    Source:
        `paddle.fft.ihfftn`.

    Examples:
        >>> print(wherry.fft.ihfftn(wherry.ones([2, 2])).real().tolist())
        [[1.0, 0.0], [0.0, 0.0]]
    """
    at, sizes = _all_axes(require_tensor(x, "ihfftn"), s, axes, "ihfftn", None)
    return _r2c(x, at, sizes, norm, False, "ihfftn")


# ---- frequencies --------------------------------------------------------------------------------


def _frequencies(n: Any, d: Any, dtype: Any, op_name: str) -> tuple[int, float, DType]:
    count, spacing = integer(n, op_name, "n"), real_number(d, op_name, "d")
    if count < 1 or spacing == 0:
        raise InvalidArgumentError(
            f"{op_name}: n or d is out of range. Got n={n} and d={d}, expected n of 1 or more and d other than 0. "
            f"n is the size of the transformed axis, d the time between two of its elements."
        )
    wanted = as_dtype(get_default_dtype() if dtype is None else dtype, op_name)
    return count, 1 / (count * spacing), wanted if wanted.is_floating else float32


def fftfreq(n: int, d: float = 1.0, dtype: Any = None, name: str | None = None) -> Tensor:
    """The frequencies of the elements of `fft`: 0, 1, ..., then the negative ones, over `n * d`.

    Args:
        n: the size of the transform.
        d: the time between two elements of the signal, so that results count cycles per unit of time.
        dtype: of the result; None is the default dtype, and what is not floating float32.

    Shape:
        `[n]`.

    Raises:
        ValueError: n below 1, or d of 0.

    Source:
        `paddle.fft.fftfreq`.

    Examples:
        >>> print(wherry.fft.fftfreq(4).tolist())
        [0.0, 0.25, -0.5, -0.25]
    """
    count, step, wanted = _frequencies(n, d, dtype, "fftfreq")
    ahead = (count - 1) // 2 + 1
    first = ops.arange(start=0, step=1, length=ahead, dtype=float64)
    second = ops.arange(start=ahead - count, step=1, length=count - ahead, dtype=float64)
    return ops.cast(ops.concat(first, second, axis=0) * step, dtype=wanted)


def rfftfreq(n: int, d: float = 1.0, dtype: Any = None, name: str | None = None) -> Tensor:
    """The frequencies of the elements of `rfft`: 0, 1, ..., `n // 2`, over `n * d`.

    Args:
        n: the size of the transform.
        d: the time between two elements of the signal, so that results count cycles per unit of time.
        dtype: of the result; None is the default dtype, and what is not floating float32.

    Shape:
        `[n // 2 + 1]`.

    Raises:
        ValueError: n below 1, or d of 0.

    Source:
        `paddle.fft.rfftfreq`.

    Examples:
        >>> print(wherry.fft.rfftfreq(4).tolist())
        [0.0, 0.25, 0.5]
    """
    count, step, wanted = _frequencies(n, d, dtype, "rfftfreq")
    return ops.cast(ops.arange(start=0, step=1, length=count // 2 + 1, dtype=float64) * step, dtype=wanted)


def _shifted(x: Any, axes: Any, op_name: str, back: bool) -> Tensor:
    rank = require_tensor(x, op_name).ndim
    given = range(rank) if axes is None else axes if isinstance(axes, (list, tuple)) else [axes]
    at = tuple(_axis_of(axis, rank, op_name, OutOfRangeError) for axis in given)
    known_axes = tuple(axis for axis in at if not is_unknown(x.shape[axis]))
    for axis in at:
        if is_unknown(n := x.shape[axis]):
            cut = n // 2 if back else n - n // 2
            parts = [ops.slice(x, axes=(axis,), starts=(low,), ends=(high,), steps=(1,)) for low, high in ((cut, n), (0, cut))]
            x = ops.concat(*parts, axis=axis)
    halves = tuple(-(x.shape[axis] // 2) if back else x.shape[axis] // 2 for axis in known_axes)
    return ops.roll(x, shifts=halves, axes=known_axes) if known_axes else x if at else ops.copy(x)


def fftshift(x: Tensor, axes: int | Sequence[int] | None = None, name: str | None = None) -> Tensor:
    """The elements of a spectrum in the order of their frequencies: the zero in the middle.

    Args:
        x: any dtype.
        axes: one axis or several; None is all.

    Shape:
        `[...]` to `[...]`.

    Raises:
        IndexError: an axis is out of range.

    Source:
        `paddle.fft.fftshift`.

    Examples:
        >>> print(wherry.fft.fftshift(wherry.fft.fftfreq(4)).tolist())
        [-0.5, -0.25, 0.0, 0.25]
    """
    return _shifted(x, axes, "fftshift", False)


def ifftshift(x: Tensor, axes: int | Sequence[int] | None = None, name: str | None = None) -> Tensor:
    """The inverse of `fftshift`.

    Args:
        x: any dtype.
        axes: one axis or several; None is all.

    Shape:
        `[...]` to `[...]`.

    Raises:
        IndexError: an axis is out of range.

    Source:
        `paddle.fft.ifftshift`.

    Examples:
        >>> print(wherry.fft.ifftshift(wherry.to_tensor([-1, 0, 1])).tolist())
        [0, 1, -1]
    """
    return _shifted(x, axes, "ifftshift", True)


spelled(globals())
