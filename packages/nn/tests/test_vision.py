"""Sampling at places, and channels that become places: against definitions, gradients, errors."""
import itertools
import math

import numpy as np
import pytest

import wherry_nn as nn
import wherry_nn.functional as F
import wherry_tensor as wt

rng = np.random.default_rng(0)


# Sampling, written place by place.


def mirrored(at, low, high):
    """A coordinate between mirrors at low and high."""
    span = high - low
    if span == 0:
        return low
    at = abs(at - low)
    turns, rest = divmod(at, span)
    return low + (rest if turns % 2 == 0 else span - rest)


def in_elements(at, size, padding_mode, align_corners):
    at = (at + 1) / 2 * (size - 1) if align_corners else ((at + 1) * size - 1) / 2
    if padding_mode == "reflection":
        at = mirrored(at, 0, size - 1) if align_corners else mirrored(at, -0.5, size - 0.5)
    return at if padding_mode == "zeros" else min(max(at, 0), size - 1)


def sampled(x, grid, mode, padding_mode, align_corners):
    n, channels, *sizes = x.shape
    out = np.zeros((n, channels, *grid.shape[1:-1]))
    for b in range(n):
        for to in np.ndindex(*grid.shape[1:-1]):
            # x belongs to the last axis
            at = [in_elements(c, s, padding_mode, align_corners) for c, s in zip(grid[(b, *to)][::-1], sizes)]
            if mode == "nearest":
                corners = [([math.floor(c + 0.5) if c >= 0 else -math.floor(0.5 - c) for c in at], 1.0)]
            else:
                corners = [
                    (
                        [math.floor(c) + up for c, up in zip(at, ups)],
                        math.prod(c - math.floor(c) if up else 1 - (c - math.floor(c)) for c, up in zip(at, ups)),
                    )
                    for ups in itertools.product((0, 1), repeat=len(at))
                ]
            for place, weight in corners:
                if all(0 <= p < s for p, s in zip(place, sizes)):
                    out[(b, slice(None), *to)] += weight * x[(b, slice(None), *place)]
    return out


@pytest.mark.parametrize("align_corners", [True, False])
@pytest.mark.parametrize("padding_mode", ["zeros", "border", "reflection"])
@pytest.mark.parametrize("mode", ["bilinear", "nearest"])
@pytest.mark.parametrize("shape, places", [((2, 3, 4, 5), (3, 4)), ((2, 2, 3, 2, 4), (2, 3, 2)), ((1, 2, 1, 3), (2, 2))])
def test_grid_sample_is_its_definition(shape, places, mode, padding_mode, align_corners, check_gradient):
    x = rng.normal(size=shape)
    for reach in 0.95, 1.5, 6.0:
        grid = rng.uniform(-reach, reach, size=(shape[0], *places, len(places)))
        out = F.grid_sample(wt.to_tensor(x), wt.to_tensor(grid), mode, padding_mode, align_corners)
        np.testing.assert_allclose(out.numpy(), sampled(x, grid, mode, padding_mode, align_corners), rtol=1e-9, atol=1e-9)
    grid = grid[:, :1] / 4
    check_gradient(lambda x, grid: F.grid_sample(x, grid, mode, padding_mode, align_corners), x, grid, atol=1e-5)


def test_grid_sample_at_the_elements_themselves():
    x = wt.arange(9, dtype="float32").reshape([1, 1, 3, 3])
    grid = wt.to_tensor([[-1.0, -1.0], [1.0, 1.0], [0.0, 0.0], [1.0, -1.0]]).reshape([1, 1, 4, 2])
    assert F.grid_sample(x, grid).flatten().tolist() == [0, 8, 4, 2]
    assert F.grid_sample(x, grid, "nearest").flatten().tolist() == [0, 8, 4, 2]
    assert F.grid_sample(x, grid, align_corners=False).flatten().tolist() == [0, 2, 4, 0.5]


def test_grid_sample_survives_places_that_are_no_numbers():
    x = wt.ones([1, 1, 3, 3])
    for place in float("nan"), float("inf"), 1e30:
        for padding_mode in "zeros", "border", "reflection":
            for mode in "bilinear", "nearest":
                F.grid_sample(x, wt.full([1, 1, 1, 2], place), mode, padding_mode)


def test_grid_sample_of_nothing():
    assert F.grid_sample(wt.zeros([0, 3, 4, 4]), wt.zeros([0, 2, 5, 2])).shape == [0, 3, 2, 5]
    assert F.grid_sample(wt.ones([1, 3, 4, 4]), wt.zeros([1, 0, 5, 2])).shape == [1, 3, 0, 5]


X, GRID = wt.ones([2, 3, 4, 5]), wt.zeros([2, 3, 4, 2])


@pytest.mark.parametrize(
    "arguments, error, match",
    [
        ((X, GRID, "bicubic"), ValueError, r"should be in \['bilinear', 'nearest'\]. Got mode='bicubic'"),
        ((X, GRID, "nearest", "x"), ValueError, "Got padding_mode='x'"),
        ((X, GRID, "nearest", "zeros", 1), TypeError, "should be bool. Got 1"),
        ((X, GRID[:1]), ValueError, r"the grid does not fit. Got x of shape \[2, 3, 4, 5\] and grid of shape \[1, 3, 4, 2\]"),
        ((X, wt.zeros([2, 3, 4, 3])), ValueError, "the grid does not fit"),
        ((X[0], GRID), ValueError, "the grid does not fit"),
        ((X, GRID.astype("float64")), ValueError, "must have one dtype. Got float32 and float64"),
        ((X.astype("int32"), GRID.astype("int32")), TypeError, "Got x of dtype int32 and grid of dtype int32, expected one floating dtype"),
        (([1.0], GRID), ValueError, "'x' must be a Tensor"),
        ((X, None), ValueError, "'grid' must be a Tensor"),
    ],
)
def test_grid_sample_refuses(arguments, error, match):
    with pytest.raises(error, match=match):
        F.grid_sample(*arguments)


# Affine maps.


@pytest.mark.parametrize("align_corners", [True, False])
@pytest.mark.parametrize("sizes", [(3, 4), (1, 2), (2, 3, 4)])
def test_affine_grid_maps_places(sizes, align_corners, check_gradient):
    spatial = len(sizes)
    theta = rng.normal(size=(2, spatial, spatial + 1))

    def coordinates(size):
        if size == 1:
            return np.zeros(1)
        edge = 1 if align_corners else (size - 1) / size
        return np.linspace(-edge, edge, size)

    expected = np.zeros((2, *sizes, spatial))
    for to in np.ndindex(*sizes):
        place = [coordinates(sizes[axis])[to[axis]] for axis in reversed(range(spatial))]
        expected[(slice(None), *to)] = theta @ np.array([*place, 1])
    shape = [2, 7, *sizes]
    out = F.affine_grid(wt.to_tensor(theta), shape, align_corners)
    np.testing.assert_allclose(out.numpy(), expected, rtol=1e-12, atol=1e-12)
    np.testing.assert_array_equal(F.affine_grid(wt.to_tensor(theta), wt.to_tensor(shape), align_corners).numpy(), out.numpy())
    check_gradient(lambda theta: F.affine_grid(theta, shape, align_corners), theta)


@pytest.mark.parametrize("align_corners", [True, False])
def test_the_identity_map_samples_the_image_itself(align_corners):
    x = wt.to_tensor(rng.normal(size=(1, 2, 4, 5)))
    theta = wt.to_tensor([[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]], dtype="float64")
    grid = F.affine_grid(theta, x.shape, align_corners)
    out = F.grid_sample(x, grid, align_corners=align_corners)
    np.testing.assert_allclose(out.numpy(), x.numpy(), rtol=1e-12, atol=1e-12)


def test_affine_grid_refuses():
    theta = wt.ones([2, 2, 3])
    for shape in [3, 1, 4, 5], [2, 1, 4], [2, 1, 4, 5, 6]:
        with pytest.raises(ValueError, match="the maps do not fit"):
            F.affine_grid(theta, shape)
    with pytest.raises(ValueError, match="the maps do not fit"):
        F.affine_grid(theta[0], [2, 1, 4, 5])
    with pytest.raises(TypeError, match="dtype int32"):
        F.affine_grid(theta.astype("int32"), [2, 1, 4, 5])
    with pytest.raises(ValueError, match="must be a shape"):
        F.affine_grid(theta, "a")


# Channels and pixels.


@pytest.mark.parametrize("factor", [1, 2, 3])
def test_pixel_shuffle_makes_squares(factor, check_gradient):
    x = rng.normal(size=(2, 2 * factor**2, 3, 4))
    expected = np.zeros((2, 2, 3 * factor, 4 * factor))
    for c, i, j in np.ndindex(2, factor, factor):
        expected[:, c, i::factor, j::factor] = x[:, c * factor**2 + i * factor + j]
    last = wt.to_tensor(x.transpose(0, 2, 3, 1))
    for out in F.pixel_shuffle(wt.to_tensor(x), factor), nn.PixelShuffle(factor)(wt.to_tensor(x)):
        np.testing.assert_array_equal(out.numpy(), expected)
    np.testing.assert_array_equal(F.pixel_shuffle(last, factor, "NHWC").numpy(), expected.transpose(0, 2, 3, 1))
    np.testing.assert_array_equal(F.pixel_unshuffle(wt.to_tensor(expected), factor).numpy(), x)
    np.testing.assert_array_equal(nn.PixelUnshuffle(factor)(wt.to_tensor(expected)).numpy(), x)
    expected_last = wt.to_tensor(expected.transpose(0, 2, 3, 1))
    np.testing.assert_array_equal(F.pixel_unshuffle(expected_last, factor, "NHWC").numpy(), last.numpy())
    check_gradient(lambda x: F.pixel_shuffle(x, factor), x[:1])


def test_channel_shuffle_mixes_groups():
    x = rng.normal(size=(2, 6, 3, 4))
    expected = x[:, [0, 2, 4, 1, 3, 5]]
    np.testing.assert_array_equal(F.channel_shuffle(wt.to_tensor(x), 3).numpy(), expected)
    np.testing.assert_array_equal(nn.ChannelShuffle(3)(wt.to_tensor(x)).numpy(), expected)
    last = F.channel_shuffle(wt.to_tensor(x.transpose(0, 2, 3, 1)), 3, "NHWC")
    np.testing.assert_array_equal(last.numpy(), expected.transpose(0, 2, 3, 1))


@pytest.mark.parametrize("function", [F.pixel_shuffle, F.pixel_unshuffle, F.channel_shuffle])
def test_channels_that_cannot_be_moved(function):
    x = wt.ones([1, 5, 5, 5])
    with pytest.raises(ValueError, match="2"):
        function(x, 2)
    with pytest.raises(ValueError, match="must be positive"):
        function(x, 0)
    with pytest.raises(TypeError, match="must be int type"):
        function(x, 2.0)
    with pytest.raises(ValueError, match="data_format"):
        function(x, 5, "X")
    with pytest.raises(ValueError, match="4"):
        function(x[0], 5)


@pytest.mark.parametrize("kind", [nn.PixelShuffle, nn.PixelUnshuffle, nn.ChannelShuffle])
def test_layers_refuse_factors(kind):
    with pytest.raises(TypeError, match="must be int type. Got 'a'"):
        kind("a")
    with pytest.raises(ValueError, match="must be positive"):
        kind(-2)
    with pytest.raises(ValueError, match="data_format"):
        kind(2, "X")


@pytest.mark.parametrize(
    "layer, text",
    [
        (nn.PixelShuffle(2), "PixelShuffle(upscale_factor=2)"),
        (nn.PixelUnshuffle(2, "NHWC"), "PixelUnshuffle(downscale_factor=2, data_format=NHWC)"),
        (nn.ChannelShuffle(2, "NHWC", name="c"), "ChannelShuffle(groups=2, data_format=NHWC, name=c)"),
    ],
)
def test_repr_is_paddles(layer, text):
    assert repr(layer) == text


@pytest.mark.parametrize("ratio", [0.25, 0.4, 0.125, 0.0])
def test_temporal_shift_moves_channels_in_time(ratio, check_gradient):
    x = rng.normal(size=(6, 8, 2, 3))  # two videos of three frames
    videos = x.reshape(2, 3, 8, 2, 3)
    first, second = int(8 * ratio), int(8 * 2 * ratio)
    expected = videos.copy()
    expected[:, :, :second] = 0
    expected[:, 1:, :first] = videos[:, :-1, :first]
    expected[:, :-1, first:second] = videos[:, 1:, first:second]
    expected = expected.reshape(x.shape)
    np.testing.assert_array_equal(F.temporal_shift(wt.to_tensor(x), 3, ratio).numpy(), expected)
    last = F.temporal_shift(wt.to_tensor(x.transpose(0, 2, 3, 1)), 3, ratio, data_format="NHWC")
    np.testing.assert_array_equal(last.numpy(), expected.transpose(0, 2, 3, 1))
    check_gradient(lambda x: F.temporal_shift(x, 3, ratio), x[:3])


def test_temporal_shift_refuses():
    x = wt.ones([4, 8, 2, 2])
    with pytest.raises(ValueError, match="Got seg_num=3"):
        F.temporal_shift(x, 3)
    for ratio in 0.5, -0.1:
        with pytest.raises(ValueError, match="shift_ratio"):
            F.temporal_shift(x, 2, ratio)
    with pytest.raises(ValueError, match="data_format"):
        F.temporal_shift(x, 2, data_format="X")
    with pytest.raises(ValueError, match="'seg_num' must be one integer"):
        F.temporal_shift(x, 2.0)


def test_a_layer_shows_arguments_that_are_too_deep_for_repr():
    deep: list[object] = []
    for _ in range(100_000):
        deep = [deep]
    assert "[[[[...]]]]" in repr(nn.Unfold(deep))


def test_affine_grid_refuses_a_shape_without_sizes():
    with pytest.raises(ValueError, match="affine_grid: the maps do not fit the result. Got theta of shape .* and out_shape=\\[\\]"):
        F.affine_grid(wt.ones([1, 2, 3]), [])
