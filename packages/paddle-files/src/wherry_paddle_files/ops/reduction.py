"""Reductions and scans along axes."""
import wherry_tensor as api
from wherry_paddle_files.column import LOOP, paddle, reads, writes
from wherry_paddle_files.writing import code_of, long, longs
from wherry_tensor import ops

_simple = {
    "reduce_sum": ("reduce_sum", "sum"), "reduce_mean": ("reduce_mean", "mean"), "reduce_prod": ("reduce_prod", "prod"),
    "reduce_max": ("reduce_max", "max"), "reduce_min": ("reduce_min", "min"), "reduce_amax": ("reduce_amax", "amax"),
    "reduce_amin": ("reduce_amin", "amin"), "reduce_all": ("reduce_all", "all"), "reduce_any": ("reduce_any", "any"),
}  # fmt: skip
_of_64_bits = ("reduce_amax", "reduce_amin", "reduce_all", "reduce_any")


def _reduce_attrs(x, axes, keepdim, wide=False):
    axes = list(axes)
    return {"dim": longs(axes) if wide else axes, "keep_dim": keepdim, "reduce_all": len(axes) == x.ndim, "in_dtype": -1, "out_dtype": -1}


def _axes(o, x, name="dim"):
    axes = [n % x.ndim if x.ndim else 0 for n in o.integers(name, [0])]
    if o.flag("reduce_all") or not axes or not x.ndim:
        return None
    return axes


def _both_ways(name, paddle_name, function):
    op = getattr(ops, name)

    def write(w, x, *, axes, keepdim):
        if not axes:  # reduces no axis, where Paddle reduces all
            return w.cast(w("assign", {"X": x}), w.outs[0].dtype)
        if x.dtype == "bool" and name in ("reduce_sum", "reduce_mean", "reduce_prod"):
            x = w.cast(x, w.outs[0].dtype)
        attrs = _reduce_attrs(x, axes, keepdim, name in _of_64_bits)
        if name == "reduce_sum" and w.outs[0].dtype.name != x.dtype:
            attrs |= {"in_dtype": code_of(x.dtype), "out_dtype": code_of(w.outs[0].dtype)}
        return w(paddle_name, {"X": x}, attrs, dtype=w.outs[0].dtype)

    def read(o):
        x = o.x("X")
        code = o.integer("out_dtype", -1)
        if code != -1 and name in ("reduce_sum", "reduce_prod", "reduce_mean"):
            x = x.astype(o.dtype("out_dtype"))
        return getattr(api, function)(x, _axes(o, x), keepdim=o.flag("keep_dim"))

    writes(op)(write)
    reads(paddle_name)(read)


for _name, (_paddle_name, _function) in _simple.items():
    _both_ways(_name, _paddle_name, _function)

reads("mean")(lambda o: api.mean(o.x("X")))


@writes(ops.logsumexp)
def write_logsumexp(w, x, *, axes, keepdim):
    if not axes:
        return w("assign", {"X": x})
    return w("logsumexp", {"X": x}, {"axis": list(axes), "keepdim": keepdim, "reduce_all": len(axes) == x.ndim})


@reads("logsumexp")
def read_logsumexp(o):
    x = o.x("X")
    return api.logsumexp(x, _axes(o, x, "axis"), o.flag("keepdim"))


@writes(ops.squared_l2_norm)
def write_squared_l2_norm(w, x):
    return w.reshape(w("squared_l2_norm", {"X": x}, dtype=w.outs[0].dtype, shape=(1,)), ())


@reads("squared_l2_norm")
def read_squared_l2_norm(o):
    return ops.reshape(ops.squared_l2_norm(o.x("X")), (1,))


@reads("frobenius_norm")
def read_frobenius_norm(o):
    x = o.x("X")
    return api.sqrt(api.sum(x * x, _axes(o, x), keepdim=o.flag("keep_dim")))


@reads("p_norm")
def read_p_norm(o):
    x = o.x("X")
    return api.norm(x, o.number("porder", 2.0), None if o.flag("asvector") else o.integer("axis", -1), o.flag("keepdim"))


@reads("dist")
def read_dist(o):
    return api.dist(o.x("X"), o.x("Y"), o.number("p", 2.0))


def _extreme(name, paddle_name):
    op = getattr(ops, name)

    def write(w, x, *, axis, keepdim):
        if axis is None:
            return NotImplemented
        attrs = {"axis": long(axis), "keepdims": keepdim, "flatten": False, "dtype": code_of("int64")}
        return w(paddle_name, {"X": x}, attrs, dtype="int64")

    def read(o):
        axis = None if o.flag("flatten") else o.integer("axis", -1)
        out = getattr(api, name)(o.x("X"), axis, o.flag("keepdims"))
        return out if o.integer("dtype", 3) in (3, -1) else out.astype(o.dtype("dtype"))

    writes(op)(write)
    reads(paddle_name)(read)


_extreme("argmax", "arg_max")
_extreme("argmin", "arg_min")


@writes(ops.cumsum)
def write_cumsum(w, x, *, axis, reverse):
    return w("cumsum", {"X": x}, {"axis": axis, "flatten": False, "exclusive": False, "reverse": reverse})


@reads("cumsum")
def read_cumsum(o):
    x = o.x("X")
    if o.flag("flatten"):
        x = api.flatten(x)
    axis = o.integer("axis", -1) % max(x.ndim, 1)
    out = ops.cumsum(x, axis=axis, reverse=o.flag("reverse")) if x.ndim else x
    return out - x if o.flag("exclusive") else out


@writes(ops.cumprod)
def write_cumprod(w, x, *, axis):
    return w("cumprod", {"X": x}, {"dim": axis})


@reads("cumprod")
def read_cumprod(o):
    return api.cumprod(o.x("X"), o.integer("dim"))


@writes(ops.logcumsumexp)
def write_logcumsumexp(w, x, *, axis):
    return w("logcumsumexp", {"X": x}, {"axis": axis, "flatten": False, "exclusive": False, "reverse": False})


@reads("logcumsumexp")
def read_logcumsumexp(o):
    x = o.x("X")
    if o.flag("exclusive") or o.flag("reverse"):
        raise o.bad("it is exclusive or reversed", "sums from the beginning, the element included")
    return api.logcumsumexp(api.flatten(x) if o.flag("flatten") else x, o.integer("axis", -1))


def _running(name):
    op = getattr(ops, name)

    def write(w, x, *, axis):
        return w(name, {"x": x}, {"axis": axis, "dtype": code_of("int64")}, ("out", "indices"), dtype=[x.dtype, "int64"])

    def read(o):
        values, indices = getattr(api, name)(o.x("x"), o.integer("axis", -1))
        return {"out": values, "indices": indices.astype(o.dtype("dtype", "int64"))}

    writes(op)(write)
    reads(name)(read)


_running("cummax")
_running("cummin")


@reads("nanmedian")
def read_nanmedian(o):
    return api.nanmedian(o.x("X"), o.integers("axis") or None, o.flag("keepdim", True))


paddle.exempt(ops.linear_scan, LOOP)


@reads("pd_op.median", out="Out0")
def read_median(o):
    if o.text("mode", "avg") != "avg":
        raise o.bad(f"attribute 'mode' is {o.text('mode')!r}", "avg")
    axes = o.integers("axis")
    return api.median(o.x("X0"), axes[0] if len(axes) == 1 else axes or None, o.flag("keepdim"))
