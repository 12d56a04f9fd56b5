"""Where the server finds what it serves."""
from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from wherry_web.isolated import Limits

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
        uploads: a folder for programs that people upload; made if needed. None: nobody can.
        upload_token: what uploads have to show besides coming from the server's own pages (`Authorization: Bearer ...`); None: nothing.
        max_upload: bytes of one upload.
        upload_quota: bytes of all of them.
        upload_limits: what an uploaded program may take of memory and time, each time that it is read or asked.

    Raises:
        ValueError: a folder does not exist or lacks what belongs in it.
    """

    models: Path | None = None
    pyodide: Path | None = None
    wheels: Path | None = None
    max_request: int = field(default=4 * MEBIBYTE)
    max_batch: int = 1024
    uploads: Path | None = None
    upload_token: str | None = field(default=None, repr=False)
    max_upload: int = 64 * MEBIBYTE
    upload_quota: int = 1024 * MEBIBYTE
    upload_limits: Limits = field(default=Limits(memory=2048 * MEBIBYTE, loading=20, answering=10))

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
        if self.uploads is not None:
            object.__setattr__(self, "uploads", Path(self.uploads).resolve())
            if self.uploads == self.models:
                raise ValueError(
                    f"uploads: {self.uploads} is the folder of the models. Got one folder for both, expected one that holds nothing but what "
                    f"people upload. Choose another."
                )
            try:
                self.uploads.mkdir(parents=True, exist_ok=True)
            except OSError as error:
                raise ValueError(f"uploads: {self.uploads} cannot be made: {error.strerror}. Choose another folder.") from error
