"""Data parallel training of a small network on handwritten digits.

    python -m wherry.distributed.launch --nproc_per_node 2 examples/data_parallel.py
    python examples/data_parallel.py            # the same in one process

Each process takes a part of every batch; the gradients after `backward` are the mean over all.
"""
from __future__ import annotations

import warnings

import numpy as np
from digits_data import digits

import wherry as paddle
import wherry.distributed as dist


def main(epochs: int = 3) -> float:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # alone, both say that there is nothing to do
        dist.init_parallel_env()
        paddle.seed(1)
        net = paddle.nn.Sequential(paddle.nn.Flatten(), paddle.nn.Linear(784, 64), paddle.nn.ReLU(), paddle.nn.Linear(64, 10))
        model = paddle.DataParallel(net)
    data, test = digits()
    sampler = paddle.io.DistributedBatchSampler(data, batch_size=64 // dist.get_world_size(), shuffle=True)
    optimizer = paddle.optimizer.Adam(3e-3, parameters=model.parameters())
    for _ in range(epochs):
        for images, labels in paddle.io.DataLoader(data, batch_sampler=sampler):
            paddle.nn.functional.cross_entropy(model(images), labels).backward()
            optimizer.step()
            optimizer.clear_grad()
    images, labels = (np.stack(each) for each in zip(*(test[i] for i in range(len(test))), strict=True))
    right = float((net(paddle.to_tensor(images)).numpy().argmax(1) == labels[:, 0]).mean())
    if dist.get_rank() == 0:
        print(f"{dist.get_world_size()} process(es): {right:.1%} of the test digits are right")
    return right


if __name__ == "__main__":
    main()
