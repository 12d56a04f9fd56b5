"""English phrases in German: an encoder reads, and a decoder writes word by word and looks back at what was read.

    wherry run examples/tutorials/translation.py
"""
import tempfile

import numpy as np
import paddle
import paddle.nn.functional as F
from tutorial_data import phrases

LENGTH, WIDTH, HIDDEN = 7, 24, 32
BEGIN, END, FILL = "<bos>", "<eos>", "<pad>"


def read(path):
    """Pairs of lists of words."""
    with open(path, encoding="utf-8") as file:
        return [tuple(part.split() for part in line.split("\t")[:2]) for line in file]


def numbered(sentences):
    words = sorted({word for words in sentences for word in words})
    return {word: number for number, word in enumerate([FILL, BEGIN, END, *words])}


def table(sentences, words):
    """Numbers `[n, 8]`: what begins, the words, what ends, and filling."""
    rows = [[BEGIN, *sentence, END] + [FILL] * (LENGTH - 1 - len(sentence)) for sentence in sentences]
    return np.array([[words[word] for word in row] for row in rows], "int64")


class Encoder(paddle.nn.Layer):
    def __init__(self, words):
        super().__init__()
        self.emb = paddle.nn.Embedding(words, WIDTH)
        self.lstm = paddle.nn.LSTM(input_size=WIDTH, hidden_size=HIDDEN, num_layers=1)

    def forward(self, x):
        x, (_, _) = self.lstm(self.emb(x))
        return x


class AttentionDecoder(paddle.nn.Layer):
    """One word: it weighs what was read by how well it fits the state, and goes on from there."""

    def __init__(self, words):
        super().__init__()
        self.emb = paddle.nn.Embedding(words, WIDTH)
        self.lstm = paddle.nn.LSTM(input_size=WIDTH + HIDDEN, hidden_size=HIDDEN)
        self.linear1 = paddle.nn.Linear(HIDDEN + HIDDEN, HIDDEN)
        self.linear2 = paddle.nn.Linear(HIDDEN, 1)
        self.outlinear = paddle.nn.Linear(HIDDEN, words)

    def forward(self, word, hidden, cell, read):
        state = paddle.expand(paddle.transpose(hidden, [1, 0, 2]), [read.shape[0], read.shape[1], HIDDEN])
        fits = self.linear2(F.tanh(self.linear1(paddle.concat((read, state), axis=-1))))
        weights = F.softmax(paddle.transpose(fits, [0, 2, 1]))
        x = paddle.concat((self.emb(word), paddle.bmm(weights, read)), axis=-1)
        x, (hidden, cell) = self.lstm(x, (hidden, cell))
        return self.outlinear(x.squeeze(1)), (hidden, cell)


def main():
    paddle.seed(17)
    np.random.seed(17)
    with tempfile.TemporaryDirectory() as folder:
        pairs = read(phrases(folder))
    english, german = (numbered([pair[side] for pair in pairs]) for side in (0, 1))
    sources, targets = table([pair[0] for pair in pairs], english), table([pair[1] for pair in pairs], german)
    encoder, decoder = Encoder(len(english)), AttentionDecoder(len(german))
    optimizer = paddle.optimizer.Adam(learning_rate=0.01, parameters=encoder.parameters() + decoder.parameters())
    size = 40
    for epoch in range(24):
        order = np.random.permutation(len(pairs))
        for at in range(0, len(order), size):
            source, target = (paddle.to_tensor(rows[order[at : at + size]]) for rows in (sources, targets))
            seen = encoder(source)
            hidden, cell = paddle.zeros([1, len(source), HIDDEN]), paddle.zeros([1, len(source), HIDDEN])
            loss = paddle.zeros([1])
            for step in range(LENGTH):
                scores, (hidden, cell) = decoder(target[:, step : step + 1], hidden, cell, seen)
                loss += F.cross_entropy(scores, target[:, step + 1])
            loss = loss / LENGTH
            loss.backward()
            optimizer.step()
            optimizer.clear_grad()
        if epoch % 3 == 2:
            print(f"epoch {epoch:2d}  loss {loss.item():.6f}")

    encoder.eval()
    decoder.eval()
    names = list(german)
    some = list(range(0, len(pairs), 12))
    seen = encoder(paddle.to_tensor(sources[some]))
    hidden, cell = paddle.zeros([1, len(some), HIDDEN]), paddle.zeros([1, len(some), HIDDEN])
    word = paddle.full([len(some), 1], german[BEGIN], dtype="int64")
    written = []
    for _ in range(LENGTH):
        scores, (hidden, cell) = decoder(word, hidden, cell, seen)
        word = paddle.argmax(scores, axis=1).unsqueeze(-1)
        written.append(word.numpy())
    written = [[names[number] for number in row] for row in np.concatenate(written, axis=1)]
    written = [row[: row.index(END)] if END in row else row for row in written]
    print(f"{np.mean([row == pairs[i][1] for row, i in zip(written, some)]):.0%} of the phrases are right, among them")
    for row, i in list(zip(written, some))[:3]:
        print(" ", " ".join(pairs[i][0]), "->", " ".join(row))


if __name__ == "__main__":
    main()
