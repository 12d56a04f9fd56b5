"""Read text and Write along, in Chromium: they say what lacks, answer with what was exported, and keep their state in the address.

The last tests read with the networks whose weights are in examples/data, fonts that nothing was learned from among others.
"""
from __future__ import annotations

import difflib
import json
import subprocess
import sys
from pathlib import Path
from urllib.parse import quote

import pytest

sys.path.insert(0, str(Path(__file__).parent))
import wherry as paddle  # noqa: E402
from conftest import ROOT, until  # noqa: E402
from wherry import nn  # noqa: E402

NEEDS_WHEELS = False
LETTERS = ["", "A", "b"]


class Dark(nn.Layer):
    """A detector that calls dark pixels text."""

    def forward(self, x):
        return paddle.cast(paddle.mean(x, axis=1, keepdim=True) < -0.5, "float32")


class Widths(nn.Layer):
    """A recogniser that reads an A and a b in every line."""

    def forward(self, x):
        column = paddle.mean(x, axis=[1, 2])[:, ::4]
        steps = paddle.cumsum(paddle.ones_like(column), axis=1)
        classes = paddle.cast(steps == 2, "float32") + 2 * paddle.cast(steps == 4, "float32")
        return paddle.cast(paddle.unsqueeze(classes, -1) == paddle.arange(3, dtype="float32"), "float32")


class Turns(nn.Layer):
    """A writer that goes from each letter to the next, and counts its steps in the state."""

    def forward(self, character, state):
        following = paddle.cast((character + 1) % 3, "float32")
        scores = 20 * paddle.cast(paddle.unsqueeze(following, -1) == paddle.arange(3, dtype="float32"), "float32")
        return scores, state + 1


@pytest.fixture(scope="module")
def reading(tmp_path_factory):
    """A server with networks whose answers are known."""
    from wherry_export.web import engine_files

    if engine_files.missing():
        pytest.skip(engine_files.missing())
    models = tmp_path_factory.mktemp("models")
    spec = paddle.static.InputSpec
    paddle.export.web(Dark(), models / "read-detector-page", input_spec=[spec([None, 3, 640, 640], "float32", "x")])
    paddle.export.web(Widths(), models / "read-recogniser-page", input_spec=[spec([None, 3, 32, None], "float32", "x")], labels=LETTERS)
    paddle.export.web(Turns(), models / "write-page", labels=["x", "y", "z"],
                      input_spec=[spec([1, 1], "int64", "character"), spec([1, 1, 4], "float32", "state")])
    (models / "read-recogniser-page.measured.json").write_text(json.dumps({"character_error": 0.125, "lines": 40, "fonts": ["Font"]}))
    (models / "write-page.measured.json").write_text(json.dumps({"bits": 1.5, "characters": 1000, "hidden": 4}))
    yield from served(models)


@pytest.fixture(scope="module")
def bare(tmp_path_factory):
    """A server without any model."""
    yield from served(tmp_path_factory.mktemp("bare"))


def served(models):
    process = subprocess.Popen([sys.executable, "-m", "wherry", "serve", "--port", "0", "--models", models], stdout=subprocess.PIPE, text=True)
    yield process.stdout.readline().split()[3]
    process.kill()
    process.communicate()


def test_lines_are_found_and_read(visit, reading):
    page = visit(site=reading).open("/read#text=" + "%E2%96%AC%E2%96%AC%E2%96%AC%E2%96%AC%0A%E2%96%AC%E2%96%AC%E2%96%AC&noise=0&size=44")
    assert page.locator("#lines .text").all_inner_texts() == ["Ab", "Ab"]
    assert "12.5 % of the characters are wrong" in page.inner_text("#measured")
    assert page.get_attribute("#recogniser", "href").endswith("/bundles/read-recogniser-page/")
    page.fill("#text", "")
    until(page, "document.getElementById('lines').textContent === 'No text found.'")


def test_the_address_holds_what_is_written(visit, reading):
    page = visit(site=reading).open("/read")
    page.fill("#text", "one\ntwo")
    page.locator("#tilt").fill("5")
    page.select_option("#font", "serif")
    address = page.evaluate("location.href")
    again = visit(site=reading)
    again.page.goto(address)
    again.page.wait_for_selector("body[data-ready]")
    assert again.page.evaluate("['text', 'tilt', 'font'].map((id) => document.getElementById(id).value)") == ["one\ntwo", "5", "serif"]


def test_a_picture_from_a_file_is_read(visit, reading, tmp_path):
    image = pytest.importorskip("PIL.Image")
    picture = image.new("RGB", (1400, 500), "white")
    picture.paste((0, 0, 0), (200, 100, 900, 140))
    picture.save(tmp_path / "line.png")
    (tmp_path / "none.png").write_text("nothing")
    page = visit(site=reading).open("/read")
    page.set_input_files("#file", tmp_path / "line.png")
    until(page, "document.getElementById('status').textContent.includes('line.png is read')")
    assert page.locator("#lines .text").all_inner_texts() == ["Ab"]
    page.set_input_files("#file", tmp_path / "none.png")
    until(page, "document.getElementById('status').textContent.includes('not a picture that this browser reads')")


def test_it_writes_while_somebody_types(visit, reading):
    page = visit(site=reading).open("/write#text=xy")
    until(page, "document.getElementById('ahead').dataset.text === 'zxy'.repeat(40)")
    page.focus("#typed")
    page.keyboard.press("Control+End")
    page.keyboard.type("zx")
    until(page, "document.getElementById('ahead').dataset.text === 'yzx'.repeat(40)")
    page.select_option("#length", "40")
    until(page, "document.getElementById('ahead').dataset.text.length === 40")
    page.keyboard.press("Tab")
    page.focus("#typed")
    page.keyboard.press("Control+Enter")
    until(page, "document.getElementById('typed').value === 'xyzx' + 'yzx'.repeat(13) + 'y'")
    assert "text=xyzxyzx" in page.evaluate("location.hash") and "length=40" in page.evaluate("location.hash")


@pytest.mark.parametrize(("address", "says"), [("/read", "examples/read_text/export.py"), ("/write", "python examples/write_text.py")])
def test_without_networks_the_pages_say_what_makes_them(visit, bare, address, says):
    page = visit(site=bare).open(address)
    assert says in page.inner_text("#status") and page.get_attribute("#status", "role") == "alert"


@pytest.mark.parametrize("address", ["/read#font=comic", "/write#length=7"])
def test_links_that_do_not_fit_are_explained(visit, reading, address):
    page = visit(site=reading).open(address)
    assert "The link does not fit the page" in page.inner_text("#status")


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """A server with the networks of examples/data, as `make demo` exports them."""
    from wherry_export.web import engine_files

    if engine_files.missing():
        pytest.skip(engine_files.missing())
    models = tmp_path_factory.mktemp("trained")
    subprocess.run([sys.executable, ROOT / "examples" / "read_text" / "export.py", "--models", models], check=True)
    yield from served(models)


def likeness(found: list[str], written: list[str]) -> float:
    """From 0 to 1, over all characters in their order."""
    return difflib.SequenceMatcher(None, " ".join(found), " ".join(written), autojunk=False).ratio()


LINES = ["Wherry reads text", "Fahrt nach Lyon, 12,50", "Ελλάδα και Κύπρος", "Київ, Москва 1984"]


@pytest.mark.parametrize("font", ["sans-serif", "serif", "monospace"])
def test_what_is_written_is_read(visit, trained, font):
    page = visit(site=trained).open(f"/read#font={font}&text={quote(chr(10).join(LINES))}&size=34")
    found = page.locator("#lines .text").all_inner_texts()
    assert likeness(found, LINES) >= 0.9, found
    assert len(found) == len(LINES) or font == "monospace", found  # at whose wide spaces the detector may see the end of a line
    facts = json.loads((ROOT / "examples" / "data" / "read-recogniser.json").read_text(encoding="utf-8"))
    assert f"{100 * facts['character_error']:.1f} % of the characters are wrong" in page.inner_text("#measured")
    assert facts["lines"] >= 1000 and facts["character_error"] < 0.05


@pytest.mark.parametrize("name", ["NotoSans-Regular", "NotoSerif-Regular"])
def test_a_picture_in_a_font_that_nothing_was_learned_from_is_read(visit, trained, tmp_path, name):
    image, draw, font = (pytest.importorskip(f"PIL.{part}") for part in ("Image", "ImageDraw", "ImageFont"))
    file = next(Path("/usr/share/fonts").rglob(f"{name}.ttf"), None)
    if file is None:
        pytest.skip(f"no font {name}: apt install fonts-noto-core")
    picture = image.new("RGB", (900, 420), "#fdfdf6")
    for i, line in enumerate(LINES):
        draw.Draw(picture).text((60, 40 + 95 * i), line, fill="#223344", font=font.truetype(str(file), 40))
    picture.save(tmp_path / "lines.png")
    page = visit(site=trained).open("/read")
    page.set_input_files("#file", tmp_path / "lines.png")
    until(page, "document.getElementById('status').textContent.includes('lines.png is read')")
    found = page.locator("#lines .text").all_inner_texts()
    assert len(found) == len(LINES) and likeness(found, LINES) >= 0.9, found
