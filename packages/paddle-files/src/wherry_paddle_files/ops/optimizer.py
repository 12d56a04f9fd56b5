"""Parameter updates. Both formats overwrite the parameter and its state."""
import wherry_tensor as api
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
    """An operator whose outputs have the names of inputs with "Out" after, and which it writes over if the node does."""
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


def _into(o, op, state, slots, grad, *rest, **attrs):
    """Record an update: over the parameter and its state, as all programs have it, or beside them. Of a parameter with a copy of more
    digits, that copy is updated; where `SkipUpdate` is true, nothing changes."""
    param, skip = state[0], o.maybe("SkipUpdate")
    master = o.maybe("MasterParam") if o.flag("multi_precision") else None
    if master is None and skip is None and o.desc.input("Param") == o.desc.output("ParamOut"):
        op.into(tuple(state), *state, grad, *rest, **attrs)
        return {}
    if master is not None:
        state, grad = [master, *state[1:]], api.cast(grad, master.dtype)
    found = op(*state, grad, *rest, **attrs)
    found = found if isinstance(found, tuple) else (found,)
    if skip is not None:
        found = tuple(ops.where(api.reshape(skip, []), old, new) for old, new in zip(state, found))
    given = dict(zip(slots, found))
    return given if master is None else {**given, "MasterParamOut": found[0], "ParamOut": api.cast(found[0], param.dtype)}


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
    # The operator leaves the power as it is: the program multiplies it after.
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


# Several parameters at once.


def _for_each(o, op, slots, grads, rates, **attrs):
    """An update of each parameter with its state: lists in, lists out."""
    masters = o.xs("MasterParam") or o.xs("MasterParams") if o.flag("multi_precision") else []
    params = o.xs(slots[0])
    state = [masters or params, *(o.xs(slot) for slot in slots[1:])]
    found = []
    for each, grad, rate in zip(zip(*state), grads, rates):
        out = op(*each, api.cast(grad, each[0].dtype), rate, None, **attrs)
        found.append(out if isinstance(out, tuple) else (out,))
    given = {f"{slot}Out": [outs[i] for outs in found] for i, slot in enumerate(slots)}
    if masters:
        slot = "MasterParamOut" if slots[0] == "Param" else "MasterParamsOut"
        given |= {slot: given[f"{slots[0]}Out"], f"{slots[0]}Out": [api.cast(outs[0], x.dtype) for outs, x in zip(found, params)]}
    return given


def _rates(o, like):
    rates = o.xs("LearningRate")
    return rates * len(like) if len(rates) == 1 else rates


@reads("merged_momentum", out="ParamOut")
def read_merged_momentum(o):
    factor, grads = o.number("rescale_grad", 1.0), o.xs("Grad")
    methods, sizes = o.attr("regularization_method", ()), o.attr("regularization_coeff", ())
    if any(method and size for method, size in zip(methods, sizes)):
        raise o.bad("its parameters have penalties of their own", "none: read each with a momentum operator")
    grads = grads if factor == 1.0 else [grad * factor for grad in grads]
    return _for_each(
        o, ops.momentum, ("Param", "Velocity"), grads, _rates(o, grads), mu=o.number("mu"), nesterov=o.flag("use_nesterov"), weight_decay=0.0,
    )


@reads("merged_adam", out="ParamOut")
def read_merged_adam(o):
    grads, attrs = o.xs("Grad"), {name: o.number(name) for name in ("beta1", "beta2", "epsilon")}
    slots = ("Param", "Moment1", "Moment2", "Beta1Pow", "Beta2Pow")
    return _for_each(o, ops.adam, slots, grads, _rates(o, grads), **attrs, weight_decay=0.0)


@reads("fused_adam", out="ParamsOut")
def read_fused_adam(o):
    grads, attrs = o.xs("Grads"), {name: o.number(name) for name in ("beta1", "beta2", "epsilon")}
    op, decay = (ops.adamw, o.number("weight_decay")) if o.flag("use_adamw") else (ops.adam, 0.0)
    return _for_each(o, op, ("Params", "Moments1", "Moments2", "Beta1Pows", "Beta2Pows"), grads, _rates(o, grads), **attrs, weight_decay=decay)


# The scale of a loss, and averages of parameters.


@reads("check_finite_and_unscale")
def read_check_finite_and_unscale(o):
    xs, scale = o.xs("X"), api.reshape(o.x("Scale"), [])
    found = api.logical_not(api.stack([api.all(api.isfinite(x)) for x in xs]).all())
    return {"Out": [x / api.cast(scale, x.dtype) for x in xs], "FoundInfinite": api.reshape(found, [1])}


@reads("update_loss_scaling")
def read_update_loss_scaling(o):
    xs, found, scale = o.xs("X"), api.reshape(o.x("FoundInfinite"), []), o.x("PrevLossScaling")
    good, bad = o.x("InGoodSteps"), o.x("InBadSteps")
    xs = [ops.where(found, ops.full_like(x, value=0, dtype=x.dtype), x) for x in xs]
    if o.maybe("StopUpdate") is not None or o.attr("stop_update", False):
        return {"Out": xs, "LossScaling": scale, "OutGoodSteps": good, "OutBadSteps": bad}
    none, n_good, n_bad = ops.full_like(good, value=0, dtype=good.dtype), good + 1, bad + 1
    up, down = api.equal(n_good, o.integer("incr_every_n_steps")), api.equal(n_bad, o.integer("decr_every_n_nan_or_inf"))
    larger, smaller = scale * o.number("incr_ratio"), scale * o.number("decr_ratio")
    larger = ops.where(api.logical_and(up, api.isfinite(larger)), larger, scale)
    smaller = ops.where(down, ops.where(smaller < 1.0, ops.full_like(scale, value=1, dtype=scale.dtype), smaller), scale)
    return {
        "Out": xs, "LossScaling": ops.where(found, smaller, larger),
        "OutGoodSteps": ops.where(api.logical_or(found, up), none, n_good),
        "OutBadSteps": ops.where(api.logical_and(found, api.logical_not(down)), n_bad, none),
    }


@reads("average_accumulates", out="out_sum_1")
def read_average_accumulates(o):
    """Sums of a parameter over a window of steps; the first sum goes over into the second every 16384 steps, which keeps its digits."""
    first, second, third = (o.x(f"in_sum_{i}") for i in (1, 2, 3))
    many, old, updates = o.x("in_num_accumulates") + 1, o.x("in_old_num_accumulates"), o.x("in_num_updates") + 1
    first, zero = first + o.x("param"), ops.full_like(first, value=0, dtype=first.dtype)
    full = api.reshape(api.equal(updates % 16384, 0), [])
    second, first = ops.where(full, second + first, second), ops.where(full, zero, first)
    window = api.minimum(
        api.cast(api.cast(updates, "float32") * o.number("average_window"), "int64"),
        ops.full_like(updates, value=o.integer("max_average_window", 2**63 - 1), dtype=updates.dtype),
    )
    over = api.logical_and(many >= o.integer("min_average_window", 10000), many >= window)
    past = api.reshape(over, [])
    return {
        "out_sum_1": ops.where(past, zero, first), "out_sum_2": ops.where(past, zero, second), "out_sum_3": ops.where(past, first + second, third),
        "out_num_accumulates": ops.where(over, ops.full_like(many, value=0, dtype=many.dtype), many),
        "out_old_num_accumulates": ops.where(over, many, old), "out_num_updates": updates,
    }
