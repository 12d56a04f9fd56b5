"""Page-locked memory, copies that run beside the program, and batches that come that way. Streams of the emulator are lazy."""
import numpy as np
import pytest

import wherry_tensor
from wherry_tensor import CUDAPinnedPlace, CUDAPlace, _core, cuda, device, to_tensor
from wherry_tensor.flags import set_flags
from wherry_train.io import DataLoader, Dataset, IterableDataset


def test_a_tensor_goes_to_pinned_memory_and_on_to_the_gpu(gpu):
    x = to_tensor(np.arange(6, dtype="float32").reshape(2, 3), place=CUDAPinnedPlace())
    assert repr(x.place) == "Place(gpu_pinned)"
    assert x.place.is_cuda_pinned_place()
    assert repr(x.cuda().place) == "Place(gpu:0)"
    assert x.cuda().pin_memory().numpy().tolist() == [[0, 1, 2], [3, 4, 5]]
    assert x.cpu().numpy().tolist() == x.to(CUDAPlace(0), "float64").numpy().tolist()


def test_views_and_empty_tensors_are_pinned_as_they_are(gpu):
    x = to_tensor(np.arange(6, dtype="int64").reshape(2, 3), place="cpu")
    assert x.T.pin_memory().numpy().tolist() == [[0, 3], [1, 4], [2, 5]]
    assert x.pin_memory().T.cuda(blocking=False).numpy().tolist() == [[0, 3], [1, 4], [2, 5]]
    assert x[:0].pin_memory().cuda(blocking=False).shape == [0, 3]


def test_gradients_find_the_way_back_through_pinned_memory(gpu):
    x = to_tensor([1.0, 2.0], place="cpu", stop_gradient=False)
    (x.pin_memory().cuda(blocking=False) * 3).sum().backward()
    assert x.grad.numpy().tolist() == [3.0, 3.0]


def test_a_copy_that_does_not_wait_reads_when_the_stream_comes_to_it(gpu, emulator):
    x = to_tensor([1.0, 2.0, 3.0], place="cpu").pin_memory()
    waits, goes_on = x.cuda(), x.cuda(blocking=False)
    np.asarray(_core.on_host(x))[:] = 7.0  # what a program must not do; without the wait it shows
    assert waits.numpy().tolist() == [1.0, 2.0, 3.0]
    assert goes_on.numpy().tolist() == [7.0, 7.0, 7.0]


def test_pinned_memory_is_not_used_again_before_the_copy_out_of_it(gpu):
    copies = cuda.Stream()
    with cuda.stream_guard(copies):
        first = to_tensor(np.full(5000, 1.0, "float32"), place="cpu").pin_memory().cuda(blocking=False)
        second = to_tensor(np.full(5000, 2.0, "float32"), place="cpu").pin_memory().cuda(blocking=False)
    copies.synchronize()
    assert (first.numpy() == 1.0).all()
    assert (second.numpy() == 2.0).all()


def test_pinned_memory_is_used_again_after_it(gpu):
    def address():
        return np.asarray(_core.on_host(to_tensor(np.zeros(3000, "float32"), place=CUDAPinnedPlace()))).ctypes.data

    assert address() == address()


def test_nothing_computes_in_pinned_memory(gpu):
    with pytest.raises(ValueError, match="set_device: pinned memory is a place for tensors, nothing computes there. Got 'gpu_pinned'"):
        device.set_device("gpu_pinned")
    assert "gpu_pinned" not in device.get_all_device_type()
    assert device.get_available_device() == ["cpu", "gpu:0"]


def test_peaks_of_memory_start_again(gpu):
    x = to_tensor(np.zeros(100_000, "float32"))
    assert cuda.max_memory_allocated() >= 400_000
    del x
    cuda.reset_max_memory_allocated()
    cuda.reset_max_memory_reserved()
    assert cuda.max_memory_allocated() == cuda.memory_allocated()
    assert cuda.max_memory_reserved() == cuda.memory_reserved()


class Rows(Dataset):
    def __init__(self, made=None):
        self.made = [] if made is None else made

    def __len__(self):
        return 7

    def __getitem__(self, i):
        self.made.append(i)
        return np.full(4, i, "float32"), i


def test_batches_for_the_gpu_are_copied_one_ahead_on_a_stream_of_their_own(gpu, emulator):
    made = []
    got = []
    for x, i in DataLoader(Rows(made), batch_size=2):
        got.append((x * 2, i, len(made)))
    assert [n for *_, n in got] == [4, 6, 7, 7]
    assert all(repr(x.place) == "Place(gpu:0)" for x, *_ in got)
    assert [x.numpy()[:, 0].tolist() for x, *_ in got] == [[0, 2], [4, 6], [8, 10], [12]]
    assert [i.tolist() for _, i, _ in got] == [[0, 1], [2, 3], [4, 5], [6]]


def test_batches_of_workers_come_that_way_too(gpu):
    batches = list(DataLoader(Rows(), batch_size=3, num_workers=1))
    assert [x.numpy()[:, 0].tolist() for x, _ in batches] == [[0, 1, 2], [3, 4, 5], [6]]
    assert {repr(x.place) for x, _ in batches} == {"Place(gpu:0)"}


@pytest.mark.parametrize("how", ["flag", "argument"])
def test_without_buffer_reader_or_pinned_memory_batches_come_when_they_are_asked_for(gpu, how):
    made = []
    set_flags({"FLAGS_use_pinned_memory": how != "flag"})
    try:
        x, _ = next(iter(DataLoader(Rows(made), batch_size=2, use_buffer_reader=how == "flag")))
    finally:
        set_flags({"FLAGS_use_pinned_memory": True})
    assert made == [0, 1]
    assert x.numpy()[:, 0].tolist() == [0, 1]


def test_what_a_data_set_raises_comes_behind_the_batches_before_it(gpu):
    class Ends(IterableDataset):
        def __iter__(self):
            yield np.zeros(1, "float32")
            raise KeyError("no more")

    batches = iter(DataLoader(Ends(), batch_size=1))
    assert next(batches).shape == [1, 1]
    with pytest.raises(KeyError, match="no more"):
        next(batches)


def test_flags_benchmark_waits_after_each_op(gpu, emulator):
    x = to_tensor([1.0, 2.0])
    cuda.synchronize()
    set_flags({"FLAGS_benchmark": True})
    try:
        before = emulator.counts.launches
        y = x + x
        assert emulator.counts.launches == before + 1
    finally:
        set_flags({"FLAGS_benchmark": False})
    assert y.numpy().tolist() == [2.0, 4.0]
    assert wherry_tensor.get_device() == "gpu:0"


def test_cuda_takes_the_current_gpu_or_the_first(gpu):
    assert repr(to_tensor([1.0], place="cpu").cuda().place) == "Place(gpu:0)"
    with pytest.raises(ValueError, match=r"Tensor.cuda: there is no such device. Got 'gpu:4', expected a number in \[0, 1\)"):
        to_tensor([1.0]).cuda(4)
