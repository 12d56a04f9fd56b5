"""Devices beside the cpu, on the reference device of the testing kit."""
import copy
import gc
import os
import pickle
import subprocess
import sys

import numpy as np
import pytest

import wherry_tensor as w
from wherry_tensor import _core, device, ops
from wherry_tensor.interop import from_dlpack
from wherry_tensor.testing import reference

if reference.compiler() is None:
    pytest.skip("the reference device needs a C compiler", allow_module_level=True)


@pytest.fixture(scope="module")
def library():
    return reference.register()


@pytest.fixture
def current(library):
    before = w.get_device()
    w.set_device("reference")
    yield library
    w.set_device(before)


def there(values, **kwargs):
    return w.to_tensor(np.asarray(values, **kwargs), place="reference")


def test_place_means_what_it_says(library):
    x = there([1.0, 2.0])
    assert repr(x.place) == "Place(reference:0)" and x.place.is_custom_place()
    assert w.get_device() == "cpu" and w.ones([1]).place == w.CPUPlace()
    assert w.to_tensor(x, place="cpu").place == w.CPUPlace()
    assert w.CustomPlace("reference", 0) == x.place


def test_names_of_devices_are_found_in_any_case(library):
    assert w.to_tensor([1.0], place="Reference:0").place == w.CustomPlace("REFERENCE", 0) == w.CustomPlace("reference")
    assert w.device.is_compiled_with_custom_device("Reference")
    with pytest.raises(ValueError, match="'Reference:1'|'reference:1'"):
        w.ones([1]).to("Reference:1")


def test_tensors_have_a_method_named_after_a_device_that_came(library):
    x = w.to_tensor([1.0, 2.0])
    y = x.reference()
    assert repr(y.place) == "Place(reference:0)" and y.tolist() == [1.0, 2.0] and repr(x.reference(0).place) == repr(y.place)
    assert "reference" in dir(x)
    with pytest.raises(ValueError, match=r"Tensor.reference: there is no such device. Got 'reference:7'"):
        x.reference(7)
    with pytest.raises(TypeError, match=r"Tensor.reference: argument 'device_id' must be one integer"):
        x.reference("0")


def test_package_of_a_device_that_fails_is_not_there_and_errors_say_why(monkeypatch):
    class Point:
        name, value = "broken", "broken_package:register"

        def load(self):
            raise OSError("libdriver.so: cannot open shared object file")

    monkeypatch.setattr(device, "_entry_points", lambda: [Point()])
    monkeypatch.setattr(device, "failures", [])
    try:
        with pytest.raises(ValueError, match=r"'broken' \(broken_package:register\) failed with OSError: libdriver.so: cannot open"):
            w.set_device("broken")
        assert "broken" not in "".join(device.get_available_device())
        device._asked.discard("broken")
        assert not w.is_compiled_with_custom_device("broken")
    finally:
        device._asked.discard("broken")


def test_what_could_not_be_loaded_is_told_where_a_device_is_absent(monkeypatch):
    monkeypatch.setattr(device, "failures", ["lib.so: it has no symbol."])
    assert not w.device.is_compiled_with_custom_device("NoSuchDevice")
    with pytest.raises(ValueError, match=r"Got 'NoSuchDevice'.*lib\.so: it has no symbol\."):
        w.set_device("NoSuchDevice")


def test_folders_of_plug_ins_begin_with_the_one_that_is_named(monkeypatch, tmp_path):
    monkeypatch.setenv("CUSTOM_DEVICE_ROOT", str(tmp_path))
    first, *rest = device.plugin_folders()
    assert first == str(tmp_path)
    assert {os.path.basename(path) for path in rest} == {"wherry-plugins", "paddle-plugins"}


def test_new_tensors_are_made_on_the_current_device(current):
    assert w.get_device() == "reference:0"
    for make in (lambda: w.zeros([2]), lambda: w.rand([2]), lambda: w.to_tensor([1, 2]), lambda: w.empty([3]),
                 lambda: w.arange(3), lambda: w.to_tensor(2.5)):
        assert make().place.is_custom_place()
    assert w.to_tensor([1.0], place="cpu").place.is_cpu_place()


def test_work_waits_until_a_value_is_read(current):
    device.synchronize()
    x = w.ones([4])
    y = x * 2.0 + x
    assert current.reference_waiting() >= 3
    assert y.tolist() == [3.0] * 4
    assert current.reference_waiting() == 0


def test_mixed_devices_are_refused_and_both_tensors_named(library):
    x, y = w.ones([2, 3]), there(np.ones((2, 3), "float32"))
    with pytest.raises(ValueError, match=r"add: .* Got 'x' of shape \[2, 3\] on cpu and 'y' of shape \[2, 3\] on reference:0"):
        x + y
    with pytest.raises(ValueError, match=r"on another device"):
        ops.exp.into((y,), x)


def test_numbers_go_along(library):
    x = there([1.0, 2.0], dtype="float32")
    assert (x * 2 + 1.0).tolist() == [3.0, 5.0]
    assert (x * w.to_tensor(3.0)).tolist() == [3.0, 6.0]
    x[0] = 7.0
    assert x.tolist() == [7.0, 2.0] and x[1].item() == 2.0 and x.item(0) == 7.0


def test_tensors_go_there_and_back(library):
    x = w.to_tensor(np.arange(6.0, dtype="float32").reshape(2, 3), stop_gradient=True)
    y = x.to("reference")
    assert y.to("reference") is y and x.cpu() is x
    assert y.T.cpu().numpy().tolist() == x.numpy().T.tolist()
    assert x.to(y).place == y.place
    assert y.to("cpu", "float64").dtype is w.float64


def test_values_are_read_through_one_view(library):
    x = there([[1.5, 2.5], [3.5, 4.5]], dtype="float32")
    assert float(x[0, 1]) == 2.5 and bool(x[0, 0]) and int(x[1, 0]) == 3
    assert "place=Place(reference:0)" in repr(x) and "4.5" in repr(x)
    assert np.asarray(x).tolist() == memoryview(x).tolist() == x.tolist()
    assert not np.asarray(x).flags.writeable
    assert memoryview(x.T).tobytes() == x.numpy().T.tobytes()


def test_pickles_and_copies_keep_their_device(library):
    x = there([1, 2, 3])
    for y in (pickle.loads(pickle.dumps(x)), copy.deepcopy(x)):
        assert y.place == x.place and y.tolist() == [1, 2, 3]


def test_random_numbers_are_those_of_the_cpu(library):
    w.seed(5)
    here = [w.rand([100]).numpy(), w.randperm(50).numpy(), w.normal(shape=[7]).numpy()]
    w.set_device("reference")
    try:
        w.seed(5)
        for expected, found in zip(here, [w.rand([100]), w.randperm(50), w.normal(shape=[7])]):
            np.testing.assert_array_equal(expected, found.numpy())
    finally:
        w.set_device("cpu")


def test_late_errors_come_where_a_value_is_read(current):
    x = w.ones([3])
    out = ops.gather(x, w.to_tensor([0, 9]), axis=0)
    with pytest.raises(IndexError, match="9"):
        out.numpy()
    assert w.ones([2]).tolist() == [1.0, 1.0]  # once


def test_memory_is_counted_for_each_device(current):
    gc.collect()  # what earlier tests left goes now, not in between
    before = device.memory_allocated(), device.memory_allocated("cpu")
    x = w.zeros([1 << 16], "float32")
    assert device.memory_allocated() - before[0] == 4 << 16
    assert device.memory_allocated("cpu") - before[1] < 4 << 16
    del x
    device.synchronize()
    assert device.memory_allocated() == before[0]


def test_streams_and_events(current):
    second = device.Stream("reference")
    x = w.ones([1000])
    made = device.current_stream().record_event()
    with device.stream_guard(second):
        assert device.current_stream() == second
        second.wait_event(made)
        y = x + 1.0
        done = second.record_event()
    assert device.current_stream() != second and not done.query()
    done.synchronize()
    assert done.query() and y.tolist() == [2.0] * 1000
    del x, y
    second.synchronize()


def test_memory_used_on_two_streams_ends_after_both(current):
    second = device.Stream("reference")
    x = w.ones([5000])
    device.synchronize()
    with device.stream_guard(second):
        y = x * 3.0
    del x  # freed in the order of the first stream, which now waits for the second
    device.synchronize()
    assert y.tolist() == [3.0] * 5000


def test_streams_of_the_cpu_are_refused():
    with pytest.raises(NotImplementedError, match="one stream"):
        device.Stream("cpu")


def test_dlpack_goes_to_the_device_and_back(current):
    x = w.arange(6)
    assert x.__dlpack_device__() == (12, 0)
    y = from_dlpack(x)
    y[0] = 9
    assert y.place == x.place and x.tolist() == [9, 1, 2, 3, 4, 5]
    assert np.from_dlpack(x.cpu()).tolist() == x.tolist()


def test_cache_keeps_blocks_of_a_device():
    reference.register("reference_cached", caching=True)
    x = w.to_tensor(np.ones(1000, "float32"), place="reference_cached")
    code = _core.device_of(x)
    address = x.data_ptr()
    del x
    assert w.to_tensor(np.ones(1000, "float32"), place="reference_cached").data_ptr() == address
    assert _core.memory_stats(code)["reserved"] >= 4000
    _core.release_memory_cache(code)
    assert _core.memory_stats(code)["reserved"] == _core.memory_stats(code)["allocated"]


def test_memory_cannot_be_touched_by_the_host():
    program = """
import ctypes
import wherry_tensor as w
from wherry_tensor.testing import reference
reference.register()
x = w.to_tensor([1.0], place="reference")
w.device.synchronize("reference")
print(x.item(), flush=True)
ctypes.string_at(x.data_ptr(), 4)
print("read it")
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (-11, "1.0\n")


def test_captured_tensors_know_where_they_will_be(library):
    from wherry_tensor.testing.capture import Program

    x = _core.symbolic((-1, 2), w.float32)
    with Program() as program:
        there_ = (x + 1.0).to("reference")
        twice = there_ * 2.0
        back = twice.cpu()
        made = w.zeros([3])
    assert x.place == w.CPUPlace() and repr(there_.place) == repr(twice.place) == "Place(reference:0)"
    assert back.place == made.place == w.CPUPlace()
    assert [step.op.name for step in program.steps].count("copy_to") == 2
    values = program.replay([(x, w.ones([4, 2], "float32"))], [twice, back])
    assert [repr(v.place) for v in values] == ["Place(reference:0)", "Place(cpu)"]
    assert values[1].tolist() == [[4.0, 4.0]] * 4


def test_what_is_captured_without_inputs_is_on_the_current_device(current):
    from wherry_tensor.testing.capture import Program

    with Program():
        assert w.zeros([3]).place.is_custom_place() and _core.symbolic((2,), w.float32).place.is_custom_place()


def test_plans_are_made_for_each_device(library):
    x, y = w.ones([3]), there(np.ones(3, "float32"))
    for _ in range(2):
        assert (x + x).tolist() == (y + y).tolist() == [2.0] * 3
    from wherry_tensor.ops.declare import Meta
    plans = [_core.plan_of(ops.add, (Meta((3,), w.float32),) * 2, (), name) for name in ("cpu", "reference:0")]
    assert plans[0] is not plans[1]
    assert ops.add.kernel_dtypes("reference") == ops.add.kernel_dtypes("cpu")


def in_a_child(program: str, *path: str) -> str:
    """The output of a program of its own, for devices that others should not see."""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120,
                          env={**os.environ, "PYTHONPATH": os.pathsep.join([*path, os.environ.get("PYTHONPATH", "")])})
    assert done.returncode == 0, done.stderr
    return done.stdout


GPU = """
import wherry_tensor as w
from wherry_tensor import device
from wherry_tensor.testing import reference
reference.register("gpu", caching=True)
from wherry_tensor import cuda
assert cuda.device_count() == 1 and w.is_compiled_with_cuda()
before = cuda.memory_allocated()
x = w.zeros([1 << 18], "float32").cuda()
assert cuda.memory_allocated(0) - before >= 1 << 20 <= cuda.max_memory_allocated("gpu:0")
assert cuda.memory_reserved(w.CUDAPlace(0)) >= 1 << 20 <= cuda.max_memory_reserved()
del x
cuda.empty_cache()
cuda.synchronize()
assert cuda.memory_allocated() == before
assert cuda.get_device_name() == "gpu:0" and cuda.get_device_capability() == (0, 0)
assert cuda.get_device_properties().total_memory > 1 << 30
device.descriptions["gpu"] = lambda number: {"name": f"Painter {number}", "major": 7, "minor": 5}
assert cuda.get_device_name() == "Painter 0" and cuda.get_device_capability(0) == (7, 5)
stream, event = cuda.Stream(), cuda.Event()
with cuda.stream_guard(stream):
    assert cuda.current_stream() == stream
    y = w.ones([3], "float32").cuda() * 2
    event.record()
event.synchronize()
assert event.query() and cuda.current_stream() != stream
for wrong, text in ((1, "expected a number in"), ("cpu", "this is not a GPU"), (-1, "not a place")):
    try:
        cuda.memory_allocated(wrong)
    except ValueError as error:
        assert text in str(error), error
    else:
        raise SystemExit(f"{wrong} is a GPU")
w.set_device("gpu")
kept = w.get_cuda_rng_state()
first = w.rand([3]).tolist()
assert len(kept) == 1 and w.get_cuda_rng_state() != kept
w.set_cuda_rng_state(kept)
assert w.rand([3]).tolist() == first
w.set_device("cpu")
w.set_rng_state(kept, "gpu")
assert w.get_rng_state("gpu") == kept and w.get_device() == "cpu"
print(y.tolist())
"""


def test_cuda_is_what_the_device_table_says_of_the_kind_gpu():
    assert in_a_child(GPU) == "[2.0, 2.0, 2.0]\n"


OTHERS_KERNELS = """
import wherry_tensor as w
from wherry_tensor import _core, ops
from wherry_tensor.testing import reference
reference.register("easel")
x = _core.to_device(w.ones([2], "float32"), _core.device_code("easel"))  # nobody has called set_device
print("there")
print(ops.add(x, x).tolist(), _core.plan_of(ops.add, [ops.declare.Meta((2,), w.float32)] * 2, (), "easel").generation == _core.kernel_generation())
"""


def test_packages_that_add_kernels_are_asked_at_the_first_call_on_a_device(tmp_path):
    (tmp_path / "paint.py").write_text("def register():\n    print('asked')\n")
    facts = tmp_path / "paint-1.0.dist-info"
    facts.mkdir()
    (facts / "METADATA").write_text("Metadata-Version: 2.1\nName: paint\nVersion: 1.0\n")
    (facts / "entry_points.txt").write_text("[wherry.kernels]\neasel = paint:register\n")
    assert in_a_child(OTHERS_KERNELS, str(tmp_path)).splitlines() == ["there", "asked", "[2.0, 2.0] True"]


HOST_FALLBACK = """
import warnings
import numpy as np
import wherry_tensor as w
from wherry_tensor import ops
from wherry_tensor.testing import reference

reference.register("easel", only=("copy", "full", "add"))
a = np.arange(6, dtype="float32").reshape(2, 3)
x = w.to_tensor(a).to("easel")
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    for _ in range(3):
        y = ops.matmul(ops.transpose(x * x, perm=(1, 0)), x + x, transpose_x=False, transpose_y=False)
    w.set_device("easel")
    w.seed(3)
    drawn = ops.uniform(shape=(5,), min=0.0, max=1.0, dtype=w.float32)
    assert y.place == drawn.place == x.place
texts = [str(one.message) for one in caught if "copies its inputs to the cpu" in str(one.message)]
assert sorted(text.partition(":")[0] for text in texts) == ["matmul", "multiply", "uniform"], texts
np.testing.assert_array_equal(y.numpy(), (a * a).T @ (a + a))
w.set_device("cpu")
w.seed(3)
np.testing.assert_array_equal(drawn.numpy(), ops.uniform(shape=(5,), min=0.0, max=1.0, dtype=w.float32).numpy())
print("equal")
"""


def test_what_a_device_lacks_runs_on_copies_in_host_memory_and_waits_for_them():
    assert in_a_child(HOST_FALLBACK) == "equal\n"


def test_a_device_is_told_when_calls_for_many_groups_of_tensors_come(current):
    params, grads, rate = [there([1.0, 2.0]), there([3.0])], [there([1.0, 1.0]), there([1.0])], w.to_tensor(0.5, place="cpu")
    begun = current.reference_brackets()
    ops.sgd.each_into((params,), (params, grads, rate), (0.0,))
    assert current.reference_brackets() == begun + 1
    assert [p.tolist() for p in params] == [[0.5, 1.5], [2.5]]
    with pytest.raises(ValueError, match="must have one shape"):
        ops.sgd.each_into((params,), (params, grads[::-1], rate), (0.0,))
    ops.sgd.each_into((params,), (params, grads, rate), (0.0,))  # the end came after the error too
    assert current.reference_brackets() == begun + 3
    ops.sgd.each_into((params[:1],), (params[:1], grads[:1], rate), (0.0,))  # a list of one
    assert current.reference_brackets() == begun + 3
