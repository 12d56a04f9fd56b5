"""The pages in Debian's Firefox: each starts, programs run in the Playground, a digit is told."""
from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from firefox import FIREFOX, Firefox  # noqa: E402

from conftest import PAGES  # noqa: E402

pytestmark = pytest.mark.skipif(FIREFOX is None, reason="no Firefox: apt install firefox-esr")
MADE = {"/read", "/write"}  # with networks that `make demo` exports or trains; without them they say so


@pytest.fixture(scope="module")
def firefox():
    with Firefox() as running:
        yield running


@pytest.mark.parametrize("address", PAGES)
def test_every_page_starts(firefox, site, address):
    assert firefox.text_of(site + address, "body[data-ready] h1", 240)
    wrong = firefox.run("return [...document.querySelectorAll('[role=alert]')].map((one) => one.textContent.trim()).filter(Boolean)")
    assert bool(wrong) == (address in MADE), wrong


def test_the_first_example_runs_in_the_playground(firefox, site):
    assert firefox.text_of(f"{site}/playground", "body[data-ready] h1", 240)
    firefox.run("document.getElementById('run').click()")
    assert firefox.soon("body[data-ran]", 240)
    assert firefox.run("return document.body.dataset.ran").split()[1] == "done", firefox.run("return document.getElementById('output').innerText")
    assert firefox.run("return document.querySelectorAll('#output .stdout, #output canvas').length") > 0
