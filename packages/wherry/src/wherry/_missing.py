"""What an import says when a package below is not installed."""
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
    "wherry-sparse",
    "wherry-train",
    "wherry-graph",
    "wherry-text",
    "wherry-vision",
    "wherry-export",
    "wherry-extension",
    "wherry-infer",
)
# packages: end


class Missing:
    """The last finder of `sys.meta_path`: only what no other one has found arrives here."""

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
    """Ask this finder when the others have found nothing."""
    if Missing not in sys.meta_path:
        sys.meta_path.append(Missing)
