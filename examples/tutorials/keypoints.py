"""Where the eyes and the mouth of a face are: a convolution network that gives six numbers.

    wherry run examples/tutorials/keypoints.py
"""
import csv
import tempfile

import numpy as np
import paddle
import paddle.nn.functional as F
from tutorial_data import faces

SIZE = 32


class Faces(paddle.io.Dataset):
    """Grey pictures `[1, 32, 32]`, and points `[6]` as shares of the size."""

    def __init__(self, path, mode="train"):
        with open(path, newline="") as file:
            rows = list(csv.DictReader(file))
        rows = rows[:100] if mode == "train" else rows[100:]
        self.images = np.array([row["Image"].split(" ") for row in rows], dtype="float32").reshape(-1, 1, SIZE, SIZE) / 255
        self.points = np.array([[value for name, value in row.items() if name != "Image"] for row in rows], dtype="float32") / SIZE

    def __getitem__(self, index):
        return self.images[index], self.points[index]

    def __len__(self):
        return len(self.images)


class FaceNet(paddle.nn.Layer):
    def __init__(self, points):
        super().__init__()
        self.conv1 = paddle.nn.Conv2D(in_channels=1, out_channels=16, kernel_size=3, padding=1)
        self.conv2 = paddle.nn.Conv2D(in_channels=16, out_channels=32, kernel_size=3, padding=1)
        self.conv3 = paddle.nn.Conv2D(in_channels=32, out_channels=48, kernel_size=3, padding=1)
        self.pool = paddle.nn.MaxPool2D(kernel_size=2, stride=2)
        self.bn = paddle.nn.BatchNorm2D(32)
        self.drop = paddle.nn.Dropout(0.1)
        self.fc1 = paddle.nn.Linear(48 * 16, 64)
        self.fc2 = paddle.nn.Linear(64, 2 * points)

    def forward(self, x):
        x = self.pool(F.relu(self.conv1(x)))
        x = self.bn(self.pool(F.relu(self.conv2(x))))
        x = self.pool(F.relu(self.conv3(x)))
        x = F.relu(self.fc1(paddle.flatten(x, 1)))
        return self.fc2(self.drop(x))


class NME(paddle.metric.Metric):
    """The mean distance of found points from right ones, in parts of the distance of the eyes."""

    def __init__(self, name="nme"):
        super().__init__()
        self._name = name
        self.reset()

    def name(self):
        return self._name

    def reset(self):
        self.total, self.count = 0.0, 0

    def update(self, found, right):
        found, right = found.reshape(-1, 3, 2), right.reshape(-1, 3, 2)
        eyes = np.linalg.norm(right[:, 0] - right[:, 1], axis=1)
        self.total += float((np.linalg.norm(found - right, axis=2).mean(axis=1) / eyes).sum())
        self.count += len(found)

    def accumulate(self):
        return self.total / self.count


class Losses(paddle.callbacks.Callback):
    def on_epoch_end(self, epoch, logs=None):
        print(f"epoch {epoch}  loss {float(logs['loss'][0]):.6f}  nme {logs['nme']:.4f}")


def main():
    paddle.seed(12)
    np.random.seed(12)
    with tempfile.TemporaryDirectory() as folder:
        path = faces(folder)
        train, test = Faces(path), Faces(path, "test")
    model = paddle.Model(FaceNet(3))
    model.prepare(paddle.optimizer.Adam(learning_rate=1e-3, weight_decay=5e-4, parameters=model.parameters()), paddle.nn.MSELoss(), NME())
    model.fit(train, epochs=12, batch_size=20, shuffle=True, verbose=0, callbacks=[Losses()])
    found = model.evaluate(test, batch_size=20, verbose=0)
    print(f"test loss {float(found['loss'][0]):.6f}  nme {found['nme']:.4f}")


if __name__ == "__main__":
    main()
