"""The demo, as continuous integration runs it."""
import os
import subprocess
import sys


def test_trains_serves_and_checks_one_prediction(tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "wherry_web.demo", "--epochs", "4", "--models", str(tmp_path / "models"), "--wheels", str(tmp_path)],
        env={**os.environ, "CI": "true"}, capture_output=True, text=True, timeout=300,
    )
    assert done.returncode == 0, done.stderr
    assert "The server was asked for a" in done.stdout
    assert "`make wasm` builds" in done.stdout
    assert (tmp_path / "models" / "digits" / "weights.pdparams").exists()
