"""Boxes in images."""
import wherry_graph.control as flow
import wherry_tensor as api
from wherry_graph.paddle_files.column import paddle, reads
from wherry_tensor import ops


@reads("nms", out="KeepBoxesIdxs")
def read_nms(o):
    """Boxes, best first, that no better one which is kept overlaps by more than a threshold."""
    boxes, threshold = o.x("Boxes"), o.number("iou_threshold", 1.0)
    overlap = _overlap(boxes, boxes) > threshold
    count = boxes.shape[0]
    place = api.arange(count, dtype="int64")
    kept = api.full([count], True, "bool")

    def one(i, kept):
        row = api.gather(overlap, api.reshape(i, [1]), 0)
        mine = api.gather(kept, api.reshape(i, [1]), 0)
        struck = api.logical_and(api.logical_and(api.reshape(row, [-1]), place > i), mine)
        return i + 1, api.logical_and(kept, api.logical_not(struck))

    end = api.shape(boxes)[0].astype("int64")
    _, kept = flow.while_loop(lambda i, _kept: i < end, one, [api.zeros([], "int64"), kept])
    return api.reshape(api.nonzero(kept), [-1])


@reads("iou_similarity")
def read_iou_similarity(o):
    return _overlap(o.x("X"), o.x("Y"), 0.0 if o.flag("box_normalized", True) else 1.0)


def _overlap(a, b, offset=0.0):
    """The share of the area that two boxes have together in that of both, for each pair."""
    low = api.maximum(api.unsqueeze(a[:, :2], 1), api.unsqueeze(b[:, :2], 0))
    high = api.minimum(api.unsqueeze(a[:, 2:], 1), api.unsqueeze(b[:, 2:], 0))
    sides = ops.relu(high - low + offset)
    common = sides[:, :, 0] * sides[:, :, 1]
    areas = [(x[:, 2] - x[:, 0] + offset) * (x[:, 3] - x[:, 1] + offset) for x in (a, b)]
    return common / (api.unsqueeze(areas[0], 1) + api.unsqueeze(areas[1], 0) - common)


for _op in (ops.roi_align, ops.roi_align_vjp, ops.roi_pool, ops.psroi_pool, ops.psroi_pool_vjp):
    paddle.exempt(_op, "Paddle's operator takes how many boxes each image has, from which the image of a box does not follow back")
paddle.exempt(ops.suppress, "Paddle's operator gives places, and knows no groups")


# Regions of images. Paddle says how many boxes each image has.


def _images(o, boxes):
    """The image of each box."""
    counts = o.maybe("RoisNum")
    if counts is None:
        raise o.bad("nothing says how many boxes each image has", "an input 'RoisNum'")
    ends = api.cumsum(counts.astype("int64"), 0)
    places = api.arange(boxes.shape[0], dtype="int64")
    return api.sum((api.unsqueeze(places, 1) >= api.unsqueeze(ends, 0)).astype("int64"), 1)


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
    """A product of the weights with what is read at the offsets."""
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
