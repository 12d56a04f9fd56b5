"""Whether a review praises a film: word embeddings and a convolution over time, on reviews in IMDB's format.

    wherry run examples/tutorials/imdb_classification.py
"""
import tempfile

import numpy as np
import paddle
from paddle.text.datasets import Imdb
from tutorial_data import imdb

LENGTH = 48


class Reviews(paddle.io.Dataset):
    """Words `[48]`, cut off or filled up, and 0 or 1."""

    def __init__(self, data, fill):
        rows = [data.docs[i][:LENGTH] + [fill] * (LENGTH - len(data.docs[i])) for i in range(len(data.docs))]
        self.rows, self.labels = np.array(rows, dtype="int64"), np.array(data.labels, dtype="int64").reshape(-1, 1)

    def __getitem__(self, index):
        return self.rows[index], self.labels[index]

    def __len__(self):
        return len(self.rows)


class Classifier(paddle.nn.Layer):
    def __init__(self, words, fill):
        super().__init__()
        self.emb = paddle.nn.Embedding(words, 24, padding_idx=fill)
        self.conv = paddle.nn.Conv1D(24, 16, kernel_size=3, padding=1)
        self.dropout = paddle.nn.Dropout(0.5)
        self.fc = paddle.nn.Linear(16, 2)

    def forward(self, x):
        x = paddle.transpose(self.emb(x), [0, 2, 1])
        x = paddle.nn.functional.relu(self.conv(x)).max(axis=2)
        return self.fc(self.dropout(x))


def main():
    paddle.seed(15)
    np.random.seed(15)
    with tempfile.TemporaryDirectory() as folder:
        path = imdb(folder)
        train, test = (Imdb(data_file=path, mode=mode, cutoff=2, download=False) for mode in ("train", "test"))
    words = train.word_idx
    fill = len(words)
    train, test = Reviews(train, fill), Reviews(test, fill)
    print(len(words), "words,", len(train), "reviews to learn from,", len(test), "to test on")
    network = Classifier(len(words) + 1, fill)
    optimizer = paddle.optimizer.Adam(0.005, parameters=network.parameters())
    for epoch in range(4):
        network.train()
        losses = []
        for rows, labels in paddle.io.DataLoader(train, batch_size=20, shuffle=True):
            loss = paddle.nn.functional.cross_entropy(network(rows), labels)
            loss.backward()
            optimizer.step()
            optimizer.clear_grad()
            losses.append(loss.item())
        network.eval()
        with paddle.no_grad():
            scores = network(paddle.to_tensor(test.rows))
            loss = paddle.nn.functional.cross_entropy(scores, paddle.to_tensor(test.labels))
        accuracy = paddle.metric.accuracy(scores, paddle.to_tensor(test.labels))
        print(f"epoch {epoch}  loss {np.mean(losses):.6f}  test loss {loss.item():.6f}  accuracy {accuracy.item():.4f}")


if __name__ == "__main__":
    main()
