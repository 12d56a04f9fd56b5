"""The line of progress, in a terminal and elsewhere."""
import io
import re

import numpy as np
import pytest

from wherry_train import progress_bar
from wherry_train.progress_bar import ProgressBar


class Terminal(io.StringIO):
    def isatty(self):
        return True


def without_times(text):
    return re.sub(r"\d+[mu]?s/step", "T/step", text)


def test_a_terminal_has_one_line_that_is_rewritten(monkeypatch):
    monkeypatch.setenv("COLUMNS", "120")
    out = Terminal()
    bar = ProgressBar(20, 1, out)
    bar.update(5, [("loss", [0.5]), ("acc", 0.25)])
    bar.update(10, [("loss", [0.5])])
    bar.update(20, [("loss", [0.25])])
    lines = without_times(out.getvalue()).split("\r")
    assert lines[1] == "step  5/20 [======>.......................] - loss: 0.5000 - acc: 0.2500 - ETA: 0s - T/step"
    assert lines[2].rstrip() == "step 10/20 [==============>...............] - loss: 0.5000 - ETA: 0s - T/step"
    assert lines[3].rstrip(" \n") == "step 20/20 [==============================] - loss: 0.2500 - T/step"
    assert lines[3].endswith("\n") and out.getvalue().count("\n") == 1
    shown = [line.rstrip("\n") for line in out.getvalue().split("\r")[1:]]
    assert len(shown[1]) >= len(shown[0].rstrip()), "what stood there before is covered"


def test_a_line_is_no_wider_than_the_terminal(monkeypatch):
    monkeypatch.setenv("COLUMNS", "50")
    out = Terminal()
    ProgressBar(20, 1, out).update(5, [("loss", [0.5])])
    assert without_times(out.getvalue()) == "\rstep  5/20 - loss: 0.5000 - ETA: 0s - T/step"
    out = Terminal()
    ProgressBar(20, 1, out).update(5, [("loss", [0.5] * 9)])
    assert len(out.getvalue()) == 1 + 49


def test_the_last_line_is_whole(monkeypatch):
    monkeypatch.setenv("COLUMNS", "50")
    out = Terminal()
    bar = ProgressBar(20, 1, out)
    bar.update(19, [("loss", [0.5] * 9)])
    bar.update(20, [("loss", [0.25] * 9), ("acc", 0.75)])
    assert "0.2500 - acc: 0.7500 - " in out.getvalue() and out.getvalue().endswith("s/step\n")


def test_a_file_gets_the_last_line_and_one_now_and_then(monkeypatch):
    now = [0.0]
    monkeypatch.setattr(progress_bar.time, "perf_counter", lambda: now[0])
    out = io.StringIO()
    bar = ProgressBar(4, 1, out)
    for step, seconds in ((1, 1.0), (2, 12.0), (3, 13.0), (4, 14.0)):
        now[0] = seconds
        bar.update(step)
    bar.finish()
    assert out.getvalue().splitlines() == [
        "step 2/4 [==============>...............] - ETA: 12s - 6s/step", "step 4/4 [==============================] - 4s/step",
    ]


def test_a_run_that_ends_before_its_time_shows_its_last_step_in_a_file():
    out = io.StringIO()
    bar = ProgressBar(4, 1, out)
    bar.update(1)
    bar.update(2)
    bar.finish()
    bar.finish()
    assert without_times(out.getvalue()) == "step 2/4 [==============>...............] - ETA: 0s - T/step\n"


@pytest.mark.parametrize("out", [io.StringIO(), Terminal()])
def test_verbose_2_prints_line_after_line(out):
    bar = ProgressBar(10, 2, out)
    bar.update(4, [("loss", [0.5, 2.0])])
    bar.update(10, [("loss", [0.5, 2.0])])
    bar.finish()
    assert without_times(out.getvalue()).splitlines() == [
        "step  4/10 - loss: 0.5000 2.0000 - T/step", "step 10/10 - loss: 0.5000 2.0000 - T/step",
    ]


def test_unknown_number_of_steps():
    out = Terminal()
    bar = ProgressBar(None, 1, out)
    bar.update(7, [("acc", 1.0)])
    bar.finish()
    assert without_times(out.getvalue()) == "\rstep   7 - acc: 1.0000 - T/step\n"


@pytest.mark.parametrize("value, text", [
    (0.0, "0.0000e+00"), (0.00012345, "1.2345e-04"), (-2.5, "-2.5000"), (3, "3"), ("0.1 sec", "0.1 sec"),
    ([1.0, 0.0], "1.0000 0.0000e+00"), (np.float32(0.5), "0.5000"), (np.array([0.5]), "0.5000"),
])
def test_values_have_four_digits(value, text):
    out = io.StringIO()
    ProgressBar(1, 2, out).update(1, [("x", value)])
    assert f"- x: {text} -" in out.getvalue()


@pytest.mark.parametrize("seconds, text", [(5.9, "5s"), (65, "1:05"), (3725, "1:02:05")])
def test_times_left(seconds, text):
    assert progress_bar._clock(seconds) == text


@pytest.mark.parametrize("seconds, text", [(2.3, "2s"), (0.0123, "12ms"), (0.000456, "456us")])
def test_times_of_a_step(seconds, text):
    assert progress_bar._duration(seconds) == text
