"""Trains with checkpoints, and something goes wrong at one step in one rank: `injected.py FOLDER KIND RANK STEP`.

A file in the folder says that it has happened, so that a program that starts again goes on.
"""
import hashlib
import os
import resource
import signal
import sys
import time
import warnings

import numpy as np

import wherry_nn as nn
import wherry_ops_cpu.column
import wherry_tensor as wt
from wherry_distributed import (
    backward_of_shards,
    barrier,
    get_rank,
    get_world_size,
    init_parallel_env,
    load_state_dict,
    save_state_dict,
    sync_params_buffers,
    training_state,
)
from wherry_nn import functional as F
from wherry_train.optimizer import Adam

STEPS = 5
wherry_ops_cpu.column.register()
warnings.simplefilter("ignore")
folder, kind, at_rank, at_step = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
init_parallel_env()
rank, size = get_rank(), get_world_size()
data = np.random.default_rng(0)
X, Y = data.standard_normal((16, 8)).astype("float32"), data.integers(0, 3, (16, 1))
rows = slice(rank * 16 // size, (rank + 1) * 16 // size)
wt.seed(5)
model = nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 3))
sync_params_buffers(model)
optimizer = Adam(0.05, parameters=model.parameters())
checkpoint, mark = f"{folder}/checkpoint", f"{folder}/happened"


def goes_wrong(step):
    if step != at_step or rank != at_rank % size or os.path.exists(mark):
        return
    with open(mark, "w"):
        pass
    if kind == "killed":
        os.kill(os.getpid(), signal.SIGKILL)
    elif kind == "stopped":
        os.kill(os.getpid(), signal.SIGSTOP)
    elif kind == "delayed":
        time.sleep(1.0)
    elif kind == "full":  # as on a full disk: nothing can be written any more
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (64, resource.RLIM_INFINITY))


begin = 0
if os.path.exists(f"{checkpoint}/metadata.json"):
    state = training_state(model, optimizer, step=0)
    load_state_dict(state, checkpoint)
    begin = state["step"]
for step in range(begin, STEPS):
    goes_wrong(step)
    backward_of_shards(model, lambda out, y: F.cross_entropy(out, y), [wt.to_tensor(X[rows])], [wt.to_tensor(Y[rows])], shards=8)
    optimizer.step()
    optimizer.clear_grad()
    save_state_dict(training_state(model, optimizer, step=step + 1), checkpoint)
barrier()
if rank == 0:
    digest = hashlib.sha256(b"".join(p.numpy().tobytes() for p in model.parameters())).hexdigest()
    print(f"from step {begin}, of {size}: {digest}", flush=True)
