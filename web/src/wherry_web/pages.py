"""The three pages."""
from __future__ import annotations

from flask import Blueprint, current_app, render_template

pages = Blueprint("pages", __name__)

TITLES = {"draw": "Draw a digit", "train": "Train in the tab", "browser": "This browser"}


def page(name: str, root: str = "./") -> str:
    """The text of a page.

    Args:
        name: a key of `TITLES`.
        root: the address of the site as seen from the page. All addresses are relative, so that the pages work
            under any prefix.
    """
    assets = current_app.extensions["assets"]
    return render_template(
        f"{name}.html", page=name, title=TITLES[name], root=root, static=assets.address,
        version=current_app.config["WHERRY_VERSION"],
    )


@pages.get("/")
def draw() -> str:
    return page("draw")


@pages.get("/train")
def train() -> str:
    return page("train")


@pages.get("/browser")
def browser() -> str:
    return page("browser")
