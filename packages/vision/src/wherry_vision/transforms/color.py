"""Transforms that change colours."""
from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Any

from wherry_tensor.errors import InvalidArgumentError, InvalidTypeError, short
from wherry_tensor.explained import explained
from wherry_vision.transforms import functional as F
from wherry_vision.transforms.base import BaseTransform
from wherry_vision.transforms.checks import check

__all__ = [
    "BrightnessTransform",
    "ColorJitter",
    "ContrastTransform",
    "Grayscale",
    "HueTransform",
    "SaturationTransform",
]


class _RandomFactor(BaseTransform):
    """Adjusts something by a factor between 1 - value and 1 + value, or in a given range."""

    value: Any
    _name: str
    _adjust: Callable[[Any, float], Any]
    _center: float = 1.0
    _limits: tuple[float, float] = (0.0, float("inf"))

    def __init__(self, value: Any, keys: Sequence[str] | None = None) -> None:
        check(type(self).__name__, locals())
        super().__init__(keys)
        self.value = self._range(value)

    def _range(self, value: Any) -> list[float] | None:
        low, high = self._limits
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            if value < 0:
                raise InvalidArgumentError(
                    f"{type(self).__name__}: If {self._name} is a single number, it must be non negative. Got {short(value)}, expected "
                    f"how far the factor may be from {self._center:g}. Write (least, largest) for a range."
                )
            found = [max(self._center - value, 0.0) if low == 0.0 else self._center - value, self._center + value]
        elif isinstance(value, (list, tuple)) and len(value) == 2:
            found = [float(value[0]), float(value[1])]
        else:
            raise InvalidTypeError(
                f"{type(self).__name__}: {self._name} should be a single number or a list/tuple with length 2. Got {short(value)} "
                f"({type(value).__name__}), expected one of them. Write 0.4, or (0.6, 1.4)."
            )
        if not low <= found[0] <= found[1] <= high:
            raise InvalidArgumentError(
                f"{type(self).__name__}: {self._name} values should be between ({low:g}, {high:g}). Got {short(value)}, expected the "
                f"smaller one first. Choose a smaller range."
            )
        return None if found[0] == found[1] == self._center else found

    def _apply_image(self, image: Any) -> Any:
        return image if self.value is None else type(self)._adjust(image, random.uniform(*self.value))


class BrightnessTransform(_RandomFactor):
    """Random brightness: `adjust_brightness` by a factor from max(0, 1 - value) to 1 + value, or in a range.

    Raises:
        TypeError: `value` is neither a number nor a pair of numbers (also a ValueError).
        ValueError: `value` is negative; the range is not increasing, or has a negative number.

    Source:
        `paddle.vision.transforms.BrightnessTransform`. Random numbers come from Python's `random`.

    Examples:
        >>> wherry.vision.transforms.BrightnessTransform(0.4)(np.zeros([4, 5, 3], np.uint8)).shape
        (4, 5, 3)
    """

    _name = "brightness"
    _adjust = staticmethod(F.adjust_brightness)


class ContrastTransform(_RandomFactor):
    """Random contrast: `adjust_contrast` by a factor from max(0, 1 - value) to 1 + value, or in a range.

    Raises:
        TypeError: `value` is neither a number nor a pair of numbers (also a ValueError).
        ValueError: `value` is negative; the range is not increasing, or has a negative number.

    Source:
        `paddle.vision.transforms.ContrastTransform`. Random numbers come from Python's `random`.

    Examples:
        >>> wherry.vision.transforms.ContrastTransform(0.4)(np.zeros([4, 5, 3], np.uint8)).shape
        (4, 5, 3)
    """

    _name = "contrast"
    _adjust = staticmethod(F.adjust_contrast)


class SaturationTransform(_RandomFactor):
    """Random saturation, by a factor from max(0, 1 - value) to 1 + value, or in a range.

    Raises:
        TypeError: `value` is neither a number nor a pair of numbers (also a ValueError).
        ValueError: `value` is negative; the range is not increasing, or has a negative number.

    Source:
        `paddle.vision.transforms.SaturationTransform`. Random numbers come from Python's `random`.

    Examples:
        >>> wherry.vision.transforms.SaturationTransform(0.4)(np.zeros([4, 5, 3], np.uint8)).shape
        (4, 5, 3)
    """

    _name = "saturation"
    _adjust = staticmethod(F.adjust_saturation)


class HueTransform(_RandomFactor):
    """Random hue: `adjust_hue` by a part of a turn from -value to value, or in a range, at most from -0.5 to 0.5.

    Raises:
        TypeError: `value` is neither a number nor a pair of numbers (also a ValueError).
        ValueError: `value` is negative; the range is not increasing or not within [-0.5, 0.5].

    Source:
        `paddle.vision.transforms.HueTransform`. Random numbers come from Python's `random`.

    Examples:
        >>> wherry.vision.transforms.HueTransform(0.4)(np.zeros([4, 5, 3], np.uint8)).shape
        (4, 5, 3)
    """

    _name = "hue"
    _adjust = staticmethod(F.adjust_hue)
    _center = 0.0
    _limits = (-0.5, 0.5)


class ColorJitter(BaseTransform):
    """Random brightness, contrast, saturation and hue, in random order.

    Args:
        brightness: as BrightnessTransform.
        contrast: as ContrastTransform.
        saturation: as SaturationTransform.
        hue: as HueTransform.
        keys: as BaseTransform.

    Raises:
        TypeError: an argument is neither a number nor a pair of numbers (also a ValueError).
        ValueError: an argument is negative; a range is not increasing, or hue is not within [-0.5, 0.5].

    Source:
        `paddle.vision.transforms.ColorJitter`. Random numbers come from Python's `random`.

    Examples:
        >>> wherry.vision.transforms.ColorJitter(0.4, 0.4, 0.4, 0.1)(np.zeros([4, 5, 3], np.uint8)).shape
        (4, 5, 3)
    """

    def __init__(
        self, brightness: Any = 0, contrast: Any = 0, saturation: Any = 0, hue: Any = 0, keys: Sequence[str] | None = None
    ) -> None:
        check(type(self).__name__, locals())
        super().__init__(keys)
        self.brightness = brightness
        self.contrast = contrast
        self.saturation = saturation
        self.hue = hue
        self._parts = [
            BrightnessTransform(brightness, keys),
            ContrastTransform(contrast, keys),
            SaturationTransform(saturation, keys),
            HueTransform(hue, keys),
        ]

    def _get_params(self, inputs: tuple[Any, ...]) -> list[BaseTransform]:
        order: list[BaseTransform] = list(self._parts)
        random.shuffle(order)  # including those without effect, as in Paddle: the same seed gives the same order
        return order

    def _apply_image(self, image: Any) -> Any:
        for part in self.params:
            image = part._apply_image(image)
        return image


class Grayscale(BaseTransform):
    """Convert the image to grayscale, as `to_grayscale`.

    Raises:
        TypeError: `num_output_channels` is not an int (also a ValueError).
        ValueError: when called, `num_output_channels` is neither 1 nor 3.

    Source:
        `paddle.vision.transforms.Grayscale`.

    Examples:
        >>> wherry.vision.transforms.Grayscale()(np.zeros([4, 5, 3], np.uint8)).shape
        (4, 5, 1)
    """

    def __init__(self, num_output_channels: int = 1, keys: Sequence[str] | None = None) -> None:
        check(type(self).__name__, locals())
        super().__init__(keys)
        self.num_output_channels = num_output_channels

    def _apply_image(self, image: Any) -> Any:
        return F.to_grayscale(image, self.num_output_channels)


explained(globals())
