"""The same program of layers under real Paddle 2.6.2 and under wherry: names, keys, texts, errors."""
from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from programs import needs_paddle, result_of  # noqa: E402

pytestmark = needs_paddle

PROGRAM = Path(__file__).parent / "layer_program.py"


@pytest.fixture(scope="module")
def outcomes():
    return result_of("wherry", PROGRAM), result_of("paddle", PROGRAM)


def test_program_sees_the_same(outcomes):
    ours, theirs = outcomes
    assert ours.keys() == theirs.keys()
    for name, expected in theirs.items():
        found = ours[name]
        if is_error(expected):
            # What catches Paddle's error catches ours.
            assert is_error(found), (name, found, expected)
            assert expected[0][0] in found[0], (name, found, expected)
        else:
            assert found == expected, name


def is_error(result):
    return isinstance(result, list) and len(result) == 2 and isinstance(result[0], list) and "BaseException" in result[0]
