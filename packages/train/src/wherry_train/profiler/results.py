"""What a profiler has recorded, and files of it: Chrome's trace format as JSON, Perfetto's as protocol buffers."""
from __future__ import annotations

import json
import os
import socket
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wherry_tensor.arguments import path_of
from wherry_tensor.errors import InvalidArgumentError, InvalidTypeError, short
from wherry_tensor.explained import explained
from wherry_train.profiler import perfetto
from wherry_train.profiler.events import Event, TracerEventType, described, inputs_of
from wherry_train.serialization import write_file

if TYPE_CHECKING:
    from wherry_train.profiler.profiler import Profiler

__all__ = ["ProfilerResult", "export_chrome_tracing", "export_protobuf", "load_profiler_result"]

_FORMAT = "wherry trace 1"
_ABOUT = ("process", "started", "process_load", "system_load", "lost", "with_shapes", "with_memory")
_MOST_BYTES = 1 << 31


@dataclass(slots=True)
class ProfilerResult:
    """What a profiler has recorded.

    Attributes:
        events: in the order in which they began.
        threads: the names of threads, by their number in `Event.thread`.
        process: the number of the process.
        started: when the trace began, seconds since 1970.
        process_load: time of this process on all cores by the time that passed; above 1 with several threads.
        system_load: the share of all cores that was busy, None where the system does not tell.
        lost: the number of events that did not fit into memory.
        with_shapes: whether the shapes of inputs are shown.
        with_memory: whether memory is shown.

    Raises:
        TypeError: `events` is not a list, or `threads` is not a dict (also a ValueError).

    Examples:
        >>> with wherry.profiler.Profiler(on_trace_ready=lambda profiler: None) as profiler:
        ...     total = wherry.ones([2, 3]).sum()
        >>> "reduce_sum" in {event.name for event in profiler.profiler_result.events}
        True
    """

    events: list[Event]
    threads: dict[int, str] = field(default_factory=dict)
    process: int = 0
    started: float = 0.0
    process_load: float = 0.0
    system_load: float | None = None
    lost: int = 0
    with_shapes: bool = False
    with_memory: bool = False

    def __post_init__(self) -> None:
        if not isinstance(self.events, list) or not all(isinstance(event, Event) for event in self.events):
            raise InvalidTypeError(
                f"ProfilerResult: events is not a list of Events. Got {short(self.events)} ({type(self.events).__name__}), expected a list of "
                f"Event. Take Profiler.profiler_result, or load_profiler_result(file)."
            )
        if not isinstance(self.threads, dict):
            raise InvalidTypeError(
                f"ProfilerResult: threads is not a dict of names. Got {short(self.threads)} ({type(self.threads).__name__}), expected a "
                f"dict. Write {{1: 'main'}}."
            )

    def save(self, path: str | os.PathLike[str], format: str = "json") -> None:
        """Write a file: "json" opens in chrome://tracing and ui.perfetto.dev, "pb" in the latter.

        Raises:
            ValueError: another format.
        """
        if format not in ("json", "pb"):
            raise InvalidArgumentError(f"Profiler.export: the format is unknown. Got {short(format)}, expected 'json' or 'pb'.")
        path = os.fsdecode(path_of(path, "Profiler.export"))
        data = json.dumps(self.chrome(), separators=(",", ":")).encode() if format == "json" else perfetto.write(self)
        write_file(path, lambda file: file.write(data))

    def about(self) -> dict[str, Any]:
        """What files say of a trace beside its events and threads."""
        return {name: getattr(self, name) for name in _ABOUT}

    def take_about(self, said: dict[str, Any]) -> None:
        """Take over what `about` gave; names that are not of it are left alone."""
        for name in _ABOUT:
            if name in said:
                setattr(self, name, said[name])

    def chrome(self) -> dict[str, Any]:
        """The trace as Chrome's format has it, times in microseconds from its begin."""
        first = min((event.begin for event in self.events), default=0)
        out: list[dict[str, Any]] = [
            {"ph": "M", "name": "process_name", "pid": self.process, "tid": 0, "args": {"name": f"Process {self.process} (CPU)"}}
        ]
        out += [{"ph": "M", "name": "thread_name", "pid": self.process, "tid": t, "args": {"name": name}} for t, name in self.threads.items()]
        for event in self.events:
            out.append({
                "ph": "X", "name": event.name, "cat": event.kind.name, "pid": self.process, "tid": event.thread,
                "ts": (event.begin - first) / 1e3, "dur": event.duration / 1e3, "args": self._arguments(event),
            })
            if event.ready:
                out.append({
                    "ph": "X", "name": f"{event.name} compute", "cat": TracerEventType.OperatorInner.name, "pid": self.process, "tid": event.thread,
                    "ts": (event.ready - first) / 1e3, "dur": (event.end - event.ready) / 1e3,
                })
            if self.with_memory and event.kind == TracerEventType.Operator:
                out.append({
                    "ph": "C", "name": "allocated bytes", "pid": self.process, "tid": 0, "ts": (event.end - first) / 1e3,
                    "args": {"bytes": event.allocated},
                })
        return {"displayTimeUnit": "ms", "schemaVersion": _FORMAT, "traceEvents": out, "otherData": self.about()}

    def _arguments(self, event: Event) -> dict[str, Any]:
        given: dict[str, Any] = {}
        if self.with_shapes and event.inputs:
            given["inputs"] = described(event.inputs)
        if self.with_memory:
            given["allocated"], given["taken"] = event.allocated, event.taken
        return given

    def __repr__(self) -> str:
        return f"<ProfilerResult of {len(self.events)} events on {len(self.threads)} threads>"


def _named(dir_name: str, worker_name: str | None, what: str, ending: str) -> Callable[[Profiler], None]:
    path_of(dir_name, what, "dir_name")
    if worker_name is not None and (not isinstance(worker_name, str) or Path(worker_name).name != worker_name):
        raise InvalidTypeError(f"{what}: worker_name is not a file name. Got {short(worker_name)}, expected a str without a path.")
    Path(dir_name).mkdir(parents=True, exist_ok=True)

    def export(profiler: Profiler) -> None:
        if not callable(getattr(profiler, "export", None)):
            raise InvalidTypeError(
                f"{what}: the argument is not a Profiler. Got {short(profiler)} ({type(profiler).__name__}), expected a "
                f"Profiler. Pass the function itself as on_trace_ready."
            )
        name = worker_name or f"host_{socket.gethostname()}pid_{os.getpid()}"
        now = datetime.now().strftime("%Y_%m_%d_%H_%M_%S_%f")
        profiler.export(str(Path(dir_name) / f"{name}_time_{now}.paddle_trace.{ending}"), ending)

    return export


def export_chrome_tracing(dir_name: str, worker_name: str | None = None) -> Callable[[Profiler], None]:
    """For `on_trace_ready`: write each trace into a folder, as JSON that chrome://tracing and ui.perfetto.dev open.

    Args:
        dir_name: the folder; it is made.
        worker_name: the first part of the files' names; None takes the host and the process.

    Returns:
        A function of the profiler.

    Raises:
        TypeError: `dir_name` is not a path, or `worker_name` is not a str without a path (also a ValueError).

    Source:
        `paddle.profiler.export_chrome_tracing`. `wherry trace FILE` makes a page of such a file.

    Examples:
        >>> import os, tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     with wherry.profiler.Profiler(on_trace_ready=wherry.profiler.export_chrome_tracing(folder, "worker")):
        ...         total = wherry.ones([2, 3]).sum()
        ...     os.listdir(folder)
        ['worker_time_....json']
    """
    return _named(dir_name, worker_name, "export_chrome_tracing", "json")


def export_protobuf(dir_name: str, worker_name: str | None = None) -> Callable[[Profiler], None]:
    """For `on_trace_ready`: write each trace into a folder, as protocol buffers that ui.perfetto.dev opens.

    Args:
        dir_name: the folder; it is made.
        worker_name: the first part of the files' names; None takes the host and the process.

    Returns:
        A function of the profiler.

    Raises:
        TypeError: `dir_name` is not a path, or `worker_name` is not a str without a path (also a ValueError).

    Source:
        `paddle.profiler.export_protobuf`, whose files have a format that only Paddle reads; these have Perfetto's.

    Examples:
        >>> import os, tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     with wherry.profiler.Profiler(on_trace_ready=wherry.profiler.export_protobuf(folder, "worker")):
        ...         total = wherry.ones([2, 3]).sum()
        ...     os.listdir(folder)
        ['worker_time_....pb']
    """
    return _named(dir_name, worker_name, "export_protobuf", "pb")


def load_profiler_result(filename: str) -> ProfilerResult:
    """Read a trace that `Profiler.export` wrote, in either format.

    Args:
        filename: of the file.

    Returns:
        What was recorded. Times begin at 0.

    Raises:
        FileNotFoundError: there is no such file.
        ValueError: the file is not a trace of a profiler.

    Source:
        `paddle.profiler.load_profiler_result`.

    Examples:
        >>> import tempfile
        >>> with wherry.profiler.Profiler(on_trace_ready=lambda profiler: None) as profiler:
        ...     total = wherry.ones([2, 3]).sum()
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     profiler.export(folder + "/trace.json")
        ...     result = wherry.profiler.load_profiler_result(folder + "/trace.json")
        >>> len(result.events) == len(profiler.profiler_result.events)
        True
    """
    path = Path(path_of(filename, "load_profiler_result", "filename"))
    if not path.exists():
        raise FileNotFoundError(f"load_profiler_result: there is no file. Got {short(str(filename))}, expected one that Profiler.export wrote.")
    if path.stat().st_size > _MOST_BYTES:
        raise InvalidArgumentError(f"load_profiler_result: the file is too large. Got {path.stat().st_size} bytes, expected at most {_MOST_BYTES}.")
    data = path.read_bytes()
    try:
        if data[:1] != b"{":
            return perfetto.read(data, ProfilerResult([]))
        return _from_chrome(json.loads(data))
    except (ValueError, KeyError, TypeError, AttributeError, IndexError, OverflowError, RecursionError) as error:
        raise InvalidArgumentError(
            f"load_profiler_result: this is not a trace of a profiler, or a damaged one. Got {short(str(filename))} ({error}), expected a file that "
            f"Profiler.export wrote."
        ) from None


def _from_chrome(trace: dict[str, Any]) -> ProfilerResult:
    result = ProfilerResult([])
    result.take_about(trace.get("otherData", {}))
    starts: dict[tuple[int, int], int] = {}
    for one in trace["traceEvents"]:
        if one["ph"] == "M" and one["name"] == "thread_name":
            result.threads[int(one["tid"])] = str(one["args"]["name"])
        if one["ph"] != "X":
            continue
        begin = round(float(one["ts"]) * 1e3)
        event = Event(TracerEventType[one["cat"]], str(one["name"]), begin, begin + round(float(one["dur"]) * 1e3), int(one["tid"]))
        if event.kind == TracerEventType.OperatorInner and event.name.endswith(" compute"):
            starts[event.thread, event.end] = begin
            continue
        arguments = one.get("args", {})
        event.allocated, event.taken = int(arguments.get("allocated", 0)), int(arguments.get("taken", 0))
        event.inputs = tuple(inputs_of(str(arguments.get("inputs", ""))))
        result.events.append(event)
    for event in result.events:
        if event.kind == TracerEventType.Operator:
            event.ready = starts.get((event.thread, event.end), 0)
    return result


explained(globals())
