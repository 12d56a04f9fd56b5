"""Profiler: records some steps of a loop and says where their time went."""
from __future__ import annotations

import os
import threading
import time
import warnings
from collections.abc import Callable, Iterable
from enum import Enum
from pathlib import Path
from time import perf_counter_ns
from types import TracebackType
from typing import Any

from wherry_tensor import _core
from wherry_tensor.errors import InvalidArgumentError, InvalidTypeError, short
from wherry_tensor.explained import explained
from wherry_tensor.tracebacks import warn
from wherry_train.profiler import events, statistics
from wherry_train.profiler.events import TracerEventType
from wherry_train.profiler.results import ProfilerResult, export_chrome_tracing
from wherry_train.profiler.schedule import ProfilerState, from_steps
from wherry_train.profiler.statistics import SortedKeys, SummaryView
from wherry_train.profiler.timer import Benchmark

__all__ = ["Profiler", "ProfilerTarget"]


class ProfilerTarget(Enum):
    """A kind of device that a profiler records.

    Source:
        `paddle.profiler.ProfilerTarget`.
    """

    CPU = 0
    GPU = 1
    XPU = 2
    CUSTOM_DEVICE = 3


_RECORDING = (ProfilerState.RECORD, ProfilerState.RECORD_AND_RETURN)
_one = threading.Lock()  # there is one recorder in a process


class Profiler:
    """Records some steps of a loop: each op, gradient rule, layer, batch and `RecordEvent`, on every thread.

    Args:
        targets: a list of ProfilerTarget; None takes what is there. With a GPU, each op also has the time that it took there, in a row of its
            own for each stream; the time of the op on the CPU is that of handing it over.
        scheduler: which steps are recorded: None all, `(a, b)` those from step a up to b, b not included, or a function from the number of
            a step to a ProfilerState, such as `make_scheduler` makes.
        on_trace_ready: called with the profiler when recorded steps are complete; None writes a file into ./profiler_log.
        record_shapes: also keep dtypes and shapes of the inputs of ops.
        profile_memory: also show the bytes that tensors hold.
        timer_only: only time steps and reading of batches, which costs next to nothing; there is no trace then.
        emit_nvtx: marks for NVIDIA's tools; without a GPU it has no effect.
        custom_device_types: names of devices from plug-ins; their work is not timed separately.
        with_flops: count operations; not supported.

    Raises:
        TypeError: `scheduler` or `on_trace_ready` has the wrong type.
        ValueError: `scheduler` names no steps (also an AssertionError).

    Source:
        `paddle.profiler.Profiler`. One profiler records at a time in a process.

    Examples:
        >>> from wherry import profiler
        >>> layer = wherry.nn.Linear(4, 2)
        >>> with profiler.Profiler(scheduler=(1, 3), on_trace_ready=lambda p: None) as p:
        ...     for step in range(4):
        ...         layer(wherry.ones([8, 4])).mean().backward()
        ...         p.step()
        >>> [event.name for event in p.profiler_result.events if event.name.startswith("ProfileStep")]
        ['ProfileStep#1', 'ProfileStep#2']
    """

    def __init__(
        self, *, targets: Iterable[ProfilerTarget] | None = None, scheduler: Callable[[int], ProfilerState] | tuple[int, int] | None = None,
        on_trace_ready: Callable[[Profiler], Any] | None = None, record_shapes: bool | None = False, profile_memory: bool | None = False,
        timer_only: bool | None = False, emit_nvtx: bool | None = False, custom_device_types: list[str] | None = [],  # noqa: B006  Paddle's default; not changed
        with_flops: bool | None = False,
    ) -> None:
        if on_trace_ready is not None and not callable(on_trace_ready):
            raise InvalidTypeError(
                f"Profiler: on_trace_ready is not callable. Got {short(on_trace_ready)} ({type(on_trace_ready).__name__}), expected "
                f"a callable, such as export_chrome_tracing('traces')."
            )
        self._state_of = from_steps(scheduler)
        self.targets = [ProfilerTarget.CPU] if targets is None else list(targets)
        self._devices = _gpus() if targets is None or ProfilerTarget.GPU in self.targets else []
        for target in self.targets:
            if target is not ProfilerTarget.CPU and not (target is ProfilerTarget.GPU and self._devices):
                warn(f"Profiler: {target} is not supported here: only the CPU and GPUs have times of their own.", UserWarning)
        if with_flops:
            warn("Profiler: with_flops has no effect: operations are not counted. `wherry.flops` counts those of a network.", UserWarning)
        self.on_trace_ready = export_chrome_tracing("./profiler_log/") if on_trace_ready is None and not timer_only else on_trace_ready
        self.record_shapes, self.profile_memory, self.timer_only = bool(record_shapes), bool(profile_memory), bool(timer_only)
        self.step_num = 0
        self.previous_state = self.current_state = ProfilerState.CLOSED
        self.profiler_result: ProfilerResult | None = None
        self._benchmark = Benchmark()
        self._running = self._recording = False
        self._step_begun = self._begun = 0
        self._started = self._cpu_time = 0.0
        self._busy: tuple[float, float] | None = None

    def __enter__(self) -> Profiler:
        self.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.stop()

    def start(self) -> None:
        """Step 0 begins. Start before a loop over a DataLoader: loops that run already are not timed.

        Raises:
            RuntimeError: another profiler records.
        """
        if self._running:
            return
        self.current_state = self._state_of(self.step_num)
        self._follow()
        self._running = True
        self._benchmark.begin()
        events.watch_reading(self._benchmark.told)
        self._step_begun = perf_counter_ns()

    def stop(self) -> None:
        """End the last step, and hand out recorded steps that are left."""
        if not self._running:
            return
        self._running = False
        events.leave_reading(self._benchmark.told)
        self._benchmark.end()
        if self._recording:
            self._note_step()
            self._collect()
            self._hand_out()
        self.previous_state = self.current_state = ProfilerState.CLOSED

    def step(self, num_samples: int | None = None) -> None:
        """A step ends, the next one begins.

        Args:
            num_samples: how many samples the step used, for samples per second.

        Raises:
            ValueError: `num_samples` is less than 0.
        """
        if num_samples is not None and (isinstance(num_samples, bool) or not isinstance(num_samples, int) or num_samples < 0):
            raise InvalidArgumentError(
                f"Profiler.step: num_samples is not a number of samples. Got {short(num_samples)}, expected an int >= 0, or None."
            )
        if not self._running:
            return
        self._benchmark.step(num_samples)
        if self._recording:
            self._note_step()
        self.step_num += 1
        self.previous_state, self.current_state = self.current_state, self._state_of(self.step_num)
        finished = self.previous_state is ProfilerState.RECORD_AND_RETURN or (self._recording and self.current_state not in _RECORDING)
        if self._recording and finished:
            self._collect()
            self._hand_out()
        self._follow()
        self._step_begun = perf_counter_ns()

    def step_info(self, unit: str | None = None) -> str:
        """One line on the steps since it was asked last: time of reading, of a step, and steps (or samples) per second.

        Args:
            unit: what `num_samples` counts, such as "images".
        """
        return self._benchmark.info(unit)

    def export(self, path: str = "", format: str = "json") -> None:
        """Write what was recorded last.

        Args:
            path: of the file.
            format: "json" for chrome://tracing and ui.perfetto.dev, "pb" for the latter.

        Raises:
            ValueError: nothing was recorded, or another format.
        """
        self._result("export").save(path, format)

    def summary(
        self, sorted_by: SortedKeys = SortedKeys.CPUTotal, op_detail: bool = True, thread_sep: bool = False, time_unit: str = "ms",
        views: SummaryView | list[SummaryView] | None = None,
    ) -> None:
        """Print tables of what was recorded last; with `timer_only` that of times of steps.

        Args:
            sorted_by: the order of the rows.
            op_detail: also show the parts of each op.
            thread_sep: a part for each thread.
            time_unit: "s", "ms", "us" or "ns".
            views: which tables; None prints all that have something to show. There is none of copies between devices, or of communication.

        Raises:
            ValueError: there is no such unit, or nothing was recorded.
            TypeError: `sorted_by` or `views` is something else.
        """
        if not isinstance(sorted_by, SortedKeys):
            raise InvalidTypeError(f"Profiler.summary: sorted_by is not a SortedKeys. Got {short(sorted_by)}, expected one of SortedKeys.")
        if time_unit not in statistics.UNITS:
            raise InvalidArgumentError(f"Profiler.summary: the unit is not known. Got {short(time_unit)}, expected 's', 'ms', 'us' or 'ns'.")
        chosen = list(SummaryView) if views is None else [views] if isinstance(views, SummaryView) else list(views)
        if not all(isinstance(view, SummaryView) for view in chosen):
            raise InvalidTypeError(
                f"Profiler.summary: views are not SummaryViews. Got {short(views)}, expected one of SummaryView, or a list of them."
            )
        if not self.timer_only:
            for text in statistics.tables(self._result("summary"), chosen, sorted_by, time_unit, op_detail, thread_sep).values():
                print(text, end="\n\n")
        if (timed := self._benchmark.table()) and views is None:
            print(timed)

    def _result(self, what: str) -> ProfilerResult:
        if self.profiler_result is None:
            raise InvalidArgumentError(
                f"Profiler.{what}: nothing was recorded. Got a profiler in state {self.current_state.name} after {self.step_num} steps, expected "
                f"recorded steps. Let scheduler name steps that happen, call stop() first, and leave out timer_only."
            )
        return self.profiler_result

    def _follow(self) -> None:
        """Start or stop recording, as the state says."""
        wanted = self.current_state in _RECORDING and not self.timer_only
        if wanted and not self._recording:
            if not _one.acquire(blocking=False):
                raise RuntimeError(
                    "Profiler: another profiler is recording. Got a second one, expected one at a time in a process. Stop the other one first."
                )
            self._recording = True
            self._started, self._begun, self._cpu_time, self._busy = time.time(), perf_counter_ns(), time.process_time(), _busy_time()
            events.start(self._devices)

    def _note_step(self) -> None:
        _core.trace_note(TracerEventType.ProfileStep, f"ProfileStep#{self.step_num}", self._step_begun, perf_counter_ns())

    def _collect(self) -> None:
        """Recording ends: make the result."""
        given, lost, streams = events.stop()
        self._recording = False
        _one.release()
        elapsed = max(perf_counter_ns() - self._begun, 1) / 1e9
        busy, before = _busy_time(), self._busy
        system = None
        if busy is not None and before is not None and busy[1] > before[1]:
            system = (busy[0] - before[0]) / (busy[1] - before[1])
        if not self.record_shapes:
            for event in given:
                event.inputs = ()
        if not self.profile_memory:
            for event in given:
                event.allocated = event.taken = 0
        names = {thread.ident or 0: thread.name for thread in threading.enumerate()} | streams
        self.profiler_result = ProfilerResult(
            given, {t: names.get(t, f"thread {t}") for t in dict.fromkeys(event.thread for event in given)}, os.getpid(), self._started,
            (time.process_time() - self._cpu_time) / elapsed, system, lost, self.record_shapes, self.profile_memory,
        )
        if lost:
            warnings.warn(f"Profiler: {lost} events did not fit into memory. Record fewer steps: scheduler=(10, 15).", RuntimeWarning, stacklevel=3)

    def _hand_out(self) -> None:
        if self.on_trace_ready is not None:
            self.on_trace_ready(self)

    def __repr__(self) -> str:
        return f"<Profiler at step {self.step_num}, {self.current_state.name}>"


def _gpus() -> list[int]:
    """The GPUs of this process, as the core numbers them; none are looked for where none is in use."""
    if "gpu" not in _core.devices():
        return []
    return [_core.device_code("gpu", number) for number in range(_core.devices()["gpu"][1])]


def _busy_time() -> tuple[float, float] | None:
    """Time that all cores were busy, and busy or idle, in ticks since the system started; None where it does not tell."""
    try:
        fields = [int(field) for field in Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:9]]
    except (OSError, ValueError):
        return None
    if len(fields) < 5:
        return None
    return float(sum(fields) - fields[3] - fields[4]), float(sum(fields))


explained(globals())
