"""Trains with checkpoints; `kill` ends a rank when a file is not there yet: `elastic.py FOLDER STEPS FILE`."""
import os
import signal
import sys
import time
import warnings

import numpy as np

import wherry_nn as nn
import wherry_ops_cpu.column
import wherry_tensor as wt
from wherry_distributed import (
    DataParallel,
    all_reduce,
    get_rank,
    get_world_size,
    init_parallel_env,
    load_state_dict,
    save_state_dict,
    training_state,
)
from wherry_nn import functional as F
from wherry_train.optimizer import Adam

wherry_ops_cpu.column.register()
warnings.simplefilter("ignore")
folder, steps, file = sys.argv[1], int(sys.argv[2]), sys.argv[3]
init_parallel_env()
rank, size = get_rank(), get_world_size()
data = np.random.default_rng(0)
X, Y = data.standard_normal((12, 8)).astype("float32"), data.integers(0, 3, (12, 1))
k = 12 // size
x, y = wt.to_tensor(X[rank * k:rank * k + k]), wt.to_tensor(Y[rank * k:rank * k + k])
wt.seed(5)
model = DataParallel(nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 3)))
optimizer = Adam(0.05, parameters=model.parameters())
begin = 0
if os.path.exists(f"{folder}/metadata.json"):
    state = training_state(model, optimizer, step=0)
    load_state_dict(state, folder)
    begin = state["step"]
for step in range(begin, steps):
    if step == 3 and rank == size - 1 and not os.path.exists(file):
        open(file, "w").close()
        os.kill(os.getpid(), signal.SIGKILL)
    loss = F.cross_entropy(model(x), y)
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
    mean = loss.detach().clone()
    if size > 1:
        all_reduce(mean, 4)
    print(f"of {size}, step {step}: {mean.item():.6f}", flush=True)
    save_state_dict(training_state(model, optimizer, step=step + 1), folder, async_save=True)
    time.sleep(0.05)
