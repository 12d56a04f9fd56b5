"""Samples of ops that move values."""
import numpy as np

from wherry_tensor import _core, ops
from wherry_tensor.testing import bad, case, spec

MOVED = "floats ints bool complex"  # values are not computed with, so every dtype is tried


def grid(rng, *shape):
    """Distinct values that every dtype holds exactly (up to 120 of them)."""
    return rng.permutation(int(np.prod(shape))).reshape(shape).astype(np.float64)


def here():
    """Where the kit makes its tensors."""
    return _core.name_of_device(_core.get_current_device())


def complex_grid(rng, *shape):
    return grid(rng, *shape) + 1j * grid(rng, *shape)


# Views.


@spec(ops.reshape, reference=lambda x, shape: x.reshape(shape), dtypes=MOVED)
def spec_reshape(rng):
    yield case(grid(rng, 2, 3, 4), shape=(4, 6))
    yield case(grid(rng, 6), shape=(2, 1, 3))
    yield case(np.array(3.0), shape=(1, 1))
    yield case(np.zeros((2, 0)), shape=(0, 5))
    yield case(np.zeros(1), shape=())
    yield case(complex_grid(rng, 2, 3), shape=(3, 2))
    yield bad(np.zeros((2, 3)), shape=(4,), error=ValueError, match=r"\[2, 3\].*\[4\]")
    yield bad(np.zeros((2, 3)), shape=(-2, 3), error=ValueError, match="reshape")


@spec(ops.transpose, reference=lambda x, perm: x.transpose(perm), dtypes=MOVED)
def spec_transpose(rng):
    yield case(grid(rng, 2, 3, 4), perm=(2, 0, 1))
    yield case(grid(rng, 2, 3), perm=(0, 1))
    yield case(np.array(3.0), perm=())
    yield case(np.zeros((2, 0, 3)), perm=(1, 2, 0))
    yield bad(np.zeros((2, 3)), perm=(0, 0), error=ValueError, match="perm")
    yield bad(np.zeros((2, 3)), perm=(0,), error=ValueError, match="perm")


@spec(ops.broadcast_to, reference=lambda x, shape: np.broadcast_to(x, shape), dtypes=MOVED)
def spec_broadcast_to(rng):
    yield case(grid(rng, 3, 1), shape=(2, 3, 4))
    yield case(np.array(3.0), shape=(2, 2))
    yield case(grid(rng, 1, 3), shape=(0, 3))
    yield case(grid(rng, 3), shape=(3,))
    yield bad(np.zeros((2, 3)), shape=(2, 4), error=ValueError, match=r"\[2, 4\]")
    yield bad(np.zeros((2, 3)), shape=(3,), error=ValueError, match=r"\[2, 3\]")


def sliced(x, axes, starts, ends, steps):
    for axis, start, end, step in zip(axes, starts, ends, steps):
        x = x[(*[slice(None)] * axis, slice(start, end, step))]
    return x


@spec(ops.slice, reference=sliced, dtypes=MOVED)
def spec_slice(rng):
    yield case(grid(rng, 4, 5), axes=(1,), starts=(1,), ends=(4,), steps=(1,))
    yield case(grid(rng, 4, 5), axes=(0, 1), starts=(-1, 4), ends=(-9, 0), steps=(-1, -2))
    yield case(grid(rng, 4, 5), axes=(1,), starts=(3,), ends=(3,), steps=(1,))   # nothing
    yield case(grid(rng, 7), axes=(0,), starts=(-100,), ends=(100,), steps=(3,))
    yield case(grid(rng, 4, 5), axes=(), starts=(), ends=(), steps=())
    yield case(np.zeros((0, 3)), axes=(0,), starts=(0,), ends=(2,), steps=(1,))
    yield bad(np.zeros((4, 5)), axes=(0,), starts=(0,), ends=(2,), steps=(0,), error=ValueError, match="step of 0")
    yield bad(np.zeros((4, 5)), axes=(2,), starts=(0,), ends=(2,), steps=(1,), error=ValueError, match="2 is out of range")
    yield case(grid(rng, 4, 5), axes=(0, 0), starts=(1, 1), ends=(4, 3), steps=(1, 1))  # an axis twice: a slice of a slice


@spec(ops.select, reference=lambda x, axis, index: np.take(x, index, axis), dtypes=MOVED)
def spec_select(rng):
    yield case(grid(rng, 3, 4), axis=1, index=2)
    yield case(grid(rng, 3, 4), axis=0, index=-1)
    yield case(grid(rng, 3), axis=0, index=0)
    yield bad(np.zeros((3, 4)), axis=1, index=4, error=IndexError, match=r"4 is out of range .*\[3, 4\]")
    yield bad(np.zeros((3, 0)), axis=1, index=0, error=IndexError, match="out of range")
    yield bad(np.array(1.0), axis=0, index=0, error=ValueError, match="axis 0")


@spec(ops.squeeze, reference=lambda x, axes: np.squeeze(x, axes), dtypes=MOVED)
def spec_squeeze(rng):
    yield case(grid(rng, 1, 3, 1), axes=(0, 2))
    yield case(grid(rng, 1, 3), axes=())
    yield case(np.zeros((1, 0)), axes=(0,))
    yield bad(np.zeros((2, 3)), axes=(0,), error=ValueError, match="more than one element")


@spec(ops.squeeze_ones, reference=lambda x, axes: np.squeeze(x, axes), dtypes=MOVED)
def spec_squeeze_ones(rng):
    yield case(grid(rng, 1, 3, 1), axes=(0, 2))
    yield case(grid(rng, 2, 3), axes=())
    yield case(np.zeros((1, 0)), axes=(0,))
    yield bad(np.zeros((2, 3)), axes=(0,), error=ValueError, match="more than one element")
    yield bad(np.zeros((1, 3)), axes=(), error=ValueError, match="captured for sizes that are not 1")


@spec(ops.unsqueeze, reference=lambda x, axes: np.expand_dims(x, axes), dtypes=MOVED)
def spec_unsqueeze(rng):
    yield case(grid(rng, 3, 2), axes=(0, 3))
    yield case(grid(rng, 3, 2), axes=(1,))
    yield case(np.array(2.0), axes=(0,))
    yield case(np.zeros((0, 2)), axes=(1,))
    yield bad(np.zeros((2, 3)), axes=(3,), error=ValueError, match=r"\[0, 3\)")
    yield bad(np.zeros((2, 3)), axes=(1, 1), error=ValueError, match="unsqueeze")


@spec(ops.diagonal, reference=lambda x, offset, axis1, axis2: np.diagonal(x, offset, axis1, axis2), dtypes=MOVED)
def spec_diagonal(rng):
    yield case(grid(rng, 3, 4), offset=0, axis1=0, axis2=1)
    yield case(grid(rng, 3, 4), offset=2, axis1=0, axis2=1)
    yield case(grid(rng, 2, 3, 4), offset=-1, axis1=2, axis2=0)
    yield case(grid(rng, 3, 4), offset=9, axis1=0, axis2=1)  # beyond the matrix: empty
    yield bad(np.zeros((3, 4)), offset=0, axis1=1, axis2=1, error=ValueError, match="two axes")


@spec(ops.as_complex, reference=lambda x: x[..., 0] + 1j * x[..., 1], dtypes="float32 float64", second_order=False)
def spec_as_complex(rng):
    yield case(grid(rng, 3, 2))
    yield case(grid(rng, 2))
    yield case(np.zeros((0, 2)))
    yield bad(np.zeros((3, 3)), error=ValueError, match="last axis")
    yield bad(np.zeros((3, 2), np.int64), error=TypeError, match="int64")


@spec(ops.as_real, reference=lambda x: np.stack([x.real, x.imag], -1), dtypes="complex", second_order=False)
def spec_as_real(rng):
    yield case(complex_grid(rng, 3, 2))
    yield case(np.array(1 + 2j))
    yield bad(np.zeros((3, 2)), error=TypeError, match="float64")


@spec(ops.reshape_like, reference=lambda x, like: x.reshape(like.shape), dtypes=MOVED, cast=(0,), grad_of=(0,))
def spec_reshape_like(rng):
    yield case(grid(rng, 2, 6), np.zeros((3, 4)))
    yield case(grid(rng, 1), np.array(0.0))
    yield bad(np.zeros((2, 3)), np.zeros(5), error=ValueError, match=r"\[2, 3\] and \[5\]")


@spec(ops.broadcast_like, reference=lambda x, like: np.broadcast_to(x, like.shape), dtypes=MOVED, cast=(0,), grad_of=(0,))
def spec_broadcast_like(rng):
    yield case(grid(rng, 3, 1), np.zeros((2, 3, 4)))
    yield case(np.array(2.0), np.zeros((0, 4)))
    yield bad(np.zeros((2, 3)), np.zeros((2, 4)), error=ValueError, match=r"\[2, 4\]")


def unreduced(x, like, axes, keepdim):
    return np.broadcast_to(x if keepdim else np.expand_dims(x, axes), like.shape)


@spec(ops.unreduce_like, reference=unreduced, dtypes=MOVED, cast=(0,), grad_of=(0,))
def spec_unreduce_like(rng):
    yield case(grid(rng, 2, 4), np.zeros((2, 3, 4)), axes=(1,), keepdim=False)
    yield case(grid(rng, 2, 1, 1), np.zeros((2, 3, 4)), axes=(1, 2), keepdim=True)
    yield case(np.array(5.0), np.zeros((2, 3)), axes=(0, 1), keepdim=False)
    yield case(grid(rng, 3), np.zeros((3, 0)), axes=(1,), keepdim=False)
    yield bad(np.zeros(3), np.zeros((2, 4)), axes=(1,), keepdim=False, error=ValueError, match="not a reduction")


def summed(x, like):
    added = x.ndim - like.ndim
    axes = tuple(range(added)) + tuple(i for i in range(added, x.ndim) if like.shape[i - added] == 1)
    # Halves were rounded, ints stay in their own dtype.
    return x.sum(axes, dtype=x.dtype).reshape(like.shape)


@spec(ops.sum_like, reference=summed, dtypes="floats int32 int64 complex", cast=(0,), grad_of=(0,))
def spec_sum_like(rng):
    yield case(grid(rng, 4, 3), np.zeros(3))
    yield case(grid(rng, 4, 3), np.zeros((4, 1)))
    yield case(grid(rng, 2, 3, 4), np.zeros((3, 1)))
    yield case(grid(rng, 2, 3, 2, 2), np.zeros((1, 3, 1, 2)))
    yield case(grid(rng, 2, 5), np.array(0.0))
    yield case(grid(rng, 2, 5), np.zeros((2, 5)))          # nothing to sum
    yield case(np.zeros((0, 3)), np.zeros(3))              # the sum of nothing is 0
    yield case(np.ones((300, 700)), np.zeros(700), differentiable=False)   # rows in fixed blocks
    yield case(np.ones((300, 700)), np.zeros((300, 1)), differentiable=False)
    yield case(np.ones((400, 500)), np.array(0.0), differentiable=False, dtypes="float32 float64")
    yield bad(np.zeros((2, 3)), np.zeros((2, 2)), error=ValueError, match=r"\[2, 2\]")


# Copies.


@spec(ops.copy_to, reference=lambda x, device, source: x, dtypes=MOVED)
def spec_copy_to(rng):
    # From one device to the same one; testing/reference.py goes from one to another.
    yield case(grid(rng, 3, 4), device=here(), source=here())
    yield case(np.array(7.0), device=here(), source=here())
    yield case(np.zeros((0, 4)), device=here(), source=here())


@spec(ops.copy, reference=lambda x: x, dtypes=MOVED)
def spec_copy(rng):
    yield case(grid(rng, 3, 4))
    yield case(np.array(7.0))
    yield case(np.zeros((0, 4)))
    yield case(grid(rng, 8, 15))
    yield case((np.arange(70 * 130) % 120).reshape(70, 130) * 1.0, differentiable=False)  # transposed in tiles by check_layout
    yield case((np.arange(3 * 40 * 50) % 120).reshape(3, 40, 50) * 1.0, differentiable=False)


@spec(ops.concat, reference=lambda *xs, axis: np.concatenate([x for x in xs if x.shape != (0,)] or xs, axis), dtypes=MOVED)
def spec_concat(rng):
    yield case(grid(rng, 2, 3), grid(rng, 2, 1), grid(rng, 2, 2), axis=1)
    yield case(grid(rng, 2, 3), axis=0)
    yield case(grid(rng, 2, 3), np.zeros((0, 3)), grid(rng, 1, 3), axis=0)
    yield case(grid(rng, 2, 3), np.zeros(0), axis=0)
    yield case(np.zeros(0), np.zeros(0), axis=0)
    yield bad(np.zeros((2, 3)), np.zeros((2, 4)), axis=0, error=ValueError, match=r"\[2, 3\], \[2, 4\]")
    yield bad(np.zeros((2, 3)), np.zeros((2, 3), np.float32), axis=0, error=TypeError, match="float64 and float32")
    yield bad(np.zeros((2, 3)), np.zeros((2, 3)), axis=2, error=ValueError, match="axis 2")
    yield bad(axis=0, error=(TypeError, ValueError), match="concat")


def padded(x, paddings, value):
    pairs = np.reshape(paddings, (-1, 2))
    for axis, (before, after) in enumerate(pairs):
        x = sliced(x, (axis,), (max(-before, 0),), (x.shape[axis] - max(-after, 0),), (1,))
    return np.pad(x, np.maximum(pairs, 0), constant_values=value)


@spec(ops.pad, reference=padded, dtypes="floats ints complex")
def spec_pad(rng):
    yield case(grid(rng, 2, 3), paddings=(1, 0, 2, 3), value=5.0)
    yield case(grid(rng, 2, 3), paddings=(0, 0, 0, 0), value=5.0)
    yield case(grid(rng, 2, 3, 2), paddings=(0, 0, 1, 1, 0, 0), value=0.0)
    yield case(grid(rng, 4, 5), paddings=(-1, 2, 1, -3), value=1.0)   # negative ones cut
    yield case(grid(rng, 4), paddings=(-3, -1), value=1.0)            # all of it
    yield case(np.zeros((0, 2)), paddings=(1, 2, 0, 1), value=3.0)
    yield bad(np.zeros((2, 3)), paddings=(1, 1), value=0.0, error=ValueError, match="expected 4")
    yield bad(np.zeros(2), paddings=(-2, -1), value=0.0, error=ValueError, match="cut away more")


@spec(ops.flip, reference=lambda x, axes: np.flip(x, axes), dtypes=MOVED)
def spec_flip(rng):
    yield case(grid(rng, 2, 3, 4), axes=(0, 2))
    yield case(grid(rng, 5), axes=(0,))
    yield case(grid(rng, 2, 3), axes=())
    yield case(np.zeros((2, 0)), axes=(0, 1))
    yield bad(np.zeros((2, 3)), axes=(2,), error=ValueError, match="2 is out of range")
    yield bad(np.zeros((2, 3)), axes=(1, 1), error=ValueError, match="twice")


@spec(ops.roll, reference=lambda x, shifts, axes: np.roll(x, shifts, axes), dtypes=MOVED)
def spec_roll(rng):
    yield case(grid(rng, 4, 3), shifts=(1, -1), axes=(0, 1))
    yield case(grid(rng, 5), shifts=(12,), axes=(0,))
    yield case(grid(rng, 5, 2), shifts=(1, 1), axes=(0, 0))   # an axis twice
    yield case(grid(rng, 2, 3), shifts=(), axes=())
    yield case(np.zeros((0, 3)), shifts=(2,), axes=(0,))
    yield bad(np.zeros((2, 3)), shifts=(1,), axes=(0, 1), error=ValueError, match="each axis needs its shift")


@spec(ops.repeat_interleave, reference=lambda x, repeats, axis: np.repeat(x, repeats, axis), dtypes=MOVED)
def spec_repeat_interleave(rng):
    yield case(grid(rng, 2, 3), repeats=2, axis=1)
    yield case(grid(rng, 2, 3), repeats=3, axis=0)
    yield case(grid(rng, 2, 3), repeats=0, axis=0)
    yield case(np.zeros((2, 0)), repeats=2, axis=1)
    yield bad(np.zeros((2, 3)), repeats=-1, axis=0, error=ValueError, match="-1 times")
    yield bad(np.zeros((2, 3)), repeats=1, axis=2, error=ValueError, match="axis 2")


@spec(ops.tril, reference=lambda x, diagonal: np.tril(x, diagonal), dtypes=MOVED)
def spec_tril(rng):
    yield case(grid(rng, 4, 3), diagonal=0)
    yield case(grid(rng, 3, 5), diagonal=-1)
    yield case(grid(rng, 2, 3, 3), diagonal=1)
    yield case(grid(rng, 3, 3), diagonal=2**62)
    yield case(grid(rng, 3, 3), diagonal=-(2**62))
    yield case(np.zeros((0, 3)), diagonal=0)
    yield bad(np.zeros(3), diagonal=0, error=ValueError, match="matrix")


@spec(ops.triu, reference=lambda x, diagonal: np.triu(x, diagonal), dtypes=MOVED)
def spec_triu(rng):
    yield case(grid(rng, 4, 3), diagonal=0)
    yield case(grid(rng, 3, 5), diagonal=-1)
    yield case(grid(rng, 2, 3, 3), diagonal=1)
    yield case(grid(rng, 3, 3), diagonal=2**62)
    yield case(np.zeros((3, 0)), diagonal=0)
    yield bad(np.zeros(3), diagonal=0, error=ValueError, match="matrix")


def replaced(x, value, **place):
    out = x.copy()
    flat = sliced(np.arange(x.size).reshape(x.shape), **place)
    out.reshape(-1)[flat.reshape(-1)] = value.reshape(-1)
    return out


@spec(ops.slice_put, reference=replaced, dtypes=MOVED)
def spec_slice_put(rng):
    yield case(grid(rng, 4, 5), grid(rng, 4, 3), axes=(1,), starts=(1,), ends=(4,), steps=(1,))
    yield case(grid(rng, 4, 5), grid(rng, 4, 2), axes=(0, 1), starts=(-1, 4), ends=(-9, 0), steps=(-1, -2))
    yield case(grid(rng, 4, 5), np.zeros((4, 0)), axes=(1,), starts=(3,), ends=(3,), steps=(1,))
    yield case(grid(rng, 4), grid(rng, 4), axes=(), starts=(), ends=(), steps=())
    yield bad(np.zeros(4), np.zeros(3), axes=(0,), starts=(0,), ends=(2,), steps=(1,), error=ValueError, match=r"\[3\].*\[2\]")


# Adjoints of views.


def placed(view):
    """The reference of a view's adjoint: ct written through the view into zeros."""

    def reference(ct, like, **attrs):
        out = np.zeros(like.shape, ct.dtype)
        place = view(np.arange(out.size).reshape(out.shape), **attrs)
        out.reshape(-1)[place.reshape(-1)] = ct.reshape(-1)
        return out

    return reference


@spec(ops.slice_vjp, reference=placed(sliced), dtypes=MOVED, cast=(0,), grad_of=(0,))
def spec_slice_vjp(rng):
    yield case(grid(rng, 4, 3), np.zeros((4, 5)), axes=(1,), starts=(1,), ends=(4,), steps=(1,))
    yield case(grid(rng, 4, 2), np.zeros((4, 5)), axes=(0, 1), starts=(-1, 4), ends=(-9, 0), steps=(-1, -2))
    yield case(np.zeros((4, 0)), np.zeros((4, 5)), axes=(1,), starts=(3,), ends=(3,), steps=(1,))
    yield case(grid(rng, 2, 3), np.zeros((2, 3)), axes=(), starts=(), ends=(), steps=())
    yield bad(np.zeros(3), np.zeros(5), axes=(0,), starts=(0,), ends=(2,), steps=(1,), error=ValueError, match=r"\[2\]")


@spec(ops.select_vjp, reference=placed(lambda x, axis, index: np.take(x, index, axis)), dtypes=MOVED, cast=(0,), grad_of=(0,))
def spec_select_vjp(rng):
    yield case(grid(rng, 3), np.zeros((3, 4)), axis=1, index=2)
    yield case(grid(rng, 4), np.zeros((3, 4)), axis=0, index=-1)
    yield case(np.array(2.0), np.zeros(3), axis=0, index=0)
    yield bad(np.zeros(4), np.zeros((3, 4)), axis=0, index=3, error=IndexError, match="3 is out of range")


@spec(
    ops.diagonal_vjp,
    reference=placed(lambda x, offset, axis1, axis2: np.diagonal(x, offset, axis1, axis2)),
    dtypes=MOVED, cast=(0,), grad_of=(0,),
)
def spec_diagonal_vjp(rng):
    yield case(grid(rng, 3), np.zeros((3, 4)), offset=0, axis1=0, axis2=1)
    yield case(grid(rng, 2), np.zeros((3, 4)), offset=2, axis1=0, axis2=1)
    yield case(grid(rng, 3, 1), np.zeros((2, 3, 4)), offset=-3, axis1=2, axis2=0)
    yield case(np.zeros(0), np.zeros((3, 4)), offset=9, axis1=0, axis2=1)
    yield bad(np.zeros(4), np.zeros((3, 4)), offset=0, axis1=0, axis2=1, error=ValueError, match=r"\[3\]")


@spec(ops.shape_of, reference=lambda x: np.array(x.shape, np.int32), dtypes=MOVED, differentiable=False)
def spec_shape_of(rng):
    yield case(np.zeros((2, 0, 3)))
    yield case(np.array(1.0))
