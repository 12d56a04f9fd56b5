"""The pages."""
from __future__ import annotations

from typing import Any

from flask import Blueprint, current_app, render_template

from wherry_export.web import engine_files
from wherry_web.gallery import Gallery

pages = Blueprint("pages", __name__)

TITLES = {
    "draw": "Draw a digit", "train": "Train in the tab", "play": "A network to play with",
    "read": "Read text", "write": "Write along", "table": "Tell a column", "classifier": "Image classifier by example",
    "model": "Your model", "playground": "Playground", "gallery": "Models", "browser": "This browser",
}


def page(name: str, root: str = "./", **content: Any) -> str:
    """The text of a page.

    Args:
        name: a key of `TITLES`.
        root: the address of the site as seen from the page. All addresses are relative, so that the pages work
            under any prefix.
        content: what the page's template shows.
    """
    assets = current_app.extensions["assets"]
    return render_template(
        f"{name}.html", page=name, title=TITLES[name], root=root, static=assets.address,
        version=current_app.config["WHERRY_VERSION"], **content,
    )


@pages.get("/")
def draw() -> str:
    return page("draw")


@pages.get("/train")
def train() -> str:
    return page("train")


@pages.get("/play")
def play() -> str:
    return page("play")


@pages.get("/read")
def read() -> str:
    return page("read")


@pages.get("/write")
def write() -> str:
    return page("write")


@pages.get("/table")
def table() -> str:
    return page("table")


@pages.get("/classifier")
def classifier() -> str:
    return page("classifier")


@pages.get("/model")
def model() -> str:
    return page("model")


@pages.get("/playground")
def playground() -> str:
    return page("playground")


@pages.get("/gallery")
def gallery() -> str:
    return gallery_page()


def gallery_page(root: str = "./", static_build: bool = False) -> str:
    """The list of models; as plain files without what a server answers."""
    shown: Gallery = current_app.extensions["gallery"]
    config = current_app.config["WHERRY"]
    return page(
        "gallery", root, models=shown.models(), bundles=shown.bundles(), static_build=static_build,
        lacks_engine=engine_files.missing() is not None, uploads=config.uploads is not None and not static_build,
        limit=config.max_upload, token=config.upload_token is not None,
    )


@pages.get("/browser")
def browser() -> str:
    return page("browser")
