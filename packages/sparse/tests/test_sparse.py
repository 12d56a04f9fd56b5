"""Sparse tensors beside the dense ones that they stand for."""
import numpy as np
import pytest

import wherry_nn.functional as F
import wherry_ops_cpu.column
import wherry_tensor as wt
from wherry_sparse import sparse

wherry_ops_cpu.column.register()
RNG = np.random.default_rng(0)


def dense(*shape, share=0.4):
    x = RNG.standard_normal(shape)
    return np.where(RNG.random(shape) < share, x, 0)


def coo(array, **options):
    return wt.to_tensor(array, **options).to_sparse_coo(array.ndim)


FORMS = {"coo": coo, "csr": lambda array: wt.to_tensor(array).to_sparse_csr()}


@pytest.mark.parametrize("form", FORMS)
def test_forms_hold_what_the_dense_tensor_holds(form):
    for shape in ((3, 4), (2, 3, 4), (3, 0)):
        array = dense(*shape)
        x = FORMS[form](array)
        np.testing.assert_array_equal(x.to_dense().numpy(), array)
        np.testing.assert_array_equal(x.to_sparse_csr().to_sparse_coo(2).to_dense().numpy(), array)
        assert (x.shape, x.nnz(), x.is_sparse(), x.is_dense()) == (list(shape), np.count_nonzero(array), True, False)
        assert (x.is_sparse_coo(), x.is_sparse_csr()) == (form == "coo", form == "csr")


def test_elements_at_one_place_are_added():
    x = sparse.sparse_coo_tensor([[1, 0, 1], [1, 2, 1]], [1.0, 2.0, 3.0])
    assert x.coalesce().indices().tolist() == [[0, 1], [2, 1]]
    assert x.coalesce().values().tolist() == [2.0, 4.0]
    assert x.to_dense().tolist() == [[0, 0, 2], [0, 4, 0]]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    "name", ["sin", "tan", "asin", "atan", "sinh", "tanh", "asinh", "atanh", "square", "abs", "neg", "deg2rad", "rad2deg", "expm1"]
)
def test_functions_of_elements(form, name):
    array = dense(3, 4) / 4
    found = getattr(sparse, name)(FORMS[form](array))
    np.testing.assert_allclose(found.to_dense().numpy(), getattr(wt, name)(wt.to_tensor(array)).numpy(), atol=1e-12)
    assert found.is_sparse_csr() == (form == "csr")


@pytest.mark.parametrize("form", FORMS)
def test_two_are_joined_at_the_places_of_both(form):
    a, b = dense(4, 5), dense(4, 5)
    x, y = FORMS[form](a), FORMS[form](b)
    for name, expected in (("add", a + b), ("subtract", a - b), ("multiply", a * b)):
        found = getattr(sparse, name)(x, y)
        np.testing.assert_allclose(found.to_dense().numpy(), expected)
        assert found.nnz() == np.count_nonzero((a != 0) | (b != 0))
    with np.errstate(all="ignore"):
        np.testing.assert_allclose(sparse.divide(x, y).to_dense().numpy(), a / b)
    np.testing.assert_allclose((x * 2 + y / 2 - x).to_dense().numpy(), a + b / 2)


@pytest.mark.parametrize("form", FORMS)
def test_products_are_those_of_the_dense_matrices(form):
    a, b, c = dense(4, 5), dense(5, 3), RNG.standard_normal((5, 3))
    x, y, right = FORMS[form](a), FORMS[form](b), wt.to_tensor(c)
    np.testing.assert_allclose((x @ right).numpy(), a @ c)
    np.testing.assert_allclose(sparse.matmul(x, y).to_dense().numpy(), a @ b, atol=1e-12)
    np.testing.assert_allclose(sparse.matmul(wt.to_tensor(a), y).numpy(), a @ b, atol=1e-12)
    np.testing.assert_allclose(sparse.mv(x, right[:, 0]).numpy(), a @ c[:, 0])
    np.testing.assert_allclose(sparse.addmm(wt.ones([4, 3], "float64"), x, right, 2.0, 3.0).numpy(), 2 + 3 * a @ c)


def test_masked_products_have_the_places_of_the_mask():
    a, b, mask = RNG.standard_normal((4, 3)), RNG.standard_normal((3, 5)), dense(4, 5)
    for make in FORMS.values():
        found = sparse.masked_matmul(wt.to_tensor(a), wt.to_tensor(b), make(mask))
        np.testing.assert_allclose(found.to_dense().numpy(), (a @ b) * (mask != 0))


def test_batches_of_matrices_in_csr_form():
    a, b = dense(2, 4, 5), RNG.standard_normal((2, 5, 3))
    np.testing.assert_allclose(sparse.matmul(wt.to_tensor(a).to_sparse_csr(), wt.to_tensor(b)).numpy(), a @ b)


@pytest.mark.parametrize("form", FORMS)
def test_places_move(form):
    a = dense(4, 6)
    x = FORMS[form](a)
    np.testing.assert_array_equal(sparse.transpose(x, [1, 0]).to_dense().numpy(), a.T)
    np.testing.assert_array_equal(sparse.reshape(x, [8, -1]).to_dense().numpy(), a.reshape(8, 3))
    np.testing.assert_array_equal(sparse.slice(x, [0, -1], [1, -4], [3, 9]).to_dense().numpy(), a[1:3, -4:])
    np.testing.assert_allclose(sparse.sum(x, -1, keepdim=True).to_dense().numpy(), a.sum(-1, keepdims=True))
    np.testing.assert_allclose(sparse.sum(x).to_dense().numpy().sum(), a.sum())
    if form == "coo":
        np.testing.assert_allclose(sparse.sum(x, 0).to_dense().numpy(), a.sum(0))


def test_gradients_reach_values_and_dense_factors():
    a, b = dense(4, 5), RNG.standard_normal((5, 3))
    x, right = wt.to_tensor(a, stop_gradient=False), wt.to_tensor(b, stop_gradient=False)
    weight = wt.to_tensor(RNG.standard_normal((4, 3)))
    y = x.to_sparse_csr()
    out = (sparse.matmul(sparse.tanh(y), right) * weight).sum() + (sparse.matmul(y, sparse.transpose(y, [1, 0])).values() ** 2).sum()
    out.backward()
    found = x.grad.numpy(), right.grad.numpy()
    x.clear_grad(), right.clear_grad()
    whole = wt.tanh(x)
    mask = wt.to_tensor((a != 0).astype("float64"))
    ((whole @ right * weight).sum() + ((x @ x.t()) ** 2).sum()).backward()
    np.testing.assert_allclose(found[0], (x.grad * mask).numpy(), rtol=1e-9)
    np.testing.assert_allclose(found[1], right.grad.numpy(), rtol=1e-9)


def test_a_leaf_has_its_gradient_at_its_places():
    x = sparse.sparse_coo_tensor([[0, 1, 2], [1, 2, 0]], [1.0, -2.0, 3.0], [3, 4], stop_gradient=False)
    y = sparse.nn.functional.relu(x)
    y.backward(y)
    assert x.grad.values().tolist() == [1.0, 0.0, 3.0]
    assert x.grad.indices().tolist() == x.indices().tolist()


@pytest.mark.parametrize("form", FORMS)
def test_softmax_is_among_the_elements_that_are_stored(form):
    a = dense(4, 6)
    found = sparse.nn.functional.softmax(FORMS[form](a)).to_dense().numpy()
    powers = np.where(a != 0, np.exp(a), 0)
    np.testing.assert_allclose(found, powers / np.maximum(powers.sum(-1, keepdims=True), 1e-300))


@pytest.mark.parametrize("axis", [1, 2, -1])
def test_softmax_along_a_dense_axis_is_that_of_each_element(axis):
    a = RNG.standard_normal((5, 3, 4)) * np.array([1, 0, 1, 1, 0])[:, None, None]
    x = wt.to_tensor(a, stop_gradient=False)
    found = sparse.nn.functional.softmax(x.to_sparse_coo(1), axis)
    x2 = wt.to_tensor(a, stop_gradient=False)
    stored, expected = [0, 2, 3], F.softmax(x2, axis)
    assert found.indices().tolist() == [stored]
    np.testing.assert_allclose(found.values().numpy(), expected.numpy()[stored], rtol=1e-12)
    weight = wt.to_tensor(RNG.standard_normal((5, 3, 4)) * (a != 0))
    (found.to_dense() * weight).sum().backward()
    (expected * weight).sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), x2.grad.numpy(), rtol=1e-9, atol=1e-12)


def test_softmax_along_a_sparse_axis_leaves_the_dense_ones_apart():
    a = RNG.standard_normal((5, 3, 4))
    found = sparse.nn.functional.softmax(wt.to_tensor(a).to_sparse_coo(2), 0)
    np.testing.assert_allclose(found.to_dense().numpy(), F.softmax(wt.to_tensor(a), 0).numpy(), rtol=1e-12)


def test_attention_looks_where_the_mask_says():
    q, k, v = (wt.to_tensor(RNG.standard_normal((2, 2, 5, 3))) for _ in range(3))
    mask = (RNG.random((4, 5, 5)) < 0.5) | np.eye(5, dtype=bool)
    padding, added = wt.to_tensor(RNG.standard_normal((2, 5))), wt.to_tensor(RNG.standard_normal((5, 5)))
    found = sparse.nn.functional.attention(q, k, v, wt.to_tensor(mask.astype("float64")).to_sparse_csr(), padding, added)
    scores = (q @ k.transpose([0, 1, 3, 2]) / 3**0.5).numpy() + padding.numpy()[:, None, None] + added.numpy()
    scores = np.where(mask.reshape(2, 2, 5, 5), scores, -np.inf)
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    np.testing.assert_allclose(found.numpy(), weights / weights.sum(-1, keepdims=True) @ v.numpy(), rtol=1e-6)


def points(*space, channels=3):
    """Points of which some share of the places is taken, each with all channels."""
    array = RNG.standard_normal((2, *space, channels)) * (RNG.random((2, *space, 1)) < 0.4)
    return array, wt.to_tensor(array).to_sparse_coo(len(space) + 1)


@pytest.mark.parametrize(("stride", "padding", "dilation"), [(1, 0, 1), (2, 1, 1), (1, 1, 2)])
def test_convolutions_are_the_dense_ones_where_something_is_stored(stride, padding, dilation):
    weight, bias = RNG.standard_normal((3, 2, 3, 3, 4)), RNG.standard_normal(4)
    array, x = points(6, 5, 7)
    found = sparse.nn.functional.conv3d(x, wt.to_tensor(weight), wt.to_tensor(bias), stride, padding, dilation)
    expected = F.conv3d(wt.to_tensor(np.moveaxis(array, -1, 1)), wt.to_tensor(weight.transpose(4, 3, 0, 1, 2)), None, stride, padding, dilation)
    expected = np.moveaxis(expected.numpy(), 1, -1)
    np.testing.assert_allclose((found._with(found.values() - wt.to_tensor(bias))).to_dense().numpy(), expected, atol=1e-9)
    plane, y = points(6, 7)
    flat = RNG.standard_normal((3, 3, 3, 4))
    found = sparse.nn.functional.conv2d(y, wt.to_tensor(flat), None, stride, padding, dilation)
    expected = F.conv2d(wt.to_tensor(np.moveaxis(plane, -1, 1)), wt.to_tensor(flat.transpose(3, 2, 0, 1)), None, stride, padding, dilation)
    np.testing.assert_allclose(found.to_dense().numpy(), np.moveaxis(expected.numpy(), 1, -1), atol=1e-9)


def test_submanifold_convolutions_stay_where_the_input_is():
    array, x = points(5, 4, 6)
    layer = sparse.nn.SubmConv3D(3, 4, 3, padding=1)
    x = x.astype("float32")
    found = layer(x)
    assert found.indices().tolist() == x.indices().tolist()
    image = wt.to_tensor(np.moveaxis(array, -1, 1).astype("float32"))
    expected = np.moveaxis(F.conv3d(image, layer.weight.transpose([4, 3, 0, 1, 2]), layer.bias, padding=1).numpy(), 1, -1)
    taken = (array != 0).any(-1)
    np.testing.assert_allclose(found.values().numpy(), expected[taken], atol=1e-4)
    found.values().sum().backward()
    assert np.isfinite(layer.weight.grad.numpy()).all() and layer.weight.grad.numpy().any()


def test_pooling_takes_the_largest_of_what_is_stored():
    array, x = points(4, 4, 4)
    found = sparse.nn.MaxPool3D(2)(x)
    low = np.where((array != 0).any(-1, keepdims=True), array, -np.inf).reshape(2, 2, 2, 2, 2, 2, 2, 3).max((2, 4, 6))
    np.testing.assert_allclose(found.to_dense().numpy(), np.where(np.isfinite(low), low, 0))


def test_batch_normalization_is_that_of_the_values():
    _, x = points(4, 4, 4)
    layer = sparse.nn.BatchNorm(3)
    found = layer(x.astype("float32")).values().numpy()
    np.testing.assert_allclose(found.mean(0), 0, atol=1e-5)
    np.testing.assert_allclose(found.std(0), 1, atol=1e-3)
    assert isinstance(sparse.nn.SyncBatchNorm.convert_sync_batchnorm(layer), sparse.nn.SyncBatchNorm)


X = sparse.sparse_coo_tensor([[0, 1], [0, 2]], [1.0, 2.0])


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: sparse.sparse_coo_tensor([[0, 1], [0, 2]], [1.0]), ValueError, "indices and values do not fit"),
        (lambda: sparse.sparse_coo_tensor([[0, 1], [0, 2]], [1.0, 2.0], [1, 2]), ValueError, r"expected at least \[2, 3\]"),
        (lambda: sparse.sparse_csr_tensor([0, 2], [0, 1], [1.0, 2.0], [2, 2]), ValueError, r"expected \[3\]"),
        (lambda: sparse.sin(wt.ones([2])), NotImplementedError, "sin: 'x' is not sparse"),
        (lambda: sparse.add(X, X.to_sparse_csr()), NotImplementedError, "the forms differ"),
        (lambda: sparse.matmul(X, wt.ones([2, 2])), ValueError, "the shapes do not fit"),
        (lambda: sparse.reshape(X, [5]), ValueError, "different numbers of elements"),
        (lambda: sparse.transpose(X, [0, 0]), ValueError, "does not name each axis once"),
        (lambda: X.crows(), RuntimeError, "to_sparse_csr"),
        (lambda: wt.ones([2, 2]).to_sparse_coo(3), ValueError, "expected 1 to 2"),
        (lambda: sparse.sum(X.to_sparse_csr(), 0), NotImplementedError, "along the last axis"),
        (lambda: sparse.nn.functional.conv3d(X, wt.ones([1, 1, 1, 1, 1])), ValueError, "x is not in COO form with dense channels"),
        (lambda: sparse.nn.Conv3D(2, 2, 3, groups=2), ValueError, "groups=2"),
    ],
)
def test_error_says_what_is_wrong(call, error, text):
    with pytest.raises(error, match=text):
        call()


def test_what_is_no_tensor_has_no_shape_to_compare():
    with pytest.raises(TypeError, match="is_same_shape: argument 'y' must be a tensor, sparse or not. Got 3"):
        sparse.is_same_shape(wt.ones([2]), 3)


def test_convolutions_have_channels():
    with pytest.raises(ValueError, match="Conv2D: 'in_channels' is not positive. Got 0"):
        sparse.nn.Conv2D(0, 2, 3)
