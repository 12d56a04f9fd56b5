"""Layers are open to other packages: a capture layer written here, outside of every package.

It records a program whose batch size is unknown, gradients included, and replays it on batches of
other sizes.
"""
import numpy as np
import pytest

import wherry
from wherry_tensor._core import float32, pop_layer, push_layer, symbolic


class Capture:
    """Records ops on symbolic tensors instead of running them."""

    def __init__(self):
        self.program = []

    def __call__(self, op, inputs, attrs):
        outs = tuple(symbolic(meta.shape, meta.dtype) for meta in op.infer(inputs, attrs))
        self.program.append((op, inputs, attrs, outs))
        return outs

    def __enter__(self):
        push_layer(self)
        return self

    def __exit__(self, *error):
        pop_layer(self)

    def replay(self, feeds, fetches):
        values = {id(name): value for name, value in feeds}
        for op, inputs, attrs, outs in self.program:
            results = op.apply(tuple(values.get(id(x), x) for x in inputs), attrs)
            for out, result in zip(outs, results if isinstance(results, tuple) else (results,), strict=True):
                values[id(out)] = result
        return [values[id(x)] for x in fetches]


def model(x, w, b):
    hidden = wherry.tanh(wherry.matmul(x, w) + b)
    return (hidden * hidden).mean(axis=1).sum()


def test_a_program_with_unknown_batch_is_recorded_with_gradients_and_replayed():
    rng = np.random.default_rng(0)
    w = wherry.to_tensor(rng.standard_normal((3, 4)).astype("float32"), stop_gradient=False)
    b = wherry.to_tensor(rng.standard_normal(4).astype("float32"), stop_gradient=False)
    x = symbolic((-1, 3), float32)
    x.stop_gradient = False

    with Capture() as capture:
        loss = model(x, w, b)
        x_ct, w_ct, b_ct = wherry.grad(loss, [x, w, b])

    assert loss.shape == []
    assert x_ct.shape == [-1, 3]
    assert w_ct.shape == [3, 4]
    hidden = next(outs[0] for op, _, _, outs in capture.program if op.name == "matmul")
    assert hidden.shape == [-1, 4]

    for batch in (1, 2, 7):
        data = wherry.to_tensor(rng.standard_normal((batch, 3)).astype("float32"))
        with wherry.no_grad():
            got = capture.replay([(x, data)], [loss, x_ct, w_ct, b_ct])
        data.stop_gradient = False
        expected_loss = model(data, w, b)
        expected = [expected_loss, *wherry.grad(expected_loss, [data, w, b])]
        for mine, theirs in zip(got, expected, strict=True):
            np.testing.assert_allclose(mine.numpy(), theirs.numpy(), rtol=1e-5, atol=1e-6)


def test_a_symbolic_tensor_outside_a_capture_says_so():
    with pytest.raises(RuntimeError, match="symbolic"):
        symbolic((2,), float32) + symbolic((2,), float32)


def test_layers_are_popped_in_reverse_order():
    one, two = Capture(), Capture()
    push_layer(one)
    push_layer(two)
    with pytest.raises(ValueError, match="topmost"):
        pop_layer(one)
    pop_layer(two)
    pop_layer(one)


def test_an_outer_layer_may_change_the_inputs():
    from wherry_tensor import ops

    class Halve:
        def __call__(self, op, inputs, attrs):
            if op is ops.multiply:
                inputs = (inputs[0], wherry.to_tensor(0.5))
            return op.apply(inputs, attrs)

    layer = Halve()
    push_layer(layer, "outer")
    try:
        assert (wherry.to_tensor(4.0) * wherry.to_tensor(3.0)).item() == 2.0
    finally:
        pop_layer(layer, "outer")
    assert (wherry.to_tensor(4.0) * wherry.to_tensor(3.0)).item() == 12.0
