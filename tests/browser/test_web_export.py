"""An exported folder in Chromium, from Python's own file server under a sub-path: it answers, offline too, and keeps its policy."""
from __future__ import annotations

import http.server
import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parent))
import wherry
from conftest import ROOT, FileServer, until  # noqa: E402
from wherry_export.web import engine_files
from wherry_export.web.single import filled

NEEDS_WHEELS = False  # nothing of Pyodide
pytestmark = pytest.mark.skipif(engine_files.missing() is not None, reason=str(engine_files.missing()))


@pytest.fixture
def served(tmp_path, browser):
    """A folder that is served, and a page that fails the test when it logs an error."""
    server = FileServer(tmp_path)
    context = browser.new_context(color_scheme="dark", viewport={"width": 390, "height": 800})
    said = []
    context.on("console", lambda message: said.append(message.text) if message.type in ("error", "warning") else None)
    context.on("weberror", lambda error: said.append(str(error.error)))
    yield tmp_path, server, context
    context.close()
    server.stop()
    assert not said


def opened(context, address):
    page = context.new_page()
    page.goto(address)
    page.wait_for_selector("body[data-ready]", timeout=90_000)
    return page


def test_an_exported_page_answers_under_a_sub_path_and_without_a_network(served):
    folder, server, context = served
    wherry.seed(0)
    net = wherry.vision.models.LeNet()
    example = np.random.default_rng(0).standard_normal((1, 1, 28, 28)).astype("float32")
    spec = [wherry.static.InputSpec([None, 1, 28, 28], "float32", "image")]
    labels = [f"digit {i}" for i in range(10)]
    wherry.export.web(net, folder / "some" / "where", input_spec=spec, title='Digits & "more"', labels=labels, example=[example])
    net.eval()
    best = labels[int(net(wherry.to_tensor(example)).numpy().argmax())]

    address = f"{server.address}/some/where/"
    page = opened(context, address)
    assert page.inner_text("#said") == best and page.title() == 'Digits & "more"'
    page.focus("canvas")
    page.keyboard.press("Shift+ArrowDown")  # draws
    page.wait_for_selector("body[data-state=settled]")
    assert page.locator("meter").count() == 10 and page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.evaluate("navigator.serviceWorker.ready")
    until(page, "caches.keys().then((names) => names.length === 1)")
    page.close()
    server.stop()
    page = opened(context, address)
    assert page.inner_text("#said") == best
    page.close()


def test_any_file_server_gives_threads_from_the_second_visit_on(served):
    folder, server, context = served
    wherry.seed(0)
    example = np.random.default_rng(0).standard_normal((3, 1, 28, 28)).astype("float32")
    spec = [wherry.static.InputSpec([None, 1, 28, 28], "float32", "image")]
    wherry.export.web(wherry.vision.models.LeNet(), folder / "some" / "where", input_spec=spec, example=[example])
    (folder / "some" / "where" / "mine.html").write_text('<!doctype html><title>mine</title><link rel="icon" href="data:,">')

    def facts(page):
        threads = page.inner_text("css=#facts dt:text-is('Threads') + dd", timeout=10_000) if page.click("summary") is None else ""
        return page.evaluate("crossOriginIsolated"), int(threads), page.inner_text("#answers")

    address = f"{server.address}/some/where/"
    page = opened(context, address)
    isolated, threads, answer = facts(page)
    assert (isolated, threads) == (False, 1)
    page.evaluate("navigator.serviceWorker.ready")
    until(page, "Boolean(navigator.serviceWorker.controller)")
    page.goto(f"{address}mine.html")  # beside the bundle, but not of it
    assert page.evaluate("crossOriginIsolated") is False
    page.close()
    for stopped in (False, True):
        page = opened(context, address)
        assert facts(page) == (True, page.evaluate("Math.min(4, navigator.hardwareConcurrency)"), answer)
        page.close()
        if not stopped:
            server.stop()


def test_threads_are_those_that_a_page_asks_for(served):
    folder, server, context = served
    net = wherry.vision.models.LeNet()
    wherry.export.web(net, folder / "site", input_spec=[wherry.static.InputSpec([None, 1, 28, 28], "float32", "image")])
    headers = {"Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Embedder-Policy": "require-corp"}
    server.server.RequestHandlerClass.func.end_headers = with_headers(headers)
    page = opened(context, f"{server.address}/site/")  # the first visit: the server itself says that the page is isolated
    assert page.evaluate("crossOriginIsolated")
    found = page.evaluate("""async () => {
      const { load } = await import("/site/wherry.js");
      const image = { data: Float32Array.from({ length: 3 * 784 }, (_, i) => Math.sin(i)), shape: [3, 1, 28, 28] };
      const answers = [];
      for (const [threads, worker] of [[1, true], [1, false], [2, true], [3, false], [4, true]]) {
        const model = await load("/site/", { threads, worker });
        for (let i = 0; i < 5; i++) answers.push([model.threads - threads, Array.from(Object.values(await model.predict(image))[0].data).join()]);
        model.close();
      }
      return answers;
    }""")
    assert {extra for extra, _ in found} == {0} and len({answer for _, answer in found}) == 1
    page.close()


def with_headers(headers):
    def end_headers(self):
        for name, value in headers.items():
            self.send_header(name, value)
        http.server.SimpleHTTPRequestHandler.end_headers(self)

    return end_headers


def test_a_model_of_numbers_has_a_form_and_explains_what_is_wrong(served):
    folder, server, context = served
    net = wherry.nn.Linear(4, 3)
    wherry.export.web(net, folder / "site", input_spec=[wherry.static.InputSpec([None, 4], "float32", "x")])
    page = opened(context, f"{server.address}/site/")
    page.fill("textarea", "1 2 3 4")
    page.click("#run")
    page.wait_for_selector("meter")
    page.fill("textarea", "1 2 3")
    page.click("#run")
    page.wait_for_selector("#status[data-kind=error]")
    assert "Got 3 numbers" in page.inner_text("#status") and page.get_attribute("#status", "role") == "alert"
    page.close()


def test_the_example_of_the_npm_package_is_a_page_that_answers(served):
    sys.path.append(str(ROOT / "tools"))
    from npm import layout

    folder, server, context = served
    layout(folder / "wherry")
    assert len((folder / "wherry" / "example.html").read_text().splitlines()) <= 15
    wherry.export.web(
        wherry.vision.models.LeNet(), folder / "wherry" / "lenet", input_spec=[wherry.static.InputSpec([None, 1, 28, 28], "float32", "image")]
    )
    (folder / "favicon.ico").write_bytes(b"")
    page = context.new_page()
    page.goto(f"{server.address}/wherry/example.html")
    page.wait_for_function("document.getElementById('answer').textContent.startsWith('Class ')", timeout=60_000)
    assert page.inner_text("#answer").endswith("of 10")
    page.close()


def softmax_of(net, example):
    net.eval()
    return wherry.nn.functional.softmax(net(wherry.to_tensor(example)), axis=-1).numpy()[0]


def shares_of(page, labels):
    """What the bars show, in the order of the labels."""
    shown = page.evaluate("Object.fromEntries(Array.from(document.querySelectorAll('meter'), (one) => [one.getAttribute('aria-label'), one.value]))")
    return np.array([shown[label] for label in labels])


@pytest.fixture
def alone(tmp_path, browser):
    """Opens a file of a disk without a network; at the end nothing was logged, and nothing asked for but the file and its worker."""
    context = browser.new_context()
    said, asked = [], []
    context.on("console", lambda message: said.append(message.text))
    context.on("weberror", lambda error: said.append(str(error.error)))
    context.on("request", lambda request: asked.append(request.url))

    def open_file(path):
        context.set_offline(True)
        return opened(context, path.as_uri())

    yield open_file
    context.close()
    assert not said
    assert [address.partition(":")[0] for address in asked] == ["file", "blob"]


@pytest.mark.parametrize("options", [{}, {"precision": "int8"}], ids=["float32", "int8"])
def test_one_file_answers_from_a_disk_and_asks_for_nothing(tmp_path, alone, options):
    wherry.seed(0)
    net = wherry.vision.models.LeNet()
    example = np.random.default_rng(0).standard_normal((1, 1, 28, 28)).astype("float32")
    spec = [wherry.static.InputSpec([None, 1, 28, 28], "float32", "image")]
    labels = [f"digit {i}" for i in range(10)]
    made = wherry.export.web(net, tmp_path / "one # two.html", input_spec=spec, labels=labels, example=[example], single_file=True, **options)
    wanted = softmax_of(net, example)
    page = alone(made.folder)
    assert page.inner_text("#said") == labels[int(wanted.argmax())]
    assert np.abs(shares_of(page, labels) - wanted).max() <= (1e-5 if not options else 2e-2) * wanted.max()
    assert page.evaluate("document.getElementById('facts').textContent").endswith("Threads1") and page.is_hidden("#single")
    page.focus("canvas")
    page.keyboard.press("Shift+ArrowDown")  # draws
    page.wait_for_selector("body[data-state=settled]")
    assert page.get_attribute("#status", "data-kind") == ""


def test_a_damaged_file_says_so(tmp_path, browser):
    spec = [wherry.static.InputSpec([None, 4], "float32", "x")]
    path = wherry.export.web(wherry.nn.Linear(4, 3), tmp_path / "one.html", input_spec=spec, single_file=True).folder
    before, mark, behind = path.read_text(encoding="utf-8").partition('data-file="data/weights-0.')
    at = behind.index(">") + 1
    path.write_text(before + mark + behind[:at] + ("A" if behind[at] != "A" else "B") + behind[at + 1 :], encoding="utf-8")
    page = browser.new_page()
    page.goto(path.as_uri())
    page.wait_for_selector("#status[data-kind=error]")
    assert "is not what the manifest says. Got another content" in page.inner_text("#status")
    page.close()


def test_the_page_makes_the_file_that_python_writes(served):
    folder, server, context = served
    wherry.seed(0)
    net = wherry.vision.models.LeNet()
    example = np.random.default_rng(0).standard_normal((1, 1, 28, 28)).astype("float32")
    told = {"input_spec": [wherry.static.InputSpec([None, 1, 28, 28], "float32", "image")], "title": "Ziffern, größer", "example": [example]}
    site = wherry.export.web(net, folder / "site", **told)
    page = opened(context, f"{server.address}/site/")
    page.click("summary")
    with page.expect_download() as download:
        page.click("#single")
    assert download.value.suggested_filename == "Ziffern-größer.html"
    one = Path(download.value.path()).read_bytes()
    assert one == filled({name: (folder / "site" / name).read_bytes() for name in site.files})
    (folder / "one.html").write_bytes(one)
    answer = page.inner_text("#answers")
    page.close()
    page = opened(context, f"{server.address}/one.html")  # a server may send it, too
    assert page.inner_text("#answers") == answer and not page.evaluate("navigator.serviceWorker.controller")
    page.close()
