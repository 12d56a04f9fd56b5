"""Wide and deep: click-through prediction with parameter servers.

    wherry launch --server_num 1 --worker_num 2 examples/parameter_server.py
    wherry launch --server_num 1 --worker_num 2 examples/parameter_server.py --mode geo

Embeddings and the parameters of the network lie on servers. Workers compute gradients on samples of their own; servers take the steps: as they
come (async), for all workers at once (sync), or workers take them and exchange how far they have come (geo). Clicks are synthetic: they follow
three of the numbers and whether ids are even.
"""
from __future__ import annotations

import argparse
from collections.abc import Iterator

import numpy as np

import wherry as paddle
from wherry.distributed import fleet

IDS, FIELDS, BATCH = 200, 4, 32


class WideDeep:
    """The network as a static program: `loader` feeds it, `loss` is what it learns."""

    def __init__(self, geo: bool) -> None:
        static = paddle.static
        dense = static.data("dense_input", [None, 13], "float32")
        ids = [static.data(f"C{i}", [None, 1], "int64") for i in range(FIELDS)]
        label = static.data("label", [None, 1], "float32")
        # Workers of mode geo have all of the table; otherwise its rows come from the servers, and ids need no bound.
        embedding = static.nn.embedding if geo else static.nn.sparse_embedding
        table = paddle.ParamAttr(name="factors", initializer=paddle.nn.initializer.Uniform(-0.1, 0.1))
        rows = [paddle.reshape(embedding(x, size=[IDS, 8], param_attr=table), [-1, 8]) for x in ids]
        deep = paddle.concat([*rows, dense], axis=1)
        for width in (32, 16):
            deep = static.nn.fc(deep, width, activation="relu")
        logit = static.nn.fc(dense, 1) + static.nn.fc(deep, 1)
        self.loss = paddle.mean(paddle.nn.functional.binary_cross_entropy_with_logits(logit, label))
        self.loader = paddle.io.DataLoader.from_generator(feed_list=[dense, *ids, label], capacity=64, iterable=False)


def samples(worker: int, count: int) -> Iterator[list[np.ndarray]]:
    """Numbers, ids and a click."""
    random = np.random.RandomState(worker)
    for _ in range(count):
        dense, ids = random.rand(13).astype("float32"), random.randint(0, IDS, FIELDS)
        click = dense[:3].sum() + (ids % 2).sum() > 3.5
        yield [dense, *(np.array([i]) for i in ids), np.array([click], "float32")]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--mode", choices=("async", "sync", "geo"), default="async")
    parser.add_argument("--epochs", type=int, default=6)
    parser.add_argument("--save", help="folder for the tables, which fleet.init_server(folder) takes again")
    parser.add_argument("--load", help="folder of tables")
    options = parser.parse_args()
    paddle.enable_static()
    paddle.seed(11)
    fleet.init(is_collective=False)
    model = WideDeep(options.mode == "geo")
    strategy = fleet.DistributedStrategy()
    strategy.a_sync = options.mode != "sync"
    if options.mode == "geo":
        strategy.a_sync_configs = {"k_steps": 10}
    optimizer = paddle.optimizer.SGD(0.5) if options.mode == "geo" else paddle.optimizer.Adagrad(0.05)
    fleet.distributed_optimizer(optimizer, strategy).minimize(model.loss)
    if fleet.is_server():
        fleet.init_server(options.load)
        fleet.run_server()
        return
    exe = paddle.static.Executor(paddle.CPUPlace())
    exe.run(paddle.static.default_startup_program())
    fleet.init_worker()
    model.loader.set_sample_generator(lambda: samples(fleet.worker_index(), 50 * BATCH), batch_size=BATCH)
    for epoch in range(options.epochs):
        losses = []
        model.loader.start()
        try:
            while True:
                losses.append(exe.run(fetch_list=[model.loss])[0])
        except paddle.base.core.EOFException:
            model.loader.reset()
        print(f"pass {epoch}: loss {np.mean(losses):.4f}", flush=True)
    if options.save:
        fleet.barrier_worker()  # the updates of all are in it
        fleet.save_persistables(exe, options.save)
    fleet.stop_worker()


if __name__ == "__main__":
    main()
