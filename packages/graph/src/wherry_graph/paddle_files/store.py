"""Several files that are replaced together.

A model is two or three files, and no file system renames three at once. So all new files are complete on the disk before
the first old one goes, and the first to go is the one without which nobody loads the others (the program). It is also the
last to come: whoever looks in between, or after a power cut, finds no model, never one with the weights of another. What
was there before lies beside the files until the last new one is in its place.
"""
from __future__ import annotations

import contextlib
import errno
import os
import secrets
from collections.abc import Callable, Sequence
from typing import Any, BinaryIO

__all__ = ["left_behind", "replace_files"]


def replace_files(files: Sequence[tuple[str, Callable[[BinaryIO], Any] | None]]) -> None:
    """Write files, which appear when all of them are complete.

    Args:
        files: paths, with what writes the content into a file that is open; None removes a file. The first is the one
            without which the others mean nothing.

    Raises:
        OSError: one cannot be written. What was there before is there again.
    """
    tag = f"{os.getpid()}.{secrets.token_hex(4)}"
    targets = [os.path.realpath(path) for path, _ in files]  # a link stays a link
    new = [_beside(target, tag, "tmp") for target in targets]
    old = [_beside(target, tag, "old") for target in targets]
    for target in targets:
        if os.path.isdir(target):
            raise IsADirectoryError(errno.EISDIR, "save: this is a folder. Expected the name of a file", target)
        os.makedirs(os.path.dirname(target), exist_ok=True)
    moved: list[int] = []
    placed: list[int] = []
    try:
        for (_, write), temporary, target in zip(files, new, targets, strict=True):
            if write is not None:
                _write(temporary, target, write)
        for i, target in enumerate(targets):
            with contextlib.suppress(FileNotFoundError):
                os.rename(target, old[i])
                moved.append(i)
            _sync_folder(target)
        for i in reversed(range(len(targets))):
            if files[i][1] is not None:
                os.rename(new[i], targets[i])
                placed.append(i)
                _sync_folder(targets[i])
    except BaseException:
        for i in reversed(placed):
            _remove(targets[i])
        for i in reversed(moved):
            os.replace(old[i], targets[i])
        for temporary in new:
            _remove(temporary)
        raise
    for i in moved:
        _remove(old[i])


def left_behind(path: str) -> list[str]:
    """What a save that was interrupted left beside the place of `path`: the files that were there before."""
    folder, name = os.path.split(os.path.realpath(path))
    try:
        names = os.listdir(folder)
    except OSError:
        return []
    return sorted(os.path.join(folder, found) for found in names if found.startswith(f".{name}.") and found.endswith(".old"))


def _beside(target: str, tag: str, kind: str) -> str:
    folder, name = os.path.split(target)
    return os.path.join(folder, f".{name[:200]}.{tag}.{kind}")


def _write(temporary: str, target: str, write: Callable[[BinaryIO], Any]) -> None:
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o666)
    with open(descriptor, "wb") as file:
        if hasattr(os, "fchmod"):
            with contextlib.suppress(FileNotFoundError):
                os.fchmod(file.fileno(), os.stat(target).st_mode & 0o7777)
        write(file)
        file.flush()
        os.fsync(file.fileno())


def _remove(path: str) -> None:
    with contextlib.suppress(FileNotFoundError):
        os.unlink(path)


def _sync_folder(path: str) -> None:
    """Have renames survive a power cut."""
    if not hasattr(os, "O_DIRECTORY"):  # only Unix opens folders
        return
    descriptor = os.open(os.path.dirname(path), os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
