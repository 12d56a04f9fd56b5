"""The next word from the two before it: an N-gram model on sentences of Penn Treebank's format.

    wherry run examples/tutorials/ngram.py
"""
import tempfile

import numpy as np
import paddle
import paddle.nn.functional as F
from tutorial_data import penn_treebank

CONTEXT = 2


class Words(paddle.io.Dataset):
    """Two words `[2]` and the one after them `[1]`."""

    def __init__(self, data):
        self.samples = [np.array(sample).reshape(-1).astype("int64") for sample in data]

    def __getitem__(self, index):
        return self.samples[index][:CONTEXT], self.samples[index][CONTEXT:]

    def __len__(self):
        return len(self.samples)


class NGram(paddle.nn.Layer):
    def __init__(self, words, width=16):
        super().__init__()
        self.embedding = paddle.nn.Embedding(num_embeddings=words, embedding_dim=width)
        self.linear1 = paddle.nn.Linear(CONTEXT * width, 32)
        self.linear2 = paddle.nn.Linear(32, words)

    def forward(self, x):
        x = paddle.reshape(self.embedding(x), shape=[x.shape[0], -1])
        return self.linear2(F.relu(self.linear1(x)))


def main():
    paddle.seed(14)
    np.random.seed(14)
    with tempfile.TemporaryDirectory() as folder:
        data = paddle.text.datasets.Imikolov(penn_treebank(folder), "NGRAM", window_size=CONTEXT + 1, mode="train", min_word_freq=5, download=False)
        names = {number: word.decode() if isinstance(word, bytes) else word for word, number in data.word_idx.items()}
        train = Words(data)
    network = NGram(len(data.word_idx))
    optimizer = paddle.optimizer.Adam(learning_rate=0.005, parameters=network.parameters())
    for epoch in range(4):
        losses = []
        for context, word in paddle.io.DataLoader(train, batch_size=64, shuffle=True, drop_last=True):
            loss = paddle.mean(F.cross_entropy(network(context), word, reduction="none"))
            loss.backward()
            optimizer.step()
            optimizer.clear_grad()
            losses.append(loss.item())
        print(f"epoch {epoch}  loss {np.mean(losses):.6f}  perplexity {np.exp(np.mean(losses)):.2f}")
    context, _ = train[1]
    guesses = network(paddle.to_tensor(context[None])).flatten().topk(3)[1].tolist()
    print("after", [names[int(word)] for word in context], "come", [names[word] for word in guesses])


if __name__ == "__main__":
    main()
