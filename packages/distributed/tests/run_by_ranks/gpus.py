"""GPUs of several ranks: the order of streams, messages, data parallel training; and what goes wrong there. The argument says which."""
import os
import signal
import sys
import time

import numpy as np
from devices import ON_GPU

import wherry_nn as nn
import wherry_tensor as wt
from wherry_distributed import (
    DataParallel,
    all_gather_object,
    all_reduce,
    barrier,
    broadcast,
    get_backend,
    get_group,
    get_rank,
    get_world_size,
    init_parallel_env,
    irecv,
    isend,
    new_group,
    recv,
    send,
    wait,
)
from wherry_distributed.messages import Messages
from wherry_nn import functional as F
from wherry_train.optimizer import Momentum

kind = sys.argv[1]
assert ON_GPU
init_parallel_env()
rank, size = get_rank(), get_world_size()


def streams():
    """What waits on the current stream is read by a collective, and its result by what comes after `wait()`."""
    x = wt.full([1000], 1.0)
    for _ in range(3):
        x = x * 2.0
    task = all_reduce(x, sync_op=False)
    other = wt.ones([10]) * 3.0
    task.wait()
    y = x + 1.0
    assert y.numpy().tolist() == [8.0 * size + 1] * 1000 and other.numpy().tolist() == [3.0] * 10
    assert task.is_completed()
    first, second = wt.ones([4]), wt.ones([4])
    tasks = [all_reduce(first, sync_op=False), broadcast(second, 0, sync_op=False)]
    wait(first)  # the current stream waits for all of them
    assert (first + second).numpy().tolist() == [size + 1.0] * 4
    tasks[1].synchronize()
    with wt.device.stream_guard(wt.device.Stream(wt.get_device())):
        z = wt.ones([8]) * 5.0
        all_reduce(z)
        assert z.numpy().tolist() == [5.0 * size] * 8
    turned = wt.to_tensor(np.arange(6.0, dtype="float32").reshape(2, 3)).t()
    all_reduce(turned)
    assert turned.numpy().tolist() == (np.arange(6.0).reshape(2, 3).T * size).tolist()
    del first, second, tasks  # memory of what is under way stays
    all_reduce(wt.ones([5]), sync_op=False)
    barrier()


def messages():
    """Everybody begins by sending; a message that nobody waits for arrives, too."""
    to, source = (rank + 1) % size, (rank - 1) % size
    x, y = wt.full([3000], float(rank)), wt.zeros([3000])
    tasks = [isend(x, to), irecv(y, source)]
    for task in tasks:
        task.wait()
    assert y.numpy().tolist() == [float(source)] * 3000
    if rank == 0:
        isend(wt.full([7], 4.0), 1)
        time.sleep(0.5)
    elif rank == 1:
        z = wt.zeros([7])
        recv(z, 0)
        assert z.numpy().tolist() == [4.0] * 7
    barrier()
    between = Messages(get_group())  # of stages: through the host, and back to the GPU
    if rank == 0:
        z = wt.full([3, 2], 6.0)
        z.stop_gradient = False
        between.send([z, wt.arange(4)], 1, 0)
    elif rank == 1:
        z, numbers = between.receive(0, 0)
        assert z.place.is_gpu_place() and not z.stop_gradient and z.numpy().tolist() == [[6.0] * 2] * 3 and numbers.numpy().tolist() == [0, 1, 2, 3]
    between.finish()
    barrier()


def trains():
    """Losses and parameters of data parallel training are those of one process."""
    values = np.random.default_rng(0)
    xs, ys = values.standard_normal((12, 6)).astype("float32"), values.integers(0, 3, (12, 1))
    part = slice(rank * 12 // size, (rank + 1) * 12 // size)

    def net():
        wt.seed(3)
        return nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Linear(8, 3))

    ours, reference = DataParallel(net(), comm_buffer_size=1), net()
    for model, x, y in ((ours, xs[part], ys[part]), (reference, xs, ys)):
        optimizer = Momentum(0.1, parameters=model.parameters())
        for _ in range(3):
            F.cross_entropy(model(wt.to_tensor(x)), wt.to_tensor(y)).backward()
            optimizer.step()
            optimizer.clear_grad()
    for a, b in zip(ours.parameters(), reference.parameters(), strict=True):
        np.testing.assert_allclose(a.numpy(), b.numpy(), atol=2e-6)


def late():
    """Rank 1 does not come; rank 0 waits inside of CUDA."""
    barrier()
    if rank == 1:
        time.sleep(30)
    x = wt.ones([10])
    begin = time.monotonic()
    try:
        all_reduce(x)
        x.numpy()
        time.sleep(5)  # the error comes here, at the latest
    except RuntimeError as error:
        print(f"{type(error).__name__} after {time.monotonic() - begin:.1f} s: {error}", file=sys.stderr)
        raise
    raise AssertionError("no error")


def killed():
    """Rank 1 dies while rank 0 waits for it."""
    if rank == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    late()


def differs():
    """Ranks call different things."""
    x = wt.ones([10 if rank else 11])
    all_reduce(x)
    x.numpy()
    time.sleep(5)
    raise AssertionError("no error")


def refused():
    """A call that NCCL refuses raises with its words."""
    all_reduce(wt.ones([3]))
    time.sleep(5)
    raise AssertionError("no error")


def through_host():
    """Without NCCL the host carries everything; the results are the same."""
    assert get_backend() == "MPI"
    x = wt.ones([3]) * 2.0
    all_reduce(x)
    assert x.numpy().tolist() == [2.0 * size] * 3 and get_backend() == "MPI"
    if rank == 0:
        send(x, 1)
    else:
        recv(x, 0)
    found = []
    all_gather_object(found, rank)
    assert found == list(range(size))
    assert new_group([0]).backend in (("mpi", "nccl") if rank == 0 else ("alone",))  # alone it has its GPU for itself


{each.__name__: each for each in (streams, messages, trains, late, killed, differs, refused, through_host)}[kind]()
print("all right", file=sys.stderr)
