import numpy as np
import pytest

import wherry_tensor as paddle
from wherry_tensor.functions import fft as F

rng = np.random.default_rng(0)


def t(values, dtype=None):
    return paddle.to_tensor(np.asarray(values) if dtype is None else np.asarray(values).astype(dtype))


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
@pytest.mark.parametrize("name", ["fft", "ifft", "rfft", "irfft", "hfft", "ihfft"])
def test_a_transform_keeps_the_precision_and_is_numpys(name, dtype):
    if name in ("rfft", "ihfft") and "complex" in dtype:
        pytest.skip("takes real numbers")
    x = rng.standard_normal((3, 10)) + 1j * rng.standard_normal((3, 10))
    x = (x if "complex" in dtype else x.real).astype(dtype)
    got = getattr(F, name)(t(x), norm="ortho")
    expected = getattr(np.fft, name)(x, norm="ortho")
    single = dtype in ("float32", "complex64")
    kind = "float" if name in ("irfft", "hfft") else "complex"
    assert got.dtype.name == kind + str((32 if single else 64) * (2 if kind == "complex" else 1))
    np.testing.assert_allclose(got.numpy(), expected, atol=1e-5 if single else 1e-12)


def test_sizes_cut_and_fill_up():
    x = rng.standard_normal((4, 6))
    for n in 3, 6, 11:
        np.testing.assert_allclose(F.fft(t(x), n=n, axis=0).numpy(), np.fft.fft(x, n=n, axis=0), atol=1e-12)
        np.testing.assert_allclose(F.irfft(t(x), n=n).numpy(), np.fft.irfft(x, n=n), atol=1e-12)
    np.testing.assert_allclose(F.rfftn(t(x), s=(5, 8)).numpy(), np.fft.rfftn(x, s=(5, 8), axes=(0, 1)), atol=1e-12)
    np.testing.assert_allclose(F.irfft2(t(x), s=(3, 4), norm="forward").numpy(), np.fft.irfft2(x, s=(3, 4), norm="forward"), atol=1e-12)


def test_integers_count_as_floats():
    got = F.fft(t([1, 2, 3]))
    assert got.dtype.name == "complex64"
    np.testing.assert_allclose(got.numpy(), np.fft.fft([1, 2, 3]), atol=1e-6)


def test_a_long_row_of_a_prime_length_goes_through_a_convolution():
    x = rng.standard_normal(100_003) + 1j * rng.standard_normal(100_003)
    np.testing.assert_allclose(F.fft(t(x)).numpy(), np.fft.fft(x), atol=1e-8)


def test_there_and_back_is_the_same_for_many_axes():
    x = rng.standard_normal((3, 5, 7, 4))
    np.testing.assert_allclose(F.irfftn(F.rfftn(t(x)), s=(3, 5, 7, 4)).numpy(), x, atol=1e-12)
    np.testing.assert_allclose(F.ifftn(F.fftn(t(x), axes=(0, 2)), axes=(0, 2)).numpy().real, x, atol=1e-12)
    np.testing.assert_allclose(F.hfft2(F.ihfft2(t(x[0, 0])), s=(7, 4)).numpy(), x[0, 0], atol=1e-12)


def test_frequencies_and_shifts_are_numpys():
    for n in 1, 4, 5:
        np.testing.assert_allclose(F.fftfreq(n, 0.5, dtype="float64").numpy(), np.fft.fftfreq(n, 0.5))
        np.testing.assert_allclose(F.rfftfreq(n, 0.5, dtype="float64").numpy(), np.fft.rfftfreq(n, 0.5))
    x = rng.standard_normal((4, 5))
    for axes in None, 0, [1], (0, 1):
        np.testing.assert_array_equal(F.fftshift(t(x), axes).numpy(), np.fft.fftshift(x, axes))
        np.testing.assert_array_equal(F.ifftshift(t(x), axes).numpy(), np.fft.ifftshift(x, axes))


@pytest.mark.parametrize(
    ("call", "error", "said"),
    [
        (lambda x: F.fft(x, n=0), ValueError, "fft: the size of a transform must be positive. Got n=0"),
        (lambda x: F.fft(x, n=2.5), ValueError, "fft: argument 'n' must be one integer"),
        (lambda x: F.fft(x, axis=2), ValueError, "fft: axis 2 is out of range"),
        (lambda x: F.fft(x, norm=None), ValueError, "fft: unknown norm. Got norm=None"),
        (lambda x: F.fft(x.numpy()), TypeError, "fft: argument 'x' must be a Tensor"),
        (lambda x: F.fft(x.astype("float16")), TypeError, "fft: `x` has dtype float16"),
        (lambda x: F.rfft(F.fft(x)), TypeError, "rfft: `x` has dtype complex128.*Take the real part"),
        (lambda x: F.irfft(x[:, :1]), ValueError, "irfft: the size of the result is unknown"),
        (lambda x: F.fft2(x, s=(2,)), ValueError, "fft2: 's' does not name one thing for each axis"),
        (lambda x: F.fftn(x, s=(2,), axes=(0, 1)), ValueError, "fftn: sizes and axes do not go together"),
        (lambda x: F.fftn(x, s=(2, 2, 2)), ValueError, "fftn: there are more sizes than axes"),
        (lambda x: F.fftn(x, axes=(0, 0)), ValueError, "fftn: an axis is named twice"),
        (lambda x: F.fftn(x, axes=()), IndexError, "fftn: there is no axis to transform"),
        (lambda x: F.fft(x[:, :0]), ValueError, "fft: an axis has no elements"),
        (lambda x: F.fftshift(x, 5), IndexError, "fftshift: axes 5 is out of range"),
        (lambda _: F.fftfreq(0), ValueError, "fftfreq: n or d is out of range"),
    ],
)
def test_wrong_calls_are_explained(call, error, said):
    with pytest.raises(error, match=said):
        call(t(rng.standard_normal((3, 4))))
