"""Stages 1, 2 and 3 against one process, which computes the whole batch."""
import sys
import tempfile
import warnings

import numpy as np

import wherry_nn as nn
import wherry_ops_cpu.column
import wherry_tensor as wt
from wherry_distributed import (
    all_gather_object,
    all_reduce,
    broadcast_object_list,
    get_rank,
    get_world_size,
    init_parallel_env,
)
from wherry_distributed.sharding import group_sharded_parallel, save_group_sharded_model
from wherry_nn import functional as F
from wherry_train import amp, load
from wherry_train.optimizer import AdamW, Lamb, Momentum
from wherry_train.optimizer.lr import StepDecay

wherry_ops_cpu.column.register()
warnings.simplefilter("ignore")
init_parallel_env()
rank, size = get_rank(), get_world_size()
data = np.random.default_rng(0)
X, Y = data.standard_normal((24, 8)).astype("float32"), data.integers(0, 3, (24, 1))
k = 24 // size
x, y = wt.to_tensor(X[rank * k:rank * k + k]), wt.to_tensor(Y[rank * k:rank * k + k])


def net():
    wt.seed(7)
    return nn.Sequential(nn.Linear(8, 33), nn.LayerNorm(33), nn.ReLU(), nn.Linear(33, 3))


def train(model, optimizer, x, y, scaler=None, parts=1, steps=5):
    found = []
    for _ in range(steps):
        for i in range(parts):
            n = len(x) // parts
            loss = F.cross_entropy(model(x[i * n:(i + 1) * n]), y[i * n:(i + 1) * n]) / parts
            (loss if scaler is None else scaler.scale(loss)).backward()
        if scaler is None:
            optimizer.step()
        else:
            scaler.step(optimizer)
            scaler.update()
        optimizer.clear_grad()
        mean = loss.detach().clone()
        if len(x) != 24:
            all_reduce(mean, 4)
        found.append(mean.item())
    return found


def compare(level, kind=AdamW, clip=None, scaler=None, parts=1, **options):
    whole = net()
    expected = train(whole, kind(0.05, parameters=whole.parameters(), grad_clip=clip), wt.to_tensor(X), wt.to_tensor(Y), parts=1)
    model = net()
    optimizer = kind(0.05, parameters=model.parameters(), grad_clip=clip)
    model, optimizer, scaler = group_sharded_parallel(model, optimizer, level, scaler, **options)
    found = train(model, optimizer, x, y, scaler, parts)
    if parts == 1:
        np.testing.assert_allclose(found, expected, atol=1e-6, err_msg=f"{level} {options}")
    for (name, p), q in zip(model.state_dict().items(), whole.state_dict().values(), strict=True):
        np.testing.assert_allclose(p.numpy(), q.numpy(), atol=2e-5, err_msg=f"{level} {name}")
    return model, optimizer


for level in ("os", "os_g", "p_g_os"):
    options = {"segment_size": 16} if level == "p_g_os" else {}
    compare(level, **options)
    compare(level, Momentum, nn.ClipGradByGlobalNorm(0.1), **options)
    compare(level, scaler=amp.GradScaler(init_loss_scaling=1024.0), offload=True, **options)
    model, optimizer = compare(level, parts=2, **options)
    # the state is divided
    inner = optimizer._inner_opt
    held = sum(state.size for of_params in inner._accumulators.values() for state in of_params.values())
    total = wt.to_tensor(float(held))
    all_reduce(total)
    whole = 2 * sum(p.numpy().size for p in model.state_dict().values())
    assert held < 0.75 * whole and total.item() < whole + 2 * 4 * 9 * size, (level, held, whole)

    folder = [tempfile.mkdtemp()]
    broadcast_object_list(folder, 0)
    save_group_sharded_model(model, folder[0], optimizer)
    state, optimizer_state = load(folder[0] + "/model.pdmodel"), load(folder[0] + "/model.pdopt")
    again = net()
    again.set_state_dict(state)
    for (name, p), q in zip(again.state_dict().items(), model.state_dict().values(), strict=True):
        np.testing.assert_array_equal(p.numpy(), q.numpy(), err_msg=name)
    alone = AdamW(0.05, parameters=again.parameters())
    alone.set_state_dict(optimizer_state)
    F.cross_entropy(again(wt.to_tensor(X)), wt.to_tensor(Y)).backward()
    alone.step()
    train(model, optimizer, x, y, steps=1)
    for p, q in zip(again.state_dict().values(), model.state_dict().values(), strict=True):
        np.testing.assert_allclose(p.numpy(), q.numpy(), atol=2e-5)
    model.set_state_dict(state)
    for p, q in zip(model.state_dict().values(), state.values(), strict=True):
        np.testing.assert_array_equal(p.numpy(), q.numpy())

# gradients of others are let go of; parameters are pieces
model = net()
model, optimizer, _ = group_sharded_parallel(model, Momentum(StepDecay(0.1, 2), parameters=model.parameters()), "os_g")
F.cross_entropy(model(x), y).backward()
assert 0 < sum(p.grad is not None for p in model.parameters()) < len(model.parameters())
model = net()
model, optimizer, _ = group_sharded_parallel(model, Momentum(0.1, parameters=model.parameters()), "p_g_os", segment_size=100)
assert model._layers[0].weight.shape == [-(-8 * 33 // size)] and model._layers[0].bias.shape == [33]
assert next(p.shape for p in model.get_all_parameters()) == [8, 33]
for level in ("os", "os_g", "p_g_os"):  # NaN names its rank
    model = net()
    model, optimizer, _ = group_sharded_parallel(model, Momentum(0.1, parameters=model.parameters()), level, segment_size=16)
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        F.cross_entropy(model(x * (float("nan") if rank == 1 else 1.0)), y).backward()
        optimizer.step()
    named = [str(each.message) for each in seen if "NaN" in str(each.message)]
    assert all("come from rank 1;" in each for each in named) and (named or level != "os"), (level, named)
    told: list[bool] = []
    all_gather_object(told, bool(named))  # where gradients go to their owner, others do not see them
    assert any(told), level
for call, kind, text in (
    (lambda: group_sharded_parallel(model, optimizer, "g"), ValueError, "level is not known"),
    (lambda: group_sharded_parallel(3, optimizer, "os"), TypeError, "model"),
    (lambda: group_sharded_parallel(net(), Lamb(0.1, parameters=model.parameters()), "p_g_os"), NotImplementedError, "whole parameters"),
):
    try:
        call()
    except kind as error:
        assert text in str(error), error
    else:
        raise AssertionError(text)
print(f"all right {rank}", file=sys.stderr)
