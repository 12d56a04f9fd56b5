"""What data sets in files share: modes, downloads, archives, and errors for damaged files."""
from __future__ import annotations

import contextlib
import gzip
import os
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from typing import Any

from wherry_tensor.errors import AssertedArgumentError, InvalidArgumentError, InvalidTypeError, short
from wherry_train.download import fetched

__all__ = ["DATA_HOME", "LARGEST", "Archive", "file_of", "mode_of", "readable"]

DATA_HOME = os.path.expanduser("~/.cache/paddle/dataset")

LARGEST = 1 << 30  # bytes of one member of an archive
_DAMAGES: tuple[type[Exception], ...] = (
    tarfile.TarError, zipfile.BadZipFile, gzip.BadGzipFile, zlib.error, EOFError, KeyError, InvalidArgumentError, UnicodeDecodeError,
)  # fmt: skip
with contextlib.suppress(ModuleNotFoundError):  # a browser's Python need not have it
    from lzma import LZMAError

    _DAMAGES = (*_DAMAGES, LZMAError)


def mode_of(kind: str, mode: Any, modes: tuple[str, ...]) -> str:
    """The mode in small letters."""
    if not isinstance(mode, str) or mode.lower() not in modes:
        raise AssertedArgumentError(
            f"{kind}: mode.lower() should be {' or '.join(map(repr, modes))}, but got {mode if isinstance(mode, str) else short(mode)}. "
            f"Expected one of these."
        )
    return mode.lower()


def file_of(kind: str, name: str, given: Any, url: str, md5: str, folder: str, download: bool) -> str:
    """The path of a file, which is downloaded where none is given."""
    if given is None:
        if not download:
            raise AssertedArgumentError(
                f"{kind}: {name} is not set and downloading automatically is disabled. Got None, expected the path of a file."
            )
        return fetched(url, os.path.join(DATA_HOME, folder), md5)
    if not isinstance(given, (str, os.PathLike)):
        raise InvalidTypeError(f"{kind}: {name} is not a path. Got {short(given)} ({type(given).__name__}), expected a str or os.PathLike.")
    return os.fspath(given)


class _Damaged(InvalidArgumentError):
    """A file of a data set is damaged, or another file."""


@contextlib.contextmanager
def readable(kind: str, path: str) -> Iterator[None]:
    """A context: the errors that a damaged file causes become one error that names the file. A missing file stays an OSError."""
    try:
        yield
    except _Damaged:  # of a block within
        raise
    except _DAMAGES as error:
        raise _Damaged(
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

    def read(self, name: str, largest: int = LARGEST) -> bytes:
        """The bytes of a member.

        Raises:
            ValueError: there is none of this name, or it is damaged or larger than `largest` bytes.
        """
        with readable(self.kind, self.path):
            member = self.members[name]
            if member.size > largest:
                raise InvalidArgumentError(f"{name} has {member.size} bytes, expected at most {largest}")
            if self._of_process is None or self._of_process[0] != os.getpid():
                self._of_process = os.getpid(), tarfile.open(self.path)  # noqa: SIM115  stays open for the members that follow
            file: Any = self._of_process[1].extractfile(member)
            data: bytes = file.read()
            if len(data) != member.size:
                raise EOFError(f"{name} ends after {len(data)} of {member.size} bytes")
            return data
