"""Updates of parameters."""
from wherry_extension.plugins.column import serves
from wherry_extension.plugins.programs import Declined
from wherry_tensor import ops


def _unscaled(scale, weight_decay=0.0):
    if scale is not None:
        raise Declined("the kernel knows no scale of gradients")
    if weight_decay:
        raise Declined("the kernel knows no weight decay")


@serves(ops.sgd, "sgd", numbers=True)
def plugin_sgd(w, out, param, grad, lr, scale=None, *, weight_decay):
    _unscaled(scale, weight_decay)
    w.call("sgd", param, w.number(lr, param.dtype), grad, None, False, out, None)


@serves(ops.momentum, "momentum", numbers=True)
def plugin_momentum(w, out, param, velocity, grad, lr, scale=None, *, mu, nesterov, weight_decay):
    _unscaled(scale)
    decay = ("l2_decay" if weight_decay else "", weight_decay)
    w.call("momentum", param, grad, velocity, w.number(lr, param.dtype), None, mu, nesterov, *decay, False, 1.0, *out, None)


@serves(ops.adam, "adam", numbers=True)
def plugin_adam(w, out, param, moment1, moment2, beta1_power, beta2_power, grad, lr, scale=None, *, beta1, beta2, epsilon, weight_decay):
    _unscaled(scale, weight_decay)
    state = (moment1, moment2, beta1_power, beta2_power, None, None)
    w.call("adam", param, grad, w.number(lr, param.dtype), *state, beta1, beta2, epsilon, False, 1000, False, False, *out, None)


@serves(ops.adamw, "adamw", numbers=True)
def plugin_adamw(w, out, param, moment1, moment2, beta1_power, beta2_power, grad, lr, scale=None, *, beta1, beta2, epsilon, weight_decay):
    _unscaled(scale)
    state = (moment1, moment2, beta1_power, beta2_power, None, None)
    decay = (1.0, weight_decay, weight_decay != 0.0)
    w.call("adamw", param, grad, w.number(lr, param.dtype), *state, beta1, beta2, epsilon, *decay, False, 1000, False, False, *out, None)
