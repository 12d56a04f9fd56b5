"""Sphinx's configuration of the site: MyST, furo, everything local. tools/site/build.py runs it."""

import os
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE)]

import programs  # noqa: E402
from pygments.lexers import TextLexer  # noqa: E402
from pygments.lexers.python import PythonConsoleLexer, PythonLexer  # noqa: E402
from sphinx.writers.html5 import HTML5Translator  # noqa: E402

project = "Wherry"
author = "The Wherry developers"
copyright = "the Wherry developers. Apache License 2.0"  # noqa: A001  Sphinx asks for this name
release = version = os.environ.get("WHERRY_SITE_VERSION", "")
language = "en"
extensions = ["myst_parser", "sphinx.ext.intersphinx"]
# Names of others, from lists in the repository: a build asks nobody, and a page leads there but loads nothing from there.
intersphinx_mapping = {"python": ("https://docs.python.org/3", (str(HERE / "inventories" / "python.txt"),))}
source_suffix = {".md": "markdown"}
root_doc = "index"
myst_enable_extensions = ["deflist", "colon_fence"]
myst_heading_anchors = 3
myst_all_links_external = False
suppress_warnings = ["myst.header", "toc.not_included", "misc.highlighting_failure", "toc.not_readable"]
add_module_names = True
toc_object_entries = False
smartquotes = False  # a tenth of the time of a build
html_theme = "furo"
html_title = "Wherry"
html_static_path = [str(HERE / "static")]
html_favicon = str(HERE.parent.parent / "web" / "src" / "wherry_web" / "static" / "icon.svg")
html_css_files = ["site.css"]
html_copy_source = False
html_show_sourcelink = False
html_show_sphinx = False
html_permalinks = True
html_use_index = False
html_baseurl = ""
pygments_style = "a11y-high-contrast-light"
pygments_dark_style = "a11y-high-contrast-dark"
html_theme_options = {
    "source_edit_link": "",
    "top_of_page_buttons": [],
    "light_css_variables": {
        "color-brand-primary": "#0b6e75",
        "color-brand-content": "#0b6e75",
        "color-brand-visited": "#6a3d8f",
        "color-foreground-muted": "#586064",
        "color-foreground-secondary": "#4d5b60",
        "color-sidebar-search-text": "#4d5b60",
    },
    "dark_css_variables": {
        "color-brand-primary": "#5cc6cd",
        "color-brand-content": "#5cc6cd",
        "color-brand-visited": "#c9a4ec",
        "color-foreground-muted": "#a7b3b7",
    },
    "footer_icons": [],
}
html_js_files = [("runner.js", {"type": "module"})]


class Translator(HTML5Translator):
    """Code blocks carry the program that their Run button runs."""

    def starttag(self, node: Any, tagname: str, *arguments: Any, **options: Any) -> str:
        if tagname == "div" and "language" in getattr(node, "attributes", {}):
            code = node.astext()
            options |= programs.attributes(code, node["language"], self.builder.current_docname)
        return super().starttag(node, tagname, *arguments, **options)


def share_navigation(app: Any, page: str, _template: str, context: dict[str, Any], _doctree: Any) -> None:
    """Pages of a folder that the navigation does not name have the same one: two thousand of them ask for it once."""
    toctree, folder = context.get("toctree"), os.path.dirname(page)
    if toctree is None or any(page in named for named in app.env.toctree_includes.values()):
        return

    def kept(**options: Any) -> str:
        key = (folder, *sorted(options.items()))
        if key not in NAVIGATION:
            NAVIGATION[key] = toctree(**options)
        return NAVIGATION[key]

    context["toctree"] = kept


def as_imported(app: Any, env: Any) -> None:
    """In objects.inv each name stands with `wherry` too, for documents of others: they know nothing of `import wherry as paddle`."""
    names = env.domains.python_domain.objects
    for name, entry in list(names.items()):
        if name.startswith("paddle."):
            names[f"wherry.{name.removeprefix('paddle.')}"] = entry._replace(aliased=True)  # not in the search


NAVIGATION: dict[tuple[Any, ...], str] = {}


def setup(app: Any) -> dict[str, Any]:
    app.connect("env-updated", as_imported)
    app.connect("html-page-context", share_navigation, priority=400)  # before the theme asks
    app.set_translator("html", Translator, override=True)
    app.add_lexer("python", PythonLexer)
    app.add_lexer("pycon", PythonConsoleLexer)
    app.add_lexer("output", TextLexer)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
