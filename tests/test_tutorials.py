"""Programs of examples/tutorials run under `wherry run` and learn; tests/parity compares the losses of all of them with Paddle's."""
from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
sys.path.append(str(ROOT / "tools"))
import tutorials  # noqa: E402

# The quick ones of each kind, with the share of the first loss that the last one must be below: of a few epochs, with room.
LEARNING = {
    "hello_paddle": 1e-3, "save_load": 0.6, "linear_regression": 0.1, "image_search_to_static": 0.8, "super_resolution": 0.3,
    "ngram": 0.8, "imdb_classification": 0.5, "recommendation": 0.8, "anomaly_detection": 0.8,
}


@pytest.mark.parametrize("name", LEARNING)
def test_tutorial_learns(name):
    losses = tutorials.losses_of(tutorials.output_of("wherry", tutorials.FOLDER / f"{name}.py"))
    assert losses[-1] < LEARNING[name] * losses[0], losses


def test_networks_find_what_their_data_hold():
    """The answers that programs print beside their losses."""
    said = tutorials.output_of("wherry", tutorials.FOLDER / "anomaly_detection.py")
    assert "too hot from hour 200 to hour 211" in said  # as the data were made
    said = tutorials.output_of("wherry", tutorials.FOLDER / "image_search_to_static.py")
    assert said.count("agree") == 3 and "differ" not in said
    said = tutorials.output_of("wherry", tutorials.FOLDER / "actor_critic.py")
    before, after = map(float, re.findall(r"for ([\d.]+)", said))
    assert after > 2 * before


def test_the_page_lists_every_tutorial():
    rows = re.findall(r"^\| \[(\w+)\]\(\.\./examples/tutorials/\1\.py\)", tutorials.PAGE.read_text(), re.MULTILINE)
    assert sorted(rows) == [program.stem for program in tutorials.PROGRAMS]


def test_losses_are_what_stands_behind_the_word():
    text = "step 10/19 - loss: 0.9992 - acc: 0.4969\nepoch 1  loss 2.5e-05  accuracy 0.9\ntest loss 3, of the mean 4"
    assert tutorials.losses_of(text) == [0.9992, 2.5e-05, 3.0]
    assert tutorials.distance([1.0, 2.0], [1.0, 4.0]) == 0.5
    with pytest.raises(ValueError, match="1 and 2"):
        tutorials.distance([1.0], [1.0, 2.0])
