"""GPU tensors and the rest of Python: arrays, pickles, DLPack and CUDA's array interface, and processes."""
import copy
import ctypes
import gc
import os
import pickle
import subprocess
import sys

import numpy as np
import pytest

import wherry_nn as nn
import wherry_tensor as wt
from wherry_tensor import CUDAPinnedPlace, cuda, interop, to_tensor
from wherry_train import load, save


@pytest.fixture
def x(gpu):
    return to_tensor(np.arange(6, dtype="float32").reshape(2, 3))


def test_arrays_and_text_of_a_gpu_tensor_are_those_of_its_values(x):
    y = x * 2  # which nobody has waited for
    assert np.asarray(y).tolist() == y.tolist() == [[0, 2, 4], [6, 8, 10]]
    assert y.T.numpy().tolist() == [[0, 6], [2, 8], [4, 10]]
    assert np.frombuffer(y[:, 1].tobytes(), "float32").tolist() == [2, 8]
    assert (float(y[1, 1]), y.item(5), f"{y[0, 1]:.1f}") == (8.0, 10.0, "2.0")
    assert np.mean(y) == 5.0
    assert repr(y).splitlines() == [
        "Tensor(shape=[2, 3], dtype=float32, place=Place(gpu:0), stop_gradient=True,", "       [[0. , 2. , 4. ],", "        [6. , 8. , 10.]])",
    ]
    array = y.numpy()
    array[0, 0] = 9.0
    assert y[0, 0].item() == 0.0  # a copy


def test_pickles_and_copies_stay_on_the_gpu(x):
    layer = nn.Linear(3, 2)
    for one in (pickle.loads(pickle.dumps(x)), copy.deepcopy(x), copy.deepcopy(layer).weight, pickle.loads(pickle.dumps(layer.weight))):
        assert repr(one.place) == "Place(gpu:0)"
    assert pickle.loads(pickle.dumps(x[:, 1:])).tolist() == [[1, 2], [4, 5]]
    assert repr(pickle.loads(pickle.dumps(x.cpu())).place) == "Place(cpu)"


def test_a_pickle_of_a_gpu_tensor_comes_to_the_cpu_where_there_is_no_gpu(x, tmp_path):
    (tmp_path / "x").write_bytes(pickle.dumps(x))
    code = (
        "import pickle, sys, wherry_tensor, wherry_ops_cpu.column as c\n"
        "c.register()\n"
        "x = pickle.load(open(sys.argv[1], 'rb'))\n"
        "print(x.place, x.tolist())"
    )
    environment = {**os.environ, "WHERRY_CUDA_LIBRARY": str(tmp_path / "none.so")}
    said = subprocess.run([sys.executable, "-c", code, str(tmp_path / "x")], capture_output=True, text=True, env=environment, check=True).stdout
    assert said == "Place(cpu) [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]\n"


@pytest.mark.parametrize("dtype", ["float32", "float16", "bool"])
def test_what_is_loaded_is_on_the_current_device(gpu, tmp_path, dtype):
    values = to_tensor([[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]).astype(dtype)
    save({"a": values, "b": values.T, "none": wt.zeros([0, 2])}, str(tmp_path / "state"))
    save([values], str(tmp_path / "list"))
    save(values, str(tmp_path / "tensor"), use_binary_format=True)
    for device in ("gpu:0", "cpu"):
        wt.set_device(device)
        state = load(str(tmp_path / "state"))
        (one,) = load(str(tmp_path / "list"))
        assert {repr(x.place) for x in (*state.values(), one, load(str(tmp_path / "tensor")))} == {f"Place({device})"}
        assert state["b"].tolist() == values.T.tolist() and one.tolist() == values.tolist()
        assert (one + wt.ones([3], dtype)).shape == [2, 3]
    assert type(load(str(tmp_path / "state"), return_numpy=True)["a"]) is np.ndarray


def test_loading_into_a_gpu_without_room_says_so_and_not_that_the_file_is_damaged(gpu, tmp_path):
    save([wt.zeros([1 << 22])], str(tmp_path / "list"))
    cuda.empty_cache()
    wt.set_flags({"FLAGS_gpu_memory_limit_mb": 8})
    try:
        with pytest.raises(MemoryError, match="limit"):
            load(str(tmp_path / "list"))
        assert load(str(tmp_path / "list"), return_numpy=True)[0].shape == (1 << 22,)
    finally:
        wt.set_flags({"FLAGS_gpu_memory_limit_mb": 0})


@pytest.mark.parametrize(("written", "read"), [("gpu", "cpu"), ("cpu", "gpu"), ("gpu", "gpu")])
def test_what_was_saved_on_one_device_trains_on_on_another(gpu, tmp_path, written, read):
    from wherry_train import optimizer

    def step(layer, chosen):
        layer(wt.ones([2, 3])).square().sum().backward()
        chosen.step()
        chosen.clear_grad()

    def made(device):
        wt.set_device(device)
        with nn.unique_name.guard():
            layer = nn.Linear(3, 2)
        layer.weight.set_value(to_tensor(np.full((3, 2), 0.5, "float32")))
        return layer, optimizer.Adam(0.1, parameters=layer.parameters())

    expected, chosen = made("cpu")
    step(expected, chosen)
    step(expected, chosen)
    first, chosen = made(written)
    step(first, chosen)
    save(first.state_dict(), str(tmp_path / "net.pdparams"))
    save(chosen.state_dict(), str(tmp_path / "net.pdopt"))
    again, chosen = made(read)
    again.set_state_dict(load(str(tmp_path / "net.pdparams")))
    chosen.set_state_dict(load(str(tmp_path / "net.pdopt")))
    step(again, chosen)
    assert repr(again.weight.place) == f"Place({wt.get_device()})"
    np.testing.assert_allclose(again.weight.numpy(), expected.weight.numpy(), rtol=1e-6)


# DLPack.


class _DLTensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p), ("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32), ("ndim", ctypes.c_int32), ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16), ("shape", ctypes.POINTER(ctypes.c_int64)), ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]


def _described(capsule):
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    return _DLTensor.from_address(pointer(capsule, b"dltensor"))


class Library:
    """An array of another library of CUDA's, on a stream of its own; it notes on which stream it is asked for."""

    def __init__(self, x, stream):
        self.x, self.stream, self.asked = x, stream, []

    def __dlpack_device__(self):
        return 2, 0

    def __dlpack__(self, stream=None, **_):
        self.asked.append(stream)
        cuda.current_stream().wait_stream(self.stream)  # as the protocol says: whoever takes it on `stream` finds it complete
        return interop.to_dlpack(self.x)


def test_a_gpu_tensor_is_described_to_dlpack_with_its_device_shape_and_strides(x):
    assert x.__dlpack_device__() == (2, 0)  # kDLCUDA
    capsule = x.T.__dlpack__()
    found = _described(capsule)
    assert (found.device_type, found.device_id, found.ndim, found.code, found.bits, found.lanes) == (2, 0, 2, 2, 32, 1)
    assert ([found.shape[i] for i in (0, 1)], [found.strides[i] for i in (0, 1)]) == ([3, 2], [1, 3])
    assert found.data + found.byte_offset == x.data_ptr()
    assert to_tensor([1.0], place=CUDAPinnedPlace()).__dlpack_device__() == (3, 0)  # kDLCUDAHost


def test_memory_is_shared_by_dlpack_in_both_directions(x):
    taken = interop.from_dlpack(x)
    assert repr(taken.place) == "Place(gpu:0)"
    taken.add_(to_tensor(1.0))
    assert x.tolist() == [[1, 2, 3], [4, 5, 6]]
    gc.collect()  # what earlier tests left goes now, not in between
    before = cuda.memory_allocated()
    capsule = interop.to_dlpack(x * 2)
    assert cuda.memory_allocated() > before
    del capsule  # nobody took it
    assert cuda.memory_allocated() == before


def test_a_library_that_takes_a_tensor_on_its_stream_finds_it_complete(x, emulator):
    other = cuda.Stream()
    late = x * 3
    before = emulator.counts.launches
    capsule = late.__dlpack__(stream=other.stream_base.handle)
    assert emulator.counts.launches == before  # the host waits for nobody, the stream does
    taken = interop.from_dlpack(capsule)
    with cuda.stream_guard(other):
        result = taken + 1
    other.synchronize()
    with cuda.stream_guard(other):
        assert result.tolist() == [[1, 4, 7], [10, 13, 16]]


def test_an_array_of_another_library_is_asked_for_on_the_stream_that_works_here(x):
    other = cuda.Stream()
    other.wait_stream(cuda.current_stream())  # which has filled x
    with cuda.stream_guard(other):
        made = x * 5
    library = Library(made, other)
    assert (interop.from_dlpack(library) + 1).tolist()[0] == [1, 6, 11]
    here = cuda.Stream()
    with cuda.stream_guard(here):
        assert (interop.from_dlpack(library) + 1).tolist()[1] == [16, 21, 26]
    assert library.asked == [None, here.stream_base.handle]


def test_dlpack_copies_to_the_cpu_where_it_is_asked_to_and_refuses_what_is_no_stream(x):
    taken = interop.from_dlpack(x.__dlpack__(dl_device=(1, 0), max_version=(1, 0)))
    assert repr(taken.place) == "Place(cpu)"
    assert taken.tolist() == x.tolist()
    with pytest.raises(TypeError, match="'stream' is a stream's handle. Got 'one', expected an int"):
        x.__dlpack__(stream="one")
    with pytest.raises(BufferError, match=r"the tensor is on Place\(gpu:0\). Got dl_device=\(2, 1\)"):
        x.__dlpack__(dl_device=(2, 1))
    x.stop_gradient = False
    with pytest.raises(BufferError, match="Share x.detach"):
        x.__dlpack__()


def test_the_array_interface_of_cuda_says_where_a_tensor_lies_and_behind_which_stream(x):
    found = x.__cuda_array_interface__
    assert found == {"shape": (2, 3), "typestr": "<f4", "data": (x.data_ptr(), False), "strides": None, "version": 3, "stream": 1}
    view = x[:, 1:]
    assert view.__cuda_array_interface__["strides"] == (12, 4)
    assert view.__cuda_array_interface__["data"] == (x.data_ptr() + 4, False)
    stream = cuda.Stream()
    with cuda.stream_guard(stream):
        assert x.__cuda_array_interface__["stream"] == stream.stream_base.handle
    assert x[:0].__cuda_array_interface__["data"] == (0, False)
    assert not hasattr(x.cpu(), "__cuda_array_interface__")
    with pytest.raises(AttributeError, match="not an array in CUDA memory. Got float32 on Place"):
        getattr(x.cpu(), "__cuda_array_interface__")  # noqa: B009


# Processes.

_FORK = """
import os
import sys
import numpy as np
import wherry_tensor as wt
import wherry_ops_cpu.column, wherry_ops_cuda.column
from wherry_tensor import cuda
wherry_ops_cpu.column.register()
wherry_ops_cuda.column.register()
wt.set_device("gpu")
x = wt.to_tensor(np.ones(3, "float32"))
host = x.cpu()
child = os.fork()
if not child:
    for call in (lambda: x + 1, lambda: x.numpy(), lambda: wt.ones([2]), cuda.synchronize, cuda.Stream, lambda: host.pin_memory()):
        try:
            call()
            print("worked")
        except OSError as error:
            print(str(error)[:90])
    wt.set_device("cpu")
    print((host + 1).tolist())
    sys.stdout.flush()
    del x
    os._exit(0)
os.waitpid(child, 0)
print("parent", (x + 1).tolist(), flush=True)
"""


def test_a_fork_of_a_process_that_uses_a_gpu_is_told_so_and_the_parent_goes_on(gpu):
    done = subprocess.run([sys.executable, "-c", _FORK], capture_output=True, text=True, check=True)
    *child, parent = done.stdout.splitlines()
    said = "gpu: this process was forked from one that uses a GPU, and CUDA does not work in a fork"
    assert len(child) == 7, done.stdout
    assert all(said[:60] in line for line in child[:6]), done.stdout
    assert child[6] == "[2.0, 2.0, 2.0]"
    assert parent == "parent [2.0, 2.0, 2.0]"
