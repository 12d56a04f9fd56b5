"""What solid a cloud of points was taken from: PointNet, which turns the cloud first and does not care for the order of its points.

    wherry run examples/tutorials/point_clouds.py
"""
import tempfile
from pathlib import Path

import numpy as np
import paddle
import paddle.nn.functional as F
from tutorial_data import meshes

POINTS = 64


def sample(path, draw):
    """Points `[POINTS, 3]` from the faces of a mesh in an OFF file, as likely as their faces are large."""
    words = Path(path).read_text().split()
    corners, faces = int(words[1]), int(words[2])
    at = np.array(words[4 : 4 + 3 * corners], float).reshape(corners, 3)
    triangles = at[np.array(words[4 + 3 * corners :], int).reshape(faces, 4)[:, 1:]]
    a, b, c = triangles[:, 0], triangles[:, 1], triangles[:, 2]
    area = np.linalg.norm(np.cross(b - a, c - a), axis=1)
    chosen = draw.choice(faces, POINTS, p=area / area.sum())
    one, two = draw.random((2, POINTS, 1))
    outside = one + two > 1
    one, two = np.where(outside, 1 - one, one), np.where(outside, 1 - two, two)
    points = a[chosen] + one * (b - a)[chosen] + two * (c - a)[chosen]
    points -= points.mean(axis=0)
    return (points / np.abs(points).max()).astype("float32")


class Clouds(paddle.io.Dataset):
    def __init__(self, folder, part, seed):
        draw = np.random.default_rng(seed)
        kinds = sorted(path.name for path in Path(folder).iterdir())
        self.samples = [(sample(path, draw), kind) for kind, name in enumerate(kinds) for path in sorted(Path(folder, name, part).glob("*.off"))]

    def __getitem__(self, index):
        points, kind = self.samples[index]
        return points, np.array([kind], "int64")

    def __len__(self):
        return len(self.samples)


class Turn(paddle.nn.Layer):
    """A matrix `[k, k]` for each cloud, which begins as the identity, and the cloud turned by it."""

    def __init__(self, k):
        super().__init__()
        self.k = k
        self.conv = paddle.nn.Sequential(paddle.nn.Conv1D(k, 16, 1), paddle.nn.BatchNorm1D(16), paddle.nn.ReLU(), paddle.nn.Conv1D(16, 32, 1))
        self.fc = paddle.nn.Linear(
            32, k * k,
            weight_attr=paddle.ParamAttr(initializer=paddle.nn.initializer.Constant(0.0)),
            bias_attr=paddle.ParamAttr(initializer=paddle.nn.initializer.Assign(np.eye(k, dtype="float32").reshape(-1))),
        )

    def forward(self, x):
        matrix = self.fc(paddle.max(self.conv(x), axis=2)).reshape([-1, self.k, self.k])
        turned = paddle.matmul(matrix, x)
        away = paddle.matmul(matrix, matrix, transpose_y=True) - paddle.eye(self.k)
        return turned, paddle.mean(paddle.sum(away**2, axis=[1, 2]))


class PointNet(paddle.nn.Layer):
    def __init__(self, kinds):
        super().__init__()
        self.turn = Turn(3)
        self.layers = paddle.nn.Sequential(
            paddle.nn.Conv1D(3, 16, 1), paddle.nn.BatchNorm1D(16), paddle.nn.ReLU(),
            paddle.nn.Conv1D(16, 32, 1), paddle.nn.BatchNorm1D(32), paddle.nn.ReLU(),
            paddle.nn.Conv1D(32, 64, 1), paddle.nn.BatchNorm1D(64),
        )
        self.out = paddle.nn.Sequential(paddle.nn.Linear(64, 32), paddle.nn.ReLU(), paddle.nn.Dropout(p=0.1), paddle.nn.Linear(32, kinds))

    def forward(self, clouds):
        x, away = self.turn(paddle.transpose(clouds, perm=[0, 2, 1]))
        return F.log_softmax(self.out(paddle.max(self.layers(x), axis=-1)), axis=-1), away


def main():
    paddle.seed(13)
    np.random.seed(13)
    with tempfile.TemporaryDirectory() as folder:
        meshes(folder)
        train, test = Clouds(folder, "train", 1), Clouds(folder, "test", 2)
    network = PointNet(4)
    optimizer = paddle.optimizer.Adam(learning_rate=0.002, weight_decay=paddle.regularizer.L2Decay(1e-4), parameters=network.parameters())
    for epoch in range(10):
        network.train()
        losses = []
        for clouds, kinds in paddle.io.DataLoader(train, batch_size=24, shuffle=True):
            scores, away = network(clouds)
            loss = F.nll_loss(scores, kinds.flatten()) + 0.001 * away
            loss.backward()
            optimizer.step()
            optimizer.clear_grad()
            losses.append(loss.item())
        print(f"epoch {epoch}  loss {np.mean(losses):.6f}")
    network.eval()
    metric = paddle.metric.Accuracy()
    for clouds, kinds in paddle.io.DataLoader(test, batch_size=24):
        metric.update(metric.compute(network(clouds)[0], kinds))
    print(f"test accuracy {metric.accumulate():.4f}")


if __name__ == "__main__":
    main()
