"""Region pooling (RoI), deformable sampling, and non-maximum suppression.

A box is (x1, y1, x2, y2); `image` says for each box which image of the batch it lies in.
"""
from wherry_tensor import ops
from wherry_tensor._core import bool_, float32, float64, int64
from wherry_tensor.ops.declare import Meta, decompose, infer, op
from wherry_tensor.ops.shapes import (
    UNKNOWN,
    require_dtype,
    require_known,
    require_one_dtype,
    require_rank,
    require_same_shape,
    same_size,
    show,
)

# Means of samples between the pixels, in height * width equal parts of each box, whose coordinates are multiplied by scale.
# ratio * ratio samples for each part, or as many as its pixels where ratio is not positive. `aligned` moves boxes by half a pixel.
roi_align = op("roi_align", "x, boxes, image", height=int, width=int, scale=float, ratio=int, aligned=bool)
roi_align_vjp = op("roi_align_vjp", "ct, boxes, image, like~", height=int, width=int, scale=float, ratio=int, aligned=bool)

# Maxima of the parts, whose borders are whole pixels, and where in the plane each stands (-1 in an empty part, whose maximum is 0).
roi_pool = op("roi_pool", "x, boxes, image", height=int, width=int, scale=float, outputs="out, index")

# Means of the parts, each part (i, j) of a channel from a plane of its own: x has channels * height * width of them.
psroi_pool = op("psroi_pool", "x, boxes, image", height=int, width=int, scale=float)
psroi_pool_vjp = op("psroi_pool_vjp", "ct, boxes, image, like~", height=int, width=int, scale=float)

# The im2col matrix of a deformable convolution, [N, C * taps, H' * W']: each tap of each place is read at its offset
# (y, x; offset is [N, 2 * groups * taps, H', W']) between the pixels, and multiplied by mask [N, groups * taps, H', W'].
# Channels are divided into groups with offsets of their own. Beyond the border lies 0.
deform_columns = op("deform_columns", "x, offset, mask?", kernel=tuple, strides=tuple, paddings=tuple, dilations=tuple, groups=int)
deform_columns_vjp = op("deform_columns_vjp", "ct, x, offset, mask?", kernel=tuple, strides=tuple, paddings=tuple, dilations=tuple, groups=int,
                        outputs="x_ct, offset_ct, mask_ct")  # fmt: skip

# Which boxes remain, when each that remains removes those after it in the list whose overlap with it (area in common over
# area of both) exceeds threshold. Boxes of different groups do not remove each other. `offset` is added to sides of boxes, and of what they
# have in common where there is any: 1 where boxes end at a pixel.
suppress = op("suppress", "boxes, group", threshold=float, offset=float)

for _op in (roi_align, roi_align_vjp):
    decompose.exempt(_op, "how many samples a part has follows from its box", seldom=True)
for _op in (roi_pool, psroi_pool, psroi_pool_vjp):
    decompose.exempt(_op, "which pixels a part has follows from its box", seldom=True)
decompose.exempt(suppress, "a decision for each box that later ones depend on", seldom=True)


MOST_SAMPLES = 1 << 12  # along one axis of a part


def _check_parts(op_name, height, width):
    if height < 1 or width < 1:
        raise ValueError(
            f"{op_name}: height and width must be positive. Got height={height} and width={width}, expected positive numbers. "
            f"Use 1 for the whole box."
        )


def _check_samples(op_name, ratio):
    if ratio > MOST_SAMPLES:
        raise ValueError(f"{op_name}: too many samples. Got ratio={ratio}, expected at most {MOST_SAMPLES}. 2 is usual, 0 follows the part's size.")


def _regions(op_name, name, x, boxes, image, height, width):
    require_rank(op_name, name, x.shape, 4)
    require_rank(op_name, "boxes", boxes.shape, 2)
    require_rank(op_name, "image", image.shape, 1)
    dtype = require_one_dtype(op_name, **{name: x.dtype, "boxes": boxes.dtype})
    require_dtype(op_name, name, dtype, (float32, float64))
    require_dtype(op_name, "image", image.dtype, (int64,))
    if not same_size(boxes.shape[1], 4):
        raise ValueError(f"{op_name}: boxes need four coordinates. Got boxes of shape {show(boxes.shape)}, expected [boxes, 4]. Give x1, y1, x2, y2.")
    if not same_size(boxes.shape[0], image.shape[0]):
        raise ValueError(
            f"{op_name}: `image` needs one number for each box. Got image of shape {show(image.shape)} for boxes of shape {show(boxes.shape)}, "
            f"expected one number for each box. Repeat them."
        )
    _check_parts(op_name, height, width)
    return boxes.shape[0] if boxes.shape[0] != UNKNOWN else image.shape[0]


@infer.rule(roi_align)
def infer_roi_align(x, boxes, image, *, height, width, scale, ratio, aligned):
    _check_samples("roi_align", ratio)
    count = _regions("roi_align", "x", x, boxes, image, height, width)
    return Meta((count, x.shape[1], height, width), x.dtype)


def _cotangent_of_regions(op_name, ct, boxes, image, like, channels, height, width):
    require_rank(op_name, "like", like.shape, 4)
    count = _regions(op_name, "ct", ct, boxes, image, height, width)
    require_same_shape(op_name, "ct", ct.shape, "what was cut out", (count, channels, height, width))
    return Meta(like.shape, ct.dtype)


@infer.rule(roi_align_vjp)
def infer_roi_align_vjp(ct, boxes, image, like, *, height, width, scale, ratio, aligned):
    _check_samples("roi_align_vjp", ratio)
    return _cotangent_of_regions("roi_align_vjp", ct, boxes, image, like, like.shape[1] if like.rank == 4 else 0, height, width)


@infer.rule(roi_pool)
def infer_roi_pool(x, boxes, image, *, height, width, scale):
    shape = (_regions("roi_pool", "x", x, boxes, image, height, width), x.shape[1], height, width)
    return Meta(shape, x.dtype), Meta(shape, int64)


def _planes(op_name, channels, height, width):
    _check_parts(op_name, height, width)
    if channels == UNKNOWN:
        return UNKNOWN
    if channels % (height * width):
        raise ValueError(
            f"{op_name}: height * width does not divide the channels. Got {channels} channels for {height} x {width} parts, expected a multiple of "
            f"{height * width}. The convolution before makes as many."
        )
    return channels // (height * width)


@infer.rule(psroi_pool)
def infer_psroi_pool(x, boxes, image, *, height, width, scale):
    count = _regions("psroi_pool", "x", x, boxes, image, height, width)
    return Meta((count, _planes("psroi_pool", x.shape[1], height, width), height, width), x.dtype)


@infer.rule(psroi_pool_vjp)
def infer_psroi_pool_vjp(ct, boxes, image, like, *, height, width, scale):
    require_rank("psroi_pool_vjp", "like", like.shape, 4)
    channels = _planes("psroi_pool_vjp", like.shape[1], height, width)
    return _cotangent_of_regions("psroi_pool_vjp", ct, boxes, image, like, channels, height, width)


def _columns(op_name, x, offset, mask, kernel, strides, paddings, dilations, groups):
    """Shape of the columns, and of the image that the convolution makes."""
    require_rank(op_name, "x", x.shape, 4)
    require_rank(op_name, "offset", offset.shape, 4)
    dtypes = {"x": x.dtype, "offset": offset.dtype, **({} if mask is None else {"mask": mask.dtype})}
    require_dtype(op_name, "x", require_one_dtype(op_name, **dtypes), (float32, float64))
    for name, values, least in (("kernel", kernel, 1), ("strides", strides, 1), ("paddings", paddings, 0), ("dilations", dilations, 1)):
        if len(values) != 2 or min(values) < least:
            raise ValueError(f"{op_name}: {name} has two numbers. Got {values}, expected two of at least {least}. They are for height and width.")
    if groups < 1 or (x.shape[1] != UNKNOWN and x.shape[1] % groups):
        raise ValueError(
            f"{op_name}: groups do not divide the channels. Got {x.shape[1]} channels for {groups} groups, expected a multiple. "
            f"Change deformable_groups."
        )
    taps = kernel[0] * kernel[1]
    sizes = []
    for n, k, s, p, d in zip(x.shape[2:], kernel, strides, paddings, dilations, strict=True):
        size = UNKNOWN if n == UNKNOWN else (n + 2 * p - d * (k - 1) - 1) // s + 1
        if size != UNKNOWN and size < 0:
            raise ValueError(
                f"{op_name}: the kernel is larger than the image. Got an image of shape {show(x.shape[2:])} and kernel {kernel}, "
                f"expected the image to hold it. Use paddings."
            )
        sizes.append(size)
    require_same_shape(op_name, "offset", offset.shape, "of two numbers for each tap", (x.shape[0], 2 * groups * taps, *sizes))
    if mask is not None:
        require_rank(op_name, "mask", mask.shape, 4)
        require_same_shape(op_name, "mask", mask.shape, "of a number for each tap", (x.shape[0], groups * taps, *sizes))
    places = UNKNOWN if UNKNOWN in sizes else sizes[0] * sizes[1]
    return (x.shape[0], UNKNOWN if x.shape[1] == UNKNOWN else x.shape[1] * taps, places)


@infer.rule(deform_columns)
def infer_deform_columns(x, offset, mask, **attrs):
    return Meta(_columns("deform_columns", x, offset, mask, **attrs), x.dtype)


@infer.rule(deform_columns_vjp)
def infer_deform_columns_vjp(ct, x, offset, mask, **attrs):
    shape = _columns("deform_columns_vjp", x, offset, mask, **attrs)
    require_one_dtype("deform_columns_vjp", ct=ct.dtype, x=x.dtype)
    require_same_shape("deform_columns_vjp", "ct", ct.shape, "the columns", shape)
    weights = (offset.shape[0], attrs["groups"] * attrs["kernel"][0] * attrs["kernel"][1], *offset.shape[2:])
    return Meta(x.shape, x.dtype), Meta(offset.shape, x.dtype), Meta(weights, x.dtype)


@infer.rule(suppress)
def infer_suppress(boxes, group, *, threshold, offset):
    require_rank("suppress", "boxes", boxes.shape, 2)
    require_rank("suppress", "group", group.shape, 1)
    require_dtype("suppress", "boxes", boxes.dtype, (float32, float64))
    require_dtype("suppress", "group", group.dtype, (int64,))
    if not same_size(boxes.shape[1], 4):
        raise ValueError(f"suppress: boxes need four coordinates. Got boxes of shape {show(boxes.shape)}, expected [boxes, 4]. Give x1, y1, x2, y2.")
    if not same_size(boxes.shape[0], group.shape[0]):
        raise ValueError(
            f"suppress: `group` needs one number for each box. "
            f"Got group of shape {show(group.shape)} for boxes of shape {show(boxes.shape)}, expected one "
            f"number for each box. Pass zeros for one group."
        )
    return Meta((boxes.shape[0] if boxes.shape[0] != UNKNOWN else group.shape[0],), bool_)


class Samples:
    """Where the taps of `deform_columns` read: places and weights of the four pixels around each, [N, groups, taps, H', W']."""

    def __init__(self, op_name, x, offset, kernel, strides, paddings, dilations, groups):
        require_known(op_name, "x", x.shape)
        require_known(op_name, "offset", offset.shape)
        self.x, self.groups = x, groups
        n, self.channels, self.rows, self.columns = x.shape
        taps = kernel[0] * kernel[1]
        self.shape = (n, groups, taps, *offset.shape[2:])
        moved = ops.reshape(offset, (n, groups, taps, 2, *offset.shape[2:]))
        self.y = ops.select(moved, 3, 0) + self._grid(0, kernel, strides, paddings, dilations)
        self.x_at = ops.select(moved, 3, 1) + self._grid(1, kernel, strides, paddings, dilations)
        self.low_y, self.low_x = ops.floor(self.y), ops.floor(self.x_at)

    def _grid(self, axis, kernel, strides, paddings, dilations):
        taps = _range(kernel[axis], self.x) * _number(dilations[axis], self.x)
        places = _range(self.shape[3 + axis], self.x) * _number(strides[axis], self.x)
        taps = ops.broadcast_to(ops.reshape(taps, (-1, 1) if axis == 0 else (1, -1)), kernel)
        taps = ops.reshape(taps, (kernel[0] * kernel[1], 1, 1))
        return taps + ops.reshape(places, (-1, 1) if axis == 0 else (1, -1)) - _number(paddings[axis], self.x)

    def corners(self):
        """For each of the four pixels: its place in the plane, whether it is inside, its weight, and how that grows with y and x."""
        near_y, near_x = self.y - self.low_y, self.x_at - self.low_x
        one, zero = _number(1, self.x), _number(0, self.x)
        inside = ops.logical_and(
            ops.logical_and(ops.greater_than(self.y, -one), ops.less_than(self.y, _number(self.rows, self.x))),
            ops.logical_and(ops.greater_than(self.x_at, -one), ops.less_than(self.x_at, _number(self.columns, self.x))),
        )
        for dy in 0, 1:
            for dx in 0, 1:
                row, column = self.low_y + _number(dy, self.x), self.low_x + _number(dx, self.x)
                here = ops.logical_and(
                    ops.logical_and(ops.greater_equal(row, zero), ops.less_than(row, _number(self.rows, self.x))),
                    ops.logical_and(ops.greater_equal(column, zero), ops.less_than(column, _number(self.columns, self.x))),
                )
                here = ops.logical_and(here, inside)
                row, column = ops.where(here, row, zero), ops.where(here, column, zero)
                place = ops.cast(row, int64) * _number(self.columns, None) + ops.cast(column, int64)
                part_y, part_x = (near_y if dy else one - near_y), (near_x if dx else one - near_x)
                up_y, up_x = (part_x if dy else -part_x), (part_y if dx else -part_y)
                yield place, *(ops.where(here, weight, zero) for weight in (part_y * part_x, up_y, up_x))

    def flat_indices(self, place):
        """Places in `x` as a line, one for each channel: [N, groups, channels of a group, taps, H', W']."""
        n, g = self.shape[:2]
        planes = _range(n * self.channels, None) * _number(self.rows * self.columns, None)
        return ops.reshape(planes, (n, g, self.channels // g, 1, 1, 1)) + ops.unsqueeze(place, (2,))

    def read(self, place):
        return ops.gather(ops.reshape(self.x, (-1,)), self.flat_indices(place), 0)


def _number(value, like):
    return ops.full(shape=(), value=value, dtype=int64 if like is None else like.dtype)


def _range(count, like):
    return ops.arange(start=0, step=1, length=count, dtype=int64 if like is None else like.dtype)


@decompose.rule(deform_columns)
def decompose_deform_columns(x, offset, mask, **attrs):
    samples = Samples("deform_columns", x, offset, **attrs)
    n, channels, taps = x.shape[0], x.shape[1], samples.shape[2]
    if 0 in (*x.shape, *offset.shape):
        return ops.full(shape=(n, channels * taps, offset.shape[2] * offset.shape[3]), value=0, dtype=x.dtype)
    out = None
    for place, weight, _, _ in samples.corners():
        part = samples.read(place) * ops.unsqueeze(weight, (2,))
        out = part if out is None else out + part
    if mask is not None:
        out = out * ops.unsqueeze(ops.reshape(mask, samples.shape), (2,))
    return ops.reshape(out, (n, channels * taps, -1))


@decompose.rule(deform_columns_vjp)
def decompose_deform_columns_vjp(ct, x, offset, mask, **attrs):
    samples = Samples("deform_columns_vjp", x, offset, **attrs)
    n, g, taps, height, width = samples.shape
    if 0 in (*x.shape, *offset.shape):
        return tuple(ops.full(shape=tuple(shape), value=0, dtype=x.dtype) for shape in (x.shape, offset.shape, (n, g * taps, height, width)))
    ct = ops.reshape(ct, (n, g, samples.channels // g, taps, height, width))
    masked = ct if mask is None else ct * ops.unsqueeze(ops.reshape(mask, samples.shape), (2,))
    line = ops.reshape(x, (-1,))
    x_ct = y_ct = column_ct = mask_ct = None
    for place, weight, up_y, up_x in samples.corners():
        value = samples.read(place)
        share = masked * ops.unsqueeze(weight, (2,))
        parts = (
            ops.gather_vjp(share, samples.flat_indices(place), line, 0),
            *(_over_channels(values) for values in (masked * value * ops.unsqueeze(up_y, (2,)), masked * value * ops.unsqueeze(up_x, (2,)))),
            _over_channels(ct * value * ops.unsqueeze(weight, (2,))),
        )
        x_ct, y_ct, column_ct, mask_ct = (
            part if total is None else total + part for total, part in zip((x_ct, y_ct, column_ct, mask_ct), parts, strict=True)
        )
    offset_ct = ops.concat(ops.unsqueeze(y_ct, (3,)), ops.unsqueeze(column_ct, (3,)), axis=3)
    return (
        ops.reshape(x_ct, tuple(x.shape)), ops.reshape(offset_ct, tuple(offset.shape)), ops.reshape(mask_ct, (n, g * taps, height, width))
    )  # fmt: skip


def _over_channels(x):
    return ops.reduce_sum(x, axes=(2,), keepdim=False)
