"""Normalization."""
import wherry_nn.functional as F
from wherry_onnx_files.column import MICROSOFT, reads
from wherry_onnx_files.elements import dtype_of
from wherry_onnx_files.numbers import is_known
from wherry_onnx_files.ops.elementwise import scalar
from wherry_tensor import _core, ops


def _as(x, dtype):
    return x if x.dtype is dtype else ops.cast(x, dtype=dtype)


@reads("BatchNormalization")
def read_batch_normalization(o):
    x, scale, bias, mean, variance = (o.x(i) for i in range(5))
    epsilon, momentum = o.number("epsilon", 1e-5), o.number("momentum", 0.9)
    dtype = scale.dtype
    wide = _as(x, mean.dtype)
    scale, bias = _as(scale, mean.dtype), _as(bias, mean.dtype)
    if o.reader.training and mean.persistable and not o.flag("training_mode"):  # further training; its statistics move
        return _as(F.batch_norm(wide, mean, variance, scale, bias, True, momentum, epsilon), x.dtype)
    if o.version < 14 or not o.flag("training_mode"):
        return _as(ops.batch_norm_infer(wide, mean, variance, scale, bias, epsilon=epsilon, data_format="NCHW"), x.dtype)
    out, now, spread = ops.batch_norm(wide, scale, bias, epsilon=epsilon, data_format="NCHW")
    moved = [ops.lerp(old, new, scalar(old, 1 - momentum)) for old, new in ((mean, now), (variance, spread))]
    return _as(out, x.dtype), *(_as(m, dtype) if m.dtype is not mean.dtype else m for m in moved)


@reads("InstanceNormalization")
def read_instance_normalization(o):
    x, scale, bias = o.x(0), o.x(1), o.x(2)
    axes = tuple(range(2, x.ndim))
    centred = ops.subtract(x, ops.reduce_mean(x, axes=axes, keepdim=True))
    variance = ops.reduce_mean(ops.multiply(centred, centred), axes=axes, keepdim=True)
    out = ops.multiply(centred, ops.rsqrt(ops.add(variance, scalar(x, o.number("epsilon", 1e-5)))))
    shape = (-1, *[1] * (x.ndim - 2))
    return ops.add(ops.multiply(out, ops.reshape(scale, shape=shape)), ops.reshape(bias, shape=shape))


@reads("GroupNormalization")
def read_group_normalization(o):
    x, scale, bias, groups = o.x(0), o.x(1), o.x(2), o.integer("num_groups", 1)
    channels = x.shape[1]
    if o.version < 21:  # one number for each group
        if not is_known(channels):
            raise o.open_size("the number of channels")
        scale, bias = (
            ops.reshape(ops.broadcast_to(ops.unsqueeze(y, axes=(1,)), shape=(groups, channels // groups)), shape=(channels,)) for y in (scale, bias)
        )
    dtype = x.dtype
    wide = dtype_of(o.integer("stash_type", 1), o.where)
    if dtype.name not in ("float16", "bfloat16"):
        wide = dtype
    out = ops.group_norm(_as(x, wide), _as(scale, wide), _as(bias, wide), epsilon=o.number("epsilon", 1e-5), groups=groups)[0]
    return _as(out, dtype)


@reads("LayerNormalization")
@reads("LayerNormalization", domain=MICROSOFT)
def read_layer_normalization(o):
    x, scale, bias = o.x(0), o.x(1), o.maybe(2)
    axis, epsilon, dtype = o.integer("axis", -1) % x.ndim, o.number("epsilon", 1e-5), x.dtype
    if o.n_out == 1 and scale.ndim == 1 and axis == x.ndim - 1 and dtype is scale.dtype and _same(scale, x) and (bias is None or _same(bias, x)):
        return ops.layer_norm(x, scale, bias, epsilon=epsilon, begin_axis=axis)[0]
    wide = _core.float32 if dtype.name in ("float16", "bfloat16") else dtype
    axes = tuple(range(axis, x.ndim))
    y = _as(x, wide)
    mean = ops.reduce_mean(y, axes=axes, keepdim=True)
    centred = ops.subtract(y, mean)
    rstd = ops.rsqrt(ops.add(ops.reduce_mean(ops.multiply(centred, centred), axes=axes, keepdim=True), scalar(y, epsilon)))
    out = ops.multiply(_as(ops.multiply(centred, rstd), dtype), scale)
    return (out if bias is None else ops.add(out, bias)), mean, rstd


def _same(scale, x):
    return is_known(x.shape[-1]) and is_known(scale.shape[0]) and scale.shape[0] == x.shape[-1]


def rms(x, scale, axes, epsilon):
    """`x` divided by the root of its mean square."""
    wide = _core.float32 if x.dtype.name in ("float16", "bfloat16") else x.dtype
    y = _as(x, wide)
    mean = ops.reduce_mean(ops.multiply(y, y), axes=axes, keepdim=True)
    return ops.multiply(_as(ops.multiply(y, ops.rsqrt(ops.add(mean, scalar(y, epsilon)))), x.dtype), _as(scale, x.dtype))


@reads("RMSNormalization")
@reads("SimplifiedLayerNormalization")
@reads("SimplifiedLayerNormalization", domain=MICROSOFT)
def read_rms_normalization(o):
    x = o.x(0)
    axis = o.integer("axis", -1) % x.ndim
    return rms(x, o.x(1), tuple(range(axis, x.ndim)), o.number("epsilon", 1e-5))


@reads("LRN")
def read_lrn(o):
    x, size = o.x(0), o.integer("size", 1)
    if not 0 < size <= 1 << 12:
        raise o.bad(f"its size is {size}", "1 to 4096")
    before = (size - 1) // 2
    pads = [0, 0, before, size - 1 - before, *[0, 0] * (x.ndim - 2)]
    squares = ops.pad(ops.multiply(x, x), paddings=tuple(pads), value=0.0)
    total = None
    for i in range(size):
        part = ops.slice(squares, axes=(1,), starts=(i,), ends=(x.shape[1] + i,), steps=(1,))
        total = part if total is None else ops.add(total, part)
    base = ops.add(ops.multiply(total, scalar(x, o.number("alpha", 1e-4) / size)), scalar(x, o.number("bias", 1.0)))
    return ops.divide(x, ops.power(base, scalar(x, o.number("beta", 0.75))))


@reads("Dropout", folds=False)
def read_dropout(o):
    """Nothing is dropped, unless the model says that it is being trained."""
    x = o.x(0)
    ratio = (float(o.scalar(1, "the ratio")) if o.has(1) else 0.5) if o.version >= 12 else o.number("ratio", 0.5)
    training = bool(o.scalar(2, "whether it trains")) if o.has(2) else False
    ones = ops.full_like(x, value=1, dtype=_core.bool_) if o.version >= 10 else ops.full_like(x, value=1, dtype=x.dtype)
    if not (training or o.reader.training) or ratio == 0:
        return x, ones
    kept = ops.greater_equal(ops.uniform(shape=tuple(x.shape), min=0.0, max=1.0, dtype=_core.float32), _core.scalar(ratio, _core.float32))
    return ops.where(kept, ops.divide(x, scalar(x, 1 - ratio)), scalar(x, 0)), kept
