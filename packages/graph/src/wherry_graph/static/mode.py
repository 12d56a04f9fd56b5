"""Static mode: the default programs, and the capture that writes what user code calls into them.

The mode belongs to a thread. While it is on, one capture is on, that of the default main program; `program_guard` puts another program's
in its place. Parameters and other lasting values come from the builder (`static/builder.py`), which records in the default startup program.
"""
from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from wherry_graph.capture import Capture, captures_of_thread
from wherry_graph.ir import Program
from wherry_tensor.building import building
from wherry_tensor.device import device_code, names_device, set_device
from wherry_tensor.errors import InvalidArgumentError, InvalidTypeError, short

__all__ = [
    "capture_of", "default_main_program", "default_startup_program", "device_guard", "disable_static", "enable_static",
    "in_static_mode", "name_scope", "paused", "program_guard",
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
    """Is static mode on in this thread?"""
    return _mode.on is not None


def enable_static() -> None:
    """Record programs instead of running op by op: what follows in this thread describes `static.default_main_program()`.

    Source:
        `paddle.enable_static`.

    Examples:
        >>> wherry.enable_static()
        >>> wherry.in_dynamic_mode()
        False
        >>> wherry.disable_static()
    """
    from wherry_graph.static.builder import StaticBuilder

    if _mode.on is None:
        building.builder = StaticBuilder()
        _switch(capture_of(default_main_program()))


def disable_static(place: Any = None) -> None:
    """Run op by op again, which is how Wherry begins.

    Args:
        place: where to run from now on, as `set_device` takes it; None changes nothing.

    Source:
        `paddle.disable_static`.

    Examples:
        >>> wherry.disable_static()
        >>> wherry.in_dynamic_mode()
        True
    """
    if place is not None:
        set_device(place)
    if _mode.on is not None:
        _switch(None)
        building.builder = None


def _switch(to: Capture | None) -> Capture | None:
    """Let another capture record for static mode; returns the one before."""
    before, _mode.on = _mode.on, None
    if before is not None:
        before.__exit__(None, None, None)
    if to is not None:
        to.__enter__()
        _mode.on = to
    return before


@contextmanager
def recording_into(program: Program, role: str | None = None) -> Iterator[Capture]:
    """Let static mode, which is on, record in another program meanwhile."""
    recording = capture_of(program)
    before_role = recording.role
    before = _switch(recording) if _mode.on is not recording else recording
    recording.role = before_role if role is None else role
    try:
        yield recording
    finally:
        recording.role = before_role
        if before is not recording:
            _switch(before)


@contextmanager
def paused() -> Iterator[None]:
    """Run ops in this thread at once meanwhile, whatever is being captured around."""
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
    """Make other programs the default ones inside of a `with` block.

    Args:
        main_program: what is recorded goes here.
        startup_program: what gives parameters their first values goes here; None leaves the one there is.

    Raises:
        TypeError: something is no Program.

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
    recording = _switch(capture_of(main_program)) if was_on else None
    try:
        yield
    finally:
        _mode.main, _mode.startup = before
        if was_on and _mode.on is not None:
            _switch(recording)


@contextmanager
def name_scope(prefix: str | None = None) -> Iterator[None]:
    """Note on the ops that are recorded in a `with` block what part of the model they belong to.

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
    """Say on which kind of device the ops recorded in a `with` block may run. A program runs on one device, that of its Executor, and what has no
    kernel there runs on the CPU by itself: the guard changes nothing but where it names a device that is not there.

    Args:
        device: "cpu", "gpu", "gpu:0", ...; None leaves it to the Executor.

    Raises:
        ValueError: it names no device, or one that is not there.

    Source:
        `paddle.static.device_guard`, which moves tensors between devices inside a program.

    Examples:
        >>> with wherry.static.device_guard("cpu"):
        ...     pass
    """
    if device is not None and not names_device(device):
        raise InvalidArgumentError(
            f"device_guard: The Attr(device) should be 'cpu', 'gpu' or 'xpu', with a number behind it perhaps. Got {short(device)}, expected "
            f"'cpu' or 'gpu:0', say."
        )
    if device is not None:
        device_code(device, "device_guard")
    yield
