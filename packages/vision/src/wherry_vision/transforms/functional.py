"""Transforms of images as functions.

An image is a NumPy array ([H, W] or [H, W, C], bytes or floats), a tensor ([C, H, W] or [N, C, H, W]), or, where
Pillow is installed, one of its images. What comes back is of the same kind.
"""
from __future__ import annotations

import itertools
import math
import sys
from collections.abc import Sequence
from types import ModuleType
from typing import Any

import numpy as np

from wherry_tensor import Tensor, moveaxis
from wherry_tensor._core import get_current_device, to_device
from wherry_tensor.constructor_arguments import Check, integer, number
from wherry_tensor.errors import AssertedArgumentError, InvalidArgumentError, InvalidTypeError, short
from wherry_tensor.explained import explained
from wherry_tensor.functions.creation import to_tensor as tensor_of
from wherry_vision.transforms import arrays, tensors
from wherry_vision.transforms.checks import check
from wherry_vision.transforms.resampling import RESAMPLING

__all__ = [
    "adjust_brightness",
    "adjust_contrast",
    "adjust_hue",
    "affine",
    "center_crop",
    "crop",
    "erase",
    "hflip",
    "normalize",
    "pad",
    "perspective",
    "resize",
    "rotate",
    "to_grayscale",
    "to_tensor",
    "vflip",
]

Image = Any  # an array, a tensor or an image of Pillow


def is_picture(image: Any) -> bool:
    """Whether this is an image of Pillow, which need not be installed to ask."""
    pillow = sys.modules.get("PIL.Image")
    return pillow is not None and isinstance(image, pillow.Image)


def _of(image: Any, op_name: str) -> ModuleType:
    """The functions for this kind of image."""
    if isinstance(image, np.ndarray) and image.ndim in (2, 3):
        return arrays
    if isinstance(image, Tensor) and image.ndim in (3, 4):
        return tensors
    if is_picture(image):
        from wherry_vision.transforms import pictures

        return pictures
    shape = f" of shape {list(image.shape)}" if hasattr(image, "shape") else ""
    raise InvalidTypeError(
        f"{op_name}: img should be PIL Image or Tensor Image or ndarray with dim=[2 or 3]. Got {type(image).__name__}{shape}, "
        f"expected an array [H, W] or [H, W, C], a tensor [C, H, W], or an image of Pillow. Convert it first."
    )


def size_of(image: Image, op_name: str) -> tuple[int, int]:
    """Width and height of an image."""
    found: tuple[int, int] = _of(image, op_name).size_of(image)
    return found


def to_tensor(pic: Image, data_format: str = "CHW") -> Tensor:
    """Convert an image to a tensor; bytes become floats in [0, 1].

    Args:
        pic: an array [H, W] or [H, W, C], an image of Pillow, or a tensor [C, H, W], whose values stay as they are.
        data_format: "CHW" or "HWC", of the result.

    Returns:
        float32 for bytes; other values stay as they are, in their dtype.

    Shape:
        `[H, W, C]` or `[H, W]` of an array to `[C, H, W]`, or to `[H, W, C]` with "HWC".

    Raises:
        TypeError: `pic` is not an image.
        ValueError: `data_format` is neither.

    Source:
        `paddle.vision.transforms.to_tensor`.

    Examples:
        >>> from wherry_vision.transforms import to_tensor
        >>> to_tensor(np.full([4, 5, 3], 51, np.uint8)).shape
        [3, 4, 5]
    """
    check("to_tensor", locals())
    channels_first = _channels_first(data_format, "to_tensor")
    if isinstance(pic, Tensor):
        _of(pic, "to_tensor")
        return pic if channels_first else moveaxis(pic, -3, -1)
    if channels_first and (pixels := _memory_of(pic)) is not None:
        return to_device(tensors.of_bytes(pixels, True, 3), get_current_device())
    array = _array_of(pic, "to_tensor")
    if array.ndim == 2:
        array = array[:, :, None]
    if array.dtype == np.uint8:
        return tensors.of_bytes(tensor_of(np.ascontiguousarray(array)), channels_first)
    return tensor_of(np.ascontiguousarray(array.transpose(2, 0, 1) if channels_first else array))


def _memory_of(image: Any) -> Tensor | None:
    """Pixels [H, W, 4] of an image of mode RGB, where Pillow shares its memory."""
    if not is_picture(image) or image.mode != "RGB":
        return None
    from wherry_vision.transforms import pixels

    return pixels.memory_of(image)


def _array_of(image: Any, op_name: str) -> Any:
    module = _of(image, op_name)
    if module is arrays:
        return image
    if image.mode == "1":
        return np.asarray(image).astype(np.uint8) * 255
    if image.mode == "P":
        return np.asarray(image)
    return np.asarray(image, np.int16 if image.mode == "I;16" else None)


def resize(img: Image, size: int | Sequence[int], interpolation: str = "bilinear") -> Image:
    """Resize an image.

    Args:
        img: the image.
        size: (height, width), or the length of the shorter side: the other one follows from the proportions.
        interpolation: for arrays "nearest", "bilinear", "area", "bicubic", "lanczos"; for tensors the first four; for
            images of Pillow "nearest", "bilinear", "bicubic", "box", "lanczos", "hamming".

    Raises:
        TypeError: `img` is not an image, or `size` is not one or two ints.
        ValueError: `interpolation` is unknown, or a side would have no pixels.

    Source:
        `paddle.vision.transforms.resize`. Arrays get the numbers of OpenCV, give or take 1 in bytes: nothing is smoothed when
        an image shrinks, except with "area". Pillow smooths.

    Examples:
        >>> from wherry_vision.transforms import resize
        >>> resize(np.zeros([40, 60, 3], np.uint8), 20).shape
        (20, 30, 3)
    """
    check("resize", locals())
    module = _of(img, "resize")
    width, height = module.size_of(img)
    if not width or not height:
        raise InvalidArgumentError(
            f"resize: the image has no pixels. Got height {height} and width {width}, expected at least 1 each. Look at what cut it."
        )
    if isinstance(size, (int, np.integer)) and not isinstance(size, bool):
        shorter = int(size)
        if shorter == min(width, height):
            return img
        if width < height:
            new = (int(shorter * height / width), shorter)
        else:
            new = (shorter, int(shorter * width / height))
    elif isinstance(size, (list, tuple)) and len(size) in (1, 2) and all(isinstance(s, (int, np.integer)) for s in size):
        new = (int(size[0]), int(size[-1]))
        if len(size) == 1:
            return resize(img, int(size[0]), interpolation)
    else:
        raise InvalidTypeError(
            f"resize: Got inappropriate size arg: {short(size)}. Expected an int, the shorter side, or (height, width). "
            f"Write size=(224, 224)."
        )
    if min(new) <= 0:
        raise InvalidArgumentError(
            f"resize: the new size is empty. Got a size of {list(new)}, expected sides > 0. Choose a larger size."
        )
    if module is arrays:
        known: Any = RESAMPLING
    elif module is tensors:
        known = ("nearest", "bilinear", "area", "bicubic")
    else:
        known = tuple(module.METHODS)
    if interpolation not in known:
        raise InvalidArgumentError(
            f"resize: the interpolation is unknown for {type(img).__name__}. Got {short(interpolation)}, expected one of "
            f"{', '.join(known)}. Leave it out for bilinear."
        )
    return module.resize(img, *new, interpolation)


def pad(img: Image, padding: int | Sequence[int], fill: Any = 0, padding_mode: str = "constant") -> Image:
    """Pad an image with a border.

    Args:
        img: the image.
        padding: pixels on each side; two for left and right, top and bottom; or four for left, top, right, bottom.
        fill: the border's value with "constant"; for arrays and images of Pillow also one for each channel.
        padding_mode: "constant"; "edge" repeats the last pixels; "reflect" mirrors without them, "symmetric" with them.

    Raises:
        TypeError: `img` is not an image, or `padding` or `fill` are not numbers.
        ValueError: `padding` has another length, or `padding_mode` is unknown (also an AssertionError).

    Source:
        `paddle.vision.transforms.pad`.

    Examples:
        >>> from wherry_vision.transforms import pad
        >>> print(pad(np.ones([1, 2], np.uint8), (1, 0)))
        [[0 1 1 0]]
    """
    check("pad", locals())
    module = _of(img, "pad")
    sides = border(padding, padding_mode)
    _check_fill(img, fill, "pad")
    return module.pad(img, *sides, fill, padding_mode)


def border(padding: Any, padding_mode: str) -> tuple[int, int, int, int]:
    """Left, top, right and bottom of the border from the arguments of `pad`; raises an error if they are wrong."""
    if padding_mode not in ("constant", "edge", "reflect", "symmetric"):
        raise AssertedArgumentError(
            f"pad: Padding mode should be either constant, edge, reflect or symmetric. Got {short(padding_mode)}, expected one of "
            f"these. Leave it out for constant."
        )
    if isinstance(padding, (int, np.integer)) and not isinstance(padding, bool):
        found = (int(padding),) * 4
    elif isinstance(padding, (list, tuple)) and len(padding) in (2, 4) and all(isinstance(p, (int, np.integer)) for p in padding):
        found = tuple(map(int, padding)) * (4 // len(padding))  # type: ignore[assignment]
    elif isinstance(padding, (list, tuple)):
        raise InvalidArgumentError(
            f"pad: Padding must be an int or a 2, or 4 element tuple, not a {len(padding)} element tuple. Got {short(padding)}, "
            f"expected ints. Write (left_right, top_bottom)."
        )
    else:
        raise InvalidTypeError(f"pad: Got inappropriate padding arg: {short(padding)}. Expected an int, or a tuple of 2 or 4.")
    if min(found) < 0:
        raise InvalidArgumentError(
            f"pad: padding is negative. Got padding={short(padding)}, expected ints >= 0. Use crop to cut pixels off."
        )
    return found


def crop(img: Image, top: int, left: int, height: int, width: int) -> Image:
    """Crop an image.

    Args:
        img: the image.
        top: first row.
        left: first column.
        height: of the part; it ends at the border of the image (an image of Pillow is continued in black).
        width: as `height`.

    Raises:
        TypeError: `img` is not an image.

    Source:
        `paddle.vision.transforms.crop`.

    Examples:
        >>> from wherry_vision.transforms import crop
        >>> crop(np.zeros([8, 9, 3], np.uint8), 1, 2, 3, 4).shape
        (3, 4, 3)
    """
    check("crop", locals())
    return _of(img, "crop").crop(img, top, left, height, width)


def center_crop(img: Image, output_size: int | Sequence[int]) -> Image:
    """Crop the centre of an image.

    Args:
        img: the image.
        output_size: (height, width), or one number for both.

    Raises:
        TypeError: `img` is not an image.
        ValueError: the image is smaller.

    Source:
        `paddle.vision.transforms.center_crop`.

    Examples:
        >>> from wherry_vision.transforms import center_crop
        >>> print(center_crop(np.arange(16).reshape(4, 4), 2))
        [[ 5  6]
         [ 9 10]]
    """
    check("center_crop", locals())
    height, width = pair_of(output_size, "center_crop", "output_size")
    image_width, image_height = size_of(img, "center_crop")
    if height > image_height or width > image_width:
        raise InvalidArgumentError(
            f"center_crop: the image is smaller than the crop. Got {image_height} x {image_width}, expected at least "
            f"{height} x {width}. Pad or resize it first."
        )
    top, left = round((image_height - height) / 2.0), round((image_width - width) / 2.0)
    return crop(img, top, left, height, width)


def hflip(img: Image) -> Image:
    """Flip an image horizontally.

    Raises:
        TypeError: `img` is not an image.

    Source:
        `paddle.vision.transforms.hflip`.

    Examples:
        >>> from wherry_vision.transforms import hflip
        >>> print(hflip(np.array([[1, 2, 3]])))
        [[3 2 1]]
    """
    return _of(img, "hflip").hflip(img)


def vflip(img: Image) -> Image:
    """Flip an image vertically.

    Raises:
        TypeError: `img` is not an image.

    Source:
        `paddle.vision.transforms.vflip`.

    Examples:
        >>> from wherry_vision.transforms import vflip
        >>> print(vflip(np.array([[1], [2]])))
        [[2]
         [1]]
    """
    return _of(img, "vflip").vflip(img)


def adjust_brightness(img: Image, brightness_factor: float) -> Image:
    """Multiply the values of an image by a factor.

    Args:
        img: the image.
        brightness_factor: 0 gives black, 1 the image.

    Raises:
        TypeError: `img` is not an image.
        ValueError: the factor is negative.

    Source:
        `paddle.vision.transforms.adjust_brightness`.

    Examples:
        >>> from wherry_vision.transforms import adjust_brightness
        >>> print(adjust_brightness(np.array([[100, 200]], np.uint8), 1.5))
        [[150 255]]
    """
    check("adjust_brightness", locals())
    return _of(img, "adjust_brightness").adjust_brightness(img, _factor(brightness_factor, "adjust_brightness"))


def adjust_contrast(img: Image, contrast_factor: float) -> Image:
    """Move the values of an image away from a mean gray, or towards it.

    Args:
        img: the image.
        contrast_factor: 0 gives gray, 1 the image. The gray is the mean of the image, for arrays 74 of 255.

    Raises:
        TypeError: `img` is not an image.
        ValueError: the factor is negative.

    Source:
        `paddle.vision.transforms.adjust_contrast`.

    Examples:
        >>> from wherry_vision.transforms import adjust_contrast
        >>> print(adjust_contrast(np.array([[64, 94]], np.uint8), 2.0))
        [[ 54 114]]
    """
    check("adjust_contrast", locals())
    return _of(img, "adjust_contrast").adjust_contrast(img, _factor(contrast_factor, "adjust_contrast"))


def adjust_saturation(img: Image, saturation_factor: float) -> Image:
    """Move the colours of an image away from their grays, or towards them.

    Args:
        img: the image; a gray one stays as it is.
        saturation_factor: 0 gives grays, 1 the image.

    Raises:
        TypeError: `img` is not an image.
        ValueError: the factor is negative.

    Source:
        `paddle.vision.transforms.functional.adjust_saturation`, which for arrays draws another factor at random.
    """
    check("adjust_saturation", locals())
    return _of(img, "adjust_saturation").adjust_saturation(img, _factor(saturation_factor, "adjust_saturation"))


def adjust_hue(img: Image, hue_factor: float) -> Image:
    """Rotate the hues of an image around the colour circle.

    Args:
        img: the image; a gray one stays as it is.
        hue_factor: turns, from -0.5 to 0.5.

    Raises:
        TypeError: `img` is not an image.
        ValueError: the factor is out of range (also an AssertionError).

    Source:
        `paddle.vision.transforms.adjust_hue`.

    Examples:
        >>> from wherry_vision.transforms import adjust_hue
        >>> print(adjust_hue(np.array([[[255, 0, 0]]], np.uint8), 1 / 3))  # from red to green
        [[[  0 255   0]]]
    """
    check("adjust_hue", locals())
    module = _of(img, "adjust_hue")
    if not -0.5 <= hue_factor <= 0.5:
        raise AssertedArgumentError(
            f"adjust_hue: hue_factor should be in range [-0.5, 0.5]. Got {short(hue_factor)}, expected a part of a turn. "
            f"Divide degrees by 360."
        )
    return module.adjust_hue(img, hue_factor)


def _factor(value: Any, op_name: str) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float, np.number)):
        raise InvalidTypeError(f"{op_name}: the factor is not a number. Got {short(value)} ({type(value).__name__}), expected one >= 0.")
    if value < 0:
        raise InvalidArgumentError(
            f"{op_name}: the factor is negative. Got {short(value)}, expected a number >= 0. 1 leaves the image as it is."
        )
    return float(value)


def rotate(
    img: Image,
    angle: float,
    interpolation: str = "nearest",
    expand: bool = False,
    center: Sequence[float] | None = None,
    fill: Any = 0,
) -> Image:
    """Rotate an image around a point.

    Args:
        img: the image.
        angle: degrees, counter-clockwise.
        interpolation: "nearest", "bilinear" or "bicubic" (not for tensors).
        expand: whether the image grows so that nothing is cut off; the corners are `fill`.
        center: (x, y) in pixels from the top left corner; None is the middle.
        fill: the value outside of the image; or one for each channel.

    Raises:
        TypeError: `img` is not an image, or `angle` is not a number.
        ValueError: `interpolation` is unknown.

    Source:
        `paddle.vision.transforms.rotate`. Arrays and tensors turn around the middle as images of Pillow do; in Paddle arrays
        turn around a point half a pixel from it.

    Examples:
        >>> from wherry_vision.transforms import rotate
        >>> print(rotate(np.array([[1, 2], [3, 4]]), 90))
        [[2 4]
         [1 3]]
    """
    check("rotate", locals())
    module = _of(img, "rotate")
    _check_interpolation(img, interpolation, "rotate")
    _check_fill(img, fill, "rotate")
    if module not in (arrays, tensors):
        return module.rotate(img, angle, interpolation, expand, center, fill)
    width, height = module.size_of(img)
    middle = (width / 2.0, height / 2.0) if center is None else (float(center[0]), float(center[1]))
    matrix, new_width, new_height = arrays.inverse_rotation(angle, middle), width, height
    if expand:
        a, b, c, d, e, f = matrix
        corners = [(a * x + b * y + c, d * x + e * y + f) for x in (0, width) for y in (0, height)]
        across, down = [x for x, _ in corners], [y for _, y in corners]
        new_width = math.ceil(max(across)) - math.floor(min(across))
        new_height = math.ceil(max(down)) - math.floor(min(down))
        # The middle of the new image is the middle of the old one.
        x, y = (width - new_width) / 2.0, (height - new_height) / 2.0
        matrix = (a, b, a * x + b * y + c, d, e, d * x + e * y + f)
    return module.rotate(img, matrix, new_height, new_width, interpolation, fill)


def affine(
    img: Image, angle: float, translate: Sequence[float], scale: float, shear: float | Sequence[float], interpolation: str = "nearest",
    fill: Any = 0, center: Sequence[float] | None = None,
) -> Image:
    """Rotate, translate, scale and shear an image about its centre; its size stays.

    Args:
        img: the image.
        angle: degrees, clockwise.
        translate: pixels to the right and down.
        scale: > 0; 2 doubles lengths.
        shear: degrees, (along x, along y), or one number for x.
        interpolation: as `rotate`.
        fill: what is outside: a number, or one for each channel.
        center: (x, y) of the point that `angle`, `scale` and `shear` leave where it is; None takes the middle.

    Raises:
        TypeError: `img` is not an image, or an argument has the wrong type.
        ValueError: `interpolation` is unknown; `scale` is not positive, or a shear is of 90 degrees.

    Source:
        `paddle.vision.transforms.affine`.

    Examples:
        >>> from wherry_vision.transforms import affine
        >>> print(affine(np.array([[1, 2, 3]], np.uint8), 0, (1, 0), 1.0, 0)[0])
        [0 1 2]
    """
    pair: Check = (
        lambda value: isinstance(value, (list, tuple)) and len(value) == 2 and all(number[0](v) and abs(v) < math.inf for v in value),
        "two numbers",
    )
    shears: list[Any] = list(shear) if isinstance(shear, (list, tuple)) else [shear, 0.0]
    check(
        "affine", {**locals(), "shear": shears}, translate=pair, shear=pair,
        scale=(lambda value: number[0](value) and 0 < value < math.inf, "a number above 0"),
    )
    if any(abs(math.cos(math.radians(value))) < 1e-9 for value in shears):
        raise InvalidArgumentError(f"affine: the shear is 90 degrees. Got shear={short(shear)}, expected less. Write shear=(10, 0).")
    module = _of(img, "affine")
    _check_interpolation(img, interpolation, "affine")
    _check_fill(img, fill, "affine")
    width, height = module.size_of(img)
    middle = (width / 2.0, height / 2.0) if center is None else (float(center[0]), float(center[1]))
    matrix = _inverse_affine(middle, angle, translate, scale, shears)
    return _warped(img, module, matrix, interpolation, fill)


def _warped(img: Image, module: ModuleType, matrix: tuple[float, ...], interpolation: str, fill: Any) -> Image:
    """An image of the same size; `matrix` as for `arrays.source_coordinates`."""
    if module in (arrays, tensors):
        width, height = module.size_of(img)
        return module.rotate(img, matrix, height, width, interpolation, fill)
    return module.warp(img, matrix, interpolation, fill)


def _inverse_affine(
    center: tuple[float, float], angle: float, translate: Sequence[float], scale: float, shear: Sequence[float]
) -> tuple[float, ...]:
    """The matrix from positions of the new image to the old one: from (turn * shear_y * shear_x * scale) about the centre, then moved."""
    turn, along_x, along_y = (math.radians(value) for value in (angle, *shear))
    rotation = np.array([[math.cos(turn), -math.sin(turn)], [math.sin(turn), math.cos(turn)]])
    forward = rotation @ [[1.0, 0.0], [-math.tan(along_y), 1.0]] @ [[1.0, -math.tan(along_x)], [0.0, 1.0]] * scale
    # Rounded as the rotation is: a cosine of 6e-17 would move whole pixels across an edge.
    back = np.round(np.linalg.inv(forward), 15)
    x, y = center - back @ (np.asarray(center, float) + translate)
    return back[0, 0], back[0, 1], float(x), back[1, 0], back[1, 1], float(y)


def perspective(
    img: Image, startpoints: Sequence[Sequence[float]], endpoints: Sequence[Sequence[float]], interpolation: str = "nearest", fill: Any = 0
) -> Image:
    """A perspective transform of an image, given by four points and where they go. The size stays.

    Args:
        img: the image.
        startpoints: four points (x, y) of `img`: top left, top right, bottom right, bottom left.
        endpoints: where they are in the result.
        interpolation: as `rotate`.
        fill: what is outside: a number, or one for each channel.

    Raises:
        TypeError: `img` is not an image.
        ValueError: these are not four points each; three of them lie on a line; `interpolation` is unknown.

    Source:
        `paddle.vision.transforms.perspective`. Arrays and tensors come out as images of Pillow do.

    Examples:
        >>> from wherry_vision.transforms import perspective
        >>> corners = [[0, 0], [4, 0], [4, 4], [0, 4]]
        >>> print(perspective(np.arange(16).reshape(4, 4), corners, [[1, 0], [3, 0], [4, 4], [0, 4]]))
        [[ 0  1  2  0]
         [ 0  9 10  0]
         [12 13 14 15]
         [12 13 14 15]]
    """
    check("perspective", locals(), startpoints=_corners, endpoints=_corners)
    module = _of(img, "perspective")
    _check_interpolation(img, interpolation, "perspective")
    _check_fill(img, fill, "perspective")
    return _warped(img, module, _inverse_projection(startpoints, endpoints), interpolation, fill)


def _is_four_points(value: Any) -> bool:
    return isinstance(value, (list, tuple)) and len(value) == 4 and all(
        isinstance(point, (list, tuple)) and len(point) == 2 and all(number[0](v) and abs(v) < math.inf for v in point) for point in value
    )


_corners: Check = (_is_four_points, "four points (x, y)")


def makes_quadrangle(points: Sequence[Sequence[float]]) -> bool:
    """Whether no three of four points lie on a line."""
    return all(
        abs((b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])) > 1e-9 for a, b, c in itertools.combinations(points, 3)
    )


def _inverse_projection(start: Sequence[Sequence[float]], end: Sequence[Sequence[float]]) -> tuple[float, ...]:
    """The eight numbers of the projection that takes `end` to `start`: each point gives two equations, linear in them."""
    for name, points in (("startpoints", start), ("endpoints", end)):
        if not makes_quadrangle(points):
            raise InvalidArgumentError(
                f"perspective: three of {name} lie on a line. Got {short(points)}, expected the corners of a quadrangle. Move one of them."
            )
    rows = []
    for (x, y), (u, v) in zip(end, start):
        rows += [[x, y, 1, 0, 0, 0, -u * x, -u * y], [0, 0, 0, x, y, 1, -v * x, -v * y]]
    return tuple(np.linalg.solve(np.asarray(rows, float), np.asarray(start, float).ravel()).tolist())


def erase(img: Image, i: int, j: int, h: int, w: int, v: Any, inplace: bool = False) -> Image:
    """Overwrite a rectangle of an image.

    Args:
        img: the image.
        i: first row of the part.
        j: first column.
        h: its height.
        w: its width.
        v: what is written: a number, or an array or tensor that broadcasts to the part, `[h, w, C]`; `[C, h, w]` for tensors.
        inplace: whether `img` itself is changed; one of Pillow is not.

    Raises:
        TypeError: `img` is not an image, or a place is not an int.
        ValueError: the part does not lie in the image, or `v` does not fit it.

    Source:
        `paddle.vision.transforms.erase`.

    Examples:
        >>> from wherry_vision.transforms import erase
        >>> print(erase(np.ones([2, 3], np.uint8), 0, 1, 2, 1, 0))
        [[1 0 1]
         [1 0 1]]
    """
    check("erase", locals(), i=integer, j=integer, h=integer, w=integer, v=(_holds_numbers, "a number, an array or a tensor"))
    module = _of(img, "erase")
    width, height = module.size_of(img)
    if min(i, j, h, w) < 0 or i + h > height or j + w > width:
        raise InvalidArgumentError(
            f"erase: the part is not in the image. Got rows {i} to {i + h} and columns {j} to {j + w}, expected them within "
            f"{height} rows and {width} columns. Cut it first."
        )
    if module is tensors:
        out = img if inplace else img.clone()
        written = v if isinstance(v, Tensor) else tensor_of(np.asarray(v, np.float32))
        _write(out, (..., slice(i, i + h), slice(j, j + w)), written.astype(out.dtype), "erase")
        return out
    value = np.asarray(v.numpy() if isinstance(v, Tensor) else v)
    array = img if module is arrays and inplace else np.array(_array_of(img, "erase"))
    _write(array, (slice(i, i + h), slice(j, j + w)), value.astype(array.dtype), "erase")
    return array if module is arrays else module.of_array(array, img.mode)


def _holds_numbers(value: Any) -> bool:
    if isinstance(value, Tensor):
        return True
    try:
        return not isinstance(value, (str, bytes)) and np.asarray(value).dtype.kind in "biuf"
    except (ValueError, TypeError, RecursionError):  # lists of unequal lengths, or thousands deep
        return False


def _write(target: Any, place: Any, value: Any, op_name: str) -> None:
    try:
        target[place] = value
    except (ValueError, TypeError) as error:
        raise InvalidArgumentError(
            f"{op_name}: the values do not fit. Got shape {list(value.shape)}, expected a number, or one that broadcasts to the part "
            f"{list(target[place].shape)}."
        ) from error


def _check_interpolation(img: Any, interpolation: Any, op_name: str) -> None:
    known = ("nearest", "bilinear") if isinstance(img, Tensor) else ("nearest", "bilinear", "bicubic")
    if interpolation not in known:
        raise InvalidArgumentError(
            f"{op_name}: the interpolation is unknown for {type(img).__name__}. Got {short(interpolation)}, expected one of "
            f"{', '.join(known)}. Leave it out for nearest."
        )


def _check_fill(img: Any, fill: Any, op_name: str) -> None:
    """One value for all channels, or one for each."""
    if isinstance(fill, (list, tuple)):
        if is_picture(img):
            channels = len(img.getbands())
        elif isinstance(img, Tensor):
            channels = int(img.shape[-3])
        else:
            channels = img.shape[2] if img.ndim == 3 else 1
        if len(fill) not in (1, channels) and channels != 1:
            raise InvalidArgumentError(
                f"{op_name}: fill does not fit the channels. Got {len(fill)} for {channels} channels, expected 1 or {channels}. Write "
                f"fill=0 for all."
            )


def to_grayscale(img: Image, num_output_channels: int = 1) -> Image:
    """Convert an image to grayscale: 0.299 of red, 0.587 of green and 0.114 of blue.

    Args:
        img: the image.
        num_output_channels: 1, or 3 equal ones.

    Raises:
        TypeError: `img` is not an image.
        ValueError: another number of channels.

    Source:
        `paddle.vision.transforms.to_grayscale`.

    Examples:
        >>> from wherry_vision.transforms import to_grayscale
        >>> print(to_grayscale(np.array([[[255, 0, 0], [0, 255, 0]]], np.uint8))[..., 0])
        [[ 76 150]]
    """
    check("to_grayscale", locals())
    module = _of(img, "to_grayscale")
    if num_output_channels not in (1, 3):
        raise InvalidArgumentError(
            f"to_grayscale: num_output_channels should be either 1 or 3. Got {short(num_output_channels)}, expected one of them. "
            f"Leave it out for 1."
        )
    return module.to_grayscale(img, num_output_channels)


def normalize(img: Image, mean: Any, std: Any, data_format: str = "CHW", to_rgb: bool = False) -> Any:
    """Subtract `mean` and divide by `std`, for each channel.

    Args:
        img: the image; one of Pillow becomes an array.
        mean: one number, or one for each channel.
        std: as `mean`; none is zero.
        data_format: "CHW" or "HWC", of the image.
        to_rgb: whether an array [H, W, C] has its channels reversed first.

    Returns:
        float32 for arrays; tensors keep their floating dtype.

    Raises:
        TypeError: `img` is not an image.
        ValueError: numbers and channels do not fit, a `std` is zero, or `data_format` is unknown.

    Source:
        `paddle.vision.transforms.normalize`.

    Examples:
        >>> from wherry_vision.transforms import normalize
        >>> print(normalize(np.array([[[0.0], [255.0]]]), [127.5], [127.5], data_format="HWC")[..., 0])
        [[-1.  1.]]
    """
    check("normalize", locals())
    channels_first = _channels_first(data_format, "normalize")
    shape = (-1, 1, 1) if channels_first else (1, 1, -1)
    middle = np.asarray(mean, np.float32).reshape(shape)
    spread = np.asarray(std, np.float32).reshape(shape)
    if not (spread != 0).all():
        raise InvalidArgumentError(f"normalize: std has a zero. Got {short(std)}, expected no zero. Use 1 to leave them.")
    if isinstance(img, Tensor):
        array: Any = img if img.dtype.is_floating else img.astype("float32")
        parts: Any = [tensor_of(one).astype(array.dtype) for one in (middle, spread)]
        if array.ndim not in (3, 4):
            _of(img, "normalize")
    else:
        if isinstance(img, np.ndarray) and img.ndim not in (2, 3):
            _of(img, "normalize")
        array = np.asarray(img if isinstance(img, np.ndarray) else _array_of(img, "normalize"), np.float32)
        if to_rgb:
            array = array[::-1] if channels_first else array[..., ::-1]
        if array.ndim == 3 and {middle.size, spread.size} <= {1, array.shape[0 if channels_first else 2]}:
            return arrays.normalize(array, middle, spread, channels_first)
        parts = middle, spread
    try:
        return (array - parts[0]) / parts[1]
    except ValueError:
        raise InvalidArgumentError(
            f"normalize: the channels do not fit. Got an image of shape {list(array.shape)} in {data_format}, {middle.size} means "
            f"and {spread.size} deviations, expected one of each, or one for each channel. Choose data_format='HWC' for images "
            f"with the channels last."
        ) from None


def _channels_first(data_format: Any, op_name: str) -> bool:
    if data_format not in ("CHW", "HWC"):
        raise AssertedArgumentError(
            f"{op_name}: data_format should be CHW or HWC. Got {short(data_format)}, expected one of them. Leave it out for CHW."
        )
    return bool(data_format == "CHW")


def pair_of(size: Any, op_name: str, name: str) -> tuple[int, int]:
    """(height, width) from two numbers, or from one for both."""
    if isinstance(size, (int, float, np.number)) and not isinstance(size, bool) and 1 <= size < math.inf:
        return int(size), int(size)
    if isinstance(size, (list, tuple)) and len(size) == 2 and all(isinstance(s, (int, np.integer)) and s > 0 for s in size):
        return int(size[0]), int(size[1])
    raise InvalidArgumentError(
        f"{op_name}: {name} is not a valid size. Got {short(size)}, expected an int > 0, or two. Write {name}=(224, 224)."
    )


explained(globals())
