"""Special functions, parts of numbers, integrals of samples and choices of elements."""
import itertools

import numpy as np
import pytest

import wherry_tensor as w
from wherry_tensor import errors

nan, inf = np.nan, np.inf


def circle(order, x, scaled):
    """A modified Bessel function by its integral over a circle."""
    angles = np.arange(512) * (2 * np.pi / 512)
    return np.mean(np.exp(np.multiply.outer(x, np.cos(angles)) - abs(x)[:, None] * scaled) * np.cos(order * angles), -1)


@pytest.mark.parametrize(("name", "order", "scaled"), [("i0", 0, False), ("i1", 1, False), ("i0e", 0, True), ("i1e", 1, True)])
def test_bessel_functions_keep_all_digits_on_both_sides_of_where_the_series_change(name, order, scaled):
    x = np.concatenate([np.linspace(0.5, 60, 97), np.linspace(23.9, 24.1, 11), -np.linspace(0.5, 60, 7)])
    np.testing.assert_allclose(getattr(w, name)(w.to_tensor(x)).numpy(), circle(order, x, scaled), rtol=2e-14)
    np.testing.assert_allclose(
        getattr(w, name)(w.to_tensor(x.astype("float32"))).numpy(), circle(order, x.astype("float32").astype("float64"), scaled), rtol=2e-7
    )


def test_bessel_functions_at_the_ends():
    x = w.to_tensor([0.0, inf, -inf, nan, 713.0], dtype="float64")
    np.testing.assert_array_equal(w.i0(x).numpy()[:4], [1, inf, inf, nan])
    np.testing.assert_array_equal(w.i1(x).numpy()[:4], [0, inf, -inf, nan])
    np.testing.assert_array_equal(w.i0e(x).numpy()[:4], [1, 0, 0, nan])
    np.testing.assert_array_equal(w.i1e(x).numpy()[:4], [0, 0, 0, nan])
    assert np.isfinite(w.i0(x).numpy()[4])  # exp(713) alone is too large


@pytest.mark.parametrize("name", ["i0", "i0e", "i1", "i1e"])
@pytest.mark.parametrize("dtype", ["int64", "float16", "bool"])
def test_bessel_functions_refuse_other_dtypes_as_paddle_does(name, dtype):
    with pytest.raises(errors.InvalidTypeError, match=rf"{name}.*{dtype}"):
        getattr(w, name)(w.ones([2], dtype))


def test_polygamma_counts_derivatives_of_digamma():
    x = w.to_tensor([0.5, 3.25], dtype="float64")
    np.testing.assert_array_equal(w.polygamma(x, 0).numpy(), w.digamma(x).numpy())
    np.testing.assert_allclose(w.polygamma(w.to_tensor([1.0]), 1).numpy(), [np.pi**2 / 6], rtol=1e-6)
    np.testing.assert_array_equal(w.polygamma(w.to_tensor([0.0, -3.0]), 1).numpy(), [inf, inf])
    np.testing.assert_array_equal(w.polygamma(w.to_tensor([0.0, -3.0]), 2).numpy(), [-inf, -inf])
    with pytest.raises(ValueError, match="n=-1"):
        w.polygamma(x, -1)
    with pytest.raises(TypeError, match="'n'.*1.5"):
        w.polygamma(x, 1.5)
    with pytest.raises(TypeError, match="int64"):
        w.polygamma(w.to_tensor([1]), 1)
    assert x.polygamma_(1) is x


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_nextafter_is_the_next_number_of_the_dtype(dtype):
    values = np.array([0.0, -0.0, 1.0, -1.0, 3.5, inf, -inf, nan, np.finfo(dtype).max, np.finfo(dtype).tiny], dtype)
    x, y = np.meshgrid(values, values)
    with np.errstate(all="ignore"):
        expected = np.nextafter(x, y)
    np.testing.assert_array_equal(w.nextafter(w.to_tensor(x), w.to_tensor(y)).numpy(), expected)
    with pytest.raises(TypeError, match="nextafter.*one dtype"):
        w.nextafter(w.to_tensor(x), w.to_tensor([1]))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_frexp_takes_every_number_apart_exactly(dtype):
    powers = 2.0 ** np.arange(-1074, 1024)
    with np.errstate(over="ignore", under="ignore"):
        around = np.concatenate([powers, np.nextafter(powers, 0), np.nextafter(powers, inf), -powers * 0.7, [0.0, -0.0]]).astype(dtype)
        around = np.concatenate([around, np.nextafter(around, np.array(0, dtype))])
    around = around[np.isfinite(around)]
    mantissa, exponent = w.frexp(w.to_tensor(around))
    expected = np.frexp(around)
    np.testing.assert_array_equal(mantissa.numpy(), expected[0])
    np.testing.assert_array_equal(exponent.numpy(), expected[1])
    assert exponent.dtype.name == mantissa.dtype.name == dtype


def test_frexp_of_infinities_and_nan_is_paddles():
    mantissa, exponent = w.to_tensor([inf, -inf, nan]).frexp()
    np.testing.assert_array_equal(mantissa.numpy(), [inf, -inf, nan])
    np.testing.assert_array_equal(exponent.numpy(), [1, 1, nan])
    with pytest.raises(TypeError, match="frexp.*int64"):
        w.frexp(w.to_tensor([1]))


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_trapezoid_is_numpys_along_each_axis(axis):
    y = np.random.default_rng(0).normal(size=(4, 5, 3))
    x = np.cumsum(np.random.default_rng(1).uniform(0.5, 1, y.shape[axis]))
    numpys = getattr(np, "trapezoid", None) or np.trapz
    np.testing.assert_allclose(w.trapezoid(w.to_tensor(y), axis=axis).numpy(), numpys(y, axis=axis))
    np.testing.assert_allclose(w.trapezoid(w.to_tensor(y), dx=0.5, axis=axis).numpy(), numpys(y, dx=0.5, axis=axis))
    np.testing.assert_allclose(w.trapezoid(w.to_tensor(y), w.to_tensor(x), axis=axis).numpy(), numpys(y, x, axis=axis))
    np.testing.assert_allclose(w.trapezoid(w.to_tensor(y), w.to_tensor(y * y), axis=axis).numpy(), numpys(y, y * y, axis=axis))
    running = w.cumulative_trapezoid(w.to_tensor(y), w.to_tensor(x), axis=axis).numpy()
    assert running.shape[axis] == y.shape[axis] - 1
    np.testing.assert_allclose(running.take(-1, axis), numpys(y, x, axis=axis))


def test_trapezoid_meets_in_the_wider_dtype_and_says_what_it_does_not_take():
    y = w.to_tensor([1.0, 2.0, 4.0])
    assert w.trapezoid(y, w.to_tensor([0.0, 1.0, 3.0], dtype="float64")).item() == 7.5
    assert w.trapezoid(y, dx=w.to_tensor([1.0, 3.0], dtype="float64")).dtype is w.float64
    assert w.trapezoid(w.to_tensor([5.0])).item() == 0 and w.cumulative_trapezoid(w.to_tensor([5.0])).shape == [0]
    for arguments, error, match in (
        ((y, y, 1.0), ValueError, "both x and dx"), ((w.to_tensor([1, 2]),), TypeError, "int64"), ((w.to_tensor(1.0),), ValueError, r"shape \[\]"),
        ((y, w.to_tensor([1, 2, 3])), TypeError, "x must hold.*int64"), ((y, None, "1"), TypeError, "dx='1'"), (([1.0],), TypeError, "'y'"),
        ((y, None, None, 3), ValueError, "axis 3"),
    ):  # fmt: skip
        for function in w.trapezoid, w.cumulative_trapezoid:
            with pytest.raises(error, match=match):
                function(*arguments)


@pytest.mark.parametrize("n", [0, 1, 4, 6])
@pytest.mark.parametrize("r", [1, 2, 3, 5])
def test_combinations_are_those_of_itertools(n, r):
    x = w.to_tensor(np.arange(n, dtype="float32") * 2)
    for again, chosen in (False, itertools.combinations), (True, itertools.combinations_with_replacement):
        expected = np.array(list(chosen(x.tolist(), r)), "float32").reshape(-1, r)
        np.testing.assert_array_equal(w.combinations(x, r, again).numpy(), expected)
        assert w.combinations(x, r, again).shape == list(expected.shape)


def test_combinations_refuse_matrices_and_counts_that_are_none():
    assert w.combinations(w.to_tensor([1, 2]), 0).shape == [0]
    with pytest.raises(TypeError, match=r"shape \[1, 2\]"):
        w.combinations(w.to_tensor([[1, 2]]))
    for r in (-1, 1.5, True):
        with pytest.raises(ValueError, match=f"r={r}"):
            w.combinations(w.to_tensor([1, 2]), r)


def test_top_p_sampling_says_that_there_is_none():
    with pytest.raises(NotImplementedError, match=r"top_p_sampling.*multinomial"):
        w.to_tensor([[0.1, 0.9]]).top_p_sampling(w.to_tensor([0.5]))


def test_shares_of_gamma_take_infinity():
    np.testing.assert_array_equal(w.gammaincc(w.to_tensor([1.0, inf]), w.to_tensor([inf, 1.0])).numpy(), [0, np.nan])  # NaN as in Paddle
