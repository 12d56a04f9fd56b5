"""Reparametrized weights, parameters as a vector, clipping in place."""
import copy
import math

import numpy as np
import pytest

import wherry_nn as nn
import wherry_tensor as wt
from wherry_nn import unique_name
from wherry_nn.utils import (
    clip_grad_norm_,
    clip_grad_value_,
    parameters_to_vector,
    remove_weight_norm,
    spectral_norm,
    vector_to_parameters,
    weight_norm,
)
from windows import values

X = wt.to_tensor(values(2, 3, 5, 5).astype("float32"))


def conv():
    return nn.Conv2D(3, 5, 2)


# weight_norm.


@pytest.mark.parametrize(("dim", "axes", "shape"), [(0, (1, 2, 3), [5]), (1, (0, 2, 3), [3]), (-2, (0, 1, 3), [2]), (None, None, []), (-1, None, [])])
def test_weight_norm_splits_length_and_direction(dim, axes, shape):
    layer = conv()
    weight = layer.weight.numpy().copy()
    assert weight_norm(layer, dim=dim) is layer
    np.testing.assert_allclose(layer.weight_g.numpy(), np.sqrt((weight**2).sum(axes)), rtol=1e-6)
    assert layer.weight_g.shape == shape
    np.testing.assert_array_equal(layer.weight_v.numpy(), weight)
    np.testing.assert_allclose(layer.weight.numpy(), weight, rtol=1e-5)
    layer.weight_g.set_value(layer.weight_g * 2)
    layer(X).sum().backward()
    np.testing.assert_allclose(layer.weight.numpy(), 2 * weight, rtol=1e-5)
    assert layer.weight_g.grad.shape == shape
    # Along the direction itself, nothing changes.
    inside = (layer.weight_v.grad.numpy() * weight).sum(axes)
    np.testing.assert_allclose(inside, 0, atol=1e-3)


def test_names_and_tables_of_weight_norm():
    with unique_name.guard():
        layer = weight_norm(conv())
    assert {name: value.name for name, value in layer.state_dict().items()} == {
        "bias": "conv2d_0.b_0", "weight_v": "conv2d_0.w_1", "weight_g": "conv2d_0.w_2"
    }
    assert len(layer.parameters()) == 3
    copied = copy.deepcopy(layer)
    copied.weight_g.set_value(copied.weight_g * 0)
    assert (copied(X).numpy() == 0).all() and (layer(X).numpy() != 0).any()


def test_remove_weight_norm_gives_the_parameter_back():
    layer = weight_norm(conv())
    layer.weight_g.set_value(layer.weight_g * 3)
    expected = layer(X).numpy()
    assert remove_weight_norm(layer) is layer
    assert list(layer.state_dict()) == ["bias", "weight"]
    assert isinstance(layer.weight, nn.Parameter) and layer.weight.trainable
    np.testing.assert_allclose(layer(X).numpy(), expected, rtol=1e-5, atol=1e-6)
    weight_norm(layer)  # once more


def test_a_row_of_zeros_keeps_finite_gradients():
    layer = conv()
    layer.weight.set_value(layer.weight * 0)
    weight_norm(layer)
    layer(X).sum().backward()
    assert np.isfinite(layer.weight_v.grad.numpy()).all()


def test_a_frozen_weight_stays_frozen():
    layer = conv()
    layer.weight.trainable = False
    weight_norm(layer)
    assert not layer.weight_g.trainable and not layer.weight_v.trainable
    assert not remove_weight_norm(layer).weight.trainable


@pytest.mark.parametrize(
    ("call", "error", "match"),
    [
        (lambda: weight_norm(weight_norm(conv())), RuntimeError, "two weight_norm hooks"),
        (lambda: weight_norm(conv(), dim=4), AssertionError, r"\[-R, R\)"),
        (lambda: weight_norm(conv(), name="kernel"), KeyError, "no parameter 'kernel'"),
        (lambda: remove_weight_norm(conv()), ValueError, "not found"),
        (lambda: spectral_norm(spectral_norm(conv())), RuntimeError, "two spectral_norm hooks"),
        (lambda: spectral_norm(conv(), n_power_iterations=0), ValueError, "to be positive"),
        (lambda: spectral_norm(conv(), name="kernel"), KeyError, "no parameter"),
        (lambda: spectral_norm(conv(), dim=4), ValueError, "out of range"),
    ],
)
def test_refused_reparametrizations(call, error, match):
    with pytest.raises(error, match=match):
        call()


# spectral_norm.


@pytest.mark.parametrize(
    ("layer", "dim", "rows", "columns"),
    [(conv, None, 5, 12), (conv, 1, 3, 20), (lambda: nn.Conv2DTranspose(3, 5, 2), None, 5, 12), (lambda: nn.Conv1DTranspose(3, 5, 2), 0, 3, 10)],
)
def test_spectral_norm_makes_the_largest_singular_value_one(layer, dim, rows, columns):
    layer = spectral_norm(layer(), n_power_iterations=100, dim=dim)
    assert (layer.weight_u.shape, layer.weight_v.shape) == ([rows], [columns])
    layer(X if layer.weight.ndim == 4 else X[:, :, 0])
    weight = layer.weight.numpy()
    at = weight.shape.index(rows)
    singular = np.linalg.svd(np.moveaxis(weight, at, 0).reshape(rows, columns))[1]
    assert singular[0] == pytest.approx(1, rel=1e-4)


def test_spectral_norm_iterates_in_training_only():
    layer = spectral_norm(conv())
    u = layer.weight_u.numpy().copy()
    layer.eval()
    layer(X)
    np.testing.assert_array_equal(layer.weight_u.numpy(), u)
    layer.train()
    layer(X).sum().backward()
    assert (layer.weight_u.numpy() != u).any()
    assert layer.weight_orig.grad is not None
    assert list(layer.state_dict()) == ["bias", "weight_orig", "weight_u", "weight_v"]


# Parameters as a vector.


def test_parameters_as_a_vector_and_back():
    layer = conv()
    vector = parameters_to_vector(layer.parameters())
    expected = np.concatenate([layer.weight.numpy().ravel(), layer.bias.numpy()])
    np.testing.assert_array_equal(vector.numpy(), expected)
    (vector * 2).sum().backward()
    assert (layer.bias.grad.numpy() == 2).all()
    assert vector_to_parameters(wt.arange(65, dtype="float32"), layer.parameters()) is None
    np.testing.assert_array_equal(layer.weight.numpy().ravel(), np.arange(60))
    np.testing.assert_array_equal(layer.bias.numpy(), np.arange(60, 65))
    assert layer.weight.trainable and layer.weight.is_leaf


@pytest.mark.parametrize(
    ("call", "match"),
    [
        (lambda p: vector_to_parameters(wt.zeros([64]), p), r"Got shape \[64\], expected \[65\]"),
        (lambda p: vector_to_parameters(wt.zeros([5, 13]), p), "expected"),
        (lambda p: vector_to_parameters([1.0], p), "must be a Tensor"),
        (lambda p: parameters_to_vector([]), "parameters is empty"),
        (lambda p: parameters_to_vector(p[0]), "expected a list"),
        (lambda p: parameters_to_vector([1, 2]), r"parameters\[0\]"),
        (lambda p: parameters_to_vector([p[0], p[1].astype("float64")]), "dtype"),
    ],
)
def test_refused_vectors(call, match):
    with pytest.raises(ValueError, match=match):
        call(conv().parameters())


# Clipping.


def with_gradients(*arrays):
    found = []
    for array in arrays:
        parameter = nn.create_parameter(list(np.shape(array)), "float32")
        (parameter * wt.to_tensor(np.asarray(array, "float32"))).sum().backward()
        found.append(parameter)
    return found


@pytest.mark.parametrize(("norm_type", "norm"), [(2, 13.0), (1, 19.0), (math.inf, 12.0), (0, 2.0)])
def test_gradients_are_scaled_together(norm_type, norm):
    parameters = [*with_gradients([3.0, 4.0], [[-12.0]]), nn.create_parameter([2], "float32")]
    assert clip_grad_norm_(parameters, 1.0, norm_type).item() == pytest.approx(norm)
    assert parameters[0].grad.numpy() == pytest.approx(np.array([3.0, 4.0]) / norm, rel=1e-5)
    assert parameters[1].grad.numpy() == pytest.approx(np.array([[-12.0]]) / norm, rel=1e-5)
    assert parameters[2].grad is None


def test_small_gradients_stay():
    (parameter,) = with_gradients([0.3, 0.4])
    assert clip_grad_norm_(parameter, 1.0).item() == pytest.approx(0.5)
    assert parameter.grad.numpy() == pytest.approx([0.3, 0.4])
    assert clip_grad_norm_([], 1.0).item() == 0


def test_norms_that_are_not_finite():
    parameters = with_gradients([1.0, math.nan])
    with pytest.raises(RuntimeError, match="non-finite"):
        clip_grad_norm_(parameters, 1.0, error_if_nonfinite=True)
    assert math.isnan(clip_grad_norm_(parameters, 1.0).item())


def test_values_are_limited():
    parameters = with_gradients([3.0, -4.0, 0.5])
    clip_grad_value_(parameters, 1.0)
    assert parameters[0].grad.numpy() == pytest.approx([1.0, -1.0, 0.5])


def test_refused_clipping():
    with pytest.raises(ValueError, match="only support"):
        clip_grad_norm_([], 1.0, 3)
    with pytest.raises(ValueError, match="negative"):
        clip_grad_value_([], -1.0)
    with pytest.raises(TypeError):
        clip_grad_norm_([], "1")
