"""Stub of wherry.profiler, written by tools/stubs.py: where each public name comes from."""
from wherry_train.profiler.events import RecordEvent as RecordEvent
from wherry_train.profiler.events import TracerEventType as TracerEventType
from wherry_train.profiler.profiler import Profiler as Profiler
from wherry_train.profiler.profiler import ProfilerTarget as ProfilerTarget
from wherry_train.profiler.results import ProfilerResult as ProfilerResult
from wherry_train.profiler.results import export_chrome_tracing as export_chrome_tracing
from wherry_train.profiler.results import export_protobuf as export_protobuf
from wherry_train.profiler.results import load_profiler_result as load_profiler_result
from wherry_train.profiler.schedule import ProfilerState as ProfilerState
from wherry_train.profiler.schedule import make_scheduler as make_scheduler
from wherry_train.profiler.statistics import SortedKeys as SortedKeys
from wherry_train.profiler.statistics import SummaryView as SummaryView
__all__: list[str]
