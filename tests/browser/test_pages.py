"""The pages in Chromium: they answer, train, exchange weights with Paddle, and bear misuse."""
from __future__ import annotations

import io
import json
import math
import os
import pickle
import re
import subprocess
import sys
import time
from collections.abc import Iterable
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from conftest import PAGES, PYODIDE, WHEELS, until  # noqa: E402

NOTHING = "\N{EN DASH}"
PARITY_PYTHON = os.environ.get("PARITY_PYTHON")
DRAW_DIGITS = """async (indices) => {
  const canvas = document.getElementById("canvas"), answer = document.getElementById("answer");
  const answers = [];
  for (const i of indices) {
    canvas.dataset.next = i;
    document.getElementById("sample").click();
    while (answer.dataset.state !== "settled") await new Promise((resolve) => setTimeout(resolve, 5));
    answers.push(Number(answer.textContent));
  }
  return answers;
}"""


@pytest.mark.parametrize("address", PAGES)
def test_every_page_starts(visit, address):
    one = visit()
    page = one.open(address)
    if address == "/browser":
        page.wait_for_selector("body[data-measured]")
        assert "matmul 512" in page.inner_text("#timings")
        assert "relaxed" in page.inner_text("#facts")
    until(page, "navigator.serviceWorker.getRegistration().then((found) => Boolean(found?.active))")  # `ready` may never come


def test_the_report_of_this_browser_is_copied(visit):
    one = visit()
    one.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page = one.open("/browser")
    page.wait_for_selector("#copy:enabled")
    page.click("#copy")
    until(page, "document.getElementById('status').textContent.includes('clipboard')")
    report = page.evaluate("navigator.clipboard.readText()")
    assert re.search(r"^Wherry: \d+\.\d+", report, re.M) and re.search(r"^matmul 512: .* ms \([\d.]+ GFLOP/s\)$", report, re.M), report
    assert len(report.splitlines()) >= 15


def test_a_closed_clipboard_is_explained(visit):
    page = visit().open("/browser")
    page.wait_for_selector("#copy:enabled")
    page.evaluate("Object.defineProperty(navigator, 'clipboard', { value: undefined })")
    page.click("#copy")
    until(page, "document.getElementById('status').textContent.includes('Select the table')")


@pytest.mark.parametrize("address", PAGES)
def test_pages_fit_a_phone(visit, address):
    page = visit(viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True).open(address)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_digits_of_the_test_set_are_recognised(visit):
    from wherry_web.client.digits import COUNT, TRAINED_ON
    from wherry_web.files import STATIC

    content = (STATIC / "data" / "digits.bin").read_bytes()
    page = visit().open("/")
    page.wait_for_selector("#sample:enabled")
    indices = list(range(TRAINED_ON, TRAINED_ON + 100))
    answers = page.evaluate(DRAW_DIGITS, indices)
    right = sum(answer == content[COUNT * 64 + i] for answer, i in zip(answers, indices, strict=True))
    assert right >= 97


def stroke(page, points: Iterable[tuple[float, float]]) -> None:
    """Draw with the mouse; points are shares of the canvas."""
    box = page.locator("#canvas").bounding_box()
    at = [(box["x"] + x * box["width"], box["y"] + y * box["height"]) for x, y in points]
    page.mouse.move(*at[0])
    page.mouse.down()
    for x, y in at[1:]:
        page.mouse.move(x, y, steps=12)
    page.mouse.up()


def settled(page) -> str:
    page.wait_for_selector("#answer[data-state=settled]")
    return page.inner_text("#answer")


STROKES = {
    "0": [[(0.5 + 0.22 * math.sin(math.tau * i / 24), 0.5 - 0.36 * math.cos(math.tau * i / 24)) for i in range(25)]],
    "1": [[(0.4, 0.3), (0.53, 0.12), (0.53, 0.9)]],
    "2": [[(0.3, 0.2), (0.5, 0.1), (0.68, 0.2), (0.68, 0.35), (0.5, 0.55), (0.3, 0.8), (0.72, 0.8)]],
    "3": [[(0.3, 0.15), (0.6, 0.1), (0.65, 0.3), (0.45, 0.45), (0.68, 0.6), (0.62, 0.85), (0.3, 0.85)]],
    "4": [[(0.55, 0.1), (0.25, 0.55), (0.75, 0.55)], [(0.6, 0.4), (0.6, 0.92)]],
    "5": [[(0.7, 0.1), (0.35, 0.1), (0.33, 0.45), (0.6, 0.42), (0.68, 0.65), (0.55, 0.88), (0.3, 0.85)]],
    "6": [[(0.6, 0.1), (0.4, 0.35), (0.33, 0.65), (0.42, 0.88), (0.6, 0.85), (0.66, 0.66), (0.5, 0.55), (0.35, 0.65)]],
    "7": [[(0.28, 0.12), (0.72, 0.12), (0.45, 0.9)], [(0.35, 0.5), (0.7, 0.5)]],
    "8": [[(0.5, 0.48), (0.35, 0.3), (0.5, 0.1), (0.65, 0.3), (0.5, 0.48), (0.33, 0.7), (0.5, 0.9), (0.68, 0.7), (0.5, 0.48)]],
    "9": [[(0.65, 0.35), (0.5, 0.5), (0.35, 0.35), (0.5, 0.12), (0.65, 0.3), (0.62, 0.6), (0.5, 0.9)]],
}


def test_strokes_of_a_mouse_are_recognised(visit):
    page = visit().open("/")
    answers = {}
    for digit, strokes in STROKES.items():
        page.click("#clear")
        assert settled(page) == NOTHING
        for points in strokes:
            stroke(page, points)
        answers[digit] = settled(page)
    right = sum(digit == answer for digit, answer in answers.items())
    assert right >= 9, answers  # no digit of the data set was drawn with straight lines: one may look like another


def test_keys_draw_move_and_clear(visit):
    page = visit().open("/")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.keyboard.press("Enter")
    while page.evaluate("document.activeElement.id") != "canvas":
        page.keyboard.press("Tab")
    for _ in range(14):
        page.keyboard.press("Shift+ArrowDown")
    assert settled(page) in list("0123456789")
    page.keyboard.press("ArrowLeft")
    assert "Pen at" in page.inner_text("#pen")
    page.keyboard.press("Escape")
    assert settled(page) == NOTHING
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.id") == "clear"


def test_server_and_browser_agree(visit):
    page = visit().open("/")
    page.wait_for_selector("#sample:enabled")
    for i in (1440, 1500, 1700):
        (answer,) = page.evaluate(DRAW_DIGITS, [i])
        page.click("#ask")
        until(page, "/differ|did not/.test(document.getElementById('server').textContent)")
        text = page.inner_text("#server")
        assert f"The server says {answer} " in text
        assert float(re.search(r"at most ([\d.e+-]+)\.$", text)[1]) <= 2e-5  # scores of tens, in float32


def train_to(page, accuracy: float) -> None:
    page.click("#run")
    until(page, f"Number(document.getElementById('accuracy').dataset.value) > {accuracy}")
    page.click("#run")
    until(page, "document.getElementById('run').textContent === 'Resume'")
    steps = None
    while steps != (steps := steps_of(page)):  # what was under way comes in
        time.sleep(1)


def steps_of(page) -> int:
    found = re.match(r"Step (\d+)", page.inner_text("#progress"))
    return int(found[1]) if found else 0


def test_trains_pauses_goes_on_and_starts_over(visit):
    page = visit().open("/train")
    train_to(page, 0.95)
    paused = steps_of(page)
    assert paused > 0 and page.get_attribute("#run", "aria-pressed") == "false"
    time.sleep(1)
    assert steps_of(page) == paused
    assert sum(int(cell or 0) for cell in page.locator("#confusion td").all_inner_texts()) == 360
    page.click("#run")
    until(page, f"Number(document.getElementById('progress').textContent.match(/\\d+/)[0]) > {paused}")
    page.click("#reset")
    until(page, "document.getElementById('progress').textContent === ''")
    assert float(page.get_attribute("#accuracy", "data-value")) < 0.5
    assert page.inner_text("#run") == "Train"


@pytest.mark.parametrize(("architecture", "optimizer", "rate", "batch"), [
    ("MLP", "Momentum", "0.01", "8"), ("LeNet", "SGD", "0.1", "32"), ("MLP", "AdamW", "0.001", "128"),
])
def test_every_setting_trains(visit, architecture, optimizer, rate, batch):
    page = visit().open("/train")
    for name, value in {"architecture": architecture, "optimizer": optimizer, "learning_rate": rate, "batch_size": batch}.items():
        page.select_option(f"select[name={name}]", value)
    train_to(page, 0.8)


@pytest.fixture(scope="module")
def trained(browser, site, tmp_path_factory) -> tuple[Path, float]:
    """A file of weights downloaded from the page, and the accuracy that the page shows with them."""
    context = browser.new_context()
    page = context.new_page()
    page.set_default_timeout(120_000)
    page.goto(site + "/train")
    page.wait_for_selector("body[data-ready]")
    train_to(page, 0.95)
    with page.expect_download() as download:
        page.click("#download")
    file = tmp_path_factory.mktemp("weights") / download.value.suggested_filename
    download.value.save_as(file)
    accuracy = float(page.get_attribute("#accuracy", "data-value"))
    context.close()
    return file, accuracy


PREDICT = """
import json, sys
import numpy as np
import {framework} as paddle

net = paddle.vision.models.LeNet()
net.set_state_dict(paddle.load(sys.argv[1]))
net.eval()
content = np.fromfile(sys.argv[2], np.uint8)
pixels = content[: 1797 * 64].reshape(1797, 8, 8)[1437:].astype("float32") / 8 - 1
images = np.pad(pixels.repeat(3, 1).repeat(3, 2), ((0, 0), (2, 2), (2, 2)), constant_values=-1)[:, None]
scores = net(paddle.to_tensor(images)).numpy()
print(json.dumps([float((scores.argmax(1) == content[1797 * 64 + 1437 :]).mean()), scores.tolist()]))
"""


def scores_of(python: str, framework: str, weights: Path) -> tuple[float, list]:
    from wherry_web.files import STATIC

    program = PREDICT.format(framework=framework)
    done = subprocess.run(
        [python, "-c", program, weights, STATIC / "data" / "digits.bin"], capture_output=True, text=True, timeout=300, check=True,
    )
    accuracy, scores = json.loads(done.stdout.splitlines()[-1])
    return accuracy, scores


def test_downloaded_weights_answer_the_same_outside_the_browser(trained):
    file, accuracy = trained
    assert file.name == "digits-lenet.pdparams"
    assert scores_of(sys.executable, "wherry", file)[0] == pytest.approx(accuracy, abs=1e-9)


@pytest.mark.skipif(not PARITY_PYTHON, reason="PARITY_PYTHON names no Python with real Paddle")
def test_real_paddle_loads_the_downloaded_weights(trained):
    import numpy as np

    file, accuracy = trained
    paddles = scores_of(PARITY_PYTHON, "paddle", file)
    assert paddles[0] == pytest.approx(accuracy, abs=1e-9)
    np.testing.assert_allclose(scores_of(sys.executable, "wherry", file)[1], paddles[1], rtol=1e-4, atol=1e-4)


def upload(page, name: str, content: bytes) -> str:
    before = page.inner_text("#status")
    page.set_input_files("#upload", {"name": name, "mimeType": "application/octet-stream", "buffer": content})
    until(page, f"document.getElementById('status').textContent !== {json.dumps(before)}")
    return page.inner_text("#status")


class Hostile:
    def __reduce__(self):
        return os.system, ("touch /wherry-was-here",)


def of_another_network() -> bytes:
    import wherry as paddle
    from wherry_web.client.networks import network

    buffer = io.BytesIO()
    paddle.save(network("MLP", 10).state_dict(), buffer)
    return buffer.getvalue()


def test_wrong_uploads_are_explained_and_change_nothing(visit, trained):
    file, accuracy = trained
    page = visit().open("/train")
    assert "is loaded" in upload(page, "good.pdparams", file.read_bytes())
    assert float(page.get_attribute("#accuracy", "data-value")) == pytest.approx(accuracy, abs=1e-9)
    wrong = {
        "hostile.pdparams": (pickle.dumps({"w": Hostile()}), "not a file of weights"),
        "truncated.pdparams": (file.read_bytes()[:50_000], "not a file of weights"),
        "text.pdparams": (b"hello", "not a file of weights"),
        "empty.pdparams": (b"", "not a file of weights"),
        "other.pdparams": (of_another_network(), "weights of another network"),
        "huge.pdparams": (bytes(17 << 20), "expected at most"),
        "bomb.pdparams": (pickle.dumps({"w": [[]] * 10**6}), "another network|not a file"),
    }
    for name, (content, says) in wrong.items():
        text = upload(page, name, content)
        assert text.startswith(f"{name} was not loaded: ") and re.search(says, text), text
        assert len(text) < 600 and "Traceback" not in text
        assert page.get_attribute("#status", "role") == "alert"
        assert float(page.get_attribute("#accuracy", "data-value")) == pytest.approx(accuracy, abs=1e-9)
    before = steps_of(page)
    page.click("#run")
    until(page, f"Number((document.getElementById('progress').textContent.match(/\\d+/) ?? [0])[0]) > {before}")


def test_pages_work_without_a_network_after_the_first_visit(visit, start):
    address, server = start()
    one = visit(site=address)
    page = one.open("/")
    page.evaluate("navigator.serviceWorker.ready.then(() => true)")
    until(page, "navigator.serviceWorker.controller !== null")
    server.kill()
    server.wait()
    for address in PAGES:
        one.open(address)
    page = one.open("/")
    page.wait_for_selector("#sample:enabled")
    assert page.evaluate(DRAW_DIGITS, [1450]) == [3]
    page.click("#ask")
    until(page, "document.getElementById('server').textContent.startsWith('The server did not answer')")
    page = one.open("/model")
    page.click("#example")
    page.wait_for_selector("body[data-opened]")  # by packages that come when they are imported
    assert all("ERR_" in problem for problem in one.problems)  # Chromium notes each address that did not answer
    one.problems.clear()


def test_the_static_build_works_on_any_file_server(visit, models, tmp_path):
    from wherry_web import Config, create_app
    from wherry_web.freeze import freeze

    freeze(create_app(Config(models=models, pyodide=PYODIDE, wheels=WHEELS)), tmp_path / "some" / "where")
    server = subprocess.Popen(
        [sys.executable, "-u", "-m", "http.server", "0", "--bind", "127.0.0.1", "--directory", tmp_path],
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
    )
    try:
        port = re.search(r"port (\d+)", server.stdout.readline())[1]
        one = visit(site=f"http://127.0.0.1:{port}/some/where")
        page = one.open("/")
        page.wait_for_selector("#sample:enabled")
        assert page.evaluate(DRAW_DIGITS, [1450]) == [3]
        assert not page.is_enabled("#ask")
        page.click("text=Train in the tab")
        page.wait_for_selector("body[data-ready]")
        train_to(page, 0.5)
        page.click("text=This browser")
        page.wait_for_selector("body[data-measured]")
    finally:
        server.kill()
        server.communicate()


def test_a_server_without_wheels_says_how_to_get_them(visit, models):
    process = subprocess.Popen([sys.executable, "-m", "wherry", "serve", "--port", "0", "--models", models], stdout=subprocess.PIPE, text=True)
    try:
        one = visit(site=process.stdout.readline().split()[3])
        one.page.goto(one.site)
        one.page.wait_for_selector("#status[data-kind=error]")
        assert "make wasm" in one.page.inner_text("#status")
    finally:
        process.kill()
        process.communicate()


def test_the_first_prediction_needs_few_bytes(visit, capsys):
    one = visit(service_workers="block")
    session = one.context.new_cdp_session(one.page)
    sizes: dict[str, int] = {}
    addresses: dict[str, str] = {}
    session.send("Network.enable")
    session.on("Network.requestWillBeSent", lambda event: addresses.update({event["requestId"]: event["request"]["url"]}))
    session.on("Network.loadingFinished", lambda event: sizes.update({addresses[event["requestId"]]: int(event["encodedDataLength"])}))
    with one.page.expect_console_message(lambda message: "blocked by Playwright" in message.text):  # its warning about the service worker
        started = time.perf_counter()
        one.page.goto(one.site + "/")
        one.page.wait_for_selector("body[data-ready]")
        seconds = time.perf_counter() - started
    one.problems.clear()
    sizes = {address: size for address, size in sizes.items() if not address.endswith("digits.bin")}  # asked for afterwards
    worker = fetched_by_workers(one)
    total = sum({**sizes, **worker}.values())
    with capsys.disabled():
        print(f"\n{total / 1e6:.3f} MB before the first prediction, beyond Pyodide, which came after {seconds:.1f} s:")
        for address, size in sorted({**sizes, **worker}.items(), key=lambda item: -item[1]):
            print(f"  {size:8d} {address.removeprefix(one.site)}")
    assert [address.rpartition("/")[2] for address in worker if address.endswith(".zip")] == ["wherry.zip"]
    assert total <= 1_500_000


def fetched_by_workers(one) -> dict[str, int]:
    """What the worker has loaded beyond Pyodide, as the server sent it; browsers do not say it of its scripts."""
    import urllib.request

    from wherry_web.files import STATIC

    (worker,) = one.page.workers
    entries = worker.evaluate("performance.getEntriesByType('resource').map((entry) => [entry.name, entry.encodedBodySize])")
    found = {address: size for address, size in entries if "/pyodide/" not in address}
    for script in ("python.js", *(path.name for path in STATIC.glob("js/worker*.js"))):
        request = urllib.request.Request(one.page.evaluate(f"new URL('{script}', document.querySelector('script').src).href"))
        request.add_header("Accept-Encoding", "br")
        with urllib.request.urlopen(request) as response:
            found[request.full_url] = len(response.read())
    return found


IMAGES = os.environ.get("WHERRY_IMAGES")  # a folder; the pictures of the documentation are in docs/images


def test_pictures_of_the_pages(visit, tmp_path):
    folder = Path(IMAGES or tmp_path)
    for scheme in ("light", "dark"):
        one = visit(color_scheme=scheme, viewport={"width": 1100, "height": 800})
        page = one.open("/")
        page.wait_for_selector("#sample:enabled")
        stroke(page, STROKES["2"][0])
        settled(page)
        page.screenshot(path=folder / f"draw-{scheme}.png")
        page = one.open("/train")
        train_to(page, 0.97)
        page.screenshot(path=folder / f"train-{scheme}.png", full_page=True)
    page = visit(viewport={"width": 1100, "height": 700}).open("/browser")
    page.wait_for_selector("body[data-measured]")
    page.screenshot(path=folder / "browser.png")
    phone = visit(viewport={"width": 390, "height": 844}, color_scheme="dark").open("/")
    phone.wait_for_selector("#sample:enabled")
    phone.evaluate(DRAW_DIGITS, [1450])
    phone.screenshot(path=folder / "phone.png")
    assert all(picture.stat().st_size <= 150_000 for picture in folder.glob("*.png"))


@pytest.mark.parametrize("width", [1100, 1400])
def test_the_names_of_all_pages_stand_in_one_line(visit, site, width):
    page = visit(viewport={"width": width, "height": 700}).page
    page.goto(site + "/gallery")
    assert len(set(page.evaluate("[...document.querySelectorAll('nav a')].map((link) => link.getBoundingClientRect().bottom)"))) == 1
    assert page.evaluate("document.querySelector('header').getBoundingClientRect().height") < 65  # the brand stands in it, too
