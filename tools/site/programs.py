"""What the Run button of a code block runs: the block as a program for the page Playground, or why it has none.

A session (`>>>`) becomes a script that prints what the session shows, as in the Playground's menu (web/make_examples.py). Blocks of one
page share names, so a block runs after those above it.
"""

from __future__ import annotations

import functools
import json
import sys
from typing import Any

from sources import ROOT

sys.path[:0] = [str(ROOT / "web")]
import make_examples  # noqa: E402

WHOLE = ("guides/", "tutorials/")  # pages whose blocks without prompts are programs that tests run
# Pages of the API whose examples need what a tab has not.
NOT_IN_A_TAB = {
    "api/distributed.": "needs processes",
    "api/inference.": "reads files of a saved model",
    "api/hub.": "reads a repository",
    "api/onnx.": "needs the package onnx",
    "api/InferenceSession": "needs the package onnx",
    "docs/guides/tabular": "needs pandas, which neither npm nor PyPI has for browsers",
    "api/ort.": "needs the package onnx",
    "api/utils.cpp_extension": "needs a compiler",
    "api/io.get_worker_info": "needs processes",
    "api/reader.buffered": "needs threads",
    "api/reader.multiprocess_reader": "needs processes",
    "api/reader.xmap_readers": "needs threads",
    "api/export.web": "needs the engine for browsers",
    "api/vision.ops.decode_jpeg": "needs JPEG, which Pillow has not in a tab",
}


@functools.cache
def why_not(document: str) -> str:
    """Why blocks of a page do not run in a tab; empty where they do."""
    if document in NOT_HERE:
        return NOT_HERE[document]
    if document.startswith("packages/"):
        return "its page is about a package of its own"
    for start, reason in NOT_IN_A_TAB.items():
        if document.startswith(start):
            return reason
    return ""


# Documents that the Playground leaves out, with the reason; guides and tutorials say theirs themselves.
NOT_HERE: dict[str, str] = {place.removesuffix(".md"): reason for place, reason in make_examples.LEFT_OUT.items() if place.endswith(".md")}


def program(code: str, language: str, document: str) -> str | None:
    """The program of a block; None where it is a fragment that shows something and runs nowhere."""
    if ">>>" in code:
        return make_examples.program([("", code)])
    if language in ("python", "py") and document.removeprefix("docs/").startswith(WHOLE):
        return code
    return None


def attributes(code: str, language: str, document: str) -> dict[str, Any]:
    """Of the element around a block, for runner.js."""
    if language not in ("python", "py", "pycon", "default"):
        return {}
    text = program(code, language, document)
    if text is None:
        return {}
    reason = why_not(document)
    found = {"data-program": "" if text == code else json.dumps(text), "data-runs": "no" if reason else "yes"}
    if reason:
        found["data-reason"] = reason
    return found
