"""Traces in Perfetto's protocol buffer format (perfetto.dev: TracePacket, TrackEvent, TrackDescriptor)."""
from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from wherry_tensor.explained import explained
from wherry_tensor.protobuf import Field, Schema
from wherry_train.profiler.events import Event, TracerEventType, described, inputs_of

if TYPE_CHECKING:
    from wherry_train.profiler.results import ProfilerResult

__all__ = ["read", "write"]

_BEGIN, _END, _COUNTER = 1, 2, 4  # TrackEvent.Type
_SEQUENCE = 1
_STATE_CLEARED = 1
_COUNTER_TRACK = 1


@dataclass(slots=True)
class Process:
    pid: int | None = None
    process_name: str | None = None
    unknown: bytes = b""


@dataclass(slots=True)
class Thread:
    pid: int | None = None
    tid: int | None = None
    thread_name: str | None = None
    unknown: bytes = b""


@dataclass(slots=True)
class Counter:
    unknown: bytes = b""


@dataclass(slots=True)
class Track:
    uuid: int | None = None
    name: str | None = None
    process: Any = None
    thread: Any = None
    parent: int | None = None
    counter: Any = None
    unknown: bytes = b""


@dataclass(slots=True)
class Note:
    text: str | None = None
    number: int | None = None
    name: str | None = None
    unknown: bytes = b""


@dataclass(slots=True)
class TrackEvent:
    notes: list[Any] = field(default_factory=list)
    type: int | None = None
    track: int | None = None
    categories: list[str] = field(default_factory=list)
    name: str | None = None
    value: int | None = None
    unknown: bytes = b""


@dataclass(slots=True)
class Packet:
    timestamp: int | None = None
    sequence: int | None = None
    event: Any = None
    flags: int | None = None
    track: Any = None
    unknown: bytes = b""


@dataclass(slots=True)
class Trace:
    packets: list[Any] = field(default_factory=list)
    unknown: bytes = b""


_process = Schema(Process, "a process", Field(1, "pid", "int32"), Field(6, "process_name", "text"))
_thread = Schema(Thread, "a thread", Field(1, "pid", "int32"), Field(2, "tid", "int"), Field(5, "thread_name", "text"))
_counter = Schema(Counter, "a counter")
_track = Schema(
    Track, "a track", Field(1, "uuid", "int"), Field(2, "name", "text"), Field(3, "process", _process), Field(4, "thread", _thread),
    Field(5, "parent", "int"), Field(8, "counter", _counter),
)
_note = Schema(Note, "an annotation", Field(4, "number", "int"), Field(6, "text", "text"), Field(10, "name", "text"))
_event = Schema(
    TrackEvent, "an event", Field(4, "notes", _note, repeated=True), Field(9, "type", "int"), Field(11, "track", "int"),
    Field(22, "categories", "text", repeated=True), Field(23, "name", "text"), Field(30, "value", "int"),
)
_packet = Schema(
    Packet, "a packet", Field(8, "timestamp", "int"), Field(10, "sequence", "int"), Field(11, "event", _event), Field(13, "flags", "int"),
    Field(60, "track", _track),
)
_trace = Schema(Trace, "a trace", Field(1, "packets", _packet, repeated=True))


def write(result: ProfilerResult) -> bytes:
    """The bytes of a trace."""
    process = 2  # the uuid of its track; the counter's is 1, a thread's comes behind
    tracks = {thread: process + 1 + at for at, thread in enumerate(dict.fromkeys([*result.threads, *(e.thread for e in result.events)]))}
    packets = [
        Packet(sequence=_SEQUENCE, flags=_STATE_CLEARED, track=Track(
            uuid=process, name=json.dumps(result.about()), process=Process(pid=result.process, process_name=f"Process {result.process} (CPU)"))),
    ]
    for thread, uuid in tracks.items():
        name = result.threads.get(thread, str(thread))
        packets.append(Packet(sequence=_SEQUENCE, track=Track(
            uuid=uuid, name=str(thread), parent=process, thread=Thread(pid=result.process, tid=uuid, thread_name=name))))
    if result.with_memory:
        packets.append(Packet(sequence=_SEQUENCE, track=Track(uuid=_COUNTER_TRACK, name="allocated bytes", parent=process, counter=Counter())))
    timed: list[tuple[int, int, int, TrackEvent]] = []  # begins of longer events first, ends of shorter ones first
    for at, event in enumerate(result.events):
        notes = [Note(name="inputs", text=described(event.inputs))] if result.with_shapes and event.inputs else []
        if event.ready:
            notes.append(Note(name="ready", number=event.ready - event.begin))
        if result.with_memory and event.allocated:
            notes += [Note(name="allocated", number=event.allocated), Note(name="taken", number=event.taken)]
        track = tracks[event.thread]
        begin = TrackEvent(notes=notes, type=_BEGIN, track=track, categories=[event.kind.name], name=event.name)
        timed.append((event.begin, 1, at, begin))
        timed.append((event.end, 0, -at, TrackEvent(type=_END, track=track)))
        if result.with_memory and event.allocated:
            timed.append((event.end, 2, at, TrackEvent(type=_COUNTER, track=_COUNTER_TRACK, value=event.allocated)))
    timed.sort(key=lambda one: one[:3])
    first = timed[0][0] if timed else 0
    packets += [Packet(timestamp=time - first, sequence=_SEQUENCE, event=event) for time, _, _, event in timed]
    return _trace.write(Trace(packets))


def read(data: bytes, result: ProfilerResult) -> ProfilerResult:
    """Put the trace of these bytes into `result`, which is empty.

    Raises:
        ValueError: `data` is not a Perfetto trace, or has events of other kinds than a Profiler's.
    """
    threads: dict[int, int] = {}
    open_: dict[int, list[Event]] = {}
    for packet in _trace.read(data).packets:
        if packet.track is not None and packet.track.process is not None:
            result.take_about(json.loads(packet.track.name))
        elif packet.track is not None and packet.track.thread is not None:
            threads[packet.track.uuid] = int(packet.track.name)
            result.threads[threads[packet.track.uuid]] = packet.track.thread.thread_name
        elif packet.event is not None and packet.event.type == _BEGIN:
            at = packet.timestamp or 0
            event = Event(TracerEventType[packet.event.categories[0]], packet.event.name, at, at, threads[packet.event.track])
            for note in packet.event.notes:
                if note.name == "inputs":
                    event.inputs = tuple(inputs_of(note.text))
                elif note.name == "ready":
                    event.ready = at + note.number
                elif note.name in ("allocated", "taken"):
                    setattr(event, note.name, note.number)
            open_.setdefault(packet.event.track, []).append(event)
            result.events.append(event)
        elif packet.event is not None and packet.event.type == _END:
            open_[packet.event.track].pop().end = packet.timestamp or 0
    if not threads and data:
        raise ValueError("no thread is described")
    return result


explained(globals())
