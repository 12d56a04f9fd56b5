"""The two networks that read text: a detector (DB) and a recogniser (CRNN), of PaddleOCR's architectures, made small.

Both stand on blocks of MobileNetV3. The detector is M. Liao et al., Real-time Scene Text Detection with Differentiable
Binarization (2020); the recogniser B. Shi et al., An End-to-End Trainable Neural Network for Image-based Sequence
Recognition (2015). Inputs are as PaddleOCR prepares them: `[N, 3, H, W]`, for the detector less ImageNet's mean and over its
deviation, for the recogniser from -1 to 1.
"""
import wherry as paddle
from wherry import nn
from wherry.nn import functional as F

SHARPNESS = 50  # of the differentiable step from probability and threshold to yes or no


class Block(nn.Layer):
    """MobileNetV3's: wider by a product of points, a window in each channel alone, channels weighed, narrower again."""

    def __init__(self, inputs: int, outputs: int, stride: int | tuple[int, int] = 1, weighed: bool = False, expansion: int = 2) -> None:
        super().__init__()
        wide = expansion * inputs
        self.expand = normed(inputs, wide, 1)
        self.window = normed(wide, wide, 3, stride, groups=wide)
        self.weights = nn.Sequential(
            nn.AdaptiveAvgPool2D(1), nn.Conv2D(wide, wide // 4, 1), nn.ReLU(), nn.Conv2D(wide // 4, wide, 1), nn.Hardsigmoid(),
        ) if weighed else None
        self.narrow = normed(wide, outputs, 1)
        self.keeps = inputs == outputs and stride == 1

    def forward(self, x: paddle.Tensor) -> paddle.Tensor:
        y = F.hardswish(self.window(F.hardswish(self.expand(x))))
        if self.weights is not None:
            y = y * self.weights(y)
        y = self.narrow(y)
        return x + y if self.keeps else y


def normed(inputs: int, outputs: int, window: int, stride: int | tuple[int, int] = 1, groups: int = 1) -> nn.Layer:
    """A convolution and its batch normalization."""
    return nn.Sequential(
        nn.Conv2D(inputs, outputs, window, stride, window // 2, groups=groups, bias_attr=False), nn.BatchNorm2D(outputs)
    )


class Detector(nn.Layer):
    """Pictures `[N, 3, H, W]` to how likely each pixel is of the middle of a line of text, `[N, 1, H, W]`.

    Sides are multiples of 32, as PaddleOCR makes them. In training a second head says the threshold of each pixel, and `forward` gives the three
    maps `[N, 3, H, W]`: probability, threshold, and the approximate yes or no of both.
    """

    def __init__(self, width: int = 12, inner: int = 32) -> None:
        super().__init__()
        self.stem = normed(3, width, 3, 2)
        widths = [width, 2 * width, 3 * width, 4 * width, 6 * width]
        self.stages = nn.LayerList([
            nn.Sequential(Block(a, b, 2, weighed=i > 1), Block(b, b, weighed=i > 1)) for i, (a, b) in enumerate(zip(widths, widths[1:]))
        ])
        self.sides = nn.LayerList([nn.Conv2D(b, inner, 1, bias_attr=False) for b in widths[1:]])
        self.outs = nn.LayerList([nn.Conv2D(inner, inner // 4, 3, padding=1, bias_attr=False) for _ in widths[1:]])
        self.probability = head(inner)
        self.threshold = head(inner)

    def forward(self, x: paddle.Tensor) -> paddle.Tensor:
        x = F.hardswish(self.stem(x))
        levels = []
        for stage, side in zip(self.stages, self.sides):
            x = stage(x)
            levels.append(side(x))
        for i in reversed(range(len(levels) - 1)):  # what is seen from afar goes down to where it is seen closely
            levels[i] = levels[i] + enlarged(levels[i + 1], 2)
        fused = paddle.concat([enlarged(out(level), 2**i) for i, (out, level) in enumerate(zip(self.outs, levels))], axis=1)
        probability = self.probability(fused)
        if not self.training:
            return probability
        threshold = self.threshold(fused)
        return paddle.concat([probability, threshold, F.sigmoid(SHARPNESS * (probability - threshold))], axis=1)


def enlarged(x: paddle.Tensor, times: int) -> paddle.Tensor:
    """A map of so many times the sides, each value repeated."""
    return x if times == 1 else F.interpolate(x, scale_factor=times, mode="nearest")


def head(inner: int) -> nn.Layer:
    """From a quarter of the picture's size to all of it."""
    narrow = inner // 4
    return nn.Sequential(
        nn.Conv2D(inner, narrow, 3, padding=1, bias_attr=False), nn.BatchNorm2D(narrow), nn.ReLU(),
        nn.Conv2DTranspose(narrow, narrow, 2, stride=2), nn.BatchNorm2D(narrow), nn.ReLU(),
        nn.Conv2DTranspose(narrow, 1, 2, stride=2), nn.Sigmoid(),
    )


class Recogniser(nn.Layer):
    """Lines of text `[N, 3, 32, W]` to what stands in each column of four pixels, `[N, W / 4, classes]`; class 0 is nothing (CTC's blank).

    In training the answer is scores, else probabilities.
    """

    def __init__(self, classes: int, widths: tuple[int, ...] = (8, 24, 56, 96), hidden: int = 80) -> None:
        super().__init__()
        first, low, middle, high = widths
        self.stem = normed(3, first, 3, 2)
        self.blocks = nn.Sequential(
            Block(first, low, 2),
            Block(low, low),
            Block(low, middle, (2, 1), weighed=True),
            Block(middle, middle, weighed=True),
            Block(middle, high, (2, 1), weighed=True),
            Block(high, high, weighed=True),
        )
        self.column = nn.Sequential(nn.Conv2D(high, high, (2, 1), bias_attr=False), nn.BatchNorm2D(high), nn.Hardswish())
        self.lstm = nn.LSTM(high, hidden, direction="bidirectional")
        self.classes = nn.Linear(2 * hidden, classes)

    def forward(self, x: paddle.Tensor) -> paddle.Tensor:
        x = self.column(self.blocks(F.hardswish(self.stem(x))))  # [N, C, 1, W / 4]
        x, _ = self.lstm(paddle.transpose(paddle.squeeze(x, 2), [0, 2, 1]))
        scores = self.classes(x)
        return scores if self.training else F.softmax(scores)
