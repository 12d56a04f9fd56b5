"""Pictures of three times the size: a network computes nine values for each pixel and lays them side by side.

    wherry run examples/tutorials/super_resolution.py
"""
import numpy as np
import paddle
from tutorial_data import digits

FACTOR = 3


class Scans(paddle.io.Dataset):
    """Handwritten digits of 8 x 8, and of 24 x 24 with their corners rounded."""

    def __init__(self, mode):
        small = digits()[0].astype("float32") / 16
        chosen = small[:600] if mode == "train" else small[600:700]
        # What is large is made out of what is small by the interpolation that the network shall find.
        large = paddle.nn.functional.interpolate(paddle.to_tensor(chosen[:, None]), scale_factor=FACTOR, mode="bicubic").numpy()
        self.large = np.clip(large * 1.5 - 0.25, 0, 1)
        self.small = chosen[:, None]

    def __getitem__(self, index):
        return self.small[index], self.large[index]

    def __len__(self):
        return len(self.small)


class SubPixel(paddle.nn.Layer):
    def __init__(self, upscale_factor=FACTOR, channels=1):
        super().__init__()
        self.conv1 = paddle.nn.Conv2D(channels, 24, 5, stride=1, padding=2)
        self.conv2 = paddle.nn.Conv2D(24, 16, 3, stride=1, padding=1)
        self.conv3 = paddle.nn.Conv2D(16, channels * upscale_factor**2, 3, stride=1, padding=1)
        self.upscale_factor = upscale_factor

    def forward(self, x):
        x = paddle.nn.functional.relu(self.conv1(x))
        x = paddle.nn.functional.relu(self.conv2(x))
        x = self.conv3(x)
        b, _, h, w = x.shape
        r = self.upscale_factor
        shuffled = paddle.nn.functional.pixel_shuffle(x, r)
        # The same by hand: values of a pixel become a square of pixels.
        by_hand = paddle.transpose(paddle.reshape(x, [b, r, r, h, w]), [0, 3, 1, 4, 2]).reshape([b, 1, h * r, w * r])
        return (shuffled + by_hand) / 2


class Losses(paddle.callbacks.Callback):
    def on_epoch_end(self, epoch, logs=None):
        print(f"epoch {epoch}  loss {float(logs['loss'][0]):.6f}")


def main():
    paddle.seed(11)
    np.random.seed(11)
    model = paddle.Model(SubPixel())
    model.prepare(paddle.optimizer.Adam(learning_rate=0.003, parameters=model.parameters()), paddle.nn.loss.MSELoss())
    model.fit(Scans("train"), epochs=5, batch_size=32, verbose=0, callbacks=[Losses()])
    test = Scans("test")
    batches = np.stack([test.small[:50], test.small[50:]])  # an array is a row of batches
    outputs = model.predict(batches, verbose=0)[0]
    print("predicted", [output.shape for output in outputs])
    error = np.mean((np.concatenate(outputs) - test.large) ** 2)
    plain = np.mean((test.small.repeat(FACTOR, axis=2).repeat(FACTOR, axis=3) - test.large) ** 2)
    print(f"test loss {error:.6f}, of larger pixels {plain:.6f}: {10 * np.log10(plain / error):.1f} dB better")


if __name__ == "__main__":
    main()
