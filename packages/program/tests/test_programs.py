"""Programs: what is recorded, copied, replayed, run, and differentiated."""
import numpy as np
import pytest

import wherry_nn as nn
import wherry_tensor as wt
from wherry_autograd import grad, no_grad
from wherry_program import Program, passes
from wherry_program.program.backward import gradients
from wherry_program.program.capture import capture
from wherry_program.program.control import (
    array_append,
    array_length,
    array_read,
    array_stack,
    array_write,
    assert_true,
    cond,
    create_array,
    while_loop,
)
from wherry_program.program.needs import required_nodes
from wherry_program.run.executor import compiled
from wherry_tensor import float32, int64


def tensor(*shape, seed=0):
    return wt.to_tensor(np.random.default_rng(seed).standard_normal(shape).astype("float32"))


def recorded(f, *shapes, dtype=float32):
    program = Program()
    feeds = [program.feed(shape, dtype, f"x{i}", stop_gradient=False) for i, shape in enumerate(shapes)]
    with capture(program):
        program.fetches = [f(*feeds)]
    return program


def test_a_program_gives_for_every_batch_what_eager_code_gives():
    net = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2))
    program = recorded(net, [-1, 3])
    for batch in (1, 5):
        x = tensor(batch, 3)
        (value,) = compiled(program)(x)
        np.testing.assert_array_equal(value.numpy(), net(x).numpy())


def test_parameters_are_bound_and_their_new_values_are_used():
    net = nn.Linear(2, 2)
    program = recorded(net, [-1, 2])
    assert {x.name for x in program.parameters()} == {net.weight.name, net.bias.name}
    net.weight.set_value(np.zeros((2, 2), "float32"))
    (value,) = compiled(program)(tensor(1, 2))
    np.testing.assert_array_equal(value.numpy(), net.bias.numpy()[None])


def test_a_variable_of_another_program_is_refused():
    one, two = Program(), Program()
    x, y = one.feed([2], float32, "x"), two.feed([2], float32, "y")
    with capture(one), pytest.raises(ValueError, match="another program"):
        x + y


def test_gradients_of_a_program_are_those_of_eager_code():
    net = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1))
    program = recorded(lambda x: net(x).sum(), [-1, 3])
    parameters = program.parameters()
    found = gradients(program.fetches, [program.feeds[0], *parameters])
    run = compiled(program, program.feeds, [*program.fetches, *found])
    x = tensor(6, 3)
    with no_grad():
        loss, *mine = run(x)
    x.stop_gradient = False
    expected = net(x).sum()
    by_name = {p.name: p for p in net.parameters()}
    theirs = grad(expected, [x, *(by_name[p.name] for p in parameters)])
    assert float(loss) == float(expected)
    for a, b in zip(mine, theirs, strict=True):
        np.testing.assert_allclose(a.numpy(), b.numpy(), rtol=1e-5, atol=1e-6)
    assert {node.role for node in program.nodes} == {"forward", "backward"}


def chosen(x, w):
    return cond((x * w).sum() > 0, lambda: (x * w).exp(), lambda: x - w * w)


def test_a_choice_is_made_when_the_program_runs_and_has_a_gradient():
    program = recorded(lambda x, w: chosen(x, w).sum(), [-1, 3], [3])
    found = gradients(program.fetches, program.feeds)
    run = compiled(program, program.feeds, [*program.fetches, *found])
    for sign in (1.0, -1.0):
        x, w = wt.to_tensor(np.full((2, 3), sign, "float32")), wt.to_tensor(np.array([0.5, 1.0, 2.0], "float32"))
        got = run(x, w)
        x.stop_gradient = w.stop_gradient = False
        expected = chosen(x, w).sum()
        for a, b in zip(got, [expected, *grad(expected, [x, w])], strict=True):
            np.testing.assert_allclose(a.numpy(), b.numpy(), rtol=1e-6)


def powers(x, w, n):
    i = wt.full([], 0, "int64")
    _i, y = while_loop(lambda i, y: i < n, lambda i, y: (i + 1, (y * w).tanh() + x), [i, x])
    return y


def test_a_loop_runs_as_often_as_the_data_say_and_has_a_gradient():
    program = Program()
    x = program.feed([-1, 3], float32, "x", stop_gradient=False)
    w = program.feed([3], float32, "w", stop_gradient=False)
    n = program.feed([], int64, "n")
    with capture(program):
        loss = powers(x, w, n).sum()
    found = gradients([loss], [x, w])
    run = compiled(program, [x, w, n], [loss, *found])
    for rounds in (0, 1, 4):
        xv, wv = tensor(2, 3), tensor(3, seed=1)
        got = run(xv, wv, wt.to_tensor(rounds))
        xv.stop_gradient = wv.stop_gradient = False
        expected = powers(xv, wv, wt.to_tensor(rounds)).sum()
        theirs = grad(expected, [xv, wv], allow_unused=True)
        theirs = [wt.zeros_like(v) if g is None else g for g, v in zip(theirs, (xv, wv))]
        for a, b in zip(got, [expected, *theirs], strict=True):
            np.testing.assert_allclose(a.numpy(), b.numpy(), rtol=1e-5, atol=1e-6)


def test_a_loop_inside_a_choice_inside_a_loop_has_a_gradient():
    def f(x, n):
        def body(i, y):
            y = cond(y.sum() > 0, lambda: powers(y, y * 0.5, i), lambda: y * y - 0.5)
            return i + 1, y
        return while_loop(lambda i, y: i < n, body, [wt.full([], 0, "int64"), x])[1].sum()

    program = Program()
    x, n = program.feed([3], float32, "x", stop_gradient=False), program.feed([], int64, "n")
    with capture(program):
        loss = f(x, n)
    (dx,) = gradients([loss], [x])
    for seed in range(4):
        value = tensor(3, seed=seed)
        got = compiled(program, [x, n], [loss, dx])(value, wt.to_tensor(3))
        value.stop_gradient = False
        expected = f(value, wt.to_tensor(3))
        for a, b in zip(got, [expected, *grad(expected, [value])], strict=True):
            np.testing.assert_allclose(a.numpy(), b.numpy(), rtol=1e-4, atol=1e-5)


def test_second_derivatives_of_a_choice_under_the_capture():
    program = Program()
    x = program.feed([3], float32, "x", stop_gradient=False)
    with capture(program):
        y = cond(x.sum() > 0, lambda: x ** 3, lambda: x ** 2).sum()
        (dx,) = grad(y, [x], create_graph=True)
        (ddx,) = grad(dx.sum(), [x])
    run = compiled(program, [x], [dx, ddx])
    one = np.array([1.0, 2.0, 3.0], "float32")
    for value, first, second in ((one, 3 * one**2, 6 * one), (-one, -2 * one, np.full(3, 2.0))):
        got = run(wt.to_tensor(value))
        np.testing.assert_allclose(got[0].numpy(), first, rtol=1e-6)
        np.testing.assert_allclose(got[1].numpy(), second, rtol=1e-6)


def test_branches_that_do_not_fit_are_refused_with_both_shapes():
    program = Program()
    x = program.feed([3], float32, "x")
    with capture(program):
        with pytest.raises(ValueError, match="rank"):
            cond(x.sum() > 0, lambda: x, lambda: x.sum())
        with pytest.raises(TypeError, match="structures"):
            cond(x.sum() > 0, lambda: [x], lambda: x)


def test_a_loop_whose_value_grows_gets_an_unknown_size():
    program = Program()
    x, n = program.feed([1, 2], float32, "x"), program.feed([], int64, "n")
    with capture(program):
        _i, y = while_loop(lambda i, y: i < n, lambda i, y: (i + 1, wt.concat([y, x])), [wt.full([], 0, "int64"), x])
    assert y.sizes == (-1, 2)
    (value,) = compiled(program, [x, n], [y])(tensor(1, 2), wt.to_tensor(3))
    assert value.shape == [4, 2]


def test_a_list_grows_while_the_program_runs():
    program = Program()
    x, n = program.feed([2], float32, "x"), program.feed([], int64, "n")
    with capture(program):
        _i, items = while_loop(
            lambda i, items: i < n, lambda i, items: (i + 1, array_append(items, x * i.astype("float32"))),
            [wt.full([], 0, "int64"), create_array(float32)],
        )
        y, length = array_stack(items, [-1, 2]), array_length(items)
    values = compiled(program, [x, n], [y, length])(wt.ones([2]), wt.to_tensor(3))
    np.testing.assert_array_equal(values[0].numpy(), [[0, 0], [1, 1], [2, 2]])
    assert int(values[1]) == 3


def test_gradients_pass_lists_that_grow():
    """items: [x], then each the one before times w; what is read, written over and stacked."""
    program = Program()
    x, w, n = program.feed([2], float32, "x"), program.feed([2], float32, "w"), program.feed([], int64, "n")
    with capture(program):
        def body(i, items):
            return i + 1, array_append(items, array_read(items, i, [2]) * w)

        _i, items = while_loop(lambda i, items: i < n, body, [wt.full([], 0, "int64"), create_array(float32, [x])])
        changed = array_write(items, wt.full([], 1, "int64"), x * 3)
        y = (array_stack(items, [-1, 2]) * array_stack(changed, [-1], concat=True).reshape([-1, 2])).sum()
    first = gradients([y], [x, w])
    with capture(program):
        squares = (first[1] * first[1]).sum()
    second = gradients([squares], [x, w])
    a, b = tensor(2), tensor(2, seed=1)

    def eager(a, b):
        items = [a]
        for _ in range(3):
            items.append(items[-1] * b)
        changed = [items[0], a * 3, *items[2:]]
        return (wt.stack(items) * wt.stack(changed)).sum()

    a.stop_gradient = b.stop_gradient = False
    expected = grad(eager(a, b), [a, b], create_graph=True)
    expected += grad((expected[1] * expected[1]).sum(), [a, b])
    found = compiled(program, [x, w, n], [*first, *second])(a, b, wt.to_tensor(3))
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one.numpy(), other.numpy(), rtol=1e-5)


def test_an_assert_speaks_when_the_program_runs():
    program = Program()
    x = program.feed([2], float32, "x")
    with capture(program):
        assert_true((x > 0).all(), "x must be positive")
    run = compiled(program, [x], [])
    run(wt.ones([2]))
    with pytest.raises(AssertionError, match="x must be positive"):
        run(-wt.ones([2]))


def test_a_copy_is_a_program_of_its_own():
    program = recorded(lambda x, w: chosen(x, w).sum(), [-1, 3], [3])
    again, _new = program.copy()
    assert str(again) == str(program)
    assert not set(map(id, again.blocks[0].vars.values())) & set(map(id, program.blocks[0].vars.values()))
    x, w = tensor(2, 3), tensor(3, seed=1)
    np.testing.assert_array_equal(compiled(again)(x, w)[0].numpy(), compiled(program)(x, w)[0].numpy())


def test_writes_in_place_reach_the_tensor_that_lasts():
    norm = nn.BatchNorm1D(3)
    program = recorded(norm, [-1, 3])
    other = nn.BatchNorm1D(3)
    x = tensor(8, 3)
    compiled(program)(x)
    other(x)
    np.testing.assert_array_equal(norm._mean.numpy(), other._mean.numpy())
    np.testing.assert_array_equal(norm._variance.numpy(), other._variance.numpy())


def test_what_nothing_needs_is_left_out_on_request():
    program = recorded(lambda x: (x + 1, x * 2)[0], [2])
    assert [node.type for node in program.nodes] == ["add", "multiply"]
    run = compiled(program, prune=True)
    assert [node.type for node in run.nodes] == ["add"]


def test_a_write_through_a_view_is_needed_where_the_other_is_read():
    def f(x):
        y = x * 2
        y[0].add_(x[1])  # a view
        y.reshape([4]).multiply_(x.exp().reshape([4]))
        x.tanh().add_(x)
        return y + 1

    program = recorded(f, [2, 2])
    run = compiled(program, prune=True)
    assert "tanh" not in [node.type for node in run.nodes]
    assert sum(node.in_place for node in run.nodes) == 2
    x = tensor(2, 2)
    np.testing.assert_array_equal(run(x)[0].numpy(), f(x).numpy())
    assert [node.type for node in required_nodes(program.blocks[0], program.fetches, lasting=False)] == [node.type for node in run.nodes]


def test_a_write_at_the_end_of_a_round_is_needed_by_the_next_round():
    program = Program()
    x = program.feed([2], float32, "x")
    with capture(program), no_grad():
        factor = x * 1

        def body(i, y):
            y = y * factor
            factor.add_(x)
            return i + 1, y

        program.fetches = [while_loop(lambda i, y: i < 3, body, [wt.full([], 0, "int64"), x])[1]]
    (value,) = compiled(passes.dead_code(program))(wt.full([2], 2.0))
    assert value.numpy().tolist() == [2.0 * 2 * 4 * 6] * 2
