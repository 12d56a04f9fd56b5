"""Files of Paddle with sequences of different lengths, in every way that they are used: what it gives, and what is said without offsets."""
from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

import wherry as paddle

sys.path.insert(0, str(Path(__file__).parent))
from sequence_files import ARCHIVE, by_executor, by_predictor, case, predictor_of, require_same, unpacked  # noqa: E402


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    found = tmp_path_factory.mktemp("sequences")
    unpacked(ARCHIVE, found)
    return found


def test_an_executor_and_a_predictor_give_what_paddle_gives(folder):
    names = unpacked(ARCHIVE, folder)
    assert len(names) > 50
    for name in names:
        inputs, outputs = case(folder / name)
        require_same(by_executor(folder / name, inputs), outputs)
        require_same(by_predictor(predictor_of(folder / name), inputs), outputs)


def test_a_predictor_says_which_offsets_are_missing_or_do_not_fit(folder):
    predictor = predictor_of(folder / "gru")
    ((x, lengths),), outputs = case(folder / "gru")
    handle = predictor.get_input_handle("x")
    handle.copy_from_cpu(x)
    with pytest.raises(ValueError, match=r"get_input_handle\('x'\).set_lod"):
        predictor.run()
    with pytest.raises(ValueError, match="set_lod"):
        predictor.run([x])
    handle.set_lod([[0, 3, 8]])
    with pytest.raises(ValueError, match="number of rows, 7"):
        predictor.run()
    for wrong in ([[1, 7]], [[0, 7, 3]], [[0, 1], [0, 7]], [[0]], [7], 7, [["a", "b"]]):
        with pytest.raises((ValueError, TypeError)):
            handle.set_lod(wrong)
    require_same(by_predictor(predictor, [(x, lengths)]), outputs)
    assert handle.lod() == [[0, 2, 3, 7]] and predictor.get_input_names() == ["x"] and len(predictor.get_output_names()) == len(outputs)
    assert len(predictor.run([x])) == len(outputs)
    with pytest.raises(ValueError, match="set_lod"):  # a clone has inputs of its own
        predictor.clone().run([x])
    handle.set_lod([])
    with pytest.raises(ValueError, match="set_lod"):
        predictor.run()


def test_offsets_that_are_only_handed_on_may_be_left_out(folder):
    ((x, _),), ((wanted, _),) = case(folder / "row_by_row")
    require_same(by_predictor(predictor_of(folder / "row_by_row"), [(x, [])]), [(wanted, [])])
    require_same(by_executor(folder / "row_by_row", [(x, [])]), [(wanted, [])])


def test_an_executor_refuses_offsets_that_do_not_fit(folder):
    ((x, _),), _ = case(folder / "gru")
    with pytest.raises(ValueError, match="create_lod_tensor"):
        by_executor(folder / "gru", [(x, [])])
    rows = paddle.static.create_lod_tensor(x, [[2, 1, 4]])
    rows.set(x[:5])
    paddle.enable_static()
    try:
        exe = paddle.static.Executor()
        program, names, fetches = paddle.static.load_inference_model(f"{folder}/gru/model", exe)
        with pytest.raises(ValueError, match="number of rows, 5"):
            exe.run(program, feed={names[0]: rows}, fetch_list=fetches)
    finally:
        paddle.disable_static()


def test_a_loaded_layer_says_who_takes_sequences(folder):
    ((x, _),), _ = case(folder / "gru")
    layer = paddle.jit.load(f"{folder}/gru/model")
    with pytest.raises(ValueError, match="load_inference_model .* set_lod"):
        layer(paddle.to_tensor(x))
    ((x, _),), ((wanted, _),) = case(folder / "row_by_row")
    np.testing.assert_allclose(paddle.jit.load(f"{folder}/row_by_row/model")(paddle.to_tensor(x)).numpy(), wanted, rtol=1e-5)


def test_a_session_has_offsets_as_inputs(folder):
    inputs, ((wanted, lengths),) = case(folder / "tagger")
    session = paddle.InferenceSession(str(folder / "tagger/model.pdmodel"))
    assert [x.name for x in session.get_inputs()] == ["w", "v", "w@LOD", "v@LOD"]
    offsets = np.array([0, *np.cumsum(inputs[0][1][0])])
    tags, *_ = session.run(None, {"w": inputs[0][0], "v": inputs[1][0], "w@LOD": offsets, "v@LOD": offsets})
    assert tags.tolist() == wanted.tolist() and lengths
