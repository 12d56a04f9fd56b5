"""What takes a model of Paddle 2 takes one of Paddle 3: packages/paddle-files/tests/data/paddle3.zip has what it saved and computed."""
import io
import zipfile
from pathlib import Path

import numpy as np
import pytest

import wherry
from wherry.__main__ import main
from wherry.inference import Config, create_predictor
from wherry_paddle_files.models import load_model, save_program_beside

ARCHIVE = Path(__file__).parent.parent / "packages" / "paddle-files" / "tests" / "data" / "paddle3.zip"


@pytest.fixture
def saved(tmp_path):
    """The prefix of a convolution's files, what it is given and what it answers."""
    with zipfile.ZipFile(ARCHIVE) as archive:
        for file in ("model.json", "model.pdiparams"):
            (tmp_path / file).write_bytes(archive.read(f"layer conv2d/{file}"))
        with np.load(io.BytesIO(archive.read("layer conv2d/case.npz"))) as arrays:
            return str(tmp_path / "model"), arrays["x0"], arrays["y0"]


def test_it_is_loaded_as_a_layer_that_trains_and_is_saved_for_paddle_2(saved, tmp_path):
    prefix, x, y = saved
    layer = wherry.jit.load(prefix)
    np.testing.assert_allclose(layer(wherry.to_tensor(x)).numpy(), y, rtol=1e-5, atol=1e-6)
    layer.train()
    layer(wherry.to_tensor(x)).sum().backward()
    assert all(p.grad is not None for p in layer.parameters()) and len(layer.parameters()) == 2
    layer.eval()
    wherry.jit.save(layer, str(tmp_path / "again"))
    assert (tmp_path / "again.pdmodel").exists()
    np.testing.assert_allclose(wherry.jit.load(str(tmp_path / "again"))(wherry.to_tensor(x)).numpy(), y, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("of", [lambda p: (f"{p}.json", f"{p}.pdiparams"), lambda p: (p,), lambda p: (str(Path(p).parent),)])
def test_a_predictor_takes_it(saved, of):
    prefix, x, y = saved
    [found] = create_predictor(Config(*of(prefix))).run([wherry.to_tensor(x)])
    np.testing.assert_allclose(found.numpy(), y, rtol=1e-5, atol=1e-6)


def test_a_session_and_an_executor_take_it(saved):
    prefix, x, y = saved
    session = wherry.InferenceSession(f"{prefix}.json")
    np.testing.assert_allclose(session.run(None, {session.get_inputs()[0].name: x})[0], y, rtol=1e-5, atol=1e-6)
    wherry.enable_static()
    try:
        executor = wherry.static.Executor()
        program, names, fetches = wherry.static.load_inference_model(prefix, executor)
        np.testing.assert_allclose(executor.run(program, {names[0]: x}, fetches)[0], y, rtol=1e-5, atol=1e-6)
    finally:
        wherry.disable_static()


def test_commands_take_it(saved, tmp_path, capsys):
    prefix, x, y = saved
    assert main(["convert", f"{prefix}.json", str(tmp_path / "two.pdmodel")]) == 0
    np.testing.assert_allclose(wherry.jit.load(str(tmp_path / "two"))(wherry.to_tensor(x)).numpy(), y, rtol=1e-5, atol=1e-6)
    np.save(tmp_path / "x.npy", x)
    assert main(["predict", f"{prefix}.json", "--input", str(tmp_path / "x.npy"), "--output", str(tmp_path / "answers.npz")]) == 0
    with np.load(tmp_path / "answers.npz") as answers:
        np.testing.assert_allclose(next(iter(answers.values())), y, rtol=1e-5, atol=1e-6)
    assert main(["graph", f"{prefix}.json"]) == 0
    assert "conv2d" in capsys.readouterr().out


@pytest.fixture
def of_paddle_3():
    """What is saved is saved as Paddle 3 does."""
    wherry.set_flags({"FLAGS_enable_pir_api": True})
    yield
    wherry.set_flags({"FLAGS_enable_pir_api": False})


class Steps(wherry.nn.Layer):
    """A list that grows in a loop with a choice."""

    def __init__(self):
        super().__init__()
        self.linear = wherry.nn.Linear(4, 4)

    def forward(self, x):
        found, i = [], wherry.zeros([], "int64")
        while i < wherry.shape(x)[0]:
            if x.sum() > 0:
                x = self.linear(x)
            else:
                x = x + 1
            found.append(x.mean(0))
            i = i + 1
        return wherry.stack(found, 0)


def test_layers_are_saved_with_loops_choices_and_lists(of_paddle_3, tmp_path):
    net = Steps()
    net.eval()
    wherry.jit.save(net, str(tmp_path / "net"), input_spec=[wherry.static.InputSpec([None, 4], "float32", "x")])
    assert sorted(path.name for path in tmp_path.iterdir()) == ["net.json", "net.pdiparams"]
    again = wherry.jit.load(str(tmp_path / "net"))
    for rows in (1, 3):
        x = wherry.to_tensor(np.random.default_rng(rows).standard_normal((rows, 4)).astype("float32"))
        np.testing.assert_allclose(again(x).numpy(), net(x).numpy(), rtol=1e-5)
    again.train()
    assert len(again.parameters()) == 2


def test_of_two_programs_that_of_the_format_which_is_saved_is_loaded(of_paddle_3, tmp_path):
    x, spec = wherry.ones([2, 3]), [wherry.static.InputSpec([None, 3], "float32", "x")]
    prefix = str(tmp_path / "net")
    wherry.jit.save(lambda x: x + 3, prefix, input_spec=spec)
    wherry.set_flags({"FLAGS_enable_pir_api": False})
    wherry.jit.save(lambda x: x + 2, prefix, input_spec=spec)
    assert float(wherry.jit.load(prefix)(x)[0, 0]) == 3.0
    wherry.set_flags({"FLAGS_enable_pir_api": True})
    assert float(wherry.jit.load(prefix)(x)[0, 0]) == 4.0


def test_a_choice_that_writes_in_place_is_saved(of_paddle_3, tmp_path):
    class Written(wherry.nn.Layer):
        def forward(self, x):
            y = x * 1.0
            if x.sum() > 0:
                y[0] = 0.0
            return y

    net = Written()
    spec = [wherry.static.InputSpec([2, 3], "float32", "x")]
    wherry.jit.save(net, str(tmp_path / "net"), input_spec=spec)
    again = wherry.jit.load(str(tmp_path / "net"))
    for sign in (1.0, -1.0):
        x = wherry.full([2, 3], sign)
        np.testing.assert_allclose(again(x).numpy(), net(x).numpy())


def test_programs_are_converted_to_paddle_3_and_back(saved, tmp_path, capsys):
    prefix, x, y = saved
    (tmp_path / "two").mkdir()
    assert main(["convert", f"{prefix}.json", str(tmp_path / "two" / "model.pdmodel")]) == 0
    assert main(["convert", str(tmp_path / "two" / "model.pdmodel"), str(tmp_path / "again.json")]) == 0
    np.testing.assert_allclose(wherry.jit.load(str(tmp_path / "again"))(wherry.to_tensor(x)).numpy(), y, rtol=1e-5, atol=1e-6)


def test_both_formats_share_the_parameters_of_one_name(saved, tmp_path, capsys):
    prefix, x, y = saved
    before = Path(f"{prefix}.pdiparams").read_bytes()
    assert main(["convert", f"{prefix}.json", f"{prefix}.pdmodel"]) == 0
    assert "as before" in capsys.readouterr().out
    assert Path(f"{prefix}.pdiparams").read_bytes() == before
    for ending in (".json", ".pdmodel"):
        predictor = create_predictor(Config(prefix + ending, f"{prefix}.pdiparams"))
        np.testing.assert_allclose(predictor.run([wherry.to_tensor(x)])[0].numpy(), y, rtol=1e-5, atol=1e-6)


def test_a_program_is_not_put_beside_parameters_of_another(saved, tmp_path):
    prefix, _x, _y = saved
    program = load_model(prefix)
    other = str(tmp_path / "other")
    wherry.jit.save(wherry.nn.Conv2D(3, 4, 3), other, input_spec=[wherry.static.InputSpec([None, 3, 8, 8], "float32", "x")])
    assert not save_program_beside(str(tmp_path / "new.pdmodel"), program, f"{other}.pdiparams")
    assert not (tmp_path / "new.pdmodel").exists()


def test_parameters_of_a_converted_program_go_where_they_are_wanted(saved, tmp_path):
    prefix, x, y = saved
    params = str(tmp_path / "new" / "of_paddle_2.pdiparams")
    (tmp_path / "new").mkdir()
    assert main(["convert", f"{prefix}.json", f"{prefix}.pdmodel", "--output-params", params]) == 0
    predictor = create_predictor(Config(f"{prefix}.pdmodel", params))
    np.testing.assert_allclose(predictor.run([wherry.to_tensor(x)])[0].numpy(), y, rtol=1e-5, atol=1e-6)
