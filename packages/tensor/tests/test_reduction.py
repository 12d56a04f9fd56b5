import numpy as np
import pytest

import wherry_tensor as w

NAN, INF = float("nan"), float("inf")
X = np.array([[[1.5, -2.0], [3.0, 0.5], [0.25, 7.0]], [[2.0, 1.0], [-4.0, 6.0], [5.0, -1.0]]])
AXES = [None, 0, 1, -1, (0, 1), [0, 2], (-1, 0), []]
REDUCTIONS = {
    "sum": np.sum, "mean": np.mean, "prod": np.prod, "max": np.max, "min": np.min, "amax": np.max, "amin": np.min,
    "logsumexp": lambda x, axis, keepdims: np.log(np.sum(np.exp(x), axis=axis, keepdims=keepdims)),
    "std": lambda x, axis, keepdims: np.std(x, axis=axis, keepdims=keepdims, ddof=1),
    "var": lambda x, axis, keepdims: np.var(x, axis=axis, keepdims=keepdims, ddof=1),
    "nansum": np.nansum, "nanmean": np.nanmean, "nanmedian": np.nanmedian,
    "count_nonzero": np.count_nonzero, "all": lambda x, axis, keepdims: np.all(x, axis=axis, keepdims=keepdims),
    "any": lambda x, axis, keepdims: np.any(x, axis=axis, keepdims=keepdims),
}


@pytest.mark.parametrize("name", REDUCTIONS)
@pytest.mark.parametrize("axis", AXES, ids=str)
@pytest.mark.parametrize("keepdim", [False, True])
def test_reduction_is_numpys(name, axis, keepdim):
    out = getattr(w, name)(w.to_tensor(X), axis=axis, keepdim=keepdim)
    numpy_axis = None if axis is None or axis == [] else tuple(axis) if isinstance(axis, list) else axis
    expected = REDUCTIONS[name](X, axis=numpy_axis, keepdims=keepdim)
    assert out.shape == list(np.shape(expected))
    np.testing.assert_allclose(out.numpy(), expected, rtol=1e-9)


@pytest.mark.parametrize("name", [*REDUCTIONS, "quantile"])
def test_bad_axes_are_refused(name):
    function, x = getattr(w, name), w.to_tensor(X)
    more = [0.5] if name == "quantile" else []
    for axis in (3, -4, [0, 5]):
        with pytest.raises(ValueError, match=r"out of range for rank 3.*expected one in \[-3, 3\)"):
            function(x, *more, axis=axis)
    for axis in ([0, 0], (1, -2)):
        with pytest.raises(ValueError, match=r"named twice"):
            function(x, *more, axis=axis)
    for axis in (1.5, "a", True, [None], NAN):
        with pytest.raises(ValueError, match=r"must be one integer"):
            function(x, *more, axis=axis)


@pytest.mark.parametrize("name", [*REDUCTIONS, "argmax", "argmin", "cumsum", "logcumsumexp", "cummax", "cummin"])
@pytest.mark.parametrize("wrong", [None, [1.0], 1.5, "a"])
def test_what_is_no_tensor_is_refused(name, wrong):
    with pytest.raises(TypeError, match=r"Tensor. Got"):
        getattr(w, name)(wrong)


@pytest.mark.parametrize("name", REDUCTIONS)
def test_keepdim_must_be_a_bool(name):
    with pytest.raises(ValueError, match=r"'keepdim' must be a bool"):
        getattr(w, name)(w.to_tensor(X), keepdim=1)


@pytest.mark.parametrize("name", REDUCTIONS)
def test_a_number_reduces_along_axis_0_and_minus_1(name):
    x = w.to_tensor(2.0)
    for axis in (None, 0, -1):
        assert getattr(w, name)(x, axis=axis).shape == []
    with pytest.raises(ValueError, match=r"out of range"):
        getattr(w, name)(x, axis=1)


def test_axes_may_be_tensors_and_arrays():
    x = w.to_tensor(X)
    assert w.sum(x, w.to_tensor([0, 1])).shape == [2]
    assert w.sum(x, w.to_tensor(1)).shape == [2, 2]
    assert w.sum(x, np.int64(1)).shape == [2, 2]


@pytest.mark.parametrize("dtype, expected", [
    ("bool", "int64"), ("int32", "int64"), ("int64", "int64"), ("int8", "int8"), ("uint8", "uint8"), ("int16", "int16"),
    ("float16", "float16"), ("float64", "float64"), ("complex64", "complex64"),
])
def test_sum_has_paddles_dtypes(dtype, expected):
    x = w.ones([3], dtype)
    for out in (w.sum(x), w.sum(x, 0), x.sum(axis=0, keepdim=True)):
        assert out.dtype.name == expected


def test_sum_and_prod_cast_first():
    x = w.to_tensor([1.5, 2.5])
    assert w.sum(x, dtype="int32").tolist() == 3
    assert w.prod(x, dtype="int64").tolist() == 2
    assert w.sum(x, dtype="int32").dtype is w.int32
    with pytest.raises(TypeError, match=r"unknown dtype"):
        w.sum(x, dtype="foo")


def test_means_of_integers_are_cut_and_of_bools_are_any():
    assert w.mean(w.to_tensor([1, 2, 4])).tolist() == 2
    assert w.mean(w.to_tensor([-1, -2, -4])).tolist() == -2
    assert w.mean(w.to_tensor([True, False])).tolist() is True


def test_reductions_of_nothing():
    x = w.zeros([0, 3])
    assert w.sum(x).item() == 0.0 and w.prod(x).item() == 1.0 and np.isnan(w.mean(x).item())
    assert w.all(x).item() is True and w.any(x).item() is False
    assert w.sum(x, 0).tolist() == [0.0, 0.0, 0.0]
    for name in ("max", "min", "amax", "amin"):
        with pytest.raises(ValueError, match=r"no extreme value"):
            getattr(w, name)(x)
        assert getattr(w, name)(x, 1).shape == [0]
    for name in ("argmax", "argmin", "median", "nanmedian"):
        with pytest.raises(ValueError):
            getattr(w, name)(x)


def test_nan_wins_extremes():
    x = w.to_tensor([1.0, NAN, 2.0])
    assert np.isnan(w.max(x).item()) and np.isnan(w.min(x).item())


@pytest.mark.parametrize("name", ["argmax", "argmin"])
def test_positions(name):
    x, reference = w.to_tensor(X), getattr(np, name)
    assert getattr(w, name)(x).tolist() == reference(X)
    for axis in (0, 1, -1):
        assert getattr(w, name)(x, axis).tolist() == reference(X, axis).tolist()
        assert getattr(w, name)(x, axis, True).shape == list(reference(X, axis, keepdims=True).shape)
    assert getattr(w, name)(x, keepdim=True).shape == [1, 1, 1]
    assert getattr(w, name)(x, dtype="int32").dtype is w.int32
    assert getattr(w, name)(w.to_tensor(3.0)).tolist() == 0
    for axis in (1.5, "a", [0]):
        with pytest.raises(TypeError, match=r"axis must be one int"):
            getattr(w, name)(x, axis)
    with pytest.raises(ValueError, match=r"out of range"):
        getattr(w, name)(x, 3)
    with pytest.raises(ValueError, match=r"could not be None"):
        getattr(w, name)(x, dtype=None)
    with pytest.raises(ValueError, match=r"int32 or int64"):
        getattr(w, name)(x, dtype="float32")


def test_the_first_of_equal_elements_is_found():
    assert w.argmax(w.to_tensor([1, 3, 3])).item() == 1
    assert w.argmin(w.to_tensor([2, 1, 1])).item() == 1


def test_variance_of_one_value_is_zero_as_in_paddle():
    assert w.var(w.to_tensor([3.0])).item() == 0.0
    assert w.std(w.to_tensor([1.0, 3.0]), unbiased=False).item() == 1.0
    for name in ("var", "std"):
        with pytest.raises(ValueError, match=r"must be floating"):
            getattr(w, name)(w.to_tensor([1, 2]))


def test_logsumexp_does_not_overflow():
    assert w.logsumexp(w.to_tensor([1000.0, 1000.0])).item() == pytest.approx(1000.6931)
    assert w.logsumexp(w.to_tensor([-INF, -INF])).item() == -INF
    assert w.logsumexp(w.to_tensor([1, 2])).dtype is w.float32
    with pytest.raises(TypeError, match=r"complex64"):
        w.logsumexp(w.to_tensor([1j]))


@pytest.mark.parametrize("axis", [None, 0, 1, -1])
def test_median_is_numpys(axis):
    np.testing.assert_allclose(w.median(w.to_tensor(X), axis).numpy(), np.median(X, axis))
    assert w.median(w.to_tensor(X), axis, keepdim=True).shape == list(np.median(X, axis, keepdims=True).shape)


def test_median_of_integers_is_float32_and_spoilt_by_nan():
    assert (w.median(w.to_tensor([1, 3, 2, 4])).dtype, w.median(w.to_tensor([1, 3, 2, 4])).item()) == (w.float32, 2.5)
    assert np.isnan(w.median(w.to_tensor([1.0, NAN, 2.0])).item())
    for axis in (3, [0], "a"):
        with pytest.raises(ValueError, match=r"median"):
            w.median(w.to_tensor([1.0]), axis)


def test_nanmedian_skips_nan():
    x = w.to_tensor([[1.0, NAN, 2.0], [NAN, NAN, NAN], [INF, 1.0, INF]])
    np.testing.assert_array_equal(w.nanmedian(x, 1).numpy(), [1.5, NAN, INF])
    assert w.nanmedian(w.to_tensor([[1, 2], [4, 8]]), 1).tolist() == [1, 6]


@pytest.mark.parametrize("q", [0, 1, 0.3, [0.25, 0.5], (0.9,)])
@pytest.mark.parametrize("axis", [None, 1, [0, 2]])
@pytest.mark.parametrize("keepdim", [False, True])
def test_quantile_is_numpys(q, axis, keepdim):
    numpy_axis = tuple(axis) if isinstance(axis, list) else axis
    out = w.quantile(w.to_tensor(X), q, axis, keepdim)
    assert out.dtype is w.float64
    np.testing.assert_allclose(out.numpy(), np.quantile(X, q, numpy_axis, keepdims=keepdim))
    spoilt = np.where(X == 3.0, NAN, X)
    np.testing.assert_allclose(
        w.nanquantile(w.to_tensor(spoilt), q, axis, keepdim).numpy(), np.nanquantile(spoilt, q, numpy_axis, keepdims=keepdim)
    )


@pytest.mark.parametrize("function", [w.quantile, w.nanquantile])
def test_quantile_refuses_what_has_no_order_and_empty_axes(function):
    with pytest.raises(TypeError, match=rf"{function.__name__}: complex numbers have no order. Got dtype complex64"):
        function(w.to_tensor([1 + 2j]), 0.5)
    with pytest.raises(ValueError, match=rf"{function.__name__}: the reduced axes are empty. Got x of shape \[2, 0\] and axis=1"):
        function(w.zeros([2, 0]), 0.5, axis=1)
    assert function(w.zeros([0, 2]), 0.5, axis=1).shape == [0]


def test_quantile_takes_numbers_of_any_kind():
    x = w.to_tensor([1.0, 2.0, 4.0])
    assert w.quantile(x, [np.float32(0.5), w.to_tensor(0.5), 1]).tolist() == [2.0, 2.0, 4.0]
    with pytest.raises(TypeError, match="quantile: argument 'q' must be one number. Got 'a'"):
        w.quantile(x, ["a"])


def test_quantile_refuses_bad_q():
    x = w.ones([3])
    for q in (1.5, -0.1, [0.5, 2], [], NAN):
        with pytest.raises(ValueError, match=r"q should"):
            w.quantile(x, q)
    for q in ("a", None, w.to_tensor(0.5)):
        with pytest.raises(TypeError, match=r"Type of q"):
            w.quantile(x, q)


SCANS = {
    "cumsum": np.cumsum, "cumprod": np.cumprod,
    "logcumsumexp": lambda x, axis: np.log(np.cumsum(np.exp(x), axis)),
    "cummax": np.maximum.accumulate, "cummin": np.minimum.accumulate,
}


@pytest.mark.parametrize("name", SCANS)
@pytest.mark.parametrize("axis", [0, 1, -1])
def test_scan_is_numpys(name, axis):
    out = getattr(w, name)(w.to_tensor(X), axis)
    out = out[0] if isinstance(out, tuple) else out
    np.testing.assert_allclose(out.numpy(), SCANS[name](X, axis))


@pytest.mark.parametrize("name", ["cumsum", "logcumsumexp", "cummax", "cummin"])
def test_scan_without_axis_runs_through_all_elements(name):
    out = getattr(w, name)(w.to_tensor(X))
    out = out[0] if isinstance(out, tuple) else out
    np.testing.assert_allclose(out.numpy(), SCANS[name](X.ravel(), 0))


@pytest.mark.parametrize("name", SCANS)
def test_scan_of_a_number_is_that_number(name):
    out = getattr(w, name)(w.to_tensor(2.0), 0)
    out = out[0] if isinstance(out, tuple) else out
    assert (out.shape, out.item()) == ([], 2.0)


@pytest.mark.parametrize("name, error", [
    ("cumsum", IndexError), ("logcumsumexp", IndexError), ("cummax", IndexError), ("cummin", IndexError), ("cumprod", ValueError),
])
def test_scan_refuses_bad_axes(name, error):
    for axis in (3, -4):
        with pytest.raises(error, match=r"out of range"):
            getattr(w, name)(w.to_tensor(X), axis)
    for axis in (1.5, "a", [0]):
        with pytest.raises(ValueError, match=r"must be one integer"):
            getattr(w, name)(w.to_tensor(X), axis)


def test_cumprod_needs_its_axis():
    with pytest.raises(ValueError, match=r"'dim'"):
        w.cumprod(w.to_tensor(X))


def test_scans_cast_first():
    assert w.cumsum(w.to_tensor([1, 2]), dtype="float64").dtype is w.float64
    assert w.cumprod(w.to_tensor([1, 2]), 0, "float32").dtype is w.float32
    assert w.cumsum(w.to_tensor([True, True])).tolist() == [1, 2]


def test_running_extremes_say_where():
    values, indices = w.cummin(w.to_tensor([3, 1, 1, 2]), 0, dtype="int32")
    assert (values.tolist(), indices.tolist(), indices.dtype) == ([3, 1, 1, 1], [0, 1, 2, 2], w.int32)
    with pytest.raises(ValueError, match=r"int32 or int64"):
        w.cummax(w.to_tensor([1]), 0, "float32")


def test_add_n():
    x = w.to_tensor([1.0, 2.0])
    assert w.add_n([x, x, x]).tolist() == [3.0, 6.0]
    alone = w.add_n(x)
    assert alone is not x and alone.tolist() == [1.0, 2.0]
    assert w.add_n([x]) is not x
    assert w.add_n([w.zeros([0]), x, w.zeros([0, 3]), x]).tolist() == [2.0, 4.0], "what has no elements is left out"
    assert w.add_n([w.zeros([0, 3]), w.zeros([0, 3])]).shape == [0, 3]
    for bad, said in (([], "nothing to add"), ([x, w.ones([1])], "one shape"), ([x, w.ones([2], "int64")], "one dtype"),
                      ([x, 1], "must be a Tensor"), (None, "must be a Tensor")):
        with pytest.raises(ValueError, match=said):
            w.add_n(bad)
