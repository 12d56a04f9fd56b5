"""Windows against formulas in NumPy."""
import numpy as np
import pytest

import wherry_tensor as wt
from wherry_audio.functional import get_window

WINDOWS = [
    "hamming", "hann", "blackman", "nuttall", "triang", "bohman", "cosine", "tukey", ("tukey", 0.3), "exponential", ("exponential", None, 2.0),
    "taylor", ("taylor", 3, 25), ("taylor", 4, 30, False), "kaiser", ("kaiser", 5.0), ("gaussian", 2.0), ("general_gaussian", 1.5, 2.0),
    ("general_hamming", 0.6), ("general_cosine", [0.5, 0.3, 0.2]),
]  # fmt: skip


def formula(window, count):
    """A symmetric window, from position -1 to 1."""
    name, *given = window if isinstance(window, tuple) else (window,)
    n = np.arange(count) - (count - 1) / 2
    x = 2 * n / (count - 1)
    cosines = {
        "hamming": (0.54, 0.46), "hann": (0.5, 0.5), "blackman": (0.42, 0.5, 0.08), "nuttall": (0.3635819, 0.4891775, 0.1365995, 0.0106411),
        "general_hamming": (given[0], 1 - given[0]) if name == "general_hamming" else (), "general_cosine": given[0] if given else (),
    }  # fmt: skip
    if name in cosines:
        return sum(c * np.cos(np.pi * k * x) for k, c in enumerate(cosines[name]))
    if name == "triang":
        return 1 - np.abs(n) / ((count + count % 2) / 2)
    if name == "bohman":
        return np.where(np.abs(x) < 1, (1 - np.abs(x)) * np.cos(np.pi * x) + np.sin(np.pi * np.abs(x)) / np.pi, 0)
    if name == "cosine":
        return np.cos(np.pi * n / count)
    if name == "tukey":
        alpha = given[0] if given else 0.5
        return np.where(np.abs(x) <= 1 - alpha, 1, 0.5 + 0.5 * np.cos(np.pi * (np.abs(x) - 1 + alpha) / alpha))
    if name == "exponential":
        return np.exp(-np.abs(n) / (given[1] if len(given) > 1 else 1.0))
    if name == "gaussian":
        return np.exp(-0.5 * (n / given[0]) ** 2)
    if name == "general_gaussian":
        return np.exp(-0.5 * np.abs(n / given[1]) ** (2 * given[0]))
    if name == "kaiser":
        beta = given[0] if given else 12.0
        return np.i0(beta * np.sqrt(np.clip(1 - x**2, 0, None))) / np.i0(beta)
    bars, decibels, norm = [*given, *(4, 30, True)[len(given) :]]
    assert name == "taylor"
    square = (np.arccosh(10 ** (decibels / 20)) / np.pi) ** 2
    sigma = bars**2 / (square + (bars - 0.5) ** 2)
    k = np.arange(1, bars)

    def at(positions):
        total = 1.0
        for m in k:
            weight = np.prod(1 - m**2 / sigma / (square + (k - 0.5) ** 2)) / np.prod(1 - m**2 / k[k != m] ** 2) * (-1) ** (m + 1) / 2
            total = total + 2 * weight * np.cos(2 * np.pi * m * positions / count)
        return total

    return at(n) / (at(0.0) if norm else 1)


@pytest.mark.parametrize("count", [2, 3, 8, 9, 64])
@pytest.mark.parametrize("window", WINDOWS, ids=str)
def test_symmetric_and_periodic_windows_are_those_of_the_formula(window, count):
    symmetric = get_window(window, count, fftbins=False)
    assert symmetric.dtype == wt.float64 and symmetric.shape == [count]
    np.testing.assert_allclose(symmetric.numpy(), formula(window, count), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(get_window(window, count).numpy(), formula(window, count + 1)[:-1], rtol=1e-12, atol=1e-12)


def test_the_centre_of_an_exponential_window_can_be_chosen():
    np.testing.assert_allclose(get_window(("exponential", 3, 2.0), 7).numpy(), np.exp(-np.abs(np.arange(7) - 3) / 2))
    with pytest.raises(ValueError, match=r"symmetric window is centred"):
        get_window(("exponential", 3, 2.0), 7, fftbins=False)


def test_windows_of_no_and_of_one_sample():
    assert get_window("hann", 0).tolist() == [] and get_window("hann", 1, dtype="float32").tolist() == [1.0]


@pytest.mark.parametrize(("window", "length", "error", "match"), [
    ("boxcar", 4, ValueError, "Unknown window type"), (5, 4, ValueError, "Unknown window type"), ((), 4, ValueError, "Unknown window type"),
    ("gaussian", 4, ValueError, "expected 1"), (("hann", 3), 4, ValueError, "expected 0"), (("gaussian", "a"), 4, ValueError, "not a number"),
    (("gaussian", 0.0), 4, ValueError, "must be positive"), ("hann", -1, ValueError, "number of samples"), ("hann", 2.5, TypeError, "one integer"),
])  # fmt: skip
def test_other_windows_are_refused(window, length, error, match):
    with pytest.raises(error, match=match):
        get_window(window, length)


def test_a_window_of_integers_is_refused():
    with pytest.raises(TypeError, match="fractions"):
        get_window("hann", 4, dtype="int32")
