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
