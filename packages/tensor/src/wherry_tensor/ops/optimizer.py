"""Parameter updates, each one pass over memory.

Outputs may be the memory of the inputs they replace: `ops.sgd.into((param,), param, grad, lr)`.
lr and the beta powers are tensors of one element, so that a schedule does not make a new op.
"""
from wherry_tensor import ops
from wherry_tensor.ops.declare import Meta, decompose, infer, op
from wherry_tensor.ops.reduction import widened
from wherry_tensor.ops.shapes import floats, require_dtype, require_one_dtype, require_same_shape, show

sgd = op("sgd", "param, grad, lr", weight_decay=float, outputs="param_out")
momentum = op("momentum", "param, velocity, grad, lr", mu=float, nesterov=bool, weight_decay=float,
              outputs="param_out, velocity_out")
# beta1_power and beta2_power hold beta ** t for the step being made; weight_decay is L2 (added to grad).
adam = op("adam", "param, moment1, moment2, beta1_power, beta2_power, grad, lr", beta1=float, beta2=float,
          epsilon=float, weight_decay=float,
          outputs="param_out, moment1_out, moment2_out, beta1_power_out, beta2_power_out")
# weight_decay is decoupled: param *= 1 - lr * weight_decay before the update.
adamw = op("adamw", "param, moment1, moment2, beta1_power, beta2_power, grad, lr", beta1=float, beta2=float,
           epsilon=float, weight_decay=float,
           outputs="param_out, moment1_out, moment2_out, beta1_power_out, beta2_power_out")

__all__ = [name for name, value in list(globals().items()) if isinstance(value, type(sgd))]


# Shape rules.


@infer.rule(sgd)
def infer_sgd(param, grad, lr, *, weight_decay):
    return _updated("sgd", param, {"grad": grad}, {"lr": lr})


@infer.rule(momentum)
def infer_momentum(param, velocity, grad, lr, *, mu, nesterov, weight_decay):
    out = _updated("momentum", param, {"velocity": velocity, "grad": grad}, {"lr": lr})
    return out, out


@infer.rule(adam)
def infer_adam(param, moment1, moment2, beta1_power, beta2_power, grad, lr, *, beta1, beta2, epsilon, weight_decay):
    return _infer_adam("adam", param, moment1, moment2, beta1_power, beta2_power, grad, lr)


@infer.rule(adamw)
def infer_adamw(param, moment1, moment2, beta1_power, beta2_power, grad, lr, *, beta1, beta2, epsilon, weight_decay):
    return _infer_adam("adamw", param, moment1, moment2, beta1_power, beta2_power, grad, lr)


def _infer_adam(op_name, param, moment1, moment2, beta1_power, beta2_power, grad, lr):
    out = _updated(
        op_name, param, {"moment1": moment1, "moment2": moment2, "grad": grad},
        {"beta1_power": beta1_power, "beta2_power": beta2_power, "lr": lr},
    )
    return out, out, out, beta1_power, beta2_power


def _updated(op_name, param, tensors, numbers):
    require_dtype(op_name, "param", param.dtype, floats)
    require_one_dtype(op_name, param=param.dtype, **{name: meta.dtype for name, meta in tensors.items()})
    shape = param.shape
    for name, meta in tensors.items():
        shape = require_same_shape(op_name, name, meta.shape, "param", shape)
    for name, meta in numbers.items():
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
def decompose_sgd(param, grad, lr, *, weight_decay):
    p = widened(param)
    return _narrowed(p - _number(lr, p) * _decayed(grad, p, weight_decay), param)


@decompose.rule(momentum)
def decompose_momentum(param, velocity, grad, lr, *, mu, nesterov, weight_decay):
    p = widened(param)
    g = _decayed(grad, p, weight_decay)
    v = mu * widened(velocity) + g
    step = g + mu * v if nesterov else v
    return _narrowed(p - _number(lr, p) * step, param), _narrowed(v, velocity)


@decompose.rule(adam)
def decompose_adam(param, moment1, moment2, beta1_power, beta2_power, grad, lr, *, beta1, beta2, epsilon,
                   weight_decay):
    p = widened(param)
    g = _decayed(grad, p, weight_decay)
    return _adam_step(param, p, g, moment1, moment2, beta1_power, beta2_power, lr, beta1, beta2, epsilon)


@decompose.rule(adamw)
def decompose_adamw(param, moment1, moment2, beta1_power, beta2_power, grad, lr, *, beta1, beta2, epsilon,
                    weight_decay):
    p = widened(param)
    shrunk = p * (1.0 - _number(lr, p) * weight_decay)
    return _adam_step(param, shrunk, widened(grad), moment1, moment2, beta1_power, beta2_power, lr, beta1, beta2,
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


def _decayed(grad, param, weight_decay):
    """The gradient with that of weight_decay / 2 * |param| ** 2."""
    return widened(grad) + weight_decay * param if weight_decay else widened(grad)


def _number(x, like):
    """A tensor of one element, [] or [1], as a 0-d one of the dtype of `like`."""
    return ops.cast(ops.reshape(x, shape=()), dtype=like.dtype)


def _narrowed(x, like):
    return x if x.dtype == like.dtype else ops.cast(x, dtype=like.dtype)
