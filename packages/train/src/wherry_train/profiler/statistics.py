"""The tables of a trace: time by kind, by phase of a step, by op; memory; what the user named."""
from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum

from wherry_tensor.explained import explained
from wherry_train.profiler.events import Event, TracerEventType
from wherry_train.profiler.results import ProfilerResult

__all__ = ["UNITS", "SortedKeys", "SummaryView", "tables"]

UNITS = {"s": 1e9, "ms": 1e6, "us": 1e3, "ns": 1.0}

_PHASES = (TracerEventType.Dataloader, TracerEventType.Forward, TracerEventType.Backward, TracerEventType.Optimization)
_USER = (TracerEventType.PythonUserDefined, TracerEventType.UserDefined)


class SortedKeys(Enum):
    """What the rows of a summary are sorted by, the largest first (for `...Min` the smallest).

    Source:
        `paddle.profiler.SortedKeys`. Without times of a GPU its keys sort as those of the cpu.
    """

    CPUTotal = 0
    CPUAvg = 1
    CPUMax = 2
    CPUMin = 3
    GPUTotal = 4
    GPUAvg = 5
    GPUMax = 6
    GPUMin = 7


class SummaryView(Enum):
    """A table of `Profiler.summary`.

    Source:
        `paddle.profiler.SummaryView`.
    """

    DeviceView = 0
    OverView = 1
    ModelView = 2
    DistributedView = 3
    KernelView = 4
    OperatorView = 5
    MemoryView = 6
    MemoryManipulationView = 7
    UDFView = 8


@dataclass(slots=True)
class Row:
    """The calls of one op, layer or event; times in nanoseconds."""

    name: str
    calls: int = 0
    total: int = 0
    longest: int = 0
    shortest: int = 0

    def add(self, duration: int) -> None:
        self.shortest = duration if not self.calls else min(self.shortest, duration)
        self.longest = max(self.longest, duration)
        self.calls += 1
        self.total += duration

    @property
    def average(self) -> float:
        return self.total / self.calls if self.calls else 0.0

    def cell(self, unit: float, whole: float) -> str:
        numbers = (self.total / unit, self.average / unit, self.longest / unit, self.shortest / unit, percent(self.total, whole))
        return " / ".join(f"{number:.2f}" for number in numbers)


def percent(part: float, whole: float) -> float:
    return 100.0 * part / whole if whole else 0.0


def union(events: Iterable[Event]) -> int:
    """Nanoseconds that are covered by at least one of the events."""
    total, until = 0, -1
    for begin, end in sorted((event.begin, event.end) for event in events):
        total += max(0, end - max(begin, until))
        until = max(until, end)
    return total


def rows_of(events: Iterable[Event]) -> dict[str, Row]:
    rows: dict[str, Row] = {}
    for event in events:
        rows.setdefault(event.name, Row(event.name)).add(event.duration)
    return rows


def in_order(rows: Iterable[Row], by: SortedKeys) -> list[Row]:
    key = by.value % 4
    if key == SortedKeys.CPUMin.value:
        return sorted(rows, key=lambda row: row.shortest)
    return sorted(rows, key=lambda row: (row.total, row.average, row.longest)[key], reverse=True)


def written(title: str, heads: Sequence[str], rows: Iterable[Sequence[str]], notes: Sequence[str] = ()) -> str:
    """A table with a title above and notes below; an entry of one cell goes over the whole width."""
    rows = list(rows)
    widths = [max([len(head), *(len(row[at]) for row in rows if len(row) > 1)]) for at, head in enumerate(heads)]
    rule = "  ".join("-" * width for width in widths)
    lines = [f"{title} Summary".center(len(rule), "-"), *notes, rule]
    for row in (heads, *rows):
        cells = [row[0].center(len(rule), "-")] if len(row) == 1 else [cell.ljust(w) for cell, w in zip(row, widths, strict=True)]
        lines.append("  ".join(cells).rstrip())
        if row is heads:
            lines.append(rule)
    return "\n".join([*lines, rule])


def tables(
    result: ProfilerResult, views: Sequence[SummaryView], by: SortedKeys, unit: str, op_detail: bool, by_thread: bool
) -> dict[SummaryView, str]:
    """The tables of those views that have something to show, in Paddle's order."""
    nanoseconds = UNITS[unit]
    makers = {
        SummaryView.DeviceView: lambda: device(result),
        SummaryView.OverView: lambda: overview(result, unit, nanoseconds),
        SummaryView.ModelView: lambda: model(result, unit, nanoseconds),
        SummaryView.KernelView: lambda: kernels_of_devices(result, by, unit, nanoseconds),
        SummaryView.OperatorView: lambda: operators(result, by, unit, nanoseconds, op_detail, by_thread),
        SummaryView.MemoryView: lambda: memory(result),
        SummaryView.UDFView: lambda: user_defined(result, by, unit, nanoseconds, by_thread),
    }
    made = {view: makers[view]() for view in SummaryView if view in views and view in makers}
    return {view: text for view, text in made.items() if text}


def of_kind(result: ProfilerResult, *kinds: TracerEventType) -> list[Event]:
    return [event for event in result.events if event.kind in kinds]


def step_time(result: ProfilerResult) -> int:
    """The time of the steps, to which ratios refer."""
    return union(of_kind(result, TracerEventType.ProfileStep))


def device(result: ProfilerResult) -> str:
    rows = [("CPU(Process)", f"{100 * result.process_load:.2f}")]
    if result.system_load is not None:
        rows.append(("CPU(System)", f"{100 * result.system_load:.2f}"))
    # What was handed over in the last step may run after it.
    whole = max((event.end for event in result.events), default=0) - min((event.begin for event in result.events), default=0)
    for row in dict.fromkeys(event.thread for event in of_kind(result, TracerEventType.Kernel)):
        busy = union(event for event in of_kind(result, TracerEventType.Kernel) if event.thread == row)
        rows.append((result.threads.get(row, str(row)), f"{percent(busy, whole):.2f}"))
    note = "CPU(Process): time of this process on all cores / elapsed time. CPU(System): share of all cores that was busy."
    return written("Device", ("Device", "Utilization (%)"), rows, [note])


def overview(result: ProfilerResult, unit: str, nanoseconds: float) -> str:
    whole = step_time(result)
    kinds: dict[TracerEventType, list[Event]] = defaultdict(list)
    for event in result.events:
        if event.kind == TracerEventType.Kernel:
            continue  # time of a device
        kinds[event.kind].append(event)
        if event.ready:  # the kernel of an op
            kinds[TracerEventType.OperatorInner].append(Event(TracerEventType.OperatorInner, event.name, event.ready, event.end, event.thread))
    rows = sorted(((kind, len(some), union(some)) for kind, some in kinds.items()), key=lambda row: (row[0] != TracerEventType.ProfileStep, -row[2]))
    cells = [
        (("" if kind == TracerEventType.ProfileStep else "  ") + kind.name, str(calls), f"{time / nanoseconds:.2f}", f"{percent(time, whole):.2f}")
        for kind, calls, time in rows
    ]
    notes = [f"Time unit: {unit}", "Time that several events of a kind cover counts once; kinds contain each other."]
    return written("Overview", ("Event Type", "Calls", "CPU Time", "Ratio (%)"), cells, notes)


def outermost(events: Iterable[Event]) -> list[Event]:
    """Without those that lie within another one of their thread."""
    until: dict[int, int] = defaultdict(lambda: -1)
    kept = []
    for event in sorted(events, key=lambda event: (event.begin, -event.end)):
        if event.begin >= until[event.thread]:
            until[event.thread] = event.end
            kept.append(event)
    return kept


def model(result: ProfilerResult, unit: str, nanoseconds: float) -> str:
    steps = Row("ProfileStep")
    for event in of_kind(result, TracerEventType.ProfileStep):
        steps.add(event.duration)
    if not steps.calls:
        return ""
    whole = step_time(result)
    rows = [("ProfileStep", str(steps.calls), steps.cell(nanoseconds, whole))]
    others = whole
    for kind in _PHASES:
        row = Row(kind.name)
        for event in outermost(of_kind(result, kind)):
            row.add(event.duration)
        others -= row.total
        rows.append((f"  {kind.name}", str(row.calls), row.cell(nanoseconds, whole)))
    rows.append(("  Others", "-", f"{others / nanoseconds:.2f} / - / - / - / {percent(others, whole):.2f}"))
    return written("Model", ("Name", "Calls", "CPU Total / Avg / Max / Min / Ratio(%)"), rows, [f"Time unit: {unit}"])


def by_threads(result: ProfilerResult, events: list[Event], by_thread: bool) -> list[tuple[str, list[Event]]]:
    if not by_thread:
        return [("All threads merged", events)]
    threads = dict.fromkeys(event.thread for event in events)
    return [(result.threads.get(thread, str(thread)), [event for event in events if event.thread == thread]) for thread in threads]


def operators(result: ProfilerResult, by: SortedKeys, unit: str, nanoseconds: float, op_detail: bool, by_thread: bool) -> str:
    events = of_kind(result, TracerEventType.Operator)
    if not events:
        return ""
    cells: list[tuple[str, ...]] = []
    there = {} if by_thread else rows_of(of_kind(result, TracerEventType.Kernel))  # which thread asked for it is not known
    busy = sum(row.total for row in there.values())
    for thread, some in by_threads(result, events, by_thread):
        whole = union(some)
        cells.append((f"Thread: {thread}",))
        kernels = rows_of(Event(e.kind, e.name, e.ready, e.end, e.thread) for e in some if e.ready)
        finding = rows_of(Event(e.kind, e.name, e.begin, e.ready, e.thread) for e in some if e.ready)
        rows = rows_of(some)
        order = in_order(rows.values(), by)
        if there and by.value >= SortedKeys.GPUTotal.value:
            order = in_order((there.get(name, Row(name)) for name in rows), by)
        for name in (row.name for row in order):
            row = rows[name]
            on_device = ([there[name].cell(nanoseconds, busy)] if name in there else ["-"]) if there else []
            cells.append((name, str(row.calls), row.cell(nanoseconds, whole), *on_device))
            if op_detail and name in kernels:
                for what, part in (("plan", finding[name]), ("compute", kernels[name])):
                    cells.append((f"  {name}::{what}", str(part.calls), part.cell(nanoseconds, row.total), *([""] if there else [])))
    if there:
        heads = ("Name", "Calls", "CPU Total / Avg / Max / Min / Ratio(%)", "GPU Total / Avg / Max / Min / Ratio(%)")
        notes = [f"Time unit: {unit}", "CPU: handing the op over (compute: to the stream). GPU: between the events around it in the stream."]
        return written("Operator", heads, cells, notes)
    notes = [f"Time unit: {unit}", "An op that others are made of counts in those too. plan: shapes and the choice of a kernel; compute: the kernel."]
    return written("Operator", ("Name", "Calls", "CPU Total / Avg / Max / Min / Ratio(%)"), cells, notes)


def kernels_of_devices(result: ProfilerResult, by: SortedKeys, unit: str, nanoseconds: float) -> str:
    events = of_kind(result, TracerEventType.Kernel)
    if not events:
        return ""
    cells: list[tuple[str, ...]] = []
    for stream in dict.fromkeys(event.thread for event in events):
        some = [event for event in events if event.thread == stream]
        cells.append((result.threads.get(stream, str(stream)),))
        whole = sum(event.duration for event in some)
        cells += [(row.name, str(row.calls), row.cell(nanoseconds, whole)) for row in in_order(rows_of(some).values(), by)]
    notes = [f"Time unit: {unit}", "An op, or a chain of them that is one kernel, between the events around it in the stream."]
    return written("Kernel", ("Name", "Calls", "GPU Total / Avg / Max / Min / Ratio(%)"), cells, notes)


def memory(result: ProfilerResult) -> str:
    if not result.with_memory:
        return ""
    grown: dict[str, list[int]] = {}
    peak = 0
    for event in result.events:
        peak = max(peak, event.allocated)
        if event.kind == TracerEventType.Operator:
            row = grown.setdefault(event.name, [0, 0, 0, 0])
            row[0] += event.taken > 0
            row[1] += event.taken < 0
            row[2] += max(event.taken, 0)
            row[3] += max(-event.taken, 0)
    rows = [
        (name, str(more), str(less), str(taken), str(freed), str(taken - freed))
        for name, (more, less, taken, freed) in sorted(grown.items(), key=lambda item: item[1][3] - item[1][2])
    ]
    notes = [f"Most bytes that tensors held after an op: {peak}"]
    return written("Memory", ("Name", "Calls That Allocate", "That Free", "Allocated Bytes", "Freed Bytes", "Increase"), rows, notes)


def user_defined(result: ProfilerResult, by: SortedKeys, unit: str, nanoseconds: float, by_thread: bool) -> str:
    events = of_kind(result, *_USER)
    if not events:
        return ""
    whole = step_time(result)
    cells: list[tuple[str, ...]] = []
    for thread, some in by_threads(result, events, by_thread):
        cells.append((f"Thread: {thread}",))
        cells += [(row.name, str(row.calls), row.cell(nanoseconds, whole)) for row in in_order(rows_of(some).values(), by)]
    return written("UserDefined", ("Name", "Calls", "CPU Total / Avg / Max / Min / Ratio(%)"), cells, [f"Time unit: {unit}"])


explained(globals())
