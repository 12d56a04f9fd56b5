"""Normalizations against their definitions; running statistics; what is refused."""
import numpy as np
import pytest

import wherry_nn.functional as F
import wherry_tensor as wt
from wherry_nn import BatchNorm1D
from windows import last, values

EPSILON = 1e-2  # large enough that forgetting it shows


def normalized(x, axes):
    mean, variance = x.mean(axes, keepdims=True), x.var(axes, keepdims=True)
    return (x - mean) / np.sqrt(variance + EPSILON)


def spread(parameter, rank):
    return parameter.reshape(-1, *(1 for _ in range(rank - 2)))


FORMATS = [("NC", ()), ("NCL", (5,)), ("NCHW", (4, 3)), ("NCDHW", (2, 3, 2))]
LAST = [("NLC", (5,)), ("NHWC", (4, 3)), ("NDHWC", (2, 3, 2))]


@pytest.mark.parametrize(("data_format", "size"), FORMATS + LAST)
def test_batch_norm_takes_the_statistics_of_the_batch(data_format, size):
    x, weight, bias = values(4, 3, *size), values(3, seed=1), values(3, seed=2)
    mean, variance = wt.to_tensor(values(3, seed=3)), wt.to_tensor(values(3, seed=4) ** 2)
    old_mean, old_variance = mean.numpy().copy(), variance.numpy().copy()
    channels_last = data_format[-1] == "C" and size
    axes = (0, *range(2, x.ndim))
    out = F.batch_norm(
        wt.to_tensor(last(x) if channels_last else x), mean, variance, wt.to_tensor(weight), wt.to_tensor(bias),
        training=True, momentum=0.7, epsilon=EPSILON, data_format=data_format,
    ).numpy()
    expected = normalized(x, axes) * spread(weight, x.ndim) + spread(bias, x.ndim)
    np.testing.assert_allclose(out, last(expected) if channels_last else expected, atol=1e-12)
    np.testing.assert_allclose(mean.numpy(), 0.7 * old_mean + 0.3 * x.mean(axes), atol=1e-12)
    np.testing.assert_allclose(variance.numpy(), 0.7 * old_variance + 0.3 * x.var(axes), atol=1e-12)  # no correction


@pytest.mark.parametrize(
    ("training", "use_global_stats", "of_the_batch"),
    [(True, None, True), (False, None, False), (True, True, False), (False, False, True)],
)
def test_which_statistics_batch_norm_takes(training, use_global_stats, of_the_batch):
    x = values(4, 3, 5)
    mean, variance = wt.to_tensor(values(3, seed=3)), wt.to_tensor(values(3, seed=4) ** 2)
    old_mean, old_variance = spread(mean.numpy().copy(), 3), spread(variance.numpy().copy(), 3)
    out = F.batch_norm(
        wt.to_tensor(x), mean, variance, training=training, epsilon=EPSILON, use_global_stats=use_global_stats
    ).numpy()
    expected = normalized(x, (0, 2)) if of_the_batch else (x - old_mean) / np.sqrt(old_variance + EPSILON)
    np.testing.assert_allclose(out, expected, atol=1e-12)
    assert (mean.numpy() != old_mean.ravel()).all() == of_the_batch


def test_running_statistics_are_not_recorded():
    x = wt.to_tensor(values(4, 3), stop_gradient=False)
    mean, variance = wt.zeros([3], "float64"), wt.ones([3], "float64")
    out = F.batch_norm(x, mean, variance, training=True)
    assert mean.stop_gradient and mean.is_leaf and variance.stop_gradient
    out.sum().backward()  # which they, written after the forward pass, do not disturb
    np.testing.assert_allclose(x.grad.numpy(), 0, atol=1e-12)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_statistics_of_16_bits_are_float32(dtype):
    x = values(8, 3, 5)
    mean, variance = wt.zeros([3]), wt.ones([3])
    out = F.batch_norm(wt.to_tensor(x).astype(dtype), mean, variance, wt.ones([3]), wt.zeros([3]), training=True)
    assert (out.dtype.name, mean.dtype.name) == (dtype, "float32")
    np.testing.assert_allclose(out.astype("float64").numpy(), normalized(x, (0, 2)), atol=5e-2)


def test_statistics_may_have_16_bits():
    x, mean, variance = (wt.to_tensor(one).astype("bfloat16") for one in (values(8, 3, 5), np.zeros(3), np.ones(3)))
    out = F.batch_norm(x, mean, variance, training=True, momentum=0.5)
    np.testing.assert_allclose(out.astype("float64").numpy(), normalized(values(8, 3, 5), (0, 2)), atol=5e-2)
    np.testing.assert_allclose(mean.astype("float64").numpy(), 0.5 * values(8, 3, 5).mean((0, 2)), atol=1e-2)
    assert (mean.dtype.name, F.batch_norm(x, mean, variance).dtype.name) == ("bfloat16", "bfloat16")
    with pytest.raises(TypeError, match="float32"):
        F.batch_norm(x.astype("float32"), mean, variance, weight=wt.ones([3], "bfloat16"))


def test_gradients_of_batch_norm(check_gradient):
    x, weight, bias = values(4, 2, 3), values(2, seed=1), values(2, seed=2)

    def batch(x, weight, bias):
        return F.batch_norm(x, wt.zeros([2], "float64"), wt.ones([2], "float64"), weight, bias, training=True)

    check_gradient(batch, x, weight, bias)
    mean, variance = values(2, seed=3), values(2, seed=4) ** 2 + 0.5
    check_gradient(lambda x, weight, bias, *running: F.batch_norm(x, *running, weight, bias), x, weight, bias, mean, variance)
    check_gradient(lambda x, *running: F.batch_norm(x, *running), x, mean, variance)


@pytest.mark.parametrize("normalized_shape", [5, [5], (4, 5), [3, 4, 5]])
@pytest.mark.parametrize("flat", [True, False])
def test_layer_norm_takes_the_last_axes(normalized_shape, flat):
    x = values(2, 3, 4, 5)
    shape = [normalized_shape] if isinstance(normalized_shape, int) else list(normalized_shape)
    weight, bias = values(*shape, seed=1), values(*shape, seed=2)
    given = [wt.to_tensor(one.ravel() if flat else one) for one in (weight, bias)]
    out = F.layer_norm(wt.to_tensor(x), normalized_shape, *given, EPSILON).numpy()
    expected = normalized(x, tuple(range(4 - len(shape), 4)))
    np.testing.assert_allclose(out, expected * weight + bias, atol=1e-12)
    np.testing.assert_allclose(
        F.layer_norm(wt.to_tensor(x), normalized_shape, bias=given[1], epsilon=EPSILON).numpy(), expected + bias, atol=1e-12
    )


@pytest.mark.parametrize(("data_format", "size"), FORMATS + LAST)
def test_instance_and_group_norm(data_format, size):
    x, weight, bias = values(2, 6, *size), values(6, seed=1), values(6, seed=2)
    channels_last = data_format[-1] == "C" and size
    given = wt.to_tensor(last(x) if channels_last else x)
    affine = dict(weight=wt.to_tensor(weight), bias=wt.to_tensor(bias))

    def check(out, normal, scaled):
        expected = normal * spread(weight, x.ndim) + spread(bias, x.ndim) if scaled else normal
        np.testing.assert_allclose(out.numpy(), last(expected) if channels_last else expected, atol=1e-12)

    alone = normalized(x.reshape(2, 6, -1), 2).reshape(x.shape)
    check(F.instance_norm(given, eps=EPSILON, data_format=data_format), alone, False)
    check(F.instance_norm(given, eps=EPSILON, data_format=data_format, **affine), alone, True)
    for groups in 1, 2, 6:
        grouped = normalized(x.reshape(2, groups, -1), 2).reshape(x.shape)
        check(F.group_norm(given, groups, EPSILON, data_format=data_format), grouped, False)
        check(F.group_norm(given, groups, EPSILON, data_format=data_format, **affine), grouped, True)


@pytest.mark.parametrize("size", [1, 2, 3, 4, 9])
@pytest.mark.parametrize("channels_last", [False, True])
def test_local_response_norm_divides_by_the_mean_of_neighbours(size, channels_last):
    x = values(2, 6, 3, 2)
    squares = np.pad(x**2, ((0, 0), (size // 2, (size - 1) // 2), (0, 0), (0, 0)))
    mean = sum(squares[:, i : i + 6] for i in range(size)) / size
    expected = x / (1.5 + 0.3 * mean) ** 0.6
    given, data_format = (last(x), "NHWC") if channels_last else (x, "NCHW")
    out = F.local_response_norm(wt.to_tensor(given), size, alpha=0.3, beta=0.6, k=1.5, data_format=data_format).numpy()
    np.testing.assert_allclose(out, last(expected) if channels_last else expected, atol=1e-12)


def test_gradients_of_compositions(check_gradient):
    x, weight, bias = values(2, 4, 3), values(4, seed=1), values(4, seed=2)
    check_gradient(lambda x, w, b: F.instance_norm(x, weight=w, bias=b), x, weight, bias)
    check_gradient(lambda x, w, b: F.group_norm(x, 2, 1e-5, w, b), x, weight, bias)
    check_gradient(lambda x: F.local_response_norm(x, 3, alpha=0.5), x)
    check_gradient(lambda x, w: F.layer_norm(x, [4, 3], w), x, values(12))


def test_empty_tensors():
    empty = wt.zeros([0, 3, 4])
    assert F.layer_norm(empty, 4).shape == [0, 3, 4]
    assert F.instance_norm(empty).shape == [0, 3, 4]
    assert F.local_response_norm(empty, 2).shape == [0, 3, 4]
    assert F.batch_norm(empty, wt.zeros([3]), wt.ones([3])).shape == [0, 3, 4]
    with pytest.raises(ValueError, match="the batch is empty"):
        F.batch_norm(empty, wt.zeros([3]), wt.ones([3]), training=True)


X, MEAN, VARIANCE = wt.zeros([2, 3, 4]), wt.zeros([3]), wt.ones([3])


@pytest.mark.parametrize(
    ("call", "error", "match"),
    [
        (lambda: F.batch_norm(X, MEAN, VARIANCE, data_format="CN"), ValueError, "data_format"),
        (lambda: F.batch_norm(X, MEAN, VARIANCE, wt.ones([2])), ValueError, "scale"),
        (lambda: F.batch_norm(X, wt.zeros([4]), VARIANCE, training=True), ValueError, r"running_mean of shape \[4\].*expected \[3\]"),
        (lambda: F.batch_norm(X, MEAN, wt.zeros([1]), training=True), ValueError, r"running_var of shape \[1\]"),
        (lambda: F.batch_norm(X, wt.zeros([4]), VARIANCE), ValueError, "mean"),
        (lambda: F.batch_norm(X, None, None, training=True), TypeError, "'running_mean' must be a Tensor"),
        (lambda: F.batch_norm(X.astype("float64"), MEAN, VARIANCE, wt.ones([3])), TypeError, "one dtype"),
        (lambda: F.batch_norm(X.astype("int32"), MEAN, VARIANCE), TypeError, "int32"),
        (lambda: F.layer_norm(X, 5), ValueError, r"expected input with shape \[\*, 5\]"),
        (lambda: F.layer_norm(X, [2, 4]), ValueError, r"\[\*, 2, 4\]"),
        (lambda: F.layer_norm(X, [1, 2, 3, 4]), ValueError, r"Got x of shape \[2, 3, 4\]"),
        (lambda: F.layer_norm(X, []), ValueError, "int, list of ints"),
        (lambda: F.layer_norm(X, "4"), ValueError, "int, list of ints"),
        (lambda: F.layer_norm(X, 4, wt.ones([3])), ValueError, "scale"),
        (lambda: F.layer_norm(X.astype("float64"), 4, wt.ones([4])), TypeError, "one dtype"),
        (lambda: F.layer_norm(3, 4), TypeError, "'x' must be a Tensor"),
        (lambda: F.instance_norm(wt.zeros([3])), ValueError, "batch and a channel axis"),
        (lambda: F.instance_norm(X, weight=wt.ones([4])), ValueError, r"expected \[3\]"),
        (lambda: F.group_norm(X, 2), ValueError, "divisor of 3"),
        (lambda: F.group_norm(X, 3, weight=wt.ones([4])), ValueError, r"expected \[3\]"),
        (lambda: F.local_response_norm(X, 0), ValueError, "too small"),
        (lambda: F.local_response_norm(X[0], 2), ValueError, "3D or higher"),
        (lambda: F.local_response_norm(X, 2, data_format="NC"), ValueError, "should be in one of"),
    ],
)
def test_refused_arguments(call, error, match):
    with pytest.raises(error, match=match):
        call()


@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_statistics_move_although_somebody_unfroze_everything(dtype):
    layer = BatchNorm1D(2)
    for one in layer.state_dict().values():
        one.stop_gradient = False
    if dtype == "float16":
        layer.float16()
    layer(wt.to_tensor([[1.0, 2.0], [3.0, 6.0]]).astype(dtype)).sum().backward()
    np.testing.assert_allclose(layer._mean.numpy(), [0.2, 0.4], rtol=1e-3)  # 0.1 of the batch's
    assert layer._mean.grad is None and layer.weight.grad is not None


@pytest.mark.parametrize("wrong", [[], "a", np.ones([2, 2]), {}])
@pytest.mark.parametrize(("call", "name"), [
    (lambda x, one, wrong: F.batch_norm(x, one, one, training=True, momentum=wrong), "momentum"),
    (lambda x, one, wrong: F.batch_norm(x, one, one, training=True, epsilon=wrong), "epsilon"),
    (lambda x, one, wrong: F.layer_norm(x, [4], epsilon=wrong), "epsilon"),
    (lambda x, one, wrong: F.group_norm(x, 3, epsilon=wrong), "epsilon"),
    (lambda x, one, wrong: F.instance_norm(x, eps=wrong), "eps"),
    (lambda x, one, wrong: F.group_norm(x, 3, data_format=wrong), "data_format"),
    (lambda x, one, wrong: F.batch_norm(x, one, one, data_format=wrong), "data_format"),
    (lambda x, one, wrong: F.local_response_norm(x, 2, data_format=wrong), "data_format"),
])  # fmt: skip
def test_numbers_and_layouts_of_another_kind_are_named(call, name, wrong):
    with pytest.raises((TypeError, ValueError), match=rf"_norm: .*{name}"):
        call(wt.ones([2, 3, 4, 4]), wt.ones([3]), wrong)
