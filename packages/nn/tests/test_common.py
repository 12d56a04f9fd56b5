"""Linear maps, dropout, embedding, label smoothing and similarities: functions and layers."""
import math

import numpy as np
import pytest

import wherry_nn as nn
import wherry_nn.functional as F
import wherry_tensor as wt

rng = np.random.default_rng(0)


def tensor(array, **options):
    return wt.to_tensor(np.asarray(array), **options)


# Linear.


@pytest.mark.parametrize("shape", [[3], [2, 3], [4, 2, 3], [0, 3]])
@pytest.mark.parametrize("bias", [None, [2], [1], [], [1, 2]])
def test_linear_multiplies_and_adds(shape, bias, check_gradient):
    arrays = [rng.normal(size=shape), rng.normal(size=(3, 2))]
    expected = arrays[0] @ arrays[1]
    if bias is not None:
        arrays.append(rng.normal(size=bias))
        expected = expected + arrays[2]
    np.testing.assert_allclose(F.linear(*(tensor(a) for a in arrays)).numpy(), expected, rtol=1e-12)
    if 0 not in shape:
        check_gradient(F.linear, *arrays)


def test_linear_with_a_batch_of_weights():
    x, weight, bias = rng.normal(size=(4, 2, 3)), rng.normal(size=(4, 3, 5)), rng.normal(size=5)
    np.testing.assert_allclose(F.linear(tensor(x), tensor(weight)).numpy(), x @ weight, rtol=1e-12)
    np.testing.assert_allclose(F.linear(tensor(x), tensor(weight), tensor(bias)).numpy(), x @ weight + bias, rtol=1e-12)


def test_linear_of_a_vector_is_a_product_for_each_row():
    assert F.linear(wt.ones([4, 8]), wt.ones([8])).tolist() == [8.0] * 4
    assert F.linear(wt.ones([4, 8]), wt.ones([8]), wt.ones([1])).tolist() == [9.0] * 4


def test_linear_takes_the_first_of_a_tuple():
    assert F.linear((wt.ones([1, 2]), 3), wt.ones([2, 1])).tolist() == [[2.0]]
    with pytest.raises(ValueError, match="'x' must be a Tensor. Got tuple"):
        F.linear((3,), wt.ones([2, 1]))


def test_linear_of_integers():
    assert F.linear(wt.to_tensor([[1, 2]]), wt.to_tensor([[3], [4]])).tolist() == [[11]]


def test_linear_refuses_what_does_not_fit():
    x, weight = wt.ones([2, 3]), wt.ones([3, 4])
    with pytest.raises(ValueError, match=r"x of shape \[2, 3\] and weight of shape \[4, 3\]"):
        F.linear(x, weight.T)
    with pytest.raises(ValueError, match=r"bias of shape \[3\]"):
        F.linear(x, weight, wt.ones([3]))
    with pytest.raises(ValueError, match=r"x of shape \[2, 3\] and y of shape \[4\]"):
        F.linear(x, wt.ones([4]))
    with pytest.raises(ValueError, match=r"weight. is not a matrix. Got shape \[\]"):
        F.linear(x, wt.ones([]))
    with pytest.raises(ValueError, match="must have one dtype. Got float32 and float64"):
        F.linear(x, weight.astype("float64"))
    with pytest.raises(TypeError, match="must have one dtype. Got float32 and float32 and float64"):
        F.linear(x, weight, wt.ones([4], "float64"))
    with pytest.raises(ValueError, match="'weight' must be a Tensor. Got None"):
        F.linear(x, None)
    with pytest.raises(ValueError, match="'bias' must be a Tensor. Got list"):
        F.linear(x, weight, [1.0])
    with pytest.raises(ValueError, match=r"Got x of shape \[\]"):
        F.linear(wt.ones([]), weight)


def test_linear_layer_has_paddles_parameters():
    with nn.unique_name.guard():
        layer = nn.Linear(4, 2)
        second = nn.Linear(4, 2, bias_attr=False, name="head")
    assert {key: (p.name, p.shape) for key, p in layer.state_dict().items()} == {
        "weight": ("linear_0.w_0", [4, 2]),
        "bias": ("linear_0.b_0", [2]),
    }
    assert second.bias is None and list(second.state_dict()) == ["weight"]
    assert repr(layer) == "Linear(in_features=4, out_features=2, dtype=float32)"
    assert repr(second) == "Linear(in_features=4, out_features=2, dtype=float32, name=head)"
    assert layer.bias.tolist() == [0, 0] and not layer.weight.stop_gradient
    bound = math.sqrt(6 / (4 + 2))
    assert abs(layer.weight.numpy()).max() <= bound
    x = wt.ones([3, 4])
    np.testing.assert_allclose(layer(x).numpy(), x.numpy() @ layer.weight.numpy(), rtol=1e-6)


def test_linear_layer_takes_attributes():
    layer = nn.Linear(
        2, 3, weight_attr=nn.initializer.Constant(2.0), bias_attr=nn.ParamAttr(initializer=nn.initializer.Constant(1.0))
    )
    assert layer(wt.ones([1, 2])).tolist() == [[5, 5, 5]]


def test_linear_layer_refuses_sizes():
    with pytest.raises(AssertionError, match="0"):
        nn.Linear(0, 3)
    with pytest.raises((TypeError, ValueError), match="'a'"):
        nn.Linear("a", 3)


@pytest.mark.parametrize("bias", [False, True])
def test_bilinear_multiplies_pairs(bias, check_gradient):
    a, b, w, c = rng.normal(size=(2, 3)), rng.normal(size=(2, 4)), rng.normal(size=(5, 3, 4)), rng.normal(size=(1, 5))
    expected = np.einsum("ni,kij,nj->nk", a, w, b) + (c if bias else 0)
    arrays = [a, b, w] + [c] * bias
    np.testing.assert_allclose(F.bilinear(*(tensor(x) for x in arrays)).numpy(), expected, rtol=1e-12)
    check_gradient(F.bilinear, *arrays)


def test_bilinear_refuses_what_does_not_fit():
    with pytest.raises(ValueError, match=r"Got x1 \[2, 3\], x2 \[2, 3\], weight \[5, 3, 4\]"):
        F.bilinear(wt.ones([2, 3]), wt.ones([2, 3]), wt.ones([5, 3, 4]))
    with pytest.raises(ValueError, match=r"bias \[5\], expected"):
        F.bilinear(wt.ones([2, 3]), wt.ones([2, 4]), wt.ones([5, 3, 4]), wt.ones([5]))
    with pytest.raises(ValueError, match="must have one dtype"):
        F.bilinear(wt.ones([2, 3]), wt.ones([2, 4], "float64"), wt.ones([5, 3, 4]))


def test_bilinear_layer():
    layer = nn.Bilinear(3, 4, 5, name="b")
    assert {key: p.shape for key, p in layer.state_dict().items()} == {"weight": [5, 3, 4], "bias": [1, 5]}
    assert repr(layer) == "Bilinear(in1_features=3, in2_features=4, out_features=5, dtype=float32, name=b)"
    assert layer(wt.ones([2, 3]), wt.ones([2, 4])).shape == [2, 5]
    assert nn.Bilinear(3, 4, 5, bias_attr=False).bias is None


# Dropout.


def test_dropout_drops_a_share_and_scales_the_rest():
    wt.seed(0)
    x = wt.full([200, 100], 3.0)
    out = F.dropout(x, 0.25).numpy()
    np.testing.assert_allclose(np.unique(out), [0, 4])
    assert abs((out == 0).mean() - 0.25) < 0.015  # five standard deviations


def test_dropout_modes():
    wt.seed(0)
    x = wt.full([1000], 3.0)
    assert set(F.dropout(x, 0.25, mode="downscale_in_infer").tolist()) == {0, 3}
    assert F.dropout(x, 0.25, training=False, mode="downscale_in_infer")[0].item() == 2.25
    assert F.dropout(x, 0.25, training=False) is x
    assert F.dropout(x, 0) is x
    assert not F.dropout(x, 1).numpy().any() and not F.dropout(x, 1.0, mode="downscale_in_infer").numpy().any()


@pytest.mark.parametrize("axis", [0, 1, [0], [0, 1], (1, 2)])
def test_dropout_along_axes_drops_slices(axis):
    wt.seed(0)
    out = F.dropout(wt.ones([20, 30, 4]), 0.5, axis).numpy()
    axes = (axis,) if isinstance(axis, int) else tuple(axis)
    others = tuple(i for i in range(3) if i not in axes)
    np.testing.assert_array_equal(out.max(axis=others), out.min(axis=others))
    assert set(np.unique(out)) == {0, 2}


def test_dropout_passes_gradients_where_it_keeps():
    for axis in None, 0:
        wt.seed(0)
        x = wt.ones([10, 4])
        x.stop_gradient = False
        out = F.dropout(x, 0.5, axis)
        (out * 3).sum().backward()
        np.testing.assert_array_equal(x.grad.numpy(), out.numpy() * 3)


def test_dropout_takes_other_numbers():
    wt.seed(0)
    x = wt.ones([1000])
    for p in wt.to_tensor([0.5]), wt.to_tensor(0.5), np.float64(0.5):
        assert set(F.dropout(x, p).tolist()) == {0, 2}


def test_dropout_refuses():
    x = wt.ones([2, 3])
    for p in 1.5, -0.5:
        with pytest.raises(ValueError, match=f"between 0 and 1. Got p={p}"):
            F.dropout(x, p)
        with pytest.raises(ValueError, match="between 0 and 1"):
            F.alpha_dropout(x, p)
    with pytest.raises(TypeError, match="should be a number or Variable. Got 'a'"):
        F.dropout(x, "a")
    with pytest.raises(ValueError, match="mode argument should be .* Got mode='x'"):
        F.dropout(x, mode="x")
    for axis in 2, -1, [0, 1, 2], []:
        with pytest.raises(ValueError, match="axis value should be"):
            F.dropout(x, axis=axis)
    for axis in "a", 1.0:
        with pytest.raises(TypeError, match="axis argument should be int or list"):
            F.dropout(x, axis=axis)
    with pytest.raises(ValueError, match="must be a Tensor. Got list"):
        F.dropout([1.0])
    with pytest.raises(TypeError, match="int64"):
        F.dropout(wt.to_tensor([1]))


@pytest.mark.parametrize(
    "function, layer, shape, data_format, channel",
    [
        (F.dropout2d, nn.Dropout2D, [10, 20, 2, 3], "NCHW", 1),
        (F.dropout2d, nn.Dropout2D, [10, 2, 3, 20], "NHWC", 3),
        (F.dropout3d, nn.Dropout3D, [10, 20, 2, 3, 2], "NCDHW", 1),
        (F.dropout3d, nn.Dropout3D, [10, 2, 3, 2, 20], "NDHWC", 4),
    ],
)
def test_dropout_of_channels(function, layer, shape, data_format, channel):
    wt.seed(0)
    x = wt.ones(shape)
    places = tuple(axis for axis in range(1, len(shape)) if axis != channel)
    for out in function(x, 0.5, data_format=data_format).numpy(), layer(0.5, data_format)(x).numpy():
        np.testing.assert_array_equal(out.max(axis=places), out.min(axis=places))
        assert set(np.unique(out)) == {0, 2}
    assert function(x, 0.5, training=False, data_format=data_format) is x
    with pytest.raises(ValueError, match="rank|D tensor"):
        function(x[0], 0.5, data_format=data_format)
    with pytest.raises(ValueError, match="data_format"):
        function(x, 0.5, data_format="NC")


def test_alpha_dropout_keeps_mean_and_variance():
    wt.seed(0)
    x = wt.randn([100000])
    out = F.alpha_dropout(x, 0.3)
    assert abs(float(out.mean())) < 0.02 and abs(float(out.std()) - 1) < 0.02
    _, counts = np.unique(out.numpy(), return_counts=True)
    assert abs(counts.max() / 100000 - 0.3) < 0.01  # all that was dropped has one value
    assert F.alpha_dropout(x, 0.3, training=False) is x and F.alpha_dropout(x, 0) is x
    assert not F.alpha_dropout(x, 1).numpy().any()


def test_alpha_dropout_has_the_published_numbers():
    # Klambauer et al., section 3: alpha' = -1.7581; a = (q + alpha'^2 q (1 - q))^(-1/2) with q = 1 - p.
    wt.seed(0)
    out = np.unique(F.alpha_dropout(wt.ones([1000], "float64"), 0.5).numpy())
    limit = -1.7580993408473766
    a = (0.5 + limit**2 * 0.25) ** -0.5
    b = -a * 0.5 * limit
    np.testing.assert_allclose(out, [a * limit + b, a + b], rtol=1e-12)


def test_alpha_dropout_passes_gradients_where_it_keeps():
    wt.seed(0)
    x = wt.ones([100])
    x.stop_gradient = False
    out = F.alpha_dropout(x, 0.5)
    out.sum().backward()
    dropped = out.numpy() == out.numpy().min()
    assert not x.grad.numpy()[dropped].any() and (x.grad.numpy()[~dropped] > 0).all()


@pytest.mark.parametrize(
    "layer, text",
    [
        (nn.Dropout(0.25, axis=0, name="d"), "Dropout(p=0.25, axis=0, mode=upscale_in_train, name=d)"),
        (nn.Dropout2D(), "Dropout2D(p=0.5, data_format=NCHW)"),
        (nn.Dropout3D(), "Dropout3D(p=0.5, data_format=NCDHW)"),
        (nn.AlphaDropout(), "AlphaDropout(p=0.5)"),
    ],
)
def test_dropout_layers_rest_in_evaluation_mode(layer, text):
    assert repr(layer) == text
    x = wt.ones([4, 4] + [2] * (int(text[7]) if text[7] in "23" else 0))
    layer.eval()
    assert layer(x) is x


# Embedding.


def test_embedding_reads_rows(check_gradient):
    table = rng.normal(size=(5, 3))
    index = np.array([[4, 0], [1, 4]])
    for dtype in "int32", "int64":
        np.testing.assert_array_equal(F.embedding(tensor(index.astype(dtype)), tensor(table)).numpy(), table[index])
    assert F.embedding(wt.to_tensor(2), tensor(table)).shape == [3]
    assert F.embedding(wt.zeros([0, 2], "int64"), tensor(table)).shape == [0, 2, 3]
    check_gradient(lambda table: F.embedding(tensor(index), table), table)
    check_gradient(lambda table: F.embedding(tensor(index), table, padding_idx=4), table)


@pytest.mark.parametrize("padding", [1, -4])
def test_embedding_of_padding_is_zero(padding):
    table = wt.ones([5, 3])
    table.stop_gradient = False
    out = F.embedding(wt.to_tensor([0, 1]), table, padding_idx=padding)
    assert out.tolist() == [[1, 1, 1], [0, 0, 0]]
    out.sum().backward()
    assert table.grad[1].tolist() == [0, 0, 0] and table.grad[0].tolist() == [1, 1, 1]


def test_embedding_refuses():
    table, index = wt.ones([5, 3]), wt.to_tensor([1])
    for wrong in 5, -1:
        with pytest.raises(IndexError, match=f"index {wrong} .*out of range"):
            F.embedding(wt.to_tensor([wrong]), table)
        with pytest.raises(ValueError, match=f"index {wrong} .*out of range"):
            F.embedding(wt.to_tensor([wrong]), table)
    with pytest.raises(ValueError, match=r"padding_idx must be within \[-5, 5\)"):
        F.embedding(index, table, padding_idx=5)
    with pytest.raises(ValueError, match="'padding_idx' must be one integer"):
        F.embedding(index, table, padding_idx=1.0)
    with pytest.raises(NotImplementedError, match="dtype float32, expected int64"):
        F.embedding(wt.ones([1]), table)
    with pytest.raises(ValueError, match="weight"):
        F.embedding(index, table[0])
    with pytest.raises(ValueError, match="must be a Tensor. Got list"):
        F.embedding([1], table)


def test_embedding_layer():
    with nn.unique_name.guard():
        layer = nn.Embedding(6, 3, padding_idx=2)
    assert layer.weight.name == "embedding_0.w_0" and layer.weight.shape == [6, 3]
    assert repr(layer) == "Embedding(6, 3, padding_idx=2, sparse=False)"
    assert repr(nn.Embedding(6, 3, name="e")) == "Embedding(6, 3, sparse=False, name=e)"
    assert not layer.weight[2].numpy().any() and layer.weight.numpy().any()
    assert layer.weight.is_leaf and not layer.weight.stop_gradient
    out = layer(wt.to_tensor([[1, 2]]))
    np.testing.assert_array_equal(out.numpy(), layer.weight.numpy()[[[1, 2]]])
    assert not nn.Embedding(6, 3, padding_idx=-1).weight[5].numpy().any()


@pytest.mark.parametrize("arguments", [(0, 3), (5, 0), (5, -3), (5, 3, 5), (5, 3, -6)])
def test_embedding_layer_refuses(arguments):
    with pytest.raises(ValueError, match=r"greater than 0|within \[-5, 5\)"):
        nn.Embedding(*arguments)


def test_one_hot_marks_classes():
    out = F.one_hot(wt.to_tensor([[1, 0], [2, 2]]), 3)
    assert out.dtype is wt.float32
    np.testing.assert_array_equal(out.numpy(), np.eye(3)[[[1, 0], [2, 2]]])
    for number in wt.to_tensor(3), wt.to_tensor([3]), np.int64(3), 3.0:
        assert F.one_hot(wt.to_tensor(1), number).tolist() == [0, 1, 0]
    assert F.one_hot(wt.zeros([0], "int64"), 3).shape == [0, 3]


def test_one_hot_refuses():
    for wrong in 3, -1:
        with pytest.raises(ValueError, match=f"value {wrong} .*not a class"):
            F.one_hot(wt.to_tensor([wrong]), 3)
    with pytest.raises(ValueError, match="num_classes=0"):
        F.one_hot(wt.to_tensor([0]), 0)
    with pytest.raises(TypeError, match="float32"):
        F.one_hot(wt.ones([1]), 3)
    with pytest.raises(ValueError, match="'num_classes' must be one integer"):
        F.one_hot(wt.to_tensor([0]), 2.5)


# Smoothing, lengths and angles.


def test_label_smooth_mixes_in_a_prior(check_gradient):
    label = np.eye(4)[[1, 3]]
    np.testing.assert_allclose(F.label_smooth(tensor(label)).numpy(), 0.9 * label + 0.025, rtol=1e-12)
    prior = np.array([[0.1, 0.2, 0.3, 0.4]])
    out = F.label_smooth(tensor(label), tensor(prior), 0.5)
    np.testing.assert_allclose(out.numpy(), 0.5 * label + 0.5 * prior, rtol=1e-12)
    check_gradient(lambda x: F.label_smooth(x, epsilon=0.3), label)


def test_label_smooth_refuses():
    label = wt.ones([2, 3])
    for epsilon in 2.0, -0.1:
        with pytest.raises(ValueError, match="epsilon must be between 0 and 1"):
            F.label_smooth(label, epsilon=epsilon)
    with pytest.raises(TypeError, match="dtype int64"):
        F.label_smooth(wt.to_tensor([1]))
    with pytest.raises(ValueError, match="must have one dtype"):
        F.label_smooth(label, wt.ones([1, 3], "float64"))


@pytest.mark.parametrize("axis", [0, 1, -1])
@pytest.mark.parametrize("p", [1, 2, 3.5, math.inf])
def test_normalize_divides_by_the_norm(p, axis, check_gradient):
    x = rng.normal(size=(3, 4))
    expected = x / np.linalg.norm(x, ord=p, axis=axis, keepdims=True)
    np.testing.assert_allclose(F.normalize(tensor(x), p, axis).numpy(), expected, rtol=1e-12)
    check_gradient(lambda x: F.normalize(x, p, axis), x)


def test_normalize_does_not_divide_by_zero():
    x = wt.zeros([2, 3])
    x.stop_gradient = False
    F.normalize(x).sum().backward()
    assert not F.normalize(x).numpy().any() and np.isfinite(x.grad.numpy()).all()


def test_normalize_refuses():
    with pytest.raises(ValueError, match="axis 1 is out of range"):
        F.normalize(wt.ones([3]))
    with pytest.raises(ValueError, match="0-d"):
        F.normalize(wt.ones([]))
    with pytest.raises(TypeError, match="int64"):
        F.normalize(wt.to_tensor([[1]]))
    with pytest.raises(TypeError, match="normalize: argument 'p'"):
        F.normalize(wt.ones([1, 2]), "fro")


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_cosine_similarity_is_that_of_the_angle(axis, check_gradient):
    a, b = rng.normal(size=(3, 4)), rng.normal(size=(3, 4))
    expected = (a * b).sum(axis=axis) / np.linalg.norm(a, axis=axis) / np.linalg.norm(b, axis=axis)
    np.testing.assert_allclose(F.cosine_similarity(tensor(a), tensor(b), axis).numpy(), expected, rtol=1e-12)
    np.testing.assert_allclose(nn.CosineSimilarity(axis)(tensor(a), tensor(b)).numpy(), expected, rtol=1e-12)
    check_gradient(lambda a, b: F.cosine_similarity(a, b, axis), a, b)


def test_cosine_similarity_broadcasts_and_promotes():
    out = F.cosine_similarity(wt.ones([2, 3]), wt.ones([1, 3], "float64"))
    assert out.shape == [2] and out.dtype is wt.float64
    assert F.cosine_similarity(wt.ones([2, 3]), wt.zeros([2, 3])).tolist() == [0, 0]
    assert repr(nn.CosineSimilarity()) == "CosineSimilarity(axis=1, eps=1e-08)"


def test_cosine_similarity_refuses():
    with pytest.raises(ValueError, match="'x1' must be a Tensor"):
        F.cosine_similarity([1.0], wt.ones([1]))
    with pytest.raises(TypeError, match="int64"):
        F.cosine_similarity(wt.to_tensor([[1]]), wt.to_tensor([[1]]))
    with pytest.raises(ValueError, match="broadcast"):
        F.cosine_similarity(wt.ones([2, 3]), wt.ones([2, 2]))


# Axes.


def test_flatten_and_unflatten():
    x = wt.arange(24).reshape([2, 3, 4])
    assert nn.Flatten()(x).shape == [2, 12] and nn.Flatten(0, 1)(x).shape == [6, 4]
    assert nn.Unflatten(2, [2, 2])(x).shape == [2, 3, 2, 2] and nn.Unflatten(-1, [2, -1])(x).shape == [2, 3, 2, 2]
    np.testing.assert_array_equal(nn.Unflatten(1, [3, 4])(nn.Flatten()(x)).numpy(), x.numpy())
    assert repr(nn.Flatten(1, 2)) == "Flatten()" and repr(nn.Unflatten(1, [2, 2])) == "Unflatten(axis=1, shape=[2, 2])"
    with pytest.raises(ValueError, match="out of range"):
        nn.Flatten(0, 5)(x)


def test_sizes_that_are_texts_are_named_by_the_layer():
    with pytest.raises(TypeError, match=r"Linear: argument 'in_features' must be one integer. Got '4'"):
        nn.Linear("4", 2)
    with pytest.raises(TypeError, match=r"Conv1D: argument 'in_channels' is of another kind. Got 'a' \(str\), expected int"):
        nn.Conv1D("a", 2, 3)
