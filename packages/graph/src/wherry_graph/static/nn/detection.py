"""The head of SSD: boxes and class scores from several feature maps."""
from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Any

from wherry_graph.static.nn.common import conv2d
from wherry_tensor import ops
from wherry_tensor._core import Tensor
from wherry_tensor.arguments import integer, require_rank, require_tensor
from wherry_tensor.errors import InvalidArgumentError, InvalidTypeError, short
from wherry_tensor.explained import explained

__all__ = ["multi_box_head"]


def multi_box_head(
    inputs: Sequence[Tensor], image: Tensor, base_size: int, num_classes: int, aspect_ratios: Sequence[Any], min_ratio: int | None = None,
    max_ratio: int | None = None, min_sizes: Sequence[Any] | None = None, max_sizes: Sequence[Any] | None = None,
    steps: Sequence[float] | None = None, step_w: Sequence[float] | None = None, step_h: Sequence[float] | None = None, offset: float = 0.5,
    variance: Sequence[float] = (0.1, 0.1, 0.2, 0.2), flip: bool = True, clip: bool = False, kernel_size: Any = 1, pad: Any = 0, stride: Any = 1,
    name: str | None = None, min_max_aspect_ratios_order: bool = False,
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """The head of SSD: offsets and scores of boxes by two convolutions of each feature map, and their prior boxes (`vision.ops.prior_box`).

    Args:
        inputs: feature maps of a network, `[N, C, H, W]`.
        image: the images, `[N, C, height, width]`; only their shape is used.
        base_size: the side of images, to which ratios refer.
        num_classes: the number of classes.
        aspect_ratios: for each layer, width over height of boxes: a number or several.
        min_ratio, max_ratio: with three layers or more in place of sizes: in percent of `base_size`, those of the second layer and the last.
            Layers between have sizes between; the first one has 10 and 20 percent.
        min_sizes, max_sizes: for each layer, sides of boxes in pixels: a number or several.
        steps: for each layer, pixels between positions; None computes them.
        step_w, step_h: the same along width and height.
        offset: the centre of a box within its position.
        variance: what offsets from the boxes are divided by.
        flip: also use the inverse of each ratio.
        clip: clip coordinates to [0, 1].
        kernel_size, pad, stride: of the convolutions.
        min_max_aspect_ratios_order: the larger squares come before those with ratios.

    Returns:
        Differences from boxes, scores of classes, boxes, their variances.

    Shape:
        `[N, boxes, 4]`, `[N, boxes, num_classes]`, `[boxes, 4]`, `[boxes, 4]`.

    Raises:
        TypeError: `inputs` are not Tensors.
        ValueError: what is given for each layer does not fit, or sizes are missing.

    Source:
        `paddle.static.nn.multi_box_head` of Paddle 2.3; 2.6 no longer has it. Liu et al., "SSD: single shot multibox detector" (2015).

    Examples:
        >>> wherry.enable_static()
        >>> with wherry.static.program_guard(wherry.static.Program(), wherry.static.Program()):
        ...     image = wherry.static.data("image", [1, 3, 32, 32])
        ...     layer = wherry.static.data("layer", [1, 8, 4, 4])
        ...     offsets, scores, boxes, variances = wherry.static.nn.multi_box_head(
        ...         [layer], image, base_size=32, num_classes=3, aspect_ratios=[[1.0]], min_sizes=[8.0], max_sizes=[16.0])
        >>> offsets.shape, scores.shape, boxes.shape
        ([1, 32, 4], [1, 32, 3], [32, 4])
        >>> wherry.disable_static()
    """
    if not isinstance(inputs, (list, tuple)) or not inputs:
        raise InvalidTypeError(f"multi_box_head: inputs should be a list or tuple. Got {short(inputs)}, expected layers of a network.")
    for i, x in enumerate(inputs):
        require_rank(x, "multi_box_head", 4, name=f"inputs[{i}]", layout="[N, C, H, W]")
    require_tensor(image, "multi_box_head", "image")
    layers, classes = len(inputs), integer(num_classes, "multi_box_head", "num_classes")
    if min_sizes is None and max_sizes is None:
        min_sizes, max_sizes = _sizes(layers, base_size, min_ratio, max_ratio)
    for what, given in (
        ("aspect_ratios", aspect_ratios), ("min_sizes", min_sizes), ("max_sizes", max_sizes), ("steps", steps), ("step_w", step_w), ("step_h", step_h)
    ):
        if given is None and what != "min_sizes" and what != "aspect_ratios":
            continue
        if not isinstance(given, (list, tuple)) or len(given) != layers:
            raise InvalidArgumentError(
                f"multi_box_head: {what} should be list or tuple, and the length of inputs and {what} should be the same. Got {short(given)}, "
                f"expected {layers} entries, one for each layer."
            )
    assert min_sizes is not None
    step_w, step_h = (steps or one for one in (step_w, step_h))
    prior_box = import_module("wherry_vision.ops").prior_box  # by name: wherry_vision is not a dependency of this package
    places: list[Tensor] = []
    scores: list[Tensor] = []
    boxes: list[Tensor] = []
    variances: list[Tensor] = []
    for i, x in enumerate(inputs):
        box, shares = prior_box(
            x, image, _several(min_sizes[i]), None if max_sizes is None else _several(max_sizes[i]), _several(aspect_ratios[i]), list(variance),
            flip, clip, [step_w[i] if step_w else 0.0, step_h[i] if step_h else 0.0], offset, min_max_aspect_ratios_order,
        )
        boxes.append(ops.reshape(box, shape=(-1, 4)))
        variances.append(ops.reshape(shares, shape=(-1, 4)))
        many = box.shape[2]
        for width, found in ((4, places), (classes, scores)):
            y = ops.transpose(conv2d(x, many * width, kernel_size, stride, pad), (0, 2, 3, 1))
            found.append(ops.reshape(y, shape=(y.shape[0], -1, width)))
    return (
        ops.concat(*places, axis=1), ops.concat(*scores, axis=1), ops.concat(*boxes, axis=0), ops.concat(*variances, axis=0),
    )


def _sizes(layers: int, base_size: Any, min_ratio: Any, max_ratio: Any) -> tuple[list[float], list[float]]:
    """Sides of squares for each layer, from ratios in percent."""
    if layers < 3 or min_ratio is None or max_ratio is None:
        raise InvalidArgumentError(
            f"multi_box_head: there are no sizes of boxes. Got min_sizes=None, max_sizes=None and the ratios {short((min_ratio, max_ratio))} for "
            f"{layers} layers, expected min_ratio and max_ratio with three layers or more, or min_sizes and max_sizes."
        )
    low, high = (integer(value, "multi_box_head", what) for value, what in ((min_ratio, "min_ratio"), (max_ratio, "max_ratio")))
    step = (high - low) // (layers - 2)
    if step < 1:
        raise InvalidArgumentError(
            f"multi_box_head: sizes grow from layer to layer. Got min_ratio={low} and max_ratio={high}, expected them at least {layers - 2} apart."
        )
    ratios = range(low, high + 1, step)
    least = [base_size * 0.1, *(base_size * ratio / 100.0 for ratio in ratios)]
    return least[:layers], [base_size * 0.2, *(base_size * (ratio + step) / 100.0 for ratio in ratios)][:layers]


def _several(value: Any) -> list[float]:
    return list(value) if isinstance(value, (list, tuple)) else [value]


explained(globals())
