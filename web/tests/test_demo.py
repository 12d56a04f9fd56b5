"""The demo, as continuous integration runs it."""
import os
import subprocess
import sys

from wherry_export.web import engine_files
from wherry_web import Gallery


def test_trains_serves_and_checks_one_prediction(tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "wherry_web.demo", "--epochs", "4", "--models", str(tmp_path / "models"), "--wheels", str(tmp_path)],
        env={**os.environ, "CI": "true"}, capture_output=True, text=True, timeout=300,
    )
    assert done.returncode == 0, done.stderr
    assert "The server was asked for a" in done.stdout
    assert "`make wasm` builds" in done.stdout
    assert (tmp_path / "models" / "digits" / "weights.pdparams").exists()
    gallery = Gallery(tmp_path / "models")
    assert [model.card["title"] for model in gallery.models()] == ["LeNet", "LeNet, as a program"]
    if engine_files.missing():
        assert "Not exported as a page: the engine for browsers is not part of this installation" in done.stdout
    else:
        assert gallery.bundle("lenet-page").card["title"] == "LeNet without Python" and "answers without Python" in done.stdout
        assert gallery.models()[0].card["page"] == "lenet-page"
