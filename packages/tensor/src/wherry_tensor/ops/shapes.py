"""Helpers that the shape rules of every family share.

A shape is a tuple of ints in which -1 stands for a size that is not known yet; every helper here
accepts it. `op_name` is the op whose rule asks: it opens the error message. The words for dtypes
(`floats`, `integers`, ...) are sets that `require_dtype` and a rule's own tests take.
"""
from wherry_tensor._core import (
    bfloat16,
    bool_,
    complex64,
    complex128,
    float16,
    float32,
    float64,
    int8,
    int16,
    int32,
    int64,
    uint8,
)
from wherry_tensor.sizes import is_unknown

UNKNOWN = -1

floats = (float16, bfloat16, float32, float64)
complexes = (complex64, complex128)
integers = (uint8, int8, int16, int32, int64)
bools = (bool_,)
indices = (int32, int64)
real_dtype = {complex64: float32, complex128: float64}
complex_dtype = {float32: complex64, float64: complex128}


def show(shape):
    """The text of a shape in messages: `[2, 3]`; an unknown size prints as -1."""
    return "[" + ", ".join(map(str, shape)) + "]"


def broadcast_shapes(op_name, *shapes):
    """Shape that `shapes` broadcast to, aligned at the right as in NumPy.

    An unknown size meets a known one other than 1 by becoming it; it meets 1 or another unknown
    by staying unknown.
    """
    first, *rest = shapes
    for shape in rest:
        if shape != first:
            break
    else:
        return first
    rank = max(map(len, shapes))
    result = [1] * rank
    for shape in shapes:
        for at, size in enumerate(shape, rank - len(shape)):
            have = result[at]
            if size == have or size == 1:
                continue
            if have == 1 or have == UNKNOWN:
                result[at] = size
            elif size != UNKNOWN:
                raise ValueError(
                    f"{op_name}: shapes {' and '.join(map(show, shapes))} do not broadcast together. "
                    f"Got sizes {have} and {size} for axis {at - rank} (counted from the last), "
                    f"expected equal sizes or a 1. "
                    f"Reshape or unsqueeze one input so that its axes align at the right."
                )
    return tuple(result)


def require_broadcast_to(op_name, name, shape, target):
    """Refuse `shape` of the input called `name` unless it broadcasts to `target` unchanged."""
    fits = len(shape) <= len(target) and all(
        a == b or a == 1 or UNKNOWN in (a, b) for a, b in zip(reversed(shape), reversed(target), strict=False)
    )
    if not fits:
        raise ValueError(
            f"{op_name}: `{name}` does not broadcast to the shape of the result. "
            f"Got shape {show(shape)}, expected one that broadcasts to {show(target)}. "
            f"Reshape `{name}` so that each of its axes is 1 or equals the axis above it."
        )


def reduced_shape(shape, axes, keepdim):
    """`shape` without `axes` (non-negative ints), or with size 1 in their place."""
    if keepdim:
        return tuple(1 if axis in axes else size for axis, size in enumerate(shape))
    return tuple(size for axis, size in enumerate(shape) if axis not in axes)


def is_known(shape):
    """Whether no size of `shape` is unknown."""
    return UNKNOWN not in shape


def element_count(shape):
    """Product of the sizes; unknown where one of them is, unless another is 0."""
    count = 1
    for size in shape:
        if size == 0:
            return 0
        count = UNKNOWN if UNKNOWN in (size, count) else count * size
    return count


def same_size(a, b):
    """Whether two sizes may be equal: an unknown one may be anything."""
    return a == b or a == UNKNOWN or b == UNKNOWN


def merge_size(a, b):
    """Of two sizes that are meant to be equal, the one that is known."""
    return b if a == UNKNOWN else a


def same_shape(a, b):
    """Whether two shapes may be equal."""
    return len(a) == len(b) and all(map(same_size, a, b))


def merge_shapes(a, b):
    """The better known sizes of two shapes that are meant to be equal."""
    return tuple(map(merge_size, a, b))


def require_same_shape(op_name, name, shape, other_name, other_shape):
    """Refuse two inputs whose shapes must be equal and are not; returns the better known shape."""
    if shape == other_shape:  # mostly
        return shape
    if not same_shape(shape, other_shape):
        raise ValueError(
            f"{op_name}: `{name}` and `{other_name}` must have one shape. "
            f"Got {show(shape)} and {show(other_shape)}, expected {show(other_shape)} for both. "
            f"Reshape or broadcast `{name}` first."
        )
    return merge_shapes(shape, other_shape)


def require_rank(op_name, name, shape, rank):
    """Refuse an input whose rank is not `rank` (an int, or a tuple of those allowed)."""
    allowed = (rank,) if isinstance(rank, int) else rank
    if len(shape) not in allowed:
        wanted = " or ".join(map(str, allowed))
        raise ValueError(
            f"{op_name}: `{name}` has {len(shape)} axes. "
            f"Got shape {show(shape)}, expected rank {wanted}. "
            f"Reshape `{name}`, or add axes with unsqueeze."
        )


def require_axis(op_name, axis, shape, name="axis"):
    """Refuse an axis (or one of several) outside `[0, rank)`: ops receive resolved axes."""
    for one in (axis,) if isinstance(axis, int) else axis:
        if not 0 <= one < len(shape):
            raise ValueError(
                f"{op_name}: {name} {one} is out of range for shape {show(shape)}. "
                f"Got {name}={axis}, expected each in [0, {len(shape)}). "
                f"The op takes non-negative axes; add the rank to a negative one."
            )


def require_dtype(op_name, name, dtype, allowed):
    """Refuse an input whose dtype is not among `allowed`."""
    if dtype not in allowed:
        got = dtype and dtype.name
        raise TypeError(
            f"{op_name}: `{name}` has dtype {got}, which the op does not take. "
            f"Got {got}, expected {', '.join(d.name for d in allowed)}. "
            f"Cast `{name}` first, for example with astype('{allowed[-1].name}')."
        )


def require_one_dtype(op_name, **dtypes):
    """Refuse inputs (given by name) of different dtypes; returns the one they share."""
    first = shared = None
    for name, dtype in dtypes.items():
        if shared is None:
            first, shared = name, dtype
        elif dtype is not shared and dtype is not None:
            raise TypeError(
                f"{op_name}: `{first}` and `{name}` have different dtypes. "
                f"Got {shared.name} and {dtype.name}, expected one dtype. "
                f"Cast one of them: the op itself does not promote."
            )
    return shared


def require_sizes(op_name, shape):
    """`shape` as a tuple, for an op that makes a tensor of it: no size is negative, save a Size of a capture."""
    for axis, n in enumerate(shape):
        if not is_unknown(n) and n < 0:
            raise ValueError(
                f"{op_name}: size {n} of axis {axis} is negative. Got shape {show(shape)}, expected sizes of 0 or more. "
                f"An unknown size cannot be made; take it from a tensor that has it, as in x.shape[0]."
            )
    return tuple(UNKNOWN if is_unknown(n) else n for n in shape)


def require_known(op_name, name, shape):
    """Refuse a shape with sizes that are not known, where the decomposition of the op is written with numbers."""
    if not is_known(shape):
        raise ValueError(
            f"{op_name}: its decomposition needs known sizes. Got `{name}` of shape {show(shape)}, expected numbers only. "
            f"Fix them in the input's description."
        )
