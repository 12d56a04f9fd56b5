"""Padding: all modes and layouts against NumPy's, gradients, errors."""
import numpy as np
import pytest

import wherry_nn as nn
import wherry_nn.functional as F
import wherry_tensor as wt

NUMPY_MODE = {"constant": "constant", "reflect": "reflect", "replicate": "edge", "circular": "wrap"}
rng = np.random.default_rng(0)

# shape, data_format, spatial axes
LAYOUTS = [
    ([2, 3, 5], "NCL", [2]),
    ([2, 5, 3], "NLC", [1]),
    ([2, 3, 4, 5], "NCHW", [2, 3]),
    ([2, 4, 5, 3], "NHWC", [1, 2]),
    ([1, 2, 3, 4, 5], "NCDHW", [2, 3, 4]),
    ([1, 3, 4, 5, 2], "NDHWC", [1, 2, 3]),
]


@pytest.mark.parametrize("shape, data_format, axes", LAYOUTS)
@pytest.mark.parametrize("mode", NUMPY_MODE)
def test_pad_is_numpys(shape, data_format, axes, mode, check_gradient):
    x = rng.normal(size=shape)
    borders = [(1, 2), (2, 0), (0, 1)][: len(axes)]  # of the last spatial axis, the one before, ...
    widths = [(0, 0)] * len(shape)
    for axis, border in zip(reversed(axes), borders):
        widths[axis] = border
    counts = [count for border in borders for count in border]
    expected = np.pad(x, widths, NUMPY_MODE[mode])
    out = F.pad(wt.to_tensor(x), counts, mode, data_format=data_format)
    np.testing.assert_array_equal(out.numpy(), expected)
    layer = [nn.Pad1D, nn.Pad2D, nn.Pad3D][len(axes) - 1](counts, mode, data_format=data_format)
    np.testing.assert_array_equal(layer(wt.to_tensor(x)).numpy(), expected)
    check_gradient(lambda x: F.pad(x, counts, mode, data_format=data_format), x)


@pytest.mark.parametrize("mode", ["replicate", "circular"])
def test_pad_by_more_than_there_is(mode):
    x = rng.normal(size=(1, 2, 3, 4))
    expected = np.pad(x, [(0, 0), (0, 0), (7, 8), (5, 9)], NUMPY_MODE[mode])
    np.testing.assert_array_equal(F.pad(wt.to_tensor(x), [5, 9, 7, 8], mode).numpy(), expected)


def test_pad_of_all_axes_begins_with_the_first():
    x = rng.normal(size=(2, 3))
    out = F.pad(wt.to_tensor(x), [1, 0, 2, 3], value=7.0)
    np.testing.assert_array_equal(out.numpy(), np.pad(x, [(1, 0), (2, 3)], constant_values=7))
    assert F.pad(wt.ones([3]), [1, 1]).tolist() == [0, 1, 1, 1, 0]
    assert F.pad(wt.ones([1] * 6), [1] * 12).shape == [3] * 6
    x = rng.normal(size=(1, 2, 3, 4))
    out = F.pad(wt.to_tensor(x), [0, 0, 1, 1, 2, 0, 0, 3])
    np.testing.assert_array_equal(out.numpy(), np.pad(x, [(0, 0), (1, 1), (2, 0), (0, 3)]))


def test_counts_come_in_many_forms():
    x = wt.to_tensor(rng.normal(size=(1, 2, 3, 4)))
    expected = F.pad(x, [1, 1, 1, 1]).numpy()
    for counts in (1, 1, 1, 1), 1, wt.to_tensor([1, 1, 1, 1]), np.array([1, 1, 1, 1]), [wt.to_tensor([1]), 1, 1, 1]:
        np.testing.assert_array_equal(F.pad(x, counts).numpy(), expected)


def test_negative_counts_cut():
    x = rng.normal(size=(1, 2, 5, 6))
    np.testing.assert_array_equal(F.pad(wt.to_tensor(x), [-1, -2, 0, 0]).numpy(), x[..., 1:-2])
    np.testing.assert_array_equal(F.pad(wt.to_tensor(x), [-1, -2, 0, 0], "replicate").numpy(), x[..., 1:-2])
    out = F.pad(wt.to_tensor(x), [-1, 1, 0, 0], "reflect").numpy()
    np.testing.assert_array_equal(out, np.pad(x, [(0, 0)] * 3 + [(0, 1)], "reflect")[..., 1:])


@pytest.mark.parametrize("dtype", ["int32", "int64", "bool", "float16", "complex64"])
def test_pad_keeps_the_dtype(dtype):
    x = wt.ones([1, 1, 2, 2], "float32").astype(dtype)
    for mode in NUMPY_MODE:
        assert F.pad(x, [1, 1, 1, 1], mode).dtype is x.dtype


def test_value_takes_the_dtype():
    x = wt.zeros([1, 1, 1], "int64")
    assert F.pad(x, [1, 0], value=2.7, data_format="NCL").flatten().tolist() == [2, 0]
    assert F.pad(x.astype("float32"), [1, 0], value=wt.to_tensor(2.5), data_format="NCL").flatten().tolist() == [2.5, 0]


def test_pad_of_nothing():
    assert F.pad(wt.zeros([0, 1, 2, 2]), [1, 1, 1, 1], "reflect").shape == [0, 1, 4, 4]
    assert F.pad(wt.zeros([1, 1, 0, 2]), [1, 1, 1, 1]).shape == [1, 1, 2, 4]
    with pytest.raises(ValueError, match="an axis to pad is empty"):
        F.pad(wt.zeros([1, 1, 0, 2]), [1, 1, 1, 1], "replicate")


@pytest.mark.parametrize(
    "error, match, arguments",
    [
        (AssertionError, "mode should be one of", ([1, 1, 1, 1], "x")),
        (AssertionError, "data_format should be in one of", ([1, 1, 1, 1], "constant", 0.0, "X")),
        (AssertionError, r"should be in \['NCHW', 'NHWC'\]", ([1, 1, 1, 1], "constant", 0.0, "NCL")),
        (ValueError, r"Got 2 counts for x of shape \[1, 2, 3, 4\], expected 4", ([1, 2],)),
        (ValueError, "Got 3 counts", ([1, 2, 3],)),
        (ValueError, "Got 8 counts", ([1] * 8, "reflect")),
        (ValueError, "expected less than 3 each", ([1, 1, 3, 1], "reflect")),
        (ValueError, r"'pad\[0\]' must be one integer", ([1.0, 2.0, 3.0, 4.0],)),
        (TypeError, "pad must be a list. Got pad='a'", ("a",)),
        (TypeError, "pad must be a list. Got pad=None", (None,)),
        (ValueError, "'value' must be one number", ([1, 1, 1, 1], "constant", "a")),
        (ValueError, "negative counts cut away more than there is", ([-3, -3, 0, 0], "replicate")),
    ],
)
def test_pad_refuses(error, match, arguments):
    with pytest.raises(error, match=match):
        F.pad(wt.ones([1, 2, 3, 4]), *arguments)


def test_pad_refuses_other_ranks():
    with pytest.raises(AssertionError, match=r"must be in \[3, 4, 5\]. Got x of shape \[3, 4\]"):
        F.pad(wt.ones([3, 4]), [1, 2])
    with pytest.raises(ValueError, match="must be a Tensor"):
        F.pad([1.0], [1, 1])


def test_zero_padding():
    x = rng.normal(size=(1, 2, 3, 4))
    expected = np.pad(x, [(0, 0), (0, 0), (3, 4), (1, 2)])
    np.testing.assert_array_equal(F.zeropad2d(wt.to_tensor(x), [1, 2, 3, 4]).numpy(), expected)
    np.testing.assert_array_equal(nn.ZeroPad2D([1, 2, 3, 4])(wt.to_tensor(x)).numpy(), expected)
    assert nn.ZeroPad2D(1, data_format="NHWC")(wt.to_tensor(x)).shape == [1, 4, 5, 4]


@pytest.mark.parametrize(
    "layer, text",
    [
        (nn.Pad1D([1, 2]), "Pad1D(padding=[1, 2], mode=constant, value=0.0, data_format=NCL)"),
        (nn.Pad2D(1, "reflect"), "Pad2D(padding=[1, 1, 1, 1], mode=reflect, value=0.0, data_format=NCHW)"),
        (nn.Pad3D(1, name="p"), "Pad3D(padding=[1, 1, 1, 1, 1, 1], mode=constant, value=0.0, data_format=NCDHW, name=p)"),
        (nn.ZeroPad2D(1), "ZeroPad2D(padding=[1, 1, 1, 1], data_format=NCHW)"),
    ],
)
def test_repr_is_paddles(layer, text):
    assert repr(layer) == text
