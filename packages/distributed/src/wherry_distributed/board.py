"""A board in shared memory on which each process of a host says what it is doing, so that others can tell what is wrong.

Before a collective each rank writes its number, a signature of op, shape, dtype and root, and the line that called it. A rank that waits
compares. It also sees who is gone, who has ended, and who has raised; and it may ask a late one where it stands, which a thread there
answers.

The file is in /dev/shm, or the folder for temporary files, and is unlinked as soon as all have opened it: nothing stays behind.
"""
from __future__ import annotations

import contextlib
import mmap
import os
import sys
import tempfile
import threading
import time
import traceback
import zlib
from collections.abc import Sequence
from types import CodeType, FrameType

import numpy as np

from wherry_tensor.suggestions import is_ours

ROWS, RING, ENTRY = 32, 16, 256        # groups, entries of each, bytes of an entry: number, group, signature, text
HEAD, STACK, FAILURE = 64, 448, 1536   # bytes
STRIDE = HEAD + STACK + FAILURE + ROWS * RING * ENTRY
WORDS = STRIDE // 8
MOST_KEPT = 1000  # texts, of programs that make new code again and again
PID, ASKED, ANSWERED, LEFT, FAILED = range(5)  # words of the head


class CollectiveError(RuntimeError):
    """Processes do not do the same, or one of them is missing. All that wait raise it, with the same reason."""


def user_frame(frame: FrameType | None) -> FrameType | None:
    """The innermost frame that is not ours, or the innermost one."""
    first, known = frame, _ours
    while frame is not None:
        name = frame.f_globals.get("__name__", "")
        ours = known.get(name)
        if ours is None:
            ours = known[name] = is_ours(name)
        if not ours:
            return frame
        frame = frame.f_back
    return first


_ours: dict[str, bool] = {}  # what `is_ours` has said of a module


# What `site` has said, so that a loop says it at once: by the code's id, as its hash reads all of it, and the instruction. The code is
# kept, so that its id stays its own.
_sites: dict[tuple[int, int], tuple[CodeType, str]] = {}


def site() -> str:
    """File and line that called this package."""
    frame = user_frame(sys._getframe(1))
    if frame is None:
        return "?"
    code = frame.f_code
    key = id(code), frame.f_lasti
    found = _sites.get(key)
    if found is None:
        if len(_sites) >= MOST_KEPT:
            _sites.clear()
        found = _sites[key] = code, f"{os.path.basename(code.co_filename)}:{frame.f_lineno}"
    return found[1]


class Board:
    """The board of the ranks of this host.

    Args:
        path: of a file that exists, of `size_of(len(ranks))` bytes.
        rank: of this process.
        ranks: those of the host.
    """

    def __init__(self, path: str, rank: int, ranks: Sequence[int]) -> None:
        self.rank, self.ranks = rank, list(ranks)
        self.row_of = {each: row for row, each in enumerate(self.ranks)}
        with open(path, "r+b") as file:
            self.map = mmap.mmap(file.fileno(), STRIDE * len(self.ranks))
        self.bytes = np.frombuffer(self.map, np.uint8).reshape(len(self.ranks), STRIDE)
        self.words = self.bytes.view(np.int64)
        self.cells = memoryview(self.map).cast("q")  # the same words, row after row: a single one is read faster than of an array
        self.mine = self.row_of[rank]
        self.words[self.mine, PID] = os.getpid()
        self.main = threading.main_thread().ident
        self.parent = os.getppid()
        self.closed = threading.Event()
        self.said: dict[tuple[str, str], tuple[int, str, bytes]] = {}  # what and where -> signature, text for messages and for the board
        threading.Thread(target=self._watch, daemon=True, name="wherry board").start()

    def close(self) -> None:
        """This process takes part no more."""
        self.words[self.mine, LEFT] = 1
        self.closed.set()

    # What this process says.

    def _watch(self) -> None:
        while not self.closed.wait(0.1):
            if os.getppid() != self.parent:  # the launcher was killed: a rank without one would stay behind
                unlink_own_memory()
                os._exit(143)
            if self.words[self.mine, ASKED]:
                frame = user_frame(sys._current_frames().get(self.main or 0))
                lines = traceback.extract_stack(frame, 400)[-1:] if frame else []
                where = "".join(f"{os.path.basename(line.filename)}:{line.lineno} in {line.name}: {line.line}" for line in lines)
                self._write(HEAD, STACK, where or "?")
                self.words[self.mine, ASKED], self.words[self.mine, ANSWERED] = 0, 1

    def _write(self, at: int, room: int, text: str) -> None:
        raw = text.encode()[: room - 1]
        base = self.mine * STRIDE + at
        self.map[base : base + len(raw) + 1] = raw + b"\0"

    def post(self, group: int, number: int, what: str, where: str) -> tuple[int, str]:
        """Say which collective comes next. Returns its signature, and what and where in one text."""
        known = self.said.get((what, where))
        if known is None:
            if len(self.said) >= MOST_KEPT:
                self.said.clear()
            whole = f"{what} at {where}"
            known = self.said[what, where] = zlib.crc32(what.encode()) + 1, whole, whole.encode()[: ENTRY - 25] + b"\0"
        signature, whole, text = known
        cells = self.cells
        at = self.mine * WORDS + self._word(group, number)
        cells[at] = 0  # not the collective that was here before, which somebody may still look at
        start = at * 8 + 24
        self.map[start : start + len(text)] = text
        cells[at + 1] = group
        cells[at + 2] = signature
        cells[at] = number  # last: who sees it sees the rest
        return signature, whole

    def fail(self, text: str) -> None:
        """Tell the others what went wrong: they raise it, too."""
        self._write(HEAD + STACK, FAILURE, text)
        self.words[self.mine, FAILED] = 1

    # What others say.

    def _read(self, row: int, at: int, room: int) -> str:
        raw = self.bytes[row, at : at + room].tobytes()
        return raw.split(b"\0", 1)[0].decode(errors="replace")

    def entry(self, group: int, number: int, rank: int) -> tuple[int, str] | None:
        """Signature and text of a rank's collective; None where it has not come so far, or has gone far beyond."""
        row, word = self.row_of[rank], self._word(group, number)
        if self.words[row, word] != number or self.words[row, word + 1] != group:
            return None
        return int(self.words[row, word + 2]), self._read(row, word * 8 + 24, ENTRY - 24)

    def _word(self, group: int, number: int) -> int:
        return (HEAD + STACK + FAILURE + ((group % ROWS) * RING + number % RING) * ENTRY) // 8

    def differs(self, group: int, number: int, signature: int) -> bool:
        """Does somebody do something else under this number?"""
        cells = self.cells
        for at in range(self._word(group, number), len(cells), WORDS):
            if cells[at] == number and cells[at + 2] != signature and cells[at + 1] == group and cells[at] == number:
                return True  # the number is still there: who goes on to another collective takes it away first
        return False

    def number_of(self, group: int, rank: int) -> int:
        """The last collective of a group that a rank has come to."""
        first, row = self._word(group, 0), self.row_of[rank]
        words = self.words[row, first : first + RING * ENTRY // 8].reshape(RING, -1)
        mine = words[words[:, 1] == group, 0]
        return int(mine.max()) if len(mine) else 0

    def failure(self) -> str | None:
        """What another rank has raised."""
        for row in np.flatnonzero(self.words[:, FAILED]).tolist():
            if row != self.mine:
                return self._read(row, HEAD + STACK, FAILURE)
        return None

    def gone(self, rank: int) -> str | None:
        """Why a rank of this host will not come any more."""
        row = self.row_of.get(rank)
        if row is None:
            return None
        pid = int(self.words[row, PID])
        if self.words[row, LEFT]:
            return f"rank {rank} (pid {pid}) has ended its program"
        try:
            os.kill(pid, 0)
            with open(f"/proc/{pid}/stat", "rb") as file:
                dead = file.read().rsplit(b")", 1)[1].split()[0] in (b"Z", b"X")
        except ProcessLookupError:
            dead = True
        except (FileNotFoundError, PermissionError):  # no /proc, or a process of somebody else
            dead = False
        return f"rank {rank} (pid {pid}) is dead" if dead else None

    def where(self, rank: int) -> str:
        """Where a rank stands: it is asked, and has some seconds to answer."""
        row = self.row_of.get(rank)
        if row is None:
            return f"rank {rank}, on another host"
        reason = self.gone(rank)
        if reason:
            return reason
        self.words[row, ANSWERED], self.words[row, ASKED] = 0, 1
        end = time.monotonic() + 3
        while not self.words[row, ANSWERED] and time.monotonic() < end:
            time.sleep(0.01)
        who = f"rank {rank} (pid {int(self.words[row, PID])})"
        if not self.words[row, ANSWERED]:
            return f"{who} does not answer: it is stopped, or in a call that holds the GIL"
        return f"{who} is at {self._read(row, HEAD, STACK)}"


def unlink_own_memory() -> None:
    """Take away the names of shared memory that MPI has in this process, of which no launcher is left to do it."""
    with contextlib.suppress(OSError), open("/proc/self/maps") as file:
        for path in {line.split()[-1] for line in file if "/dev/shm/mpich_shm_" in line}:
            with contextlib.suppress(OSError):  # another rank has done it
                os.unlink(path)


def make(count: int) -> str:
    """A file for the board of so many ranks, named after the process that makes it, which unlinks it when all have opened it."""
    folder = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    handle, path = tempfile.mkstemp(prefix=f"wherry_board_{os.getpid()}_", dir=folder)
    os.ftruncate(handle, STRIDE * count)
    os.close(handle)
    return path
