"""Where the server finds what it serves."""
from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

MEBIBYTE = 1 << 20


@dataclass(frozen=True)
class Config:
    """The folders and limits of one server.

    Args:
        models: a folder with a folder per saved model (see `save_model`); None serves none.
        pyodide: the npm package `pyodide`, unpacked; None serves pages that say that it is missing.
        wheels: a folder with wheels for Pyodide.
        max_request: bytes of a request's body; larger ones are refused with status 413.
        max_batch: examples in one prediction.

    Raises:
        ValueError: a folder does not exist or lacks what belongs in it.
    """

    models: Path | None = None
    pyodide: Path | None = None
    wheels: Path | None = None
    max_request: int = field(default=4 * MEBIBYTE)
    max_batch: int = 1024

    def __post_init__(self) -> None:
        for name, needed in (("models", None), ("pyodide", "pyodide.mjs"), ("wheels", None)):
            folder = getattr(self, name)
            if folder is None:
                continue
            object.__setattr__(self, name, Path(folder).resolve())
            wanted = getattr(self, name) / needed if needed else getattr(self, name)
            if not wanted.exists():
                raise ValueError(
                    f"{name}: {wanted} does not exist. Got {folder}, expected a folder"
                    f"{f' that holds {needed}' if needed else ''}. `make wasm` makes what the browser needs, "
                    f"`make demo` trains a model."
                )
