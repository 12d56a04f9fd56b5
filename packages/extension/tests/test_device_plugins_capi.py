"""Kernels in the form of PaddleCustomDevice: `paddle/phi/capi/all.h` and PD_BUILD_PHI_KERNEL, on a device whose memory is the host's."""
from __future__ import annotations

import os
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
from wherry_extension.sysconfig import get_include
from wherry_tensor import coverage, ops

DATA = Path(__file__).parent / "data"
FLAGS = os.environ.get("CFLAGS", "").split()  # those of a sanitizer, for one
CXX, CC = shutil.which("c++") or shutil.which("g++"), shutil.which("cc") or shutil.which("gcc")

pytestmark = [
    pytest.mark.skipif(CXX is None or CC is None, reason="needs a C++ compiler"),
    pytest.mark.skipif(sys.platform != "linux", reason="plug-ins are shared libraries of Linux"),
]


def run(*command):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture(scope="module")
def there(tmp_path_factory):
    folder = tmp_path_factory.mktemp("capi")
    compiled = [
        (CC, "-std=gnu11", "-DASYNC", '-DNAME="CapiDevice"', DATA / "test_device.c", "-o", folder / "device.o"),
        (CXX, "-std=c++17", "-O0", "-Wall", "-Wextra", "-Werror", DATA / "capi_kernels.cc", "-o", folder / "kernels.o"),
    ]
    for command in compiled:
        run(*command, "-fPIC", "-c", f"-I{get_include()}", *FLAGS)
    run(CXX, "-shared", *FLAGS, folder / "device.o", folder / "kernels.o", "-o", folder / "libcapi.so")
    plugins.load(folder / "libcapi.so")


@pytest.fixture
def testing(there):
    """CapiDevice is the current device."""
    paddle.set_device("CapiDevice")
    yield
    paddle.set_device("cpu")


def made(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape).astype("float32")


CALLS = {
    "add": lambda t: t(made(3, 4)) + t(made(4, seed=1)),
    "subtract": lambda t: t(made(3, 4)) - t(made(3, 4, seed=1)),
    "multiply": lambda t: t(made(3, 4)) * t(made(3, 1, seed=1)),
    "add of float16": lambda t: (t(made(5).astype("float16")) + t(made(5, seed=1).astype("float16"))).astype("float32"),
    "matmul": lambda t: paddle.matmul(t(made(3, 4)), t(made(4, 5, seed=1))),
    "matmul of transposed": lambda t: ops.matmul(t(made(4, 3)), t(made(5, 4, seed=1)), transpose_x=True, transpose_y=True),
    "relu": lambda t: F.relu(t(made(3, 4))),
    "softmax": lambda t: F.softmax(t(made(3, 4))),
    "cast": lambda t: paddle.cast(t(made(3, 4) * 3), "int64"),
    "cast to bool": lambda t: paddle.cast(t(np.array([0.0, 2.0], "float32")), "bool"),
    "mean": lambda t: t(made(3, 4, 5)).mean(),
    "mean along axes": lambda t: t(made(3, 4, 5)).mean([0, 2], keepdim=True),
    "sum": lambda t: t(made(3, 4, 5)).sum(1),
    "sum of no elements": lambda t: t(made(0, 4)).sum(1),
    "argmax": lambda t: paddle.argmax(t(made(3, 4)), axis=1),
    "argmax of all": lambda t: paddle.argmax(t(made(3, 4))),
    "concat": lambda t: paddle.concat([t(made(3, 4)), t(made(2, 4, seed=1))]),
    "sqrt": lambda t: paddle.sqrt(t(np.abs(made(3, 4)))),
    "momentum": lambda t: ops.momentum(
        t(made(3)), t(made(3, seed=1)), t(made(3, seed=2)), t(np.float32(0.1)), mu=0.9, nesterov=True, weight_decay=0.01
    )[0],
}


@pytest.mark.parametrize("name", CALLS)
def test_a_kernel_computes_what_the_cpu_does(testing, name):
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # nothing runs on the cpu
        ours = CALLS[name](paddle.to_tensor)
    theirs = CALLS[name](lambda values: paddle.to_tensor(values, place="cpu"))
    assert ours.dtype == theirs.dtype and ours.shape == theirs.shape
    np.testing.assert_allclose(ours.numpy(), theirs.numpy(), rtol=1e-5, atol=1e-6)


def test_each_kernel_is_in_the_table_with_its_parameters(there):
    for name in ("add", "subtract", "matmul", "softmax", "cast", "reduce_mean", "reduce_sum", "argmax", "concat", "adam", "momentum"):
        op = getattr(ops, name)
        assert coverage._on_device(op, "CapiDevice")[0] == "kernel", op
    from wherry_extension.plugins.programs import _KINDS

    rows = plugins._tables["CapiDevice"].rows
    kernel = rows["every_attribute"]["float32"].contents
    assert [_KINDS[kernel.params[i]] for i in range(kernel.n_params)] == [
        "const DenseTensor &", "a type that is not supported", "bool", "int", "int64_t", "float", "double", "std::string", "std::string", "DataType",
        "DataLayout", "Scalar", "IntArray", "Place", "std::vector<bool>", "std::vector<int>", "std::vector<int64_t>", "std::vector<float>",
        "std::vector<double>", "std::vector<std::string>", "std::vector<Scalar>", "DenseTensor *",
    ]  # fmt: skip
    assert b"capi_kernels.cc" in kernel.file and kernel.line > 0


def test_what_a_kernel_is_told_is_as_it_should_be(testing):
    assert paddle.log(paddle.to_tensor(made(2, 7))).numpy().tolist() == [[1.0] * 7] * 2


@pytest.mark.parametrize("act, kind, text", [
    (paddle.exp, OSError, r"\(External\) exp: the kernel 'exp' of CapiDevice failed. exp has 6 elements\s+\[.*capi_kernels.cc:\d+\]"),
    (paddle.cos, OSError, "output 0 of the kernel: it was given no memory"),
    (paddle.tan, OSError, r"another than it should. Got 100 elements of PD_DataType 11, expected 6 of 11"),
    (paddle.sin, OSError, "a DenseTensor has no memory yet"),
    (paddle.abs, MemoryError, "there are no 4294967296 bytes left for a kernel"),
])  # fmt: skip
def test_kernels_that_fail_are_errors_of_their_op(testing, act, kind, text):
    x = paddle.to_tensor(made(2, 3))
    with pytest.raises(kind, match=text):
        act(x)
    assert (x + x).shape == [2, 3]


def train(place, optimizer):
    paddle.set_device(place)
    train_optimizer = pytest.importorskip("wherry_train.optimizer")
    net = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 4))
    for i, parameter in enumerate(net.parameters()):
        parameter.set_value(made(*parameter.shape, seed=i) * 0.3)
    step = getattr(train_optimizer, optimizer)(0.05, parameters=net.parameters())
    x, label = paddle.to_tensor(made(12, 6)), paddle.to_tensor(np.arange(12) % 4)
    losses = []
    for _ in range(6):
        loss = F.cross_entropy(net(x), label)
        loss.backward()
        step.step()
        step.clear_grad()
        losses.append(float(loss))
    return losses, [parameter.numpy() for parameter in net.parameters()]


@pytest.mark.parametrize("optimizer", ["Adam", "Momentum"])
def test_a_network_trains_as_on_the_cpu(testing, optimizer):
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # nothing runs on the cpu
        warnings.filterwarnings("ignore", "uniform:")  # but the first weights, which are not used
        losses, weights = train("CapiDevice", optimizer)
    expected, expected_weights = train("cpu", optimizer)
    assert losses[-1] < losses[0]
    np.testing.assert_allclose(losses, expected, rtol=1e-5)
    for ours, theirs in zip(weights, expected_weights):
        np.testing.assert_allclose(ours, theirs, rtol=1e-3, atol=1e-5)
