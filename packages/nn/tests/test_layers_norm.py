"""Normalization layers: parameters and their names, modes, conversion, texts."""
import copy

import numpy as np
import pytest

import wherry_nn as nn
import wherry_nn.functional as F
import wherry_tensor as wt
from wherry_nn import unique_name
from wherry_nn.initializer import Constant
from windows import values


@pytest.fixture(autouse=True)
def names():
    with unique_name.guard():
        yield


def state(layer):
    return {name: (value.name, value.shape, value.stop_gradient) for name, value in layer.state_dict().items()}


# Expected values are those of Paddle 2.6.2.


@pytest.mark.parametrize(
    ("layer", "expected"),
    [
        (
            lambda: nn.BatchNorm2D(3),
            {
                "weight": ("batch_norm2d_0.w_0", [3], False),
                "bias": ("batch_norm2d_0.b_0", [3], False),
                "_mean": ("batch_norm2d_0.w_1", [3], True),
                "_variance": ("batch_norm2d_0.w_2", [3], True),
            },
        ),
        (
            lambda: nn.BatchNorm1D(3, weight_attr=False, bias_attr=False, name="n"),
            {"_mean": ("n_mean", [3], True), "_variance": ("n_variance", [3], True)},
        ),
        (
            lambda: nn.BatchNorm(3, moving_mean_name="m", moving_variance_name="v"),
            {
                "weight": ("batch_norm_0.w_0", [3], False),
                "bias": ("batch_norm_0.b_0", [3], False),
                "_mean": ("m", [3], True),
                "_variance": ("v", [3], True),
            },
        ),
        (
            lambda: nn.LayerNorm([3, 4]),
            {"weight": ("layer_norm_0.w_0", [12], False), "bias": ("layer_norm_0.b_0", [12], False)},
        ),
        (lambda: nn.LayerNorm(4, weight_attr=False), {"bias": ("layer_norm_0.b_0", [4], False)}),
        (
            lambda: nn.GroupNorm(2, 4, weight_attr=False),
            {"weight": ("group_norm_0.w_0", [4], True), "bias": ("group_norm_0.b_0", [4], False)},
        ),
        (
            lambda: nn.InstanceNorm3D(3),
            {"scale": ("instance_norm3d_0.w_0", [3], False), "bias": ("instance_norm3d_0.b_0", [3], False)},
        ),
        (lambda: nn.InstanceNorm1D(3, weight_attr=False, bias_attr=False), {}),
        (
            lambda: nn.SpectralNorm([4, 3, 2], dim=1),
            {"weight_u": ("spectral_norm_0.w_0", [3], True), "weight_v": ("spectral_norm_0.w_1", [8], True)},
        ),
    ],
)
def test_parameters_and_their_names(layer, expected):
    assert state(layer()) == expected


@pytest.mark.parametrize(
    ("layer", "text"),
    [
        (lambda: nn.BatchNorm1D(3), "BatchNorm1D(num_features=3, momentum=0.9, epsilon=1e-05, data_format=NCL)"),
        (
            lambda: nn.BatchNorm2D(3, data_format="NHWC", momentum=0.8),
            "BatchNorm2D(num_features=3, momentum=0.8, epsilon=1e-05, data_format=NHWC)",
        ),
        (
            lambda: nn.BatchNorm3D(3, epsilon=1e-3, name="abc"),
            "BatchNorm3D(num_features=3, momentum=0.9, epsilon=0.001, data_format=NCDHW, name=abc)",
        ),
        (lambda: nn.BatchNorm(3, act="relu"), "BatchNorm()"),
        (lambda: nn.SyncBatchNorm(3), "SyncBatchNorm(num_features=3, momentum=0.9, epsilon=1e-05)"),
        (lambda: nn.LayerNorm(4), "LayerNorm(normalized_shape=[4], epsilon=1e-05)"),
        (lambda: nn.GroupNorm(2, 4), "GroupNorm(num_groups=2, num_channels=4, epsilon=1e-05)"),
        (lambda: nn.InstanceNorm2D(3), "InstanceNorm2D(num_features=3, epsilon=1e-05)"),
        (
            lambda: nn.LocalResponseNorm(5, data_format="NHWC"),
            "LocalResponseNorm(size=5, alpha=0.0001, beta=0.75, k=1.0, data_format=NHWC)",
        ),
        (lambda: nn.SpectralNorm([4, 3]), "SpectralNorm()"),
    ],
)
def test_texts(layer, text):
    assert repr(layer()) == text


def test_batch_norm_follows_the_mode():
    norm, x = nn.BatchNorm1D(3, momentum=0.5), wt.to_tensor(values(4, 3, 5).astype("float32"))
    out = norm(x).numpy()
    np.testing.assert_allclose(out.mean((0, 2)), 0, atol=1e-6)
    np.testing.assert_allclose(norm._mean.numpy(), 0.5 * x.numpy().mean((0, 2)), atol=1e-6)
    np.testing.assert_allclose(norm._variance.numpy(), 0.5 + 0.5 * x.numpy().var((0, 2)), atol=1e-6)
    norm.eval()
    before = norm._mean.numpy().copy()
    expected = F.batch_norm(x, norm._mean, norm._variance, norm.weight, norm.bias).numpy()
    np.testing.assert_array_equal(norm(x).numpy(), expected)
    np.testing.assert_array_equal(norm._mean.numpy(), before)


@pytest.mark.parametrize(
    ("options", "moves_in_training", "moves_in_evaluation"),
    [
        (dict(), True, False),
        (dict(use_global_stats=True), False, False),
        (dict(trainable_statistics=True), True, True),
        (dict(is_test=True), True, False),
    ],
)
def test_which_statistics_the_older_batch_norm_takes(options, moves_in_training, moves_in_evaluation):
    x = wt.to_tensor(values(4, 3).astype("float32"))
    for moves, mode in (moves_in_training, "train"), (moves_in_evaluation, "eval"):
        norm = nn.BatchNorm(3, **options)
        getattr(norm, mode)()
        norm(x)
        assert (norm._mean.numpy() != 0).any() == moves


def test_older_batch_norm_activates_and_has_a_dtype():
    norm = nn.BatchNorm(3, act="relu", dtype="float64", data_layout="NHWC")
    out = norm(wt.to_tensor(values(4, 5, 3))).numpy()
    assert out.dtype == np.float64
    assert out.min() == 0
    np.testing.assert_allclose(norm._mean.numpy(), 0.1 * values(4, 5, 3).mean((0, 1)))


def test_statistics_are_saved_and_loaded():
    norm, other = nn.BatchNorm2D(3), nn.BatchNorm2D(3)
    norm(wt.to_tensor(values(2, 3, 4, 4).astype("float32")))
    assert other.set_state_dict(norm.state_dict()) == ([], [])
    np.testing.assert_array_equal(other._variance.numpy(), norm._variance.numpy())
    np.testing.assert_array_equal(copy.deepcopy(norm)._mean.numpy(), norm._mean.numpy())


def test_sync_batch_norm_takes_the_place_of_others():
    model = nn.Sequential(
        nn.Conv2D(3, 4, 1),
        nn.BatchNorm2D(4, momentum=0.7, weight_attr=False),
        nn.Sequential(nn.BatchNorm1D(2, bias_attr=nn.ParamAttr(initializer=Constant(3.0)))),
    )
    before = state(model)
    model.eval()
    converted = nn.SyncBatchNorm.convert_sync_batchnorm(model)
    assert converted is model
    assert state(model) == before
    assert repr(model[1]) == "SyncBatchNorm(num_features=4, momentum=0.7, epsilon=1e-05)"
    assert repr(model[2][0]) == "SyncBatchNorm(num_features=2, momentum=0.9, epsilon=1e-05, data_format=NCL)"
    assert not model[1].training
    assert model[1].weight is None
    assert isinstance(nn.SyncBatchNorm.convert_sync_batchnorm(nn.BatchNorm3D(2)), nn.SyncBatchNorm)
    assert nn.SyncBatchNorm(3)(wt.ones([2, 3])).shape == [2, 3]


def test_layers_are_their_functions():
    x = wt.to_tensor(values(2, 4, 5).astype("float32"))
    weight = wt.to_tensor(values(4, seed=1).astype("float32"))
    layer = nn.GroupNorm(2, 4, 0.1)
    layer.weight.set_value(weight)
    np.testing.assert_array_equal(layer(x).numpy(), F.group_norm(x, 2, 0.1, weight, wt.zeros([4])).numpy())
    layer = nn.InstanceNorm1D(4, 0.1)
    layer.scale.set_value(weight)
    np.testing.assert_allclose(layer(x).numpy(), F.instance_norm(x, weight=weight, eps=0.1).numpy(), atol=1e-6)
    np.testing.assert_array_equal(nn.LayerNorm([4, 5])(x).numpy(), F.layer_norm(x, [4, 5]).numpy())
    np.testing.assert_array_equal(nn.LocalResponseNorm(3)(x).numpy(), F.local_response_norm(x, 3).numpy())


def test_spectral_norm_divides_by_the_largest_singular_value():
    weight = wt.to_tensor(values(4, 3, 2).astype("float32"))
    layer = nn.SpectralNorm([4, 3, 2], dim=1, power_iters=100)
    singular = np.linalg.svd(weight.numpy().transpose(1, 0, 2).reshape(3, 8))[1][0]
    u = layer.weight_u.numpy().copy()
    np.testing.assert_allclose(layer(weight).numpy(), weight.numpy() / singular, rtol=1e-4)
    np.testing.assert_array_equal(layer.weight_u.numpy(), u)


def test_gradient_of_spectral_norm_holds_the_vectors(check_gradient):
    layer = nn.SpectralNorm([3, 2], power_iters=200, dtype="float64")  # near the end, they do not move
    check_gradient(lambda weight: layer(weight), values(3, 2), atol=1e-5)


@pytest.mark.parametrize(
    ("call", "match"),
    [
        (lambda: nn.BatchNorm1D(3)(wt.ones([2, 3, 4, 5])), "expected 2D or 3D input .got 4D input"),
        (lambda: nn.BatchNorm2D(3)(wt.ones([2, 3, 4])), "expected 4D input .got 3D input"),
        (lambda: nn.BatchNorm3D(3)(wt.ones([2, 3, 4, 4])), "expected 5D input"),
        (lambda: nn.InstanceNorm2D(3)(wt.ones([2, 3, 4])), "expected 4D input"),
        (lambda: nn.BatchNorm2D(4)(wt.ones([2, 3, 4, 4])), "num_features=4, input has 3 channels"),
        (lambda: nn.BatchNorm1D(3, data_format="NCHW"), "NC or NCL or NLC"),
        (lambda: nn.GroupNorm(2, 4, data_format="NLC"), "NCHW or NHWC"),
        (lambda: nn.BatchNorm(3, data_layout="NC"), "NCHW or NHWC"),
        (lambda: nn.BatchNorm(3, act="sing"), "act is not a function"),
        (lambda: nn.InstanceNorm1D(3, weight_attr=False), "at the same time"),
        (lambda: nn.LayerNorm(4.5), "int, list of ints"),
        (lambda: nn.SpectralNorm([4, 3], dim=2), "less than the length"),
        (lambda: nn.SpectralNorm([4, 0]), "less than the length"),
        (lambda: nn.SpectralNorm([4, 3])(wt.ones([3, 4])), "another shape"),
    ],
)
def test_refused_arguments(call, match):
    with pytest.raises(ValueError, match=match):
        call()


@pytest.mark.parametrize("shape", [[1, 2], [1, 2, 1], [1, 2, 1, 1]])
def test_one_value_for_a_channel_stays_as_it_is(shape):
    layer = {2: nn.BatchNorm1D, 3: nn.BatchNorm1D, 4: nn.BatchNorm2D}[len(shape)](2)
    x = wt.to_tensor([3.0, -1.0]).reshape(shape)
    x.stop_gradient = False
    out = layer(x)
    (out * 3.0).sum().backward()
    assert out.flatten().tolist() == [3.0, -1.0] and x.grad.flatten().tolist() == [3.0, 3.0]
    assert layer.weight.grad.tolist() == layer.bias.grad.tolist() == [0.0, 0.0]
    assert layer._mean.tolist() == [0.0, 0.0] and layer._variance.tolist() == [1.0, 1.0]


def test_activations_have_the_names_of_paddles_operators():
    x = wt.to_tensor([[-2.0, 2.0], [2.0, -2.0]])
    for name, expected in (("hard_swish", [-1 / 3, 5 / 3]), ("hard_sigmoid", [0.1, 0.9]), ("leaky_relu", [-0.04, 2.0])):
        layer = nn.BatchNorm(2, act=name, epsilon=0.0)
        layer.eval()
        np.testing.assert_allclose(layer(x).numpy()[0], expected, rtol=1e-5)
