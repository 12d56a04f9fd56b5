"""Activation functions."""
import wherry_nn.functional as F
import wherry_tensor as api
from wherry_paddle_files.column import reads, writes
from wherry_tensor import ops

# name of the op: (operator, {attribute of the op: attribute of the operator})
_plain = {
    "relu": ("relu", {}), "relu6": ("relu6", {}), "leaky_relu": ("leaky_relu", {"negative_slope": "alpha"}), "elu": ("elu", {"alpha": "alpha"}),
    "selu": ("selu", {"scale": "scale", "alpha": "alpha"}), "celu": ("celu", {"alpha": "alpha"}), "gelu": ("gelu", {"approximate": "approximate"}),
    "sigmoid": ("sigmoid", {}), "log_sigmoid": ("logsigmoid", {}), "silu": ("silu", {}),
    "softplus": ("softplus", {"beta": "beta", "threshold": "threshold"}),
    "softsign": ("softsign", {}), "hardtanh": ("brelu", {"min": "t_min", "max": "t_max"}),
    "hardsigmoid": ("hard_sigmoid", {"slope": "slope", "offset": "offset"}),
    "hardswish": ("hard_swish", {}), "hardshrink": ("hard_shrink", {"threshold": "threshold"}), "softshrink": ("softshrink", {"threshold": "lambda"}),
    "tanhshrink": ("tanh_shrink", {}), "thresholded_relu": ("thresholded_relu", {"threshold": "threshold"}),
    "stanh": ("stanh", {"scale_a": "scale_a", "scale_b": "scale_b"}), "mish": ("mish", {}),
}  # fmt: skip
# What the operators compute where a file leaves an attribute out.
_defaults = {
    "leaky_relu": {"alpha": 0.02}, "elu": {"alpha": 1.0}, "selu": {"scale": 1.0507009873554805, "alpha": 1.6732632423543772}, "celu": {"alpha": 1.0},
    "gelu": {"approximate": False}, "softplus": {"beta": 1.0, "threshold": 20.0}, "brelu": {"t_min": 0.0, "t_max": 24.0},
    "hard_sigmoid": {"slope": 0.2, "offset": 0.5}, "hard_shrink": {"threshold": 0.5}, "softshrink": {"lambda": 0.5},
    "thresholded_relu": {"threshold": 1.0}, "stanh": {"scale_a": 0.67, "scale_b": 1.7159},
}  # fmt: skip


def _both_ways(name, paddle_name, attrs):
    op = getattr(ops, name)

    def write(w, x, **values):
        if not x.dtype.startswith(("float", "bfloat")):
            return NotImplemented
        more = {"mish": {"threshold": 20.0}, "hardswish": {"threshold": 6.0, "scale": 6.0, "offset": 3.0}}.get(name, {})
        return w(paddle_name, {"X": x}, {attrs[key]: value for key, value in values.items()} | more)

    def read(o):
        found = {key: o.attr(label, _defaults[paddle_name][label]) for key, label in attrs.items()}
        return op(o.x("X"), **{key: bool(value) if key == "approximate" else float(value) for key, value in found.items()})

    writes(op)(write)
    reads(paddle_name)(read)


for _name, (_paddle_name, _attrs) in _plain.items():
    _both_ways(_name, _paddle_name, _attrs)


@reads("swish")
def read_swish(o):
    return F.silu(o.x("X")) if o.number("beta", 1.0) == 1.0 else o.x("X") * F.sigmoid(o.x("X") * o.number("beta", 1.0))


@reads("rrelu")
def read_rrelu(o):
    x, lower, upper = o.x("X"), o.number("lower", 0.125), o.number("upper", 1 / 3)
    return F.rrelu(x, lower, upper, not o.flag("is_test"))


@reads("logit")
def read_logit(o):
    return api.logit(o.x("X"), o.number("eps", 1e-6))


@writes(ops.prelu)
def write_prelu(w, x, weight):
    """One factor for all, or one for each channel; others as the decomposition."""
    if x.dtype not in ("float32", "float64") or x.ndim < 2 or weight.ndim > x.ndim or -1 in weight.shape:
        return NotImplemented
    along = [axis + x.ndim - weight.ndim for axis, n in enumerate(weight.shape) if n != 1]
    if along not in ([], [1], [x.ndim - 1]):
        return NotImplemented
    alpha = w.reshape(weight, [weight.shape[axis - x.ndim] for axis in along] or [1])
    attrs = {"mode": "channel" if along else "all", "data_format": "NHWC" if along and along != [1] else "NCHW"}
    return w("prelu", {"X": x, "Alpha": alpha}, attrs)


@reads("prelu")
def read_prelu(o):
    x, alpha, mode = o.x("X"), o.x("Alpha"), o.text("mode", "all")
    if mode == "element":
        return ops.prelu(x, alpha.reshape([1, *alpha.shape[-(x.ndim - 1) :]]) if x.ndim > 1 else alpha)
    return F.prelu(x, alpha.reshape([-1]), o.text("data_format", "NCHW"))


@reads("maxout")
def read_maxout(o):
    return F.maxout(o.x("X"), o.integer("groups"), o.integer("axis", 1))


# Gradients.

def _gradient(op, paddle_name, slot):
    def write(w, ct, kept):
        if not ct.dtype.startswith(("float", "bfloat")):
            return NotImplemented
        return w(f"{paddle_name}_grad", {slot: kept, "Out@GRAD": ct}, {}, "X@GRAD")

    def read(o):
        return op(o.x("Out@GRAD"), o.x(slot))

    writes(op)(write)
    reads(f"{paddle_name}_grad", out="X@GRAD")(read)


_gradient(ops.relu_vjp, "relu", "Out")
_gradient(ops.sigmoid_vjp, "sigmoid", "Out")
_gradient(ops.tanh_vjp, "tanh", "Out")


@writes(ops.gelu_vjp)
def write_gelu_vjp(w, ct, x, *, approximate):
    return w("gelu_grad", {"X": x, "Out@GRAD": ct}, {"approximate": approximate}, "X@GRAD")


@reads("gumbel_softmax")
def read_gumbel_softmax(o):
    return F.gumbel_softmax(o.x("X"), o.number("temperature", 1.0), o.flag("hard"), o.integer("axis", -1))
