"""paddle.profiler: what is recorded, when, and what files and tables say of it."""
from __future__ import annotations

import json
import threading
import time

import numpy as np
import pytest

from wherry_nn import Linear, ReLU, Sequential
from wherry_tensor import ones, to_tensor
from wherry_tensor._core import is_tracing
from wherry_train import profiler
from wherry_train.io import DataLoader, TensorDataset
from wherry_train.optimizer import SGD
from wherry_train.profiler import ProfilerState, SummaryView, TracerEventType, make_scheduler
from wherry_train.profiler.page import as_page
from wherry_train.profiler.perfetto import write
from wherry_train.profiler.statistics import union
from wherry_train.profiler.timer import Benchmark


def train(steps=6, **arguments):
    """A small loop under a profiler, which is returned stopped."""
    net = Sequential(Linear(4, 8), ReLU(), Linear(8, 2))
    optimizer = SGD(parameters=net.parameters())
    data = TensorDataset([to_tensor(np.ones([4 * steps, 4], "float32"))])
    arguments.setdefault("on_trace_ready", lambda p: None)
    p = profiler.Profiler(**arguments)
    p.start()
    for (x,) in DataLoader(data, batch_size=4):
        with profiler.RecordEvent("loss"):
            loss = net(x).mean()
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        p.step(num_samples=4)
    p.stop()
    return p


def of_kind(p, kind):
    return [event for event in p.profiler_result.events if event.kind == kind]


def test_each_phase_of_the_recorded_steps_is_there_once():
    p = train(scheduler=(2, 5))
    assert [e.name for e in of_kind(p, TracerEventType.ProfileStep)] == ["ProfileStep#2", "ProfileStep#3", "ProfileStep#4"]
    for kind, name in (
        (TracerEventType.Dataloader, "DataLoader"), (TracerEventType.Backward, "backward"), (TracerEventType.Optimization, "SGD.step"),
        (TracerEventType.PythonUserDefined, "loss"),
    ):
        assert [e.name for e in of_kind(p, kind)] == [name] * len(of_kind(p, kind))
        assert len(of_kind(p, kind)) in (3, 2)  # the batch of step 2 was read before it began
    assert [e.name for e in of_kind(p, TracerEventType.Forward)] == ["Sequential", "Linear", "ReLU", "Linear"] * 3


def test_ops_and_their_gradients_have_kernels_and_shapes():
    p = train(scheduler=(1, 2), record_shapes=True)
    ops = of_kind(p, TracerEventType.Operator)
    (first, *_) = [e for e in ops if e.name == "linear"]
    assert first.inputs[:2] == (("float32", (4, 4)), ("float32", (4, 8)))
    assert first.begin <= first.ready <= first.end
    (backward,) = of_kind(p, TracerEventType.Backward)
    rules = [e for e in ops if e.name == "linear_grad"]
    assert len(rules) == 2
    assert all(backward.begin <= e.begin <= e.end <= backward.end for e in rules)


def test_views_are_recorded():
    with profiler.Profiler(on_trace_ready=lambda p: None) as p:
        ones([2, 3]).reshape([3, 2])
    assert "reshape" in [e.name for e in of_kind(p, TracerEventType.Operator)]


def test_other_threads_are_recorded_under_their_names():
    def work():
        with profiler.RecordEvent("there"):
            ones([2]) + ones([2])
        done.set()
        leave.wait(10)

    done, leave = threading.Event(), threading.Event()
    with profiler.Profiler(on_trace_ready=lambda p: None) as p:
        thread = threading.Thread(target=work, name="worker")
        thread.start()
        done.wait(10)
    leave.set()
    thread.join()
    (event,) = of_kind(p, TracerEventType.PythonUserDefined)
    assert p.profiler_result.threads[event.thread] == "worker"


def test_nothing_is_recorded_outside_of_a_profiler():
    call = Linear.__call__
    with profiler.RecordEvent("alone"):
        ones([2]) + 1
    assert not is_tracing()
    train(scheduler=(1, 2))
    assert not is_tracing()
    assert Linear.__call__ is call


def test_results_are_the_same_while_recording():
    x = to_tensor(np.linspace(-2, 2, 12, dtype="float32").reshape(3, 4), stop_gradient=False)
    plain = (x * x).tanh().sum()
    plain.backward()
    expected, x.grad = x.grad.numpy(), None
    with profiler.Profiler(on_trace_ready=lambda p: None):
        traced = (x * x).tanh().sum()
        traced.backward()
    assert traced.item() == plain.item()
    np.testing.assert_array_equal(x.grad.numpy(), expected)


def test_an_error_of_an_op_passes_through_and_the_profiler_goes_on():
    with profiler.Profiler(on_trace_ready=lambda p: None) as p:
        with pytest.raises(ValueError, match="add"):
            ones([2, 3]) + ones([4, 5])
        ones([2]) + 1
    assert [e.name for e in of_kind(p, TracerEventType.Operator)].count("add") == 1


def test_scheduler_of_repeats():
    state = make_scheduler(closed=1, ready=1, record=2, repeat=2, skip_first=1)
    names = " ".join(state(step).name for step in range(11))
    round_ = "CLOSED READY RECORD RECORD_AND_RETURN"
    assert names == f"CLOSED {round_} {round_} CLOSED CLOSED"


def test_each_repeat_hands_out_its_own_steps():
    seen = []
    train(
        scheduler=make_scheduler(closed=1, ready=1, record=1, repeat=2),
        on_trace_ready=lambda p: seen.append([e.name for e in of_kind(p, TracerEventType.ProfileStep)]),
    )
    assert seen == [["ProfileStep#2"], ["ProfileStep#5"]]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"scheduler": "x"}, r"Got 'x', expected \(first, end\)"),
        ({"scheduler": (3, 3)}, "first < end"),
        ({"scheduler": (5, 2)}, "first < end"),
        ({"on_trace_ready": 3}, "on_trace_ready is not callable"),
    ],
)
def test_wrong_arguments_are_named(arguments, message):
    with pytest.raises((ValueError, TypeError), match=message):
        profiler.Profiler(**arguments)


def test_scheduler_needs_a_step_to_record():
    with pytest.raises(AssertionError, match="Invalid profiler scheduler arguments"):
        make_scheduler(closed=1, ready=1, record=0)


def test_two_profilers_cannot_record_at_once():
    with profiler.Profiler(on_trace_ready=lambda p: None), pytest.raises(RuntimeError, match="another profiler is recording"):
        profiler.Profiler(on_trace_ready=lambda p: None).start()


def test_nothing_to_show_is_said():
    p = profiler.Profiler(timer_only=True)
    with pytest.raises(ValueError, match="nothing was recorded"):
        p.export("x.json")


def test_a_target_that_is_not_here_is_said():
    with pytest.warns(UserWarning, match="CUSTOM_DEVICE is not supported"):
        profiler.Profiler(targets=[profiler.ProfilerTarget.CUSTOM_DEVICE], on_trace_ready=lambda p: None)


def test_timer_only_times_steps_and_keeps_no_events(capsys):
    p = train(timer_only=True, steps=12)
    assert p.profiler_result is None
    assert p.step_info(unit="images").endswith(" images/s")
    p.summary()
    shown = capsys.readouterr().out
    assert "Perf Summary" in shown
    assert "reader_cost" in shown
    assert "Operator Summary" not in shown


def test_benchmark_divides_samples_by_time():
    timer = Benchmark()
    timer.begin()
    for _ in range(3):
        begin = time.perf_counter_ns()
        time.sleep(0.01)
        timer.told(begin, time.perf_counter_ns())
        timer.step(5)
    fields = timer.info(None).split()
    reading, batch, speed = float(fields[1]), float(fields[4]), float(fields[7])
    assert 0.01 <= reading <= batch
    assert speed == pytest.approx(5 / batch, rel=0.01)


def test_overlapping_time_counts_once():
    event = profiler.events.Event
    kind = TracerEventType.Operator
    assert union([event(kind, "a", 0, 10, 1), event(kind, "a", 5, 12, 2), event(kind, "a", 20, 21, 1)]) == 13


def test_tables_name_what_was_recorded(capsys):
    p = train(scheduler=(1, 4), profile_memory=True)
    p.summary(time_unit="us")
    shown = capsys.readouterr().out
    for title in ("Device", "Overview", "Model", "Operator", "Memory", "UserDefined"):
        assert f"{title} Summary" in shown
    assert "linear::compute" in shown
    p.summary(views=SummaryView.ModelView, op_detail=False)
    shown = capsys.readouterr().out
    assert "Model Summary" in shown
    assert "Operator Summary" not in shown
    with pytest.raises(ValueError, match="the unit is not known. Got 'min'"):
        p.summary(time_unit="min")
    with pytest.raises(TypeError, match="expected one of SortedKeys"):
        p.summary(sorted_by="total")


def test_phases_and_others_add_up_to_the_steps(capsys):
    train(scheduler=(1, 4)).summary(views=SummaryView.ModelView, time_unit="ns")
    rows = {}
    for line in capsys.readouterr().out.splitlines():
        name, *cells = line.split() or [""]
        if name in ("ProfileStep", "Dataloader", "Forward", "Backward", "Optimization", "Others"):
            rows[name] = float(cells[1])
    assert rows.pop("ProfileStep") == pytest.approx(sum(rows.values()), abs=1)


def relative(result):
    first = min(e.begin for e in result.events)
    return sorted(
        (e.begin - first, e.end - first, e.kind, e.name, e.ready and e.ready - first, e.allocated, e.taken, e.inputs) for e in result.events
    )


@pytest.mark.parametrize("format", ["json", "pb"])
def test_a_trace_is_read_back_as_it_was(tmp_path, format):
    p = train(scheduler=(1, 3), record_shapes=True, profile_memory=True)
    p.export(str(tmp_path / f"trace.{format}"), format)
    read = profiler.load_profiler_result(str(tmp_path / f"trace.{format}"))
    assert relative(read) == relative(p.profiler_result)
    assert list(read.threads.values()) == list(p.profiler_result.threads.values())


def test_chrome_gets_complete_events_in_microseconds(tmp_path):
    train(scheduler=(1, 3), on_trace_ready=profiler.export_chrome_tracing(str(tmp_path / "traces"), "me"))
    (file,) = (tmp_path / "traces").iterdir()
    assert file.name.startswith("me_time_")
    assert file.name.endswith(".paddle_trace.json")
    events = json.loads(file.read_text())["traceEvents"]
    steps = [e for e in events if e.get("cat") == "ProfileStep"]
    assert [e["name"] for e in steps] == ["ProfileStep#1", "ProfileStep#2"]
    assert all(e["ph"] in "XMC" for e in events)
    assert steps[1]["ts"] >= steps[0]["ts"] + steps[0]["dur"]


@pytest.mark.parametrize(
    "data",
    [b"", b"no trace", b"{", b'{"traceEvents": 3}', b'{"traceEvents": [{"ph": "X", "cat": "Nonsense", "name": "a"}]}', b"\x0a\xff\xff", b"[" * 9999],
)
def test_damaged_files_are_refused(tmp_path, data):
    path = tmp_path / "trace"
    path.write_bytes(data)
    if not data:
        assert profiler.load_profiler_result(str(path)).events == []
        return
    with pytest.raises(ValueError, match="this is not a trace of a profiler, or a damaged one"):
        profiler.load_profiler_result(str(path))


def test_cut_protocol_buffers_never_crash(tmp_path):
    data = write(train(scheduler=(1, 2)).profiler_result)
    path = tmp_path / "trace.pb"
    for end in range(1, len(data), max(1, len(data) // 60)):
        path.write_bytes(data[:end])
        try:
            profiler.load_profiler_result(str(path))
        except ValueError as error:
            assert "damaged" in str(error)  # noqa: PT017  other ends are those of whole packets


def test_a_missing_file_is_said(tmp_path):
    with pytest.raises(FileNotFoundError, match="there is no file"):
        profiler.load_profiler_result(str(tmp_path / "none.json"))


def test_a_name_cannot_end_the_script_of_the_page():
    with profiler.Profiler(on_trace_ready=lambda p: None) as p, profiler.RecordEvent("</script><b>"):
        ones([2]) + 1
    page = as_page(p.profiler_result, "<i>")
    assert "</script><b>" not in page
    assert "&lt;i&gt;" in page
    (data,) = [line for line in page.splitlines() if 'id="data"' in line]
    assert "</script><b>" in json.loads(data.split(">", 1)[1].removesuffix("</script>"))["names"]


def test_record_event_is_a_decorator_too():
    @profiler.RecordEvent("named")
    def twice(x):
        return x * 2

    with profiler.Profiler(on_trace_ready=lambda p: None) as p:
        twice(ones([2]))
        twice(ones([2]))
    assert [e.name for e in of_kind(p, TracerEventType.PythonUserDefined)] == ["named"] * 2


def test_states_have_paddles_numbers():
    assert [state.value for state in ProfilerState] == [0, 1, 2, 3]
    assert (TracerEventType.Operator, TracerEventType.PythonUserDefined) == (0, 14)


def test_a_result_is_made_of_events_and_its_files_have_names(tmp_path):
    with pytest.raises(TypeError, match="events is not a list of Events. Got 3"):
        profiler.ProfilerResult(3)
    with pytest.raises(TypeError, match=r"Got \[1\] \(list\), expected a list of Event"):
        profiler.ProfilerResult([1])
    with pytest.raises(TypeError, match="threads is not a dict of names"):
        profiler.ProfilerResult([], 3)
    with pytest.raises(ValueError, match="Profiler.export: 'path' is not a valid file name"):
        profiler.ProfilerResult([]).save("\ud800")
    with pytest.raises(TypeError, match="the argument is not a Profiler. Got 3"):
        profiler.export_chrome_tracing(str(tmp_path))(3)
    with pytest.raises(ValueError, match="'filename' is not a valid file name"):
        profiler.load_profiler_result("\ud800")
