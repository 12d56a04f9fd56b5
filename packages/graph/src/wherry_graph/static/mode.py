"""Static mode: the default programs, and the capture that records user code into them.

The mode belongs to a thread. While it is on, one capture is on, that of the default main program; `program_guard` puts another program's
in its place. `switching` turns it on and off.
"""
from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from wherry_program.program.capture import Capture, captures_of_thread
from wherry_program.program.ir import Program
from wherry_tensor.device import names_device
from wherry_tensor.errors import InvalidArgumentError, InvalidTypeError, short
from wherry_tensor.explained import explained
from wherry_tensor.static_builder import building

__all__ = [
    "capture_of", "default_main_program", "default_startup_program", "device_guard", "in_static_mode", "name_scope", "paused", "program_guard",
    "switch",
]


class _Mode(threading.local):
    """Of one thread. Attributes: main, startup: its default programs; on: the capture of static mode that is on, or None."""

    main: Program | None = None
    startup: Program | None = None
    on: Capture | None = None


_mode = _Mode()
_first: dict[str, Program] = {}  # the default programs of all threads that have chosen no others


def default_main_program() -> Program:
    """The program that static mode records in.

    Source:
        `paddle.static.default_main_program`.

    Examples:
        >>> wherry.static.default_main_program().num_blocks
        1
    """
    return _mode.main if _mode.main is not None else _common("main")


def default_startup_program() -> Program:
    """The program that gives parameters their first values; run it once, before others.

    Source:
        `paddle.static.default_startup_program`.

    Examples:
        >>> wherry.static.default_startup_program() is wherry.static.default_main_program()
        False
    """
    return _mode.startup if _mode.startup is not None else _common("startup")


def _common(which: str) -> Program:
    if which not in _first:
        _first.setdefault(which, Program())
    return _first[which]


def capture_of(program: Program) -> Capture:
    """The capture that writes into a program in static mode: always the same one, which remembers what stands for what."""
    found = program.__dict__.get("_capture")
    if found is None:
        found = program.__dict__["_capture"] = Capture(program.blocks[0])
        found.no_grad_cuts = True
    return found


def in_static_mode() -> bool:
    """Whether static mode is on in this thread.

    Examples:
        >>> wherry.static.in_static_mode()
        False
    """
    return _mode.on is not None


def switch(to: Capture | None) -> Capture | None:
    """Set the capture of static mode; returns the previous one."""
    before, _mode.on = _mode.on, None
    if before is not None:
        before.__exit__(None, None, None)
    if to is not None:
        to.__enter__()
        _mode.on = to
    return before


@contextmanager
def recording_into(program: Program, role: str | None = None) -> Iterator[Capture]:
    """A context in which static mode records into another program."""
    recording = capture_of(program)
    before_role = recording.role
    before = switch(recording) if _mode.on is not recording else recording
    recording.role = before_role if role is None else role
    try:
        yield recording
    finally:
        recording.role = before_role
        if before is not recording:
            switch(before)


@contextmanager
def paused() -> Iterator[None]:
    """A context in which ops of this thread run at once, even inside of a capture."""
    waiting = list(captures_of_thread())
    builder, building.builder = building.builder, None
    on, _mode.on = _mode.on, None
    for recording in reversed(waiting):
        recording.__exit__(None, None, None)
    try:
        yield
    finally:
        for recording in waiting:
            recording.__enter__()
        building.builder, _mode.on = builder, on


@contextmanager
def program_guard(main_program: Program, startup_program: Program | None = None) -> Iterator[None]:
    """A context: inside, other programs are the default ones.

    Args:
        main_program: what is recorded goes here.
        startup_program: what gives parameters their first values goes here; None leaves the one there is.

    Raises:
        TypeError: an argument is not a Program.

    Source:
        `paddle.static.program_guard`.

    Examples:
        >>> wherry.enable_static()
        >>> main, startup = wherry.static.Program(), wherry.static.Program()
        >>> with wherry.static.program_guard(main, startup):
        ...     x = wherry.static.data("x", [None, 2])
        ...     y = wherry.static.nn.fc(x, 3)
        >>> [p.shape for p in main.all_parameters()]
        [[2, 3], [3]]
        >>> wherry.disable_static()
    """
    for name, program in ("main_program", main_program), ("startup_program", startup_program):
        if not isinstance(program, Program) and (program is not None or name == "main_program"):
            raise InvalidTypeError(
                f"program_guard: {name} is not a Program. Got {short(program)} ({type(program).__name__}), expected a Program. "
                f"Write static.Program()."
            )
    before = _mode.main, _mode.startup
    _mode.main = main_program
    if startup_program is not None:
        _mode.startup = startup_program
    was_on = _mode.on is not None and _mode.on is not capture_of(main_program)
    recording = switch(capture_of(main_program)) if was_on else None
    try:
        yield
    finally:
        _mode.main, _mode.startup = before
        if was_on and _mode.on is not None:
            switch(recording)


@contextmanager
def name_scope(prefix: str | None = None) -> Iterator[None]:
    """A context: marks the ops recorded inside as a part of the model.

    Args:
        prefix: the name of the part; parts may lie in parts.

    Raises:
        ValueError: `prefix` is empty or no str.

    Source:
        `paddle.static.name_scope`.

    Examples:
        >>> wherry.enable_static()
        >>> main = wherry.static.Program()
        >>> with wherry.static.program_guard(main), wherry.static.name_scope("encoder"):
        ...     y = wherry.static.data("x", [2]) + 1.0
        >>> main.global_block().ops[0].scope
        'encoder/'
        >>> wherry.disable_static()
    """
    if not isinstance(prefix, str) or not prefix:
        raise InvalidArgumentError(f"name_scope: a part of a model has a name. Got {short(prefix)}, expected a str. Write name_scope('encoder').")
    recording = _mode.on
    if recording is None:
        yield
        return
    before = recording.scope
    taken = recording.program.__dict__.setdefault("_scopes", {})
    key = f"{before}{prefix}"
    taken[key] = n = taken.get(key, -1) + 1
    recording.scope = f"{key}_{n}/" if n else f"{key}/"
    try:
        yield
    finally:
        recording.scope = before


@contextmanager
def device_guard(device: str | None = None) -> Iterator[None]:
    """A context: sets the kind of device on which the ops recorded inside may run.

    A program runs on one device, that of its Executor, and ops without a kernel there run on the CPU. What is named here says to which section
    of a pipeline the ops belong: with "gpu:0" and "gpu:1" there are two, each trained by processes of its own
    (`fleet.DistributedStrategy.pipeline`). Otherwise it has no effect.

    Args:
        device: "cpu", "gpu", "gpu:0", ...; None leaves it to the Executor.

    Raises:
        ValueError: it names no device.

    Source:
        `paddle.static.device_guard`, which moves tensors between devices inside a program.

    Examples:
        >>> wherry.enable_static()
        >>> with wherry.static.program_guard(wherry.static.Program()), wherry.static.device_guard("gpu:1"):
        ...     y = wherry.static.data("x", [2]) * 2
        >>> y.made_by.device
        'gpu:1'
        >>> wherry.disable_static()
    """
    if device is not None and not names_device(device):
        raise InvalidArgumentError(
            f"device_guard: The Attr(device) should be 'cpu', 'gpu' or 'xpu', with a number after it perhaps. Got {short(device)}, expected "
            f"'cpu' or 'gpu:0', say."
        )
    recording = _mode.on
    if recording is None:
        yield
        return
    before, recording.device = recording.device, device or ""
    try:
        yield
    finally:
        recording.device = before


explained(globals())
