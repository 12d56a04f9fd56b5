"""The smaller half of the collectives, and steps of data parallel training, in many ranks that share few cores."""
import sys
import time

import numpy as np

import wherry_nn as nn
import wherry_ops_cpu.column
import wherry_tensor as wt
from wherry_distributed import (
    DataParallel,
    all_gather,
    all_reduce,
    alltoall,
    barrier,
    broadcast,
    get_rank,
    get_world_size,
    init_parallel_env,
    irecv,
    isend,
    new_group,
    reduce_scatter,
)
from wherry_nn import functional as F
from wherry_train.optimizer import Momentum

wherry_ops_cpu.column.register()
init_parallel_env()
rank, size = get_rank(), get_world_size()
barrier()
if rank == 0:
    print(f"joined {time.time():.3f}", flush=True)
every = np.arange(size)
for dtype in ("float32", "bfloat16", "int64"):
    x = wt.full([5], rank % 7, dtype)
    all_reduce(x)
    assert x.astype("float64").tolist() == [float((every % 7).sum())] * 5
    all_reduce(x, 1)
    y = wt.full([2, 3], rank, dtype)
    broadcast(y, size - 1)
    assert y.astype("int64").tolist() == [[size - 1] * 3] * 2
    found = []
    all_gather(found, wt.full([2], rank % 100, dtype))
    assert [each[0].astype("int64").item() for each in found] == (every % 100).tolist()
part = wt.zeros([3])
reduce_scatter(part, wt.arange(3 * size).astype("float32"))
assert part.tolist() == [float(size * (3 * rank + i)) for i in range(3)]
received = []
alltoall([wt.to_tensor([rank * 1000 + to]) for to in range(size)], received)
assert [each.item() for each in received] == [source * 1000 + rank for source in range(size)]
z = wt.zeros([4])
for task in (isend(wt.full([4], float(rank)), (rank + 1) % size), irecv(z, (rank - 1) % size)):
    task.wait()
assert z.tolist() == [float((rank - 1) % size)] * 4
side = 8
groups = [new_group(range(begin, begin + side)) for begin in range(0, size, side)]
mine = wt.to_tensor([float(rank)])
all_reduce(mine, group=groups[rank // side])
begin = rank // side * side
assert mine.item() == sum(range(begin, begin + side))
data = np.random.default_rng(0)
X, Y = data.standard_normal((2 * size, 8)).astype("float32"), data.integers(0, 3, (2 * size, 1))


def train(model, rows):
    optimizer = Momentum(0.1, parameters=model.parameters())
    for _ in range(3):
        F.cross_entropy(model(wt.to_tensor(X[rows])), wt.to_tensor(Y[rows])).backward()
        optimizer.step()
        optimizer.clear_grad()
    return [p.numpy() for p in model.parameters()]


def net():
    wt.seed(3)
    return nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 3))


ours = train(DataParallel(net()), slice(2 * rank, 2 * rank + 2))
if rank == 0:
    for a, b in zip(ours, train(net(), slice(None)), strict=True):
        np.testing.assert_allclose(a, b, atol=1e-6)
barrier()
print("all right", file=sys.stderr)
