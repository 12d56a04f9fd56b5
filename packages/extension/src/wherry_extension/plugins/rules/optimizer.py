"""Parameter updates."""
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


@serves(ops.adagrad, "adagrad", numbers=True)
def plugin_adagrad(w, out, param, moment, grad, lr, scale=None, *, epsilon, weight_decay):
    _unscaled(scale, weight_decay)
    w.call("adagrad", param, grad, moment, w.number(lr, param.dtype), None, epsilon, False, *out, None)


@serves(ops.rmsprop, "rmsprop", numbers=True)
def plugin_rmsprop(w, out, param, momentum, mean_square, mean_grad, grad, lr, scale=None, *, rho, epsilon, mu, centered, weight_decay):
    _unscaled(scale, weight_decay)
    param_out, momentum_out, mean_square_out, mean_grad_out = out
    mean = (mean_grad, mean_grad_out) if centered else (None, None)
    w.call("rmsprop", param, mean_square, grad, momentum, w.number(lr, param.dtype), mean[0], None, epsilon, rho, mu, centered, False,
           param_out, momentum_out, mean_square_out, mean[1], None)
    if not centered:
        w.copy(mean_grad, mean_grad_out)


@serves(ops.adadelta, "adadelta", numbers=True)
def plugin_adadelta(w, out, param, avg_squared_grad, avg_squared_update, grad, lr, scale=None, *, rho, epsilon, weight_decay):
    _unscaled(scale, weight_decay)
    rate = w.number(lr, param.dtype)
    w.call("adadelta", param, grad, avg_squared_grad, avg_squared_update, rate, None, rho, epsilon, False, *out, None)


@serves(ops.adamax, "adamax", "scale", numbers=True)
def plugin_adamax(w, out, param, moment, inf_norm, beta1_power, grad, lr, scale=None, *, beta1, beta2, epsilon, weight_decay):
    _unscaled(scale, weight_decay)
    *results, power_out = out
    if power_out.dtype is not param.dtype:
        raise Declined("the power of beta has another dtype")
    power, rate = w.number(beta1_power, param.dtype), w.number(lr, param.dtype)
    w.call("adamax", param, grad, rate, moment, inf_norm, power, None, beta1, beta2, epsilon, False, *results, None)
    w.call("scale", power, beta1, 0.0, True, power_out.reshape(1))
