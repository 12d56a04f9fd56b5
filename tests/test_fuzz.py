"""Random calls of the vocabulary, the public interface and what is compiled, and changed files, neither crash, hang nor fail oddly.

Short runs of fuzzers, with fixed seeds; CONTRIBUTING.md says how to make long ones. A new public name changes which calls a
seed stands for, so of random calls only deaths and hangs fail here; the long runs show errors that nobody thought of, too.
"""
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

FUZZ = str(Path(__file__).parents[1] / "tools" / "fuzz.py")
KILLS = Path(FUZZ).with_name("kills.py")


def _no_findings(*arguments: str) -> None:
    done = subprocess.run([sys.executable, FUZZ, *arguments], capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, (done.stdout + done.stderr)[-4000:]


def test_compiled_functions_check_their_arguments():
    _no_findings("compiled", "--quick", "--deaths")


@pytest.mark.parametrize("weather", ["foreign", "finalizers", "fair"])
def test_public_calls_hold_in_any_weather(weather):
    _no_findings("api", "--calls", "200", "--weather", weather, "--seed", "100", "--deaths")


def test_arrays_outlive_every_in_place_function():
    _no_findings("api", "--calls", "400", "--deaths", "--weather", "buffers", "--match", r"Tensor.*[a-z0-9]_$|assign|set_value|__init__|__setitem__")


# What each reads stands in tools/fuzz_files.py; onnx needs a package that tests of packages do not have.
READERS = {
    "files": 1000, "torch": 300, "numpy": 500, "safetensors": 1000, "gguf": 1000, "params": 1000, "models": 1000, "json": 300, "pt2": 200,
    "paddle1": 200, "saved": 200, "checkpoints": 500, "training": 300, "inspect": 500, "quantized": 1000,
}


@pytest.mark.parametrize("reader", READERS)
def test_changed_files_are_refused_or_read(reader):
    _no_findings(reader, "--calls", str(READERS[reader]))


def test_changed_onnx_models_are_refused_or_read():
    pytest.importorskip("onnx")
    _no_findings("onnx", "--calls", "500")


def test_public_calls_in_programs_hold():
    _no_findings("static", "--calls", "400", "--seed", "100", "--deaths")


@pytest.mark.skipif(shutil.which("cc") is None, reason="needs a C compiler")
def test_changed_models_are_refused_or_answered_through_the_interface_in_c():
    _no_findings("predictor", "--calls", "300")


def _kill_saves(count: int) -> None:
    done = subprocess.run([sys.executable, str(KILLS), "--count", str(count)], capture_output=True, text=True, timeout=3600)
    assert done.returncode == 0, (done.stdout + done.stderr)[-4000:]


def test_a_killed_save_leaves_what_was_there_or_what_was_saved():
    _kill_saves(60)


@pytest.mark.slow
def test_a_thousand_killed_saves_leave_what_was_there_or_what_was_saved():
    _kill_saves(1000)


@pytest.mark.slow
@pytest.mark.parametrize(
    "arguments",
    [
        ("compiled", "--deaths"), ("api", "--calls", "20000", "--seed", "7", "--deaths"), ("static", "--calls", "20000", "--seed", "7", "--deaths"),
        ("predictor", "--calls", "20000", "--seed", "7"), *((reader, "--calls", str(50 * count), "--seed", "7") for reader, count in READERS.items()),
    ],
)
def test_long_runs_find_nothing(arguments):
    _no_findings(*arguments)


@pytest.mark.parametrize("seed", [1, 2])
def test_random_calls_never_crash(seed):
    # In a process of its own: a crash is then a failed test and not the end of the run.
    done = subprocess.run(
        [sys.executable, "-X", "faulthandler", "-m", "wherry_tensor.testing.fuzz", "--calls", "20000", "--seed", str(seed)],
        capture_output=True, text=True, timeout=300,
    )
    assert done.returncode == 0, (done.stdout + done.stderr)[-4000:]
