"""Geometric transforms: resizing, cropping, flipping, rotating, warping, erasing."""
from __future__ import annotations

import math
import random
from collections.abc import Sequence
from typing import Any

import numpy as np

from wherry_tensor import Tensor
from wherry_tensor.constructor_arguments import Check, number
from wherry_tensor.errors import AssertedArgumentError, InvalidArgumentError, InvalidTypeError, short
from wherry_tensor.explained import explained
from wherry_vision.transforms import functional as F
from wherry_vision.transforms.base import BaseTransform
from wherry_vision.transforms.checks import check

__all__ = [
    "CenterCrop",
    "Pad",
    "RandomAffine",
    "RandomCrop",
    "RandomErasing",
    "RandomHorizontalFlip",
    "RandomPerspective",
    "RandomResizedCrop",
    "RandomRotation",
    "RandomVerticalFlip",
    "Resize",
]


class Resize(BaseTransform):
    """Resize the image, as `resize`.

    Raises:
        TypeError: `size` is not an int, a list or a tuple (also a ValueError).
        ValueError: when called, a side would have no pixels, or `interpolation` is unknown.

    Source:
        `paddle.vision.transforms.Resize`.

    Examples:
        >>> wherry.vision.transforms.Resize(20)(np.zeros([40, 60, 3], np.uint8)).shape
        (20, 30, 3)
    """

    def __init__(self, size: int | Sequence[int], interpolation: str = "bilinear", keys: Sequence[str] | None = None) -> None:
        check(type(self).__name__, locals())
        super().__init__(keys)
        if not isinstance(size, (int, list, tuple)):
            raise InvalidTypeError(f"Resize: Got inappropriate size arg: {short(size)}. Expected an int, or (height, width).")
        self.size = size
        self.interpolation = interpolation

    def _apply_image(self, image: Any) -> Any:
        return F.resize(image, self.size, self.interpolation)


class RandomResizedCrop(BaseTransform):
    """Crop a random part of the image and resize it.

    Args:
        size: (height, width) of the result, or one number for both.
        scale: least and largest share of the image's area.
        ratio: least and largest width divided by height.
        interpolation: as `resize`.
        keys: as BaseTransform.

    Raises:
        TypeError: `scale` or `ratio` is not a pair of numbers (also a ValueError).
        ValueError: `size` is not one or two positive ints; `scale` or `ratio` is not increasing and positive; when called, `interpolation`
            is unknown.

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
        check(type(self).__name__, locals())
        super().__init__(keys)
        self.size = F.pair_of(size, "RandomResizedCrop", "size")
        if not (0 < scale[0] <= scale[1] and 0 < ratio[0] <= ratio[1]):
            raise InvalidArgumentError(
                f"RandomResizedCrop: scale and ratio should be of kind (min, max). Got scale={short(scale)} and ratio={short(ratio)}, "
                f"expected positive numbers, the smaller one first. Leave them out for the defaults."
            )
        self.scale = scale
        self.ratio = ratio
        self.interpolation = interpolation

    def _get_params(self, inputs: tuple[Any, ...]) -> tuple[int, int, int, int]:
        width, height = F.size_of(self._image_of(inputs), "RandomResizedCrop")
        for _ in range(10):
            area = np.random.uniform(self.scale[0], self.scale[1]) * height * width
            ratio = math.exp(np.random.uniform(math.log(self.ratio[0]), math.log(self.ratio[1])))
            across, down = round(math.sqrt(area * ratio)), round(math.sqrt(area / ratio))
            if 0 < across <= width and 0 < down <= height:
                top = random.randint(0, height - down)
                return top, random.randint(0, width - across), down, across
        # The image is too narrow for these ratios: take the largest centre crop that they allow.
        across, down = width, height
        if width / height < min(self.ratio):
            down = round(width / min(self.ratio))
        elif width / height > max(self.ratio):
            across = round(height * max(self.ratio))
        return (height - down) // 2, (width - across) // 2, down, across

    def _apply_image(self, image: Any) -> Any:
        return F.resize(F.crop(image, *self.params), self.size, self.interpolation)


class CenterCrop(BaseTransform):
    """Crop the centre of the image, as `center_crop`.

    Raises:
        ValueError: `size` is not one or two positive ints; when called, the image is smaller.

    Source:
        `paddle.vision.transforms.CenterCrop`.

    Examples:
        >>> wherry.vision.transforms.CenterCrop(20)(np.zeros([40, 60, 3], np.uint8)).shape
        (20, 20, 3)
    """

    def __init__(self, size: int | Sequence[int], keys: Sequence[str] | None = None) -> None:
        check(type(self).__name__, locals())
        super().__init__(keys)
        self.size = F.pair_of(size, "CenterCrop", "size")

    def _apply_image(self, image: Any) -> Any:
        return F.center_crop(image, self.size)


class _RandomFlip(BaseTransform):
    def __init__(self, prob: float = 0.5, keys: Sequence[str] | None = None) -> None:
        check(type(self).__name__, locals())
        super().__init__(keys)
        if isinstance(prob, bool) or not isinstance(prob, (int, float)) or not 0 <= prob <= 1:
            raise AssertedArgumentError(
                f"{type(self).__name__}: prob is not a probability. Got {short(prob)}, expected a number in [0, 1]. Leave it out for 0.5."
            )
        self.prob = prob

    def _get_params(self, inputs: tuple[Any, ...]) -> bool:
        return random.random() < self.prob


class RandomHorizontalFlip(_RandomFlip):
    """Flip the image horizontally with probability `prob`.

    Raises:
        TypeError: `prob` is not a number (also a ValueError).
        ValueError: `prob` is not in [0, 1] (also an AssertionError).

    Source:
        `paddle.vision.transforms.RandomHorizontalFlip`. Random numbers come from Python's `random`.

    Examples:
        >>> print(wherry.vision.transforms.RandomHorizontalFlip(1)(np.array([[1, 2, 3]])))
        [[3 2 1]]
    """

    def _apply_image(self, image: Any) -> Any:
        return F.hflip(image) if self.params else image


class RandomVerticalFlip(_RandomFlip):
    """Flip the image vertically with probability `prob`.

    Raises:
        TypeError: `prob` is not a number (also a ValueError).
        ValueError: `prob` is not in [0, 1] (also an AssertionError).

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
    """Crop a random part of the image.

    Args:
        size: (height, width) of the part, or one number for both.
        padding: a border before, as `pad`; None adds none.
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
        check(type(self).__name__, locals())
        super().__init__(keys)
        self.size = F.pair_of(size, "RandomCrop", "size")
        self.padding = padding
        self.pad_if_needed = pad_if_needed
        self.fill = fill
        self.padding_mode = padding_mode

    def _get_params(self, inputs: tuple[Any, ...]) -> tuple[int, int, int, int]:
        width, height = F.size_of(self._padded(self._image_of(inputs)), "RandomCrop")
        down, across = self.size
        if down > height or across > width:
            raise InvalidArgumentError(
                f"RandomCrop: the image is smaller than the crop. Got {height} x {width}, expected at least "
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
    """Pad the image with a border, as `pad`.

    Raises:
        TypeError: `padding` or `fill` are not numbers (also a ValueError).
        ValueError: `padding` is negative or has another length than 1, 2 or 4; `padding_mode` is unknown (also an AssertionError).

    Source:
        `paddle.vision.transforms.Pad`.

    Examples:
        >>> wherry.vision.transforms.Pad(2)(np.zeros([4, 5, 3], np.uint8)).shape
        (8, 9, 3)
    """

    def __init__(
        self, padding: int | Sequence[int], fill: Any = 0, padding_mode: str = "constant", keys: Sequence[str] | None = None
    ) -> None:
        check(type(self).__name__, locals())
        F.border(padding, padding_mode)
        super().__init__(keys)
        self.padding = padding
        self.fill = fill
        self.padding_mode = padding_mode

    def _apply_image(self, image: Any) -> Any:
        return F.pad(image, self.padding, self.fill, self.padding_mode)


class RandomRotation(BaseTransform):
    """Rotate the image by a random angle, as `rotate`.

    Args:
        degrees: (least, largest) angle, or one number for both sides.
        interpolation: as `rotate`.
        expand: as `rotate`.
        center: as `rotate`.
        fill: as `rotate`.
        keys: as BaseTransform.

    Raises:
        ValueError: `degrees` is negative, or not a pair.

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
        check(type(self).__name__, locals())
        if isinstance(degrees, (int, float)) and not isinstance(degrees, bool):
            if degrees < 0:
                raise InvalidArgumentError(
                    f"RandomRotation: If degrees is a single number, it must be positive. Got {short(degrees)}, expected degrees to "
                    f"both sides. Write (-10, 0) for one side."
                )
            self.degrees: tuple[float, float] = (-degrees, degrees)
        elif isinstance(degrees, (list, tuple)) and len(degrees) == 2:
            self.degrees = (degrees[0], degrees[1])
        else:
            raise InvalidArgumentError(
                f"RandomRotation: If degrees is a sequence, it must be of len 2. Got {short(degrees)}, expected (least, largest). "
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


class RandomAffine(BaseTransform):
    """Rotate, translate, scale and shear the image at random, as `affine`.

    Args:
        degrees: (least, largest) angle, clockwise, or one number for both sides; 0 does not turn.
        translate: (a, b): up to the part a of the width to either side, and b of the height; None does not move.
        scale: (least, largest) factor; None does not scale.
        shear: (least, largest) degrees along x, four numbers for x and y, or one for both sides; None does not shear.
        interpolation: as `affine`.
        fill: as `affine`.
        center: as `affine`.
        keys: as BaseTransform.

    Raises:
        TypeError, ValueError: an argument is not of these kinds, or out of range.

    Source:
        `paddle.vision.transforms.RandomAffine`. Random numbers come from Python's `random`.

    Examples:
        >>> wherry.vision.transforms.RandomAffine(30, translate=(0.1, 0.1))(np.zeros([4, 5, 3], np.uint8)).shape
        (4, 5, 3)
    """

    def __init__(
        self,
        degrees: float | Sequence[float],
        translate: Sequence[float] | None = None,
        scale: Sequence[float] | None = None,
        shear: float | Sequence[float] | None = None,
        interpolation: str = "nearest",
        fill: Any = 0,
        center: Sequence[float] | None = None,
        keys: Sequence[str] | None = None,
    ) -> None:
        check(type(self).__name__, locals(), scale=_scales, translate=_parts)
        self.degrees = _range_of(degrees, "degrees", (2,))
        self.translate = translate
        self.scale = scale
        self.shear = None if shear is None else _range_of(shear, "shear", (2, 4))
        super().__init__(keys)
        self.interpolation = interpolation
        self.fill = fill
        self.center = center

    def _get_params(self, inputs: tuple[Any, ...]) -> tuple[float, tuple[int, int], float, tuple[float, float]]:
        width, height = F.size_of(self._image_of(inputs), "RandomAffine")
        angle = random.uniform(*self.degrees)
        moved = (0, 0)
        if self.translate is not None:
            across, down = self.translate[0] * width, self.translate[1] * height
            moved = int(random.uniform(-across, across)), int(random.uniform(-down, down))
        factor = 1.0 if self.scale is None else random.uniform(*self.scale)
        shear = (0.0, 0.0)
        if self.shear is not None:
            shear = random.uniform(*self.shear[:2]), random.uniform(*self.shear[2:]) if len(self.shear) == 4 else 0.0
        return angle, moved, factor, shear

    def _apply_image(self, image: Any) -> Any:
        angle, moved, factor, shear = self.params
        return F.affine(image, angle, moved, factor, shear, self.interpolation, self.fill, self.center)


class RandomPerspective(BaseTransform):
    """A random perspective, as `perspective`: each corner moves a random part of the way to the centre.

    Args:
        prob: how often, from 0 to 1.
        distortion_scale: the largest part of the way, from 0 to 1.
        interpolation: as `perspective`.
        fill: as `perspective`.
        keys: as BaseTransform.

    Raises:
        ValueError: `prob` or `distortion_scale` is not from 0 to 1 (also an AssertionError); another argument is of another kind.

    Source:
        `paddle.vision.transforms.RandomPerspective`. Random numbers come from Python's `random`.

    Examples:
        >>> wherry.vision.transforms.RandomPerspective(prob=1.0)(np.zeros([4, 5, 3], np.uint8)).shape
        (4, 5, 3)
    """

    def __init__(
        self, prob: float = 0.5, distortion_scale: float = 0.5, interpolation: str = "nearest", fill: Any = 0, keys: Sequence[str] | None = None
    ) -> None:
        check(type(self).__name__, locals(), distortion_scale=number)
        for name, value in (("prob", prob), ("distortion_scale", distortion_scale)):
            if not 0 <= value <= 1:
                raise AssertedArgumentError(
                    f"RandomPerspective: {name} must be between 0 and 1. Got {short(value)}, expected a part of 1. Divide percent by 100."
                )
        super().__init__(keys)
        self.prob = prob
        self.distortion_scale = distortion_scale
        self.interpolation = interpolation
        self.fill = fill

    def get_params(self, width: int, height: int, distortion_scale: float) -> tuple[list[list[int]], list[list[int]]]:
        """The corners of an image, and where they go.

        Args:
            width: of the image.
            height: of the image.
            distortion_scale: the largest part of the way to the middle, from 0 to 1.

        Returns:
            Two lists of four points [x, y]: top left, top right, bottom right, bottom left.

        Raises:
            ValueError: a size is not an int, or `distortion_scale` is not from 0 to 1.
        """
        given = {"width": width, "height": height, "distortion_scale": distortion_scale}
        check("RandomPerspective.get_params", given, distortion_scale=_part)
        right, bottom = width - 1, height - 1
        across, down = int(distortion_scale * (width // 2)), int(distortion_scale * (height // 2))

        def near_to(x: int, y: int) -> list[int]:
            # Integers by truncating random floats, so that a seed of `random` gives Paddle's numbers.
            left, top = max(x - across, 0), max(y - down, 0)
            return [int(random.uniform(left, left + across + 1)), int(random.uniform(top, top + down + 1))]

        corners = [[0, 0], [right, 0], [right, bottom], [0, bottom]]
        return corners, [near_to(x, y) for x, y in corners]

    def _get_params(self, inputs: tuple[Any, ...]) -> tuple[list[list[int]], list[list[int]]] | None:
        """Corners and where they go; None leaves the image as it is, also one so narrow that corners meet."""
        width, height = F.size_of(self._image_of(inputs), "RandomPerspective")
        if random.random() >= self.prob:
            return None
        params = self.get_params(width, height, self.distortion_scale)
        return params if all(map(F.makes_quadrangle, params)) else None

    def _apply_image(self, image: Any) -> Any:
        if self.params is None:
            return image
        start, end = self.params
        return F.perspective(image, start, end, self.interpolation, self.fill)


class RandomErasing(BaseTransform):
    """Overwrite a random rectangle of the image.

    Args:
        prob: how often, from 0 to 1.
        scale: (least, largest) part of the image's area.
        ratio: (least, largest) height of the rectangle over its width.
        value: what is written: a number, one for each channel, or "random": a number for each pixel and channel, normally
            distributed (bytes: uniformly from 0 to 255).
        inplace: whether the image itself is changed; one of Pillow is not.
        keys: as BaseTransform.

    Raises:
        TypeError, ValueError: an argument is not of these kinds, or out of range.

    Source:
        `paddle.vision.transforms.RandomErasing`. Whether it erases is drawn from Python's `random`, all else from `numpy.random`.
        Zhong et al., "Random erasing data augmentation" (2017).

    Examples:
        >>> image = wherry.vision.transforms.RandomErasing(prob=1.0, value=7)(np.zeros([8, 8, 3], np.uint8))
        >>> sorted(set(image.ravel().tolist()))
        [0, 7]
    """

    def __init__(
        self,
        prob: float = 0.5,
        scale: Sequence[float] = (0.02, 0.33),
        ratio: Sequence[float] = (0.3, 3.3),
        value: Any = 0,
        inplace: bool = False,
        keys: Sequence[str] | None = None,
    ) -> None:
        check(type(self).__name__, locals(), value=_written)
        super().__init__(keys)
        if not 0 <= prob <= 1:
            raise AssertedArgumentError(f"RandomErasing: prob is not a probability. Got {short(prob)}, expected 0 to 1. Divide percent by 100.")
        if not (0 <= scale[0] <= scale[1] <= 1 and 0 < ratio[0] <= ratio[1]):
            raise InvalidArgumentError(
                f"RandomErasing: scale and ratio should be of kind (min, max). Got scale={short(scale)} and ratio={short(ratio)}, expected parts "
                f"of 1 and positive numbers, the smaller one first. Leave them out for the defaults."
            )
        self.prob = prob
        self.scale = scale
        self.ratio = ratio
        self.value = value
        self.inplace = inplace

    def _get_params(self, inputs: tuple[Any, ...]) -> tuple[int, int, int, int] | None:
        """Row, column, height and width; None erases nothing."""
        width, height = F.size_of(self._image_of(inputs), "RandomErasing")
        if random.random() >= self.prob:
            return None
        for _ in range(10):
            area = np.random.uniform(self.scale[0], self.scale[1]) * width * height
            ratio = math.exp(np.random.uniform(math.log(self.ratio[0]), math.log(self.ratio[1])))
            down, across = round(math.sqrt(area * ratio)), round(math.sqrt(area / ratio))
            if down < height and across < width:
                return np.random.randint(0, height - down + 1), np.random.randint(0, width - across + 1), down, across
        return None  # the image is too narrow for these ratios

    def _apply_image(self, image: Any) -> Any:
        if self.params is None:
            return image
        top, left, down, across = self.params
        value: Any = np.asarray(0 if self.value == "random" else self.value)
        channels = 1
        first = isinstance(image, Tensor)
        if first:
            channels = image.shape[-3]
        elif F.is_picture(image):
            channels = len(image.getbands())
        elif image.ndim == 3:
            channels = image.shape[2]
        if self.value == "random":
            shape = (channels, down, across) if first else (down, across, channels)
            floats = image.dtype.is_floating if first else not F.is_picture(image) and image.dtype.kind == "f"
            value = np.random.normal(size=shape).astype(np.float32) if floats else np.random.randint(0, 256, shape)
        elif value.ndim:
            if value.size not in (1, channels):
                raise InvalidArgumentError(
                    f"RandomErasing: value does not fit the channels. Got {value.size} for {channels} channels, expected 1 or "
                    f"{channels}. Write value=0 for all."
                )
            value = value.reshape((-1, 1, 1) if first else (1, 1, -1))
        if not first and value.ndim == 3 and (F.is_picture(image) and channels == 1 or not F.is_picture(image) and image.ndim == 2):
            value = value[..., 0]
        return F.erase(image, top, left, down, across, value, self.inplace)


def _is_range(value: Any, least: float, most: float) -> bool:
    return isinstance(value, (list, tuple)) and len(value) == 2 and all(number[0](v) and least <= v <= most for v in value)


_scales: Check = (
    lambda value: value is None or (_is_range(value, 1e-9, 1e9) and value[0] <= value[1]), "two numbers above 0, the smaller one first, or None"
)
_parts: Check = (lambda value: value is None or _is_range(value, 0.0, 1.0), "two numbers from 0 to 1, or None")
_part: Check = (lambda value: number[0](value) and 0 <= value <= 1, "a number from 0 to 1")
_written: Check = (
    lambda value: isinstance(value, str) and value == "random" or number[0](value)
    or (isinstance(value, (list, tuple)) and bool(value) and all(map(number[0], value))), "a number, one for each channel, or 'random'",
)


def _range_of(value: Any, name: str, lengths: tuple[int, ...]) -> tuple[float, ...]:
    """(-n, n) from a number; pairs of numbers, each with the smaller one first."""
    if number[0](value) and 0 <= value < math.inf:
        return -value, value
    if isinstance(value, (list, tuple)) and len(value) in lengths and all(number[0](v) and abs(v) < math.inf for v in value):
        if all(a <= b for a, b in zip(value[::2], value[1::2])):
            return tuple(value)
    raise InvalidArgumentError(
        f"RandomAffine: {name} is not a range. Got {short(value)}, expected a number >= 0, or {' or '.join(map(str, lengths))} numbers, the smaller "
        f"one of each pair first. Write one number for both sides."
    )


explained(globals())
