"""Convolutions of all ranks against sums over windows; forms of padding; what is refused."""
import numpy as np
import pytest

import wherry_nn.functional as F
import wherry_tensor as wt
from windows import convolution, last, transposed_convolution, values

CONVOLUTIONS = {1: F.conv1d, 2: F.conv2d, 3: F.conv3d}
TRANSPOSED = {1: F.conv1d_transpose, 2: F.conv2d_transpose, 3: F.conv3d_transpose}
FORMATS = {1: ("NCL", "NLC"), 2: ("NCHW", "NHWC"), 3: ("NCDHW", "NDHWC")}
SIZES = {1: (9,), 2: (6, 7), 3: (5, 4, 6)}


def tensors(*arrays):
    return [wt.to_tensor(array) for array in arrays]


@pytest.mark.parametrize("data_format", [0, 1])
@pytest.mark.parametrize("rank", [1, 2, 3])
@pytest.mark.parametrize(
    ("options", "pads", "groups"),
    [
        (dict(), (0, 0), 1),
        (dict(stride=2, padding=1), (1, 1), 1),
        (dict(padding="valid"), (0, 0), 2),
        (dict(dilation=2, padding=2, groups=2), (2, 2), 2),
    ],
)
def test_convolution_sums_over_windows(rank, options, pads, groups, data_format):
    x, weight, bias = values(2, 4, *SIZES[rank]), values(6, 4 // groups, *[2] * rank), values(6)
    options = {"groups": groups, **options}
    given = last(x) if data_format else x
    out = CONVOLUTIONS[rank](*tensors(given, weight, bias), **options, data_format=FORMATS[rank][data_format]).numpy()
    expected = convolution(
        x, weight, bias, [options.get("stride", 1)] * rank, [pads] * rank, [options.get("dilation", 1)] * rank, groups
    )
    np.testing.assert_allclose(out, last(expected) if data_format else expected, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize(
    ("rank", "padding", "pads"),
    [
        (1, [1, 2], [(1, 2)]),
        (1, [2], [(2, 2)]),
        (1, [[0, 0], [0, 0], [2, 1]], [(2, 1)]),
        (2, [1, 2], [(1, 1), (2, 2)]),
        (2, (0, 1, 2, 0), [(0, 1), (2, 0)]),
        (2, [(0, 0), (0, 0), (1, 0), (0, 2)], [(1, 0), (0, 2)]),
        (2, np.array([1, 0]), [(1, 1), (0, 0)]),
        (3, [1, 0, 2], [(1, 1), (0, 0), (2, 2)]),
        (3, [0, 1, 1, 0, 2, 1], [(0, 1), (1, 0), (2, 1)]),
        (3, [[0, 0], [0, 0], [0, 1], [1, 0], [2, 1]], [(0, 1), (1, 0), (2, 1)]),
    ],
)
def test_forms_of_padding(rank, padding, pads):
    x, weight, bias = values(1, 2, *SIZES[rank]), values(3, 2, *[2] * rank), values(3)
    ones = [1] * rank
    out = CONVOLUTIONS[rank](*tensors(x, weight, bias), padding=padding).numpy()
    np.testing.assert_allclose(out, convolution(x, weight, bias, ones, pads, ones, 1), atol=1e-10)


def test_pairs_follow_the_layout():
    x, weight = tensors(values(1, 5, 6, 2), values(3, 2, 1, 1))
    assert F.conv2d(x, weight, padding=[[0, 0], [1, 2], [0, 3], [0, 0]], data_format="NHWC").shape == [1, 8, 9, 3]
    with pytest.raises(ValueError, match="batch or channel dimensions"):
        F.conv2d(x, weight, padding=[[0, 0], [0, 0], [1, 2], [0, 3]], data_format="NHWC")


@pytest.mark.parametrize(("size", "kernel", "stride", "pads"), [(6, 3, 1, (1, 1)), (6, 3, 2, (0, 1)), (7, 2, 3, (0, 1)), (5, 1, 2, (0, 0))])
def test_same_pads_until_the_size_divided_by_the_stride(size, kernel, stride, pads):
    x, weight = values(1, 2, size, size), values(3, 2, kernel, kernel)
    out = F.conv2d(*tensors(x, weight), stride=stride, padding="SAME", dilation=2).numpy()  # which resets dilation
    assert out.shape[2] == -(-size // stride)
    expected = convolution(x, weight, np.zeros(3), [stride] * 2, [pads] * 2, [1, 1], 1)
    np.testing.assert_allclose(out, expected, atol=1e-10)


@pytest.mark.parametrize("data_format", [0, 1])
@pytest.mark.parametrize("rank", [1, 2, 3])
@pytest.mark.parametrize(
    ("options", "groups"),
    [
        (dict(), 1),
        (dict(stride=2, output_padding=1), 2),
        (dict(stride=3, padding=1, dilation=2), 1),
        (dict(stride=2, padding=[1, 0], output_size=1), 1),  # output_size: so much more than needed
    ],
)
def test_transposed_convolution_adds_windows(rank, options, groups, data_format):
    x, weight, bias = values(2, 4, *[3, 4, 2][:rank]), values(4, 3, *[3, 2, 2][:rank]), values(3 * groups)
    stride, dilation = options.get("stride", 1), options.get("dilation", 1)
    before, after = (1, 0) if isinstance(options.get("padding"), list) else (options.get("padding", 0),) * 2
    more = options.get("output_padding", 0) + options.get("output_size", 0)
    size = [(n - 1) * stride - before - after + dilation * (k - 1) + 1 + more
            for n, k in zip(x.shape[2:], weight.shape[2:], strict=True)]
    options = dict(options, groups=groups)
    if "output_size" in options:
        options.update(output_size=size, padding=[before, after] * rank)
    given = last(x) if data_format else x
    out = TRANSPOSED[rank](*tensors(given, weight, bias), **options, data_format=FORMATS[rank][data_format]).numpy()
    expected = transposed_convolution(
        x, weight, bias, [stride] * rank, [(before, after)] * rank, [dilation] * rank, groups, size
    )
    np.testing.assert_allclose(out, last(expected) if data_format else expected, rtol=1e-10, atol=1e-10)


def test_output_size_may_be_one_number_or_a_tensor():
    x, weight = tensors(values(1, 2, 4, 4), values(2, 3, 3, 3))
    for wanted in 10, [10, 10], wt.to_tensor([10, 10]):
        assert F.conv2d_transpose(x, weight, stride=2, output_size=wanted).shape == [1, 3, 10, 10]


@pytest.mark.parametrize("rank", [1, 2, 3])
def test_gradients_agree_with_differences(rank, check_gradient):
    x, weight, bias = values(1, 2, *SIZES[rank]), values(4, 1, *[2] * rank), values(4)
    check_gradient(lambda *given: CONVOLUTIONS[rank](*given, stride=2, padding=1, groups=2), x, weight, bias)
    x, weight = values(1, 2, *[3, 2, 2][:rank]), values(2, 2, *[2] * rank)
    check_gradient(lambda *given: TRANSPOSED[rank](*given, stride=2, output_padding=1), x, weight, values(2))


def test_empty_batch_gives_an_empty_result():
    x, weight = tensors(np.zeros((0, 2, 5, 5)), values(3, 2, 3, 3))
    assert F.conv2d(x, weight, padding=1).shape == [0, 3, 5, 5]


X, WEIGHT = np.zeros((2, 4, 8, 8), "float32"), np.zeros((6, 4, 3, 3), "float32")


@pytest.mark.parametrize(
    ("options", "match"),
    [
        (dict(padding=-1), "larger than or equal to 0"),
        (dict(padding=[1, 2, 3]), "Invalid padding"),
        (dict(padding=1.5), "Invalid padding"),
        (dict(padding=[[1, 2], [3, 4]]), "Invalid padding"),
        (dict(padding="full"), "Unknown padding.*'SAME' or 'VALID'"),
        (dict(padding=[[1, 0], [0, 0], [1, 2], [3, 4]]), "batch or channel"),
        (dict(stride=0), "stride is too small"),
        (dict(stride=[1, 2, 3]), "length must be 2"),
        (dict(stride="a"), "length must be 2"),
        (dict(stride=True), "length must be 2"),
        (dict(dilation=0), "dilation is too small"),
        (dict(groups=0), "greater than 0"),
        (dict(groups=3), "channels of the input do not fit"),
        (dict(data_format="NCL"), "data_format"),
        (dict(bias=wt.zeros([5])), r"`bias` does not fit.*\[6\]"),
    ],
)
def test_refused_arguments(options, match):
    with pytest.raises(ValueError, match=match):
        F.conv2d(*tensors(X, WEIGHT), **options)


@pytest.mark.parametrize(
    ("x", "weight", "error", "match"),
    [
        (X[0], WEIGHT, ValueError, "should be 4D"),
        (X, WEIGHT[0], ValueError, "set of windows"),
        (X[:, :, :2], WEIGHT, ValueError, "larger than the padded input"),
        (X.astype("float64"), WEIGHT, TypeError, "one dtype"),
        (X.astype("int32"), WEIGHT.astype("int32"), TypeError, "int32"),
    ],
)
def test_refused_tensors(x, weight, error, match):
    with pytest.raises(error, match=match):
        F.conv2d(*tensors(x, weight))


def test_what_is_no_tensor_is_named():
    with pytest.raises(TypeError, match="'weight' must be a Tensor"):
        F.conv2d(wt.to_tensor(X), WEIGHT)
    with pytest.raises(ValueError, match="'x' must be a Tensor"):
        F.conv1d_transpose(X, wt.to_tensor(WEIGHT))


@pytest.mark.parametrize(
    ("options", "match"),
    [
        (dict(stride=2, output_padding=2), "output_size does not belong"),
        (dict(stride=2, output_padding=-1), "too small"),
        (dict(stride=2, output_padding=1, output_size=18), "mutually exclusive"),
        (dict(stride=2, output_size=19), r"\[17, 19\)"),
        (dict(stride=2, output_size=16), r"\[17, 19\)"),
        (dict(groups=3), "channels of `x` do not fit"),
    ],
)
def test_refused_arguments_of_the_transpose(options, match):
    with pytest.raises(ValueError, match=match):
        F.conv2d_transpose(wt.zeros([1, 2, 8, 8]), wt.zeros([2, 3, 3, 3]), **options)
