"""Windows: weights that a piece of a signal is multiplied by, mostly before a Fourier transform.

Formulas are those of Harris, "On the use of windows for harmonic analysis with the discrete Fourier transform" (1978), and for the Taylor
window of Carrara and Goodman, "Spotlight Synthetic Aperture Radar" (1995). Each makes a symmetric window; one that is periodic is a symmetric
one with a sample more, which is left out.
"""
from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from wherry_tensor import Tensor, arange, cos, float64, full, i0, ones, sin, to_tensor, where
from wherry_tensor.arguments import flag, integer
from wherry_tensor.dtype import as_dtype
from wherry_tensor.errors import InvalidArgumentError, InvalidTypeError, short
from wherry_tensor.explained import explained

__all__ = ["get_window"]

_LARGEST = 1 << 30  # samples


def get_window(window: str | tuple[Any, ...], win_length: int, fftbins: bool = True, dtype: str = "float64") -> Tensor:
    """A window of a kind and length.

    Args:
        window: its name, or a tuple of the name and its parameters:

            - without parameters: "hamming", "hann", "blackman", "nuttall", "triang", "bohman", "cosine";
            - with parameters that may be left out: ("tukey", alpha=0.5), ("exponential", center=None, tau=1),
              ("taylor", nbar=4, sll=30, norm=True), ("kaiser", beta=12);
            - with parameters: ("gaussian", std), ("general_gaussian", p, sig), ("general_hamming", alpha),
              ("general_cosine", [coefficients]). `std`, `sig`, `tau` and `center` count in samples, `sll` in decibels.
        win_length: how many samples, 0 or more.
        fftbins: a periodic window, as Fourier transforms want it; False makes a symmetric one.
        dtype: float32 or float64.

    Shape:
        `[win_length]`.

    Raises:
        ValueError: the name is not one of these, parameters are missing or too many, or the length is below 0.
        TypeError: `win_length` is not an int, or `dtype` not floating (also a ValueError).

    Source:
        `paddle.audio.functional.get_window`.

    Examples:
        >>> print(wherry.audio.functional.get_window("hann", 4).numpy())
        [0.  0.5 1.  0.5]
        >>> print(wherry.audio.functional.get_window(("gaussian", 1.0), 3, fftbins=False).numpy())
        [0.60653066 1.         0.60653066]
    """
    name, parameters = (window[0], window[1:]) if isinstance(window, tuple) and window else (window, ())
    if not isinstance(name, str) or name not in _WINDOWS:
        raise InvalidArgumentError(
            f"get_window: Unknown window type. Got {short(window)}, expected one of {', '.join(sorted(_WINDOWS))}, or a tuple of one and its "
            f"parameters."
        )
    make, least, most = _WINDOWS[name]
    if not least <= len(parameters) <= most:
        count = f"{least}" if least == most else f"{least} to {most}"
        raise InvalidArgumentError(
            f"get_window: the '{name}' window needs other parameters. Got {short(parameters)}, expected {count}. Pass a tuple, such as "
            f"('gaussian', 7.0)."
        )
    length, wanted = integer(win_length, "get_window", "win_length"), as_dtype(dtype, "get_window")
    if not wanted.is_floating:
        raise InvalidTypeError(f"get_window: a window has fractions. Got dtype={wanted}, expected a floating one.")
    if not 0 <= length <= _LARGEST:
        raise InvalidArgumentError(f"get_window: the length is not a number of samples. Got win_length={length}, expected 0 to {_LARGEST}.")
    if length < 2:
        return ones([length], wanted)
    periodic = flag(fftbins, "get_window", "fftbins")
    if name == "exponential" and parameters and parameters[0] is not None and not periodic:
        raise InvalidArgumentError(f"get_window: a symmetric window is centred. Got center={short(parameters[0])}, expected None. Pass fftbins=True.")
    found = make(length + periodic, *(p if p is None else _parameter(p) for p in parameters))
    return (found[:length] if periodic else found).astype(wanted)


def _parameter(value: Any) -> Any:
    if isinstance(value, (bool, int, float)):
        return value
    if isinstance(value, (list, tuple)) and value and all(isinstance(v, (int, float)) for v in value):
        return list(value)
    raise InvalidArgumentError(f"get_window: a parameter is not a number. Got {short(value)}, expected one, or a list of them for 'general_cosine'.")


def _positive(name: str, value: float) -> float:
    if not value > 0:
        raise InvalidArgumentError(f"get_window: {name} must be positive. Got {name}={short(value)}, expected a number above 0.")
    return value


def _from_centre(length: int) -> Tensor:
    """Positions from the centre of a window: -1.5, -0.5, 0.5, 1.5 for four samples."""
    return arange(0, length, dtype=float64) - (length - 1) / 2


def _cosines(length: int, coefficients: Sequence[float]) -> Tensor:
    """A sum of cosines with k periods in the window, k = 0, 1, 2, ..., counted from its centre."""
    angle = _from_centre(length) * (2 * math.pi / (length - 1))
    total = full([length], float(coefficients[0]), float64)
    for k, coefficient in enumerate(coefficients[1:], start=1):
        total = total + coefficient * cos(angle * k)
    return total


def _general_hamming(length: int, alpha: float) -> Tensor:
    return _cosines(length, (alpha, 1 - alpha))


def _hamming(length: int) -> Tensor:
    return _general_hamming(length, 0.54)


def _hann(length: int) -> Tensor:
    return _general_hamming(length, 0.5)


def _blackman(length: int) -> Tensor:
    return _cosines(length, (0.42, 0.50, 0.08))


def _nuttall(length: int) -> Tensor:
    return _cosines(length, (0.3635819, 0.4891775, 0.1365995, 0.0106411))


def _general_cosine(length: int, coefficients: list[float] | float) -> Tensor:
    return _cosines(length, coefficients if isinstance(coefficients, list) else [coefficients])


def _triang(length: int) -> Tensor:
    return 1 - _from_centre(length).abs() * (2 / (length + 1 if length % 2 else length))


def _cosine(length: int) -> Tensor:
    return cos(_from_centre(length) * (math.pi / length))


def _bohman(length: int) -> Tensor:
    away = _from_centre(length).abs() * (2 / (length - 1))
    inside = (1 - away) * cos(math.pi * away) + sin(math.pi * away) / math.pi
    return where(away < 1, inside, inside * 0)  # at the edges, where rounding leaves 1e-17


def _gaussian(length: int, std: float) -> Tensor:
    return _general_gaussian(length, 1.0, std)


def _general_gaussian(length: int, p: float, sig: float) -> Tensor:
    return ((_from_centre(length) / _positive("sig", sig)).abs() ** (2 * p) * -0.5).exp()


def _exponential(length: int, center: float | None = None, tau: float = 1.0) -> Tensor:
    shift = 0.0 if center is None else (length - 1) / 2 - center
    return ((_from_centre(length) + shift).abs() / -_positive("tau", tau)).exp()


def _tukey(length: int, alpha: float = 0.5) -> Tensor:
    """A cosine on `alpha` of the samples, half of it at each edge, and 1 between."""
    if alpha <= 0:
        return ones([length], float64)
    if alpha >= 1:
        return _hann(length)
    from_edge = (length - 1) / 2 - _from_centre(length).abs()
    edge = alpha * (length - 1) / 2
    return where(from_edge < edge, 0.5 - 0.5 * cos(from_edge * (math.pi / edge)), ones([length], float64))


def _taylor(length: int, nbar: int = 4, sll: float = 30.0, norm: bool = True) -> Tensor:
    """Side lobes next to the main one are constant, at `sll` decibels below it; `nbar` - 1 of them."""
    ratio = math.acosh(10 ** (sll / 20)) / math.pi
    squared, orders = ratio**2, range(1, integer(nbar, "get_window", "nbar"))
    spread = nbar**2 / (squared + (nbar - 0.5) ** 2)
    weights = []
    for m in orders:
        over = math.prod(1 - m**2 / spread / (squared + (k - 0.5) ** 2) for k in orders)
        under = math.prod(1 - m**2 / k**2 for k in orders if k != m)
        weights.append((-1) ** (m + 1) * over / (2 * under))
    position = _from_centre(length)
    found = _lobes(position, weights, length)
    return found / _lobes(to_tensor([0.0], dtype=float64), weights, length) if norm else found


def _lobes(position: Tensor, weights: Sequence[float], length: int) -> Tensor:
    total = position * 0 + 1
    for m, weight in enumerate(weights, start=1):
        total = total + 2 * weight * cos(position * (2 * math.pi * m / length))
    return total


def _kaiser(length: int, beta: float = 12.0) -> Tensor:
    away = _from_centre(length) * (2 / (length - 1))
    inside = (1 - away * away).clip(min=0)  # rounding may leave less than nothing at the edges
    return i0(beta * inside.sqrt()) / i0(to_tensor([float(beta)], dtype=float64))


# By name: the function, and how many parameters it takes at least and at most.
_WINDOWS: dict[str, tuple[Callable[..., Tensor], int, int]] = {
    "hamming": (_hamming, 0, 0), "hann": (_hann, 0, 0), "blackman": (_blackman, 0, 0), "nuttall": (_nuttall, 0, 0), "triang": (_triang, 0, 0),
    "bohman": (_bohman, 0, 0), "cosine": (_cosine, 0, 0), "tukey": (_tukey, 0, 1), "exponential": (_exponential, 0, 2), "taylor": (_taylor, 0, 3),
    "kaiser": (_kaiser, 0, 1), "gaussian": (_gaussian, 1, 1), "general_gaussian": (_general_gaussian, 2, 2),
    "general_hamming": (_general_hamming, 1, 1), "general_cosine": (_general_cosine, 1, 1),
}  # fmt: skip


explained(globals())
