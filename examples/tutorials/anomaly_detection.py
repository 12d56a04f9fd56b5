"""Hours in which a machine is too hot: an auto-encoder that knows healthy days cannot repeat a sick one.

    wherry run examples/tutorials/anomaly_detection.py
"""
import csv
import tempfile

import numpy as np
import paddle
import paddle.nn.functional as F
from tutorial_data import temperatures

WINDOW = 24


def read(path):
    with open(path, newline="") as file:
        return np.array([float(row["value"]) for row in csv.DictReader(file)], "float32")


def windows(values):
    """Each window of a day, `[n, 1, 24]`."""
    return np.lib.stride_tricks.sliding_window_view(values, WINDOW)[:, None].copy()


class Windows(paddle.io.Dataset):
    """A window is its own answer."""

    def __init__(self, values):
        self.windows = windows(values)

    def __getitem__(self, index):
        return self.windows[index], self.windows[index]

    def __len__(self):
        return len(self.windows)


class AutoEncoder(paddle.nn.Layer):
    def __init__(self):
        super().__init__()
        self.conv0 = paddle.nn.Conv1D(in_channels=1, out_channels=16, kernel_size=7, stride=2, padding=3)
        self.conv1 = paddle.nn.Conv1D(in_channels=16, out_channels=8, kernel_size=7, stride=2, padding=3)
        self.convT0 = paddle.nn.Conv1DTranspose(in_channels=8, out_channels=16, kernel_size=7, stride=2, padding=3, output_padding=1)
        self.convT1 = paddle.nn.Conv1DTranspose(in_channels=16, out_channels=1, kernel_size=7, stride=2, padding=3, output_padding=1)

    def forward(self, x):
        x = F.relu(self.conv0(x))
        x = F.dropout(F.relu(self.conv1(x)), 0.1, training=self.training)
        return self.convT1(F.relu(self.convT0(x)))


class Losses(paddle.callbacks.Callback):
    def on_epoch_end(self, epoch, logs=None):
        print(f"epoch {epoch}  loss {float(logs['loss'][0]):.6f}")


def main():
    paddle.seed(23)
    np.random.seed(23)
    with tempfile.TemporaryDirectory() as folder:
        healthy, failing = (read(temperatures(folder, failing=wrong)) for wrong in (False, True))
    mean, deviation = healthy.mean(), healthy.std()
    train, test = (healthy - mean) / deviation, (failing - mean) / deviation
    model = paddle.Model(AutoEncoder())
    model.prepare(paddle.optimizer.Adam(learning_rate=0.005, parameters=model.parameters()), paddle.nn.MSELoss())
    model.fit(Windows(train), epochs=6, batch_size=48, verbose=0, callbacks=[Losses()])
    errors = [np.abs(model.predict_batch([part])[0] - part).mean(axis=(1, 2)) for part in (windows(train), windows(test))]
    limit = errors[0].max()
    sick = [at for at in range(WINDOW, len(test) - WINDOW) if (errors[1][at - WINDOW + 1 : at + 1] > limit).all()]
    print(f"test loss {errors[1].mean():.6f}, healthy windows are {limit:.3f} away at most")
    print(f"too hot from hour {min(sick)} to hour {max(sick)}")


if __name__ == "__main__":
    main()
