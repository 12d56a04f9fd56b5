"""The profiler on the GPU: when work ran there, in tables and in files of traces."""
import json

import numpy as np
import pytest

import wherry_nn as nn
from wherry_autograd import no_grad
from wherry_graph import jit
from wherry_tensor import cuda, ops, to_tensor
from wherry_train import profiler
from wherry_train.profiler import ProfilerTarget, SortedKeys, SummaryView, TracerEventType


def recorded(function, steps=2, **options):
    chosen = {"targets": [ProfilerTarget.CPU, ProfilerTarget.GPU], "on_trace_ready": lambda p: None, **options}
    with profiler.Profiler(**chosen) as p:
        for _ in range(steps):
            function()
            p.step()
    return p


def kernels(p):
    return [event for event in p.profiler_result.events if event.kind is TracerEventType.Kernel]


def test_each_op_has_a_time_on_the_device_after_it_was_handed_over(gpu):
    x = to_tensor(np.ones((64, 64), "float32"))
    p = recorded(lambda: ops.exp(x + x), record_shapes=True)
    found = kernels(p)
    assert [event.name for event in found] == ["add", "exp"] * 2
    handed = [event for event in p.profiler_result.events if event.kind is TracerEventType.Operator]
    assert [event.name for event in handed] == ["add", "exp"] * 2
    for one, other in zip(handed, found):
        assert other.end > other.begin
        assert other.end > one.begin
        assert other.inputs == one.inputs
    assert all(first.end <= second.begin for first, second in zip(found, found[1:]))  # a stream runs one after the other
    assert {p.profiler_result.threads[event.thread] for event in found} == {"gpu:0 stream 0"}


def test_streams_have_rows_of_their_own(gpu):
    side, x = cuda.Stream(), to_tensor(np.ones(64, "float32"))

    def work():
        ops.exp(x)
        with cuda.stream_guard(side):
            ops.tanh(x)

    p = recorded(work)
    rows = {event.name: p.profiler_result.threads[event.thread] for event in kernels(p)}
    assert rows == {"exp": "gpu:0 stream 0", "tanh": "gpu:0 stream 1"}


def test_steps_of_programs_and_chains_have_times(gpu):
    layer = nn.Sequential(nn.Linear(8, 8), nn.GELU())
    program = jit.to_static(layer)
    x = to_tensor(np.ones((4, 8), "float32"))
    with no_grad():
        p = recorded(lambda: program(x), steps=3)
    names = {event.name for event in kernels(p)}
    assert any("matmul" in name or "linear" in name for name in names), names
    assert len(kernels(p)) >= 6


def test_tables_have_columns_of_the_device(gpu, capsys):
    x = to_tensor(np.ones((64, 64), "float32"))
    p = recorded(lambda: ops.exp(x + x))
    p.summary(sorted_by=SortedKeys.GPUTotal)
    text = capsys.readouterr().out
    assert "GPU Total / Avg / Max / Min / Ratio(%)" in text
    assert "Kernel Summary" in text
    assert "gpu:0 stream 0" in text
    rows = [line for line in text.splitlines() if line.startswith(("add ", "exp "))]
    assert len(rows) == 4  # of the operators, and of the kernels
    p.summary(views=SummaryView.DeviceView)
    (row,) = [line for line in capsys.readouterr().out.splitlines() if line.startswith("gpu:0 stream 0")]
    assert 0 < float(row.split()[-1]) <= 100


def test_memory_is_that_of_the_device(gpu):
    x = to_tensor(np.ones(1000, "float32"))
    held = []
    p = recorded(lambda: held.append(ops.exp(x)), steps=1, profile_memory=True)
    (event,) = [e for e in p.profiler_result.events if e.kind is TracerEventType.Operator]
    assert event.taken == 4000
    assert event.allocated == cuda.memory_allocated()


@pytest.mark.parametrize("format", ["json", "pb"])
def test_files_keep_the_rows_of_the_device(gpu, tmp_path, format):
    x = to_tensor(np.ones((8, 8), "float32"))
    p = recorded(lambda: x @ x)
    path = tmp_path / f"trace.{format}"
    p.export(str(path), format)
    back = profiler.load_profiler_result(str(path))
    again = [event for event in back.events if event.kind is TracerEventType.Kernel]
    assert [event.name for event in again] == [event.name for event in kernels(p)]
    assert "gpu:0 stream 0" in back.threads.values()
    if format == "json":
        events = json.loads(path.read_text())["traceEvents"]
        (row,) = [one["tid"] for one in events if one["ph"] == "M" and one["args"]["name"] == "gpu:0 stream 0"]
        assert {one["cat"] for one in events if one["ph"] == "X" and one["tid"] == row} == {"Kernel"}


def test_an_op_that_fails_leaves_the_profiler_going(gpu):
    def work():
        with pytest.raises(ValueError, match="matmul"):
            ops.matmul(to_tensor(np.ones((2, 3), "float32")), to_tensor(np.ones((2, 3), "float32")), transpose_x=False, transpose_y=False)
        ops.exp(to_tensor(np.ones(3, "float32")))

    assert "exp" in [event.name for event in kernels(recorded(work))]


def test_without_the_target_no_times_are_taken(gpu):
    x = to_tensor(np.ones(8, "float32"))
    assert kernels(recorded(lambda: ops.exp(x), targets=[ProfilerTarget.CPU])) == []
    assert kernels(recorded(lambda: ops.exp(x), targets=None)) != []  # what is there
