"""Calls in children of this process, with bounds on memory and time: what tools/fuzz.py and its modes stand on."""
from __future__ import annotations

import mmap
import os
import pickle
import resource
import signal
import struct
import time
import traceback
from collections.abc import Callable
from typing import Any

CALLS_OF_A_CHILD = 400     # then a fresh one: calls change state (flags, modes, hooks), and that should not add up
SLOW = 8.0                 # seconds of the processor; no call here has so much to do
STUCK = 40.0               # seconds after which a call that cannot be interrupted is killed
ROOM = 1 << 30             # bytes that a child may ask for beyond what it starts with
SANITIZED = "libasan" in os.environ.get("LD_PRELOAD", "")  # its shadow takes the address space; the allocator has bounds of its own


class TooSlow(BaseException):
    """Raised by the alarm."""


class Board:
    """What a child tells its parent, in memory that both have: the number of the call it is at."""

    def __init__(self) -> None:
        self.memory = mmap.mmap(-1, 16)

    def set(self, number: int) -> None:
        self.memory[:8] = struct.pack("<q", number)

    def get(self) -> int:
        return int(struct.unpack("<q", self.memory[:8])[0])


class Findings:
    """What went wrong, one text for each kind."""

    def __init__(self) -> None:
        self.texts: dict[str, str] = {}
        self.counts: dict[str, int] = {}

    def add(self, kind: str, text: str) -> None:
        self.texts.setdefault(kind, text)
        self.counts[kind] = self.counts.get(kind, 0) + 1

    def merge(self, other: Findings) -> None:
        for kind, text in other.texts.items():
            self.texts.setdefault(kind, text)
            self.counts[kind] = self.counts.get(kind, 0) + other.counts[kind]


def alarm(*_: Any) -> None:
    raise TooSlow


def set_alarm(seconds: float) -> None:
    """Raise `TooSlow` after so many seconds of the processor: a machine that others keep busy makes no findings. 0 takes it back."""
    if signal.getsignal(signal.SIGPROF) is not alarm:
        signal.signal(signal.SIGPROF, alarm)
    signal.setitimer(signal.ITIMER_PROF, seconds)


def bound_memory(room: int = ROOM) -> None:
    """Let this process ask for so much more than it has; may be called again."""
    if SANITIZED:
        return
    with open("/proc/self/statm", "rb") as file:
        used = int(file.read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + room, resource.RLIM_INFINITY))


def in_children(
    calls: range, one: Callable[[int, Findings], None], shown: Callable[[int], str], patience: float = STUCK,
    each: int = CALLS_OF_A_CHILD, until: float = float("inf"),
) -> tuple[Findings, int]:
    """Makes the calls in children, one after the other; a call that kills its child is a finding.

    Args:
        until: the time (`time.monotonic`) after which no further child begins.

    Returns:
        The findings, and how many calls were made.
    """
    findings, board, made = Findings(), Board(), 0
    waiting = [range(at, min(at + each, calls.stop)) for at in range(calls.start, calls.stop, each)][::-1]
    while waiting and time.monotonic() < until:
        batch = waiting.pop()
        read, write = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(read)
            _child(batch, one, board, write)
        os.close(write)
        status = _wait(child, board, patience)
        with os.fdopen(read, "rb") as pipe:
            told = pipe.read()
        if status == 0 and told:
            findings.merge(pickle.loads(told))
            made += len(batch)
            continue
        number = board.get()
        how = "hangs" if status == "stuck" else f"dies ({_signal_name(status)})"
        text = shown(number)
        findings.add(f"{how}: {text.split('(')[0]}", f"call {number} {how}: {text}")
        made += 1
        # What the child had found before is lost with it, so those calls are made again.
        waiting += [part for part in (range(number + 1, batch.stop), range(batch.start, number)) if part]
    return findings, made


def _child(calls: range, one: Callable[[int, Findings], None], board: Board, write: int) -> None:
    findings = Findings()
    try:
        os.setpgid(0, 0)
        quiet = os.open(os.devnull, os.O_RDWR)
        os.dup2(quiet, 0)
        os.dup2(quiet, 1)
        if not SANITIZED:  # it says there what it found
            os.dup2(quiet, 2)
        bound_memory()
        for number in calls:
            board.set(number)
            one(number, findings)
        set_alarm(0)
        with os.fdopen(write, "wb") as pipe:
            pipe.write(pickle.dumps(findings))
        os._exit(0)
    except BaseException as error:  # of the fuzzer itself: what it was about to say would be lost
        with os.fdopen(write, "wb") as pipe:
            findings.add(f"fuzzer {type(error).__name__}", "the fuzzer itself: " + traceback.format_exc()[-1500:])
            pipe.write(pickle.dumps(findings))
        os._exit(0)


def _wait(child: int, board: Board, patience: float) -> Any:
    """The status of the child, or "stuck" when it stays at one call."""
    last, since = board.get(), time.monotonic()
    pause = 0.001
    while True:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return status
        time.sleep(pause)
        pause = min(pause * 2, 0.05)
        now = board.get()
        if now != last:
            last, since = now, time.monotonic()
        elif time.monotonic() - since > patience:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            return "stuck"


def _signal_name(status: int) -> str:
    return signal.Signals(os.WTERMSIG(status)).name if os.WIFSIGNALED(status) else f"exit status {os.WEXITSTATUS(status)}"
