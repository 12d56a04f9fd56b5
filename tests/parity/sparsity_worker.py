"""Makes masks of drawn matrices and trains pruned networks, and writes down what came out.

    python sparsity_worker.py wherry|paddle RESULT.pickle FOLDER
"""
from __future__ import annotations

import importlib
import pickle
import sys
import zlib  # noqa: F401  real Paddle may crash when its own copy is loaded first

import numpy as np

ALGORITHMS = "mask_1d", "mask_2d_greedy", "mask_2d_best"


def matrices():
    """Without equal magnitudes; the best mask is compared of positive ones, where Paddle looks at magnitudes."""
    rng = np.random.default_rng(5)
    for shape in ((4, 4), (8, 12), (5, 7), (3, 9), (16,), (2, 4, 8), (4, 8, 3, 3)):
        yield rng.standard_normal(shape)


def masks(asp):
    for number, x in enumerate(matrices()):
        for n, m in ((2, 4), (1, 2), (1, 4), (3, 4), (2, 5), (3, 8)):
            yield f"{number} 1d {n}:{m}", asp.create_mask(x, asp.MaskAlgo.MASK_1D, n, m)
            yield f"{number} check {n}:{m}", bool(asp.check_sparsity(x, asp.CheckMethod.CHECK_1D, n, m))
        for n, m in ((2, 4), (1, 2)):
            yield f"{number} greedy {n}:{m}", asp.create_mask(x, asp.MaskAlgo.MASK_2D_GREEDY, n, m)
            yield f"{number} best {n}:{m}", asp.create_mask(np.abs(x), asp.MaskAlgo.MASK_2D_BEST, n, m)


def network(paddle):
    class Net(paddle.nn.Layer):
        def __init__(self):
            super().__init__()
            self.conv, self.narrow = paddle.nn.Conv2D(8, 8, 3, padding=1), paddle.nn.Conv2D(3, 8, 1)
            self.first, self.last = paddle.nn.Linear(8, 6), paddle.nn.Linear(6, 5)

        def forward(self, x):
            return self.last(paddle.tanh(self.first(self.conv(self.narrow(x)).mean([2, 3]))))

    net, rng = Net(), np.random.default_rng(7)
    for p in net.parameters():
        p.set_value(np.abs(0.2 * rng.standard_normal(p.shape)).astype("float32"))
    return net


def trained(paddle, asp, algorithm, excluded):
    net = network(paddle)
    asp.reset_excluded_layers()
    if excluded:
        asp.set_excluded_layers([net.first.full_name()])
    optimizer = asp.decorate(paddle.optimizer.Momentum(0.1, parameters=net.parameters()))
    asp.prune_model(net, mask_algo=algorithm)
    x = paddle.to_tensor(np.random.default_rng(9).standard_normal((4, 3, 5, 5)).astype("float32"))
    net(x).mean().backward()
    optimizer.step()  # one: after it Paddle's weights ask for no gradient any more
    optimizer.clear_grad()
    names = {p.name for p in net.parameters()}
    state = {key.replace(".asp_mask", "") for key in optimizer.state_dict() if key.endswith(".asp_mask")}
    return [p.numpy() for p in net.parameters()], len(names & state)


def main(library: str, result: str, folder: str) -> None:
    paddle = importlib.import_module(library)
    asp = paddle.incubate.asp
    found = {"masks": dict(masks(asp))}
    for algorithm in ALGORITHMS:
        for excluded in (False, True):
            found[f"{algorithm} {excluded}"] = trained(paddle, asp, algorithm, excluded)
    with open(result, "wb") as file:
        pickle.dump(found, file)


if __name__ == "__main__":
    main(*sys.argv[1:])
