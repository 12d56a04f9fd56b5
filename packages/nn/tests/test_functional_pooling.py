"""Pools of all ranks against windows taken one by one; masks; adaptive pools; unpooling."""
import warnings

import numpy as np
import pytest

import wherry_nn.functional as F
import wherry_tensor as wt
from wherry_tensor import _core, ops
from wherry_tensor.testing.capture import Program
from windows import adaptive_windows, first_maxima, fixed_windows, last, pooling, values

AVERAGE = {1: F.avg_pool1d, 2: F.avg_pool2d, 3: F.avg_pool3d}
MAXIMUM = {1: F.max_pool1d, 2: F.max_pool2d, 3: F.max_pool3d}
UNPOOL = {1: F.max_unpool1d, 2: F.max_unpool2d, 3: F.max_unpool3d}
ADAPTIVE_AVERAGE = {1: F.adaptive_avg_pool1d, 2: F.adaptive_avg_pool2d, 3: F.adaptive_avg_pool3d}
ADAPTIVE_MAXIMUM = {1: F.adaptive_max_pool1d, 2: F.adaptive_max_pool2d, 3: F.adaptive_max_pool3d}
SIZES = {1: (9,), 2: (7, 8), 3: (5, 6, 7)}
LAST = {2: "NHWC", 3: "NDHWC"}


def mean(window, elements):
    return window.mean(-1)


def mean_with_padding(window, elements):
    return window.sum(-1) / elements


def maximum(window, elements):
    return window.max(-1)


def windows(shape, kernel, stride, pads, ceil_mode=False):
    return [list(fixed_windows(n, kernel, stride, *pad, ceil_mode)) for n, pad in zip(shape[2:], pads, strict=True)]


@pytest.mark.parametrize("rank", [1, 2, 3])
@pytest.mark.parametrize(
    ("padding", "pad", "ceil_mode"), [(0, (0, 0), False), (0, (0, 0), True), (1, (1, 1), False), ("VALID", (0, 0), False)]
)
def test_pools_reduce_windows(rank, padding, pad, ceil_mode):
    x = values(2, 3, *SIZES[rank])
    axes = windows(x.shape, 3, 2, [pad] * rank, ceil_mode)
    options = dict(stride=2, padding=padding, ceil_mode=ceil_mode)
    given = wt.to_tensor(x)
    np.testing.assert_allclose(AVERAGE[rank](given, 3, **options).numpy(), pooling(x, axes, mean), atol=1e-10)
    np.testing.assert_allclose(
        AVERAGE[rank](given, 3, exclusive=False, **options).numpy(), pooling(x, axes, mean_with_padding), atol=1e-10
    )
    out, mask = MAXIMUM[rank](given, 3, return_mask=True, **options)
    np.testing.assert_array_equal(out.numpy(), pooling(x, axes, maximum))
    np.testing.assert_array_equal(mask.numpy(), first_maxima(x, axes))
    assert mask.dtype == wt.int32
    np.testing.assert_array_equal(MAXIMUM[rank](given, 3, **options).numpy(), out.numpy())


@pytest.mark.parametrize("width", [4, 9, 17, 33, 40])
@pytest.mark.parametrize(("kernel", "stride", "padding"), [(2, 2, 0), (3, 2, 1), (3, 1, 1), (2, 1, 0), (3, 3, 0)])
def test_maxima_of_rows_of_any_width(width, kernel, stride, padding):
    # The kernel takes several windows at a time; what is left over, and the ends, go one by one.
    x = values(1, 2, 5, width).astype("float32")
    axes = windows(x.shape, kernel, stride, [(padding, padding)] * 2)
    out, mask = F.max_pool2d(wt.to_tensor(x), kernel, stride, padding, return_mask=True)
    np.testing.assert_array_equal(out.numpy(), pooling(x, axes, maximum))
    np.testing.assert_array_equal(mask.numpy(), first_maxima(x, axes))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_of_equal_maxima_the_first_wins_and_nan_loses(dtype):
    nan, inf, lowest = np.nan, np.inf, np.finfo(np.float32).min
    kinds = [  # the values of a window, its maximum, and which of the four it is
        ([nan, 1, nan, nan], 1, 1),
        ([nan, nan, nan, nan], lowest, None),
        ([0, 0, 0, 0], 0, 0),
        ([nan, -inf, -inf, nan], -inf, 1),
        ([-1, nan, 3, inf], inf, 3),
    ]
    count = 23  # several vectors and a rest
    x = np.array([kinds[i % 5][0] for i in range(count)]).reshape(count, 2, 2).transpose(1, 0, 2).reshape(1, 1, 2, 2 * count)
    out, mask = F.max_pool2d(wt.to_tensor(x.astype(dtype)), 2, return_mask=True)
    places = [None if kinds[i % 5][2] is None else kinds[i % 5][2] // 2 * 2 * count + 2 * i + kinds[i % 5][2] % 2 for i in range(count)]
    np.testing.assert_array_equal(out.numpy().ravel(), [kinds[i % 5][1] for i in range(count)])
    np.testing.assert_array_equal(mask.numpy().ravel(), [-1 if place is None else place for place in places])


@pytest.mark.parametrize("rank", [2, 3])
def test_channels_may_come_last(rank):
    x = values(2, 3, *SIZES[rank])
    for pool in AVERAGE[rank], MAXIMUM[rank]:
        out = pool(wt.to_tensor(last(x)), 3, 2, 1, data_format=LAST[rank]).numpy()
        np.testing.assert_allclose(out, last(pool(wt.to_tensor(x), 3, 2, 1).numpy()), atol=1e-12)
    out = ADAPTIVE_AVERAGE[rank](wt.to_tensor(last(x)), 2, data_format=LAST[rank]).numpy()
    np.testing.assert_allclose(out, last(ADAPTIVE_AVERAGE[rank](wt.to_tensor(x), 2).numpy()), atol=1e-12)


def test_forms_of_kernel_and_padding():
    x = values(2, 3, 7, 8)
    axes = [list(fixed_windows(7, 2, 1, 1, 0)), list(fixed_windows(8, 3, 2, 0, 2))]
    for padding in [1, 0, 0, 2], [[0, 0], [0, 0], [1, 0], [0, 2]]:
        out = F.max_pool2d(wt.to_tensor(x), [2, 3], [1, 2], padding).numpy()
        np.testing.assert_array_equal(out, pooling(x, axes, maximum))
    same = [list(fixed_windows(7, 3, 2, 1, 1)), list(fixed_windows(8, 3, 2, 0, 1))]
    out = F.max_pool2d(wt.to_tensor(x), 3, 2, "SAME").numpy()
    np.testing.assert_array_equal(out, pooling(x, same, maximum))


def test_divisor_override_scales_what_exclusive_averaged():
    x = wt.ones([1, 1, 4, 4])
    assert F.avg_pool2d(x, 3, 2, 1, divisor_override=5).numpy().ravel() == pytest.approx([9 / 5] * 4)
    assert F.avg_pool2d(x, 2, divisor_override=-1).numpy().ravel() == pytest.approx([-4.0] * 4)
    plain = F.avg_pool2d(x, 3, 2, 1, exclusive=False, divisor_override=4).numpy().ravel()
    assert plain == pytest.approx([1.0, 1.5, 1.5, 9 / 4])


@pytest.mark.parametrize("rank", [1, 2, 3])
def test_adaptive_pools_cover_the_input(rank):
    x = values(2, 3, *SIZES[rank])
    counts = [4, 3, 2][:rank]
    axes = [list(adaptive_windows(n, count)) for n, count in zip(x.shape[2:], counts, strict=True)]
    np.testing.assert_allclose(ADAPTIVE_AVERAGE[rank](wt.to_tensor(x), counts).numpy(), pooling(x, axes, mean), atol=1e-10)
    out, mask = ADAPTIVE_MAXIMUM[rank](wt.to_tensor(x), counts, return_mask=True)
    np.testing.assert_array_equal(out.numpy(), pooling(x, axes, maximum))
    np.testing.assert_array_equal(mask.numpy(), first_maxima(x, axes))


def test_none_keeps_a_size():
    x = wt.ones([1, 2, 7, 8])
    assert F.adaptive_avg_pool2d(x, [None, 3]).shape == [1, 2, 7, 3]
    assert F.adaptive_max_pool2d(x, (2, None)).shape == [1, 2, 2, 8]
    assert F.adaptive_avg_pool3d(wt.ones([1, 2, 3, 4, 5]), [None, 1, None]).shape == [1, 2, 3, 1, 5]
    assert F.adaptive_avg_pool2d(x, 0).shape == [1, 2, 0, 0]


@pytest.mark.parametrize("rank", [1, 2, 3])
def test_unpooling_puts_maxima_back(rank):
    x = values(2, 3, *SIZES[rank])
    out, mask = MAXIMUM[rank](wt.to_tensor(x), 2, return_mask=True)
    for size in list(x.shape[2:]), list(x.shape):
        back = UNPOOL[rank](out, mask, 2, output_size=size).numpy()
        assert back.shape == x.shape
        assert np.array_equal(back[back != 0], x[back != 0])
        assert (back != 0).sum() == out.size
    assert UNPOOL[rank](out, mask.astype("int64") * 0, 2).shape[2:] == [n // 2 * 2 for n in x.shape[2:]]


@pytest.mark.parametrize("rank", [1, 2, 3])
def test_gradients_agree_with_differences(rank, check_gradient):
    x = values(1, 2, *[7, 5, 4][:rank])
    check_gradient(lambda x: AVERAGE[rank](x, 3, 2, 1), x)
    check_gradient(lambda x: MAXIMUM[rank](x, 3, 2, 1), x)
    check_gradient(lambda x: ADAPTIVE_AVERAGE[rank](x, 2), x)
    check_gradient(lambda x: ADAPTIVE_MAXIMUM[rank](x, 2), x)
    out, mask = MAXIMUM[rank](wt.to_tensor(x), 2, return_mask=True)
    check_gradient(lambda x: UNPOOL[rank](x, mask, 2, output_size=list(values(*[7, 5, 4][:rank]).shape)), out.numpy())


X = wt.zeros([2, 3, 8, 8])


@pytest.mark.parametrize(
    ("call", "match"),
    [
        (lambda: F.max_pool2d(X, 0), "kernel_size is too small"),
        (lambda: F.max_pool2d(X, [3]), "length must be 2"),
        (lambda: F.max_pool2d(X, 3, stride=0), "stride is too small"),
        (lambda: F.avg_pool2d(X, 3, padding=-1), "larger than or equal to 0"),
        (lambda: F.avg_pool2d(X, 3, padding="full"), "Unknown padding"),
        (lambda: F.avg_pool2d(X, 3, padding="VALID", ceil_mode=True), "ceil_mode must be False"),
        (lambda: F.avg_pool2d(X, 20, 1), "larger than the padded input"),
        (lambda: F.avg_pool2d(X, 2, divisor_override=0), "divisor_override is zero"),
        (lambda: F.avg_pool2d(X, 2, data_format="NCL"), "data_format"),
        (lambda: F.max_pool2d(X[0], 2), "should be 4D"),
        (lambda: F.adaptive_avg_pool2d(X, [1, 2, 3]), "length must be 2"),
        (lambda: F.adaptive_avg_pool2d(X, None), "length must be 2"),
        (lambda: F.adaptive_avg_pool1d(X[0], [None]), "length must be 1"),
        (lambda: F.adaptive_max_pool2d(X, -1), "too small"),
        (lambda: F.max_unpool2d(X, wt.zeros([2, 3, 8, 8], "int32"), 2, data_format="NHWC"), "channels come second"),
        (lambda: F.max_unpool2d(X, wt.zeros([2, 3, 8, 8], "int32"), 2, output_size=[18, 16]), "between 14 and 18"),
        (lambda: F.max_unpool2d(X, wt.full([2, 3, 8, 8], 256, "int32"), 2), "outside of its plane"),
        (lambda: F.max_unpool2d(X, wt.zeros([2, 3, 8, 7], "int32"), 2), "one shape|expected"),
    ],
)
def test_refused_arguments(call, match):
    with pytest.raises(ValueError, match=match):
        call()


@pytest.mark.parametrize(
    "call",
    [
        lambda: F.max_pool2d(X.astype("int32"), 2),
        lambda: F.avg_pool2d(X.numpy(), 2),
        lambda: F.adaptive_avg_pool2d("x", 2),
        lambda: F.max_unpool2d(X, X, 2),
        lambda: F.max_pool2d(X, 2, return_mask=1),
    ],
)
def test_refused_types(call):
    with pytest.raises(TypeError):
        call()


def test_a_window_beyond_the_input_warns_where_the_call_is_made_and_not_where_its_shape_is_asked_for():
    x, attrs = wt.ones([1, 1, 4, 4]), {"kernel": (5, 5), "strides": (2, 2), "paddings": (0, 0, 0, 0), "ceil_mode": False}
    op = ops.max_pool2d
    values = tuple({**attrs, "data_format": "NCHW"}.get(name) for name in op.attr_names)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        op.infer((x,), values)
        _core.plan_of(op, [ops.declare.Meta((1, 1, 4, 4), wt.float32)], values)
        with Program():
            F.max_pool2d(_core.symbolic((1, 1, 4, 4), wt.float32), 5, 2)
    with pytest.warns(UserWarning, match="window is larger than the padded input"):
        F.max_pool2d(x, 5, 2)
