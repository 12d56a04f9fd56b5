"""What belongs to the animal, what to the border, what to the background: a U-Net says it of each pixel.

    wherry run examples/tutorials/segmentation_unet.py
"""
import tempfile
from pathlib import Path

import numpy as np
import paddle
from paddle.io import Dataset
from paddle.nn import functional as F
from paddle.vision.transforms import transforms as T
from tutorial_data import segmentation


class Animals(Dataset):
    """Pictures `[3, 32, 32]` in [0, 1], and of each pixel 0, 1 or 2, `[32, 32]`."""

    def __init__(self, folder, mode="train"):
        names = sorted(path.name for path in Path(folder, "images").glob("*.npy"))
        self.names = names[:48] if mode == "train" else names[48:]
        self.folder = Path(folder)
        self.transform = T.Compose([T.ToTensor()])

    def __getitem__(self, index):
        image, mask = (np.load(self.folder / part / self.names[index]) for part in ("images", "masks"))
        return self.transform(image), mask.astype("int64")

    def __len__(self):
        return len(self.names)


class SeparableConv2D(paddle.nn.Layer):
    """A convolution of each channel by itself, and one that mixes them."""

    def __init__(self, in_channels, out_channels):
        super().__init__()
        self.depthwise = paddle.nn.Conv2D(in_channels, in_channels, 3, padding="same", groups=in_channels)
        self.pointwise = paddle.nn.Conv2D(in_channels, out_channels, 1)

    def forward(self, x):
        return self.pointwise(self.depthwise(x))


class Down(paddle.nn.Layer):
    """Half the size and more channels, beside a shorter way."""

    def __init__(self, in_channels, out_channels):
        super().__init__()
        self.convs = paddle.nn.LayerList([SeparableConv2D(in_channels, out_channels), SeparableConv2D(out_channels, out_channels)])
        self.norms = paddle.nn.LayerList([paddle.nn.BatchNorm2D(out_channels) for _ in range(2)])
        self.pool = paddle.nn.MaxPool2D(kernel_size=3, stride=2, padding=1)
        self.short = paddle.nn.Conv2D(in_channels, out_channels, kernel_size=1, stride=2, padding="same")

    def forward(self, x):
        short = self.short(x)
        for conv, norm in zip(self.convs, self.norms):
            x = norm(conv(F.relu(x)))
        return self.pool(x) + short


class Up(paddle.nn.Layer):
    """Twice the size."""

    def __init__(self, in_channels, out_channels):
        super().__init__()
        self.conv1 = paddle.nn.Conv2DTranspose(in_channels, out_channels, kernel_size=3, padding="same")
        self.conv2 = paddle.nn.Conv2DTranspose(out_channels, out_channels, kernel_size=3, padding="same")
        self.norm1, self.norm2 = paddle.nn.BatchNorm2D(out_channels), paddle.nn.BatchNorm2D(out_channels)
        self.upsample = paddle.nn.Upsample(scale_factor=2.0)
        self.short = paddle.nn.Conv2D(in_channels, out_channels, kernel_size=1, padding="same")

    def forward(self, x):
        short = self.short(self.upsample(x))
        x = self.norm1(self.conv1(F.relu(x)))
        x = self.norm2(self.conv2(F.relu(x)))
        return self.upsample(x) + short


class UNet(paddle.nn.Layer):
    def __init__(self, kinds):
        super().__init__()
        self.conv = paddle.nn.Conv2D(3, 8, kernel_size=3, stride=2, padding="same")
        self.norm = paddle.nn.BatchNorm2D(8)
        self.down = paddle.nn.LayerList([Down(8, 16), Down(16, 24)])
        self.up = paddle.nn.LayerList([Up(24, 24), Up(24 + 16, 16), Up(16 + 8, 8)])
        self.out = paddle.nn.Conv2D(8, kinds, kernel_size=3, padding="same")

    def forward(self, x):
        ways = [F.relu(self.norm(self.conv(x)))]
        for down in self.down:
            ways.append(down(ways[-1]))
        x = self.up[0](ways[-1])
        x = self.up[1](paddle.concat([x, ways[-2]], axis=1))
        x = self.up[2](paddle.concat([x, ways[-3]], axis=1))
        return self.out(x)


class Losses(paddle.callbacks.Callback):
    def on_epoch_end(self, epoch, logs=None):
        print(f"epoch {epoch}  loss {float(logs['loss'][0]):.6f}")


def main():
    paddle.seed(9)
    np.random.seed(9)
    model = paddle.Model(UNet(3))
    model.prepare(
        paddle.optimizer.RMSProp(learning_rate=0.001, rho=0.9, momentum=0.0, epsilon=1e-07, centered=False, parameters=model.parameters()),
        paddle.nn.CrossEntropyLoss(axis=1),
    )
    with tempfile.TemporaryDirectory() as folder:
        train, test = (Animals(segmentation(f"{folder}") if mode == "train" else folder, mode) for mode in ("train", "test"))
        model.fit(train, epochs=6, batch_size=8, verbose=0, callbacks=[Losses()])
        print(f"test loss {float(model.evaluate(test, batch_size=8, verbose=0)['loss'][0]):.6f}")
        found = model.predict(test, batch_size=8, stack_outputs=True, verbose=0)[0].argmax(axis=1)
        images, masks = (np.stack(part) for part in zip(*test))
    print(f"{(found == masks).mean():.1%} of the pixels of {len(images)} pictures are right")


if __name__ == "__main__":
    main()
