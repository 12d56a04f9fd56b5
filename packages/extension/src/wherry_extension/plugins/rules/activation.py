"""Activation functions and their gradients."""
from wherry_extension.plugins.column import serves
from wherry_extension.plugins.programs import Declined
from wherry_tensor import ops


def _plain(op, kernel, *defaults):
    @serves(op, kernel)
    def rule(w, out, x):
        w.call(kernel, x, out, or_args=[(x, *defaults, out)])


def _with_attrs(op, kernel, *names):
    @serves(op, kernel)
    def rule(w, out, x, **attrs):
        w.call(kernel, x, *(attrs[name] for name in names), out)


for _op, _kernel, *_defaults in (
    (ops.relu, "relu"), (ops.sigmoid, "sigmoid"), (ops.silu, "silu"), (ops.softsign, "softsign"), (ops.log_sigmoid, "logsigmoid"),
    (ops.tanhshrink, "tanh_shrink"), (ops.relu6, "relu6", 6.0), (ops.mish, "mish", 20.0), (ops.hardswish, "hardswish", 6.0, 6.0, 3.0),
):  # fmt: skip
    _plain(_op, _kernel, *_defaults)

for _op, _kernel, *_names in (
    (ops.leaky_relu, "leaky_relu", "negative_slope"), (ops.elu, "elu", "alpha"), (ops.celu, "celu", "alpha"),
    (ops.selu, "selu", "scale", "alpha"), (ops.gelu, "gelu", "approximate"), (ops.softplus, "softplus", "beta", "threshold"),
    (ops.hardsigmoid, "hardsigmoid", "slope", "offset"), (ops.hardshrink, "hard_shrink", "threshold"),
    (ops.softshrink, "softshrink", "threshold"), (ops.hardtanh, "hardtanh", "min", "max"), (ops.stanh, "stanh", "scale_a", "scale_b"),
):  # fmt: skip
    _with_attrs(_op, _kernel, *_names)


def _grad_of_out(op, kernel):
    @serves(op, kernel)
    def rule(w, out, ct, result):
        if ct.shape != result.shape:
            raise Declined("the shapes differ")
        w.call(kernel, result, ct, out)


_grad_of_out(ops.relu_vjp, "relu_grad")
_grad_of_out(ops.sigmoid_vjp, "sigmoid_grad")
_grad_of_out(ops.tanh_vjp, "tanh_grad")


@serves(ops.gelu_vjp, "gelu_grad")
def plugin_gelu_vjp(w, out, ct, x, *, approximate):
    w.call("gelu_grad", x, ct, approximate, out)


@serves(ops.silu_vjp, "silu_grad")
def plugin_silu_vjp(w, out, ct, x):
    if w.has("silu", x.dtype):  # later versions get the result too
        result = w.memory(x.dtype, x.shape)
        w.call("silu", x, result)
        w.call("silu_grad", x, result, ct, out, or_args=[(x, ct, out)])
    else:
        w.call("silu_grad", x, ct, out)


@serves(ops.prelu, "prelu")
def plugin_prelu(w, out, x, weight):
    sizes = (1,) * (len(x.shape) - len(weight.shape)) + weight.shape
    if out.shape != x.shape:
        raise Declined("the kernel does not broadcast x")
    if weight.size == 1:
        w.call("prelu", x, weight.reshape(1), "NCHW", "all", out)
        return
    axis = next(axis for axis, size in enumerate(sizes) if size > 1)
    if sizes[axis] != weight.size or axis not in (1, len(sizes) - 1):
        raise Declined("the kernel has one weight or one for each channel")
    w.call("prelu", x, weight.reshape(weight.size), "NCHW" if axis == 1 else "NHWC", "channel", out)


@serves(ops.thresholded_relu, "thresholded_relu")
def plugin_thresholded_relu(w, out, x, *, threshold):
    w.call("thresholded_relu", x, threshold, out, or_args=[(x, threshold, 0.0, out)])  # later versions say what else is there
