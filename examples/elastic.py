"""Training that goes on when processes are lost: from the last checkpoint, with those that are left.

    python -m wherry.distributed.launch --nproc_per_node 4 --elastic examples/elastic.py
    python -m wherry.distributed.launch --nproc_per_node 4 --elastic examples/elastic.py --lose 2 --at 30     # rank 2 is killed at step 30

Each step computes the same batch, divided among however many processes there are, with `backward_of_shards`: so the parameters in the end are the
same, to the last bit, whether a process was lost or not.
"""
from __future__ import annotations

import argparse
import hashlib
import os
import signal

import numpy as np

import wherry as paddle
import wherry.distributed as dist

BATCH, SHARDS = 64, 8


def batch(step: int) -> tuple[np.ndarray, np.ndarray]:
    """Points in a plane, and whether they lie in the unit circle; those of a step are the same in every process and every run."""
    random = np.random.default_rng(step)
    x = random.uniform(-1.5, 1.5, (BATCH, 2)).astype("float32")
    return x, (np.square(x).sum(1, keepdims=True) < 1).astype("int64")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=60)
    parser.add_argument("--checkpoint", default="elastic-run", help="folder that all hosts see")
    parser.add_argument("--every", type=int, default=10, help="steps between two checkpoints")
    parser.add_argument("--lose", type=int, default=-1, help="the rank that is killed, in the first run")
    parser.add_argument("--at", type=int, default=30, help="the step at which it is")
    options = parser.parse_args()
    dist.init_parallel_env()
    rank, size = dist.get_rank(), dist.get_world_size()
    while SHARDS % size:  # 3 of 4 processes are left: two work, as 8 shards divide by 2
        size -= 1
    group = dist.new_group(list(range(size)))
    if rank >= size:
        dist.barrier()
        return
    paddle.seed(1)
    model = paddle.nn.Sequential(paddle.nn.Linear(2, 32), paddle.nn.Tanh(), paddle.nn.Linear(32, 2))
    optimizer = paddle.optimizer.Adam(0.02, parameters=model.parameters())
    begin = 0
    if os.path.exists(os.path.join(options.checkpoint, "metadata.json")):
        state = dist.training_state(model, optimizer, step=0)
        dist.load_state_dict(state, options.checkpoint, process_group=group)
        begin = state["step"]
        if rank == 0:
            run = os.environ.get("PADDLE_RESTART_COUNT", "0")
            print(f"run {run}: {size} of {dist.get_world_size()} processes go on with step {begin}", flush=True)
    for step in range(begin, options.steps):
        if (rank, step) == (options.lose, options.at) and os.environ.get("PADDLE_RESTART_COUNT", "0") == "0":
            os.kill(os.getpid(), signal.SIGKILL)  # as when the host is gone, or its memory
        x, y = (paddle.to_tensor(each[rank * BATCH // size : (rank + 1) * BATCH // size]) for each in batch(step))
        loss = dist.backward_of_shards(model, paddle.nn.CrossEntropyLoss(), [x], [y], SHARDS, group)
        optimizer.step()
        optimizer.clear_grad()
        if (step + 1) % options.every == 0:
            dist.save_state_dict(dist.training_state(model, optimizer, step=step + 1), options.checkpoint, process_group=group)
            if rank == 0:
                print(f"step {step + 1}: loss {loss.item():.4f}", flush=True)
    if rank == 0:
        digest = hashlib.sha256(b"".join(p.numpy().tobytes() for p in model.parameters())).hexdigest()
        print(f"parameters: {digest}", flush=True)
    dist.barrier()


if __name__ == "__main__":
    main()
