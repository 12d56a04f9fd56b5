"""Parameter updates, each one pass over memory.

Outputs may be the memory of the inputs they replace: `ops.sgd.into((param,), param, grad, lr)`.
lr and the beta powers are tensors of one element, so that a schedule does not make a new op. So is
scale, by which the gradient is multiplied before anything else: clipping then takes no pass of its own.
"""
from wherry_tensor import _core, ops
from wherry_tensor.ops.declare import Meta, decompose, infer, op
from wherry_tensor.ops.reduction import widened
from wherry_tensor.ops.shapes import floats, require_dtype, require_one_dtype, require_same_shape, show

sgd = op("sgd", "param, grad, lr, scale?", weight_decay=float, effects="in-place", outputs="param_out")
momentum = op("momentum", "param, velocity, grad, lr, scale?", mu=float, nesterov=bool, weight_decay=float,
              effects="in-place", outputs="param_out, velocity_out")
# beta1_power and beta2_power hold beta ** t for the step being made; weight_decay is L2 (added to grad).
adam = op("adam", "param, moment1, moment2, beta1_power, beta2_power, grad, lr, scale?", beta1=float, beta2=float,
          epsilon=float, weight_decay=float,
          effects="in-place", outputs="param_out, moment1_out, moment2_out, beta1_power_out, beta2_power_out")
# weight_decay is decoupled: param *= 1 - lr * weight_decay before the update.
adamw = op("adamw", "param, moment1, moment2, beta1_power, beta2_power, grad, lr, scale?", beta1=float, beta2=float,
           epsilon=float, weight_decay=float,
           effects="in-place", outputs="param_out, moment1_out, moment2_out, beta1_power_out, beta2_power_out")
adagrad = op("adagrad", "param, moment, grad, lr, scale?", epsilon=float, weight_decay=float, effects="in-place", outputs="param_out, moment_out")
adadelta = op("adadelta", "param, avg_squared_grad, avg_squared_update, grad, lr, scale?", rho=float, epsilon=float,
              weight_decay=float, effects="in-place", outputs="param_out, avg_squared_grad_out, avg_squared_update_out")
adamax = op("adamax", "param, moment, inf_norm, beta1_power, grad, lr, scale?", beta1=float, beta2=float, epsilon=float,
            weight_decay=float, effects="in-place", outputs="param_out, moment_out, inf_norm_out, beta1_power_out")
# mean_grad is read and written only when centered.
rmsprop = op("rmsprop", "param, momentum, mean_square, mean_grad, grad, lr, scale?", rho=float, epsilon=float, mu=float,
             centered=bool, weight_decay=float, effects="in-place", outputs="param_out, momentum_out, mean_square_out, mean_grad_out")
# adapt: scale the step by the ratio of the norms of parameter and step.
lamb = op("lamb", "param, moment1, moment2, beta1_power, beta2_power, grad, lr, scale?", beta1=float, beta2=float, epsilon=float,
          weight_decay=float, adapt=bool,
          effects="in-place", outputs="param_out, moment1_out, moment2_out, beta1_power_out, beta2_power_out")

# Powers hold beta ** t for the step before, and 1 at first. decay_power is 0.96 ** t, mu_product the product of the momenta so far.
nadam = op("nadam", "param, moment1, moment2, decay_power, beta2_power, mu_product, grad, lr, scale?", beta1=float, beta2=float, epsilon=float,
           momentum_decay=float, weight_decay=float, effects="in-place",
           outputs="param_out, moment1_out, moment2_out, decay_power_out, beta2_power_out, mu_product_out")
# rho holds t * beta2 ** t / (1 - beta2 ** t), 0 at first.
radam = op("radam", "param, moment1, moment2, beta1_power, beta2_power, rho, grad, lr, scale?", beta1=float, beta2=float, epsilon=float,
           weight_decay=float, effects="in-place", outputs="param_out, moment1_out, moment2_out, beta1_power_out, beta2_power_out, rho_out")
# Each element has a rate of its own, in [least, most]; lr is not read after the first step.
rprop = op("rprop", "param, prevs, learning_rates, grad, lr, scale?", least=float, most=float, eta_negative=float, eta_positive=float,
           weight_decay=float, effects="in-place", outputs="param_out, prevs_out, learning_rates_out")

# Of all tensors together: what clipping and loss scaling ask of gradients. 0-d float32, or float64 if any of
# them is; and a 0-d bool.
sum_of_squares = op("sum_of_squares", "*xs")
all_finite = op("all_finite", "*xs")


# Shape rules.


@infer.rule(sgd)
def infer_sgd(param, grad, lr, scale=None, *, weight_decay):
    return _updated("sgd", param, {"grad": grad}, {"lr": lr, "scale": scale})


@infer.rule(momentum)
def infer_momentum(param, velocity, grad, lr, scale=None, *, mu, nesterov, weight_decay):
    out = _updated("momentum", param, {"velocity": velocity, "grad": grad}, {"lr": lr, "scale": scale})
    return out, out


@infer.rule(adam)
def infer_adam(param, moment1, moment2, beta1_power, beta2_power, grad, lr, scale=None, *, beta1, beta2, epsilon, weight_decay):
    return _infer_adam("adam", param, moment1, moment2, beta1_power, beta2_power, grad, lr, scale)


@infer.rule(adamw)
def infer_adamw(param, moment1, moment2, beta1_power, beta2_power, grad, lr, scale=None, *, beta1, beta2, epsilon, weight_decay):
    return _infer_adam("adamw", param, moment1, moment2, beta1_power, beta2_power, grad, lr, scale)


@infer.rule(adagrad)
def infer_adagrad(param, moment, grad, lr, scale=None, *, epsilon, weight_decay):
    out = _updated("adagrad", param, {"moment": moment, "grad": grad}, {"lr": lr, "scale": scale})
    return out, out


@infer.rule(adadelta)
def infer_adadelta(param, avg_squared_grad, avg_squared_update, grad, lr, scale=None, *, rho, epsilon, weight_decay):
    out = _updated(
        "adadelta", param,
        {"avg_squared_grad": avg_squared_grad, "avg_squared_update": avg_squared_update, "grad": grad}, {"lr": lr, "scale": scale},
    )
    return out, out, out


@infer.rule(adamax)
def infer_adamax(param, moment, inf_norm, beta1_power, grad, lr, scale=None, *, beta1, beta2, epsilon, weight_decay):
    out = _updated(
        "adamax", param, {"moment": moment, "inf_norm": inf_norm, "grad": grad}, {"beta1_power": beta1_power, "lr": lr, "scale": scale}
    )
    return out, out, out, beta1_power


@infer.rule(rmsprop)
def infer_rmsprop(param, momentum, mean_square, mean_grad, grad, lr, scale=None, *, rho, epsilon, mu, centered, weight_decay):
    out = _updated(
        "rmsprop", param, {"momentum": momentum, "mean_square": mean_square, "mean_grad": mean_grad, "grad": grad},
        {"lr": lr, "scale": scale},
    )
    return out, out, out, out


@infer.rule(lamb)
def infer_lamb(param, moment1, moment2, beta1_power, beta2_power, grad, lr, scale=None, *, beta1, beta2, epsilon, weight_decay,
               adapt):
    return _infer_adam("lamb", param, moment1, moment2, beta1_power, beta2_power, grad, lr, scale)


@infer.rule(nadam)
def infer_nadam(param, moment1, moment2, decay_power, beta2_power, mu_product, grad, lr, scale=None, *, beta1, beta2, epsilon, momentum_decay,
                weight_decay):
    numbers = {"decay_power": decay_power, "beta2_power": beta2_power, "mu_product": mu_product, "lr": lr, "scale": scale}
    out = _updated("nadam", param, {"moment1": moment1, "moment2": moment2, "grad": grad}, numbers)
    return out, out, out, decay_power, beta2_power, mu_product


@infer.rule(radam)
def infer_radam(param, moment1, moment2, beta1_power, beta2_power, rho, grad, lr, scale=None, *, beta1, beta2, epsilon, weight_decay):
    numbers = {"beta1_power": beta1_power, "beta2_power": beta2_power, "rho": rho, "lr": lr, "scale": scale}
    out = _updated("radam", param, {"moment1": moment1, "moment2": moment2, "grad": grad}, numbers)
    return out, out, out, beta1_power, beta2_power, rho


@infer.rule(rprop)
def infer_rprop(param, prevs, learning_rates, grad, lr, scale=None, *, least, most, eta_negative, eta_positive, weight_decay):
    out = _updated("rprop", param, {"prevs": prevs, "learning_rates": learning_rates, "grad": grad}, {"lr": lr, "scale": scale})
    return out, out, out


@infer.rule(sum_of_squares)
def infer_sum_of_squares(*xs):
    _require_some("sum_of_squares", xs)
    return Meta((), _core.float64 if any(x.dtype is _core.float64 for x in xs) else _core.float32)


@infer.rule(all_finite)
def infer_all_finite(*xs):
    _require_some("all_finite", xs)
    return Meta((), _core.bool_)


def _require_some(op_name, xs):
    if not xs:
        raise ValueError(f"{op_name}: there is nothing to look at. Got no tensors, expected one or more. Pass gradients.")
    for i, x in enumerate(xs):
        require_dtype(op_name, f"xs[{i}]", x.dtype, floats)


def _infer_adam(op_name, param, moment1, moment2, beta1_power, beta2_power, grad, lr, scale):
    out = _updated(
        op_name, param, {"moment1": moment1, "moment2": moment2, "grad": grad},
        {"beta1_power": beta1_power, "beta2_power": beta2_power, "lr": lr, "scale": scale},
    )
    return out, out, out, beta1_power, beta2_power


def _updated(op_name, param, tensors, numbers):
    require_dtype(op_name, "param", param.dtype, floats)
    require_one_dtype(op_name, param=param.dtype, **{name: meta.dtype for name, meta in tensors.items()})
    shape = param.shape
    for name, meta in tensors.items():
        shape = require_same_shape(op_name, name, meta.shape, "param", shape)
    for name, meta in numbers.items():
        if meta is None:  # no scale
            continue
        require_dtype(op_name, name, meta.dtype, floats)
        if meta.size not in (1, -1):
            raise ValueError(
                f"{op_name}: `{name}` must hold one number. "
                f"Got shape {show(meta.shape)}, expected [] or [1]. "
                f"Pass one tensor of one element for every parameter."
            )
    return Meta(shape, param.dtype)


# Decompositions.


@decompose.rule(sgd)
def decompose_sgd(param, grad, lr, scale=None, *, weight_decay):
    p = widened(param)
    return _narrowed(p - _number(lr, p) * _decayed(grad, p, weight_decay, scale), param)


@decompose.rule(momentum)
def decompose_momentum(param, velocity, grad, lr, scale=None, *, mu, nesterov, weight_decay):
    p = widened(param)
    g = _decayed(grad, p, weight_decay, scale)
    v = mu * widened(velocity) + g
    step = g + mu * v if nesterov else v
    return _narrowed(p - _number(lr, p) * step, param), _narrowed(v, velocity)


@decompose.rule(adam)
def decompose_adam(param, moment1, moment2, beta1_power, beta2_power, grad, lr, scale=None, *, beta1, beta2, epsilon,
                   weight_decay):
    p = widened(param)
    g = _decayed(grad, p, weight_decay, scale)
    return _adam_step(param, p, g, moment1, moment2, beta1_power, beta2_power, lr, beta1, beta2, epsilon)


@decompose.rule(adamw)
def decompose_adamw(param, moment1, moment2, beta1_power, beta2_power, grad, lr, scale=None, *, beta1, beta2, epsilon,
                    weight_decay):
    p = widened(param)
    shrunk = p * (1.0 - _number(lr, p) * weight_decay)
    return _adam_step(param, shrunk, _scaled(grad, p, scale), moment1, moment2, beta1_power, beta2_power, lr, beta1, beta2,
                      epsilon)


def _adam_step(param, p, g, moment1, moment2, beta1_power, beta2_power, lr, beta1, beta2, epsilon):
    m1 = beta1 * widened(moment1) + (1.0 - beta1) * g
    m2 = beta2 * widened(moment2) + (1.0 - beta2) * ops.square(g)
    # epsilon is added to the corrected root, as in the second form of Kingma & Ba's section 2
    # multiplied out: one scalar correction instead of two whole tensors.
    root = ops.sqrt(1.0 - _number(beta2_power, p))
    rate = _number(lr, p) * root / (1.0 - _number(beta1_power, p))
    out = p - rate * m1 / (ops.sqrt(m2) + epsilon * root)
    return (
        _narrowed(out, param), _narrowed(m1, moment1), _narrowed(m2, moment2),
        beta1_power * beta1, beta2_power * beta2,
    )


@decompose.rule(adagrad)
def decompose_adagrad(param, moment, grad, lr, scale=None, *, epsilon, weight_decay):
    p = widened(param)
    g = _decayed(grad, p, weight_decay, scale)
    total = widened(moment) + ops.square(g)
    return _narrowed(p - _number(lr, p) * g / (ops.sqrt(total) + epsilon), param), _narrowed(total, moment)


@decompose.rule(adadelta)
def decompose_adadelta(param, avg_squared_grad, avg_squared_update, grad, lr, scale=None, *, rho, epsilon, weight_decay):
    p = widened(param)
    g = _decayed(grad, p, weight_decay, scale)
    updates = widened(avg_squared_update)
    grads = rho * widened(avg_squared_grad) + (1.0 - rho) * ops.square(g)
    update = ops.sqrt((updates + epsilon) / (grads + epsilon)) * g
    updates = rho * updates + (1.0 - rho) * ops.square(update)
    return (
        _narrowed(p - _number(lr, p) * update, param), _narrowed(grads, avg_squared_grad),
        _narrowed(updates, avg_squared_update),
    )


@decompose.rule(adamax)
def decompose_adamax(param, moment, inf_norm, beta1_power, grad, lr, scale=None, *, beta1, beta2, epsilon, weight_decay):
    p = widened(param)
    g = _decayed(grad, p, weight_decay, scale)
    m = beta1 * widened(moment) + (1.0 - beta1) * g
    # epsilon keeps the norm above zero as long as no gradient has come.
    n = ops.maximum(ops.abs(g), beta2 * widened(inf_norm) + epsilon)
    rate = _number(lr, p) / (1.0 - _number(beta1_power, p))
    return _narrowed(p - rate * m / n, param), _narrowed(m, moment), _narrowed(n, inf_norm), beta1_power * beta1


@decompose.rule(nadam)
def decompose_nadam(param, moment1, moment2, decay_power, beta2_power, mu_product, grad, lr, scale=None, *, beta1, beta2, epsilon, momentum_decay,
                    weight_decay):
    p = widened(param)
    g = _decayed(grad, p, weight_decay, scale)
    m1 = beta1 * widened(moment1) + (1.0 - beta1) * g
    m2 = beta2 * widened(moment2) + (1.0 - beta2) * ops.square(g)
    power, power2 = decay_power * 0.96, beta2_power * beta2
    decayed = ops.power(_number(power, p), ops.full_like(_number(power, p), value=momentum_decay, dtype=p.dtype))
    mu = beta1 * (1.0 - 0.5 * decayed)
    next_mu = beta1 * (1.0 - 0.5 * 0.96**momentum_decay * decayed)
    product = mu_product * ops.reshape_like(ops.cast(mu, dtype=mu_product.dtype), mu_product)
    whole = _number(product, p)
    step = next_mu * m1 / (1.0 - whole * next_mu) + (1.0 - mu) * g / (1.0 - whole)
    out = p - _number(lr, p) * step / (ops.sqrt(m2 / (1.0 - _number(power2, p))) + epsilon)
    return _narrowed(out, param), _narrowed(m1, moment1), _narrowed(m2, moment2), power, power2, product


@decompose.rule(radam)
def decompose_radam(param, moment1, moment2, beta1_power, beta2_power, rho, grad, lr, scale=None, *, beta1, beta2, epsilon, weight_decay):
    p = widened(param)
    g = _decayed(grad, p, weight_decay, scale)
    m1 = beta1 * widened(moment1) + (1.0 - beta1) * g
    m2 = beta2 * widened(moment2) + (1.0 - beta2) * ops.square(g)
    power1, power2 = beta1_power * beta1, beta2_power * beta2
    age = (rho * (beta2 - power2) + power2) / (1.0 - power2)
    longest = 2.0 / (1.0 - beta2) - 1.0
    length = longest - 2.0 * _number(age, p)
    mean = m1 / (1.0 - _number(power1, p))
    # The variance of the second moment is known from the sixth step on, or so; before, it does not scale the step.
    known = ops.greater_than(length, ops.full_like(length, value=5.0, dtype=p.dtype))
    safe = ops.where(known, length, ops.full_like(length, value=6.0, dtype=p.dtype))
    rectified = ops.sqrt((safe - 4.0) * (safe - 2.0) * longest / ((longest - 4.0) * (longest - 2.0) * safe) * (1.0 - _number(power2, p)))
    step = ops.where(known, mean * rectified / (ops.sqrt(m2) + epsilon), mean)
    return _narrowed(p - _number(lr, p) * step, param), _narrowed(m1, moment1), _narrowed(m2, moment2), power1, power2, age


@decompose.rule(rprop)
def decompose_rprop(param, prevs, learning_rates, grad, lr, scale=None, *, least, most, eta_negative, eta_positive, weight_decay):
    p = widened(param)
    g = _decayed(grad, p, weight_decay, scale)
    product = g * widened(prevs)
    zero = ops.full_like(g, value=0.0, dtype=p.dtype)
    positive, negative = ops.greater_than(product, zero), ops.less_than(product, zero)
    rates = widened(learning_rates)
    first = ops.equal(rates, zero)
    rates = ops.where(first, zero + _number(lr, p), rates)
    rates = ops.where(positive, rates * eta_positive, ops.where(negative, rates * eta_negative, rates))
    rates = ops.minimum(ops.maximum(rates, zero + least), zero + most)
    g = ops.where(negative, zero, g)  # where the sign has changed, the step is left out
    return _narrowed(p - ops.sign(g) * rates, param), _narrowed(g, prevs), _narrowed(rates, learning_rates)


@decompose.rule(rmsprop)
def decompose_rmsprop(param, momentum, mean_square, mean_grad, grad, lr, scale=None, *, rho, epsilon, mu, centered, weight_decay):
    p = widened(param)
    g = _decayed(grad, p, weight_decay, scale)
    squares, mean = rho * widened(mean_square) + (1.0 - rho) * ops.square(g), widened(mean_grad)
    spread = squares
    if centered:
        mean = rho * mean + (1.0 - rho) * g
        spread = squares - ops.square(mean)
    velocity = mu * widened(momentum) + _number(lr, p) * g / ops.sqrt(spread + epsilon)
    return (
        _narrowed(p - velocity, param), _narrowed(velocity, momentum), _narrowed(squares, mean_square),
        _narrowed(mean, mean_grad) if centered else ops.copy(mean_grad),
    )


@decompose.rule(lamb)
def decompose_lamb(param, moment1, moment2, beta1_power, beta2_power, grad, lr, scale=None, *, beta1, beta2, epsilon, weight_decay,
                   adapt):
    p = widened(param)
    g = _scaled(grad, p, scale)
    m1 = beta1 * widened(moment1) + (1.0 - beta1) * g
    m2 = beta2 * widened(moment2) + (1.0 - beta2) * ops.square(g)
    corrected1 = m1 / (1.0 - _number(beta1_power, p))
    corrected2 = m2 / (1.0 - _number(beta2_power, p))
    step = corrected1 / (ops.sqrt(corrected2) + epsilon) + weight_decay * p
    rate = _number(lr, p)
    if adapt:
        length, of_step = (ops.sqrt(ops.cast(ops.sum_of_squares(x), dtype=p.dtype)) for x in (p, step))
        both = ops.logical_and(ops.greater_than(length, _zero(p)), ops.greater_than(of_step, _zero(p)))
        ratio = ops.where(both, length / of_step, _core.scalar(1.0, p.dtype))
        rate = rate * ratio
    return (
        _narrowed(p - rate * step, param), _narrowed(m1, moment1), _narrowed(m2, moment2),
        beta1_power * beta1, beta2_power * beta2,
    )


@decompose.rule(sum_of_squares)
def decompose_sum_of_squares(*xs):
    dtype = infer_sum_of_squares(*xs).dtype
    total = None
    for x in xs:
        x = ops.cast(x, dtype=dtype)
        square = ops.reduce_sum(ops.square(x), axes=tuple(range(x.ndim)), keepdim=False)
        total = square if total is None else total + square
    return total


@decompose.rule(all_finite)
def decompose_all_finite(*xs):
    total = None
    for x in xs:
        finite = ops.reduce_all(ops.isfinite(x), axes=tuple(range(x.ndim)), keepdim=False)
        total = finite if total is None else ops.logical_and(total, finite)
    return total


def _zero(like):
    return _core.scalar(0.0, like.dtype)


def _decayed(grad, param, weight_decay, scale):
    """The scaled gradient with that of weight_decay / 2 * |param| ** 2."""
    g = _scaled(grad, param, scale)
    return g + weight_decay * param if weight_decay else g


def _scaled(grad, param, scale):
    return widened(grad) if scale is None else widened(grad) * _number(scale, param)


def _number(x, like):
    """A tensor of one element, [] or [1], as a 0-d one of the dtype of `like`."""
    return ops.cast(ops.reshape(x, shape=()), dtype=like.dtype)


def _narrowed(x, like):
    return x if x.dtype == like.dtype else ops.cast(x, dtype=like.dtype)
