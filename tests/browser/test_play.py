"""The network to play with, in Chromium: it learns, shows what it learns, and its address and its program say all of it."""
from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from conftest import until  # noqa: E402

# Of the picture, in its order: which of the two colours of classes is nearer at shares of width and height.
CLASSES = """(places) => {
  const canvas = document.getElementById("plane");
  const context = new OffscreenCanvas(canvas.width, canvas.height).getContext("2d", { willReadFrequently: true });
  context.drawImage(canvas, 0, 0);
  return places.map(([x, y]) => {
    const [r, , b] = context.getImageData(x * canvas.width, y * canvas.height, 1, 1).data;
    return r > b ? 1 : 0;
  });
}"""
STEPS = "Number(document.getElementById('progress').dataset.steps)"
RIGHT = "Number(document.getElementById('progress').dataset.right)"


def learn(page, right: float) -> None:
    page.click("#run")
    until(page, f"{RIGHT} >= {right}")
    page.click("#run")


@pytest.mark.parametrize("fragment", ["", "#data=circles&layers=6&activation=ReLU", "#data=spirals&layers=8,8,8"])
def test_it_learns_and_shows_it(visit, fragment):
    page = visit().open("/play" + fragment)
    before = page.evaluate("document.getElementById('plane').toDataURL()")
    learn(page, 0.99)
    time_of_step, drawing = page.evaluate("['step', 'drawing'].map((name) => Number(document.getElementById('progress').dataset[name]))")
    assert 0 < time_of_step < 5 and drawing > 0  # milliseconds; how long a frame takes depends on what else the machine does
    assert page.evaluate("document.getElementById('plane').toDataURL()") != before
    neurons = page.locator(".neurons canvas")
    pictures = {neurons.nth(i).evaluate("(canvas) => canvas.toDataURL()") for i in range(neurons.count())}
    assert len(pictures) > neurons.count() / 2
    if "circles" in fragment:
        assert page.evaluate(CLASSES, [[0.5, 0.52], [0.03, 0.03], [0.97, 0.03], [0.03, 0.97], [0.97, 0.97]]) == [0, 1, 1, 1, 1]


def test_a_step_pause_and_start_over(visit):
    page = visit().open("/play")
    page.click("#step")
    until(page, f"{STEPS} === 1")
    page.click("#step")
    until(page, f"{STEPS} === 2")
    page.click("#run")
    until(page, f"{STEPS} > 20")
    page.click("#run")
    assert page.get_attribute("#run", "aria-pressed") == "false"
    page.click("#reset")
    until(page, f"{STEPS} === 0")


def test_the_address_and_the_program_say_what_runs(visit):
    one = visit()
    page = one.open("/play")
    page.check("input[name=data][value=spirals]")
    page.select_option("select[name=activation]", "GELU")
    page.click("#more")
    page.click("[aria-label='One neuron less in layer 3']")
    assert page.evaluate("document.activeElement.getAttribute('aria-label')") == "One neuron less in layer 3"
    until(page, "document.getElementById('program').textContent.includes('nn.Linear(8, 7), nn.GELU()')")
    assert page.evaluate("location.hash") == "#data=spirals&activation=GELU&optimizer=Adam&rate=0.03&layers=8,8,7"
    program = page.evaluate("document.getElementById('program').textContent")
    again = one.context.new_page()
    again.goto(page.url)
    again.wait_for_selector("body[data-ready]")
    assert again.evaluate("document.getElementById('program').textContent") == program
    again.close()
    until(page, "document.getElementById('open').href.includes('code=')")
    page.click("#open")
    page.wait_for_selector("body[data-ready]")
    page.click("#run")
    page.wait_for_selector("body[data-ran]")
    assert "step 1000: loss" in page.inner_text("#output")


def test_own_points_by_mouse_and_by_keyboard(visit):
    page = visit().open("/play")
    page.check("input[name=data][value=own]")
    until(page, "document.getElementById('status').textContent.startsWith('Click on the picture')")
    assert page.is_disabled("#run")
    box = page.locator("#plane").bounding_box()
    for x, y in ((0.2, 0.2), (0.2, 0.8)):
        page.click("#plane", position={"x": box["width"] * x, "y": box["height"] * y})
    page.check("input[name=class][value='1']")
    page.focus("#plane")
    for _ in range(10):
        page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Enter")
    page.keyboard.press("Backspace")
    page.wait_for_selector("#run:enabled")
    assert page.evaluate("location.hash").endswith("points=-72,72,0,-72,-72,0,60,0,1")
    learn(page, 1)
    assert page.evaluate(CLASSES, [[0.1, 0.2], [0.1, 0.8], [0.9, 0.4]]) == [0, 0, 1]
    page.click("#clear")
    until(page, "document.getElementById('run').disabled")


@pytest.mark.parametrize("fragment", ["layers=99", "data=sheep", "points=1,2", "layers=1;alert(1)", "activation=__import__"])
def test_a_damaged_address_is_explained(visit, fragment):
    page = visit().open(f"/play#{fragment}")
    assert "The link does not hold a network" in page.inner_text("#status")
    page.wait_for_selector("#run:enabled")
