"""The Python of the pages, here without a page."""
import io
import json
import os
import pickle
import py_compile
import shutil
import struct
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

import wherry as paddle
from wherry_web.client import digits, page
from wherry_web.client.compiled import packed
from wherry_web.client.networks import network

CLIENT = Path(page.__file__).parent
CONTENT = (Path(page.__file__).parent.parent / "static" / "data" / "digits.bin").read_bytes()
SETTINGS = {"architecture": "MLP", "optimizer": "Adam", "learning_rate": 0.002, "batch_size": 32, "seed": 0}


@pytest.fixture
def trainer():
    return page.Trainer(CONTENT, SETTINGS)


def test_needs_no_numpy(tmp_path):
    # On a page the client is all there is of this package.
    shutil.copytree(CLIENT, tmp_path / "wherry_web" / "client")
    (tmp_path / "wherry_web" / "__init__.py").touch()
    play = {"data": "own", "points": [0, 0, 0, 1, 1, 1], "layers": [2], "activation": "ReLU", "optimizer": "SGD", "learning_rate": 0.1}
    program = "import sys; sys.path.insert(0, sys.argv[1]); import wherry_web.client.page; from wherry_web.client.play import Play; " \
              f"play = Play({play}); play.start(); play.run(0); print('numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program, tmp_path], capture_output=True, text=True, check=True).stdout == "False\n"


def test_training_learns(trainer):
    while trainer.examples < 12 * digits.TRAINED_ON:
        trainer.run(200)
    result = trainer.evaluate()
    assert result["accuracy"] > 0.95
    assert sum(map(sum, result["confusion"])) == 360
    assert len(result["mistakes"]) == round((1 - result["accuracy"]) * 360)
    json.dumps(result)  # plain data through and through


def test_the_same_settings_train_the_same(trainer):
    other = page.Trainer(CONTENT, SETTINGS)
    paddle.seed(0)
    first = [trainer.step() for _ in range(3)]
    paddle.seed(0)
    other.net.set_state_dict(page.Trainer(CONTENT, SETTINGS).net.state_dict())
    paddle.seed(0)
    assert [other.step() for _ in range(3)] == first


@pytest.mark.parametrize(("values", "says"), [
    ({"architecture": "GPT"}, "unknown architecture"), ({"learning_rate": -1}, "learning rate"),
    ({"learning_rate": float("nan")}, "learning rate"), ({"batch_size": 0}, "batch size"),
])
def test_wrong_settings_are_explained(values, says):
    with pytest.raises(ValueError, match=says):
        page.Trainer(CONTENT, {**SETTINGS, **values})


def test_weights_go_out_and_come_back(trainer):
    trainer.run(50)
    saved = trainer.weights()
    other = page.Trainer(CONTENT, SETTINGS)
    other.load(saved)
    assert other.evaluate()["loss"] == trainer.evaluate()["loss"]
    answer = page.Predictor("MLP", 10, saved).predict(struct.pack("64f", *CONTENT[:64]))
    assert sum(answer["probabilities"]) == pytest.approx(1, abs=1e-5)


class Hostile:
    def __reduce__(self):
        return os.system, ("touch /tmp/wherry-was-here",)


def saved(values) -> bytes:
    buffer = io.BytesIO()
    paddle.save(values, buffer)
    return buffer.getvalue()


@pytest.mark.parametrize(("content", "says"), [
    (b"", "not a file of weights"), (b"text", "not a file of weights"), (pickle.dumps({"a": Hostile()}), "not a file of weights"),
    (saved(network("MLP", 10).state_dict())[:1000], "not a file of weights"), (saved([1]), "holds a list"),
    (saved(network("LeNet", 10).state_dict()), "weights of another network"), (pickle.dumps({}), "weights of another network. Got none"),
    (saved(network("MLP", 9).state_dict()), "weights of another network"),
], ids=["empty", "text", "hostile", "truncated", "list", "LeNet", "nothing", "nine classes"])
def test_wrong_weights_are_explained_and_change_nothing(trainer, content, says):
    before = trainer.weights()
    with pytest.raises(ValueError, match=says):
        trainer.load(content)
    assert trainer.weights() == before
    assert not os.path.exists("/tmp/wherry-was-here")


def test_images_are_scaled_as_in_the_examples():
    images, labels = digits.read(CONTENT)
    scaled = digits.scaled(images[:2])
    assert scaled.shape == [2, 1, 28, 28] and labels.shape == [1797]
    first = images[0].tolist()
    for y in (0, 1, 2, 4, 5, 25, 26, 27):
        for x in (1, 2, 13, 25, 26):
            inside = 2 <= y < 26 and 2 <= x < 26
            assert float(scaled[0, 0, y, x]) == (first[(y - 2) // 3][(x - 2) // 3] / 8 - 1 if inside else -1)


def test_a_wrong_data_file_is_explained():
    with pytest.raises(ValueError, match="got 3 bytes, expected 116805"):
        digits.read(b"abc")


def test_compiled_modules_are_packed_so_that_python_takes_them_unseen(tmp_path):
    package = tmp_path / "wherry_packed"
    package.mkdir()
    (package / "__init__.py").write_text("VALUE = 1\n")
    py_compile.compile(str(package / "__init__.py"))
    content = packed(str(tmp_path))
    shutil.rmtree(package / "__pycache__")
    (package / "__init__.py").write_text("VALUE = 2  # of another time, which compiled files of Python's own would be compared with\n")
    zipfile.ZipFile(io.BytesIO(content)).extractall(tmp_path)
    asked = subprocess.run(
        [sys.executable, "-c", "import wherry_packed; print(wherry_packed.VALUE, wherry_packed.__file__)"],
        env={"PYTHONPATH": str(tmp_path), "PYTHONDONTWRITEBYTECODE": "1"}, capture_output=True, text=True, check=True,
    )
    assert asked.stdout.split() == ["1", str(package / "__init__.py")]
