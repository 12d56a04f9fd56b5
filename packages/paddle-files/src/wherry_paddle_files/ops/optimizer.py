"""Parameter updates. Both formats overwrite the parameter and its state."""
from wherry_paddle_files.column import reads, writes
from wherry_tensor import ops


def _scaled(w, grad, scale, param, weight_decay):
    """The gradient with the factor of clipping and the derivative of an L2 penalty."""
    if scale is not None:
        factor = w.cast(scale, grad.dtype)
        grad = w("elementwise_mul", {"X": grad, "Y": w.reshape(factor, ())}, {"axis": -1})
    if weight_decay:
        penalty = w("scale", {"X": param}, {"scale": weight_decay, "bias": 0.0, "bias_after_scale": True})
        grad = w("sum", {"X": [grad, penalty]})
    return grad


def _rate(w, lr):
    return w.cast(lr if lr.ndim else w.reshape(lr, (1,)), "float32")


def _update(w, kind, slots, attrs):
    """An operator whose outputs have the names of inputs with "Out" behind, and which it writes over if the node does."""
    state = {f"{name}Out": value for name, value in slots.items() if name not in ("Grad", "LearningRate", "MasterParam")}
    outs = tuple(state)
    found = w(kind, slots, attrs, outs, dtype=[value.dtype for value in state.values()], into=state if w.in_place else None)
    return found if isinstance(found, tuple) else (found,)


@writes(ops.sgd)
def write_sgd(w, param, grad, lr, scale=None, *, weight_decay):
    grad = _scaled(w, grad, scale, param, weight_decay)
    return _update(w, "sgd", {"Param": param, "LearningRate": _rate(w, lr), "Grad": grad}, {"multi_precision": False})


@writes(ops.momentum)
def write_momentum(w, param, velocity, grad, lr, scale=None, *, mu, nesterov, weight_decay):
    grad = _scaled(w, grad, scale, param, weight_decay)
    attrs = {
        "mu": mu, "use_nesterov": nesterov, "regularization_method": "", "regularization_coeff": 0.0, "multi_precision": False, "rescale_grad": 1.0,
    }
    return _update(w, "momentum", {"Param": param, "Grad": grad, "Velocity": velocity, "LearningRate": _rate(w, lr)}, attrs)


def _adam(kind, op):
    def write(w, param, moment1, moment2, beta1_power, beta2_power, grad, lr, scale=None, *, beta1, beta2, epsilon, weight_decay):
        coupled = weight_decay if kind == "adam" else 0.0
        grad = _scaled(w, grad, scale, param, coupled)
        attrs = {
            "beta1": beta1, "beta2": beta2, "epsilon": epsilon, "lazy_mode": False, "multi_precision": False, "use_global_beta_pow": False,
        }
        if kind == "adamw":
            attrs |= {"coeff": weight_decay, "with_decay": bool(weight_decay), "lr_ratio": 1.0}
        slots = {
            "Param": param, "Grad": grad, "LearningRate": _rate(w, lr), "Moment1": moment1, "Moment2": moment2, "Beta1Pow": beta1_power,
            "Beta2Pow": beta2_power,
        }
        return _update(w, kind, slots, attrs)

    writes(op)(write)


_adam("adam", ops.adam)
_adam("adamw", ops.adamw)


@writes(ops.adagrad)
def write_adagrad(w, param, moment, grad, lr, scale=None, *, epsilon, weight_decay):
    grad = _scaled(w, grad, scale, param, weight_decay)
    attrs = {"epsilon": epsilon, "multi_precision": False}
    return _update(w, "adagrad", {"Param": param, "Grad": grad, "Moment": moment, "LearningRate": _rate(w, lr)}, attrs)


@writes(ops.adadelta)
def write_adadelta(w, param, avg_squared_grad, avg_squared_update, grad, lr, scale=None, *, rho, epsilon, weight_decay):
    grad = _scaled(w, grad, scale, param, weight_decay)
    slots = {
        "Param": param, "Grad": grad, "AvgSquaredGrad": avg_squared_grad, "AvgSquaredUpdate": avg_squared_update, "LearningRate": _rate(w, lr),
    }
    return _update(w, "adadelta", slots, {"rho": rho, "epsilon": epsilon, "multi_precision": False})


@writes(ops.rmsprop)
def write_rmsprop(w, param, momentum, mean_square, mean_grad, grad, lr, scale=None, *, rho, epsilon, mu, centered, weight_decay):
    grad = _scaled(w, grad, scale, param, weight_decay)
    if not w.in_place:  # Paddle's operator always overwrites its inputs
        param, momentum, mean_square, mean_grad = (w("assign", {"X": x}) for x in (param, momentum, mean_square, mean_grad))
    slots = {
        "Param": param, "MeanSquare": mean_square, "MeanGrad": mean_grad, "Grad": grad, "Moment": momentum, "LearningRate": _rate(w, lr),
    }
    into = {"ParamOut": param, "MomentOut": momentum, "MeanSquareOut": mean_square, "MeanGradOut": mean_grad}
    attrs = {"epsilon": epsilon, "decay": rho, "momentum": mu, "centered": centered, "multi_precision": False}
    return w("rmsprop", slots, attrs, tuple(into), into=into)


# Reading.


_ADAM = ("ParamOut", "Moment1Out", "Moment2Out", "Beta1PowOut", "Beta2PowOut")


def _grad(o):
    return o.x("Grad")


def _into(o, op, state, slots, *rest, **attrs):
    """Record an update: over the parameter and its state, as all programs have it, or beside them."""
    if o.desc.input("Param") == o.desc.output("ParamOut"):
        op.into(tuple(state), *state, *rest, **attrs)
        return {}
    found = op(*state, *rest, **attrs)
    return dict(zip(slots, found if isinstance(found, tuple) else (found,)))


def _one(o, slot, like):
    found = o.maybe(slot)
    if found is not None:
        raise o.bad(f"its input {slot!r} holds a number", "an attribute")
    return o.number(like)


@reads("sgd")
def read_sgd(o):
    return _into(o, ops.sgd, [o.x("Param")], ("ParamOut",), _grad(o), o.x("LearningRate"), None, weight_decay=0.0)


@reads("momentum")
def read_momentum(o):
    decay = o.number("regularization_coeff") if o.text("regularization_method", "") == "l2_decay" else 0.0
    grad, factor = _grad(o), o.number("rescale_grad", 1.0)
    grad = grad if factor == 1.0 else grad * factor
    state = [o.x("Param"), o.x("Velocity")]
    attrs = {"mu": o.number("mu"), "nesterov": o.flag("use_nesterov"), "weight_decay": decay}
    return _into(o, ops.momentum, state, ("ParamOut", "VelocityOut"), grad, o.x("LearningRate"), None, **attrs)


def _read_adam(o, op, decay, ratio=1.0):
    state = [o.x(name) for name in ("Param", "Moment1", "Moment2", "Beta1Pow", "Beta2Pow")]
    attrs = {
        "beta1": _one(o, "Beta1Tensor", "beta1"), "beta2": _one(o, "Beta2Tensor", "beta2"), "epsilon": _one(o, "EpsilonTensor", "epsilon"),
    }
    rate = o.x("LearningRate")
    return _into(o, op, state, _ADAM, _grad(o), rate if ratio == 1.0 else rate * ratio, None, **attrs, weight_decay=decay)


@reads("adam")
def read_adam(o):
    return _read_adam(o, ops.adam, 0.0)


@reads("adamw")
def read_adamw(o):
    return _read_adam(o, ops.adamw, o.number("coeff", 0.01) if o.flag("with_decay") else 0.0, o.number("lr_ratio", 1.0))


@reads("adamax")
def read_adamax(o):
    param, moment, norm, power = (o.x(name) for name in ("Param", "Moment", "InfNorm", "Beta1Pow"))
    # The operator leaves the power as it is: the program multiplies it behind.
    attrs = {"beta1": o.number("beta1"), "beta2": o.number("beta2"), "epsilon": o.number("epsilon"), "weight_decay": 0.0}
    outs = ops.adamax(param, moment, norm, power, _grad(o), o.x("LearningRate"), None, **attrs)
    return {"ParamOut": outs[0], "MomentOut": outs[1], "InfNormOut": outs[2]}


@reads("adagrad")
def read_adagrad(o):
    state, attrs = [o.x("Param"), o.x("Moment")], {"epsilon": o.number("epsilon"), "weight_decay": 0.0}
    return _into(o, ops.adagrad, state, ("ParamOut", "MomentOut"), _grad(o), o.x("LearningRate"), None, **attrs)


@reads("adadelta")
def read_adadelta(o):
    state = [o.x("Param"), o.x("AvgSquaredGrad"), o.x("AvgSquaredUpdate")]
    attrs = {"rho": o.number("rho"), "epsilon": o.number("epsilon")}
    slots = ("ParamOut", "AvgSquaredGradOut", "AvgSquaredUpdateOut")
    return _into(o, ops.adadelta, state, slots, _grad(o), o.x("LearningRate"), None, **attrs, weight_decay=0.0)


@reads("rmsprop")
def read_rmsprop(o):
    state = [o.x("Param"), o.x("Moment"), o.x("MeanSquare"), o.x("MeanGrad")]
    attrs = {"rho": o.number("decay"), "epsilon": o.number("epsilon"), "mu": o.number("momentum"), "centered": o.flag("centered")}
    slots = ("ParamOut", "MomentOut", "MeanSquareOut", "MeanGradOut")
    return _into(o, ops.rmsprop, state, slots, _grad(o), o.x("LearningRate"), None, **attrs, weight_decay=0.0)


@reads("lamb")
def read_lamb(o):
    state = [o.x(name) for name in ("Param", "Moment1", "Moment2", "Beta1Pow", "Beta2Pow")]
    attrs = {"beta1": o.number("beta1"), "beta2": o.number("beta2"), "epsilon": o.number("epsilon"), "weight_decay": o.number("weight_decay")}
    adapt = bool(attrs["weight_decay"]) or o.flag("always_adapt")
    return _into(o, ops.lamb, state, _ADAM, _grad(o), o.x("LearningRate"), None, **attrs, adapt=adapt)
