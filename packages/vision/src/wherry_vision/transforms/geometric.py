"""Transforms that move pixels."""
from __future__ import annotations

import math
import random
from collections.abc import Sequence
from typing import Any

import numpy as np

from wherry_tensor.errors import InvalidArgumentError, InvalidTypeError
from wherry_vision.transforms import functional as F
from wherry_vision.transforms.base import BaseTransform

__all__ = [
    "CenterCrop",
    "Pad",
    "RandomCrop",
    "RandomHorizontalFlip",
    "RandomResizedCrop",
    "RandomRotation",
    "RandomVerticalFlip",
    "Resize",
]


class Resize(BaseTransform):
    """The image in another size, as `resize`.

    Source:
        `paddle.vision.transforms.Resize`.

    Examples:
        >>> wherry.vision.transforms.Resize(20)(np.zeros([40, 60, 3], np.uint8)).shape
        (20, 30, 3)
    """

    def __init__(self, size: int | Sequence[int], interpolation: str = "bilinear", keys: Sequence[str] | None = None) -> None:
        super().__init__(keys)
        if not isinstance(size, (int, list, tuple)):
            raise InvalidTypeError(f"Resize: Got inappropriate size arg: {size!r}. Expected an int, or (height, width).")
        self.size = size
        self.interpolation = interpolation

    def _apply_image(self, image: Any) -> Any:
        return F.resize(image, self.size, self.interpolation)


class RandomResizedCrop(BaseTransform):
    """A random part of the image, in a given size.

    Args:
        size: (height, width) of the result, or one number for both.
        scale: least and largest share of the image's area.
        ratio: least and largest width divided by height.
        interpolation: as `resize`.
        keys: as BaseTransform.

    Source:
        `paddle.vision.transforms.RandomResizedCrop`. The size is drawn from `numpy.random`, the place from Python's `random`.

    Examples:
        >>> wherry.vision.transforms.RandomResizedCrop(20)(np.zeros([40, 60, 3], np.uint8)).shape
        (20, 20, 3)
    """

    def __init__(
        self,
        size: int | Sequence[int],
        scale: Sequence[float] = (0.08, 1.0),
        ratio: Sequence[float] = (3.0 / 4, 4.0 / 3),
        interpolation: str = "bilinear",
        keys: Sequence[str] | None = None,
    ) -> None:
        super().__init__(keys)
        self.size = F.pair_of(size, "RandomResizedCrop", "size")
        if not (0 < scale[0] <= scale[1] and 0 < ratio[0] <= ratio[1]):
            raise InvalidArgumentError(
                f"RandomResizedCrop: scale and ratio should be of kind (min, max). Got scale={scale!r} and ratio={ratio!r}, "
                f"expected positive numbers, the smaller one first. Leave them out for the defaults."
            )
        self.scale = scale
        self.ratio = ratio
        self.interpolation = interpolation

    def _get_params(self, inputs: tuple[Any, ...]) -> tuple[int, int, int, int]:
        width, height = F.size_of(inputs[self.keys.index("image")], "RandomResizedCrop")
        for _ in range(10):
            area = np.random.uniform(self.scale[0], self.scale[1]) * height * width
            ratio = math.exp(np.random.uniform(math.log(self.ratio[0]), math.log(self.ratio[1])))
            across, down = round(math.sqrt(area * ratio)), round(math.sqrt(area / ratio))
            if 0 < across <= width and 0 < down <= height:
                top = random.randint(0, height - down)
                return top, random.randint(0, width - across), down, across
        # The image is too narrow for these ratios: as much of its middle as they allow.
        across, down = width, height
        if width / height < min(self.ratio):
            down = round(width / min(self.ratio))
        elif width / height > max(self.ratio):
            across = round(height * max(self.ratio))
        return (height - down) // 2, (width - across) // 2, down, across

    def _apply_image(self, image: Any) -> Any:
        return F.resize(F.crop(image, *self.params), self.size, self.interpolation)


class CenterCrop(BaseTransform):
    """The middle of the image, as `center_crop`.

    Source:
        `paddle.vision.transforms.CenterCrop`.

    Examples:
        >>> wherry.vision.transforms.CenterCrop(20)(np.zeros([40, 60, 3], np.uint8)).shape
        (20, 20, 3)
    """

    def __init__(self, size: int | Sequence[int], keys: Sequence[str] | None = None) -> None:
        super().__init__(keys)
        self.size = F.pair_of(size, "CenterCrop", "size")

    def _apply_image(self, image: Any) -> Any:
        return F.center_crop(image, self.size)


class _RandomFlip(BaseTransform):
    def __init__(self, prob: float = 0.5, keys: Sequence[str] | None = None) -> None:
        super().__init__(keys)
        if isinstance(prob, bool) or not isinstance(prob, (int, float)) or not 0 <= prob <= 1:
            raise InvalidArgumentError(
                f"{type(self).__name__}: prob is a probability. Got {prob!r}, expected a number in [0, 1]. Leave it out for 0.5."
            )
        self.prob = prob

    def _get_params(self, inputs: tuple[Any, ...]) -> bool:
        return random.random() < self.prob


class RandomHorizontalFlip(_RandomFlip):
    """The image, or with probability `prob` its mirror image.

    Source:
        `paddle.vision.transforms.RandomHorizontalFlip`. Random numbers come from Python's `random`.

    Examples:
        >>> print(wherry.vision.transforms.RandomHorizontalFlip(1)(np.array([[1, 2, 3]])))
        [[3 2 1]]
    """

    def _apply_image(self, image: Any) -> Any:
        return F.hflip(image) if self.params else image


class RandomVerticalFlip(_RandomFlip):
    """The image, or with probability `prob` upside down.

    Source:
        `paddle.vision.transforms.RandomVerticalFlip`. Random numbers come from Python's `random`.

    Examples:
        >>> print(wherry.vision.transforms.RandomVerticalFlip(1)(np.array([[1], [2]])))
        [[2]
         [1]]
    """

    def _apply_image(self, image: Any) -> Any:
        return F.vflip(image) if self.params else image


class RandomCrop(BaseTransform):
    """A random part of the image.

    Args:
        size: (height, width) of the part, or one number for both.
        padding: a border before, as `pad`; None is none.
        pad_if_needed: whether a smaller image gets a border that makes it large enough.
        fill: of borders.
        padding_mode: of borders.
        keys: as BaseTransform.

    Raises:
        ValueError: when called, the image is smaller than the part.

    Source:
        `paddle.vision.transforms.RandomCrop`. Random numbers come from Python's `random`.

    Examples:
        >>> wherry.vision.transforms.RandomCrop(20)(np.zeros([40, 60, 3], np.uint8)).shape
        (20, 20, 3)
    """

    def __init__(
        self,
        size: int | Sequence[int],
        padding: int | Sequence[int] | None = None,
        pad_if_needed: bool = False,
        fill: Any = 0,
        padding_mode: str = "constant",
        keys: Sequence[str] | None = None,
    ) -> None:
        super().__init__(keys)
        self.size = F.pair_of(size, "RandomCrop", "size")
        self.padding = padding
        self.pad_if_needed = pad_if_needed
        self.fill = fill
        self.padding_mode = padding_mode

    def _get_params(self, inputs: tuple[Any, ...]) -> tuple[int, int, int, int]:
        width, height = F.size_of(self._padded(inputs[self.keys.index("image")]), "RandomCrop")
        down, across = self.size
        if down > height or across > width:
            raise InvalidArgumentError(
                f"RandomCrop: the image is smaller than its part should be. Got {height} x {width}, expected at least "
                f"{down} x {across}. Pass pad_if_needed=True."
            )
        if (width, height) == (across, down):
            return 0, 0, height, width
        return random.randint(0, height - down), random.randint(0, width - across), down, across

    def _padded(self, image: Any) -> Any:
        if self.padding is not None:
            image = F.pad(image, self.padding, self.fill, self.padding_mode)
        if self.pad_if_needed:
            width, height = F.size_of(image, "RandomCrop")
            if width < self.size[1]:
                image = F.pad(image, (self.size[1] - width, 0), self.fill, self.padding_mode)
            if height < self.size[0]:
                image = F.pad(image, (0, self.size[0] - height), self.fill, self.padding_mode)
        return image

    def _apply_image(self, image: Any) -> Any:
        return F.crop(self._padded(image), *self.params)


class Pad(BaseTransform):
    """The image with a border, as `pad`.

    Source:
        `paddle.vision.transforms.Pad`.

    Examples:
        >>> wherry.vision.transforms.Pad(2)(np.zeros([4, 5, 3], np.uint8)).shape
        (8, 9, 3)
    """

    def __init__(
        self, padding: int | Sequence[int], fill: Any = 0, padding_mode: str = "constant", keys: Sequence[str] | None = None
    ) -> None:
        super().__init__(keys)
        self.padding = padding
        self.fill = fill
        self.padding_mode = padding_mode

    def _apply_image(self, image: Any) -> Any:
        return F.pad(image, self.padding, self.fill, self.padding_mode)


class RandomRotation(BaseTransform):
    """The image turned by a random angle, as `rotate`.

    Args:
        degrees: (least, largest) angle, or one number for both sides.
        interpolation: as `rotate`.
        expand: as `rotate`.
        center: as `rotate`.
        fill: as `rotate`.
        keys: as BaseTransform.

    Raises:
        ValueError: `degrees` is negative, or no pair.

    Source:
        `paddle.vision.transforms.RandomRotation`. Random numbers come from Python's `random`.

    Examples:
        >>> wherry.vision.transforms.RandomRotation(30)(np.zeros([4, 5, 3], np.uint8)).shape
        (4, 5, 3)
    """

    def __init__(
        self,
        degrees: float | Sequence[float],
        interpolation: str = "nearest",
        expand: bool = False,
        center: Sequence[float] | None = None,
        fill: Any = 0,
        keys: Sequence[str] | None = None,
    ) -> None:
        if isinstance(degrees, (int, float)) and not isinstance(degrees, bool):
            if degrees < 0:
                raise InvalidArgumentError(
                    f"RandomRotation: If degrees is a single number, it must be positive. Got {degrees!r}, expected degrees to "
                    f"both sides. Write (-10, 0) for one side."
                )
            self.degrees: tuple[float, float] = (-degrees, degrees)
        elif isinstance(degrees, (list, tuple)) and len(degrees) == 2:
            self.degrees = (degrees[0], degrees[1])
        else:
            raise InvalidArgumentError(
                f"RandomRotation: If degrees is a sequence, it must be of len 2. Got {degrees!r}, expected (least, largest). "
                f"Write one number for both sides."
            )
        super().__init__(keys)
        self.interpolation = interpolation
        self.expand = expand
        self.center = center
        self.fill = fill

    def _get_params(self, inputs: tuple[Any, ...]) -> float:
        return random.uniform(*self.degrees)

    def _apply_image(self, image: Any) -> Any:
        return F.rotate(image, self.params, self.interpolation, self.expand, self.center, self.fill)
