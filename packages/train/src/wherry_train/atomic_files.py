"""Files that are replaced in one step, alone or several together, whatever ends the process in between.

One file is written beside its place and renamed. Several cannot be renamed at once, so a small file, the journal, says which
complete files belong where: with it the save is decided, before it nothing has changed. Whoever comes next, a reader or
another save, finishes what a journal says (`finish_replacing`); doing it twice changes nothing.
"""
from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import os
import platform
import re
import secrets
import stat
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, BinaryIO

__all__ = ["finish_replacing", "replace_file", "replace_files"]

Write = Callable[[BinaryIO], Any]

_HOST = hashlib.sha256(platform.node().encode()).hexdigest()[:6]
_TAG = re.compile(r"[0-9a-f]{6}\.\d+\.[0-9a-f]{8}")
_LITTER_AGE = 600  # seconds: a process of another container may have the number of one that ended here


def replace_file(target: str, write: Write) -> None:
    """Write one file, which takes its place when it is complete: a rename, which needs no journal.

    Args:
        target: its real path, in a folder that exists.
        write: writes the content into a file that is open.
    """
    temporary = _temporary_of(target, _new_tag(), "tmp")
    try:
        _write_complete(temporary, target, write)
        os.replace(temporary, target)
    except BaseException:
        _remove(temporary)
        raise
    _sync_folder(os.path.dirname(target))


def replace_files(files: Sequence[tuple[str, Write | None]], known_as: str | None = None) -> None:
    """Write files, which appear when all of them are complete.

    Args:
        files: paths in one folder, with what writes the content into a file that is open; None removes a file.
        known_as: the path in that folder that readers give to `finish_replacing`; None takes the first one.

    Raises:
        OSError: one cannot be written. What was there before is there again.
        ValueError: the files are of several folders.
    """
    targets = [os.path.realpath(path) for path, _ in files]  # a link stays a link
    folder = os.path.dirname(targets[0])
    if any(os.path.dirname(target) != folder for target in targets):
        raise ValueError(f"save: files that belong together lie in one folder. Got {targets}. Move them beside each other.")
    for target in targets:
        if os.path.isdir(target):
            raise IsADirectoryError(errno.EISDIR, "save: this is a folder. Expected the name of a file", target)
    os.makedirs(folder, exist_ok=True)
    first = targets[0] if known_as is None else os.path.join(folder, os.path.basename(known_as))
    finish_replacing(first)
    if len(files) == 1 and files[0][1] is not None:
        replace_file(targets[0], files[0][1])
        _remove_litter(folder, {os.path.basename(targets[0])})
        return
    tag = _new_tag()
    new: dict[str, str | None] = {}  # by target: the complete file that becomes it, or None where it goes
    old: dict[str, str | None] = {}  # by target: another name of what is there, or None where nothing is
    try:
        for (_, write), target in zip(files, targets, strict=True):
            new[target] = None if write is None else _temporary_of(target, tag, "tmp")
            if write is not None:
                _write_complete(str(new[target]), target, write)
        for target in targets:
            if os.path.lexists(target):
                old[target] = _temporary_of(target, tag, "old")
                # A file system, or (in a browser tab) a system without links: what is decided is then not taken back.
                with contextlib.suppress(OSError, AttributeError):
                    os.link(target, str(old[target]))
            else:
                old[target] = None
        _commit(first, new)
    except BaseException:
        _take_back(first, new, old)
        raise
    for name in old.values():
        _remove(name)
    _remove_litter(folder, {os.path.basename(target) for target in targets})


def _take_back(first: str, new: Mapping[str, str | None], old: Mapping[str, str | None]) -> None:
    """After an error: what was there before is there again. Where that cannot be, the next reader finishes what was decided."""
    if os.path.exists(_journal_of(first)):
        if not all(name is None or os.path.exists(name) for name in old.values()):
            return
        _commit(first, old)
    for name in (*new.values(), *old.values()):
        _remove(name)


def finish_replacing(path: str) -> None:
    """Finish what a save that was ended in between had decided. Readers call it with the path that the files are known as.

    Where the folder cannot be written, nothing happens.
    """
    if not os.path.islink(path) and not os.path.lexists(_journal_of(path)):
        return  # folders that are links lead to the same journal
    path = os.path.realpath(path)
    journal = _journal_of(path)
    try:
        with open(journal, encoding="utf-8") as file:
            entries = _entries(json.load(file))
    except (OSError, ValueError):  # none, or one that nobody here wrote
        return
    folder = os.path.dirname(path)
    with contextlib.suppress(OSError):
        _apply(journal, {os.path.join(folder, target): source and os.path.join(folder, source) for target, source in entries.items()})


def _write_complete(temporary: str, target: str, write: Write) -> None:
    """Write a file under a name of its own, with the rights of `target`, to the disk.

    Ended in between it leaves nothing where the system has files without a name.
    """
    if not _write_nameless(temporary, target, write):
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o666)
        with open(descriptor, "wb") as file:
            _write_through(file, target, write)


def _new_tag() -> str:
    return f"{_HOST}.{os.getpid()}.{secrets.token_hex(4)}"


def _temporary_of(target: str, tag: str, kind: str) -> str:
    """The name beside `target` of a file that is not in its place yet, or no more."""
    folder, name = os.path.split(target)
    return os.path.join(folder, f".{name[:200]}.{tag}.{kind}")


def _sync_folder(folder: str) -> None:
    """Have new names of files survive a power cut."""
    if not hasattr(os, "O_DIRECTORY"):  # only Unix opens folders
        return
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


# Journals.


def _journal_of(path: str) -> str:
    name = os.path.basename(path)
    return f"{path[: len(path) - len(name)]}.{name[:200]}.journal"


def _commit(first: str, entries: Mapping[str, str | None]) -> None:
    """Decide that these files take their places, then put them there."""
    journal = _journal_of(first)
    names = {os.path.basename(target): source and os.path.basename(source) for target, source in entries.items()}
    draft = f"{journal}.{secrets.token_hex(4)}"
    try:
        _write_complete(draft, draft, lambda file: file.write(json.dumps({"files": names}).encode()))
        os.replace(draft, journal)
    except BaseException:
        _remove(draft)
        raise
    _sync_folder(os.path.dirname(first))
    _apply(journal, entries)


def _apply(journal: str, entries: Mapping[str, str | None]) -> None:
    for target, source in entries.items():
        if source is None:
            _remove(target)
        else:
            with contextlib.suppress(FileNotFoundError):  # somebody else has put it there
                os.replace(source, target)
    _sync_folder(os.path.dirname(journal))
    _remove(journal)


def _entries(read: Any) -> dict[str, str | None]:
    """The content of a journal: names of this folder alone, each made of a file that a save wrote for it.

    Raises:
        ValueError: it is something else. A journal may have come with a folder from elsewhere.
    """
    files = read.get("files") if isinstance(read, dict) else None
    if not isinstance(files, dict):
        raise ValueError
    for target, source in files.items():
        plain = target not in ("", ".", "..") and not target.startswith(".") and not set(target) & {"/", "\\", "\0"}
        made = source is None or (isinstance(source, str) and source.startswith(f".{target[:200]}.") and source.endswith((".tmp", ".old")))
        if not plain or not made or (source is not None and not _TAG.fullmatch(source[len(target[:200]) + 2 : -4])):
            raise ValueError
    return files


# Files.


def _remove(path: str | None) -> None:
    if path is not None:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(path)


def _remove_litter(folder: str, names: set[str]) -> None:
    """Remove what saves of these files left that were killed on this machine."""
    for found in os.listdir(folder):
        parts = found.rsplit(".", 4)
        if len(parts) != 5 or parts[4] not in ("tmp", "old") or parts[1] != _HOST or not _TAG.fullmatch(".".join(parts[1:4])):
            continue
        path = os.path.join(folder, found)
        if any(parts[0] == f".{name[:200]}" for name in names) and not _runs(int(parts[2])):
            with contextlib.suppress(OSError):
                if time.time() - os.stat(path).st_ctime > _LITTER_AGE:
                    os.unlink(path)


def _runs(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


def _write_through(file: Any, target: str, write: Write) -> None:
    """Write all, with the rights of `target`, and have it reach the disk."""
    if os.path.exists(target) and hasattr(os, "fchmod"):
        os.fchmod(file.fileno(), stat.S_IMODE(os.stat(target).st_mode))
    write(file)
    file.flush()
    os.fsync(file.fileno())


def _write_nameless(temporary: str, target: str, write: Write) -> bool:
    """Write a file that gets its name when it is complete: whatever ends the process before, the file is gone with it.

    False, and no file, where the system cannot do that.
    """
    if not hasattr(os, "O_TMPFILE") or not hasattr(os, "link"):
        return False
    try:
        descriptor = os.open(os.path.dirname(temporary), os.O_WRONLY | os.O_TMPFILE, 0o666)
    except OSError:  # many file systems; whatever else is wrong shows again when a file with a name is made
        return False
    with open(descriptor, "wb") as file:
        _write_through(file, target, write)
        try:
            # Only with a descriptor of a folder does Python follow the link to the file itself; the path has no use for it.
            os.link(f"/proc/self/fd/{descriptor}", temporary, src_dir_fd=descriptor, follow_symlinks=True)
        except OSError as error:
            if error.errno in (errno.ENOSPC, errno.EDQUOT):
                raise
            return False  # no /proc, or links are not allowed
    return True
