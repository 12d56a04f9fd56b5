"""Resizing: every mode against a definition that is written place by place, gradients, sizes, errors."""
import functools
import math

import numpy as np
import pytest

import wherry_nn as nn
import wherry_nn.functional as F
import wherry_tensor as wt

rng = np.random.default_rng(0)


def place(i, ratio, centred):
    return (i + 0.5) * ratio - 0.5 if centred else i * ratio


def taps_nearest(i, count, ratio, centred):
    return [(min(int(i * ratio), count - 1), 1.0)]


def taps_linear(i, count, ratio, centred):
    at = max(place(i, ratio, centred), 0)
    low = min(int(at), count - 1)
    return [(low, 1 - (at - low)), (min(low + 1, count - 1), at - low)]


def keys(t, a=-0.75):
    t = abs(t)
    return (a + 2) * t**3 - (a + 3) * t**2 + 1 if t <= 1 else a * t**3 - 5 * a * t**2 + 8 * a * t - 4 * a if t < 2 else 0


def taps_cubic(i, count, ratio, centred):
    at = place(i, ratio, centred)
    low = math.floor(at)
    return [(min(max(low + k, 0), count - 1), keys(at - low - k)) for k in (-1, 0, 1, 2)]


def taps_area(i, count, ratio, centred):
    first, last = math.floor(i * ratio), math.ceil((i + 1) * ratio)
    return [(k, 1 / (last - first)) for k in range(first, last)]


TAPS = {
    "nearest": taps_nearest,
    "linear": taps_linear,
    "bilinear": taps_linear,
    "trilinear": taps_linear,
    "bicubic": taps_cubic,
    "area": taps_area,
}


def resized(x, axes, sizes, mode, align_corners=False, align_mode=0, scales=None):
    """One axis after the other, each place the weighted sum of what TAPS names."""
    for k, (axis, size) in enumerate(zip(axes, sizes)):
        count = x.shape[axis]
        ratio = count / size if scales is None else 1 / scales[k]
        if size == 1 and mode != "area":
            ratio = 0
        elif align_corners:
            ratio = (count - 1) / (size - 1)
        centred = not align_corners and (mode == "bicubic" or align_mode == 0)
        matrix = np.zeros((size, count))
        for i in range(size):
            for at, weight in TAPS[mode](i, count, ratio, centred):
                matrix[i, at] += weight
        x = np.moveaxis(np.moveaxis(x, axis, -1) @ matrix.T, -1, axis)
    return x


CASES = [
    ("nearest", [2, 3, 5, 7], "NCHW", [[10, 14], [3, 20], [1, 1]]),
    ("nearest", [2, 5, 7, 3], "NHWC", [[3, 20]]),
    ("nearest", [1, 2, 4, 3, 5], "NCDHW", [[6, 4, 9]]),
    ("linear", [2, 3, 7], "NCW", [[13], [4], [1]]),
    ("linear", [2, 7, 3], "NWC", [[13]]),
    ("bilinear", [2, 3, 5, 7], "NCHW", [[10, 14], [3, 20], [1, 1], [5, 3]]),
    ("bilinear", [2, 5, 7, 3], "NHWC", [[3, 20]]),
    ("bicubic", [2, 3, 5, 7], "NCHW", [[10, 14], [3, 20], [1, 2]]),
    ("bicubic", [2, 5, 7, 3], "NHWC", [[13, 9]]),
    ("trilinear", [1, 2, 4, 3, 5], "NCDHW", [[6, 4, 9]]),
    ("trilinear", [1, 4, 3, 5, 2], "NDHWC", [[3, 1, 9]]),
    ("area", [2, 3, 5, 7], "NCHW", [[3, 4], [8, 9], [1, 1]]),
    ("area", [2, 5, 7, 3], "NHWC", [[3, 4]]),
    ("area", [2, 3, 7], "NCW", [[3]]),
    ("area", [1, 2, 4, 3, 5], "NCDHW", [[3, 2, 2]]),
]


ALIGNMENTS = [(False, 0), (False, 1), (True, 0)]


@pytest.mark.parametrize(
    "mode, shape, data_format, all_sizes, align_corners, align_mode",
    # "nearest" and "area" have no corners to align.
    [(*case, *alignment) for case in CASES for alignment in ALIGNMENTS[: 2 if case[0] in ("nearest", "area") else 3]],
)
def test_interpolate_is_its_definition(mode, shape, data_format, all_sizes, align_corners, align_mode, check_gradient):
    x = rng.normal(size=shape)
    axes = range(1, len(shape) - 1) if data_format[-1] == "C" else range(2, len(shape))
    options = dict(mode=mode, align_corners=align_corners, align_mode=align_mode, data_format=data_format)
    for sizes in all_sizes:
        function = functools.partial(F.interpolate, size=sizes, **options)
        expected = resized(x, axes, sizes, mode, align_corners, align_mode)
        np.testing.assert_allclose(function(wt.to_tensor(x)).numpy(), expected, rtol=1e-12, atol=1e-12, err_msg=str(sizes))
        check_gradient(function, x)


@pytest.mark.parametrize("mode", ["nearest", "bilinear", "bicubic"])
@pytest.mark.parametrize("scale", [2, 1.7, 0.6, [2.5, 0.5]])
def test_scales_give_sizes_and_places(mode, scale):
    x = rng.normal(size=(1, 2, 5, 7))
    scales = scale if isinstance(scale, list) else [scale, scale]
    sizes = [int(5 * scales[0]), int(7 * scales[1])]
    out = F.interpolate(wt.to_tensor(x), scale_factor=scale, mode=mode).numpy()
    # The scale is a float32, as in Paddle; cubic weights multiply that error.
    np.testing.assert_allclose(out, resized(x, (2, 3), sizes, mode, scales=scales), rtol=1e-5, atol=1e-5)


def test_one_scale_less_than_its_decimals():
    # float64 has 100 * 0.29 = 28.999999999999996; Paddle multiplies in float32.
    assert F.interpolate(wt.zeros([1, 1, 100, 1]), scale_factor=[0.29, 1.0]).shape == [1, 1, 29, 1]


def test_float32_rounds_places_of_nearest():
    x = wt.arange(49, dtype="float32").reshape([1, 1, 1, 49])
    out = F.interpolate(x, [1, 33]).flatten().numpy()
    np.testing.assert_array_equal(out, np.floor(np.arange(33, dtype="float32") * np.float32(49 / 33)))


def test_sizes_and_scales_come_in_many_forms():
    x = wt.to_tensor(rng.normal(size=(1, 2, 5, 7)))
    expected = F.interpolate(x, [6, 4]).numpy()
    one = wt.to_tensor([6])
    for size in (6, 4), wt.to_tensor([6, 4]), wt.to_tensor([6, 4], dtype="int32"), [one, 4], np.array([6, 4]), [6.9, 4]:
        np.testing.assert_array_equal(F.interpolate(x, size).numpy(), expected)
    for scale in wt.to_tensor(2.0), wt.to_tensor([2.0, 2.0]), [wt.to_tensor([2.0]), 2], (2, 2):
        assert F.interpolate(x, scale_factor=scale).shape == [1, 2, 10, 14]
    assert F.interpolate(x, 3, mode="area").shape == [1, 2, 3, 3]


def test_nearest_takes_any_dtype_and_no_element():
    for dtype in "int32", "int64", "uint8", "bool", "float16":
        x = wt.ones([1, 1, 2, 2]).astype(dtype)
        assert F.interpolate(x, [3, 3]).dtype is x.dtype
    assert F.interpolate(wt.zeros([0, 3, 2, 2]), [4, 4], mode="bilinear").shape == [0, 3, 4, 4]


def test_infinite_values_stay_in_their_place():
    x = wt.to_tensor([[[[0.0, 0.0, 0.0, float("inf")]]]])
    out = F.interpolate(x, [1, 8], mode="bilinear").flatten().numpy()
    assert np.isfinite(out[:5]).all()


X4 = wt.ones([1, 2, 5, 7])
X3 = wt.ones([1, 2, 5])
REFUSED = [
    (X4, dict(), ValueError, "One of size and scale_factor must not be None"),
    (X4, dict(size=[6, 6], scale_factor=2), ValueError, "Only one of size or scale_factor"),
    (X4, dict(size=[6, 6], mode="x"), ValueError, "mode can only be"),
    (X4, dict(size=[6], mode="linear"), ValueError, "'linear' supports 3-D tensors only"),
    (X3, dict(size=[6]), ValueError, "'nearest' supports 4-D or 5-D tensors only"),
    (X3, dict(size=[6], mode="linear"), ValueError, "'NCHW' received but only 'NCW' or 'NWC'"),
    (X4, dict(size=[6]), ValueError, r"rank\(x\) - 2 == len\(size\)"),
    (X4, dict(size=[]), ValueError, r"rank\(x\) - 2 == len\(size\)"),
    (X4, dict(size=6), TypeError, r"size is not a list. Got size=6"),
    (X4, dict(size=wt.to_tensor(6)), ValueError, "its rank must be 1"),
    (X4, dict(size=[0, 3]), AssertionError, "must be greater than 0"),
    (X4, dict(size=[6, 6], data_format="X"), ValueError, "'X' received"),
    (X4, dict(size=[6, 6], align_corners=1), TypeError, "should be a bool"),
    (X4, dict(size=[6, 6], align_corners=True), ValueError, "align_corners option can only be set"),
    (X4, dict(size=[6, 6], align_mode=2), ValueError, "align_mode can only be 0 or 1"),
    (X4, dict(scale_factor=0), ValueError, "should be greater than zero"),
    (X4, dict(scale_factor=[2.0, -3.0]), ValueError, "should be greater than zero"),
    (X4, dict(scale_factor=[2.0]), ValueError, "one scale for each spatial axis"),
    (X4, dict(scale_factor=0.1), ValueError, "the result would be empty"),
    (X4, dict(scale_factor="a"), TypeError, "type should be float"),
    (X4.astype("int64"), dict(size=[6, 6], mode="bilinear"), TypeError, "x is not floating"),
    ([1.0], dict(size=[6, 6]), ValueError, "must be a Tensor"),
]


@pytest.mark.parametrize("x, options, error, match", REFUSED)
def test_interpolate_refuses(x, options, error, match):
    with pytest.raises(error, match=match):
        F.interpolate(x, **options)


def test_nearest_keeps_every_bit():
    x = np.tile(np.array([-0.0, 0.0, np.nan, np.inf, -np.inf, 1e-45], np.float32), (1, 20, 2, 1))
    out = F.interpolate(wt.to_tensor(x), [3, 12]).numpy()
    assert out.tobytes() == x[:, :, [0, 0, 1]].repeat(2, -1).tobytes()


def test_axes_in_either_order_give_one_result():
    x = rng.normal(size=(2, 5, 9, 6))
    for sizes in ([20, 30], [4, 3], [20, 3], [4, 30]):
        for mode in ("nearest", "bilinear", "bicubic"):
            both = F.interpolate(wt.to_tensor(x), sizes, mode=mode).numpy()
            one = F.interpolate(F.interpolate(wt.to_tensor(x), [sizes[0], 6], mode=mode), sizes, mode=mode).numpy()
            np.testing.assert_allclose(both, one, rtol=1e-12, atol=1e-12)


def test_layers_are_the_function():
    x = wt.to_tensor(rng.normal(size=(1, 2, 5, 7)))
    pairs = [
        (nn.Upsample([6, 4]), dict(size=[6, 4])),
        (nn.Upsample(scale_factor=1.5, mode="BICUBIC", align_corners=True),
         dict(scale_factor=1.5, mode="bicubic", align_corners=True)),
        (nn.UpsamplingNearest2D(scale_factor=2), dict(scale_factor=2)),
        (nn.UpsamplingBilinear2D([6, 4]), dict(size=[6, 4], mode="bilinear", align_corners=True)),
    ]
    for layer, options in pairs:
        np.testing.assert_array_equal(layer(x).numpy(), F.interpolate(x, **options).numpy())
        np.testing.assert_array_equal(layer(x).numpy(), F.upsample(x, **options).numpy())


@pytest.mark.parametrize(
    "layer, text",
    [
        (nn.Upsample([6, 4]), "Upsample(size=[6, 4], mode=nearest, align_corners=False, align_mode=0, data_format=NCHW)"),
        (nn.UpsamplingNearest2D(scale_factor=2), "UpsamplingNearest2D(scale_factor=2, data_format=NCHW)"),
        (nn.UpsamplingBilinear2D([6, 4], name="u"), "UpsamplingBilinear2D(size=[6, 4], data_format=NCHW, name=u)"),
    ],
)
def test_repr_is_paddles(layer, text):
    assert repr(layer) == text
