"""Functions that `spawn` calls."""
import hashlib
import time

import numpy as np

import wherry_nn as nn
import wherry_ops_cpu.column
import wherry_tensor as wt
from wherry_distributed import all_reduce, backward_of_shards, get_rank, get_world_size, init_parallel_env
from wherry_train.optimizer import Adam

wherry_ops_cpu.column.register()


def train(path):
    """60 steps; writes the digest of the parameters."""
    if get_world_size() > 1:
        init_parallel_env()
    rank, part = get_rank(), 64 // get_world_size()
    wt.seed(3)
    model = nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 4))
    optimizer = Adam(0.01, parameters=model.parameters())
    data = np.random.default_rng(0)
    for _ in range(60):
        x, y = data.standard_normal((64, 16)).astype("float32"), data.integers(0, 4, (64, 1))
        own = slice(rank * part, (rank + 1) * part)
        backward_of_shards(model, nn.CrossEntropyLoss(), [wt.to_tensor(x[own])], [wt.to_tensor(y[own])])
        optimizer.step()
        optimizer.clear_grad(set_to_zero=False)
    digest = hashlib.sha256(b"".join(p.numpy().tobytes() for p in model.parameters())).hexdigest()
    (path / f"{get_world_size()}.{rank}").write_text(digest)


def fails(what):
    init_parallel_env()
    if get_rank() == 1:
        if what == "hangs":
            time.sleep(600)
        raise KeyError("no such batch")
    all_reduce(wt.ones([1]))


def add(value, path):
    init_parallel_env()
    x = wt.to_tensor([value])
    all_reduce(x)
    (path / str(get_rank())).write_text(str(x.item()))
