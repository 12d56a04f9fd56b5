"""Ops that move values and never compute with them.

Those under *views* have no kernels: the core answers them with a new shape, strides and offset on
the same memory wherever that is possible.
"""
from wherry_tensor.ops.declare import op

# Views. Sizes and axes are resolved: non-negative axes; a size of -1 means unknown (capture only).
reshape = op("reshape", "x", shape=tuple, view=True)  # copies when strides do not allow a view
transpose = op("transpose", "x", perm=tuple, view=True)
broadcast_to = op("broadcast_to", "x", shape=tuple, view=True)
slice = op("slice", "x", axes=tuple, starts=tuple, ends=tuple, steps=tuple, view=True)  # Python bounds; steps != 0
select = op("select", "x", axis=int, index=int, view=True)  # drops the axis
squeeze = op("squeeze", "x", axes=tuple, view=True)
unsqueeze = op("unsqueeze", "x", axes=tuple, view=True)  # axes of the result
diagonal = op("diagonal", "x", offset=int, axis1=int, axis2=int, view=True)  # the diagonal becomes the last axis
as_complex = op("as_complex", "x", view=True)
as_real = op("as_real", "x", view=True)

# Views whose target shape is that of another tensor, of which only the shape is used. VJP rules
# are written with these so that they hold for shapes not known at capture.
reshape_like = op("reshape_like", "x, like", view=True)
broadcast_like = op("broadcast_like", "x, like", view=True)
unreduce_like = op("unreduce_like", "x, like", axes=tuple, keepdim=bool, view=True)  # undo a reduction by broadcasting
sum_like = op("sum_like", "x, like")  # undo broadcasting by summing

# Copies.
copy = op("copy", "x")  # contiguous
concat = op("concat", "*xs", axis=int)
pad = op("pad", "x", paddings=tuple, value=float)  # (before, after) for every axis, flattened; constant mode
flip = op("flip", "x", axes=tuple)
roll = op("roll", "x", shifts=tuple, axes=tuple)
repeat_interleave = op("repeat_interleave", "x", repeats=int, axis=int)
tril = op("tril", "x", diagonal=int)
triu = op("triu", "x", diagonal=int)

# Adjoints of views: zeros of the shape of `like` with `ct` written (or added) at the viewed place.
slice_vjp = op("slice_vjp", "ct, like", axes=tuple, starts=tuple, ends=tuple, steps=tuple)
select_vjp = op("select_vjp", "ct, like", axis=int, index=int)
diagonal_vjp = op("diagonal_vjp", "ct, like", offset=int, axis1=int, axis2=int)

# A shape as data: int32 [rank] (Paddle's paddle.shape).
shape_of = op("shape_of", "x")

__all__ = [name for name, value in list(globals().items()) if isinstance(value, type(reshape))]
