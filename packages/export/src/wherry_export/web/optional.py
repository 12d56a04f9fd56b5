"""Packages that some exports need and others do without."""
from __future__ import annotations

import importlib
from typing import Any

__all__ = ["needed"]


def needed(module: str, what: str, got: str, instead: str = "") -> Any:
    """A module of a package that need not be installed.

    Args:
        module: its name.
        what: a clause for the error: what such a package does.
        got: what was asked for.
        instead: what would do without the package.

    Raises:
        ModuleNotFoundError: the package is not installed.
    """
    package = module.partition(".")[0]
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] != package:
            raise
        raise ModuleNotFoundError(
            f"web: {what} by a package of its own. Got {got} and no {package}, expected it{instead}. pip install {package.replace('_', '-')}",
            name=error.name,
        ) from error
