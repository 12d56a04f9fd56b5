"""Files of all formats that Wherry reads, as the page Your model opens them: what they hold, and a program where there is one.

Paddle's programs are read with what every page has. Others need NumPy, and parts of Wherry that pages do not load (`wherry_web.files.Playground`
has both); the worker brings them before it calls `opened`.
"""
from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from typing import Any

from wherry_web.client.model import Model, explained, of_paddle
from wherry_web.client.page import bytes_of

MOST_LISTED = 1000  # parameters, and types of operators
PADDLE = (".pdmodel", ".json")
PROGRAMS = (".onnx", ".pt2")
WEIGHTS = (".pdparams", ".pdopt", ".pth", ".pt", ".safetensors", ".npz", ".gguf")


def _ending(name: str) -> str:
    return ".pdmodel" if name == "__model__" else os.path.splitext(name)[1].lower()


def needs_more(name: str) -> bool:
    """Whether a file of this name takes NumPy and the parts of Wherry that pages do not load."""
    return _ending(name) not in PADDLE


class Opened:
    """Files that were opened.

    Attributes:
        found: what the file holds, as `python -m wherry inspect` says it.
        model: its program, if it is one that can be made.
        why: what is in the way of a program; None where there is one.
    """

    def __init__(self, found: dict[str, Any], model: Model | None, why: str | None) -> None:
        self.found, self.model, self.why = found, model, why

    @explained
    def about(self) -> dict[str, Any]:
        """What the page shows: of the program, if there is one, and of the file."""
        found, totals = self.found, self.found["totals"]
        held = {
            "format": found["format"], "operators": list(found["operators"].items())[:MOST_LISTED], "unsupported": found["unsupported"][:MOST_LISTED],
            "parameters": sorted(found["parameters"], key=lambda each: -_count(each["shape"]))[:MOST_LISTED],
            "tensors": totals["tensors"], "dtypes": totals["dtypes"],
        }
        if self.model is not None:
            return {**self.model.about(), "held": held, "why": None}
        return {
            "ops": sum(found["operators"].values()), "lacksParams": False, "parameters": totals["elements"], "weightBytes": totals["bytes"],
            "inputs": [_port(x) for x in found["inputs"]], "outputs": [_port(x) for x in found["outputs"]], "nodes": [], "text": "",
            "held": held, "why": self.why,
        }

    def picture(self, title: str) -> str:
        """As `Model.picture`."""
        return self._program().picture(title)

    def run(self, values: Any, fused: bool) -> dict[str, Any]:
        """As `Model.run`."""
        return self._program().run(values, fused)

    def _program(self) -> Model:
        if self.model is None:
            raise ValueError(self.why or "The file holds no program.")
        return self.model


def _count(shape: list[Any] | None) -> int:
    count = 1
    for n in shape or ():
        count *= n if isinstance(n, int) and n > 0 else 1
    return count


def _port(x: Mapping[str, Any]) -> dict[str, Any]:
    shape = [n if isinstance(n, int) else -1 for n in x["shape"] or ()]
    return {"name": x["name"], "dtype": x["dtype"] or "unknown", "shape": shape, "below": None}


@explained
def opened(name: str, files: Any) -> Opened:
    """Open a model or weights.

    Args:
        name: of the file to open.
        files: the contents of it and of what lies beside it, by name: parameters (`.pdiparams`), weights that an ONNX model keeps in other files.

    Raises:
        ValueError: a file is damaged, or of a format that is not read.
    """
    contents = {os.path.basename(each): content for each, content in files.items()}
    name = os.path.basename(name)
    of_page = not needs_more(name)
    model = None
    if of_page:
        model = of_paddle(contents[name], next((x for each, x in contents.items() if each.endswith(".pdiparams") or each == "__params__"), None))
    with tempfile.TemporaryDirectory() as folder:  # of the tab's memory, on a page
        for each, content in contents.items():
            if each == name or not of_page:
                with open(os.path.join(folder, each), "wb") as file:
                    file.write(bytes_of(content))
        return _at(os.path.join(folder, name), model)


def _at(path: str, model: Model | None) -> Opened:
    from wherry._inspect import inspected, program_of

    found = inspected(path)
    if model is not None:
        return Opened(found, model, None)
    if _ending(path) not in PROGRAMS:
        return Opened(found, None, "The file holds weights, without a program that could be drawn and run.")
    try:
        return Opened(found, Model(program_of(path)), None)
    except (ValueError, NotImplementedError) as error:
        # What it holds is worth a look all the same.
        return Opened(found, None, " ".join(str(error).split()))
