"""Gradient rules for Fourier transforms and frames: each is linear, and its adjoint is one of the others."""
from wherry_autograd.rules import vjp
from wherry_tensor import ops
from wherry_tensor._core import int64


@vjp.rule(ops.fft_c2c)
def vjp_fft_c2c(ct, _out, _x, *, axes, normalization, forward):
    return (ops.fft_c2c(ct, axes=axes, normalization=normalization, forward=not forward),)


@vjp.rule(ops.fft_r2c)
def vjp_fft_r2c(ct, _out, _x, *, axes, normalization, forward):
    # The way back takes each element for two, itself and its conjugate in the half that was not kept.
    weighted = _weighted(ct, _x, axes[-1], 0.5)
    size = _x.shape[axes[-1]]
    return (ops.fft_c2r(weighted, axes=axes, normalization=normalization, forward=not forward, size=size),)


@vjp.rule(ops.fft_c2r)
def vjp_fft_c2r(ct, _out, _x, *, axes, normalization, forward, size):
    back = ops.fft_r2c(ct, axes=axes, normalization=normalization, forward=not forward)
    return (_weighted(back, ct, axes[-1], 2.0),)


def _weighted(half, whole, axis, weight):
    """`half` times a weight along an axis, but for the elements that are their own conjugates: the first, and the middle."""
    places = ops.arange(start=0, step=1, length=half.shape[axis], dtype=int64)
    size = ops.select(ops.shape_of(whole), axis=0, index=axis)
    size = ops.cast(size, dtype=int64)
    alone = ops.logical_or(ops.equal(places, places - places), ops.equal(places + places, size))
    one = ops.full_like(places, value=1, dtype=half.dtype)
    weights = ops.where(alone, one, ops.full_like(places, value=weight, dtype=half.dtype))
    behind = half.ndim - 1 - axis
    return half * (ops.unsqueeze(weights, axes=tuple(range(1, behind + 1))) if behind else weights)


@vjp.rule(ops.frame)
def vjp_frame(ct, _out, _x, *, length, hop, leading):
    if hop > length:  # elements between the frames are in none
        axis = 0 if leading else _x.ndim - 1
        zeros = ops.full_like(_x, value=0, dtype=ct.dtype)
        within = ops.arange(start=0, step=1, length=length, dtype=int64)
        begin = ops.arange(start=0, step=hop, length=ct.shape[0 if leading else ct.ndim - 1], dtype=int64)
        if leading:
            places = ops.unsqueeze(begin, axes=(1,)) + ops.unsqueeze(within, axes=(0,))
        else:
            places = ops.unsqueeze(within, axes=(1,)) + ops.unsqueeze(begin, axes=(0,))
        return (ops.index_put(zeros, ct, places, axes=(axis,), accumulate=True),)
    axis = 0 if leading else _x.ndim - 1
    added = ops.overlap_add(ct, hop=hop, leading=leading)
    # The last frame may end before x does.
    ends = (added.shape[axis],)
    return (ops.slice_vjp(added, _x, axes=(axis,), starts=(0,), ends=ends, steps=(1,)),)


@vjp.rule(ops.overlap_add)
def vjp_overlap_add(ct, _out, _x, *, hop, leading):
    length = _x.shape[1] if leading else _x.shape[-2]
    return (ops.frame(ct, length=length, hop=hop, leading=leading),)
