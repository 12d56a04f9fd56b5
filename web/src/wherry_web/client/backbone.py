"""The network that turns pictures into features: MobileNetV2's blocks, for pictures of 96 x 96 and less.

It is trained once, by examples/picture_features.py, and ships with the pages as `static/data/backbone.bin`. There its
normalisation is folded into the convolutions, so a page runs a third of the layers.
"""
from __future__ import annotations

import io

import wherry as paddle
import wherry.nn as nn
from wherry import Tensor

SIDE = 96  # pixels of the pictures that pages give it
FEATURES = 256
# Inverted residuals: expansion, channels, stride (Sandler et al., "MobileNetV2", 2018, table 2, narrower).
BLOCKS = ((1, 16, 1), (4, 24, 2), (4, 24, 1), (4, 40, 2), (4, 40, 1), (4, 40, 1), (4, 80, 2), (4, 80, 1))
STEM = 24


class Convolution(nn.Layer):
    """A convolution, its normalisation unless that is folded, and ReLU6 if wanted.

    Args:
        inputs, outputs: channels.
        size: of the kernel, odd; the picture keeps its size but for the stride.
        stride, groups: of the convolution.
        active: whether ReLU6 follows.
        folded: without batch normalisation; the convolution has a bias instead.
    """

    def __init__(self, inputs: int, outputs: int, size: int, stride: int = 1, groups: int = 1, active: bool = True, folded: bool = False) -> None:
        super().__init__()
        self.convolution = nn.Conv2D(inputs, outputs, size, stride, size // 2, groups=groups, bias_attr=None if folded else False)
        self.norm = None if folded else nn.BatchNorm2D(outputs)
        self.active = active

    def forward(self, x: Tensor) -> Tensor:
        x = self.convolution(x)
        if self.norm is not None:
            x = self.norm(x)
        return nn.functional.relu6(x) if self.active else x


class Block(nn.Layer):
    """Widen, look around in each channel alone, narrow; with the input added where the shape stays."""

    def __init__(self, inputs: int, expansion: int, outputs: int, stride: int, folded: bool) -> None:
        super().__init__()
        wide = inputs * expansion
        self.widen = Convolution(inputs, wide, 1, folded=folded) if expansion > 1 else None
        self.look = Convolution(wide, wide, 3, stride, groups=wide, folded=folded)
        self.narrow = Convolution(wide, outputs, 1, active=False, folded=folded)
        self.adds = stride == 1 and inputs == outputs

    def forward(self, x: Tensor) -> Tensor:
        y = self.widen(x) if self.widen is not None else x
        y = self.narrow(self.look(y))
        return x + y if self.adds else y


class Backbone(nn.Layer):
    """Pictures `[N, 3, H, W]`, values from -1 to 1, to features `[N, FEATURES]`, none negative.

    Args:
        folded: as pages run it; False to train it.
    """

    def __init__(self, folded: bool = True) -> None:
        super().__init__()
        layers: list[nn.Layer] = [Convolution(3, STEM, 3, 2, folded=folded)]
        channels = STEM
        for expansion, outputs, stride in BLOCKS:
            layers.append(Block(channels, expansion, outputs, stride, folded))
            channels = outputs
        layers.append(Convolution(channels, FEATURES, 1, folded=folded))
        self.layers = nn.Sequential(*layers)

    def forward(self, pictures: Tensor) -> Tensor:
        return self.layers(pictures).mean([2, 3])


def folded(trained: Backbone) -> Backbone:
    """The same function without normalisation: each convolution takes over the scale and shift of the one after it."""
    result = Backbone()
    ours = [layer for layer in result.sublayers() if isinstance(layer, Convolution)]
    theirs = [layer for layer in trained.sublayers() if isinstance(layer, Convolution)]
    with paddle.no_grad():
        for to, layer in zip(ours, theirs, strict=True):
            norm, convolution = layer.norm, to.convolution
            assert norm is not None and convolution.weight is not None and convolution.bias is not None
            scale = norm.weight / paddle.sqrt(norm._variance + norm._epsilon)
            convolution.weight.set_value(layer.convolution.weight * paddle.reshape(scale, [-1, 1, 1, 1]))
            convolution.bias.set_value(norm.bias - norm._mean * scale)
    result.eval()
    return result


def packed(backbone: Backbone) -> bytes:
    """The weights as a `.pdparams` file in float16: half the download, and no picture's features move by a hundredth."""
    buffer = io.BytesIO()
    paddle.save({name: paddle.cast(value, "float16") for name, value in backbone.state_dict().items()}, buffer)
    return buffer.getvalue()


def unpacked(content: bytes) -> Backbone:
    """The backbone of a file that `packed` made."""
    result = Backbone()
    state = paddle.load(io.BytesIO(content))
    result.set_state_dict({name: paddle.cast(value, "float32") for name, value in state.items()})
    result.eval()
    return result
