"""A small model that can be divided in every way, with weights that are the same however it is."""
import numpy as np

import wherry_nn as nn
import wherry_tensor as wt
from wherry_distributed.model_parallel import _c_identity
from wherry_distributed.pipeline import LayerDesc, PipelineLayer, SharedLayerDesc
from wherry_distributed.tensor_parallel import (
    ColumnParallelLinear,
    ParallelCrossEntropy,
    RowParallelLinear,
    VocabParallelEmbedding,
)
from wherry_nn import functional as F

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
        [SharedLayerDesc("table", Table), *(LayerDesc(Block, i) for i in range(BLOCKS)), SharedLayerDesc("table", Table, logits)],
        loss_fn=Loss(), **options)
