"""`wherry ecosystem LIBRARY`."""
from __future__ import annotations

import json
import os
import subprocess
import sys

import numpy as np
import pytest

from wherry._ecosystem import command

LIBRARY = '''
import time
import paddle
from paddle import nn
from paddle.nn.layer.layers import in_declarative_mode

class Good(nn.Layer):
    def __init__(self, width=3):
        super().__init__()
        self.fc = nn.Linear(4, width)
    def forward(self, x):
        return {"out": paddle.nn.functional.relu(self.fc(x))}

class NeedsArguments(nn.Layer):
    def __init__(self, width):
        super().__init__()

class Broken(nn.Layer):
    def forward(self, x):
        return paddle.no_such_function(x)

class Slow(nn.Layer):
    def forward(self, x):
        time.sleep(30)

def made():
    return nn.Sequential(nn.Linear(4, 2), nn.Tanh())

def no_layer():
    return 3
'''


@pytest.fixture
def ecosystem(tmp_path):
    def run(name, text, *arguments):
        (tmp_path / f"{name}.py").write_text(text)
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path])}
        command = [sys.executable, "-m", "wherry", "ecosystem", name, "--json", str(tmp_path / "found.json"), *arguments]
        done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=300)
        found = json.loads((tmp_path / "found.json").read_text()) if (tmp_path / "found.json").exists() else None
        return done, found

    return run


def test_layers_are_found_built_run_and_saved(ecosystem):
    done, found = ecosystem("little_library", LIBRARY, "--no-paddle", "--inputs", "float32[2, 4]", "--limit", "10")
    rows = {row["model"]: row for row in found["rows"]}
    assert set(rows) == {"Good", "Broken", "Slow", "made", "no_layer"}, done.stdout + done.stderr
    for name in ("Good", "made"):
        assert [rows[name][stage] for stage in ("builds", "forward", "gradients", "saved")] == ["yes"] * 4, rows[name]
    assert (rows["Broken"]["builds"], rows["Broken"]["forward"]) == ("yes", "no") and "no_such_function" in rows["Broken"]["remark"]
    assert "no answer within 10 s" in rows["Slow"]["remark"] and "gives int, expected a Layer" in rows["no_layer"]["remark"]
    assert done.returncode == 1 and "5 models, 2 agrees, 3 differs (compared with nothing" in done.stdout


def test_a_library_that_cannot_be_imported_says_why(ecosystem):
    done, found = ecosystem("other_library", "from paddle import no_such_name", "--no-paddle")
    assert done.returncode == 1 and "other_library cannot be imported: ImportError: " in done.stdout and "no_such_name" in found["error"]


def test_a_library_that_is_not_there_is_refused():
    done = subprocess.run([sys.executable, "-m", "wherry", "ecosystem", "no_such_library"], capture_output=True, text=True)
    assert done.returncode == 2 and "there is no such library. Got no_such_library" in done.stderr


def test_only_some_models_are_asked_for(ecosystem):
    done, found = ecosystem("third_library", LIBRARY, "--no-paddle", "--inputs", "float32[2, 4]", "--models", "^Good$")
    assert [row["model"] for row in found["rows"]] == ["Good"] and done.returncode == 0


def test_a_difference_that_paddle_itself_shows_under_noise_is_none(tmp_path):
    for framework, off in (("paddle", 0.0), ("wherry", 0.06)):
        np.savez(tmp_path / f"net-{framework}.npz", **{"forward0": np.ones(3), "gradient w": np.array([1.0, 2.0 + off])})
    assert command._apart("forward", "net", tmp_path, 0.0) == "0e+00"
    assert command._apart("gradients", "net", tmp_path, 0.0) == "DIFFERS by 0.03"
    assert command._apart("gradients", "net", tmp_path, 0.02) == "3e-02 (Paddle itself 2e-02)"
    assert command._apart("gradients", "net", tmp_path, 0.01) == "DIFFERS by 0.03"


def test_what_only_paddle_ran_does_not_agree(tmp_path):
    ran = {"builds": {"parameters": 3}, "forward": {"outputs": 1}}
    (row,) = command._rows({"models": {}, "error": "ImportError"}, {"models": {"Net": ran}}, tmp_path)
    assert (row["builds"], row["verdict"]) == ("no", "differs")
