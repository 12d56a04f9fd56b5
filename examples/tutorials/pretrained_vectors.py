"""Reviews once more, with word vectors that others have learnt: an embedding is filled from a file of GloVe's format and kept.

    wherry run examples/tutorials/pretrained_vectors.py
"""
import tempfile

import numpy as np
import paddle
import paddle.nn as nn
from paddle.text.datasets import Imdb
from tutorial_data import imdb, word_vectors

LENGTH, WIDTH = 48, 16


def read_vectors(path):
    """Vectors `[WIDTH]` by word."""
    vectors = {}
    with open(path, encoding="utf-8") as file:
        for line in file:
            word, numbers = line.split(maxsplit=1)
            vectors[word] = np.fromstring(numbers, dtype="float32", sep=" ")
    return vectors


def padded(data, fill):
    rows = [list(words[:LENGTH]) + [fill] * (LENGTH - len(words)) for words in data.docs]
    return np.array(rows, dtype="int64"), np.array(data.labels, dtype="float32").reshape(-1, 1)


class Recurrent(nn.Layer):
    def __init__(self, vectors):
        super().__init__()
        self.embedding = nn.Embedding(
            num_embeddings=len(vectors), embedding_dim=WIDTH,
            weight_attr=paddle.ParamAttr(initializer=nn.initializer.Assign(vectors), trainable=False),
        )
        self.gru = nn.GRU(input_size=WIDTH, hidden_size=12, direction="bidirect")
        self.linear = nn.Linear(24, 1)

    def forward(self, x):
        _, last = self.gru(self.embedding(x))
        return nn.functional.sigmoid(self.linear(paddle.concat([last[0], last[1]], axis=1)))


class Losses(paddle.callbacks.Callback):
    def on_epoch_end(self, epoch, logs=None):
        print(f"epoch {epoch}  loss {float(logs['loss'][0]):.6f}")


def main():
    paddle.seed(16)
    np.random.seed(16)
    with tempfile.TemporaryDirectory() as folder:
        path, known = imdb(folder), read_vectors(word_vectors(folder, WIDTH))
        train, test = (Imdb(data_file=path, mode=mode, cutoff=2, download=False) for mode in ("train", "test"))
    words = {word.decode() if isinstance(word, bytes) else word: number for word, number in train.word_idx.items()}
    vectors = np.zeros((len(words) + 1, WIDTH), "float32")  # the last one fills up
    for word, number in words.items():
        vectors[number] = known.get(word, 0)
    print(f"{sum(word in known for word in words)} of {len(words)} words have vectors")
    network = Recurrent(vectors)
    model = paddle.Model(network)
    model.prepare(paddle.optimizer.Adam(0.01, parameters=model.parameters()), nn.BCELoss())
    rows, labels = padded(train, len(words))
    model.fit(paddle.io.TensorDataset([paddle.to_tensor(rows), paddle.to_tensor(labels)]), batch_size=20, epochs=4, verbose=0, callbacks=[Losses()])
    print("the vectors are as they were:", bool((network.embedding.weight.numpy() == vectors).all()))
    rows, labels = padded(test, len(words))
    losses = model.eval_batch([rows], [labels])
    found = model.predict_batch([rows])[0] > 0.5
    print(f"test loss {float(np.ravel(losses[0])[0]):.6f}  accuracy {(found == labels).mean():.4f}")


if __name__ == "__main__":
    main()
