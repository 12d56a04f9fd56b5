"""Sums read and written as text: an encoder reads "12+305", a decoder writes "317" digit by digit.

    wherry run examples/tutorials/number_addition.py
"""
import numpy as np
import paddle

SIGNS = "0123456789+ "
ASKED, ANSWERED = 5, 3  # characters of "12+34" and of the sum


def sums(count, draw):
    """Questions `[n, 5]` and answers `[n, 3]` as numbers of characters."""
    terms = draw.integers(0, 100, (count, 2))
    texts = [(f"{a}+{b}".rjust(ASKED), str(a + b).rjust(ANSWERED)) for a, b in terms]
    return [np.array([[SIGNS.index(sign) for sign in text] for text in column], "int64") for column in zip(*texts)]


class Adder(paddle.nn.Layer):
    def __init__(self, width=24, hidden=48):
        super().__init__()
        self.emb = paddle.nn.Embedding(len(SIGNS), width)
        self.encoder = paddle.nn.LSTM(input_size=width, hidden_size=hidden, num_layers=1)
        self.decoder = paddle.nn.LSTM(input_size=hidden, hidden_size=hidden, num_layers=1)
        self.fc = paddle.nn.Linear(hidden, len(SIGNS))

    def forward(self, questions, labels=None):
        _, (hidden, _) = self.encoder(self.emb(questions))
        steps = paddle.concat([hidden.transpose([1, 0, 2])] * ANSWERED, axis=1)
        scores = self.fc(self.decoder(steps)[0])
        if labels is None:
            return scores.argmax(axis=-1)
        loss = paddle.nn.functional.cross_entropy(scores, labels)
        accuracy = (scores.argmax(axis=-1) == labels).astype("float32").mean()
        return scores, loss, accuracy


def main():
    paddle.seed(18)
    draw = np.random.default_rng(18)
    network = Adder()
    optimizer = paddle.optimizer.Adam(learning_rate=0.005, parameters=network.parameters())
    for step in range(301):
        questions, answers = (paddle.to_tensor(part) for part in sums(64, draw))
        _, loss, accuracy = network(questions, answers)
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        if step % 50 == 0:
            print(f"step {step:3d}  loss {loss.item():.6f}  accuracy {accuracy.item():.4f}")
    network.eval()
    questions, answers = sums(4, draw)
    for question, answer in zip(questions, network(paddle.to_tensor(questions)).numpy()):
        print("".join(SIGNS[sign] for sign in question), "=", "".join(SIGNS[sign] for sign in answer))


if __name__ == "__main__":
    main()
