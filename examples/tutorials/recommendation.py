"""Which film a user may like: embeddings of users and films whose product is the rating, from files of MovieLens' format.

    wherry run examples/tutorials/recommendation.py
"""
import tempfile

import numpy as np
import paddle
from paddle.nn import Embedding, Layer
from paddle.text.datasets import Movielens
from tutorial_data import movielens


class Ratings(paddle.io.Dataset):
    """A user and a film `[2]`, and the rating in [0, 1], `[1]`. What `Movielens` gives goes from -5 to 5."""

    def __init__(self, data):
        rows = [(int(sample[0][0]), int(sample[4][0]), (float(sample[7][0]) + 5) / 10) for sample in data]
        self.places = np.array([row[:2] for row in rows], "int64")
        self.ratings = np.array([row[2:] for row in rows], "float32")

    def __getitem__(self, index):
        return self.places[index], self.ratings[index]

    def __len__(self):
        return len(self.places)


class Recommender(Layer):
    def __init__(self, users, films, width=8):
        super().__init__()
        init = paddle.ParamAttr(initializer=paddle.nn.initializer.KaimingUniform())
        self.user_embedding = Embedding(users, width, weight_attr=init, sparse=False)
        self.user_bias = Embedding(users, 1)
        self.film_embedding = Embedding(films, width, weight_attr=init, sparse=False)
        self.film_bias = Embedding(films, 1)

    def forward(self, places):
        user, film = self.user_embedding(places[:, 0]), self.film_embedding(places[:, 1])
        product = (user * film).sum(axis=1, keepdim=True)
        return paddle.nn.functional.sigmoid(product + self.user_bias(places[:, 0]) + self.film_bias(places[:, 1]))


class Losses(paddle.callbacks.Callback):
    def on_epoch_end(self, epoch, logs=None):
        print(f"epoch {epoch}  loss {float(logs['loss'][0]):.6f}")


def main():
    paddle.seed(19)
    np.random.seed(19)
    with tempfile.TemporaryDirectory() as folder:
        path = movielens(folder)
        train, test = (Ratings(Movielens(data_file=path, mode=mode, test_ratio=0.1, download=False)) for mode in ("train", "test"))
    users, films = (int(max(part.places[:, side].max() for part in (train, test))) + 1 for side in (0, 1))
    model = paddle.Model(Recommender(users, films))
    model.prepare(paddle.optimizer.Adam(parameters=model.parameters(), learning_rate=0.01, weight_decay=1e-4), paddle.nn.MSELoss())
    model.fit(train, epochs=8, batch_size=64, verbose=0, callbacks=[Losses()])
    print(f"test loss {float(np.mean([model.eval_batch([test.places], [test.ratings])[0]])):.6f}, of the mean {test.ratings.var():.6f}")
    cosine = paddle.nn.functional.cosine_similarity(model.network.film_embedding.weight[1:2], model.network.film_embedding.weight, axis=1)
    print("films like the first:", cosine.argsort(descending=True)[1:4].tolist())
    seen = set(train.places[train.places[:, 0] == 1, 1].tolist())
    unseen = np.array([film for film in range(1, films) if film not in seen], "int64")
    scores = model.predict_batch([np.stack([np.ones_like(unseen), unseen], axis=1)])[0].flatten()
    print("the first user may like films", unseen[np.argsort(-scores)[:3]].tolist())


if __name__ == "__main__":
    main()
