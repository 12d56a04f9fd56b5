"""Regions of images, and boxes."""
from wherry_onnx_files.column import reads
from wherry_onnx_files.numbers import is_known
from wherry_onnx_files.ops.elementwise import scalar
from wherry_onnx_files.ops.indexing import index_of
from wherry_tensor import _core, ops


@reads("RoiAlign")
def read_roi_align(o):
    x, boxes, image = o.x(0), o.x(1), ops.cast(o.x(2), dtype=_core.int64)
    half = o.version >= 16 and o.text("coordinate_transformation_mode", "half_pixel") == "half_pixel"
    height, width, ratio = o.integer("output_height", 1), o.integer("output_width", 1), o.integer("sampling_ratio")
    scale, mode = o.number("spatial_scale", 1.0), o.text("mode", "avg")
    if mode == "avg":
        return ops.roi_align(x, boxes, image, height=height, width=width, scale=scale, ratio=ratio, aligned=half)
    if mode != "max":
        raise o.bad(f"its mode is {mode!r}", "avg or max")
    return _max_of_samples(o, x, boxes, image, height, width, ratio, scale, half)


def _max_of_samples(o, x, boxes, image, height, width, ratio, scale, half):
    """The largest weighted corner of the samples of each part, as ONNX has it."""
    if ratio < 1:
        raise o.unsupported("maxima of a number of samples that follows from the box", "sampling_ratio of 1 or more")
    o.bound(max(height, width) * ratio, 1 << 12, "the number of samples")
    n, h, w = boxes.shape[0], x.shape[2], x.shape[3]
    if not (is_known(h) and is_known(w)):
        raise o.open_size("the size of the image")
    box = ops.multiply(boxes, scalar(boxes, scale))
    if half:
        box = ops.subtract(box, scalar(boxes, 0.5))
    x1, y1, x2, y2 = (ops.reshape(ops.select(box, axis=1, index=i), shape=(-1, 1)) for i in range(4))

    def samples(start, end, parts, size):
        span = ops.subtract(end, start)
        if not half:
            span = ops.maximum(span, scalar(span, 1))
        steps = ops.cast(index_of([(i + 0.0) for i in range(parts * ratio)]), dtype=span.dtype)
        each = ops.multiply(ops.add(steps, scalar(steps, 0.5)), scalar(steps, 1 / (parts * ratio)))
        at = ops.add(start, ops.multiply(span, each))
        valid = ops.logical_and(ops.greater_equal(at, scalar(at, -1)), ops.less_equal(at, scalar(at, size)))
        at = ops.maximum(at, scalar(at, 0))
        low = ops.minimum(ops.floor(at), scalar(at, size - 1))
        at = ops.where(ops.greater_equal(low, scalar(low, size - 1)), low, at)
        high = ops.minimum(ops.add(low, scalar(low, 1)), scalar(low, size - 1))
        rest = ops.subtract(at, low)
        return [(low, ops.subtract(scalar(rest, 1), rest)), (high, rest)], valid

    rows, row_valid = samples(y1, y2, height, h)
    columns, column_valid = samples(x1, x2, width, w)
    planes = ops.gather(x, image, axis=0)
    channels = x.shape[1]
    best = None
    for row, row_weight in rows:
        for column, column_weight in columns:
            at = ops.add(ops.multiply(ops.unsqueeze(row, axes=(2,)), scalar(row, w)), ops.unsqueeze(column, axes=(1,)))
            count = height * width * ratio * ratio
            at = ops.broadcast_to(ops.reshape(ops.cast(at, dtype=_core.int64), shape=(n, 1, count)), shape=(n, channels, count))
            found = ops.take_along_axis(ops.reshape(planes, shape=(n, channels, h * w)), at, axis=2)
            found = ops.reshape(found, shape=(n, channels, height * ratio, width * ratio))
            weight = ops.multiply(ops.unsqueeze(row_weight, axes=(2,)), ops.unsqueeze(column_weight, axes=(1,)))
            part = ops.multiply(found, ops.unsqueeze(weight, axes=(1,)))
            best = part if best is None else ops.maximum(best, part)
    valid = ops.logical_and(ops.unsqueeze(row_valid, axes=(2,)), ops.unsqueeze(column_valid, axes=(1,)))
    best = ops.where(ops.unsqueeze(valid, axes=(1,)), best, scalar(best, 0))
    parts = ops.reshape(best, shape=(n, channels, height, ratio, width, ratio))
    return ops.reduce_max(parts, axes=(3, 5), keepdim=False)


# In one piece: classes and images one after the other, each kept row by row.
@reads("NonMaxSuppression", keeps=False)
def read_non_max_suppression(o):
    boxes, scores = o.x(0), o.x(1)
    most = int(o.scalar(2, "how many")) if o.has(2) else 0
    overlap = float(o.scalar(3, "the threshold")) if o.has(3) else 0.0
    least = float(o.scalar(4, "the least score")) if o.has(4) else None
    batch, classes = scores.shape[0], scores.shape[1]
    if not (is_known(batch) and is_known(classes)):
        raise o.open_size("the number of images and classes")
    o.bound(batch * classes, 1 << 12, "the number of classes of all images")
    if o.integer("center_point_box"):
        centre = [ops.slice(boxes, axes=(2,), starts=(i,), ends=(i + 2,), steps=(1,)) for i in (0, 2)]
        half = ops.multiply(centre[1], scalar(boxes, 0.5))
        corners = ops.concat(ops.subtract(centre[0], half), ops.add(centre[0], half), axis=2)
    else:
        first, second = (ops.slice(boxes, axes=(2,), starts=(i,), ends=(i + 2,), steps=(1,)) for i in (0, 2))
        corners = ops.concat(ops.minimum(first, second), ops.maximum(first, second), axis=2)
    rows = []
    for b in range(batch):
        for c in range(classes):
            mine = ops.select(ops.select(scores, axis=0, index=b), axis=0, index=c)
            mine, order = ops.sort(mine, axis=0, descending=True)
            if least is not None:
                kept = ops.reshape(ops.nonzero(ops.greater_than(mine, scalar(mine, least))), shape=(-1,))
                order = ops.gather(order, kept, axis=0)
            sorted_boxes = ops.gather(ops.select(corners, axis=0, index=b), order, axis=0)
            group = ops.full_like(order, value=0, dtype=_core.int64)
            remain = ops.suppress(sorted_boxes, group, threshold=overlap, offset=0.0)
            found = ops.gather(order, ops.reshape(ops.nonzero(remain), shape=(-1,)), axis=0)
            found = ops.slice(found, axes=(0,), starts=(0,), ends=(most,), steps=(1,))
            where = [ops.full_like(found, value=k, dtype=_core.int64) for k in (b, c)]
            rows.append(ops.concat(*(ops.unsqueeze(y, axes=(1,)) for y in (*where, found)), axis=1))
    return ops.concat(*rows, axis=0)
