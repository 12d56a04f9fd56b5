"""Sequences and experts that are divided among the ranks, against one process."""
import sys
import warnings

import numpy as np

import wherry_nn as nn
import wherry_ops_cpu.column
import wherry_tensor as wt
from wherry_distributed import (
    DataParallel,
    all_gather_object,
    all_reduce,
    fleet,
    get_rank,
    get_world_size,
    ring_attention,
)
from wherry_distributed import sequence_parallel as sp
from wherry_distributed.experts import GShardGate, MoELayer, NaiveGate, SwitchGate
from wherry_nn import functional as F
from wherry_train.optimizer import Momentum

wherry_ops_cpu.column.register()
warnings.simplefilter("ignore")
rank, size = get_rank(), get_world_size()
strategy = fleet.DistributedStrategy()
strategy.hybrid_configs = {"mp_degree": size}
fleet.init(is_collective=True, strategy=strategy)
draw = np.random.default_rng(0)


def leaf(values):
    x = wt.to_tensor(np.ascontiguousarray(values))
    x.stop_gradient = False
    return x


def same(a, b, tolerance=1e-6):
    np.testing.assert_allclose(a, b, atol=tolerance)


# attention
LENGTH = 4 * size
for causal, scale in ((False, None), (True, None), (True, 0.7)):
    values = [draw.standard_normal((2, LENGTH, 3, 8)).astype("float32") for _ in range(4)]
    q, k, v = map(leaf, values[:3])
    out = F.scaled_dot_product_attention(q * ((scale or 8**-0.5) * 8**0.5), k, v, is_causal=causal)
    (out * wt.to_tensor(values[3])).sum().backward()
    part = slice(4 * rank, 4 * rank + 4)
    parts = [leaf(x[:, part]) for x in values[:3]]
    got = ring_attention(*parts, causal=causal, scale=scale)
    (got * wt.to_tensor(np.ascontiguousarray(values[3][:, part]))).sum().backward()
    same(got.numpy(), out.numpy()[:, part], 2e-6)
    for mine, whole in zip(parts, (q, k, v), strict=True):
        same(mine.grad.numpy(), whole.grad.numpy()[:, part], 5e-6)
try:
    ring_attention(wt.ones([1, 2, 3, 4]), wt.ones([1, 3, 3, 4]), wt.ones([1, 2, 3, 4]))
except ValueError as error:
    assert "shapes differ" in str(error)

# normalization of a part of the sequence, between divided layers
X, W1, W2, G = (draw.standard_normal(shape).astype("float32") for shape in ((LENGTH, 2, 8), (8, 4 * size), (4 * size, 8), (LENGTH, 2, 8)))
x, w1, w2, norm = leaf(X), leaf(W1), leaf(W2), nn.LayerNorm(8)
whole = x + F.relu(norm(x) @ w1) @ w2
(whole * wt.to_tensor(G)).sum().backward()
up = sp.ColumnSequenceParallelLinear(8, 4 * size, has_bias=False, gather_output=False)
down = sp.RowSequenceParallelLinear(4 * size, 8, input_is_parallel=True)
up.weight.set_value(np.ascontiguousarray(np.split(W1, size, 1)[rank]))
down.weight.set_value(np.ascontiguousarray(np.split(W2, size, 0)[rank]))
own = nn.LayerNorm(8)
for p in own.parameters():
    sp.mark_as_sequence_parallel_parameter(p)
holder = nn.LayerList([own, up, down])
sp.register_sequence_parallel_allreduce_hooks(holder)
y = leaf(X)
part = sp.ScatterOp.apply(y)
out = part + down(F.relu(up(own(part))))
back = sp.GatherOp.apply(out)
same(back.numpy(), whole.numpy(), 1e-5)
(back * wt.to_tensor(G)).sum().backward()
same(y.grad.numpy(), x.grad.numpy(), 2e-5)
same(own.weight.grad.numpy(), norm.weight.grad.numpy(), 2e-5)
same(up.weight.grad.numpy(), np.split(w1.grad.numpy(), size, 1)[rank], 2e-5)
same(down.bias.grad.numpy(), G.sum((0, 1)), 2e-5)
assert sp.is_sequence_parallel_parameter(own.bias) and sp.is_sequence_parallel_parameter(down.bias)
for call in (lambda: sp.ScatterOp.apply(wt.ones([size + 1, 2])), lambda: sp.ColumnSequenceParallelLinear(8, 4 * size)(part)):
    try:
        call()
    except ValueError as error:
        assert "expected" in str(error)
    else:
        raise AssertionError

# experts
WIDTH, EXPERTS, TOKENS = 6, 2 * size, 12
weights = {name: draw.standard_normal(shape).astype("float32") / 2 for name, shape in (("g", (WIDTH, EXPERTS)), ("e", (EXPERTS, WIDTH, WIDTH)))}
data, target = draw.standard_normal((2, TOKENS * size, WIDTH)).astype("float32")


def mixture(numbers, recompute_interval=0, group=None):
    experts = [nn.Sequential(nn.Linear(WIDTH, WIDTH, bias_attr=False), nn.Tanh()) for _ in numbers]
    layer = MoELayer(WIDTH, experts, {"type": "naive", "top_k": 2}, moe_group=group, recompute_interval=recompute_interval)
    layer.gate.gate.weight.set_value(weights["g"])
    layer.gate.gate.bias.set_value(np.zeros(EXPERTS, "float32"))
    for i, number in enumerate(numbers):
        experts[i][0].weight.set_value(weights["e"][number])
    return layer


from wherry_distributed.world import Group  # noqa: E402

alone = mixture(range(EXPERTS), group=Group(0, -7, [rank]))
for interval in (0, 1):
    own = slice(2 * rank, 2 * rank + 2)
    divided = mixture(range(2 * rank, 2 * rank + 2), interval)
    model = DataParallel(divided)
    pairs = []
    for layer, rows in ((alone, slice(None)), (model, slice(TOKENS * rank, TOKENS * (rank + 1)))):
        optimizer = Momentum(0.1, parameters=layer.parameters())
        found = []
        for _ in range(3):
            loss = F.mse_loss(layer(wt.to_tensor(data[rows])), wt.to_tensor(target[rows]))
            loss.backward()
            optimizer.step()
            optimizer.clear_grad()
            mean = loss.detach().clone()
            if layer is model:
                all_reduce(mean, 4)
            found.append(mean.item())
        pairs.append(found)
    same(*pairs)
    same(divided.experts[1][0].weight.numpy(), alone.experts[2 * rank + 1][0].weight.numpy())
    alone = mixture(range(EXPERTS), group=Group(0, -7, [rank]))
firsts = []
all_gather_object(firsts, divided.experts[0][0].weight.numpy())
assert np.abs(firsts[0] - firsts[-1]).max() > 0.01  # experts stay those of their process

wt.seed(1 + rank)
for kind, most in ((GShardGate, 2), (SwitchGate, 1)):
    gate = kind(WIDTH, 1, size, capacity=(0.25, 0.5))
    for training in (True, False):
        gate.train() if training else gate.eval()
        chosen = gate(wt.to_tensor(data[:TOKENS]))[1].numpy()
        counts = np.bincount(chosen[chosen >= 0], minlength=size)
        assert chosen.shape == (TOKENS, most) and counts.max() <= TOKENS * (0.25 if training else 0.5)
        assert gate.get_loss().item() > 0 and gate.get_loss() is None
    layer = MoELayer(WIDTH, [nn.Linear(WIDTH, WIDTH)], {"type": "gshard" if most == 2 else "switch", "capacity": (0.1, 0.1)})
    x = leaf(data[:TOKENS])
    (layer(x).sum() + layer.gate.get_loss()).backward()
    assert np.isfinite(x.grad.numpy()).all() and layer.gate.gate.weight.grad is not None
for call, text in (
    (lambda: MoELayer(4, []), "no experts"), (lambda: MoELayer(4, [nn.Linear(4, 4)], {"type": "odd"}), "not known"),
    (lambda: NaiveGate(4, 1, 1, 3), "topk does not fit"), (lambda: GShardGate(4, 1, 2, 1), "topk should be 2"),
    (lambda: MoELayer(4, [nn.Linear(4, 4)], 3), "gate is not a gate"),
):
    try:
        call()
    except (ValueError, TypeError) as error:
        assert text in str(error), error
    else:
        raise AssertionError(text)
print(f"all right {rank}", file=sys.stderr)
