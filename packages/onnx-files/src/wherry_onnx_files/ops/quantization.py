"""Numbers of few bits with a scale."""
from wherry_onnx_files.column import MICROSOFT, reads
from wherry_onnx_files.elements import FLOAT8, dtype_of, limits, round_to
from wherry_onnx_files.numbers import is_known, same
from wherry_onnx_files.ops.contraction import product
from wherry_onnx_files.ops.convolution import convolved
from wherry_onnx_files.ops.elementwise import round_even, scalar
from wherry_tensor import _core, ops
from wherry_tensor.ops.quantization import rounded


def _as(x, dtype):
    return x if x.dtype is dtype else ops.cast(x, dtype=dtype)


def _spread(o, x, like):
    """A scale or zero point as it applies to `like`: one number, one for each place of an axis, or one for each block along it."""
    if x is None or not x.ndim or (x.ndim == 1 and is_known(x.shape[0]) and x.shape[0] == 1 and like.ndim != 1):
        return x if x is None or not x.ndim else ops.reshape(x, shape=())
    axis = o.integer("axis", 1) % like.ndim
    block = o.integer("block_size")
    if block:
        x = ops.repeat_interleave(x, repeats=block, axis=axis)
        fits = same(x.shape[axis], like.shape[axis])
        return x if fits else ops.slice(x, axes=(axis,), starts=(0,), ends=(like.shape[axis],), steps=(1,))
    if x.ndim == 1:
        return ops.reshape(x, shape=tuple(-1 if i == axis else 1 for i in range(like.ndim)))
    return x


def quantized(o, x, scale, zero, code, precision=None):
    """`x / scale + zero`, rounded to a type and held in what holds it."""
    wide = _core.float32 if precision is None else precision
    ratio = ops.divide(_as(x, wide), _as(scale, wide))
    if code in FLOAT8:
        return round_to(ratio if zero is None else ops.add(ratio, _as(zero, wide)), code, o.flag("saturate", True))
    low, high = limits(code)
    out = rounded(ratio) if wide in (_core.float32, _core.float64) else round_even(ratio)  # what is limited to 16 bits
    if zero is not None:
        out = ops.add(out, _as(zero, wide))
    out = ops.minimum(ops.maximum(out, scalar(out, low)), scalar(out, high))
    return _as(_as(out, _core.int64), dtype_of(code, o.where))


def _placed(o, scale, like):
    """Where a scale belongs, as the ops of the vocabulary take it; None where they do not."""
    if scale.ndim == 0 or (scale.ndim == 1 and is_known(scale.shape[0]) and scale.shape[0] == 1 and like.ndim != 1):
        return {"axis": None, "group": None}
    block, axis = o.integer("block_size"), o.integer("axis", 1) % like.ndim
    if block:
        return {"axis": axis, "group": block} if scale.ndim == like.ndim else None
    return {"axis": axis, "group": None} if scale.ndim == 1 and like.ndim else None


def _as_scale(scale, zero, places):
    """The zero point of a whole tensor in the shape of its scale: [] and [1] are the same."""
    return zero if zero is None or places["axis"] is not None or zero.ndim == scale.ndim else ops.reshape(zero, shape=(1,) * scale.ndim)


@reads("QuantizeLinear", keeps=False)
@reads("QuantizeLinear", domain=MICROSOFT, keeps=False)
def read_quantize_linear(o):
    x, scale, zero = o.x(0), o.scale(1), o.maybe(2)
    code = o.etype(2) if zero is not None else o.integer("output_dtype") or 2
    o.dtype(code)
    precision = o.integer("precision")
    places = _placed(o, scale, x)
    if places is not None and not precision and code in (2, 3) and x.dtype is scale.dtype is _core.float32:
        low, high = limits(code)
        zero = _as_scale(scale, zero, places)
        return ops.quantize_linear(x, scale, zero, low=low, high=high, dtype=dtype_of(code, o.where), **places)
    wide = dtype_of(precision, o.where) if precision else (_core.float64 if code in (6,) else None)
    return quantized(o, x, _spread(o, scale, x), _spread(o, zero, x), code, wide)


def dequantized(x, scale, zero, dtype=None):
    """`(x - zero) * scale`."""
    if not x.dtype.is_floating:
        wide = _as(x, _core.int32)
        wide = wide if zero is None else ops.subtract(wide, _as(zero, _core.int32))
    else:
        wide = x if zero is None else ops.subtract(x, _as(zero, x.dtype))
    out = ops.multiply(_as(wide, scale.dtype), scale)
    return out if dtype is None else _as(out, dtype)


# Weights are not computed when a file is read: what they meet may be computed in integers.
@reads("DequantizeLinear", keeps=False, folds=False)
@reads("DequantizeLinear", domain=MICROSOFT, keeps=False, folds=False)
def read_dequantize_linear(o):
    x, scale, zero = o.x(0), o.scale(1), o.maybe(2)
    dtype = o.dtype(o.integer("output_dtype")) if o.integer("output_dtype") else None
    places = _placed(o, scale, x)
    if places is not None and x.dtype in (_core.int8, _core.uint8, _core.int32) and scale.dtype is _core.float32 and dtype in (None, _core.float32):
        return ops.dequantize_linear(x, scale, _as_scale(scale, zero, places), dtype=scale.dtype, **places)
    return dequantized(x, _spread(o, scale, x), _spread(o, zero, x), dtype)


@reads("DynamicQuantizeLinear", keeps=False)
def read_dynamic_quantize_linear(o):
    x = o.x(0)
    axes = tuple(range(x.ndim))
    zero = scalar(x, 0)
    low = ops.minimum(ops.reduce_min(x, axes=axes, keepdim=False), zero)
    high = ops.maximum(ops.reduce_max(x, axes=axes, keepdim=False), zero)
    scale = ops.divide(ops.subtract(high, low), scalar(x, 255))
    safe = ops.where(ops.equal(scale, zero), scalar(x, 1), scale)
    byte = _core.uint8
    point = ops.quantize_linear(ops.negative(low), safe, None, axis=None, group=None, low=0, high=255, dtype=byte)
    return ops.quantize_linear(x, safe, point, axis=None, group=None, low=0, high=255, dtype=byte), scale, point


def _centred(x, zero, axis=None):
    """Whole numbers less their zero point, as floats that products of them fit into."""
    wide = _as(x, _core.float64)
    if zero is None:
        return wide
    zero = _as(zero, _core.float64)
    if zero.ndim == 1 and axis is not None:
        zero = ops.reshape(zero, shape=tuple(-1 if i == axis % x.ndim else 1 for i in range(x.ndim)))
    return ops.subtract(wide, zero)


@reads("MatMulInteger", keeps=False)
def read_matmul_integer(o):
    a, b, zeros = o.x(0), o.x(1), [o.maybe(2), o.maybe(3)]
    if _are_bytes(a, b) and a.ndim > 1 < b.ndim and all(z is None or z.ndim < 2 for z in zeros):
        return ops.matmul_int8(a, b, *map(_alone, zeros), transpose_x=False, transpose_y=False)
    return _as(product(_centred(a, zeros[0], -2), _centred(b, zeros[1], -1)), _core.int32)


@reads("ConvInteger", keeps=False)
def read_conv_integer(o):
    x, weight, zeros = o.x(0), o.x(1), [o.maybe(2), o.maybe(3)]
    if _are_bytes(x, weight) and x.ndim == 4:
        return convolved(o, x, weight, None, zeros=[*map(_alone, zeros)])
    return _as(convolved(o, _centred(x, zeros[0]), _centred(weight, zeros[1], 0), None), _core.int32)


def _are_bytes(*xs):
    return all(x.dtype in (_core.uint8, _core.int8) for x in xs)


def _alone(zero):
    """A zero point, `[]` where it is `[1]`."""
    return ops.reshape(zero, shape=()) if zero is not None and zero.ndim and is_known(zero.shape[0]) and zero.shape[0] == 1 else zero


def _requantized(o, sums, scales, out, code):
    """Exact sums of products, times both scales, as numbers of a type."""
    o.dtype(code)
    wide = _core.float64
    factor = ops.divide(ops.multiply(_as(scales[0], wide), _as(scales[1], wide)), _as(out[0], wide))
    low, high = limits(code)
    if code in FLOAT8:
        return round_to(_as(ops.multiply(sums, factor), _core.float32), code)
    result = rounded(ops.multiply(sums, factor))
    result = ops.add(result, _as(out[1], wide))
    result = ops.minimum(ops.maximum(result, scalar(result, low)), scalar(result, high))
    return _as(_as(result, _core.int64), dtype_of(code, o.where))


def _columns(scale, rank):
    """A scale for each column."""
    return ops.reshape(scale, shape=(-1,)) if scale.ndim == 1 and rank else scale


@reads("QLinearMatMul", keeps=False)
@reads("QLinearMatMul", domain=MICROSOFT, keeps=False)
def read_qlinear_matmul(o):
    a, b = _centred(o.x(0), o.x(2), -2), _centred(o.x(3), o.x(5), -1)
    sums = product(a, b)
    left = o.scale(1)
    if left.ndim == 1 and is_known(left.shape[0]) and left.shape[0] != 1:
        left = ops.reshape(left, shape=(-1, 1))
    return _requantized(o, sums, (left, _columns(o.scale(4), sums.ndim)), (o.scale(6), o.x(7)), o.etype(7))


@reads("QLinearConv", keeps=False)
def read_qlinear_conv(o):
    x, weight = _centred(o.x(0), o.x(2)), _centred(o.x(3), o.x(5), 0)
    scale = o.scale(4)
    bias = None if not o.has(8) else _as(o.x(8), _core.float64)
    sums = convolved(o, x, weight, bias)
    if scale.ndim == 1:
        scale = ops.reshape(scale, shape=(-1, *[1] * (sums.ndim - 2)))
    return _requantized(o, sums, (o.scale(1), scale), (o.scale(6), o.x(7)), o.etype(7))


# What ONNX Runtime's quantizer writes.


def _binary(o, op):
    a = dequantized(o.x(0), o.scale(1), o.maybe(2))
    b = dequantized(o.x(3), o.scale(4), o.maybe(5))
    code = o.etype(0)
    o.dtype(code)
    return quantized(o, op(a, b), o.scale(6), o.maybe(7), code)


reads("QLinearAdd", domain=MICROSOFT, keeps=False)(lambda o: _binary(o, ops.add))
reads("QLinearMul", domain=MICROSOFT, keeps=False)(lambda o: _binary(o, ops.multiply))


def _through(o, function):
    code = o.etype(0)
    o.dtype(code)
    return quantized(o, function(dequantized(o.x(0), o.scale(1), o.maybe(2))), o.scale(3), o.maybe(4), code)


reads("QLinearSigmoid", domain=MICROSOFT, keeps=False)(lambda o: _through(o, ops.sigmoid))
reads("QLinearLeakyRelu", domain=MICROSOFT, keeps=False)(lambda o: _through(o, lambda x: ops.leaky_relu(x, negative_slope=o.number("alpha", 0.01))))
reads("QLinearGlobalAveragePool", domain=MICROSOFT, keeps=False)(
    lambda o: _through(o, lambda x: ops.reduce_mean(x, axes=tuple(range(2, x.ndim)), keepdim=True))
)


@reads("QLinearConcat", domain=MICROSOFT, keeps=False)
def read_qlinear_concat(o):
    parts = [dequantized(o.x(i), o.scale(i + 1), o.maybe(i + 2)) for i in range(2, len(o), 3)]
    code = o.etype(1)
    o.dtype(code)
    return quantized(o, ops.concat(*parts, axis=o.integer("axis") % parts[0].ndim), o.scale(0), o.x(1), code)


@reads("DynamicQuantizeMatMul", "MatMulIntegerToFloat", domain=MICROSOFT, keeps=False)
def read_dynamic_quantize_matmul(o):
    if o.type == "MatMulIntegerToFloat":
        a, scale_a, b, scale_b = _centred(o.x(0), o.maybe(4)), o.scale(2), _centred(o.x(1), o.maybe(5), -1), o.scale(3)
        bias = o.maybe(6)
    else:
        codes, scale_a, zero = read_dynamic_quantize_linear(o)
        a, b, scale_b, bias = _centred(codes, zero), _centred(o.x(1), o.maybe(3), -1), o.scale(2), o.maybe(4)
    out = ops.multiply(_as(product(a, b), _core.float32), ops.multiply(scale_a, scale_b))
    return out if bias is None else ops.add(out, bias)
