"""`wherry upgrade` and `wherry from-torch`: what they print and write."""
import argparse
import re

import pytest

from wherry_migrate import command

OLD = "import paddle.fluid as fluid\ny = fluid.layers.relu(x)\nz = fluid.layers.expand(x, [2])\n"
NEW = "import paddle.fluid as fluid\nimport paddle\ny = paddle.nn.functional.relu(x)\nz = fluid.layers.expand(x, [2])\n"


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "model.py").write_text(OLD)

    def call(*arguments, name="upgrade"):
        parser = argparse.ArgumentParser()
        command.add_arguments(parser, name)
        options = parser.parse_args([*arguments, "--backup", str(tmp_path / "kept")])
        options.command = name
        return command.run(options)

    return call


def test_a_diff_is_printed_and_nothing_written(run, tmp_path, capsys):
    assert run("model.py") == 0
    said = capsys.readouterr()
    assert "-y = fluid.layers.relu(x)\n+y = paddle.nn.functional.relu(x)" in said.out
    assert "WARNING: model.py:3: paddle.fluid.layers.expand" in said.err
    assert (tmp_path / "model.py").read_text() == OLD
    assert "model.py:2: paddle.fluid.layers.relu -> paddle.nn.functional.relu" in (tmp_path / "report.log").read_text()


def test_writing_keeps_what_was_there(run, tmp_path):
    assert run("model.py", "--write", "--no-confirm", "--no-log-file") == 0
    assert (tmp_path / "model.py").read_text() == "import paddle\n" + NEW.replace("import paddle\n", "", 1)
    (kept,) = (tmp_path / "kept").iterdir()
    assert kept.read_text() == OLD
    assert re.fullmatch(r"model\.py_backup(_\d+){7}", kept.name)
    assert not (tmp_path / "report.log").exists()


@pytest.mark.parametrize(("answer", "changed"), [("", True), ("y", True), ("n", False)])
def test_writing_asks(run, tmp_path, monkeypatch, answer, changed):
    asked = []
    monkeypatch.setattr("builtins.input", lambda text: asked.append(text) or answer)
    run("-i", "model.py", "-w")
    assert "will be modified in-place, and it has been backed up to" in asked[0]
    assert ((tmp_path / "model.py").read_text() != OLD) is changed


def test_a_folder_is_gone_through(run, tmp_path, capsys):
    (tmp_path / "below").mkdir()
    (tmp_path / "below" / "two.py").write_text("import torch\nx = torch.ones(2)\n")
    (tmp_path / "below" / "bad.py").write_text("print 1\n")
    assert run(".", "--print-match", name="from-torch") == 1
    said = capsys.readouterr()
    assert "+x = paddle.ones([2])" in said.out and "torch.ones -> paddle.ones" in said.out
    assert "bad.py" in said.err


def test_a_missing_file_is_named(run, capsys):
    assert run("nothing.py") == 2
    assert "there is no such file. Got nothing.py" in capsys.readouterr().err
