"""The page of models in Chromium: exported pages open, and people add programs."""
from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
import wherry
from conftest import until  # noqa: E402
from wherry_export.web import engine_files

SPEC = [wherry.static.InputSpec([None, 4], "float32", "x")]


@pytest.fixture
def serve(tmp_path):
    """Starts a server of a folder, with uploads; returns its address."""
    (tmp_path / "models").mkdir()
    processes = []

    def run(*options):
        arguments = ["--port", "0", "--models", tmp_path / "models", "--uploads", tmp_path / "uploads", *options]
        processes.append(subprocess.Popen(
            [sys.executable, "-m", "wherry", "serve", *arguments], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
        ))
        return processes[-1].stdout.readline().split()[3]

    yield run
    for process in processes:
        process.kill()
        process.communicate()


def test_an_uploaded_program_appears_on_the_page(tmp_path, serve, visit):
    net = wherry.nn.Linear(4, 3)
    wherry.jit.save(net, str(tmp_path / "net"), input_spec=SPEC)
    one = visit(site=serve())
    page = one.open("/gallery")
    assert "nothing here yet" in page.inner_text("#status")

    def send():
        page.set_input_files("input[name=model]", tmp_path / "net.pdmodel")
        page.set_input_files("input[name=params]", tmp_path / "net.pdiparams")
        page.fill("input[name=title]", "Mine <b>")
        page.fill("textarea", "a\nb\nc")
        page.keyboard.press("Tab")  # to the button
        page.keyboard.press("Enter")

    send()
    until(page, "document.getElementById('status').textContent === 'Mine <b> is here: api/models/net.'")
    assert page.inner_text("#models h3") == "Mine <b>" and "a, b, c" in page.inner_text("#models")
    send()
    page.wait_for_selector("#status[data-kind=error]")
    assert "already" in page.inner_text("#status")
    assert any("409" in problem for problem in one.problems)
    one.problems.clear()


@pytest.mark.skipif(engine_files.missing() is not None, reason=str(engine_files.missing()))
def test_an_exported_page_of_the_gallery_answers_under_the_servers_policy(tmp_path, serve, visit):
    wherry.export.web(wherry.nn.Linear(4, 3), tmp_path / "models" / "numbers", input_spec=SPEC, title="Numbers")
    page = visit(site=serve()).open("/gallery")
    page.click("text=Numbers")
    page.wait_for_selector("body[data-ready]")
    page.fill("textarea", "1 2 3 4")
    page.click("#run")
    page.wait_for_selector("meter")
