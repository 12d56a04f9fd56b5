"""Take weights that real Paddle wrote, and teach the network something new.

    python examples/fine_tune.py [weights.pdparams] [--quick]

The file in examples/data holds a network that real Paddle 2.6 taught the digits 0 to 4. It is loaded, tried
on those, and then learns all ten digits from only 60 of them: with a larger last layer, while what
Paddle learnt of strokes and curves changes more slowly.
"""
import argparse
import sys
from pathlib import Path

import numpy as np
from sklearn.datasets import load_digits

import wherry as paddle
from wherry import nn

WEIGHTS = Path(__file__).parent / "data" / "low_digits.pdparams"


def main() -> int:
    parser = argparse.ArgumentParser(description="Fine-tune weights that real Paddle wrote.")
    parser.add_argument("weights", nargs="?", default=str(WEIGHTS), help="a .pdparams file of this network")
    parser.add_argument("--quick", action="store_true", help="fewer epochs: a look at whether it works")
    arguments = parser.parse_args()

    paddle.seed(0)
    found = load_digits()
    order = np.random.default_rng(0).permutation(len(found.target))
    images, labels = (found.images[order, None] / 8 - 1).astype("float32"), found.target[order]
    test = slice(len(labels) * 4 // 5, None)

    net = nn.Sequential(("features", features()), ("head", nn.Linear(64, 5)))
    net.set_state_dict(paddle.load(arguments.weights))
    low = np.flatnonzero(labels[test] < 5)
    print(f"as loaded:  {accuracy_of(net, images[test][low], labels[test][low]):.2%} of the digits 0 to 4 are recognised")

    few = paddle.io.TensorDataset([images[:60], labels[:60, None]])
    old, net.head = net.head, nn.Linear(64, 10)
    with paddle.no_grad():  # what it knows of the digits 0 to 4 stays
        net.head.weight[:, :5] = old.weight
        net.head.bias[:5] = old.bias
    tuned = fit(net, few, 0.5, arguments.quick)
    of_tuned = accuracy_of(tuned, images[test], labels[test])
    print(f"fine-tuned: {of_tuned:.2%} of all ten digits are recognised, after 60 examples")

    fresh = nn.Sequential(("features", features()), ("head", nn.Linear(64, 10)))
    of_fresh = accuracy_of(fit(fresh, few, 1.0, arguments.quick), images[test], labels[test])
    print(f"from none:  {of_fresh:.2%} with the same examples and steps, but no weights to begin with")
    return 0 if of_tuned >= 0.75 else 1


def features() -> nn.Layer:
    """`[N, 1, 8, 8]` to `[N, 64]`."""
    return nn.Sequential(
        nn.Conv2D(1, 8, 3, padding=1), nn.ReLU(), nn.MaxPool2D(2),
        nn.Conv2D(8, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2D(2), nn.Flatten(),
    )


def fit(net: nn.Layer, data: paddle.io.Dataset, factor: float, quick: bool) -> nn.Layer:
    """Train; the features learn `factor` times as fast as the head."""
    model = paddle.Model(net)
    optimizer = paddle.optimizer.Adam(
        0.005,
        parameters=[
            {"params": net.features.parameters(), "learning_rate": factor},
            {"params": net.head.parameters()},
        ],
    )
    model.prepare(optimizer, nn.CrossEntropyLoss())
    model.fit(data, epochs=10 if quick else 40, batch_size=20, verbose=0)
    return net


@paddle.no_grad()
def accuracy_of(net: nn.Layer, images: np.ndarray, labels: np.ndarray) -> float:
    net.eval()
    return float((net(paddle.to_tensor(images)).numpy().argmax(axis=1) == labels).mean())


if __name__ == "__main__":
    sys.exit(main())
