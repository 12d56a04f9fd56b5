"""PyLayer: what forward and backward get, and what is refused."""
import gc

import numpy as np
import pytest

from small_tensors import make, total
from wherry_autograd import PyLayer, PyLayerContext, grad, is_grad_enabled, once_differentiable, saved_tensors_hooks
from wherry_tensor import _core, ops


class Tanh(PyLayer):
    @staticmethod
    def forward(ctx, x, scale=1.0):
        y = ops.tanh(x) * scale
        ctx.save_for_backward(y)
        ctx.scale = scale
        return y

    @staticmethod
    def backward(ctx, dy):
        (y,) = ctx.saved_tensor()
        return dy * (1.0 - y * y)


def layer(forward, backward=lambda ctx, *g: g if len(g) > 1 else g[0]):
    return type("Layer", (PyLayer,), {"forward": staticmethod(forward), "backward": staticmethod(backward)})


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_custom_tanh_is_tanh(dtype):
    values = np.linspace(-1, 1, 6).reshape(2, 3)
    x, z = make(values, True, dtype), make(values, True, dtype)
    a, b = Tanh.apply(x), ops.tanh(z)
    total(a).backward()
    total(b).backward()
    assert a.numpy().tolist() == b.numpy().tolist()
    assert x.grad.dtype.name == dtype
    assert np.allclose(x.grad.numpy(), z.grad.numpy(), rtol=1e-6)


def test_second_derivative_through_a_saved_output(x):
    (first,) = grad(total(Tanh.apply(x)), x, create_graph=True)
    (second,) = grad(total(first), x)
    t = np.tanh([1, 2, 3])
    assert np.allclose(second.numpy(), -2 * t * (1 - t * t), rtol=1e-4)


def test_forward_is_not_recorded_and_gets_a_fresh_context(x):
    contexts = []

    def forward(ctx, x):
        assert not is_grad_enabled()
        contexts.append(ctx)
        return x * 2

    def backward(ctx, dy):
        contexts.append(ctx)
        return dy * 7

    Layer = layer(forward, backward)
    total(Layer.apply(x)).backward()
    assert x.grad.numpy().tolist() == [7, 7, 7]
    assert contexts[0] is contexts[1]
    assert type(contexts[0]) is PyLayerContext
    Layer.apply(x)
    assert contexts[2] is not contexts[0]


def test_nothing_is_recorded_when_every_input_stops_gradients():
    def backward(ctx, dy):
        raise AssertionError("must not run")

    x = make([1.0])
    y = layer(lambda ctx, x: x * 2, backward).apply(x)
    assert y.stop_gradient
    total(y).backward()
    assert x.grad is None


def test_inputs_that_stop_gradients_want_none(x):
    product = lambda ctx, a, b: a * b  # noqa: E731
    total(layer(product, lambda ctx, g: (g, None)).apply(x, make([1.0, 1.0, 1.0]))).backward()
    assert x.grad.numpy().tolist() == [1, 1, 1]
    with pytest.raises(ValueError, match="should return None at position 1"):
        total(layer(product, lambda ctx, g: (g, g)).apply(x, make([1.0, 1.0, 1.0]))).backward()


def test_the_same_tensor_twice_gets_both_gradients(x):
    total(layer(lambda ctx, a, b: a + b, lambda ctx, g: (g, g * 2)).apply(x, x)).backward()
    assert x.grad.numpy().tolist() == [3, 3, 3]


def test_mixed_outputs_stay_as_they_are(x):
    got = []
    Layer = layer(lambda ctx, x: (x * 2, [1, 2], {"a": 1}, None), lambda ctx, *g: got.extend(g) or g[0])
    out = Layer.apply(x)
    assert type(out) is tuple and out[1:] == ([1, 2], {"a": 1}, None)
    total(out[0]).backward()
    assert len(got) == 1


def test_lists_of_tensors_in_and_out(x, y):
    Layer = layer(lambda ctx, xs: [xs[0] * 2, xs[1] * 3], lambda ctx, a, b: [a * 2, b * 3])
    first, second = Layer.apply([x, y])
    total(first + second).backward()
    assert x.grad.numpy().tolist() == [2, 2, 2]
    assert y.grad.numpy().tolist() == [3, 3, 3]


def test_keyword_arguments_and_callables(x):
    def forward(ctx, x1, function, other=ops.square):
        return other(function(x1))

    total(layer(forward).apply(x1=x, function=ops.tanh)).backward()
    assert x.grad.numpy().tolist() == [1, 1, 1]


def test_missing_gradients_are_zeros_unless_told_otherwise(x):
    seen = []

    def run(materialize):
        def forward(ctx, x):
            ctx.set_materialize_grads(materialize)
            return x * 2, x * 3

        def backward(ctx, a, b):
            seen.append(a if a is None else a.numpy().tolist())
            return b

        total(layer(forward, backward).apply(x)[1]).backward()

    run(True)
    run(False)
    assert seen == [[0, 0, 0], None]


def test_mark_non_differentiable(x):
    def forward(ctx, x):
        a, b = x * 2, x * 3
        ctx.mark_non_differentiable(a)
        return a, b

    a, b = layer(forward, lambda ctx, da, db: db).apply(x)
    assert a.stop_gradient and not b.stop_gradient
    total(b).backward()
    assert x.grad.numpy().tolist() == [1, 1, 1]


def test_returning_an_input_is_in_place(x):
    Layer = layer(lambda ctx, x: x, lambda ctx, g: g * 7)
    with pytest.raises(ValueError, match=r"leaf Tensor .* can't use inplace strategy"):
        Layer.apply(x)
    z = x * 2
    assert Layer.apply(z) is z
    total(z).backward()
    assert x.grad.numpy().tolist() == [14, 14, 14]


def test_mark_not_inplace_gives_a_tensor_of_its_own(x):
    def forward(ctx, x):
        ctx.mark_not_inplace(x)
        return x

    y = layer(forward, lambda ctx, g: g * 7).apply(x)
    assert y is not x
    total(y).backward()
    assert x.grad.numpy().tolist() == [7, 7, 7]


def test_saved_values_may_be_anything_and_the_last_call_counts(x):
    def forward(ctx, x):
        assert ctx.saved_tensor() is None
        ctx.save_for_backward(x)
        ctx.save_for_backward(x, 3, None)
        return x * 2

    seen = []
    total(layer(forward, lambda ctx, g: seen.append(ctx.saved_tensor()) or g).apply(x)).backward()
    assert seen[0][1:] == (3, None)


def test_saved_tensors_that_were_written_are_noticed(x):
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * 2

    data = x * 1
    y = layer(forward, lambda ctx, g: g * ctx.saved_tensor()[0]).apply(data)
    data.add_(x)
    with pytest.raises(RuntimeError, match=r"Layer.backward: a saved tensor was modified in place"):
        total(y).backward()


def test_saved_tensors_go_through_the_hooks(x):
    with saved_tensors_hooks(lambda t: t.numpy(), make):
        y = Tanh.apply(x)
    total(y).backward()
    assert np.allclose(x.grad.numpy(), 1 - np.tanh([1, 2, 3]) ** 2, rtol=1e-5)


def test_saving_the_output_makes_no_cycle(x):
    gc.collect()
    gc.disable()
    try:
        before = _core.memory_stats()["allocated"]
        for _ in range(10):
            Tanh.apply(x)
        assert _core.memory_stats()["allocated"] == before
    finally:
        gc.enable()


def test_once_differentiable(x):
    Layer = layer(lambda ctx, x: x * x, once_differentiable(lambda ctx, g: g * 2))
    total(Layer.apply(x)).backward()
    (first,) = grad(total(Layer.apply(x)), x, create_graph=True)
    with pytest.raises(RuntimeError, match="@once_differentiable"):
        total(first).backward()


@pytest.mark.parametrize(
    ("returned", "match"),
    [
        (lambda g: (g, g), "should be 1, but received 2"),
        (lambda g: 3.0, "Got float at position 0"),
        (lambda g: total(g), r"position 0 has the wrong shape. Got \[\], expected \[3\]"),
    ],
)
def test_bad_gradients_are_refused(x, returned, match):
    with pytest.raises(ValueError, match=match):
        total(layer(lambda ctx, x: x * 2, lambda ctx, g: returned(g)).apply(x)).backward()


def test_none_for_an_input_that_wants_a_gradient_leaves_it_without(x):
    total(layer(lambda ctx, x: x * 2, lambda ctx, g: None).apply(x)).backward()
    assert x.grad is None


def test_bad_forwards_are_refused(x):
    with pytest.raises(ValueError, match=r"at least one output of `PyLayer.forward` must be a Tensor. Got int, int"):
        layer(lambda ctx, x: [1, 2]).apply(x)
    with pytest.raises(NotImplementedError, match="implement the forward function"):
        type("Empty", (PyLayer,), {}).apply(x)
    forward_only = type("Half", (PyLayer,), {"forward": staticmethod(lambda ctx, x: x * 2)})
    with pytest.raises(NotImplementedError, match="implement the backward function"):
        total(forward_only.apply(x)).backward()


def test_an_exception_in_backward_arrives_as_it_is(x):
    def backward(ctx, g):
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        total(layer(lambda ctx, x: x * 2, backward).apply(x)).backward()


def test_an_object_of_a_py_layer_says_what_to_call(x):
    class Double(PyLayer):
        @staticmethod
        def forward(ctx, x):
            return x * 2

    with pytest.raises(TypeError, match=r"Double: a PyLayer is not called\. .*Write Double\.apply\(x\)"):
        Double()(x)
