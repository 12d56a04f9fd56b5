"""Unfold and fold: against windows cut one by one, as transposes of each other, errors."""
import numpy as np
import pytest

import wherry_nn as nn
import wherry_nn.functional as F
import wherry_tensor as wt

rng = np.random.default_rng(0)

# kernel_sizes, strides, paddings, dilations
WINDOWS = [
    (3, 1, 0, 1),
    ([2, 3], 2, 1, 2),
    ([2, 3], [2, 1], [1, 2], [1, 2]),
    ([2, 3], 1, [1, 2, 0, 3], 1),
    (1, 3, 0, 1),
    ([7, 8], 1, 1, 1),  # more elements than there are slices
]


def pair(value):
    return [value, value] if isinstance(value, int) else list(value)


def columns(x, kernel, strides, paddings, dilations):
    (kh, kw), (sh, sw), (dh, dw) = pair(kernel), pair(strides), pair(dilations)
    top, left, bottom, right = paddings if isinstance(paddings, list) and len(paddings) == 4 else pair(paddings) * 2
    x = np.pad(x, [(0, 0), (0, 0), (top, bottom), (left, right)])
    height, width = x.shape[2:]
    found = [
        x[:, :, i : i + dh * (kh - 1) + 1 : dh, j : j + dw * (kw - 1) + 1 : dw].reshape(len(x), -1)
        for i in range(0, height - dh * (kh - 1), sh)
        for j in range(0, width - dw * (kw - 1), sw)
    ]
    return np.stack(found, axis=2)


@pytest.mark.parametrize("kernel, strides, paddings, dilations", WINDOWS)
def test_unfold_cuts_windows(kernel, strides, paddings, dilations, check_gradient):
    x = rng.normal(size=(2, 3, 7, 8))
    expected = columns(x, kernel, strides, paddings, dilations)
    np.testing.assert_array_equal(F.unfold(wt.to_tensor(x), kernel, strides, paddings, dilations).numpy(), expected)
    layer = nn.Unfold(kernel, dilations, paddings, strides)
    np.testing.assert_array_equal(layer(wt.to_tensor(x)).numpy(), expected)
    check_gradient(lambda x: F.unfold(x, kernel, strides, paddings, dilations), x[:1, :2])


@pytest.mark.parametrize("kernel, strides, paddings, dilations", WINDOWS)
def test_fold_is_the_transpose_of_unfold(kernel, strides, paddings, dilations, check_gradient):
    # <unfold(a), b> = <a, fold(b)> for all a and b
    a = rng.normal(size=(2, 3, 7, 8))
    unfolded = columns(a, kernel, strides, paddings, dilations)
    b = rng.normal(size=unfolded.shape)
    folded = F.fold(wt.to_tensor(b), [7, 8], kernel, strides, paddings, dilations)
    assert folded.shape == [2, 3, 7, 8]
    np.testing.assert_allclose((unfolded * b).sum(), (a * folded.numpy()).sum(), rtol=1e-12)
    layer = nn.Fold([7, 8], kernel, dilations, paddings, strides)
    np.testing.assert_array_equal(layer(wt.to_tensor(b)).numpy(), folded.numpy())
    check_gradient(lambda x: F.fold(x, [7, 8], kernel, strides, paddings, dilations), b[:1])


@pytest.mark.parametrize("kernel, strides, paddings, dilations", WINDOWS)
@pytest.mark.parametrize("dtype", ["float32", "float64", "int64"])
def test_large_images_go_by_slices(kernel, strides, paddings, dilations, dtype):
    x = rng.integers(-9, 9, (2, 9, 31, 34)).astype(dtype)
    unfolded = columns(x, kernel, strides, paddings, dilations)
    assert unfolded.size >= 1 << 14 or kernel == 1
    for still in (True, False):
        given = wt.to_tensor(x, stop_gradient=still or dtype == "int64")
        out = F.unfold(given, kernel, strides, paddings, dilations)
        np.testing.assert_array_equal(out.numpy(), unfolded)
        ones = wt.ones_like(out)
        folded = F.fold(ones, [31, 34], kernel, strides, paddings, dilations)
        if not given.stop_gradient:
            out.sum().backward()
            np.testing.assert_array_equal(given.grad.numpy(), folded.numpy())
    ones.stop_gradient = dtype == "int64"
    np.testing.assert_array_equal(F.fold(ones, [31, 34], kernel, strides, paddings, dilations).numpy(), folded.numpy())


def test_sizes_may_be_zero():
    assert F.unfold(wt.zeros([0, 3, 5, 5]), 3).shape == [0, 27, 9]
    assert F.fold(wt.zeros([0, 27, 9]), 5, 3).shape == [0, 3, 5, 5]


X = wt.ones([1, 3, 7, 8])
COLUMNS = wt.ones([2, 12, 12])
REFUSED = [
    (F.unfold, (X[0], 3), AssertionError, r"\[N, C, H, W\]. Got x of shape \[3, 7, 8\]"),
    (F.unfold, (X, [3, 3, 3]), AssertionError, "kernel_sizes should either be"),
    (F.unfold, (X, 3.0), AssertionError, "kernel_sizes should either be"),
    (F.unfold, (X, 3, 1, [1, 2, 3]), AssertionError, "paddings should either be"),
    (F.unfold, (X, 9), ValueError, r"no window fits.*gives \[-1, 0\] windows"),
    (F.unfold, (X, 0), ValueError, "kernel_sizes should be greater than zero"),
    (F.unfold, (X, 3, 0), ValueError, "strides should be greater than zero"),
    (F.unfold, (X, 3, 1, 0, 0), ValueError, "dilations should be greater than zero"),
    (F.unfold, ([1.0], 3), ValueError, "must be a Tensor"),
    (F.fold, (COLUMNS[0], [4, 5], 2), AssertionError, r"\[N, C, L\]"),
    (F.fold, (COLUMNS, [4, 5, 6], 2), AssertionError, "output_sizes should either be"),
    (F.fold, (COLUMNS, [4, 4], 2), ValueError, r"expected \[N, C \* 4, 3 \* 3 = 9\]"),
    (F.fold, (COLUMNS, [4, 5], [3, 3]), ValueError, r"expected \[N, C \* 9, 2 \* 3 = 6\]"),
    (F.fold, (COLUMNS, [4, -5], 2), ValueError, "output_sizes should be greater than zero"),
    (F.fold, (COLUMNS, [4, 5], [5, 2]), ValueError, "no window fits"),
]


@pytest.mark.parametrize("function, arguments, error, match", REFUSED)
def test_what_does_not_fit_is_refused(function, arguments, error, match):
    with pytest.raises(error, match=match):
        function(*arguments)


def test_repr_is_paddles():
    assert repr(nn.Unfold([1, 2], 2, [3, 3], 1)) == "Unfold(kernel_size=[1, 2], dilation=2, padding=[3, 3], stride=1)"
    assert repr(nn.Fold(4, 3, 2, 1, [1, 2], name="f")) == "Fold(kernel_size=3, dilation=2, padding=1, stride=[1, 2], name=f)"
