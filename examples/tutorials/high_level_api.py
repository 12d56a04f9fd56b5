"""`paddle.Model`: training without a loop of one's own, with a loss, a metric and a callback that are one's own.

    wherry run examples/tutorials/high_level_api.py
"""
import tempfile

import numpy as np
import paddle
from paddle.vision.transforms import Compose, Normalize
from tutorial_data import mnist


class SoftmaxWithCrossEntropy(paddle.nn.Layer):
    """A loss is a layer: it takes what the network gives and the labels."""

    def forward(self, scores, label):
        loss = paddle.nn.functional.softmax_with_cross_entropy(scores, label, return_softmax=False, axis=-1)
        return paddle.mean(loss)


class Precision(paddle.metric.Metric):
    """Of the images that are called a seven, the share that are one."""

    def __init__(self, digit=7):
        super().__init__()
        self.digit = digit
        self.reset()

    def reset(self):
        self.right = self.called = 0

    def compute(self, scores, label):
        called = scores.argmax(axis=-1) == self.digit
        return called, paddle.logical_and(called, label.flatten() == self.digit)

    def update(self, called, right):
        self.called += int(called.sum())
        self.right += int(right.sum())

    def accumulate(self):
        return self.right / max(1, self.called)

    def name(self):
        return "precision"


class Losses(paddle.callbacks.Callback):
    """Prints the loss that each epoch ends with."""

    def on_epoch_end(self, epoch, logs=None):
        print(f"epoch {epoch}  loss {float(logs['loss'][0]):.6f}")


def main():
    paddle.seed(3)
    np.random.seed(3)
    transform = Compose([Normalize(mean=[127.5], std=[127.5], data_format="CHW")])
    with tempfile.TemporaryDirectory() as folder:
        paths = mnist(folder)
        train, test = (
            paddle.vision.datasets.MNIST(*paths[mode], mode=mode, transform=transform, backend="cv2") for mode in ("train", "test")
        )
    network = paddle.nn.Sequential(paddle.nn.Flatten(), paddle.nn.Linear(784, 64), paddle.nn.ReLU(), paddle.nn.Dropout(0.2), paddle.nn.Linear(64, 10))
    model = paddle.Model(network)
    print(model.summary((1, 1, 28, 28))["total_params"], "parameters")
    model.prepare(paddle.optimizer.Adam(0.002, parameters=model.parameters()), SoftmaxWithCrossEntropy(), [paddle.metric.Accuracy(), Precision()])
    model.fit(train, epochs=3, batch_size=64, verbose=0, callbacks=[Losses()])
    found = model.evaluate(test, batch_size=64, verbose=0)
    print(f"test loss {float(found['loss'][0]):.6f}  accuracy {found['acc']:.4f}  precision {found['precision']:.4f}")
    scores = model.predict(test, batch_size=64, stack_outputs=True, verbose=0)[0]
    print("predicted", scores.shape, scores[:10].argmax(axis=1).tolist())
    # One batch at a time, for loops of one's own.
    image, label = (np.stack(part) for part in zip(*[train[i] for i in range(32)]))
    losses, _ = model.train_batch([image], [label])
    print(f"one batch more: loss {float(np.ravel(losses[0])[0]):.6f}")


if __name__ == "__main__":
    main()
