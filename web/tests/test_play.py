"""The network to play with, here without a page."""
import contextlib
import io
import math

import pytest

import wherry as paddle
from wherry_web.client.play import DATA, EDGE, SIDE, Play, plane, program

SETTINGS = {"data": "moons", "points": [], "layers": [8, 8], "activation": "Tanh", "optimizer": "Adam", "learning_rate": 0.03}
CROSS = [0.5, 0.5, 0, -0.5, -0.5, 0, 0.5, -0.5, 1, -0.5, 0.5, 1]  # no line divides it


@pytest.mark.parametrize(("data", "layers", "activation", "optimizer", "rate"), [
    ("moons", [8, 8], "Tanh", "Adam", 0.03), ("circles", [4], "ReLU", "Adam", 0.03), ("spirals", [8, 8, 8], "Tanh", "Adam", 0.03),
    ("own", [8], "GELU", "Momentum", 0.1), ("circles", [8], "Sigmoid", "SGD", 1.0),
])
def test_it_learns(data, layers, activation, optimizer, rate):
    play = Play({"data": data, "points": CROSS, "layers": layers, "activation": activation, "optimizer": optimizer, "learning_rate": rate})
    before = play.start()["right"]
    while play.steps < 3000 and play.seen()["right"] < 0.99:
        play.run(20)
    seen = play.seen()
    assert seen["right"] >= 0.99 > before
    assert seen["steps"] == play.steps > 1


def test_a_line_cannot_tell_circles_apart():
    play = Play({**SETTINGS, "data": "circles", "layers": []})
    while play.steps < 300:
        play.run(20)
    assert play.seen()["right"] < 0.75


@pytest.mark.parametrize("data", [*DATA, "own"])
def test_the_program_that_is_shown_is_the_one_that_runs(data):
    settings = {**SETTINGS, "data": data, "points": CROSS}
    play = Play(settings)
    assert play.start()["program"] == play.program == program(settings)
    while play.steps < 1000:
        play.run(0)
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(play.program, {"__name__": "__main__"})  # as the Playground runs it
    last = printed.getvalue().splitlines()[-1]
    assert last.startswith("step 1000: loss ")
    again = Play(settings)
    losses = [again.run(0)["losses"] for _ in range(1000)]
    assert last.split("loss ")[1].split(",")[0] == f"{losses[-1][0]:.4f}"


def test_pictures_are_what_the_neurons_answer():
    play = Play({**SETTINGS, "layers": [3, 2], "activation": "ReLU"})
    seen = play.run(5)
    planes = paddle.reshape(paddle.to_tensor(memoryview(seen["planes"]).cast("f")), [6, SIDE, SIDE])
    net = play.made["net"]
    for row, column in ((0, 0), (7, 31), (SIDE - 1, SIDE - 1)):
        at = paddle.to_tensor([[-EDGE + 2 * EDGE * column / (SIDE - 1), EDGE - 2 * EDGE * row / (SIDE - 1)]])
        assert plane()[row * SIDE + column].tolist() == pytest.approx(at[0].tolist(), abs=1e-6)
        first = paddle.nn.functional.relu(net[0](at))
        scores = net(at)[0].tolist()
        expected = [*first[0].tolist(), *paddle.nn.functional.relu(net[2](first))[0].tolist(), scores[1] - scores[0]]
        assert planes[:, row, column].tolist() == pytest.approx(expected, abs=1e-4)


@pytest.mark.parametrize(("step", "budget", "count"), [(0.004, 8, 2), (0.003, 8, 2), (0.0049, 8, 1), (0.02, 8, 1), (0.0002, 8, 40), (0.004, 0, 1)])
def test_steps_fit_into_the_time_that_they_get(monkeypatch, step, budget, count):
    play, clock = Play(SETTINGS), [0.0]

    def one():
        clock[0] += step
        return 0.5

    play.made["step"] = one
    monkeypatch.setattr("wherry_web.client.play.time.perf_counter", lambda: clock[0])
    assert len(play.run(budget + 1e-9)["losses"]) == play.steps == count


def test_steps_that_are_too_large_end():
    play = Play({**SETTINGS, "data": "spirals", "activation": "ReLU", "optimizer": "SGD", "learning_rate": 1.0})
    play.made["points"] = play.made["points"] * 1e30
    seen = play.run(1e6)  # ends by itself
    assert not math.isfinite(seen["losses"][-1])


@pytest.mark.parametrize(("change", "says"), [
    ({"data": "squares"}, "data: got 'squares', expected one of moons"), ({"activation": "exec"}, "activation"),
    ({"optimizer": "LBFGS"}, "optimizer"),
    ({"layers": [9]}, "layers"), ({"layers": [1] * 5}, "layers"), ({"layers": [0]}, "layers"), ({"learning_rate": 0}, "learning rate"),
    ({"learning_rate": math.nan}, "learning rate"), ({"data": "own"}, "Nothing to tell apart yet. Got 0 points"),
    ({"data": "own", "points": [0, 0, 1, 1, 1, 1]}, "Got 2 points of 1 classes"), ({"data": "own", "points": [0, 0, 2]}, "point: got"),
    ({"data": "own", "points": [0, math.nan, 1]}, "point: got"), ({"data": "own", "points": [0, 0]}, "point: got"),
    ({"data": "own", "points": [0, 0, 1] * 201}, "at most 200"),
])
def test_wrong_settings_are_explained(change, says):
    with pytest.raises(ValueError, match=says):
        program({**SETTINGS, **change})
