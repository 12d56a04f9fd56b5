"""What images are, as `paddle.vision.transforms.functional` asks."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from wherry_tensor import Tensor
from wherry_tensor.errors import InvalidArgumentError, InvalidTypeError, short
from wherry_vision.transforms.functional import is_picture

_is_pil_image = is_picture


def _is_tensor_image(img: Any) -> bool:
    return isinstance(img, Tensor)


def _is_numpy_image(img: Any) -> bool:
    return isinstance(img, np.ndarray) and img.ndim in (2, 3)


def _get_image_size(img: Any) -> tuple[int, int]:
    """Width and height."""
    if is_picture(img):
        width, height = img.size
    elif _is_numpy_image(img):
        height, width = img.shape[:2]
    else:
        height, width = img.shape[-2:]
    return width, height


def _check_input(
    value: Any, name: str, center: float = 1, bound: Sequence[float] = (0, float("inf")), clip_first_on_zero: bool = True
) -> list[float] | None:
    """The range of a random factor, from how far it goes or from its ends; None where it is always the center."""
    if isinstance(value, (int, float)):
        if value < 0:
            raise InvalidArgumentError(f"{name}: a single number must be positive. Got {value}, expected 0 or more. Or pass both ends.")
        ends = [center - value, center + value]
        if clip_first_on_zero:
            ends[0] = max(ends[0], 0)
    elif isinstance(value, (tuple, list)) and len(value) == 2:
        if not bound[0] <= value[0] <= value[1] <= bound[1]:
            raise InvalidArgumentError(f"{name}: values should lie between {bound[0]} and {bound[1]}. Got {list(value)}, expected them in order.")
        ends = list(value)
    else:
        raise InvalidTypeError(f"{name}: this is not a range. Got {short(value)}, expected a number or two. Pass (0.5, 1.5), say.")
    return None if ends[0] == ends[1] == center else ends
