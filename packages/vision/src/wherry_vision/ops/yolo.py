"""YOLO: decoding of boxes and scores, and the loss. Redmon & Farhadi (2018)."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import wherry_tensor as api
from wherry_nn import functional as F
from wherry_nn.utils.boxes import centers, column_of, from_yolo
from wherry_tensor import Tensor, ops
from wherry_tensor.arguments import integers_of, require_rank
from wherry_tensor.errors import InvalidArgumentError, short
from wherry_tensor.sizes import same_shapes
from wherry_vision.ops.reading import count as counted
from wherry_vision.ops.reading import real, reals

__all__ = ["yolo_box", "yolo_loss"]


def _parts(op_name: str, x: Tensor, anchors: int, numbers: int, first: int = 0) -> Tensor:
    """The channels of each anchor: `[N, anchors, numbers, H, W]`."""
    if require_rank(x, op_name, 4, layout="[N, channels, H, W]").shape[1] != first + anchors * numbers:
        raise InvalidArgumentError(
            f"{op_name}: x does not have {numbers} channels for each anchor. Got x of shape {x.shape} for {anchors} anchors, expected "
            f"[N, {first + anchors * numbers}, H, W]. Check anchors and class_num."
        )
    if any(type(n) is int and n == 0 for n in x.shape[2:]):
        raise InvalidArgumentError(
            f"{op_name}: 'x' is an empty feature map. Got shape {x.shape}, expected a height and a width above 0. Check what made it."
        )
    return x[:, first:].reshape([x.shape[0], anchors, numbers, x.shape[2], x.shape[3]])


def _anchors(values: Any, op_name: str) -> list[float]:
    """Widths and heights, alternating."""
    sides = reals(values, op_name, "anchors")
    if not sides or len(sides) % 2:
        raise InvalidArgumentError(
            f"{op_name}: anchors are not pairs of a width and a height. Got {short(values)}, expected an even number of them. Write [10, 13, 16, 30]."
        )
    return sides


def yolo_box(
    x: Tensor,
    img_size: Tensor,
    anchors: Sequence[int],
    class_num: int,
    conf_thresh: float,
    downsample_ratio: int,
    clip_bbox: bool = True,
    name: str | None = None,
    scale_x_y: float = 1.0,
    iou_aware: bool = False,
    iou_aware_factor: float = 0.5,
) -> tuple[Tensor, Tensor]:
    """Decode the output of a YOLO network into boxes and scores.

    Args:
        x: the output: for each anchor x, y, width, height, objectness, and the classes.
        img_size: height and width of each image in pixels, int32.
        anchors: width and height of each anchor in pixels of the network's input, alternating.
        class_num: the number of classes.
        conf_thresh: boxes with a lower objectness, and their scores, become 0.
        downsample_ratio: pixels of the input for each position of `x`.
        clip_bbox: clip boxes to the image.
        scale_x_y: how far the centre of a box may be beyond its position.
        iou_aware: `x` has one more channel for each anchor, before all others: the predicted overlap (IoU).
        iou_aware_factor: the weight of the predicted overlap against objectness.

    Returns:
        Boxes (x1, y1, x2, y2) in pixels of the images, and the score of each class.

    Shape:
        `[N, anchors * (5 + class_num), H, W]` and `[N, 2]` to `[N, anchors * H * W, 4]` and `[N, anchors * H * W, class_num]`.

    Raises:
        ValueError: shapes do not fit.

    Source:
        `paddle.vision.ops.yolo_box`.

    Examples:
        >>> x = wherry.zeros([1, 7, 1, 1])  # one anchor, two classes, one position
        >>> boxes, scores = wherry.vision.ops.yolo_box(
        ...     x, wherry.to_tensor([[32, 32]], dtype="int32"), anchors=[16, 8], class_num=2, conf_thresh=0.1, downsample_ratio=32)
        >>> print(boxes.numpy(), scores.numpy())
        [[[ 8. 12. 24. 20.]]] [[[0.25 0.25]]]
    """
    shapes = _anchors(anchors, "yolo_box")
    class_num, ratio = counted(class_num, "yolo_box", "class_num"), counted(downsample_ratio, "yolo_box", "downsample_ratio")
    conf_thresh, scale_x_y = real(conf_thresh, "yolo_box", "conf_thresh"), real(scale_x_y, "yolo_box", "scale_x_y")
    iou_aware_factor = real(iou_aware_factor, "yolo_box", "iou_aware_factor")
    require_rank(img_size, "yolo_box", 2, name="img_size", layout="[N, 2]")
    count = len(shapes) // 2
    _parts("yolo_box", x, count, 5 + class_num, first=count if iou_aware else 0)
    return from_yolo(x, img_size, shapes, class_num, conf_thresh, ratio, clip_bbox, scale_x_y, iou_aware, iou_aware_factor)


def yolo_loss(
    x: Tensor,
    gt_box: Tensor,
    gt_label: Tensor,
    anchors: Sequence[int],
    anchor_mask: Sequence[int],
    class_num: int,
    ignore_thresh: float,
    downsample_ratio: int,
    gt_score: Tensor | None = None,
    use_label_smooth: bool = True,
    name: str | None = None,
    scale_x_y: float = 1.0,
) -> Tensor:
    """The loss of a YOLO network: locations, objectness and classes.

    Args:
        x: the output: for each anchor of the mask x, y, width, height, objectness, and the classes.
        gt_box: the boxes of each image: x and y of the middle, width and height, as shares of the image; a width of 0 is not a box.
        gt_label: their classes, int32.
        anchors: width and height of each anchor in pixels of the network's input, alternating.
        anchor_mask: the numbers of the anchors that `x` is for.
        class_num: the number of classes.
        ignore_thresh: a prediction without object that overlaps a box of `gt_box` by more is left out of the objectness loss.
        downsample_ratio: pixels of the input for each position of `x`.
        gt_score: the weight of each box; None means 1.
        use_label_smooth: classes are to have a little less than 1, and a little more than 0.
        scale_x_y: how far the centre of a box may be beyond its position.

    Shape:
        `[N, mask * (5 + class_num), H, W]`, `[N, B, 4]` and `[N, B]` to `[N]`.

    Raises:
        ValueError: shapes do not fit.

    Source:
        `paddle.vision.ops.yolo_loss`.

    Examples:
        >>> x = wherry.zeros([1, 7, 1, 1])  # one anchor, two classes, one position
        >>> loss = wherry.vision.ops.yolo_loss(
        ...     x, wherry.to_tensor([[[0.5, 0.5, 0.5, 0.25]]]), wherry.to_tensor([[0]], dtype="int32"), anchors=[16, 8], anchor_mask=[0],
        ...     class_num=2, ignore_thresh=0.7, downsample_ratio=32, use_label_smooth=False)
        >>> loss.shape
        [1]
    """
    pairs, anchor_mask = _anchors(anchors, "yolo_loss"), integers_of(anchor_mask, "yolo_loss", "anchor_mask")
    if not all(0 <= m < len(pairs) // 2 for m in anchor_mask):
        raise InvalidArgumentError(
            f"yolo_loss: anchor_mask is out of range. Got {short(list(anchor_mask))} for {len(pairs) // 2} anchors, expected numbers from 0 to "
            f"{len(pairs) // 2 - 1}. Check anchors, which has a width and a height for each."
        )
    class_num, ratio = counted(class_num, "yolo_loss", "class_num"), counted(downsample_ratio, "yolo_loss", "downsample_ratio")
    ignore_thresh, scale_x_y = real(ignore_thresh, "yolo_loss", "ignore_thresh"), real(scale_x_y, "yolo_loss", "scale_x_y")
    require_rank(gt_box, "yolo_loss", 3, name="gt_box", layout="[N, boxes, 4]")
    require_rank(gt_label, "yolo_loss", 2, name="gt_label", layout="[N, boxes]")
    if gt_score is not None:
        require_rank(gt_score, "yolo_loss", 2, name="gt_score", layout="[N, boxes]")
    masks = len(anchor_mask)
    parts = _parts("yolo_loss", x, masks, 5 + class_num)
    if not same_shapes(gt_box.shape, [*gt_label.shape, 4]):
        raise InvalidArgumentError(
            f"yolo_loss: gt_box and gt_label do not fit. Got gt_box of shape {gt_box.shape} and gt_label of shape {gt_label.shape}, expected "
            f"[N, boxes, 4] and [N, boxes]."
        )
    n, _, _, rows, columns = parts.shape
    count = gt_box.shape[1]
    high, wide = ratio * rows, ratio * columns
    gt_box = gt_box.detach()  # targets have no gradient
    score = api.ones([n, count], x.dtype) if gt_score is None else gt_score.detach()
    zero, one = api.zeros([], x.dtype), api.ones([], x.dtype)
    there_is = api.logical_and(gt_box[:, :, 2] > 1e-6, gt_box[:, :, 3] > 1e-6)
    # Predictions that overlap a box enough are not penalized for objectness.
    detached = parts.detach()
    middle_x, middle_y = centers(detached, scale_x_y)
    widths = api.exp(detached[:, :, 2]) * column_of([pairs[2 * m] for m in anchor_mask], x) / wide
    heights = api.exp(detached[:, :, 3]) * column_of([pairs[2 * m + 1] for m in anchor_mask], x) / high
    predicted = [side.reshape([n, -1, 1]) for side in (middle_x, middle_y, widths, heights)]
    given = [gt_box[:, :, i].unsqueeze(1) for i in range(4)]
    overlap = api.where(there_is.unsqueeze(1), _overlap(predicted, given), zero)
    ignored = api.max(overlap, axis=2) > ignore_thresh if count else api.zeros(predicted[0].shape[:2], "bool")
    # The anchor whose shape is next to that of each box, and its place in the mask (-1: in none).
    shapes = [api.to_tensor([pairs[i] / size for i in range(start, len(pairs), 2)], dtype=x.dtype) for start, size in ((0, wide), (1, high))]
    nearest = api.argmax(_overlap([zero, zero, *shapes], [zero, zero, gt_box[:, :, 2:3], gt_box[:, :, 3:4]]), axis=2)
    place_of = [anchor_mask.index(i) if i in anchor_mask else -1 for i in range(len(pairs) // 2)]
    mask = api.gather(api.to_tensor(place_of, dtype="int64"), nearest.reshape([-1])).reshape([n, count])
    mine = api.logical_and(there_is, mask >= 0)
    column = (gt_box[:, :, 0] * columns).astype("int64").clip(0, columns - 1)
    row = (gt_box[:, :, 1] * rows).astype("int64").clip(0, rows - 1)
    place = (api.maximum(mask, api.zeros([], "int64")) * rows + row) * columns + column  # of the anchor, row and column of each box
    objectness = api.where(ignored, -one, zero)
    numbers = api.arange(masks * rows * columns, dtype="int64")
    for t in range(count):  # of boxes at one place the last counts
        here = api.logical_and(numbers == place[:, t : t + 1], mine[:, t : t + 1])
        objectness = api.where(here, score[:, t : t + 1], objectness)
    weight = api.where(mine, score, zero)
    side = (2 - gt_box[:, :, 2] * gt_box[:, :, 3]) * weight
    chosen = [api.gather(api.to_tensor(pairs[i::2], dtype=x.dtype), nearest.reshape([-1])).reshape([n, count]) for i in (0, 1)]
    safe = [api.where(mine, gt_box[:, :, 2 + i], one) for i in (0, 1)]
    targets = [
        gt_box[:, :, 0] * columns - column.astype(x.dtype),
        gt_box[:, :, 1] * rows - row.astype(x.dtype),
        api.log(safe[0] * wide / chosen[0]),
        api.log(safe[1] * high / chosen[1]),
    ]
    smooth = min(1 / class_num, 1 / 40) if use_label_smooth else 0.0
    classes = F.one_hot(api.where(mine, gt_label.astype("int64"), api.zeros([], "int64")), class_num).astype(x.dtype)
    classes = classes * (1 - 2 * smooth) + smooth
    # The prediction at each box's position: [N, B, 5 + classes].
    lines = parts.transpose([0, 1, 3, 4, 2]).reshape([n, masks * rows * columns, 5 + class_num])
    said = api.take_along_axis(lines, place.unsqueeze(2).expand([n, count, 5 + class_num]), 1)
    loss = api.sum((_entropy(said[:, :, 0], targets[0]) + _entropy(said[:, :, 1], targets[1])) * side, axis=1)
    loss = loss + api.sum((api.abs(said[:, :, 2] - targets[2]) + api.abs(said[:, :, 3] - targets[3])) * side, axis=1)
    loss = loss + api.sum(_entropy(said[:, :, 5:], classes) * weight.unsqueeze(2), axis=[1, 2])
    objects = lines[:, :, 4]
    there = api.where(objectness > 1e-5, _entropy(objects, one) * objectness, api.where(objectness > -0.5, _entropy(objects, zero), zero))
    return loss + api.sum(there, axis=1)


def _entropy(logits: Tensor, label: Tensor) -> Tensor:
    return ops.relu(logits) - logits * label + api.log1p(api.exp(-api.abs(logits)))


def _overlap(a: Sequence[Tensor], b: Sequence[Tensor]) -> Tensor:
    """Intersection over union of boxes (x, y, width, height), with x and y at the centre."""
    sides = []
    for i in 0, 1:
        low = api.maximum(a[i] - a[2 + i] / 2, b[i] - b[2 + i] / 2)
        sides.append(ops.relu(api.minimum(a[i] + a[2 + i] / 2, b[i] + b[2 + i] / 2) - low))
    common = sides[0] * sides[1]
    return common / (a[2] * a[3] + b[2] * b[3] - common)
