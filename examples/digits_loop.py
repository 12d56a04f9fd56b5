"""Train LeNet on handwritten digits with a loop of one's own.

    python examples/digits_loop.py [--epochs 10] [--quick] [--checkpoint digits.ckpt]

What `Model.fit` does in examples/digits_model.py is written out here: batches from a DataLoader, a step of
the optimizer for each, a pass over the test set. With --checkpoint the run can be killed at any moment;
started again, it goes on where it was and ends with the very same numbers.
"""
import argparse
import sys

from digits_data import digits

import wherry as paddle
from wherry.nn import functional as F
from wherry_train import Checkpoint


def main() -> int:
    parser = argparse.ArgumentParser(description="Train LeNet on handwritten digits with a loop of one's own.")
    parser.add_argument("--epochs", type=int, default=10, help="passes over the training set (default: 10)")
    parser.add_argument("--quick", action="store_true", help="fewer epochs: a look at whether it works")
    parser.add_argument("--checkpoint", help="keep the state of the run in this file, and go on from it")
    arguments = parser.parse_args()
    epochs = 3 if arguments.quick else arguments.epochs

    paddle.seed(0)
    train, test = digits()
    order = paddle.io.DistributedBatchSampler(train, batch_size=32, shuffle=True)
    train_batches = paddle.io.DataLoader(train, batch_sampler=order)
    test_batches = paddle.io.DataLoader(test, batch_size=64)
    net = paddle.vision.models.LeNet()
    rate = paddle.optimizer.lr.CosineAnnealingDecay(0.002, epochs * len(train_batches))
    optimizer = paddle.optimizer.AdamW(rate, parameters=net.parameters(), weight_decay=0.01)

    run = Checkpoint(arguments.checkpoint, net=net, optimizer=optimizer)
    if arguments.checkpoint and run.restore():
        print(f"goes on with epoch {run.epoch + 1} after step {run.step}")
    accuracy = accuracy_of(net, test_batches)
    for epoch in run.epochs(epochs):
        net.train()
        total = 0.0
        for images, labels in run.batches(train_batches):
            loss = F.cross_entropy(net(images), labels)
            loss.backward()
            optimizer.step()
            optimizer.clear_grad()
            rate.step()
            total += float(loss)
            if arguments.checkpoint and run.step % 10 == 0:
                run.save()
        accuracy = accuracy_of(net, test_batches)
        print(f"epoch {epoch + 1:2d}  loss {total / len(train_batches):.4f}  test accuracy {accuracy:.2%}")
        if arguments.checkpoint:
            run.save()
    return 0 if accuracy >= (0.90 if arguments.quick else 0.97) else 1


@paddle.no_grad()
def accuracy_of(net: paddle.nn.Layer, batches: paddle.io.DataLoader) -> float:
    """The share of images whose highest score is that of the right digit."""
    net.eval()
    metric = paddle.metric.Accuracy()
    for images, labels in batches:
        metric.update(metric.compute(net(images), labels))
    return metric.accumulate()


if __name__ == "__main__":
    sys.exit(main())
