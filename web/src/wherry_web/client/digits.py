"""The digits as the page has them, and as networks want them."""
from __future__ import annotations

import wherry as paddle
from wherry import Tensor

COUNT = 1797
TRAINED_ON = COUNT * 4 // 5


def read(content: bytes) -> tuple[Tensor, Tensor]:
    """Images and labels of `digits.bin`.

    Args:
        content: 1797 images of 8 x 8 bytes (0 to 16), then 1797 labels.

    Returns:
        Images, uint8 `[1797, 8, 8]`, and labels, int64 `[1797]`. The first `TRAINED_ON` are for training.

    Raises:
        ValueError: another number of bytes.
    """
    if len(content) != COUNT * 65:
        raise ValueError(f"digits: got {len(content)} bytes, expected {COUNT * 65}: {COUNT} images of 64 and their labels.")
    values = paddle.to_tensor(bytearray(content), dtype="uint8")
    images = paddle.reshape(values[: COUNT * 64], [COUNT, 8, 8])
    return images, paddle.cast(values[COUNT * 64 :], "int64")


def scaled(images: Tensor) -> Tensor:
    """What networks take: each pixel becomes 3 x 3 with 2 of background around, values from -1 to 1.

    Args:
        images: `[N, 8, 8]`, from 0 (paper) to 16 (ink).

    Returns:
        float32 `[N, 1, 28, 28]`.
    """
    values = paddle.cast(images, "float32") / 8.0 - 1.0
    values = paddle.repeat_interleave(paddle.repeat_interleave(values, 3, axis=1), 3, axis=2)
    return paddle.nn.functional.pad(paddle.unsqueeze(values, 1), [2, 2, 2, 2], value=-1.0)
