"""Activation functions and layers: values, gradients, edges, errors, and what `repr` shows."""
import math

import numpy as np
import pytest

import wherry_nn as nn
import wherry_nn.functional as F
import wherry_tensor as wt

erf = np.vectorize(math.erf)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def softplus(x):
    return np.log1p(np.exp(x))


# function, layer, keyword arguments, definition
ACTIVATIONS = [
    (F.celu, nn.CELU, dict(alpha=0.5), lambda x: np.where(x > 0, x, 0.5 * np.expm1(x / 0.5))),
    (F.elu, nn.ELU, dict(alpha=0.5), lambda x: np.where(x > 0, x, 0.5 * np.expm1(x))),
    (F.gelu, nn.GELU, {}, lambda x: x * 0.5 * (1 + erf(x / math.sqrt(2)))),
    (
        F.gelu,
        nn.GELU,
        dict(approximate=True),
        lambda x: 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))),
    ),
    (F.hardshrink, nn.Hardshrink, dict(threshold=1.0), lambda x: np.where(abs(x) > 1, x, 0)),
    (F.hardsigmoid, nn.Hardsigmoid, {}, lambda x: np.clip(x * 0.1666667 + 0.5, 0, 1)),
    (F.hardswish, nn.Hardswish, {}, lambda x: x * np.clip(x + 3, 0, 6) / 6),
    (F.hardtanh, nn.Hardtanh, dict(min=-2.0, max=0.5), lambda x: np.clip(x, -2, 0.5)),
    (F.leaky_relu, nn.LeakyReLU, dict(negative_slope=0.25), lambda x: np.where(x > 0, x, 0.25 * x)),
    (F.log_sigmoid, nn.LogSigmoid, {}, lambda x: np.log(sigmoid(x))),
    (F.mish, nn.Mish, {}, lambda x: x * np.tanh(softplus(x))),
    (F.relu, nn.ReLU, {}, lambda x: np.maximum(x, 0)),
    (F.relu6, nn.ReLU6, {}, lambda x: np.clip(x, 0, 6)),
    (F.selu, nn.SELU, dict(scale=1.5, alpha=2.0), lambda x: 1.5 * np.where(x > 0, x, 2 * np.expm1(x))),
    (F.sigmoid, nn.Sigmoid, {}, sigmoid),
    (F.silu, nn.Silu, {}, lambda x: x * sigmoid(x)),
    (F.swish, nn.Swish, {}, lambda x: x * sigmoid(x)),
    (F.softplus, nn.Softplus, dict(beta=2, threshold=8), lambda x: np.where(2 * x > 8, x, softplus(2 * x) / 2)),
    (F.softshrink, nn.Softshrink, dict(threshold=1.0), lambda x: np.sign(x) * np.maximum(abs(x) - 1, 0)),
    (F.softsign, nn.Softsign, {}, lambda x: x / (1 + abs(x))),
    (F.tanh, nn.Tanh, {}, np.tanh),
    (F.tanhshrink, nn.Tanhshrink, {}, lambda x: x - np.tanh(x)),
    (F.thresholded_relu, nn.ThresholdedReLU, dict(threshold=1.5), lambda x: np.where(x > 1.5, x, 0)),
]
each = pytest.mark.parametrize("function, layer, options, definition", ACTIVATIONS)
VALUES = np.linspace(-7.03, 7.11, 36).reshape(4, 9)  # none of them where a function has a kink


@each
def test_value_is_that_of_the_definition(function, layer, options, definition):
    x = wt.to_tensor(VALUES)
    np.testing.assert_allclose(function(x, **options).numpy(), definition(VALUES), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(layer(**options)(x).numpy(), definition(VALUES), rtol=1e-12, atol=1e-12)


@each
def test_gradient_is_that_of_the_definition(function, layer, options, definition, check_gradient):
    check_gradient(lambda x: function(x, **options), VALUES)


@each
def test_shape_and_dtype_stay(function, layer, options, definition):
    for shape in [], [0, 3], [2, 1, 3]:
        for dtype in "float32", "float16":
            out = function(wt.zeros(shape, dtype), **options)
            assert out.shape == shape and out.dtype == getattr(wt, dtype)


@each
def test_what_is_no_tensor_is_refused(function, layer, options, definition):
    with pytest.raises(ValueError, match="must be a Tensor.*Got list"):
        function([1.0], **options)
    with pytest.raises(TypeError, match="must be a Tensor.*Got None"):
        function(None, **options)


@pytest.mark.parametrize("function", [F.celu, F.elu, F.leaky_relu, F.hardshrink, F.softshrink, F.thresholded_relu])
def test_numbers_come_as_tensors_and_numpy_scalars(function):
    x = wt.to_tensor([-2.0, 0.5])
    expected = function(x, 0.25).numpy()
    for number in wt.to_tensor(0.25), wt.to_tensor([0.25]), np.float32(0.25), np.float64(0.25):
        np.testing.assert_array_equal(function(x, number).numpy(), expected)


def test_integers_are_refused_where_results_are_fractions():
    with pytest.raises(TypeError, match="gelu: `x` has dtype int64"):
        F.gelu(wt.to_tensor([1]))
    with pytest.raises(TypeError, match="elu: `x` has dtype int64"):
        F.elu(wt.to_tensor([1]))


def test_numbers_that_are_text_are_refused():
    with pytest.raises(ValueError, match="elu: argument 'alpha' must be one number. Got 'a'"):
        F.elu(wt.ones([2]), "a")
    with pytest.raises(ValueError, match="gelu: argument 'approximate' must be a bool. Got 'tanh'"):
        F.gelu(wt.ones([2]), "tanh")


def test_numbers_out_of_range_are_refused():
    x = wt.ones([2])
    with pytest.raises(ZeroDivisionError, match="alpha cannot be 0"):
        F.celu(x, 0.0)
    with pytest.raises(ValueError, match=r"scale must be greater than 1\.0. Got scale=1\.0"):
        F.selu(x, scale=1.0)
    with pytest.raises(ValueError, match="alpha must be no less than zero"):
        F.selu(x, alpha=-1.0)
    with pytest.raises(ValueError, match="threshold must be no less than zero"):
        F.softshrink(x, -0.5)


def test_nan_stays_but_in_relu():
    nan = wt.to_tensor([float("nan")])
    assert math.isnan(F.relu6(nan).item()) and math.isnan(F.gelu(nan).item()) and math.isnan(F.elu(nan).item())
    assert F.relu(nan).item() == 0  # as in Paddle


def test_far_values_do_not_overflow():
    far = wt.to_tensor([-1000.0, 1000.0])
    assert F.log_sigmoid(far).tolist() == [-1000, 0]
    assert F.softplus(far).tolist() == [0, 1000]
    assert F.sigmoid(far).tolist() == [0, 1]
    assert F.elu(far).tolist() == [-1, 1000]
    assert F.silu(far).tolist() == [0, 1000]


# Softmax and its kin.


@pytest.mark.parametrize("axis", [0, 1, -1])
@pytest.mark.parametrize(
    "function, layer, finish", [(F.softmax, nn.Softmax, lambda p: p), (F.log_softmax, nn.LogSoftmax, np.log)]
)
def test_softmax_along_an_axis(function, layer, finish, axis, check_gradient):
    e = np.exp(VALUES)
    expected = finish(e / e.sum(axis=axis, keepdims=True))
    np.testing.assert_allclose(function(wt.to_tensor(VALUES), axis).numpy(), expected, rtol=1e-12)
    np.testing.assert_allclose(layer(axis)(wt.to_tensor(VALUES)).numpy(), expected, rtol=1e-12)
    check_gradient(lambda x: function(x, axis), VALUES[:, :3])


def test_softmax_casts_first():
    out = F.softmax(wt.to_tensor([1, 2]), dtype="float64")
    assert out.dtype is wt.float64
    np.testing.assert_allclose(out.numpy(), [sigmoid(-1), sigmoid(1)], rtol=1e-12)
    assert F.log_softmax(wt.ones([2]), dtype="float64").dtype is wt.float64


def test_softmax_of_one_element():
    assert F.softmax(wt.to_tensor(3.0)).item() == 1
    assert F.softmax(wt.to_tensor(3.0)).shape == [] and F.log_softmax(wt.to_tensor(3.0), 0).item() == 0


def test_softmax_of_nothing():
    assert F.softmax(wt.zeros([0, 3])).shape == [0, 3]
    assert F.softmax(wt.zeros([3, 0])).shape == [3, 0]


@pytest.mark.parametrize("function", [F.softmax, F.log_softmax, F.gumbel_softmax])
def test_softmax_refuses_axes(function):
    x = wt.ones([2, 3])
    with pytest.raises(ValueError, match=r"axis 2 is out of range.*\[-2, 2\)"):
        function(x, axis=2)
    with pytest.raises(ValueError, match="'axis' must be one integer"):
        function(x, axis=1.5)


def test_softmax2d_is_over_channels():
    x = np.random.default_rng(0).normal(size=(2, 3, 2, 2))
    expected = np.exp(x) / np.exp(x).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(nn.Softmax2D()(wt.to_tensor(x)).numpy(), expected, rtol=1e-12)
    np.testing.assert_allclose(nn.Softmax2D()(wt.to_tensor(x[0])).numpy(), expected[0], rtol=1e-12)
    with pytest.raises(AssertionError, match="3D or 4D.*2D"):
        nn.Softmax2D()(wt.ones([2, 2]))


def test_gumbel_softmax_draws_with_the_probabilities():
    wt.seed(1)
    probability = np.array([0.2, 0.3, 0.5])
    logits = wt.to_tensor(np.tile(np.log(probability), (20000, 1)))
    drawn = F.gumbel_softmax(logits, hard=True).numpy()
    assert set(np.unique(drawn)) == {0, 1} and (drawn.sum(axis=1) == 1).all()
    # The standard deviation of each share is at most 0.0036.
    np.testing.assert_allclose(drawn.mean(axis=0), probability, atol=0.015)


def test_gumbel_softmax_softens_with_temperature():
    wt.seed(1)
    hot = F.gumbel_softmax(wt.zeros([100, 4]), temperature=1000.0).numpy()
    np.testing.assert_allclose(hot, 0.25, atol=0.01)
    cold = F.gumbel_softmax(wt.zeros([100, 4]), temperature=1e-4).numpy()
    np.testing.assert_allclose(cold.sum(axis=1), 1, rtol=1e-6)
    assert (cold.max(axis=1) > 0.99).mean() > 0.9


def test_gumbel_softmax_has_the_gradient_of_the_soft_choice():
    x = np.array([0.3, -0.2, 0.1])
    gradients = []
    for hard in False, True:
        wt.seed(5)
        logits = wt.to_tensor(x, stop_gradient=False)
        (F.gumbel_softmax(logits, hard=hard) * wt.to_tensor([1.0, 2.0, 5.0], dtype="float64")).sum().backward()
        gradients.append(logits.grad.numpy())
    assert abs(gradients[0]).max() > 1e-3
    np.testing.assert_allclose(gradients[0], gradients[1], rtol=1e-12)


def test_gumbel_softmax_refuses_temperatures():
    with pytest.raises(ValueError, match=r"Got temperature=0\.0, expected more than 0"):
        F.gumbel_softmax(wt.ones([2]), 0.0)
    with pytest.raises(TypeError, match="dtype int64"):
        F.gumbel_softmax(wt.to_tensor([1, 2]))


def test_gumbel_softmax_in_16_bits():
    wt.seed(1)
    drawn = F.gumbel_softmax(wt.zeros([1000, 16], "float16"))
    assert drawn.dtype is wt.float16 and bool(wt.isfinite(drawn).all())


# Halves and groups.


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_glu_gates_one_half_with_the_other(axis, check_gradient):
    x = np.random.default_rng(0).normal(size=(4, 6))
    a, b = np.split(x, 2, axis=axis)
    np.testing.assert_allclose(F.glu(wt.to_tensor(x), axis).numpy(), a * sigmoid(b), rtol=1e-12)
    np.testing.assert_allclose(nn.GLU(axis)(wt.to_tensor(x)).numpy(), a * sigmoid(b), rtol=1e-12)
    check_gradient(lambda x: F.glu(x, axis), x)


def test_glu_refuses_odd_sizes():
    with pytest.raises(ValueError, match=r"Got size 3 along axis 1 of x of shape \[2, 3\]"):
        F.glu(wt.ones([2, 3]))
    with pytest.raises(ValueError, match="0-d tensor has no halves"):
        F.glu(wt.ones([]))
    with pytest.raises(ValueError, match="axis 2 is out of range"):
        F.glu(wt.ones([2, 4]), 2)


@pytest.mark.parametrize("axis", [1, 3, -1])
def test_maxout_takes_the_largest_of_a_group(axis, check_gradient):
    x = np.random.default_rng(0).permutation(2 * 6 * 2 * 6).reshape(2, 6, 2, 6) / 4
    if axis == 1:
        expected = x.reshape(2, 3, 2, 2, 6).max(axis=2)
    else:
        expected = x.reshape(2, 6, 2, 3, 2).max(axis=4)
    np.testing.assert_array_equal(F.maxout(wt.to_tensor(x), 2, axis).numpy(), expected)
    np.testing.assert_array_equal(nn.Maxout(2, axis)(wt.to_tensor(x)).numpy(), expected)
    check_gradient(lambda x: F.maxout(x, 2, axis), x)


def test_maxout_gives_the_gradient_to_the_first_of_equal_values():
    x = wt.zeros([1, 4, 1, 1])
    x.stop_gradient = False
    F.maxout(x, 2).sum().backward()
    assert x.grad.flatten().tolist() == [1, 0, 1, 0]


def test_maxout_refuses_what_does_not_fit():
    x = wt.ones([1, 6, 2, 2])
    with pytest.raises(ValueError, match="Got groups=4 for 6 channels"):
        F.maxout(x, 4)
    with pytest.raises(ValueError, match="Got groups=1 for 6 channels"):
        F.maxout(x, 1)
    with pytest.raises(ValueError, match="axis=2, expected rank 4"):
        F.maxout(x, 2, 2)
    with pytest.raises(ValueError, match=r"Got x of shape \[6, 2\]"):
        F.maxout(x[0, :, 0], 2)
    with pytest.raises(ValueError, match="'groups' must be one integer"):
        F.maxout(x, 2.0)


# Learned and random slopes.


@pytest.mark.parametrize(
    "shape, weights, data_format",
    [
        ([2, 3], [0.5], "NCHW"),
        ([2, 3], [0.5, 0.25, 2.0], "NC"),
        ([2, 3, 4], [0.5, 0.25, 2.0], "NCL"),
        ([2, 3, 4, 2], [0.5, 0.25, 2.0], "NCHW"),
        ([2, 4, 3], [0.5, 0.25, 2.0], "NLC"),
        ([2, 2, 4, 3], [0.5, 0.25, 2.0], "NHWC"),
        ([2, 3, 1, 2, 2], [0.5, 0.25, 2.0], "NCDHW"),
        ([], [0.5], "NCHW"),
    ],
)
def test_prelu_has_one_slope_for_each_channel(shape, weights, data_format, check_gradient):
    x = np.random.default_rng(0).normal(size=shape)
    w = np.array(weights)
    if w.size > 1:
        w = w.reshape([w.size if i == (1 if data_format[1] == "C" else len(shape) - 1) else 1 for i in range(len(shape))])
    expected = np.where(x > 0, x, x * w).reshape(shape)
    out = F.prelu(wt.to_tensor(x), wt.to_tensor(weights, dtype="float64"), data_format)
    assert out.shape == shape
    np.testing.assert_allclose(out.numpy(), expected, rtol=1e-12)
    check_gradient(lambda x, w: F.prelu(x, w, data_format), x, weights)


def test_prelu_refuses_what_does_not_fit():
    x = wt.ones([2, 3])
    with pytest.raises(AssertionError, match=r"Got weight of shape \[2\] and x of shape \[2, 3\], expected 3"):
        F.prelu(x, wt.ones([2]))
    with pytest.raises(AssertionError, match="too many axes"):
        F.prelu(x, wt.ones([1, 1]))
    with pytest.raises(AssertionError, match="does not fit"):
        F.prelu(wt.ones([3]), wt.ones([3]))
    with pytest.raises(ValueError, match="data_format must be one of"):
        F.prelu(x, wt.ones([3]), "XX")
    with pytest.raises(ValueError, match="must have one dtype. Got float32 and float64"):
        F.prelu(x, wt.ones([1], "float64"))


def test_prelu_layer_learns_its_slopes():
    layer = nn.PReLU(3, init=0.5)
    assert list(layer.state_dict()) == ["_weight"] and layer._weight.tolist() == [0.5] * 3
    layer(wt.to_tensor([[-2.0, 3.0, -4.0]])).sum().backward()
    assert layer._weight.grad.tolist() == [-2, 0, -4]
    with pytest.raises(AssertionError):
        nn.PReLU(0)


def test_rrelu_draws_a_slope_for_each_element():
    wt.seed(0)
    x = wt.full([1000], -1.0)
    slopes = -F.rrelu(x, 0.25, 0.75).numpy()
    assert slopes.min() >= 0.25 and slopes.max() <= 0.75 and len(set(slopes.tolist())) > 900
    assert abs(slopes.mean() - 0.5) < 0.03
    assert F.rrelu(wt.to_tensor([-2.0, 3.0]), 0.25, 0.75, training=False).tolist() == [-1, 3]
    layer = nn.RReLU(0.25, 0.75)
    assert len(set(layer(x).tolist())) > 900
    layer.eval()
    assert set(layer(x).tolist()) == {-0.5}


def test_rrelu_refuses_bounds():
    x = wt.ones([2])
    with pytest.raises(TypeError, match="must be float type"):
        F.rrelu(x, 0, 1)
    with pytest.raises(ValueError, match=r"Got lower=0\.5 and upper=0\.25"):
        F.rrelu(x, 0.5, 0.25)
    with pytest.raises(TypeError, match="Got x of dtype int64"):
        F.rrelu(wt.to_tensor([1]))


# In place.


@pytest.mark.parametrize(
    "inplace, function",
    [
        (F.relu_, F.relu),
        (F.elu_, F.elu),
        (F.tanh_, F.tanh),
        (F.softmax_, F.softmax),
        (F.hardtanh_, F.hardtanh),
        (F.leaky_relu_, F.leaky_relu),
        (F.thresholded_relu_, F.thresholded_relu),
    ],
)
def test_in_place_form_writes_the_result(inplace, function, check_gradient):
    x = wt.to_tensor(VALUES)
    expected = function(x).numpy()
    assert inplace(x) is x
    np.testing.assert_array_equal(x.numpy(), expected)
    check_gradient(lambda x: inplace(x * 1.0), VALUES[:2])
    leaf = wt.ones([2])
    leaf.stop_gradient = False
    with pytest.raises(ValueError, match="leaf"):
        inplace(leaf)


def test_softmax_in_place_may_change_the_dtype():
    x = wt.to_tensor([0.0, 0.0])
    assert F.softmax_(x, dtype="float64") is x
    assert x.dtype is wt.float64 and x.tolist() == [0.5, 0.5]


# What layers show.


@pytest.mark.parametrize(
    "layer, text",
    [
        (nn.CELU(0.5, name="c"), "CELU(alpha=0.5, name=c)"),
        (nn.GELU(True), "GELU(approximate=True)"),
        (nn.Hardtanh(), "Hardtanh(min=-1.0, max=1.0)"),
        (nn.LeakyReLU(), "LeakyReLU(negative_slope=0.01)"),
        (nn.Maxout(2), "Maxout(groups=2, axis=1)"),
        (nn.PReLU(), "PReLU(num_parameters=1, data_format=NCHW, init=0.25, dtype=float32)"),
        (nn.ReLU(name="r"), "ReLU(name=r)"),
        (nn.ReLU(), "ReLU()"),
        (nn.RReLU(), "RReLU(lower=0.125, upper=0.3333333333333333, training=True, dtype=float32)"),
        (nn.SELU(), "SELU(scale=1.0507009873554805, alpha=1.6732632423543772)"),
        (nn.Softmax(), "Softmax(axis=-1)"),
        (nn.Softplus(), "Softplus(beta=1, threshold=20)"),
    ],
)
def test_repr_is_paddles(layer, text):
    assert repr(layer) == text
