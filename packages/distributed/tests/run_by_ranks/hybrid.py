"""One model divided in every way that four ranks allow, against one process, which computes the whole batch."""
import sys
import warnings

import numpy as np

import wherry_nn as nn
import wherry_ops_cpu.column
import wherry_tensor as wt
from wherry_distributed import all_reduce, fleet, get_rank, get_world_size
from wherry_distributed.pipeline import LayerDesc, PipelineLayer, SharedLayerDesc
from wherry_distributed.tensor_parallel import ColumnParallelLinear, ParallelCrossEntropy, RowParallelLinear, VocabParallelEmbedding
from wherry_nn import functional as F
from wherry_train import amp
from wherry_train.optimizer import AdamW, Momentum

wherry_ops_cpu.column.register()
warnings.simplefilter("ignore")
size = get_world_size()
draw = np.random.default_rng(0)
VOCAB, WIDTH, BLOCKS, BATCH, LENGTH = 12, 8, 3, 8, 5
X, Y = draw.integers(0, VOCAB, (BATCH, LENGTH)), draw.integers(0, VOCAB, (BATCH, LENGTH))
W = {"embed": draw.standard_normal((VOCAB, WIDTH))}
for i in range(BLOCKS):
    W |= {f"{i}.up": draw.standard_normal((WIDTH, 4 * WIDTH)) / 3, f"{i}.up_b": draw.standard_normal(4 * WIDTH) / 3}
    W |= {f"{i}.down": draw.standard_normal((4 * WIDTH, WIDTH)) / 6, f"{i}.down_b": draw.standard_normal(WIDTH) / 3}
W = {name: values.astype("float32") for name, values in W.items()}


def put(p, values):
    axis = getattr(p, "split_axis", None)
    if axis is not None:
        group = p.split_group
        values = np.split(values, group.nranks, axis)[group.rank]
    p.set_value(wt.to_tensor(np.ascontiguousarray(values)))


class Block(nn.Layer):
    """Half of a transformer's: up, ReLU, down, and what came in."""

    def __init__(self, i, whole=False):
        super().__init__()
        if whole:
            self.up, self.down = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)
        else:
            self.up = ColumnParallelLinear(WIDTH, 4 * WIDTH, gather_output=False)
            self.down = RowParallelLinear(4 * WIDTH, WIDTH, input_is_parallel=True)
        for name, p in (("up", self.up.weight), ("up_b", self.up.bias), ("down", self.down.weight), ("down_b", self.down.bias)):
            put(p, W[f"{i}.{name}"])

    def forward(self, x):
        return x + self.down(F.relu(self.up(x)))


class Table(nn.Layer):
    def __init__(self, whole=False):
        super().__init__()
        made = nn.Embedding(VOCAB, WIDTH) if whole else VocabParallelEmbedding(VOCAB, WIDTH)
        self.inner, self.weight = made, made.weight
        put(self.weight, W["embed"])

    def forward(self, x):
        return self.inner(x)


def logits(table, x):
    from wherry_distributed.model_parallel import _c_identity

    group = getattr(table.inner, "model_parallel_group", None)
    return F.linear(x if group is None else _c_identity(x, group), table.weight.t())


class Whole(nn.Layer):
    def __init__(self):
        super().__init__()
        self.table, self.blocks = Table(True), nn.LayerList([Block(i, True) for i in range(BLOCKS)])

    def forward(self, x):
        x = self.table(x)
        for block in self.blocks:
            x = block(x)
        return logits(self.table, x)


class Divided(nn.Layer):
    def __init__(self):
        super().__init__()
        self.table, self.blocks = Table(), nn.LayerList([Block(i) for i in range(BLOCKS)])

    forward = Whole.forward


class Loss(nn.Layer):
    def __init__(self):
        super().__init__()
        self.inner = ParallelCrossEntropy()

    def forward(self, out, label):
        return self.inner(out, label.unsqueeze(-1)).mean()


def staged(**options):
    return PipelineLayer(
        [SharedLayerDesc("table", Table), *(LayerDesc(Block, i) for i in range(BLOCKS)), SharedLayerDesc("table", Table, logits)], loss_fn=Loss(), **options)


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
        {"dp": 4}, {"mp": 4}, {"dp": 2, "mp": 2}, {"dp": 2, "pp": 2}, {"mp": 2, "pp": 2}, {"pp": 4}, {"dp": 2, "sharding": 2}, {"mp": 2, "sharding": 2},
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
