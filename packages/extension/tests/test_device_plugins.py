"""Devices that come as libraries: the manual's CustomCPU built by CMake and by setuptools, a device of ours with kernels, and broken ones."""
from __future__ import annotations

import ctypes
import os
import re
import shutil
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

import wherry_nn as nn
import wherry_nn.functional as F
import wherry_tensor as paddle
from wherry_extension import plugins
from wherry_extension.sysconfig import get_include, get_lib
from wherry_tensor import _core, coverage, device, ops

DATA = Path(__file__).parent / "data"
FLAGS = os.environ.get("CFLAGS", "").split()  # those of a sanitizer, for one
CXX, CC = shutil.which("c++") or shutil.which("g++"), shutil.which("cc") or shutil.which("gcc")

pytestmark = [
    pytest.mark.skipif(CXX is None or CC is None, reason="needs a C++ compiler"),
    pytest.mark.skipif(sys.platform != "linux", reason="plug-ins are shared libraries of Linux"),
]


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("plugins")


def run(*command, **kwargs):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False, **kwargs)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


@pytest.fixture(scope="session")
def build(folder):
    """Compiles test_device.c with macros."""

    def compiled(name, *macros, objects=()):
        path = folder / f"lib{name}.so"
        run(CC, "-std=gnu11", "-O1", "-g", "-fPIC", "-c", f"-I{get_include()}", DATA / "test_device.c", "-o", folder / f"{name}.o", *macros, *FLAGS)
        run(CXX, "-shared", *FLAGS, folder / f"{name}.o", *objects, "-o", path)
        return path

    return compiled


@pytest.fixture(scope="session")
def kernels(folder):
    """The kernels, compiled once."""
    path = folder / "test_kernels.o"
    run(CXX, "-std=c++17", "-O1", "-g", "-Wall", "-Werror", "-fPIC", "-c", f"-I{get_include()}", DATA / "test_kernels.cc", "-o", path, *FLAGS)
    return path


@pytest.fixture(scope="session")
def there(build, kernels):
    """The plug-in `TestDevice`, loaded, and its switches."""
    path = build("test_device", "-DASYNC", objects=[kernels])
    plugins.load(path)
    library = ctypes.CDLL(str(path))
    library.calls.restype, library.bytes_in_use.restype = ctypes.c_char_p, ctypes.c_size_t
    return library


@pytest.fixture
def testing(there):
    """TestDevice is the current device, and nothing fails."""
    there.forget()
    paddle.set_device("TestDevice")
    yield there
    there.fail(b"", 0)
    paddle.set_device("cpu")


def log(library):
    return [line.rpartition(":")[0] for line in library.calls().decode().splitlines()]


def made(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape).astype("float32")


# The manual's plug-in, as it is printed.


def site_of(folder, wheel):
    """A folder as pip fills it from a wheel."""
    site = folder / "site-packages"
    shutil.unpack_archive(wheel, site, "zip")
    return site


def manual_sources(folder):
    """The sources with the paths that a reader fills in."""
    target = shutil.copytree(DATA / "custom_cpu", folder)
    for name in ("CMakeLists.txt", "setup.py"):
        text = (target / name).read_text()
        text = re.sub(r"/path/to/site-packages/paddle/include/?", get_include(), text)
        text = text.replace("/path/to/site-packages/paddle/fluid/", get_lib())
        (target / name).write_text(text)
    return target


def by_cmake(folder):
    if shutil.which("cmake") is None:
        pytest.skip("needs CMake")
    source = manual_sources(folder / "cmake")
    (source / "build").mkdir()
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    run("cmake", "..", "-DCMAKE_POLICY_VERSION_MINIMUM=3.5", "-DCMAKE_CXX_FLAGS=-O0", cwd=source / "build", env=environment)
    run("cmake", "--build", ".", cwd=source / "build", env=environment)
    (wheel,) = (source / "build" / "dist").glob("paddle_custom_cpu*.whl")
    return wheel


def by_setuptools(folder):
    source = manual_sources(folder / "setuptools")
    run(sys.executable, "setup.py", "bdist_wheel", cwd=source, env={**os.environ, "CFLAGS": "-O0"})
    (wheel,) = (source / "dist").glob("paddle_custom_cpu*.whl")
    return wheel


MANUAL = """
import warnings
import wherry_tensor as paddle
from wherry_tensor import device
from wherry_extension import plugins
assert device.plugin_folders()[0] == FOLDER, device.plugin_folders()
plugins.load_installed()
print(paddle.device.get_all_custom_device_type(), paddle.device.get_available_custom_device())
print(paddle.set_device('CustomCPU'))
x = paddle.to_tensor([1])
print(x)
print(x + x)
total, free = _core.device_memory(_core.device_code("CustomCPU"))
assert total == 1 << 30 and free < total
with warnings.catch_warnings():
    warnings.simplefilter("error")
    assert (paddle.to_tensor([1.5], dtype="float16") + 1.0).tolist() == [2.5]
    y = paddle.to_tensor([[1.0, 2.0], [3.0, 4.0]])
    assert (y + paddle.to_tensor([10.0, 20.0])).tolist() == [[11.0, 22.0], [13.0, 24.0]]
    assert paddle.transpose(y, [1, 0]).numpy().tolist() == [[1.0, 3.0], [2.0, 4.0]]
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    assert paddle.matmul(y, y).tolist() == [[7.0, 10.0], [15.0, 22.0]]
    paddle.matmul(y, y)
assert len(caught) == 1 and "matmul: 'CustomCPU' has no kernel" in str(caught[0].message)
paddle.set_flags({"FLAGS_host_fallback": False})
try:
    paddle.matmul(y, y)
except NotImplementedError as error:
    print(error)
print(y.customcpu().place, y.cpu().place, y.cpu().to("customcpu:0").place, paddle.CustomPlace("CustomCPU", 0) == y.place)
"""
MANUAL_SAYS = """['CustomCPU'] ['CustomCPU:0']
Place(CustomCPU:0)
Tensor(shape=[1], dtype=int64, place=Place(CustomCPU:0), stop_gradient=True,
       [1])
Tensor(shape=[1], dtype=int64, place=Place(CustomCPU:0), stop_gradient=True,
       [2])
(Unimplemented) no kernel for 'matmul' on CustomCPU, and no decomposition."""


@pytest.mark.parametrize("builder", [by_cmake, by_setuptools])
def test_plug_in_of_the_manual_is_built_found_and_used(builder, tmp_path):
    site = site_of(tmp_path, builder(tmp_path))
    assert [path.name for path in site.iterdir() if path.is_dir() and not path.name.endswith("-info")] == ["paddle-plugins"]
    folder = site / "paddle-plugins"
    program = f"FOLDER = {str(folder)!r}\nfrom wherry_tensor import _core\nimport wherry_ops_cpu.column as c; c.register()\n{MANUAL}"
    said = run(sys.executable, "-c", program, env={**os.environ, "CUSTOM_DEVICE_ROOT": str(folder)})
    assert said.startswith(MANUAL_SAYS), said
    assert said.endswith("Place(CustomCPU:0) Place(cpu) Place(CustomCPU:0) True\n")


def test_plug_ins_are_found_beside_installed_packages(tmp_path, monkeypatch):
    monkeypatch.delenv("CUSTOM_DEVICE_ROOT", raising=False)
    monkeypatch.syspath_prepend(tmp_path / "site-packages")
    assert [os.path.join(tmp_path, "site-packages", name) for name in ("wherry-plugins", "paddle-plugins")] == [
        path for path in device.plugin_folders() if path.startswith(str(tmp_path))
    ]


# Devices: memory, copies, streams.


def test_initialize_comes_first_then_every_device(there):
    first = there.calls().decode().splitlines()[:5]
    assert first == [] or first[:2] == ["initialize:-1", "init_device:7"]
    assert paddle.device.get_available_custom_device()[-2:] == ["TestDevice:0", "TestDevice:1"]
    assert repr(paddle.to_tensor([1.0], place="testdevice:1").place) == "Place(TestDevice:1)"


def test_values_go_there_and_back_in_any_strides(testing):
    for shape in ([], [0], [1], [2, 3], [3, 1, 4], [40, 50]):
        values = made(*shape)
        x = paddle.to_tensor(values)
        assert x.place == paddle.CustomPlace("TestDevice", 0)
        np.testing.assert_array_equal(x.numpy(), values)
        np.testing.assert_array_equal(ops.copy(x).numpy(), values)
    x, values = paddle.to_tensor(made(40, 50)), made(40, 50)
    np.testing.assert_array_equal(ops.copy(x.transpose([1, 0])).numpy(), values.T)
    np.testing.assert_array_equal(ops.copy(x[::2, 5:9]).numpy(), values[::2, 5:9])
    np.testing.assert_array_equal(ops.copy(x[:3]).numpy(), values[:3])
    np.testing.assert_array_equal(ops.copy(paddle.broadcast_to(x[:1], [4, 40, 50][1:])).numpy(), np.repeat(values[:1], 40, 0))
    np.testing.assert_array_equal(ops.copy(paddle.broadcast_to(x[0, :1], [6, 7])).numpy(), np.full((6, 7), values[0, 0]))
    x[1:3, ::2] = paddle.zeros([2, 25])
    values[1:3, ::2] = 0
    np.testing.assert_array_equal(x.numpy(), values)


@pytest.mark.parametrize(
    "dtype", ["bool", "uint8", "int8", "int16", "int32", "int64", "float16", "bfloat16", "float32", "float64", "complex64", "complex128"]
)
@pytest.mark.parametrize("value", [0, 1, 3, 0.1])
def test_memory_is_filled_with_numbers_of_every_dtype(testing, dtype, value):
    there = paddle.full([3, 70], value, dtype)
    paddle.set_device("cpu")
    expected = paddle.full([3, 70], value, dtype)
    assert there.place.is_custom_place() and there.dtype == expected.dtype
    assert there.cpu().tolist() == expected.tolist()


def test_copies_use_the_asynchronous_form_and_streams(testing):
    x = paddle.to_tensor(made(10))
    y = ops.copy(x)
    y.numpy()
    calls = log(testing)
    assert "async_h2d" in calls and "async_d2d" in calls and "async_d2h" in calls and not {"h2d", "d2h", "d2d"} & set(calls)
    assert calls.index("synchronize_stream", calls.index("async_d2h")) > 0  # numpy() waits


def test_copies_wait_for_the_stream_where_there_is_no_asynchronous_form(build):
    path = build("synchronous", '-DNAME="Synchronous"')
    plugins.load(path)
    library = ctypes.CDLL(str(path))
    library.calls.restype = ctypes.c_char_p
    library.forget()
    x = paddle.to_tensor(made(10), place="Synchronous")
    np.testing.assert_array_equal(ops.copy(x).numpy(), made(10))
    assert [c for c in log(library) if "allocate" not in c] == ["synchronize_stream", "h2d", "synchronize_stream", "d2d", "synchronize_stream", "d2h"]
    assert paddle.zeros([3]).to("Synchronous").numpy().tolist() == [0, 0, 0]
    # Without pool sizes of the plug-in, memory is asked for as it is needed, in multiples of the smallest chunk.
    sizes = [int(c.split()[1]) for c in log(library) if c.startswith("allocate")]
    assert sizes and all(size % 512 == 0 for size in sizes)


def test_streams_and_events_are_the_plug_ins(testing):
    stream = paddle.device.Stream("TestDevice")
    with paddle.device.stream_guard(stream):
        x = paddle.to_tensor(made(4))
        event = stream.record_event()
    paddle.device.current_stream("TestDevice").wait_event(event)
    assert event.query()
    event.synchronize()
    np.testing.assert_array_equal(x.numpy(), made(4))
    calls = log(testing)
    for name in ("create_stream", "create_event", "record_event", "stream_wait_event", "synchronize_event"):
        assert name in calls


def test_memory_comes_from_a_pool_of_the_sizes_that_the_plug_in_asks_for(testing):
    kept = [paddle.to_tensor(made(1000)) for _ in range(100)]
    large = paddle.to_tensor(made(5 << 18))  # beyond max_chunk: not of the pool
    sizes = [int(call.split()[1]) for call in log(testing) if call.startswith("allocate")]
    assert all(size % 512 == 0 for size in sizes)
    assert [size for size in sizes if size < 4 << 20] in ([], [1 << 20], [1 << 20, 2 << 20], [2 << 20])
    assert [size for size in sizes if size > 4 << 20] and len(kept) == 100 and large.shape == [5 << 18]
    assert all(x.data_ptr() % 64 == 0 for x in kept)


def test_memory_that_is_not_there_is_an_error_that_says_how_much_there_is(testing):
    with pytest.raises(MemoryError, match=r"TestDevice:0 has no memory for \d+ bytes; \d+ of 67108864 are free.*gave C_FAILED"):
        paddle.zeros([1 << 25])
    assert (paddle.to_tensor([1.0]) + 1.0).item() == 2.0


@pytest.mark.parametrize("call, act", [
    ("async_h2d", lambda: paddle.to_tensor(made(1 << 19))),
    ("async_d2h", lambda: paddle.to_tensor([1.0]).numpy()),
    ("async_d2d", lambda: ops.copy(paddle.to_tensor([1.0]))),
    ("synchronize_stream", lambda: paddle.device.synchronize("TestDevice")),
    ("create_stream", lambda: [paddle.device.Stream("TestDevice") for _ in range(2)]),
    ("create_event", lambda: paddle.device.Event("TestDevice")),
    ("set_device", lambda: paddle.to_tensor([1.0])),
])  # fmt: skip
def test_callbacks_that_fail_are_errors_and_the_cpu_goes_on(testing, call, act):
    testing.fail(call.encode(), 4)
    name = {"async_h2d": "async_memory_copy_h2d", "async_d2h": "async_memory_copy_d2h", "async_d2d": "async_memory_copy_d2d"}.get(call, call)
    with pytest.raises(OSError, match=rf"{name} of TestDevice:0 failed. Got C_INTERNAL_ERROR.*libtest_device\.so"):
        act()
    assert (paddle.to_tensor([1.0], place="cpu") + 1.0).tolist() == [2.0]
    testing.fail(b"", 0)
    assert paddle.to_tensor([3.0]).numpy().tolist() == [3.0]


def test_exit_gives_memory_back_then_leaves_devices_and_runtime(build, folder):
    path = build("ending", '-DNAME="Ending"', "-DTELL", "-DASYNC")
    program = f"""
import wherry_tensor as paddle
from wherry_extension import plugins
plugins.load({str(path)!r})
x = paddle.to_tensor([1.0, 2.0], place="Ending")
y = x.to("Ending:1")
"""
    said = run(sys.executable, "-c", program).replace("\n", " ")
    assert re.search(r"deinit_device:9 finalize:-1  ?in use: 0", said), said


# Kernels.


def test_kernels_of_the_plug_in_serve_ops(testing):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        x, y = paddle.to_tensor(made(3, 4)), paddle.to_tensor(made(4, 5, seed=1))
        np.testing.assert_allclose(paddle.matmul(x, y).numpy(), made(3, 4) @ made(4, 5, seed=1), rtol=1e-6)
        np.testing.assert_array_equal((x + paddle.to_tensor(made(4))).numpy(), made(3, 4) + made(4))
        np.testing.assert_array_equal((x * 2.0 - 1.0).numpy(), made(3, 4) * 2 - 1)
        np.testing.assert_allclose(F.softmax(x).numpy().sum(1), np.ones(3), rtol=1e-6)
        np.testing.assert_array_equal((x < 0.5).numpy(), made(3, 4) < 0.5)  # the version with an axis
        np.testing.assert_allclose(x.sum(axis=0, keepdim=True).numpy(), made(3, 4).sum(0, keepdims=True), rtol=1e-6)
        np.testing.assert_array_equal(paddle.concat([x, x]).numpy(), np.concatenate([made(3, 4)] * 2))
        np.testing.assert_allclose(paddle.sqrt(x * x).numpy(), np.abs(made(3, 4)), rtol=1e-6)  # in memory of its own
    assert coverage._on_device(ops.matmul, "TestDevice") == ("kernel", "float32")


def test_what_a_kernel_cannot_do_is_said_with_its_words(testing):
    x = paddle.to_tensor(made(2, 3, 4))
    with pytest.raises(NotImplementedError, match=r"matmul: the kernel 'matmul' of TestDevice failed. \(Unimplemented\) matmul of ranks 3 and 3"):
        paddle.matmul(x, x, transpose_y=True)


@pytest.mark.parametrize("act, kind, text", [
    (paddle.exp, IndexError, r"\(OutOfRange\) exp has 6 elements of 2, 3.*Hint: Expected x.numel\(\) < 0.*test_kernels.cc:\d+"),
    (paddle.log, OSError, r"\(External\) log: the kernel 'log' of TestDevice failed. log has a bad day"),
    (paddle.sin, OSError, "threw something that is not a std::exception"),
    (paddle.cos, OSError, "output 0 of the kernel: it was given no memory"),
    (paddle.tan, OSError, r"another size than it should. Got \[100\], expected \[2, 3\]"),
    (paddle.floor, OSError, "another dtype than it should. Got int64, expected float32"),
    (paddle.abs, MemoryError, r"TestDevice:0\) has no 4294967296 bytes left"),
])  # fmt: skip
def test_kernels_that_fail_are_errors_of_their_op(testing, act, kind, text):
    x = paddle.to_tensor(made(2, 3))
    with pytest.raises(kind, match=re.compile(text, re.DOTALL)):
        act(x)
    assert (x + x).shape == [2, 3]


@pytest.mark.parametrize("act, name, got", [
    (paddle.square, "square", r"\(const DenseTensor &, int, DenseTensor \*\), expected \(const DenseTensor &, DenseTensor \*\)"),
    (paddle.reciprocal, "reciprocal", "a type that is not supported"),
])  # fmt: skip
def test_kernels_with_other_parameters_are_left_alone_with_one_warning(testing, act, name, got):
    x = paddle.to_tensor(np.abs(made(2, 3)) + 1)
    with pytest.warns(RuntimeWarning, match=rf"TestDevice: the kernel '{name}' is not used.*{got}"):
        first = act(x)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        act(x.reshape([3, 2]) if name == "square" else x)
    np.testing.assert_allclose(first.numpy(), np.square(x.numpy()) if name == "square" else 1 / x.numpy(), rtol=1e-6)


def train(place):
    paddle.set_device(place)
    paddle.seed(3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # pooling runs on the cpu
        net = nn.Sequential(
            nn.Conv2D(1, 4, 3, padding=1), nn.ReLU(), nn.MaxPool2D(2, 2), nn.Conv2D(4, 6, 3), nn.ReLU(), nn.MaxPool2D(2, 2), nn.Flatten(),
            nn.Linear(24, 16), nn.ReLU(), nn.Linear(16, 10),
        )
        for i, parameter in enumerate(net.parameters()):
            parameter.set_value(made(*parameter.shape, seed=i) * 0.2)
        from wherry_train.optimizer import Adam

        optimizer = Adam(0.01, parameters=net.parameters())
        x, label = paddle.to_tensor(made(8, 1, 12, 12)), paddle.to_tensor(np.arange(8) % 10)
        losses = []
        for _ in range(4):
            loss = F.cross_entropy(net(x), label)
            loss.backward()
            optimizer.step()
            optimizer.clear_grad()
            losses.append(float(loss))
    return losses, [parameter.numpy() for parameter in net.parameters()]


def test_a_convolutional_network_trains_as_on_the_cpu(testing):
    pytest.importorskip("wherry_train.optimizer")
    losses, weights = train("TestDevice")
    expected, expected_weights = train("cpu")
    assert losses[-1] < losses[0]
    np.testing.assert_allclose(losses, expected, rtol=1e-5)
    for ours, theirs in zip(weights, expected_weights):
        np.testing.assert_allclose(ours, theirs, rtol=1e-3, atol=1e-5)
    for op in (ops.conv2d, ops.conv2d_input_vjp, ops.conv2d_weight_vjp, ops.cross_entropy, ops.cross_entropy_vjp, ops.adam, ops.relu_vjp):
        assert coverage._on_device(op, "TestDevice")[0] == "kernel", op


def train_normalized(place):
    paddle.set_device(place)
    from wherry_train.optimizer import Momentum

    net = nn.Sequential(
        nn.Conv2D(1, 4, 3), nn.BatchNorm2D(4), nn.ReLU(), nn.Conv2D(4, 6, 3), nn.GroupNorm(2, 6), nn.ReLU(), nn.Dropout(0.25),
        nn.AdaptiveAvgPool2D(1), nn.Flatten(), nn.Linear(6, 3),
    )
    for i, parameter in enumerate(net.parameters()):
        parameter.set_value(made(*parameter.shape, seed=i) * 0.5 + 0.5 * (len(parameter.shape) == 1))
    optimizer = Momentum(0.05, parameters=net.parameters(), grad_clip=nn.ClipGradByGlobalNorm(1.0))
    x, losses = paddle.to_tensor(made(6, 1, 8, 8)), []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # random numbers, and what else has no kernel here
        paddle.seed(5)
        for _ in range(3):
            loss = F.cross_entropy(net(x), paddle.to_tensor(np.arange(6) % 3))
            loss.backward()
            optimizer.step()
            optimizer.clear_grad()
            losses.append(float(loss))
    return losses, [value.numpy() for value in net.state_dict().values()]


def test_a_normalized_network_trains_as_on_the_cpu(testing):
    pytest.importorskip("wherry_train.optimizer")
    losses, state = train_normalized("TestDevice")
    expected, expected_state = train_normalized("cpu")
    np.testing.assert_allclose(losses, expected, rtol=1e-5)
    for ours, theirs in zip(state, expected_state):
        np.testing.assert_allclose(ours, theirs, rtol=1e-3, atol=1e-5)
    for op in (
        ops.batch_norm, ops.batch_norm_vjp, ops.group_norm, ops.group_norm_vjp, ops.layer_norm_vjp, ops.adaptive_avg_pool2d,
        ops.adaptive_avg_pool2d_vjp, ops.dropout_vjp, ops.momentum, ops.sum_of_squares, ops.max_pool2d, ops.put_along_axis, ops.reduce_mean,
    ):  # fmt: skip
        assert coverage._on_device(op, "TestDevice")[0] == "kernel", op


def test_kernels_compute_what_the_cpu_does(testing, monkeypatch):
    programs, bind = [], plugins._Binder.__call__

    def recorded(self, *call):
        programs.append((self._op.name, bind(self, *call)))
        return programs[-1][1]

    monkeypatch.setattr(plugins._Binder, "__call__", recorded)
    x, ct, mask = made(2, 4, 6, 6), made(2, 4, 6, 6, seed=1), (made(2, 4, 6, 6, seed=2) > 0).astype("uint8")
    scale, four = made(4, seed=3), {"epsilon": 1e-5, "data_format": "NCHW"}
    calls = [
        lambda t: ops.batch_norm(t(x), t(scale), None, **four),
        lambda t: ops.batch_norm(t(x), None, None, **four),  # ones are made for the scale, zeros for the bias
        lambda t: ops.batch_norm_vjp(t(ct), t(x), t(scale), t(made(4) * 0.1), t(np.square(made(4)) + 1), **four),
        lambda t: ops.batch_norm_vjp(t(ct), t(x), None, t(made(4) * 0.1), t(np.square(made(4)) + 1), **four),
        lambda t: ops.layer_norm_vjp(t(ct), t(x), t(x[0, 0]), t(made(2, 4)), t(np.square(made(2, 4)) + 1), begin_axis=2),
        lambda t: ops.layer_norm_vjp(t(ct), t(x), None, t(made(2, 4)), t(np.square(made(2, 4)) + 1), begin_axis=2),
        lambda t: ops.group_norm(t(x), t(scale), None, epsilon=1e-5, groups=2),
        lambda t: ops.group_norm_vjp(t(ct), t(x), t(scale), t(made(2, 2)), t(np.square(made(2, 2)) + 1), groups=2),
        lambda t: ops.group_norm_vjp(t(ct), t(x), None, t(made(2, 2)), t(np.square(made(2, 2)) + 1), groups=2),
        lambda t: ops.max_pool2d(t(x), kernel=(2, 2), strides=(2, 2), paddings=(0, 0, 0, 0), ceil_mode=False, data_format="NCHW"),
        lambda t: ops.adaptive_avg_pool2d(t(x), output_size=(1, 1), data_format="NCHW"),
        lambda t: ops.adaptive_avg_pool2d_vjp(t(ct[:, :, :1, :1]), t(x), data_format="NCHW"),
        lambda t: ops.dropout_vjp(t(ct), t(mask), scale=4 / 3),
        lambda t: ops.dropout_vjp(t(ct), t(mask), scale=1.0),
        lambda t: ops.reduce_mean(t(x), axes=(0, 1, 2, 3), keepdim=False),  # by mean_all
        lambda t: ops.sum_of_squares(t(x), t(ct), t(scale)),
        lambda t: ops.sum_of_squares(t(x)),
        lambda t: ops.put_along_axis(t(x), t(mask.astype("int64")), t(ct[..., :1]), axis=3, reduce="add"),
    ]
    for number, call in enumerate(calls):
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # nothing runs on the cpu
            ours = call(paddle.to_tensor)
        theirs = call(lambda values: paddle.to_tensor(values, place="cpu"))
        for one, other in zip(*(each if isinstance(each, tuple) else (each,) for each in (ours, theirs))):
            np.testing.assert_allclose(one.numpy(), other.numpy(), rtol=1e-4, atol=1e-5, err_msg=str(number))
    assert len(programs) >= len(calls) and all(program is not None for _, program in programs), programs


def test_what_is_not_mapped_says_why(there):
    from wherry_extension.plugins.column import plugin

    for op in (ops.clip, ops.max_pool2d_vjp, ops.uniform, ops.nonzero, ops.transpose):
        assert plugin.exemptions[op] in coverage.card(op.name)


def test_copies_between_devices_of_a_kind_use_its_function(testing, build):
    x = paddle.to_tensor(made(3, 4))
    testing.forget()
    y = x.transpose([1, 0]).to("TestDevice:1")
    assert y.place == paddle.CustomPlace("TestDevice", 1)
    calls = testing.calls().decode().splitlines()
    assert "async_p2p 7 to 9:9" in calls and calls[-1] == "synchronize_stream:9", calls
    assert not {"async_h2d", "async_d2h", "h2d", "d2h"} & set(log(testing))
    np.testing.assert_array_equal(y.numpy(), made(3, 4).T)
    np.testing.assert_array_equal(y.to("TestDevice:0").numpy(), made(3, 4).T)
    assert paddle.zeros([0, 2]).to("TestDevice:1").shape == [0, 2]
    testing.fail(b"async_p2p", 4)
    with pytest.raises(OSError, match=r"async_memory_copy_p2p of TestDevice:1 failed. Got C_INTERNAL_ERROR"):
        x.to("TestDevice:1")
    testing.fail(b"", 0)
    path = build("peers", '-DNAME="Peers"', "-DPEERS")
    plugins.load(path)
    library = ctypes.CDLL(str(path))
    library.calls.restype = ctypes.c_char_p
    x = paddle.to_tensor(made(3), place="Peers")
    library.forget()
    np.testing.assert_array_equal(x.to("Peers:1").numpy(), made(3))
    calls = [call for call in log(library) if "allocate" not in call]
    assert calls == ["synchronize_stream", "synchronize_stream", "p2p 7 to 9", "synchronize_stream", "d2h"]


def test_a_program_runs_the_kernels_too(testing):
    from wherry_graph.jit import to_static

    function = to_static(lambda x, y: F.softmax(paddle.matmul(x, y) + 1.0))
    x, y = paddle.to_tensor(made(3, 4)), paddle.to_tensor(made(4, 5))
    for _ in range(2):
        np.testing.assert_allclose(function(x, y).numpy(), F.softmax(paddle.matmul(x, y) + 1.0).numpy(), rtol=1e-6)


def test_every_rule_names_kernels_and_stands_on_the_card(there):
    from wherry_extension.plugins import rules  # noqa: F401
    from wherry_extension.plugins.column import kernel_names, plugin

    assert len(plugin.rules) > 160 and set(plugin.rules) == set(kernel_names)
    assert re.search(r"plugin +\S*rules/normalization.py:\d+", coverage.card("softmax"))


def test_every_rule_writes_programs_for_the_samples_of_its_op(monkeypatch):
    """As if there were every kernel: calls have values that some parameter takes, and every output is written."""
    import wherry_tensor.testing.samples  # noqa: F401
    from wherry_extension.plugins import column, programs, rules  # noqa: F401
    from wherry_tensor.dtype import as_dtype
    from wherry_tensor.ops.declare import Meta, infer
    from wherry_tensor.testing.specs import specs

    class Every(programs.Writer):
        def has(self, name, dtype):
            return True

        def call(self, name, *args, or_args=(), dtype=None):
            called.add(name)
            for version in (args, *or_args):
                for value in version:
                    assert any(programs._fits(kind, value) for kind in range(programs._OTHER)), (op, name, value)
                    written.update(one.index for one in (value if isinstance(value, list) else [value]) if getattr(one, "origin", 0) == 1)

        def copy(self, x, to):
            super().copy(x, to)
            written.add(to.index)

    monkeypatch.setattr(column, "Writer", Every)
    for op, rule in column.plugin.rules.items():
        called = set()
        for case in specs[op].cases():
            arrays = [x if x is None or x.dtype.kind != "f" else x.astype("float32") for x in case.inputs]
            inputs = tuple(None if x is None else Meta(x.shape, as_dtype(x.dtype.name, "test")) for x in arrays)
            outputs = infer.rules[op](*inputs, *[None] * (len(op.inputs) - len(inputs) if "*" not in op.input_spec else 0), **case.attrs)
            outputs = outputs if isinstance(outputs, tuple) else (outputs,)
            written = set()
            if column.bind(programs.KernelTable("Every", 0), op, inputs, outputs, case.attrs) is not None:
                assert written == set(range(len(outputs))), (op, case)
        assert called & {one for names in column.kernel_names[op] for one in names.split("|")}, (op, rule)


# Broken plug-ins.


@pytest.mark.parametrize("macro, text", [
    ("-DNO_INIT", "it is not a plug-in. Got a library without the symbol InitPlugin"),
    ("-DDOES_NOTHING", "its InitPlugin named no device_type"),
    ("-DLATER_HEADER", "compiled against a device_ext.h with larger structs"),
    ("-DOTHER_MAJOR", r"it is for another version of the interface. Got 1\.1\.1, expected 0\.x up to 0\.1"),
    ("-DOTHER_MINOR", r"Got 0\.2\.1"),
    ("-DOTHER_SIZE", "its InitPlugin changed what only the framework sets. Got params of 8[0-9] bytes"),
    ("-DOTHER_INTERFACE", "its InitPlugin changed what only the framework sets"),
    ("-DBEYOND", "wrote beyond the structs of the framework"),
    ("-DMISSING", "'Broken' lacks functions. Got NULL for device_memory_allocate, memory_copy_d2h, expected"),
    ("-DNO_DEVICES", "'Broken' has no devices that can be used. get_device_count gave 0"),
    ("-DINIT_FAILS", "its devices do not start. .*init_device of Broken:0 failed. Got C_INTERNAL_ERROR"),
    ('-DNAME="no name!"', "its device_type is not a name. Got 'no name!'"),
    ('-DNAME="cPU"', "there is a device of this name. Got a second 'cPU'"),
])  # fmt: skip
def test_broken_plug_ins_are_refused_with_file_and_reason(build, macro, text):
    name = "broken_" + re.sub(r"\W", "", macro)
    path = build(name, *(["-DNAME=\"Broken\""] if "NAME" not in macro else []), macro)
    with pytest.raises(plugins.PluginError, match=re.compile(rf"lib{name}\.so: .*{text}", re.DOTALL)):
        plugins.load(path)
    assert "Broken" not in _core.devices()
    assert (paddle.ones([2]) + 1.0).tolist() == [2.0, 2.0]


def test_libraries_that_are_none_are_left_out_with_a_warning(build, tmp_path, monkeypatch):
    monkeypatch.setattr(device, "failures", [])
    monkeypatch.setenv("CUSTOM_DEVICE_ROOT", str(tmp_path))
    (tmp_path / "libtext.so").write_text("this is not a library")
    (tmp_path / "notes.txt").write_text("neither is this, and its name does not say so")
    (tmp_path / "libempty.so").write_bytes(b"")
    (tmp_path / "libcut.so").write_bytes(build("cut", '-DNAME="Cut"').read_bytes()[:5000])
    with pytest.warns(RuntimeWarning) as caught:
        plugins.load_installed()
    texts = "\n".join(str(w.message) for w in caught)
    assert len(caught) == 3 and all(f"{name}: it cannot be loaded as a library" in texts for name in ("libtext.so", "libempty.so", "libcut.so"))
    with pytest.raises(ValueError, match=r"Got 'Cut'.*libcut\.so: it cannot be loaded as a library"):
        paddle.set_device("Cut")
    with pytest.raises(plugins.PluginError, match="nowhere.so: there is no such file"):
        plugins.load(tmp_path / "nowhere.so")
    with pytest.raises(plugins.PluginError, match="there is no such file"):
        plugins.load(tmp_path)
    assert (paddle.ones([2]) + 1.0).tolist() == [2.0, 2.0]


def test_importing_goes_on_without_the_loader(tmp_path, monkeypatch):
    monkeypatch.setattr(device, "failures", [])
    monkeypatch.setenv("CUSTOM_DEVICE_ROOT", str(tmp_path))
    (tmp_path / "libmine.so").write_text("whatever it is")
    monkeypatch.delattr(plugins, "boundary", raising=False)
    monkeypatch.setitem(sys.modules, "wherry_extension.plugins.boundary", None)
    with pytest.warns(RuntimeWarning, match="a device plug-in is left out"):
        plugins.load_installed()


def test_a_plug_in_is_loaded_once_and_the_first_of_a_name_stays(there, folder, tmp_path):
    path = folder / "libtest_device.so"
    assert plugins.load(path) is plugins.load(path)
    copy = shutil.copy(path, tmp_path / "another.so")
    with pytest.raises(plugins.PluginError, match="another.so: there is a device of this name. Got a second 'TestDevice'"):
        plugins.load(copy)


def test_folders_to_build_with_are_named(folder):
    assert os.path.isfile(os.path.join(get_include(), "paddle", "phi", "backends", "device_ext.h"))
    assert os.path.isfile(os.path.join(get_lib(), "core_avx.so"))
    header = "paddle/phi/backends/device_ext.h"
    run(CC, "-std=c11", "-Wall", "-Werror", "-fsyntax-only", f"-I{get_include()}", "-x", "c", "-include", header, os.devnull)
