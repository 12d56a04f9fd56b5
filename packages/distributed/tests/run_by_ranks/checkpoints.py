"""Saves trainings of one layout, and loads those of another number of ranks: `checkpoints.py save|load FOLDER`."""
import glob
import os
import sys
import warnings

import numpy as np
from divisible import BATCH, X, Y, staged

import wherry_nn as nn
import wherry_ops_cpu.column
import wherry_tensor as wt
from wherry_distributed import (
    all_reduce,
    checkpoint,
    fleet,
    get_rank,
    get_world_size,
    load_state_dict,
    save_state_dict,
    training_state,
)
from wherry_distributed.sharding import group_sharded_parallel
from wherry_nn import functional as F
from wherry_train import load
from wherry_train.optimizer import AdamW
from wherry_train.optimizer.lr import StepDecay

wherry_ops_cpu.column.register()
warnings.simplefilter("ignore")
action, folder = sys.argv[1:]
rank, size = get_rank(), get_world_size()
SAVED = {"tensor and stages": {"mp": 2, "pp": 2}, "state": {"sharding": 2, "dp": 2}, "tensor": {"mp": 4}}
LOADED = {1: [{}], 2: [{"mp": 2}, {"pp": 2}, {"sharding": 2}], 8: [{"mp": 2, "pp": 2, "dp": 2}], 4: [{"pp": 4}]}


def job(degrees):
    strategy = fleet.DistributedStrategy()
    strategy.hybrid_configs = {f"{name}_degree": n for name, n in degrees.items()}
    fleet.init(is_collective=True, strategy=strategy)
    hcg = fleet.get_hybrid_communicate_group()
    parts = hcg.get_data_parallel_world_size() * hcg.get_sharding_parallel_world_size()
    strategy.pipeline_configs = {"accumulate_steps": 2}
    mine = hcg.get_data_parallel_rank() * hcg.get_sharding_parallel_world_size() + hcg.get_sharding_parallel_rank()
    rows = slice(mine * BATCH // parts, (mine + 1) * BATCH // parts)
    model = fleet.distributed_model(staged())
    optimizer = fleet.distributed_optimizer(AdamW(StepDecay(0.05, 2), parameters=model.parameters()))
    batch = [wt.to_tensor(X[rows]), wt.to_tensor(Y[rows])]

    def step():
        loss = model.train_batch(batch, optimizer)
        optimizer._learning_rate.step()
        all_reduce(loss, 4)
        return loss.item()

    return model, optimizer, step


def pieces(segment_size):
    """A training with stage 3."""
    wt.seed(rank)
    model = nn.Sequential(nn.Linear(6, 5), nn.ReLU(), nn.Linear(5, 2))
    optimizer = AdamW(0.05, parameters=model.parameters())
    model, optimizer, _ = group_sharded_parallel(model, optimizer, "p_g_os", segment_size=segment_size)
    x = wt.to_tensor(np.random.default_rng(1).standard_normal((8, 6)).astype("float32"))

    def step():
        loss = F.mse_loss(model(x), wt.ones([8, 2]))
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        return loss.item()

    return model, optimizer, step


def path(name):
    return os.path.join(folder, name)


if action == "save":
    for name, degrees in SAVED.items():
        model, optimizer, step = job(degrees)
        for _ in range(3):
            step()
        save_state_dict(training_state(model, optimizer, step=3, extra=wt.to_tensor([1.5, 2.0]).astype("bfloat16")), path(name))
        torn = path(name) + "/000000000000.0.distcp"
        open(torn, "wb").close()  # of a save that was killed
        following = [step() for _ in range(2)]
        task = save_state_dict(training_state(model, optimizer, step=5, following=following), path(f"{name} later"), async_save=True)
        step()  # while it is written
        task.wait()
        save_state_dict(training_state(model, optimizer, step=6, following=following), path(f"{name} later"), async_save=True)
        save_state_dict({"following": following}, path(f"{name} next"))
        model, optimizer, _ = job(degrees)
        save_state_dict({"step": 0}, path(name) + " torn")
        if rank == 0:
            assert not glob.glob(path(name) + " torn/*.distcp") or len(glob.glob(path(name) + " torn/*.distcp")) == size
    model, optimizer, step = pieces(1)
    for _ in range(3):
        step()
    save_state_dict(training_state(model, optimizer), path("pieces"))
    save_state_dict({"following": [step(), step()]}, path("pieces next"))
    # a rank that cannot write: all raise, what was there stays
    before = sorted(os.listdir(path("tensor")))
    write = checkpoint._write_pieces
    if rank == 1:
        def write(*args):
            raise OSError(28, "No space left on device")
    checkpoint._write_pieces = write
    try:
        save_state_dict({"a": wt.ones([2])}, path("tensor"))
    except OSError as error:
        assert "rank 1: OSError: [Errno 28]" in str(error) and "what was there before stays" in str(error), error
    else:
        raise AssertionError("a full disk was not told")
    assert sorted(os.listdir(path("tensor"))) == before
else:
    for degrees in LOADED[size]:
        for name in SAVED:
            model, optimizer, step = job(degrees)
            state = training_state(model, optimizer, step=0)
            load_state_dict(state, path(name))
            assert state["step"] == 3
            following = load(path(f"{name} next"))["following"]
            np.testing.assert_allclose([step(), step()], following, atol=1e-6, err_msg=f"{degrees} {name}")
        later = load(path(f"{name} later"))
        assert later["step"] == 6 and later["following"] == following
    for segment_size in (1, 2**20):
        model, optimizer, step = pieces(segment_size)
        load_state_dict(training_state(model, optimizer), path("pieces"))
        np.testing.assert_allclose([step(), step()], load(path("pieces next"))["following"], atol=1e-6)
    for state, where, text in (
        ({"b": wt.ones([2])}, "tensor", "has no b"),
        ({"extra": wt.ones([2])}, "tensor", "does not fit"),
        ({"a": wt.ones([2])}, "nowhere", "there is no checkpoint"),
    ):
        try:
            load_state_dict(state, path(where))
        except ValueError as error:
            assert text in str(error) and "nothing was loaded" in str(error), error
        else:
            raise AssertionError(text)
print(f"all right {rank}", file=sys.stderr)
