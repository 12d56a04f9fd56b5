"""Element-wise ops: arithmetic, functions, comparisons, logic."""
import math
import struct

import wherry_tensor as api
from wherry_paddle_files.column import LOOP, paddle, reads, writes
from wherry_paddle_files.writing import code_of
from wherry_tensor import ops

# Functions of one tensor that both sides have, under these names.
_unary = {
    "abs": "abs", "acos": "acos", "acosh": "acosh", "angle": "angle", "asin": "asin", "asinh": "asinh", "atan": "atan", "atanh": "atanh",
    "bitwise_not": "bitwise_not", "ceil": "ceil", "conj": "conj", "cos": "cos", "cosh": "cosh", "digamma": "digamma", "erf": "erf",
    "erfinv": "erfinv", "exp": "exp", "expm1": "expm1", "floor": "floor", "imag": "imag", "lgamma": "lgamma", "log": "log",
    "log10": "log10", "log1p": "log1p", "log2": "log2", "logical_not": "logical_not", "real": "real", "reciprocal": "reciprocal",
    "round": "round", "rsqrt": "rsqrt", "sign": "sign", "sin": "sin", "sinh": "sinh", "sqrt": "sqrt", "square": "square", "tan": "tan",
    "tanh": "tanh", "trunc": "trunc", "isnan": "isnan_v2", "isinf": "isinf_v2", "isfinite": "isfinite_v2",
}  # fmt: skip


_whole = ("int8", "uint8", "int16", "int32", "int64", "bool")
_fixed_on_whole = ("floor", "ceil", "round", "trunc")


def _both_ways(name, paddle_name):
    op = getattr(ops, name)

    def write(w, x):
        if x.dtype in _whole and name in _fixed_on_whole:
            return w("assign", {"X": x})
        if name in ("real", "imag") and not x.dtype.startswith("complex"):
            zeros = {"value": 0.0, "dtype": code_of(x.dtype)}
            return w("assign", {"X": x}) if name == "real" else w("fill_any_like", {"X": x}, zeros)
        if name == "sign" and x.dtype.startswith("complex"):
            return _sign_of_complex(w, x)
        return w(paddle_name, {"X": x}, dtype=w.outs[0].dtype)

    def read(o):
        return getattr(api, name)(o.x("X"))

    writes(op)(write)
    reads(paddle_name)(read)


def _sign_of_complex(w, x):
    """Both parts over the size, or over 1 where that is 0: Paddle's operator takes real numbers alone."""
    kind = "float32" if x.dtype == "complex64" else "float64"
    size = w("abs", {"X": x}, dtype=kind)
    nothing = w("equal", {"X": size, "Y": w.constant(0.0, kind, (1,))}, {"axis": -1}, dtype="bool")
    size = w("elementwise_add", {"X": size, "Y": w.cast(nothing, kind)}, {"axis": -1})
    size = w("unsqueeze2", {"X": size}, {"axes": [x.ndim]}, ("Out", "~XShape"), shape=(*x.shape, 1))
    parts = w("as_real", {"X": x}, dtype=kind, shape=(*x.shape, 2))
    return w("as_complex", {"X": w("elementwise_div", {"X": parts, "Y": size}, {"axis": -1})}, dtype=x.dtype, shape=x.shape)


for _name, _paddle_name in _unary.items():
    _both_ways(_name, _paddle_name)

reads("isnan")(lambda o: api.any(api.isnan(o.x("X"))))
reads("isinf")(lambda o: api.any(api.isinf(o.x("X"))))


@writes(ops.negative)
def write_negative(w, x):
    filled = w.filled(x)
    if filled is not None and x.dtype in ("float32", "float64", "int32", "int64") and -1 not in x.shape:  # oneDNN scales no tensor without axes
        return w.constant(-filled, x.dtype, x.shape)
    return w("scale", {"X": x}, {"scale": -1.0, "bias": 0.0, "bias_after_scale": True})


@reads("scale")
def read_scale(o):
    x, factor = o.x("X"), o.maybe("ScaleTensor")
    factor, bias = o.number("scale", 1.0) if factor is None else api.reshape(factor, []).astype(x.dtype), o.number("bias", 0.0)
    if type(factor) is float and factor == 1.0 and not bias:
        return x
    if not api.is_floating_point(x) and not api.is_complex(x) and isinstance(factor, float):
        factor, bias = int(factor), int(bias)
    if bias and not o.flag("bias_after_scale", True):
        x = x + bias
    if not isinstance(factor, (int, float)) or factor != 1:
        x = x * factor
    return x + bias if bias and o.flag("bias_after_scale", True) else x


@reads("increment")
def read_increment(o):
    x = o.x("X")
    step = o.number("step", 1.0)
    return x + (step if api.is_floating_point(x) else int(step))


@writes(ops.cast)
def write_cast(w, x, *, dtype):
    return w("assign", {"X": x}) if x.dtype == dtype.name else w.cast(x, dtype)


@reads("cast", "transfer_dtype")
def read_cast(o):
    return api.cast(o.x("X"), o.dtype("out_dtype"))


# Two tensors.

_binary = {
    "add": "elementwise_add", "subtract": "elementwise_sub", "multiply": "elementwise_mul", "divide": "elementwise_div",
    "floor_divide": "elementwise_floordiv", "remainder": "elementwise_mod", "power": "elementwise_pow", "maximum": "elementwise_max",
    "minimum": "elementwise_min", "fmax": "elementwise_fmax", "fmin": "elementwise_fmin", "heaviside": "elementwise_heaviside",
}  # fmt: skip
_compare = {
    "equal": "equal", "not_equal": "not_equal", "less_than": "less_than", "less_equal": "less_equal", "greater_than": "greater_than",
    "greater_equal": "greater_equal", "logical_and": "logical_and", "logical_or": "logical_or", "logical_xor": "logical_xor",
    "bitwise_and": "bitwise_and", "bitwise_or": "bitwise_or", "bitwise_xor": "bitwise_xor",
}  # fmt: skip


def _alike(o):
    """Both inputs; y's axes begin at `axis` of x, as programs before 2.0 have it."""
    x, y, axis = o.x("X"), o.x("Y"), o.integer("axis", -1)
    if axis >= 0 and axis + y.ndim < x.ndim and y.ndim:
        y = api.unsqueeze(y, list(range(y.ndim, x.ndim - axis)))
    return x, y


def _with_number(w, name, x, y):
    """One of `x` and `y` is a number: as Paddle writes it, an operator of one tensor. Those of two refuse tensors without elements beside others.

    Its attributes are float32: of other numbers nothing is made, and None returned.
    """
    number, tensor, first = (w.number(y), x, False) if w.number(y) is not None else (w.number(x), y, True)
    if number is None or tensor.shape != w.outs[0].sizes or tensor.dtype != w.outs[0].dtype.name or tensor.dtype not in _SCALED:
        return None
    scaled = {"add": (1, number), "subtract": (-1, number) if first else (1, -number), "multiply": (number, 0)}
    if name == "divide" and not first and tensor.dtype not in _whole and number:
        scaled["divide"] = (1 / number, 0)
    if name in scaled:
        factor, bias = map(float, scaled[name])
        fits = min(factor, bias) >= 0 or tensor.dtype not in ("bool", "uint8")
        if fits and _kept_by_float32(factor, tensor.dtype, exactly=name == "divide") and _kept_by_float32(bias, tensor.dtype):
            return w("scale", {"X": tensor}, {"scale": factor, "bias": bias, "bias_after_scale": True})
    has_power = tensor.dtype in ("float32", "float64") or (tensor.dtype in ("int32", "int64") and number >= 0)
    if name == "power" and not first and has_power and _kept_by_float32(float(number), tensor.dtype):
        return w("pow", {"X": tensor}, {"factor": float(number)})
    if name in ("maximum", "minimum") and tensor.dtype in _CLIPPED and tensor.dtype != "int64":
        return _clipped(w, tensor, *((number, None) if name == "maximum" else (None, number)))
    return None


_CLIPPED = ("float32", "float64", "int32", "int64")


def _clipped(w, x, low, high):
    """The operator with bounds that are numbers, tensors of one element, or None. (Constants go through double, which has not the last int64.)"""
    slots, attrs = {"X": x}, {}
    ends = (-math.inf, math.inf) if x.dtype.startswith("float") else (-(2 ** (bits := int(x.dtype[3:]) - 1)), 2**bits - 1)
    for slot, bound, end in (("Min", low, ends[0]), ("Max", high, ends[1])):
        number = end if bound is None else None if hasattr(bound, "shape") else bound
        exact = number is not None and (math.isinf(number) or (_kept_by_float32(float(number), x.dtype) and float(number) == number))
        attrs[slot.lower()] = float(number) if exact else 0.0
        if not exact:
            slots[slot] = bound if number is None else w.constant(number, x.dtype, (1,))
    return w("clip", slots, attrs)


def _as_large(w, x, y):
    """`x` in the shape of the result: of a smaller x, Paddle's predictor (oneDNN) divides y by x instead."""
    sizes = w.outs[0].sizes
    if x.ndim == len(sizes) and all(n != 1 or to == 1 for n, to in zip(x.shape, sizes, strict=True)):
        return x
    number = w.number(x)
    if y.shape == sizes and number is not None and _kept_by_float32(float(number), x.dtype):
        return w("fill_any_like", {"X": y}, {"value": float(number), "dtype": code_of(x.dtype)}, dtype=x.dtype)
    return w.broadcast(x, y)[0]


_SCALED = ("bool", "uint8", "int8", "int16", "int32", "int64", "float16", "bfloat16", "float32", "float64")


def _kept_by_float32(number, dtype, exactly=False):
    """Whether a tensor of `dtype` sees the same number when it is rounded to float32."""
    if not math.isfinite(number) or abs(number) > 3.4e38:
        return False
    return (dtype in ("float16", "bfloat16", "float32") and not exactly) or struct.unpack("f", struct.pack("f", number))[0] == number


def _pair(name, paddle_name):
    op = getattr(ops, name)
    function = "pow" if name == "power" else name
    attrs = {} if name in ("fmax", "fmin", "heaviside") or paddle_name.startswith(("logical", "bitwise")) else {"axis": -1}

    def write(w, x, y):
        found = _with_number(w, name, x, y)
        if found is not None:
            return found
        if name == "divide" and x.dtype in ("float32", "bfloat16"):
            x = _as_large(w, x, y)
        return w(paddle_name, {"X": w.ranked(x, y), "Y": w.ranked(y, x)}, attrs, dtype=w.outs[0].dtype, shape=w.outs[0].sizes)

    def read(o):
        return getattr(api, function)(*_alike(o))

    writes(op)(write)
    reads(paddle_name)(read)


for _name, _paddle_name in {**_binary, **_compare}.items():
    _pair(_name, _paddle_name)

reads("grad_add")(lambda o: api.add(*_alike(o)))
reads("minus")(lambda o: api.subtract(o.x("X"), o.x("Y")))


@writes(ops.atan2)
def write_atan2(w, x, y):
    x, y = w.broadcast(x, y)
    return w("atan2", {"X1": x, "X2": y}, dtype=w.outs[0].dtype)


@reads("atan2")
def read_atan2(o):
    return api.atan2(o.x("X1"), o.x("X2"))


@writes(ops.complex)
def write_complex(w, real, imag):
    return w("complex", {"X": real, "Y": imag}, dtype=w.outs[0].dtype)


@reads("complex")
def read_complex(o):
    return api.complex(o.x("X"), o.x("Y"))


@writes(ops.where)
def write_where(w, condition, x, y):
    condition, x, y = w.broadcast(condition, x, y)
    kind, wide = x.dtype, _CHOSEN_AS.get(x.dtype, x.dtype)  # as what a dtype is chosen that the operator does not have
    given = {"Condition": condition, "X": w.cast(x, wide), "Y": w.cast(y, wide)}
    return w.cast(w("where", given, dtype=wide, shape=w.outs[0].sizes), kind)


_CHOSEN_AS = {"bool": "int32", "uint8": "int32", "int8": "int32", "int16": "int32", "float16": "float32", "bfloat16": "float32"}


@reads("where")
def read_where(o):
    return api.where(o.x("Condition"), o.x("X"), o.x("Y"))


@writes(ops.lerp)
def write_lerp(w, x, y, weight):
    return w("lerp", {"X": x, "Y": y, "Weight": weight})


@reads("lerp")
def read_lerp(o):
    return api.lerp(o.x("X"), o.x("Y"), o.x("Weight"))


@writes(ops.polygamma)
def write_polygamma(w, x, *, n):
    return w("polygamma", {"x": x}, {"n": n}, "out") if n else w("digamma", {"X": x})


@reads("polygamma", out="out")
def read_polygamma(o):
    return ops.polygamma(o.x("x"), n=o.integer("n"))


def _bessel(name):
    writes(getattr(ops, name))(lambda w, x: w(name, {"x": x}, {}, "out"))
    reads(name, out="out")(lambda o: getattr(api, name)(o.x("x")))


for _name in ("i0", "i1", "i0e", "i1e"):
    _bessel(_name)


@writes(ops.nextafter)
def write_nextafter(w, x, y):
    x, y = w.broadcast(x, y)
    return w("nextafter", {"x": x, "y": y}, {}, "out")


@reads("nextafter", out="out")
def read_nextafter(o):
    return api.nextafter(o.x("x"), o.x("y"))


@writes(ops.clip)
def write_clip(w, x, low, high):
    bounds = [bound if bound is None or w.number(bound) is None else w.number(bound) for bound in (low, high)]
    one_each = all(not hasattr(bound, "shape") or (bound.dtype == x.dtype and all(size == 1 for size in bound.shape)) for bound in bounds)
    if x.dtype not in _CLIPPED or w.outs[0].dtype != x.dtype or not one_each or (x.dtype == "int64" and None in bounds):
        return NotImplemented
    return _clipped(w, x, *bounds)


@reads("clip")
def read_clip(o):
    x, low, high = o.x("X"), o.maybe("Min"), o.maybe("Max")
    low = o.number("min") if low is None else low
    high = o.number("max") if high is None else high
    return api.clip(x, low, high)


@reads("pow")
def read_pow(o):
    factor = o.maybe("FactorTensor")
    return api.pow(o.x("X"), o.number("factor", 1.0) if factor is None else factor)


@reads("sum")
def read_sum(o):
    return api.add_n(o.xs("X"))


@reads("clip_by_norm")
def read_clip_by_norm(o):
    x, most = o.x("X"), o.number("max_norm")
    norm = ops.sqrt(ops.squared_l2_norm(x))
    return x * ops.where(norm > most, most / norm, api.ones_like(norm))


@reads("isclose")
def read_isclose(o):
    return api.isclose(o.x("Input"), o.x("Other"), float(o.text("rtol", "1e-5")), float(o.text("atol", "1e-8")), o.flag("equal_nan"))


@reads("allclose")
def read_allclose(o):
    return api.allclose(o.x("Input"), o.x("Other"), float(o.text("rtol", "1e-5")), float(o.text("atol", "1e-8")), o.flag("equal_nan"))


@reads("equal_all")
def read_equal_all(o):
    return api.equal_all(o.x("X"), o.x("Y"))


paddle.exempt(ops.gcd, LOOP)
