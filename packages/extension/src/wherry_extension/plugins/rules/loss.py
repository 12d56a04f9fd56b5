"""Losses and their gradients."""
from wherry_extension.plugins.column import serves
from wherry_extension.plugins.programs import Declined
from wherry_tensor import ops
from wherry_tensor._core import int64


@serves(ops.binary_cross_entropy, "bce_loss")
def plugin_binary_cross_entropy(w, out, x, label):
    w.call("bce_loss", x, label, out)


@serves(ops.binary_cross_entropy_vjp, "bce_loss_grad")
def plugin_binary_cross_entropy_vjp(w, out, ct, x, label):
    w.call("bce_loss_grad", x, label, ct, out)


_NEVER = -(1 << 31)  # a label that is ignored, which none is


@serves(ops.binary_cross_entropy_logits, "sigmoid_cross_entropy_with_logits")
def plugin_binary_cross_entropy_logits(w, out, logits, label):
    rest = (False, _NEVER, out)
    w.call("sigmoid_cross_entropy_with_logits", logits, label, None, *rest, or_args=[(logits, label, *rest)])  # with weights since 2.6


@serves(ops.binary_cross_entropy_logits_vjp, "sigmoid_cross_entropy_with_logits_grad")
def plugin_binary_cross_entropy_logits_vjp(w, out, ct, logits, label):
    rest = (ct, False, _NEVER, out)
    w.call("sigmoid_cross_entropy_with_logits_grad", logits, label, None, *rest, or_args=[(logits, label, *rest)])


@serves(ops.kl_div, "kldiv_loss")
def plugin_kl_div(w, out, x, label):
    w.call("kldiv_loss", x, label, "none", out, or_args=[(x, label, "none", False, out)])


@serves(ops.smooth_l1_loss, "huber_loss")
def plugin_smooth_l1_loss(w, out, x, y, *, delta):
    w.call("huber_loss", x, y, delta, out, w.memory(x.dtype, x.shape))


@serves(ops.smooth_l1_loss_vjp, "huber_loss_grad", "subtract")
def plugin_smooth_l1_loss_vjp(w, out, ct, x, y, *, delta):
    residual = w.memory(x.dtype, x.shape)
    w.call("subtract", y, x, residual)
    w.call("huber_loss_grad", residual, ct, delta, out, None)


def _of_rows(x, shape, axis):
    """Labels or losses without the axis of classes, as the kernel has them."""
    if len(shape) not in (2, 4) or axis % len(shape) != 1:
        raise Declined("the kernel takes classes along the second of 2 or 4 axes")
    return x.reshape(shape[0], *shape[2:])


def _labels(label, shape, axis):
    if label.dtype is not int64:
        raise Declined("the kernel takes int64 labels")
    return _of_rows(label, shape, axis)


@serves(ops.nll_loss, "nll_loss")
def plugin_nll_loss(w, out, x, label, weight=None, *, ignore_index, axis):
    label, loss = _labels(label, x.shape, axis), _of_rows(out, x.shape, axis)
    w.call("nll_loss", x, label, weight, ignore_index, "none", loss, w.memory(x.dtype, ()))


@serves(ops.nll_loss_vjp, "nll_loss_grad")
def plugin_nll_loss_vjp(w, out, ct, label, weight, like, *, ignore_index, axis):
    label, ct = _labels(label, like.shape, axis), _of_rows(ct, like.shape, axis)
    x, total = w.memory(ct.dtype, like.shape), w.zeros(ct.dtype, ())  # of x the shape alone counts, and there is no mean to divide by
    w.call("nll_loss_grad", x, label, weight, total, ct, ignore_index, "none", out, dtype=ct.dtype)
