"""Loops over sequences in programs: `StaticRNN`, decoding of tags."""
from itertools import product

import numpy as np
import pytest

import wherry_nn as nn
from wherry_graph import static
from wherry_nn import functional as F
from wherry_nn import unique_name
from wherry_tensor import ones, tanh
from wherry_train import optimizer

STEPS, BATCH, WIDTH = 4, 3, 5


@pytest.fixture(autouse=True)
def static_mode():
    static.enable_static()
    with unique_name.guard(), static.scope_guard(static.Scope()), static.program_guard(static.Program(), static.Program()):
        yield
    static.disable_static()


def values(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape).astype("float32")


def recurrent(x, init=None):
    """An Elman network and its last state, collected."""
    rnn = static.nn.StaticRNN()
    with rnn.step():
        word = rnn.step_input(x)
        before = rnn.memory(init=init) if init is not None else rnn.memory(shape=[-1, WIDTH], batch_ref=word, init_value=0.5)
        state = tanh(static.nn.fc([word, before], WIDTH, weight_attr=nn.initializer.Constant(0.1), bias_attr=False))
        rnn.update_memory(before, state)
        rnn.step_output(state)
        rnn.output(state * 2.0, word)
    return rnn()


def by_hand(x, w=0.1, state=None):
    state = np.full((x.shape[1], WIDTH), 0.5, "float32") if state is None else state
    out = []
    for word in x:
        state = np.tanh((word.sum(1) + state.sum(1))[:, None] * w * np.ones(WIDTH, "float32"))
        out.append(state)
    return np.stack(out)


@pytest.mark.parametrize("batch", [None, BATCH])
def test_a_step_is_done_for_each_of_the_sequence(batch):
    x = static.data("x", [STEPS, batch, 2])
    states, doubled, words = recurrent(x)
    exe = static.Executor()
    exe.run(static.default_startup_program())
    data = values(STEPS, BATCH, 2)
    got, twice, same = exe.run(feed={"x": data}, fetch_list=[states, doubled, words])
    np.testing.assert_allclose(got, by_hand(data), rtol=1e-5)
    np.testing.assert_allclose(twice, 2 * got, rtol=1e-6)
    np.testing.assert_array_equal(same, data)
    assert [p.shape for p in static.default_main_program().all_parameters()] == [[2, WIDTH], [WIDTH, WIDTH]]
    assert states.shape == [STEPS, -1 if batch is None else batch, WIDTH]


def test_a_first_value_may_be_given():
    x, init = static.data("x", [STEPS, None, 2]), static.data("init", [None, WIDTH])
    states = recurrent(x, init)[0]
    exe = static.Executor()
    exe.run(static.default_startup_program())
    data, first = values(STEPS, BATCH, 2), values(BATCH, WIDTH, seed=1)
    np.testing.assert_allclose(exe.run(feed={"x": data, "init": first}, fetch_list=[states])[0], by_hand(data, state=first), rtol=1e-5)


def test_the_loop_has_gradients_and_is_trained():
    x = static.data("x", [STEPS, None, 2])
    loss = F.mse_loss(recurrent(x)[0], ones([STEPS, BATCH, WIDTH]))
    pairs = static.append_backward(loss)
    exe = static.Executor()
    exe.run(static.default_startup_program())
    data = values(STEPS, BATCH, 2)
    grads = exe.run(feed={"x": data}, fetch_list=[g for _, g in pairs])
    step = 1e-3
    moved = [((by_hand(data, 0.1 + d) - 1) ** 2).mean() for d in (step, -step)]
    np.testing.assert_allclose(sum(g.sum() for g in grads), (moved[0] - moved[1]) / (2 * step), rtol=1e-3)


def test_an_optimizer_makes_the_loss_smaller():
    x = static.data("x", [STEPS, None, 2])
    loss = F.mse_loss(recurrent(x)[0], ones([STEPS, BATCH, WIDTH]))
    optimizer.Adam(0.05).minimize(loss)
    exe = static.Executor()
    exe.run(static.default_startup_program())
    losses = [float(exe.run(feed={"x": values(STEPS, BATCH, 2)}, fetch_list=[loss])[0]) for _ in range(20)]
    assert losses[-1] < 0.7 * losses[0]


def test_what_a_loop_needs_is_named():
    x, rnn = static.data("x", [STEPS, None, 2]), static.nn.StaticRNN()
    with pytest.raises(ValueError, match="in rnn block"):
        rnn.step_input(x)
    with pytest.raises(ValueError, match="only be retrieved after rnn block"):
        rnn()
    with rnn.step():
        word = rnn.step_input(x)
        with pytest.raises(ValueError, match="Got 5 steps, expected 4"):
            rnn.step_input(static.data("y", [5, 2]))
        with pytest.raises(ValueError, match="number of steps is known"):
            rnn.step_input(static.data("z", [None, 2]))
        with pytest.raises(ValueError, match="at least need shape and batch_ref"):
            rnn.memory(shape=[-1, 2])
        with pytest.raises(ValueError, match="this is not a memory"):
            rnn.update_memory(word, word)
        rnn.step_output(word)
    with pytest.raises(ValueError, match="has one step"), rnn.step():
        pass
    other = static.nn.StaticRNN()
    with pytest.raises(ValueError, match="each memory is updated"), other.step():
        other.step_output(other.memory(init=other.step_input(x)))
    empty = static.nn.StaticRNN()
    with pytest.raises(ValueError, match="Got 0 of step_input"), empty.step():
        pass
    static.disable_static()
    with pytest.raises(RuntimeError, match=r"paddle\.nn\.RNN"), static.nn.StaticRNN().step():
        pass


def best_tags(scores, w):
    def score(tags):
        inner = sum(w[2 + a, b] for a, b in zip(tags, tags[1:]))
        return w[0, tags[0]] + w[1, tags[-1]] + inner + sum(row[tag] for row, tag in zip(scores, tags))

    return list(max(product(range(scores.shape[1]), repeat=len(scores)), key=score))


def decoded(feed, **declared):
    """The tags that are found for a fed input, and which of them are right."""
    static.create_parameter([5, 3], "float32", name="crf")
    outs = [static.nn.crf_decoding(declared["x"], nn.ParamAttr(name="crf"), label, declared.get("length")) for label in (None, declared["label"])]
    exe = static.Executor()
    exe.run(static.default_startup_program())
    w = values(5, 3, seed=2)
    static.global_scope().find_var("crf").get_tensor().set(w)
    return [np.array(one) for one in exe.run(feed=feed, fetch_list=outs, return_numpy=False)], w


def test_tags_of_sequences_are_the_best_ones():
    rows, labels = 2 * values(8, 3), np.random.default_rng(3).integers(0, 3, (8, 1))
    x, label = static.data("x", [None, 3], lod_level=1), static.data("label", [None, 1], "int64", lod_level=1)
    feed = {"x": static.create_lod_tensor(rows, [[1, 5, 2]]), "label": static.create_lod_tensor(labels, [[1, 5, 2]])}
    (tags, right), w = decoded(feed, x=x, label=label)
    expected = [tag for part in (rows[:1], rows[1:6], rows[6:]) for tag in best_tags(part, w)]
    assert tags[:, 0].tolist() == expected and tags.shape == (8, 1)
    assert right[:, 0].tolist() == [int(a == b) for a, b in zip(expected, labels[:, 0])]


@pytest.mark.parametrize("time", [4, None])
def test_padded_sequences_have_tags_up_to_their_lengths(time):
    scores, labels, lengths = 2 * values(3, 4, 3), np.zeros((3, 4), "int64"), np.array([4, 1, 3], "int64")
    x, label = static.data("x", [None, time, 3]), static.data("label", [None, time], "int64")
    length = static.data("length", [None], "int64")
    (tags, right), w = decoded({"x": scores, "label": labels, "length": lengths}, x=x, label=label, length=length)
    for row, n, found, same in zip(scores, lengths, tags, right):
        best = best_tags(row[:n], w)
        assert found.tolist() == best + [0] * (4 - n)
        assert same.tolist() == [int(tag == 0) for tag in best] + [0] * (4 - n)


def test_decoding_outside_of_programs_names_what_to_use():
    static.disable_static()
    with pytest.raises(RuntimeError, match=r"paddle\.text\.viterbi_decode"):
        static.nn.crf_decoding(ones([2, 3]), None)
    with pytest.raises(ValueError, match=r"'input' has the wrong number of axes"):
        static.nn.crf_decoding(ones([2, 3, 4]), None)
