"""The device behind `gpu:0`: memory, streams, late errors, and training that gives the cpu's numbers. On the emulator."""
import gc
import os
import subprocess
import sys

import numpy as np
import pytest

import wherry_tensor
from wherry_tensor import cuda, ops, to_tensor


def test_tensors_live_on_the_gpu_and_come_back(gpu):
    x = to_tensor([[1.0, 2.0], [3.0, 4.0]])
    assert repr((x + 1).place) == "Place(gpu:0)"
    assert (x + 1).numpy().tolist() == [[2.0, 3.0], [4.0, 5.0]]
    assert repr((x + 1).cpu().place) == "Place(cpu)"


def test_memory_is_counted(gpu):
    gc.collect()  # what earlier tests left goes now, not in between
    before = cuda.memory_allocated()
    x = ops.full(shape=(1000,), value=1.0, dtype=wherry_tensor.float32)
    assert cuda.memory_allocated() - before == 4000
    del x
    assert cuda.memory_allocated() == before


def test_out_of_memory_says_what_was_asked_what_is_free_and_who_holds_the_rest(gpu, emulator):
    held = ops.full(shape=(1 << 20,), value=0.0, dtype=wherry_tensor.float32)
    held.name = "the_weights"
    words = (
        r"full: not enough memory on gpu:0 for a float32 tensor of shape \[1073741824\]. Got: "
        r"gpu:0 is out of memory. Asked for 4096.0 MiB; \d+.\d of 1024.0 MiB are free. "
        r"This process holds \d+.\d MiB in \d+ blocks, the largest of 4.0 MiB; the others belong to other processes and to CUDA. "
        r"Tensors hold \d+.\d MiB, \d+.\d MiB are kept for the next ones; the largest: the_weights float32 \[1048576\] 4.0 MiB[,.]"
    )
    with pytest.raises(MemoryError, match=words):
        ops.full(shape=(1 << 30,), value=0.0, dtype=wherry_tensor.float32)
    assert float(held.numpy()[0]) == 0.0  # the device goes on working


def test_a_limit_of_memory_is_kept(gpu):
    wherry_tensor.set_flags({"FLAGS_gpu_memory_limit_mb": 8})
    try:
        held = ops.full(shape=(1 << 20,), value=1.0, dtype=wherry_tensor.float32)
        words = r"limit of this process's memory is reached. Asked for 8.0 MiB beside \d.\d MiB that it holds, the limit is 8.0"
        with pytest.raises(MemoryError, match=words):
            ops.full(shape=(1 << 21,), value=0.0, dtype=wherry_tensor.float32)
        assert float((held[:1] + 1).numpy()[0]) == 2.0
    finally:
        wherry_tensor.set_flags({"FLAGS_gpu_memory_limit_mb": 0})
    assert ops.full(shape=(1 << 21,), value=0.0, dtype=wherry_tensor.float32).shape == [1 << 21]


def test_division_by_zero_is_reported_where_the_result_is_read_and_names_the_op(gpu):
    quotient = ops.floor_divide(to_tensor([1, 2]), to_tensor([1, 0]))
    with pytest.raises(ValueError, match=r"floor_divide: integer division by zero"):
        quotient.numpy()
    assert ops.floor_divide(to_tensor([7, 9]), to_tensor([2, 3])).numpy().tolist() == [3, 3]  # said once


def test_a_label_out_of_range_is_reported_with_its_place(gpu):
    logits, label = to_tensor(np.zeros((3, 4), "float32")), to_tensor(np.array([[0], [9], [1]]))
    loss, _ = ops.cross_entropy(logits, label, None, soft_label=False, ignore_index=-100, axis=1)
    with pytest.raises(IndexError, match=r"cross_entropy: label 9 \(element 1\) is out of range. Got 9, expected each label in \[0, 4\)"):
        loss.numpy()




def test_streams_have_priorities_and_events_take_times(gpu, emulator):
    import ctypes

    def priority(stream):
        found = ctypes.c_int()
        emulator.library.cudaStreamGetPriority(ctypes.c_void_p(stream.stream_base.handle), ctypes.byref(found))
        return found.value

    first, second = cuda.Stream(priority=1), cuda.Stream(priority=2)
    assert priority(first) < priority(second) == priority(cuda.Stream()) == 0
    handle = first.stream_base.handle
    del first
    assert cuda.Stream().stream_base.handle != handle  # what is used again keeps its priority
    assert priority(cuda.Stream(priority=1)) < 0
    with pytest.raises(ValueError, match="Stream: unknown priority. Got 0, expected 1"):
        cuda.Stream(priority=0)

    x = to_tensor(np.ones(2000, "float32"))
    begin, end = cuda.Event(enable_timing=True), cuda.Event(enable_timing=True, blocking=True)
    begin.record()
    for _ in range(3):
        x = x * 2
    end.record()
    assert not end.query()
    assert 0 < begin.elapsed_time(end) < 60_000
    with pytest.raises(RuntimeError, match="elapsed_time: an event does not measure time. Got one without enable_timing"):
        begin.elapsed_time(cuda.Event())
    with pytest.raises(RuntimeError, match="an event was never recorded"):
        begin.elapsed_time(cuda.Event(enable_timing=True))
    with pytest.raises(ValueError, match="an interprocess event cannot measure time"):
        cuda.Event(enable_timing=True, interprocess=True)
    assert cuda.Event(interprocess=True).query()


def test_streams_and_events_order_work(gpu):
    first, second = cuda.Stream(), cuda.Stream()
    x = to_tensor(np.arange(1000, dtype="float32"))
    cuda.synchronize()
    with cuda.stream_guard(first):
        y = x * 2
        event = first.record_event()
    with cuda.stream_guard(second):
        second.wait_event(event)
        z = y + 1
    second.synchronize()
    assert event.query()
    assert z.numpy().tolist() == (np.arange(1000) * 2 + 1).tolist()


def test_a_kernel_waits_for_nobody_until_a_value_is_read(gpu, emulator):
    x = to_tensor([1.0, 2.0])
    cuda.synchronize()
    before = emulator.counts.launches
    y = x + x
    assert emulator.counts.launches == before
    y.numpy()
    assert emulator.counts.launches > before


def test_properties_tell_what_the_device_is(gpu, emulator):
    found = cuda.get_device_properties()
    assert (found.name, found.major, found.total_memory) == ("CUDA emulator", 8, 1 << 30)


_CHILD = """
import wherry_tensor
from wherry_tensor import cuda, device
import wherry_ops_cuda.column
wherry_ops_cuda.column.register()
print(device.is_compiled_with_cuda(), cuda.device_count())
try:
    device.set_device("gpu")
except ValueError as error:
    print(error)
import wherry_ops_cpu.column
wherry_ops_cpu.column.register()
x = wherry_tensor.to_tensor([1.0, 2.0])
print(wherry_tensor.get_device(), (x + x).tolist())
"""


def _child(**variables: str) -> str:
    environment = {**os.environ, **variables}
    return subprocess.run([sys.executable, "-c", _CHILD], capture_output=True, text=True, env=environment, check=True).stdout


def test_without_a_compiled_library_the_package_imports_and_says_how_to_make_one(tmp_path):
    said = _child(WHERRY_CUDA_LIBRARY=str(tmp_path / "none.so"))
    assert said.startswith("True 0\n")
    assert "set_device: this device cannot be used here. Got 'gpu', expected 'cpu', the only device here." in said
    assert "Run python -m wherry_ops_cuda build, which needs nvcc of CUDA 13" in said


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ("none", "No NVIDIA driver was found. Install one that serves CUDA 13.0 or later; without a GPU go on with set_device('cpu')."),
        ("12040", "The NVIDIA driver serves CUDA 12.4, and this build needs 13.0. Install a newer driver."),
        ("no-device", "The NVIDIA driver sees no GPU (CUDA_VISIBLE_DEVICES=7). Check nvidia-smi, and the permissions of /dev/nvidia*."),
        ("no-image", "This build has no kernels for 'CUDA emulator' (sm_80). Build it for that: python -m wherry_ops_cuda build --architectures 80."),
        ("busy", "CUDA did not start: 'CUDA-capable device(s) is/are busy or unavailable'."),
    ],
)
def test_a_gpu_that_cannot_be_used_is_one_sentence_and_the_cpu_goes_on(answer, words, emulator):
    said = _child(CUDA_EMULATOR_DRIVER=answer, CUDA_VISIBLE_DEVICES="7")
    assert said.startswith("True 0\n")
    version = f"{_toolkit() // 1000}.{_toolkit() % 1000 // 10}"
    assert words.replace("13.0", version) in said
    assert said.endswith("cpu [2.0, 4.0]\n")


def _toolkit():
    import re

    from wherry_cuda_emulator import cuda_include

    return int(re.search(r"#define CUDART_VERSION\s+(\d+)", (cuda_include() / "cuda_runtime_api.h").read_text())[1])


_TWO = """
import numpy as np
import wherry_tensor as w
from wherry_tensor import cuda
import wherry_ops_cuda.column
wherry_ops_cuda.column.register()
w.set_device("gpu:0")
x = w.to_tensor(np.arange(6, dtype="float32"))
y = (x + 1).cuda(1) * 2
print(y.place, cuda.device_count(), (y + y).tolist(), (y.cuda(0) - x).tolist())
w.set_device("gpu:1")
z = w.ops.softmax(w.to_tensor(np.ones((2, 4), "float32")), axis=1)
print(z.place, z.tolist()[0], cuda.memory_allocated(0) > 0, cuda.memory_allocated(1) > 0, w.to_tensor([1.0]).cuda().place)
stream = cuda.Stream(1)
with cuda.stream_guard(stream):
    late = z * 2
stream.synchronize()
print(late.cuda(0).tolist()[0])
try:
    x + y
except ValueError as error:
    print(error)
"""


def test_two_gpus_copy_between_each_other_and_compute_each_for_itself(emulator):
    environment = {**os.environ, "CUDA_EMULATOR_DEVICES": "2"}
    lines = subprocess.run([sys.executable, "-c", _TWO], capture_output=True, text=True, env=environment, check=True).stdout.splitlines()
    assert lines[0] == "Place(gpu:1) 2 [4.0, 8.0, 12.0, 16.0, 20.0, 24.0] [2.0, 3.0, 4.0, 5.0, 6.0, 7.0]"
    assert lines[1] == "Place(gpu:1) [0.25, 0.25, 0.25, 0.25] True True Place(gpu:1)"
    assert lines[2] == "[0.5, 0.5, 0.5, 0.5]"
    assert "gpu:0" in lines[3]
    assert "gpu:1" in lines[3]


# The memory that a copy goes to is that of its own stream: the other GPU's has to wait for it.
_TO_AND_FRO = """
import numpy as np
import wherry_tensor as w
import wherry_ops_cuda.column
wherry_ops_cuda.column.register()
w.set_device("gpu:0")
x = w.to_tensor(np.full(64, 3, "float32"))
print((x.cuda(1) + 1).tolist()[0], (x.cuda(1).cuda(0) + x).tolist()[0])
"""


def test_what_two_gpus_copy_waits_for_each_other(emulator):
    environment = {**os.environ, "CUDA_EMULATOR_DEVICES": "2"}
    assert subprocess.run([sys.executable, "-c", _TO_AND_FRO], capture_output=True, text=True, env=environment, check=True).stdout == "4.0 6.0\n"


def test_views_whose_rows_begin_more_than_2_to_the_31_elements_apart(emulator):
    environment = {**os.environ, "CUDA_EMULATOR_MEMORY": "7"}  # gigabytes, of which little is touched
    assert subprocess.run([sys.executable, "-c", _FAR], capture_output=True, text=True, env=environment, check=True).stdout == "True True True True\n"


_FAR = """
import numpy as np
import wherry_tensor as w
import wherry_ops_cuda.column
wherry_ops_cuda.column.register()
w.set_device("gpu:0")
far = w.empty([2, 2**31 + 64], dtype="uint8")[:, :96]
values = np.arange(192, dtype="uint8").reshape(2, 96) // 2
far[:] = w.to_tensor(values)
row = w.to_tensor(values[0])
sums = w.add(far, row), w.add(far[:, ::2], row[::2]), w.maximum(row, far)
print((far.numpy() == values).all(), (sums[0].numpy() == values + values[0]).all(), (sums[1].numpy() == (values + values[0])[:, ::2]).all(),
      (sums[2].numpy() == values).all())
"""


@pytest.mark.parametrize("content", [b"no library", None])
def test_a_library_that_is_none_of_ours_is_said_to_be_so(tmp_path, content):
    library = tmp_path / "libother.so"
    if content is None:  # a library, of something else
        source = tmp_path / "other.c"
        source.write_text("int other(void) { return 1; }")
        subprocess.run(["gcc", "-shared", "-fPIC", "-o", str(library), str(source)], check=True)
    else:
        library.write_bytes(content)
    said = _child(WHERRY_CUDA_LIBRARY=str(library))
    assert said.startswith("True 0\n")
    assert "The library of kernels cannot be loaded: " in said
    assert f"Got {library}, expected one that python -m wherry_ops_cuda build has made. Run that again." in said


def test_build_without_nvcc_says_where_it_looked(monkeypatch, tmp_path, capsys):
    from wherry_ops_cuda.__main__ import main

    monkeypatch.delenv("CUDA_HOME", raising=False)
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert main(["build", "--output", str(tmp_path / "x.so")]) == 1
    assert "nvcc was not found. Looked in CUDA_HOME, on PATH and among the installed wheels, expected CUDA 13." in capsys.readouterr().err
