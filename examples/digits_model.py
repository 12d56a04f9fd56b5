"""Train LeNet on handwritten digits in a few calls, and use it in another process.

    python examples/digits_model.py [--epochs 12] [--out digits] [--quick]

`Model.fit` trains with a progress bar, `evaluate` tests on digits that were not seen, `save` writes the
weights. Then a new process loads them, and has to predict the very same numbers.
"""
import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from digits_data import digits

import wherry as paddle


def main() -> int:
    parser = argparse.ArgumentParser(description="Train LeNet on handwritten digits with paddle.Model.")
    parser.add_argument("--epochs", type=int, default=12, help="passes over the training set (default: 12)")
    parser.add_argument("--out", default="digits", help="the weights go to <out>.pdparams (default: digits)")
    parser.add_argument("--quick", action="store_true", help="fewer epochs: a look at whether it works")
    parser.add_argument("--predict", metavar="FILE", help="load the weights and write the scores of the test set to FILE")
    arguments = parser.parse_args()
    paddle.seed(0)
    train, test = digits()
    model = paddle.Model(paddle.vision.models.LeNet())
    if arguments.predict:
        model.load(arguments.out)
        np.save(arguments.predict, scores(model, test))
        return 0

    model.summary((1, 1, 28, 28))
    epochs = 6 if arguments.quick else arguments.epochs
    steps = epochs * (len(train) // 32 + 1)
    rate = paddle.optimizer.lr.CosineAnnealingDecay(0.002, steps)
    model.prepare(
        paddle.optimizer.AdamW(rate, parameters=model.parameters(), weight_decay=0.01),
        paddle.nn.CrossEntropyLoss(),
        paddle.metric.Accuracy(),
    )
    model.fit(train, epochs=epochs, batch_size=32, log_freq=1, verbose=1)
    accuracy = model.evaluate(test, batch_size=64, verbose=0)["acc"]
    print(f"{accuracy:.2%} of {len(test)} unseen digits are recognised")

    model.save(arguments.out)
    print(f"weights saved to {arguments.out}.pdparams")
    if not np.array_equal(scores(model, test), scores_of_new_process(arguments.out)):
        print("a new process predicts other numbers: that is a bug")
        return 1
    print(f"a new process loads them and predicts the same {len(test)} x 10 numbers")
    return 0 if accuracy >= 0.98 else 1


def scores(model: paddle.Model, data: paddle.io.Dataset) -> np.ndarray:
    """What the network says of each image, `[N, 10]`."""
    return model.predict(data, batch_size=64, stack_outputs=True, verbose=0)[0]


def scores_of_new_process(weights: str) -> np.ndarray:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "scores.npy"
        subprocess.run([sys.executable, __file__, "--out", weights, "--predict", str(file)], check=True)
        return np.load(file)


if __name__ == "__main__":
    sys.exit(main())
