"""A small GPT that is divided among processes: layers (tensor parallel), stages (pipeline), samples (data parallel), with checkpoints.

    python examples/gpt_hybrid.py                                            # in one process
    python -m wherry.distributed.launch --nproc_per_node 4 examples/gpt_hybrid.py --mp 2 --pp 2
    python -m wherry.distributed.launch --nproc_per_node 4 --elastic examples/gpt_hybrid.py --checkpoint run

It learns to continue sequences of numbers that count upwards by a step of their own. With the same seed every layout has the same losses: a
process draws whole weights and keeps its part. With `--checkpoint` it goes on from the folder, also with another number of processes.
"""
from __future__ import annotations

import argparse
import os
import warnings
import zlib

import numpy as np

import wherry as paddle
import wherry.distributed as dist
from wherry.distributed import fleet
from wherry.distributed.fleet.meta_parallel import (
    ColumnParallelLinear,
    LayerDesc,
    ParallelCrossEntropy,
    PipelineLayer,
    RowParallelLinear,
    SharedLayerDesc,
    VocabParallelEmbedding,
)

VOCAB, LENGTH = 32, 12


class Embedding(paddle.nn.Layer):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.words, self.places = VocabParallelEmbedding(VOCAB, width), paddle.nn.Embedding(LENGTH, width)

    @property
    def weight(self) -> paddle.Tensor:
        """What the last layer shares with the first one."""
        return self.words.weight

    def forward(self, tokens: paddle.Tensor) -> paddle.Tensor:
        return self.words(tokens) + self.places(paddle.arange(tokens.shape[1]))


class Block(paddle.nn.Layer):
    """Attention and a feed-forward layer; each process has some of the heads and of the hidden values."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        degree = fleet.get_hybrid_communicate_group().get_model_parallel_world_size()
        self.heads = heads // degree
        self.norms = paddle.nn.LayerList([paddle.nn.LayerNorm(width), paddle.nn.LayerNorm(width)])
        self.q, self.k, self.v = (ColumnParallelLinear(width, width, gather_output=False) for _ in range(3))
        self.out = RowParallelLinear(width, width, input_is_parallel=True)
        self.up = ColumnParallelLinear(width, 4 * width, gather_output=False)
        self.down = RowParallelLinear(4 * width, width, input_is_parallel=True)

    def forward(self, x: paddle.Tensor) -> paddle.Tensor:
        y = self.norms[0](x)
        q, k, v = (layer(y).reshape([x.shape[0], x.shape[1], self.heads, -1]) for layer in (self.q, self.k, self.v))
        attended = paddle.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(attended.reshape([x.shape[0], x.shape[1], -1]))
        return x + self.down(paddle.nn.functional.gelu(self.up(self.norms[1](x))))


def logits(embedding: Embedding, x: paddle.Tensor) -> paddle.Tensor:
    """Scores of the words that this process has."""
    group = embedding.words.model_parallel_group
    return paddle.matmul(dist.collective._c_identity(x, group=group), embedding.weight, transpose_y=True)


class Loss(paddle.nn.Layer):
    def __init__(self) -> None:
        super().__init__()
        self.entropy = ParallelCrossEntropy()

    def forward(self, scores: paddle.Tensor, labels: paddle.Tensor) -> paddle.Tensor:
        return self.entropy(scores, labels.unsqueeze(-1)).mean()


def model_of(layers: int, width: int, heads: int) -> PipelineLayer:
    made = PipelineLayer(
        [SharedLayerDesc("embedding", Embedding, width=width), *(LayerDesc(Block, width, heads) for _ in range(layers)),
         LayerDesc(paddle.nn.LayerNorm, width), SharedLayerDesc("embedding", Embedding, logits, width=width)],
        loss_fn=Loss(), seg_method="layer:Block")
    for name, p in made.state_dict().items():  # the same weights in every layout
        shape, group = list(p.shape), getattr(p, "split_group", None)
        if group is not None:
            shape[p.split_axis] *= group.nranks
        values = np.random.default_rng(zlib.crc32(name.encode())).standard_normal(shape).astype("float32") * (0.1 if len(shape) > 1 else 0.0)
        if len(shape) == 1 and name.endswith("weight"):
            values += 1.0
        p.set_value(values if group is None else np.split(values, group.nranks, p.split_axis)[group.rank].copy())
    return made


def batch(step: int, size: int = 16) -> tuple[np.ndarray, np.ndarray]:
    draw = np.random.default_rng(step)
    begin, by = draw.integers(0, VOCAB, (size, 1)), draw.integers(1, 4, (size, 1))
    numbers = (begin + by * np.arange(LENGTH + 1)) % VOCAB
    return numbers[:, :-1], numbers[:, 1:]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, default in (("mp", 1), ("pp", 1), ("sharding", 1), ("steps", 60), ("layers", 4), ("width", 32), ("heads", 4)):
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--checkpoint", help="a folder: write it after every 10 steps, and go on from it")
    options = parser.parse_args()
    strategy = fleet.DistributedStrategy()
    strategy.hybrid_configs = {"mp_degree": options.mp, "pp_degree": options.pp, "sharding_degree": options.sharding}
    strategy.pipeline_configs = {"accumulate_steps": 2 * options.pp if options.pp > 1 else 1}
    fleet.init(is_collective=True, strategy=strategy)
    hcg = fleet.get_hybrid_communicate_group()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = fleet.distributed_model(model_of(options.layers, options.width, options.heads))
    optimizer = fleet.distributed_optimizer(
        paddle.optimizer.AdamW(3e-3, parameters=model.parameters(), grad_clip=paddle.nn.ClipGradByGlobalNorm(1.0)))

    begin = 0
    if options.checkpoint and os.path.exists(os.path.join(options.checkpoint, "metadata.json")):
        state = dist.training_state(model, optimizer, step=0)
        dist.load_state_dict(state, options.checkpoint)
        begin = state["step"]
        if dist.get_rank() == 0:
            print(f"goes on with step {begin}")
    samples = hcg.get_data_parallel_world_size() * hcg.get_sharding_parallel_world_size()
    mine = hcg.get_data_parallel_rank() * hcg.get_sharding_parallel_world_size() + hcg.get_sharding_parallel_rank()
    for step in range(begin, options.steps):
        tokens, labels = (paddle.to_tensor(np.array_split(each, samples)[mine].copy()) for each in batch(step))
        loss = model.train_batch([tokens, labels], optimizer)
        dist.all_reduce(loss, dist.ReduceOp.AVG)
        if dist.get_rank() == 0 and (step + 1) % 10 == 0:
            print(f"step {step + 1}: loss {loss.item():.5f}", flush=True)
        if options.checkpoint and (step + 1) % 10 == 0:
            dist.save_state_dict(dist.training_state(model, optimizer, step=step + 1), options.checkpoint, async_save=True)
    if dist.get_rank() == 0:
        layout = ", ".join(f"{hcg._degree(name)} x {name}" for name in hcg.topology().get_hybrid_group_names())
        print(f"{dist.get_world_size()} process(es): {layout}")


if __name__ == "__main__":
    main()
