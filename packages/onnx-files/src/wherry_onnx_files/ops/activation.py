"""Activations and the softmax family."""
from wherry_onnx_files.column import MICROSOFT, reads
from wherry_onnx_files.ops.elementwise import scalar
from wherry_tensor import ops

reads("Relu")(lambda o: ops.maximum(o.x(0), scalar(o.x(0), 0)) if not o.x(0).dtype.is_floating else ops.relu(o.x(0)))
reads("Sigmoid")(lambda o: ops.sigmoid(o.x(0)))
reads("Mish")(lambda o: ops.mish(o.x(0)))
reads("Softplus")(lambda o: ops.softplus(o.x(0), beta=1.0, threshold=20.0) if o.x(0).dtype.name != "float64" else _softplus(o.x(0)))
reads("Softsign")(lambda o: ops.softsign(o.x(0)))
reads("HardSwish")(lambda o: _hard_swish(o.x(0)))
reads("LeakyRelu")(lambda o: ops.leaky_relu(o.x(0), negative_slope=o.number("alpha", 0.01)))
reads("Elu")(lambda o: ops.elu(o.x(0), alpha=o.number("alpha", 1.0)))
reads("Celu")(lambda o: ops.celu(o.x(0), alpha=o.number("alpha", 1.0)))
reads("Gelu")(lambda o: ops.gelu(o.x(0), approximate=o.text("approximate", "none") == "tanh"))
reads("Gelu", domain=MICROSOFT)(lambda o: ops.gelu(o.x(0), approximate=False))
reads("FastGelu", domain=MICROSOFT)(lambda o: ops.gelu(ops.add(o.x(0), o.x(1)) if o.has(1) else o.x(0), approximate=True))
reads("BiasGelu", domain=MICROSOFT)(lambda o: ops.gelu(ops.add(o.x(0), o.x(1)), approximate=False))
reads("QuickGelu", domain=MICROSOFT)(lambda o: _swish(o.x(0), o.number("alpha", 1.702)))
reads("Swish")(lambda o: _swish(o.x(0), o.number("alpha", 1.0)))


def _softplus(x):
    return ops.add(ops.maximum(x, scalar(x, 0)), ops.log1p(ops.exp(ops.negative(ops.abs(x)))))


def _hard_swish(x):
    return ops.multiply(x, ops.hardsigmoid(x, slope=1 / 6, offset=0.5))


def _swish(x, alpha):
    return ops.silu(x) if alpha == 1.0 else ops.multiply(x, ops.sigmoid(ops.multiply(x, scalar(x, alpha))))


@reads("Selu")
def read_selu(o):
    x, alpha, gamma = o.x(0), o.number("alpha", 1.67326319217681884765625), o.number("gamma", 1.05070102214813232421875)
    return ops.multiply(ops.elu(x, alpha=alpha), scalar(x, gamma))


@reads("HardSigmoid")
def read_hard_sigmoid(o):
    return ops.hardsigmoid(o.x(0), slope=o.number("alpha", 0.2), offset=o.number("beta", 0.5))


@reads("ThresholdedRelu")
def read_thresholded_relu(o):
    return ops.thresholded_relu(o.x(0), threshold=o.number("alpha", 1.0))


def _rows(o, function):
    """Before opset 13 the axes from one on are one axis."""
    x = o.x(0)
    if o.version >= 13:
        return function(x, o.integer("axis", -1) % max(x.ndim, 1))
    axis = o.integer("axis", 1)
    axis = axis + x.ndim if axis < 0 else axis
    if axis == x.ndim - 1:
        return function(x, axis)
    return ops.reshape_like(function(flattened(x, axis), 1), x)


def flattened(x, axis):
    """A matrix: the axes before `axis`, and those from it on."""
    rows = columns = 1
    for i, n in enumerate(x.shape):
        if i < axis:
            rows = n * rows
        else:
            columns = n * columns
    return ops.reshape(x, shape=(rows, columns))


reads("Softmax")(lambda o: _rows(o, lambda x, axis: ops.softmax(x, axis=axis)))
reads("LogSoftmax")(lambda o: _rows(o, lambda x, axis: ops.log_softmax(x, axis=axis)))


@reads("Hardmax")
def read_hardmax(o):
    def largest(x, axis):
        at = ops.argmax(x, axis=axis, keepdim=True)
        zeros = ops.full_like(x, value=0, dtype=x.dtype)
        return ops.put_along_axis(zeros, at, ops.full_like(at, value=1, dtype=x.dtype), axis=axis, reduce="assign")

    return _rows(o, largest)


@reads("SwiGLU")
def read_swiglu(o):
    x = o.x(0)
    if not o.has(1):
        raise o.unsupported("one input", "two")
    return ops.multiply(_swish(x, o.number("alpha", 1.0)), o.x(1))
