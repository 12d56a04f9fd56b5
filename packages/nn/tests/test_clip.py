"""Gradient clipping: values, norms, what is left alone."""
import numpy as np
import pytest

import wherry_nn as nn
import wherry_tensor as wt


def parameters(*shapes, need_clip=True):
    return [nn.create_parameter(list(s), "float32", attr=nn.ParamAttr(need_clip=need_clip)) for s in shapes]


def clipped(clip, params, grads):
    pairs = clip(list(zip(params, [wt.to_tensor(g) for g in grads], strict=True)))
    assert [p is q for (p, _), q in zip(pairs, params, strict=True)] == [True] * len(params)
    return [g.numpy() for _, g in pairs]


def test_values_are_clamped_to_the_range():
    grad = np.array([-3.0, -0.5, 0.5, 3.0], "float32")
    params = parameters([4])
    for clip, low, high in (nn.ClipGradByValue(1), -1, 1), (nn.ClipGradByValue(max=2.0, min=-0.25), -0.25, 2):
        np.testing.assert_array_equal(clipped(clip, params, [grad])[0], np.clip(grad, low, high))


def test_each_gradient_is_shortened_to_the_norm():
    rng = np.random.default_rng(0)
    grads = [rng.standard_normal(s).astype("float32") * k for s, k in (((3, 4), 1), ((5,), 1e-3), ((), 2))]
    out = clipped(nn.ClipGradByNorm(1.0), parameters([3, 4], [5], [1]), grads)
    for grad, result in zip(grads, out, strict=True):
        norm = np.sqrt((grad.astype("float64") ** 2).sum())
        np.testing.assert_allclose(result, grad / max(norm, 1.0), rtol=1e-6)


@pytest.mark.parametrize("limit", [0.5, 1e3])
def test_all_gradients_are_shortened_by_one_factor(limit):
    rng = np.random.default_rng(0)
    grads = [rng.standard_normal(s).astype("float32") for s in ((3, 4), (70000,), (2, 2, 2))]
    out = clipped(nn.ClipGradByGlobalNorm(limit), parameters([3, 4], [70000], [2, 2, 2]), grads)
    norm = np.sqrt(sum((g.astype("float64") ** 2).sum() for g in grads))
    for grad, result in zip(grads, out, strict=True):
        np.testing.assert_allclose(result, grad * (limit / max(norm, limit)), rtol=1e-6)


@pytest.mark.parametrize("clip", [nn.ClipGradByNorm(5.0), nn.ClipGradByGlobalNorm(5.0), nn.ClipGradByValue(4.0)])
def test_a_gradient_at_the_limit_is_unchanged(clip):
    grad = np.array([3.0, 4.0], "float32")
    np.testing.assert_array_equal(clipped(clip, parameters([2]), [grad])[0], grad)
    np.testing.assert_array_equal(clipped(clip, parameters([2]), [np.zeros(2, "float32")])[0], np.zeros(2))


@pytest.mark.parametrize("clip", [nn.ClipGradByNorm(1.0), nn.ClipGradByGlobalNorm(1.0), nn.ClipGradByValue(1.0)])
def test_parameters_that_need_no_clipping_neither_count_nor_change(clip):
    (clips,), (free,) = parameters([2]), parameters([2], need_clip=False)
    grad = wt.to_tensor([3.0, 4.0])
    pairs = clip([(free, grad), (clips, grad), (clips, None)])
    assert len(pairs) == 2 and pairs[0][1] is grad
    alone = clip([(clips, grad)])
    np.testing.assert_array_equal(pairs[1][1].numpy(), alone[0][1].numpy())
    assert clip([(free, grad)])[0][1] is grad
    assert clip([]) == []


def test_the_norm_of_several_dtypes_is_one_norm():
    params = parameters([1], [1], [1])
    grads = [wt.to_tensor([2.0]).astype(d) for d in ("float16", "float32", "float64")]
    pairs = nn.ClipGradByGlobalNorm(1.0)(list(zip(params, grads, strict=True)))
    for (_, result), grad in zip(pairs, grads, strict=True):
        assert result.dtype is grad.dtype
        np.testing.assert_allclose(result.astype("float64").numpy(), 1 / np.sqrt(3), rtol=1e-3)


def test_clipping_records_nothing():
    (param,) = parameters([2])
    (param * 5).sum().backward()
    for clip in nn.ClipGradByNorm(1.0), nn.ClipGradByGlobalNorm(1.0), nn.ClipGradByValue(1.0):
        assert clip([(param, param.grad)])[0][1].stop_gradient


def test_they_print_as_in_paddle():
    assert [str(c) for c in (nn.ClipGradByValue(1), nn.ClipGradByNorm(2), nn.ClipGradByGlobalNorm(3))] == [
        "Clip Gradient By Value, min = -1.000000, max=1.000000",
        "Gradient Clip By Norm, clip_norm=2.000000",
        "Gradient Clip By GlobalNorm, global_norm=3.000000",
    ]


def test_wrong_limits_say_what_was_expected():
    with pytest.raises(AssertionError, match="`max` must be positive"):
        nn.ClipGradByValue(-1.0)
    for make in nn.ClipGradByValue, nn.ClipGradByNorm, nn.ClipGradByGlobalNorm:
        with pytest.raises(TypeError, match="must be a number. Got 'a'"):
            make("a")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ([1, 2], r"params_grads is not a list of pairs. Got \[1, 2\] \(list\)"),
        ([(1, 2, 3)], r"params_grads is not a list of pairs. Got \[\(1, 2, 3\)\]"),
        (7, r"params_grads is not a list of pairs. Got 7 \(int\)"),
        ([(1, 2)], "argument 'gradient' must be a Tensor. Got int"),
    ],
)
def test_what_is_not_a_list_of_pairs_is_refused(given, said):
    with pytest.raises(TypeError, match=said):
        nn.ClipGradByNorm(1.0)(given)
