"""A trace as one page of HTML that needs nothing else: phases of the steps, a timeline to zoom into, a table of ops."""
from __future__ import annotations

import html
import json
from importlib.resources import files

from wherry_tensor.explained import explained
from wherry_train.profiler.events import Event, TracerEventType, described
from wherry_train.profiler.results import ProfilerResult
from wherry_train.profiler.statistics import outermost

__all__ = ["as_page"]

_MOST_EVENTS = 400_000  # about 20 MB; browsers draw more only slowly


def as_page(result: ProfilerResult, title: str = "trace") -> str:
    """The page.

    Args:
        result: what was recorded.
        title: of the page.

    Raises:
        ValueError: there are no events.
    """
    if not result.events:
        raise ValueError("as_page: the trace is empty. Got no events, expected some. Record steps: Profiler(scheduler=(1, 4)).")
    events = result.events[:_MOST_EVENTS]
    first = min(event.begin for event in events)
    names: dict[str, int] = {}
    kinds = [kind.name for kind in TracerEventType]
    threads = list(dict.fromkeys(event.thread for event in events))
    number = {thread: at for at, thread in enumerate(threads)}
    rows = []
    for event, depth in zip(events, _depths(events), strict=True):
        rows.append([
            names.setdefault(event.name, len(names)), event.kind.value, number[event.thread], depth, event.begin - first, event.duration,
            event.ready - event.begin if event.ready else 0, event.taken, described(event.inputs) if event.inputs else "",
        ])
    data = {
        "names": list(names), "kinds": kinds, "threads": [result.threads.get(thread, str(thread)) for thread in threads], "events": rows,
        "load": result.process_load, "left": len(result.events) - len(events), "lost": result.lost, "memory": result.with_memory,
        "steps": _steps(result, first),
    }
    # In a script element nothing ends the text but "</" and "<!--".
    text = json.dumps(data, separators=(",", ":")).replace("<", "\\u003c")
    template = files("wherry_train.profiler").joinpath("page.html").read_text(encoding="utf-8")
    return template.replace("{{title}}", html.escape(title)).replace("{{data}}", text)


def _depths(events: list[Event]) -> list[int]:
    """How many events each one lies in, on its thread; the events are ordered by their begin."""
    ends: dict[int, list[int]] = {}
    depths = []
    for event in events:
        open_ = ends.setdefault(event.thread, [])
        while open_ and open_[-1] <= event.begin:
            open_.pop()
        depths.append(len(open_))
        open_.append(event.end)
    return depths


def _steps(result: ProfilerResult, first: int) -> list[dict[str, object]]:
    """Of each step its begin, its length and the time of its phases, in nanoseconds."""
    phases = (TracerEventType.Dataloader, TracerEventType.Forward, TracerEventType.Backward, TracerEventType.Optimization)
    of_phase = {kind: outermost(event for event in result.events if event.kind == kind) for kind in phases}
    steps = []
    for step in (event for event in result.events if event.kind == TracerEventType.ProfileStep):
        inside = {
            kind.name: sum(event.duration for event in some if event.begin >= step.begin and event.end <= step.end)
            for kind, some in of_phase.items()
        }
        steps.append({"name": step.name, "begin": step.begin - first, "length": step.duration, "phases": inside})
    return steps


explained(globals())
