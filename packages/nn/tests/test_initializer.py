"""What initializers write, compared with what Paddle 2.6.2 documents or writes."""
import math

import pytest

import wherry_nn as nn
import wherry_tensor as wt
from wherry_nn import initializer as init

FLOATS = ["float16", "bfloat16", "float32", "float64"]


def filled(initializer, shape, dtype="float32"):
    parameter = nn.create_parameter(shape, dtype, default_initializer=initializer)
    assert parameter.shape == list(shape) and parameter.dtype.name == dtype
    return parameter.detach()


def spread(initializer, shape):
    x = filled(initializer, shape)
    return float(x.std()), float(x.abs().max())


@pytest.fixture(autouse=True)
def seed():
    wt.seed(1)


# Bounds of uniform and deviations of normal ones: fans of [100, 200], [64, 32, 5, 5], [3000] and [32, 64, 9].
SHAPES = [[100, 200], [64, 32, 5, 5], [3000], [32, 64, 9]]


@pytest.mark.parametrize("uniform, bounds", [
    (init.XavierUniform(), [0.14142, 0.05, 0.03162, 0.08333]),
    (init.XavierUniform(fan_in=10, fan_out=20), [0.44721] * 4),
    (init.XavierUniform(fan_in=0), [0.17321, 0.06124, 0.04472, 0.14434]),
    (init.KaimingUniform(), [0.24495, 0.0866, 0.04472, 0.10206]),
    (init.KaimingUniform(negative_slope=0.5, nonlinearity="leaky_relu"), [0.21909, 0.07746, 0.04, 0.09129]),
    (init.KaimingUniform(nonlinearity="tanh"), [0.28868, 0.10206, 0.0527, 0.12028]),
    (init.KaimingUniform(fan_in=7.0), [0.92582] * 4),
])
def test_uniform_initializers_have_the_bounds_of_paddle(uniform, bounds):
    for shape, bound in zip(SHAPES, bounds):
        deviation, largest = spread(uniform, shape)
        assert 0.98 * bound < largest <= 1.0001 * bound
        assert deviation == pytest.approx(bound / math.sqrt(3), rel=0.05)  # five sigma for 3000 numbers


@pytest.mark.parametrize("normal, deviations", [
    (init.XavierNormal(), [0.08165, 0.02887, 0.01826, 0.04811]),
    (init.XavierNormal(fan_in=10), [0.09759, 0.03523, 0.02578, 0.08220]),
    (init.KaimingNormal(), [0.14142, 0.05, 0.02582, 0.05893]),
    (init.KaimingNormal(nonlinearity="linear"), [0.1, 0.03536, 0.01826, 0.04167]),
])
def test_normal_initializers_have_the_deviations_of_paddle(normal, deviations):
    for shape, expected in zip(SHAPES, deviations):
        deviation, largest = spread(normal, shape)
        assert deviation == pytest.approx(expected, rel=0.08)  # six sigma for 3000 numbers
        assert largest > 2.5 * expected


def test_a_scalar_has_fans_of_one():
    assert abs(filled(init.XavierUniform(), []).item()) <= math.sqrt(3)


def test_uniform_and_normal_have_their_parameters():
    x = filled(init.Uniform(2, 3), [3000])
    assert 2 <= float(x.min()) < 2.01 and 2.99 < float(x.max()) <= 3
    x = filled(init.Normal(1.0, 2.0), [3000])
    assert float(x.mean()) == pytest.approx(1, abs=0.2) and float(x.std()) == pytest.approx(2, rel=0.08)


def test_truncated_normal_ends_at_two_deviations():
    x = filled(init.TruncatedNormal(1.0, 2.0), [3000])
    assert -3 <= float(x.min()) < -2.8 and 4.8 < float(x.max()) <= 5
    assert float(x.mean()) == pytest.approx(1, abs=0.2)
    assert float(x.std()) == pytest.approx(1.7593, rel=0.08)  # of a normal cut at two deviations, times 2


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("initializer", [
    init.Uniform(), init.Normal(), init.TruncatedNormal(), init.XavierUniform(), init.KaimingNormal(), init.Orthogonal(),
])
def test_random_initializers_fill_every_floating_dtype(initializer, dtype):
    x = filled(initializer, [4, 4], dtype).astype("float32")
    assert bool(wt.isfinite(x).all()) and float(x.std()) > 0


def test_the_seed_decides():
    for initializer in (init.XavierUniform(), init.Normal(), init.Orthogonal()):
        wt.seed(5)
        first = filled(initializer, [3, 3]).tolist()
        wt.seed(5)
        assert filled(initializer, [3, 3]).tolist() == first


def test_constant_fills_any_dtype():
    assert filled(init.Constant(3), [2], "int64").tolist() == [3, 3]
    assert filled(init.Constant(True), [2], "bool").tolist() == [True, True]
    assert filled(init.Constant(), [2], "float16").tolist() == [0, 0]


def test_assign_takes_lists_arrays_and_tensors_of_any_dtype():
    import numpy as np

    for value in ([1, 2.0], (1.0, 2.0), np.array([1, 2], "int32"), np.array([1.0, 2.0]), wt.to_tensor([1, 2])):
        assert filled(init.Assign(value), [2]).tolist() == [1, 2]
    assert filled(init.Assign([1.0, 2.0]), [2, 1]).tolist() == [[1], [2]]


@pytest.mark.parametrize("shape", [[3, 4], [4, 3], [2, 2, 3], [5, 5], [1, 7], [7, 1]])
def test_orthogonal_rows_or_columns(shape):
    x = filled(init.Orthogonal(gain=2.0), shape, "float64").reshape([shape[0], -1])
    product = x @ x.T if x.shape[0] <= x.shape[1] else x.T @ x
    # Double precision; the rows come out of two projections.
    assert bool(wt.allclose(product, 4 * wt.eye(product.shape[0], dtype="float64"), atol=1e-13))


def test_dirac_passes_channels_on():
    assert filled(init.Dirac(), [3, 2, 3]).tolist() == [[[0, 1, 0], [0, 0, 0]], [[0, 0, 0], [0, 1, 0]], [[0, 0, 0], [0, 0, 0]]]
    assert filled(init.Dirac(groups=2), [4, 2, 3]).tolist() == [[[0, 1, 0], [0, 0, 0]], [[0, 0, 0], [0, 1, 0]]] * 2
    even = filled(init.Dirac(), [2, 3, 4, 2])
    assert float(even.sum()) == 2 and even[0, 0, 2, 1].item() == even[1, 1, 2, 1].item() == 1
    assert filled(init.Dirac(), [2, 2, 3], "int32").tolist() == [[[0, 1, 0], [0, 0, 0]], [[0, 0, 0], [0, 1, 0]]]


def test_bilinear_is_paddles_kernel():
    four = [
        [0.0625, 0.28125, 0.375, 0.15625], [0.1875, 0.65625, 0.75, 0.21875],
        [0.1875, 0.46875, 0.375, 0.09375], [0.0625, 0.09375, 0.0, -0.03125],
    ]
    assert filled(init.Bilinear(), [2, 1, 4, 4]).tolist() == [[four]] * 2
    three = wt.to_tensor([[0.0625, 0.3125, 0.4375], [0.1875, 0.6875, 0.6875], [0.1875, 0.4375, 0.3125]], "float64")
    # Thirds are not exact in binary; the products of two of them are off by a few units in the last place.
    assert bool(wt.allclose(filled(init.Bilinear(), [1, 2, 3, 3], "float64"), three.expand([1, 2, 3, 3]), atol=1e-15))


def test_an_initializer_fills_a_tensor_without_recording():
    x = wt.ones([2])
    init.Constant(9.0)(x)
    assert x.tolist() == [9, 9]
    weight = nn.create_parameter([2], "float32")
    init.Constant(4.0)(weight)
    assert weight.tolist() == [4, 4] and weight.is_leaf and not weight.stop_gradient


def test_own_initializer_defines_forward():
    class Steps(init.Initializer):
        def forward(self, param, block=None):
            param[:] = wt.arange(param.size, dtype=param.dtype)

    assert filled(Steps(), [3]).tolist() == [0, 1, 2]
    with pytest.raises(NotImplementedError, match="Initializer: forward is not defined"):
        init.Initializer()(wt.ones([1]))


# Gains and defaults.


def test_gains_are_those_of_paddle():
    ones = "sigmoid linear conv1d conv2d conv3d conv1d_transpose conv2d_transpose conv3d_transpose".split()
    assert {init.calculate_gain(name) for name in ones} == {1}
    assert init.calculate_gain("tanh") == 5 / 3
    assert init.calculate_gain("relu") == math.sqrt(2)
    assert init.calculate_gain("selu") == 0.75
    assert init.calculate_gain("leaky_relu") == 1.4141428569978354
    assert init.calculate_gain("leaky_relu", 0.5) == 1.2649110640673518
    assert init.calculate_gain("leaky_relu", 2) == 0.6324555320336759


def test_global_initializer_beats_defaults_but_not_attributes():
    layer = nn.Layer()
    init.set_global_initializer(init.Constant(3.0))
    try:
        assert layer.create_parameter([1]).tolist() == [3]
        assert layer.create_parameter([1], default_initializer=init.Constant(8.0)).tolist() == [3]
        assert layer.create_parameter([1], attr=nn.ParamAttr(learning_rate=2.0)).tolist() == [3]
        assert layer.create_parameter([1], attr=init.Constant(5.0)).tolist() == [5]
        assert layer.create_parameter([1], is_bias=True).tolist() == [0]
        init.set_global_initializer(init.Constant(3.0), init.Constant(4.0))
        assert layer.create_parameter([1], is_bias=True).tolist() == [4]
    finally:
        init.set_global_initializer(None)
    assert layer.create_parameter([1], is_bias=True).tolist() == [0]


# Bad input.


@pytest.mark.parametrize("make, error, expected", [
    (lambda: init.Constant(None), ValueError, "Constant: value is not a number. Got value=None"),
    (lambda: init.Constant("a"), ValueError, "Got value='a'"),
    (lambda: init.Assign(3), AssertionError, "Assign: value does not hold numbers. Got 3"),
    (lambda: init.Assign("a"), TypeError, "Got 'a'"),
    (lambda: init.Normal("a"), TypeError, "Normal: argument 'mean'"),
    (lambda: init.Uniform(3, 1), AssertionError, "low=3 and high=1, expected low <= high"),
    (lambda: init.XavierUniform(fan_in="a"), TypeError, "XavierUniform: argument 'fan_in'"),
    (lambda: init.XavierNormal(fan_out=-1), ValueError, "fan_out is negative. Got -1"),
    (lambda: init.KaimingUniform(nonlinearity="foo"), ValueError, "unknown nonlinearity. Got 'foo'"),
    (lambda: init.KaimingNormal(nonlinearity=3), ValueError, "Got 3"),
    (lambda: init.Orthogonal("a"), TypeError, "Orthogonal: argument 'gain'"),
    (lambda: init.Dirac(groups=0), AssertionError, "groups must be positive. Got 0"),
    (lambda: init.Dirac(groups=1.5), AssertionError, "groups is not an int. Got 1.5"),
    (lambda: init.calculate_gain("foo"), ValueError, "unknown nonlinearity. Got 'foo', expected one of sigmoid"),
    (lambda: init.calculate_gain([]), ValueError, "unknown nonlinearity"),
    (lambda: init.calculate_gain("leaky_relu", "a"), AssertionError, "must be a number. Got param='a'"),
    (lambda: init.calculate_gain("leaky_relu", True), TypeError, "Got param=True"),
    (lambda: init.set_global_initializer(3), TypeError, "weight_init is not an initializer. Got 3"),
    (lambda: init.set_global_initializer(None, 4), TypeError, "bias_init is not an initializer. Got 4"),
    (lambda: init.Normal()(3), TypeError, "Normal: argument 'param' must be a Tensor"),
])
def test_arguments_are_checked(make, error, expected):
    with pytest.raises(error, match=expected):
        make()


@pytest.mark.parametrize("initializer, shape, dtype, error, expected", [
    (init.Normal(), [2], "int64", TypeError, "Normal: the parameter is not floating. Got dtype int64"),
    (init.Uniform(), [2], "int32", TypeError, "Uniform: the parameter is not floating"),
    (init.TruncatedNormal(), [2], "bool", ValueError, "Got dtype bool"),
    (init.KaimingUniform(fan_in=0), [2], "float32", ZeroDivisionError, "fan_in is 0"),
    (init.XavierUniform(fan_in=0, fan_out=0), [2], "float32", ValueError, "both 0"),
    (init.Orthogonal(), [3], "float32", AssertionError, r"only a matrix can be orthogonal. Got shape \[3\]"),
    (init.Dirac(), [2, 3], "float32", AssertionError, "expected 3, 4 or 5 axes"),
    (init.Dirac(), [2] * 6, "float32", AssertionError, "expected 3, 4 or 5 axes"),
    (init.Dirac(groups=2), [3, 2, 3], "float32", AssertionError, "Got 3 channels and groups=2"),
    (init.Bilinear(), [2, 2, 3], "float32", ValueError, "expected four axes"),
    (init.Bilinear(), [2, 2, 3, 4], "float32", ValueError, "the last two are equal"),
])
def test_shapes_and_dtypes_that_do_not_fit_are_refused(initializer, shape, dtype, error, expected):
    with pytest.raises(error, match=expected):
        filled(initializer, shape, dtype)


@pytest.mark.parametrize("initializer", [init.KaimingNormal(), init.XavierUniform()])
def test_the_deviation_is_that_of_a_tensor(initializer):
    with pytest.raises(TypeError, match="'param' must be a Tensor. Got int"):
        initializer.std(3)


def test_a_value_with_more_elements_gives_the_parameter_its_shape():
    with pytest.warns(UserWarning, match=r"Got shape \[2, 3\], expected \[3\]. The parameter takes the shape of the value"):
        param = nn.Layer().create_parameter([3], default_initializer=init.Assign([[1.0] * 3] * 2))
    assert param.shape == [2, 3] and param.dtype == wt.float32 and not param.stop_gradient
    (param * 2).sum().backward()
    assert param.grad.tolist() == [[2.0] * 3] * 2
