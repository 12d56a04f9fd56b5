"""Handwritten digits with LeNet, once with `Model.fit` and once with a loop of one's own.

    wherry run examples/tutorials/mnist_classification.py
"""
import tempfile

import numpy as np
import paddle
import paddle.nn.functional as F
from paddle.metric import Accuracy
from paddle.nn import Conv2D, Linear, MaxPool2D
from paddle.vision.datasets.mnist import MNIST
from paddle.vision.transforms import transforms
from tutorial_data import mnist


class LeNet(paddle.nn.Layer):
    def __init__(self):
        super().__init__()
        self.conv1 = Conv2D(in_channels=1, out_channels=6, kernel_size=5, stride=1, padding=2)
        self.pool = MaxPool2D(kernel_size=2, stride=2)
        self.conv2 = Conv2D(in_channels=6, out_channels=16, kernel_size=5, stride=1)
        self.linear1 = Linear(16 * 5 * 5, 120)
        self.linear2 = Linear(120, 84)
        self.linear3 = Linear(84, 10)

    def forward(self, x):
        x = self.pool(F.relu(self.conv1(x)))
        x = self.pool(F.relu(self.conv2(x)))
        x = paddle.flatten(x, start_axis=1, stop_axis=-1)
        return self.linear3(F.relu(self.linear2(F.relu(self.linear1(x)))))


def main():
    paddle.seed(6)
    np.random.seed(6)
    transform = transforms.Compose([transforms.ToTensor(), transforms.Normalize(mean=[127.5], std=[127.5])])
    with tempfile.TemporaryDirectory() as folder:
        paths = mnist(folder)
        train, test = (MNIST(*paths[mode], mode=mode, transform=transform, backend="cv2") for mode in ("train", "test"))

    model = paddle.Model(LeNet())
    model.prepare(paddle.optimizer.Adam(0.002, parameters=model.parameters()), paddle.nn.CrossEntropyLoss(), Accuracy(topk=(1, 2)))
    model.fit(train, epochs=2, batch_size=64, verbose=2, log_freq=10)
    found = model.evaluate(test, batch_size=64, verbose=0)
    print(f"test loss {float(found['loss'][0]):.6f}  top 1 {found['acc_top1']:.4f}  top 2 {found['acc_top2']:.4f}")

    network = LeNet()
    optimizer = paddle.optimizer.Adam(0.002, parameters=network.parameters())
    loader = paddle.io.DataLoader(train, batch_size=64, shuffle=True)
    for epoch in range(2):
        network.train()
        for image, label in loader:
            scores = network(image)
            loss = F.cross_entropy(scores, label)
            accuracy = paddle.metric.accuracy(scores, label)
            loss.backward()
            optimizer.step()
            optimizer.clear_grad()
        print(f"epoch {epoch}  loss {loss.item():.6f}  accuracy {accuracy.item():.4f}")


if __name__ == "__main__":
    main()
