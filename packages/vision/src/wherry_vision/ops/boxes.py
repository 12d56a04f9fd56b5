"""Boxes: non-maximum suppression, encoding, prior boxes, proposals."""
from __future__ import annotations

import math
from collections.abc import Sequence

import wherry_tensor as api
from wherry_nn.utils.boxes import coded, decayed, decoded, on_levels, priors, proposed, remaining
from wherry_tensor import Tensor
from wherry_tensor.arguments import integer, integers_of, require_rank, require_tensor
from wherry_tensor.errors import AssertedArgumentError, InvalidArgumentError, short
from wherry_vision.ops.reading import count as counted
from wherry_vision.ops.reading import real, reals

__all__ = ["box_coder", "distribute_fpn_proposals", "generate_proposals", "matrix_nms", "nms", "prior_box"]


def nms(
    boxes: Tensor,
    iou_threshold: float = 0.3,
    scores: Tensor | None = None,
    category_idxs: Tensor | None = None,
    categories: Sequence[int] | None = None,
    top_k: int | None = None,
) -> Tensor:
    """Non-maximum suppression: drop each box that overlaps a better one by more than a threshold.

    Args:
        boxes: (x1, y1, x2, y2), float32 or float64.
        iou_threshold: the intersection over union beyond which the worse box is dropped.
        scores: of the boxes, higher is better; None takes the boxes as they stand, best first.
        category_idxs: the class of each box, where each class is decided on by itself. It needs scores.
        categories: the classes that are looked at, with category_idxs.
        top_k: how many boxes are given at most, with category_idxs.

    Returns:
        int64: the numbers of the boxes that remain, best first.

    Shape:
        `[N, 4]` to `[K]`.

    Raises:
        AssertionError: classes without the list of them; `top_k` is more than there are boxes (also a ValueError).
        TypeError: `boxes` is not a tensor of a floating dtype.
        ValueError: shapes do not fit.

    Source:
        `paddle.vision.ops.nms`.

    Examples:
        >>> boxes = wherry.to_tensor([[0.0, 0.0, 10.0, 10.0], [1.0, 1.0, 11.0, 11.0], [20.0, 20.0, 30.0, 30.0]])
        >>> wherry.vision.ops.nms(boxes, 0.3, wherry.to_tensor([0.1, 0.9, 0.5])).tolist()
        [1, 2]
    """
    require_rank(boxes, "nms", 2, name="boxes", layout="[N, 4]")
    iou_threshold = real(iou_threshold, "nms", "iou_threshold")
    group = api.zeros([boxes.shape[0]], "int64")
    if scores is None:
        return remaining(boxes, group, iou_threshold)
    require_rank(scores, "nms", 1, name="scores", layout="a score for each box")
    order = api.argsort(scores, descending=True)
    if category_idxs is None:
        return api.gather(order, remaining(api.gather(boxes, order), group, iou_threshold))
    if categories is None:
        raise AssertedArgumentError(
            "nms: if category_idxs is given, categories which is a list of unique id of all categories is necessary. Got None, expected a list."
        )
    require_rank(category_idxs, "nms", 1, name="category_idxs", layout="a class for each box")
    top_k = None if top_k is None else integer(top_k, "nms", "top_k")
    if top_k is not None and top_k > scores.shape[0]:
        raise AssertedArgumentError(
            f"nms: top_k should be smaller equal than the number of boxes. Got top_k={short(top_k)}, expected at most {scores.shape[0]}. "
            f"Leave it out."
        )
    group = api.gather(category_idxs.astype("int64"), order)
    wanted = api.any(group.unsqueeze(1) == api.to_tensor(list(integers_of(categories, "nms", "categories")), dtype="int64").reshape([1, -1]), axis=1)
    chosen = api.gather(order, api.nonzero(wanted).reshape([-1]))
    kept = remaining(api.gather(boxes, chosen), api.gather(category_idxs.astype("int64"), chosen), iou_threshold)
    return api.gather(chosen, kept)[:top_k]


def box_coder(
    prior_box: Tensor,
    prior_box_var: Tensor | Sequence[float] | None,
    target_box: Tensor,
    code_type: str = "encode_center_size",
    box_normalized: bool = True,
    axis: int = 0,
    name: str | None = None,
) -> Tensor:
    """Encode boxes as offsets from prior boxes, or decode them.

    Args:
        prior_box: the prior boxes, (x1, y1, x2, y2).
        prior_box_var: what offsets are divided by: four numbers, a tensor of four for each prior box, or None.
        target_box: boxes to encode, or offsets to decode.
        code_type: "encode_center_size" or "decode_center_size".
        box_normalized: coordinates are in [0, 1]; False: they are pixels, and a box includes its last one.
        axis: for decoding, the axis of `target_box` along which each prior box is broadcast.

    Shape:
        Encoding, `[M, 4]` and `[N, 4]` to `[N, M, 4]`. Decoding, `[M, 4]` (`[N, 4]` with axis 1) and `[N, M, 4]` to `[N, M, 4]`.

    Raises:
        ValueError: `code_type` or `axis` is not known, or shapes do not fit.

    Source:
        `paddle.vision.ops.box_coder`.

    Examples:
        >>> priors = wherry.to_tensor([[0.0, 0.0, 1.0, 1.0]])
        >>> boxes = wherry.to_tensor([[0.5, 0.0, 1.5, 1.0]])
        >>> offsets = wherry.vision.ops.box_coder(priors, None, boxes)  # x, y, and logarithms of width and height
        >>> print(offsets.numpy())
        [[[0.5 0.  0.  0. ]]]
        >>> print(wherry.vision.ops.box_coder(priors, None, offsets, "decode_center_size").numpy())
        [[[0.5 0.  1.5 1. ]]]
    """
    require_rank(prior_box, "box_coder", 2, name="prior_box", layout="[M, 4]")
    require_tensor(target_box, "box_coder", "target_box")
    if code_type not in ("encode_center_size", "decode_center_size"):
        raise InvalidArgumentError(
            f"box_coder: code_type is not known. Got {short(code_type)}, expected 'encode_center_size' or 'decode_center_size'."
        )
    if axis not in (0, 1):
        raise InvalidArgumentError(f"box_coder: axis is not known. Got {short(axis)}, expected 0 or 1.")
    one = 0.0 if box_normalized else 1.0
    share = prior_box_var
    if share is not None and not isinstance(share, Tensor):
        share = api.to_tensor(reals(share, "box_coder", "prior_box_var", 4), dtype=prior_box.dtype)
    if code_type == "encode_center_size":
        found = coded(prior_box, require_rank(target_box, "box_coder", 2, name="target_box", layout="[N, 4]"), one)
        return found if share is None else found / share
    if target_box.ndim != 3:
        raise InvalidArgumentError(f"box_coder: the offsets to decode do not have three axes. Got shape {target_box.shape}, expected [N, M, 4].")
    if share is not None:
        target_box = target_box * (share.unsqueeze(axis) if share.ndim == 2 else share)
    return decoded(prior_box.unsqueeze(axis), target_box, one)


def prior_box(
    input: Tensor,
    image: Tensor,
    min_sizes: Sequence[float] | float,
    max_sizes: Sequence[float] | float | None = None,
    aspect_ratios: Sequence[float] | float = (1.0,),
    variance: Sequence[float] = (0.1, 0.1, 0.2, 0.2),
    flip: bool = False,
    clip: bool = False,
    steps: Sequence[float] = (0.0, 0.0),
    offset: float = 0.5,
    min_max_aspect_ratios_order: bool = False,
    name: str | None = None,
) -> tuple[Tensor, Tensor]:
    """Prior boxes of SSD: several sizes and shapes at each position of a feature map.

    Args:
        input: the feature map; only its shape is used.
        image: the images; only their shape is used.
        min_sizes: sides of square boxes in pixels.
        max_sizes: a larger side for each: adds a square of the geometric mean of both.
        aspect_ratios: width over height of further boxes.
        variance: what offsets from these boxes are divided by.
        flip: also use the inverse of each ratio.
        clip: clip coordinates to [0, 1].
        steps: pixels between positions, (width, height); 0 computes them.
        offset: the centre of a box within its position, 0.5 is the middle.
        min_max_aspect_ratios_order: the larger squares come before those with ratios.

    Returns:
        Boxes (x1, y1, x2, y2) as shares of the image, and the variances of each.

    Shape:
        `[N, C, H, W]` and `[N, 3, height, width]` to twice `[H, W, boxes, 4]`.

    Raises:
        ValueError: sizes do not fit.

    Source:
        `paddle.vision.ops.prior_box`; Liu et al. (2015).

    Examples:
        >>> boxes, variances = wherry.vision.ops.prior_box(wherry.ones([1, 8, 2, 2]), wherry.ones([1, 3, 16, 16]), min_sizes=[8.0])
        >>> boxes.shape
        [2, 2, 1, 4]
        >>> print(boxes[0, 1, 0].numpy())
        [0.5 0.  1.  0.5]
    """
    for name_of, value in (("input", input), ("image", image)):
        shape = require_rank(value, "prior_box", 4, name=name_of, layout="[N, C, H, W]").shape
        if any(type(n) is int and n == 0 for n in shape[2:]):
            raise InvalidArgumentError(
                f"prior_box: '{name_of}' has no pixels. Got shape {shape}, expected a height and a width above 0. Check what made it."
            )
    smallest = reals(min_sizes, "prior_box", "min_sizes")
    largest = [] if max_sizes is None else reals(max_sizes, "prior_box", "max_sizes")
    shares, (step_x, step_y) = reals(variance, "prior_box", "variance", 4), reals(steps, "prior_box", "steps", 2)
    offset = real(offset, "prior_box", "offset")
    if largest and (len(largest) != len(smallest) or any(a <= b for a, b in zip(largest, smallest, strict=True))):
        raise InvalidArgumentError(
            f"prior_box: max_size should be greater than min_size. Got min_sizes={smallest} and max_sizes={largest}, expected a larger one for each."
        )
    if not smallest or not all(0 < side < math.inf for side in (*smallest, *largest)):
        raise InvalidArgumentError(
            f"prior_box: a side is not positive. Got min_sizes={short(smallest)} and max_sizes={short(largest)}, expected numbers above 0. "
            f"They count pixels."
        )
    ratios = reals(aspect_ratios, "prior_box", "aspect_ratios")
    for ratio in ratios:
        if not 1e-100 < ratio < 1e100:
            raise InvalidArgumentError(
                f"prior_box: an aspect ratio is not positive. Got {ratio} among aspect_ratios, expected numbers above 0. Leave it out."
            )
    return priors(input, image, smallest, largest, ratios, shares, flip, clip, (step_x, step_y), offset, min_max_aspect_ratios_order)


def distribute_fpn_proposals(
    fpn_rois: Tensor,
    min_level: int,
    max_level: int,
    refer_level: int,
    refer_scale: int,
    pixel_offset: bool = False,
    rois_num: Tensor | None = None,
    name: str | None = None,
) -> tuple[list[Tensor], Tensor, list[Tensor]]:
    """Assign boxes to the level of a feature pyramid that fits their size.

    Args:
        fpn_rois: boxes (x1, y1, x2, y2), those of the first image first.
        min_level: the finest level.
        max_level: the coarsest level.
        refer_level: the level of boxes of `refer_scale`.
        refer_scale: the square root of their area.
        pixel_offset: a box includes its last pixel, so sides are one longer.
        rois_num: the number of boxes of each image, int32.

    Returns:
        The boxes of each level; int32 `[R, 1]`, where each box of `fpn_rois` stands in all of them, one level after the other; and
        of each level the number of boxes of each image, int32.

    Raises:
        AssertionError: the levels are not in order, or `rois_num` is missing (also a ValueError).

    Source:
        `paddle.vision.ops.distribute_fpn_proposals`; Lin et al. (2016).

    Examples:
        >>> boxes = wherry.to_tensor([[0.0, 0.0, 200.0, 200.0], [0.0, 0.0, 20.0, 20.0]])
        >>> levels, restore, counts = wherry.vision.ops.distribute_fpn_proposals(
        ...     boxes, min_level=2, max_level=4, refer_level=4, refer_scale=200, rois_num=wherry.to_tensor([2], dtype="int32"))
        >>> [level.shape for level in levels]
        [[1, 4], [0, 4], [1, 4]]
        >>> restore.tolist()
        [[1], [0]]
    """
    require_rank(fpn_rois, "distribute_fpn_proposals", 2, name="fpn_rois", layout="[R, 4]")
    min_level, max_level, refer_level = (
        counted(value, "distribute_fpn_proposals", name_of, least=-(1 << 31))
        for name_of, value in (("min_level", min_level), ("max_level", max_level), ("refer_level", refer_level))
    )
    scale = real(refer_scale, "distribute_fpn_proposals", "refer_scale")
    if not 0 < max_level - min_level + 1 < 100:
        raise AssertedArgumentError(f"distribute_fpn_proposals: num_lvl should be in [1, 100). Got levels {min_level} to {max_level}.")
    if rois_num is None:
        raise AssertedArgumentError("distribute_fpn_proposals: rois_num should not be None in dygraph mode. Got None, expected an int32 tensor.")
    require_rank(rois_num, "distribute_fpn_proposals", 1, name="rois_num", layout="a number of boxes for each image")
    return on_levels(fpn_rois, rois_num, min_level, max_level, refer_level, scale, pixel_offset)


def matrix_nms(
    bboxes: Tensor,
    scores: Tensor,
    score_threshold: float,
    post_threshold: float,
    nms_top_k: int,
    keep_top_k: int,
    use_gaussian: bool = False,
    gaussian_sigma: float = 2.0,
    background_label: int = 0,
    normalized: bool = True,
    return_index: bool = False,
    return_rois_num: bool = True,
    name: str | None = None,
) -> tuple[Tensor, Tensor | None, Tensor | None]:
    """Matrix NMS: lower the score of a box by its overlap with better boxes of its class.

    Args:
        bboxes: (x1, y1, x2, y2) of each image's boxes.
        scores: of each class and box.
        score_threshold: boxes with a lower score are dropped at the beginning.
        post_threshold: boxes whose lowered score is below are dropped.
        nms_top_k: how many of the best boxes of each class are used; -1: all.
        keep_top_k: how many boxes of an image remain at most; -1: all.
        use_gaussian: decay by a Gaussian function of the overlap, not linearly.
        gaussian_sigma: of the Gaussian function.
        background_label: a class that is left out; -1: none.
        normalized: coordinates are in [0, 1]; False: they are pixels, and a box includes its last one.
        return_index: also return the indices of the boxes.
        return_rois_num: gives how many boxes each image has.

    Returns:
        `[K, 6]`: class, score and box; int32 `[N]`: how many each image has, or None; int32 `[K, 1]`: where each box stood among
        those of all images, or None.

    Shape:
        `[N, M, 4]` and `[N, C, M]` to `[K, 6]`.

    Raises:
        ValueError: shapes do not fit.

    Source:
        `paddle.vision.ops.matrix_nms`; Wang, Zhang, Kong, Li & Shen (2020).

    Examples:
        >>> boxes = wherry.to_tensor([[[0.0, 0.0, 1.0, 1.0], [0.0, 0.0, 1.0, 0.5]]])
        >>> scores = wherry.to_tensor([[[0.8, 0.5]]])  # of one class
        >>> out, _, counts = wherry.vision.ops.matrix_nms(boxes, scores, 0.1, 0.1, 10, 10, background_label=-1)
        >>> print(out.numpy())  # class, score, box: the second overlaps the first by a half
        [[0.   0.8  0.   0.   1.   1.  ]
         [0.   0.25 0.   0.   1.   0.5 ]]
    """
    require_rank(bboxes, "matrix_nms", 3, name="bboxes", layout="[N, M, 4]")
    require_rank(scores, "matrix_nms", 3, name="scores", layout="[N, C, M]")
    score_threshold, post_threshold, gaussian_sigma = (
        real(value, "matrix_nms", name_of)
        for name_of, value in (("score_threshold", score_threshold), ("post_threshold", post_threshold), ("gaussian_sigma", gaussian_sigma))
    )
    nms_top_k, keep_top_k = integer(nms_top_k, "matrix_nms", "nms_top_k"), integer(keep_top_k, "matrix_nms", "keep_top_k")
    background_label = integer(background_label, "matrix_nms", "background_label")
    if bboxes.shape[2] != 4 or bboxes.shape[:1] + bboxes.shape[1:2] != [scores.shape[0], scores.shape[2]]:
        raise InvalidArgumentError(
            f"matrix_nms: boxes and scores do not fit. Got bboxes of shape {bboxes.shape} and scores of shape {scores.shape}, expected "
            f"[N, M, 4] and [N, C, M]."
        )
    sigma = gaussian_sigma if use_gaussian else None
    out, counts, index = decayed(bboxes, scores, score_threshold, post_threshold, nms_top_k, keep_top_k, sigma, background_label, normalized)
    return out, counts if return_rois_num else None, index if return_index else None


def generate_proposals(
    scores: Tensor,
    bbox_deltas: Tensor,
    img_size: Tensor,
    anchors: Tensor,
    variances: Tensor,
    pre_nms_top_n: int = 6000,
    post_nms_top_n: int = 1000,
    nms_thresh: float = 0.5,
    min_size: float = 0.1,
    eta: float = 1.0,
    pixel_offset: bool = False,
    return_rois_num: bool = False,
    name: str | None = None,
) -> tuple[Tensor, ...]:
    """Proposals of a region proposal network: decode, clip to the image, and apply NMS.

    Args:
        scores: of the anchors at each position.
        bbox_deltas: offsets of the boxes from the anchors.
        img_size: height and width of each image.
        anchors: (x1, y1, x2, y2) of the anchors at each position.
        variances: what offsets are multiplied by.
        pre_nms_top_n: how many of the best boxes of an image are used.
        post_nms_top_n: how many remain at most.
        nms_thresh: the overlap beyond which the worse box is dropped.
        min_size: boxes with a shorter side are dropped; at least 1.
        eta: less than 1 lowers the threshold by this factor with each box that is kept, down to a half.
        pixel_offset: a box includes its last pixel, so sides are one longer.
        return_rois_num: gives how many boxes each image has; outside of static programs it has to be True.

    Returns:
        The boxes, their scores `[R, 1]`, and int32 `[N]`, how many each image has.

    Shape:
        `[N, A, H, W]`, `[N, 4 * A, H, W]`, `[N, 2]` and twice `[H, W, A, 4]` to `[R, 4]`.

    Raises:
        AssertionError: `return_rois_num` is False, or `eta` is more than 1 (also a ValueError).

    Source:
        `paddle.vision.ops.generate_proposals`; Ren, He, Girshick & Sun (2015).

    Examples:
        >>> anchors = wherry.to_tensor([[[[0.0, 0.0, 8.0, 8.0]], [[8.0, 0.0, 16.0, 8.0]]]])  # of one row of two positions
        >>> scores = wherry.to_tensor([[[[0.9, 0.2]]]])
        >>> proposals, kept, counts = wherry.vision.ops.generate_proposals(
        ...     scores, wherry.zeros([1, 4, 1, 2]), wherry.to_tensor([[8.0, 16.0]]), anchors, wherry.ones_like(anchors), return_rois_num=True)
        >>> print(proposals.numpy())
        [[ 0.  0.  8.  8.]
         [ 8.  0. 16.  8.]]
    """
    if not return_rois_num:
        raise AssertedArgumentError("generate_proposals: return_rois_num should be True in dygraph mode. Got False, expected True.")
    for name_of, value in (("scores", scores), ("bbox_deltas", bbox_deltas)):
        require_rank(value, "generate_proposals", 4, name=name_of, layout="[N, channels, H, W]")
    require_rank(img_size, "generate_proposals", 2, name="img_size", layout="[N, 2]")
    require_tensor(anchors, "generate_proposals", "anchors")
    require_tensor(variances, "generate_proposals", "variances")
    nms_thresh, min_size, eta = (
        real(value, "generate_proposals", name_of) for name_of, value in (("nms_thresh", nms_thresh), ("min_size", min_size), ("eta", eta))
    )
    pre_nms_top_n = integer(pre_nms_top_n, "generate_proposals", "pre_nms_top_n")
    post_nms_top_n = integer(post_nms_top_n, "generate_proposals", "post_nms_top_n")
    if eta > 1:
        raise AssertedArgumentError(f"generate_proposals: eta is larger than 1. Got {eta}, expected a factor that lowers the threshold.")
    return proposed(scores, bbox_deltas, img_size, anchors, variances, pre_nms_top_n, post_nms_top_n, nms_thresh, min_size, pixel_offset, eta)
