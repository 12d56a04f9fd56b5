"""The page Playground in Chromium: programs run, say where they are wrong, draw, stop, and travel in links."""
from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from conftest import LIBCST, NUMPY, PYODIDE, READY, ROOT, WHEELS, until  # noqa: E402

MENU = json.loads((ROOT / "web" / "src" / "wherry_web" / "static" / "data" / "examples.json").read_text())
STARTED_AGAIN = "!document.getElementById('run').disabled && document.getElementById('status').textContent.includes('names of earlier runs are gone')"
IMAGES = os.environ.get("WHERRY_IMAGES")


def write(page, program: str) -> None:
    page.click(".cm-content")
    page.keyboard.press("Control+a")
    page.keyboard.insert_text(program)


def ran(page) -> str:
    """Wait for the end of a run; how it ended."""
    until(page, "document.body.dataset.ran !== undefined && document.getElementById('stop').disabled")
    return page.evaluate("document.body.dataset.ran").split()[1]


def start(page, program: str | None = None) -> None:
    page.evaluate("delete document.body.dataset.ran")
    if program is not None:
        write(page, program)
        page.keyboard.press("Control+Enter")
    else:
        page.click("#run")


def run(page, program: str | None = None) -> str:
    start(page, program)
    return ran(page)


def output(page) -> str:
    return page.inner_text("#output")


def status(page) -> str:
    return page.inner_text("#status")


def program_of(page) -> str:
    return page.evaluate("document.getElementById('editor').shadowRoot.querySelector('.cm-content').innerText")


def test_programs_run_and_names_stay(visit):
    page = visit().open("/playground")
    assert run(page, "import wherry as paddle\nx = paddle.ones([2, 3])\nprint('made')\nx.shape") == "done"
    assert output(page).split() == ["made", "Value", "[2,", "3]"]
    assert run(page, "import paddle\npaddle.sum(x).item()") == "done"
    assert output(page).split() == ["Value", "6.0"]
    assert run(page, "help(paddle.nn.ReLU)") == "done" and "Help on class ReLU" in output(page)
    assert run(page, "import sys\nprint('wrong', file=sys.stderr)\nfor i in range(3): print(i, end='\\r')") == "done"
    assert page.inner_text("#output .stderr") == "wrong\n" and page.inner_text("#output .stdout") == "2"
    page.click("#restart")
    until(page, "document.getElementById('status').textContent.includes('started again')")
    assert run(page, "x") == "failed"


COMPILED = "import wherry\nopen(wherry.__spec__.cached, 'rb').read()[4]"  # 0: compiled here, and compared with its source; 1: taken unseen


def test_the_next_visit_takes_what_was_compiled(visit):
    one = visit()
    for found in "0", "1":
        page = one.open("/playground")
        assert run(page, COMPILED) == "done" and output(page).split() == ["Value", found]
    (kept,) = page.evaluate("caches.open('compiled').then(async (cache) => (await cache.keys()).map((request) => request.url))")
    assert "/playground.zip?compiled-by=" in kept
    assert run(page, "import wherry\nwherry.ones([2, 3]) @ wherry.ones([2, 3])") == "failed"
    assert "matmul" in output(page) and "<run 2>" in output(page)


def test_a_first_run_sends_at_most_8_megabytes(browser, site):
    """Of everything that the page asks for until the first example has run, as it goes over the wire."""
    from wherry_web import Config, create_app

    app = create_app(Config(pyodide=PYODIDE, wheels=WHEELS))
    core, content = app.extensions["pyodide"], app.extensions["playground"]
    content.manifest()
    for encoded in (*map(core.encoded, core.names), *content.encoded.values()):
        encoded.compress()  # kept beside the wheels: as every visitor but the first finds it
    context = browser.new_context(service_workers="block")  # it goes on behind, for visits without a network
    page = context.new_page()
    page.set_default_timeout(READY)
    sent = {}
    page.on("response", lambda response: sent.__setitem__(response.url, int(response.headers.get("content-length", 0))))
    page.goto(f"{site}/playground")
    page.wait_for_selector("body[data-ready]")
    assert run(page) == "done"
    context.close()
    names = {url.rpartition("/")[2]: size for url, size in sent.items()}
    print(f"{sum(names.values()) / 1e6:.2f} MB: {names}")
    assert names["playground.zip"] and names["pyodide.asm.wasm"] and "sources.zip" not in names
    assert sum(names.values()) <= 8e6


def test_output_comes_while_the_program_runs(visit):
    page = visit().open("/playground")
    start(page, "import time\nprint('first')\ntime.sleep(3)\nprint('second')")
    until(page, "document.getElementById('output').textContent.includes('first')")
    assert "second" not in output(page) and page.is_disabled("#run")
    assert ran(page) == "done" and "second" in output(page)


def test_endless_output_is_cut_and_counted(visit):
    page = visit().open("/playground")
    assert run(page, "for i in range(30000): print('line', i)") == "done"
    assert re.search(r"… 24,\d\d\d lines \([\d,]+ characters\) left out …", output(page)) and output(page).rstrip().endswith("line 29999")
    assert page.evaluate("document.querySelectorAll('#output *').length") < 100


def test_an_error_marks_its_line_and_the_traceback_is_short(visit):
    page = visit().open("/playground")
    assert run(page, "import wherry as paddle\n\nx = paddle.ones([2, 3])\ny = paddle.matmul(x, x)\nprint(y)") == "failed"
    assert status(page).startswith("Line 4: InvalidArgumentError: (InvalidArgument) matmul: ") and page.get_attribute("#status", "role") == "alert"
    assert page.inner_text(".cm-wrong") == "paddle.matmul(x, x)"
    assert page.inner_text(".cm-wrong-number") == "4"
    assert "wherry_tensor/" not in output(page) and "left out" in output(page)
    page.click("text=Go to line 4")
    page.keyboard.type("#")
    assert page.locator(".cm-wrong, .cm-wrong-line").count() == 0  # it is another program now
    assert "y = #paddle.matmul" in program_of(page)
    assert run(page, "a = 1\nif a:\nb = 2") == "failed"
    assert page.inner_text(".cm-wrong-number") == "3" and "IndentationError" in status(page)


def test_plots_and_pictures_have_descriptions(visit):
    page = visit().open("/playground")
    program = """import wherry as paddle
from wherry_web.playground import plot, show
for i in range(1, 50):
    plot(list(range(i)), title=f"to {i}", name="growing")
plot({"a": [1.0, 2.0], "b": [3.0, 0.5]}, title="Two", log=True)
show(paddle.eye(4), title="Identity")
show(paddle.rand([5, 3, 8, 8]))
"""
    assert run(page, program) == "done"
    assert page.locator("figure").count() == 4
    labels = page.locator("#output [role=img]").evaluate_all("all => all.map((one) => one.getAttribute('aria-label'))")
    assert labels[0] == "Lines, to 49. 49 points, from 0 to 48, the last 48."
    assert labels[1] == "Lines, Two. a: 2 points, from 1 to 2, the last 2. b: 2 points, from 0.5 to 3, the last 0.5."
    assert labels[2] == "Identity: 1 picture of 4 by 4, values from 0 to 1" and labels[3].startswith("5 pictures of 8 by 8")
    pixels = page.evaluate("Array.from(document.querySelectorAll('.pictures canvas')[0].getContext('2d').getImageData(0, 0, 2, 2).data)")
    assert pixels == [255, 255, 255, 255, 0, 0, 0, 255, 0, 0, 0, 255, 255, 255, 255, 255]


def test_a_program_reaches_neither_the_site_nor_what_browsers_keep_for_it(visit):
    page = visit().open("/playground")
    names = ["fetch", "XMLHttpRequest", "WebSocket", "EventSource", "caches", "indexedDB", "importScripts", "Worker", "BroadcastChannel", "navigator"]
    assert run(page, f"import js\n[name for name in {names} if hasattr(js, name) or hasattr(js.self, name)]") == "done"
    assert output(page).split() == ["Value", "[]"]
    assert run(page, "from pyodide.code import run_js\nrun_js('1 + 1')") == "failed" and "unsafe-eval" in output(page)


def test_stop_interrupts_and_names_stay(visit):
    page = visit().open("/playground")
    assert page.evaluate("crossOriginIsolated")
    start(page, "n = 0\nwhile True:\n    n += 1")
    page.wait_for_timeout(500)
    page.click("#stop")
    assert ran(page) == "interrupted"
    assert re.match(r"Stopped at line [23] after .*Names keep their values", status(page))
    assert run(page, "n > 0") == "done" and "True" in output(page)


def test_a_program_that_ignores_stop_is_ended_with_a_second_press(visit):
    page = visit().open("/playground")
    start(page, "while True:\n    try:\n        while True: pass\n    except KeyboardInterrupt: pass")
    page.wait_for_timeout(500)
    page.click("#stop")
    until(page, "document.getElementById('stop').textContent === 'Stop and lose names'")
    page.click("#stop")
    until(page, STARTED_AGAIN)
    assert run(page, "1 + 1") == "done"


def test_tab_indents_and_leaves_after_escape(visit):
    page = visit().open("/playground")
    write(page, "x")
    page.keyboard.press("Home")
    page.keyboard.press("Tab")
    assert program_of(page) == "    x" and page.evaluate("document.activeElement.id") == "editor"
    page.keyboard.press("Escape")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.id") == "output" and program_of(page) == "    x"
    page.keyboard.press("Shift+Tab")
    page.keyboard.type("y")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.id") == "editor"


def test_a_program_travels_in_a_link_and_does_not_run_by_itself(visit):
    program = "# é 😀\nprint('from the link')"
    one = visit()
    one.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page = one.open("/playground")
    write(page, program)
    page.click("#share")
    until(page, "document.getElementById('status').textContent.includes('clipboard')")
    link = page.evaluate("navigator.clipboard.readText()")
    assert link == page.url and "#code=" in link
    other = visit(site="")
    page = other.open(link)
    assert program_of(page) == program and page.is_visible("#linked")
    page.wait_for_timeout(500)
    assert output(page) == "" and page.evaluate("document.body.dataset.ran") is None
    assert page.evaluate("localStorage.length") == 0  # a link is not a draft
    assert run(page) == "done" and "from the link" in output(page)


LONG = "https://x".join(str(i * 7919) for i in range(30_000))
BOMB = """(async () => {
  const stream = new Blob([new Uint8Array(50e6).fill(97)]).stream().pipeThrough(new CompressionStream("deflate-raw"));
  const packed = new Uint8Array(await new Response(stream).arrayBuffer());
  let text = "";
  for (const byte of packed) text += String.fromCharCode(byte);
  return btoa(text).replace(/\\+/g, "-").replace(/\\//g, "_").replace(/=+$/, "");
})()"""


def test_damaged_links_are_explained_and_change_nothing(visit):
    page = visit().open("/playground")
    before = program_of(page)
    bomb = page.evaluate(BOMB)
    wrong = {
        "code=abc": "not compressed", "code=%00": "characters that do not belong", "code=": "characters that do not belong",
        f"code={'A' * 40_000}": "at most 32000", "code=KyjKzCvRUM84": "not compressed", f"code={bomb[:30_000]}": "more than",
        "example=none": "no example of the name none",
    }
    for fragment, says in wrong.items():
        page.evaluate(f"location.hash = {json.dumps(fragment)}")
        until(page, f"document.getElementById('status').textContent.includes({json.dumps(says)})")
        assert program_of(page) == before and page.get_attribute("#status", "role") == "alert"


def test_a_program_that_is_too_long_for_a_link_is_refused(visit):
    page = visit().open("/playground")
    write(page, "# " + LONG[:110_000])
    page.click("#share")
    until(page, "document.getElementById('status').textContent.includes('too long for a link')")


def test_the_draft_stays_and_a_link_does_not_destroy_it(visit):
    page = visit().open("/playground")
    write(page, "mine = 1")
    page.evaluate("location.hash = 'example=look_inside'")
    until(page, "document.getElementById('editor').shadowRoot.querySelector('.cm-content').innerText.includes('What a convolution sees')")
    write(page, "changed = 2")
    page.reload()
    page.wait_for_selector("body[data-ready]")
    assert program_of(page) == "changed = 2"
    page.select_option("#examples", label="Your earlier draft")
    until(page, "document.getElementById('editor').shadowRoot.querySelector('.cm-content').innerText === 'mine = 1'")


needs_numpy = pytest.mark.skipif(NUMPY is None, reason="no NumPy for Pyodide: make wasm builds it")


def choose(page, example) -> None:
    page.select_option("#examples", example["name"])
    first = json.dumps(example["code"].splitlines()[0])
    until(page, f"document.getElementById('editor').shadowRoot.querySelector('.cm-line').textContent === {first}")
    if "quick" in example:
        page.click(".cm-content")
        page.keyboard.press("Control+Home")
        page.keyboard.insert_text(f"import sys; sys.argv[1:] = [{example['quick']!r}]\n")


def run_all(page, examples) -> None:
    for example in examples:
        choose(page, example)
        ended = run(page)
        assert ended == ("left" if "quick" in example else "done"), f"{example['name']}: {output(page)}"
        assert ended == "done" or "exit:" not in output(page), f"{example['name']}: {output(page)}"


EXAMPLES = [example for group in MENU["groups"] for example in group["examples"]]


@needs_numpy
def test_every_example_runs_and_numpy_comes_when_it_is_imported(visit, serve):
    page = visit(site=serve(NUMPY)[0]).open("/playground")
    run_all(page, [example for example in EXAMPLES if not example["numpy"]])
    assert run(page, "import sys\n'numpy' in sys.modules") == "done" and "False" in output(page)
    run_all(page, [example for example in EXAMPLES if example["numpy"]])


@needs_numpy
def test_numpy_is_there_without_a_network_too(visit, serve):
    address, server = serve(NUMPY)
    one = visit(site=address)
    page = one.open("/playground")
    numpy = page.evaluate("fetch('manifest.json').then((answer) => answer.json())")["playground"]["packages"]["numpy"]
    until(page, f"caches.match('{numpy}').then(Boolean)")
    server.kill()
    server.wait()
    page = one.open("/playground")
    assert run(page, "import numpy\nimport wherry\nwherry.ones([2]).numpy() + 1") == "done" and "array([2., 2.]" in output(page)
    assert all("ERR_" in problem for problem in one.problems)
    one.problems.clear()


@pytest.mark.skipif(LIBCST is None, reason="no LibCST for Pyodide: make wasm makes it")
def test_programs_are_rewritten_in_the_tab(visit, serve):
    page = visit(site=serve(LIBCST)[0]).open("/playground")
    before = "import paddle.fluid as fluid\\ny = fluid.layers.reduce_mean(x, dim=1)\\n"
    assert run(page, f"from wherry_migrate import from_torch, upgrade\nprint(upgrade('{before}').after)") == "done"
    assert "y = paddle.mean(x, axis=1)" in output(page)
    assert run(page, "print(from_torch('import torch\\nz = torch.cat([x, y], dim=0)\\n').after)") == "done"
    assert "z = paddle.concat([x, y], axis=0)" in output(page)


def test_a_server_without_numpy_says_so(visit, serve):
    page = visit(site=serve()[0]).open("/playground")
    for name in ("numpy", "wherry_migrate"):
        assert run(page, f"import {name}") == "failed"
        assert "Who runs it puts its wheel for Pyodide" in output(page)
    assert page.evaluate("document.querySelector('#examples option[value=README]').disabled")
    run_all(page, [example for example in EXAMPLES if example["name"] == "first_steps"])


def test_on_a_plain_file_server_stop_starts_python_again(visit, tmp_path):
    from wherry_web import Config, create_app
    from wherry_web.freeze import freeze

    freeze(create_app(Config(pyodide=PYODIDE, wheels=WHEELS)), tmp_path / "some" / "where")
    server = subprocess.Popen(
        [sys.executable, "-u", "-m", "http.server", "0", "--bind", "127.0.0.1", "--directory", tmp_path],
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
    )
    try:
        port = re.search(r"port (\d+)", server.stdout.readline())[1]
        page = visit(site=f"http://127.0.0.1:{port}/some/where").open("/playground")
        assert not page.evaluate("crossOriginIsolated")
        assert run(page, "kept = 1\nkept") == "done"
        start(page, "while True: pass")
        until(page, "!document.getElementById('stop').disabled")
        assert page.inner_text("#stop") == "Stop and lose names"
        page.click("#stop")
        until(page, STARTED_AGAIN)
        assert run(page, "kept") == "failed"
    finally:
        server.kill()
        server.communicate()


def test_pictures_of_the_playground(visit, tmp_path):
    folder = Path(IMAGES or tmp_path)
    example = next(example for example in EXAMPLES if example["name"] == "train_digits")
    for scheme in ("light", "dark"):
        page = visit(color_scheme=scheme, viewport={"width": 1200, "height": 900}).open("/playground")
        choose(page, example)
        assert run(page) == "done"
        page.screenshot(path=folder / f"playground-{scheme}.png")
