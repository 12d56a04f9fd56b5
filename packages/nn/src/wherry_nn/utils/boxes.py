"""Detection boxes: the arithmetic of `paddle.vision.ops` and of the same operators in Paddle's programs.

Callers check the arguments. Nothing here reads values, so that all of it can be captured with unknown sizes; the number of boxes depends on
data. Boxes of all images are one list, with the index of a group (image and class) for each.
"""
from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import wherry_tensor as api
from wherry_nn.loops import while_loop
from wherry_tensor import Tensor, ops
from wherry_tensor.arguments import integer
from wherry_tensor.errors import InvalidArgumentError
from wherry_tensor.explained import explained

__all__ = [
    "best", "by_group", "centers", "coded", "column_of", "decayed", "decoded", "from_yolo", "image_of", "multiclass_nms", "on_levels",
    "overlap", "rank_in_group", "true_indices", "priors", "proposed", "remaining",
]  # fmt: skip


# Lists of the boxes of several images.


def remaining(boxes: Tensor, group: Tensor, threshold: float, offset: float = 0.0, eta: float = 1.0) -> Tensor:
    """Non-maximum suppression within groups: the indices of the boxes that are kept, in their order.

    Args:
        boxes: `[N, 4]`, the best first.
        group: int64 `[N]`.
        threshold: of the overlap.
        offset: what sides are longer by.
        eta: less than 1: each box that is kept lowers the threshold of its group by this factor, as long as it is above a half.
    """
    if eta >= 1:
        return true_indices(ops.suppress(boxes, group, threshold=threshold, offset=offset))
    many = boxes.shape[0]
    sides = [boxes[:, i] for i in range(4)]
    groups = api.max(api.concat([group, api.zeros([1], "int64")])) + 1  # also without boxes
    limits = api.full([integer(groups, "nms", "group")], threshold, boxes.dtype)
    places = api.arange(many, dtype="int64")

    def one(i: Tensor, kept: Tensor, limits: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        row = [api.gather(side, i.reshape([1])) for side in sides]
        mine = api.gather(group, i.reshape([1]))
        limit = api.gather(limits, mine)
        stands = api.logical_and(kept, api.logical_and(group == mine, places < i))
        free = api.logical_not(api.any(api.logical_and(stands, overlap(sides, row, offset) > limit)))
        falls = api.logical_and(free, limit > 0.5)
        kept = api.logical_and(kept, api.logical_or(free, places != i))
        return i + 1, kept, api.scatter(limits, mine, api.where(falls, limit * eta, limit))

    end = api.shape(boxes)[0].astype("int64")
    begin = [api.zeros([], "int64"), api.full([many], True, "bool"), limits]
    return true_indices(while_loop(lambda i, _kept, _limits: i < end, one, begin)[1])


def true_indices(mask: Tensor) -> Tensor:
    """The indices at which a list of bools is true."""
    return api.nonzero(mask).reshape([-1])


def by_group(group: Tensor, score: Tensor) -> Tensor:
    """The order of a list by groups, and by scores in each, the best first."""
    order = api.argsort(score, descending=True)
    count = score.shape[0]
    return api.gather(order, api.argsort(api.gather(group, order) * count + api.arange(count, dtype="int64")))


def rank_in_group(group: Tensor) -> Tensor:
    """The place of each among those of its group, where groups follow on each other."""
    return api.arange(group.shape[0], dtype="int64") - api.searchsorted(group, group)


def best(group: Tensor, score: Tensor, most: int) -> Tensor:
    """The numbers of the best of each group, in the order of the list."""
    order = by_group(group, score)
    chosen = api.gather(order, true_indices(rank_in_group(api.gather(group, order)) < most))
    return api.sort(chosen)


def counted(image: Tensor, images: Any) -> Tensor:
    """How many boxes each image has, int32."""
    return api.sum((image.unsqueeze(1) == api.arange(images, dtype="int64")).astype("int32"), axis=0, dtype="int32")


def image_of(counts: Tensor, boxes: Any) -> Tensor:
    """The image of each box, from the number of boxes of each image; boxes beyond these get the number of images."""
    ends = api.cumsum(counts.astype("int64"), 0)
    return api.searchsorted(ends, api.arange(boxes, dtype="int64"), right=True)


def overlap(a: Sequence[Tensor], b: Sequence[Tensor], offset: float) -> Tensor:
    """Intersection over union of pairs of boxes, each given as lists of x1, y1, x2, y2."""
    zero = api.zeros([], a[0].dtype)
    sides = []
    for i in 0, 1:
        side = api.minimum(a[2 + i], b[2 + i]) - api.maximum(a[i], b[i])
        sides.append(api.where(side >= 0, side + offset, zero))
    common = sides[0] * sides[1]
    areas = [(x[2] - x[0] + offset) * (x[3] - x[1] + offset) for x in (a, b)]
    return common / (areas[0] + areas[1] - common)


# Boxes as differences to priors.


def coded(prior: Tensor, target: Tensor, one: float) -> Tensor:
    """Encode boxes `[N, 4]` as differences from each prior `[M, 4]`: `[N, M, 4]`. Sides are longer by `one`."""
    size = prior[:, 2:] - prior[:, :2] + one
    middle = prior[:, :2] + size / 2
    given = target.unsqueeze(1)
    moved = ((given[:, :, :2] + given[:, :, 2:]) / 2 - middle) / size
    grown = api.log(api.abs((given[:, :, 2:] - given[:, :, :2] + one) / size))
    return api.concat([moved, grown], -1)


def decoded(prior: Tensor, deltas: Tensor, one: float) -> Tensor:
    """Decode boxes from differences to priors; both are `[..., 4]`."""
    size = prior[..., 2:] - prior[..., :2] + one
    middle = deltas[..., :2] * size + prior[..., :2] + size / 2
    half = api.exp(deltas[..., 2:]) * size / 2
    return api.concat([middle - half, middle + half - one], -1)


def priors(
    input: Tensor, image: Tensor, smallest: Sequence[float], largest: Sequence[float], ratios: Sequence[float], shares: Sequence[float], flip: bool,
    clip: bool, steps: Sequence[float], offset: float, squares_first: bool,
) -> tuple[Tensor, Tensor]:
    """Prior boxes of SSD, and the variances of each: see `paddle.vision.ops.prior_box`."""
    wanted = [1.0]
    for ratio in ratios:
        if all(abs(ratio - other) >= 1e-6 for other in wanted):
            wanted += [ratio, 1 / ratio] if flip else [ratio]
    sides: list[tuple[float, float]] = []
    for i, side in enumerate(smallest):
        shaped = [(side * math.sqrt(ratio), side / math.sqrt(ratio)) for ratio in wanted]
        square = [(math.sqrt(side * largest[i]),) * 2] if largest else []
        sides += [shaped[0], *square, *shaped[1:]] if squares_first else [*shaped, *square]
    rows, columns = input.shape[2:]
    high, wide = image.shape[2:]
    step_x, step_y = steps if steps[0] and steps[1] else (wide / columns, high / rows)
    dtype = input.dtype
    shape = [rows, columns, len(sides)]
    middle_x = ((api.arange(columns, dtype=dtype) + offset) * step_x).reshape([1, columns, 1]).expand(shape)
    middle_y = ((api.arange(rows, dtype=dtype) + offset) * step_y).reshape([rows, 1, 1]).expand(shape)
    half_x, half_y = (api.to_tensor([side[axis] / 2 for side in sides], dtype=dtype) for axis in (0, 1))
    boxes = api.stack([(middle_x - half_x) / wide, (middle_y - half_y) / high, (middle_x + half_x) / wide, (middle_y + half_y) / high], -1)
    return api.clip(boxes, 0.0, 1.0) if clip else boxes, api.to_tensor(list(shares), dtype=dtype).expand([*shape, 4])


# YOLO.


def column_of(values: Sequence[float], like: Tensor) -> Tensor:
    """One number for each anchor, `[1, A, 1, 1]`, in the dtype of `like`."""
    return api.to_tensor(list(values), dtype=like.dtype).reshape([1, -1, 1, 1])


def centers(parts: Tensor, scale: float) -> tuple[Tensor, Tensor]:
    """The middles of boxes `[N, anchors, numbers, H, W]` as shares of the image."""
    shift = -0.5 * (scale - 1)
    columns = api.arange(parts.shape[4], dtype=parts.dtype)
    rows = api.arange(parts.shape[3], dtype=parts.dtype).reshape([-1, 1])
    x = (columns + ops.sigmoid(parts[:, :, 0]) * scale + shift) / parts.shape[4]
    return x, (rows + ops.sigmoid(parts[:, :, 1]) * scale + shift) / parts.shape[3]


def from_yolo(
    x: Tensor, img_size: Tensor, anchors: Sequence[float], class_num: int, conf_thresh: float, ratio: int, clip_bbox: bool, scale: float,
    iou_aware: bool, iou_aware_factor: float,
) -> tuple[Tensor, Tensor]:
    """Boxes and scores from what a YOLO network gives: see `paddle.vision.ops.yolo_box`."""
    count = len(anchors) // 2
    first = count if iou_aware else 0
    parts = x[:, first:].reshape([x.shape[0], count, 5 + class_num, x.shape[2], x.shape[3]])
    rows, columns = parts.shape[3:]
    places = count * rows * columns
    size = img_size.astype(x.dtype)
    high, wide = (size[:, i].reshape([-1, 1, 1, 1]) for i in (0, 1))
    middle_x, middle_y = centers(parts, scale)
    middle_x, middle_y = middle_x * wide, middle_y * high
    half_x = api.exp(parts[:, :, 2]) * column_of(anchors[0::2], x) * wide / (ratio * columns) / 2
    half_y = api.exp(parts[:, :, 3]) * column_of(anchors[1::2], x) * high / (ratio * rows) / 2
    objectness = ops.sigmoid(parts[:, :, 4])
    if iou_aware:
        objectness = objectness ** (1 - iou_aware_factor) * ops.sigmoid(x[:, :count]) ** iou_aware_factor
    seen = (objectness >= conf_thresh).astype(x.dtype)
    sides = [middle_x - half_x, middle_y - half_y, middle_x + half_x, middle_y + half_y]
    if clip_bbox:
        zero = api.zeros([], x.dtype)
        sides[:2] = [api.maximum(side, zero) for side in sides[:2]]
        sides[2:] = [api.minimum(side, end - 1) for side, end in zip(sides[2:], (wide, high), strict=True)]
    boxes = api.stack(sides, -1) * seen.unsqueeze(-1)
    scores = ops.sigmoid(parts[:, :, 5:]) * (objectness * seen).unsqueeze(2)
    return boxes.reshape([-1, places, 4]), scores.transpose([0, 1, 3, 4, 2]).reshape([-1, places, class_num])


# Levels of a pyramid.


def on_levels(
    rois: Tensor, rois_num: Tensor | None, least: int, most: int, refer_level: int, refer_scale: float, pixel_offset: bool
) -> tuple[list[Tensor], Tensor, list[Tensor]]:
    """Boxes by level, where each stands in all of them, and how many of each level lie in each image: see `distribute_fpn_proposals`."""
    if not 0 < most - least + 1 < 100:
        raise InvalidArgumentError(f"distribute_fpn_proposals: num_lvl should be in [1, 100). Got levels {least} to {most}.")
    sides = rois[:, 2:] - rois[:, :2]
    valid = api.logical_and(sides[:, 0] >= 0, sides[:, 1] >= 0)
    sides = sides + (1.0 if pixel_offset else 0.0)
    area = api.where(valid, sides[:, 0] * sides[:, 1], api.zeros([], rois.dtype))
    level = api.floor(api.log2(api.sqrt(area) / refer_scale + 1e-8) + refer_level).clip(least, most).astype("int32")
    image = None if rois_num is None else image_of(rois_num, rois.shape[0])
    found, order, counts = [], [], []
    for wanted in range(least, most + 1):
        chosen = true_indices(level == wanted)
        found.append(api.gather(rois, chosen))
        order.append(chosen)
        if image is not None and rois_num is not None:
            counts.append(counted(api.gather(image, chosen), rois_num.shape[0]))
    return found, api.argsort(api.concat(order)).astype("int32").unsqueeze(1), counts


# Choices among scored boxes.


class _Candidates:
    """The boxes of each image and class with scores above a threshold, the best of them, by image, class, and score.

    Attributes:
        score: of each.
        box: where it stands among the boxes of all images; where each class has boxes of its own, those of all classes.
        group: image and class as one number.
    """

    def __init__(self, bboxes: Tensor, scores: Tensor, rois_num: Tensor | None, threshold: float, most: int, background: int) -> None:
        if rois_num is None:
            self.images, self.classes, per_image = scores.shape
        else:  # each class has its own boxes, listed image by image
            self.images, (per_image, self.classes) = rois_num.shape[0], scores.shape
            scores = scores.transpose([1, 0])
        self.boxes = bboxes.reshape([-1, bboxes.shape[2]])
        classes = api.arange(self.classes, dtype="int64")
        seen = api.logical_and(scores > threshold, (classes != background).reshape([-1, 1]))
        chosen = true_indices(seen.reshape([-1]))
        self.score = api.gather(scores.reshape([-1]), chosen)
        row = chosen // per_image  # image and class, or the class
        place = chosen - row * per_image
        if rois_num is None:
            self.group, self.box = row, row // self.classes * per_image + place
        else:
            self.group = api.gather(image_of(rois_num, per_image), place) * self.classes + row
            self.box = place * self.classes + row
        self.take(by_group(self.group, self.score))
        if most > -1:
            self.take(true_indices(rank_in_group(self.group) < most))

    def take(self, chosen: Tensor) -> None:
        """Keep only the candidates at `chosen`, in this order."""
        self.score, self.group, self.box = (api.gather(x, chosen) for x in (self.score, self.group, self.box))

    @property
    def image(self) -> Tensor:
        return self.group // self.classes

    def corners(self) -> Tensor:
        return api.gather(self.boxes, self.box)

    def rows(self) -> tuple[Tensor, Tensor, Tensor]:
        """Class, score and box of each; how many each image has; where each stood."""
        label = (self.group - self.image * self.classes).astype(self.score.dtype)
        out = api.concat([label.unsqueeze(1), self.score.unsqueeze(1), self.corners()], 1)
        return out, counted(self.image, self.images), self.box.astype("int32").unsqueeze(1)


def multiclass_nms(
    bboxes: Tensor, scores: Tensor, rois_num: Tensor | None, score_threshold: float, nms_threshold: float, nms_top_k: int, keep_top_k: int,
    background: int, normalized: bool, eta: float = 1.0,
) -> tuple[Tensor, Tensor, Tensor]:
    """Non-maximum suppression of each class: Paddle's operator `multiclass_nms3`.

    Args:
        bboxes: `[N, M, 4]`, or with `rois_num` `[R, C, 4]`, a box of its own for each class.
        scores: `[N, C, M]`, or with `rois_num` `[R, C]`.
        rois_num: how many of R lie in each image, or None.
        score_threshold: boxes with scores up to this are left out.
        nms_threshold: the overlap above which the box with the lower score is dropped.
        nms_top_k: how many of each class are considered, the best ones; -1: all.
        keep_top_k: how many of an image are kept at most, the best ones; -1: all.
        background: a class that is left out; -1 for none.
        normalized: coordinates are shares; False: they are pixels, at which boxes end.
        eta: lowers `nms_threshold`, see `remaining`.

    Returns:
        `[K, 6]`: class, score and box; int32 `[N]`: how many each image has; int32 `[K, 1]`: where each stood.
    """
    found = _Candidates(bboxes, scores, rois_num, score_threshold, nms_top_k, background)
    found.take(remaining(found.corners(), found.group, nms_threshold, 0.0 if normalized else 1.0, eta))
    if keep_top_k > -1:
        found.take(best(found.image, found.score, keep_top_k))
    if rois_num is not None:  # as in Paddle: in the order of the input
        found.take(api.argsort(found.group * found.boxes.shape[0] + found.box))
    return found.rows()


def decayed(
    bboxes: Tensor, scores: Tensor, score_threshold: float, post_threshold: float, nms_top_k: int, keep_top_k: int, sigma: float | None,
    background: int, normalized: bool,
) -> tuple[Tensor, Tensor, Tensor]:
    """Matrix NMS: lower the scores of boxes by the overlap with better ones; see `paddle.vision.ops.matrix_nms`. `sigma` None: linearly."""
    found = _Candidates(bboxes, scores, None, score_threshold, nms_top_k, background)
    many = found.score.shape[0]
    place = rank_in_group(found.group)
    # Pairs of each box with every better one of its group: a box with n better ones has n pairs.
    ends = api.cumsum(place, 0)
    total = integer(api.sum(place), "matrix_nms", "scores")
    pairs = api.arange(total, dtype="int64")
    worse = api.searchsorted(ends, pairs, right=True)
    better = worse - (api.gather(ends, worse) - pairs)  # the boxes right before it in the order
    sides = [found.corners()[:, i] for i in range(4)]
    pair = [[api.gather(side, which) for side in sides] for which in (better, worse)]
    shared = overlap(pair[0], pair[1], 0.0 if normalized else 1.0)
    most = api.gather(ops.edge_extreme(shared, None, worse, count=many, largest=True, sorted=True), better)
    decay = (1 - shared) / (1 - most) if sigma is None else api.exp((most**2 - shared**2) * sigma)
    one = api.ones([], decay.dtype)
    decay = api.minimum(ops.edge_extreme(decay, None, worse, count=many, largest=False, sorted=True), one)
    found.score = api.where(place > 0, decay, one) * found.score
    found.take(true_indices(found.score > post_threshold))
    found.take(by_group(found.image, found.score))
    if keep_top_k > -1:
        found.take(true_indices(rank_in_group(found.image) < keep_top_k))
    return found.rows()


def proposed(
    scores: Tensor, deltas: Tensor, img_size: Tensor, anchors: Tensor, variances: Tensor, first: int, last: int, threshold: float, min_size: float,
    pixel_offset: bool, eta: float = 1.0,
) -> tuple[Tensor, Tensor, Tensor]:
    """Boxes of a region proposal network, their scores, and how many each image has: see `generate_proposals`."""
    images, one = scores.shape[0], 1.0 if pixel_offset else 0.0
    anchor_count = scores.shape[1] * scores.shape[2] * scores.shape[3]
    scores = scores.transpose([0, 2, 3, 1]).reshape([-1, anchor_count])
    deltas = deltas.reshape([-1, deltas.shape[1] // 4, 4, *deltas.shape[2:]]).transpose([0, 3, 4, 1, 2]).reshape([-1, 4])
    order = api.argsort(scores, axis=1, descending=True)
    order = order[:, :first] if first > 0 else order
    image = (api.arange(images, dtype="int64").unsqueeze(1) + api.zeros_like(order)).reshape([-1])
    chosen = order.reshape([-1])
    score = api.gather(scores.reshape([-1]), image * anchor_count + chosen)
    limit = api.to_tensor([math.inf, math.inf, math.log(1000 / 16), math.log(1000 / 16)], dtype=deltas.dtype)
    delta = api.gather(deltas, image * anchor_count + chosen) * api.gather(variances.reshape([-1, 4]), chosen)
    boxes = decoded(api.gather(anchors.reshape([-1, 4]), chosen), api.minimum(delta, limit), one)
    border = api.concat([img_size[:, 1:], img_size[:, :1]], 1) - one
    border = api.gather(border, image)
    zero = api.zeros([], boxes.dtype)
    low, high = (api.maximum(api.minimum(side, border), zero) for side in (boxes[:, :2], boxes[:, 2:]))
    sides = high - low + one
    large = api.all(sides >= max(min_size, 1.0), axis=1)
    if pixel_offset:
        large = api.logical_and(large, api.all(low + sides / 2 <= border + one, axis=1))
    # An image without boxes gets one box of zeros.
    large = large.reshape([images, -1])
    none = api.logical_not(api.any(large, axis=1, keepdim=True))
    blank = api.zeros_like(none.astype(boxes.dtype))
    boxes = api.concat([api.concat([low, high], 1).reshape([images, -1, 4]), blank.unsqueeze(2).expand([-1, 1, 4])], 1).reshape([-1, 4])
    score = api.concat([score.reshape([images, -1]), blank], 1).reshape([-1])
    taken = true_indices(api.concat([large, none], 1).reshape([-1]))
    image = taken // (order.shape[1] + 1)
    boxes, score = api.gather(boxes, taken), api.gather(score, taken)
    if threshold > 0:
        taken = remaining(boxes, image, threshold, one, eta)
        boxes, score, image = (api.gather(x, taken) for x in (boxes, score, image))
        if last > 0:
            taken = true_indices(rank_in_group(image) < last)
            boxes, score, image = (api.gather(x, taken) for x in (boxes, score, image))
    return boxes, score.unsqueeze(1), counted(image, images)


explained(globals())
