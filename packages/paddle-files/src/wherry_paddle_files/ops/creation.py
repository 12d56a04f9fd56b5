"""Creation of tensors from numbers."""
import wherry_tensor as api
from wherry_paddle_files.column import reads, writes
from wherry_paddle_files.numbers import number_of
from wherry_paddle_files.sequences import known_offsets
from wherry_paddle_files.undefined import mark_undefined, stands_for_undefined
from wherry_paddle_files.writing import code_of, long
from wherry_tensor import ops
from wherry_tensor.sizes import Size


def _number(value):
    return value.value if hasattr(value, "value") else value


@writes(ops.full)
def write_full(w, *, shape, value, dtype):
    if dtype.is_complex:
        parts = complex(value)
        kind = "float32" if dtype.name == "complex64" else "float64"
        return w("complex", {"X": w.constant(parts.real, kind, shape), "Y": w.constant(parts.imag, kind, shape)}, dtype=dtype)
    return w.constant(value, dtype, shape)


@writes(ops.full_like)
def write_full_like(w, like, *, value, dtype):
    if dtype.is_complex or (isinstance(value, int) and abs(value) > 1 << 24) or like.dtype in ("int8", "uint8"):
        return NotImplemented
    return w("fill_any_like", {"X": like}, {"value": float(value), "dtype": code_of(dtype)}, dtype=dtype)


def _typed(text, value, dtype):
    """The number of `fill_constant`: its text is exact where there is one."""
    if text:
        number = float(text) if dtype.is_floating or any(c in text.lower() for c in ".enx") else int(text)
    else:
        number = value
    return number if dtype.is_floating else bool(number) if dtype.is_bool else int(number) if abs(number) < 2**63 else 0


@reads("fill_constant")
def read_fill_constant(o):
    dtype = o.dtype("dtype", "float32")
    shape = o.shape()
    given = o.maybe("ValueTensor")
    if given is not None:
        return api.expand(api.reshape(given, [1] * max(len(shape), 1)), shape).astype(dtype)
    made = api.full(shape, _typed(o.text("str_value", ""), o.number("value"), dtype), dtype)
    # Before loops, Paddle makes one element of what their blocks write to first (`x[i] = y`), whatever its rank is.
    described = None if shape else o.reader.described(next(iter(o.desc.output("Out")), ""))
    return mark_undefined(made) if described is not None and described.tensor is not None and described.tensor.dims else made


@reads("fill_constant_batch_size_like")
def read_fill_constant_batch_size_like(o):
    shape = o.integers("shape")
    x, axis = o.x("Input"), o.integer("input_dim_idx")
    offsets = known_offsets(x) if axis == 0 else ()
    shape[o.integer("output_dim_idx")] = offsets[-1].shape[0] - 1 if offsets else x.shape[axis]  # of sequences their number
    dtype = o.dtype("dtype", "float32")
    return api.full(shape, _typed(o.text("str_value", ""), o.number("value"), dtype), dtype)


@reads("fill_any_like")
def read_fill_any_like(o):
    x = o.x("X")
    code = o.integer("dtype", -1)
    dtype = x.dtype if code < 0 else o.dtype("dtype")
    return api.full_like(x, _typed("", o.number("value"), dtype), dtype)


@reads("fill_zeros_like", "fill_zeros_like2")
def read_fill_zeros_like(o):
    return api.zeros_like(o.x("X"))


@reads("empty")
def read_empty(o):
    return api.zeros(o.shape(), o.dtype("dtype", "float32"))


@reads("assign_value")
def read_assign_value(o):
    dtype = o.dtype("dtype")
    names = {"bool": "bool_values", "float32": "fp32_values", "float64": "fp64_values", "int32": "int32_values", "int64": "int64_values"}
    values = o.attr(names.get(dtype.name, ""), None) or o.attr("values", None) or []
    shape = o.integers("shape")
    count = 1
    for n in shape:
        count *= n
    if count != len(values) or min(shape, default=0) < 0:
        raise o.bad(f"it has {len(values)} values for shape {shape}", f"{count}")
    if not count:
        return api.zeros(shape, dtype)
    flat = ops.copy(api.reshape(api.to_tensor(list(values), dtype=dtype), shape))
    return mark_undefined(flat) if stands_for_undefined(values) else flat


@writes(ops.arange)
def write_arange(w, *, start, step, length, dtype):
    if type(length) is Size:
        return _dynamic_arange(w, start, step, length, dtype)
    start, step = _number(start), _number(step)
    kind = dtype.name if dtype.name in ("int32", "int64", "float64") else "float64" if dtype.name == "float32" else "int64"
    if kind == "float64":
        return _placed(w, w.count(length), start, step, kind, dtype)
    given = {"Start": w.constant(start, kind), "End": w.constant(start + step * length, kind), "Step": w.constant(step, kind)}
    return w.cast(w("range", given, dtype=kind, shape=(length,)), dtype)


def _dynamic_arange(w, start, step, length, dtype):
    start, step = _number(start), _number(step)
    count = w.count(w.reshape(w.size(length, "int64"), ()))
    return _placed(w, count, start, step, "int64" if isinstance(start, int) and isinstance(step, int) else "float64", dtype)


def _placed(w, count, start, step, kind, dtype):
    """start + count * step."""
    scaled = w("elementwise_mul", {"X": w.cast(count, kind), "Y": w.constant(step, kind)}, {"axis": -1})
    return w.cast(w("elementwise_add", {"X": scaled, "Y": w.constant(start, kind)}, {"axis": -1}), dtype)


@reads("range")
def read_range(o):
    start, end, step = (_scalar(o.x(name)) for name in ("Start", "End", "Step"))
    return api.arange(start, end, step, dtype=o.x("Start").dtype)


def _scalar(x):
    return number_of(x)


@writes(ops.linspace)
def write_linspace(w, *, start, stop, num, dtype):
    kind = dtype.name if dtype.name in ("float32", "float64", "int32", "int64") else "float32"
    count = w.reshape(w.size(num, "int32"), (1,)) if type(num) is Size else w.constant(num, "int32", (1,))
    given = {"Start": w.constant(_number(start), kind, (1,)), "Stop": w.constant(_number(stop), kind, (1,)), "Num": count}
    return w.cast(w("linspace", given, {"dtype": code_of(kind)}, dtype=kind, shape=(num,)), dtype)


@reads("linspace")
def read_linspace(o):
    start, stop, num = (_scalar(o.x(name)) for name in ("Start", "Stop", "Num"))
    return api.linspace(start, stop, num, dtype=o.dtype("dtype", "float32"))


@writes(ops.eye)
def write_eye(w, *, rows, columns, dtype):
    if type(rows) is Size or type(columns) is Size or dtype.name not in ("float32", "float64", "int32", "int64", "float16"):
        return NotImplemented
    return w("eye", {}, {"num_rows": long(rows), "num_columns": long(columns), "dtype": code_of(dtype)}, dtype=dtype, shape=(rows, columns))


@reads("tril_indices", "triu_indices", out="out")
def read_triangle(o):
    if o.type == "tril_indices":
        return api.tril_indices(o.integer("rows"), o.integer("cols"), o.integer("offset"), o.dtype("dtype", "int64"))
    return api.triu_indices(o.integer("row"), o.integer("col"), o.integer("offset"), o.dtype("dtype", "int64"))


@reads("eye")
def read_eye(o):
    columns = o.integer("num_columns", -1)
    rows = o.integer("num_rows")
    return api.eye(rows, rows if columns < 0 else columns, dtype=o.dtype("dtype", "float32"))


@reads("logspace")
def read_logspace(o):
    start, stop, base = (api.reshape(o.x(name).astype("float64"), []) for name in ("Start", "Stop", "Base"))
    count = number_of(o.x("Num"))
    step = api.full([], 0.0, "float64") if count == 1 else (stop - start) / (count - 1)
    return api.pow(base, start + step * api.arange(count, dtype="float64")).astype(o.dtype("dtype", "float32"))


@reads("full_int_array", out="out")
def read_full_int_array(o):
    return api.to_tensor(o.integers("value"), o.dtype("dtype", "int64"))
