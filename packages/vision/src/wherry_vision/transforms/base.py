"""`BaseTransform`, `Compose`, and transforms of the type and layout of an image."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from wherry_tensor import Tensor
from wherry_tensor.constructor_arguments import as_constructed
from wherry_tensor.errors import InvalidArgumentError, InvalidTypeError, short
from wherry_tensor.explained import explained
from wherry_tensor.functions.movement import transpose
from wherry_train.io.kept_memory import keep_freed_memory
from wherry_vision.transforms import functional as F
from wherry_vision.transforms.checks import check

__all__ = ["BaseTransform", "Compose", "Normalize", "ToTensor", "Transpose"]


class BaseTransform:
    """A transform of images, and of what belongs to them.

    A subclass defines `_apply_image(image)`, and `_apply_boxes`, `_apply_mask`, ... for what it can change
    besides. `_get_params(inputs)` draws what is random, once for all parts of a sample; it is found in
    `self.params`.

    Args:
        keys: what the parts of a sample are, in order: "image", "boxes", "mask" and so on; None takes the first for an image.
            Parts beyond them stay as they are.

    Raises:
        TypeError: `keys` is not a list or tuple (also a ValueError).
        NotImplementedError: when called, the transform does not change such a part.

    Source:
        `paddle.vision.transforms.BaseTransform`.

    Examples:
        >>> class Halve(wherry.vision.transforms.BaseTransform):
        ...     def _apply_image(self, image):
        ...         return image / 2
        >>> Halve()((6.0, "label"))
        (3.0, 'label')
    """

    keys: Sequence[str]
    params: Any

    def __init__(self, keys: Sequence[str] | None = None) -> None:
        if keys is None:
            keys = ("image",)
        elif not isinstance(keys, (list, tuple)):
            raise InvalidTypeError(
                f"{type(self).__name__}: keys should be a sequence, but got keys={short(keys)}. Expected a list or tuple of names. "
                f"Write keys=('image', 'mask')."
            )
        self.keys = keys
        self.params = None

    def __call__(self, inputs: Any) -> Any:
        parts = inputs if isinstance(inputs, tuple) else (inputs,)
        self.params = self._get_params(parts)
        changed = [self._apply(key)(part) for key, part in zip(self.keys, parts, strict=False)]
        changed.extend(parts[len(self.keys) :])
        return changed[0] if len(changed) == 1 else tuple(changed)

    def __repr__(self) -> str:
        return as_constructed(self)

    def _get_params(self, inputs: tuple[Any, ...]) -> Any:
        return None

    def _image_of(self, inputs: tuple[Any, ...]) -> Any:
        """The image among the parts of a sample; random parameters depend on its size."""
        place = list(self.keys).index("image") if "image" in self.keys else len(inputs)
        if place >= len(inputs):
            raise InvalidArgumentError(
                f"{type(self).__name__}: there is no image in the sample. Got {len(inputs)} parts with keys={short(tuple(self.keys))}, expected "
                f"'image' among them. Write keys=('image', ...)."
            )
        return inputs[place]

    def _apply(self, key: Any) -> Callable[[Any], Any]:
        shown = key if isinstance(key, str) else short(key)
        apply = getattr(self, f"_apply_{shown}", None)
        if apply is None:
            known = [name.removeprefix("_apply_") for name in dir(self) if name.startswith("_apply_")]
            raise NotImplementedError(
                f"{type(self).__name__}: {shown} is unsupported data structure. Got this key, expected one of "
                f"{', '.join(known)}. Leave out the keys of parts that stay as they are."
            )
        return apply  # type: ignore[no-any-return]

    def _apply_image(self, image: Any) -> Any:
        raise NotImplementedError(_undefined(self, "image"))

    def _apply_boxes(self, boxes: Any) -> Any:
        raise NotImplementedError(_undefined(self, "boxes"))

    def _apply_mask(self, mask: Any) -> Any:
        raise NotImplementedError(_undefined(self, "mask"))


def _undefined(transform: BaseTransform, key: str) -> str:
    return (
        f"{type(transform).__name__}: it does not change {key}. Got a part with this key, expected others. "
        f"Define _apply_{key}, or leave the key out."
    )


class Compose:
    """Apply transforms in order.

    Args:
        transforms: functions or transforms, each called with the result of the one before.

    Raises:
        TypeError: `transforms` is not a list of functions (also a ValueError).
        What a transform raises, with a note that names it.

    Source:
        `paddle.vision.transforms.Compose`.

    Examples:
        >>> both = wherry.vision.transforms.Compose([wherry.vision.transforms.Resize(8), wherry.vision.transforms.ToTensor()])
        >>> both(np.zeros([16, 24, 3], np.uint8)).shape
        [3, 8, 12]
    """

    transforms: Sequence[Callable[..., Any]]

    def __init__(self, transforms: Sequence[Callable[..., Any]]) -> None:
        check(type(self).__name__, locals())
        self.transforms = transforms

    def __call__(self, data: Any) -> Any:
        for transform in self.transforms:
            try:
                data = transform(data)
            except Exception as error:
                error.add_note(f"Raised by {transform!r} in Compose.")
                raise
        return data

    def __repr__(self) -> str:
        return "Compose(" + "".join(f"\n    {transform!r}" for transform in self.transforms) + "\n)"


class ToTensor(BaseTransform):
    """Convert an image to a tensor in [0, 1], as `to_tensor`.

    Raises:
        TypeError: when called, the argument is not an image (also a ValueError).
        ValueError: when called, `data_format` is neither "CHW" nor "HWC" (also an AssertionError).

    Source:
        `paddle.vision.transforms.ToTensor`.

    Examples:
        >>> wherry.vision.transforms.ToTensor()(np.zeros([4, 5, 3], np.uint8)).shape
        [3, 4, 5]
    """

    data_format: str

    def __init__(self, data_format: str = "CHW", keys: Sequence[str] | None = None) -> None:
        check(type(self).__name__, locals())
        super().__init__(keys)
        self.data_format = data_format

    def _apply_image(self, image: Any) -> Any:
        return F.to_tensor(image, self.data_format)


class Normalize(BaseTransform):
    """Subtract `mean` and divide by `std`, as `normalize`. One number stands for three channels.

    Raises:
        TypeError: `mean` or `std` are not numbers (also a ValueError).
        ValueError: when called, numbers and channels do not fit, a `std` is zero, or `data_format` is unknown.

    Source:
        `paddle.vision.transforms.Normalize`.

    Examples:
        >>> to_unit = wherry.vision.transforms.Normalize(mean=[127.5], std=[127.5])
        >>> print(to_unit(np.array([[[0.0, 255.0]]])))
        [[[-1.  1.]]]
    """

    def __init__(
        self, mean: Any = 0.0, std: Any = 1.0, data_format: str = "CHW", to_rgb: bool = False, keys: Sequence[str] | None = None
    ) -> None:
        check(type(self).__name__, locals())
        super().__init__(keys)
        self.mean = [mean] * 3 if isinstance(mean, (int, float)) else mean
        self.std = [std] * 3 if isinstance(std, (int, float)) else std
        self.data_format = data_format
        self.to_rgb = to_rgb

    def _apply_image(self, image: Any) -> Any:
        return F.normalize(image, self.mean, self.std, self.data_format, self.to_rgb)


class Transpose(BaseTransform):
    """Permute the axes of an image; an image without channels gets one.

    Args:
        order: of the axes; (2, 0, 1) makes CHW from HWC.
        keys: as BaseTransform.

    Raises:
        TypeError: `order` does not have each axis once (also a ValueError).
        ValueError: when called, `order` has another number of axes than the image.

    Source:
        `paddle.vision.transforms.Transpose`. An image of Pillow becomes an array.

    Examples:
        >>> wherry.vision.transforms.Transpose()(np.zeros([4, 5, 3], np.uint8)).shape
        (3, 4, 5)
    """

    def __init__(self, order: Sequence[int] = (2, 0, 1), keys: Sequence[str] | None = None) -> None:
        check(type(self).__name__, locals())
        super().__init__(keys)
        self.order = order

    def _apply_image(self, image: Any) -> Any:
        if isinstance(image, Tensor):
            return transpose(image, list(self.order))
        array = np.asarray(image)
        if len(self.order) != max(array.ndim, 3):
            raise InvalidArgumentError(
                f"Transpose: the order does not fit the image. Got {short(self.order)} for shape {list(array.shape)}, expected "
                f"{max(array.ndim, 3)} axes. Write (2, 0, 1) for CHW."
            )
        return (array[..., None] if array.ndim == 2 else array).transpose(self.order)


keep_freed_memory()
explained(globals())
