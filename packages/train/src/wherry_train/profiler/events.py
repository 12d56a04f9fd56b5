"""Events of a trace: those of the core, and those recorded from Python."""
from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from enum import IntEnum
from time import perf_counter_ns
from types import TracebackType
from typing import Any, ParamSpec, TypeVar

from wherry_nn import layer
from wherry_tensor import _core
from wherry_tensor.errors import InvalidArgumentError, InvalidTypeError, short
from wherry_tensor.explained import explained
from wherry_train.io import dataloader

__all__ = ["Event", "RecordEvent", "TracerEventType", "described", "inputs_of", "recorded", "start", "stop"]

_STREAMS = 1 << 50  # and above: numbers of streams in place of threads

P = ParamSpec("P")
R = TypeVar("R")


class TracerEventType(IntEnum):
    """The kind of an event.

    Source:
        `paddle.profiler.TracerEventType`, with its numbers.
    """

    Operator = 0
    Dataloader = 1
    ProfileStep = 2
    CudaRuntime = 3
    Kernel = 4
    Memcpy = 5
    Memset = 6
    UserDefined = 7
    OperatorInner = 8
    Forward = 9
    Backward = 10
    Optimization = 11
    Communication = 12
    PythonOp = 13
    PythonUserDefined = 14


@dataclass(slots=True)
class Event:
    """An event of a thread. Times are nanoseconds since some moment, the same for all events of a trace."""

    kind: TracerEventType
    name: str
    begin: int
    end: int
    thread: int
    ready: int = 0              # when the kernel of an op began; 0: the event has none
    allocated: int = 0          # bytes that tensors held when it ended
    taken: int = 0              # by how many that had grown meanwhile; less than 0 where memory was let go of
    inputs: tuple[Any, ...] = ()  # of an op: (dtype, shape), or None for an absent input

    @property
    def duration(self) -> int:
        """In nanoseconds."""
        return self.end - self.begin


def described(inputs: tuple[Any, ...]) -> str:
    """`float32[2, 3], None`."""
    return ", ".join("None" if one is None else f"{one[0]}{list(one[1])}" for one in inputs)


def inputs_of(text: str) -> Iterator[Any]:
    """The inverse of `described`."""
    while text:
        if text.startswith("None"):
            yield None
            text = text[4:]
        else:
            dtype, _, rest = text.partition("[")
            sizes, _, text = rest.partition("]")
            yield dtype, tuple(int(size) for size in sizes.split(",") if size.strip())
        text = text.removeprefix(", ")


class RecordEvent:
    """Names a part of the program in the trace: a context manager, a decorator, or `begin()` and `end()`.

    Args:
        name: what the trace calls it.
        event_type: a TracerEventType.

    Raises:
        TypeError: `name` is not a str.

    Source:
        `paddle.profiler.RecordEvent`. Where nothing is recorded it does nothing.

    Examples:
        >>> from wherry import profiler
        >>> with profiler.Profiler(on_trace_ready=lambda p: None) as p:
        ...     with profiler.RecordEvent("doubling"):
        ...         y = wherry.ones([2, 3]) * 2
        >>> [e.name for e in p.profiler_result.events if e.kind == profiler.TracerEventType.PythonUserDefined]
        ['doubling']
    """

    def __init__(self, name: str, event_type: Any = TracerEventType.PythonUserDefined) -> None:
        if not isinstance(name, str):
            raise InvalidTypeError(f"RecordEvent: name is not a str. Got {short(name)} ({type(name).__name__}), expected a str, such as 'load'.")
        try:
            self.name, self.event_type = name, TracerEventType(event_type)
        except (ValueError, RecursionError):
            raise InvalidArgumentError(
                f"RecordEvent: there is no such kind of event. Got event_type={short(event_type)}, expected a member of TracerEventType. "
                f"Leave it out for a part of your own."
            ) from None
        self._begun: list[int] = []

    def begin(self) -> None:
        """The part begins."""
        self._begun.append(perf_counter_ns())

    def end(self) -> None:
        """The part that began last ends. Without one there is nothing to note."""
        if self._begun:
            _core.trace_note(self.event_type, self.name, self._begun.pop(), perf_counter_ns())

    def __enter__(self) -> RecordEvent:
        self.begin()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.end()

    def __call__(self, function: Callable[P, R]) -> Callable[P, R]:
        @functools.wraps(function)
        def recorded_function(*args: P.args, **kwargs: P.kwargs) -> R:
            with RecordEvent(self.name, self.event_type):
                return function(*args, **kwargs)

        return recorded_function

    def __repr__(self) -> str:
        return f"RecordEvent({self.name!r}, {self.event_type.name})"


class _Reading:
    """An iterator over batches that reports how long each took."""

    def __init__(self, batches: Iterator[Any], told: list[Callable[[int, int], None]]) -> None:
        self._batches, self._told = batches, told

    def __iter__(self) -> _Reading:
        return self

    def __next__(self) -> Any:
        begin = perf_counter_ns()
        batch = next(self._batches)
        end = perf_counter_ns()
        _core.trace_note(TracerEventType.Dataloader, "DataLoader", begin, end)
        for told in self._told:
            told(begin, end)
        return batch

    def __getattr__(self, name: str) -> Any:
        return getattr(self._batches, name)


_readers: list[Callable[[int, int], None]] = []  # each benchmark that runs is told how long reading a batch took
_lock = threading.Lock()


def watch_reading(told: Callable[[int, int], None]) -> None:
    """Call `told(begin, end)` after each batch that a DataLoader gives. Loops that begin from now on are seen."""
    with _lock:
        _readers.append(told)
        dataloader.watch_batches(lambda batches: _Reading(batches, _readers))


def leave_reading(told: Callable[[int, int], None]) -> None:
    """Undo `watch_reading`."""
    with _lock:
        _readers.remove(told)
        if not _readers:
            dataloader.watch_batches(None)


def start(devices: Iterable[int] = ()) -> None:
    """Record from now on; of these devices, ints of the core, also when work ran there."""
    _core.trace_devices_start(devices)
    _core.trace_start()
    layer.note_calls(True)


def stop() -> tuple[list[Event], int, dict[int, str]]:
    """The events since `start`, in the order in which they began, how many were lost for lack of memory, and the names of streams.

    Streams of devices are listed like threads, with numbers that no thread has.
    """
    layer.note_calls(False)
    there = _core.trace_devices_stop()  # waits
    given, lost = _core.trace_stop()
    events, streams = recorded(given), dict[tuple[int, int], int]()
    for name, begin, end, device, stream, inputs in there:
        row = streams.setdefault((device, stream), _STREAMS + len(streams))
        events.append(Event(TracerEventType.Kernel, name, begin, end, row, inputs=inputs))
    events.sort(key=lambda event: (event.begin, -event.end))
    return events, lost, {row: f"{_core.name_of_device(device)} stream {row - _STREAMS}" for (device, _), row in streams.items()}


def recorded(given: list[tuple[Any, ...]]) -> list[Event]:
    """What the core tells, as events."""
    kinds = list(TracerEventType)
    events = [
        Event(kinds[kind], name, begin, end, thread, ready, allocated, taken, inputs)
        for kind, name, begin, ready, end, thread, allocated, taken, inputs in given
    ]
    events.sort(key=lambda event: (event.begin, -event.end))
    return events


explained(globals())
