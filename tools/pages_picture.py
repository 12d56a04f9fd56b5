"""Draws docs/images/pages.png: every page of the demo in one picture, as they are now. Needs Pillow and what tests/browser needs.

    python tools/pages_picture.py [--out docs/images/pages.png]
"""
from __future__ import annotations

import argparse
import base64
import html
import io
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from PIL import Image
from playwright.sync_api import Page, sync_playwright

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "browser"))

from conftest import CHROMIUM, PYODIDE, WHEELS, missing  # noqa: E402
from wherry_web import demo  # noqa: E402
from wherry_web.pages import TITLES  # noqa: E402

SIZE = {"width": 1100, "height": 800}
COLUMNS = 3
READY = 90_000  # ms
EXPORTED = "LeNet without Python"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=ROOT / "docs" / "images" / "pages.png")
    options = parser.parse_args()
    lack = missing()
    if lack:
        sys.exit(f"pages_picture: {lack}")
    with tempfile.TemporaryDirectory() as folder:
        models = Path(folder)
        network, accuracy = demo.trained(6, 0)
        saved = demo.save(models, network, accuracy)
        reading(models)
        print(demo.export(models, network, saved))
        server = subprocess.Popen(
            [sys.executable, "-m", "wherry", "serve", "--port", "0", "--models", models, "--pyodide", PYODIDE, "--wheels", WHEELS],
            stdout=subprocess.PIPE, text=True,
        )
        try:
            assert server.stdout is not None
            pictures = taken(server.stdout.readline().split()[3])
        finally:
            server.kill()
            server.communicate()
    compose(pictures, options.out)
    print(f"{options.out}: {len(pictures)} pages, {options.out.stat().st_size / 1e3:.0f} kB")
    return 0


def reading(models: Path) -> None:
    """What Read text answers with, from the weights in the repository, and Write along, copied from the demo's models where it is trained."""
    subprocess.run([sys.executable, ROOT / "examples" / "read_text" / "export.py", "--models", models], check=True)
    for path in (ROOT / "build" / "models").glob("*"):
        if path.name.startswith("write-page"):
            (shutil.copytree if path.is_dir() else shutil.copy)(path, models / path.name)


def taken(site: str) -> list[tuple[str, bytes]]:
    """Title and picture of each page."""
    addresses = [(title, name, "" if name == "draw" else name) for name, title in TITLES.items()]
    addresses.insert(len(addresses) - 1, (EXPORTED, "exported", f"bundles/{demo.PAGE}/"))
    found = []
    with sync_playwright() as playwright:
        camera = ["--use-fake-device-for-media-stream", "--use-fake-ui-for-media-stream"]
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", *camera])
        for title, name, address in addresses:
            context = chromium.new_context(viewport=SIZE)
            page = context.new_page()
            page.set_default_timeout(READY)
            page.goto(f"{site}/{address}")
            page.wait_for_selector("body[data-ready]")
            if name in IN_USE:
                IN_USE[name](page)
            found.append((title, page.screenshot()))
            context.close()
        chromium.close()
    return found


# What somebody does on a page before it looks as in use.

def drawn(page: Page) -> None:
    page.wait_for_selector("#sample:enabled")
    page.evaluate("document.getElementById('canvas').dataset.next = 1516")  # else one by chance
    page.click("#sample")
    page.wait_for_selector("#answer[data-state=settled]")


def trained(page: Page) -> None:
    page.click("#run")
    time.sleep(15)
    page.mouse.wheel(0, 250)
    time.sleep(0.5)


def played(page: Page) -> None:
    page.check("input[name=data][value=spirals]")
    page.click("#more")
    page.wait_for_selector("#run:enabled")
    page.click("#run")
    time.sleep(8)
    page.mouse.wheel(0, 180)
    time.sleep(0.5)


def measured(page: Page) -> None:
    page.wait_for_selector("body[data-measured]")


def opened(page: Page) -> None:
    import test_your_model as model

    model.example(page)
    model.run(page)
    page.wait_for_selector("#graph[data-view]")
    time.sleep(1)  # it scrolls to the answer
    page.evaluate("scrollTo({ top: document.getElementById('graph').getBoundingClientRect().top + scrollY - 200, behavior: 'instant' })")
    time.sleep(0.5)


def written(page: Page) -> None:
    import test_playground as playground

    playground.choose(page, next(one for one in playground.EXAMPLES if "plot" in one["code"] and one["name"] != "first_steps"))
    playground.run(page)


def taught(page: Page) -> None:
    import test_classifier as classifier

    classifier.prepared(page)
    classifier.train(page)
    page.evaluate("scrollTo(0, 260)")
    time.sleep(0.5)


def told(page: Page) -> None:
    page.click("#sample")
    page.wait_for_selector("#run:enabled")
    page.click("#run")
    page.wait_for_selector("#save:enabled")
    page.mouse.wheel(0, 450)
    time.sleep(0.5)


IN_USE = {
    "table": told, "draw": drawn, "train": trained, "play": played, "browser": measured, "model": opened, "playground": written, "classifier": taught,
}


def compose(pictures: list[tuple[str, bytes]], out: Path) -> None:
    """Lay the pictures out in a page of their own, and take one of that."""
    figures = "".join(
        f'<figure><img src="data:image/png;base64,{base64.b64encode(picture).decode()}"><figcaption>{html.escape(title)}</figcaption></figure>'
        for title, picture in pictures
    )
    style = (
        "body{margin:0;padding:16px;background:#fff;font:600 15px system-ui,sans-serif;color:#1d2528;display:grid;gap:16px;"
        f"grid-template-columns:repeat({COLUMNS},1fr)}}figure{{margin:0}}figcaption{{padding:6px 2px}}"
        "img{width:100%;display:block;border:1px solid #b9b5a8;border-radius:6px}"
    )
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        page = chromium.new_page(viewport={"width": 1500, "height": 400})
        page.set_content(f"<!DOCTYPE html><style>{style}</style>{figures}")
        page.wait_for_load_state("load")
        picture = Image.open(io.BytesIO(page.screenshot(full_page=True))).convert("RGB")
        picture.quantize(256).save(out, optimize=True)  # a third of the bytes
        chromium.close()


if __name__ == "__main__":
    sys.exit(main())
