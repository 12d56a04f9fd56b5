"""Sequences of different lengths in programs. The expected numbers are those of Paddle 2.6.2 for the same programs."""
import numpy as np
import pytest

import wherry_nn as nn
import wherry_tensor as wt
from wherry_graph import static
from wherry_nn import unique_name

ROWS = np.arange(10, dtype="float32").reshape(5, 2) + 1
LENGTHS = [[2, 3]]


@pytest.fixture(autouse=True)
def static_mode():
    static.enable_static()
    with unique_name.guard(), static.scope_guard(static.Scope()), static.program_guard(static.Program(), static.Program()):
        yield
    static.disable_static()


def run(feed, *fetches):
    exe = static.Executor()
    exe.run(static.default_startup_program())
    return exe.run(feed=feed, fetch_list=list(fetches), return_numpy=False)


def sequences(name="x", width=2, dtype="float32"):
    return static.data(name, [None, width], dtype, lod_level=1)


def lod(array, lengths=LENGTHS):
    return static.create_lod_tensor(np.array(array), lengths)


CASES = {
    "concat": (lambda s, x: s.sequence_concat([x, x]), ROWS[[0, 1, 0, 1, 2, 3, 4, 2, 3, 4]], [[0, 4, 10]]),
    "first": (lambda s, x: s.sequence_first_step(x), [[1, 2], [5, 6]], []),
    "last": (lambda s, x: s.sequence_last_step(x), [[3, 4], [9, 10]], []),
    "sum": (lambda s, x: s.sequence_pool(x, "sum"), [[4, 6], [21, 24]], []),
    "average": (lambda s, x: s.sequence_pool(x, "average"), [[2, 3], [7, 8]], []),
    "sqrt": (lambda s, x: s.sequence_pool(x, "sqrt"), [[2.8284270763, 4.2426409721], [12.124356269836, 13.856407165527]], []),
    "max": (lambda s, x: s.sequence_pool(x, "max"), [[3, 4], [9, 10]], []),
    "pad": (lambda s, x: s.sequence_pad(x, wt.zeros([1]))[0], [[[1, 2], [3, 4], [0, 0]], [[5, 6], [7, 8], [9, 10]]], []),
    "pad to 4": (
        lambda s, x: s.sequence_pad(x, wt.full([1], -1.0), maxlen=4)[0],
        [[[1, 2], [3, 4], [-1, -1], [-1, -1]], [[5, 6], [7, 8], [9, 10], [-1, -1]]], [],
    ),
    "lengths": (lambda s, x: s.sequence_pad(x, wt.zeros([1]))[1], [2, 3], []),
    "unpad": (lambda s, x: s.sequence_unpad(*s.sequence_pad(x, wt.zeros([1]))), ROWS, [[0, 2, 5]]),
    "reshape": (lambda s, x: s.sequence_reshape(x, 1), ROWS.reshape(10, 1), [[0, 4, 10]]),
    "reverse": (lambda s, x: s.sequence_reverse(x), [[3, 4], [1, 2], [9, 10], [7, 8], [5, 6]], [[0, 2, 5]]),
    "convolution": (
        lambda s, x: s.sequence_conv(x, 1, 3, param_attr=nn.initializer.Constant(1.0), bias_attr=False), [[10], [10], [26], [45], [34]], [[0, 2, 5]],
    ),
    "convolution from the row on": (
        lambda s, x: s.sequence_conv(x, 1, 2, padding_start=0, param_attr=nn.initializer.Constant(1.0), bias_attr=False),
        [[10], [7], [26], [34], [19]], [[0, 2, 5]],
    ),
    "slice": (
        lambda s, x: s.sequence_slice(x, wt.to_tensor([[1], [0]]), wt.to_tensor([[1], [2]])), [[3, 4], [5, 6], [7, 8]], [[0, 1, 3]],
    ),
    "expand": (lambda s, x: s.sequence_expand(wt.to_tensor(ROWS[:2]), x, 0), [[1, 2], [1, 2], [3, 4], [3, 4], [3, 4]], []),
    "expand as": (lambda s, x: s.sequence_expand_as(wt.to_tensor(ROWS[:2]), x), [[1, 2], [1, 2], [3, 4], [3, 4], [3, 4]], [[0, 2, 5]]),
    "rows through a layer": (
        lambda s, x: s.sequence_pool(s.fc(x * 2.0, 1, weight_attr=nn.initializer.Constant(1.0), activation="relu"), "max"), [[14], [38]], [],
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_functions_of_sequences_give_paddles_numbers(name):
    function, expected, offsets = CASES[name]
    out = function(static.nn, sequences())
    (got,) = run({"x": lod(ROWS)}, out)
    np.testing.assert_allclose(np.array(got), expected, rtol=1e-6)
    assert got.lod() == offsets


def test_softmax_and_enumeration_stay_within_a_sequence():
    x, w = sequences("x", 1), sequences("w", 1, "int64")
    got, windows = run(
        {"x": lod(ROWS[:, :1]), "w": lod(np.arange(5, dtype="int64")[:, None])}, static.nn.sequence_softmax(x), static.nn.sequence_enumerate(w, 2, 0)
    )
    np.testing.assert_allclose(np.array(got).ravel(), [0.11920293, 0.88079715, 0.01587624, 0.11731042, 0.8668133], rtol=1e-6)
    assert np.array(windows).tolist() == [[0, 1], [1, 0], [2, 3], [3, 4], [4, 0]] and windows.lod() == [[0, 2, 5]]


def test_updates_go_to_the_row_of_their_sequence():
    w, y = sequences("w", 1, "int64"), sequences("y", 1)
    out = static.nn.sequence_scatter(wt.ones([2, 5]), w, y)
    (got,) = run({"w": lod(np.arange(5, dtype="int64")[:, None]), "y": lod(ROWS[:, :1])}, out)
    assert np.array(got).tolist() == [[2, 4, 1, 1, 1], [1, 1, 6, 8, 10]]


def test_sequences_are_expanded_whole():
    x, y = sequences("x", 1), sequences("y", 1)
    out = static.nn.sequence_expand(x, y)
    (got,) = run({"x": lod(np.array([[1], [2], [3]], "float32"), [[2, 1]]), "y": lod(ROWS[:, :1])}, out)
    assert np.array(got).ravel().tolist() == [1, 2, 1, 2, 3, 3, 3] and got.lod() == [[0, 2, 4, 5, 6, 7]]


def test_a_row_convolution_sees_the_steps_behind():
    one = nn.initializer.Constant(1.0)
    out = static.nn.row_conv(sequences(), 1, param_attr=one)
    flat = static.nn.row_conv(static.data("b", [None, 3, 2]), 1, param_attr=one)
    got, batch = run({"x": lod(ROWS), "b": np.ones((1, 3, 2), "float32")}, out, flat)
    assert np.array(got).tolist() == [[4, 6], [3, 4], [12, 14], [16, 18], [9, 10]]
    assert np.array(batch).tolist() == [[[2, 2], [2, 2], [1, 1]]]


def test_gradients_pass_sequences():
    x = sequences()
    x.stop_gradient = False
    s = static.nn
    loss = (s.sequence_pool(s.sequence_reverse(x), "last") * wt.to_tensor([[1.0], [2.0]])).sum() + s.sequence_pool(x, "max").sum()
    loss = loss + s.sequence_unpad(*s.sequence_pad(x * x, wt.zeros([1]))).sum()
    (dx,) = static.gradients(loss, x)
    (got,) = run({"x": lod(ROWS)}, dx)
    expected = 2 * ROWS
    expected[0] += 1
    expected[2] += 2
    expected[[1, 4]] += 1
    np.testing.assert_allclose(np.array(got), expected)


def test_rows_without_offsets_are_refused():
    plain = static.data("p", [None, 2])
    with pytest.raises(ValueError, match="lod_level=1"):
        static.nn.sequence_pool(plain, "sum")
    out = static.nn.sequence_pool(sequences(), "sum")
    with pytest.raises(ValueError, match="create_lod_tensor"):
        run({"x": ROWS}, out)
    with pytest.raises(ValueError, match="LoD is invalid"):
        lod(ROWS, [[2, 2]])
    with pytest.raises(AssertionError, match="longer than maxlen"):
        run({"x": lod(ROWS)}, static.nn.sequence_pad(sequences(), wt.zeros([1]), maxlen=2)[0])


def test_a_program_with_sequences_is_saved_and_loaded(tmp_path):
    x = sequences()
    s = static.nn
    rows = s.fc(x, 3, weight_attr=nn.initializer.Constant(0.5))
    fetches = [s.sequence_pool(rows, "max"), rows * 2.0, s.sequence_reshape(s.sequence_reverse(x), 1)]
    wanted = run({"x": lod(ROWS)}, *fetches)
    exe = static.Executor()
    static.save_inference_model(str(tmp_path / "net"), [x], fetches, exe)
    program, names, again = static.load_inference_model(str(tmp_path / "net"), exe)
    found = exe.run(program, feed={names[0]: lod(ROWS)}, fetch_list=again, return_numpy=False)
    assert names == ["x"] and [y.lod() for y in found] == [y.lod() for y in wanted] == [[], [[0, 2, 5]], [[0, 4, 10]]]
    for mine, theirs in zip(found, wanted):
        np.testing.assert_allclose(np.array(mine), np.array(theirs), rtol=1e-6)
    with pytest.raises(ValueError, match="holds sequences"):
        exe.run(program, feed={names[0]: ROWS}, fetch_list=again)


def test_sequences_of_sequences_come_back_from_a_file(tmp_path):
    x = static.data("x", [None, 2], lod_level=2)
    pooled = static.nn.sequence_pool(x, "sum")
    fetches = [wt.scale(x, 2.0), pooled, static.nn.sequence_pool(pooled, "max")]
    exe = static.Executor()
    rows = np.arange(12, dtype="float32").reshape(6, 2)
    given = static.create_lod_tensor(rows, [[2, 0, 1], [2, 1, 3]])
    wanted = exe.run(static.default_main_program(), feed={"x": given}, fetch_list=fetches, return_numpy=False)
    static.save_inference_model(str(tmp_path / "net"), [x], fetches, exe)
    program, names, again = static.load_inference_model(str(tmp_path / "net"), exe)
    found = exe.run(program, feed={names[0]: given}, fetch_list=again, return_numpy=False)
    assert [y.lod() for y in found] == [y.lod() for y in wanted] == [[[0, 2, 2, 3], [0, 2, 3, 6]], [[0, 2, 2, 3]], []]
    for mine, theirs in zip(found, wanted):
        np.testing.assert_array_equal(np.array(mine), np.array(theirs))


def test_sequences_without_a_width_are_not_written(tmp_path):
    x = static.data("x", [None], lod_level=1)
    out = static.nn.sequence_pool(x, "sum")
    with pytest.raises(NotImplementedError, match="no width"):
        static.save_inference_model(str(tmp_path / "net"), [x], [out], static.Executor())


def test_sequences_are_not_written_for_paddle_3(tmp_path):
    x = sequences()
    out = static.nn.sequence_pool(x, "sum")
    wt.set_flags({"FLAGS_enable_pir_api": True})
    try:
        with pytest.raises(NotImplementedError, match="wherry convert"):
            static.save_inference_model(str(tmp_path / "net"), [x], [out], static.Executor())
    finally:
        wt.set_flags({"FLAGS_enable_pir_api": False})


def test_slices_beyond_a_sequence_and_rows_that_do_not_come_out_even_are_refused():
    x = sequences()
    for out in static.nn.sequence_slice(x, wt.to_tensor([[1], [2]]), wt.to_tensor([[1], [2]])), static.nn.sequence_reshape(x, 4):
        with pytest.raises(AssertionError, match=r"not inside of its sequence|whole rows of 4"):
            run({"x": lod(ROWS)}, out)
