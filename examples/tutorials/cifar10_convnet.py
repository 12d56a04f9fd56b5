"""Ten kinds of coloured pictures with a small convolution network, in a loop of one's own with a validation after each epoch.

    wherry run examples/tutorials/cifar10_convnet.py
"""
import tempfile

import numpy as np
import paddle
import paddle.nn.functional as F
from paddle.vision.transforms import ToTensor
from tutorial_data import cifar10


class Net(paddle.nn.Layer):
    def __init__(self, num_classes=10):
        super().__init__()
        self.conv1 = paddle.nn.Conv2D(3, 16, (3, 3))
        self.pool1 = paddle.nn.MaxPool2D(2, 2)
        self.conv2 = paddle.nn.Conv2D(16, 32, (3, 3))
        self.pool2 = paddle.nn.MaxPool2D(2, 2)
        self.conv3 = paddle.nn.Conv2D(32, 32, (3, 3))
        self.flatten = paddle.nn.Flatten()
        self.linear1 = paddle.nn.Linear(512, 64)
        self.linear2 = paddle.nn.Linear(64, num_classes)

    def forward(self, x):
        x = self.pool1(F.relu(self.conv1(x)))
        x = self.pool2(F.relu(self.conv2(x)))
        x = self.flatten(F.relu(self.conv3(x)))
        return self.linear2(F.relu(self.linear1(x)))


def main():
    paddle.seed(7)
    np.random.seed(7)
    with tempfile.TemporaryDirectory() as folder:
        path = cifar10(folder)
        train, test = (
            paddle.vision.datasets.cifar.Cifar10(data_file=path, mode=mode, transform=ToTensor(), download=False, backend="cv2")
            for mode in ("train", "test")
        )
    network = Net()
    optimizer = paddle.optimizer.Adam(learning_rate=0.001, parameters=network.parameters())
    train_loader, test_loader = paddle.io.DataLoader(train, shuffle=True, batch_size=32), paddle.io.DataLoader(test, batch_size=32)
    for epoch in range(5):
        network.train()
        losses = []
        for image, label in train_loader:
            loss = F.cross_entropy(network(image), paddle.unsqueeze(label, 1))
            loss.backward()
            optimizer.step()
            optimizer.clear_grad()
            losses.append(loss.item())
        network.eval()
        accuracies = []
        with paddle.no_grad():
            for image, label in test_loader:
                accuracies.append(paddle.metric.accuracy(network(image), paddle.unsqueeze(label, 1)).item())
        print(f"epoch {epoch}  loss {np.mean(losses):.6f}  accuracy {np.mean(accuracies):.4f}")


if __name__ == "__main__":
    main()
