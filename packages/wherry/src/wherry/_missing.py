"""What an import says when a package below is not installed."""
from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType

BELOW = ("wherry_tensor", "wherry_ops_cpu", "wherry_autograd", "wherry_nn", "wherry_train", "wherry_graph", "wherry_vision")


class Missing:
    """The last finder of `sys.meta_path`: only what no other one has found arrives here."""

    @staticmethod
    def find_spec(name: str, path: Sequence[str] | None = None, target: ModuleType | None = None) -> ModuleSpec | None:
        if name not in BELOW:
            return None
        project = name.replace("_", "-")
        raise ModuleNotFoundError(
            f"wherry: a package is missing. Got no module {name}, expected {project} to be installed. "
            f"pip install {project}, or pip install --force-reinstall wherry, which brings all.",
            name=name,
        )


def speak() -> None:
    """Ask this finder when the others have found nothing."""
    if Missing not in sys.meta_path:
        sys.meta_path.append(Missing)
