"""One model divided in every way that four ranks allow, against one process, which computes the whole batch."""
import sys
import warnings

import numpy as np
from divisible import BATCH, VOCAB, Divided, Loss, Whole, X, Y, staged

import wherry_nn as nn
import wherry_ops_cpu.column
import wherry_tensor as wt
from wherry_distributed import all_reduce, fleet, get_rank, get_world_size
from wherry_nn import functional as F
from wherry_train import amp
from wherry_train.optimizer import AdamW, Momentum

wherry_ops_cpu.column.register()
warnings.simplefilter("ignore")
size = get_world_size()
def whole_losses(kind, clip, steps):
    model = Whole()
    optimizer = kind(0.05, parameters=model.parameters(), grad_clip=clip)
    found = []
    for _ in range(steps):
        loss = F.cross_entropy(model(wt.to_tensor(X)).reshape([-1, VOCAB]), wt.to_tensor(Y.reshape(-1)))
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        found.append(loss.item())
    return found


def losses(degrees, kind=Momentum, clip=None, steps=4, scaler=None, interleave=None, schedule="1F1B", **options):
    strategy = fleet.DistributedStrategy()
    strategy.hybrid_configs = {f"{name}_degree": n for name, n in degrees.items()}
    strategy.pipeline_configs = {"accumulate_steps": 4, "micro_batch_size": 1, "schedule_mode": schedule}
    fleet.init(is_collective=True, strategy=strategy)
    hcg = fleet.get_hybrid_communicate_group()
    parts = hcg.get_data_parallel_world_size() * hcg.get_sharding_parallel_world_size()
    mine = hcg.get_data_parallel_rank() * hcg.get_sharding_parallel_world_size() + hcg.get_sharding_parallel_rank()
    rows = slice(mine * BATCH // parts, (mine + 1) * BATCH // parts)
    x, y = wt.to_tensor(X[rows]), wt.to_tensor(Y[rows])
    pipe = degrees.get("pp", 1) > 1
    if pipe and parts > 1:
        strategy.pipeline_configs = {"accumulate_steps": 4 if parts == 2 else 2}
    inner = staged(num_virtual_pipeline_stages=interleave, **options) if pipe else Divided()
    model = fleet.distributed_model(inner)
    optimizer = fleet.distributed_optimizer(kind(0.05, parameters=model.parameters(), grad_clip=clip))
    if scaler is not None:
        scaler = fleet.distributed_scaler(scaler)
    found, loss_fn = [], Loss()
    for _ in range(steps):
        if pipe:
            loss = model.train_batch([x, y], optimizer, scaler=scaler)
        else:
            loss = loss_fn(model(x), y)
            (loss if scaler is None else scaler.scale(loss)).backward()
            if scaler is None:
                optimizer.step()
            else:
                scaler.step(optimizer)
                scaler.update()
            optimizer.clear_grad()
        mean = loss.detach().clone()
        all_reduce(mean, 4)
        found.append(mean.item())
    if pipe:
        total = model.eval_batch([x, y], compute_loss=True)
        assert total.shape == [] and np.isfinite(total.item())
        outs = model.eval_batch([x, y])
        assert (outs is not None) == hcg.is_last_stage
    return found


LAYOUTS = {
    4: [
        {"dp": 4}, {"mp": 4}, {"dp": 2, "mp": 2}, {"dp": 2, "pp": 2}, {"mp": 2, "pp": 2}, {"pp": 4}, {"dp": 2, "sharding": 2},
        {"mp": 2, "sharding": 2},
        {"sharding": 4}, {"pp": 2, "sharding": 2},
    ],
    2: [{"mp": 2}, {"pp": 2}, {"sharding": 2}],
    8: [{"dp": 2, "mp": 2, "pp": 2}],
}
expected = {kind: whole_losses(kind, None, 4) for kind in (Momentum, AdamW)}
for degrees in LAYOUTS[size]:
    for kind in (Momentum, AdamW):
        np.testing.assert_allclose(losses(degrees, kind), expected[kind], atol=1e-6, err_msg=f"{degrees} {kind.__name__}")
clip = nn.ClipGradByGlobalNorm(0.3)
expected_clip = whole_losses(Momentum, clip, 4)
for degrees in LAYOUTS[size]:
    np.testing.assert_allclose(losses(degrees, clip=clip), expected_clip, atol=1e-6, err_msg=f"{degrees} clipped")
pipe = {"pp": 2, "dp": size // 2}
np.testing.assert_allclose(losses(pipe, interleave=2, seg_method=[0, 1, 2, 4]), expected[Momentum], atol=1e-6)
np.testing.assert_allclose(losses(pipe, schedule="F-then-B"), expected[Momentum], atol=1e-6)
np.testing.assert_allclose(losses(pipe, recompute_interval=1), expected[Momentum], atol=1e-6)
np.testing.assert_allclose(losses(pipe, scaler=amp.GradScaler(init_loss_scaling=256.0)), expected[Momentum], atol=1e-6)
np.testing.assert_allclose(losses({"mp": 2, "dp": size // 2}, scaler=amp.GradScaler(init_loss_scaling=256.0)), expected[Momentum], atol=1e-6)
print(f"all right {get_rank()}", file=sys.stderr)
