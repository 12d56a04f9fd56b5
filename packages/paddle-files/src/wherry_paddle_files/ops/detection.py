"""Detection: boxes and regions of interest. Paddle counts the boxes of each image; our ops have the image index of each box."""
import wherry_tensor as api
from wherry_nn.utils import boxes as of_boxes
from wherry_paddle_files.column import reads, writes
from wherry_paddle_files.ops.indexing import size_of
from wherry_paddle_files.writing import code_of
from wherry_tensor import ops

# Non-maximum suppression.


@reads("nms", out="KeepBoxesIdxs")
def read_nms(o):
    """Non-maximum suppression of boxes that are sorted, best first."""
    boxes = o.x("Boxes")
    return of_boxes.remaining(boxes, api.zeros([boxes.shape[0]], "int64"), o.number("iou_threshold", 1.0))


@writes(ops.suppress)
def write_suppress(w, boxes, group, *, threshold, offset):
    """Paddle's operator has no groups."""
    if w.filled(group) is None or offset:
        return NotImplemented
    kept = w("nms", {"Boxes": boxes}, {"iou_threshold": threshold}, "KeepBoxesIdxs", dtype="int64", shape=(-1,))
    none, one = (w("fill_any_like", {"X": x}, {"value": value, "dtype": code_of("int64")}) for x, value in ((group, 0.0), (kept, 1.0)))
    return w.cast(w("scatter", {"X": none, "Ids": kept, "Updates": one}, {"overwrite": True}), "bool")


@reads("multiclass_nms", "multiclass_nms2", "multiclass_nms3")
def read_multiclass_nms(o):
    bboxes, scores, counts = o.x("BBoxes"), o.x("Scores"), o.maybe("RoisNum")
    if bboxes.ndim != 3 or scores.ndim != (3 if counts is None else 2) or not (type(bboxes.shape[2]) is int and bboxes.shape[2] == 4):
        raise o.bad(
            f"it has boxes of shape {bboxes.shape} and scores of shape {scores.shape}",
            "[images, boxes, 4] and [images, classes, boxes], or with RoisNum [boxes, classes, 4] and [boxes, classes]",
        )
    out, many, index = of_boxes.multiclass_nms(
        bboxes, scores, counts, o.number("score_threshold"), o.number("nms_threshold", 0.3), o.integer("nms_top_k", -1), o.integer("keep_top_k", -1),
        o.integer("background_label"), o.flag("normalized", True), o.number("nms_eta", 1.0),
    )
    return {"Out": out, "Index": index, "NmsRoisNum": many}


@reads("matrix_nms")
def read_matrix_nms(o):
    out, many, index = of_boxes.decayed(
        o.x("BBoxes"), o.x("Scores"), o.number("score_threshold"), o.number("post_threshold"), o.integer("nms_top_k", -1),
        o.integer("keep_top_k", -1), o.number("gaussian_sigma", 2.0) if o.flag("use_gaussian") else None, o.integer("background_label"),
        o.flag("normalized", True),
    )
    return {"Out": out, "Index": index, "RoisNum": many}


@reads("generate_proposals_v2", out="RpnRois")
def read_generate_proposals(o):
    boxes, score, many = of_boxes.proposed(
        *(o.x(name) for name in ("Scores", "BboxDeltas", "ImShape", "Anchors", "Variances")), o.integer("pre_nms_topN", 6000),
        o.integer("post_nms_topN", 1000), o.number("nms_thresh", 0.5), o.number("min_size", 0.1), o.flag("pixel_offset", True), o.number("eta", 1.0),
    )
    return {"RpnRois": boxes, "RpnRoiProbs": score, "RpnRoisNum": many}


@reads("distribute_fpn_proposals", out="MultiFpnRois")
def read_distribute_fpn_proposals(o):
    names = ("min_level", "max_level", "refer_level", "refer_scale")
    rois, order, counts = of_boxes.on_levels(o.x("FpnRois"), o.maybe("RoisNum"), *(o.integer(name) for name in names), o.flag("pixel_offset", True))
    return {"MultiFpnRois": rois, "RestoreIndex": order, "MultiLevelRoIsNum": counts}


# Decoding boxes from the output of a network.


@reads("yolo_box", out="Boxes")
def read_yolo_box(o):
    anchors, classes = o.integers("anchors"), o.integer("class_num")
    x = o.x("X")
    aware = o.flag("iou_aware")
    channels = len(anchors) // 2 * (5 + classes + aware)
    if not anchors or len(anchors) % 2 or classes < 1 or x.ndim != 4 or (type(x.shape[1]) is int and x.shape[1] != channels):
        raise o.bad(
            f"it has x of shape {x.shape} for {len(anchors)} sides of anchors and {classes} classes", "a channel for each number of an anchor"
        )
    boxes, scores = of_boxes.from_yolo(
        x, o.x("ImgSize"), anchors, classes, o.number("conf_thresh"), o.integer("downsample_ratio", 1), o.flag("clip_bbox", True),
        o.number("scale_x_y", 1.0), aware, o.number("iou_aware_factor", 0.5),
    )
    return {"Boxes": boxes, "Scores": scores}


@reads("box_coder", out="OutputBox")
def read_box_coder(o):
    prior, share, target = o.x("PriorBox"), o.maybe("PriorBoxVar"), o.x("TargetBox")
    axis, one, variance = o.integer("axis"), 0.0 if o.flag("box_normalized", True) else 1.0, o.attr("variance", [])
    if share is None and variance:
        share = api.to_tensor(variance, dtype=prior.dtype)
    if o.text("code_type", "encode_center_size").startswith("encode"):
        found = of_boxes.coded(prior, target, one)
        return found if share is None else found / share
    if axis not in (0, 1):
        raise o.bad(f"attribute 'axis' is {axis}", "0 or 1")
    if share is not None:
        target = target * (api.unsqueeze(share, axis) if share.ndim == 2 else share)
    return of_boxes.decoded(api.unsqueeze(prior, axis), target, one)


@reads("prior_box", out="Boxes")
def read_prior_box(o):
    lists = [o.attr(name, []) for name in ("min_sizes", "max_sizes", "aspect_ratios", "variances")]
    if not lists[0] or not all(side > 0 for values in lists[:3] for side in values) or len(lists[1]) not in (0, len(lists[0])):
        raise o.bad(f"it has sides {lists[0]}, {lists[1]} and ratios {lists[2]}", "positive numbers, as many larger sides as smaller ones or none")
    boxes, shares = of_boxes.priors(
        o.x("Input"), o.x("Image"), *lists, o.flag("flip"), o.flag("clip"), (o.number("step_w"), o.number("step_h")), o.number("offset", 0.5),
        o.flag("min_max_aspect_ratios_order"),
    )
    return {"Boxes": boxes, "Variances": shares}


@reads("iou_similarity")
def read_iou_similarity(o):
    """Intersection over union of each pair of boxes."""
    a, b, one = o.x("X"), o.x("Y"), 0.0 if o.flag("box_normalized", True) else 1.0
    low = api.maximum(api.unsqueeze(a[:, :2], 1), api.unsqueeze(b[:, :2], 0))
    high = api.minimum(api.unsqueeze(a[:, 2:], 1), api.unsqueeze(b[:, 2:], 0))
    sides = ops.relu(high - low + one)
    common = sides[:, :, 0] * sides[:, :, 1]
    areas = [(x[:, 2] - x[:, 0] + one) * (x[:, 3] - x[:, 1] + one) for x in (a, b)]
    return common / (api.unsqueeze(areas[0], 1) + api.unsqueeze(areas[1], 0) - common)

# Regions of images.


def _images(o, boxes):
    """The image of each box."""
    counts = o.maybe("RoisNum")
    if counts is None:
        raise o.bad("nothing says how many boxes each image has", "an input 'RoisNum'")
    return of_boxes.image_of(counts, boxes.shape[0])


class _ByImage:
    """Boxes, those of the first image first, and how many each image has."""

    def __init__(self, w, x, boxes, image):
        self.w = w
        self.order = self._sorted(image)
        rows = w.count(x.shape[0] if x.shape[0] >= 0 else size_of(w, x, 0))
        same = w("equal", {"X": w.reshape(image, (-1, 1)), "Y": rows}, {"axis": -1}, dtype="bool", shape=(*image.shape, x.shape[0]))
        counts = w("reduce_sum", {"X": w.cast(same, "int64")}, {"dim": [0], "keep_dim": False, "reduce_all": False}, shape=(x.shape[0],))
        self.given = {"X": x, "ROIs": self.there(boxes), "RoisNum": w.cast(counts, "int32")}

    def _sorted(self, x):
        return self.w("argsort", {"X": x}, {"axis": 0, "descending": False}, ("~Out", "Indices"), dtype=["int64", "int64"])

    def there(self, x):
        return self.w("gather", {"X": x, "Index": self.order}, {"axis": 0})

    def back(self, x):
        return self.w("gather", {"X": x, "Index": self._sorted(self.order)}, {"axis": 0})


def _pooled(height, width, scale):
    return {"pooled_height": height, "pooled_width": width, "spatial_scale": scale}


@writes(ops.roi_align)
def write_roi_align(w, x, boxes, image, *, height, width, scale, ratio, aligned):
    by = _ByImage(w, x, boxes, image)
    attrs = _pooled(height, width, scale) | {"sampling_ratio": ratio, "aligned": aligned}
    return by.back(w("roi_align", by.given, attrs, shape=w.outs[0].sizes))


@writes(ops.roi_align_vjp)
def write_roi_align_vjp(w, ct, boxes, image, like, *, height, width, scale, ratio, aligned):
    by = _ByImage(w, like, boxes, image)
    attrs = _pooled(height, width, scale) | {"sampling_ratio": ratio, "aligned": aligned}
    return w("roi_align_grad", by.given | {"Out@GRAD": by.there(ct)}, attrs, "X@GRAD")


@writes(ops.roi_pool)
def write_roi_pool(w, x, boxes, image, *, height, width, scale):
    by = _ByImage(w, x, boxes, image)
    found = w("roi_pool", by.given, _pooled(height, width, scale), ("Out", "Argmax"), dtype=[x.dtype, "int64"], shape=w.outs[0].sizes)
    return tuple(by.back(x) for x in found)


@writes(ops.psroi_pool)
def write_psroi_pool(w, x, boxes, image, *, height, width, scale):
    by = _ByImage(w, x, boxes, image)
    attrs = _pooled(height, width, scale) | {"output_channels": x.shape[1] // (height * width)}
    return by.back(w("psroi_pool", by.given, attrs, shape=w.outs[0].sizes))


@writes(ops.psroi_pool_vjp)
def write_psroi_pool_vjp(w, ct, boxes, image, like, *, height, width, scale):
    by = _ByImage(w, like, boxes, image)
    attrs = _pooled(height, width, scale) | {"output_channels": like.shape[1] // (height * width)}
    return w("psroi_pool_grad", by.given | {"Out@GRAD": by.there(ct)}, attrs, "X@GRAD")


@reads("roi_align")
def read_roi_align(o):
    x, boxes = o.x("X"), o.x("ROIs")
    return ops.roi_align(
        x, boxes, _images(o, boxes), height=o.integer("pooled_height", 1), width=o.integer("pooled_width", 1),
        scale=o.number("spatial_scale", 1.0), ratio=o.integer("sampling_ratio", -1), aligned=o.flag("aligned"),
    )


@reads("roi_pool")
def read_roi_pool(o):
    x, boxes = o.x("X"), o.x("ROIs")
    sizes = {"height": o.integer("pooled_height", 1), "width": o.integer("pooled_width", 1)}
    out, index = ops.roi_pool(x, boxes, _images(o, boxes), **sizes, scale=o.number("spatial_scale", 1.0))
    return {"Out": out, "Argmax": index}


@reads("psroi_pool")
def read_psroi_pool(o):
    x, boxes = o.x("X"), o.x("ROIs")
    sizes = {"height": o.integer("pooled_height", 1), "width": o.integer("pooled_width", 1)}
    return ops.psroi_pool(x, boxes, _images(o, boxes), **sizes, scale=o.number("spatial_scale", 1.0))


@reads("deformable_conv", "deformable_conv_v1", out="Output")
def read_deformable_conv(o):
    """A product of the weights with the values read at the offsets."""
    x, weight = o.x("Input"), o.x("Filter")
    groups, channels, rows = o.integer("groups", 1), x.shape[1], weight.shape[0]
    offset = o.x("Offset")
    columns = ops.deform_columns(
        x, offset, o.maybe("Mask"), kernel=tuple(weight.shape[2:]), strides=tuple(o.integers("strides", [1, 1])),
        paddings=tuple(o.integers("paddings", [0, 0])), dilations=tuple(o.integers("dilations", [1, 1])),
        groups=o.integer("deformable_groups", 1),
    )
    if groups < 1 or rows % groups or channels % groups:
        raise o.bad(f"it has {groups} groups for {channels} channels and {rows} filters", "groups that divide both")
    taps = weight.shape[1] * weight.shape[2] * weight.shape[3]
    height, width = offset.shape[2:]
    parts = api.reshape(columns, [x.shape[0], groups, taps, height * width])
    out = api.matmul(api.reshape(weight, [1, groups, rows // groups, taps]), parts)
    return api.reshape(out, [x.shape[0], rows, height, width])
