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


def test_changed_files_are_refused_or_read():
    _no_findings("files", "--calls", "1500")


def test_changed_models_are_refused_or_read():
    _no_findings("models", "--calls", "2000")


def test_changed_quantized_files_are_refused_or_read():
    _no_findings("quantized", "--calls", "1000")


def test_public_calls_in_programs_hold():
    _no_findings("static", "--calls", "400", "--seed", "100", "--deaths")


@pytest.mark.skipif(shutil.which("cc") is None, reason="needs a C compiler")
def test_changed_models_are_refused_or_answered_through_the_interface_in_c():
    _no_findings("predictor", "--calls", "300")


@pytest.mark.slow
@pytest.mark.parametrize(
    "arguments",
    [
        ("compiled", "--deaths"), ("api", "--calls", "20000", "--seed", "7", "--deaths"), ("files", "--calls", "100000", "--seed", "7"),
        ("models", "--calls", "100000", "--seed", "7"), ("static", "--calls", "20000", "--seed", "7", "--deaths"),
        ("predictor", "--calls", "20000", "--seed", "7"), ("quantized", "--calls", "100000", "--seed", "7"),
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
