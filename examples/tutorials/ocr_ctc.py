"""Reading numbers of four digits: convolutions see columns, a recurrent layer reads them, and CTC needs no places of the digits.

    wherry run examples/tutorials/ocr_ctc.py
"""
import numpy as np
import paddle
from tutorial_data import digits

LENGTH, BLANK = 4, 10


class Numbers(paddle.io.Dataset):
    """Images `[1, 8, 32]` of four handwritten digits side by side, and the digits."""

    def __init__(self, count, seed):
        images, labels = digits()
        chosen = np.random.default_rng(seed).integers(0, len(labels), (count, LENGTH))
        self.images = (images[chosen].transpose(0, 2, 1, 3).reshape(count, 1, 8, 8 * LENGTH) / 16.0).astype("float32")
        self.labels = labels[chosen].astype("int32")

    def __getitem__(self, index):
        return self.images[index], self.labels[index]

    def __len__(self):
        return len(self.images)


class Reader(paddle.nn.Layer):
    def __init__(self, is_infer=False):
        super().__init__()
        self.is_infer = is_infer
        self.conv1 = paddle.nn.Conv2D(1, 16, kernel_size=3, padding=1)
        self.bn1 = paddle.nn.BatchNorm2D(16)
        self.conv2 = paddle.nn.Conv2D(16, 24, kernel_size=3, stride=2, padding=1)
        self.bn2 = paddle.nn.BatchNorm2D(24)
        self.linear = paddle.nn.Linear(4 * 24, 48)
        self.lstm = paddle.nn.LSTM(input_size=48, hidden_size=24, direction="bidirectional")
        self.linear2 = paddle.nn.Linear(24 * 2, BLANK + 1)

    def forward(self, x):
        x = paddle.nn.functional.relu(self.bn1(self.conv1(x)))
        x = paddle.nn.functional.relu(self.bn2(self.conv2(x)))  # [B, 24, 4, 16]
        x = paddle.transpose(paddle.flatten(x, 1, 2), [0, 2, 1])  # columns are steps in time
        x = paddle.nn.functional.relu(self.linear(x))
        x = self.linear2(self.lstm(x)[0])
        return paddle.nn.functional.softmax(x) if self.is_infer else paddle.transpose(x, [1, 0, 2])


class CTCLoss(paddle.nn.Layer):
    def forward(self, scores, label):
        steps = paddle.full([label.shape[0]], scores.shape[0], dtype="int64")
        lengths = paddle.full([label.shape[0]], LENGTH, dtype="int64")
        return paddle.nn.functional.ctc_loss(scores, label, steps, lengths, blank=BLANK)


def read(scores):
    """The digits of a row of columns: what follows itself counts once, and blanks go."""
    best = scores.argmax(axis=-1)
    return [int(now) for now, before in zip(best, [BLANK, *best[:-1]]) if now not in (before, BLANK)]


class Losses(paddle.callbacks.Callback):
    def on_epoch_end(self, epoch, logs=None):
        print(f"epoch {epoch}  loss {float(logs['loss'][0]):.6f}")


def main():
    paddle.seed(10)
    np.random.seed(10)
    model = paddle.Model(Reader(), inputs=[paddle.static.InputSpec([None, 1, 8, 32], "float32", "image")],
                         labels=[paddle.static.InputSpec([None, LENGTH], "int32", "label")])
    model.prepare(paddle.optimizer.Adam(learning_rate=0.005, parameters=model.parameters()), CTCLoss())
    model.fit(Numbers(500, seed=1), epochs=12, batch_size=32, verbose=0, callbacks=[Losses()])
    test = Numbers(100, seed=2)
    print(f"test loss {float(model.evaluate(test, batch_size=50, verbose=0)['loss'][0]):.6f}")
    reader = paddle.Model(Reader(is_infer=True), inputs=[paddle.static.InputSpec([None, 1, 8, 32], "float32", "image")])
    reader.network.set_state_dict(model.network.state_dict())
    reader.prepare()
    scores = reader.predict(test, batch_size=50, stack_outputs=True, verbose=0)[0]
    right = [read(row) == label.tolist() for row, label in zip(scores, test.labels)]
    print(f"{np.mean(right):.0%} of the numbers are read right, among them", [read(row) for row in scores[:3]])


if __name__ == "__main__":
    main()
