"""Convolution layers: parameters, first values, modes of padding, texts."""
import math

import numpy as np
import pytest

import wherry_nn as nn
import wherry_nn.functional as F
import wherry_tensor as wt
from wherry_nn import unique_name
from windows import values

LAYERS = {1: nn.Conv1D, 2: nn.Conv2D, 3: nn.Conv3D}
TRANSPOSED = {1: nn.Conv1DTranspose, 2: nn.Conv2DTranspose, 3: nn.Conv3DTranspose}
FORMATS = {1: ("NCL", "NLC"), 2: ("NCHW", "NHWC"), 3: ("NCDHW", "NDHWC")}


@pytest.mark.parametrize("rank", [1, 2, 3])
def test_parameters_and_their_names(rank):
    with unique_name.guard():
        layer, back = LAYERS[rank](4, 6, 3, groups=2), TRANSPOSED[rank](4, 6, 3, groups=2)
        bare = LAYERS[rank](4, 6, 3, bias_attr=False)
    kernel = [3] * rank
    names = [{name: (value.name, value.shape) for name, value in one.state_dict().items()} for one in (layer, back, bare)]
    assert names == [
        {"weight": (f"conv{rank}d_0.w_0", [6, 2, *kernel]), "bias": (f"conv{rank}d_0.b_0", [6])},
        {"weight": (f"conv{rank}d_transpose_0.w_0", [4, 3, *kernel]), "bias": (f"conv{rank}d_transpose_0.b_0", [6])},
        {"weight": (f"conv{rank}d_1.w_0", [6, 4, *kernel])},
    ]
    assert bare.bias is None


def test_first_values():
    wt.seed(0)
    weight = nn.Conv2D(16, 64, 5, groups=4).weight.numpy()
    assert weight.std() == pytest.approx(math.sqrt(2 / (16 * 25)), rel=0.03)  # in_channels, whatever the groups
    assert np.abs(weight).max() > 3 * weight.std()  # normal, not uniform
    weight = nn.Conv2DTranspose(16, 32, 5).weight.numpy()
    bound = math.sqrt(6 / (16 * 25 + 32 * 25))
    assert 0.99 * bound < np.abs(weight).max() <= bound


@pytest.mark.parametrize("rank", [1, 2, 3])
@pytest.mark.parametrize("last", [0, 1])
def test_layers_are_their_functions(rank, last):
    data_format = FORMATS[rank][last]
    x = wt.to_tensor(values(2, *[5] * rank, 4).astype("float32") if last else values(2, 4, *[5] * rank).astype("float32"))
    options = dict(stride=2, padding=1, dilation=2, groups=2, data_format=data_format)
    layer, back = LAYERS[rank](4, 6, 3, **options), TRANSPOSED[rank](4, 6, 3, output_padding=1, **options)
    expected = getattr(F, f"conv{rank}d")(x, layer.weight, layer.bias, **options).numpy()
    np.testing.assert_array_equal(layer(x).numpy(), expected)
    function = getattr(F, f"conv{rank}d_transpose")
    np.testing.assert_array_equal(
        back(x).numpy(), function(x, back.weight, back.bias, output_padding=1, **options).numpy()
    )
    size = [12] * rank
    np.testing.assert_array_equal(
        back(x, size).numpy(), function(x, back.weight, back.bias, output_size=size, **options).numpy()
    )
    same = LAYERS[rank](4, 6, 3, padding="SAME", stride=2, data_format=data_format)
    assert same(x).shape == ([2, *[3] * rank, 6] if last else [2, 6, *[3] * rank])


@pytest.mark.parametrize(("mode", "numpy_mode"), [("reflect", "reflect"), ("replicate", "edge"), ("circular", "wrap")])
@pytest.mark.parametrize("rank", [1, 2, 3])
@pytest.mark.parametrize("last", [False, True])
def test_modes_of_padding(rank, last, mode, numpy_mode):
    x = values(2, 4, *[5] * rank).astype("float32")
    layer = LAYERS[rank](4, 6, 3, padding=2, padding_mode=mode, stride=2, data_format=FORMATS[rank][last])
    padded = wt.to_tensor(np.pad(x, ((0, 0), (0, 0), *[(2, 2)] * rank), mode=numpy_mode))
    expected = getattr(F, f"conv{rank}d")(padded, layer.weight, layer.bias, stride=2).numpy()
    out = layer(wt.to_tensor(np.moveaxis(x, 1, -1).copy() if last else x)).numpy()
    np.testing.assert_allclose(np.moveaxis(out, -1, 1) if last else out, expected, atol=1e-5)


@pytest.mark.parametrize(
    ("layer", "text"),
    [
        (lambda: nn.Conv2D(4, 6, 3), "Conv2D(4, 6, kernel_size=[3, 3], data_format=NCHW)"),
        (
            lambda: nn.Conv1D(4, 6, 3, padding=1, stride=2, dilation=2, groups=2, padding_mode="reflect"),
            "Conv1D(4, 6, kernel_size=[3], stride=[2], padding=1, padding_mode=reflect, dilation=[2], groups=2, data_format=NCL)",
        ),
        (
            lambda: nn.Conv2D(4, 6, [3, 5], padding="SAME", data_format="NHWC", stride=2),
            "Conv2D(4, 6, kernel_size=[3, 5], stride=[2, 2], padding=SAME, data_format=NHWC)",
        ),
        (lambda: nn.Conv2D(4, 6, 3, padding=[1, 2]), "Conv2D(4, 6, kernel_size=[3, 3], padding=[1, 2], data_format=NCHW)"),
        (
            lambda: nn.Conv3DTranspose(4, 6, 3, output_padding=1, stride=2),
            "Conv3DTranspose(4, 6, kernel_size=[3, 3, 3], stride=[2, 2, 2], output_padding=1, data_format=NCDHW)",
        ),
    ],
)
def test_texts(layer, text):
    assert repr(layer()) == text


def test_gradients_reach_the_parameters():
    layer = nn.Conv2D(2, 3, 3, padding=1)
    layer(wt.ones([1, 2, 4, 4])).sum().backward()
    assert layer.bias.grad.numpy() == pytest.approx([16.0] * 3)
    assert layer.weight.grad.shape == [3, 2, 3, 3]


@pytest.mark.parametrize(
    ("call", "error", "match"),
    [
        (lambda: nn.Conv2D(3, 4, 3, groups=2), ValueError, "divisible by groups"),
        (lambda: nn.Conv2D(4, 4, 3, groups=0), ValueError, "greater than 0"),
        (lambda: nn.Conv2D(4, 4, 3, padding_mode="mirror"), ValueError, "padding_mode"),
        (lambda: nn.Conv2D(4, 4, 3, padding_mode="reflect", padding="SAME"), TypeError, "must be int"),
        (lambda: nn.Conv2D(4, 4, 3, padding_mode="circular", padding=[1, 2]), TypeError, "must be int"),
        (lambda: nn.Conv2D(4, 4, 3, data_format="NCL"), ValueError, "data_format"),
        (lambda: nn.Conv2D(4, 4, [3]), ValueError, "length must be 2"),
        (lambda: nn.Conv2D(4, 4, 0), ValueError, "kernel_size is too small"),
        (lambda: nn.Conv2D(0, 4, 3), AssertionError, "larger than 0"),
        (lambda: nn.Conv2D(4, 4, 3, weight_attr=False), AssertionError, "should not be False"),
        (lambda: nn.Conv2D(4, 4, 3, padding="full"), ValueError, "Unknown padding"),
        (lambda: nn.Conv2DTranspose(4, 4, 3, output_padding=-1), ValueError, "too small"),
        (lambda: nn.Conv2D(4, 4, 3)(wt.ones([4, 8, 8])), ValueError, "four axes"),
        (lambda: nn.Conv2D(4, 4, 3)(wt.ones([1, 4, 8, 8], "float64")), TypeError, "one dtype"),
        (lambda: nn.Conv2D(4, 4, 3)(np.ones([1, 4, 8, 8])), TypeError, "must be a Tensor"),
    ],
)
def test_refused_arguments(call, error, match):
    with pytest.raises(error, match=match):
        call()
