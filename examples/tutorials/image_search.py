"""Pictures that look alike: a network learns to place pictures of one kind near each other, and finds the neighbours of a picture.

    wherry run examples/tutorials/image_search.py

Each batch has a pair of every kind. The similarities of all first pictures with all second ones are the scores of a classification,
whose right answer is the diagonal.
"""
import tempfile
from collections import defaultdict

import numpy as np
import paddle
import paddle.nn.functional as F
from paddle.vision.transforms import functional, transforms
from tutorial_data import cifar10

KINDS = 10


def read(folder):
    """Images `[n, 3, 32, 32]` in [-1, 1] and labels, of training and test."""
    scale = lambda image: functional.normalize(image.astype("float32"), 127.5, 127.5, data_format="HWC")  # noqa: E731
    transform = transforms.Compose([scale, transforms.Transpose()])
    for mode in ("train", "test"):
        found = paddle.vision.datasets.cifar.Cifar10(cifar10(folder), mode, transform, download=False, backend="cv2")
        images, labels = zip(*found)
        yield np.stack(images).astype("float32"), np.array(labels)


def pairs(images, labels, count):
    """`count` batches `[2, kinds, 3, 32, 32]` of anchors and positives."""
    places = defaultdict(list)
    for place, label in enumerate(labels):
        places[int(label)].append(place)
    for _ in range(count):
        chosen = np.array([np.random.choice(places[kind], 2, replace=False) for kind in range(KINDS)]).T
        yield paddle.to_tensor(images[chosen])


class Embedding(paddle.nn.Layer):
    """A picture as a vector of length one."""

    def __init__(self):
        super().__init__()
        self.conv1 = paddle.nn.Conv2D(3, 16, kernel_size=3, stride=2)
        self.conv2 = paddle.nn.Conv2D(16, 32, kernel_size=3, stride=2)
        self.conv3 = paddle.nn.Conv2D(32, 48, kernel_size=3, stride=2)
        self.pool = paddle.nn.AdaptiveAvgPool2D((1, 1))
        self.fc = paddle.nn.Linear(48, 8)

    def forward(self, x):
        x = F.relu(self.conv1(x))
        x = F.relu(self.conv2(x))
        x = F.relu(self.conv3(x))
        x = self.fc(paddle.flatten(self.pool(x), start_axis=1))
        return x / paddle.norm(x, axis=1, keepdim=True)


def main(network=None, steps=120):
    paddle.seed(8)
    np.random.seed(8)
    with tempfile.TemporaryDirectory() as folder:
        (images, labels), (test_images, test_labels) = read(folder)
    network = network or Embedding()
    network.train()
    optimizer = paddle.optimizer.Adam(learning_rate=0.001, parameters=network.parameters())
    answers = paddle.arange(KINDS, dtype="int64")
    for step, batch in enumerate(pairs(images, labels, steps)):
        anchors, positives = network(batch[0]), network(batch[1])
        similarities = paddle.matmul(anchors, positives, transpose_y=True) / 0.2
        loss = F.cross_entropy(similarities, paddle.reshape(answers, [KINDS, 1]))
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        if step % 20 == 0 or step == steps - 1:
            print(f"step {step:3d}  loss {loss.item():.6f}")

    network.eval()
    with paddle.no_grad():
        places = network(paddle.to_tensor(test_images))
        similarities = places @ places.t() - 2 * paddle.eye(len(test_labels))  # nobody is a neighbour of himself
        _, nearest = paddle.topk(similarities, k=5, axis=1)
    alike = (test_labels[nearest.numpy()] == test_labels[:, None]).mean()
    print(f"of the five nearest pictures {alike:.1%} are of the same kind")
    return network, test_images


if __name__ == "__main__":
    main()
