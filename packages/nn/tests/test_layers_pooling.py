"""Pooling layers: what they pass on, and their texts."""
import numpy as np
import pytest

import wherry_nn as nn
import wherry_nn.functional as F
import wherry_tensor as wt
from windows import values


def image(rank):
    return wt.to_tensor(values(2, 3, *[7] * rank).astype("float32"))


def same(layer, x, expected):
    found = layer(x)
    found, expected = (one if isinstance(one, tuple) else (one,) for one in (found, expected))
    assert len(found) == len(expected)
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one.numpy(), other.numpy())


@pytest.mark.parametrize("rank", [1, 2, 3])
def test_layers_are_their_functions(rank):
    x = image(rank)

    def layer(name, *args, **options):
        return getattr(nn, f"{name}{rank}D")(*args, **options)

    def function(name, *args, **options):
        return getattr(F, f"{name}{rank}d")(*args, **options)

    options = dict(stride=2, padding=1, ceil_mode=True)
    same(layer("MaxPool", 3, **options), x, function("max_pool", x, 3, **options))
    same(layer("MaxPool", 3, 2, 1, True), x, function("max_pool", x, 3, 2, 1, True))
    options["exclusive"] = False
    same(layer("AvgPool", 3, **options), x, function("avg_pool", x, 3, **options))
    same(layer("AdaptiveAvgPool", 3), x, function("adaptive_avg_pool", x, 3))
    same(layer("AdaptiveMaxPool", 3, True), x, function("adaptive_max_pool", x, 3, True))
    out, mask = function("max_pool", x, 2, return_mask=True)
    size = [7] * rank
    back = layer("MaxUnPool", 2, output_size=size)(out, mask).numpy()
    np.testing.assert_array_equal(back, function("max_unpool", out, mask, 2, output_size=size).numpy())
    if rank > 1:
        last = wt.to_tensor(np.moveaxis(x.numpy(), 1, -1).copy())
        data_format = {2: "NHWC", 3: "NDHWC"}[rank]
        same(layer("MaxPool", 3, data_format=data_format), last, function("max_pool", last, 3, data_format=data_format))
        same(
            layer("AvgPool", 3, divisor_override=2, data_format=data_format), last,
            function("avg_pool", last, 3, divisor_override=2, data_format=data_format),
        )
        same(
            layer("AdaptiveAvgPool", 3, data_format), last, function("adaptive_avg_pool", last, 3, data_format=data_format)
        )


# Expected texts are those of Paddle 2.6.2.


@pytest.mark.parametrize(
    ("layer", "text"),
    [
        (nn.MaxPool1D(2), "MaxPool1D(kernel_size=2, stride=None, padding=0)"),
        (nn.MaxPool2D([2, 3], 2, 1), "MaxPool2D(kernel_size=[2, 3], stride=2, padding=1)"),
        (nn.AvgPool3D(3, padding="SAME"), "AvgPool3D(kernel_size=3, stride=None, padding=SAME)"),
        (nn.AdaptiveAvgPool1D(3), "AdaptiveAvgPool1D(output_size=3)"),
        (nn.AdaptiveAvgPool2D([2, None]), "AdaptiveAvgPool2D(output_size=[2, None])"),
        (nn.AdaptiveMaxPool1D(2, True), "AdaptiveMaxPool1D(output_size=2, return_mask=True)"),
        (nn.AdaptiveMaxPool3D(2), "AdaptiveMaxPool3D(output_size=2, return_mask=False)"),
        (nn.MaxUnPool2D(2, output_size=[4, 4]), "MaxUnPool2D(output_size=[4, 4])"),
    ],
)
def test_texts(layer, text):
    assert repr(layer) == text


def test_names():
    assert nn.MaxUnPool1D(2).full_name().startswith("max_un_pool1d_")
    assert nn.AdaptiveAvgPool2D(2).full_name().startswith("adaptive_avg_pool2d_")
