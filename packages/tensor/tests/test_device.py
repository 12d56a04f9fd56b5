import gc

import pytest

import wherry_tensor as w
from wherry_tensor import _core, cuda, device


def test_places_compare_and_print():
    assert w.CPUPlace() == w.CPUPlace() and hash(w.CPUPlace()) == hash(w.CPUPlace())
    assert repr(w.CPUPlace()) == str(w.ones([1]).place) == "Place(cpu)"
    place = w.ones([1]).place
    assert place.is_cpu_place() and not place.is_gpu_place() and not place.is_xpu_place() and not place.is_custom_place()


@pytest.mark.parametrize("make", [
    lambda: w.CUDAPlace(0), lambda: w.CUDAPinnedPlace(), lambda: w.XPUPlace(0), lambda: w.IPUPlace(),
    lambda: w.NPUPlace(0), lambda: device.MLUPlace(0), lambda: w.CustomPlace("npu", 0),
])
def test_absent_places_say_what_is_missing(make):
    with pytest.raises(RuntimeError, match=r"no package for this device is installed. Got .* expected ('cpu'|one of cpu)"):
        make()


def test_the_device_is_the_cpu():
    assert w.set_device("cpu") == w.CPUPlace()
    assert w.get_device() == "cpu"


@pytest.mark.parametrize("name", ["gpu", "gpu:0", "xpu", "npu:1", "mlu", "ipu", "dcu:0", "rocm", "foo", "CustomCPU:0"])
def test_absent_devices_are_refused(name):
    with pytest.raises(ValueError, match=rf"no package for this device is installed. Got '{name}'"):
        w.set_device(name)
    with pytest.raises(ValueError, match=rf"no package for this device is installed. Got '{name}'"):
        w.to_tensor([1.0], place=name)


def test_what_is_neither_dtype_nor_device_is_told_about_both():
    with pytest.raises(TypeError, match=r"unknown dtype. Got 'Mine:1'.*It is not the name of a device either: .*called 'Mine'"):
        w.ones([1]).to("Mine:1")
    with pytest.raises(TypeError, match=r"unknown dtype. Got 'float 32', .*Check the spelling.$"):
        w.ones([1]).to("float 32")


def test_errors_about_absent_devices_say_what_was_looked_for_and_where(monkeypatch):
    monkeypatch.setenv("CUSTOM_DEVICE_ROOT", "/opt/plug-ins")
    with pytest.raises(ValueError, match=r"device plug-in called 'npu', one for Ascend NPUs") as caught:
        w.set_device("npu:0")
    for place in ("entry points wherry.devices", "CUSTOM_DEVICE_ROOT (/opt/plug-ins)", "wherry-plugins", "paddle-plugins"):
        assert place in str(caught.value)
    monkeypatch.delenv("CUSTOM_DEVICE_ROOT")
    with pytest.raises(RuntimeError, match=r"called 'Mine': .*CUSTOM_DEVICE_ROOT \(not set\)"):
        w.CustomPlace("Mine", 0)


@pytest.mark.parametrize("kind", ["npu", "mlu", "xpu", "gpu"])
def test_flags_select_the_number_of_a_device(kind):
    flag = f"FLAGS_selected_{kind}s"
    try:
        w.set_flags({flag: "3,1"})
        assert device._device_name(kind) == (kind, 3) and device._device_name(f"{kind}:2") == (kind, 2)
        w.set_flags({flag: "first"})
        with pytest.raises(ValueError, match=rf"{flag}: devices are numbered. Got 'first'"):
            w.set_device(kind)
    finally:
        w.set_flags({flag: ""})
    assert device._device_name(kind) == (kind, 0)


def test_flags_of_other_kinds_come_from_the_environment(monkeypatch):
    monkeypatch.setenv("FLAGS_selected_customcpus", "2,4")
    assert device._selected("CustomCPU") == 2 and device._selected("other") == 0


@pytest.mark.parametrize("name", ["cpu:0", "gpu:x", "no name", ""])
def test_what_names_no_device_is_refused(name):
    with pytest.raises(ValueError, match=r"not the name of a device"):
        w.set_device(name)


@pytest.mark.parametrize("wrong", [None, 3, ["cpu"]])
def test_devices_are_named_by_text(wrong):
    with pytest.raises(TypeError, match=r"named by a str"):
        w.set_device(wrong)


def test_nothing_else_is_compiled_in():
    for kind in ("cuda", "rocm", "xpu", "npu", "ipu", "cinn", "distribute"):
        assert getattr(w, f"is_compiled_with_{kind}")() is False
    assert w.is_compiled_with_custom_device("npu") is False
    assert w.get_cudnn_version() is None


def test_namespace():
    # Other tests of this process may have registered the reference device.
    assert device.get_all_device_type()[0] == device.get_available_device()[0] == "cpu"
    assert all(kind.startswith("reference") for kind in device.get_all_custom_device_type())
    device.synchronize()
    device.synchronize("cpu")
    with pytest.raises(ValueError, match=r"gpu"):
        device.synchronize("gpu")


def test_cuda_namespace_without_a_gpu():
    assert cuda.device_count() == 0
    cuda.empty_cache()
    for name in ("memory_allocated", "max_memory_allocated", "memory_reserved", "max_memory_reserved", "get_device_name",
                 "get_device_properties", "get_device_capability", "current_stream", "Stream", "Event"):
        with pytest.raises(ValueError, match=rf"device.cuda.{name}: no package for this device"):
            getattr(cuda, name)()
    with pytest.raises(RuntimeError, match=r"synchronize"):
        cuda.synchronize()


def test_memory_is_counted():
    gc.collect()  # what earlier tests left goes now, not in between
    before = device.memory_allocated()
    x = w.zeros([1 << 20], "float32")
    assert device.memory_allocated() - before >= 4 << 20
    assert device.max_memory_allocated() >= device.memory_allocated()
    del x
    assert device.memory_allocated() - before < 4 << 20


def test_tensors_stay_on_the_cpu():
    x = w.ones([2])
    assert x.cpu() is x
    for move in (lambda: x.cuda(), lambda: x.pin_memory(), lambda: x.to("gpu")):
        with pytest.raises(ValueError, match=r"no package for this device"):
            move()


def test_to_changes_the_dtype():
    x = w.ones([2])
    assert x.to("float64").dtype is w.float64
    assert x.to("cpu") is x
    assert x.to("cpu", "int32").dtype is w.int32
    assert x.to(w.ones([1], "int64")).dtype is w.int64
    assert x.to(dtype="float16").dtype is w.float16
    with pytest.raises(TypeError):
        x.to("foo")
    with pytest.raises(TypeError, match=r"unknown arguments"):
        x.to(devise="cpu")


@pytest.mark.parametrize("code", [-1, 7, 29, 255, 256, 1 << 20, -(1 << 31), (1 << 31) - 1])
def test_numbers_that_stand_for_no_device_are_refused(code):
    for call in (
        _core.name_of_device, _core.set_current_device, _core.synchronize, _core.device_memory, _core.get_stream, _core.DeviceStream,
        _core.DeviceEvent, _core.memory_stats, _core.reset_peak_memory_stats, _core.release_memory_cache, _core.get_default_generator,
        lambda n: _core.set_memory_cache_limit(1 << 20, n), lambda n: _core.uninitialized((2,), _core.float32, n),
    ):
        with pytest.raises(ValueError, match="no such device"):
            call(code)


def test_events_that_were_never_made_are_refused():
    event = _core.DeviceEvent.__new__(_core.DeviceEvent)
    for call in event.query, event.synchronize, lambda: event.elapsed(event), lambda: event.record(_core.DeviceStream(0, default=True)):
        with pytest.raises(ValueError, match="never made"):
            call()


@pytest.mark.parametrize(
    "call",
    [
        lambda: device.set_stream(3),
        lambda: device.current_stream().wait_event(3),
        lambda: device.current_stream().wait_stream(3),
        lambda: device.current_stream().record_event(3),
        lambda: device.Stream(stream_base=3),
        lambda: device.stream_guard(3).__enter__(),
    ],
)
def test_what_is_no_stream_or_event_is_refused(call):
    with pytest.raises(TypeError, match=r"must be of the class \w+. Got 3 \(int\), expected an instance"):
        call()


@pytest.mark.parametrize("number", ["1", [], 0.5])
def test_cuda_takes_the_number_of_a_device(number):
    with pytest.raises(TypeError, match="Tensor.cuda: argument 'device_id' must be one integer"):
        w.ones([2]).cuda(number)


def test_the_error_about_gpus_says_what_to_install():
    if not w.is_compiled_with_cuda():
        with pytest.raises(ValueError, match=r"pip install wherry-ops-cuda, .* python -m wherry_ops_cuda build\. Looked for"):
            w.set_device("gpu")
    with pytest.raises(ValueError, match=r"or install its package\. Looked for"):
        w.set_device("xpu")
