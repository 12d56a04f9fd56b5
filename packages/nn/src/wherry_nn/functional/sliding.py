"""Im2col and col2im: sliding windows as columns, and columns summed into images.

A window is a product of rows and columns of the image, so both directions go over one axis after the
other: unfolding reads places along it, folding adds into them. Windows of few elements are slices of the image, one for
each element: a pass over what is larger in place of three.
"""
from __future__ import annotations

import functools
import itertools
from collections.abc import Iterator
from typing import Any

from wherry_tensor import ops
from wherry_tensor._core import Tensor, float32, float64, int64, is_symbolic
from wherry_tensor.arguments import require_tensor
from wherry_tensor.axis_sampling import add_along, gather_along
from wherry_tensor.errors import AssertedArgumentError, InvalidArgumentError, short
from wherry_tensor.sizes import is_unknown
from wherry_tensor.spellings import spelled

__all__ = ["fold", "unfold"]


def unfold(
    x: Tensor, kernel_sizes: Any, strides: Any = 1, paddings: Any = 0, dilations: Any = 1, name: str | None = None
) -> Tensor:
    """Im2col: every window that slides over images as one column.

    Args:
        x: `[N, C, H, W]`.
        kernel_sizes: height and width of the window, or one int for both.
        strides: by how much it moves, likewise.
        paddings: zeros around the image: an int, `[vertical, horizontal]`, or `[top, left, bottom, right]`.
        dilations: the distance of neighbouring elements of the window, likewise.

    Shape:
        `[N, C * kernel elements, windows]`.

    Raises:
        TypeError: `x` is not a Tensor (also a ValueError).
        ValueError: `x` is not 4-D or an argument is not two ints (also an AssertionError), or no window fits.

    Source:
        `paddle.nn.functional.unfold`.

    Examples:
        >>> x = wherry.arange(9, dtype="float32").reshape([1, 1, 3, 3])
        >>> print(wherry.nn.functional.unfold(x, 2)[0].numpy())
        [[0. 1. 3. 4.]
         [1. 2. 4. 5.]
         [3. 4. 6. 7.]
         [4. 5. 7. 8.]]
    """
    require_tensor(x, "unfold")
    if x.ndim != 4:
        raise AssertedArgumentError(
            f"unfold: input should be the format of [N, C, H, W]. Got x of shape {x.shape}, expected rank 4. "
            f"Add axes of size 1 with unsqueeze."
        )
    windows = _Windows("unfold", tuple(x.shape[2:]), kernel_sizes, strides, paddings, dilations)
    n, channels = x.shape[:2]
    top, left, bottom, right = windows.paddings
    if top or left or bottom or right:
        x = ops.pad(x, (0, 0, 0, 0, top, bottom, left, right), 0.0)
    (height, width), (rows, columns) = windows.kernel, windows.counts
    # The gradient of a slice is an image, which costs more than the slice where windows lie apart.
    if windows.few(x, height * width) and (x.stop_gradient or windows.strides == (1, 1)):
        parts = [ops.unsqueeze(ops.slice(x, *one), (2,)) for one in windows.slices()]
        return ops.reshape(ops.concat(*parts, axis=2), (n, channels * height * width, rows * columns))
    x = gather_along(gather_along(x, windows.positions(0), 2), windows.positions(1), 3)
    x = ops.reshape(x, (n, channels, height, rows, width, columns))
    return ops.reshape(ops.transpose(x, (0, 1, 2, 4, 3, 5)), (n, channels * height * width, rows * columns))


def fold(
    x: Tensor,
    output_sizes: Any,
    kernel_sizes: Any,
    strides: Any = 1,
    paddings: Any = 0,
    dilations: Any = 1,
    name: str | None = None,
) -> Tensor:
    """Col2im: images from columns, as `unfold` makes them; where windows overlap, their elements are added.

    Args:
        x: `[N, C * kernel elements, windows]`.
        output_sizes: height and width of the images, or one int for both.
        kernel_sizes: height and width of the window, likewise.
        strides: by how much it moves, likewise.
        paddings: what `unfold` added around the images and is cut off: an int, `[vertical, horizontal]`, or
            `[top, left, bottom, right]`.
        dilations: the distance of neighbouring elements of the window.

    Shape:
        `[N, C, height, width]`.

    Raises:
        TypeError: `x` is not a Tensor (also a ValueError).
        ValueError: `x` is not 3-D or an argument is not two ints (also an AssertionError), or the sizes do not fit.

    Source:
        `paddle.nn.functional.fold`.

    Examples:
        >>> x = wherry.ones([1, 4, 4])
        >>> print(wherry.nn.functional.fold(x, output_sizes=3, kernel_sizes=2)[0, 0].numpy())
        [[1. 2. 1.]
         [2. 4. 2.]
         [1. 2. 1.]]
    """
    require_tensor(x, "fold")
    if x.ndim != 3:
        raise AssertedArgumentError(
            f"fold: input should be the format of [N, C, L]. Got x of shape {x.shape}, expected rank 3. "
            f"Add axes of size 1 with unsqueeze."
        )
    image = _pair("fold", output_sizes, "output_sizes", 1)
    windows = _Windows("fold", image, kernel_sizes, strides, paddings, dilations)
    n, rows_of_x, columns_of_x = x.shape
    (height, width), (rows, columns) = windows.kernel, windows.counts
    if columns_of_x != rows * columns or rows_of_x % (height * width):
        raise InvalidArgumentError(
            f"fold: x does not hold the windows of such images. Got x of shape {x.shape} for images of {list(image)} and windows "
            f"of {[height, width]}, expected [N, C * {height * width}, {rows} * {columns} = {rows * columns}]. "
            f"Give the arguments that unfold was called with."
        )
    channels = rows_of_x // (height * width)
    top, left, bottom, right = windows.paddings
    padded = image[0] + top + bottom, image[1] + left + right
    if windows.few(x, 1) and x.stop_gradient and windows.strides == (1, 1) and x.dtype in (float32, float64):  # 16 bits would round each sum
        x = ops.reshape(x, (n, channels, height * width, rows, columns))
        like = ops.broadcast_to(ops.full(shape=(), value=0, dtype=x.dtype), (n, channels, *padded))
        images = (ops.slice_vjp(ops.select(x, 2, i), like, *one) for i, one in enumerate(windows.slices()))
        x = functools.reduce(ops.add, images)
    else:
        x = ops.transpose(ops.reshape(x, (n, channels, height, width, rows, columns)), (0, 1, 2, 4, 3, 5))
        x = ops.reshape(x, (n, channels, height * rows, width * columns))
        x = add_along(x, windows.positions(1), (n, channels, height * rows, padded[1]), 3)
        x = add_along(x, windows.positions(0), (n, channels, *padded), 2)
    if top or left or bottom or right:
        x = ops.pad(x, (0, 0, 0, 0, -top, -bottom, -left, -right), 0.0)
    return x


class _Windows:
    """Where the windows of an image lie.

    Args:
        op_name: the function that asks.
        image: height and width, without padding.
        kernel, strides, paddings, dilations: as the user wrote them.
    """

    def __init__(
        self, op_name: str, image: tuple[int, ...], kernel: Any, strides: Any, paddings: Any, dilations: Any
    ) -> None:
        self.kernel = _pair(op_name, kernel, "kernel_sizes", 1)
        self.strides = _pair(op_name, strides, "strides", 1)
        self.dilations = _pair(op_name, dilations, "dilations", 1)
        if isinstance(paddings, (list, tuple)) and len(paddings) == 4:
            self.paddings = (*_pair(op_name, paddings[:2], "paddings", None), *_pair(op_name, paddings[2:], "paddings", None))
        else:
            self.paddings = _pair(op_name, paddings, "paddings", None) * 2
        self.counts = tuple(
            (image[i] + self.paddings[i] + self.paddings[i + 2] - self.dilations[i] * (self.kernel[i] - 1) - 1)
            // self.strides[i]
            + 1
            for i in (0, 1)
        )
        if any(not is_unknown(n) and n < 1 for n in self.counts):
            raise InvalidArgumentError(
                f"{op_name}: no window fits. Got images of {list(image)}, kernel_sizes={kernel}, strides={strides}, paddings="
                f"{paddings}, dilations={dilations}, which gives {list(self.counts)} windows, expected a positive integer of them "
                f"in each direction. Use a smaller window, or padding."
            )

    def few(self, x: Tensor, times: int) -> bool:
        """Whether a slice for each element of a window takes less time: few of them, and much to copy. (A program stays small.)"""
        return not is_symbolic(x) and x.size * times >= 1 << 14 and self.kernel[0] * self.kernel[1] <= 49

    def slices(self) -> Iterator[tuple[tuple[int, ...], ...]]:
        """Axes, starts, ends and steps of the elements of all windows at one place of theirs, place by place."""
        for place in itertools.product(*map(range, self.kernel)):
            starts = tuple(at * apart for at, apart in zip(place, self.dilations))
            ends = tuple(start + (n - 1) * step + 1 for start, n, step in zip(starts, self.counts, self.strides))
            yield (2, 3), starts, ends, self.strides

    def positions(self, axis: int) -> Tensor:
        """The places along an axis of the padded image: those of the first element of all windows, and so on."""
        first = ops.arange(start=0, step=self.strides[axis], length=self.counts[axis], dtype=int64)
        offsets = ops.arange(start=0, step=self.dilations[axis], length=self.kernel[axis], dtype=int64)
        places = ops.add(ops.reshape(offsets, (self.kernel[axis], 1)), first)
        return ops.reshape(places, (self.kernel[axis] * self.counts[axis],))


def _pair(op_name: str, value: Any, name: str, least: int | None) -> tuple[int, int]:
    found = (value, value) if isinstance(value, int) else tuple(value) if isinstance(value, (list, tuple)) else ()
    if len(found) != 2 or not all(hasattr(one, "__index__") and not isinstance(one, bool) for one in found):
        more = " (or four)" if name == "paddings" else ""
        raise AssertedArgumentError(
            f"{op_name}: {name} should either be an integer or a list/tuple of two{more} integers. Got {name}={short(value)}, expected "
            f"an int, or one for the height and one for the width. A single int stands for both."
        )
    height, width = found[0].__index__(), found[1].__index__()
    if least is not None and min(height, width) < least:
        raise InvalidArgumentError(
            f"{op_name}: {name} should be greater than zero. Got {name}={short(value)}, expected ints of {least} or more. "
            f"Check the order of the arguments."
        )
    return height, width


spelled(globals())
