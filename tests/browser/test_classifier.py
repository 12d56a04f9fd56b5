"""The page "Image classifier by example" in Chromium: pictures from files and a (fake) camera, training, answers, and what can be taken away."""
from __future__ import annotations

import io
import json
import os
import re
import struct
import subprocess
import sys
import time
import zipfile
import zlib
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parent))
from conftest import CHROMIUM, until  # noqa: E402

SIDE = 96
PARITY_PYTHON = os.environ.get("PARITY_PYTHON")
NAMES = ("Discs", "Stripes", "Checks")
CARD = ".class >> nth={}"


def png(pixels: np.ndarray) -> bytes:
    """A PNG file of uint8 `[H, W, 3]`."""
    def chunk(kind: bytes, content: bytes) -> bytes:
        return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))

    height, width, _ = pixels.shape
    rows = b"".join(b"\0" + row.tobytes() for row in pixels)
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


def picture(kind: int, rng: np.random.Generator, side: int = SIDE) -> np.ndarray:
    """A disc, stripes or checks, somewhere and in some colours."""
    y, x = np.mgrid[:side, :side] / side
    if kind == 0:
        inside = (x - rng.uniform(0.35, 0.65)) ** 2 + (y - rng.uniform(0.35, 0.65)) ** 2 < rng.uniform(0.2, 0.3) ** 2
    elif kind == 1:
        angle = rng.uniform(-0.4, 0.4)
        inside = np.sin((x * np.sin(angle) + y * np.cos(angle)) * rng.uniform(35, 50) + rng.uniform(0, 6)) > 0
    else:
        size, shift = rng.uniform(4, 6), rng.uniform(0, 1, 2)
        inside = (np.floor(x * size + shift[0]) + np.floor(y * size + shift[1])) % 2 > 0
    fore, back = rng.uniform(150, 255, 3), rng.uniform(0, 90, 3)
    return (np.where(inside[..., None], fore, back) + rng.normal(0, 8, (side, side, 3))).clip(0, 255).astype(np.uint8)


def files(kind: int, count: int, seed: int) -> list[dict]:
    rng = np.random.default_rng(seed)
    return [{"name": f"{NAMES[kind]}-{i}.png", "mimeType": "image/png", "buffer": png(picture(kind, rng))} for i in range(count)]


def counted(page, i: int) -> str:
    return page.inner_text(f"{CARD.format(i)} >> [data-part=count]")


def give(page, i: int, content: list[dict]) -> None:
    """Put files into a class, and wait until they are looked at."""
    before = page.locator(f"{CARD.format(i)} >> .thumbnails li").count()
    page.set_input_files(f"{CARD.format(i)} >> [data-part=files]", content)
    wait_for_pictures(page, i, before + len(content))


def wait_for_pictures(page, i: int, count: int) -> None:
    until(page, f"document.querySelectorAll('.class')[{i}].querySelector('[data-part=count]').textContent.startsWith('{count} picture')")


def train(page) -> None:
    page.click("#run")
    until(page, "/^Trained/.test(document.getElementById('status').textContent)")


def look_at(page, content: dict) -> str:
    """What the page answers to a file."""
    page.evaluate("document.getElementById('answer').textContent = '?'; document.getElementById('time').textContent = ''")
    page.set_input_files("#look", content)
    until(page, "document.getElementById('time').textContent !== ''")
    return page.inner_text("#answer")


def prepared(page, count: int = 15) -> None:
    """Three named classes with pictures."""
    page.click("#add-class")
    for i, name in enumerate(NAMES):
        page.fill(f"{CARD.format(i)} >> [data-part=name]", name)
        give(page, i, files(i, count, seed=i))


@pytest.fixture(scope="module")
def taught(browser, site, tmp_path_factory):
    """A page that has learned three classes, and its console."""
    context = browser.new_context(accept_downloads=True)
    page = context.new_page()
    page.set_default_timeout(120_000)
    problems: list[str] = []
    page.on("console", lambda m: problems.append(m.text) if m.type in ("error", "warning") else None)
    page.goto(site + "/classifier")
    page.wait_for_selector("body[data-ready]")
    prepared(page)
    train(page)
    yield page
    context.close()
    assert problems == []


def test_pictures_of_three_classes_are_learned_and_told_apart(taught):
    assert [counted(taught, i) for i in range(3)] == ["15 pictures, 3 held out"] * 3
    assert float(taught.get_attribute("#accuracy", "data-value")) >= 0.8
    answers = [look_at(taught, one) == NAMES[i] for i in range(3) for one in files(i, 5, seed=100 + i)]
    assert sum(answers) >= 13
    shares = [float(text.removesuffix(" %")) for text in taught.locator("#bars .value").all_inner_texts()]
    assert len(shares) == 3 and sum(shares) == pytest.approx(100, abs=0.2)
    assert taught.inner_text("#bars .best .label") == taught.inner_text("#answer")
    assert re.search(r"Step 160, 40 times through the pictures", taught.inner_text("#progress"))


def download(page, button: str) -> zipfile.ZipFile:
    with page.expect_download() as found:
        page.click(button)
    return zipfile.ZipFile(io.BytesIO(Path(found.value.path()).read_bytes()))


ASKED = """
import json, sys
import numpy as np
import {framework} as paddle

net = paddle.jit.load(sys.argv[1])
scores = net(paddle.to_tensor(np.load(sys.argv[2]))).numpy()
shares = np.exp(scores - scores.max(1, keepdims=True))
print(json.dumps((shares / shares.sum(1, keepdims=True)).tolist()))
"""


@pytest.mark.parametrize(("python", "framework"), [(sys.executable, "wherry"), (PARITY_PYTHON, "paddle")])
def test_the_program_that_is_taken_away_answers_the_same(taught, tmp_path, python, framework):
    if python is None:
        pytest.skip("PARITY_PYTHON names no Python with real Paddle")
    with download(taught, "#save-program") as archive:
        assert sorted(archive.namelist()) == ["classifier.pdiparams", "classifier.pdiparams.info", "classifier.pdmodel", "labels.txt"]
        archive.extractall(tmp_path)
    assert (tmp_path / "labels.txt").read_text().splitlines() == list(NAMES)
    rng = np.random.default_rng(7)
    pixels = picture(1, rng)
    look_at(taught, {"name": "one.png", "mimeType": "image/png", "buffer": png(pixels)})
    shown = [float(text.removesuffix(" %")) / 100 for text in taught.locator("#bars .value").all_inner_texts()]
    np.save(tmp_path / "x.npy", (pixels.astype(np.float32) / 127.5 - 1).transpose(2, 0, 1)[None])
    done = subprocess.run(
        [python, "-c", ASKED.format(framework=framework), tmp_path / "classifier", tmp_path / "x.npy"],
        capture_output=True, text=True, timeout=300, check=True,
    )
    assert json.loads(done.stdout.splitlines()[-1])[0] == pytest.approx(shown, abs=1e-3)  # of what is shown, to a tenth of a percent


def test_the_web_page_that_is_taken_away_answers_the_same(taught, browser, tmp_path):
    from wherry_export.web import engine_files

    if engine_files.missing():
        pytest.skip("no engine: make engine")
    taught.fill("#title", "Patterns")
    with download(taught, "#save-site") as archive:
        archive.extractall(tmp_path)
    manifest = json.loads((tmp_path / "site" / "manifest.json").read_text())
    assert manifest["title"] == "Patterns" and manifest["labels"] == list(NAMES)
    one = files(2, 1, seed=200)[0]
    look_at(taught, one)
    shown = dict(zip(NAMES, (float(text.removesuffix(" %")) for text in taught.locator("#bars .value").all_inner_texts()), strict=True))
    server = subprocess.Popen(
        [sys.executable, "-u", "-m", "http.server", "0", "--bind", "127.0.0.1", "--directory", tmp_path],
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
    )
    context = browser.new_context()
    try:
        port = re.search(r"port (\d+)", server.stdout.readline())[1]
        page = context.new_page()
        page.goto(f"http://127.0.0.1:{port}/site/")
        page.wait_for_selector("body[data-ready]", timeout=60_000)
        assert page.title().startswith("Patterns")
        page.set_input_files("input[type=file]", one)
        best = max(shown, key=shown.get)
        until(page, f"document.body.dataset.state === 'settled' && document.body.textContent.includes({json.dumps(best)})")
        time.sleep(1)
        text = page.inner_text("main")
        found = {name: float(re.search(rf"{name}\s+([\d.]+)\s*%", text)[1]) for name in NAMES}
        assert found == pytest.approx(shown, abs=1.5)  # half precision, and the picture goes through a larger canvas
    finally:
        context.close()
        server.kill()
        server.communicate()


def test_names_and_deleted_pictures_are_kept_in_step(visit):
    page = visit().open("/classifier")
    prepared(page, 5)
    train(page)
    assert look_at(page, files(0, 1, seed=9)[0]) in NAMES
    page.fill(f"{CARD.format(0)} >> [data-part=name]", "Round things")
    assert page.locator("#bars .label").all_inner_texts() == ["Round things", *NAMES[1:]]
    page.click(f"{CARD.format(1)} >> .thumbnails button >> nth=0")
    wait_for_pictures(page, 1, 4)
    assert page.is_visible("#changed")
    assert page.get_attribute(f"{CARD.format(1)} >> .thumbnails button >> nth=3", "aria-label").startswith("Delete picture 4 of Stripes, held out")
    page.click(f"{CARD.format(2)} >> [data-part=remove]")
    until(page, "document.querySelectorAll('.class').length === 2")
    assert page.locator("#bars li").count() == 0 and page.inner_text("#answer") == "\N{EN DASH}"
    assert page.is_disabled(f"{CARD.format(0)} >> [data-part=remove]") and page.is_disabled("#save-program")
    train(page)
    assert page.locator("#bars li").count() == 2


def test_files_that_are_no_pictures_are_explained(visit):
    page = visit().open("/classifier")
    page.set_input_files(f"{CARD.format(0)} >> [data-part=files]", [
        {"name": "notes.png", "mimeType": "image/png", "buffer": b"no picture"}, files(0, 1, seed=1)[0],
    ])
    until(page, "document.getElementById('status').dataset.kind === 'error'")
    assert "notes.png is not a picture" in page.inner_text("#status") and counted(page, 0) == "1 picture, 0 held out"
    page.click("#run")
    until(page, "/Class 2 has no picture/.test(document.getElementById('status').textContent)")
    assert page.get_attribute("#status", "role") == "alert"


DROP = """([selector, index, content]) => {
  const target = document.querySelectorAll(selector)[index];
  const dataTransfer = new DataTransfer();
  for (const [name, bytes] of content) dataTransfer.items.add(new File([new Uint8Array(bytes)], name, { type: "image/png" }));
  for (const kind of ["dragover", "drop"]) target.dispatchEvent(new DragEvent(kind, { dataTransfer, bubbles: true, cancelable: true }));
}"""


def test_pictures_can_be_dropped_on_a_class(visit):
    page = visit().open("/classifier")
    page.evaluate(DROP, [".class", 1, [(one["name"], list(one["buffer"])) for one in files(1, 6, seed=3)]])
    wait_for_pictures(page, 1, 6)
    assert counted(page, 1) == "6 pictures, 1 held out" and counted(page, 0) == "no pictures yet"


def test_classes_are_two_to_six(visit):
    page = visit().open("/classifier")
    for _ in range(4):
        page.click("#add-class")
    assert page.locator(".class").count() == 6 and page.is_disabled("#add-class")
    page.click(f"{CARD.format(5)} >> [data-part=remove]")
    assert page.locator(".class").count() == 5 and page.is_enabled("#add-class")


WITH_CAMERA = ["--no-sandbox", "--use-fake-device-for-media-stream", "--use-fake-ui-for-media-stream"]


def test_frames_of_a_camera_are_taken_while_a_button_is_held(playwright, site):
    chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=WITH_CAMERA)
    try:
        page = chromium.new_context(viewport={"width": 1200, "height": 900}).new_page()
        page.set_default_timeout(90_000)
        problems: list[str] = []
        page.on("console", lambda m: problems.append(m.text) if m.type in ("error", "warning") else None)
        page.goto(site + "/classifier")
        page.wait_for_selector("body[data-ready]")
        take = f"{CARD.format(0)} >> [data-part=take]"
        assert page.is_disabled(take)
        page.click("#camera")
        page.wait_for_selector("#video", state="visible")
        page.wait_for_selector(f"{take}:enabled")
        page.locator(take).hover()
        page.mouse.down()
        until(page, "parseInt(document.querySelector('[data-part=count]').textContent) >= 12")
        page.mouse.up()
        until(page, "/^\\d+ pictures, [2-9] held out/.test(document.querySelector('[data-part=count]').textContent)")
        before = page.locator(f"{CARD.format(0)} >> .thumbnails li").count()
        assert before >= 12
        page.focus(take)
        page.keyboard.down("Space")
        until(page, "/[3-9] taken/.test(document.querySelector('[data-part=count]').textContent)")
        page.keyboard.up("Space")
        until(page, f"document.querySelector('.thumbnails').children.length >= {before + 3}")
        page.evaluate("document.querySelectorAll('[data-part=take]')[1].click()")  # as a screen reader does
        wait_for_pictures(page, 1, 1)
        give(page, 1, files(1, 9, seed=4))
        train(page)
        until(page, "document.getElementById('answer').textContent === 'Class 1'")  # live, from the camera
        page.set_input_files("#look", files(1, 1, seed=5)[0])
        until(page, "document.getElementById('answer').textContent === 'Class 2'")
        page.click("#look-camera")
        until(page, "document.getElementById('answer').textContent === 'Class 1'")
        page.click("#camera")
        page.wait_for_selector("#video", state="hidden")
        assert problems == []
    finally:
        chromium.close()


def test_nothing_is_sent_while_pictures_are_learned_from(visit):
    one = visit()
    page = one.open("/classifier")
    sent: list[str] = []
    page.on("request", lambda request: sent.append(request.method) if request.method != "GET" or request.post_data else None)
    give(page, 0, files(0, 5, seed=0))
    give(page, 1, files(1, 5, seed=1))
    train(page)
    assert sent == []


IMAGES = os.environ.get("WHERRY_IMAGES")  # a folder; the pictures of the documentation are in docs/images


def test_pictures_of_the_page(visit, tmp_path):
    folder = Path(IMAGES or tmp_path)
    for scheme, viewport in (("light", (1100, 800)), ("dark", (1100, 800)), ("phone", (390, 844))):
        page = visit(
            color_scheme="dark" if scheme == "phone" else scheme, viewport={"width": viewport[0], "height": viewport[1]},
        ).open("/classifier")
        prepared(page)
        train(page)
        look_at(page, files(2, 1, seed=50)[0])
        page.screenshot(path=folder / f"classifier-{scheme}.png", full_page=True)
        assert page.evaluate("document.documentElement.scrollWidth") <= viewport[0]
