"""The error of an import when a required package is not installed."""
from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType

# packages: below
BELOW = (
    "wherry-tensor",
    "wherry-autograd",
    "wherry-ops-cpu",
    "wherry-distribution",
    "wherry-nn",
    "wherry-program",
    "wherry-sparse",
    "wherry-train",
    "wherry-audio",
    "wherry-distributed",
    "wherry-onnx-files",
    "wherry-paddle-files",
    "wherry-text",
    "wherry-vision",
    "wherry-extension",
    "wherry-graph",
    "wherry-quant",
    "wherry-export",
    "wherry-infer",
)
# packages: end


class Missing:
    """The last finder of `sys.meta_path`, which gets the modules that no other one has found."""

    @staticmethod
    def find_spec(name: str, path: Sequence[str] | None = None, target: ModuleType | None = None) -> ModuleSpec | None:
        project = name.replace("_", "-")
        if project not in BELOW:
            return None
        raise ModuleNotFoundError(
            f"wherry: a package is missing. Got no module {name}, expected {project} to be installed. "
            f"pip install {project}, or pip install --force-reinstall wherry, which brings all.",
            name=name,
        )


def speak() -> None:
    """Install this finder after all others."""
    if Missing not in sys.meta_path:
        sys.meta_path.append(Missing)
