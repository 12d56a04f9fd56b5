"""What data sets have in common: modes, where files come from, and what is wrong with one."""
from __future__ import annotations

import contextlib
import gzip
import os
import tarfile
import zlib
from collections.abc import Iterator
from typing import Any

from wherry_tensor.errors import AssertedArgumentError, InvalidArgumentError, InvalidTypeError, short
from wherry_train.download import fetched
from wherry_vision.image import get_image_backend

__all__ = ["DATA_HOME", "Archive", "backend_of", "file_of", "mode_of", "readable"]

DATA_HOME = os.path.expanduser("~/.cache/paddle/dataset")


def mode_of(kind: str, mode: Any, modes: tuple[str, ...]) -> str:
    """The mode in small letters."""
    if not isinstance(mode, str) or mode.lower() not in modes:
        raise AssertedArgumentError(
            f"{kind}: mode.lower() should be {' or '.join(map(repr, modes))}, but got {mode if isinstance(mode, str) else short(mode)}. "
            f"Expected one of these."
        )
    return mode.lower()


def backend_of(kind: str, backend: Any) -> str:
    """The library that images come from: "pil" gives Pillow's, "cv2" arrays."""
    chosen = get_image_backend() if backend is None else backend
    if chosen not in ("pil", "cv2"):
        raise InvalidArgumentError(f"{kind}: Expected backend are one of ['pil', 'cv2'], but got {chosen}. set_image_backend chooses one.")
    return str(chosen)


def file_of(kind: str, name: str, given: Any, url: str, md5: str, folder: str, download: bool) -> str:
    """The path of a file, which is downloaded where none is given."""
    if given is None:
        if not download:
            raise AssertedArgumentError(
                f"{kind}: {name} is not set and downloading automatically is disabled. Got None, expected the path of a file."
            )
        return fetched(url, os.path.join(DATA_HOME, folder), md5)
    if not isinstance(given, (str, os.PathLike)):
        raise InvalidTypeError(f"{kind}: {name} is a path. Got {short(given)} ({type(given).__name__}), expected a str or os.PathLike.")
    return os.fspath(given)


@contextlib.contextmanager
def readable(kind: str, path: str) -> Iterator[None]:
    """Whatever a damaged file leads to is one error that names it; that a file is not there is said by the system."""
    try:
        yield
    except (tarfile.TarError, gzip.BadGzipFile, zlib.error, EOFError, KeyError, InvalidArgumentError, UnicodeDecodeError) as error:
        raise InvalidArgumentError(
            f"{kind}: {path} is damaged, or another file. Got {type(error).__name__}: {error}, expected the data set's."
        ) from error


class Archive:
    """Members of a tar file by their names. Each process that uses it opens it anew."""

    def __init__(self, kind: str, path: str) -> None:
        self.kind, self.path = kind, path
        self._of_process: tuple[int, Any] | None = None
        with readable(kind, path), tarfile.open(path) as archive:
            self.members = {member.name.removeprefix("./"): member for member in archive if member.isfile()}

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_of_process": None}

    def read(self, name: str) -> bytes:
        """The bytes of a member.

        Raises:
            ValueError: there is none of this name, or it is damaged.
        """
        with readable(self.kind, self.path):
            member = self.members[name]
            if self._of_process is None or self._of_process[0] != os.getpid():
                self._of_process = os.getpid(), tarfile.open(self.path)  # noqa: SIM115  stays open for the members that follow
            file: Any = self._of_process[1].extractfile(member)
            data: bytes = file.read()
            if len(data) != member.size:
                raise EOFError(f"{name} ends after {len(data)} of {member.size} bytes")
            return data
