"""Constants, ranges, random numbers, windows."""
import numpy as np

from wherry_onnx_files.column import reads
from wherry_onnx_files.elements import HELD, dtype_of, held_array, tensor_of_array
from wherry_onnx_files.numbers import Numbers, is_known
from wherry_onnx_files.ops.elementwise import cast_to
from wherry_onnx_files.ops.movement import object_array
from wherry_onnx_files.reading import constant
from wherry_onnx_files.tensors import sparse_array
from wherry_tensor import _core, ops
from wherry_tensor._core import from_values
from wherry_tensor.sizes import Size


@reads("Constant", keeps=False)
def read_constant(o):
    if o.given("value"):
        return constant(o, o.tensor("value"))
    if o.given("sparse_value"):
        array, code = sparse_array(o.sparse("sparse_value"), o.reader.folder, f"a constant of {o.where}", 1 << 22)
        return tensor_of_array(array, code)
    for name, kind, values in (
        ("value_float", _core.float32, lambda: [o.number("value_float")]), ("value_int", _core.int64, lambda: [o.integer("value_int")]),
        ("value_floats", _core.float32, lambda: o.floats_of("value_floats")), ("value_ints", _core.int64, lambda: o.ints_of("value_ints")),
    ):
        if o.given(name):
            found = values()
            return from_values(found, (len(found),) if name.endswith("s") else (), kind)
    raise o.unsupported("a constant of strings, or of nothing", "numbers")


@reads("ConstantOfShape", keeps=False)
def read_constant_of_shape(o):
    shape = o.sizes(0, "the shape")
    given = o.tensor("value")
    value = _core.scalar(0.0, _core.float32) if given is None else constant(o, given)
    if value.size != 1:
        raise o.bad(f"its value has {value.size} elements", "one")
    number = value.item()
    if value.dtype.name == "int64" and len(shape) == 1 and is_known(shape[0]) and 0 <= shape[0] <= 64:
        return Numbers(object_array([int(number)] * shape[0]))
    return ops.full(shape=tuple(shape), value=number, dtype=value.dtype)


@reads("Range")
def read_range(o):
    parts = [o.numbers(i) for i in range(3)]
    dtype = o.value(0).dtype
    if all(p is not None for p in parts):
        start, limit, step = (p.reshape(-1)[0] for p in parts)
        if all(is_known(n) for n in (start, limit, step)):
            length = max(-(-(limit - start) // step), 0)
            if length <= 4096:
                return Numbers(object_array(range(start, limit, step)), dtype)
        elif is_known(step) and step == 1:
            length = limit - start
        elif is_known(step):
            length = (limit - start + (step - (1 if step > 0 else -1))) // step
        else:
            raise o.open_size("the step")
        if type(start) is Size:
            return ops.add(ops.arange(start=0, step=step, length=length, dtype=dtype), start.tensor(dtype))
        return ops.arange(start=start, step=step, length=length, dtype=dtype)
    if all(o.is_known(i) for i in range(3)):
        start, limit, step = (o.scalar(i, "the bounds") for i in range(3))
        length = max(int(np.ceil((limit - start) / step)), 0)
        return ops.arange(start=start, step=step, length=length, dtype=dtype)
    start, limit, step = (ops.cast(ops.reshape(o.x(i), shape=()), dtype=_core.float64) for i in range(3))
    count = ops.cast(ops.maximum(ops.ceil(ops.divide(ops.subtract(limit, start), step)), _core.scalar(0.0, _core.float64)), dtype=_core.int64)
    at = ops.arange(start=0, step=1, length=Size("value", count), dtype=_core.float64)
    return ops.cast(ops.add(start, ops.multiply(at, step)), dtype=dtype)


@reads("EyeLike", keeps=False)
def read_eye_like(o):
    x, k = o.x(0), o.integer("k")
    rows, columns = x.shape
    dtype = o.dtype(o.integer("dtype")) if o.given("dtype") else x.dtype
    r, c = (ops.arange(start=0, step=1, length=n, dtype=_core.int64) for n in (rows, columns))
    on = ops.equal(ops.add(ops.unsqueeze(r, axes=(1,)), _core.scalar(k, _core.int64)), ops.unsqueeze(c, axes=(0,)))
    return ops.cast(on, dtype=dtype)


# Random numbers. Their generator is the library's.


def _random_dtype(o, default):
    return o.dtype(o.integer("dtype", default))


@reads("RandomNormal", folds=False, keeps=False)
def read_random_normal(o):
    shape = tuple(o.ints_of("shape", []))
    return ops.normal(shape=shape, mean=o.number("mean"), std=o.number("scale", 1.0), dtype=_random_dtype(o, 1))


@reads("RandomUniform", folds=False, keeps=False)
def read_random_uniform(o):
    return ops.uniform(shape=tuple(o.ints_of("shape", [])), min=o.number("low"), max=o.number("high", 1.0), dtype=_random_dtype(o, 1))


@reads("RandomNormalLike", folds=False, keeps=False)
def read_random_normal_like(o):
    dtype = o.dtype(o.integer("dtype", o.etype(0)))
    return ops.normal(shape=tuple(o.x(0).shape), mean=o.number("mean"), std=o.number("scale", 1.0), dtype=dtype)


@reads("RandomUniformLike", folds=False, keeps=False)
def read_random_uniform_like(o):
    dtype = o.dtype(o.integer("dtype", o.etype(0)))
    return ops.uniform(shape=tuple(o.x(0).shape), min=o.number("low"), max=o.number("high", 1.0), dtype=dtype)


@reads("Bernoulli", folds=False, keeps=False)
def read_bernoulli(o):
    x = o.x(0)
    return ops.cast(ops.bernoulli(x), dtype=o.dtype(o.integer("dtype", o.etype(0))))


@reads("Multinomial", folds=False, keeps=False)
def read_multinomial(o):
    found = ops.multinomial(ops.softmax(o.x(0), axis=1), num_samples=o.integer("sample_size", 1), replacement=True)
    return ops.cast(found, dtype=o.dtype(o.integer("dtype", 6)))


# Windows and filters, in closed form.


def _window(o, coefficients):
    count = o.size(0, "the length")
    code = o.integer("output_datatype", 1)
    span = count if o.flag("periodic", True) else count - 1
    at = ops.arange(start=0, step=1, length=count, dtype=_core.float64)
    over = _core.scalar(float(span), _core.float64) if is_known(span) else span.tensor(_core.float64)
    angle = ops.divide(ops.multiply(at, _core.scalar(2 * np.pi, _core.float64)), over)
    out = None
    for k, a in enumerate(coefficients):
        part = ops.multiply(ops.cos(ops.multiply(angle, _core.scalar(float(k), _core.float64))), _core.scalar(a, _core.float64))
        out = part if out is None else ops.add(out, part)
    return cast_to(o, out, 11, code)


reads("HannWindow", keeps=False)(lambda o: _window(o, (0.5, -0.5)))
reads("HammingWindow", keeps=False)(lambda o: _window(o, (25 / 46, -21 / 46)))
reads("BlackmanWindow", keeps=False)(lambda o: _window(o, (0.42, -0.5, 0.08)))


# In one piece: one definition, step by step.
@reads("MelWeightMatrix", keeps=False)
def read_mel_weight_matrix(o):
    bins, length, rate = (int(o.scalar(i, "the sizes")) for i in range(3))
    low, high = float(o.scalar(3, "the lower edge")), float(o.scalar(4, "the upper edge"))
    if not 0 < bins <= 1 << 12 or not 0 < length <= 1 << 20 or rate <= 0:
        raise o.bad(f"it has {bins} bins of a transform of {length} at {rate} Hz", "up to 4096 bins of up to 2^20")
    columns = length // 2 + 1
    o.bound(columns * bins, 1 << 24, "the number of weights")
    edges = np.linspace(2595 * np.log10(1 + low / 700), 2595 * np.log10(1 + high / 700), bins + 2)
    # The spacing of the definition: bins + 2 points from the lower edge on.
    at = 700 * (10 ** ((edges[0] + np.arange(bins + 2) * (edges[-1] - edges[0]) / (bins + 2)) / 2595) - 1)
    places = ((length + 1) * at / rate).astype(np.int64)
    out = np.zeros((columns, bins))
    for i in range(bins):
        left, centre, right = places[i : i + 3]
        if left == centre:
            if centre < columns:
                out[centre, i] = 1
        else:
            for j in range(left, min(centre + 1, columns)):
                out[j, i] = (j - left) / (centre - left)
        if right > centre:
            for j in range(centre, min(right, columns)):
                out[j, i] = (right - j) / (right - centre)
    code = o.integer("output_datatype", 1)
    o.dtype(code)
    dtype = dtype_of(code, o.where)
    return tensor_of_array(held_array(out, code), code) if code in HELD else ops.cast(tensor_of_array(out, 11), dtype=dtype)
