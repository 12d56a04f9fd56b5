"""`paddle.text` in real Paddle 2.6.2 and in wherry: data sets of the same archives, and sequences of tags."""
from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parent))
from programs import needs_paddle, outcomes_of  # noqa: E402

pytestmark = needs_paddle


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory):
    folder = tmp_path_factory.mktemp("text")
    return outcomes_of("text_worker.py", folder, folder)


def renumbered(data, samples_at, numbers):
    """Samples with names in place of numbers, for those numbers that Paddle gives in no fixed order."""
    names = {number: name for name, number in data[numbers].items()}
    for sample in data["samples"]:
        kind, dtype, shape, values = sample[samples_at]
        sample[samples_at] = (kind, dtype, shape, [names[value] for value in values])
    data[numbers] = set(data[numbers])


def test_data_sets_give_what_paddle_gives(outcomes):
    ours, theirs = outcomes["wherry"]["data"], outcomes["paddle"]["data"]
    assert ours.keys() == theirs.keys() and len(ours) > 60
    for name in ours:
        for data in (ours[name], theirs[name]):
            if name.startswith("Movielens"):  # the order of a set in Paddle
                renumbered(data, 6, "movie_title_dict")
                renumbered(data, 5, "categories_dict")
                for sample in data["samples"]:
                    sample[5][3].sort()
            elif name == "Conll05st":
                renumbered(data[0], 8, "label_dict")
                data[2] = data[2][:2]
            elif name.startswith("WMT16"):  # Paddle counts the words of the source for the target
                for sample in data[0]["samples"]:
                    del sample[1:]
        if name.startswith("UCIHousing"):
            for mine, other in zip(ours[name]["samples"], theirs[name]["samples"], strict=True):
                for (*kind, values), (*expected, numbers) in zip(mine, other, strict=True):
                    assert kind == expected
                    np.testing.assert_allclose(values, numbers, rtol=1e-5, atol=1e-7)
        else:
            assert ours[name] == theirs[name], name


def test_decoded_sequences_are_those_of_paddle(outcomes):
    pairs = list(zip(outcomes["wherry"]["decoded"], outcomes["paddle"]["decoded"], strict=True))
    answered = [(number, *pair) for number, pair in enumerate(pairs) if len(pair[1]) == 2]
    assert len(answered) > 0.8 * len(pairs)
    for number, ours, theirs in answered:
        for (*kind, values), (*expected, numbers) in zip(ours, theirs, strict=True):
            assert kind == expected, number
            assert values.shape == numbers.shape, number
            np.testing.assert_allclose(values, numbers, rtol=1e-6, atol=1e-6, err_msg=str(number))
