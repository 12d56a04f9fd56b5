"""Weights of recurrent layers are put in order before a program runs, and nothing else changes."""
import numpy as np
import pytest

import wherry_tensor as wt
from wherry_program import passes
from wherry_program.program.capture import capture
from wherry_program.program.ir import Program
from wherry_program.run.executor import compiled
from wherry_program.run.interpreter import Interpreter
from wherry_tensor import ops


def tensors(rng, *shapes):
    return [wt.to_tensor(rng.standard_normal(shape).astype("float32") * 0.3) for shape in shapes]


def layer(op, gates, states, hidden, reads=None, reverse=False, length=None, weights=None):
    """A program of one recurrent layer and what it is fed."""
    rng = np.random.default_rng(0)
    x, *first = tensors(rng, (5, 3, 4), *[(3, hidden)] * states)
    weights = weights or tensors(rng, (gates * hidden, 4), (gates * hidden, hidden), (gates * hidden,), (gates * hidden,))
    program = Program()
    feed = program.feed([-1, -1, 4], wt.float32, "x")
    with capture(program):
        found = op(feed, *first, *weights, length, reverse=reverse)
    program.fetches = list(found)[: reads or 1 + states]
    return program, x


@pytest.mark.parametrize("hidden", [1, 16, 18, 40])
@pytest.mark.parametrize(("op", "gates", "states"), [(ops.lstm, 4, 2), (ops.gru, 3, 1)])
def test_every_bit_is_kept(op, gates, states, hidden):
    length = wt.to_tensor(np.array([5, 0, 2]))
    for given in (None, length):
        program, x = layer(op, gates, states, hidden, reverse=hidden == 18, length=given)
        packed = passes.packed_recurrent(program)
        assert [node.type for node in packed.nodes] == [f"packed_{op.name}"]
        assert [node.type for node in program.nodes] == [op.name]
        for y, z in zip(compiled(program)(x), compiled(packed)(x), strict=True):
            np.testing.assert_array_equal(y.numpy(), z.numpy())
        for y, z in zip(compiled(program)(x), Interpreter(packed)(x), strict=True):
            np.testing.assert_array_equal(y.numpy(), z.numpy())


def test_the_weight_as_it_was_goes_away():
    program, _ = layer(ops.lstm, 4, 2, 16)
    packed = passes.packed_recurrent(program)
    assert sorted(x.bound.shape for x in packed.bound_variables() if x.bound.ndim == 4) == [[1, 16, 4, 16]]
    assert not any(x.bound.shape == [64, 16] for x in packed.bound_variables())


def test_layers_whose_gates_are_read_stay():
    program, _ = layer(ops.lstm, 4, 2, 16, reads=4)
    assert [node.type for node in passes.packed_recurrent(program).nodes] == ["lstm"]


def test_weights_that_are_computed_or_of_another_dtype_stay():
    rng = np.random.default_rng(0)
    x, h, c, weight_ih, weight_hh, a, b = tensors(rng, (5, 3, 4), (3, 16), (3, 16), (64, 4), (64, 16), (64,), (64,))
    program = Program()
    weight = program.feed([64, 16], wt.float32, "w")
    with capture(program):
        program.fetches = [ops.lstm(x, h, c, weight_ih, weight, a, b, None, reverse=False)[0]]
        wide = [ops.cast(y, dtype=wt.float64) for y in (x, h, c, weight_ih)]
    with capture(program):
        given = [wt.to_tensor(y.numpy().astype("float64")) for y in (weight_hh, a, b)]
        program.fetches += [ops.lstm(*wide, *given, None, reverse=False)[0]]
    assert [node.type for node in passes.packed_recurrent(program).nodes if "lstm" in node.type] == ["lstm", "lstm"]


def test_layers_that_share_a_weight_share_the_packed_one():
    rng = np.random.default_rng(0)
    weights = tensors(rng, (48, 4), (48, 16), (48,), (48,))
    x, h = tensors(rng, (5, 3, 4), (3, 16))
    program = Program()
    feed = program.feed([-1, 3, 4], wt.float32, "x")
    with capture(program):
        program.fetches = [ops.gru(feed, h, *weights, None, reverse=reverse)[0] for reverse in (False, True)]
    packed = passes.packed_recurrent(program)
    first, second = packed.nodes
    assert first.type == second.type == "packed_gru"
    assert first.inputs[3] is second.inputs[3]
    for y, z in zip(compiled(program)(x), compiled(packed)(x), strict=True):
        np.testing.assert_array_equal(y.numpy(), z.numpy())
