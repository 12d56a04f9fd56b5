"""`paddle.profiler`: where the time of a program goes.

`Profiler` records the steps that its scheduler picks and gives what happened to `on_trace_ready`. What is recorded: each op
and its kernel, each gradient rule, `backward`, `Optimizer.step`, calls of layers, batches of a DataLoader, and the user's own
`RecordEvent`, on every thread. It costs nothing while nothing is recorded.
"""
from wherry_train.profiler.events import RecordEvent, TracerEventType
from wherry_train.profiler.profiler import Profiler, ProfilerTarget
from wherry_train.profiler.results import ProfilerResult, export_chrome_tracing, export_protobuf, load_profiler_result
from wherry_train.profiler.schedule import ProfilerState, make_scheduler
from wherry_train.profiler.statistics import SortedKeys, SummaryView

__all__ = [
    "Profiler", "ProfilerResult", "ProfilerState", "ProfilerTarget", "RecordEvent", "SortedKeys", "SummaryView", "TracerEventType",
    "export_chrome_tracing", "export_protobuf", "load_profiler_result", "make_scheduler",
]
