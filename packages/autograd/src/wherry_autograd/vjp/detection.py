"""Gradient rules for region pooling. Boxes have no gradient."""
from wherry_autograd.rules import not_differentiable, vjp
from wherry_tensor import ops
from wherry_tensor._core import int64


@vjp.rule(ops.roi_align)
def vjp_roi_align(ct, _out, x, boxes, image, *, height, width, scale, ratio, aligned):
    return ops.roi_align_vjp(ct, boxes, image, x, height=height, width=width, scale=scale, ratio=ratio, aligned=aligned), None, None


@vjp.rule(ops.roi_align_vjp)
def vjp_roi_align_vjp(ct, _out, _inner, boxes, image, _like, *, height, width, scale, ratio, aligned):
    return ops.roi_align(ct, boxes, image, height=height, width=width, scale=scale, ratio=ratio, aligned=aligned), None, None, None


@vjp.rule(ops.roi_pool, keep_outputs=("index",))
def vjp_roi_pool(ct, out, _x, _boxes, image, *, height, width, scale):
    index, rows, columns, channels = out[1], _x.shape[2], _x.shape[3], _x.shape[1]
    planes = ops.unsqueeze(image, (1,)) * _number(channels) + ops.arange(start=0, step=1, length=channels, dtype=int64)
    place = ops.unsqueeze(planes, (2, 3)) * _number(rows * columns) + index
    empty = ops.less_than(index, _number(0))  # those parts have no place: 0 is added at the first one
    given = ops.where(empty, ops.full(shape=(), value=0, dtype=ct[0].dtype), ct[0])
    line = ops.reshape(ops.full_like(_x, value=0, dtype=given.dtype), (-1,))
    summed = ops.gather_vjp(given, ops.where(empty, _number(0), place), line, 0)
    return ops.reshape_like(summed, _x), None, None


def _number(value):
    return ops.full(shape=(), value=value, dtype=int64)


@vjp.rule(ops.psroi_pool)
def vjp_psroi_pool(ct, _out, x, boxes, image, *, height, width, scale):
    return ops.psroi_pool_vjp(ct, boxes, image, x, height=height, width=width, scale=scale), None, None


@vjp.rule(ops.psroi_pool_vjp)
def vjp_psroi_pool_vjp(ct, _out, _inner, boxes, image, _like, *, height, width, scale):
    return ops.psroi_pool(ct, boxes, image, height=height, width=width, scale=scale), None, None, None


@vjp.rule(ops.deform_columns)
def vjp_deform_columns(ct, _out, x, offset, mask, *, kernel, strides, paddings, dilations, groups):
    x_ct, offset_ct, mask_ct = ops.deform_columns_vjp(
        ct, x, offset, mask, kernel=kernel, strides=strides, paddings=paddings, dilations=dilations, groups=groups
    )
    return x_ct, offset_ct, None if mask is None else mask_ct


not_differentiable(ops.suppress, "a decision for each box")
